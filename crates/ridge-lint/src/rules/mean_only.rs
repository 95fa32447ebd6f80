//! Of many launches only their mean is known.
//!
//! # What it says
//! One time is taken around a loop of launches, and divided by the number of rounds.
//!
//! # How it is seen
//! A loop with a launch stands between two events, and what `cudaEventElapsedTime` gives is divided afterwards.
//!
//! # Why it matters
//! A mean hides how much times differ, and a few slow rounds move it: a change of one or two per cent cannot be told from chance.
//!
//! # What to do
//! Take the time of each round, or of several groups of rounds, and tell the median and a spread. `ridge bench` does, and says whether a
//! difference is more than chance.
//!
//! # When it is wrong
//! For kernels of few microseconds a loop is the right unit: then take several loops.

use super::found;
use crate::finding::{Found, Severity};
use crate::model::host::{Clock, launches};
use crate::model::{Function, Model};
use crate::syntax::{Id, Kind, Role};

pub(super) const ID: &str = "mean-only";

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    for function in &model.functions {
        let steps = model.steps(function);
        for region in model.regions(&steps) {
            let begin = steps[region.begin].node;
            let is_loop = launches(&steps, region).any(|(at, _)| model.loop_since(steps[at].node, begin).is_some());
            if region.clock != Clock::Events || !is_loop || model.is_repeated(begin, function) {
                continue;
            }
            let Some(elapsed) = region.elapsed.map(|at| steps[at].node) else { continue };
            let Some(division) = divided(model, function, elapsed) else { continue };
            out.push(found(
                model,
                (ID, Severity::Note),
                division,
                "one time for all rounds, divided by their number: nothing is known about how much they differ",
                "take the time of each round, or of several groups, and tell the median and a spread",
            ));
        }
    }
}

/// Where the time that a call of `cudaEventElapsedTime` gives is divided.
fn divided(model: &Model<'_>, function: &Function<'_>, elapsed: Id) -> Option<Id> {
    let tree = &model.tree;
    let target = model.arguments(elapsed).next()?;
    let name = tree.text(tree.part(target, Role::Argument)?);
    tree.below(function.body)
        .filter(|id| tree.start(*id) > tree.end(elapsed))
        .find(|id| {
            let is_division = match tree.kind(*id) {
                Kind::Binary => tree.operator(*id) == "/",
                Kind::Assignment => tree.operator(*id) == "/=",
                _ => false,
            };
            // Milliseconds to seconds is a division by a number.
            is_division
                && tree.part(*id, Role::Left).is_some_and(|left| tree.text(tree.bare(left)) == name)
                && tree.part(*id, Role::Right).is_some_and(|right| !tree.is(tree.bare(right), Kind::Number))
        })
}
