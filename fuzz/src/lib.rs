//! The fuzz targets of the readers. Needs nothing but a compiler; the programs in `fuzz_targets/` add libFuzzer.
#![forbid(unsafe_code)]

pub mod bodies;
pub mod checks;
pub mod devices;
pub mod diagnoses;
pub mod flags;
pub mod history;
pub mod lint;
pub mod recordings;
pub mod sanitizer;
pub mod specs;
pub mod tensors;
pub mod traces;
