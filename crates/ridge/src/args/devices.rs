//! Arguments of `ridge devices`, and the table of one's own that other verbs take too.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::verbs::devices::DevicesOptions;

pub(super) const EXAMPLES: &str = "\
Examples:
  ridge devices                           all devices
  ridge devices h200-sxm                  everything about one: peaks, sources, doubts
  ridge devices 9.0                       those of a compute capability; 90, sm_90 and, for 10.0, 10 do too
  ridge devices 10de:2335                 by PCI id, as lspci -nn shows it
  ridge devices --format csv -o own.csv   a table to edit, for --devices own.csv

A table of your own has a header with names of columns in any order; only name
and cc are needed. A row replaces ours of the same name as a whole. One without
peaks gets those that follow from cc, sm, boost_mhz and tensor_mhz.
docs/reference/devices.md tells what each column means.";

#[derive(Debug, Args)]
pub(crate) struct DevicesArguments {
    /// A name, a name that the driver reports, a compute capability (9.0, 90, sm_90), or a PCI id
    /// (10de:2335); a number that is a compute capability is not looked for in names; case, spaces, - and _ do not matter
    #[arg(value_name = "NAME")]
    name: Vec<String>,
    /// A table of devices as CSV that goes before the one that is built in
    #[arg(long, value_name = "FILE")]
    devices: Option<PathBuf>,
    /// Format of the answer [default: text]
    #[arg(long, value_enum)]
    format: Option<DevicesFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DevicesFormat {
    /// A page for people
    Text,
    /// One document, described by schemas/devices.schema.json
    Json,
    /// A table in the form that --devices reads
    Csv,
}

impl DevicesArguments {
    pub(crate) fn options(self) -> DevicesOptions {
        DevicesOptions {
            // `ridge devices RTX 4090` needs no quotes.
            name: Some(self.name.join(" ")).filter(|name| !name.trim().is_empty()),
            table: self.devices,
            format: self.format,
        }
    }
}
