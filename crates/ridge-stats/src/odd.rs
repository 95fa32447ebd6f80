//! Which of several values that should be alike is not.

use crate::error::{Error, check_setting};
use crate::quantile::median_of;
use crate::spread::median_absolute_deviation;

/// The least number of values of which one can be odd: of two, neither is.
pub const LEAST_VALUES: usize = 3;

/// How far from the median the farthest of `n` normal values lies in 1 of 100 sets, in median absolute deviations. From
/// 400 000 simulated sets of each size (100 000 from 23 on), the larger figure of an even and the odd size behind it; each
/// holds up to the next row. Three values say so little about their spread that the factor is what it is.
const FARTHEST_OF: [(usize, f64); 11] = [
    (3, 165.0),
    (4, 28.0),
    (6, 16.0),
    (8, 12.4),
    (10, 10.6),
    (12, 9.6),
    (14, 9.0),
    (16, 8.5),
    (24, 7.5),
    (32, 7.1),
    (64, 6.7),
];

/// What stands out among values that should be alike, one of each member of a group.
///
/// A value is odd when it lies farther from the median of all than a limit: the larger of a least distance that matters,
/// which the caller says, and of so many median absolute deviations that the farthest of as many normal values without an
/// odd one lies beyond it in 1 of 100 sets. The median and the deviation stay where they are as long as fewer than half of
/// the values are odd; where two groups of equal size differ, the deviation is wide and none is odd.
///
/// ```
/// use ridge_stats::Oddity;
///
/// // Milliseconds of eight ranks. What is closer than 5 % of the median does not matter.
/// let values = [50.1, 50.3, 49.9, 61.0, 50.0, 50.2, 50.4, 49.8];
/// let found = Oddity::among(&values, 0.05 * 50.15)?.expect("there are three or more");
/// assert_eq!(found.odd, [3]);
/// # Ok::<(), ridge_stats::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Oddity {
    /// The median of all values.
    pub median: f64,
    /// The median absolute deviation from it.
    pub deviation: f64,
    /// Beyond this distance from the median a value is odd.
    pub limit: f64,
    /// Places of those that are, the farthest first; of equals the first.
    pub odd: Vec<usize>,
}

impl Oddity {
    /// Looks for odd values. `least` is the distance from the median, in the unit of the values, that matters; at and below
    /// it nothing is odd. None for fewer than [`LEAST_VALUES`].
    ///
    /// Where more than half of the values are equal the deviation is 0, and `least` alone decides.
    ///
    /// # Errors
    ///
    /// [`Error::NotFinite`] with the place of the first value that is no finite number; [`Error::Setting`] when `least` is
    /// no finite number of at least 0.
    pub fn among(values: &[f64], least: f64) -> Result<Option<Self>, Error> {
        check_setting(
            "least",
            least,
            |least| least >= 0.0,
            "a finite number of at least 0",
        )?;
        if let Some((index, value)) = values
            .iter()
            .copied()
            .enumerate()
            .find(|(_, value)| !value.is_finite())
        {
            return Err(Error::NotFinite { index, value });
        }
        let Some(factor) = factor(values.len()) else {
            return Ok(None);
        };
        let mut sorted = values.to_vec();
        let median = median_of(&mut sorted);
        let deviation = median_absolute_deviation(&sorted);
        let limit = least.max(factor * deviation);
        let distance = |place: usize| (values[place] - median).abs();
        let mut odd: Vec<usize> = (0..values.len())
            .filter(|place| distance(*place) > limit)
            .collect();
        odd.sort_by(|a, b| distance(*b).total_cmp(&distance(*a)).then(a.cmp(b)));
        Ok(Some(Self {
            median,
            deviation,
            limit,
            odd,
        }))
    }
}

/// The factor of a number of values.
fn factor(values: usize) -> Option<f64> {
    FARTHEST_OF
        .iter()
        .rev()
        .find(|(from, _)| *from <= values)
        .map(|(_, factor)| *factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn few_values_have_no_odd_one() {
        assert_eq!(Oddity::among(&[], 1.0), Ok(None));
        assert_eq!(Oddity::among(&[1.0, 900.0], 1.0), Ok(None));
        // Two that agree exactly and one that does not.
        let found = Oddity::among(&[5.0, 5.0, 9.0], 1.0).unwrap().unwrap();
        assert_eq!(
            (found.odd, found.limit.to_bits()),
            (vec![2], 1.0_f64.to_bits())
        );
    }

    #[test]
    fn odd_ones_by_hand() {
        // The median is 10, the deviations are 0 0 1 1 1 1 5 20, whose median is 1: the limit is 12.4.
        let values = [10.0, 9.0, 11.0, 10.0, 9.0, 11.0, 15.0, 30.0];
        let found = Oddity::among(&values, 2.0).unwrap().unwrap();
        assert!((found.median - 10.5).abs() < 1e-12, "{found:?}");
        assert_eq!(found.odd, [7]);
        // A distance that matters only beyond it.
        let found = Oddity::among(&values, 25.0).unwrap().unwrap();
        assert_eq!(found.odd, Vec::<usize>::new());
    }

    #[test]
    fn two_halves_have_no_odd_one() {
        let values = [1.0, 1.1, 1.0, 1.1, 2.0, 2.1, 2.0, 2.1];
        let found = Oddity::among(&values, 0.1).unwrap().unwrap();
        assert_eq!(found.odd, Vec::<usize>::new());
    }

    #[test]
    fn the_farthest_is_named_first() {
        let mut values = vec![1.0; 16];
        values[4] = 3.0;
        values[9] = 0.1;
        values[11] = 3.0;
        let found = Oddity::among(&values, 0.05).unwrap().unwrap();
        assert_eq!(found.odd, [4, 11, 9]);
    }

    #[test]
    fn what_cannot_be_computed_with_is_refused() {
        let code =
            |values: &[f64], least| Oddity::among(values, least).map_err(|error| error.code());
        assert_eq!(code(&[1.0, f64::NAN, 2.0], 0.0), Err("STAT0002"));
        assert_eq!(code(&[1.0, 2.0, 2.0], -1.0), Err("STAT0008"));
        assert_eq!(code(&[1.0, 2.0, 2.0], f64::NAN), Err("STAT0008"));
    }

    proptest! {
        /// Order, shift and scale change nothing but the unit, and what is odd lies beyond the limit.
        #[test]
        fn it_is_about_distances(
            values in prop::collection::vec(-1e3_f64..1e3, 3..40),
            least in 0.0_f64..10.0,
            shift in -1e3_f64..1e3,
            scale in 0.5_f64..4.0,
        ) {
            let found = Oddity::among(&values, least).unwrap().unwrap();
            for (place, value) in values.iter().enumerate() {
                prop_assert_eq!(
                    found.odd.contains(&place),
                    (value - found.median).abs() > found.limit
                );
            }
            prop_assert!(2 * found.odd.len() <= values.len());
            let mut turned = values.clone();
            turned.reverse();
            let other = Oddity::among(&turned, least).unwrap().unwrap();
            prop_assert_eq!(other.odd.len(), found.odd.len());
            let moved: Vec<f64> = values.iter().map(|value| scale * value + shift).collect();
            let other = Oddity::among(&moved, scale * least).unwrap().unwrap();
            // Rounding can decide about what lies on the limit.
            let is_close = values
                .iter()
                .any(|value| ((value - found.median).abs() - found.limit).abs() < 1e-6);
            prop_assert!(is_close || other.odd.len() == found.odd.len());
        }

        /// What is farther out than odd is odd, too.
        #[test]
        fn farther_is_no_less_odd(
            values in prop::collection::vec(0.0_f64..1.0, 5..40),
            step in 0.0_f64..100.0,
        ) {
            let mut values = values;
            let last = values.len() - 1;
            values[last] = 50.0;
            let is_odd = |values: &[f64]| Oddity::among(values, 0.1).unwrap().unwrap().odd.contains(&last);
            let before = is_odd(&values);
            values[last] += step;
            prop_assert!(!before || is_odd(&values));
        }
    }
}
