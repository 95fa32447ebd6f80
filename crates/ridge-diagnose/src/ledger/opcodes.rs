//! Which pipe executes which opcode, and for how long.
//!
//! The opcode histogram of a report counts warp instructions; a pipe is busy for some cycles with each. The lists were
//! fitted to the pipe percentages of 270 kernels of one H200 (compute capability 9.0). Where another architecture is
//! documented to differ, its figures say so:
//! packed 16-bit arithmetic, and additions on 12.x. See `docs/design/ledger.md`.

use ridge_model::arch::execution::{Execution, HalfPath};

use crate::mix::InstructionMix;

/// Warp instructions by pipe.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PipeCounts {
    /// Passes through the FMA pipe; wide and high multiplications take two.
    pub(crate) fma: f64,
    /// Those of them that only the heavy half executes.
    pub(crate) fma_heavy: f64,
    pub(crate) alu: f64,
    pub(crate) fp64: f64,
    pub(crate) xu: f64,
    pub(crate) uniform: f64,
    /// Packed half-precision arithmetic, wherever it runs.
    pub(crate) half: f64,
    /// Half-precision multiply-adds among it that the compiler gave to the matrix pipe.
    pub(crate) half_on_tensor: f64,
    /// Instructions into the load/store unit.
    pub(crate) lsu: f64,
    /// Loads and stores of shared memory among them.
    pub(crate) shared: f64,
    /// Shuffles among them: each takes a wavefront of shared memory.
    pub(crate) shuffles: f64,
    /// Reads of special registers, of which those of the thread index enter the load/store unit too.
    pub(crate) special_register_reads: f64,
}

impl PipeCounts {
    /// Counts the instructions of a mix.
    pub(crate) fn of(mix: &InstructionMix, execution: &Execution) -> Self {
        let mut counts = Self::default();
        for (opcode, modifiers, count) in mix.iter() {
            counts.add(opcode, modifiers, count, execution);
        }
        counts
    }

    fn add(&mut self, opcode: &str, modifiers: &str, count: f64, execution: &Execution) {
        let mut parts = modifiers.split('.');
        match opcode {
            "FFMA" | "FADD" | "FMUL" | "FFMA32I" | "FADD32I" | "FMUL32I" => self.fma += count,
            "HADD2" | "HMUL2" | "HFMA2" => self.add_half(modifiers, count, execution.half_path),
            // Plain additions run on the heavy half of the FMA pipe, where they have no second place to go to.
            "VIADD" if execution.alu_lanes.is_some() => {
                self.fma += count;
                self.fma_heavy += count;
            }
            "IMAD" | "IMUL" => {
                let passes = if parts.any(|modifier| matches!(modifier, "WIDE" | "HI")) {
                    2.0
                } else {
                    1.0
                };
                self.fma += passes * count;
                self.fma_heavy += passes * count;
            }
            "DFMA" | "DADD" | "DMUL" | "DSETP" => self.fp64 += count,
            "MUFU" | "F2F" | "F2I" | "I2F" | "FRND" | "FCHK" | "POPC" | "FLO" | "BREV" => {
                self.xu += count
            }
            "IADD3" | "LOP3" | "ISETP" | "SHF" | "LEA" | "SEL" | "FSEL" | "FSETP" | "FMNMX"
            | "PRMT" | "MOV" | "VIMNMX" | "IMNMX" | "IABS" | "PLOP3" | "I2FP" | "F2FP" | "CS2R"
            | "P2R" | "R2P" | "R2UR" | "SGXT" | "BMSK" | "IADD" | "LOP" | "VIADDMNMX"
            | "VIMNMX3" | "HMNMX2" | "VOTE" => self.alu += count,
            "LDS" | "STS" | "LDSM" | "STSM" | "ATOMS" => {
                self.lsu += count;
                self.shared += count;
            }
            "LDG" | "STG" | "LD" | "ST" | "LDL" | "STL" | "ATOM" | "ATOMG" | "RED" | "REDG"
            | "LDGSTS" | "LDGDEPBAR" | "MEMBAR" | "FENCE" | "CCTL" => self.lsu += count,
            "SHFL" => {
                self.lsu += count;
                self.shuffles += count;
            }
            "S2R" => self.special_register_reads += count,
            "UIADD3" | "UIMAD" | "ULOP3" | "USHF" | "ULEA" | "UISETP" | "USEL" | "USGXT"
            | "UPRMT" | "UBMSK" | "UFLO" | "UPOPC" => self.uniform += count,
            _ => {}
        }
    }

    fn add_half(&mut self, modifiers: &str, count: f64, path: HalfPath) {
        let has = |wanted: &str| modifiers.split('.').any(|modifier| modifier == wanted);
        // The pipe for 16-bit arithmetic up to 8.0 is rated for one of the two kinds of values.
        if path != HalfPath::OwnPipe || !has("BF16") && !has("BF16_V2") {
            self.half += count;
        }
        // `HFMA2.MMA` is the compiler's way to the matrix pipe, the others are told apart by the architecture.
        if has("MMA") {
            self.half_on_tensor += count;
            return;
        }
        let (passes, heavy) = match path {
            HalfPath::OwnPipe | HalfPath::Unknown => (0.0, 0.0),
            // A conversion to single precision (`HADD2.F32`) takes the heavy half only.
            HalfPath::BothHalves if has("F32") => (count, count),
            HalfPath::BothHalves => (2.0 * count, count),
        };
        self.fma += passes;
        self.fma_heavy += heavy;
    }
}

#[cfg(test)]
mod tests {
    use ridge_model::{Architecture, ComputeCapability};

    use super::*;

    fn counted(opcodes: &[(&str, &str)], major: u32, minor: u32) -> PipeCounts {
        let architecture =
            Architecture::of(ComputeCapability { major, minor }).expect("a known capability");
        let mut counts = PipeCounts::default();
        for (opcode, modifiers) in opcodes {
            counts.add(opcode, modifiers, 1.0, &architecture.execution);
        }
        counts
    }

    #[test]
    fn wide_multiplications_take_two_passes() {
        let opcodes = [
            ("IMAD", ""),
            ("IMAD", "WIDE.U32"),
            ("IMAD", "HI"),
            ("FFMA", ""),
            ("IMAD", "MOV.U32"),
        ];
        let expected = PipeCounts {
            fma: 7.0,
            fma_heavy: 6.0,
            ..PipeCounts::default()
        };
        assert_eq!(counted(&opcodes, 9, 0), expected);
    }

    #[test]
    fn half_arithmetic_runs_where_the_architecture_has_it() {
        let opcodes = [("HFMA2", ""), ("HMUL2", "BF16_V2"), ("HFMA2", "MMA")];
        let places = |half, half_on_tensor, fma, fma_heavy| PipeCounts {
            half,
            half_on_tensor,
            fma,
            fma_heavy,
            ..PipeCounts::default()
        };
        assert_eq!(counted(&opcodes, 8, 0), places(2.0, 1.0, 0.0, 0.0));
        assert_eq!(counted(&opcodes, 8, 6), places(3.0, 1.0, 4.0, 2.0));
        assert_eq!(counted(&opcodes, 9, 0), places(3.0, 1.0, 4.0, 2.0));
        assert_eq!(counted(&opcodes, 12, 0), places(3.0, 1.0, 0.0, 0.0));
        let conversion = counted(&[("HADD2", "F32")], 9, 0);
        assert_eq!(conversion, places(1.0, 0.0, 1.0, 1.0));
    }
}
