//! What findings look at: the profile and everything that was computed from it.

use crate::code::CodeMap;
use crate::document::{Compulsory, Latency, Location};
use crate::findings::places;
use crate::ledger::{Ledger, Stage};
use crate::mix::{InstructionMix, TENSOR};
use crate::profile::KernelProfile;
use crate::samples;
use crate::speed_of_light::SpeedOfLight;
use crate::stalls::{Stall, waiting_for};

/// What findings look at.
#[derive(Debug)]
pub(crate) struct Case<'c, 'r> {
    pub(crate) profile: &'c KernelProfile<'r>,
    pub(crate) ledger: &'c Ledger,
    pub(crate) speed_of_light: &'c SpeedOfLight,
    pub(crate) stalls: &'c [Stall],
    pub(crate) mix: Option<&'c InstructionMix>,
    pub(crate) code: Option<&'c CodeMap>,
    pub(crate) latency: Option<&'c Latency>,
    /// What the user said that the computation needs.
    pub(crate) compulsory: Option<&'c Compulsory>,
}

impl Case<'_, '_> {
    /// A metric as a number.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.profile.metrics.number(name)
    }

    /// The sum of several metrics; absent when any of them is.
    pub(crate) fn sum(&self, names: &[&str]) -> Option<f64> {
        names.iter().map(|name| self.number(name)).sum()
    }

    /// Of the time in which a warp waits and is not ready to issue, the part that goes into these reasons.
    pub(crate) fn waiting_for(&self, reasons: &[&str]) -> f64 {
        waiting_for(self.stalls, reasons)
    }

    /// Of the time of a warp, the part that it spends in this state.
    pub(crate) fn stalled(&self, reason: &str) -> f64 {
        let found = self.stalls.iter().find(|stall| stall.reason == reason);
        found.map_or(0.0, |stall| stall.share)
    }

    /// Whether the input lacks any of these metrics.
    pub(crate) fn lacks(&self, metrics: &[&str]) -> bool {
        metrics.iter().any(|metric| self.number(metric).is_none())
    }

    /// Whether the ledger lacks a side: device memory, the L1, issue slots, the pipes behind them, or constants, which
    /// no Speed Of Light shows. A remedy that is weighed on it may run into a unit that nobody sees.
    pub(crate) fn has_partial_ledger(&self) -> bool {
        let is_unseen = |stage| self.ledger.row(stage).is_none();
        let sides = [Stage::DramBytes, Stage::L1Wavefronts, Stage::Issue];
        // Stages without a row show in the Speed Of Light only; of those of the memory, the data stage of the L1 is the one
        // that gets busy, so that its row says as much.
        (self.speed_of_light.memory.is_none() && is_unseen(Stage::L1Data))
            || sides.into_iter().any(is_unseen)
            || self.lacks(&["idc__requests.sum"])
            || self
                .mix
                .is_none_or(|mix| mix.of_opcodes(TENSOR) > 0.0 && is_unseen(Stage::Tensor))
    }

    /// The share of a stage, zero where it was not computed: for comparisons between stages only.
    pub(crate) fn busy(&self, stage: Stage) -> f64 {
        self.ledger.row(stage).map_or(0.0, |row| row.busy_share)
    }

    /// How busy the busiest unit is: the ledger's, or the Speed Of Light's where that shows more.
    pub(crate) fn busiest(&self) -> f64 {
        let ledger = self.ledger.busiest().map_or(0.0, |row| row.busy_share);
        let light = self
            .speed_of_light
            .busiest()
            .map_or(0.0, |(member, _)| member.share);
        ledger.max(light).min(1.0)
    }

    /// Blocks of the grid over blocks that the device holds at once.
    pub(crate) fn waves(&self) -> Option<f64> {
        self.number("launch__waves_per_multiprocessor")
            .filter(|waves| *waves > 0.0)
    }

    /// Multiprocessors that the launch could use.
    pub(crate) fn multiprocessors(&self) -> Option<f64> {
        self.number("launch__sm_count")
            .or_else(|| self.number("device__attribute_multiprocessor_count"))
            .filter(|count| *count > 0.0)
    }

    /// Theoretical occupancy, 0 to 1.
    pub(crate) fn theoretical_occupancy(&self) -> Option<f64> {
        self.number("sm__maximum_warps_per_active_cycle_pct")
            .map(|percent| percent / 100.0)
    }

    /// Of the cycles of the busiest multiprocessor, the part that the average one was active too: 1 is balanced.
    pub(crate) fn balance(&self) -> Option<f64> {
        let (average, most) = (
            self.number("sm__cycles_active.avg")?,
            self.number("sm__cycles_active.max")?,
        );
        (most > 0.0).then(|| (average / most).min(1.0))
    }

    /// The part of the duration for which the average multiprocessor had a warp.
    pub(crate) fn active(&self) -> Option<f64> {
        let (active, elapsed) = (
            self.number("sm__cycles_active.sum")?,
            self.number("sm__cycles_elapsed.sum")?,
        );
        (elapsed > 0.0).then(|| (active / elapsed).min(1.0))
    }

    /// The part of the duration for which no multiprocessor had a warp: launch, and idling inside what was profiled.
    /// Nothing that is done to the work of the kernel shortens it.
    pub(crate) fn idle(&self) -> f64 {
        self.idle_share().unwrap_or(0.0)
    }

    /// The same, absent when it was not collected.
    pub(crate) fn idle_share(&self) -> Option<f64> {
        let active = self.number("sm__cycles_active.max")?;
        let elapsed = self
            .number("sm__cycles_elapsed.max")
            .filter(|cycles| *cycles > 0.0)?;
        Some((1.0 - active / elapsed).clamp(0.0, 1.0))
    }

    /// Where warps were sampled most: where the time of a kernel goes that is busy with instructions.
    pub(crate) fn sampled_places(&self) -> Vec<Location> {
        places(&samples::by_address(&self.profile.metrics), self.code)
    }

    /// Values of a metric by instruction.
    pub(crate) fn by_instruction(&self, metric: &str) -> Vec<(u64, f64)> {
        self.profile
            .metrics
            .get(metric)
            .and_then(|metric| metric.by_number().ok())
            .unwrap_or_default()
    }
}
