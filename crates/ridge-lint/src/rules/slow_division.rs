//! Integers are divided by a value that is known only when the program runs.
//!
//! # What it says
//! A `/` or `%` of integers has a divisor that is no constant, and stands in a loop, or there are several in a row, or it is a division
//! of 64-bit integers.
//!
//! # How it is seen
//! By the types of both sides. In a loop, one side has to change from round to round; what stays the same is computed once. Outside
//! loops, what is divided has to differ between threads, three times and more for 32-bit integers.
//!
//! # Why it matters
//! GPUs have no instruction for division: 32-bit integers take about twenty instructions, 64-bit integers about a hundred.
//!
//! # What to do
//! Take coordinates from a grid of the right shape instead of from a flat index; replace a wrap-around by a comparison; use a constant, a
//! template parameter or a power of two; use 32-bit integers where they suffice; multiply by a precomputed inverse.
//!
//! # When it is wrong
//! In loops of few rounds, and in kernels that wait for memory anyway. `ridge why` measures it: finding `integer-alu`.

use super::indexed_local_array::{Known, is_dynamic};
use super::{found, more};
use crate::finding::{Found, Severity};
use crate::model::function::Definition;
use crate::model::{Factor, Model, Spread, is_loop};
use crate::syntax::{Id, Kind, Role};

pub(super) const ID: &str = "slow-division";

/// So many 32-bit divisions for each thread are worth a word outside loops.
const MANY: usize = 3;

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    let tree = &model.tree;
    for (which, function) in model.functions.iter().enumerate() {
        if !function.is_device() {
            continue;
        }
        let mut known = Known::new();
        let (mut repeated, mut wide, mut single) = (Vec::new(), Vec::new(), Vec::new());
        for id in tree.below(function.body) {
            let Some(bytes) = divided(model, which, id) else { continue };
            if is_unrolled(model, &mut known, which, id) {
                continue;
            }
            match surrounding(model, which, id, bytes) {
                Where::Loop => repeated.push(id),
                Where::Outside if bytes == 8 => wide.push(id),
                Where::Outside => single.push(id),
                Where::Invariant => {}
            }
        }
        let (list, severity, what) = if !repeated.is_empty() {
            (repeated, Severity::Warning, "in a loop")
        } else if wide.len() + single.len() >= MANY {
            wide.extend(single);
            wide.sort_unstable();
            (wide, Severity::Warning, "for each thread")
        } else {
            (wide, Severity::Note, "of 64-bit integers")
        };
        let Some(first) = list.first() else { continue };
        let text: String = tree.text(*first).chars().take(40).collect();
        out.push(found(
            model,
            (ID, severity),
            *first,
            format!(
                "`{text}` divides by a value that is known only at run time, {what}{}",
                more(list.len() - 1, "in this function")
            ),
            "use a constant divisor, a comparison, or coordinates of the grid",
        ));
    }
}

enum Where {
    Loop,
    /// In a loop, but computed once before it.
    Invariant,
    Outside,
}

/// The size of the integers, if a node divides them by what is no constant.
fn divided(model: &Model<'_>, which: usize, id: Id) -> Option<u8> {
    let tree = &model.tree;
    let is_division = match tree.kind(id) {
        Kind::Binary => matches!(tree.operator(id), "/" | "%"),
        Kind::Assignment => matches!(tree.operator(id), "/=" | "%="),
        _ => false,
    };
    if !is_division {
        return None;
    }
    let left = model.value(which, tree.part(id, Role::Left)?);
    let right = model.value(which, tree.part(id, Role::Right)?);
    if right.is_constant || right.number.is_some() {
        return None;
    }
    Some(left.ty.integer_bytes()?.max(right.ty.integer_bytes()?))
}

/// Whether a divisor is doubled or halved in a loop between constants: such loops have few rounds, and each gets its own constant.
fn is_unrolled(model: &Model<'_>, known: &mut Known, which: usize, id: Id) -> bool {
    let tree = &model.tree;
    let function = &model.functions[which];
    let Some(divisor) = tree.part(id, Role::Right) else { return false };
    let is_geometric = |variable: usize| {
        function.variables[variable].definitions.iter().take(8).all(|definition| match *definition {
            Definition::Value { .. } => true,
            Definition::Compound { operator, .. } => matches!(tree.text(operator), "*=" | "/=" | "<<=" | ">>="),
            Definition::Step { .. } | Definition::Hidden { .. } => false,
        })
    };
    std::iter::once(divisor)
        .chain(tree.below(divisor))
        .filter_map(|id| function.variable(tree, id))
        .all(is_geometric)
        && is_dynamic(model, known, which, divisor, 0) == Some(false)
}

fn surrounding(model: &Model<'_>, which: usize, id: Id, bytes: u8) -> Where {
    let tree = &model.tree;
    let function = &model.functions[which];
    let innermost = tree
        .path_up(id)
        .take_while(|(above, _)| *above > function.body)
        .find(|(above, below)| is_loop(tree, *above) && tree.role(*below) != Role::Initializer)
        .map(|(above, _)| above);
    let left = tree.part(id, Role::Left);
    let Some(around) = innermost else {
        let spread = left.map_or(Spread::Unknown, |left| model.value(which, left).spread);
        return match spread {
            Spread::Uniform | Spread::Warp | Spread::Lane(Factor::Number(0)) => Where::Invariant,
            // Whether a function is called with what differs cannot be told; divisions of 64 bits are worth a note anyway.
            Spread::Unknown if function.is_kernel() || bytes < 8 => Where::Invariant,
            _ => Where::Outside,
        };
    };
    let changes = std::iter::once(id)
        .chain(tree.below(id))
        .filter_map(|id| function.variable(tree, id))
        .any(|variable| {
            let variable = &function.variables[variable];
            tree.is_within(variable.node, around)
                || variable
                    .definitions
                    .iter()
                    .take(64)
                    .any(|definition| tree.is_within(definition.at(), around))
        });
    if changes { Where::Loop } else { Where::Invariant }
}
