//! Which kernel of one side is which of the other.
//!
//! Exact keys go first and cost one look-up for each kernel. Names that are only alike are compared with each other, so no
//! more than [`MOST_ALIKE`] of each side are: those that take most time.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;

use schemars::JsonSchema;
use serde::Serialize;

use super::similarity::similarity;

/// Kernels of each side whose names are compared with each other. 256 take 65,536 comparisons, a tenth of a second.
pub const MOST_ALIKE: usize = 256;
/// Names have to be as alike as this to be taken for one: a quarter of the characters may differ. Endings such as `_slow` and
/// `_kernel` are common to names that have nothing else in common.
pub const LEAST_SIMILARITY: f64 = 0.75;
/// The second best has to be worse by so much, or nobody can tell which was meant.
const CLEARLY_BETTER: f64 = 0.05;

/// What a kernel is known by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key<'n> {
    /// Name without namespaces, template arguments and parameters.
    pub name: &'n str,
    /// The whole name.
    pub signature: &'n str,
    /// Blocks of the grid.
    pub grid: Option<[u32; 3]>,
    /// Threads of a block.
    pub block: Option<[u32; 3]>,
    /// What it takes: kernels that take more are looked at first where not all are.
    pub weight: f64,
}

/// How a pair was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// By hand.
    Given,
    /// There is one kernel on each side.
    OnlyOne,
    /// The same whole name, grid and block.
    Same,
    /// The same whole name and block; the grid differs.
    OtherGrid,
    /// The same whole name; the block differs.
    OtherBlock,
    /// The same base name; template arguments or parameters differ.
    OtherArguments,
    /// Base names that are alike.
    Alike,
}

/// Two kernels that belong together, by their places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The place before.
    pub before: usize,
    /// The place after.
    pub after: usize,
    /// How it was found.
    pub rule: Rule,
    /// How alike the names are, where that decided.
    pub similarity: Option<f64>,
}

/// What belongs together, and what is alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairs {
    /// In the order of the kernels before.
    pub pairs: Vec<Pair>,
    /// Kernels before without a partner.
    pub before: Vec<usize>,
    /// Kernels after without a partner.
    pub after: Vec<usize>,
    /// Pairs by hand of which a name is not there: the place in the list, and whether it is the one before.
    pub not_found: Vec<(usize, bool)>,
    /// Whether names were compared of a part of the kernels only, because there are too many.
    pub is_limited: bool,
}

/// Finds the pairs. `given` are names, or whole names, before and after.
#[must_use]
pub fn pairs(before: &[Key<'_>], after: &[Key<'_>], given: &[(&str, &str)]) -> Pairs {
    let mut open = Open {
        before: (0..before.len()).collect(),
        after: (0..after.len()).collect(),
        found: Pairs::default(),
    };
    for (place, (one, other)) in given.iter().enumerate() {
        open.by_hand(before, after, (one, other), place);
    }
    open.by_key(
        Rule::Same,
        |key| (key.signature, key.grid, key.block),
        before,
        after,
    );
    open.by_key(
        Rule::OtherGrid,
        |key| (key.signature, key.block),
        before,
        after,
    );
    open.by_key(
        Rule::OtherBlock,
        |key| (key.signature, key.grid),
        before,
        after,
    );
    open.by_key(Rule::OtherBlock, |key| key.signature, before, after);
    open.by_key(
        Rule::OtherArguments,
        |key| (key.name, key.grid, key.block),
        before,
        after,
    );
    open.by_key(Rule::OtherArguments, |key| key.name, before, after);
    if let ([_], [_]) = (before, after) {
        open.by_key(Rule::OnlyOne, |_| (), before, after);
    }
    open.by_likeness(before, after);
    let mut found = open.found;
    found.before = open.before;
    found.after = open.after;
    found.pairs.sort_by_key(|pair| pair.before);
    found
}

/// What has no partner yet, in its order.
struct Open {
    before: Vec<usize>,
    after: Vec<usize>,
    found: Pairs,
}

impl Open {
    /// Joins all kernels of one name with those of the other: at the same size first, then in order.
    fn by_hand(
        &mut self,
        before: &[Key<'_>],
        after: &[Key<'_>],
        (one, other): (&str, &str),
        place: usize,
    ) {
        let is = |key: &Key<'_>, name: &str| key.name == name || key.signature == name;
        if !before.iter().any(|key| is(key, one)) {
            self.found.not_found.push((place, true));
        }
        if !after.iter().any(|key| is(key, other)) {
            self.found.not_found.push((place, false));
        }
        let mut own = Self {
            before: self
                .before
                .iter()
                .copied()
                .filter(|at| is(&before[*at], one))
                .collect(),
            after: self
                .after
                .iter()
                .copied()
                .filter(|at| is(&after[*at], other))
                .collect(),
            found: Pairs::default(),
        };
        own.by_key(Rule::Given, |key| (key.grid, key.block), before, after);
        own.by_key(Rule::Given, |key| key.block, before, after);
        own.by_key(Rule::Given, |_| (), before, after);
        self.close(&own.found.pairs);
        self.found.pairs.append(&mut own.found.pairs);
    }

    /// Takes away what has a partner now.
    fn close(&mut self, pairs: &[Pair]) {
        let before: HashSet<usize> = pairs.iter().map(|pair| pair.before).collect();
        let after: HashSet<usize> = pairs.iter().map(|pair| pair.after).collect();
        self.before.retain(|at| !before.contains(at));
        self.after.retain(|at| !after.contains(at));
    }

    /// Joins what has the same key, in order where several have it.
    fn by_key<'n, K: Hash + Eq>(
        &mut self,
        rule: Rule,
        key: impl Fn(&Key<'n>) -> K,
        before: &[Key<'n>],
        after: &[Key<'n>],
    ) {
        if self.before.is_empty() || self.after.is_empty() {
            return;
        }
        let mut places: HashMap<K, VecDeque<usize>> = HashMap::new();
        for at in &self.after {
            places.entry(key(&after[*at])).or_default().push_back(*at);
        }
        let pairs = &mut self.found.pairs;
        self.before.retain(|one| {
            let partner = places
                .get_mut(&key(&before[*one]))
                .and_then(VecDeque::pop_front);
            pairs.extend(partner.map(|other| Pair {
                before: *one,
                after: other,
                rule,
                similarity: None,
            }));
            partner.is_none()
        });
        self.after = places.into_values().flatten().collect();
        self.after.sort_unstable();
    }

    /// Joins names that are each other's best likeness, clearly before all others.
    fn by_likeness(&mut self, before: &[Key<'_>], after: &[Key<'_>]) {
        let (ours, theirs) = (heaviest(&self.before, before), heaviest(&self.after, after));
        let is_limited = ours.len() < self.before.len() || theirs.len() < self.after.len();
        self.found.is_limited = is_limited && !ours.is_empty() && !theirs.is_empty();
        let table: Vec<Vec<f64>> = ours
            .iter()
            .map(|one| {
                let name = before[*one].name;
                theirs
                    .iter()
                    .map(|other| similarity(name, after[*other].name))
                    .collect()
            })
            .collect();
        let mut pairs = Vec::new();
        for (row, one) in ours.iter().enumerate() {
            let Some((column, best)) = clear_best(table[row].iter().copied()) else {
                continue;
            };
            let back = clear_best(table.iter().map(|row| row[column]));
            if best < LEAST_SIMILARITY || back.is_none_or(|(back, _)| back != row) {
                continue;
            }
            pairs.push(Pair {
                before: *one,
                after: theirs[column],
                rule: Rule::Alike,
                similarity: Some(best),
            });
        }
        self.close(&pairs);
        self.found.pairs.append(&mut pairs);
    }
}

/// Those that take most, at most so many.
fn heaviest(places: &[usize], keys: &[Key<'_>]) -> Vec<usize> {
    let mut places = places.to_vec();
    let order = |a: &usize, b: &usize| -> Ordering {
        keys[*b].weight.total_cmp(&keys[*a].weight).then(a.cmp(b))
    };
    if places.len() > MOST_ALIKE {
        places.select_nth_unstable_by(MOST_ALIKE, order);
        places.truncate(MOST_ALIKE);
    }
    places.sort_unstable();
    places
}

/// The place of the largest value, if it is clearly larger than the second.
fn clear_best(values: impl Iterator<Item = f64>) -> Option<(usize, f64)> {
    let mut best: Option<(usize, f64)> = None;
    let mut second = f64::NEG_INFINITY;
    for (place, value) in values.enumerate() {
        match best {
            Some((_, most)) if value <= most => second = second.max(value),
            _ => {
                second = best.map_or(second, |(_, most)| second.max(most));
                best = Some((place, value));
            }
        }
    }
    best.filter(|(_, value)| *value >= second + CLEARLY_BETTER)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key<'n>(name: &'n str, signature: &'n str, grid: u32, block: u32) -> Key<'n> {
        Key {
            name,
            signature,
            grid: Some([grid, 1, 1]),
            block: Some([block, 1, 1]),
            weight: 1.0,
        }
    }

    fn rules(before: &[Key<'_>], after: &[Key<'_>]) -> Vec<(usize, usize, Rule)> {
        let found = pairs(before, after, &[]);
        found
            .pairs
            .iter()
            .map(|pair| (pair.before, pair.after, pair.rule))
            .collect()
    }

    #[test]
    fn the_nearest_key_wins() {
        let before = [
            key("gemm", "gemm<float>(int)", 8, 128),
            key("gemm", "gemm<float>(int)", 16, 128),
            key("scan", "scan(int)", 4, 256),
            key("norm", "norm<4>(int)", 4, 256),
            key("reduce_stage1", "reduce_stage1(int)", 1, 32),
            key("gone", "gone()", 1, 32),
        ];
        let after = [
            key("norm", "norm<8>(int)", 4, 128),
            key("scan", "scan(int)", 4, 512),
            key("gemm", "gemm<float>(int)", 32, 128),
            key("gemm", "gemm<float>(int)", 8, 128),
            key("reduce_stage_1", "reduce_stage_1(int)", 1, 32),
            key("unlike_all", "unlike_all()", 1, 32),
        ];
        assert_eq!(
            rules(&before, &after),
            [
                (0, 3, Rule::Same),
                (1, 2, Rule::OtherGrid),
                (2, 1, Rule::OtherBlock),
                (3, 0, Rule::OtherArguments),
                (4, 4, Rule::Alike),
            ]
        );
        let found = pairs(&before, &after, &[]);
        assert_eq!((found.before, found.after), (vec![5], vec![5]));
    }

    #[test]
    fn one_on_each_side_is_a_pair() {
        let (one, other) = ([key("a", "a()", 1, 1)], [key("zzz", "zzz()", 2, 2)]);
        assert_eq!(rules(&one, &other), [(0, 0, Rule::OnlyOne)]);
        assert_eq!(rules(&one, &one), [(0, 0, Rule::Same)]);
    }

    #[test]
    fn by_hand_goes_first() {
        let before = [
            key("a", "a()", 1, 1),
            key("b", "b()", 1, 1),
            key("a", "a()", 2, 1),
        ];
        let after = [
            key("b", "b()", 1, 1),
            key("a", "a()", 1, 1),
            key("b", "b()", 2, 1),
        ];
        let found = pairs(&before, &after, &[("a", "b()"), ("x", "a"), ("a", "y")]);
        let given = |pair: &&Pair| pair.rule == Rule::Given;
        let list: Vec<_> = found
            .pairs
            .iter()
            .filter(given)
            .map(|pair| (pair.before, pair.after))
            .collect();
        assert_eq!(list, [(0, 0), (2, 2)]);
        assert_eq!(found.not_found, [(1, true), (2, false)]);
        assert_eq!((found.before, found.after), (vec![1], vec![1]));
    }

    #[test]
    fn what_nobody_can_tell_is_left_alone() {
        // Both are one character away.
        let before = [key("stage_a", "1", 1, 1), key("other_things", "2", 1, 1)];
        let after = [key("stage_b", "3", 1, 1), key("stage_c", "4", 1, 1)];
        assert_eq!(rules(&before, &after), []);
    }

    #[test]
    fn kernels_without_number_are_matched_in_one_go() {
        // Comparing each with each would be 62 thousand million comparisons, which take hours.
        const COUNT: usize = 250_000;
        // Nothing is alike by its key: the worst case of every rule.
        let names: Vec<String> = (0..2 * COUNT)
            .map(|at| format!("kernel_{at:07}_of_many"))
            .collect();
        let side = |from: usize| -> Vec<Key<'_>> {
            names[from..from + COUNT]
                .iter()
                .map(|name| key(name, name, 1, 1))
                .collect()
        };
        let found = pairs(&side(0), &side(COUNT), &[]);
        assert!(found.is_limited);
        assert!(found.pairs.len() <= MOST_ALIKE);
        assert_eq!(found.before.len() + found.pairs.len(), COUNT);
    }

    proptest! {
        #[test]
        fn each_kernel_is_in_one_place(
            names in proptest::collection::vec(("[ab]{1,2}", 1_u32..3, 1_u32..3), 0..24),
            split in 0_usize..24,
        ) {
            let keys: Vec<Key<'_>> = names.iter().map(|(name, grid, block)| key(name, name, *grid, *block)).collect();
            let (before, after) = keys.split_at(split.min(keys.len()));
            let found = pairs(before, after, &[("a", "b")]);
            let mut ours: Vec<usize> = found.pairs.iter().map(|pair| pair.before).chain(found.before.iter().copied()).collect();
            let mut theirs: Vec<usize> = found.pairs.iter().map(|pair| pair.after).chain(found.after.iter().copied()).collect();
            ours.sort_unstable();
            theirs.sort_unstable();
            prop_assert_eq!(ours, (0..before.len()).collect::<Vec<_>>());
            prop_assert_eq!(theirs, (0..after.len()).collect::<Vec<_>>());
        }

        #[test]
        fn a_list_matches_itself(names in proptest::collection::vec(("[a-d]{1,3}", 1_u32..3), 1..24)) {
            let keys: Vec<Key<'_>> = names.iter().map(|(name, grid)| key(name, name, *grid, 32)).collect();
            let found = pairs(&keys, &keys, &[]);
            prop_assert_eq!(found.pairs.len(), keys.len());
            prop_assert!(found.pairs.iter().all(|pair| pair.rule == Rule::Same && pair.before == pair.after));
        }
    }
}
