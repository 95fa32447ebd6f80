//! Arguments of `ridge occupancy`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ridge_model::ComputeCapability;

use super::{Inputs, Wanted, checked, whole_number};
use crate::error::ExpectedError;
use crate::verbs::occupancy::target::Target;
use crate::verbs::occupancy::{Numbers, OccupancyOptions, numbers};

pub(super) const EXAMPLES: &str = "\
Examples:
  ridge occupancy report.ncu-rep                 every kernel of a report
  ridge occupancy report.ncu-rep#gemm --regs 80  one kernel, if it had 80 registers
  ridge occupancy --device h200 --block 256 --regs 64 --smem 16KiB --grid 4096
                                                 a launch from numbers
  ridge occupancy kernels.cubin --block 128      compiled code: cubin, fat binary, program
  ridge occupancy kernels.cu --cc 9.0 --block 128
                                                 source, compiled with NVRTC (RIDGE_NVRTC: its path)
  nvcc -Xptxas -v -c k.cu 2>&1 | ridge occupancy - --block 128
                                                 what the compiler printed
  ridge occupancy report.ncu-rep -o curves.svg   the curves as a picture";

#[derive(Debug, Args)]
pub(crate) struct OccupancyArguments {
    /// Reports of Nsight Compute, CSV exports of ncu, cubins, fat binaries or programs with them, text of `ptxas -v`, or
    /// CUDA source where NVRTC is installed, plain or packed with zstd or gzip; `-` is standard input, FILE#NAME is one kernel; none for a launch from numbers
    #[arg(value_name = "FILE")]
    files: Vec<OsString>,
    /// Only kernels whose name contains a match of this regular expression
    #[arg(long, short, value_name = "REGEX", requires = "files")]
    kernel: Option<String>,
    /// Only the launch with this number; launches are counted from 0 in each file
    #[arg(long, value_name = "N", value_parser = whole_number, allow_negative_numbers = true, requires = "files")]
    launch: Option<usize>,
    /// The device: a name as `ridge devices` lists them; case, spaces, - and _ do not matter
    #[arg(long, value_name = "NAME", conflicts_with = "cc")]
    device: Option<String>,
    /// A table of devices as CSV that goes before the one that is built in
    #[arg(long, value_name = "FILE", requires = "device")]
    devices: Option<PathBuf>,
    /// The compute capability of the device, such as 9.0 or sm_90
    #[arg(long, value_name = "CAPABILITY", value_parser = numbers::capability, allow_negative_numbers = true)]
    cc: Option<ComputeCapability>,
    /// SMs of the device, for waves
    #[arg(long, value_name = "N", value_parser = numbers::positive, allow_negative_numbers = true)]
    sms: Option<u32>,
    /// Threads in a block, such as 256 or 16x16
    #[arg(long, value_name = "SIZE", value_parser = numbers::block, allow_negative_numbers = true)]
    block: Option<u64>,
    /// Registers of a thread; for a kernel of an input, what if it had so many
    #[arg(long, value_name = "N", value_parser = numbers::count, allow_negative_numbers = true)]
    regs: Option<u32>,
    /// Shared memory of a block that the launch asks for, beside what the code declares, such as 16384 or 16KiB
    #[arg(long, value_name = "BYTES", value_parser = numbers::bytes, allow_negative_numbers = true)]
    smem: Option<u32>,
    /// Blocks in the grid, such as 4096 or 64x64, for waves and the tail
    #[arg(long, value_name = "SIZE", value_parser = numbers::grid, allow_negative_numbers = true)]
    grid: Option<u64>,
    /// Blocks in a cluster
    #[arg(long, value_name = "N", value_parser = numbers::count, allow_negative_numbers = true)]
    cluster: Option<u32>,
    /// Named barriers of a block
    #[arg(long, value_name = "N", value_parser = numbers::count, allow_negative_numbers = true)]
    barriers: Option<u32>,
    /// Shared memory that the SM is set to, rounded up to a size that it has [default: the largest]
    #[arg(long, value_name = "BYTES", value_parser = numbers::bytes, allow_negative_numbers = true)]
    carveout: Option<u32>,
    /// Format of the answer [default: text]
    #[arg(long, value_enum)]
    format: Option<OccupancyFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OccupancyFormat {
    /// A page for people
    Text,
    /// One document, described by schemas/occupancy.schema.json
    Json,
    /// A picture of the curves
    Svg,
}

impl OccupancyArguments {
    pub(crate) fn options(self) -> Result<OccupancyOptions, ExpectedError> {
        let inputs = Inputs {
            files: self.files,
            wanted: Wanted {
                kernel: self.kernel,
                launch: self.launch,
            },
        };
        Ok(OccupancyOptions {
            selection: inputs.wanted.selection()?,
            files: checked(inputs.files)?,
            numbers: Numbers {
                registers: self.regs,
                shared_bytes: self.smem,
                block: self.block,
                grid: self.grid,
                cluster: self.cluster,
                barriers: self.barriers,
                carveout_bytes: self.carveout,
            },
            target: Target {
                device: self.device,
                table: self.devices,
                capability: self.cc,
                sms: self.sms,
            },
            format: self.format,
        })
    }
}
