//! Several reports about the same launches as one: each holds counters that the others do not.

use std::collections::HashMap;

use ncu_rep::report::Dim3;
use ncu_rep::{MetricTable, Report};

use super::{Evidence, Workload};

/// What tells that two results are about the same work: kernel, grid and block.
type Key = (String, Option<Dim3>, Option<Dim3>);

/// Reports about the same launches. The first one says which launches there are.
pub(crate) struct Merged<'a> {
    parts: Vec<Evidence<'a>>,
    /// For each launch of the first part: its metrics, followed by those that the other parts have of it.
    tables: Vec<MetricTable>,
}

impl<'a> Merged<'a> {
    /// Absent where a part is no report, or there is none.
    pub(super) fn new(parts: Vec<Evidence<'a>>) -> Option<Self> {
        let are_reports = parts.iter().all(|part| matches!(part, Evidence::Report(_)));
        let first = parts.first().filter(|_| are_reports)?;
        let others: Vec<HashMap<Key, Vec<usize>>> = parts.iter().skip(1).map(places).collect();
        let mut tables = Vec::with_capacity(first.len());
        let mut counts: HashMap<Key, usize> = HashMap::new();
        for index in 0..first.len() {
            let mut list = Vec::new();
            if let Some(workload) = first.workload(index) {
                let key = key(&workload);
                let count = counts.entry(key.clone()).or_default();
                // The first value of a name counts, so that each is that of the earliest report that has it.
                list = MetricTable::copy_of(&workload.profile.metrics);
                for (part, places) in parts.iter().skip(1).zip(&others) {
                    // The same launch, counted among those of its kernel and size; a report that holds fewer of them has
                    // its last one stand for the rest, which did the same work.
                    let same = places
                        .get(&key)
                        .and_then(|all| all.get(*count).or(all.last()));
                    if let Some(same) = same.and_then(|index| part.workload(*index)) {
                        list.extend(MetricTable::copy_of(&same.profile.metrics));
                    }
                }
                *count += 1;
            }
            tables.push(list.into_iter().collect());
        }
        Some(Self { parts, tables })
    }

    pub(super) fn first(&self) -> &Evidence<'a> {
        &self.parts[0]
    }

    pub(super) fn len(&self) -> usize {
        self.tables.len()
    }

    pub(super) fn workload(&self, index: usize) -> Option<Workload<'_>> {
        let mut workload = self.first().workload(index)?;
        workload.profile.metrics = self.tables.get(index)?.metrics();
        for part in self.parts.iter().skip(1) {
            workload.problems.extend(part.problems().iter().cloned());
        }
        Some(workload)
    }
}

fn key(workload: &Workload<'_>) -> Key {
    let profile = &workload.profile;
    (profile.signature.clone(), profile.grid, profile.block)
}

/// Results by what they are about, in order.
fn places(part: &Evidence<'_>) -> HashMap<Key, Vec<usize>> {
    let mut places: HashMap<Key, Vec<usize>> = HashMap::new();
    for index in 0..part.len() {
        if let Some(workload) = part.workload(index) {
            places.entry(key(&workload)).or_default().push(index);
        }
    }
    places
}

/// What reports have in common that complete each other: the same program, and only metrics that were asked for by name.
/// Absent for reports that were made with sections or sets, which answer for themselves.
pub(crate) fn common_program(report: &Report<'_>) -> Option<String> {
    let session = report.session();
    let collection = &session.collection;
    let is_by_name = !collection.metrics.is_empty()
        && collection.sets.is_empty()
        && collection.sections.is_empty();
    let program = collection.program.clone();
    program.filter(|_| is_by_name)
}
