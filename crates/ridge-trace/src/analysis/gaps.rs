//! Times at which a device has nothing to do, their class, and what the host did meanwhile.

use super::host::Host;
use super::intervals::Union;
use crate::timeline::{NameId, Timeline, Work};

/// A gap between two pieces of queued work below this is what devices need between two kernels: 1.06 to 2.6 us (10th to
/// 90th percentile) were seen on an H200 with a full queue, 0.99 to 2.1 us on H100s. Longer ones have another reason.
pub(crate) const FLOOR_NS: i64 = 3_000;

/// Why a device had nothing to do.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum GapClass {
    /// The host asked for the next work only after the work before had ended.
    HostWait,
    /// The work was queued in time, and followed as soon as a device can.
    LaunchFloor,
    /// The work was queued in time, but had to wait: for an event, a copy engine, memory.
    Dependency,
    /// The trace does not have the call.
    Unknown,
}

/// What the host did while a device waited for it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum HostCause {
    /// It waited in a call until the work before was done.
    Synchronisation,
    /// It waited for a copy from or to pageable memory.
    PageableCopy,
    /// It was busy with launches and copies.
    Launching,
    /// It was in another call, such as one that allocates memory.
    OtherCall,
    /// The profiler held it up.
    Profiler,
    /// It ran code of the program.
    HostCode,
}

/// A time at which a device had nothing to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap {
    pub(crate) start_ns: i64,
    pub(crate) end_ns: i64,
    pub(crate) class: GapClass,
    /// For those that the host caused: what it did.
    pub(crate) cause: Option<HostCause>,
    /// The call that says so.
    pub(crate) call: Option<NameId>,
    /// Place of the work before it; none where it begins with the part of the trace that is looked at.
    pub(crate) before: Option<usize>,
    /// Place of the work behind it.
    pub(crate) behind: usize,
}

impl Gap {
    pub(crate) fn length_ns(&self) -> i64 {
        self.end_ns - self.start_ns
    }
}

/// The gaps of one device: `places` are those of its work, in order.
pub(crate) fn of_device(
    timeline: &Timeline,
    host: &Host<'_>,
    profiler: &Union,
    places: &[usize],
) -> Vec<Gap> {
    let mut gaps = Vec::new();
    // In a part of a trace, what comes before the first work is a gap too.
    let mut last: Option<(i64, Option<usize>)> = timeline.window.as_ref().map(|_| (0, None));
    for place in places.iter().copied() {
        let work = &timeline.work[place];
        if let Some((end, before)) = last
            && work.start_ns > end
        {
            gaps.push(judge(
                timeline,
                host,
                profiler,
                work,
                (end, work.start_ns),
                (before, place),
            ));
        }
        if last.is_none_or(|(end, _)| work.end_ns >= end) {
            last = Some((work.end_ns, Some(place)));
        }
    }
    gaps
}

fn judge(
    timeline: &Timeline,
    host: &Host<'_>,
    profiler: &Union,
    work: &Work,
    (start_ns, end_ns): (i64, i64),
    (before, behind): (Option<usize>, usize),
) -> Gap {
    let call = timeline.call_of(work);
    // A gap at the start of a part began when the work before it had ended.
    let began_ns = match (before, &timeline.window) {
        (None, Some(window)) => {
            let earlier = window.earlier_ns.get(timeline.device_of(work));
            earlier.copied().flatten().unwrap_or(start_ns)
        }
        _ => start_ns,
    };
    let class = match call {
        None => GapClass::Unknown,
        Some(call) if call.start_ns > began_ns => GapClass::HostWait,
        Some(_) if end_ns - began_ns < FLOOR_NS => GapClass::LaunchFloor,
        Some(_) => GapClass::Dependency,
    };
    let (cause, name) = match call {
        Some(call) if class == GapClass::HostWait => {
            let (cause, name) = cause(host, profiler, call, (start_ns, end_ns));
            (Some(cause), name)
        }
        _ => (None, None),
    };
    Gap {
        start_ns,
        end_ns,
        class,
        cause,
        call: name,
        before,
        behind,
    }
}

/// What the thread that asked for the work did before.
fn cause(
    host: &Host<'_>,
    profiler: &Union,
    launch: &crate::Call,
    gap: (i64, i64),
) -> (HostCause, Option<NameId>) {
    let length = gap.1 - gap.0;
    let (mut queueing, mut longest): (i64, Option<(i64, NameId)>) = (0, None);
    for within in host.within(launch.thread, gap) {
        // Whoever waits for the work before cannot ask for more, however soon after it the wait ends.
        if within.call.start_ns <= gap.0 && within.is_blocking() {
            let cause = if within.is_pageable {
                HostCause::PageableCopy
            } else {
                HostCause::Synchronisation
            };
            return (cause, Some(within.call.name));
        }
        use crate::CallClass::{Copy, CopyAsync, GraphLaunch, Launch, Memset};
        match within.class {
            Launch | GraphLaunch | Copy | CopyAsync | Memset => queueing += within.overlap_ns,
            _ if longest.is_none_or(|(most, _)| within.overlap_ns > most) => {
                longest = Some((within.overlap_ns, within.call.name));
            }
            _ => {}
        }
    }
    if 2 * profiler.within(gap) >= length {
        return (HostCause::Profiler, None);
    }
    match longest {
        Some((most, name)) if 2 * most >= length => (HostCause::OtherCall, Some(name)),
        _ if 2 * queueing >= length => (HostCause::Launching, Some(launch.name)),
        _ => (HostCause::HostCode, None),
    }
}
