//! Records of one fault at one place are one group: kernels have many threads.

use std::collections::BTreeMap;

use super::noise::{Noise, noise};
use super::record::{FaultKind, Record, Run, Severity, Tool};

/// Records that say the same of the same place.
#[derive(Clone, Debug, PartialEq)]
pub struct Group<'r> {
    /// The tool, where it is known.
    pub tool: Option<Tool>,
    /// Records of the group that were printed.
    pub count: u64,
    /// Hazards of a race: one for each byte.
    pub hazards: Option<u64>,
    /// Bytes that were not freed.
    pub leaked_bytes: Option<u64>,
    /// Different blocks among the records that name one.
    pub blocks: usize,
    /// Why it is likely no fault.
    pub noise: Option<Noise>,
    /// The first record.
    pub first: &'r Record,
}

/// Function, file, line and direction.
type Spot<'r> = (Option<&'r str>, Option<&'r str>, Option<u32>, &'r str);

/// What makes records the same.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key<'r> {
    tool: Option<Tool>,
    kind: FaultKind,
    severity: Severity,
    noise: Option<Noise>,
    kernel: Option<&'r str>,
    /// Function, file and line of the place, and of the accesses against it.
    places: Vec<Spot<'r>>,
    access: (Option<&'r str>, Option<&'r str>, Option<u64>),
    /// Where there is no place in device code: what was called, and from where.
    host: Option<(&'r str, Option<&'r str>, Option<u64>)>,
}

fn key<'r>(tool: Option<Tool>, record: &'r Record) -> Key<'r> {
    let own = record.place.as_ref();
    let mut places = vec![(
        own.and_then(|place| place.function.as_deref()),
        own.and_then(|place| place.file.as_deref()),
        own.and_then(|place| place.line),
        "",
    )];
    places.extend(record.accesses.iter().map(|access| {
        (
            access.place.function.as_deref(),
            access.place.file.as_deref(),
            access.place.line,
            access.direction.as_str(),
        )
    }));
    let memory = record.memory.as_ref();
    // Leaks of one place may be of several sizes, and their text has the address.
    let is_leak = record.kind == FaultKind::Leak;
    let site = record.host_site();
    Key {
        tool,
        kind: record.kind,
        severity: record.severity,
        noise: noise(record),
        kernel: record.kernel(),
        places,
        access: (
            memory.and_then(|memory| memory.space.as_deref()),
            memory.and_then(|memory| memory.direction.as_deref()),
            memory.and_then(|memory| memory.bytes).filter(|_| !is_leak),
        ),
        host: own.is_none().then(|| {
            (
                if is_leak { "" } else { record.text.as_str() },
                site.and_then(|frame| frame.function.as_deref()),
                site.and_then(|frame| frame.offset),
            )
        }),
    }
}

/// Groups the records of runs: faults before warnings and noise, those with most records first.
#[must_use]
pub fn groups<'r>(runs: impl IntoIterator<Item = &'r Run>) -> Vec<Group<'r>> {
    let mut places: BTreeMap<Key<'r>, usize> = BTreeMap::new();
    let mut groups: Vec<Group<'r>> = Vec::new();
    let mut blocks: Vec<std::collections::BTreeSet<[u32; 3]>> = Vec::new();
    for run in runs {
        for record in &run.records {
            let place = *places.entry(key(run.tool, record)).or_insert_with(|| {
                groups.push(Group {
                    tool: run.tool,
                    count: 0,
                    hazards: None,
                    leaked_bytes: None,
                    blocks: 0,
                    noise: noise(record),
                    first: record,
                });
                blocks.push(std::collections::BTreeSet::new());
                groups.len() - 1
            });
            let group = &mut groups[place];
            group.count += 1;
            let hazards: Vec<u64> = record
                .accesses
                .iter()
                .filter_map(|access| access.hazards)
                .collect();
            if !hazards.is_empty() {
                let sum = hazards
                    .iter()
                    .fold(0, |sum: u64, one| sum.saturating_add(*one));
                group.hazards = Some(group.hazards.unwrap_or(0).saturating_add(sum));
            }
            if record.kind == FaultKind::Leak
                && let Some(bytes) = record.memory.as_ref().and_then(|memory| memory.bytes)
            {
                group.leaked_bytes = Some(group.leaked_bytes.unwrap_or(0).saturating_add(bytes));
            }
            if let Some(block) = record.block {
                blocks[place].insert(block);
            }
        }
    }
    for (group, blocks) in groups.iter_mut().zip(&blocks) {
        group.blocks = blocks.len();
    }
    groups.sort_by_key(|group| {
        (
            group.noise.is_some(),
            group.first.severity,
            group.tool,
            std::cmp::Reverse(group.count),
        )
    });
    groups
}
