//! What one rank did, as far as ranks are compared.

use std::collections::{BTreeMap, HashMap};

use crate::analysis::Union;
use crate::timeline::{NameId, ProcessId, Timeline, Work};

/// One rank: a trace, or those processes of a trace that belong to one rank.
#[derive(Clone, Debug)]
pub struct Member {
    pub(super) trace: usize,
    pub(super) file: String,
    pub(super) processes: Vec<u64>,
    pub(super) rank: Option<u64>,
    pub(super) size: Option<u64>,
    pub(super) devices: u64,
    pub(super) span_ns: i64,
    pub(super) busy_ns: i64,
    pub(super) kernel_ns: i64,
    pub(super) copy_ns: i64,
    /// Start and end of each launch, in order, by name.
    pub(super) kernels: BTreeMap<String, Vec<(i64, i64)>>,
    /// What times count from, in nanoseconds since 1970.
    pub(super) origin_unix_ns: Option<i128>,
}

impl Member {
    /// The ranks of a trace: one, unless its processes tell several. Nothing of a trace in which nothing ran on a GPU.
    ///
    /// `trace` is its place among the traces of the document, and `file` how it was named.
    #[must_use]
    pub fn of(timeline: &Timeline, trace: usize, file: &str) -> Vec<Self> {
        let mut groups: BTreeMap<u64, Vec<ProcessId>> = BTreeMap::new();
        for (place, process) in timeline.processes.iter().enumerate() {
            if let Some(rank) = &process.rank {
                let processes = groups.entry(rank.number).or_default();
                processes.push(ProcessId::of_place(place));
            }
        }
        if groups.len() < 2 {
            return Self::new(timeline, trace, file, None).into_iter().collect();
        }
        groups
            .into_iter()
            .filter_map(|(rank, processes)| {
                Self::new(timeline, trace, file, Some((rank, &processes)))
            })
            .collect()
    }

    /// `only`: a rank with its processes.
    fn new(
        timeline: &Timeline,
        trace: usize,
        file: &str,
        only: Option<(u64, &[ProcessId])>,
    ) -> Option<Self> {
        let is_own = |work: &&Work| {
            only.is_none_or(|(_, processes)| {
                let process = timeline.stream(work.stream).process;
                process.is_some_and(|process| processes.contains(&process))
            })
        };
        let mut by_device: BTreeMap<usize, Vec<&Work>> = BTreeMap::new();
        let mut kernels: HashMap<NameId, Vec<(i64, i64)>> = HashMap::new();
        for work in timeline.work.iter().filter(is_own) {
            by_device
                .entry(timeline.device_of(work))
                .or_default()
                .push(work);
            if work.is_kernel() {
                kernels
                    .entry(work.name)
                    .or_default()
                    .push((work.start_ns, work.end_ns));
            }
        }
        let all = || by_device.values().flatten();
        let own = all()
            .map(|work| work.start_ns)
            .min()
            .zip(all().map(|work| work.end_ns).max());
        let own = own?;
        let window = timeline.window.as_ref();
        let (first, last) = window.map_or(own, |window| (0, window.length_ns));
        let union = |wanted: fn(&Work) -> bool| {
            let of_device = |work: &Vec<&Work>| {
                let wanted = work.iter().filter(|work| wanted(work));
                Union::of_sorted(wanted.map(|work| (work.start_ns, work.end_ns))).length()
            };
            by_device.values().map(of_device).sum()
        };
        let of_process = |process: &ProcessId| timeline.processes.get(process.place());
        let told = match only {
            Some((_, processes)) => processes
                .iter()
                .find_map(|process| of_process(process)?.rank.as_ref()),
            None => timeline.rank.as_ref(),
        };
        let numbers = only.map(|(_, processes)| {
            let known = processes.iter().filter_map(of_process);
            known.map(|process| process.number).collect()
        });
        Some(Self {
            trace,
            file: file.to_owned(),
            processes: numbers.unwrap_or_default(),
            rank: told.map(|rank| rank.number),
            size: told.and_then(|rank| rank.size),
            devices: by_device.len() as u64,
            span_ns: last - first,
            busy_ns: union(|_| true),
            kernel_ns: union(Work::is_kernel),
            copy_ns: union(|work| work.copied().is_some()),
            kernels: kernels
                .into_iter()
                .map(|(name, launches)| (timeline.name(name).to_owned(), launches))
                .collect(),
            origin_unix_ns: timeline.origin_unix_ns,
        })
    }

    /// The share of the span of its devices.
    pub(super) fn share(&self, ns: i64) -> f64 {
        let whole = self
            .span_ns
            .saturating_mul(i64::try_from(self.devices).unwrap_or(1));
        if whole > 0 {
            (crate::analysis::to_f64(ns) / crate::analysis::to_f64(whole)).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }
}
