//! Instructions of compiled code. The opcodes and what they go with were read off code that nvcc 13.5 makes for 9.0.

use std::collections::{BTreeMap, BTreeSet};

use super::{Certainty, Effect, Evidence, Finding};

/// What code is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// PTX, before the last compiler.
    Ptx,
    /// The instructions of the machine, as a disassembler prints them.
    Sass,
}

/// Instructions by opcode: how many, and in which functions.
#[derive(Clone, Debug)]
pub struct Scan {
    language: Language,
    functions: BTreeSet<String>,
    /// For each opcode how many instructions of each function have it.
    opcodes: BTreeMap<String, BTreeMap<String, u64>>,
    instructions: u64,
}

/// Where instructions stand before the first function.
const UNKNOWN_FUNCTION: &str = "(no function)";

/// Looks at PTX.
#[must_use]
pub fn scan_ptx(text: &str) -> Scan {
    let mut scan = Scan::new(Language::Ptx);
    let mut function = UNKNOWN_FUNCTION;
    let mut expects_name = false;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default();
        let head = [".entry", ".func"]
            .iter()
            .find_map(|kind| line.split_once(kind));
        if let Some((_, rest)) = head {
            expects_name = true;
            if let Some(name) = declared(rest) {
                function = name;
                expects_name = false;
                scan.functions.insert(name.to_owned());
            }
            continue;
        }
        // The name of a function with a result may stand on the next line.
        if expects_name {
            if let Some(name) = declared(line) {
                function = name;
                scan.functions.insert(name.to_owned());
            }
            expects_name = false;
            continue;
        }
        for statement in line.split(';') {
            let statement = statement.trim_start_matches(['{', '}', ' ', '\t']);
            let mut words = statement.split_whitespace();
            let mut word = words.next();
            if word.is_some_and(|word| word.starts_with('@')) {
                word = words.next();
            }
            if let Some(opcode) = word
                && opcode.starts_with(|first: char| first.is_ascii_lowercase())
                && !opcode.ends_with(':')
            {
                scan.count(function, opcode);
            }
        }
    }
    scan
}

/// The name that a declaration gives, behind a result in parentheses where there is one.
fn declared(rest: &str) -> Option<&str> {
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(result) => result.split_once(')')?.1.trim_start(),
        None => rest,
    };
    let end = rest
        .find(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '$' | '%')))
        .unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}

impl Scan {
    fn new(language: Language) -> Self {
        Self {
            language,
            functions: BTreeSet::new(),
            opcodes: BTreeMap::new(),
            instructions: 0,
        }
    }

    /// Looks at instructions of the machine: pairs of a function's name and an instruction with its operands.
    pub fn sass<'t>(instructions: impl IntoIterator<Item = (&'t str, &'t str)>) -> Self {
        let mut scan = Self::new(Language::Sass);
        for (function, text) in instructions {
            if !scan.functions.contains(function) {
                scan.functions.insert(function.to_owned());
            }
            let mut words = text.split_whitespace();
            let mut word = words.next();
            if word.is_some_and(|word| word.starts_with('@')) {
                word = words.next();
            }
            let Some(opcode) = word else { continue };
            // A constant is made by a half-precision operation on zeros.
            if opcode.starts_with("HFMA2") && text.contains("-RZ, RZ") {
                continue;
            }
            scan.count(function, opcode.trim_end_matches(';'));
        }
        scan
    }

    fn count(&mut self, function: &str, opcode: &str) {
        self.instructions += 1;
        // Code has few opcodes and many instructions: strings are made once for each.
        if !self.opcodes.contains_key(opcode) {
            self.opcodes.insert(opcode.to_owned(), BTreeMap::new());
        }
        if let Some(functions) = self.opcodes.get_mut(opcode) {
            if !functions.contains_key(function) {
                functions.insert(function.to_owned(), 0);
            }
            if let Some(count) = functions.get_mut(function) {
                *count += 1;
            }
        }
    }

    /// What the code is written in.
    #[must_use]
    pub const fn language(&self) -> Language {
        self.language
    }

    /// How many instructions there are.
    #[must_use]
    pub const fn instructions(&self) -> u64 {
        self.instructions
    }

    /// The functions, sorted by name.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().map(String::as_str)
    }

    /// What may differ from IEEE arithmetic in the order of the source.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        let flushing = match self.language {
            Language::Ptx => None,
            Language::Sass => Some(self.flushing()),
        };
        let mut findings = Vec::new();
        for effect in Effect::ALL {
            let mut certainty = Certainty::Possible;
            let mut evidence = Vec::new();
            for (opcode, by_function) in &self.opcodes {
                let found = match self.language {
                    Language::Ptx => ptx(effect, opcode),
                    Language::Sass => sass(effect, opcode),
                };
                let Some(found) = found else { continue };
                let functions: Vec<(&String, &u64)> = by_function
                    .iter()
                    .filter(|(function, _)| {
                        effect != Effect::FlushToZero
                            || flushing
                                .as_ref()
                                .is_none_or(|flushing| flushing.contains(function.as_str()))
                    })
                    .collect();
                if functions.is_empty() {
                    continue;
                }
                certainty = certainty.max(found);
                evidence.push(Evidence::Instruction {
                    opcode: opcode.clone(),
                    count: functions.iter().map(|(_, count)| **count).sum(),
                    functions: functions
                        .iter()
                        .map(|(function, _)| (*function).clone())
                        .collect(),
                });
            }
            evidence.sort_by_key(|evidence| match evidence {
                Evidence::Instruction { count, .. } => std::cmp::Reverse(*count),
                Evidence::Flag(_) | Evidence::Name(_) => std::cmp::Reverse(0),
            });
            if effect == Effect::SplitK {
                evidence.extend(
                    self.functions
                        .iter()
                        .filter(|name| says_split(name))
                        .cloned()
                        .map(Evidence::Name),
                );
            }
            if !evidence.is_empty() {
                findings.push(Finding {
                    effect,
                    certainty,
                    evidence,
                });
            }
        }
        findings
    }

    /// Functions that were built to flush. The sequences for correctly rounded division and roots use `FADD.FTZ` and `FMUL.FTZ`
    /// in every build, beside a `FFMA` that does not flush: where they are, only a `FFMA.FTZ` tells.
    fn flushing(&self) -> BTreeSet<&str> {
        #[derive(Default)]
        struct Has {
            fused: bool,
            fused_flushing: bool,
            plain: bool,
            flushing: bool,
            estimate: bool,
        }
        let mut by_function: BTreeMap<&str, Has> = BTreeMap::new();
        for (opcode, functions) in &self.opcodes {
            let parts: Vec<&str> = opcode.split('.').collect();
            let flushes = parts.contains(&"FTZ");
            // What rounds in another direction is the inside of a library function.
            let is_directed = parts.iter().any(|part| matches!(*part, "RZ" | "RM" | "RP"));
            for function in functions.keys() {
                let has = by_function.entry(function).or_default();
                match parts[0] {
                    "MUFU" => has.estimate |= matches!(opcode.as_str(), "MUFU.RCP" | "MUFU.RSQ"),
                    _ if is_directed => {}
                    "FFMA" if flushes => has.fused_flushing = true,
                    "FFMA" => has.fused = true,
                    "FADD" | "FMUL" if flushes => has.flushing = true,
                    "FADD" | "FMUL" => has.plain = true,
                    _ => {}
                }
            }
        }
        by_function
            .into_iter()
            .filter(|(_, has)| {
                let may_be_sequence = has.estimate && has.fused;
                has.fused_flushing || (has.flushing && !has.plain && !may_be_sequence)
            })
            .map(|(function, _)| function)
            .collect()
    }
}

/// Whether a kernel's name says that it sums a part.
fn says_split(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["splitk", "split_k", "streamk", "stream_k"]
        .iter()
        .any(|part| name.contains(part))
}

/// What an opcode of PTX says about an effect.
fn ptx(effect: Effect, opcode: &str) -> Option<Certainty> {
    use Certainty::{Certain, Possible};
    let parts: Vec<&str> = opcode.split('.').collect();
    let has = |part: &str| parts.contains(&part);
    let kind = parts.first().copied().unwrap_or_default();
    let is_product = opcode.contains("mma");
    let is_single = has("f32") && !is_product;
    match effect {
        // `ex2.approx.ftz` and `rcp.approx.ftz` are the insides of functions in every build.
        Effect::FlushToZero => (is_single
            && has("ftz")
            && matches!(
                kind,
                "add"
                    | "sub"
                    | "mul"
                    | "fma"
                    | "mad"
                    | "div"
                    | "sqrt"
                    | "abs"
                    | "neg"
                    | "min"
                    | "max"
                    | "setp"
                    | "sin"
                    | "cos"
                    | "lg2"
                    | "rsqrt"
            ))
        .then_some(Certain),
        Effect::ApproximateDivision => match kind {
            "div" if has("approx") || has("full") => Some(Certain),
            // Alone it may be the inside of tanhf or powf.
            "rcp" if has("approx") && is_single => Some(Possible),
            _ => None,
        },
        Effect::ApproximateSquareRoot => (kind == "sqrt" && has("approx")).then_some(Certain),
        Effect::ApproximateFunctions => match kind {
            "sin" | "cos" | "tanh" | "lg2" if has("approx") => Some(Certain),
            // expf and exp2f use it in every build.
            "ex2" if has("approx") => Some(Possible),
            _ => None,
        },
        // `mul.rn` and `add.rn` are what -fmad=false writes; an fma may also be asked for by name.
        Effect::Contraction => {
            (matches!(kind, "fma" | "mad") && (has("f32") || has("f64"))).then_some(Possible)
        }
        Effect::FloatAtomics => (matches!(kind, "atom" | "red" | "multimem")
            && has("add")
            && parts
                .iter()
                .any(|part| matches!(*part, "f16" | "f16x2" | "bf16" | "bf16x2" | "f32" | "f64")))
        .then_some(Certain),
        Effect::SplitK => None,
        Effect::Tf32 => (is_product && has("tf32")).then_some(Certain),
        // The accumulator stands first among the formats.
        Effect::HalfAccumulation => (is_product
            && parts
                .iter()
                .find(|part| matches!(**part, "f16" | "f32" | "f64" | "s32"))
                == Some(&"f16")
            && !opcode.contains(".load.")
            && !opcode.contains(".store."))
        .then_some(Certain),
        Effect::HalfArithmetic => (matches!(kind, "add" | "sub" | "mul" | "fma")
            && parts
                .iter()
                .any(|part| matches!(*part, "f16" | "f16x2" | "bf16" | "bf16x2")))
        .then_some(Certain),
        Effect::NarrowProducts => (is_product
            && parts.iter().any(|part| {
                matches!(
                    *part,
                    "e4m3" | "e5m2" | "e2m3" | "e3m2" | "e2m1" | "kind::f8f6f4"
                )
            }))
        .then_some(Certain),
    }
}

/// What an opcode of the machine says about an effect.
fn sass(effect: Effect, opcode: &str) -> Option<Certainty> {
    use Certainty::{Certain, Possible};
    let parts: Vec<&str> = opcode.split('.').collect();
    let has = |part: &str| parts.contains(&part);
    let kind = parts.first().copied().unwrap_or_default();
    // `HFMA2.MMA` is no tensor core's.
    let is_product = kind.ends_with("MMA");
    match effect {
        Effect::FlushToZero => {
            (matches!(kind, "FADD" | "FMUL" | "FFMA") && has("FTZ")).then_some(Certain)
        }
        // A refined division has it too, and integer division, tanhf and powf.
        Effect::ApproximateDivision => (opcode == "MUFU.RCP").then_some(Possible),
        Effect::ApproximateSquareRoot => (opcode == "MUFU.SQRT").then_some(Certain),
        Effect::ApproximateFunctions => match opcode {
            "MUFU.SIN" | "MUFU.COS" | "MUFU.LG2" | "MUFU.TANH" => Some(Certain),
            // expf and exp2f use it in every build.
            "MUFU.EX2" => Some(Possible),
            _ => None,
        },
        Effect::Contraction => matches!(kind, "FFMA" | "DFMA").then_some(Possible),
        Effect::FloatAtomics => ((kind.starts_with("RED") || kind.starts_with("ATOM"))
            && has("ADD")
            && parts.iter().any(|part| {
                ["F16", "BF16", "F32", "F64"]
                    .iter()
                    .any(|format| part.starts_with(format))
            }))
        .then_some(Certain),
        Effect::SplitK => None,
        Effect::Tf32 => (is_product && has("TF32")).then_some(Certain),
        Effect::HalfAccumulation => (is_product
            && parts
                .iter()
                .find(|part| matches!(**part, "F16" | "F32" | "F64" | "S32"))
                == Some(&"F16"))
        .then_some(Certain),
        Effect::HalfArithmetic => matches!(kind, "HADD2" | "HMUL2" | "HFMA2").then_some(Certain),
        Effect::NarrowProducts => (is_product
            && parts
                .iter()
                .any(|part| matches!(*part, "E4M3" | "E5M2" | "E2M3" | "E3M2" | "E2M1")))
        .then_some(Certain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_sass(code: &[(&str, &str)]) -> Vec<(&'static str, Certainty)> {
        Scan::sass(code.iter().copied())
            .findings()
            .iter()
            .map(|finding| (finding.effect.id(), finding.certainty))
            .collect()
    }

    fn of_ptx(text: &str) -> Vec<(&'static str, Certainty)> {
        scan_ptx(text)
            .findings()
            .iter()
            .map(|finding| (finding.effect.id(), finding.certainty))
            .collect()
    }

    use Certainty::{Certain, Possible};

    /// The sequences of nvcc 13.5 for 9.0.
    #[test]
    fn a_default_build_is_not_taken_for_a_fast_one() {
        let root = [
            ("root", "MUFU.RSQ R2, R0"),
            ("root", "FMUL.FTZ R3, R0, R2"),
            ("root", "FFMA R4, -R3, R3, R0"),
            ("root", "FSETP.GEU.FTZ.AND P0, PT, R0, RZ, PT"),
            ("root", "@!P0 FADD.FTZ R1, R0, 1"),
        ];
        assert_eq!(of_sass(&root), [("contraction", Possible)]);
        let exponential = "\
.visible .entry k_exp(
\t.param .u64 a
)
{
\tfma.rn.f32 \t%f2, %f1, 0f3BBB989D, 0f3F000000;
\tex2.approx.ftz.f32 \t%f9, %f8;
\trcp.approx.ftz.f32 \t%f10, %f9;
}";
        assert_eq!(
            of_ptx(exponential),
            [
                ("approximate-division", Possible),
                ("approximate-functions", Possible),
                ("contraction", Possible)
            ]
        );
    }

    #[test]
    fn a_fast_build_is_recognised() {
        let fast = [
            ("k", "MUFU.RCP R2, R0"),
            ("k", "FMUL.FTZ R3, R0, R2"),
            ("k", "MUFU.SIN R4, R3"),
            ("k", "@P1 MUFU.SQRT R4, R3"),
        ];
        assert_eq!(
            of_sass(&fast),
            [
                ("flush-to-zero", Certain),
                ("approximate-division", Possible),
                ("approximate-square-root", Certain),
                ("approximate-functions", Certain)
            ]
        );
        let text = "\
.entry k()
{
@%p1 div.approx.ftz.f32 %f3, %f1, %f2; sqrt.approx.ftz.f32 %f5, %f4; // sin.approx.f32
$L__BB0_2:
}";
        assert_eq!(
            of_ptx(text),
            [
                ("flush-to-zero", Certain),
                ("approximate-division", Certain),
                ("approximate-square-root", Certain)
            ]
        );
    }

    #[test]
    fn atomics_and_products_are_told_by_their_formats() {
        let code = [
            ("a", "REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R2.64], R5"),
            ("a", "REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R5"),
            ("b", "HMMA.16816.F16 R4, R8, R12, R4"),
            ("b", "HMMA.16816.F32 R4, R8, R12, R4"),
            ("c", "HMMA.1684.F32.TF32 R4, R8, R12, R4"),
            ("d", "HFMA2.MMA R6, -RZ, RZ, 0, 0"),
            ("d", "QGMMA.64x64x32.F32.E4M3.E4M3 R24, gdesc[UR4], R24"),
        ];
        let findings = Scan::sass(code).findings();
        let counts: Vec<(&str, u64)> = findings
            .iter()
            .map(|finding| {
                let Evidence::Instruction { count, .. } = &finding.evidence[0] else {
                    panic!("{finding:?}");
                };
                (finding.effect.id(), *count)
            })
            .collect();
        assert_eq!(
            counts,
            [
                ("float-atomics", 1),
                ("tf32", 1),
                ("half-accumulation", 1),
                ("narrow-products", 1)
            ]
        );
        let text = "\
.visible .func (.param .b32 r) helper(
)
{
\tatom.global.add.f32 %f2, [%rd4], %f1;
\tatom.global.add.u32 %r2, [%rd4], %r1;
\twmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 {%r1}, {%r2};
\twmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%r1}, {%r2};
\twmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%rd1], {%r1};
\twmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 {%r1};
}";
        let scan = scan_ptx(text);
        assert_eq!(scan.functions().collect::<Vec<_>>(), ["helper"]);
        let found = of_ptx(text);
        assert_eq!(
            found,
            [
                ("float-atomics", Certain),
                ("tf32", Certain),
                ("half-accumulation", Certain)
            ]
        );
    }

    #[test]
    fn names_may_say_that_sums_are_split() {
        let code = [("cutlass_gemm_splitK_parallel", "FADD R1, R2, R3")];
        assert_eq!(of_sass(&code), [("split-k", Possible)]);
    }

    #[test]
    fn what_is_no_code_has_no_findings() {
        for text in [
            "",
            "{{{;;;",
            ".entry",
            "\u{0}\u{ffff}",
            ".func (",
            "@ ; @%p",
        ] {
            assert!(scan_ptx(text).findings().is_empty(), "{text}");
        }
        assert!(of_sass(&[("", ""), ("f", "@P0")]).is_empty());
    }
}
