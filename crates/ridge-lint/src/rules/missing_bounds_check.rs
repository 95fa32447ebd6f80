//! A grid is rounded up, and the kernel does not check its index.
//!
//! # What it says
//! A launch has as many blocks as cover all elements, rounded up, and the kernel accesses memory with its index without comparing it with
//! anything.
//!
//! # How it is seen
//! The grid is `(n + block - 1) / block`. The kernel computes an index from `blockIdx` and `threadIdx`, uses it for an access to global
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
use crate::model::function::Definition;
use crate::model::{Factor, Launch, Model, Space, Spread};
use crate::syntax::{Id, Kind, Role};

pub(super) const ID: &str = "missing-bounds-check";

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    let tree = &model.tree;
    for launch in &model.launches {
        if !is_rounded_up(model, launch) {
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

/// Whether the first extent of a grid is `(n + block - 1) / block`.
fn is_rounded_up(model: &Model<'_>, launch: &Launch<'_>) -> bool {
    let tree = &model.tree;
    let mut at = tree.bare(launch.grid);
    for _ in 0..4 {
        let next = match tree.kind(at) {
            Kind::Call if model.callee(at) == "dim3" => model.arguments(at).next(),
            Kind::Arguments | Kind::InitializerList => tree.parts(at).next(),
            Kind::Identifier => launch.function.and_then(|which| {
                let function = &model.functions[which];
                match function.variables[function.variable(tree, at)?].definitions.as_slice() {
                    [Definition::Value { value, .. }] => Some(*value),
                    _ => None,
                }
            }),
            _ => break,
        };
        match next {
            Some(next) => at = tree.bare(next),
            None => return false,
        }
    }
    if !tree.is(at, Kind::Binary) || tree.operator(at) != "/" {
        return false;
    }
    let Some(left) = tree.part(at, Role::Left).map(|left| tree.bare(left)) else { return false };
    // `n + block - 1`, in any order.
    let has = |operator: &str| {
        std::iter::once(left)
            .chain(tree.below(left))
            .any(|id| tree.is(id, Kind::Binary) && tree.operator(id) == operator)
    };
    let ends_with_one = tree.part(left, Role::Right).is_some_and(|right| tree.text(tree.bare(right)).trim_end_matches(')').ends_with('1'));
    tree.is(left, Kind::Binary) && has("+") && has("-") && ends_with_one
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
        Kind::Call => true,
        _ => false,
    })
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
