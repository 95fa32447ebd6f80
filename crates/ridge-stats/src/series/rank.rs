//! Mann and Whitney's test, whose null distribution is the same for all distributions of values.

use super::tail;

/// Up to so many pairs out of order the orders are counted; beyond, the normal approximation is near enough.
const COUNTED: usize = 60;

/// The two-sided probability that two sets of independent values from one distribution are as far apart as these.
pub(super) fn p_value(left: &[f64], right: &[f64]) -> f64 {
    let (m, n) = (left.len() as f64, right.len() as f64);
    let mut all: Vec<(f64, bool)> = left
        .iter()
        .map(|value| (*value, false))
        .chain(right.iter().map(|value| (*value, true)))
        .collect();
    all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    // Pairs in which the value of the right is the larger one; ties count half.
    let mut pairs = 0.0;
    let mut ties = 0.0;
    let mut left_below = 0.0;
    let mut is_tied_across = false;
    for tied in all.chunk_by(|a, b| a.0 >= b.0) {
        let of_right = tied.iter().filter(|(_, is_right)| *is_right).count() as f64;
        let size = tied.len() as f64;
        let of_left = size - of_right;
        pairs += of_right * (left_below + of_left / 2.0);
        is_tied_across |= of_left > 0.0 && of_right > 0.0;
        left_below += of_left;
        ties += size * (size * size - 1.0);
    }
    let out_of_order = pairs.min(m * n - pairs);
    let all = m + n;
    let variance = m * n / 12.0 * ((all + 1.0) - ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let distance = (m * n / 2.0 - out_of_order - 0.5).max(0.0);
    let normal = tail::two_sided(distance / variance.sqrt());
    let Some(counted) = counted(left.len(), right.len(), out_of_order) else {
        return normal;
    };
    if is_tied_across {
        // Orders that ties leave open are not those that were counted.
        counted.max(normal)
    } else if out_of_order <= m.max(n) {
        counted
    } else {
        counted.min(normal)
    }
}

/// `2 P(U ≤ u)`: the orders with `j` pairs out of order are the partitions of `j` into at most `m` parts of at most `n`, with
/// `m ≤ n`, here without the second limit. Exact up to `u = n`, above the truth beyond, which is the careful side. Absent where
/// there is too much to count.
fn counted(m: usize, n: usize, out_of_order: f64) -> Option<f64> {
    let u = out_of_order.ceil() as usize;
    if u > COUNTED {
        return None;
    }
    let (parts, all) = (m.min(n), m + n);
    // How many partitions each number up to `u` has into parts of at most `parts`: as many as into at most `parts` parts.
    let mut partitions = [0.0; COUNTED + 1];
    partitions[0] = 1.0;
    for size in 1..=parts.min(u) {
        for j in size..=u {
            partitions[j] += partitions[j - size];
        }
    }
    let favourable: f64 = partitions[..=u].iter().sum();
    // The reciprocal of the number of choices of `parts` of all places, factor by factor.
    let orders = (1..=parts).fold(1.0, |product, i| {
        product * i as f64 / (all - parts + i) as f64
    });
    Some((2.0 * favourable * orders).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(left: &[i32], right: &[i32]) -> f64 {
        let values = |side: &[i32]| side.iter().copied().map(f64::from).collect::<Vec<_>>();
        p_value(&values(left), &values(right))
    }

    #[test]
    fn few_values_by_hand() {
        // Complete separation of 5 and 5: 2 of the 252 choices of 5 of 10.
        assert!((p(&[1, 2, 3, 4, 5], &[6, 7, 8, 9, 10]) - 2.0 / 252.0).abs() < 1e-12);
        // One pair out of order: 2 · (1 + 1) of 252; two: 2 · (1 + 1 + 2).
        assert!((p(&[1, 2, 3, 4, 6], &[5, 7, 8, 9, 10]) - 4.0 / 252.0).abs() < 1e-12);
        assert!((p(&[1, 2, 3, 4, 7], &[5, 6, 8, 9, 10]) - 8.0 / 252.0).abs() < 1e-12);
        assert!((p(&[7, 8, 9], &[1, 2, 3]) - 2.0 / 20.0).abs() < 1e-12);
    }

    #[test]
    fn mixed_and_equal_values_tell_nothing() {
        assert!(p(&[1, 3, 5, 7, 9], &[2, 4, 6, 8, 10]) > 0.5);
        assert!((p(&[4; 6], &[4; 6]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_tabulated_limit() {
        // Mann and Whitney's table: of 10 and 10 values, U = 23 is significant at 5 %, two-sided, and U = 24 is not.
        let left: Vec<f64> = (0..10).map(|i| 10.0 * f64::from(i)).collect();
        let with = |out_of_order: [i32; 10]| {
            let right: Vec<f64> = (0..)
                .zip(out_of_order)
                .map(|(i, above)| f64::from(10 * (9 - above) + 1) + 0.1 * f64::from(i))
                .collect();
            p_value(&left, &right)
        };
        let (in_, out) = (
            with([3, 3, 3, 2, 2, 2, 2, 2, 2, 2]),
            with([3, 3, 3, 3, 2, 2, 2, 2, 2, 2]),
        );
        assert!(in_ < 0.05 && out > 0.05, "{in_} {out}");
    }
}
