//! What a comparison says, as data.

use ridge_bench::document::{AxisValue, Remark};
use ridge_bench::protocol::Mode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entries::Entry;
use crate::Verdict;

/// Results of `ridge bench` against earlier ones. Fractions are 0 to 1, times are nanoseconds, and what is not known is
/// `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The worst verdict of all pairs; `null` when nothing was in both.
    pub verdict: Option<Verdict>,
    /// States that are on both sides, in the order of the later side.
    pub pairs: Vec<Pair>,
    /// States that are on one side only.
    pub unmatched: Vec<Unmatched>,
    /// What differs between the two measurements beside the code.
    pub warnings: Vec<Warning>,
}

/// What was measured: one mode of one state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Subject {
    /// The benchmark that it is of.
    pub benchmark: String,
    /// The state: the kernel, and the axes in brackets.
    pub state: String,
    /// The kernel.
    pub kernel: String,
    /// The axes.
    pub axes: Vec<AxisValue>,
    /// The mode.
    pub mode: Mode,
}

/// A state on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    /// What was measured.
    #[serde(flatten)]
    pub subject: Subject,
    /// The kernel on the earlier side; `null` where it has the same name there.
    #[serde(default)]
    pub kernel_before: Option<String>,
    /// The verdict on the later side.
    pub verdict: Verdict,
    /// The earlier time; `null` where no run of it has a valid one.
    pub before: Option<Time>,
    /// The later time.
    pub after: Option<Time>,
    /// The later time over the earlier one: above 1 is slower. `null` where the verdict is INVALID.
    pub ratio: Option<f64>,
    /// The lower end of the interval of the ratio; `null` without one.
    pub ratio_lower: Option<f64>,
    /// The upper end.
    pub ratio_upper: Option<f64>,
    /// The A/A band as a share: what differs by less may be the same.
    pub band: Option<f64>,
    /// What the band is as wide as.
    pub band_origin: Option<BandOrigin>,
    /// What counts as the same, as a share.
    pub margin: Option<f64>,
    /// Why nothing can be told; empty unless the verdict is AMBIGUOUS.
    pub doubts: Vec<Remark>,
    /// Why the times may not be compared; empty unless the verdict is INVALID.
    pub invalid: Vec<Remark>,
}

/// What an A/A band is as wide as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BandOrigin {
    /// The least band of the rules.
    Least,
    /// The band of this machine, as it was given.
    Machine,
    /// Two steps of the timer.
    TimerStep,
    /// The interval of a control.
    Control,
    /// What single runs may differ by where nothing says how far they do.
    SingleRuns,
    /// The distance of two modes.
    Modes,
}

impl BandOrigin {
    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Least => "least band",
            Self::Machine => "band of this machine",
            Self::TimerStep => "two timer steps",
            Self::Control => "control",
            Self::SingleRuns => "single runs",
            Self::Modes => "two modes",
        }
    }
}

impl From<ridge_stats::BandSource> for BandOrigin {
    fn from(source: ridge_stats::BandSource) -> Self {
        match source {
            ridge_stats::BandSource::Least => Self::Least,
            ridge_stats::BandSource::Machine => Self::Machine,
            ridge_stats::BandSource::TimerStep => Self::TimerStep,
            ridge_stats::BandSource::Control => Self::Control,
            ridge_stats::BandSource::Uncontrolled => Self::SingleRuns,
            ridge_stats::BandSource::Modes => Self::Modes,
        }
    }
}

/// A time of one side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Time {
    /// The median; of several runs, the geometric mean of their medians.
    pub median_ns: f64,
    /// The lower end of its 95 % interval; `null` for several runs.
    pub lower_ns: Option<f64>,
    /// The upper end.
    pub upper_ns: Option<f64>,
    /// Samples that count, in all runs.
    pub samples: u64,
    /// Runs with a valid time.
    pub runs: usize,
}

impl Time {
    /// Of the runs that are valid.
    pub(super) fn of(entries: &[Entry<'_>]) -> Option<Self> {
        let valid: Vec<_> = entries
            .iter()
            .filter(|entry| entry.is_valid())
            .filter_map(|entry| entry.mode)
            .filter_map(|mode| Some((mode, mode.median_ns.filter(|median| *median > 0.0)?)))
            .collect();
        let (first, _) = valid.first()?;
        let is_single = valid.len() == 1;
        let logs: f64 = valid.iter().map(|(_, median)| median.ln()).sum();
        Some(Self {
            median_ns: match valid.as_slice() {
                [(_, median)] => *median,
                _ => (logs / valid.len() as f64).exp(),
            },
            lower_ns: first.lower_ns.filter(|_| is_single),
            upper_ns: first.upper_ns.filter(|_| is_single),
            samples: valid.iter().map(|(mode, _)| mode.samples).sum(),
            runs: valid.len(),
        })
    }
}

impl Pair {
    /// Before anything is judged: nothing says yet that the times may be compared.
    pub(super) fn new(
        was: &Entry<'_>,
        is: &Entry<'_>,
        before: Option<Time>,
        after: Option<Time>,
    ) -> Self {
        let has_other_name = was.state.kernel != is.state.kernel;
        Self {
            subject: is.subject(),
            kernel_before: has_other_name.then(|| was.state.kernel.clone()),
            verdict: Verdict::Invalid,
            before,
            after,
            ratio: None,
            ratio_lower: None,
            ratio_upper: None,
            band: None,
            band_origin: None,
            margin: None,
            doubts: Vec::new(),
            invalid: Vec::new(),
        }
    }

    /// Takes what the statistics say.
    pub(super) fn judge(&mut self, comparison: &ridge_stats::Comparison) {
        self.verdict = comparison.verdict.into();
        self.ratio = Some(comparison.effect.ratio);
        self.ratio_lower = comparison.effect.interval.map(|interval| interval.lower);
        self.ratio_upper = comparison.effect.interval.map(|interval| interval.upper);
        self.band = Some(comparison.band);
        self.band_origin = Some(comparison.band_source.into());
        self.margin = Some(comparison.margin);
        self.doubts = comparison
            .doubts
            .iter()
            .map(|doubt| Remark {
                id: doubt.name().to_owned(),
                text: doubt.reason(),
                hint: Some(doubt.remedy().to_owned()),
            })
            .collect();
    }
}

/// A state that is on one side only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unmatched {
    /// What was measured.
    #[serde(flatten)]
    pub subject: Subject,
    /// Whether it is on the later side.
    pub is_new: bool,
}

impl Unmatched {
    pub(super) fn new(entry: &Entry<'_>, is_new: bool) -> Self {
        Self {
            subject: entry.subject(),
            is_new,
        }
    }
}

/// What differs between two measurements beside the code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// Its stable name.
    pub id: String,
    /// What differs.
    pub text: String,
    /// What that spoils.
    pub spoils: String,
}
