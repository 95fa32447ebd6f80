//! A product is computed with 32 bits and widened to 64 bits afterwards.
//!
//! # What it says
//! Two 32-bit integers are multiplied, and the result is cast to, stored in, or multiplied with a 64-bit integer.
//!
//! # How it is seen
//! By the types of the operands: `(size_t)(a * b)`, `size_t n = a * b;`, `a * b * sizeof(float)`. Products of `blockIdx` and `blockDim` are
//! left out: they stay below the number of threads. Products with a constant are left out too.
//!
//! # Why it matters
//! The product overflows before it is widened: arrays of more than two billion elements, or buffers of as many bytes, get wrong
//! sizes and indices.
//!
//! # What to do
//! Cast one operand before the product: `(size_t)a * b`. Put `sizeof` first: `sizeof(float) * a * b`.
//!
//! # When it is wrong
//! When the values are always small.

use super::{found, more};
use crate::finding::{Found, Severity};
use crate::model::{Function, Model};
use crate::syntax::{Id, Kind, Role};

pub(super) const ID: &str = "index-overflow";

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    let tree = &model.tree;
    for (which, function) in model.functions.iter().enumerate() {
        let mut list = tree
            .below(function.body)
            .filter(|id| tree.is(*id, Kind::Binary) && tree.operator(*id) == "*")
            .filter(|id| is_narrow_product(model, which, *id) && is_widened(model, function, which, *id));
        let Some(first) = list.next() else { continue };
        let text: String = tree.text(first).chars().take(40).collect();
        out.push(found(
            model,
            (ID, Severity::Note),
            first,
            format!(
                "`{text}` is computed with 32 bits and widened afterwards{}",
                more(list.count(), "in this function")
            ),
            "cast one operand to size_t before the product",
        ));
    }
}

/// Whether a product is of two 32-bit integers, neither of which is a constant.
fn is_narrow_product(model: &Model<'_>, which: usize, id: Id) -> bool {
    let tree = &model.tree;
    let sides = [Role::Left, Role::Right].map(|role| tree.part(id, role));
    let is_block = sides.iter().flatten().any(|side| {
        let text = tree.text(*side);
        text.starts_with("blockIdx") || text.starts_with("blockDim") || text.starts_with("gridDim")
    });
    !is_block
        && sides.iter().all(|side| {
            side.is_some_and(|side| {
                let value = model.value(which, side);
                value.ty.integer_bytes() == Some(4) && !value.is_constant
            })
        })
}

/// Whether what a product is part of becomes a 64-bit integer.
fn is_widened(model: &Model<'_>, function: &Function<'_>, which: usize, product: Id) -> bool {
    let tree = &model.tree;
    let is_wide = |id: Id| model.value(which, id).ty.integer_bytes() == Some(8);
    let mut below = product;
    for above in tree.above(product) {
        match tree.kind(above) {
            Kind::Parenthesized => {}
            // `a * b + c` is as wide as its parts.
            Kind::Binary if matches!(tree.operator(above), "+" | "-" | "*") => {
                let other = if tree.role(below) == Role::Left { Role::Right } else { Role::Left };
                let Some(other) = tree.part(above, other) else { return false };
                if is_wide(other) {
                    return true;
                }
                if model.value(which, other).ty.integer_bytes() != Some(4) {
                    return false;
                }
            }
            Kind::Cast => {
                return tree
                    .part(above, Role::Type)
                    .is_some_and(|ty| model.types.described(tree, ty).integer_bytes() == Some(8));
            }
            Kind::InitDeclarator => {
                return tree
                    .part(above, Role::Declarator)
                    .and_then(|name| function.variable(tree, name))
                    .is_some_and(|variable| function.variables[variable].ty.integer_bytes() == Some(8));
            }
            _ => return false,
        }
        below = above;
    }
    false
}
