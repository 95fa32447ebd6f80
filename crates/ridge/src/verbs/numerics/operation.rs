//! Outputs held against references that are computed from the inputs.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::thread;

use ridge_numerics::document::{Document, compare, hold};
use ridge_numerics::format::{Endian, Format, Overflow};
use ridge_numerics::measure::Magnitudes;
use ridge_numerics::reference::{
    Array, Conv2d, Function, LayerNorm, NO_NOISE, Precision, Product, Reduction, Reference,
    RmsNorm, ShapeError, Softmax, Threads,
};
use ridge_numerics::tolerance::{Computation, Preset};
use ridge_numerics::view::View;

use super::tensor::Source;
use super::values::{Values, read};
use crate::args::NumericsFormat;
use crate::error::ExpectedError;
use crate::exit::Code;
use crate::output::Output;

/// What to compute, and how to answer.
pub(crate) struct OperationOptions {
    pub(crate) operation: Operation,
    pub(crate) checked: Checked,
    pub(crate) format: Option<NumericsFormat>,
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
        is_tensor_core: bool,
    },
    Conv2d {
        bias: Option<OsString>,
        stride: usize,
        padding: usize,
        dilation: usize,
        groups: usize,
        is_tensor_core: bool,
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

    /// Files of weights and biases.
    fn weight_and_bias(&self) -> (Option<&OsString>, Option<&OsString>) {
        match self {
            Self::Conv2d { bias, .. } => (None, bias.as_ref()),
            Self::LayerNorm { weight, bias, .. } => (weight.as_ref(), bias.as_ref()),
            Self::RmsNorm { weight, .. } => (weight.as_ref(), None),
            _ => (None, None),
        }
    }

    /// The same, as far as there are any.
    fn more(&self) -> impl Iterator<Item = &OsString> {
        let (weight, bias) = self.weight_and_bias();
        weight.into_iter().chain(bias)
    }

    /// What inputs are called, in their order.
    fn roles(&self) -> &'static [&'static str] {
        match self {
            Self::Gemm { .. } => &["A", "B"],
            Self::Conv2d { .. } => &["the images", "the weights"],
            _ => &["the input", "the second input", "the third input"],
        }
    }

    /// The operation with its article and length, in a sentence.
    fn phrase(&self, length: usize) -> String {
        let rows = format!("over rows of {length}");
        match self {
            Self::Gemm { .. } => format!("a product with K = {length}"),
            Self::Conv2d { .. } => format!("a convolution with K = {length}"),
            Self::Softmax => format!("a softmax {rows}"),
            Self::LayerNorm { .. } => format!("a layer norm {rows}"),
            Self::RmsNorm { .. } => format!("an RMS norm {rows}"),
            Self::Reduce { reduction, .. } => format!("{} of {length} values", reduction.name()),
            Self::Map(function) => function.name().to_owned(),
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
                Reduction::Max | Reduction::Min => NO_NOISE,
                Reduction::Norm => "|r| * (sqrt(K) / 2 + 2)",
                Reduction::Product => "|r| * sqrt(K)",
            },
            Self::Map(function) if function.max_ulp(false) == 0.0 => NO_NOISE,
            Self::Map(_) => "half of NVIDIA's bound in ULP * |r|",
        }
    }
}

pub(crate) fn run(options: &OperationOptions, output: &Output) -> Result<Code, ExpectedError> {
    let format = super::format(options.format, output)?;
    let document = checked(&options.operation, &options.checked, output)?;
    super::write(&document, format, output)
}

/// As many threads as there are processors.
fn threads() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

fn checked(
    operation: &Operation,
    checked: &Checked,
    output: &Output,
) -> Result<Document, ExpectedError> {
    let Some((last, inputs)) = checked.tensors.split_last() else {
        return Err(ExpectedError::internal("an operation without tensors"));
    };
    let named: Vec<&OsString> = checked.tensors.iter().chain(operation.more()).collect();
    if named.iter().filter(|name| **name == "-").count() > 1 {
        return Err(ExpectedError::usage(
            "standard input is named more than once, but can be read only once",
        )
        .with_hint("write one of them to a file"));
    }
    let read = |argument: &OsString, role: &str| read(argument, role, checked.dtype, output);
    let mut values: Vec<Values> = Vec::new();
    for (argument, role) in inputs.iter().zip(operation.roles()) {
        values.push(read(argument, role)?);
    }
    let (weight, bias) = operation.weight_and_bias();
    let weight = weight.map(|file| read(file, "the weights")).transpose()?;
    let bias = bias.map(|file| read(file, "the biases")).transpose()?;

    let source = Source::open(last, output)?;
    let result = source.tensor(checked.dtype, None)?;
    let (name, format) = (result.name.clone(), result.format());
    if format.is_complex() {
        return Err(ExpectedError::unreadable(format!(
            "the output in {name} is complex, and references are of real numbers"
        ))
        .with_hint("write real and imaginary parts as tensors of their own"));
    }
    let result = result.view()?;
    let reference = reference(
        operation,
        &values,
        weight.as_ref(),
        bias.as_ref(),
        Precision::for_output(format),
    )
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
            _ => "`ridge numerics OPERATION --help` tells what each tensor is",
        })
    })?;

    let shape: Vec<u64> = reference.shape.iter().map(|size| *size as u64).collect();
    let view_of = |format, bytes| {
        View::row_major(format, &shape, Endian::Little, bytes)
            .map_err(|error| ExpectedError::internal(format!("the reference: {error}")))
    };
    let as_view = |bytes| view_of(Format::F64, bytes);
    // Integers are compared with integers: the nearest to the reference.
    let expected = if format.is_float() {
        bytes(&reference.values, 1.0)
    } else {
        codes(&reference.values, format)
    };
    let expected = view_of(
        if format.is_float() {
            Format::F64
        } else {
            format
        },
        &expected,
    )?;
    let inputs: Vec<&str> = values.iter().map(|values| values.name.as_str()).collect();
    let of = format!("{} of {}", operation.name(), inputs.join(" and "));
    let names = [of.as_str(), name.as_str()];
    // Integers are added without rounding, unless somebody says what they are added in.
    let is_exact = !format.is_float() && values.iter().all(|values| !values.format.is_float());
    let accumulate = checked.accumulate.or(match format {
        Format::F64 => Some(Format::F64),
        _ if is_exact => None,
        _ => Some(Format::F32),
    });
    let failed = |error| ExpectedError::internal(format!("{error}"));
    let document = match operation {
        Operation::Gemm { is_tensor_core, .. } | Operation::Conv2d { is_tensor_core, .. } => {
            let root = (reference.length as f64).sqrt();
            let magnitudes = bytes(&reference.noise, 1.0 / root);
            let computation = Computation {
                reduction: Some(reference.length as u64),
                accumulate: if checked.accumulate.is_some() || !format.is_float() {
                    accumulate
                } else {
                    None
                },
                preset: is_tensor_core.then_some(Preset::TensorCore),
                ..Computation::default()
            };
            compare(
                names,
                &expected,
                &result,
                Some(&Magnitudes::new(as_view(&magnitudes)?)),
                &computation,
                threads().get(),
            )
        }
        _ => {
            let noise = bytes(&reference.noise, 1.0);
            let tolerance = reference.tolerance(
                &operation.phrase(reference.length),
                operation.noise(),
                format,
                accumulate.unwrap_or(Format::F32),
            );
            hold(
                names,
                &expected,
                &result,
                Some(&Magnitudes::new(as_view(&noise)?)),
                &tolerance,
                threads().get(),
            )
        }
    };
    document.map_err(failed)
}

/// Values as elements of an integer format.
fn codes(values: &[f64], format: Format) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| {
            let code = format.encode(*value, Overflow::Saturate).to_le_bytes();
            code.into_iter().take(format.size_bytes())
        })
        .collect()
}

/// Values times a factor, as a tensor of FP64 has them.
fn bytes(values: &[f64], factor: f64) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| (value * factor).to_le_bytes())
        .collect()
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
    let threads = Threads(threads());
    let weight = weight.map(|weight| weight.values.as_slice());
    let bias = bias.map(|bias| bias.values.as_slice());
    match operation {
        Operation::Gemm {
            is_a_transposed,
            is_b_transposed,
            ..
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
