//! What one device did.

use std::collections::HashMap;

use super::gaps::{self, Gap, GapClass, HostCause};
use super::sequences::longest_repeat;
use super::{Host, HostLink, Union, distribution, kernels, to_f64, transfers};
use crate::document;
use crate::timeline::{Device, NameId, StreamId, Timeline, Work};

/// Longest gaps that are told one by one.
const LONGEST: usize = 10;
/// Names of a sequence that are told.
const MOST_NAMES: usize = 50;

/// A device with what findings look at beside the document.
pub(crate) struct Seen<'t> {
    pub(crate) timeline: &'t Timeline,
    pub(crate) device: document::Device,
    /// Places of its work, in order.
    pub(crate) places: &'t [usize],
    pub(crate) gaps: Vec<Gap>,
    pub(crate) link: Option<&'t HostLink>,
    pub(crate) kernels: Union,
}

impl<'t> Seen<'t> {
    pub(super) fn new(
        timeline: &'t Timeline,
        host: &Host<'t>,
        profiler: &Union,
        device: &Device,
        places: &'t [usize],
        link: Option<&'t HostLink>,
    ) -> Self {
        let work = || places.iter().map(|place| &timeline.work[*place]);
        let union = |wanted: fn(&Work) -> bool| {
            Union::of_sorted(
                work()
                    .filter(|work| wanted(work))
                    .map(|work| (work.start_ns, work.end_ns)),
            )
        };
        let kernels = union(Work::is_kernel);
        let copies = union(|work| work.copied().is_some());
        let both = union(|work| work.is_kernel() || work.copied().is_some());
        let busy = union(|_| true);
        let first = work().next().map_or(0, |work| work.start_ns);
        let last = work().map(|work| work.end_ns).max();
        let span = match &timeline.window {
            Some(window) => window.length_ns,
            None => last.map_or(0, |last| last - first),
        };
        let gaps = gaps::of_device(timeline, host, profiler, places);
        let count = |wanted: fn(&Work) -> bool| work().filter(|work| wanted(work)).count() as u64;
        let device = document::Device {
            number: device.number,
            name: device.name.clone(),
            compute_capability: device
                .compute_capability
                .map(|(major, minor)| format!("{major}.{minor}")),
            counts: document::Counts {
                kernels: count(|work| matches!(work.kind, crate::WorkKind::Kernel { .. })),
                copies: count(|work| work.copied().is_some()),
                memsets: count(Work::is_memset),
                graphs: count(|work| work.kind == crate::WorkKind::Graph),
            },
            span_ns: to_f64(span),
            busy_ns: to_f64(busy.length()),
            idle_ns: to_f64(span - busy.length()),
            kernel_ns: to_f64(kernels.length()),
            copy_ns: to_f64(copies.length()),
            memset_ns: to_f64(union(Work::is_memset).length()),
            copy_exposed_ns: to_f64(both.length() - kernels.length()),
            overlap_ns: to_f64(kernels.length() + copies.length() - both.length()),
            streams: streams(timeline, places),
            gaps: summarised(timeline, &gaps),
            launches: launches(timeline, work(), &gaps),
            kernels: kernels::of(timeline, work()),
            transfers: transfers::of(work(), link),
            sequence: sequence(timeline, places, &gaps),
        };
        Self {
            timeline,
            device,
            places,
            gaps,
            link,
            kernels,
        }
    }

    /// Its work, in order.
    pub(crate) fn work(&self) -> impl Iterator<Item = &'t Work> + '_ {
        self.places.iter().map(|place| &self.timeline.work[*place])
    }

    pub(crate) fn span_ns(&self) -> f64 {
        self.device.span_ns
    }
}

fn streams(timeline: &Timeline, places: &[usize]) -> Vec<document::Stream> {
    let mut by_stream: HashMap<StreamId, Vec<(i64, i64)>> = HashMap::new();
    for place in places {
        let work = &timeline.work[*place];
        by_stream
            .entry(work.stream)
            .or_default()
            .push((work.start_ns, work.end_ns));
    }
    let mut rows: Vec<document::Stream> = by_stream
        .into_iter()
        .map(|(id, work)| {
            let stream = timeline.stream(id);
            let mut end = i64::MAX;
            let mut gaps = Vec::new();
            for (start, last) in &work {
                if *start > end {
                    gaps.push(start - end);
                }
                end = if end == i64::MAX {
                    *last
                } else {
                    end.max(*last)
                };
            }
            document::Stream {
                number: stream.number,
                context: stream.context,
                process: stream
                    .process
                    .and_then(|process| timeline.processes.get(process.place()))
                    .map(|process| process.number),
                work: work.len() as u64,
                busy_ns: to_f64(Union::of_sorted(work).length()),
                gaps: distribution::of(gaps),
            }
        })
        .collect();
    rows.sort_by(|a, b| {
        b.busy_ns
            .total_cmp(&a.busy_ns)
            .then(a.number.cmp(&b.number))
    });
    rows
}

fn summarised(timeline: &Timeline, gaps: &[Gap]) -> document::Gaps {
    let lengths = |class: GapClass| {
        gaps.iter()
            .filter(move |gap| gap.class == class)
            .map(Gap::length_ns)
    };
    let classes = [
        GapClass::HostWait,
        GapClass::LaunchFloor,
        GapClass::Dependency,
        GapClass::Unknown,
    ];
    let mut causes: HashMap<(HostCause, Option<NameId>), (u64, i64)> = HashMap::new();
    for gap in gaps {
        if let Some(cause) = gap.cause {
            let entry = causes.entry((cause, gap.call)).or_default();
            entry.0 += 1;
            entry.1 += gap.length_ns();
        }
    }
    let text = |name: Option<NameId>| name.map(|name| timeline.name(name).to_owned());
    let mut causes: Vec<document::GapsOfCause> = causes
        .into_iter()
        .map(|((cause, call), (count, sum))| document::GapsOfCause {
            cause,
            call: text(call),
            count,
            sum_ns: to_f64(sum),
        })
        .collect();
    causes.sort_by(|a, b| {
        b.sum_ns
            .total_cmp(&a.sum_ns)
            .then_with(|| a.call.cmp(&b.call))
    });
    let mut longest: Vec<&Gap> = gaps.iter().collect();
    longest.sort_by_key(|gap| (std::cmp::Reverse(gap.length_ns()), gap.start_ns));
    let name = |place: usize| timeline.name(timeline.work[place].name).to_owned();
    document::Gaps {
        all: distribution::of(gaps.iter().map(Gap::length_ns)),
        classes: classes
            .into_iter()
            .filter_map(|class| {
                Some(document::GapsOfClass {
                    class,
                    lengths: distribution::of(lengths(class))?,
                })
            })
            .collect(),
        causes,
        longest: longest
            .into_iter()
            .take(LONGEST)
            .map(|gap| document::Gap {
                start_ns: to_f64(gap.start_ns),
                length_ns: to_f64(gap.length_ns()),
                class: gap.class,
                cause: gap.cause,
                call: text(gap.call),
                before: gap
                    .before
                    .map_or_else(|| "the start of the range".to_owned(), name),
                behind: name(gap.behind),
            })
            .collect(),
    }
}

fn launches<'t>(
    timeline: &'t Timeline,
    work: impl Iterator<Item = &'t Work>,
    gaps: &[Gap],
) -> document::Launches {
    let (mut call, mut queue) = (Vec::new(), Vec::new());
    let (mut began_in_call, mut below, mut below_ns) = (0, 0, 0_i64);
    // The same call can ask for many pieces of work; it counts once.
    let mut counted = std::collections::HashSet::new();
    for work in work {
        let Some((id, own)) = work.call.zip(timeline.call_of(work)) else {
            continue;
        };
        if counted.insert(id) {
            call.push(own.duration_ns());
        }
        let behind = work.start_ns - own.end_ns;
        began_in_call += u64::from(behind < 0);
        queue.push(behind.max(0));
        if work.is_kernel() && work.duration_ns() < own.duration_ns() {
            below += 1;
            below_ns = below_ns.saturating_add(work.duration_ns());
        }
    }
    let latency = gaps
        .iter()
        .filter(|gap| gap.class == GapClass::HostWait)
        .filter_map(|gap| {
            let work = &timeline.work[gap.behind];
            Some(work.start_ns - timeline.call_of(work)?.start_ns)
        });
    document::Launches {
        matched: queue.len() as u64,
        call: distribution::of(call),
        queue: distribution::of(queue),
        latency: distribution::of(latency),
        began_in_call,
        kernels_below_call: below,
        kernels_below_call_ns: to_f64(below_ns),
    }
}

/// The launch sequence that repeats most on one stream. What already is a graph is left out.
fn sequence(timeline: &Timeline, places: &[usize], gaps: &[Gap]) -> Option<document::Sequence> {
    let mut by_stream: HashMap<StreamId, Vec<usize>> = HashMap::new();
    for place in places {
        let work = &timeline.work[*place];
        if work.node.is_none() && work.graph.is_none() {
            by_stream.entry(work.stream).or_default().push(*place);
        }
    }
    let best = by_stream.into_iter().filter_map(|(stream, places)| {
        let symbols: Vec<u64> = places
            .iter()
            .map(|place| symbol(&timeline.work[*place]))
            .collect();
        let repeat = longest_repeat(&symbols)?;
        Some((repeat, stream, places))
    });
    let (repeat, stream, places) = best.max_by_key(|(repeat, stream, _)| {
        (repeat.times * repeat.period, std::cmp::Reverse(*stream))
    })?;
    let covered = places.get(repeat.start..repeat.start + repeat.times * repeat.period)?;
    let (first, last) = (*covered.first()?, *covered.last()?);
    let interval = (timeline.work[first].start_ns, timeline.work[last].end_ns);
    let within = |gap: &&Gap| interval.0 <= gap.start_ns && gap.end_ns <= interval.1;
    let waits = |gap: &&Gap| {
        matches!(
            gap.cause,
            Some(HostCause::Synchronisation | HostCause::PageableCopy)
        )
    };
    let host_wait: i64 = gaps
        .iter()
        .filter(within)
        .filter(|gap| gap.class == GapClass::HostWait && !waits(gap))
        .map(Gap::length_ns)
        .sum();
    let names = covered.iter().take(repeat.period.min(MOST_NAMES));
    Some(document::Sequence {
        stream: timeline.stream(stream).number,
        length: repeat.period as u64,
        times: repeat.times as u64,
        span_ns: to_f64(interval.1 - interval.0),
        host_wait_ns: to_f64(host_wait),
        names: names
            .map(|place| timeline.name(timeline.work[*place].name).to_owned())
            .collect(),
        has_waits: gaps.iter().filter(within).any(|gap| waits(&gap)),
    })
}

/// What makes two launches the same for a graph: kernel and configuration, or direction and size.
fn symbol(work: &Work) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    work.name.hash(&mut hasher);
    match work.kind {
        crate::WorkKind::Kernel { launch } => launch.hash(&mut hasher),
        crate::WorkKind::Copy(copied) => {
            (copied.kind, copied.from, copied.to, copied.bytes).hash(&mut hasher)
        }
        crate::WorkKind::Memset { bytes } => bytes.hash(&mut hasher),
        crate::WorkKind::Graph => {}
    }
    hasher.finish()
}
