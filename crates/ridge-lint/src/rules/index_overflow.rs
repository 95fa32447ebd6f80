//! A product is computed with 32 bits and widened to 64 bits afterwards.
//!
//! # What it says
//! Two 32-bit integers are multiplied, and the result is cast to, stored in, or multiplied with a 64-bit integer.
//!
//! # How it is seen
//! By the types of the operands: `(size_t)(a * b)`, `size_t n = a * b;`, `a * b * sizeof(float)`. Products of `blockIdx` and `blockDim` are
//! left out: they stay below the number of threads. Products with a constant are left out too. An index of 32 bits that is made of
//! `blockIdx.x * blockDim.x` and compared with a number of 64 bits is told as well.
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
use crate::model::function::Definition;
use crate::model::{Function, Model};
use crate::syntax::{Id, Kind, Role};

pub(super) const ID: &str = "index-overflow";

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    let tree = &model.tree;
    for (which, function) in model.functions.iter().enumerate() {
        if function.is_device() {
            out.extend(short_index(model, function, which));
        }
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

/// An index over the whole grid of 32 bits that is compared with a number of 64.
fn short_index(model: &Model<'_>, function: &Function<'_>, which: usize) -> Option<Found> {
    let tree = &model.tree;
    let (index, bound, place) = tree.below(function.body).find_map(|id| {
        let is_comparison = tree.is(id, Kind::Binary) && matches!(tree.operator(id), "<" | "<=" | ">" | ">=");
        let sides = is_comparison.then(|| tree.part(id, Role::Left).zip(tree.part(id, Role::Right)))??;
        [sides, (sides.1, sides.0)].into_iter().find_map(|(index, bound)| {
            let which_index = function.variable(tree, tree.bare(index))?;
            let variable = &function.variables[which_index];
            let of_bound = model.value(which, bound);
            let is_wide = of_bound.ty.integer_bytes() == Some(8) && !of_bound.is_constant;
            if !is_wide || variable.ty.integer_bytes() != Some(4) || !is_flat(model, function, which_index) {
                return None;
            }
            let place = variable.definitions.iter().find_map(|definition| match *definition {
                Definition::Value { value, .. } => is_of_grid(model, value).then_some(value),
                _ => None,
            })?;
            Some((variable.name, bound, place))
        })
    })?;
    let bound: String = tree.text(bound).chars().take(40).collect();
    Some(found(
        model,
        (ID, Severity::Note),
        place,
        format!("`{index}` has 32 bits and counts up to `{bound}`, which has 64: with more elements than 32 bits can count it wraps around"),
        "give the index 64 bits, and cast blockIdx.x before the product",
    ))
}

/// Whether a variable alone is the index of an access, and no coordinate.
fn is_flat(model: &Model<'_>, function: &Function<'_>, index: usize) -> bool {
    let tree = &model.tree;
    tree.below(function.body)
        .filter(|id| tree.is(*id, Kind::SubscriptArguments))
        .any(|list| tree.parts(list).any(|part| function.variable(tree, tree.bare(part)) == Some(index)))
}

/// Whether an expression multiplies the number of the block.
fn is_of_grid(model: &Model<'_>, value: Id) -> bool {
    let tree = &model.tree;
    std::iter::once(value).chain(tree.below(value)).any(|id| {
        tree.is(id, Kind::Binary)
            && tree.operator(id) == "*"
            && [Role::Left, Role::Right]
                .into_iter()
                .filter_map(|role| tree.part(id, role))
                .any(|side| tree.text(side) == "blockIdx.x")
    })
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
