//! What flags of a compiler, and instructions of compiled code, do to results: which of them may differ from IEEE arithmetic in the
//! order of the source, and by how much.
//!
//! [`Settings::parse`] reads flags as `nvcc`, NVRTC and clang take them. [`scan_ptx`] and [`Scan::sass`] look at instructions,
//! which also tell what a library was built with. Both give [`Finding`]s.
//!
//! ```
//! use ridge_numerics::flags::{Effect, Settings};
//!
//! let settings = Settings::parse(["-O3", "--use_fast_math", "-prec-div=true"]);
//! let changed: Vec<Effect> = settings.findings().iter().map(|finding| finding.effect).collect();
//! assert!(changed.contains(&Effect::FlushToZero));
//! assert!(!changed.contains(&Effect::ApproximateDivision));
//! ```

pub mod document;
mod effect;
mod scan;
mod settings;

pub use effect::Effect;
pub use scan::{Language, Scan, scan_ptx};
pub use settings::{Setting, Settings};

/// How sure it is that an effect is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// Something that goes with it is there, and with other things too.
    Possible,
    /// A flag asks for it, or an instruction does it.
    Certain,
}

/// What tells of an effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// A flag, as it was given; `None` for a default.
    Flag(Option<String>),
    /// Instructions.
    Instruction {
        /// Opcode with its modifiers.
        opcode: String,
        /// How many there are in the code; how often each runs is not known.
        count: u64,
        /// Functions that have one.
        functions: Vec<String>,
    },
    /// The name of a function.
    Name(String),
}

/// An effect, and what tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The effect.
    pub effect: Effect,
    /// How sure it is.
    pub certainty: Certainty,
    /// What tells of it, the most frequent first.
    pub evidence: Vec<Evidence>,
}
