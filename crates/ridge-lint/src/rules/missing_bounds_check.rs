//! A grid is rounded up, and the kernel does not check its index.
//!
//! # What it says
//! A launch has as many blocks as cover all elements, rounded up, and the kernel accesses memory with its index without comparing it with
//! anything.
//!
//! # How it is seen
//! The grid is `(n + block - 1) / block`, `n / block + 1`, `ceil(n / 256.0)`, or what a function or macro of the file makes of it. The kernel computes an index from `blockIdx` and `threadIdx`, uses it for an access to global
//! memory, and compares nothing that depends on the thread.
//!
//! # Why it matters
//! Unless the number of elements is a multiple of the block, threads of the last block access memory behind the array.
//!
//! # What to do
//! Hand over the number of elements, and start the kernel with `if (i >= n) return;`.
//!
//! # When it is wrong
//! When the arrays are padded to whole blocks. compute-sanitizer's memcheck tells what happens in a run (`ridge sanitize`).

use super::access::accesses;
use super::found;
use crate::finding::{Found, Severity};
use crate::model::evaluate::{is_pure, literal};
use crate::model::function::Definition;
use crate::model::{Factor, Model, Space, Spread, returned};
use crate::syntax::{Id, Kind, Role};

pub(super) const ID: &str = "missing-bounds-check";

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    let tree = &model.tree;
    for launch in &model.launches {
        if !is_rounded_up(model, launch.function, launch.grid, 0) {
            continue;
        }
        let Some([which]) = model.by_name.get(launch.kernel).map(Vec::as_slice) else { continue };
        let kernel = &model.functions[*which];
        if !kernel.is_kernel() || compares(model, *which) {
            continue;
        }
        let access = accesses(model, *which, Space::Global)
            .into_iter()
            .find(|access| {
                access.address.spread == Spread::Lane(Factor::Number(1)) && is_of_grid(model, *which, access.node)
            });
        let Some(access) = access else { continue };
        let text: String = tree.text(access.node).chars().take(40).collect();
        out.push(found(
            model,
            (ID, Severity::Error),
            access.node,
            format!("`{text}` is not checked, and a launch of `{}` in this file rounds its grid up", kernel.name),
            "hand over the number of elements and leave the kernel where the index is not below it",
        ));
    }
}

/// Definitions and calls are followed this far.
const MOST_DEPTH: usize = 8;

/// Whether an expression divides and rounds up: `(n + b - 1) / b`, `n / b + 1`, `ceil(n / 256.0)`, or a function or macro that does.
fn is_rounded_up(model: &Model<'_>, function: Option<usize>, expression: Id, depth: usize) -> bool {
    let tree = &model.tree;
    if depth > MOST_DEPTH {
        return false;
    }
    let at = tree.bare(expression);
    let further = |next: Option<Id>| next.is_some_and(|next| is_rounded_up(model, function, next, depth + 1));
    match tree.kind(at) {
        Kind::Arguments | Kind::InitializerList => further(tree.parts(at).next()),
        Kind::Cast => further(tree.part(at, Role::Value)),
        Kind::Identifier => {
            let Some(owner) = function.map(|which| &model.functions[which]) else { return false };
            match owner.variable(tree, at).map(|variable| owner.variables[variable].definitions.as_slice()) {
                Some([Definition::Value { value, .. }]) => further(Some(*value)),
                _ => false,
            }
        }
        Kind::Call => is_rounding_call(model, at, further, depth),
        Kind::Binary => {
            let (Some(left), Some(right)) = (tree.part(at, Role::Left), tree.part(at, Role::Right)) else { return false };
            match tree.operator(at) {
                "/" => adds_and_takes_one(model, left),
                "+" => is_more(model, left, right) || is_more(model, right, left),
                _ => false,
            }
        }
        _ => false,
    }
}

fn is_rounding_call(model: &Model<'_>, call: Id, further: impl Fn(Option<Id>) -> bool, depth: usize) -> bool {
    let tree = &model.tree;
    let name = model.callee(call);
    let first = model.arguments(call).next();
    if let Some(known) = model.macros.get(name) {
        let text: String = known.text.chars().take(256).filter(|c| !c.is_whitespace() && !matches!(c, '(' | ')')).collect();
        return text.contains("-1/") && text.contains('+');
    }
    if let Some((which, value)) = returned(model, name) {
        return is_rounded_up(model, Some(which), value, depth + 1);
    }
    match name {
        "dim3" => further(first),
        "ceil" | "ceilf" => first.is_some_and(|first| {
            std::iter::once(first)
                .chain(tree.below(first))
                .any(|id| tree.is(id, Kind::Binary) && tree.operator(id) == "/")
        }),
        // `static_cast<int>(…)` and `int(…)`.
        _ if name.ends_with("_cast") => further(first),
        _ => tree.part(call, Role::Function).is_some_and(|of| tree.is(of, Kind::PrimitiveType)) && further(first),
    }
}

/// `n + b - 1`, in any order.
fn adds_and_takes_one(model: &Model<'_>, sum: Id) -> bool {
    let tree = &model.tree;
    let sum = tree.bare(sum);
    let (mut adds, mut takes_one) = (false, false);
    for id in std::iter::once(sum).chain(tree.below(sum)).filter(|id| tree.is(*id, Kind::Binary)) {
        match tree.operator(id) {
            "+" => adds = true,
            "-" => takes_one |= tree.part(id, Role::Right).is_some_and(|right| is_one(model, right)),
            _ => {}
        }
    }
    adds && takes_one
}

/// `n / b`, and one more for what is left.
fn is_more(model: &Model<'_>, quotient: Id, more: Id) -> bool {
    let tree = &model.tree;
    let quotient = tree.bare(quotient);
    let is_quotient = tree.is(quotient, Kind::Binary) && tree.operator(quotient) == "/";
    let more = tree.bare(more);
    let asks_for_rest = || tree.below(more).any(|id| tree.is(id, Kind::Binary) && tree.operator(id) == "%");
    is_quotient && (is_one(model, more) || tree.kind(more) != Kind::Number && asks_for_rest())
}

fn is_one(model: &Model<'_>, id: Id) -> bool {
    let tree = &model.tree;
    let id = tree.bare(id);
    tree.is(id, Kind::Number) && literal(tree.text(id)) == Some(1)
}

/// Whether a kernel compares anything that depends on the thread, or asks a function that may.
fn compares(model: &Model<'_>, which: usize) -> bool {
    let tree = &model.tree;
    tree.below(model.functions[which].body).any(|id| match tree.kind(id) {
        Kind::Binary if matches!(tree.operator(id), "<" | ">" | "<=" | ">=" | "!=" | "==") => {
            [Role::Left, Role::Right]
                .into_iter()
                .filter_map(|role| tree.part(id, role))
                .any(|side| !matches!(model.value(which, side).spread, Spread::Uniform))
        }
        Kind::Binary => tree.operator(id) == "%",
        Kind::Call => !is_arithmetic(model, model.callee(id)),
        _ => false,
    })
}

/// Functions that bound nothing.
fn is_arithmetic(model: &Model<'_>, name: &str) -> bool {
    let is_elsewhere = !model.by_name.contains_key(name) && !model.macros.contains_key(name);
    is_elsewhere && is_pure(name) && !matches!(name, "min" | "max" | "fmin" | "fmax")
}

/// Whether an index contains `blockIdx`, directly or by a variable.
fn is_of_grid(model: &Model<'_>, which: usize, access: Id) -> bool {
    let tree = &model.tree;
    let function = &model.functions[which];
    let names = |id: Id| std::iter::once(id).chain(tree.below(id)).any(|id| tree.is(id, Kind::Identifier) && tree.text(id) == "blockIdx");
    let Some(index) = tree.part(access, Role::Indices) else { return false };
    names(index)
        || tree.below(index).filter_map(|id| function.variable(tree, id)).any(|variable| {
            function.variables[variable]
                .definitions
                .iter()
                .any(|definition| matches!(definition, Definition::Value { value, .. } if names(*value)))
        })
}
