//! Arguments of `ridge doctor`.

use clap::{Args, ValueEnum};

use crate::verbs::doctor::DoctorOptions;

pub(super) const EXAMPLES: &str = "\
Examples:
  ridge doctor                            what works here, what does not, and what mends it
  ridge doctor --format json -o here.json the same, to attach to a question

Nothing is changed: each GPU is opened and a small kernel is run on it, tools are asked for their
version. Exit code 0: all that commands need works; 4: something does not. Lines with ? and ! do
not change it, nor do those that are only of use.";

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Format of the answer [default: text]
    #[arg(long, value_enum)]
    format: Option<DoctorFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DoctorFormat {
    /// A page for people
    Text,
    /// One document, described by schemas/doctor.schema.json
    Json,
}

impl DoctorArguments {
    pub(crate) fn options(self) -> DoctorOptions {
        DoctorOptions {
            format: self.format,
        }
    }
}
