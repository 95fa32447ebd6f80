//! Arguments of `ridge gallery`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::verbs::gallery::{GalleryOptions, Todo};

pub(super) const EXAMPLES: &str = "\
Examples:
  ridge gallery                                  all cases
  ridge gallery --finding bank-conflicts         those that show a finding
  ridge gallery conv9                            what is wrong, the fix, figures and diagnoses
  ridge gallery conv9 --source                   and the kernels
  ridge gallery conv9 --bench                    measure both versions on this GPU, as `ridge bench` does
  ridge gallery conv9 --bench --device sim:h200  the same on a simulated GPU
  ridge gallery conv9 --write mine               kernels.cu and bench.toml, to try a fix of your own";

#[derive(Debug, Args)]
pub(crate) struct GalleryArguments {
    /// The case; without one, they are listed
    #[arg(value_name = "CASE")]
    case: Option<String>,
    /// Only cases that show this finding
    #[arg(long, value_name = "ID", conflicts_with = "case")]
    finding: Option<String>,
    /// Show the kernels too
    #[arg(long, requires = "case")]
    source: bool,
    /// Build both versions and measure them
    #[arg(long, requires = "case", conflicts_with_all = ["source", "write"])]
    bench: bool,
    /// With --bench: the GPU, its number or sim:NAME for a simulated one
    #[arg(long, value_name = "DEVICE", default_value = "0", requires = "bench")]
    device: String,
    /// Write kernels.cu and bench.toml into this folder, which is made where it is missing
    #[arg(long, value_name = "DIR", requires = "case", conflicts_with = "source")]
    write: Option<PathBuf>,
    /// Format of the answer [default: text]
    #[arg(long, value_enum)]
    format: Option<GalleryFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GalleryFormat {
    /// A page for people
    Text,
    /// One document, described by schemas/gallery.schema.json; with --bench by schemas/bench.schema.json
    Json,
    /// Markdown, for a pull request or a page
    Markdown,
}

impl GalleryArguments {
    pub(crate) fn options(self) -> GalleryOptions {
        GalleryOptions {
            case: self.case,
            finding: self.finding,
            todo: if self.bench {
                Todo::Bench(self.device)
            } else if let Some(folder) = self.write {
                Todo::Write(folder)
            } else {
                Todo::Show {
                    has_source: self.source,
                }
            },
            format: self.format,
        }
    }
}
