//! Neighbouring threads access global memory far apart.
//!
//! # What it says
//! The index of an access grows by more than one element with `threadIdx.x`, so that each lane of a warp needs a sector of its own, as in
//! `a[threadIdx.x * n + k]`.
//!
//! # How it is seen
//! The address of an access is followed back to `threadIdx.x`. It is reported when its factor is a constant of 32 bytes and more, or a
//! value of the run. Beside an index that moves by a constant step such a value is the pitch of rows, and each thread walks along one; else it may turn out
//! to be one, and the finding is a note. A pointer that is handed to a function of the file, which walks along it, counts as an access.
//!
//! # Why it matters
//! Memory is read in sectors of 32 bytes. Where neighbouring lanes use four bytes of each, eight times as many sectors are moved as
//! are needed, and each instruction takes as long as up to 32.
//!
//! # What to do
//! Let neighbouring threads access neighbouring elements: swap the loops or the indices, let a warp walk along a row together, or go
//! through a tile in shared memory.
//!
//! # When it is wrong
//! Small arrays and short rows stay in the L1 cache, so that what is moved too much is used later. The pitch may be one when the
//! program runs. `ridge why` measures it: finding `uncoalesced-global`.

use std::collections::HashSet;

use super::access::{Access, Callees, accesses, handed};
use super::guard::{Lanes, lanes};
use super::{found, more};
use crate::finding::{Found, Severity};
use crate::model::{Base, Factor, Model, Space, Spread};

pub(super) const ID: &str = "strided-access";

const SECTOR_BYTES: u64 = 32;
const LINE_BYTES: u64 = 128;
/// A block that is narrower has too few neighbours for it to matter.
const NARROWEST: i64 = 8;
/// More indices of one array are not told apart.
const MOST_PLACES: usize = 64;
const SECTORS: &str = "each lane needs a sector of its own";

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    let mut callees = Callees::new();
    for (which, function) in model.functions.iter().enumerate() {
        if !function.is_kernel() || model.block_width(function).is_some_and(|width| width < NARROWEST) {
            continue;
        }
        let mut told: Vec<Told<'_>> = Vec::new();
        for access in accesses(model, which, Space::Global) {
            // Structures have a rule of their own.
            if matches!(access.address.ty.base, Base::Structure(_)) {
                continue;
            }
            let (severity, apart) = match access.address.spread {
                Spread::Lane(Factor::Number(step)) => {
                    let Some(bytes) = access.bytes else { continue };
                    let apart = step.unsigned_abs().saturating_mul(bytes);
                    // A thread that walks along less than a line finds the rest of it in the L1 cache.
                    let is_short_walk = access.address.moves && apart < LINE_BYTES;
                    if apart < SECTOR_BYTES || step.unsigned_abs() < 2 || is_short_walk {
                        continue;
                    }
                    (Severity::Warning, format!("{apart} bytes apart: {SECTORS}"))
                }
                Spread::Lane(Factor::RunTime) if access.address.walks => (Severity::Warning, format!("a whole row apart: {SECTORS}")),
                Spread::Lane(Factor::RunTime) => (Severity::Note, "with a step that is known only at run time: unless it is 1, more is moved than is used".to_owned()),
                _ => continue,
            };
            if lanes(model, which, access.node) != Lanes::Many {
                continue;
            }
            let variable = access.memory.variable;
            if let Some(known) = told.iter_mut().find(|known| known.variable == variable && known.found.severity <= severity) {
                known.count += 1;
                if known.places.len() < MOST_PLACES {
                    known.places.insert(model.tree.text(access.node));
                }
                continue;
            }
            // A row says more than a step.
            told.retain(|known| known.variable != variable);
            let step = match access.address.spread {
                Spread::Lane(Factor::Number(step)) => Some(step.unsigned_abs()),
                _ => None,
            };
            let name = function.variables[variable].name;
            let found = found(
                model,
                (ID, severity),
                access.node,
                format!("neighbouring threads access `{name}` {apart}"),
                "let neighbouring threads access neighbouring elements",
            );
            let places = HashSet::from([model.tree.text(access.node)]);
            told.push(Told { variable, step, count: 1, places, found });
        }
        for one in handed(model, &mut callees, which, Space::Global) {
            let Access { node, memory, address, bytes } = one.access;
            let apart = match address.spread {
                Spread::Lane(Factor::Number(step)) => {
                    let Some(apart) = bytes.map(|bytes| bytes.saturating_mul(step.unsigned_abs())) else { continue };
                    if apart < if one.is_repeated { LINE_BYTES } else { SECTOR_BYTES } || step.unsigned_abs() < 2 {
                        continue;
                    }
                    format!("{apart} bytes apart")
                }
                Spread::Lane(Factor::RunTime) if one.is_repeated => "a whole row apart".to_owned(),
                _ => continue,
            };
            let is_known = told.iter().any(|known| known.variable == memory.variable);
            if is_known || matches!(address.ty.base, Base::Structure(_)) || lanes(model, which, node) != Lanes::Many {
                continue;
            }
            let name = function.variables[memory.variable].name;
            let found = found(
                model,
                (ID, Severity::Warning),
                node,
                format!("neighbouring threads hand `{name}` to `{}` {apart}: {SECTORS}", one.callee),
                "let neighbouring threads access neighbouring elements",
            );
            told.push(Told { variable: memory.variable, step: None, count: 1, places: HashSet::new(), found });
        }
        // One step of the run is often that of all arrays.
        let notes = told.iter().filter(|one| one.found.severity == Severity::Note).count();
        let mut is_noted = false;
        for mut one in told {
            if one.found.severity == Severity::Note {
                if !std::mem::replace(&mut is_noted, true) {
                    one.found.message.push_str(&more(notes - 1, "such arrays in this kernel"));
                    out.push(one.found);
                }
                continue;
            }
            // A thread that takes all elements up to those of its neighbour moves nothing in vain.
            if one.step.is_some_and(|step| one.places.len() as u64 >= step) {
                continue;
            }
            one.found.message.push_str(&more(one.count - 1, "of it in this kernel"));
            out.push(one.found);
        }
    }
}

/// What is told of an array, once for a kernel.
struct Told<'s> {
    variable: usize,
    /// Elements from thread to thread, where that is a constant.
    step: Option<u64>,
    count: usize,
    /// Accesses with different indices.
    places: HashSet<&'s str>,
    found: Found,
}
