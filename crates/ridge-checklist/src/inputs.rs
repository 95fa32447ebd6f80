//! What is known of a port.

use ridge_diagnose::document::Document as Diagnosis;

use crate::document::Warning;

/// Something with the name of the file that it comes from.
#[derive(Clone, Debug)]
pub struct Named<T> {
    /// The file as it was named.
    pub name: String,
    /// What is in it.
    pub content: T,
}

impl<T> Named<T> {
    /// Names something.
    pub fn new(name: impl Into<String>, content: T) -> Self {
        Self {
            name: name.into(),
            content,
        }
    }
}

/// Everything that is known; lists may be empty.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Kernels with counters.
    pub diagnoses: Vec<Named<Diagnosis>>,
    /// What could not be read, and what makes the answers less certain.
    pub warnings: Vec<Warning>,
}
