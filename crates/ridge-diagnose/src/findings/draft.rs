//! Puts a finding together: every check fills in the same record.

use super::saving::{Remedy, Waiting, saving};
use super::{Case, Outcome};
use crate::document::{Confidence, Direction, Evidence, Finding, Location, Verify};

/// A finding without its savings.
pub(crate) struct Draft {
    id: &'static str,
    title: String,
    confidence: Confidence,
    evidence: Vec<Evidence>,
    actions: Vec<String>,
    verify: Vec<Verify>,
    locations: Vec<Location>,
}

/// What a kernel with next to no work takes by the profiler's clock: starting its blocks and draining them. On an H200
/// launches of four blocks take 2.3 us (`vectorized_elementwise_kernel` of a PyTorch step).
const EMPTY_KERNEL_NS: f64 = 2_000.0;
/// Durations of one kernel differ by several per cent from run to run where clocks are not held.
const TELLING: f64 = 0.1;

impl Draft {
    pub(crate) fn new(id: &'static str, title: String) -> Self {
        Self {
            id,
            title,
            confidence: Confidence::High,
            evidence: Vec::new(),
            actions: Vec::new(),
            verify: Vec::new(),
            locations: Vec::new(),
        }
    }

    pub(crate) fn confidence(mut self, confidence: Confidence) -> Self {
        self.confidence = confidence;
        self
    }

    /// Adds a number that the finding rests on.
    pub(crate) fn seen(mut self, metric: impl Into<String>, value: f64, unit: &str) -> Self {
        self.evidence.push(Evidence {
            metric: metric.into(),
            value: unsigned_zero(value),
            unit: unit.to_owned(),
            healthy: None,
        });
        self
    }

    /// Adds a number and what a healthy kernel shows.
    pub(crate) fn seen_against(
        mut self,
        metric: impl Into<String>,
        value: f64,
        unit: &str,
        healthy: f64,
    ) -> Self {
        let healthy = Some(unsigned_zero(healthy));
        self.evidence.push(Evidence {
            metric: metric.into(),
            value: unsigned_zero(value),
            unit: unit.to_owned(),
            healthy,
        });
        self
    }

    /// Adds things to do, most likely first.
    pub(crate) fn act(mut self, actions: &[&str]) -> Self {
        self.actions
            .extend(actions.iter().map(|&action| action.to_owned()));
        self
    }

    /// Adds a metric that must fall if the change worked.
    pub(crate) fn falls(self, metric: &str) -> Self {
        self.moves(metric, Direction::Down, None)
    }

    /// Adds a metric that must rise if the change worked.
    pub(crate) fn rises(self, metric: &str) -> Self {
        self.moves(metric, Direction::Up, None)
    }

    /// Adds a metric that must come near a value if the change worked.
    pub(crate) fn reaches(self, metric: &str, target: f64) -> Self {
        self.moves(metric, Direction::To, Some(target))
    }

    fn moves(mut self, metric: &str, direction: Direction, target: Option<f64>) -> Self {
        self.verify.push(Verify {
            metric: metric.to_owned(),
            direction,
            target,
        });
        self
    }

    pub(crate) fn at(mut self, locations: Vec<Location>) -> Self {
        self.locations = locations;
        self
    }

    /// Weighs the remedy on the ledger. Without a ledger there is nothing to weigh with.
    pub(crate) fn weigh(
        self,
        case: &Case<'_, '_>,
        remedy: &Remedy,
        needs: &'static [&'static str],
    ) -> Outcome {
        // Nothing that is done to its work makes a kernel shorter than one without work.
        let empty = case
            .profile
            .duration_ns()
            .map_or(0.0, |duration| (EMPTY_KERNEL_NS / duration).min(1.0));
        // Where that is a small part, it is within what durations differ by from run to run.
        let empty = if empty >= TELLING { empty } else { 0.0 };
        let remedy_here = remedy.clone().beside_idle(case.idle().max(empty));
        let Some(saving) = saving(case.ledger, &remedy_here) else {
            return Outcome::NotChecked(needs);
        };
        // What waiting goes away cannot be told where nobody knows what warps wait for.
        let is_waiting_unknown =
            case.stalls.is_empty() && matches!(remedy.waiting, Waiting::Removed(_));
        let is_less_sure = case.has_partial_ledger() || is_waiting_unknown;
        Outcome::Found(Box::new(Finding {
            id: self.id.to_owned(),
            title: self.title,
            saving_ceiling: saving.ceiling,
            saving_expected: saving.expected,
            next_limit: saving.next_limit,
            confidence: if is_less_sure {
                self.confidence.lowered()
            } else {
                self.confidence
            },
            evidence: self.evidence,
            actions: self.actions,
            verify: self.verify,
            locations: self.locations,
        }))
    }
}

/// A sum of nothing is -0.0, which no reader of a document expects.
fn unsigned_zero(value: f64) -> f64 {
    value + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_zero_without_a_sign() {
        let nothing: f64 = [0.0; 0].iter().sum();
        let draft = Draft::new("id", String::new())
            .seen("a", nothing, "")
            .seen_against("b", nothing, "", nothing);
        for evidence in draft.evidence {
            assert!(evidence.value.is_sign_positive(), "{}", evidence.metric);
            assert!(evidence.healthy.is_none_or(f64::is_sign_positive));
        }
    }
}
