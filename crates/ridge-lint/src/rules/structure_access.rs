//! A few members of an array of structures are read, and the rest of each is moved for nothing.
//!
//! # What it says
//! Each thread accesses members of its own structure in global memory, and the kernel uses less than three quarters of the structure.
//!
//! # How it is seen
//! The index of an array of structures grows with `threadIdx.x`. The file defines the structure, it has 24 bytes and more, and the
//! sizes of the members that the kernel names through this pointer add up to less than three quarters of it. Copies of whole structures
//! are not reported.
//!
//! # Why it matters
//! Neighbouring lanes are a structure apart, so that each needs sectors of its own, of which only a part is used; the rest takes
//! bandwidth and room in the caches.
//!
//! # What to do
//! Keep an array for each member (structure of arrays), or at least split off the members that are used together.
//!
//! # When it is wrong
//! When other kernels need the whole structure at once, or the array is small. `ridge why` measures it: finding `uncoalesced-global`.

use super::access::accesses;
use super::found;
use super::guard::{Lanes, lanes};
use crate::finding::{Found, Severity};
use crate::model::{Base, Factor, Function, Model, Space, Spread};
use crate::syntax::{Id, Kind, Role};

pub(super) const ID: &str = "structure-access";

/// Smaller structures are read in one or two accesses.
const SMALLEST_BYTES: u64 = 24;

/// What a kernel does with an array of structures.
struct Use<'s> {
    variable: usize,
    structure: usize,
    first: Id,
    members: Vec<&'s str>,
    is_whole: bool,
}

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    for (which, function) in model.functions.iter().enumerate() {
        if !function.is_kernel() {
            continue;
        }
        let mut uses: Vec<Use<'_>> = Vec::new();
        for access in accesses(model, which, Space::Global) {
            let Base::Structure(structure) = access.address.ty.base else { continue };
            if access.address.ty.pointers != 1 || lanes(model, which, access.node) != Lanes::Many {
                continue;
            }
            if !matches!(access.address.spread, Spread::Lane(factor) if factor != Factor::Number(0)) {
                continue;
            }
            let variable = access.memory.variable;
            let place = uses.iter().position(|one| one.variable == variable).unwrap_or_else(|| {
                uses.push(Use {
                    variable,
                    structure,
                    first: access.node,
                    members: Vec::new(),
                    is_whole: false,
                });
                uses.len() - 1
            });
            match members(model, function, access.node) {
                Some(named) => uses[place].members.extend(named),
                None => uses[place].is_whole = true,
            }
        }
        for pointer in pointers(model, which) {
            match uses.iter_mut().find(|one| one.variable == pointer.variable) {
                Some(known) => {
                    known.first = known.first.min(pointer.first);
                    known.members.extend(pointer.members);
                    known.is_whole |= pointer.is_whole;
                }
                None => uses.push(pointer),
            }
        }
        out.extend(uses.into_iter().filter_map(|one| told(model, function, one)));
    }
}

/// What is done through pointers to elements, `p->member`, and where whole elements are handed on.
fn pointers<'s>(model: &Model<'s>, which: usize) -> Vec<Use<'s>> {
    let tree = &model.tree;
    let mut uses = Vec::new();
    let mut push = |pointer: Id, at: Id, member: Option<&'s str>| {
        let value = model.value(which, pointer);
        let Base::Structure(structure) = value.ty.base else { return };
        let Some(memory) = value.memory.filter(|memory| memory.space == Space::Global && value.ty.pointers == 1) else { return };
        let is_apart = matches!(value.spread, Spread::Lane(factor) if factor != Factor::Number(0));
        if member.is_some() && (!is_apart || lanes(model, which, at) != Lanes::Many) {
            return;
        }
        uses.push(Use {
            variable: memory.variable,
            structure,
            first: at,
            is_whole: member.is_none(),
            members: member.into_iter().collect(),
        });
    };
    for id in tree.below(model.functions[which].body) {
        match tree.kind(id) {
            Kind::Field if tree.operator(id) == "->" => {
                if let (Some(pointer), Some(member)) = (tree.part(id, Role::Argument), tree.part(id, Role::FieldName)) {
                    push(pointer, id, Some(tree.text(member)));
                }
            }
            // What other kernels get is theirs.
            Kind::Call if !tree.parts(id).any(|part| tree.is(part, Kind::KernelCall)) => {
                for argument in model.arguments(id) {
                    push(argument, id, None);
                }
            }
            _ => {}
        }
    }
    uses
}

/// The members that an access names; `None` where it takes the whole.
fn members<'s>(model: &Model<'s>, function: &Function<'s>, access: Id) -> Option<Vec<&'s str>> {
    let tree = &model.tree;
    let above = tree.parent(access)?;
    if tree.is(above, Kind::Field) && tree.role(access) == Role::Argument {
        return Some(vec![tree.text(tree.part(above, Role::FieldName)?)]);
    }
    // `const T& q = array[i];`: whatever is named of `q`.
    let variable = function
        .variables
        .iter()
        .find(|variable| variable.ty.is_reference && tree.is_within(variable.node, above))
        .filter(|_| tree.is(above, Kind::InitDeclarator))?;
    let mut named = Vec::new();
    for id in tree.below(function.body) {
        let is_it = tree.is(id, Kind::Identifier)
            && tree.text(id) == variable.name
            && id != variable.node
            && variable.scope.contains(&tree.start(id));
        if !is_it {
            continue;
        }
        let field = tree.parent(id).filter(|above| tree.is(*above, Kind::Field))?;
        named.push(tree.text(tree.part(field, Role::FieldName)?));
    }
    Some(named)
}

fn told(model: &Model<'_>, function: &Function<'_>, mut one: Use<'_>) -> Option<Found> {
    let structure = &model.types.structures[one.structure];
    let bytes = structure.bytes.filter(|bytes| *bytes >= SMALLEST_BYTES)?;
    if one.is_whole {
        return None;
    }
    one.members.sort_unstable();
    one.members.dedup();
    let mut used = 0_u64;
    for member in &one.members {
        // A member function may use anything.
        let (_, ty) = structure.members.iter().find(|(name, _)| name == member)?;
        used = used.saturating_add(model.types.bytes(*ty)?);
    }
    if used == 0 || used.saturating_mul(4) >= bytes.saturating_mul(3) {
        return None;
    }
    let array = function.variables[one.variable].name;
    Some(found(
        model,
        (ID, Severity::Warning),
        one.first,
        format!(
            "of each `{}` of {bytes} bytes in `{array}` this kernel uses {used}: neighbouring threads are {bytes} bytes apart",
            structure.name
        ),
        "keep an array for each member, or split off those that are used together",
    ))
}
