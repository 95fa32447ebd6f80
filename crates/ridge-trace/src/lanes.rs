//! A timeline as lanes of events, each with a pyramid of what is in them at coarser and coarser steps of time, so that a
//! picture costs as much as it has columns, whatever the number of events.

use std::collections::HashMap;

use crate::timeline::{AnnotationKind, CallClass, NameId, ThreadId, Timeline, WorkKind};

/// What an event is, as far as a picture tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Shade {
    /// Nothing.
    Nothing = 0,
    /// A kernel, or a graph as a whole.
    Kernel = 1,
    /// A copy.
    Copy = 2,
    /// A copy from or to pageable memory.
    PageableCopy = 3,
    /// Setting memory.
    Memset = 4,
    /// A call that launches, copies or sets memory.
    Launch = 5,
    /// A call that waits.
    Wait = 6,
    /// Another call.
    Call = 7,
    /// A range with a name.
    Range = 8,
}

impl Shade {
    /// All but nothing.
    pub const ALL: [Self; 8] = [
        Self::Kernel,
        Self::Copy,
        Self::PageableCopy,
        Self::Memset,
        Self::Launch,
        Self::Wait,
        Self::Call,
        Self::Range,
    ];

    /// What it is called in a legend.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Kernel => "kernel",
            Self::Copy => "copy",
            Self::PageableCopy => "pageable copy",
            Self::Memset => "memory set",
            Self::Launch => "call that launches or copies",
            Self::Wait => "call that waits",
            Self::Call => "other call",
            Self::Range => "range",
        }
    }
}

/// An event of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When it began, from the first record of the trace.
    pub start_ns: u64,
    /// How long it took.
    pub duration_ns: u64,
    /// A place in [`Lanes::names`].
    pub name: u32,
    /// What it is.
    pub shade: Shade,
}

/// What fills a bin of the pyramid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bin {
    /// What has most of it.
    pub shade: Shade,
    /// How much of it events cover: 255 is all. What is not empty is at least 1.
    pub cover: u8,
}

/// A row of a picture.
#[derive(Clone, Debug)]
pub struct Lane {
    /// What it shows.
    pub label: String,
    /// Events in order of their start.
    pub events: Vec<Event>,
    /// Bins of equal width over the whole of the time, a power of two of them: the finest level first, each further one
    /// with half as many. Empty for a lane of few events, which are drawn themselves.
    pub levels: Vec<Vec<Bin>>,
}

/// A timeline as rows of a picture.
#[derive(Clone, Debug)]
pub struct Lanes {
    /// From the first start to the last end.
    pub length_ns: u64,
    /// Texts of all events.
    pub names: Vec<String>,
    /// Streams of devices, then threads of the host.
    pub lanes: Vec<Lane>,
    /// Streams and threads for which there was no room.
    pub left_out: usize,
}

/// More lanes are no picture any more: those with most events are kept.
const MOST_LANES: usize = 200;
/// Below, all events of a lane are drawn.
const FEW_EVENTS: usize = 2_000;
/// Bins of the finest level, at most: at that step a pixel of a wide screen shows a 100th of the time.
const MOST_BINS: usize = 1 << 17;
/// Longer names are cut: what tells kernels apart stands in front.
const LONGEST_NAME: usize = 300;

impl Lanes {
    /// Puts lanes together.
    #[must_use]
    pub fn of(timeline: &Timeline) -> Self {
        let mut names = Names::default();
        let mut lanes = of_streams(timeline, &mut names);
        lanes.extend(of_threads(timeline, &mut names));
        lanes.retain(|lane| !lane.events.is_empty());
        let mut sizes: Vec<usize> = lanes.iter().map(|lane| lane.events.len()).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let least = sizes.get(MOST_LANES).map_or(0, |size| size + 1);
        let all = lanes.len();
        lanes.retain(|lane| lane.events.len() >= least);
        let end = |lane: &Lane| {
            lane.events
                .iter()
                .map(|event| event.start_ns + event.duration_ns)
                .max()
        };
        let length_ns = lanes.iter().filter_map(end).max().unwrap_or(0).max(1);
        for lane in &mut lanes {
            lane.levels = pyramid(&lane.events, length_ns);
        }
        Self {
            length_ns,
            names: names.texts,
            left_out: all - lanes.len(),
            lanes,
        }
    }
}

#[derive(Default)]
struct Names {
    texts: Vec<String>,
    known: HashMap<NameId, u32>,
}

impl Names {
    fn place(&mut self, timeline: &Timeline, id: NameId) -> u32 {
        *self.known.entry(id).or_insert_with(|| {
            let text = timeline.name(id);
            self.texts
                .push(match text.char_indices().nth(LONGEST_NAME) {
                    Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
                    None => text.to_owned(),
                });
            u32::try_from(self.texts.len() - 1).unwrap_or(u32::MAX)
        })
    }
}

fn event(start_ns: i64, end_ns: i64, name: u32, shade: Shade) -> Event {
    Event {
        start_ns: u64::try_from(start_ns).unwrap_or(0),
        duration_ns: u64::try_from(end_ns - start_ns.max(0)).unwrap_or(0),
        name,
        shade,
    }
}

fn of_streams(timeline: &Timeline, names: &mut Names) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = timeline
        .streams
        .iter()
        .map(|stream| {
            let device = timeline
                .devices
                .get(stream.device)
                .map_or(0, |device| device.number);
            let process = stream
                .process
                .and_then(|process| timeline.processes.get(process.place()));
            let of_process = match process {
                Some(process) if timeline.processes.len() > 1 => {
                    format!(", process {}", process.number)
                }
                _ => String::new(),
            };
            Lane {
                label: format!("device {device} stream {}{of_process}", stream.number),
                events: Vec::new(),
                levels: Vec::new(),
            }
        })
        .collect();
    for work in &timeline.work {
        let shade = match work.kind {
            WorkKind::Kernel { .. } | WorkKind::Graph => Shade::Kernel,
            WorkKind::Copy(copied) if copied.is_pageable() => Shade::PageableCopy,
            WorkKind::Copy(_) => Shade::Copy,
            WorkKind::Memset { .. } => Shade::Memset,
        };
        let name = names.place(timeline, work.name);
        if let Some(lane) = lanes.get_mut(work.stream.place()) {
            lane.events
                .push(event(work.start_ns, work.end_ns, name, shade));
        }
    }
    lanes.sort_by(|a, b| a.label.cmp(&b.label));
    lanes
}

fn of_threads(timeline: &Timeline, names: &mut Names) -> Vec<Lane> {
    let label = |place: usize, what: &str| {
        let thread = &timeline.threads[place];
        let process = timeline
            .processes
            .get(thread.process.place())
            .map_or(0, |process| process.number);
        if process == thread.number {
            format!("thread {} {what}", thread.number)
        } else {
            format!("thread {} of process {process} {what}", thread.number)
        }
    };
    let empty = |what: &str| -> Vec<Lane> {
        (0..timeline.threads.len())
            .map(|place| Lane {
                label: label(place, what),
                events: Vec::new(),
                levels: Vec::new(),
            })
            .collect()
    };
    let (mut calls, mut ranges) = (empty("calls"), empty("ranges"));
    let shades: Vec<Shade> = timeline
        .names
        .iter()
        .map(|(_, name)| match CallClass::of(name) {
            CallClass::Launch
            | CallClass::GraphLaunch
            | CallClass::CopyAsync
            | CallClass::Memset => Shade::Launch,
            CallClass::Synchronise | CallClass::Copy => Shade::Wait,
            CallClass::Allocate | CallClass::Other => Shade::Call,
        })
        .collect();
    let pageable: std::collections::HashSet<usize> = timeline
        .work
        .iter()
        .filter(|work| work.copied().is_some_and(crate::Copied::is_pageable))
        .filter_map(|work| work.call)
        .map(crate::timeline::CallId::place)
        .collect();
    let window = timeline.window.as_ref();
    let last_ns = window.map_or(i64::MAX, |window| window.length_ns);
    for (place, call) in timeline.calls.iter().enumerate() {
        // Calls can reach over both ends of a part of a trace.
        let end_ns = call.end_ns.min(last_ns);
        if end_ns < 0 || call.start_ns > last_ns {
            continue;
        }
        let shade = if pageable.contains(&place) {
            Shade::Wait
        } else {
            shades
                .get(call.name.place())
                .copied()
                .unwrap_or(Shade::Call)
        };
        let name = names.place(timeline, call.name);
        if let Some(lane) = calls.get_mut(call.thread.place()) {
            lane.events.push(event(call.start_ns, end_ns, name, shade));
        }
    }
    // Only the outermost ranges: a lane has one row. Operators of a framework nest deeply and tell little here.
    let mut ends: HashMap<ThreadId, i64> = HashMap::new();
    for range in timeline
        .annotations
        .iter()
        .filter(|range| range.kind == AnnotationKind::User)
    {
        let Some(thread) = range.thread else {
            continue;
        };
        let end = ends.entry(thread).or_insert(i64::MIN);
        if range.start_ns >= *end {
            *end = range.end_ns;
            let name = names.place(timeline, range.name);
            if let Some(lane) = ranges.get_mut(thread.place()) {
                lane.events
                    .push(event(range.start_ns, range.end_ns, name, Shade::Range));
            }
        }
    }
    ranges
        .into_iter()
        .zip(calls)
        .flat_map(|(ranges, calls)| [ranges, calls])
        .collect()
}

/// How much of each shade is in bins of equal width over a length of time. An event of any length costs two bins.
fn fill(events: &[Event], length_ns: u64, count: usize) -> Vec<[u64; 9]> {
    let mut times: Vec<[u64; 9]> = vec![[0; 9]; count];
    // Where events that fill bins begin and end to do so.
    let mut whole: Vec<[i32; 9]> = vec![[0; 9]; count + 1];
    let bins = u128::try_from(count).unwrap_or(1);
    let bin_of = |ns: u64| {
        usize::try_from(u128::from(ns) * bins / u128::from(length_ns))
            .unwrap_or(0)
            .min(count - 1)
    };
    let start_of = |bin: usize| {
        u64::try_from(u128::try_from(bin).unwrap_or(0) * u128::from(length_ns) / bins).unwrap_or(0)
    };
    for event in events {
        let shade = event.shade as usize;
        let end = event.start_ns + event.duration_ns;
        let (first, last) = (
            bin_of(event.start_ns),
            bin_of(end.saturating_sub(1).max(event.start_ns)),
        );
        if first == last {
            // What takes no time is still there.
            times[first][shade] += event.duration_ns.max(1);
            continue;
        }
        times[first][shade] += start_of(first + 1).saturating_sub(event.start_ns).max(1);
        times[last][shade] += end.saturating_sub(start_of(last)).max(1);
        whole[first + 1][shade] += 1;
        whole[last][shade] -= 1;
    }
    let mut running = [0_i32; 9];
    for (bin, times) in times.iter_mut().enumerate() {
        for (shade, time) in times.iter_mut().enumerate() {
            running[shade] += whole[bin][shade];
            let width = start_of(bin + 1) - start_of(bin);
            *time += width * u64::try_from(running[shade]).unwrap_or(0);
        }
    }
    times
}

/// What fills each of so many columns, for a picture that is drawn once.
#[must_use]
pub fn columns(events: &[Event], length_ns: u64, count: usize) -> Vec<Bin> {
    let width = length_ns as f64 / count.max(1) as f64;
    fill(events, length_ns, count.max(1))
        .iter()
        .map(|times| bin(times, width))
        .collect()
}

/// Bins at a fine step, and at coarser ones.
fn pyramid(events: &[Event], length_ns: u64) -> Vec<Vec<Bin>> {
    if events.len() < FEW_EVENTS {
        return Vec::new();
    }
    let count = (events.len() / 4).next_power_of_two().clamp(512, MOST_BINS);
    let mut times = fill(events, length_ns, count);
    let mut levels = Vec::new();
    let mut width = length_ns as f64 / count as f64;
    loop {
        levels.push(times.iter().map(|times| bin(times, width)).collect());
        if times.len() <= 256 {
            return levels;
        }
        times = times
            .chunks(2)
            .map(|pair| {
                let mut sum = pair[0];
                for (own, other) in sum.iter_mut().zip(pair.get(1).copied().unwrap_or_default()) {
                    *own += other;
                }
                sum
            })
            .collect();
        width *= 2.0;
    }
}

fn bin(times: &[u64; 9], width: f64) -> Bin {
    let all: u64 = times.iter().sum();
    let most = times
        .iter()
        .enumerate()
        .max_by_key(|(_, time)| **time)
        .map_or(0, |(place, _)| place);
    let shade = Shade::ALL
        .iter()
        .copied()
        .find(|shade| *shade as usize == most && all > 0);
    let Some(shade) = shade else {
        return Bin {
            shade: Shade::Nothing,
            cover: 0,
        };
    };
    let cover = (all as f64 / width * 255.0).round().clamp(1.0, 255.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the range"
    )]
    let cover = cover as u8;
    Bin { shade, cover }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::{Builder, Launch, NewWork, SourceKind};

    /// Kernels of 1 us every 4 us in the first half, every 2 us in the second.
    fn timeline(count: i64) -> Timeline {
        let mut builder = Builder::new(SourceKind::Recording);
        let stream = builder.stream(None, 0, None, 7);
        let name = builder.name("k");
        let launch = builder.launch(Launch::default());
        for place in 0..count {
            let start_ns = if place < count / 3 {
                4000 * place
            } else {
                4000 * (count / 3) + 2000 * (place - count / 3)
            };
            let new = NewWork {
                start_ns,
                end_ns: start_ns + 1000,
                stream,
                correlation: None,
                graph: None,
            };
            builder.push_kernel(new, name, launch);
        }
        builder.finish()
    }

    #[test]
    fn every_level_covers_as_much() {
        let lanes = Lanes::of(&timeline(30_000));
        let lane = &lanes.lanes[0];
        assert_eq!((lanes.lanes.len(), lane.events.len()), (1, 30_000));
        assert_eq!(lane.label, "device 0 stream 7");
        assert!(lane.levels.len() > 3);
        for pair in lane.levels.windows(2) {
            assert_eq!(pair[0].len(), 2 * pair[1].len());
        }
        let busy = 30_000.0 * 1000.0 / lanes.length_ns as f64;
        for level in &lane.levels {
            let cover: f64 = level
                .iter()
                .map(|bin| f64::from(bin.cover) / 255.0)
                .sum::<f64>()
                / level.len() as f64;
            assert!((cover - busy).abs() < 0.01, "{cover} is not {busy}");
            assert!(level.iter().all(|bin| bin.shade == Shade::Kernel));
            // The second half is twice as busy.
            let (first, last) = (level[0].cover, level[level.len() - 1].cover);
            assert!(last > first, "{first} {last}");
        }
    }

    /// An event over all bins fills each of them, and costs no more than a short one.
    #[test]
    fn long_events_fill_what_they_cover() {
        let event = |start_ns, duration_ns, shade| Event {
            start_ns,
            duration_ns,
            name: 0,
            shade,
        };
        let found = columns(
            &[event(100, 800, Shade::Copy), event(450, 0, Shade::Kernel)],
            1000,
            10,
        );
        let covers: Vec<u8> = found.iter().map(|bin| bin.cover).collect();
        assert_eq!(covers, [0, 255, 255, 255, 255, 255, 255, 255, 255, 0]);
        assert!(found[1..9].iter().all(|bin| bin.shade == Shade::Copy));
        let long: Vec<Event> = (0..100_000)
            .map(|start| event(start, 1_000_000_000, Shade::Call))
            .collect();
        assert!(
            columns(&long, 1_000_100_000, MOST_BINS)
                .iter()
                .all(|bin| bin.cover == 255)
        );
    }

    #[test]
    fn a_few_events_need_no_pyramid() {
        let lanes = Lanes::of(&timeline(100));
        assert!(lanes.lanes[0].levels.is_empty());
        assert_eq!(lanes.names, ["k"]);
    }

    #[test]
    fn a_timeline_without_events_has_no_lanes() {
        let lanes = Lanes::of(&Builder::new(SourceKind::Recording).finish());
        assert!(lanes.lanes.is_empty());
    }
}
