//! Exit codes: public, documented and tested. Codes are never counts and never change their meaning.

use std::process::ExitCode;

/// An exit code with its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// The number.
    pub number: u8,
    /// What it means.
    pub meaning: &'static str,
    /// When it is returned, in whole sentences.
    pub detail: &'static str,
    /// The version that introduced it.
    pub since: &'static str,
}

impl Code {
    /// The code of two outcomes together: an input that cannot be read counts more than a wrong argument.
    pub(crate) fn and(self, other: Self) -> Self {
        if self == FINE || other == UNREADABLE {
            other
        } else {
            self
        }
    }
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code.number)
    }
}

/// All is well.
pub const FINE: Code = Code {
    number: 0,
    meaning: "fine",
    detail: "The answer is complete. Findings do not change the code, and neither does a reader that closes the pipe early.",
    since: "0.1",
};
/// A fault of Ridgepoint itself.
pub const INTERNAL: Code = Code {
    number: 1,
    meaning: "internal error",
    detail: "A fault of Ridgepoint itself. No input and no option is meant to cause it; please report it.",
    since: "0.1",
};
/// The command line is wrong.
pub const USAGE: Code = Code {
    number: 2,
    meaning: "wrong usage",
    detail: "The command line is wrong, or it selects a kernel or a launch that is not there. The message offers those that are.",
    since: "0.1",
};
/// An input cannot be read, or only in part; what was read is shown.
pub const UNREADABLE: Code = Code {
    number: 3,
    meaning: "an input, or part of one, cannot be read",
    detail: "What could be read is in the answer; what could not is said, with the byte or field where that is known. With several inputs, one is enough.",
    since: "0.1",
};
/// The machine cannot do it: no space, no permission, no tool.
pub const UNABLE: Code = Code {
    number: 4,
    meaning: "the machine cannot do it",
    detail: "Something outside Ridgepoint is missing, such as space, a folder, a permission or a tool. The message says how to get it.",
    since: "0.1",
};
/// A change made something slower.
pub const SLOWER: Code = Code {
    number: 10,
    meaning: "slower, or a budget is broken",
    detail: "A comparison says SLOWER of a pair, beyond what equal measurements differ by, and INVALID of none; or a kernel does not keep a budget of `ridge.toml`; or an answer of `ridge checklist` is no. The answer names it, by how much, and what got worse.",
    since: "0.1",
};

/// Neither yes nor no can be said.
pub const UNDECIDED: Code = Code {
    number: 11,
    meaning: "cannot tell",
    detail: "No fault was found, and not every tool says that there is none: one did not come to its end, counted nothing because the program never used CUDA, or found only what programs without fault have too. A comparison says AMBIGUOUS of a pair, nothing on one side has its like on the other, or a check has nothing to go by. `ridge numerics` cannot tell rounding from a mistake, or had nothing to compare. The answer tells which, and what to do.",
    since: "0.1",
};
/// A measurement is not valid.
pub const INVALID: Code = Code {
    number: 12,
    meaning: "the measurement is not valid",
    detail: "The clock was not held, too few samples count, a time is below its lower bound, or two times that are compared are not of the same work on the same device. The answer tells which, and what to do; no figure of it is a result.",
    since: "0.1",
};
/// Outputs are not what they have to be.
pub const DIFFERS: Code = Code {
    number: 13,
    meaning: "numbers differ",
    detail: "An output of a measured kernel, or of `ridge numerics`, is not what the reference says, or was not written.",
    since: "0.1",
};
/// A checker found faults.
pub const FAULTS: Code = Code {
    number: 14,
    meaning: "faults were found",
    detail: "A tool of compute-sanitizer found faults that are of no known kind of noise, or `ridge lint` found errors; its warnings and notes do not count.",
    since: "0.1",
};
/// What was measured failed.
pub const TARGET_FAILED: Code = Code {
    number: 15,
    meaning: "the target program failed",
    detail: "A kernel ended in a fault, did not end, does not fit the device, or needs more memory than there is; or a program that was run ended with a code other than 0, or by a signal, which the message and the answer tell, and no tool found a reason. What else could be measured or recorded is in the answer.",
    since: "0.1",
};
/// The user ended the run.
pub const INTERRUPTED: Code = Code {
    number: 130,
    meaning: "interrupted",
    detail: "The run was ended by an interrupt (Ctrl-C) or SIGTERM. What was finished is in the answer.",
    since: "0.1",
};

/// All codes in use, for the page that lists them.
pub const ALL: &[Code] = &[
    FINE,
    INTERNAL,
    USAGE,
    UNREADABLE,
    UNABLE,
    SLOWER,
    UNDECIDED,
    INVALID,
    DIFFERS,
    FAULTS,
    TARGET_FAILED,
    INTERRUPTED,
];

/// Codes that later versions will return, and their meanings. No verb of this version returns them.
pub const RESERVED: &[(u8, &str)] = &[];
