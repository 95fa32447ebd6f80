//! Arguments of `ridge learn`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::verbs::learn::{LearnOptions, Script};

pub(super) const EXAMPLES: &str = "\
Examples:
  ridge learn                                 the lessons, and how far you are
  ridge learn two-walls                       a page to read, then five questions
  ridge learn occupancy --device l40s         questions about another GPU
  ridge learn --quiz answers.txt              a question of each lesson, answers from a file
  ridge learn layers --quiz - --seed 7 --format json
                                              answers from standard input, the result as a document

An answer is a letter, or a number with or without its unit: b, 60us, 2^-8, 1/8. A question mark
shows the answer. A script has one answer a line; empty lines and lines that begin with # do not
count. The same seed draws the same questions. What was answered is kept in .ridge/learn.json of
the project.";

#[derive(Debug, Args)]
pub(crate) struct LearnArguments {
    /// The lesson; without one, they are listed
    #[arg(value_name = "LESSON")]
    lesson: Option<String>,
    /// Take the answers from this file, one a line, and ask no terminal; `-` is standard input. Without a lesson, a question
    /// of each is asked
    #[arg(long, value_name = "ANSWERS")]
    quiz: Option<OsString>,
    /// Draw the questions of this seed [default: another one each time; 0 with --quiz]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The device that questions are about, as `ridge devices` lists it [default: the GPU of this machine, or H200 SXM]
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// A table of devices as CSV that goes before the one that is built in
    #[arg(long, value_name = "FILE")]
    devices: Option<PathBuf>,
    /// Format of the answer [default: text]
    #[arg(long, value_enum)]
    format: Option<LearnFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LearnFormat {
    /// Questions and answers for people
    Text,
    /// What became of a round with --quiz, described by schemas/learn.schema.json
    Json,
}

impl LearnArguments {
    pub(crate) fn options(self) -> LearnOptions {
        LearnOptions {
            lesson: self.lesson,
            script: self.quiz.map(|quiz| {
                if quiz == "-" {
                    Script::Input
                } else {
                    Script::File(PathBuf::from(quiz))
                }
            }),
            seed: self.seed,
            device: self.device,
            table: self.devices,
            format: self.format,
        }
    }
}
