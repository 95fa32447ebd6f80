//! Exit codes: public, documented and tested. Codes are never counts and never change their meaning.

use std::process::ExitCode;

/// An exit code with its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// The number.
    pub number: u8,
    /// What it means.
    pub meaning: &'static str,
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code.number)
    }
}

/// All is well. Since 0.1.
pub const FINE: Code = Code {
    number: 0,
    meaning: "fine",
};
/// A fault of Ridgepoint itself. Since 0.1.
pub const INTERNAL: Code = Code {
    number: 1,
    meaning: "internal error",
};
/// The command line is wrong. Since 0.1.
pub const USAGE: Code = Code {
    number: 2,
    meaning: "usage",
};
/// An input cannot be read, or only in part; what was read is shown. Since 0.1.
pub const UNREADABLE: Code = Code {
    number: 3,
    meaning: "an input cannot be read",
};
/// The machine cannot do it: no space, no permission, no tool. Since 0.1.
pub const UNABLE: Code = Code {
    number: 4,
    meaning: "the machine cannot do it",
};

/// All codes in use, for the page that lists them.
pub const ALL: &[Code] = &[FINE, INTERNAL, USAGE, UNREADABLE, UNABLE];
