//! Arithmetic intensity: operations for each byte that crosses the border.

use ridge_model::NumberFormat;
use ridge_model::quantity::{Amount, Bytes, Flops, Unit};
use ridge_model::template::Gemm;
use ridge_stats::Random;

use super::{Maker, Material, pick, power};
use crate::question::Question;

pub(crate) const MAKERS: &[Maker] = &[elementwise, product, fusion];

/// Something done to each element: how it is written, arrays read, arrays written, operations.
struct Step {
    code: &'static str,
    read: u32,
    written: u32,
    operations: u32,
}

const STEPS: &[Step] = &[
    Step {
        code: "c[i] = a[i] + b[i]",
        read: 2,
        written: 1,
        operations: 1,
    },
    Step {
        code: "y[i] = s * x[i] + y[i]",
        read: 2,
        written: 1,
        operations: 2,
    },
    Step {
        code: "y[i] = x[i] * x[i] + s * x[i]",
        read: 1,
        written: 1,
        operations: 3,
    },
    Step {
        code: "x[i] = s * x[i]",
        read: 1,
        written: 1,
        operations: 1,
    },
    Step {
        code: "d[i] = a[i] * b[i] + c[i]",
        read: 3,
        written: 1,
        operations: 2,
    },
];

fn amount(flops: f64, bytes: f64) -> Amount {
    let intensity = Flops::new(flops).for_each(Bytes::new(bytes));
    Amount::new(intensity.get(), Unit::FLOPS_PER_BYTE)
}

/// One step for each element.
fn elementwise(_: &Material<'_>, random: &mut Random) -> Option<Question> {
    let step = pick(STEPS, random)?;
    let formats = [NumberFormat::Fp16, NumberFormat::Fp32, NumberFormat::Fp64];
    let format = *pick(&formats, random)?;
    let size = format.size_in_bytes();
    let operations = f64::from(step.operations);
    let bytes = f64::from(step.read + step.written) * size;
    let right = amount(operations, bytes);
    let text = crate::question::shown(&right);
    Some(
        Question::number(
            "elementwise-intensity",
            "What is the arithmetic intensity, in FLOP/byte?",
            right,
        )
        .given(format!(
            "for each i: {}, all arrays in {}, from and to device memory",
            step.code,
            format.peak_name()
        ))
        .mistake(
            operations / (f64::from(step.read) * size),
            "the output was forgotten: what is written crosses the border too",
        )
        .mistake(operations / (bytes * 8.0), "bits were counted for bytes")
        .mistake(bytes / operations, "that is bytes for each operation")
        .mistake(
            operations / f64::from(step.read + step.written),
            "that is operations for each element, not for each byte",
        )
        .because(format!(
            "operations for each i: {}; a multiplication and an addition are two",
            step.operations
        ))
        .because(format!(
            "bytes: ({} read + {} written) x {size} = {bytes}",
            step.read, step.written
        ))
        .because(format!("{} / {bytes} = {text}", step.operations))
        .read("arithmetic-intensity"),
    )
}

/// A matrix product whose matrices cross the border once.
fn product(_: &Material<'_>, random: &mut Random) -> Option<Question> {
    let formats = [NumberFormat::Bf16, NumberFormat::Fp32];
    let format = *pick(&formats, random)?;
    let n = power(9, 13, random);
    let demand = Gemm::square(n, format).demand().ok()?;
    let bytes: f64 = demand.bytes().get();
    let flops = demand.operations()?.get();
    let right = amount(flops, bytes);
    let text = crate::question::shown(&right);
    let size = format.size_in_bytes();
    Some(
        Question::number(
            "product-intensity",
            "What is the arithmetic intensity, in FLOP/byte?",
            right,
        )
        .given(format!(
            "C = A x B, all of {n} x {n} in {}; each matrix crosses the border of device memory once",
            format.peak_name()
        ))
        .mistake(flops / 2.0 / bytes, "a multiply-add is two operations")
        .mistake(flops * 1.5 / bytes, "the output was forgotten: three matrices, not two")
        .mistake(flops / (bytes / size), "that is operations for each element, not for each byte")
        .because(format!("operations: {} = {}", demand.operations_formula, Flops::new(flops)))
        .because(format!("bytes: {} = {}", demand.bytes_formula, Bytes::new(bytes)))
        .because(format!("{} / {} = {text}", Flops::new(flops), Bytes::new(bytes)))
        .read("arithmetic-intensity"),
    )
}

/// Steps that follow each other, in one kernel.
fn fusion(_: &Material<'_>, random: &mut Random) -> Option<Question> {
    let kernels = 2 + random.below(4) as u32;
    let apart = f64::from(2 * kernels);
    let together = 2.0;
    let times = apart / together;
    Some(
        Question::number(
            "fusion",
            "By which factor does the intensity grow when they become one kernel?",
            Amount::new(times, Unit::from_static("x")),
        )
        .given(format!(
            "{kernels} elementwise kernels in a row; each reads one large array from device memory and writes one of the same size, which the next one reads"
        ))
        .mistake(1.0, "the operations stay, but what goes from kernel to kernel crosses the border no more")
        .mistake(times * 2.0, "the first input and the last output still have to be moved")
        .because(format!("apart: {kernels} x (1 read + 1 written) = {apart} arrays"))
        .because("together: 1 read + 1 written = 2 arrays; the rest stays in registers")
        .because(format!("the same operations over {apart} / 2 = {times} times fewer bytes"))
        .read("arithmetic-intensity"),
    )
}
