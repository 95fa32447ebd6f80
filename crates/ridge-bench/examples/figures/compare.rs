//! From replicates to verdicts.

use std::error::Error;

use ridge_stats::{Comparison, Round, Rounds, Rules, Verdict, compare_rounds};
use serde::Serialize;

use crate::replicate::{Kernel, Replicate};

/// The arms of a comparison, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arms {
    pub(crate) a: usize,
    pub(crate) b: usize,
    pub(crate) control: usize,
}

/// A line of the results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Line {
    /// `trial`, with three arms and the wall time of the whole, or `group`, where many arms share the processes.
    pub(crate) part: &'static str,
    pub(crate) kernel: Kernel,
    /// By how much more work B was to have, as a share.
    pub(crate) growth: f64,
    /// By how much more it has, in whole units of work.
    pub(crate) work: f64,
    pub(crate) verdict: &'static str,
    /// B over A.
    pub(crate) ratio: f64,
    pub(crate) lower: Option<f64>,
    pub(crate) upper: Option<f64>,
    pub(crate) control: Option<f64>,
    pub(crate) band: f64,
    pub(crate) band_source: String,
    pub(crate) doubts: Vec<String>,
    pub(crate) replicates: usize,
    pub(crate) rounds: usize,
    pub(crate) rejected: usize,
    /// The median of A.
    pub(crate) a_ns: f64,
    /// All processes together, from the start of the first to the end of the last.
    pub(crate) wall_s: f64,
}

/// Compares two of the arms over all replicates.
pub(crate) fn compare(replicates: &[Replicate], arms: Arms) -> Result<Comparison, Box<dyn Error>> {
    let rounds = replicates
        .iter()
        .map(|replicate| {
            let round = |medians: &Vec<f64>| Round {
                a: medians[arms.a],
                b: medians[arms.b],
                control: Some(medians[arms.control]),
            };
            replicate.rounds.iter().map(round).collect()
        })
        .collect();
    let mut rounds = Rounds::new(rounds)?;
    let step = replicates
        .iter()
        .map(|replicate| replicate.timer_step_ns)
        .fold(0.0, f64::max);
    if step > 0.0 {
        rounds = rounds.with_step(step)?;
    }
    Ok(compare_rounds(&rounds, &Rules::default())?)
}

/// What is written of a comparison.
pub(crate) fn line(
    part: &'static str,
    kernel: Kernel,
    growth: f64,
    replicates: &[Replicate],
    arms: Arms,
    wall_s: f64,
) -> Result<Line, Box<dyn Error>> {
    let found = compare(replicates, arms)?;
    let mut of_a: Vec<f64> = replicates
        .iter()
        .flat_map(|replicate| replicate.rounds.iter().map(|round| round[arms.a]))
        .collect();
    of_a.sort_by(f64::total_cmp);
    Ok(Line {
        part,
        kernel,
        growth,
        work: kernel.larger(growth).1,
        verdict: match found.verdict {
            Verdict::Same => "same",
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::CannotTell => "cannot-tell",
        },
        ratio: found.effect.ratio,
        lower: found.effect.interval.map(|interval| interval.lower),
        upper: found.effect.interval.map(|interval| interval.upper),
        control: found.control.map(|control| control.ratio),
        band: found.band,
        band_source: format!("{:?}", found.band_source).to_lowercase(),
        doubts: found.doubts.iter().map(ToString::to_string).collect(),
        replicates: found.replicates,
        rounds: found.rounds,
        rejected: replicates.iter().map(|replicate| replicate.rejected).sum(),
        a_ns: of_a.get(of_a.len() / 2).copied().unwrap_or(0.0),
        wall_s,
    })
}
