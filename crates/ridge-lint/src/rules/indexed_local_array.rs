//! An array of the thread's own is indexed by a value that is known only when the program runs.
//!
//! # What it says
//! A local array in device code has an index that unrolling does not turn into a constant.
//!
//! # How it is seen
//! The index contains something read from memory, a thread index, or a variable that changes in a loop whose bounds are not constant or
//! that is no plain counter. Counters of loops with constant bounds are fine: the compiler unrolls them.
//!
//! # Why it matters
//! Registers cannot be indexed. The whole array goes to local memory, which is memory of the device behind the L1 cache, and each
//! access is a load or a store.
//!
//! # What to do
//! Unroll the loop with constant bounds, choose with `?:` or a `switch`, or keep the array in a column of shared memory, one bank a
//! thread.
//!
//! # When it is wrong
//! The compiler may unroll more than the source shows, and turn accesses to very short arrays into selections. `ptxas -v` tells the bytes
//! of the stack frame, and `ridge why` measures it: finding `local-memory`.

use std::collections::HashMap;

use super::access::accesses;
use super::{found, more};
use crate::finding::{Found, Severity};
use crate::model::function::Definition;
use crate::model::{Function, Model, Space, is_loop};
use crate::syntax::{Id, Kind, Role};

pub(super) const ID: &str = "indexed-local-array";

/// Arrays of this length and less become selections.
const SHORTEST: i64 = 2;
/// Variables are followed this far.
const MOST_DEPTH: usize = 8;

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    let tree = &model.tree;
    for (which, function) in model.functions.iter().enumerate() {
        if !function.is_device() {
            continue;
        }
        let mut told: Vec<(usize, Id, usize)> = Vec::new();
        let mut known = Known::new();
        for access in accesses(model, which, Space::Local) {
            let variable = &function.variables[access.memory.variable];
            let is_short = matches!(variable.sizes.as_slice(), [Some(size)]
                if model.value(which, *size).number.is_some_and(|number| number <= SHORTEST));
            if variable.is_static || variable.is_constant || is_short || !is_direct(model, function, access.node, access.memory.variable) {
                continue;
            }
            // What stands behind goes through a pointer that the array holds.
            let depth = subscripts(model, access.node).saturating_sub(variable.sizes.len());
            if !indices(model, access.node).skip(depth).any(|index| is_dynamic(model, &mut known, which, index, 0) == Some(true)) {
                continue;
            }
            match told.iter_mut().find(|(known, ..)| *known == access.memory.variable) {
                Some((.., count)) => *count += 1,
                None => told.push((access.memory.variable, access.node, 0)),
            }
        }
        for (variable, node, count) in told {
            let name = function.variables[variable].name;
            let text: String = tree.text(node).chars().take(40).collect();
            out.push(found(
                model,
                (ID, Severity::Warning),
                node,
                format!(
                    "`{text}` has an index that is known only at run time, so that `{name}` lies in local memory{}",
                    more(count, "of it in this function")
                ),
                "unroll with constant bounds, or keep the array in shared memory",
            ));
        }
    }
}

/// Whether an access names the array itself and not a pointer into it.
fn is_direct(model: &Model<'_>, function: &Function<'_>, access: Id, variable: usize) -> bool {
    let tree = &model.tree;
    let mut id = access;
    while tree.is(id, Kind::Subscript) {
        match tree.part(id, Role::Argument) {
            Some(of) => id = tree.bare(of),
            None => return false,
        }
    }
    function.variable(tree, id) == Some(variable)
}

fn subscripts(model: &Model<'_>, access: Id) -> usize {
    indices(model, access).count()
}

fn indices<'m>(model: &'m Model<'_>, access: Id) -> impl Iterator<Item = Id> + 'm {
    let tree = &model.tree;
    std::iter::successors(Some(access), |id| {
        tree.part(*id, Role::Argument).filter(|of| tree.is(*of, Kind::Subscript))
    })
    .take(8)
    .filter_map(|id| tree.parts(tree.part(id, Role::Indices)?).next())
}

/// Whether an index is known only at run time; `None` where it cannot be told.
pub(super) fn is_dynamic(model: &Model<'_>, known: &mut Known, which: usize, index: Id, depth: usize) -> Option<bool> {
    let tree = &model.tree;
    let function = &model.functions[which];
    let mut is_told = true;
    for id in std::iter::once(index).chain(tree.below(index)) {
        match tree.kind(id) {
            Kind::Identifier => {
                let name = tree.text(id);
                if matches!(name, "threadIdx" | "blockIdx" | "blockDim" | "gridDim") {
                    return Some(true);
                }
                let Some(variable) = function.resolve(name, tree.start(id)) else { continue };
                match is_variable_dynamic(model, known, which, variable, depth) {
                    Some(true) => return Some(true),
                    Some(false) => {}
                    None => is_told = false,
                }
            }
            Kind::Call | Kind::Lambda => is_told = false,
            _ => {}
        }
    }
    is_told.then_some(false)
}

/// What was found out about the variables of a function, and at which depth.
pub(super) type Known = HashMap<usize, (Option<bool>, usize)>;

fn is_variable_dynamic(model: &Model<'_>, known: &mut Known, which: usize, variable: usize, depth: usize) -> Option<bool> {
    if depth > MOST_DEPTH {
        return None;
    }
    // What could not be told far down may be told from here.
    if let Some((answer, at)) = known.get(&variable)
        && (answer.is_some() || *at <= depth)
    {
        return *answer;
    }
    // Those that depend on each other say nothing.
    known.insert(variable, (None, 0));
    let answer = find_out(model, known, which, variable, depth);
    known.insert(variable, (answer, depth));
    answer
}

fn find_out(model: &Model<'_>, known: &mut Known, which: usize, variable: usize, depth: usize) -> Option<bool> {
    let tree = &model.tree;
    let index = variable;
    let variable = &model.functions[which].variables[variable];
    if variable.is_array() || variable.ty.is_pointer() {
        return if variable.is_shared || variable.is_parameter || holds_data(model, known, which, index, depth) {
            Some(true)
        } else {
            // What is read with a constant index from an array of the thread's own may be a constant.
            None
        };
    }
    if variable.is_parameter {
        // Of a kernel they are values of the run; what a function gets may be a constant after it was inlined.
        return model.functions[which].is_kernel().then_some(true);
    }
    let steps = variable
        .definitions
        .iter()
        .filter(|definition| !matches!(definition, Definition::Value { at, .. } if tree.is(*at, Kind::InitDeclarator)));
    let mut counted_by = None;
    for step in steps {
        if matches!(step, Definition::Hidden { .. }) {
            return None;
        }
        let around = tree.above(step.at()).find(|above| is_loop(tree, *above))?;
        let is_counter = tree
            .part(around, Role::Update)
            .is_some_and(|update| tree.is_within(step.at(), update))
            || tree
                .part(around, Role::Initializer)
                .is_some_and(|start| tree.is_within(step.at(), start));
        if !is_counter {
            // Changed in a loop that is unrolled it may still be a constant.
            return match bound(model, known, which, around) {
                Some(true) => None,
                _ => Some(true),
            };
        }
        counted_by = Some(around);
    }
    for definition in &variable.definitions {
        if let Definition::Value { value, .. } | Definition::Compound { value, .. } = *definition {
            match is_dynamic(model, known, which, value, depth + 1) {
                Some(false) => {}
                other => return other,
            }
        }
    }
    match counted_by {
        None => Some(false),
        Some(around) => bound(model, known, which, around).map(|is_constant| !is_constant),
    }
}

/// Whether an array of the thread's own starts with values that are known only at run time.
fn holds_data(model: &Model<'_>, known: &mut Known, which: usize, array: usize, depth: usize) -> bool {
    let tree = &model.tree;
    let variable = &model.functions[which].variables[array];
    let [Definition::Value { value, .. }] = variable.definitions.as_slice() else { return false };
    variable.is_array()
        && tree.is(*value, Kind::InitializerList)
        && tree.parts(*value).next().is_some()
        && tree
            .parts(*value)
            .take(64)
            .all(|part| is_dynamic(model, known, which, part, depth + 1) == Some(true))
}

/// Whether the bound of a counting loop is a constant; `None` where it cannot be told.
fn bound(model: &Model<'_>, known: &mut Known, which: usize, around: Id) -> Option<bool> {
    let tree = &model.tree;
    if !tree.is(around, Kind::For) {
        return Some(false);
    }
    let condition = tree.bare(tree.part(around, Role::Condition)?);
    // A loop that ends early can be unrolled up to the constant.
    if tree.is(condition, Kind::Binary) && tree.operator(condition) == "&&" {
        let sides = [Role::Left, Role::Right].map(|role| tree.part(condition, role));
        let mut answers = sides
            .into_iter()
            .flatten()
            .map(|side| tree.bare(side))
            .filter(|side| tree.is(*side, Kind::Binary) && matches!(tree.operator(*side), "<" | "<=" | ">" | ">=" | "!="))
            .filter_map(|side| tree.part(side, Role::Right))
            .map(|bound| is_dynamic(model, known, which, bound, MOST_DEPTH));
        return if answers.any(|answer| answer == Some(false)) { Some(true) } else { None };
    }
    let side = match tree.kind(condition) {
        Kind::Binary => tree.part(condition, Role::Right)?,
        // `for (int o = 16; o; o >>= 1)`
        _ => return Some(true),
    };
    match is_dynamic(model, known, which, side, MOST_DEPTH)? {
        false => Some(true),
        true => Some(false),
    }
}
