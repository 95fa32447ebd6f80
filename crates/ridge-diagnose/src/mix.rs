//! The instruction mix: executed warp instructions by opcode with modifiers.

use ncu_rep::Metrics;

/// Executed warp instructions by opcode with modifiers, such as `IMAD.WIDE.U32`.
const HISTOGRAM: &str = "sass__inst_executed_per_opcode_with_modifier_all";
/// The same without modifiers, for reports that do not hold the first.
const PLAIN_HISTOGRAM: &str = "sass__inst_executed_per_opcode";

/// Executed warp instructions by opcode.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InstructionMix {
    list: Vec<(String, f64)>,
    source: &'static str,
}

impl InstructionMix {
    /// Reads the histogram of a workload; absent when the report does not hold one.
    #[must_use]
    pub fn of(metrics: &Metrics<'_>) -> Option<Self> {
        [HISTOGRAM, PLAIN_HISTOGRAM].into_iter().find_map(|source| {
            let list = metrics.get(source)?.by_text().ok()?;
            let list = list
                .into_iter()
                .map(|(opcode, count)| (opcode.into_owned(), count))
                .collect();
            Some(Self { list, source }).filter(|mix| !mix.list.is_empty())
        })
    }

    /// The metric that the mix comes from.
    #[must_use]
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// All instructions.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.list.iter().map(|(_, count)| count).sum()
    }

    /// Instructions whose opcode, without modifiers, is one of these.
    #[must_use]
    pub fn of_opcodes(&self, opcodes: &[&str]) -> f64 {
        self.sum(|opcode, _| opcodes.contains(&opcode))
    }

    /// Instructions of an opcode that carry a modifier.
    #[must_use]
    pub fn with_modifier(&self, opcodes: &[&str], modifier: &str) -> f64 {
        self.sum(|opcode, modifiers| {
            opcodes.contains(&opcode) && modifiers.split('.').any(|found| found == modifier)
        })
    }

    /// Instructions that a rule picks by opcode and modifiers.
    #[must_use]
    pub fn sum(&self, picks: impl Fn(&str, &str) -> bool) -> f64 {
        self.iter()
            .filter(|(opcode, modifiers, _)| picks(opcode, modifiers))
            .map(|(_, _, count)| count)
            .sum()
    }

    /// Opcode, modifiers and count of each entry.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, f64)> {
        self.list.iter().map(|(name, count)| {
            let (opcode, modifiers) = name.split_once('.').unwrap_or((name, ""));
            (opcode, modifiers, *count)
        })
    }
}

/// Single-precision arithmetic.
pub(crate) const FP32: &[&str] = &["FFMA", "FADD", "FMUL", "FFMA32I", "FADD32I", "FMUL32I"];
/// Double-precision arithmetic.
pub(crate) const FP64: &[&str] = &["DFMA", "DADD", "DMUL", "DSETP"];
/// Half-precision arithmetic.
pub(crate) const FP16: &[&str] = &["HFMA2", "HADD2", "HMUL2"];
/// Matrix instructions.
pub(crate) const TENSOR: &[&str] = &[
    "HMMA", "IMMA", "DMMA", "BMMA", "QMMA", "OMMA", "HGMMA", "QGMMA", "IGMMA", "BGMMA", "UTCHMMA",
    "UTCIMMA", "UTCQMMA", "UTCOMMA",
];
/// Loads of global memory.
pub(crate) const GLOBAL_LOADS: &[&str] = &["LDG", "LD", "LDGSTS"];
/// Stores of global memory.
pub(crate) const GLOBAL_STORES: &[&str] = &["STG", "ST"];
/// Loads and stores of shared memory.
pub(crate) const SHARED: &[&str] = &["LDS", "STS", "LDSM", "STSM"];
/// Integer and logic instructions.
pub(crate) const INTEGER: &[&str] = &[
    "IMAD",
    "IMUL",
    "IADD3",
    "IADD",
    "LOP3",
    "LOP",
    "ISETP",
    "SHF",
    "LEA",
    "VIADD",
    "VIMNMX",
    "IMNMX",
    "IABS",
    "SGXT",
    "BMSK",
    "VIADDMNMX",
    "I2I",
    "PRMT",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_and_modifiers_are_told_apart() {
        let list = [("LDG.E.128", 2.0), ("LDG.E", 3.0), ("LDGSTS.E", 5.0)];
        let list = list.map(|(name, count)| (name.to_owned(), count)).to_vec();
        let mix = InstructionMix {
            list,
            source: HISTOGRAM,
        };
        assert!((mix.of_opcodes(&["LDG"]) - 5.0).abs() < 1e-9);
        assert!((mix.with_modifier(&["LDG"], "128") - 2.0).abs() < 1e-9);
        assert!((mix.total() - 10.0).abs() < 1e-9);
    }
}
