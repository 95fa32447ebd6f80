//! Reads and writes of memory through subscripts and pointers.

use crate::model::{Memory, Model, Space, Value};
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
            Kind::Update => return true,
            _ => return false,
        }
    }
    false
}
