//! Of many launches only their mean is known.
//!
//! # What it says
//! One time is taken around a loop of launches, and divided by the number of rounds.
//!
//! # How it is seen
//! A loop with a launch stands between two events or two readings of a clock, and what comes of them is divided by the bound of that
//! loop afterwards; what `cudaEventElapsedTime` gives may be divided by any variable.
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

/// Nodes behind a timed part in which a division is looked for: some twenty statements.
const MOST_NODES: usize = 1024;

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    for function in &model.functions {
        let steps = model.steps(function);
        for region in model.regions(&steps) {
            let begin = steps[region.begin].node;
            let around = launches(&steps, region).find_map(|(at, _)| model.loop_since(steps[at].node, begin));
            let Some(around) = around.filter(|_| !model.is_repeated(begin, function)) else { continue };
            let rounds = rounds(model, around);
            let division = match (region.clock, region.elapsed) {
                (Clock::Events, Some(elapsed)) => {
                    let elapsed = steps[elapsed].node;
                    let target = model.arguments(elapsed).next();
                    let name = target.and_then(|target| model.tree.part(target, Role::Argument)).map(|name| model.tree.text(name));
                    name.and_then(|name| divided(model, function, elapsed, Some(name), rounds))
                }
                (Clock::Host, _) => divided(model, function, steps[region.end].node, None, rounds),
                (Clock::Events, None) => None,
            };
            let Some(division) = division else { continue };
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

/// What the counter of a loop is compared with.
fn rounds(model: &Model<'_>, around: Id) -> Option<Id> {
    let tree = &model.tree;
    let condition = tree.bare(tree.part(around, Role::Condition)?);
    let right = tree.part(condition, Role::Right).filter(|_| tree.is(condition, Kind::Binary))?;
    Some(tree.bare(right))
}

/// Where a time that is known from a node on is divided. Its name is that of a variable, or it is what the statement of the node makes.
fn divided(model: &Model<'_>, function: &Function<'_>, known: Id, name: Option<&str>, rounds: Option<Id>) -> Option<Id> {
    let tree = &model.tree;
    let mut names: Vec<&str> = name.into_iter().collect();
    let statement = tree
        .above(known)
        .take_while(|above| *above > function.body)
        .find(|above| matches!(tree.kind(*above), Kind::Declaration | Kind::ExpressionStatement | Kind::Return));
    // The reading of the clock itself may stand in the division.
    let first = if name.is_none() { statement? } else { known };
    for id in tree.from(first, function.body).take(MOST_NODES) {
        let is_of_time = |side: Id| {
            std::iter::once(side).chain(tree.below(side)).any(|id| {
                id == known && name.is_none() || tree.is(id, Kind::Identifier) && names.contains(&tree.text(id))
            })
        };
        let is_division = match tree.kind(id) {
            Kind::Binary => tree.operator(id) == "/",
            Kind::Assignment => tree.operator(id) == "/=",
            _ => false,
        };
        if is_division && let Some((left, right)) = tree.part(id, Role::Left).zip(tree.part(id, Role::Right)) {
            let is_by_rounds = rounds.is_some_and(|rounds| is_same_number(model, right, rounds));
            // Milliseconds to seconds is a division by a number.
            let is_by_variable = || !tree.is(tree.bare(right), Kind::Number);
            let is_time_itself = || name.is_some_and(|name| tree.text(tree.bare(left)) == name);
            if is_by_rounds && is_of_time(left) || is_time_itself() && is_by_variable() {
                return Some(id);
            }
        }
        // What is made of the time is a time too.
        let made = match tree.kind(id) {
            Kind::InitDeclarator => tree.part(id, Role::Declarator).zip(tree.part(id, Role::Value)),
            Kind::Assignment => tree.part(id, Role::Left).zip(tree.part(id, Role::Right)),
            _ => None,
        };
        if let Some((target, value)) = made
            && tree.is(target, Kind::Identifier)
            && names.len() < 16
            && is_of_time(value)
        {
            names.push(tree.text(target));
        }
    }
    None
}

/// Whether a divisor is the number of rounds, maybe converted or beside another factor.
fn is_same_number(model: &Model<'_>, divisor: Id, rounds: Id) -> bool {
    let tree = &model.tree;
    std::iter::once(divisor)
        .chain(tree.below(divisor))
        .take(32)
        .any(|id| match (tree.kind(id), tree.kind(rounds)) {
            (Kind::Number, Kind::Number) => number(tree.text(id)).is_some_and(|a| number(tree.text(rounds)) == Some(a)),
            (a, b) => a == b && a == Kind::Identifier && tree.text(id) == tree.text(rounds),
        })
}

/// A literal without what says its type.
fn number(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    digits.trim_end_matches('0').strip_suffix('.').unwrap_or(digits).parse().ok()
}
