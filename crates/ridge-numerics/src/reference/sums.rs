//! Orders of a sum: one result for each, beside what can be expected of it.

use super::double::DoubleDouble;
use crate::format::{Format, Overflow};

/// In which order values are added, and whether what is lost is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// One after the other, as one thread does.
    Serial,
    /// The same from the last to the first.
    Reversed,
    /// From the smallest magnitude to the largest.
    Ascending,
    /// Halves, each summed by halves: the depth is the logarithm of the number.
    Pairwise,
    /// This many threads add every so-many-th value each, and a tree adds their sums: a block of a GPU.
    Tree {
        /// The threads.
        threads: usize,
    },
    /// This many parts are summed one value after the other, then the parts: split-K.
    Split {
        /// The parts.
        parts: usize,
    },
    /// Serial, with the rounding error of each addition carried to the next (Kahan).
    Kahan,
    /// As [`Order::Kahan`], but right also where a value is larger than the sum so far (Neumaier).
    Neumaier,
    /// One after the other in an order that a seed shuffles: what atomic operations do.
    Shuffled {
        /// Which order.
        seed: u64,
    },
}

impl Order {
    /// The most roundings that one value takes part in, or `None` for compensated sums, whose error does not grow with it.
    #[must_use]
    pub fn depth(self, count: usize) -> Option<usize> {
        let levels = |count: usize| count.max(1).next_power_of_two().ilog2() as usize;
        Some(match self {
            Self::Serial | Self::Reversed | Self::Ascending | Self::Shuffled { .. } => {
                count.saturating_sub(1)
            }
            Self::Pairwise => levels(count),
            Self::Tree { threads } => {
                count.div_ceil(threads.max(1)).saturating_sub(1) + levels(threads.min(count))
            }
            Self::Split { parts } => {
                let parts = parts.clamp(1, count.max(1));
                count.div_ceil(parts).saturating_sub(1) + parts - 1
            }
            Self::Kahan | Self::Neumaier => return None,
        })
    }
}

/// Additions rounded to a format.
#[derive(Clone, Copy)]
struct Adder(Format);

impl Adder {
    /// A sum is exact in `f64` or rounded there harmlessly: `f64` has more than twice the bits of the narrower formats, so that
    /// the second rounding gives what one would (Figueroa, 1995).
    #[inline]
    fn add(self, a: f64, b: f64) -> f64 {
        match self.0.part() {
            Format::F64 => a + b,
            Format::F32 => f64::from((a + b) as f32),
            other => other.decode(other.encode(a + b, Overflow::NonFinite)),
        }
    }

    fn serial(self, values: impl Iterator<Item = f64>) -> f64 {
        values.fold(0.0, |sum, value| self.add(sum, value))
    }

    fn pairwise(self, values: &[f64]) -> f64 {
        match values {
            [] => 0.0,
            [one] => *one,
            many => {
                // The larger half is a power of two, as when neighbours are added level by level.
                let half = many.len().next_power_of_two() / 2;
                let (left, right) = many.split_at(half);
                self.add(self.pairwise(left), self.pairwise(right))
            }
        }
    }

    fn kahan(self, values: &[f64]) -> f64 {
        let (mut sum, mut lost) = (0.0, 0.0);
        for value in values {
            let term = self.add(*value, -lost);
            let next = self.add(sum, term);
            lost = self.add(self.add(next, -sum), -term);
            sum = next;
        }
        sum
    }

    fn neumaier(self, values: &[f64]) -> f64 {
        let (mut sum, mut lost) = (0.0_f64, 0.0);
        for value in values {
            let next = self.add(sum, *value);
            let (large, small) = if sum.abs() >= value.abs() {
                (sum, *value)
            } else {
                (*value, sum)
            };
            lost = self.add(lost, self.add(self.add(large, -next), small));
            sum = next;
        }
        self.add(sum, lost)
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): good enough to shuffle, and the same everywhere.
fn mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut x = *state;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn shuffled(values: &[f64], seed: u64) -> Vec<f64> {
    let mut values = values.to_vec();
    let mut state = seed;
    for last in (1..values.len()).rev() {
        let place = (mix(&mut state) % (last as u64 + 1)) as usize;
        values.swap(last, place);
    }
    values
}

/// The sum of values in an order, each addition rounded to a floating-point format. Values are taken as they are.
#[must_use]
pub fn sum_in(values: &[f64], order: Order, format: Format) -> f64 {
    let adder = Adder(format);
    match order {
        Order::Serial => adder.serial(values.iter().copied()),
        Order::Reversed => adder.serial(values.iter().rev().copied()),
        Order::Ascending => {
            let mut sorted = values.to_vec();
            sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
            adder.serial(sorted.into_iter())
        }
        Order::Pairwise => adder.pairwise(values),
        Order::Tree { threads } => {
            let threads = threads.clamp(1, values.len().max(1));
            let sums: Vec<f64> = (0..threads)
                .map(|thread| adder.serial(values.iter().skip(thread).step_by(threads).copied()))
                .collect();
            adder.pairwise(&sums)
        }
        Order::Split { parts } => {
            let part = values.len().div_ceil(parts.max(1)).max(1);
            let sums = values
                .chunks(part)
                .map(|part| adder.serial(part.iter().copied()));
            adder.serial(sums)
        }
        Order::Kahan => adder.kahan(values),
        Order::Neumaier => adder.neumaier(values),
        Order::Shuffled { seed } => adder.serial(shuffled(values, seed).into_iter()),
    }
}

/// One order of a sum.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderResult {
    /// The order.
    pub order: Order,
    /// The sum in this order.
    pub value: f64,
    /// How far it is from the exact sum: `value − exact`.
    pub error: f64,
    /// The size of the error in units in the last place of the format, at the exact sum.
    pub ulps: f64,
    /// The size of the error in units of u · Σ|x|: what does not depend on how much cancels.
    pub relative_to_size: f64,
    /// What can be expected in the same units: √depth for roundings of random sign. For compensated sums 0: what is left is the
    /// rounding of the result.
    pub expected: f64,
    /// What cannot be exceeded in the same units: the depth, for compensated sums 2, beside one rounding of the result.
    pub bound: f64,
}

/// A sum in several orders.
#[derive(Clone, Debug, PartialEq)]
pub struct Orders {
    /// What additions are rounded to.
    pub format: Format,
    /// How many values there are.
    pub count: usize,
    /// The exact sum, rounded to `f64`.
    pub exact: f64,
    /// Σ|x|.
    pub size: f64,
    /// Σ|x| / |Σx|: by how much relative errors of the values are magnified. Infinite where everything cancels.
    pub condition: f64,
    /// One for each order.
    pub results: Vec<OrderResult>,
    /// How many shuffled orders were tried.
    pub shuffles: usize,
    /// How many different sums they gave.
    pub distinct: usize,
    /// The smallest and the largest of these.
    pub spread: (f64, f64),
}

/// Sums values in the orders that kernels use, and in `shuffles` random ones. `None` where a value is not finite or the format
/// has no mantissa: there is nothing to compare.
#[must_use]
pub fn compare_orders(values: &[f64], format: Format, shuffles: usize) -> Option<Orders> {
    let u = format.unit_roundoff()?;
    if !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let exact_sum = DoubleDouble::sum(values.iter().copied());
    let exact = exact_sum.value();
    let size = values.iter().map(|value| value.abs()).sum::<f64>();
    let scale = u * size;
    let result = |order: Order| {
        let value = sum_in(values, order, format);
        let error = exact_sum.distance_to(value);
        let depth = order.depth(values.len()).map(|depth| depth as f64);
        OrderResult {
            order,
            value,
            error,
            ulps: error.abs() / format.ulp_of(exact),
            relative_to_size: if error == 0.0 {
                0.0
            } else {
                error.abs() / scale
            },
            expected: depth.unwrap_or(0.0).sqrt(),
            bound: depth.unwrap_or(2.0),
        }
    };
    let results = [
        Order::Serial,
        Order::Reversed,
        Order::Ascending,
        Order::Split { parts: 4 },
        Order::Split { parts: 32 },
        Order::Tree { threads: 32 },
        Order::Tree { threads: 256 },
        Order::Pairwise,
        Order::Kahan,
        Order::Neumaier,
    ]
    .into_iter()
    .map(result)
    .collect();
    let mut sums: Vec<f64> = (0..shuffles as u64)
        .map(|seed| sum_in(values, Order::Shuffled { seed }, format))
        .collect();
    sums.sort_by(f64::total_cmp);
    let spread = match sums.as_slice() {
        [] => (exact, exact),
        [only] => (*only, *only),
        [low, .., high] => (*low, *high),
    };
    sums.dedup();
    Some(Orders {
        format,
        count: values.len(),
        exact,
        size,
        condition: if size == 0.0 { 1.0 } else { size / exact.abs() },
        results,
        shuffles,
        distinct: sums.len(),
        spread,
    })
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "expected values are exact")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const EVERY: [Order; 11] = [
        Order::Serial,
        Order::Reversed,
        Order::Ascending,
        Order::Pairwise,
        Order::Tree { threads: 32 },
        Order::Tree { threads: 3 },
        Order::Split { parts: 4 },
        Order::Split { parts: 1000 },
        Order::Kahan,
        Order::Neumaier,
        Order::Shuffled { seed: 7 },
    ];

    #[test]
    fn exact_sums_are_the_same_in_every_order() {
        for count in [0, 1, 2, 3, 31, 32, 33, 100] {
            let values: Vec<f64> = (0..count).map(f64::from).collect();
            let expected = f64::from(count * (count - 1).max(0) / 2);
            for order in EVERY {
                assert_eq!(sum_in(&values, order, Format::F32), expected, "{order:?}");
                let depth = order.depth(values.len());
                assert!(depth.is_none_or(|depth| depth <= values.len()));
            }
        }
    }

    #[test]
    fn fp32_sums_are_those_of_f32() {
        let values: Vec<f32> = (1..5000_u32).map(|index| 1.0 / index as f32).collect();
        let wide: Vec<f64> = values.iter().copied().map(f64::from).collect();
        let serial = values.iter().fold(0.0, |sum, value| sum + value);
        assert_eq!(sum_in(&wide, Order::Serial, Format::F32), f64::from(serial));
        let mut lanes = [0.0_f32; 32];
        for (index, value) in values.iter().enumerate() {
            lanes[index % 32] += value;
        }
        let mut half = 16;
        // Neighbours first, as the pairwise sum of the lanes does.
        let mut level = lanes.to_vec();
        while half > 0 {
            level = level.chunks(2).map(|pair| pair[0] + pair[1]).collect();
            half /= 2;
        }
        let tree = Order::Tree { threads: 32 };
        assert_eq!(sum_in(&wide, tree, Format::F32), f64::from(level[0]));
    }

    #[test]
    fn a_long_serial_sum_in_bf16_stands_still() {
        // 256 + 1 is 256 in bf16: the known way to lose everything after the first few hundred.
        let ones = vec![1.0; 4096];
        assert_eq!(sum_in(&ones, Order::Serial, Format::Bf16), 256.0);
        assert_eq!(sum_in(&ones, Order::Pairwise, Format::Bf16), 4096.0);
        assert_eq!(sum_in(&ones, Order::Neumaier, Format::Bf16), 512.0);
    }

    #[test]
    fn compensated_sums_keep_what_serial_ones_lose() {
        let mut values = vec![1.0];
        values.extend(vec![2_f64.powi(-25); 1 << 12]);
        let orders = compare_orders(&values, Format::F32, 4).unwrap();
        let of = |order| {
            orders
                .results
                .iter()
                .find(|result| result.order == order)
                .unwrap()
        };
        assert_eq!(of(Order::Serial).value, 1.0);
        assert_eq!(of(Order::Kahan).value, 1.0 + 2_f64.powi(-13));
        assert_eq!(of(Order::Kahan).error, 0.0);
        assert_eq!(of(Order::Ascending).error, 0.0);
        assert!((orders.condition - 1.0).abs() < 1e-9);
        assert_eq!(orders.exact, 1.0 + 2_f64.powi(-13));
    }

    #[test]
    fn kahan_fails_where_neumaier_does_not() {
        let values = [1.0, 1e30, 1.0, -1e30];
        assert_eq!(sum_in(&values, Order::Kahan, Format::F64), 0.0);
        assert_eq!(sum_in(&values, Order::Neumaier, Format::F64), 2.0);
        let orders = compare_orders(&values, Format::F64, 0).unwrap();
        assert_eq!(orders.exact, 2.0);
        assert!(orders.condition > 9e29);
    }

    #[test]
    fn what_is_not_finite_is_not_compared() {
        assert_eq!(compare_orders(&[1.0, f64::NAN], Format::F32, 1), None);
        assert_eq!(compare_orders(&[1.0], Format::I32, 1), None);
        let nothing = compare_orders(&[], Format::F32, 2).unwrap();
        assert_eq!((nothing.exact, nothing.distinct), (0.0, 1));
    }

    proptest! {
        #[test]
        fn errors_stay_below_their_bounds(
            values in proptest::collection::vec(-1e3_f32..1e3, 1..300),
        ) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let orders = compare_orders(&values, Format::F32, 3).unwrap();
            for result in &orders.results {
                // γ instead of n·u, and one rounding of the result.
                let own = result.value.abs() / orders.size.max(f64::MIN_POSITIVE);
                prop_assert!(
                    result.relative_to_size <= result.bound * 1.0001 + own + 1e-6,
                    "{:?} {}",
                    result.order,
                    result.relative_to_size
                );
            }
        }
    }
}
