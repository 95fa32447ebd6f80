//! What one warp instruction of the matrix pipes multiplies, by its opcode.
//!
//! The modifiers name the shape M, N, K of the product: `HMMA.16816.F32` is 16 × 8 × 16, `HGMMA.64x128x16.F32` is
//! 64 × 128 × 16 by four warps together. A product is 2 · M · N · K operations. On nine kernels of one H200 this times
//! the executions is exactly what the counters of operations hold.

use ridge_model::arch::tensor::{Family, Operands};

/// What one warp instruction does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Product {
    pub(crate) operands: Operands,
    pub(crate) family: Family,
    pub(crate) is_sparse: bool,
    pub(crate) operations: f64,
}

/// Reads an opcode; absent when its shape or its operands are not known.
pub(crate) fn product(opcode: &str, modifiers: &str) -> Option<Product> {
    let has = |wanted: &str| modifiers.split('.').any(|modifier| modifier == wanted);
    let family = match opcode {
        "HGMMA" | "IGMMA" | "QGMMA" => Family::WarpGroup,
        "HMMA" | "IMMA" | "DMMA" | "QMMA" | "OMMA" => Family::Warp,
        _ => return None,
    };
    let is_wide = has("F32");
    let operands = match opcode {
        "DMMA" => Operands::Fp64,
        "OMMA" => Operands::Fp4,
        "IMMA" | "IGMMA" if has("S4") || has("U4") => Operands::Int4,
        "IMMA" | "IGMMA" => Operands::Int8,
        "QMMA" | "QGMMA" if is_wide => Operands::Fp8IntoFp32,
        "QMMA" | "QGMMA" => Operands::Fp8IntoFp16,
        _ if has("BF16") => Operands::Bf16,
        _ if has("TF32") => Operands::Tf32,
        _ if is_wide => Operands::Fp16IntoFp32,
        _ => Operands::Fp16IntoFp16,
    };
    let volume = modifiers.split('.').find_map(volume)?;
    // 7.x makes four products with one instruction, one for each group of eight lanes, in steps that are executed and
    // counted one by one: four with sums of 32 bits, two with sums of 16 bits.
    let (at_once, steps) = match (opcode, has("884")) {
        ("HMMA", true) if is_wide => (4.0, 4.0),
        ("HMMA", true) => (4.0, 2.0),
        _ => (1.0, 1.0),
    };
    Some(Product {
        operands,
        family,
        is_sparse: has("SP"),
        operations: 2.0 * volume * at_once / steps / warps(family),
    })
}

/// Warps that make one product together.
fn warps(family: Family) -> f64 {
    match family {
        Family::Warp => 1.0,
        Family::WarpGroup => 4.0,
    }
}

/// M · N · K.
fn volume(modifier: &str) -> Option<f64> {
    if modifier.contains('x') {
        let sides: Option<Vec<f64>> = modifier.split('x').map(|side| side.parse().ok()).collect();
        return sides
            .filter(|sides| sides.len() == 3)
            .map(|sides| sides.into_iter().product());
    }
    if modifier.len() < 3 || !modifier.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // M is 8 or 16, N is 8.
    let (rows, rest) = match modifier.strip_prefix("16") {
        Some(rest) => (16.0, rest),
        None => (8.0, modifier.strip_prefix('8')?),
    };
    let depth: f64 = rest.strip_prefix('8')?.parse().ok()?;
    Some(rows * 8.0 * depth)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operations(opcode: &str, modifiers: &str) -> Option<f64> {
        product(opcode, modifiers).map(|product| product.operations)
    }

    /// Executions and counted operations of kernels of one H200: `tensor`, `tensor_peak` and `triton` of the corpus.
    #[test]
    fn shapes_give_the_counted_operations() {
        for (opcode, modifiers, executions, counted) in [
            ("HMMA", "16816.F32", 4_194_304.0, 17_179_869_184.0),
            ("HMMA", "16816.F32.BF16", 4_194_304.0, 17_179_869_184.0),
            ("HMMA", "16816.F32", 33_554_432.0, 137_438_953_472.0),
            (
                "HGMMA",
                "64x128x16.F32.BF16",
                6_488_064.0,
                425_201_762_304.0,
            ),
            ("HGMMA", "64x128x16.F32", 2_097_152.0, 137_438_953_472.0),
        ] {
            assert_eq!(
                operations(opcode, modifiers).map(|each| each * executions),
                Some(counted),
                "{opcode}.{modifiers}"
            );
        }
    }

    /// The shapes of `mma` in the PTX manual, as the compiler spells them.
    #[test]
    fn every_spelling_of_a_shape_is_read() {
        for (opcode, modifiers, sides) in [
            ("HMMA", "1688.F32.TF32", 16.0 * 8.0 * 8.0),
            ("IMMA", "8816.S8.S8", 8.0 * 8.0 * 16.0),
            ("IMMA", "16832.S8.S8", 16.0 * 8.0 * 32.0),
            ("IMMA", "16864.S4.S4", 16.0 * 8.0 * 64.0),
            ("DMMA", "884", 8.0 * 8.0 * 4.0),
            ("QMMA", "16832.F32.E4M3.E4M3", 16.0 * 8.0 * 32.0),
        ] {
            assert_eq!(
                operations(opcode, modifiers),
                Some(2.0 * sides),
                "{opcode}.{modifiers}"
            );
        }
        assert_eq!(operations("HMMA", "F32"), None);
        assert_eq!(operations("UTCHMMA", "gdesc"), None);
    }

    /// `mma.m8n8k4` of 7.0 is 2 · 8 · 8 · 4 operations for each of the four groups of lanes, whatever it is split into.
    #[test]
    fn the_steps_of_7_0_make_one_product() {
        let product = 4.0 * 2.0 * 8.0 * 8.0 * 4.0;
        let wide = operations("HMMA", "884.F32.F32.STEP0").map(|step| 4.0 * step);
        let narrow = operations("HMMA", "884.F16.F16.STEP1").map(|step| 2.0 * step);
        assert_eq!((wide, narrow), (Some(product), Some(product)));
    }
}
