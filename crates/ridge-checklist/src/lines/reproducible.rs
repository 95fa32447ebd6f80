//! Sums by atomics, split sums and races give other last bits, or other results, from run to run. Where tests, debugging or
//! regulation need the same bits, this has to be shown.
//!
//! # How it is answered
//! By outputs of several runs: results of `ridge numerics --repeat N -- PROGRAM`. Yes where all were the same, with the share
//! of runs that could differ unseen; no where they were not. Atomics in kernels, and flags or code that leave the order of
//! sums open, are told, and settle nothing. Not applicable where a file of claims says `needs_repeat = false`.
//!
//! # What to do
//! Sum in a fixed order: within blocks, then over blocks in order. Choose deterministic algorithms of libraries. Where runs
//! differ by more than rounding, look for a race: `ridge sanitize`.
//!
//! # When it is wrong
//! A few runs on one machine do not show what happens on another GPU, or with other sizes.

use ridge_model::quantity::counted;
use ridge_numerics::stored::Repeat;

use crate::document::{Answer, Evidence};
use crate::inputs::{Inputs, Named};
use crate::kernels::{counter, sources};
use crate::part::{Part, figure};
use crate::words::{list, quote};

pub(super) const ID: &str = "reproducible";
pub(super) const QUESTION: &str = "Are results the same from run to run, where they have to be?";

/// What compares outputs of several runs.
fn repeat(inputs: &Inputs) -> String {
    format!(
        "ridge numerics --repeat 20 -o repeat.json -- {}",
        inputs.program()
    )
}

/// Effects that leave the order of sums open.
const ORDERS: &[&str] = &["float-atomics", "split-k"];
/// Counters of atomic operations: with and without a result.
const ATOMICS: &[&str] = &[
    "lts__t_sectors_srcunit_tex_op_atom.sum",
    "lts__t_sectors_srcunit_tex_op_red.sum",
];

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    if let Some(claims) = &inputs.claims
        && claims.content.needs_repeat == Some(false)
    {
        return vec![Part::new(
            Answer::NotApplicable,
            format!("{} says that results need not repeat", claims.name),
        )];
    }
    let parts: Vec<Part> = inputs
        .repeats
        .iter()
        .map(|named| of_repeat(inputs, named))
        .collect();
    let is_settled = !parts.is_empty();
    if is_settled {
        return parts;
    }
    let mut hints = Vec::new();
    for arithmetic in &inputs.arithmetic {
        let effects = arithmetic.content.effects.iter();
        let open = effects.filter(|(effect, _)| ORDERS.contains(&effect.as_str()));
        hints.extend(open.map(|(effect, _)| format!("{effect} in {}", arithmetic.content.subject)));
    }
    let (kernels, evidence) = atomics(inputs);
    if kernels > 0 {
        hints.push(format!(
            "atomic operations in {}",
            counted(kernels, "kernel")
        ));
    }
    if hints.is_empty() {
        return Vec::new();
    }
    vec![
        Part::unknown(
            format!("runs were not compared, and there are {}", list(&hints)),
            repeat(inputs),
        )
        .with(evidence),
    ]
}

pub(super) fn ask(inputs: &Inputs) -> (String, Vec<String>) {
    (
        "outputs of several runs were not compared".to_owned(),
        vec![repeat(inputs)],
    )
}

/// Kernels with atomic operations, and the figures of the heaviest.
fn atomics(inputs: &Inputs) -> (u64, Vec<Evidence>) {
    const TOLD: usize = 3;
    let mut count = 0;
    let mut list = Vec::new();
    for source in sources(inputs) {
        for kernel in source.kernels.iter().map(|weighed| weighed.kernel) {
            let values = ATOMICS
                .iter()
                .filter_map(|metric| Some((*metric, counter(kernel, metric)?)))
                .filter(|(_, value)| *value > 0.0);
            let before = list.len();
            list.extend(values.map(|(metric, value)| {
                figure(source.file, Some(&kernel.name), metric, value, "sector")
            }));
            count += u64::from(list.len() > before);
        }
    }
    list.truncate(TOLD);
    (count, list)
}

fn of_repeat(inputs: &Inputs, named: &Named<Repeat>) -> Part {
    let (found, file) = (&named.content, named.name.as_str());
    let command: Vec<String> = found.command.iter().map(|word| quote(word)).collect();
    let reason = format!("{file}: {}", found.sentence);
    let part = if found.is_identical && found.runs > 1 {
        Part::yes(reason)
    } else if found.is_identical {
        Part::unknown(reason, repeat(inputs))
    } else {
        Part::no(reason)
            .doing(found.actions.iter().take(2).cloned())
            .then(format!("ridge sanitize -- {}", command.join(" ")))
    };
    let missed = found.could_be_missed.map(|share| {
        figure(
            file,
            None,
            "runs that could differ unseen, at most",
            share,
            "fraction",
        )
    });
    part.with([
        figure(file, None, "runs", found.runs as f64, "run"),
        figure(
            file,
            None,
            "different outputs",
            found.distinct as f64,
            "output",
        )
        .healthy(1.0),
    ])
    .with(missed)
}
