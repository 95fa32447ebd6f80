//! Whether one thing is faster than another.

mod band;
mod bootstrap;
mod hodges_lehmann;
mod rounds;
mod runs;
mod samples;
mod verdict;

pub use band::BandSource;
pub use rounds::{Round, Rounds, compare_rounds};
pub use runs::compare_runs;
pub use samples::compare_samples;
pub use verdict::{Doubt, Verdict};

use crate::error::{Error, check_setting};
use crate::interval::{Confidence, Interval};

/// What a verdict asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// What counts as the same, as a share: 0.01 means between 1 / 1.01 and 1.01. Set by what matters to the user and never
    /// widened by noise. Above 0 and below 1; 0.01 by default.
    pub margin: f64,
    /// The band that is never undercut, as a share, however quiet the control is. At least 0 and below 1; 0.005 by default.
    pub least_band: f64,
    /// How far two measurements of the same thing were found to differ on this machine, as a share. Takes the place of a
    /// control where there is none, and adds to it where there is one. At least 0 and below 1; absent by default.
    pub machine_band: Option<f64>,
    /// Of the intervals.
    pub confidence: Confidence,
    /// Below so many replicates no verdict is given; 3 by default. 1 is for those who know that a fresh process changes
    /// nothing.
    pub min_replicates: usize,
    /// Whether no verdict is given without a control or `machine_band`; true by default.
    pub needs_control: bool,
    /// The band of two single runs where nothing says how far two of them differ: no control, no `machine_band` and too few
    /// runs. At least 0 and below 1; 0.02 by default, which is what checks of the clock let through. Of use only where
    /// `needs_control` is false, and not for rounds, whose arms share what changes between runs.
    pub uncontrolled_band: f64,
    /// How often the bootstrap draws. At least 100; 1000 by default.
    pub resamples: usize,
    /// Of the bootstrap. The same seed gives the same interval.
    pub seed: u64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            margin: 0.01,
            least_band: 0.005,
            machine_band: None,
            confidence: Confidence::P95,
            min_replicates: 3,
            needs_control: true,
            uncontrolled_band: 0.02,
            resamples: 1000,
            seed: 0x5249_4447,
        }
    }
}

impl Rules {
    fn check(&self) -> Result<(), Error> {
        check_setting(
            "margin",
            self.margin,
            |margin| margin > 0.0 && margin < 1.0,
            "above 0 and below 1",
        )?;
        let is_band = |band: f64| (0.0..1.0).contains(&band);
        check_setting(
            "least_band",
            self.least_band,
            is_band,
            "at least 0 and below 1",
        )?;
        check_setting(
            "uncontrolled_band",
            self.uncontrolled_band,
            is_band,
            "at least 0 and below 1",
        )?;
        if let Some(band) = self.machine_band {
            check_setting("machine_band", band, is_band, "at least 0 and below 1")?;
        }
        check_setting(
            "min_replicates",
            self.min_replicates as f64,
            |replicates| replicates >= 1.0,
            "at least 1",
        )?;
        check_setting(
            "resamples",
            self.resamples as f64,
            |resamples| resamples >= 100.0,
            "at least 100, or the interval has no ends",
        )
    }
}

/// B over A, or the control over A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// The ratio of the times: above one means slower than A.
    pub ratio: f64,
    /// The interval of the ratio. Absent where there are too few rounds or samples for one.
    pub interval: Option<Interval>,
}

impl Effect {
    pub(crate) fn from_log(ratio: f64, interval: Option<Interval>) -> Self {
        Self {
            ratio: ratio.exp(),
            interval: interval.map(|logs| Interval {
                lower: logs.lower.exp(),
                upper: logs.upper.exp(),
            }),
        }
    }
}

/// What a comparison comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The verdict on B.
    pub verdict: Verdict,
    /// B over A.
    pub effect: Effect,
    /// The control over A; absent without control.
    pub control: Option<Effect>,
    /// The A/A band as a share: what differs by less may be the same.
    pub band: f64,
    /// What the band is as wide as.
    pub band_source: BandSource,
    /// The margin of the rules.
    pub margin: f64,
    /// How many replicates were compared: fresh processes that repeat the whole. Of runs, those of the side with fewer.
    pub replicates: usize,
    /// How many rounds, over all replicates; 1 for samples of a single run.
    pub rounds: usize,
    /// Why nothing can be told, the most telling reason first. Empty if and only if the verdict is another.
    pub doubts: Vec<Doubt>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_make_no_sense_are_refused() {
        let base = Rules::default();
        assert_eq!(base.check(), Ok(()));
        let bad = [
            Rules {
                margin: 0.0,
                ..base
            },
            Rules {
                margin: f64::NAN,
                ..base
            },
            Rules {
                least_band: -0.1,
                ..base
            },
            Rules {
                machine_band: Some(1.0),
                ..base
            },
            Rules {
                uncontrolled_band: -1.0,
                ..base
            },
            Rules {
                min_replicates: 0,
                ..base
            },
            Rules {
                resamples: 99,
                ..base
            },
        ];
        for rules in bad {
            assert_eq!(rules.check().unwrap_err().code(), "STAT0008", "{rules:?}");
        }
    }
}
