//! A literal without `f` turns arithmetic of `float` into arithmetic of `double`.
//!
//! # What it says
//! Device code computes with a `float` and a literal such as `0.1`, which is a `double`. The operation is done in double precision,
//! with conversions before and behind it.
//!
//! # How it is seen
//! One operand of an operation is a floating-point literal without suffix, or a macro that stands for one, such as `M_PI`; the type of the other one is `float`. Literals that the
//! compiler computes away are left out: initial values, and single operations with a number such as `0.5` whose result goes straight
//! back to a `float` or is compared.
//!
//! # Why it matters
//! Double precision runs at half of the rate of single precision on data-centre GPUs, and at 1/64 of it on most others. Each
//! conversion is an instruction too.
//!
//! # What to do
//! Write `0.1f`. `-Xptxas -v` or `ridge why` shows whether instructions of double precision are left: finding `fp64-promotion`.
//!
//! # When it is wrong
//! The precision may be wanted: then make it visible with a `double` variable or a cast. Outside loops the cost may not matter.

use super::{found, more};
use crate::finding::{Found, Severity};
use crate::model::{Model, Type, double_text};
use crate::syntax::{Id, Kind, Role};

pub(super) const ID: &str = "double-literal";

/// Constants that are joined before a variable is.
const MOST_CONSTANTS: usize = 4;

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    let tree = &model.tree;
    for (which, function) in model.functions.iter().enumerate() {
        if !function.is_device() {
            continue;
        }
        let mut literals = tree
            .below(function.body)
            .filter(|id| promotes(model, which, *id));
        let Some(first) = literals.next() else { continue };
        let others = literals.count();
        let text = tree.text(first);
        out.push(found(
            model,
            (ID, Severity::Warning),
            first,
            format!(
                "`{text}` is a double: the operation with a float is done in double precision{}",
                more(others, "in this function")
            ),
            if tree.is(first, Kind::Number) { "write the literal with an f behind it" } else { "cast it to float, or define it with an f behind the number" },
        ));
    }
}

/// The text of a literal, or of what a macro stands for.
fn written<'m>(model: &'m Model<'_>, which: usize, id: Id) -> Option<&'m str> {
    let tree = &model.tree;
    match tree.kind(id) {
        Kind::Number => Some(tree.text(id)),
        Kind::Identifier if model.functions[which].variable(tree, id).is_none() => double_text(model, tree.text(id)),
        _ => None,
    }
}

/// The number of a literal that is a `double`.
pub(super) fn double(text: &str) -> Option<f64> {
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    if is_hex || !text.contains(['.', 'e', 'E']) || text.ends_with(['f', 'F', 'l', 'L']) {
        return None;
    }
    text.parse().ok()
}

fn promotes(model: &Model<'_>, which: usize, literal: Id) -> bool {
    let tree = &model.tree;
    let Some(number) = written(model, which, literal).and_then(double) else { return false };
    let mut operand = literal;
    for _ in 0..MOST_CONSTANTS {
        let Some((operation, other)) = operation(model, operand) else { return false };
        let other = model.value(which, other);
        // What is constant on both sides is computed by the compiler, and is a literal too.
        if other.is_constant && !tree.is(operation, Kind::Assignment) {
            operand = operation;
            continue;
        }
        return other.ty.is_float() && lasts(model, which, operation, number);
    }
    false
}

/// The operation of which an operand is a side, through parentheses and signs, and the other side.
fn operation(model: &Model<'_>, mut operand: Id) -> Option<(Id, Id)> {
    let tree = &model.tree;
    let mut above = tree.parent(operand);
    while let Some(id) = above.filter(|id| matches!(tree.kind(*id), Kind::Parenthesized | Kind::Unary)) {
        operand = id;
        above = tree.parent(id);
    }
    let operation = above?;
    let other = match (tree.kind(operation), tree.role(operand)) {
        (Kind::Binary, Role::Left) => tree.part(operation, Role::Right),
        (Kind::Binary, Role::Right) => tree.part(operation, Role::Left),
        (Kind::Assignment, Role::Right) if tree.operator(operation) != "=" => tree.part(operation, Role::Left),
        _ => None,
    };
    Some((operation, other?))
}

/// Whether an operation of a `float` and a number of double precision stays one.
fn lasts(model: &Model<'_>, which: usize, operation: Id, number: f64) -> bool {
    let tree = &model.tree;
    if !is_exact(number) {
        return true;
    }
    // With a number that `float` holds too, the compiler narrows what goes straight back, and comparisons.
    match tree.kind(operation) {
        Kind::Assignment => false,
        _ if matches!(tree.operator(operation), "<" | ">" | "<=" | ">=" | "==" | "!=") => false,
        _ => !goes_back(model, which, operation),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "whether digits are lost is the question")]
fn is_exact(number: f64) -> bool {
    f64::from(number as f32).to_bits() == number.to_bits()
}

/// Whether the result of an operation becomes a `float` at once.
fn goes_back(model: &Model<'_>, which: usize, operation: Id) -> bool {
    let tree = &model.tree;
    let function = &model.functions[which];
    // What a type parameter or an alias of another file stands for may be `float`.
    let may_be_float = |ty: Type| ty.is_float() || ty == Type::UNKNOWN;
    let mut below = operation;
    for above in tree.above(operation) {
        match tree.kind(above) {
            Kind::Parenthesized => below = above,
            Kind::Assignment if tree.role(below) == Role::Right && tree.operator(above) == "=" => {
                return tree
                    .part(above, Role::Left)
                    .is_some_and(|left| may_be_float(model.value(which, left).ty));
            }
            Kind::InitDeclarator => {
                return tree
                    .part(above, Role::Declarator)
                    .and_then(|name| function.variable(tree, name))
                    .is_some_and(|variable| {
                        let variable = &function.variables[variable];
                        !variable.is_auto && may_be_float(Type { is_const: false, ..variable.ty })
                    });
            }
            Kind::Cast => {
                return may_be_float(tree.part(above, Role::Type).map_or(Type::UNKNOWN, |ty| model.types.described(tree, ty)));
            }
            // `(T)(x)` looks like a call where `T` is no known type.
            Kind::Arguments => below = above,
            Kind::Call => return tree.part(above, Role::Function).is_some_and(|of| tree.is(of, Kind::Parenthesized)),
            Kind::Return => {
                return tree
                    .part(function.node, Role::Type)
                    .is_some_and(|ty| tree.text(ty) == "float");
            }
            _ => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_double_precision() {
        assert!(double("0.5").is_some() && double("1e-3").is_some() && double("2.").is_some());
        for text in ["1", "0.5f", "1e-3F", "0x1p-3", "0xe", "1.0L"] {
            assert!(double(text).is_none(), "{text}");
        }
        assert!(is_exact(0.5) && !is_exact(0.1));
    }
}
