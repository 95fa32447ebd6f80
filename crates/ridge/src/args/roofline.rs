//! Arguments of `ridge roofline`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ridge_model::quantity::Hertz;
use ridge_model::roof::MemoryLevel;
use ridge_model::roofline::document::Side;

use super::{Inputs, Wanted, checked, whole_number};
use crate::error::ExpectedError;
use crate::verbs::ceilings::stored::Choice;
use crate::verbs::roofline::point::GivenPoint;
use crate::verbs::roofline::{Named, RooflineOptions};

pub(super) const EXAMPLES: &str = "\
Examples:
  ridge roofline report.ncu-rep                  a chart and a table for the terminal
  ridge roofline report.ncu-rep -o roofline.html a page to zoom, filter and switch roofs in
  ridge roofline report.ncu-rep -k gemm --level l2 -o gemm.svg
                                                 a picture, with the bytes between L2 and SMs
  ridge roofline --before old.ncu-rep --after new.ncu-rep -o change.html
                                                 arrows from each kernel to what became of it
  ridge roofline --before r.ncu-rep#gemm_slow --after r.ncu-rep#gemm_fixed
                                                 two kernels, whatever they are called
  ridge bench spec.toml -o results.json && ridge roofline results.json
                                                 what was measured, with the bytes and FLOPs of the spec
  ridge roofline --device h200 --point gemm,137GFLOP,805MB,215us,bf16
                                                 numbers of your own";

#[derive(Debug, Args)]
pub(crate) struct RooflineArguments {
    /// Nsight Compute reports (.ncu-rep, .ncu-repz), CSV exports of ncu, or what `ridge bench --format json` wrote, plain or
    /// packed with zstd or gzip; `-` is standard input, FILE#NAME or FILE#NAME@LAUNCH is one kernel of a file
    #[arg(value_name = "FILE")]
    files: Vec<OsString>,
    /// A report or benchmark from before a change; may be named several times
    #[arg(long, value_name = "FILE", requires = "after")]
    before: Vec<OsString>,
    /// One from after it: kernels of the same name and size are joined by an arrow
    #[arg(long, value_name = "FILE", requires = "before")]
    after: Vec<OsString>,
    /// A point of your own: NAME,OPERATIONS,BYTES,TIME[,PRECISION], such as gemm,137GFLOP,805MB,215us,bf16; bytes are
    /// those of device memory, and the precision is a format (fp32 where none is said), with :vector, :tensor or
    /// :mma.sync behind it where the unit matters. May be given several times
    #[arg(long, value_name = "POINT", value_parser = str::parse::<GivenPoint>, allow_hyphen_values = true)]
    point: Vec<GivenPoint>,
    /// Only kernels whose name contains a match of this regular expression
    #[arg(long, short, value_name = "REGEX")]
    kernel: Option<String>,
    /// Only the launch with this number; launches are counted from 0 in each file
    #[arg(long, value_name = "N", value_parser = whole_number, allow_negative_numbers = true)]
    launch: Option<usize>,
    /// The device of the points, and of inputs that do not tell theirs: a name as `ridge devices` lists them
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// A table of devices as CSV that goes before the one that is built in
    #[arg(long, value_name = "FILE")]
    devices: Option<PathBuf>,
    /// What was measured on the machine: a file of `ridge ceilings`, auto for what it has stored for this device, or none
    #[arg(long, value_name = "FILE", default_value = "auto", value_parser = str::parse::<Choice>)]
    ceilings: Choice,
    /// The SM clock that the points ran at, such as 1.755GHz
    #[arg(long, value_name = "CLOCK", requires = "point", value_parser = str::parse::<Hertz>, allow_hyphen_values = true)]
    clock: Option<Hertz>,
    /// The memory whose bytes text and pictures are drawn with; the page can switch [default: dram]
    #[arg(long, value_enum)]
    level: Option<Level>,
    /// Width of an SVG picture in pixels [default: 960]
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(320..=4000))]
    width: Option<u32>,
    /// Format of the answer [default: text]
    #[arg(long, value_enum)]
    format: Option<RooflineFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    /// Device memory
    Dram,
    /// Between the L2 and the SMs
    L2,
    /// Between L1 with shared memory and the registers
    L1,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RooflineFormat {
    /// A chart and a table for people
    Text,
    /// One document, described by schemas/roofline.schema.json
    Json,
    /// A row for each point and level of memory
    Csv,
    /// A picture
    Svg,
    /// A page in one file: hover, zoom, filter, switch roofs and precisions
    Html,
}

impl RooflineArguments {
    pub(crate) fn options(self) -> Result<RooflineOptions, ExpectedError> {
        let sides = [
            (None, self.files),
            (Some(Side::Before), self.before),
            (Some(Side::After), self.after),
        ];
        let named: Vec<Named> = sides
            .into_iter()
            .flat_map(|(side, files)| files.into_iter().map(move |file| Named { file, side }))
            .collect();
        let inputs = Inputs {
            files: named.iter().map(|named| named.file.clone()).collect(),
            wanted: Wanted {
                kernel: self.kernel,
                launch: self.launch,
            },
        };
        let selection = inputs.wanted.selection()?;
        // Standard input can be named once, on whichever side.
        checked(inputs.files)?;
        Ok(RooflineOptions {
            named,
            selection,
            points: self.point,
            device: self.device,
            table: self.devices,
            ceilings: self.ceilings,
            clock: self.clock,
            level: match self.level {
                None | Some(Level::Dram) => MemoryLevel::Dram,
                Some(Level::L2) => MemoryLevel::L2,
                Some(Level::L1) => MemoryLevel::L1,
            },
            width: self.width,
            format: self.format,
        })
    }
}
