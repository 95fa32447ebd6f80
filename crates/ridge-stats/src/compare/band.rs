//! The A/A band: by how much two measurements of the same thing may differ.

use super::Rules;
use crate::interval::Interval;

/// What made the band as wide as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BandSource {
    /// The least band of the rules.
    Least,
    /// The band of this machine, which the rules brought.
    Machine,
    /// Two steps of the timer.
    TimerStep,
    /// The interval of the control.
    Control,
    /// What single runs may differ by where nothing says how far they do.
    Uncontrolled,
    /// The distance of two modes of one arm, on top of the widest of the others: the median may jump from one to the other.
    Modes,
}

/// A half-width around no difference, of logarithms of ratios.
#[derive(Clone, Copy, Debug)]
pub(super) struct Band {
    pub(super) width: f64,
    pub(super) source: BandSource,
}

/// Steps by which the medians of equal arms can differ: each is rounded by up to one.
const STEPS: f64 = 2.0;

impl Band {
    /// The widest of the rules' bands, of two steps over the smaller `median`, and of the farther end of the control's
    /// interval.
    pub(super) fn new(
        rules: &Rules,
        step: Option<f64>,
        median: f64,
        control: Option<Interval>,
    ) -> Self {
        let least = Self {
            width: rules.least_band.ln_1p(),
            source: BandSource::Least,
        };
        let machine = rules
            .machine_band
            .map(|band| (band.ln_1p(), BandSource::Machine));
        let step = step.map(|step| ((STEPS * step / median).ln_1p(), BandSource::TimerStep));
        let control =
            control.map(|logs| (logs.lower.abs().max(logs.upper.abs()), BandSource::Control));
        [machine, step, control]
            .into_iter()
            .flatten()
            .fold(least, |widest, (width, source)| {
                if width > widest.width {
                    Self { width, source }
                } else {
                    widest
                }
            })
    }

    /// At least as wide as `share`.
    pub(super) fn at_least(self, share: f64, source: BandSource) -> Self {
        let width = share.ln_1p();
        if width > self.width {
            Self { width, source }
        } else {
            self
        }
    }

    /// With the distance of modes added.
    pub(super) fn with_modes(self, distance: f64) -> Self {
        if distance > 0.0 {
            Self {
                width: self.width + distance,
                source: BandSource::Modes,
            }
        } else {
            self
        }
    }

    /// As a share.
    pub(super) fn share(self) -> f64 {
        self.width.exp_m1()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_decides() {
        let rules = Rules::default();
        let band = |rules: &Rules, step, control| Band::new(rules, step, 3_200.0, control);
        let close = |band: Band, share: f64, source| {
            assert!((band.share() - share).abs() < 1e-12, "{band:?}");
            assert_eq!(band.source, source);
        };
        close(band(&rules, None, None), 0.005, BandSource::Least);
        close(band(&rules, Some(32.0), None), 0.02, BandSource::TimerStep);
        let control = Interval {
            lower: -(1.03_f64.ln()),
            upper: 0.001,
        };
        close(
            band(&rules, Some(32.0), Some(control)),
            0.03,
            BandSource::Control,
        );
        let noisy = Rules {
            machine_band: Some(0.05),
            ..rules
        };
        close(
            band(&noisy, Some(32.0), Some(control)),
            0.05,
            BandSource::Machine,
        );
        let split = band(&rules, None, None).with_modes(1.1_f64.ln());
        close(split, 1.005 * 1.1 - 1.0, BandSource::Modes);
        close(
            band(&rules, None, None).with_modes(0.0),
            0.005,
            BandSource::Least,
        );
    }
}
