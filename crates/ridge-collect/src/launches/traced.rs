//! Launches as a trace has them, in the order in which the profiler counts them.
//!
//! The profiler runs launches one after the other in the order of their calls, so that they are ordered by call and not by when
//! they ran. It counts in each process for itself; kernels that a graph launches are launches like others, one node after the
//! other.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use ridge_trace::{Timeline, Work, WorkKind};

use super::Seen;

/// Calls that switch a profiler on and off, of runtime and driver.
const STARTS: [&str; 2] = ["cudaProfilerStart", "cuProfilerStart"];
const STOPS: [&str; 2] = ["cudaProfilerStop", "cuProfilerStop"];

/// What a trace says about the launches of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traced {
    /// In the order in which the profiler counts them, process by process where there are several.
    pub launches: Vec<Seen>,
    /// Why the profiler may count otherwise, in sentences.
    pub differences: Vec<String>,
}

/// The launches of a trace; `base_name` takes everything from a name but the function's own.
///
/// With `from_start` off, only those between the calls that switch a profiler on and off. Absent where no call of the trace
/// switches one on: then it does not tell which launches are meant.
#[must_use]
pub fn traced(
    timeline: &Timeline,
    from_start: bool,
    base_name: impl Fn(&str) -> String,
) -> Option<Traced> {
    let windows = if from_start {
        None
    } else {
        Some(windows(timeline)).filter(|windows| !windows.is_empty())
    };
    if !from_start && windows.is_none() {
        return None;
    }
    let mut list: Vec<(u64, i64, &Work, Seen)> = timeline
        .work
        .iter()
        .filter_map(|work| {
            let WorkKind::Kernel { launch } = work.kind else {
                return None;
            };
            let process = process_of(timeline, work);
            let called_ns = called_ns(timeline, work);
            let is_meant = windows
                .as_ref()
                .is_none_or(|all| all.get(&process).is_some_and(|of| is_within(of, called_ns)));
            let launch = timeline.launch(launch);
            let signature = timeline.name(work.name);
            let seen = Seen {
                name: base_name(signature),
                signature: signature.to_owned(),
                grid: launch.grid.unwrap_or([0; 3]),
                block: launch.block.unwrap_or([0; 3]),
                duration_ns: Some(as_f64(work.duration_ns())),
                process,
            };
            is_meant.then_some((process, called_ns, work, seen))
        })
        .collect();
    list.sort_by_key(|(process, called_ns, work, _)| (*process, *called_ns, work.start_ns));
    let works: Vec<&Work> = list.iter().map(|(_, _, work, _)| *work).collect();
    Some(Traced {
        differences: differences(timeline, &works),
        launches: list.into_iter().map(|(_, _, _, seen)| seen).collect(),
    })
}

/// When a launch was asked for; where the trace does not tell, when it began.
fn called_ns(timeline: &Timeline, work: &Work) -> i64 {
    timeline
        .call_of(work)
        .map_or(work.start_ns, |call| call.start_ns)
}

/// The number of a process; 0 where the trace does not tell.
fn process_of(timeline: &Timeline, work: &Work) -> u64 {
    timeline
        .stream(work.stream)
        .process
        .and_then(|id| timeline.processes.get(id.place()))
        .map_or(0, |process| process.number)
}

/// From when to when the profiler is on, by process.
fn windows(timeline: &Timeline) -> BTreeMap<u64, Vec<(i64, i64)>> {
    let mut windows: BTreeMap<u64, Vec<(i64, i64)>> = BTreeMap::new();
    for call in &timeline.calls {
        let name = timeline.name(call.name);
        let (starts, stops) = (STARTS.contains(&name), STOPS.contains(&name));
        if !starts && !stops {
            continue;
        }
        let process = timeline
            .threads
            .get(call.thread.place())
            .and_then(|thread| timeline.processes.get(thread.process.place()))
            .map_or(0, |process| process.number);
        let of = windows.entry(process).or_default();
        let is_on = of.last().is_some_and(|(_, stop)| *stop == i64::MAX);
        if starts && !is_on {
            of.push((call.start_ns, i64::MAX));
        } else if let (true, true, Some(last)) = (stops, is_on, of.last_mut()) {
            last.1 = call.start_ns;
        }
    }
    windows.retain(|_, of| !of.is_empty());
    windows
}

fn is_within(windows: &[(i64, i64)], ns: i64) -> bool {
    windows
        .iter()
        .any(|(start, stop)| (*start..*stop).contains(&ns))
}

/// Why the profiler may count launches otherwise than they are counted here.
fn differences(timeline: &Timeline, works: &[&Work]) -> Vec<String> {
    let mut sentences = Vec::new();
    let of_graphs = works.iter().filter(|work| work.node.is_some()).count();
    if of_graphs > 0 {
        sentences.push(format!(
            "{of_graphs} of {} launches are nodes of graphs, which the profiler runs one after the other: those that ran beside each other may be counted in another order",
            works.len()
        ));
    }
    let processes: BTreeSet<u64> = works
        .iter()
        .map(|work| process_of(timeline, work))
        .collect();
    if processes.len() > 1 {
        sentences.push(format!(
            "{} processes launch kernels: the profiler counts in each for itself, and profiles the same place in each",
            processes.len()
        ));
    }
    let devices: BTreeSet<usize> = works.iter().map(|work| timeline.device_of(work)).collect();
    if devices.len() > 1 {
        sentences.push(format!(
            "kernels run on {} GPUs: launches of one size are one group, whatever GPU they ran on",
            devices.len()
        ));
    }
    let calls: Vec<_> = works
        .iter()
        .filter_map(|work| timeline.call_of(work))
        .collect();
    let threads: HashSet<_> = calls.iter().map(|call| call.thread).collect();
    if threads.len() > processes.len() {
        sentences.push(format!(
            "{} threads launch kernels: which of them comes first can differ from run to run",
            threads.len()
        ));
    }
    let without = works.len() - calls.len();
    if without > 0 {
        sentences.push(format!(
            "{without} of {} launches have no call in the recording, and are ordered by when they ran",
            works.len()
        ));
    }
    sentences
}

#[expect(
    clippy::cast_precision_loss,
    reason = "durations of kernels are far below 2^53 ns, a hundred days"
)]
fn as_f64(ns: i64) -> f64 {
    ns.max(0) as f64
}

#[cfg(test)]
mod tests {
    use ridge_trace::{
        Api, Builder, Correlation, Graph, Launch, NewCall, NewWork, SourceKind, Timeline,
    };

    use super::*;
    use crate::launches::group;

    /// A trace in the making: calls and kernels by process.
    struct Making {
        builder: Builder,
        correlation: u64,
    }

    impl Making {
        fn new() -> Self {
            Self {
                builder: Builder::new(SourceKind::Recording),
                correlation: 0,
            }
        }

        fn call(&mut self, process: u64, thread: u64, name: &str, at: i64) -> Option<Correlation> {
            self.correlation += 1;
            let process = self.builder.process(process);
            let thread = self.builder.thread(process, thread);
            let name = self.builder.name(name);
            let correlation = Correlation::new(self.correlation);
            self.builder.push_call(NewCall {
                start_ns: at,
                end_ns: at + 2,
                name,
                api: Api::Runtime,
                thread,
                correlation,
            });
            correlation
        }

        fn kernel(
            &mut self,
            process: u64,
            name: &str,
            at: i64,
            correlation: Option<Correlation>,
            node: Option<u64>,
        ) {
            let process = self.builder.process(process);
            let stream = self.builder.stream(Some(process), 0, Some(1), 7);
            let name = self.builder.name(name);
            let launch = self.builder.launch(Launch {
                grid: Some([8, 1, 1]),
                block: Some([64, 1, 1]),
                ..Launch::default()
            });
            let new = NewWork {
                start_ns: at,
                end_ns: at + 10,
                stream,
                correlation,
                graph: node.map(|node| Graph {
                    graph: None,
                    node: std::num::NonZeroU64::new(node),
                }),
            };
            self.builder.push_kernel(new, name, launch);
        }

        fn finish(self) -> Timeline {
            self.builder.finish()
        }
    }

    fn names(traced: &Traced) -> Vec<&str> {
        traced.launches.iter().map(|seen| &*seen.name).collect()
    }

    fn base(name: &str) -> String {
        name.split('(').next().unwrap_or(name).to_owned()
    }

    #[test]
    fn launches_are_in_the_order_of_their_calls() {
        let mut making = Making::new();
        let first = making.call(1, 1, "cudaLaunchKernel", 0);
        let second = making.call(1, 1, "cudaLaunchKernel", 10);
        // On another stream, the second one ran first.
        making.kernel(1, "b(int)", 20, second, None);
        making.kernel(1, "a(int)", 50, first, None);
        let traced = traced(&making.finish(), true, base).unwrap();
        assert_eq!(names(&traced), ["a", "b"]);
        assert_eq!(traced.launches[0].signature, "a(int)");
        assert!(traced.differences.is_empty(), "{:?}", traced.differences);
    }

    #[test]
    fn nodes_of_a_graph_are_launches_and_are_told() {
        let mut making = Making::new();
        let graph = making.call(1, 1, "cudaGraphLaunch", 0);
        making.kernel(1, "a", 10, graph, Some(5));
        making.kernel(1, "b", 30, graph, Some(6));
        let traced = traced(&making.finish(), true, base).unwrap();
        assert_eq!(names(&traced), ["a", "b"]);
        assert!(traced.differences[0].starts_with("2 of 2 launches are nodes of graphs"));
    }

    #[test]
    fn processes_count_each_for_itself() {
        let mut making = Making::new();
        for (process, at) in [(2, 0), (1, 5), (2, 20), (1, 25)] {
            let call = making.call(process, process, "cudaLaunchKernel", at);
            making.kernel(process, "a", at + 100, call, None);
        }
        let traced = traced(&making.finish(), true, base).unwrap();
        let groups = group(&traced.launches);
        assert_eq!(groups.len(), 1);
        assert_eq!(groups[0].invocations, [1, 2, 1, 2]);
        assert!(traced.differences[0].starts_with("2 processes"));
    }

    #[test]
    fn threads_and_missing_calls_are_told() {
        let mut making = Making::new();
        for (thread, at) in [(1, 0), (2, 5)] {
            let call = making.call(1, thread, "cudaLaunchKernel", at);
            making.kernel(1, "a", at + 100, call, None);
        }
        making.kernel(1, "a", 500, None, None);
        let told = traced(&making.finish(), true, base).unwrap().differences;
        assert!(told[0].starts_with("2 threads"), "{told:?}");
        assert!(
            told[1].starts_with("1 of 3 launches have no call"),
            "{told:?}"
        );
    }

    #[test]
    fn a_window_of_the_profiler_holds_what_was_launched_in_it() {
        let mut making = Making::new();
        let launch = |making: &mut Making, name: &str, at| {
            let call = making.call(1, 1, "cudaLaunchKernel", at);
            // They run late: what counts is when they were asked for.
            making.kernel(1, name, at + 1_000, call, None);
        };
        launch(&mut making, "before", 0);
        making.call(1, 1, "cudaProfilerStart", 10);
        launch(&mut making, "in", 20);
        making.call(1, 1, "cudaProfilerStop", 30);
        launch(&mut making, "between", 40);
        making.call(1, 1, "cuProfilerStart", 50);
        launch(&mut making, "again", 60);
        let timeline = making.finish();
        assert_eq!(
            names(&traced(&timeline, false, base).unwrap()),
            ["in", "again"]
        );
        assert_eq!(traced(&timeline, true, base).unwrap().launches.len(), 4);
    }

    #[test]
    fn without_a_call_that_switches_it_on_nothing_is_guessed() {
        let mut making = Making::new();
        let call = making.call(1, 1, "cudaLaunchKernel", 0);
        making.kernel(1, "a", 10, call, None);
        assert_eq!(traced(&making.finish(), false, base), None);
    }

    /// As one H200 was recorded: two processes, three streams, and a graph of ten kernels that was launched four times.
    #[test]
    fn a_recording_of_a_gpu() {
        let bytes = include_bytes!("../../../../fixtures/traces/streams_graph_copies.ridgetrace");
        let timeline = ridge_trace::read(bytes).unwrap();
        let found = traced(&timeline, true, base).unwrap();
        let groups = group(&found.launches);
        let shown: Vec<_> = groups
            .iter()
            .map(|group| (&*group.name, group.grid[0], group.count))
            .collect();
        // The child counts its own launch from 1.
        assert_eq!(
            shown,
            [("spin", 4, 15), ("scale", 16384, 40), ("scale", 64, 1)]
        );
        assert_eq!(groups[1].invocations, (1..=40).collect::<Vec<u64>>());
        assert_eq!(groups[2].invocations, [1]);
        assert!(found.differences[0].starts_with("40 of 56 launches are nodes of graphs"));
        assert!(found.differences[1].starts_with("2 processes launch kernels"));
    }
}
