//! A set of samples that may be computed with.

use crate::error::{Error, check_setting};
use crate::quantile;

/// Samples in the order in which they were taken. All are finite and none is below zero; there is at least one.
///
/// The unit is the caller's, and every number that comes from the samples is in it unless it says otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    in_order: Vec<f64>,
    sorted: Vec<f64>,
    step: Option<f64>,
}

impl Samples {
    /// Takes samples in the order in which they were measured.
    ///
    /// # Errors
    ///
    /// [`Error::Empty`], [`Error::NotFinite`] or [`Error::Negative`], with the place of the first such sample. Nothing is
    /// left out: a sample that must not count has to be rejected for its cause before.
    pub fn new(in_order: Vec<f64>) -> Result<Self, Error> {
        if in_order.is_empty() {
            return Err(Error::Empty);
        }
        for (index, value) in in_order.iter().enumerate() {
            check(index, *value)?;
        }
        let mut sorted = in_order.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        Ok(Self {
            in_order,
            sorted,
            step: None,
        })
    }

    /// From samples that were checked when they were taken.
    pub(crate) fn from_checked(in_order: Vec<f64>, sorted: Vec<f64>, step: Option<f64>) -> Self {
        Self {
            in_order,
            sorted,
            step,
        }
    }

    /// Says the smallest difference that the timer can show, in the unit of the samples.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] when it is not a finite number above zero.
    pub fn with_step(mut self, step: f64) -> Result<Self, Error> {
        check_step(step)?;
        self.step = Some(step);
        Ok(self)
    }

    /// How many there are; never 0.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is at least one sample")]
    pub fn len(&self) -> usize {
        self.in_order.len()
    }

    /// In the order in which they were taken.
    #[must_use]
    pub fn in_order(&self) -> &[f64] {
        &self.in_order
    }

    /// From small to large.
    #[must_use]
    pub fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    /// The timer's step, where the caller said it.
    #[must_use]
    pub fn step(&self) -> Option<f64> {
        self.step
    }

    /// The median: the quantile at one half, which of an even number is the mean of the two in the middle.
    #[must_use]
    pub fn median(&self) -> f64 {
        quantile::median(&self.sorted)
    }

    /// The quantile at `p`, by the one definition of this project: type 7 of Hyndman and Fan (1996), the default of R,
    /// NumPy and Julia. With `h = (n − 1) · p` it is `x[⌊h⌋] + (h − ⌊h⌋) · (x[⌊h⌋ + 1] − x[⌊h⌋])`, counted from 0.
    ///
    /// Absent for a `p` outside 0 to 1, and for NaN. Of one sample every quantile is that sample, so look at
    /// [`Samples::len`] before a tail is shown; [`crate::Summary`] does.
    #[must_use]
    pub fn quantile(&self, p: f64) -> Option<f64> {
        (0.0..=1.0)
            .contains(&p)
            .then(|| quantile::quantile(&self.sorted, p))
    }
}

/// Refuses what is no sample.
pub(crate) fn check(index: usize, value: f64) -> Result<(), Error> {
    if !value.is_finite() {
        Err(Error::NotFinite { index, value })
    } else if value < 0.0 {
        Err(Error::Negative { index, value })
    } else {
        Ok(())
    }
}

/// Refuses what is no step of a timer.
pub(crate) fn check_step(step: f64) -> Result<(), Error> {
    check_setting(
        "step",
        step,
        |step| step > 0.0,
        "a finite number above zero",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_time_is_refused_with_its_place() {
        let code = |values: &[f64]| Samples::new(values.to_vec()).map_err(|error| error.code());
        assert_eq!(code(&[]), Err("STAT0001"));
        assert_eq!(code(&[1.0, f64::NAN]), Err("STAT0002"));
        assert_eq!(code(&[f64::INFINITY]), Err("STAT0002"));
        assert_eq!(
            Samples::new(vec![1.0, 2.0, -3.0]),
            Err(Error::Negative {
                index: 2,
                value: -3.0
            })
        );
        // A timer can show nothing for something short.
        assert!(code(&[0.0, -0.0]).is_ok());
    }

    #[test]
    fn a_step_is_above_zero() {
        let samples = Samples::new(vec![1.0]).unwrap();
        for step in [0.0, -32.0, f64::NAN, f64::INFINITY] {
            let error = samples.clone().with_step(step).unwrap_err();
            assert_eq!(error.code(), "STAT0008", "{step}");
        }
        assert_eq!(samples.with_step(32.0).unwrap().step(), Some(32.0));
    }

    #[test]
    fn a_quantile_outside_the_unit_interval_is_absent() {
        let samples = Samples::new(vec![3.0, 1.0]).unwrap();
        assert_eq!(samples.quantile(-0.1), None);
        assert_eq!(samples.quantile(1.1), None);
        assert_eq!(samples.quantile(f64::NAN), None);
        assert_eq!(samples.quantile(0.0), Some(1.0));
        assert_eq!(samples.quantile(1.0), Some(3.0));
        assert_eq!(samples.in_order(), [3.0, 1.0]);
        assert_eq!(samples.sorted(), [1.0, 3.0]);
    }
}
