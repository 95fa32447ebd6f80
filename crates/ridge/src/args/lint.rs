//! Arguments of `ridge lint`.

use std::ffi::OsString;

use clap::{Args, ValueEnum};

use crate::error::ExpectedError;
use crate::verbs::lint::LintOptions;

pub(super) const EXAMPLES: &str = "\
Examples:
  ridge lint kernel.cu                        one source
  ridge lint src/*.cu -o lint.sarif           several, for a code host or an editor
  ridge lint build/compile_commands.json      what is compiled, and with which flags
  ridge lint CMakeLists.txt                   flags that CMake hands to nvcc
  ridge lint bench.cu --flags '-O3 -G'        a source and the flags of its build

Each finding names its rule: `ridge explain RULE` tells what it means, what to do, and when it is
wrong. A comment on the line or the one before allows it:
  // ridge-lint: allow(double-literal) the table is in double precision
and `// ridge-lint: allow-file(double-literal)` does for the whole file.
What cannot be told from one file is not reported.
Exit code 14: errors were found. Warnings and notes do not change the code.";

#[derive(Debug, Args)]
pub(crate) struct LintArguments {
    /// CUDA sources, compile_commands.json, CMakeLists.txt or *.cmake; `-` is a source on standard input
    #[arg(value_name = "FILE", required_unless_present = "flags")]
    files: Vec<OsString>,
    /// Flags of nvcc to look at too
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    flags: Option<String>,
    /// Format of the answer [default: text]
    #[arg(long, value_enum)]
    format: Option<LintFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LintFormat {
    /// Findings with their lines, for people
    Text,
    /// One document, described by schemas/lint.schema.json
    Json,
    /// SARIF 2.1.0, which code hosts and editors show at the lines of the source
    Sarif,
}

impl LintArguments {
    pub(crate) fn options(self) -> Result<LintOptions, ExpectedError> {
        if self.files.iter().filter(|file| *file == "-").count() > 1 {
            return Err(ExpectedError::usage(
                "standard input is named more than once, but can be read only once",
            )
            .with_hint("name `-` once"));
        }
        Ok(LintOptions {
            files: self.files,
            flags: self.flags,
            format: self.format,
        })
    }
}
