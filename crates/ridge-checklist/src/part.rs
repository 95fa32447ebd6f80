//! What one input says about one question.

use crate::document::{Answer, Evidence};

/// What one input says about one question.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) answer: Answer,
    /// Why, in a sentence.
    pub(crate) reason: String,
    /// The share of the time that a remedy is expected to save.
    pub(crate) saving: Option<f64>,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) actions: Vec<String>,
    /// A command that settles it, or tells more.
    pub(crate) next: Vec<String>,
}

impl Part {
    pub(crate) fn new(answer: Answer, reason: impl Into<String>) -> Self {
        Self {
            answer,
            reason: reason.into(),
            saving: None,
            evidence: Vec::new(),
            actions: Vec::new(),
            next: Vec::new(),
        }
    }

    pub(crate) fn yes(reason: impl Into<String>) -> Self {
        Self::new(Answer::Yes, reason)
    }

    pub(crate) fn no(reason: impl Into<String>) -> Self {
        Self::new(Answer::No, reason)
    }

    pub(crate) fn unknown(reason: impl Into<String>, next: impl Into<String>) -> Self {
        let mut part = Self::new(Answer::Unknown, reason);
        part.next.push(next.into());
        part
    }

    pub(crate) fn with(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    pub(crate) fn doing(mut self, actions: impl IntoIterator<Item = String>) -> Self {
        for action in actions {
            if !self.actions.contains(&action) {
                self.actions.push(action);
            }
        }
        self
    }

    pub(crate) fn saving(mut self, share: f64) -> Self {
        self.saving = Some(share.clamp(0.0, 1.0));
        self
    }

    pub(crate) fn then(mut self, next: impl Into<String>) -> Self {
        self.next.push(next.into());
        self
    }
}

/// A figure of an input.
pub(crate) fn figure(
    source: &str,
    about: Option<&str>,
    metric: impl Into<String>,
    value: f64,
    unit: &str,
) -> Evidence {
    Evidence {
        metric: metric.into(),
        value,
        unit: unit.to_owned(),
        healthy: None,
        about: about.map(str::to_owned),
        source: source.to_owned(),
    }
}

impl Evidence {
    pub(crate) fn healthy(mut self, healthy: f64) -> Self {
        self.healthy = Some(healthy);
        self
    }
}
