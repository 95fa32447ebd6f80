//! A warp function without a mask is used, which newer devices do not have.
//!
//! # What it says
//! `__shfl`, `__shfl_up`, `__shfl_down`, `__shfl_xor`, `__ballot`, `__any` or `__all` is called, without `_sync`.
//!
//! # How it is seen
//! By the name of the function, unless the file defines one of that name, or the call stands under a condition of the preprocessor
//! about the architecture or the version of CUDA.
//!
//! # Why it matters
//! These functions were deprecated with CUDA 9 and do not exist for compute capability 7.0 and later, where the threads of a warp need
//! not run in step: code does not compile there. Compiled for an older architecture, it relies on an order that nothing guarantees.
//!
//! # What to do
//! Use the version with `_sync`, whose first argument is the mask of the lanes that take part: `__shfl_down_sync(0xffffffff, x, 16)`.
//!
//! # When it is wrong
//! Where a header redefines these names.

use super::found;
use crate::finding::{Found, Severity};
use crate::model::Model;
use crate::syntax::Kind;

pub(super) const ID: &str = "legacy-warp-intrinsic";

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    let tree = &model.tree;
    for call in tree.below(tree.root()).filter(|id| tree.is(*id, Kind::Call)) {
        let name = model.callee(call);
        let is_legacy = matches!(
            name,
            "__shfl" | "__shfl_up" | "__shfl_down" | "__shfl_xor" | "__ballot" | "__any" | "__all"
        );
        if !is_legacy || model.by_name.contains_key(name) || model.macros.contains_key(name) || model.is_fixed(name) {
            continue;
        }
        let is_chosen = tree.preprocessor_conditions(call).any(|condition| {
            ["CUDA", "ARCH", "SHFL", "VERSION", "HIP", "AMD"]
                .iter()
                .any(|word| condition.contains(word))
        });
        if is_chosen {
            continue;
        }
        out.push(found(
            model,
            (ID, Severity::Error),
            call,
            format!("`{name}` does not exist for compute capability 7.0 and later"),
            "use the version with _sync and the mask of the lanes that take part",
        ));
    }
}
