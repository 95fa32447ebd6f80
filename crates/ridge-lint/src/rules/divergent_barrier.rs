//! A barrier stands under a condition that differs between the threads of a block.
//!
//! # What it says
//! `__syncthreads()`, or `sync()` of a block or grid of cooperative groups, is inside an `if`, a `switch` or a loop whose condition depends on the thread.
//!
//! # How it is seen
//! The condition is made of `threadIdx`, or of data that each thread reads for itself. Conditions of `blockIdx`, of parameters and
//! of constants are the same for all threads and are fine.
//!
//! # Why it matters
//! All threads of a block have to reach the same barrier. Where some do not, the program hangs or goes on with data that is not
//! there yet, depending on the device and the compiler.
//!
//! # What to do
//! Move the barrier out of the condition, and leave only the work inside. For a part of a warp, `__syncwarp(mask)` is enough.
//!
//! # When it is wrong
//! The condition may hold for all threads for reasons that the source does not show, such as data that is the same everywhere.
//! `if (i >= n) return;` before a barrier is not reported: threads that have ended are not waited for. compute-sanitizer's synccheck
//! tells what happens in a run (`ridge sanitize`).

use super::found;
use crate::finding::{Found, Severity};
use crate::model::function::Definition;
use crate::model::{Factor, Model, Spread, Value};
use crate::syntax::{Id, Kind, Role};

pub(super) const ID: &str = "divergent-barrier";

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    let tree = &model.tree;
    for (which, function) in model.functions.iter().enumerate() {
        if !function.is_device() {
            continue;
        }
        for call in tree.below(function.body).filter(|id| tree.is(*id, Kind::Call)) {
            if !is_barrier(model, which, call) {
                continue;
            }
            let Some(condition) = cause(model, which, call) else { continue };
            let line = tree.text(condition).lines().next().unwrap_or_default();
            let shown: String = line.chars().take(60).collect();
            out.push(found(
                model,
                (ID, Severity::Error),
                call,
                format!("not every thread of a block reaches this barrier: `{shown}` differs between threads"),
                "move the barrier out of the condition, so that all threads of the block reach it",
            ));
        }
    }
}

/// Whether a call waits for all threads of a block or of a grid.
fn is_barrier(model: &Model<'_>, which: usize, call: Id) -> bool {
    let tree = &model.tree;
    let name = model.callee(call);
    if name.starts_with("__syncthreads") {
        return true;
    }
    // `block.sync()` and `cg::sync(block)` of cooperative groups.
    let Some(function) = tree.part(call, Role::Function).filter(|_| name == "sync") else { return false };
    let group = if tree.is(function, Kind::Field) {
        tree.part(function, Role::Argument)
    } else {
        model.arguments(call).next()
    };
    group.is_some_and(|group| is_whole_group(model, which, tree.bare(group)))
}

/// Whether an expression is the group of a whole block or grid.
fn is_whole_group(model: &Model<'_>, which: usize, group: Id) -> bool {
    let tree = &model.tree;
    let is_made = |id: Id| tree.is(id, Kind::Call) && matches!(model.callee(id), "this_thread_block" | "this_grid");
    let function = &model.functions[which];
    let Some(variable) = function.variable(tree, group).map(|which| &function.variables[which]) else {
        return is_made(group);
    };
    let written = tree
        .above(variable.node)
        .take(4)
        .find(|above| matches!(tree.kind(*above), Kind::Declaration | Kind::Parameter))
        .and_then(|above| tree.part(above, Role::Type))
        .map_or("", |ty| tree.text(ty));
    matches!(written.rsplit("::").next(), Some("thread_block" | "grid_group"))
        || matches!(variable.definitions.as_slice(), [Definition::Value { value, .. }] if is_made(*value))
}

/// The nearest condition around a barrier that differs between threads.
fn cause(model: &Model<'_>, which: usize, call: Id) -> Option<Id> {
    let tree = &model.tree;
    let body = model.functions[which].body;
    let width = model.block_width(&model.functions[which]);
    for (above, below) in tree.path_up(call).take_while(|(above, _)| *above >= body) {
        if tree.is(above, Kind::Lambda) {
            return None;
        }
        let is_governed = match tree.kind(above) {
            Kind::If => matches!(tree.role(below), Role::Consequence | Role::Alternative),
            Kind::While | Kind::DoStatement | Kind::For | Kind::Switch => tree.role(below) == Role::Body,
            _ => false,
        };
        if !is_governed {
            continue;
        }
        let Some(condition) = tree.part(above, Role::Condition) else { continue };
        if differs(model, which, condition, width) {
            return Some(tree.bare(condition));
        }
    }
    None
}

fn differs(model: &Model<'_>, which: usize, condition: Id, width: Option<i64>) -> bool {
    let tree = &model.tree;
    let mut open = vec![condition];
    let mut looked_at = 0;
    while let Some(id) = open.pop() {
        let id = tree.bare(id);
        looked_at += 1;
        if looked_at > 64 {
            return false;
        }
        let sides = tree.part(id, Role::Left).zip(tree.part(id, Role::Right));
        match (tree.kind(id), sides) {
            (Kind::Binary, Some((left, right))) if matches!(tree.operator(id), "&&" | "||") => open.extend([left, right]),
            (Kind::Binary, Some((left, right))) => {
                let (left, right) = (model.value(which, left), model.value(which, right));
                if is_told_apart(left, right, width) || is_told_apart(right, left, width) {
                    return true;
                }
            }
            _ => {
                if model.value(which, id).spread.differs_in_block() {
                    return true;
                }
            }
        }
    }
    false
}

/// Whether a comparison of a value that differs with another one comes out differently.
fn is_told_apart(value: Value, other: Value, width: Option<i64>) -> bool {
    if other.spread == Spread::Unknown || !value.spread.differs_in_block() {
        return false;
    }
    if let Spread::Lane(Factor::Number(1)) = value.spread {
        // A round number of threads, defined here or elsewhere, is often the size of the block.
        if value.moves && other.is_constant {
            return false;
        }
        return match (other.number, width) {
            (Some(number), Some(width)) => number < width,
            (Some(_), None) => true,
            (None, _) => !other.is_constant,
        };
    }
    value.spread != Spread::Lane(Factor::Number(0))
}
