//! Matrix pipes: how many operations each kind of product can do in a cycle of one multiprocessor, and which counters
//! hold the operations.
//!
//! A multiply-add is two operations. Peaks are dense: data sheets that print only the sparse one were halved. GeForce
//! boards of some capabilities do products with single-precision accumulators at half the rate of the other boards.

use super::{ComputeCapability, Figure, Source};

mod counters;
mod rates;

/// What is multiplied, and into what where that changes the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operands {
    /// 64-bit floating point.
    Fp64,
    /// 32-bit values rounded to 19 bits.
    Tf32,
    /// 16-bit values of the wide-exponent kind.
    Bf16,
    /// 16-bit values into 32-bit sums.
    Fp16IntoFp32,
    /// 16-bit values into 16-bit sums.
    Fp16IntoFp16,
    /// 8-bit floating point, and narrower values that take its path, into 32-bit sums.
    Fp8IntoFp32,
    /// The same into 16-bit sums.
    Fp8IntoFp16,
    /// 4-bit floating point with block scales.
    Fp4,
    /// 8-bit integers.
    Int8,
    /// 4-bit integers.
    Int4,
    /// Single bits.
    Int1,
}

/// The family of instructions that a product is made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// One warp by itself.
    Warp,
    /// Four warps together, from 9.0 on (`wgmma`, `tcgen05`).
    WarpGroup,
}

/// The class of a board, where it changes the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Board {
    /// For games, where the tensor units sum in FP32 at half rate. The A10G of a cloud is cut in the same way.
    GeForce,
    /// Everything else.
    Professional,
}

impl Board {
    /// The class of a board by the name that the driver reports.
    #[must_use]
    pub fn of(name: &str) -> Self {
        if name.contains("GeForce") || name.contains("A10G") {
            Self::GeForce
        } else {
            Self::Professional
        }
    }
}

/// The rate of one kind of product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// What is multiplied.
    pub operands: Operands,
    /// With which instructions.
    pub family: Family,
    /// Operations in a cycle of one SM, without sparsity.
    pub dense: f64,
    /// The same with 2:4 sparsity, counting the zeros; absent where there is none or it is not known.
    pub sparse: Option<f64>,
    /// What GeForce boards do of this; absent where it is not known.
    pub geforce_share: Option<f64>,
    /// Where all of these come from.
    pub source: Source,
}

/// A counter of matrix operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Its name, without roll-up.
    pub name: &'static str,
    /// What it counts.
    pub operands: Operands,
    /// The instructions that it counts.
    pub family: Family,
    /// Whether it counts products with 2:4 sparsity.
    pub is_sparse: bool,
    /// Whether the peak that reports store with it belongs to what it counts. Totals over dense and sparse products
    /// carry the sparse peak.
    pub has_own_peak: bool,
}

/// The matrix pipes of a compute capability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tensor {
    /// Known rates; empty where none has a source.
    pub rates: &'static [Rate],
    /// The counters that together hold every matrix operation once.
    pub counters: &'static [Counter],
}

impl Tensor {
    /// The figures of a compute capability.
    pub(super) fn of(capability: ComputeCapability) -> Self {
        Self {
            rates: rates::of(capability),
            counters: counters::of(capability),
        }
    }

    /// Operations in a cycle of one SM; absent where the rate, or the class of a board that changes it, is not known.
    #[must_use]
    pub fn rate(
        &self,
        operands: Operands,
        family: Family,
        is_sparse: bool,
        board: Option<Board>,
    ) -> Option<Figure> {
        let rate = self
            .rates
            .iter()
            .find(|rate| rate.operands == operands && rate.family == family)?;
        let share = match board {
            Some(Board::Professional) => 1.0,
            Some(Board::GeForce) => rate.geforce_share?,
            None => rate.geforce_share.filter(|share| *share >= 1.0)?,
        };
        let whole = if is_sparse { rate.sparse? } else { rate.dense };
        Figure::new(whole * share, rate.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_the_board_changes_needs_the_board() {
        let ada = Tensor::of(ComputeCapability::new(8, 9));
        let rate = |operands, board| {
            ada.rate(operands, Family::Warp, false, board)
                .map(|figure| figure.value)
        };
        assert_eq!(
            rate(
                Operands::Fp16IntoFp32,
                Some(Board::of("NVIDIA GeForce RTX 4090"))
            ),
            Some(512.0)
        );
        assert_eq!(
            rate(Operands::Fp16IntoFp32, Some(Board::of("NVIDIA L4"))),
            Some(1024.0)
        );
        assert_eq!(rate(Operands::Fp16IntoFp32, None), None);
        assert_eq!(rate(Operands::Int8, None), Some(2048.0));
    }

    /// Half the bits, twice the operations: on every architecture whose pipe takes both.
    #[test]
    fn narrower_operands_are_faster() {
        for capability in ComputeCapability::KNOWN {
            let tensor = Tensor::of(capability);
            let dense = |operands, family| {
                tensor
                    .rate(operands, family, false, Some(Board::Professional))
                    .map(|figure| figure.value)
            };
            for (wide, narrow) in [
                (Operands::Tf32, Operands::Bf16),
                (Operands::Bf16, Operands::Fp8IntoFp32),
                (Operands::Int8, Operands::Int4),
            ] {
                for family in [Family::Warp, Family::WarpGroup] {
                    if let (Some(wide), Some(narrow)) = (dense(wide, family), dense(narrow, family))
                    {
                        assert!((narrow - 2.0 * wide).abs() < 1e-9, "{capability}");
                    }
                }
            }
        }
    }

    #[test]
    fn no_operation_is_counted_twice() {
        for capability in ComputeCapability::KNOWN {
            let counters = Tensor::of(capability).counters;
            for (place, counter) in counters.iter().enumerate() {
                assert!(
                    counters[..place]
                        .iter()
                        .all(|other| other.name != counter.name),
                    "{capability}: {}",
                    counter.name
                );
            }
        }
    }
}
