//! Arguments of `ridge numerics`.

mod operation;
mod repeat;

use std::ffi::OsString;

use clap::{Args, ValueEnum};
use operation::OperationArguments;
use repeat::RepeatArguments;
use ridge_numerics::format::{Endian, Format};
use ridge_numerics::measure::Limits;
use ridge_numerics::tolerance::{Computation, Preset, function};

use crate::error::ExpectedError;
use crate::verbs::numerics::{NumericsOptions, Raw, Task};

pub(super) const EXAMPLES: &str = "\
Examples:
  ridge numerics ref.npy out.npy              right or wrong, how far off, and where
  ridge numerics ref.npy out.npy --k 4096     the output is a product with inner dimension 4096
  ridge numerics ref.npy out.npy --k 4096 --preset tensor-core
                                              and tensor cores made it
  ridge numerics ref.safetensors#y out.safetensors#y
                                              one tensor of a file with several
  ridge numerics ref.bin out.bin --dtype bf16 --shape 1024x4096
                                              bytes without a head
  ridge numerics ref.npy out.npy --function expf
                                              held against NVIDIA's bound for expf
  ridge numerics ref.npy out.npy --rtol 1e-3 --atol 1e-5
                                              limits of your own
  ridge numerics ref.npy out.npy -o map.html  a page with the map of errors
  ridge numerics gemm a.npy b.npy c.npy       a product and its inputs: no reference is needed
  ridge numerics softmax in.safetensors#x out.npy
  ridge numerics sum x.npy                    what the order of a sum does to these values
  ridge numerics --repeat 10 -- ./app --out {output}
                                              whether a program gives the same output every time
  ridge numerics flags --flags '-use_fast_math -prec-div=true'
                                              what flags of nvcc do to results
  ridge numerics flags kernel.ptx             what the instructions of a file do to them

The reference may be of a finer type than the output: then it is rounded to the output's. Operations
compute one from the inputs, in FP64 or finer; a file called like one is named as ./gemm.
Exit code 13: the output is wrong, or outputs differ.";

#[derive(Debug, Args)]
#[command(
    subcommand_help_heading = "Operations",
    subcommand_value_name = "OPERATION",
    disable_help_subcommand = true,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub(crate) struct NumericsArguments {
    #[command(subcommand)]
    operation: Option<OperationArguments>,
    #[command(flatten)]
    comparison: ComparisonArguments,
    #[command(flatten)]
    repeat: RepeatArguments,
}

#[derive(Debug, Args)]
struct ComparisonArguments {
    /// What the output has to be: a file of NumPy (.npy, .npz), safetensors, PyTorch (.pt), or raw bytes with --dtype and --shape;
    /// FILE#NAME is one tensor of a file, `-` is standard input
    #[arg(
        value_name = "REF",
        required_unless_present = "repeat",
        conflicts_with = "repeat"
    )]
    reference: Option<OsString>,
    /// What it is, in the same way
    #[arg(
        value_name = "OUT",
        id = "OUT",
        required_unless_present = "repeat",
        conflicts_with = "repeat"
    )]
    output: Option<OsString>,
    /// Type of the elements of raw files, such as bf16; in files of NumPy, of elements that have no type there
    #[arg(long, value_name = "TYPE", value_parser = format)]
    dtype: Option<Format>,
    /// Shape of raw files, such as 1024x4096 or 1024,4096
    #[arg(long, value_name = "SHAPE", value_parser = shape, requires = "dtype", allow_negative_numbers = true)]
    shape: Option<Shape>,
    /// Raw files have the highest byte first
    #[arg(long, requires = "shape")]
    big_endian: bool,
    /// The length of the reduction: the inner dimension of a product, the elements of a sum
    #[arg(long, value_name = "LENGTH", value_parser = length, allow_negative_numbers = true, help_heading = "What may differ")]
    k: Option<u64>,
    /// The type that sums are kept in [default: f32, or f64 for outputs of that type]
    #[arg(long, value_name = "TYPE", value_parser = format, requires = "k", help_heading = "What may differ")]
    accumulate: Option<Format>,
    /// A function of CUDA, such as expf, whose documented error is allowed
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "k",
        help_heading = "What may differ"
    )]
    function: Option<String>,
    /// A rule that others use, or for a kind of computation
    #[arg(
        long,
        value_name = "RULE",
        value_enum,
        help_heading = "What may differ"
    )]
    preset: Option<PresetArgument>,
    /// Allow this share of the reference
    #[arg(long, value_name = "SHARE", value_parser = limit, conflicts_with_all = ["preset", "k", "function"], allow_negative_numbers = true, help_heading = "What may differ")]
    rtol: Option<f64>,
    /// Allow this much, added to the others
    #[arg(long, value_name = "SIZE", value_parser = limit, conflicts_with_all = ["preset", "k", "function"], allow_negative_numbers = true, help_heading = "What may differ")]
    atol: Option<f64>,
    /// Allow so many units in the last place of the output's type, added to the others
    #[arg(long, value_name = "N", value_parser = limit, conflicts_with_all = ["preset", "k", "function"], allow_negative_numbers = true, help_heading = "What may differ")]
    ulp: Option<f64>,
    /// Format of the answer [default: text]
    #[arg(long, value_enum)]
    format: Option<NumericsFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PresetArgument {
    /// torch.testing.assert_close
    Torch,
    /// numpy.allclose
    Numpy,
    /// The reference, rounded to nearest
    Strict,
    /// A product on tensor cores; needs --k
    TensorCore,
    /// Functions built with --use_fast_math
    FastMath,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NumericsFormat {
    /// A page for people
    Text,
    /// The same as Markdown
    Markdown,
    /// One document, described by schemas/numerics.schema.json
    Json,
    /// The map of errors as a picture
    Svg,
    /// A page in one file
    Html,
}

/// Formats of answers that have no map of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OperationFormat {
    /// A page for people
    Text,
    /// The same as Markdown
    Markdown,
    /// One document, described by a schema beside schemas/numerics.schema.json
    Json,
}

#[derive(Clone, Debug)]
struct Shape(Vec<u64>);

fn format(text: &str) -> Result<Format, String> {
    text.parse()
        .map_err(|error: ridge_numerics::format::UnknownFormat| error.to_string())
}

fn shape(text: &str) -> Result<Shape, &'static str> {
    text.split(['x', ','])
        .map(str::trim)
        .map(str::parse)
        .collect::<Result<Vec<u64>, _>>()
        .map(Shape)
        .map_err(|_| "expected lengths such as 1024x4096 or 1024,4096")
}

fn length(text: &str) -> Result<u64, &'static str> {
    match text.parse() {
        Ok(length) if length > 0 => Ok(length),
        _ => Err("expected a whole number from 1, such as 4096"),
    }
}

fn limit(text: &str) -> Result<f64, &'static str> {
    match text.parse::<f64>() {
        Ok(limit) if limit.is_finite() && limit >= 0.0 => Ok(limit),
        _ => Err("expected a number from 0, such as 1e-3"),
    }
}

impl NumericsArguments {
    pub(crate) fn options(self) -> Result<Task, ExpectedError> {
        match self.operation {
            Some(operation) => operation.options(),
            None if self.repeat.is_asked() => {
                let Self {
                    comparison, repeat, ..
                } = self;
                repeat.options(comparison.dtype, comparison.format)
            }
            None => self.comparison.options().map(Task::Comparison),
        }
    }
}

impl ComparisonArguments {
    fn options(self) -> Result<NumericsOptions, ExpectedError> {
        let (Some(reference), Some(output)) = (self.reference, self.output) else {
            return Err(
                ExpectedError::usage("a reference and an output are compared")
                    .with_hint("name both: `ridge numerics REF OUT`"),
            );
        };
        let has_own = self.rtol.is_some() || self.atol.is_some() || self.ulp.is_some();
        let own = has_own.then(|| Limits {
            absolute: self.atol.unwrap_or(0.0),
            relative: self.rtol.unwrap_or(0.0),
            ulps: self.ulp.unwrap_or(0.0),
            magnitude: 0.0,
        });
        let preset = self.preset.map(|preset| match preset {
            PresetArgument::Torch => Preset::Torch,
            PresetArgument::Numpy => Preset::Numpy,
            PresetArgument::Strict => Preset::Strict,
            PresetArgument::TensorCore => Preset::TensorCore,
            PresetArgument::FastMath => Preset::FastMath,
        });
        let takes_k = !matches!(preset, Some(preset) if preset != Preset::TensorCore);
        if self.k.is_some() && !takes_k {
            return Err(ExpectedError::usage("this preset does not depend on --k")
                .with_hint("leave out --k, or the preset"));
        }
        let takes_function = !matches!(preset, Some(preset) if preset != Preset::FastMath);
        if self.function.is_some() && !takes_function {
            return Err(
                ExpectedError::usage("this preset does not depend on --function")
                    .with_hint("leave out --function, or the preset"),
            );
        }
        // The function's bound follows from the type of the output, which is not known yet; whether there is one is.
        if let Some(name) = &self.function
            && function(name, Format::F32).is_none()
            && function(name, Format::F64).is_none()
        {
            return Err(ExpectedError::usage(format!(
                "no bound is known for a function {name:?}"
            ))
            .with_hint("name one of CUDA's mathematical functions, such as expf, sin or pow, or give --ulp"));
        }
        Ok(NumericsOptions {
            reference,
            output,
            elements: self.dtype,
            raw: self.dtype.zip(self.shape).map(|(format, shape)| Raw {
                format,
                shape: shape.0,
                endian: if self.big_endian {
                    Endian::Big
                } else {
                    Endian::Little
                },
            }),
            computation: Computation {
                reduction: self.k,
                accumulate: self.accumulate,
                preset,
                own,
                ..Computation::default()
            },
            function: self.function,
            format: self.format,
        })
    }
}
