//! Arguments of `ridge numerics`.

mod operation;
mod repeat;

use clap::{Args, ValueEnum};
use operation::OperationArguments;
use repeat::RepeatArguments;

use crate::error::ExpectedError;
use crate::verbs::numerics::NumericsOptions;

pub(super) const EXAMPLES: &str = "\
Examples:
  ridge numerics gemm a.npy b.npy c.npy       hold a product against its inputs, no reference needed
  ridge numerics softmax in.safetensors#x out.npy
  ridge numerics sum x.npy                    what the order of a sum does to these values
  ridge numerics --repeat 10 -- ./app --out {output}
                                              whether a program gives the same output every time
  ridge numerics flags --flags '-use_fast_math -prec-div=true'
                                              what flags of nvcc do to results
  ridge numerics flags kernel.ptx             what the instructions of a file do to them

Tensors are .npy, .npz, .safetensors or .pt; FILE#NAME names one of several.
Exit code 13: the output is wrong, or outputs differ. 0: it is right within what formats allow.
`ridge numerics OPERATION --help` tells more; `ridge explain ulp` and `ridge explain determinism`
tell what the answers mean.";

#[derive(Debug, Args)]
#[command(
    subcommand_help_heading = "Operations",
    subcommand_value_name = "OPERATION",
    disable_help_subcommand = true,
    args_conflicts_with_subcommands = true
)]
pub(crate) struct NumericsArguments {
    #[command(subcommand)]
    operation: Option<OperationArguments>,
    #[command(flatten)]
    repeat: RepeatArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OperationFormat {
    /// A page for people
    Text,
    /// The same as Markdown
    Markdown,
    /// One document, described by schemas/numerics-reference.schema.json and its neighbours
    Json,
}

impl NumericsArguments {
    pub(crate) fn options(self) -> Result<NumericsOptions, ExpectedError> {
        match self.operation {
            Some(operation) => operation.options(),
            None => self.repeat.options(),
        }
    }
}
