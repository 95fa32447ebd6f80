//! Whether a port to the GPU is worth it and done well: one question in one file, answered from what is known of it.
//!
//! The crate takes what other crates found in reports, traces, benchmarks, comparisons of outputs and build flags, and
//! answers each question with yes, no or unknown, with the figures behind the answer and the command that tells more. It is
//! pure: it reads no file, runs nothing and prints nothing. It measures nothing itself, and a question that no input
//! answers stays unknown.
//!
//! ```
//! use ridge_checklist::{Answer, Inputs, checklist};
//!
//! let document = checklist(&Inputs::default());
//! assert!(document.lines.iter().all(|line| line.answer == Answer::Unknown));
//! assert!(document.lines.iter().all(|line| !line.next.is_empty()));
//! ```
#![forbid(unsafe_code)]

mod build;
mod claims;
mod document;
mod evaluate;
mod inputs;
mod kernels;
mod lines;
mod pages;
mod part;
mod rates;
mod trace;
mod words;

pub use build::{Build, BuildError};
pub use claims::{Claims, ClaimsError, CpuClaims};
pub use document::{
    Answer, Document, Evidence, Group, Line, SCHEMA, Source, SourceKind, VERSION, Warning,
};
pub use evaluate::checklist;
pub use inputs::{Diagnosed, Inputs, Named, Origin, Program};
pub use pages::{ids, page, title};
