//! A kernel is timed once, without a launch before.
//!
//! # What it says
//! A timed part contains one launch, which is not repeated, and the function has not launched this kernel before.
//!
//! # How it is seen
//! By the launches between two readings of a clock or two events, and by those before. Functions of which nothing is known may have launched
//! the kernel: where one is called before, the rule is silent.
//!
//! # Why it matters
//! The first launch loads code, sets up the context and runs while clocks are still rising: it can take ten times as long as later ones. And
//! one time tells nothing about how much times differ.
//!
//! # What to do
//! Launch a few times before, then take many times, and tell their median and spread. `ridge bench` does.
//!
//! # When it is wrong
//! When the first launch is what matters, or the kernel runs for seconds.

use super::found;
use crate::finding::{Found, Severity};
use crate::model::Model;
use crate::model::host::{Event, Region, Step, launches};

pub(super) const ID: &str = "one-shot-timing";

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    for function in &model.functions {
        let steps = model.steps(function);
        for region in model.regions(&steps) {
            let mut inside = launches(&steps, region);
            let (Some((at, kernel)), None) = (inside.next(), inside.next()) else { continue };
            let node = steps[at].node;
            if model.is_repeated(node, function) || !is_first(&steps, region, kernel) {
                continue;
            }
            out.push(found(
                model,
                (ID, Severity::Warning),
                node,
                format!("`{kernel}` is timed once, and this is its first launch: the time contains what only a first launch does"),
                "launch it a few times before, then take many times and tell their median and spread",
            ));
        }
    }
}

/// Whether a kernel was not launched before a region, as far as is known.
pub(super) fn is_first(steps: &[Step<'_>], region: Region, kernel: &str) -> bool {
    !steps[..region.begin].iter().any(|step| match step.event {
        Event::Launch { kernel: earlier } => earlier == kernel,
        _ => false,
    })
}
