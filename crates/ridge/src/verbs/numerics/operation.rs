//! Outputs held against references that are computed from the inputs.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::thread;

use ridge_numerics::format::Format;
use ridge_numerics::reference::document::{CheckDocument, NamedTensor, Subject, Verdict};
use ridge_numerics::reference::{
    Array, Conv2d, DEFAULT_C, Function, LayerNorm, Precision, Product, Reduction, Reference,
    RmsNorm, ShapeError, Softmax, Terms, Threads,
};

use super::values::{Values, read};
use crate::args::OperationFormat;
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::output::Output;
use crate::verbs::devices::layout;

/// What to compute, and how to answer.
pub(crate) struct OperationOptions {
    pub(crate) operation: Operation,
    pub(crate) checked: Checked,
    pub(crate) format: Option<OperationFormat>,
}

/// What every operation has.
pub(crate) struct Checked {
    /// Inputs in their order, the output last.
    pub(crate) tensors: Vec<OsString>,
    pub(crate) accumulate: Option<Format>,
    pub(crate) dtype: Option<Format>,
}

/// An operation with what it needs beside its tensors.
pub(crate) enum Operation {
    Gemm {
        is_a_transposed: bool,
        is_b_transposed: bool,
    },
    Conv2d {
        bias: Option<OsString>,
        stride: usize,
        padding: usize,
        dilation: usize,
        groups: usize,
    },
    Softmax,
    LayerNorm {
        weight: Option<OsString>,
        bias: Option<OsString>,
        epsilon: f64,
    },
    RmsNorm {
        weight: Option<OsString>,
        epsilon: f64,
    },
    Reduce {
        reduction: Reduction,
        is_everything: bool,
    },
    Map(Function),
}

impl Operation {
    fn name(&self) -> &'static str {
        match self {
            Self::Gemm { .. } => "gemm",
            Self::Conv2d { .. } => "conv2d",
            Self::Softmax => "softmax",
            Self::LayerNorm { .. } => "layernorm",
            Self::RmsNorm { .. } => "rmsnorm",
            Self::Reduce { reduction, .. } => reduction.name(),
            Self::Map(function) => function.name(),
        }
    }

    /// What inputs are called, in their order.
    fn roles(&self) -> &'static [&'static str] {
        match self {
            Self::Gemm { .. } => &["A", "B"],
            Self::Conv2d { .. } => &["the images", "the weights"],
            _ => &["the input", "the second input", "the third input"],
        }
    }

    /// What errors are made of, in words.
    fn noise(&self) -> &'static str {
        match self {
            Self::Gemm { .. } | Self::Conv2d { .. } => "sqrt(K) * sum |a||b|",
            Self::Softmax => "|r| * (sqrt(K) + |x - max| + 3)",
            Self::LayerNorm { .. } => {
                "|weight| * ((|x| + mean |x| + |mean|) / deviation + (sqrt(K) / 2 + 2) * |normalized|) + |weight * normalized| + |bias|"
            }
            Self::RmsNorm { .. } => "|r| * (sqrt(K) / 2 + 4)",
            Self::Reduce { reduction, .. } => match reduction {
                Reduction::Sum => "sqrt(K) * sum |x|",
                Reduction::Mean => "sqrt(K) * mean |x| + |r|",
                Reduction::Max | Reduction::Min => "0",
                Reduction::Norm => "|r| * (sqrt(K) / 2 + 2)",
                Reduction::Product => "|r| * sqrt(K)",
            },
            Self::Map(_) => "half the documented maximum error in ULP * |r|",
        }
    }
}

pub(crate) fn run(options: &OperationOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let format = super::format(options.format, output)?;
    let document = checked(&options.operation, &options.checked, output)?;
    match format {
        OperationFormat::Text => output.write(&ridge_render::numerics::reference::text(
            &document,
            &layout(output),
        ))?,
        OperationFormat::Markdown => {
            output.write(&ridge_render::numerics::reference::markdown(&document))?;
        }
        OperationFormat::Json => output.json(&document)?,
    }
    Ok(match document.verdict {
        Verdict::Right => exit::FINE,
        Verdict::Wrong => exit::DIFFERS,
        Verdict::Empty => exit::UNDECIDED,
    })
}

/// As many threads as there are processors.
pub(super) fn threads() -> Threads {
    Threads(thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
}

fn checked(
    operation: &Operation,
    checked: &Checked,
    output: &Output,
) -> Result<CheckDocument, ExpectedError> {
    let Some((last, inputs)) = checked.tensors.split_last() else {
        return Err(ExpectedError::internal("an operation without tensors"));
    };
    let read = |argument: &OsString, role: &str| read(argument, role, checked.dtype, output);
    let mut values: Vec<Values> = Vec::new();
    for (argument, role) in inputs.iter().zip(operation.roles()) {
        values.push(read(argument, role)?);
    }
    let (weight, bias) = match operation {
        Operation::Conv2d { bias, .. } => (None, bias.as_ref()),
        Operation::LayerNorm { weight, bias, .. } => (weight.as_ref(), bias.as_ref()),
        Operation::RmsNorm { weight, .. } => (weight.as_ref(), None),
        _ => (None, None),
    };
    let weight = weight.map(|file| read(file, "the weights")).transpose()?;
    let bias = bias.map(|file| read(file, "the biases")).transpose()?;
    let result = read(last, "the output")?;
    let is_double = result.format.part() == Format::F64;
    let precision = Precision::for_output(result.format);
    let reference = reference(operation, &values, weight.as_ref(), bias.as_ref(), precision)
        .map_err(|error| {
            let code = error.code();
            ExpectedError::usage(format!(
                "{} does not fit these tensors: {error} ({code})",
                operation.name()
            ))
            .with_hint(match operation {
                Operation::Gemm { .. } => {
                    "--transpose-a and --transpose-b take matrices that stand transposed"
                }
                _ => "`ridge numerics OPERATION --help` tells the shapes",
            })
        })?;
    if reference.shape != result.shape {
        return Err(ExpectedError::unreadable(format!(
            "the output in {} has shape {:?}, and {} of these inputs gives {:?}",
            result.named.input,
            result.shape,
            operation.name(),
            reference.shape
        ))
        .with_hint("an output of another shape is wrong, and is not compared")
        .with_exit(exit::DIFFERS));
    }
    let is_exact = !result.format.is_float()
        && values.iter().all(|values| !values.format.is_float())
        && checked.accumulate.is_none();
    let accumulated_in = checked
        .accumulate
        .unwrap_or(if is_double { Format::F64 } else { Format::F32 });
    let terms = Terms {
        u_acc: if is_exact {
            0.0
        } else {
            accumulated_in.unit_roundoff().unwrap_or(0.0)
        },
        c: DEFAULT_C,
    };
    let check = reference.check(&result.values, result.format, terms);
    let shape = result.shape;
    let tensors: Vec<NamedTensor> = values
        .into_iter()
        .chain(weight)
        .chain(bias)
        .map(|values| values.named)
        .chain([result.named])
        .collect();
    let subject = Subject {
        operation: operation.name(),
        tensors,
        output: result.format,
        shape: &shape,
        accumulated_in: if is_exact { Format::I32 } else { accumulated_in },
        length: reference.length,
        noise: operation.noise(),
        terms,
    };
    Ok(CheckDocument::of(&check, subject, super::VERSION))
}

fn reference(
    operation: &Operation,
    inputs: &[Values],
    weight: Option<&Values>,
    bias: Option<&Values>,
    precision: Precision,
) -> Result<Reference, ShapeError> {
    let arrays: Vec<Array<'_>> = inputs
        .iter()
        .map(|input| Array::new(&input.values, &input.shape))
        .collect::<Result<_, _>>()?;
    let threads = threads();
    let weight = weight.map(|weight| weight.values.as_slice());
    let bias = bias.map(|bias| bias.values.as_slice());
    match operation {
        Operation::Gemm {
            is_a_transposed,
            is_b_transposed,
        } => Product::new(arrays[0], arrays[1])
            .with_a_transposed(*is_a_transposed)
            .with_b_transposed(*is_b_transposed)
            .compute(precision, threads),
        Operation::Conv2d {
            stride,
            padding,
            dilation,
            groups,
            ..
        } => Conv2d {
            x: arrays[0],
            weight: arrays[1],
            bias,
            stride: *stride,
            padding: *padding,
            dilation: *dilation,
            groups: *groups,
        }
        .compute(precision, threads),
        Operation::Softmax => Softmax { x: arrays[0] }.compute(precision, threads),
        Operation::LayerNorm { epsilon, .. } => LayerNorm {
            x: arrays[0],
            weight,
            bias,
            epsilon: *epsilon,
        }
        .compute(precision, threads),
        Operation::RmsNorm { epsilon, .. } => RmsNorm {
            x: arrays[0],
            weight,
            epsilon: *epsilon,
        }
        .compute(precision, threads),
        Operation::Reduce {
            reduction,
            is_everything,
        } => reduction.compute(arrays[0], *is_everything, precision, threads),
        Operation::Map(function) => function.compute(&arrays, precision, threads),
    }
}
