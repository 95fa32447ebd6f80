//! How to measure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::mode::Mode;

/// How to measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    /// What times are of.
    pub modes: Vec<Mode>,
    /// Half the width of the median's interval that is narrow enough, as a share of the median.
    pub precision: f64,
    /// Samples before precision can end a measurement.
    pub min_samples: usize,
    /// Samples at which it ends in any case.
    pub max_samples: usize,
    /// Time of sampling before precision can end a measurement; at most `max_time_ns` counts.
    #[serde(default)]
    #[schemars(!default)]
    pub min_time_ns: f64,
    /// Time at which it ends in any case, for each mode of a state.
    pub max_time_ns: f64,
    /// With what the L2 is flushed.
    pub flush: FlushKind,
    /// How many times the size of the L2 is touched by that.
    pub flush_times_l2: u32,
    /// Whether inputs are made anew, with other numbers, before each sample.
    pub has_fresh_inputs: bool,
    /// How far the clock of a sample may be from the held one, as a share.
    pub clock_tolerance: f64,
    /// Time after which warming up ends in any case.
    pub max_warm_up_ns: f64,
    /// Time after which a kernel counts as hanging.
    pub timeout_ns: f64,
    /// The seed of what a kernel must not foresee: which samples are looked at, and where.
    #[serde(default)]
    #[schemars(!default)]
    pub check_seed: u32,
}

/// With what the L2 is flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FlushKind {
    /// With loads: what is left is clean.
    Read,
    /// With stores: what is left is dirty, and the next kernel pays for writing it back.
    Write,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            modes: vec![Mode::Cold],
            precision: 0.005,
            min_samples: 30,
            max_samples: 1_000_000,
            // 30 samples settle an interval, and not the median: it moved by 0.8 % between ten processes for a kernel of
            // 40 us, and by 0.15 % with 500 (docs/measurements/bench.md). This is about that many of 0.4 ms and less.
            min_time_ns: 250e6,
            max_time_ns: 5e9,
            flush: FlushKind::Read,
            flush_times_l2: 2,
            has_fresh_inputs: false,
            // Steps of the boost clock are 15 MHz, which is 0.8 % of 1,980 MHz; two of them are no fall.
            clock_tolerance: 0.02,
            max_warm_up_ns: 1e9,
            timeout_ns: 10e9,
            check_seed: 1,
        }
    }
}

impl Settings {
    /// The flush in the words of the device.
    pub(super) const fn device_flush(&self) -> ridge_gpu::Flush {
        ridge_gpu::Flush {
            kind: match self.flush {
                FlushKind::Read => ridge_gpu::FlushKind::Read,
                FlushKind::Write => ridge_gpu::FlushKind::Write,
            },
            times_l2: self.flush_times_l2,
        }
    }
}
