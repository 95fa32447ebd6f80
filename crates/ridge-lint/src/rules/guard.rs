//! Conditions under which code runs.

use crate::model::{Factor, Model, Spread, Value};
use crate::syntax::{Id, Kind, Role};

/// How many lanes of a warp get to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lanes {
    Many,
    Few,
    Unknown,
}

/// A condition with fewer lanes than this leaves few.
const FEW: i64 = 8;

/// How many lanes of a warp get to a node of a function.
pub(super) fn lanes(model: &Model<'_>, function: usize, id: Id) -> Lanes {
    let tree = &model.tree;
    let body = model.functions[function].body;
    let mut is_unknown = false;
    for (above, below) in tree.path_up(id).take_while(|(above, _)| *above >= body) {
        let found = match tree.kind(above) {
            Kind::If | Kind::Conditional if tree.role(below) == Role::Consequence => tree
                .part(above, Role::Condition)
                .map(|condition| under(model, function, condition)),
            Kind::Binary if tree.operator(above) == "&&" && tree.role(below) == Role::Right => tree
                .part(above, Role::Left)
                .map(|condition| under(model, function, condition)),
            Kind::Compound => tree
                .parts(above)
                .take(128)
                .take_while(|before| *before != below)
                .filter(|before| tree.is(*before, Kind::If) && leaves(model, *before))
                .filter_map(|before| tree.part(before, Role::Condition))
                .map(|condition| after(model, function, condition))
                .find(|lanes| *lanes != Lanes::Many),
            _ => None,
        };
        match found {
            Some(Lanes::Few) => return Lanes::Few,
            Some(Lanes::Unknown) => is_unknown = true,
            _ => {}
        }
    }
    if is_unknown {
        Lanes::Unknown
    } else {
        Lanes::Many
    }
}

/// Whether an `if` without `else` ends with leaving the function or the round of the loop.
fn leaves(model: &Model<'_>, id: Id) -> bool {
    let tree = &model.tree;
    let Some(consequence) = tree.part(id, Role::Consequence) else {
        return false;
    };
    let last = if tree.is(consequence, Kind::Compound) {
        tree.parts(consequence).last()
    } else {
        Some(consequence)
    };
    last.is_some_and(|last| tree.is(last, Kind::Return) || tree.text(last).starts_with("continue"))
        && tree.part(id, Role::Alternative).is_none()
}

/// The conditions that `&&` or `||` joins.
fn joined(model: &Model<'_>, condition: Id, operator: &str) -> Vec<Id> {
    let tree = &model.tree;
    let (mut open, mut parts) = (vec![condition], Vec::new());
    while let Some(id) = open.pop() {
        let id = tree.bare(id);
        if tree.is(id, Kind::Binary) && tree.operator(id) == operator && parts.len() < 32 {
            open.extend(tree.part(id, Role::Left));
            open.extend(tree.part(id, Role::Right));
        } else {
            parts.push(id);
        }
    }
    parts
}

fn is_lane(value: Value) -> bool {
    matches!(value.spread, Spread::Lane(factor) if factor != Factor::Number(0))
}

fn under(model: &Model<'_>, function: usize, condition: Id) -> Lanes {
    let tree = &model.tree;
    if tree.below(condition).any(|id| tree.is(id, Kind::Error)) {
        return Lanes::Unknown;
    }
    let mut whole = Lanes::Many;
    for id in joined(model, condition, "&&") {
        let value = |role| tree.part(id, role).map(|part| model.value(function, part));
        let lanes = match tree.kind(id) {
            Kind::Unary if tree.operator(id) == "!" => match value(Role::Argument) {
                Some(value) if is_lane(value) => Lanes::Few,
                Some(value) if value.spread == Spread::Unknown => Lanes::Unknown,
                _ => Lanes::Many,
            },
            Kind::Binary => {
                let (Some(left), Some(right)) = (value(Role::Left), value(Role::Right)) else {
                    continue;
                };
                match tree.operator(id) {
                    "==" if is_lane(left) && !is_lane(right)
                        || is_lane(right) && !is_lane(left) =>
                    {
                        Lanes::Few
                    }
                    // A part of the lane is compared, such as every eighth.
                    "==" if is_part_of_lane(model, function, id) => Lanes::Few,
                    "<" if is_lane(left) && right.number.is_some_and(|number| number < FEW) => {
                        Lanes::Few
                    }
                    "<" if is_lane(left) && right.is_constant && right.number.is_none() => {
                        Lanes::Unknown
                    }
                    _ if left.spread == Spread::Unknown || right.spread == Spread::Unknown => {
                        Lanes::Unknown
                    }
                    _ => Lanes::Many,
                }
            }
            _ => match model.value(function, id).spread {
                Spread::Unknown => Lanes::Unknown,
                _ => Lanes::Many,
            },
        };
        match lanes {
            Lanes::Few => return Lanes::Few,
            Lanes::Unknown => whole = Lanes::Unknown,
            Lanes::Many => {}
        }
    }
    whole
}

/// Whether a comparison asks for a remainder or bits of a lane.
fn is_part_of_lane(model: &Model<'_>, function: usize, comparison: Id) -> bool {
    let tree = &model.tree;
    [Role::Left, Role::Right]
        .into_iter()
        .filter_map(|role| tree.part(comparison, role))
        .map(|side| tree.bare(side))
        .any(|side| {
            tree.is(side, Kind::Binary)
                && matches!(tree.operator(side), "%" | "&")
                && tree
                    .part(side, Role::Left)
                    .is_some_and(|lane| is_lane(model.value(function, lane)))
        })
}

/// What is left after `if (condition) return;`.
fn after(model: &Model<'_>, function: usize, condition: Id) -> Lanes {
    let tree = &model.tree;
    let mut whole = Lanes::Many;
    for id in joined(model, condition, "||") {
        let value = |role| tree.part(id, role).map(|part| model.value(function, part));
        if tree.is(id, Kind::Binary) {
            let (Some(left), Some(right)) = (value(Role::Left), value(Role::Right)) else {
                continue;
            };
            let is_few = match tree.operator(id) {
                "!=" => is_lane(left) != is_lane(right),
                ">" | ">=" => is_lane(left) && right.number.is_some_and(|number| number < FEW),
                _ => false,
            };
            if is_few {
                return Lanes::Few;
            }
            if left.spread == Spread::Unknown || right.spread == Spread::Unknown {
                whole = Lanes::Unknown;
            }
        } else if is_lane(model.value(function, id)) {
            // `if (threadIdx.x) return;`
            return Lanes::Few;
        }
    }
    whole
}
