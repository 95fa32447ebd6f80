//! A kernel streams through arrays of one- or two-byte elements, one element a thread at a time.
//!
//! # What it says
//! Neighbouring threads read or write neighbouring elements of one or two bytes, so that a whole warp moves 32 or 64 bytes with an
//! instruction.
//!
//! # How it is seen
//! By the type of the elements and the index, which grows by at most four elements with `threadIdx.x`. Half and more of the arrays that
//! the kernel goes through in this way have such elements.
//!
//! # Why it matters
//! An instruction costs the same for one byte a thread as for sixteen. With narrow accesses there are too few bytes on the way to fill
//! the memory system.
//!
//! # What to do
//! Let each thread take several elements with one access: `uchar4`, `uint4`, `__half2`, or a `float4` that is taken apart.
//!
//! # When it is wrong
//! When the kernel computes much for each element, or the arrays are small. Wide accesses need aligned addresses. `ridge why` measures
//! it: finding `narrow-access`.

use super::access::accesses;
use super::found;
use super::guard::{Lanes, lanes};
use crate::finding::{Found, Severity};
use crate::model::{Base, Factor, Model, Space, Spread};
use crate::syntax::Id;

pub(super) const ID: &str = "narrow-elements";

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    for (which, function) in model.functions.iter().enumerate() {
        if !function.is_kernel() {
            continue;
        }
        let (mut narrow, mut wide): (Vec<(usize, Id, u64)>, Vec<usize>) = (Vec::new(), Vec::new());
        for access in accesses(model, which, Space::Global) {
            if !matches!(access.address.spread, Spread::Lane(Factor::Number(1..=4))) || lanes(model, which, access.node) != Lanes::Many {
                continue;
            }
            let Some(bytes) = access.bytes else { continue };
            let variable = access.memory.variable;
            let is_number = matches!(access.address.ty.base, Base::Integer { .. } | Base::Float { .. });
            if bytes <= 2 && is_number {
                if narrow.iter().all(|(known, ..)| *known != variable) {
                    narrow.push((variable, access.node, bytes));
                }
            } else if !wide.contains(&variable) {
                wide.push(variable);
            }
        }
        let Some((_, first, bytes)) = narrow.first().copied() else { continue };
        if narrow.len() < wide.len() {
            continue;
        }
        let names: Vec<String> = narrow
            .iter()
            .map(|(variable, ..)| format!("`{}`", function.variables[*variable].name))
            .collect();
        out.push(found(
            model,
            (ID, Severity::Note),
            first,
            format!(
                "each thread moves {bytes} byte{} at a time: {}",
                if bytes == 1 { "" } else { "s" },
                names.join(", ")
            ),
            "let each thread take several elements with one access of 4 to 16 bytes",
        ));
    }
}
