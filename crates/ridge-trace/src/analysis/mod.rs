//! Where the time of a trace went, by the formulas of `docs/design/timeline.md`.

mod device;
pub(crate) mod distribution;
pub(crate) mod gaps;
mod host;
mod intervals;
mod kernels;
mod read_backs;
mod sequences;
mod transfers;
mod verdict;

use ridge_model::device::Origin;

pub use gaps::{GapClass, HostCause};
pub use kernels::kernels;
pub use read_backs::{ReadBacks, read_backs};

pub(crate) use device::Seen;
pub(crate) use distribution::to_f64;
pub(crate) use host::Host;
pub(crate) use intervals::Union;
pub(crate) use verdict::percent;

use crate::document::{CallRow, Completeness, NotChecked, Range, Skipped, Trace};
use crate::findings;
use crate::timeline::{CallClass, CopyKind, Timeline};

/// What the link between the host and a device carries.
#[derive(Clone, Debug, PartialEq)]
pub struct HostLink {
    /// The number of the device.
    pub device: u64,
    /// Bytes a second to the device.
    pub to_device_bytes_per_s: Option<f64>,
    /// Bytes a second to the host.
    pub to_host_bytes_per_s: Option<f64>,
    /// Where the figures come from.
    pub origin: Origin,
    /// The same in words.
    pub source: String,
}

impl HostLink {
    pub(crate) fn of(&self, kind: CopyKind) -> Option<f64> {
        match kind {
            CopyKind::HostToDevice => self.to_device_bytes_per_s,
            CopyKind::DeviceToHost => self.to_host_bytes_per_s,
            _ => None,
        }
    }
}

/// Says where the time of a trace went, and what is wrong.
///
/// `file` is how the input was named, and `links` what the links of its devices carry, as far as that is known.
#[must_use]
pub fn analyse(timeline: &Timeline, file: &str, links: &[HostLink]) -> Trace {
    let host = Host::new(timeline);
    let profiler = Union::of_sorted(
        timeline
            .overheads
            .iter()
            .map(|overhead| (overhead.start_ns, overhead.end_ns)),
    );
    let mut places: Vec<Vec<usize>> = vec![Vec::new(); timeline.devices.len()];
    for (place, work) in timeline.work.iter().enumerate() {
        if let Some(own) = places.get_mut(timeline.device_of(work)) {
            own.push(place);
        }
    }
    let mut seen: Vec<Seen<'_>> = timeline
        .devices
        .iter()
        .zip(&places)
        .filter(|(_, places)| !places.is_empty())
        .map(|(device, places)| {
            let link = links.iter().find(|link| link.device == device.number);
            Seen::new(timeline, &host, &profiler, device, places, link)
        })
        .collect();
    seen.sort_by_key(|seen| seen.device.number);
    let findings = findings::run(&seen);
    let busy: Vec<(i64, i64)> = timeline
        .work
        .iter()
        .map(|work| (work.start_ns, work.end_ns))
        .collect();
    let calls = calls(timeline, &host, &Union::of_sorted(busy));
    Trace {
        file: file.to_owned(),
        kind: timeline.source,
        tool_version: timeline.tool_version.clone(),
        rank: timeline.rank.as_ref().map(|rank| rank.number),
        world_size: timeline.rank.as_ref().and_then(|rank| rank.size),
        rank_told_by: timeline.rank.as_ref().map(|rank| rank.told_by.clone()),
        range: range(timeline),
        processes: timeline
            .processes
            .iter()
            .map(|process| process.number)
            .collect(),
        verdict: verdict::verdict(&seen),
        findings,
        not_checked: not_checked(timeline),
        devices: seen.into_iter().map(|seen| seen.device).collect(),
        calls,
        profiler_ns: to_f64(profiler.length()),
        completeness: completeness(timeline),
    }
}

/// The part of the trace that the answer is about.
fn range(timeline: &Timeline) -> Option<Range> {
    let window = timeline.window.as_ref()?;
    Some(Range {
        name: window.name.clone(),
        place: window.place,
        of: window.of,
        start_ns: to_f64(window.start_ns),
        length_ns: to_f64(window.length_ns),
        cut_work: window.cut_work,
        later_work: window.later_work,
    })
}

/// Findings that need calls say nothing without them; they are never passed for clear.
fn not_checked(timeline: &Timeline) -> Vec<NotChecked> {
    if timeline.work.is_empty() || timeline.work.iter().any(|work| work.call.is_some()) {
        return Vec::new();
    }
    findings::NEED_CALLS
        .iter()
        .map(|id| NotChecked {
            id: (*id).to_owned(),
            needs: "calls of the CUDA runtime and driver, joined with their work by correlation"
                .to_owned(),
        })
        .collect()
}

fn calls(timeline: &Timeline, host: &Host<'_>, busy: &Union) -> Vec<CallRow> {
    struct Of {
        class: CallClass,
        durations: Vec<i64>,
        while_busy: i64,
    }
    let mut rows: std::collections::HashMap<crate::NameId, Of> = std::collections::HashMap::new();
    for within in host.outermost() {
        let Some((start_ns, end_ns)) = inside(timeline, within.call) else {
            continue;
        };
        let row = rows.entry(within.call.name).or_insert_with(|| Of {
            class: within.class,
            durations: Vec::new(),
            while_busy: 0,
        });
        row.durations.push(end_ns - start_ns);
        if within.is_blocking() || within.class == CallClass::Allocate {
            let waited = busy.within((start_ns, end_ns));
            row.while_busy = row.while_busy.saturating_add(waited);
        }
    }
    let mut rows: Vec<CallRow> = rows
        .into_iter()
        .filter_map(|(name, row)| {
            let waits = matches!(
                row.class,
                CallClass::Synchronise | CallClass::Copy | CallClass::Allocate
            ) || row.while_busy > 0;
            Some(CallRow {
                name: timeline.name(name).to_owned(),
                class: row.class,
                durations: distribution::of(row.durations)?,
                while_busy_ns: waits.then(|| to_f64(row.while_busy)),
            })
        })
        .collect();
    rows.sort_by(|a, b| {
        b.durations
            .sum_ns
            .total_cmp(&a.durations.sum_ns)
            .then_with(|| a.name.cmp(&b.name))
    });
    rows
}

/// The times of a call, as far as they are in the part of the trace that is looked at.
fn inside(timeline: &Timeline, call: &crate::Call) -> Option<(i64, i64)> {
    let Some(window) = &timeline.window else {
        return Some((call.start_ns, call.end_ns));
    };
    let (start, end) = (call.start_ns.max(0), call.end_ns.min(window.length_ns));
    (start <= end).then_some((start, end))
}

fn completeness(timeline: &Timeline) -> Completeness {
    let known = &timeline.completeness;
    Completeness {
        work: timeline.work.len() as u64,
        calls: timeline.calls.len() as u64,
        dropped: known.dropped,
        unmatched: known.unmatched,
        ambiguous: known.ambiguous,
        contradictory: known.contradictory,
        unended: known.unended,
        has_whole_graphs: known.has_whole_graphs,
        skipped: known
            .skipped
            .iter()
            .map(|skipped| Skipped {
                kind: skipped.kind.clone(),
                count: skipped.count,
            })
            .collect(),
    }
}
