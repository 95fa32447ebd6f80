//! What the computation needs, as the user gave it, against what the kernel did.

use ridge_diagnose::document::{Compulsory, CompulsoryBytes, CompulsoryOperations, Reading};
use ridge_model::quantity::{Bytes, Flops, Nanos};

use super::{Page, paragraph, percent};

/// Fewer operations than this part of those given are another computation.
const HALF: f64 = 0.5;

pub(super) fn write(out: &mut String, compulsory: &Compulsory, page: &Page) {
    let list = [
        compulsory.bytes.as_ref().map(bytes),
        compulsory.operations.as_ref().map(operations),
        gap(compulsory),
    ];
    for text in list.into_iter().flatten() {
        paragraph(out, &text, "   ", "     ", page);
    }
}

fn bytes(bytes: &CompulsoryBytes) -> String {
    let given = Bytes::new(bytes.given);
    let moved = match (bytes.factor, bytes.moved) {
        (Some(factor), Some(moved)) => format!(
            "moves {factor:.2} times the {given} given as compulsory ({} in all)",
            Bytes::new(moved)
        ),
        _ => format!("{given} given as compulsory; the bytes moved were not counted"),
    };
    match (bytes.at_peak_ns, bytes.at_attainable_ns) {
        (Some(peak), Some(attainable)) => format!(
            "{moved}: they take {} at the peak of device memory, {} at the {} of it that kernels attain",
            Nanos::new(peak),
            Nanos::new(attainable),
            percent(bytes.attainable_share)
        ),
        _ => format!("{moved}; the report does not tell the peak of device memory"),
    }
}

fn operations(operations: &CompulsoryOperations) -> String {
    let given = Flops::new(operations.given);
    let counted = match (operations.factor, operations.counted) {
        (Some(factor), Some(counted)) => format!(
            "executes {factor:.2} times the {given} given ({} in all)",
            Flops::new(counted)
        ),
        _ => format!("{given} given; those executed were not counted"),
    };
    match (operations.at_peak_ns, operations.pipe) {
        (Some(peak), Some(pipe)) => format!(
            "{counted}: they take {} at the peak of the {} that it uses",
            Nanos::new(peak),
            pipe.label()
        ),
        (None, None) if operations.factor.is_some_and(|factor| factor < HALF) => {
            format!(
                "{counted}: the rest is no floating-point arithmetic, or more was given than it does"
            )
        }
        _ => counted,
    }
}

fn gap(known: &Compulsory) -> Option<String> {
    let gap = format!(
        "runs for {:.2} times its lower bound of {}",
        known.gap?,
        Nanos::new(known.bound_ns?)
    );
    let most = percent(known.saving_ceiling?);
    Some(match known.reading? {
        Reading::BelowBound => {
            format!("{gap}: data stayed in caches, or more was given than is compulsory")
        }
        Reading::Good => {
            format!("{gap}, which is good: at most {most} to gain in this computation")
        }
        Reading::Between => format!("{gap}: at most {most} to gain in this computation"),
        Reading::Far => format!(
            "{gap}: at most {most} to gain in this computation; look at the access pattern and at occupancy first"
        ),
    })
}
