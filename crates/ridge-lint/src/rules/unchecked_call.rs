//! The error of a call is thrown away.
//!
//! # What it says
//! A function of the CUDA runtime is called as a statement of its own, and nobody looks at what it returns.
//!
//! # How it is seen
//! By the call. Functions that release something, and those that are called to clear an error, are left out, as are functions in which
//! errors are asked for with `cudaGetLastError`. One finding for each function tells how many there are.
//!
//! # Why it matters
//! A failed allocation or copy is noticed much later, as a wrong result or as an error of another call. Errors of kernels appear at whichever
//! call comes next.
//!
//! # What to do
//! Check each call, with a macro that prints the place and `cudaGetErrorString`.
//!
//! # When it is wrong
//! In short programs that are read more than run.

use super::{found, more};
use crate::finding::{Found, Severity};
use crate::model::{Model, Runs};
use crate::syntax::{Id, Kind};

pub(super) const ID: &str = "unchecked-call";

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    let tree = &model.tree;
    for function in &model.functions {
        if matches!(function.runs, Runs::Kernel | Runs::Device) || tree.text(function.body).contains("LastError") {
            continue;
        }
        let calls: Vec<Id> = tree
            .below(function.body)
            .filter(|id| tree.is(*id, Kind::Call))
            .filter(|call| counts(model.callee(*call)) && model.is_result_unused(*call))
            .collect();
        let Some(first) = calls.first() else { continue };
        out.push(found(
            model,
            (ID, Severity::Note),
            *first,
            format!(
                "the error that `{}` returns is thrown away{}",
                model.callee(*first),
                more(calls.len() - 1, "such calls in this function")
            ),
            "check what it returns",
        ));
    }
}

/// Whether a function of the runtime returns an error that matters.
fn counts(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("cuda") else { return false };
    [
        "Malloc", "Memcpy", "Memset", "HostAlloc", "HostRegister", "DeviceSynchronize", "StreamSynchronize", "EventSynchronize",
        "StreamCreate", "EventCreate", "EventElapsedTime", "SetDevice", "FuncSetAttribute", "LaunchKernel", "LaunchCooperativeKernel",
        "GraphLaunch", "GraphInstantiate", "MemPrefetchAsync",
    ]
    .iter()
    .any(|start| rest.starts_with(start))
}
