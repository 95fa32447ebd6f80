//! Floating-point operations of threads, outside of the matrix pipes.

use ncu_rep::Metrics;
use ridge_model::NumberFormat;

use crate::mix::{FP16, FP32, FP64, InstructionMix};

/// The formats that threads compute in, and that are counted.
pub(crate) const FORMATS: [NumberFormat; 3] =
    [NumberFormat::Fp32, NumberFormat::Fp64, NumberFormat::Fp16];

/// Operations of one format.
pub(crate) struct Operations {
    pub(crate) count: f64,
    pub(crate) source: Vec<String>,
}

/// Counts the thread instructions that were not predicated off. A multiply-add is two operations; a packed instruction
/// works on two values.
///
/// Absent unless additions, products and multiply-adds were all counted, or the mix tells that there are none.
pub(crate) fn operations(
    format: NumberFormat,
    metrics: &Metrics<'_>,
    mix: Option<&InstructionMix>,
) -> Option<Operations> {
    let (letter, packed, opcodes) = match format {
        NumberFormat::Fp32 => ('f', 1.0, FP32),
        NumberFormat::Fp64 => ('d', 1.0, FP64),
        NumberFormat::Fp16 => ('h', 2.0, FP16),
        _ => return None,
    };
    counted(letter, packed, metrics).or_else(|| {
        let mix = mix.filter(|mix| mix.of_opcodes(opcodes) <= 0.0)?;
        Some(Operations {
            count: 0.0,
            source: vec![mix.source().to_owned()],
        })
    })
}

fn counted(letter: char, packed: f64, metrics: &Metrics<'_>) -> Option<Operations> {
    const CYCLES: &str = "smsp__cycles_elapsed.avg";
    let cycles = metrics.number(CYCLES).filter(|cycles| *cycles > 0.0)?;
    let (mut count, mut source) = (0.0, vec![CYCLES.to_owned()]);
    for (operation, each) in [("add", 1.0), ("mul", 1.0), ("fma", 2.0)] {
        let name = format!(
            "smsp__sass_thread_inst_executed_op_{letter}{operation}_pred_on.sum.per_cycle_elapsed"
        );
        let per_cycle = metrics.number(&name).filter(|count| *count >= 0.0)?;
        count += each * packed * cycles * per_cycle;
        source.push(name);
    }
    Some(Operations { count, source })
}
