//! What binds a kernel: the class and the resource.

use crate::document::Limiter;
use crate::ledger::{Class, Ledger, Resource};
use crate::speed_of_light::SpeedOfLight;

/// Below this share of its peak no unit binds a kernel: the time goes into waiting. The profiler's own rule draws the
/// line between "latency" and a busy unit at the same 60 %.
pub const BUSY: f64 = 0.60;
/// A kernel shorter than this is shorter than what it costs to launch it: kernels launched back to back follow each
/// other every 2.4 to 3.9 us (H200, A100; measured and published).
pub(crate) const LAUNCH_PERIOD_NS: f64 = 3_900.0;
/// Of the duration more is outside the kernel's work than inside it: the launch is then the larger of the two, and the
/// most that can be saved.
pub(crate) const MOSTLY_IDLE: f64 = 0.5;
/// Shares that differ by less than ten points are balanced by the profiler's own rule ("Balanced" below a gap of 10).
/// The ledger names the unit more exactly than the profiler's list, which counts where it shows more than that.
pub(crate) const CLEARLY_MORE: f64 = 0.10;

/// Finds what binds; absent when neither the ledger nor the Speed Of Light says anything.
pub(crate) fn limiter(
    duration_ns: Option<f64>,
    idle: f64,
    ledger: &Ledger,
    speed_of_light: &SpeedOfLight,
) -> Option<Limiter> {
    let row = ledger
        .busiest()
        .map(|row| (row.resource, row.busy_share, row.source.clone()));
    let member = speed_of_light
        .busiest()
        .map(|(member, resource)| (resource, member.share, vec![member.metric.clone()]));
    let (busiest, share, source) = match (row, member) {
        (Some(row), Some(member)) if member.1 > row.1 + CLEARLY_MORE => member,
        (Some(row), _) => row,
        (None, Some(member)) => member,
        (None, None) => whole_values(speed_of_light)?,
    };
    let is_launch = duration_ns.is_some_and(|ns| ns < LAUNCH_PERIOD_NS) || idle > MOSTLY_IDLE;
    let (class, resource) = if is_launch && share < BUSY {
        (Class::Launch, Resource::Launch)
    } else if share < BUSY {
        (Class::Latency, Resource::Latency)
    } else {
        (busiest.class(), busiest)
    };
    Some(Limiter {
        class,
        resource,
        share,
        busiest,
        source,
    })
}

/// Where not even the members were collected, the two values still tell compute from memory; which unit it is, they do
/// not, so the one that is the limit most often stands for its side.
fn whole_values(speed_of_light: &SpeedOfLight) -> Option<(Resource, f64, Vec<String>)> {
    let (compute, memory) = (speed_of_light.compute?, speed_of_light.memory?);
    Some(if compute >= memory {
        let metric = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
        (Resource::Issue, compute, vec![metric.to_owned()])
    } else {
        let metric = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
        (Resource::Dram, memory, vec![metric.to_owned()])
    })
}
