//! What a launch takes at rates that were measured.

use ridge_diagnose::document::{AtMeasured, MeasuredPart};
use ridge_model::quantity::{Bandwidth, Bytes, ComputeRate, Flops, Nanos};

use super::{Page, paragraph, ratio};

/// Without `-v`, the part that takes longest stands for the others.
const PARTS: usize = 1;

pub(super) fn write(out: &mut String, known: &AtMeasured, page: &Page) {
    let shown = if page.is_verbose {
        known.parts.len()
    } else {
        PARTS
    };
    let parts: Vec<String> = known.parts.iter().take(shown).map(part).collect();
    if let (Some(attainable), Some(share)) = (known.attainable_ns, known.share) {
        // Above the duration: work that only reads is faster than a copy, and clocks differ.
        let text = format!(
            "attainable in {}, {} of its duration, at rates {}: {}",
            Nanos::new(attainable),
            ratio(share),
            known.by,
            parts.join("; ")
        );
        paragraph(out, &text, "   ", "     ", page);
    }
    if let Some(attainable) = known.compulsory_attainable_ns {
        let parts: Vec<String> = known.compulsory.iter().map(part).collect();
        let text = format!(
            "what was given is attainable in {} at rates that were measured: {}",
            Nanos::new(attainable),
            parts.join("; ")
        );
        paragraph(out, &text, "   ", "     ", page);
    }
}

fn part(part: &MeasuredPart) -> String {
    let (amount, rate) = if part.unit == "byte" {
        (
            Bytes::new(part.amount).to_string(),
            Bandwidth::new(part.per_s).to_string(),
        )
    } else {
        (
            Flops::new(part.amount).to_string(),
            ComputeRate::new(part.per_s).to_string(),
        )
    };
    format!(
        "{amount} of {} take {} at {rate}",
        part.what,
        Nanos::new(part.time_ns)
    )
}
