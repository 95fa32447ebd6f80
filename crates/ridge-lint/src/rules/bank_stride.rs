//! The lanes of a warp go down a column of shared memory and meet in a few banks.
//!
//! # What it says
//! Neighbouring lanes access a shared array at a distance that is a multiple of many words, so that eight or more of them need the
//! same bank at a time.
//!
//! # How it is seen
//! The index grows by a constant with `threadIdx.x`. That constant, the size of an element and the sizes of the array tell the
//! distance of two lanes; what it has in common with the 32 banks tells how many lanes share one.
//!
//! # Why it matters
//! Shared memory has 32 banks of four bytes. Lanes that need different words of one bank are served one after the other: a column
//! of a tile with a pitch of 32 words takes 32 steps instead of one.
//!
//! # What to do
//! Add one element to the pitch (`tile[32][33]`), swap the indices, or permute the column with an exclusive or of the row.
//!
//! # When it is wrong
//! Accesses outside hot loops cost little. A block that is less than a warp wide has fewer conflicts; where a launch in the file
//! tells the width, it is counted. `ridge why` measures conflicts: finding `bank-conflicts`.

use super::access::{Callees, accesses, handed};
use super::guard::{Lanes, lanes};
use super::{found, more};
use crate::finding::{Found, Severity};
use crate::model::{Factor, Model, Space, Spread};

pub(super) const ID: &str = "bank-stride";

/// Conflicts of fewer lanes are common and cheap.
const FEWEST_LANES: u64 = 8;

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    let mut callees = Callees::new();
    for (which, function) in model.functions.iter().enumerate() {
        if !function.is_device() {
            continue;
        }
        let width = model.block_width(function);
        let mut told: Vec<(usize, usize, usize)> = Vec::new();
        let handed = handed(model, &mut callees, which, Space::Shared).into_iter().map(|one| one.access);
        for access in accesses(model, which, Space::Shared).into_iter().chain(handed) {
            let Spread::Lane(Factor::Number(step)) = access.address.spread else { continue };
            // So many steps the array has room for.
            let room = elements(model, which, access.memory.variable).and_then(|all| all.checked_div(step.checked_abs()?));
            let width = width.into_iter().chain(room.filter(|room| *room > 1)).min();
            let Some(ways) = access.bytes.and_then(|bytes| ways(step, bytes, width)) else { continue };
            if ways < FEWEST_LANES || lanes(model, which, access.node) != Lanes::Many {
                continue;
            }
            let variable = access.memory.variable;
            if let Some((.., count)) = told.iter_mut().find(|(known, ..)| *known == variable) {
                *count += 1;
                continue;
            }
            told.push((variable, out.len(), 0));
            let name = function.variables[variable].name;
            let message = format!(
                "{ways} lanes of a warp need the same bank: neighbouring threads access `{name}` {} bytes apart",
                step.unsigned_abs().saturating_mul(access.bytes.unwrap_or_default())
            );
            out.push(found(
                model,
                (ID, Severity::Warning),
                access.node,
                message,
                "add one element to the pitch of the array, or let neighbouring threads access neighbouring words",
            ));
        }
        for (_, at, count) in told {
            let more = more(count, "of it in this function");
            out[at].message.push_str(&more);
        }
    }
}

/// How many elements an array has, where that is known.
fn elements(model: &Model<'_>, which: usize, variable: usize) -> Option<i64> {
    let sizes = &model.functions[which].variables[variable].sizes;
    sizes.iter().try_fold(1_i64, |all, size| all.checked_mul(model.value(which, (*size)?).number?))
}

/// How many lanes share the busiest bank; `None` where it cannot be told.
fn ways(step: i64, bytes: u64, width: Option<i64>) -> Option<u64> {
    let step = step.unsigned_abs();
    if step == 0 {
        return None;
    }
    let width = width.and_then(|width| u64::try_from(width).ok()).unwrap_or(32);
    let (words, served) = match bytes {
        1 | 2 => {
            let distance = step.checked_mul(bytes)?;
            (distance % 4 == 0).then_some((distance / 4, 32))?
        }
        4 => (step, 32),
        // Wider elements are served by half and by quarter of a warp, in units of their own size.
        8 => (step, 16),
        16 => (step, 8),
        _ => return None,
    };
    let lanes = width.min(served);
    let banks = served / gcd(words, served);
    Some(lanes.div_ceil(banks))
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_that_share_a_bank() {
        assert_eq!(ways(32, 4, None), Some(32));
        assert_eq!(ways(33, 4, None), Some(1));
        assert_eq!(ways(8, 4, None), Some(8));
        assert_eq!(ways(16, 8, None), Some(16));
        assert_eq!(ways(32, 4, Some(8)), Some(8));
        assert_eq!(ways(0, 4, None), None);
        assert_eq!(ways(1, 2, None), None);
    }
}
