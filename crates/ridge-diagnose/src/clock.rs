//! The SM clock of a run: one definition for every answer that names it.

use ncu_rep::Metrics;

/// Cycles of the GPCs come first: SMs run on the same clock, and the profiler shows them as "SM Frequency". Those of the SMs
/// come from another pass, which differs by a third of a per cent in the median and by up to 20 % in kernels of two
/// microseconds, where it makes clocks that the device does not have (224 kernels on an H200). They stand in where they are
/// alone.
const SM_CLOCKS: [&str; 3] = [
    "gpc__cycles_elapsed.avg.per_second",
    "sm__cycles_elapsed.avg.per_second",
    "smsp__cycles_elapsed.avg.per_second",
];
const HIGHEST: &str = "device__attribute_clock_rate";

/// The SM clock of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmClock {
    /// In hertz.
    pub hz: f64,
    /// The metric that tells it.
    pub metric: &'static str,
}

impl SmClock {
    /// Absent when the input holds none of the counters.
    ///
    /// In kernels of a few microseconds the cycles are counted over more than the time, which makes a clock that the
    /// device does not have: there its highest one stands in.
    #[must_use]
    pub fn of(metrics: &Metrics<'_>) -> Option<Self> {
        let (metric, hz) = SM_CLOCKS
            .into_iter()
            .find_map(|name| Some((name, positive(metrics, name)?)))?;
        let highest = positive(metrics, HIGHEST).map(|khz| 1e3 * khz);
        Some(match highest {
            Some(highest) if hz > highest => Self {
                hz: highest,
                metric: HIGHEST,
            },
            _ => Self { hz, metric },
        })
    }
}

fn positive(metrics: &Metrics<'_>, name: &str) -> Option<f64> {
    metrics
        .number(name)
        .filter(|number| *number > 0.0 && number.is_finite())
}

#[cfg(test)]
mod tests {
    use ncu_rep::{Listed, MetricTable, Value};

    use super::*;

    fn clock(listed: &[(&str, f64)]) -> Option<SmClock> {
        let table: MetricTable = listed
            .iter()
            .map(|&(name, value)| -> Listed {
                (name.to_owned(), Some(Value::F64(value)), Vec::new())
            })
            .collect();
        SmClock::of(&table.metrics())
    }

    #[test]
    fn the_clock_that_the_profiler_shows_goes_before_those_of_other_passes() {
        let gpc = ("gpc__cycles_elapsed.avg.per_second", 1.70e9);
        let sm = ("sm__cycles_elapsed.avg.per_second", 1.71e9);
        let found = |hz, metric| Some(SmClock { hz, metric });
        assert_eq!(clock(&[sm, gpc]), found(1.70e9, gpc.0));
        assert_eq!(clock(&[sm]), found(1.71e9, sm.0));
        assert_eq!(clock(&[sm, (gpc.0, 0.0)]), found(1.71e9, sm.0));
        assert_eq!(clock(&[]), None);
    }

    #[test]
    fn no_clock_is_above_the_highest_of_the_device() {
        let sm = ("sm__cycles_elapsed.avg.per_second", 2.5e9);
        let found = clock(&[sm, (HIGHEST, 1_980_000.0)]).unwrap();
        assert_eq!((found.hz, found.metric), (1.98e9, HIGHEST));
    }
}
