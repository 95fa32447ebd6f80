//! Reads and writes of memory through subscripts and pointers.

use std::collections::HashMap;

use crate::model::evaluate::is_pure;
use crate::model::{Factor, Memory, Model, Space, Spread, Value, is_loop};
use crate::syntax::{Id, Kind, Role};

/// A read or a write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) node: Id,
    pub(super) memory: Memory,
    /// The address: its spread counts elements, its type is a pointer to one.
    pub(super) address: Value,
    /// The size of an element.
    pub(super) bytes: Option<u64>,
}

/// The accesses of a function to a kind of memory.
pub(super) fn accesses(model: &Model<'_>, function: usize, space: Space) -> Vec<Access> {
    let tree = &model.tree;
    let body = model.functions[function].body;
    let mut list = Vec::new();
    for id in tree.below(body) {
        let is_access = match tree.kind(id) {
            // The inner subscripts of `a[i][j]` are no accesses of their own.
            Kind::Subscript => !is_taken_further(model, id),
            Kind::Pointer => tree.operator(id) == "*",
            _ => false,
        };
        if !is_access {
            continue;
        }
        let Some(address) = model.address(function, id) else {
            continue;
        };
        let Some(memory) = address.memory.filter(|memory| memory.space == space) else {
            continue;
        };
        if !address.ty.is_pointer() {
            continue;
        }
        list.push(Access {
            node: id,
            memory,
            bytes: model.types.bytes(address.ty.pointee()),
            address,
        });
    }
    list
}

/// A pointer that is handed to a function, which accesses what it points to in the same place for all threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handed<'s> {
    pub(super) access: Access,
    pub(super) callee: &'s str,
    /// Whether the function does it in a loop.
    pub(super) is_repeated: bool,
}

/// The parameters through which functions of the file access memory, each with whether they do it in a loop; none of functions that
/// may know which thread runs them.
pub(super) type Callees = HashMap<usize, HashMap<usize, bool>>;

/// Arguments of one call that are looked at.
const MOST_ARGUMENTS: usize = 32;

/// Pointers that differ from thread to thread and are handed to functions of the file. What such a function adds to them is the same
/// for all threads: it does not ask which thread it is, and all that it gets beside pointers is the same too.
pub(super) fn handed<'s>(
    model: &Model<'s>,
    callees: &mut Callees,
    function: usize,
    space: Space,
) -> Vec<Handed<'s>> {
    let tree = &model.tree;
    let body = model.functions[function].body;
    let mut list = Vec::new();
    for call in tree.below(body).filter(|id| tree.is(*id, Kind::Call)) {
        let Some([callee]) = model.by_name.get(model.callee(call)).map(Vec::as_slice) else {
            continue;
        };
        let owner = &model.functions[*callee];
        if *callee == function || !owner.is_device() || owner.is_kernel() {
            continue;
        }
        let arguments: Vec<(Id, Value)> = model
            .arguments(call)
            .take(MOST_ARGUMENTS)
            .map(|argument| (argument, model.value(function, argument)))
            .collect();
        let apart = |value: &Value| matches!(value.spread, Spread::Lane(factor) if factor != Factor::Number(0));
        let is_same = arguments
            .iter()
            .all(|(_, value)| value.ty.is_pointer() || value.spread == Spread::Uniform);
        if arguments.len() != owner.parameters
            || !is_same
            || !arguments.iter().any(|(_, value)| apart(value))
        {
            continue;
        }
        let inside = callees.entry(*callee).or_insert_with(|| {
            let mut walked: HashMap<usize, bool> = HashMap::new();
            if !asks_for_thread(model, *callee) {
                for access in accesses(model, *callee, Space::Unknown) {
                    let is_repeated = tree
                        .above(access.node)
                        .take_while(|above| *above > owner.body)
                        .any(|above| is_loop(tree, above));
                    *walked.entry(access.memory.variable).or_default() |= is_repeated;
                }
            }
            walked
        });
        for (parameter, (argument, value)) in arguments.into_iter().enumerate() {
            let Some(memory) = value
                .memory
                .filter(|memory| memory.space == space && apart(&value))
            else {
                continue;
            };
            let Some(is_repeated) = inside.get(&parameter).copied() else {
                continue;
            };
            list.push(Handed {
                access: Access {
                    node: argument,
                    memory,
                    address: value,
                    bytes: model.types.bytes(value.ty.pointee()),
                },
                callee: owner.name,
                is_repeated,
            });
        }
    }
    list
}

/// Whether a function may know which thread runs it.
fn asks_for_thread(model: &Model<'_>, function: usize) -> bool {
    let tree = &model.tree;
    tree.below(model.functions[function].body)
        .any(|id| match tree.kind(id) {
            Kind::Identifier => tree.text(id) == "threadIdx",
            // Whoever is called may ask.
            Kind::Call => !is_pure(model.callee(id)),
            _ => false,
        })
}

/// Whether a subscript only leads to another one, or its address is taken.
fn is_taken_further(model: &Model<'_>, id: Id) -> bool {
    let tree = &model.tree;
    let mut below = id;
    for above in tree.above(id) {
        match tree.kind(above) {
            Kind::Parenthesized => below = above,
            Kind::Subscript => return tree.role(below) == Role::Argument,
            Kind::Pointer => return tree.operator(above) == "&",
            _ => return false,
        }
    }
    false
}

/// Whether an access writes.
pub(super) fn is_written(model: &Model<'_>, id: Id) -> bool {
    let tree = &model.tree;
    let mut below = id;
    for above in tree.above(id) {
        match tree.kind(above) {
            Kind::Parenthesized | Kind::Field => below = above,
            Kind::Assignment => return tree.role(below) == Role::Left,
            Kind::Update | Kind::AsmOutput => return true,
            _ => return false,
        }
    }
    false
}
