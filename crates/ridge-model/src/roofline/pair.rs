//! The same kernel before and after a change.

use super::Subject;
use super::document::{Kernel, Pair, Side};

/// Finds the kernels that belong together: the same whole name at the same size, then the same whole name, then the
/// same short name; and where each side has one kernel, these, whatever they are called. `subjects` are in the order of
/// `kernels`.
pub(super) fn pairs(subjects: &[Subject], kernels: &[Kernel]) -> Vec<Pair> {
    let of = |side| -> Vec<usize> {
        (0..subjects.len())
            .filter(|place| subjects[*place].side == Some(side))
            .collect()
    };
    let (before, mut after) = (of(Side::Before), of(Side::After));
    let mut found = Vec::new();
    if let ([one], [other]) = (before.as_slice(), after.as_slice()) {
        return vec![pair(kernels, *one, *other)];
    }
    let mut open = before;
    let rules: [fn(&Subject, &Subject) -> bool; 3] = [
        |a, b| a.signature == b.signature && a.name == b.name && a.shape == b.shape,
        |a, b| a.signature == b.signature && a.name == b.name,
        |a, b| a.name == b.name,
    ];
    for belong in rules {
        open.retain(|one| {
            let place = after
                .iter()
                .position(|other| belong(&subjects[*one], &subjects[*other]));
            if let Some(place) = place {
                found.push(pair(kernels, *one, after.remove(place)));
            }
            place.is_none()
        });
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
