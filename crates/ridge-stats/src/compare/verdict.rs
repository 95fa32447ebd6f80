//! From intervals to words.

use std::fmt::{self, Display, Formatter};

use super::Rules;
use super::band::{Band, BandSource};
use crate::error::Arm;
use crate::interval::Interval;

/// What can be said about B against A. That a measurement is not valid is said before anything is compared, by those who
/// checked it; there is no ratio then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The interval of the ratio lies within the margin.
    Same,
    /// The interval lies below the band: B takes less time.
    Faster,
    /// The interval lies above the band: B takes more time.
    Slower,
    /// None of these, or too little to go by. [`super::Comparison::doubts`] has the reasons.
    CannotTell,
}

/// Why nothing can be told. Each says what would help.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Doubt {
    /// Neither a control nor a band of this machine.
    NoControl,
    /// Fewer replicates than the rules ask for.
    FewReplicates {
        /// How many there are.
        replicates: usize,
        /// How many there have to be.
        needed: usize,
    },
    /// Fewer rounds than an interval needs.
    FewRounds {
        /// How many there are.
        rounds: usize,
        /// How many there have to be.
        needed: usize,
    },
    /// An arm has too few effective samples for an interval of its median, or an interval that reaches down to zero.
    FewSamples {
        /// The arm.
        arm: Arm,
    },
    /// An arm has a trend that may explain the difference, or hide one.
    Drift {
        /// The arm.
        arm: Arm,
        /// Its change over the run, as a share.
        change: f64,
    },
    /// There is a difference, but the band is wider.
    WithinBand {
        /// Why the band is so wide.
        source: BandSource,
    },
    /// The interval reaches beyond the margin and into the band.
    WideInterval,
}

impl Doubt {
    /// A name that does not change.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NoControl => "no-control",
            Self::FewReplicates { .. } => "few-replicates",
            Self::FewRounds { .. } => "few-rounds",
            Self::FewSamples { .. } => "few-samples",
            Self::Drift { .. } => "drift",
            Self::WithinBand { .. } => "within-band",
            Self::WideInterval => "wide-interval",
        }
    }

    /// What stands in the way.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::NoControl => "no control".to_owned(),
            Self::FewReplicates { replicates, needed } => {
                format!("replicates: {replicates} of {needed} that are needed")
            }
            Self::FewRounds { rounds, needed } => {
                format!("rounds: {rounds} of {needed} that are needed")
            }
            Self::FewSamples { arm } => {
                format!("{arm} has too few independent samples for an interval of its median")
            }
            Self::Drift { arm, change } => {
                format!("{arm} drifts by {:+.1} % over the run", change * 100.0)
            }
            Self::WithinBand { source } => match source {
                BandSource::Least => "the difference is within the least band of the rules",
                BandSource::Machine => "the difference is within the band of this machine",
                BandSource::TimerStep => "the difference is within two steps of the timer",
                BandSource::Control => {
                    "the difference is within what the control shows without any"
                }
                BandSource::Uncontrolled => {
                    "the difference is within what single runs may differ by"
                }
                BandSource::Modes => {
                    "the samples have two modes, whose distance may explain the difference"
                }
            }
            .to_owned(),
            Self::WideInterval => "the interval of the ratio is too wide".to_owned(),
        }
    }

    /// What would help.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::NoControl => {
                "measure A a second time under another name, or give the band of this machine"
            }
            Self::FewReplicates { .. } => "repeat the measurement in fresh processes",
            Self::FewRounds { .. } => "measure more rounds",
            Self::FewSamples { .. } => "take more, over a longer time",
            Self::Drift { .. } => "warm up longer, look at the clock, or measure A and B in turns",
            Self::WithinBand { source } => match source {
                BandSource::Least => "narrow it if so small a difference matters",
                BandSource::Machine => "measure its band again with nothing else running",
                BandSource::TimerStep => "time more launches in one sample",
                BandSource::Control => "add replicates, and keep other work off the GPU",
                BandSource::Uncontrolled => {
                    "measure each side in three or more fresh processes, or give the band of this machine"
                }
                BandSource::Modes => "find out what switches between them",
            },
            Self::WideInterval => "add replicates first, then rounds or samples",
        }
    }
}

impl Display for Doubt {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let separator = if matches!(self, Self::NoControl) {
            ": "
        } else {
            "; "
        };
        write!(f, "{}{separator}{}", self.reason(), self.remedy())
    }
}

impl Verdict {
    /// The rule, over logarithms of ratios. The first that holds counts, so the verdicts exclude each other.
    fn of(effect: Interval, band: f64, margin: f64) -> Self {
        if -margin <= effect.lower && effect.upper <= margin {
            Self::Same
        } else if effect.lower > band {
            Self::Slower
        } else if effect.upper < -band {
            Self::Faster
        } else {
            Self::CannotTell
        }
    }
}

/// What is missing for a verdict, by the rules.
pub(super) fn few(
    rules: &Rules,
    replicates: usize,
    has_control: bool,
) -> impl Iterator<Item = Doubt> {
    let has_band = has_control || rules.machine_band.is_some();
    let no_control = (rules.needs_control && !has_band).then_some(Doubt::NoControl);
    let needed = rules.min_replicates;
    let few = (replicates < needed).then_some(Doubt::FewReplicates { replicates, needed });
    no_control.into_iter().chain(few)
}

/// The verdict, and the doubts that there are without one. `doubts` are those that rule out any verdict.
pub(super) fn judge(
    effect: Option<Interval>,
    band: Band,
    margin: f64,
    mut doubts: Vec<Doubt>,
) -> (Verdict, Vec<Doubt>) {
    let Some(effect) = effect else {
        return (Verdict::CannotTell, doubts);
    };
    let by_numbers = Verdict::of(effect, band.width, margin.ln_1p());
    if by_numbers != Verdict::CannotTell {
        if doubts.is_empty() {
            return (by_numbers, doubts);
        }
        return (Verdict::CannotTell, doubts);
    }
    let differs = effect.lower > 0.0 || effect.upper < 0.0;
    doubts.push(if differs {
        Doubt::WithinBand {
            source: band.source,
        }
    } else {
        Doubt::WideInterval
    });
    (Verdict::CannotTell, doubts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lower: f64, upper: f64, band: f64) -> Verdict {
        Verdict::of(Interval { lower, upper }, band, 0.01)
    }

    #[test]
    fn the_rule_of_the_measurement_notes() {
        assert_eq!(of(-0.002, 0.002, 0.005), Verdict::Same);
        // Beyond the band, but too small to matter.
        assert_eq!(of(0.006, 0.009, 0.005), Verdict::Same);
        assert_eq!(of(0.006, 0.011, 0.005), Verdict::Slower);
        assert_eq!(of(-0.02, -0.006, 0.005), Verdict::Faster);
        assert_eq!(of(0.004, 0.011, 0.005), Verdict::CannotTell);
        assert_eq!(of(0.02, 0.03, 0.05), Verdict::CannotTell);
        assert_eq!(of(-0.5, 0.5, 0.005), Verdict::CannotTell);
    }

    #[test]
    fn every_doubt_says_what_would_help() {
        let band = |width, source| Band { width, source };
        let judge = |lower, upper, source| {
            judge(
                Some(Interval { lower, upper }),
                band(0.05, source),
                0.01,
                vec![],
            )
        };
        for source in [
            BandSource::Least,
            BandSource::Machine,
            BandSource::TimerStep,
            BandSource::Control,
            BandSource::Uncontrolled,
            BandSource::Modes,
        ] {
            let (verdict, doubts) = judge(0.02, 0.03, source);
            assert_eq!(verdict, Verdict::CannotTell);
            assert_eq!(doubts, [Doubt::WithinBand { source }]);
            assert!(doubts[0].to_string().contains("; "), "{}", doubts[0]);
        }
        assert_eq!(
            judge(-0.02, 0.03, BandSource::Least).1,
            [Doubt::WideInterval]
        );
        let drift = Doubt::Drift {
            arm: Arm::B,
            change: -0.034,
        };
        assert_eq!(
            drift.to_string(),
            "B drifts by -3.4 % over the run; warm up longer, look at the clock, or measure A and B in turns"
        );
    }
}
