//! A function of `double` is called for a `float` or an integer.
//!
//! # What it says
//! A mathematical function is computed in double precision, because one of its arguments is a literal without `f`, or an integer.
//!
//! # How it is seen
//! `pow(x, 2.0)`, `fmax(x, 0.0)` and their like with a `float` and a double literal; `sqrt(n)` and its like of an integer, where
//! C++ chooses the version for `double`. `sqrt(x)` of a `float` is computed in single precision and is fine.
//!
//! # Why it matters
//! Functions of double precision take tens to hundreds of instructions, which run at half of the rate of single precision on
//! data-centre GPUs and at 1/64 of it on most others.
//!
//! # What to do
//! Write the literal with an `f`, cast the integer to `float`, or call the function with an `f` in its name (`fmaxf`, `powf`).
//!
//! # When it is wrong
//! The precision may be wanted. The compiler computes some calls with constant arguments away, such as `pow(x, 2.0)`; the conversion
//! to double precision and back is left.

use super::double_literal::double;
use super::{found, more};
use crate::finding::{Found, Severity};
use crate::model::Model;
use crate::syntax::{Id, Kind};

pub(super) const ID: &str = "double-function";

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    let tree = &model.tree;
    for (which, function) in model.functions.iter().enumerate() {
        if !function.is_device() {
            continue;
        }
        let mut calls = tree
            .below(function.body)
            .filter(|id| tree.is(*id, Kind::Call))
            .filter(|call| is_double(model, which, *call));
        let Some(first) = calls.next() else { continue };
        let name = model.callee(first);
        out.push(found(
            model,
            (ID, Severity::Warning),
            first,
            format!(
                "this calls `{name}` of double precision, though no argument is a double variable{}",
                more(calls.count(), "in this function")
            ),
            "write literals with an f behind them, and cast integers to float",
        ));
    }
}

fn is_double(model: &Model<'_>, which: usize, call: Id) -> bool {
    let name = model.callee(call);
    if model.by_name.contains_key(name) || model.macros.contains_key(name) {
        return false;
    }
    let tree = &model.tree;
    let arguments: Vec<Id> = model.arguments(call).collect();
    match name {
        "pow" | "fmax" | "fmin" | "fmod" | "atan2" | "hypot" | "copysign" | "fdim" => {
            let is_literal = |id: &Id| double(tree.text(*id).trim_start_matches('-')).is_some();
            let others: Vec<_> = arguments.iter().filter(|id| !is_literal(id)).collect();
            others.len() < arguments.len()
                && !others.is_empty()
                && others.iter().all(|id| model.value(which, **id).ty.is_float())
        }
        "sqrt" | "rsqrt" | "exp" | "log" | "sin" | "cos" | "tan" | "tanh" | "exp2" | "log2" | "log10" | "erf" | "cbrt" => {
            let [argument] = arguments.as_slice() else { return false };
            let value = model.value(which, *argument);
            // What is a constant is computed when it is compiled.
            value.ty.integer_bytes().is_some() && !value.is_constant
        }
        _ => false,
    }
}
