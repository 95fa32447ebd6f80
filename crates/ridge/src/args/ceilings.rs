//! Arguments of `ridge ceilings`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ridge_bench::ceilings::document::{Family, Settings};

use crate::error::ExpectedError;
use crate::verbs::ceilings::{CeilingsOptions, Keep};

pub(super) const EXAMPLES: &str = "\
Examples:
  ridge ceilings                          measure everything, and keep it for this GPU
  ridge ceilings --only dram,tensor       some families
  ridge ceilings --quick --save none      shorter, and keep nothing
  ridge ceilings --format json -o h200.json
  ridge ceilings --device 1 --only peer   what GPU 1 reaches of each other GPU of the machine
  ridge ceilings --device sim:h200        on a simulated GPU, where there is none; nothing is kept

What is kept lies in the folder of your data (`$XDG_DATA_HOME/ridgepoint/ceilings`, else
`~/.local/share/ridgepoint/ceilings`), one file for each GPU; RIDGE_CEILINGS names another folder.
`ridge explain ceiling` tells what the figures mean.";

#[derive(Debug, Args)]
pub(crate) struct CeilingsArguments {
    /// The GPU: its number, or sim:NAME for a simulated one (`ridge devices` lists names)
    #[arg(long, value_name = "DEVICE", default_value = "0")]
    device: String,
    /// Only these families: launch, link, dram, l2, l1, atomics, vector, tensor, peer
    #[arg(long, value_name = "FAMILY", value_delimiter = ',', value_parser = str::parse::<Family>)]
    only: Vec<Family>,
    /// Fewer and shorter repeats, and nothing sustained
    #[arg(long)]
    quick: bool,
    /// Where to keep the figures for other commands: a file, or none [default: the file of this GPU]
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// A table of devices as CSV that goes before the one that is built in
    #[arg(long, value_name = "FILE")]
    devices: Option<PathBuf>,
    #[command(flatten)]
    record: super::history::RecordArgument,
    /// Format of the answer [default: text]
    #[arg(long, value_enum)]
    format: Option<CeilingsFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CeilingsFormat {
    /// Tables for people
    Text,
    /// The same as Markdown
    Markdown,
    /// One row for each figure
    Csv,
    /// One document, described by schemas/ceilings.schema.json
    Json,
}

impl CeilingsArguments {
    pub(crate) fn options(self) -> Result<CeilingsOptions, ExpectedError> {
        let mut settings = if self.quick {
            Settings::quick()
        } else {
            Settings::whole()
        };
        if !self.only.is_empty() {
            settings
                .families
                .retain(|family| self.only.contains(family));
        }
        Ok(CeilingsOptions {
            device: self.device,
            settings,
            keep: match self.save {
                None => Keep::Usual,
                Some(path) if path.as_os_str() == "none" => Keep::Nowhere,
                Some(path) => Keep::File(path),
            },
            table: self.devices,
            recording: self.record.recording()?,
            format: self.format,
        })
    }
}
