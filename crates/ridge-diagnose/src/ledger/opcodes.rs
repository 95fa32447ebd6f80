//! Which pipe executes which opcode, and for how long.
//!
//! The opcode histogram of a report counts warp instructions; a pipe is busy for some cycles with each. The lists were
//! fitted to the pipe percentages of 76 kernels of one H200 (compute capability 9.0): ALU, XU, FP64 and uniform come
//! out without residual, FMA within 1.2 points. See `docs/design/ledger.md`.

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
    /// Half-precision multiply-adds that the compiler gave to the matrix pipe.
    pub(crate) half_on_tensor: f64,
    /// Instructions into the load/store unit.
    pub(crate) lsu: f64,
    /// Loads and stores of shared memory among them.
    pub(crate) shared: f64,
    /// Reads of special registers, of which those of the thread index enter the load/store unit too.
    pub(crate) special_register_reads: f64,
}

impl PipeCounts {
    /// Counts the instructions of a mix.
    pub(crate) fn of(mix: &InstructionMix) -> Self {
        let mut counts = Self::default();
        for (opcode, modifiers, count) in mix.iter() {
            counts.add(opcode, modifiers, count);
        }
        counts
    }

    fn add(&mut self, opcode: &str, modifiers: &str, count: f64) {
        let mut parts = modifiers.split('.');
        match opcode {
            "FFMA" | "FADD" | "FMUL" | "FFMA32I" | "FADD32I" | "FMUL32I" => self.fma += count,
            // Plain `HFMA2` runs on the heavy half of the FMA pipe, `HFMA2.MMA` on the matrix pipe.
            "HFMA2" if parts.any(|modifier| modifier == "MMA") => self.half_on_tensor += count,
            // 16-bit arithmetic and plain 32-bit addition run on the heavy half of the FMA pipe.
            "VIADD" | "HADD2" | "HMUL2" | "HFMA2" => {
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
            | "P2R" | "R2P" | "SGXT" | "BMSK" | "IADD" | "LOP" | "VIADDMNMX" => self.alu += count,
            "LDS" | "STS" | "LDSM" | "STSM" | "ATOMS" => {
                self.lsu += count;
                self.shared += count;
            }
            "LDG" | "STG" | "LD" | "ST" | "LDL" | "STL" | "ATOM" | "ATOMG" | "RED" | "REDG"
            | "LDGSTS" | "LDGDEPBAR" | "SHFL" | "MEMBAR" | "FENCE" => self.lsu += count,
            "S2R" => self.special_register_reads += count,
            "UIADD3" | "UIMAD" | "ULOP3" | "USHF" | "ULEA" | "UISETP" | "USEL" | "USGXT"
            | "UPRMT" | "UBMSK" | "UFLO" | "UPOPC" => self.uniform += count,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_multiplications_take_two_passes() {
        let mut counts = PipeCounts::default();
        for (opcode, modifiers) in [
            ("IMAD", ""),
            ("IMAD", "WIDE.U32"),
            ("IMAD", "HI"),
            ("FFMA", ""),
            ("IMAD", "MOV.U32"),
        ] {
            counts.add(opcode, modifiers, 1.0);
        }
        assert_eq!(
            counts,
            PipeCounts {
                fma: 7.0,
                fma_heavy: 6.0,
                ..PipeCounts::default()
            }
        );
    }
}
