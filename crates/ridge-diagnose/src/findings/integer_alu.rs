//! Integer work takes the time: addresses, divisions, remainders.
//!
//! # What it says
//! Most instructions compute indices. Divisions and remainders by values that are known only at run time, and 64-bit
//! index arithmetic, are the usual reason.
//!
//! # Evidence
//! Integer opcodes against floating-point ones, the ALU or FMA pipe or the issue slots busy, the opcodes of integer
//! division (I2F, F2I with MUFU.RCP).
//!
//! # Why it costs time
//! An integer division is about twenty instructions, of 64 bits about seventy; each index in 64 bits doubles its
//! arithmetic.
//!
//! # What to do
//! Use 32-bit unsigned indices where they suffice, shifts and masks for powers of two, a precomputed multiplier for a
//! divisor that does not change, loop counters instead of divisions, and hoist what does not depend on the loop.
//!
//! # When it is wrong
//! Hashing, sorting and bit work are integer by nature.
//!
//! # References
//! T. Granlund and P. Montgomery, "Division by Invariant Integers using Multiplication"; CUDA C++ Best Practices Guide,
//! "Division Modulo Operations".

use super::draft::Draft;
use super::saving::Remedy;
use super::{Case, Outcome};
use crate::document::Confidence;
use crate::ledger::{Relief, Stage};
use crate::limiter::{BUSY, CLEARLY_MORE};
use crate::mix::{FP16, FP32, FP64, INTEGER, TENSOR};

pub(super) const ID: &str = "integer-alu";

const NEEDS: &[&str] = &["InstructionStats", "WorkloadDistribution", "SpeedOfLight"];

/// About half of the instructions: loads, branches and stores are a part of every loop, so that integer work is then
/// the largest group. A convention: 30 and 60 % separate the labelled pairs alike.
const MOSTLY: f64 = 0.45;
/// A 32-bit division by a value that is known only at run time compiles to up to 20 instructions (CUDA C++ Programming
/// Guide, "Arithmetic Instructions"). A multiplication and a shift remain.
const DIVISION: f64 = 18.0;
/// Divisions by one value share its reciprocal. Each that follows takes the high half of a product, the remainder by a
/// multiplication and an addition, and corrects both twice: with a comparison and an addition each time. A
/// multiplication and a shift would remain.
const NEXT_DIVISION: f64 = 6.0;
/// Comparisons of each division, with and without a reciprocal of its own.
const COMPARISONS: f64 = 2.0;
/// Of 64 bits: a function of about 70 (66 in the code that NVCC 13.0 links for 9.0), of which as many remain.
const LONG_DIVISION: f64 = 64.0;
/// For the bound. Where a dividend of 64 bits happens to fit 32, the short sequence runs behind a test, among moves
/// and corrections of register pairs that are not counted: no more than the long function has. A convention.
const DIVISION_AT_MOST: f64 = 70.0;
/// The long function with its call, its arguments and the remainder after it: a quarter more. A convention.
const LONG_DIVISION_AT_MOST: f64 = 80.0;
/// An index is a sum of about three terms (plane, row, column), of which one changes in the inner loop. A compiler has
/// hoisted some of the rest: one of three is expected to go, two at most. A convention on that picture.
const HOISTED: f64 = 0.33;
const HOISTED_AT_MOST: f64 = 0.67;
/// Divisions are the matter from a fifth of the instructions on. Fewer are part of the index arithmetic around them. A
/// convention: 10 and 40 % separate the labelled pairs alike.
const MANY_DIVISIONS: f64 = 0.2;
/// Index arithmetic serves the data: a multiply-add for each operand is one integer instruction for each arithmetic one.
/// More than twice as many have another origin.
const FOR_EACH_FLOAT: f64 = 2.0;
/// Loads, stores and the loop stay: a tenth of the instructions at least. A convention.
const LEAST_LEFT: f64 = 0.1;

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let Some(mix) = case.mix else {
        return Outcome::NotChecked(NEEDS);
    };
    let total = mix.total().max(1.0);
    // Moves of constants are written as multiply-adds and are no arithmetic.
    let moves = mix.sum(|opcode, modifiers| opcode == "IMAD" && modifiers.starts_with("MOV"));
    let integer = mix.of_opcodes(INTEGER) - moves;
    let float: f64 = [FP32, FP64, FP16, TENSOR]
        .iter()
        .map(|list| mix.of_opcodes(list))
        .sum();
    let work = [
        Stage::Issue,
        Stage::Alu,
        Stage::Fma,
        Stage::FmaHeavy,
        Stage::Xu,
    ];
    let busy = work
        .iter()
        .map(|stage| case.busy(*stage))
        .fold(0.0, f64::max);
    // A division converts both ways and takes a reciprocal.
    let divisions = mix
        .of_opcodes(&["I2F"])
        .min(mix.of_opcodes(&["F2I"]))
        .min(mix.with_modifier(&["MUFU"], "RCP") + mix.with_modifier(&["MUFU"], "RCP64H"));
    let is_long = |modifiers: &str| {
        modifiers
            .split('.')
            .any(|modifier| matches!(modifier, "U64" | "S64"))
    };
    let long = mix
        .sum(|opcode, modifiers| opcode == "I2F" && is_long(modifiers))
        .min(divisions);
    // Making the reciprocal takes one such product as well.
    let corrected = mix
        .sum(|opcode, modifiers| opcode == "ISETP" && modifiers.starts_with("GE.U32"))
        / COMPARISONS;
    let next = (mix.with_modifier(&["IMAD"], "HI") - divisions).min(corrected) - (divisions - long);
    let next = if divisions > 0.0 { next.max(0.0) } else { 0.0 };
    let weighted = |short: f64, each_long: f64| {
        short * (divisions - long) + each_long * long + NEXT_DIVISION * next
    };
    let from_divisions = weighted(DIVISION, LONG_DIVISION);
    let is_division = from_divisions >= MANY_DIVISIONS * total;
    if !is_division && (integer < MOSTLY * total || integer <= FOR_EACH_FLOAT * float) {
        return Outcome::Clear;
    }
    if case.ledger.row(Stage::Issue).is_none() {
        return Outcome::NotChecked(NEEDS);
    }
    if busy < BUSY || busy < case.busiest() - CLEARLY_MORE {
        return Outcome::Clear;
    }
    let (saved, at_most) = if is_division {
        (
            from_divisions,
            weighted(DIVISION_AT_MOST, LONG_DIVISION_AT_MOST),
        )
    } else {
        (HOISTED * integer, HOISTED_AT_MOST * integer)
    };
    let relieve = |saved: f64| {
        let kept = (1.0 - saved / total).clamp(LEAST_LEFT, 1.0);
        [Stage::Issue, Stage::Alu, Stage::Fma, Stage::FmaHeavy]
            .iter()
            .fold(Relief::none(), |relief, stage| relief.leave(*stage, kept))
            .leave(Stage::Xu, if is_division { LEAST_LEFT } else { 1.0 })
    };
    let title = if is_division {
        format!(
            "integer divisions are about {:.0} % of the instructions",
            (100.0 * from_divisions / total).min(99.0)
        )
    } else {
        format!(
            "{:.0} % of the instructions are integer arithmetic",
            100.0 * integer / total
        )
    };
    let left = (total - saved).max(float).max(1.0);
    Draft::new(ID, title)
        .confidence(Confidence::Medium)
        .seen_against(
            "integer instructions, share of all",
            integer / total,
            "fraction",
            (integer - saved).max(0.0) / left,
        )
        .seen_against(
            "floating-point and matrix instructions, share of all",
            float / total,
            "fraction",
            float / left,
        )
        .seen_against("divisions (I2F, F2I and MUFU.RCP together)", divisions, "inst", 0.0)
        .act(&[
            "replace division and remainder: shifts and masks for powers of two, a precomputed multiplier, counters",
            "use 32-bit unsigned indices; compute what does not change outside the loop",
            "let blockIdx and threadIdx carry the dimensions instead of dividing a flat index",
        ])
        .falls("smsp__inst_executed.sum")
        .at(case.sampled_places())
        .weigh(case, &Remedy::new(relieve(at_most)).likely(relieve(saved)), NEEDS)
}
