//! A timed loop begins with the first launch of its kernel.
//!
//! # What it says
//! A timed part has a loop that launches a kernel, and the function has not launched it before.
//!
//! # How it is seen
//! By the launches between two readings of a clock or two events, and by those before.
//!
//! # Why it matters
//! The first launch loads code and runs while clocks are still rising: it can take ten times as long as later ones, and becomes part of the
//! mean.
//!
//! # What to do
//! Launch the kernel a few times, and wait, before the time begins.
//!
//! # When it is wrong
//! When there are so many rounds that the first does not count, or when a function that is called before launches the kernel.

use super::found;
use super::one_shot_timing::is_first;
use crate::finding::{Found, Severity};
use crate::model::Model;
use crate::model::host::launches;

pub(super) const ID: &str = "no-warm-up";

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    for function in &model.functions {
        let steps = model.steps(function);
        for region in model.regions(&steps) {
            let begin = steps[region.begin].node;
            if model.is_repeated(begin, function) {
                continue;
            }
            let Some((at, kernel)) = launches(&steps, region).next() else { continue };
            let node = steps[at].node;
            if model.loop_since(node, begin).is_none() || !is_first(&steps, region, kernel) {
                continue;
            }
            out.push(found(
                model,
                (ID, Severity::Note),
                node,
                format!("the first launch of `{kernel}` is part of the time of this loop"),
                "launch it a few times, and wait, before the time begins",
            ));
        }
    }
}
