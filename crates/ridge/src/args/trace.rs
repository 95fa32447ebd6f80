//! Arguments of `ridge trace`.

use std::ffi::OsString;

use clap::{Args, ValueEnum};

use crate::error::ExpectedError;
use crate::verbs::trace::TraceOptions;

pub(super) const EXAMPLES: &str = "\
Examples:
  ridge trace -- ./app --steps 100        record a program and its children into app.ridgetrace
  ridge trace -o step.ridgetrace -- python3 train.py
  ridge trace -o step.json -- ./app       as Chrome's trace events, for https://ui.perfetto.dev
  mpirun -n 8 ridge trace -o 'r%q{OMPI_COMM_WORLD_RANK}.ridgetrace' -- ./app
                                          a file for each rank; `ridge timeline r*.ridgetrace` compares
  ridge trace -- torchrun --nproc-per-node 8 train.py
                                          all ranks of a host in one file

The program runs as it would alone: its input, its outputs and its ending are its own. What is
recorded is written when it ends, also after Ctrl-C or a crash. Options of ridge stand before `--`,
those of the program behind it. %q{NAME} in the name of the file stands for the variable NAME.

CUPTI is looked for beside the CUDA runtime of the program, where the system's loader looks, and in
toolkits; RIDGE_CUPTI names one. `ridge explain recording` tells what is recorded and what that
costs.";

#[derive(Debug, Args)]
pub(crate) struct TraceArguments {
    #[command(flatten)]
    record: super::history::RecordArgument,
    /// Format of the file [default: by its extension, else recording]
    #[arg(long, value_enum)]
    format: Option<TraceFormat>,
    /// The program to record, and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceFormat {
    /// Ridgepoint's own: small, and complete
    Recording,
    /// Chrome's trace events as JSON, which Perfetto shows
    Chrome,
}

impl TraceArguments {
    pub(crate) fn options(self) -> Result<TraceOptions, ExpectedError> {
        Ok(TraceOptions {
            command: self.command,
            recording: self.record.recording()?,
            format: self.format,
        })
    }
}
