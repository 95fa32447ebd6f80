//! Where questions come from: one file for each lesson.
//!
//! A maker of questions returns `None` where the device or the gallery does not give what it needs.

pub(crate) mod intensity;
pub(crate) mod layers;
pub(crate) mod measuring;
pub(crate) mod numerics;
pub(crate) mod occupancy;
pub(crate) mod ridge_point;
pub(crate) mod three_bounds;
pub(crate) mod two_walls;

use ridge_model::bound::{BoundError, Bounds, Ceilings, Work};
use ridge_model::quantity::Amount;
use ridge_model::{Device, NumberFormat, Peak, PeakRequest, PeakUnit};
use ridge_stats::Random;

use crate::gallery::{Case, Diagnosed};
use crate::question::Question;

/// What questions are about.
#[derive(Clone, Copy, Debug)]
pub struct Material<'m> {
    /// The learner's device.
    pub device: &'m Device,
    /// Cases with reports.
    pub cases: &'m [Case],
}

/// Makes a question.
pub(crate) type Maker = fn(&Material<'_>, &mut Random) -> Option<Question>;

impl Material<'_> {
    /// Lower bounds of some work on the device, from its sheet.
    fn bounds(&self, work: &Work) -> Result<Bounds, BoundError> {
        Bounds::of(work, &Ceilings::of(self.device))
    }

    /// What ordinary arithmetic of a format reaches.
    fn vector(&self, format: NumberFormat) -> Option<&Peak> {
        self.device
            .peak(PeakRequest::of(format).on(PeakUnit::Vector))
    }

    fn name(&self) -> &str {
        &self.device.name
    }
}

/// One of several.
fn pick<'t, T>(values: &'t [T], random: &mut Random) -> Option<&'t T> {
    values.get(random.below(values.len()))
}

/// A power of two between two exponents.
fn power(low: usize, high: usize, random: &mut Random) -> u64 {
    1 << (low + random.below(high - low + 1))
}

/// A share as people write it.
fn percent(share: f64) -> String {
    Amount::new(share * 100.0, ridge_model::quantity::Unit::PERCENT).to_string()
}

/// What the counters of a kernel show, without its name: lines for a question.
fn counters(diagnosed: &Diagnosed) -> Vec<String> {
    let mut lines = Vec::new();
    let launch = match (diagnosed.blocks, diagnosed.threads) {
        (Some(blocks), Some(threads)) => format!(
            ", {} blocks of {threads} threads",
            ridge_model::quantity::grouped(blocks)
        ),
        _ => String::new(),
    };
    let device = diagnosed.device.as_deref().unwrap_or("one GPU");
    lines.push(format!("a report of {device}{launch}"));
    let rows: Vec<String> = diagnosed
        .rows
        .iter()
        .map(|row| format!("{} {}", row.resource.label(), percent(row.share)))
        .collect();
    lines.push(format!("busy, as a share of the time: {}", rows.join(", ")));
    let waits: Vec<String> = diagnosed
        .waits
        .iter()
        .map(|wait| format!("{} {} ({})", wait.reason, percent(wait.share), wait.meaning))
        .collect();
    if !waits.is_empty() {
        lines.push(format!("warps wait for: {}", waits.join(", ")));
    }
    if let Some(occupancy) = diagnosed.occupancy {
        lines.push(format!("achieved occupancy: {}", percent(occupancy)));
    }
    lines
}

/// Adds lines to what is given.
fn with_given(mut question: Question, lines: impl IntoIterator<Item = String>) -> Question {
    question.given.extend(lines);
    question
}
