//! Operations of `ridge numerics` that compute their own reference, and `flags`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use ridge_numerics::format::Format;
use ridge_numerics::reference::{Function, Reduction};

use super::{NumericsFormat, OperationFormat};
use crate::error::ExpectedError;
use crate::verbs::numerics::Task;
use crate::verbs::numerics::flags::FlagsOptions;
use crate::verbs::numerics::operation::{Checked, Operation, OperationOptions};
use crate::verbs::numerics::sum::SumOptions;

#[derive(Debug, Subcommand)]
pub(super) enum OperationArguments {
    /// A matrix product: C against A x B
    Gemm(GemmArguments),
    /// A convolution of images
    Conv2d(Conv2dArguments),
    /// Softmax over the last dimension
    Softmax(SoftmaxArguments),
    /// Normalization over the last dimension: mean and variance
    Layernorm(NormArguments),
    /// Normalization over the last dimension: mean of squares
    Rmsnorm(RmsNormArguments),
    /// A sum, mean, maximum, minimum, norm or product over the last dimension
    Reduce(ReduceArguments),
    /// A function of elements, such as exp or gelu
    Map(MapArguments),
    /// Sum the elements of a tensor in several orders, and tell what the order does
    Sum(SumArguments),
    /// Tell what flags of a compiler, or instructions of compiled code, do to results
    Flags(FlagsArguments),
}

/// What every check takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tolerance and answer")]
pub(super) struct CheckArguments {
    /// What sums are taken in [default: f32, f64 for an f64 output; integers are exact]
    #[arg(long, value_name = "FORMAT", value_parser = accumulator)]
    accumulate: Option<Format>,
    /// The format of elements that a file gives only the size of, such as bf16 in .npy
    #[arg(long, value_name = "FORMAT")]
    dtype: Option<Format>,
    /// Format of the answer [default: text]
    #[arg(long, value_enum)]
    format: Option<NumericsFormat>,
}

impl CheckArguments {
    fn with(self, operation: Operation, tensors: Vec<OsString>) -> Task {
        Task::Operation(OperationOptions {
            operation,
            checked: Checked {
                tensors,
                accumulate: self.accumulate,
                dtype: self.dtype,
            },
            format: self.format,
        })
    }
}

/// Formats that sums are taken in.
fn accumulator(text: &str) -> Result<Format, String> {
    match text.parse::<Format>() {
        Ok(format @ (Format::F64 | Format::F32 | Format::F16 | Format::Bf16)) => Ok(format),
        Ok(_) | Err(_) => Err("sums are taken in f64, f32, f16 or bf16".to_owned()),
    }
}

#[derive(Debug, Args)]
pub(super) struct GemmArguments {
    /// A: M x K, or a batch of them
    a: OsString,
    /// B: K x N, or a batch of them
    b: OsString,
    /// C, the output to check: M x N
    c: OsString,
    /// A stands transposed: K x M
    #[arg(long)]
    transpose_a: bool,
    /// B stands transposed: N x K, as weights of linear layers do
    #[arg(long)]
    transpose_b: bool,
    /// Tensor cores made it: FP32 inputs may be rounded to TF32, and sums may be cut off
    #[arg(long)]
    tensor_core: bool,
    #[command(flatten)]
    check: CheckArguments,
}

#[derive(Debug, Args)]
pub(super) struct Conv2dArguments {
    /// Images: N x C x H x W
    x: OsString,
    /// Weights: filters x C / groups x height x width
    weight: OsString,
    /// The output to check
    y: OsString,
    /// One value for each filter
    #[arg(long, value_name = "FILE")]
    bias: Option<OsString>,
    /// Step between outputs
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    stride: usize,
    /// Zeros on each side
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    padding: usize,
    /// Step between the inputs of one output
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    dilation: usize,
    /// Groups of channels that do not mix
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    groups: usize,
    /// Tensor cores made it: FP32 inputs may be rounded to TF32, and sums may be cut off
    #[arg(long)]
    tensor_core: bool,
    #[command(flatten)]
    check: CheckArguments,
}

#[derive(Debug, Args)]
pub(super) struct SoftmaxArguments {
    /// The input
    x: OsString,
    /// The output to check
    y: OsString,
    #[command(flatten)]
    check: CheckArguments,
}

#[derive(Debug, Args)]
pub(super) struct NormArguments {
    /// The input
    x: OsString,
    /// The output to check
    y: OsString,
    /// What each column is multiplied by
    #[arg(long, value_name = "FILE")]
    weight: Option<OsString>,
    /// What is added to each column
    #[arg(long, value_name = "FILE")]
    bias: Option<OsString>,
    /// What is added to the variance
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-5, value_parser = epsilon)]
    eps: f64,
    #[command(flatten)]
    check: CheckArguments,
}

#[derive(Debug, Args)]
pub(super) struct RmsNormArguments {
    /// The input
    x: OsString,
    /// The output to check
    y: OsString,
    /// What each column is multiplied by
    #[arg(long, value_name = "FILE")]
    weight: Option<OsString>,
    /// What is added to the mean of squares
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-6, value_parser = epsilon)]
    eps: f64,
    #[command(flatten)]
    check: CheckArguments,
}

fn epsilon(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|value: &f64| value.is_finite() && *value >= 0.0)
        .ok_or_else(|| "expected a number of at least 0, such as 1e-5".to_owned())
}

#[derive(Debug, Args)]
pub(super) struct ReduceArguments {
    /// sum, mean, max, min, norm or prod
    #[arg(value_name = "REDUCTION")]
    reduction: Reduction,
    /// The input
    x: OsString,
    /// The output to check
    y: OsString,
    /// Reduce everything to one value, not the last dimension
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    check: CheckArguments,
}

#[derive(Debug, Args)]
pub(super) struct MapArguments {
    /// The function: exp, log, sin, tanh, erf, sigmoid, silu, gelu, relu, add, mul, div, pow, fma and others
    #[arg(value_name = "FUNCTION")]
    function: Function,
    /// The inputs, as many as the function takes, and the output to check
    #[arg(value_name = "FILE", required = true, num_args = 2..)]
    tensors: Vec<OsString>,
    #[command(flatten)]
    check: CheckArguments,
}

#[derive(Debug, Args)]
pub(super) struct SumArguments {
    /// The tensor
    x: OsString,
    /// What additions are rounded to [default: f32, f64 for f64]
    #[arg(long, value_name = "FORMAT", value_parser = accumulator)]
    accumulate: Option<Format>,
    /// The format of elements that a file gives only the size of, such as bf16 in .npy
    #[arg(long, value_name = "FORMAT")]
    dtype: Option<Format>,
    /// Format of the answer [default: text]
    #[arg(long, value_enum)]
    format: Option<OperationFormat>,
    /// How many random orders to try
    #[arg(long, value_name = "COUNT", default_value_t = 32, value_parser = clap::value_parser!(u16).range(0..=1000))]
    shuffles: u16,
}

#[derive(Debug, Args)]
pub(super) struct FlagsArguments {
    /// Code to look at: PTX, a cubin, or the text of `nvdisasm -c` or `cuobjdump -sass`
    #[arg(value_name = "FILE", required_unless_present = "flags")]
    file: Option<PathBuf>,
    /// Flags of nvcc, NVRTC or clang, as one argument
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    flags: Option<String>,
    /// Format of the answer [default: text]
    #[arg(long, value_enum)]
    format: Option<OperationFormat>,
}

impl OperationArguments {
    pub(super) fn options(self) -> Result<Task, ExpectedError> {
        Ok(match self {
            Self::Gemm(arguments) => arguments.check.with(
                Operation::Gemm {
                    is_a_transposed: arguments.transpose_a,
                    is_b_transposed: arguments.transpose_b,
                    is_tensor_core: arguments.tensor_core,
                },
                vec![arguments.a, arguments.b, arguments.c],
            ),
            Self::Conv2d(arguments) => arguments.check.with(
                Operation::Conv2d {
                    bias: arguments.bias,
                    stride: arguments.stride,
                    padding: arguments.padding,
                    dilation: arguments.dilation,
                    groups: arguments.groups,
                    is_tensor_core: arguments.tensor_core,
                },
                vec![arguments.x, arguments.weight, arguments.y],
            ),
            Self::Softmax(arguments) => arguments
                .check
                .with(Operation::Softmax, vec![arguments.x, arguments.y]),
            Self::Layernorm(arguments) => arguments.check.with(
                Operation::LayerNorm {
                    weight: arguments.weight,
                    bias: arguments.bias,
                    epsilon: arguments.eps,
                },
                vec![arguments.x, arguments.y],
            ),
            Self::Rmsnorm(arguments) => arguments.check.with(
                Operation::RmsNorm {
                    weight: arguments.weight,
                    epsilon: arguments.eps,
                },
                vec![arguments.x, arguments.y],
            ),
            Self::Reduce(arguments) => arguments.check.with(
                Operation::Reduce {
                    reduction: arguments.reduction,
                    is_everything: arguments.all,
                },
                vec![arguments.x, arguments.y],
            ),
            Self::Map(arguments) => {
                let needs = arguments.function.arity() + 1;
                if arguments.tensors.len() != needs {
                    let inputs = needs - 1;
                    return Err(ExpectedError::usage(format!(
                        "{} takes {inputs} input{} and the output, and {} files are given",
                        arguments.function.name(),
                        if inputs == 1 { "" } else { "s" },
                        arguments.tensors.len()
                    ))
                    .with_hint("the last file is the output to check"));
                }
                arguments
                    .check
                    .with(Operation::Map(arguments.function), arguments.tensors)
            }
            Self::Sum(arguments) => Task::Sum(SumOptions {
                tensor: arguments.x,
                accumulate: arguments.accumulate,
                dtype: arguments.dtype,
                shuffles: usize::from(arguments.shuffles),
                format: arguments.format,
            }),
            Self::Flags(arguments) => Task::Flags(FlagsOptions {
                file: arguments.file,
                flags: arguments.flags,
                format: arguments.format,
            }),
        })
    }
}
