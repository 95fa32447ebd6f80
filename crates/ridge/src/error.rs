//! What a user hears when something is wrong that is no fault of Ridgepoint.

use crate::exit::{self, Code};

/// An expected failure: the user or the environment is at fault, and the text says what to do.
#[derive(Clone, Debug)]
pub(crate) struct ExpectedError {
    /// What was tried, and what was found.
    pub(crate) message: String,
    /// A command or an option that helps.
    pub(crate) hint: Option<String>,
    pub(crate) exit: Code,
    /// The line that it is about.
    pub(crate) excerpt: Option<Box<Excerpt>>,
}

/// A line of an input with what is meant in it.
#[derive(Clone, Debug)]
pub(crate) struct Excerpt {
    /// Its number, from 1.
    pub(crate) line: usize,
    /// The whole line.
    pub(crate) text: String,
    /// Where what is meant begins, in characters from 1.
    pub(crate) column: usize,
    /// How many characters of it are meant.
    pub(crate) width: usize,
}

impl ExpectedError {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            exit: exit::USAGE,
            excerpt: None,
        }
    }

    pub(crate) fn unreadable(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            exit: exit::UNREADABLE,
            excerpt: None,
        }
    }

    pub(crate) fn unable(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            exit: exit::UNABLE,
            excerpt: None,
        }
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: Some("this is a fault of Ridgepoint; please report it with the input, or with `ridge export --redact`".to_owned()),
            exit: exit::INTERNAL,
            excerpt: None,
        }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn with_exit(mut self, exit: Code) -> Self {
        self.exit = exit;
        self
    }
}
