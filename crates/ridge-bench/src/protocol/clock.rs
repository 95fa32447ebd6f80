//! Which clock is held, and whether a sample had it.

use ridge_gpu::{ClockReading, ThrottleReason, ThrottleReasons};
use ridge_stats::Samples;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a sample does not count. It is decided before the time is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rejection {
    /// No SM stamped its clock at both ends.
    ProbeFailed,
    /// The clock was below the held one.
    ClockLow,
    /// It was above.
    ClockHigh,
    /// The sensors told of heat, or of a slowdown by the hardware.
    Slowdown,
}

impl Rejection {
    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ProbeFailed => "probe-failed",
            Self::ClockLow => "clock-low",
            Self::ClockHigh => "clock-high",
            Self::Slowdown => "slowdown",
        }
    }
}

/// A window is too short for its clock when the timer is not better than this.
const LEAST_RESOLUTION: f64 = 0.1;
/// What the power limit makes of the clock is a range: it may be this wide at most.
const WIDEST: f64 = 0.05;

/// The clock that samples have to have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Held {
    /// The median at the end of the warm-up; absent when no probe gave one.
    pub(super) clock_hz: Option<f64>,
    /// How far a sample may be off, as a share.
    pub(super) tolerance: f64,
    /// The step of the device's timer.
    pub(super) step_ns: f64,
}

impl Held {
    /// From the clocks at the end of the warm-up.
    pub(super) fn new(clocks: &[f64], tolerance: f64, step_ns: f64) -> Self {
        let clock_hz = median(clocks);
        let deviations: Vec<f64> = clock_hz.map_or_else(Vec::new, |middle| {
            clocks
                .iter()
                .map(|clock| (clock - middle).abs() / middle)
                .collect()
        });
        // A load at the power limit has no single clock. 1.4826 times the median of the deviations is the standard
        // deviation of normal ones.
        let spread = median(&deviations).unwrap_or(0.0) * 1.4826 * 4.0;
        Self {
            clock_hz,
            tolerance: tolerance.max(spread.min(WIDEST)),
            step_ns,
        }
    }

    /// Whether a sample with this clock counts.
    pub(super) fn judge(
        &self,
        reading: Option<&ClockReading>,
        reasons: Option<ThrottleReasons>,
    ) -> Option<Rejection> {
        if reasons.is_some_and(is_disqualifying) {
            return Some(Rejection::Slowdown);
        }
        let usable =
            |reading: &ClockReading| reading.clock.get().is_finite() && reading.clock.get() > 0.0;
        let Some(reading) = reading.filter(|reading| usable(reading)) else {
            return Some(Rejection::ProbeFailed);
        };
        let Some(held) = self.clock_hz else {
            return Some(Rejection::ProbeFailed);
        };
        let resolution = 2.0 * self.step_ns / reading.window.get();
        if resolution > LEAST_RESOLUTION {
            // Nothing can be said about the clock of so short a window.
            return None;
        }
        let off = reading.clock.get() / held - 1.0;
        let allowed = self.tolerance.max(resolution);
        if off < -allowed {
            Some(Rejection::ClockLow)
        } else if off > allowed {
            Some(Rejection::ClockHigh)
        } else {
            None
        }
    }
}

/// The power limit shapes the clock, which is judged by itself; heat and the hardware's own slowdowns come and go.
fn is_disqualifying(reasons: ThrottleReasons) -> bool {
    [
        ThrottleReason::HardwareSlowdown,
        ThrottleReason::ThermalSlowdown,
        ThrottleReason::HardwareThermalSlowdown,
        ThrottleReason::PowerBrake,
    ]
    .into_iter()
    .any(|reason| reasons.contains(reason))
}

/// The median of those values that are finite; absent without any. Clocks, times and the like are not below zero.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    let finite = values.iter().copied().filter(|value| value.is_finite());
    let samples = Samples::new(finite.collect()).ok()?;
    Some(samples.median())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ridge_model::quantity::{Hertz, Nanos};

    fn reading(clock: f64, window: f64) -> ClockReading {
        ClockReading {
            clock: Hertz::new(clock),
            window: Nanos::new(window),
            multiprocessors: 132,
        }
    }

    const HELD: Held = Held {
        clock_hz: Some(1.98e9),
        tolerance: 0.02,
        step_ns: 32.0,
    };

    #[test]
    fn a_clock_that_falls_is_seen_and_one_that_is_held_is_not() {
        assert_eq!(HELD.judge(Some(&reading(1.965e9, 1e5)), None), None);
        // What a check against 75 % of the highest clock lets through.
        assert_eq!(
            HELD.judge(Some(&reading(1.58e9, 1e5)), None),
            Some(Rejection::ClockLow)
        );
        assert_eq!(
            HELD.judge(Some(&reading(2.1e9, 1e5)), None),
            Some(Rejection::ClockHigh)
        );
    }

    #[test]
    fn a_probe_without_a_clock_rejects() {
        assert_eq!(HELD.judge(None, None), Some(Rejection::ProbeFailed));
        for clock in [0.0, f64::NAN] {
            assert_eq!(
                HELD.judge(Some(&reading(clock, 1e5)), None),
                Some(Rejection::ProbeFailed)
            );
        }
    }

    #[test]
    fn the_timer_limits_what_can_be_told_of_a_short_window() {
        // 64 ns of 3 us are 2.1 %: 2.5 % off is told, 2 % is not.
        assert_eq!(
            HELD.judge(Some(&reading(1.98e9 * 0.975, 3e3)), None),
            Some(Rejection::ClockLow)
        );
        assert_eq!(HELD.judge(Some(&reading(1.98e9 * 0.98, 3e3)), None), None);
        assert_eq!(HELD.judge(Some(&reading(1.0e9, 500.0)), None), None);
    }

    #[test]
    fn heat_disqualifies_and_the_power_limit_does_not() {
        let with = |reason| Some(ThrottleReasons::NONE.with(reason));
        let fine = reading(1.98e9, 1e5);
        assert_eq!(
            HELD.judge(Some(&fine), with(ThrottleReason::PowerCap)),
            None
        );
        assert_eq!(
            HELD.judge(Some(&fine), with(ThrottleReason::ThermalSlowdown)),
            Some(Rejection::Slowdown)
        );
    }

    #[test]
    fn a_range_of_clocks_at_the_power_limit_is_held_as_a_range() {
        let clocks: Vec<f64> = (0..40_i32)
            .map(|place| 1.59e9 + f64::from(place % 5 - 2) * 15e6)
            .collect();
        let held = Held::new(&clocks, 0.02, 32.0);
        assert!(
            held.tolerance > 0.03 && held.tolerance <= WIDEST,
            "{held:?}"
        );
        assert!((Held::new(&[1.98e9; 20], 0.02, 32.0).tolerance - 0.02).abs() < 1e-12);
        assert_eq!(Held::new(&[], 0.02, 32.0).clock_hz, None);
    }
}
