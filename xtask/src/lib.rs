//! Tasks of this workspace: writes the files that are generated from the code and checks that they are current.
//!
//! Not shipped, and used by no other crate. What is generated is listed in [`generate::GENERATORS`]:
//!
//! ```
//! use xtask::generate::{self, Mode};
//!
//! // No generators, nothing that could be out of date.
//! let changes = generate::run(xtask::root(), &[], Mode::Check)?;
//! assert!(changes.is_empty());
//! # Ok::<(), xtask::Error>(())
//! ```
#![forbid(unsafe_code)]

use std::path::Path;

pub mod bench_spec;
mod checklist;
pub mod dependencies;
pub mod devices;
pub mod findings;
pub mod gallery;
pub mod generate;
pub mod learn;
pub mod lint;
pub mod metadata;
pub mod reference;
pub mod schemas;

/// What a task fails with; shown to the person who started it.
pub type Error = Box<dyn std::error::Error>;

/// The workspace's root folder.
#[must_use]
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in a folder of the workspace")
}
