//! Which launches are worth profiling: those that take most of the time, one of each kind.

mod traced;

use std::collections::HashMap;

pub use traced::{Traced, traced};

/// Launches of one kernel with one size of grid and block.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchGroup {
    /// The function's name without namespaces, template arguments and parameters: what the profiler selects by.
    pub name: String,
    /// The whole demangled name.
    pub signature: String,
    /// Blocks in the grid.
    pub grid: [u32; 3],
    /// Threads in a block.
    pub block: [u32; 3],
    /// How many launches.
    pub count: u64,
    /// GPU time of all of them.
    pub total_ns: f64,
    /// Their median duration.
    pub median_ns: f64,
    /// Among all launches of kernels of this name in their process, from 1: places of launches of this group, in order of
    /// launching.
    pub invocations: Vec<u64>,
    /// Among all launches, from 0: places of the same launches.
    pub places: Vec<usize>,
}

impl LaunchGroup {
    /// One launch that took no time, to fill in.
    #[must_use]
    pub fn new(name: &str, grid: [u32; 3], block: [u32; 3]) -> Self {
        Self {
            name: name.to_owned(),
            signature: name.to_owned(),
            grid,
            block,
            count: 1,
            total_ns: 0.0,
            median_ns: 0.0,
            invocations: vec![1],
            places: vec![0],
        }
    }
}

/// One launch of a program, as it was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The function's name without namespaces, template arguments and parameters.
    pub name: String,
    /// The whole demangled name.
    pub signature: String,
    /// Blocks in the grid.
    pub grid: [u32; 3],
    /// Threads in a block.
    pub block: [u32; 3],
    /// GPU time; absent where it was not measured.
    pub duration_ns: Option<f64>,
    /// The process that launched it, each of which the profiler counts for itself; 0 where that is not told.
    pub process: u64,
}

/// Puts launches of the same work together, in order of first launch.
#[must_use]
pub fn group(launches: &[Seen]) -> Vec<LaunchGroup> {
    let mut groups: Vec<(LaunchGroup, Vec<f64>)> = Vec::new();
    let mut places = HashMap::new();
    let mut invocations: HashMap<(u64, &str), u64> = HashMap::new();
    for (index, seen) in launches.iter().enumerate() {
        let invocation = invocations.entry((seen.process, &seen.name)).or_default();
        *invocation += 1;
        let place = *places
            .entry((&seen.signature, seen.grid, seen.block))
            .or_insert_with(|| {
                let group = LaunchGroup {
                    signature: seen.signature.clone(),
                    count: 0,
                    invocations: Vec::new(),
                    places: Vec::new(),
                    ..LaunchGroup::new(&seen.name, seen.grid, seen.block)
                };
                groups.push((group, Vec::new()));
                groups.len() - 1
            });
        let (group, durations) = &mut groups[place];
        group.count += 1;
        group.invocations.push(*invocation);
        group.places.push(index);
        group.total_ns += seen.duration_ns.unwrap_or(0.0);
        durations.extend(seen.duration_ns);
    }
    groups
        .into_iter()
        .map(|(group, mut durations)| {
            durations.sort_by(f64::total_cmp);
            LaunchGroup {
                median_ns: median(&durations),
                ..group
            }
        })
        .collect()
}

/// The middle of sorted durations; of an even number the mean of both in the middle. 0 where there is none.
fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match sorted.get(middle) {
        None => 0.0,
        Some(upper) if sorted.len() % 2 == 1 => *upper,
        Some(upper) => f64::midpoint(sorted[middle - 1], *upper),
    }
}

impl LaunchGroup {
    /// The same group with one of its launches alone; absent where that one is of another group.
    #[must_use]
    pub fn only(&self, launch: usize) -> Option<Self> {
        let place = self.places.iter().position(|place| *place == launch)?;
        Some(Self {
            invocations: vec![*self.invocations.get(place)?],
            places: vec![launch],
            ..self.clone()
        })
    }
}

/// What [`choose`] chose.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// Places of the groups, those with most time first.
    pub groups: Vec<usize>,
    /// The share of all time that they take, 0 to 1.
    pub covered: f64,
}

/// The groups that together take this share of the time, those with most time first; so many at most.
///
/// Where no time is known, all are taken.
#[must_use]
pub fn choose(groups: &[LaunchGroup], coverage: f64, most: Option<usize>) -> Chosen {
    /// Sums of times are rounded: nine tenths are reached within this.
    const ROUNDING: f64 = 1e-9;
    let total: f64 = groups.iter().map(|group| group.total_ns).sum();
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by(|&a, &b| groups[b].total_ns.total_cmp(&groups[a].total_ns));
    let most = most.unwrap_or(usize::MAX);
    let mut chosen = Chosen {
        groups: Vec::new(),
        covered: 0.0,
    };
    for place in order {
        let is_enough = total > 0.0 && chosen.covered + ROUNDING >= coverage;
        if is_enough || chosen.groups.len() >= most {
            break;
        }
        chosen.groups.push(place);
        if total > 0.0 {
            chosen.covered += groups[place].total_ns / total;
        }
    }
    chosen
}

/// The names that are most like one that was not found, closest first.
#[must_use]
pub fn closest<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let wanted = wanted.to_lowercase();
    let mut ranked: Vec<(usize, &str)> = Vec::new();
    for name in names {
        if !ranked.iter().any(|(_, known)| *known == name) {
            ranked.push((distance(&wanted, &name.to_lowercase()), name));
        }
    }
    ranked.sort();
    ranked.into_iter().map(|(_, name)| name).collect()
}

/// How many characters have to be changed, put in or taken out to make one text of the other (Levenshtein). Names are cut,
/// so that hostile ones cost no more than long ones.
fn distance(a: &str, b: &str) -> usize {
    const CUT: usize = 128;
    let b: Vec<char> = b.chars().take(CUT).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (line, x) in a.chars().take(CUT).enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != *y);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(name: &str, blocks: u32, duration_ns: f64) -> Seen {
        Seen {
            name: name.to_owned(),
            signature: format!("{name}(int)"),
            grid: [blocks, 1, 1],
            block: [64, 1, 1],
            duration_ns: Some(duration_ns),
            process: 0,
        }
    }

    #[test]
    fn launches_of_the_same_size_are_one_group_with_their_places_by_name() {
        let groups = group(&[
            seen("a", 1, 5.0),
            seen("b", 1, 1.0),
            seen("a", 2, 7.0),
            seen("a", 1, 9.0),
        ]);
        let shown: Vec<_> = groups
            .iter()
            .map(|group| (&*group.name, group.grid[0], group.invocations.clone()))
            .collect();
        assert_eq!(
            shown,
            [("a", 1, vec![1, 3]), ("b", 1, vec![1]), ("a", 2, vec![2])]
        );
        let times = [groups[0].total_ns, groups[0].median_ns];
        assert!((times[0] - 14.0).abs() < 1e-9 && (times[1] - 7.0).abs() < 1e-9);
        assert_eq!(groups[0].only(3).unwrap().invocations, [3]);
        assert_eq!(groups[0].only(1), None);
    }

    #[test]
    fn groups_are_taken_until_the_share_is_reached() {
        let groups = group(&[seen("a", 1, 50.0), seen("b", 1, 45.0), seen("c", 1, 5.0)]);
        assert_eq!(choose(&groups, 0.9, None).groups, [0, 1]);
        assert_eq!(choose(&groups, 1.0, None).groups, [0, 1, 2]);
        assert_eq!(choose(&groups, 0.9, Some(1)).groups, [0]);
    }

    #[test]
    fn without_times_all_groups_are_taken() {
        let groups = [LaunchGroup::new("a", [1; 3], [1; 3])];
        assert_eq!(choose(&groups, 0.9, None).groups, [0]);
        assert!(choose(&[], 0.9, None).groups.is_empty());
    }

    #[test]
    fn the_closest_name_comes_first() {
        let names = ["softmax_kernel", "gemm", "soft_max", "gemm"];
        assert_eq!(
            closest("softmax", names),
            ["soft_max", "gemm", "softmax_kernel"]
        );
    }
}
