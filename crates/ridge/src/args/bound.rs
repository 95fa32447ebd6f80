//! Arguments of `ridge bound`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use ridge_model::bound::{Chain, Launches, Link, StepLatency, Synchronizations, Transfer};
use ridge_model::device::{Fact, Origin};
use ridge_model::quantity::{
    Bandwidth, Bytes, ComputeRate, Flops, Hertz, Nanos, parse_count, parse_cycles,
};
use ridge_model::roof::MemoryLevel;
use ridge_model::template::{
    Attention, BatchedGemm, Conv2d, Copy, Demand, DemandError, Gemm, LayerNorm, Reduce, Softmax,
    Spmv, Stencil, Transpose, Vector,
};
use ridge_model::{NumberFormat, PeakUnit};

use crate::error::ExpectedError;
use crate::verbs::bound::{BoundOptions, Source};
use crate::verbs::ceilings::stored::Choice;

pub(super) const EXAMPLES: &str = "\
Examples:
  ridge bound gemm --m 8192 --n 8192 --k 8192 --dtype bf16 --device h200
      a BF16 matrix product on an H200, against the dense tensor peak
  ridge bound gemm --m 1024 --n 1024 --k 1024 --device h100-sxm --time 50us
      an FP32 matrix product, and how far a measured time is from its bound
  ridge bound vector --elements 2^24 --device h100-sxm
      adding two arrays of 2^24 FP32 values
  ridge bound copy --bytes 1GiB --device h100-sxm --time 1.2ms
  ridge bound attention --heads 32 --seq 4096 --head-dim 128 --device b200
  ridge bound --bytes 192MiB --flops 16.8M --dtype fp32 --device t4
      from numbers of your own
  ridge bound --launches 100 --launch-cost 5us --kernel-time 2us --device l4

A template counts bytes and operations; without one, give the numbers.
`ridge bound gemm --help` tells the dimensions of a template, `ridge devices`
lists the devices, `ridge explain lower-bound` tells what the answer means.
Matrix products of FP64, TF32, 16 bits and less count against the dense tensor
peak where the device has one; FP32 and everything elementwise against the
vector peak.";

#[derive(Debug, Args)]
#[command(
    subcommand_help_heading = "Templates",
    subcommand_value_name = "TEMPLATE",
    disable_help_subcommand = true,
    args_conflicts_with_subcommands = false
)]
pub(crate) struct BoundArguments {
    #[command(subcommand)]
    template: Option<TemplateArguments>,
    #[command(flatten)]
    plain: PlainArguments,
    #[command(flatten)]
    shared: SharedArguments,
}

/// Numbers that stand for a template.
#[derive(Debug, Args)]
#[command(next_help_heading = "Work, without a template")]
struct PlainArguments {
    /// Bytes that have to cross the border of device memory, such as 192MiB or 1.5GB
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true)]
    bytes: Option<Bytes>,
    /// Operations, such as 2.1G; a multiply-add is two. They count as matrix products unless --unit is vector
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true)]
    flops: Option<Flops>,
    /// Number format of the operations: fp64, fp32, tf32, bf16, fp16, fp8 (e4m3 or e5m2), fp4, int8 or int4 [default: fp32]
    #[arg(long, value_name = "FORMAT")]
    dtype: Option<NumberFormat>,
}

/// What every form takes.
#[derive(Debug, Args)]
struct SharedArguments {
    /// The device: a name as `ridge devices` lists them; case, spaces, - and _ do not matter
    #[arg(long, global = true, value_name = "NAME", help_heading = "Device")]
    device: Option<String>,
    /// A table of devices as CSV that goes before the one that is built in
    #[arg(long, global = true, value_name = "FILE", help_heading = "Device")]
    devices: Option<PathBuf>,
    /// What was measured on the machine: a file of `ridge ceilings`, auto for what it has stored for this device, or none
    #[arg(long, global = true, value_name = "FILE", default_value = "auto", help_heading = "Device", value_parser = str::parse::<Choice>)]
    ceilings: Choice,
    /// The SM clock of a run; peaks are scaled to it [default: the clocks of the data sheet]
    #[arg(
        long,
        global = true,
        value_name = "CLOCK",
        help_heading = "Device",
        allow_hyphen_values = true
    )]
    clock: Option<Hertz>,
    /// Use this bandwidth of device memory, such as a measured one
    #[arg(
        long,
        global = true,
        value_name = "RATE",
        help_heading = "Device",
        allow_hyphen_values = true
    )]
    bandwidth: Option<Bandwidth>,
    /// Use this peak for all operations, such as a measured one
    #[arg(long, global = true, value_name = "RATE", help_heading = "Device", allow_hyphen_values = true, conflicts_with_all = ["unit", "accumulator", "sparse", "clock"])]
    peak: Option<ComputeRate>,
    /// The unit that matrix products run on [default: tensor where the device has it, vector for FP32]
    #[arg(long, global = true, value_enum, help_heading = "Device")]
    unit: Option<Unit>,
    /// What matrix products are summed in: fp32 or fp16 [default: fp32, int32 for integers, fp64 for fp64]
    #[arg(long, global = true, value_name = "FORMAT", help_heading = "Device")]
    accumulator: Option<NumberFormat>,
    /// Count against the peak with 2:4 structured sparsity
    #[arg(long, global = true, help_heading = "Device")]
    sparse: bool,
    /// A measured time to compare with the bound, such as 1.2ms
    #[arg(
        long,
        global = true,
        value_name = "TIME",
        help_heading = "Measurement",
        allow_hyphen_values = true
    )]
    time: Option<Nanos>,
    /// Kernel launches from one host thread
    #[arg(long, global = true, value_name = "COUNT", value_parser = above_zero, help_heading = "Latency and transfers", allow_hyphen_values = true)]
    launches: Option<u64>,
    /// What a launch costs when many are queued [default: 2us]
    #[arg(
        long,
        global = true,
        value_name = "TIME",
        requires = "launches",
        help_heading = "Latency and transfers",
        allow_hyphen_values = true
    )]
    launch_cost: Option<Nanos>,
    /// The time of each launched kernel on the device, where it is known
    #[arg(
        long,
        global = true,
        value_name = "TIME",
        help_heading = "Latency and transfers",
        allow_hyphen_values = true
    )]
    kernel_time: Option<Nanos>,
    /// Times at which the host waits for the device
    #[arg(long, global = true, value_name = "COUNT", value_parser = above_zero, help_heading = "Latency and transfers", allow_hyphen_values = true)]
    syncs: Option<u64>,
    /// What a wait costs [default: 6us]
    #[arg(
        long,
        global = true,
        value_name = "TIME",
        requires = "syncs",
        help_heading = "Latency and transfers",
        allow_hyphen_values = true
    )]
    sync_cost: Option<Nanos>,
    /// Steps of which each needs the result of the one before
    #[arg(long, global = true, value_name = "STEPS", value_parser = above_zero, help_heading = "Latency and transfers", allow_hyphen_values = true)]
    chain: Option<u64>,
    /// How long a step takes: dram, l2 or l1 for a load from there, 30cycles, or 350ns [default: dram]
    #[arg(long, global = true, value_name = "LATENCY", value_parser = step_latency, requires = "chain", help_heading = "Latency and transfers", allow_hyphen_values = true)]
    step: Option<StepLatency>,
    /// Bytes from the host to the device
    #[arg(
        long,
        global = true,
        value_name = "BYTES",
        help_heading = "Latency and transfers",
        allow_hyphen_values = true
    )]
    h2d: Option<Bytes>,
    /// Bytes from the device to the host
    #[arg(
        long,
        global = true,
        value_name = "BYTES",
        help_heading = "Latency and transfers",
        allow_hyphen_values = true
    )]
    d2h: Option<Bytes>,
    /// Bytes to other devices over NVLink
    #[arg(
        long,
        global = true,
        value_name = "BYTES",
        help_heading = "Latency and transfers",
        allow_hyphen_values = true
    )]
    nvlink: Option<Bytes>,
    /// Format of the answer [default: text]
    #[arg(long, global = true, value_enum, help_heading = "Answer")]
    format: Option<BoundFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BoundFormat {
    /// A page for people
    Text,
    /// One document, described by schemas/bound.schema.json
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Unit {
    /// Ordinary arithmetic of threads
    Vector,
    /// Matrix products by the fastest instructions: wgmma or tcgen05 where the device has them
    Tensor,
    /// Matrix products by instructions of one warp, where the device has faster ones (9.0)
    MmaSync,
}

impl From<Unit> for PeakUnit {
    fn from(unit: Unit) -> Self {
        match unit {
            Unit::Vector => Self::Vector,
            Unit::Tensor => Self::Tensor,
            Unit::MmaSync => Self::TensorWarp,
        }
    }
}

/// A count that means nothing when it is zero.
fn above_zero(text: &str) -> Result<u64, String> {
    match parse_count(text) {
        Ok(0) => {
            Err("zero means nothing here; expected a count such as 4096, 2^24 or 16Mi".to_owned())
        }
        Ok(count) => Ok(count),
        Err(error) => Err(error.to_string()),
    }
}

fn step_latency(text: &str) -> Result<StepLatency, String> {
    match text.trim().to_ascii_lowercase().as_str() {
        "dram" => return Ok(StepLatency::Load(MemoryLevel::Dram)),
        "l2" => return Ok(StepLatency::Load(MemoryLevel::L2)),
        "l1" => return Ok(StepLatency::Load(MemoryLevel::L1)),
        _ => {}
    }
    if text.contains("cycle") {
        return parse_cycles(text)
            .map(StepLatency::Cycles)
            .map_err(|error| error.to_string());
    }
    text.parse()
        .map(StepLatency::Time)
        .map_err(|error| format!("{error}, 30cycles, or dram, l2 or l1 for a load from there"))
}

#[derive(Debug, Subcommand)]
enum TemplateArguments {
    /// Elementwise arithmetic on arrays, such as adding two of them
    Vector(VectorArguments),
    /// A copy within device memory
    Copy(CopyArguments),
    /// A matrix with rows and columns swapped
    Transpose(TransposeArguments),
    /// An array reduced to one value or a few
    Reduce(ReduceArguments),
    /// A matrix product
    Gemm(GemmArguments),
    /// Many matrix products of one shape
    BatchedGemm(BatchedGemmArguments),
    /// A convolution of images
    Conv2d(Conv2dArguments),
    /// Weighted sums of neighbours on a grid
    Stencil(StencilArguments),
    /// Softmax over rows
    Softmax(RowsArguments),
    /// Normalization of rows
    Layernorm(RowsArguments),
    /// Fused attention
    Attention(AttentionArguments),
    /// A sparse matrix in compressed rows times a vector
    Spmv(SpmvArguments),
}

#[derive(Debug, Args)]
struct Format {
    /// Number format: fp64, fp32, tf32, bf16, fp16, fp8 (e4m3 or e5m2), fp4, int8 or int4
    #[arg(
        id = "template_dtype",
        long = "dtype",
        value_name = "FORMAT",
        default_value = "fp32"
    )]
    dtype: NumberFormat,
}

#[derive(Debug, Args)]
struct MatrixFormat {
    /// Number format of the inputs: fp64, fp32, tf32, bf16, fp16, fp8 (e4m3 or e5m2), fp4, int8 or int4
    #[arg(
        id = "template_dtype",
        long = "dtype",
        value_name = "FORMAT",
        default_value = "fp32"
    )]
    dtype: NumberFormat,
    /// Number format of the output [default: that of the inputs]
    #[arg(long, value_name = "FORMAT")]
    output_dtype: Option<NumberFormat>,
}

impl MatrixFormat {
    fn output(&self) -> NumberFormat {
        self.output_dtype.unwrap_or(self.dtype)
    }
}

#[derive(Debug, Args)]
struct VectorArguments {
    /// Elements of each array, such as 2^24
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    elements: u64,
    /// Arrays that are read
    #[arg(long, value_parser = parse_count, value_name = "COUNT", default_value = "2", allow_hyphen_values = true)]
    inputs: u64,
    /// Arrays that are written
    #[arg(long, value_parser = parse_count, value_name = "COUNT", default_value = "1", allow_hyphen_values = true)]
    outputs: u64,
    /// Operations for each element; a multiply-add is two
    #[arg(long, value_parser = parse_count, value_name = "COUNT", default_value = "1", allow_hyphen_values = true)]
    ops: u64,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
struct CopyArguments {
    /// Elements of the array
    #[arg(long, value_parser = above_zero, value_name = "COUNT", required_unless_present = "copy_bytes", conflicts_with = "copy_bytes", allow_hyphen_values = true)]
    elements: Option<u64>,
    /// Size of the array, instead of elements: the copy reads and writes as much
    #[arg(
        id = "copy_bytes",
        long = "bytes",
        value_name = "BYTES",
        allow_hyphen_values = true
    )]
    bytes: Option<Bytes>,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
struct TransposeArguments {
    /// Rows
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    rows: u64,
    /// Columns
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    cols: u64,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
struct ReduceArguments {
    /// Elements that are read
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    elements: u64,
    /// Values that are left
    #[arg(long, value_parser = above_zero, value_name = "COUNT", default_value = "1", allow_hyphen_values = true)]
    results: u64,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
struct GemmArguments {
    /// Rows of A and C
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    m: u64,
    /// Columns of B and C
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    n: u64,
    /// Columns of A, rows of B
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    k: u64,
    /// C is added to, so it is read too (beta is not 0)
    #[arg(long)]
    accumulate: bool,
    #[command(flatten)]
    format: MatrixFormat,
}

#[derive(Debug, Args)]
struct BatchedGemmArguments {
    /// Members of the batch
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    batch: u64,
    /// Rows of A and C
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    m: u64,
    /// Columns of B and C
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    n: u64,
    /// Columns of A, rows of B
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    k: u64,
    /// All members have the same B, such as weights
    #[arg(long)]
    shared_b: bool,
    #[command(flatten)]
    format: MatrixFormat,
}

#[derive(Debug, Args)]
struct Conv2dArguments {
    /// Images
    #[arg(long, value_parser = above_zero, value_name = "COUNT", default_value = "1", allow_hyphen_values = true)]
    batch: u64,
    /// Channels of the input
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    channels: u64,
    /// Height of the input
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    height: u64,
    /// Width of the input
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    width: u64,
    /// Channels of the output
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    filters: u64,
    /// Size of the kernel: one side of a square, or HEIGHTxWIDTH
    #[arg(long, value_parser = kernel_size, value_name = "SIZE", default_value = "3", allow_hyphen_values = true)]
    kernel: (u64, u64),
    /// Step between outputs
    #[arg(long, value_parser = above_zero, value_name = "COUNT", default_value = "1", allow_hyphen_values = true)]
    stride: u64,
    /// Zeros on each side
    #[arg(long, value_parser = parse_count, value_name = "COUNT", default_value = "0", allow_hyphen_values = true)]
    padding: u64,
    /// Step between the inputs of one output
    #[arg(long, value_parser = above_zero, value_name = "COUNT", default_value = "1", allow_hyphen_values = true)]
    dilation: u64,
    /// Groups of channels that do not mix
    #[arg(long, value_parser = above_zero, value_name = "COUNT", default_value = "1", allow_hyphen_values = true)]
    groups: u64,
    #[command(flatten)]
    format: MatrixFormat,
}

fn kernel_size(text: &str) -> Result<(u64, u64), String> {
    let (height, width) = text.split_once(['x', 'X']).unwrap_or((text, text));
    Ok((above_zero(height)?, above_zero(width)?))
}

#[derive(Debug, Args)]
struct StencilArguments {
    /// Points of the grid in x
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    nx: u64,
    /// Points of the grid in y
    #[arg(long, value_parser = above_zero, value_name = "COUNT", default_value = "1", allow_hyphen_values = true)]
    ny: u64,
    /// Points of the grid in z
    #[arg(long, value_parser = above_zero, value_name = "COUNT", default_value = "1", allow_hyphen_values = true)]
    nz: u64,
    /// Points of the stencil, such as 3, 5, 7 or 27
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    points: u64,
    /// Passes over the grid
    #[arg(long, value_parser = above_zero, value_name = "COUNT", default_value = "1", allow_hyphen_values = true)]
    sweeps: u64,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
struct RowsArguments {
    /// Rows
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    rows: u64,
    /// Elements of a row
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    cols: u64,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
struct AttentionArguments {
    /// Sequences
    #[arg(long, value_parser = above_zero, value_name = "COUNT", default_value = "1", allow_hyphen_values = true)]
    batch: u64,
    /// Heads of the queries
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    heads: u64,
    /// Heads of keys and values [default: as many]
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    kv_heads: Option<u64>,
    /// Queries of each sequence
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    seq: u64,
    /// Keys of each sequence [default: as many]
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    kv_seq: Option<u64>,
    /// Elements of a head
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    head_dim: u64,
    /// A query sees only keys that are not later than it
    #[arg(long)]
    causal: bool,
    /// Number format: fp32, tf32, bf16, fp16 or fp8
    #[arg(
        id = "template_dtype",
        long = "dtype",
        value_name = "FORMAT",
        default_value = "bf16"
    )]
    dtype: NumberFormat,
}

#[derive(Debug, Args)]
struct SpmvArguments {
    /// Rows
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    rows: u64,
    /// Columns [default: as many]
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    cols: Option<u64>,
    /// Stored elements
    #[arg(long, value_parser = above_zero, value_name = "COUNT", allow_hyphen_values = true)]
    nonzeros: u64,
    #[command(flatten)]
    format: Format,
}

impl TemplateArguments {
    fn demand(self) -> Result<Demand, DemandError> {
        match self {
            Self::Vector(own) => Vector {
                elements: own.elements,
                inputs: own.inputs,
                outputs: own.outputs,
                operations_per_element: own.ops,
                format: own.format.dtype,
            }
            .demand(),
            Self::Copy(own) => match own.bytes {
                Some(size) => Copy { size },
                None => Copy::of_elements(own.elements.unwrap_or_default(), own.format.dtype),
            }
            .demand(),
            Self::Transpose(own) => Transpose {
                rows: own.rows,
                columns: own.cols,
                format: own.format.dtype,
            }
            .demand(),
            Self::Reduce(own) => Reduce {
                elements: own.elements,
                results: own.results,
                format: own.format.dtype,
            }
            .demand(),
            Self::Gemm(own) => Gemm {
                m: own.m,
                n: own.n,
                k: own.k,
                is_accumulating: own.accumulate,
                output: own.format.output(),
                format: own.format.dtype,
            }
            .demand(),
            Self::BatchedGemm(own) => BatchedGemm {
                batch: own.batch,
                m: own.m,
                n: own.n,
                k: own.k,
                is_b_shared: own.shared_b,
                output: own.format.output(),
                format: own.format.dtype,
            }
            .demand(),
            Self::Conv2d(own) => Conv2d {
                batch: own.batch,
                channels: own.channels,
                height: own.height,
                width: own.width,
                filters: own.filters,
                kernel_height: own.kernel.0,
                kernel_width: own.kernel.1,
                stride: own.stride,
                padding: own.padding,
                dilation: own.dilation,
                groups: own.groups,
                output: own.format.output(),
                format: own.format.dtype,
            }
            .demand(),
            Self::Stencil(own) => Stencil {
                nx: own.nx,
                ny: own.ny,
                nz: own.nz,
                points: own.points,
                sweeps: own.sweeps,
                format: own.format.dtype,
            }
            .demand(),
            Self::Softmax(own) => Softmax {
                rows: own.rows,
                columns: own.cols,
                format: own.format.dtype,
            }
            .demand(),
            Self::Layernorm(own) => LayerNorm {
                rows: own.rows,
                columns: own.cols,
                format: own.format.dtype,
            }
            .demand(),
            Self::Attention(own) => Attention {
                batch: own.batch,
                heads: own.heads,
                kv_heads: own.kv_heads.unwrap_or(own.heads),
                queries: own.seq,
                keys: own.kv_seq.unwrap_or(own.seq),
                head_dim: own.head_dim,
                is_causal: own.causal,
                format: own.dtype,
            }
            .demand(),
            Self::Spmv(own) => Spmv {
                rows: own.rows,
                columns: own.cols.unwrap_or(own.rows),
                nonzeros: own.nonzeros,
                format: own.format.dtype,
            }
            .demand(),
        }
    }
}

fn given(time: Option<Nanos>, otherwise: Fact<Nanos>) -> Fact<Nanos> {
    time.map_or(otherwise, |value| Fact {
        value,
        origin: Origin::Given,
    })
}

impl BoundArguments {
    pub(crate) fn options(self) -> Result<BoundOptions, ExpectedError> {
        let Self {
            template,
            plain,
            shared,
        } = self;
        let source = match template {
            Some(template) => {
                plain.refuse()?;
                Source::Template(template.demand().map_err(|error| {
                    ExpectedError::usage(error.to_string())
                        .with_hint("`ridge bound TEMPLATE --help` tells what each dimension means")
                })?)
            }
            None => Source::Numbers {
                bytes: plain.bytes,
                operations: plain.flops,
                format: plain.dtype.unwrap_or(NumberFormat::Fp32),
            },
        };
        let transfer = |link, bytes: Option<Bytes>| bytes.map(|bytes| Transfer { link, bytes });
        Ok(BoundOptions {
            source,
            device: shared.device,
            table: shared.devices,
            ceilings: shared.ceilings,
            clock: shared.clock,
            bandwidth: shared.bandwidth,
            peak: shared.peak,
            unit: shared.unit.map(PeakUnit::from),
            accumulator: shared.accumulator,
            is_sparse: shared.sparse,
            time: shared.time,
            launches: shared.launches.map(|count| Launches {
                count,
                cost: given(shared.launch_cost, Launches::TYPICAL_COST),
            }),
            synchronizations: shared.syncs.map(|count| Synchronizations {
                count,
                cost: given(shared.sync_cost, Synchronizations::TYPICAL_COST),
            }),
            kernel_time: shared.kernel_time,
            chain: shared.chain.map(|steps| Chain {
                steps,
                latency: shared.step.unwrap_or(StepLatency::Load(MemoryLevel::Dram)),
            }),
            transfers: [
                transfer(Link::HostToDevice, shared.h2d),
                transfer(Link::DeviceToHost, shared.d2h),
                transfer(Link::NvLink, shared.nvlink),
            ]
            .into_iter()
            .flatten()
            .collect(),
            format: shared.format,
        })
    }
}

impl PlainArguments {
    /// A template counts by itself; numbers before its name would be ignored.
    fn refuse(&self) -> Result<(), ExpectedError> {
        let option = [
            ("--bytes", self.bytes.is_some()),
            ("--flops", self.flops.is_some()),
            ("--dtype", self.dtype.is_some()),
        ]
        .into_iter()
        .find(|(_, is_given)| *is_given);
        match option {
            None => Ok(()),
            Some((option, _)) => Err(ExpectedError::usage(format!(
                "{option} stands before a template, which counts by itself"
            ))
            .with_hint(format!(
                "write {option} behind the name of the template, or leave one of them out"
            ))),
        }
    }
}
