//! Nobody asks whether a launch worked.
//!
//! # What it says
//! A kernel is launched, and no error is asked for afterwards in the function.
//!
//! # How it is seen
//! Behind the launch there is no `cudaGetLastError`, no `cudaPeekAtLastError` and no check of a later call, and nothing that might be one: a
//! macro, or a function of which nothing is known. Functions that call nothing else of CUDA are left out: their caller may check.
//!
//! # Why it matters
//! A launch that fails (too many threads, too much shared memory, no code for the device) returns no error by itself: the kernel does not
//! run, results are those of before, and times are a few microseconds.
//!
//! # What to do
//! Behind each launch: `cudaGetLastError()` for the launch itself, and check what the next call that waits returns.
//!
//! # When it is wrong
//! When the caller checks.

use super::{found, more};
use crate::finding::{Found, Severity};
use crate::model::Model;
use crate::model::host::Event;
use crate::syntax::Id;

pub(super) const ID: &str = "unchecked-launch";

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    let tree = &model.tree;
    for function in &model.functions {
        let steps = model.steps(function);
        // What does nothing but launch leaves the check to its caller.
        let is_wrapper = !steps.iter().any(|step| !matches!(step.event, Event::Launch { .. }) && is_of_runtime(model.callee(step.node)));
        if is_wrapper {
            continue;
        }
        let mut unchecked = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            let Event::Launch { kernel } = step.event else { continue };
            // What a function of the runtime returns is the other rule's.
            if !model.is_result_unused(step.node) || model.callee(step.node) != kernel {
                continue;
            }
            let is_checked = steps[at + 1..].iter().any(|later| match later.event {
                Event::Launch { .. } => false,
                Event::Other => {
                    // What the toolkit offers checks nothing by itself where its result is thrown away.
                    !is_of_runtime(model.callee(later.node)) && !is_plain(model.callee(later.node))
                }
                _ => !model.is_result_unused(later.node) && is_of_runtime(model.callee(later.node)),
            });
            if !is_checked && !is_macro_behind(model, step.node) {
                unchecked.push((step.node, kernel));
            }
        }
        // Macros of the file that ask for errors look like names.
        let asks = tree.text(function.body).contains("LastError");
        let Some((first, kernel)) = unchecked.first().filter(|_| !asks) else { continue };
        out.push(found(
            model,
            (ID, Severity::Warning),
            *first,
            format!(
                "nobody asks whether the launch of `{kernel}` worked{}",
                more(unchecked.len() - 1, "in this function")
            ),
            "ask for cudaGetLastError() behind the launch, and check the next call that waits",
        ));
    }
}

/// Functions of the runtime: `cudaMalloc`, and no `cuda_something` of people.
fn is_of_runtime(name: &str) -> bool {
    name.strip_prefix("cuda").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// Whether the next word behind a statement is a macro without parentheses: it may check.
fn is_macro_behind(model: &Model<'_>, launch: Id) -> bool {
    let tree = &model.tree;
    let Some(statement) = tree.parent(launch) else { return false };
    let rest = tree.text_from(tree.end(statement));
    let word: &str = rest.trim_start().split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    word.len() > 3 && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Functions of the standard library, which check nothing.
fn is_plain(name: &str) -> bool {
    matches!(name, "free" | "malloc" | "delete" | "memcpy" | "memset" | "puts" | "fflush" | "fclose" | "rand" | "srand" | "fabs" | "pow" | "endl" | "size" | "data" | "begin" | "end" | "push_back" | "max" | "min")
}
