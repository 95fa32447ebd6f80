//! Operations of a launch by kind of arithmetic.

use ncu_rep::Metrics;
use ridge_model::arch::tensor::{Family, Operands};
use ridge_model::quantity::Flops;
use ridge_model::roofline::{Amounts, Precision};
use ridge_model::{Architecture, NumberFormat, PeakUnit};

use crate::mix::{InstructionMix, TENSOR};
use crate::profile::KernelProfile;
use crate::work::tensor::products;
use crate::work::{memory, threads};

/// Operations by kind, and the kinds that were not counted.
pub(super) fn operations(profile: &KernelProfile<'_>) -> (Vec<Amounts>, Vec<&'static str>) {
    let metrics = &profile.metrics;
    let mix = InstructionMix::of(metrics);
    let (mut list, mut not_counted) = (Vec::new(), Vec::new());
    for format in threads::FORMATS {
        match threads::operations(format, metrics, mix.as_ref()) {
            Some(counted) => {
                let may_be_moves = may_be_moves(profile, format);
                let are_moves = may_be_moves && are_too_few(counted.count, metrics);
                list.push(Amounts {
                    precision: Precision::vector(format),
                    operations: Flops::new(if are_moves { 0.0 } else { counted.count }),
                    may_be_moves,
                    source: counted.source,
                });
            }
            None => not_counted.push(format.name()),
        }
    }
    let architecture = profile.architecture();
    let products = architecture
        .as_ref()
        .and_then(|architecture| products(metrics, &architecture.tensor));
    match (products, architecture) {
        (Some(products), Some(architecture)) => {
            for products in products {
                let precision = matrix(
                    &architecture,
                    products.operands,
                    products.family,
                    products.is_sparse,
                );
                match precision {
                    Some(precision) => add(
                        &mut list,
                        Amounts {
                            precision,
                            operations: Flops::new(products.operations),
                            source: vec![products.source],
                            may_be_moves: false,
                        },
                    ),
                    None if products.operations > 0.0 => not_counted.push("single-bit tensor"),
                    None => {}
                }
            }
        }
        _ if mix.is_some_and(|mix| mix.of_opcodes(TENSOR) <= 0.0) => {}
        _ => not_counted.push("tensor"),
    }
    (list, not_counted)
}

/// Whether all half-precision operations may be loads of constants, which compilers also write as a multiply-add of
/// zeros: multiply-adds alone, and few for each thread. A kernel that computes has a loop, or additions and products too.
fn may_be_moves(profile: &KernelProfile<'_>, format: NumberFormat) -> bool {
    /// Accumulators of tiled kernels are cleared so: one instruction for two of them, and tiles of 4 × 4 are common.
    const FEW: f64 = 8.0;
    if format != NumberFormat::Fp16 {
        return false;
    }
    let number = |name: &str| profile.metrics.number(name);
    let each = |operation: &str| {
        number(&format!(
            "smsp__sass_thread_inst_executed_op_h{operation}_pred_on.sum.per_cycle_elapsed"
        ))
    };
    let others = each("add").unwrap_or(0.0) + each("mul").unwrap_or(0.0);
    let per_thread = || {
        let count = each("fma")? * number("smsp__cycles_elapsed.avg")?;
        Some(count / profile.threads()? as f64)
    };
    others <= 0.0 && per_thread().is_some_and(|count| count <= FEW)
}

/// Whether there are too few operations for the data that passes to be computed with. The least that a kernel does on
/// half-precision values is one operation for each of a few arrays: adding two of them is one for six bytes.
fn are_too_few(operations: f64, metrics: &Metrics<'_>) -> bool {
    /// That is 0.17 for a byte. A third of it is left for indices and tables that pass too: one operation for ten values.
    const LEAST_FOR_A_BYTE: f64 = 0.05;
    memory::l2(metrics).is_some_and(|traffic| {
        operations < LEAST_FOR_A_BYTE * (traffic.read_bytes + traffic.written_bytes)
    })
}

/// Different counters may be of one kind.
fn add(list: &mut Vec<Amounts>, more: Amounts) {
    match list
        .iter_mut()
        .find(|known| known.precision == more.precision)
    {
        Some(known) => {
            if more.operations.get() > 0.0 {
                known.source.extend(more.source);
            }
            known.operations = known.operations + more.operations;
        }
        None => list.push(more),
    }
}

/// The kind of a product; absent for single bits, which have no number format.
pub(super) fn matrix(
    architecture: &Architecture,
    operands: Operands,
    family: Family,
    is_sparse: bool,
) -> Option<Precision> {
    use NumberFormat::{Bf16, Fp4, Fp8E4m3, Fp16, Fp32, Fp64, Int4, Int8, Int32, Tf32};
    let (input, accumulator) = match operands {
        Operands::Fp64 => (Fp64, Fp64),
        Operands::Tf32 => (Tf32, Fp32),
        Operands::Bf16 => (Bf16, Fp32),
        Operands::Fp16IntoFp32 => (Fp16, Fp32),
        Operands::Fp16IntoFp16 => (Fp16, Fp16),
        Operands::Fp8IntoFp32 => (Fp8E4m3, Fp32),
        Operands::Fp8IntoFp16 => (Fp8E4m3, Fp16),
        Operands::Fp4 => (Fp4, Fp32),
        Operands::Int8 => (Int8, Int32),
        Operands::Int4 => (Int4, Int32),
        Operands::Int1 => return None,
    };
    // Instructions of one warp have a peak of their own where those of four warps are faster.
    let has_groups = architecture
        .tensor
        .rates
        .iter()
        .any(|rate| rate.operands == operands && rate.family == Family::WarpGroup);
    let unit = if family == Family::Warp && has_groups {
        PeakUnit::TensorWarp
    } else {
        PeakUnit::Tensor
    };
    Some(Precision {
        is_sparse,
        ..Precision::matrix(input, accumulator, unit)
    })
}
