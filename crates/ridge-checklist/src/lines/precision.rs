//! Faster formats, fast math and other orders of sums change results. They are fine as long as outputs stay within what the
//! computation needs, which is to be shown and not assumed.
//!
//! # How it is answered
//! By outputs that were held against a reference: results of `ridge numerics REF OUT`, and benchmarks whose outputs were
//! compared. No where one is wrong. Unknown where flags or code change results (`--use_fast_math`, TF32, half-precision sums)
//! and nothing was compared, or where a comparison cannot tell.
//!
//! # What to do
//! Hold an output of the fast version against one of a trusted version, on real data: `ridge numerics REF OUT`. Keep sums in
//! FP32 or FP64 where inputs are narrow.
//!
//! # When it is wrong
//! A comparison is of one input. Sums with much cancellation need their own tolerance.

use ridge_bench::document::{Document as Bench, ITSELF, Status};
use ridge_model::quantity::counted;
use ridge_numerics::stored::{Comparison, Outcome};

use crate::inputs::{Inputs, Named};
use crate::part::{Part, figure};
use crate::words::{list, path};

pub(super) const ID: &str = "precision";
pub(super) const QUESTION: &str =
    "Are outputs within tolerance, after faster formats and fast math?";

const COMPARE: &str = "ridge numerics REF OUT -o numerics.json";

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    let mut parts: Vec<Part> = inputs.comparisons.iter().map(of_comparison).collect();
    parts.extend(inputs.benches.iter().filter_map(of_bench));
    let changes = changes(inputs);
    if changes.is_empty() {
        return parts;
    }
    let what = list(&changes);
    if parts.is_empty() {
        parts.push(Part::unknown(
            format!("results change by {what}, and no output was held against a reference"),
            COMPARE,
        ));
    } else {
        parts.push(Part::new(
            crate::document::Answer::NotApplicable,
            format!("results change by {what}"),
        ));
    }
    parts
}

pub(super) fn ask(_inputs: &Inputs) -> (String, Vec<String>) {
    (
        "no output was held against a reference".to_owned(),
        vec![COMPARE.to_owned()],
    )
}

/// What changes results, by flags and by what was found in code.
fn changes(inputs: &Inputs) -> Vec<String> {
    let mut changes = Vec::new();
    let mut add = |what: String| {
        if !changes.contains(&what) {
            changes.push(what);
        }
    };
    for build in &inputs.builds {
        for effect in build.content.effects() {
            add(format!("{} ({})", effect.title(), build.name));
        }
    }
    for arithmetic in &inputs.arithmetic {
        for (effect, is_certain) in &arithmetic.content.effects {
            // The compiler's default, and orders of sums, which are in the line on repeating.
            if effect != "contraction" && *is_certain {
                add(format!("{effect} ({})", arithmetic.content.subject));
            }
        }
    }
    changes
}

fn of_comparison(named: &Named<Comparison>) -> Part {
    let (comparison, file) = (&named.content, named.name.as_str());
    let tolerance = comparison
        .tolerance
        .as_ref()
        .map_or_else(String::new, |name| format!(" (tolerance: {name})"));
    let reason = format!("{}: {}{tolerance}", comparison.output, comparison.sentence);
    let again = format!(
        "ridge numerics {} {} -v",
        path(&comparison.reference),
        path(&comparison.output)
    );
    let part = match comparison.outcome {
        Outcome::Right => Part::yes(reason),
        Outcome::Wrong => Part::no(reason).doing(comparison.next.clone()).then(again),
        Outcome::CannotTell => Part::unknown(reason, again).doing(comparison.next.clone()),
    };
    let failing = comparison.failing.map(|(failing, elements)| {
        figure(
            file,
            Some(&comparison.output),
            format!(
                "elements beyond the tolerance, of {}",
                counted(elements, "element")
            ),
            failing as f64,
            "element",
        )
        .healthy(0.0)
    });
    part.with(failing)
}

fn of_bench(named: &Named<Bench>) -> Option<Part> {
    let (document, file) = (&named.content, named.name.as_str());
    if document.machine.is_simulated {
        // Outputs of a model are not those of the kernels.
        return None;
    }
    let wrong: Vec<String> = document
        .states
        .iter()
        .filter(|state| state.status == Status::Differs)
        .map(|state| state.name.clone())
        .collect();
    if !wrong.is_empty() {
        return Some(
            Part::no(format!(
                "{file}: outputs of {} are not what the reference says",
                list(&wrong)
            ))
            .then("ridge bench SPEC.toml -v"),
        );
    }
    let compared = document.states.iter().filter(|state| {
        let with = state.checked.with.as_deref();
        with.is_some_and(|with| with != ITSELF) && state.checked.launches > 0
    });
    let (states, launches) = compared.fold((0_u64, 0_u64), |(states, launches), state| {
        (states + 1, launches.saturating_add(state.checked.launches))
    });
    (states > 0).then(|| {
        Part::yes(format!(
            "{file}: outputs of {} are what their references say",
            counted(states, "state")
        ))
        .with([figure(
            file,
            None,
            "launches whose outputs were compared",
            launches as f64,
            "launch",
        )])
    })
}
