//! How often a kernel passes over the same amount of data, from its code and from how often each instruction ran.
//!
//! A phase is what loads read between one barrier or exchange between lanes and the next, in the order of the code. A
//! phase in a loop is passed through several times: as often as the exchange that ends it.

use super::Case;
use crate::code::CodeMap;

/// Sectors of global loads and stores, by instruction.
pub(super) const SECTORS: &str = "memory_l2_theoretical_sectors_global";
/// Phases that move the same data move the same number of sectors, up to edges: one warp of a row of 50, or a sector
/// for an unaligned start. A convention: 1 and 5 % separate the labelled pairs alike.
const SAME: f64 = 0.02;
/// Where half as many stores go to shared memory as loads come from global memory, a phase brings in a tile. Each turn
/// of its loop brings in another one. What is passed over leaves a value for each warp.
const TILE: f64 = 0.5;

/// As many phases of one size in the code are the turns of an unrolled loop over tiles rather than passes. A convention:
/// a maximum, a mean, a variance, a sum, a norm and the result are six.
const UNROLLED: usize = 7;

/// Passes over the same amount of data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Passes {
    pub(super) count: f64,
    /// Sectors of one of them.
    pub(super) sectors: f64,
}

/// What loads move between two exchanges.
#[derive(Clone, Copy, Debug)]
struct Phase {
    sectors: f64,
    /// How often it is passed through.
    turns: f64,
}

/// Sectors that are read in all phases, and the passes among these. The latter are absent where no two phases agree.
pub(super) fn passes(case: &Case<'_, '_>, code: &CodeMap) -> (f64, Option<Passes>) {
    let phases = phases(case, code);
    let all = phases.iter().map(|phase| phase.sectors).sum();
    // No exchange ends the last phase: it comes once after a loop, or it is the last part of the loop.
    let mut in_loop = phases.clone();
    if let [.., before, last] = in_loop.as_mut_slice() {
        last.turns = before.turns;
    }
    let found = [agreeing(&phases), agreeing(&in_loop)]
        .into_iter()
        .flatten()
        .max_by(|a, b| (a.count * a.sectors).total_cmp(&(b.count * b.sectors)));
    (all, found)
}

/// Phases that read as much in each turn as the largest one does. What they have in common is taken as the number of
/// turns of a loop around all of them, over different data.
fn agreeing(phases: &[Phase]) -> Option<Passes> {
    let each = |phase: &Phase| phase.sectors / phase.turns;
    let largest = phases
        .iter()
        .max_by(|a, b| a.sectors.total_cmp(&b.sectors))?;
    let wanted = each(largest);
    let same: Vec<&Phase> = phases
        .iter()
        .filter(|phase| (each(phase) - wanted).abs() <= SAME * wanted)
        .collect();
    let around = same
        .iter()
        .map(|phase| phase.turns)
        .fold(f64::INFINITY, f64::min);
    let count = same.iter().map(|phase| phase.turns / around).sum();
    (2..UNROLLED).contains(&same.len()).then_some(Passes {
        count,
        sectors: wanted * around,
    })
}

fn phases(case: &Case<'_, '_>, code: &CodeMap) -> Vec<Phase> {
    let executed = Numbers::of(case, "inst_executed");
    let (kind, access) = (
        Numbers::of(case, "memory_type"),
        Numbers::of(case, "memory_access_type"),
    );
    let loads: Vec<(u64, f64)> = case
        .by_instruction(SECTORS)
        .into_iter()
        .filter(|(address, _)| access.is(*address, LOAD))
        .collect();
    let to_shared: Vec<u64> = kind
        .0
        .iter()
        .map(|(address, _)| *address)
        .filter(|address| kind.is(*address, SHARED) && access.is(*address, STORE))
        .collect();
    // Every warp executes the first instruction once.
    let warps = executed.0.first().map_or(0.0, |(_, count)| *count).max(1.0);
    let is_apart = |pair: &[(u64, f64)]| match pair {
        [(first, _), (second, _)] => code.exchanges_between(*first, *second).is_empty(),
        _ => true,
    };
    let parts: Vec<&[(u64, f64)]> = loads
        .chunk_by(|first, second| is_apart(&[*first, *second]))
        .collect();
    let start_of = |place: usize| {
        let part: Option<&&[(u64, f64)]> = parts.get(place);
        part.and_then(|part| part.first())
            .map_or(u64::MAX, |(address, _)| *address)
    };
    parts
        .iter()
        .enumerate()
        .map(|(place, part)| {
            let last = part.last().map_or(0, |(address, _)| *address);
            let next = start_of(place + 1);
            let turns = code
                .exchanges_between(last, next)
                .first()
                .filter(|_| next != u64::MAX)
                .map_or(1.0, |exchange| executed.at(*exchange) / warps);
            let loaded: f64 = part.iter().map(|(address, _)| executed.at(*address)).sum();
            let stored: f64 = to_shared
                .iter()
                .filter(|address| (start_of(place)..next).contains(*address))
                .map(|address| executed.at(*address))
                .sum();
            Phase {
                sectors: part.iter().map(|(_, sectors)| sectors).sum(),
                turns: if stored >= TILE * loaded {
                    1.0
                } else {
                    turns.max(1.0)
                },
            }
        })
        .collect()
}

/// Codes of `memory_access_type` and of `memory_type`.
const LOAD: f64 = 2.0;
const STORE: f64 = 4.0;
const SHARED: f64 = 16.0;

/// The values of a metric by address, in the order of the code.
struct Numbers(Vec<(u64, f64)>);

impl Numbers {
    fn of(case: &Case<'_, '_>, metric: &str) -> Self {
        let mut values = case.by_instruction(metric);
        values.sort_by_key(|(address, _)| *address);
        Self(values)
    }

    fn at(&self, address: u64) -> f64 {
        let place = self.0.binary_search_by_key(&address, |(known, _)| *known);
        place
            .ok()
            .and_then(|place| self.0.get(place))
            .map_or(0.0, |(_, value)| *value)
    }

    fn is(&self, address: u64, code: f64) -> bool {
        (self.at(address) - code).abs() < 0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(phases: &[(f64, f64)]) -> Option<(f64, f64)> {
        let phases: Vec<Phase> = phases
            .iter()
            .map(|&(sectors, turns)| Phase { sectors, turns })
            .collect();
        agreeing(&phases).map(|passes| (passes.count, passes.sectors))
    }

    #[test]
    fn phases_of_the_same_size_are_passes() {
        assert_eq!(of(&[(100.0, 1.0), (100.0, 1.0)]), Some((2.0, 100.0)));
        assert_eq!(
            of(&[(100.0, 1.0), (99.0, 1.0), (7.0, 1.0)]),
            Some((2.0, 100.0))
        );
        assert_eq!(of(&[(100.0, 1.0), (50.0, 1.0)]), None);
        assert_eq!(of(&[(100.0, 1.0)]), None);
        assert_eq!(of(&[]), None);
    }

    /// A maximum, eight steps of a search and the result.
    #[test]
    fn each_turn_of_a_loop_is_a_pass() {
        let phases = [(100.0, 1.0), (800.0, 8.0), (100.0, 1.0)];
        assert_eq!(of(&phases), Some((10.0, 100.0)));
    }

    #[test]
    fn an_unrolled_loop_over_tiles_is_no_pass() {
        assert_eq!(of(&[(100.0, 1.0); 6]), Some((6.0, 100.0)));
        assert_eq!(of(&[(100.0, 1.0); 7]), None);
    }

    /// Rows one after the other, each read twice.
    #[test]
    fn a_loop_around_all_phases_reads_other_data_in_each_turn() {
        assert_eq!(of(&[(100.0, 4.0), (100.0, 4.0)]), Some((2.0, 100.0)));
    }

    /// A loop alone does not tell whether it reads the same data again.
    #[test]
    fn a_single_loop_is_not_enough() {
        assert_eq!(of(&[(800.0, 8.0), (30.0, 1.0)]), None);
    }
}
