//! The same kernel before and after a change.

use std::collections::{HashMap, VecDeque};

use super::Subject;
use super::document::{Kernel, Pair, Side};

/// What has to be the same.
type Key<'s> = (&'s str, Option<&'s str>, Option<&'s str>);

/// Finds the kernels that belong together: the same whole name at the same size, then the same whole name, then the
/// same short name; and where each side has one kernel, these, whatever they are called. `subjects` are in the order of
/// `kernels`.
pub(super) fn pairs(subjects: &[Subject], kernels: &[Kernel]) -> Vec<Pair> {
    let of = |side| -> Vec<usize> {
        (0..subjects.len())
            .filter(|place| subjects[*place].side == Some(side))
            .collect()
    };
    let (mut before, mut after) = (of(Side::Before), of(Side::After));
    if let ([one], [other]) = (before.as_slice(), after.as_slice()) {
        return vec![pair(kernels, *one, *other)];
    }
    let rules: [fn(&Subject) -> Key<'_>; 3] = [
        |subject| {
            let (signature, shape) = (subject.signature.as_deref(), subject.shape.as_deref());
            (&subject.name, signature, shape)
        },
        |subject| (&subject.name, subject.signature.as_deref(), None),
        |subject| (&subject.name, None, None),
    ];
    let mut found = Vec::new();
    for key in rules {
        let mut open: HashMap<Key<'_>, VecDeque<usize>> = HashMap::new();
        for place in &after {
            open.entry(key(&subjects[*place]))
                .or_default()
                .push_back(*place);
        }
        before.retain(|one| {
            let partner = open
                .get_mut(&key(&subjects[*one]))
                .and_then(VecDeque::pop_front);
            found.extend(partner.map(|other| pair(kernels, *one, other)));
            partner.is_none()
        });
        after = open.into_values().flatten().collect();
        after.sort_unstable();
    }
    found.sort_by_key(|pair| pair.before);
    found
}

fn pair(kernels: &[Kernel], before: usize, after: usize) -> Pair {
    let time = |place: usize| kernels[place].time_ns;
    Pair {
        before: kernels[before].id,
        after: kernels[after].id,
        speedup: time(before).zip(time(after)).map(|(a, b)| a / b),
    }
}
