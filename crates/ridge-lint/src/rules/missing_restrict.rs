//! A kernel reads through pointers that may overlap what it writes, as far as the compiler knows.
//!
//! # What it says
//! Pointers that a kernel only reads through are not `const … __restrict__`, and reads through them stand behind writes through another
//! pointer, in the text or in the next round of a loop.
//!
//! # How it is seen
//! By the parameters and by what the kernel does with them. Pointers that are handed on, or whose values are copied to other pointers,
//! are left out, and so are kernels that a launch in the file gives the same argument twice.
//!
//! # Why it matters
//! A read behind a write has to wait for it, if both may be the same place: the compiler cannot move reads up, keep what was read in
//! registers, or use the read-only path.
//!
//! # What to do
//! Write `const float* __restrict__ a` for what is only read, and `float* __restrict__ out` for what is written, if they never
//! overlap.
//!
//! # When it is wrong
//! When arrays do overlap, as with work in place: then `__restrict__` would be a mistake.

use std::collections::HashSet;

use super::access::{accesses, is_written};
use super::found;
use crate::finding::{Found, Severity};
use crate::model::{Function, Model, Space, is_loop};
use crate::syntax::{Id, Kind, Role};

pub(super) const ID: &str = "missing-restrict";

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    for (which, function) in model.functions.iter().enumerate() {
        if !function.is_kernel() {
            continue;
        }
        let accesses = accesses(model, which, Space::Global);
        let pointers: Vec<usize> = (0..function.parameters)
            .filter(|variable| function.variables[*variable].ty.pointers == 1)
            .collect();
        let mut written = Vec::new();
        let mut not_read_only = HashSet::new();
        for access in accesses.iter().filter(|access| is_written(model, access.node)) {
            written.push(access.node);
            not_read_only.insert(access.memory.variable);
        }
        if written.is_empty() || is_in_place(model, function) {
            continue;
        }
        not_read_only.extend(used_otherwise(model, function));
        let behind: HashSet<usize> = accesses
            .iter()
            .filter(|access| is_behind(model, access.node, &written))
            .map(|access| access.memory.variable)
            .collect();
        let read: Vec<usize> = pointers
            .into_iter()
            .filter(|variable| {
                let is_restrict = function.variables[*variable].ty.is_restrict;
                !is_restrict && !not_read_only.contains(variable) && behind.contains(variable)
            })
            .collect();
        let Some(first) = read.first() else { continue };
        let names: Vec<String> = read
            .iter()
            .map(|variable| format!("`{}`", function.variables[*variable].name))
            .collect();
        out.push(found(
            model,
            (ID, Severity::Note),
            function.variables[*first].node,
            format!(
                "`{}` only reads {}, which may overlap what it writes, as far as the compiler knows",
                function.name,
                names.join(", ")
            ),
            "declare what is only read as const … __restrict__, unless arrays overlap",
        ));
    }
}

/// Whether a read comes after a write, in the text or in the next round of a loop.
fn is_behind(model: &Model<'_>, read: Id, written: &[Id]) -> bool {
    let tree = &model.tree;
    let around = tree.above(read).find(|above| is_loop(tree, *above));
    let statement = |id: Id| tree.above(id).find(|above| tree.is(*above, Kind::ExpressionStatement));
    written.iter().take(256).any(|write| {
        let is_later = tree.end(*write) < tree.start(read) && statement(*write) != statement(read);
        is_later || around.is_some_and(|around| tree.is_within(*write, around))
    })
}

/// Whether a launch gives a kernel the same argument twice.
fn is_in_place(model: &Model<'_>, kernel: &Function<'_>) -> bool {
    let tree = &model.tree;
    model.launches_of(kernel.name).any(|launch| {
        launch.arguments.iter().enumerate().any(|(at, argument)| {
            kernel.variables.get(at).is_some_and(|parameter| parameter.is_parameter && parameter.ty.is_pointer())
                && launch.arguments[..at]
                    .iter()
                    .any(|earlier| tree.text(*earlier) == tree.text(*argument))
        })
    })
}

/// Parameters with a use that is no plain access.
fn used_otherwise(model: &Model<'_>, function: &Function<'_>) -> HashSet<usize> {
    let tree = &model.tree;
    tree.below(function.body)
        .filter(|id| tree.is(*id, Kind::Identifier) && !is_base_of_read(model, *id))
        .filter_map(|id| function.variable(tree, id))
        .filter(|variable| *variable < function.parameters)
        .collect()
}

fn is_base_of_read(model: &Model<'_>, id: Id) -> bool {
    let tree = &model.tree;
    let Some(above) = tree.parent(id) else { return false };
    if !tree.is(above, Kind::Subscript) || tree.role(id) != Role::Argument {
        return false;
    }
    let Some(further) = tree.parent(above) else { return true };
    match tree.kind(further) {
        Kind::Pointer | Kind::AsmOutput => false,
        Kind::Subscript => tree.role(above) != Role::Argument,
        _ => true,
    }
}
