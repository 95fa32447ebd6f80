//! Every thread does an atomic operation on the same few addresses.
//!
//! # What it says
//! An `atomicAdd` or its like has an address that is the same for all threads, or one of few.
//!
//! # How it is seen
//! The address does not depend on the thread, or it is an element of a shared array of up to 32 elements, or its index is masked to up to
//! 1024 values in global memory. Atomics that one lane of a warp does, as behind `if (lane == 0)`, are fine.
//!
//! # Why it matters
//! Atomic operations on one address are done one after the other, by the whole device for global memory and by the block for shared memory.
//!
//! # What to do
//! Add up within the thread, then within the warp (`__shfl_down_sync`, `__reduce_add_sync`), then within the block in shared memory, and do
//! one atomic for a block. For histograms keep counters for each block, warp or thread.
//!
//! # When it is wrong
//! When few threads get to it, as in the count of a rare event. The compiler adds up within a warp by itself where all lanes add to one
//! address without use of the result, which leaves one operation for each warp. `ridge why` measures it: finding `atomic-contention`.

use super::found;
use super::guard::{Lanes, lanes};
use crate::finding::{Found, Severity};
use crate::model::{Function, Model, Space, Spread, Value};
use crate::syntax::{Id, Kind, Role};

pub(super) const ID: &str = "atomic-same-address";

const FEW_SHARED: i64 = 32;
const FEW_GLOBAL: u64 = 1024;

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    let tree = &model.tree;
    for (which, function) in model.functions.iter().enumerate() {
        if !function.is_device() {
            continue;
        }
        for call in tree.below(function.body).filter(|id| tree.is(*id, Kind::Call)) {
            let is_sum = matches!(
                model.callee(call),
                "atomicAdd" | "atomicSub" | "atomicInc" | "atomicDec" | "atomicMax" | "atomicMin"
            );
            if !is_sum {
                continue;
            }
            let Some(pointer) = model.arguments(call).next() else { continue };
            let address = model.value(which, pointer);
            let Some(what) = contended(model, which, pointer, address) else { continue };
            if lanes(model, which, call) != Lanes::Many {
                continue;
            }
            let severity = if is_conditional(model, function, call) { Severity::Note } else { Severity::Warning };
            out.push(found(
                model,
                (ID, severity),
                call,
                what,
                "add up within the thread, the warp and the block first, and do one atomic for a block",
            ));
        }
    }
}

fn contended(model: &Model<'_>, which: usize, pointer: Id, address: Value) -> Option<String> {
    let function = &model.functions[which];
    let memory = address.memory;
    if address.spread == Spread::Uniform && address.ty.is_pointer() && memory.is_none_or(|memory| memory.space != Space::Local) {
        return Some("every thread does this atomic on the same address".to_owned());
    }
    if !matches!(address.spread, Spread::Data | Spread::Unknown) {
        return None;
    }
    let memory = memory?;
    match memory.space {
        Space::Shared => {
            let variable = &function.variables[memory.variable];
            let mut elements = 1_i64;
            for size in &variable.sizes {
                elements = elements.checked_mul(model.value(which, (*size)?).number?)?;
            }
            (elements <= FEW_SHARED && variable.is_array())
                .then(|| format!("all threads of a block do this atomic on the {elements} elements of `{}`", variable.name))
        }
        Space::Global => {
            let tree = &model.tree;
            let access = tree.bare(tree.part(pointer, Role::Argument)?);
            let index = tree.parts(tree.part(access, Role::Indices)?).next()?;
            let below = model.value(which, index).below.filter(|below| *below <= FEW_GLOBAL)?;
            Some(format!(
                "all threads do this atomic on at most {below} addresses of `{}` in global memory",
                function.variables[memory.variable].name
            ))
        }
        _ => None,
    }
}

/// Whether a condition on data stands around it.
fn is_conditional(model: &Model<'_>, function: &Function<'_>, call: Id) -> bool {
    let tree = &model.tree;
    tree.path_up(call)
        .take_while(|(above, _)| *above > function.body)
        .any(|(above, below)| {
            matches!(tree.kind(above), Kind::If | Kind::Switch) && tree.role(below) != Role::Condition
        })
}
