//! An output held against its reference.

use super::Reference;
use crate::format::{Format, Overflow};

/// What an output is held to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// The unit roundoff of what sums are taken in; 0 where they are exact.
    pub u_acc: f64,
    /// How many times the noise is allowed. With errors of random sign, 4 are exceeded once in some ten thousand elements at
    /// most; in practice hardly ever, since noise is an upper estimate.
    pub c: f64,
}

/// The factor before the noise where nothing else is said.
pub const DEFAULT_C: f64 = 4.0;

/// What an output is like beside its reference.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Check {
    /// Elements that were compared.
    pub elements: u64,
    /// Elements beyond the tolerance, those that are not finite on one side only included.
    pub failing: u64,
    /// Of these, elements beyond what rounding can do at worst.
    pub proven_wrong: u64,
    /// Of the failing ones, elements that are NaN or infinite on one side only, or infinite with the other sign.
    pub not_finite: u64,
    /// Of the failing ones, zeros where the reference is below the normal numbers of the format: flushed.
    pub flushed: u64,
    /// Elements whose reference is beyond the largest number of the format, and that are infinite or that number.
    pub overflowed: u64,
    /// Elements that are the reference, rounded once to the format.
    pub exact: u64,
    /// For each dimension the first and the last index of failing elements; empty where none fails.
    pub failing_within: Vec<(u64, u64)>,
    /// The first failing element.
    pub first_failing: Option<Element>,
    /// The one with the largest error beside its tolerance.
    pub worst: Option<Element>,
    /// The largest error in units in the last place of the format, at the reference.
    pub max_ulp: f64,
    /// Whether all elements are the same, of several whose references differ.
    pub is_constant: bool,
}

/// One element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    /// Its place in C order.
    pub index: u64,
    /// What is there.
    pub value: f64,
    /// What should be there.
    pub reference: f64,
    /// How far from it that may be.
    pub tolerance: f64,
    /// The distance over the tolerance; infinite where only one of both is finite.
    pub ratio: f64,
    /// The distance in units in the last place of the format.
    pub ulps: f64,
}

impl Reference {
    /// Compares values of a format with the reference, as many of both as there are.
    #[must_use]
    pub fn check(&self, values: &[f64], output: Format, terms: Terms) -> Check {
        let mut check = Check {
            is_constant: values.len() > 1,
            ..Check::default()
        };
        let mut references_differ = false;
        let least = output.min_normal().unwrap_or(0.0);
        for (index, (value, reference)) in values.iter().zip(&self.values).enumerate() {
            check.elements += 1;
            check.is_constant &= value.to_bits() == values[0].to_bits();
            references_differ |= reference.to_bits() != self.values[0].to_bits();
            let rounded = output.decode(output.encode(*reference, Overflow::NonFinite));
            // FP8 without infinity has NaN in its place. What is written there is a choice: that, infinity or the largest number.
            let is_beyond = !rounded.is_finite() && reference.is_finite();
            let is_largest = value.abs() >= output.max_finite() && value * reference > 0.0;
            if is_beyond && (is_largest || value.is_nan() && rounded.is_nan()) {
                check.overflowed += 1;
                continue;
            }
            if value.to_bits() == rounded.to_bits() || (value.is_nan() && reference.is_nan()) {
                check.exact += 1;
                continue;
            }
            let tolerance = self
                .tolerance(index, output, terms.u_acc, terms.c)
                .unwrap_or(0.0);
            let distance = (value - reference).abs();
            let ulps = distance / output.ulp_of(*reference);
            let element = Element {
                index: index as u64,
                value: *value,
                reference: *reference,
                tolerance,
                ratio: if distance.is_finite() {
                    if tolerance > 0.0 {
                        distance / tolerance
                    } else if distance > 0.0 {
                        f64::INFINITY
                    } else {
                        0.0
                    }
                } else {
                    f64::INFINITY
                },
                ulps,
            };
            if ulps.is_finite() {
                check.max_ulp = check.max_ulp.max(ulps);
            }
            // Not finite on one side, or a tolerance that is not finite and lets nothing be said.
            let fails = !distance.is_finite() || element.ratio > 1.0;
            if fails {
                check.failing += 1;
                check.not_finite += u64::from(!distance.is_finite());
                check.flushed +=
                    u64::from(*value == 0.0 && reference.abs() < least && *reference != 0.0);
                let at_worst = self
                    .tolerance(index, output, terms.u_acc, self.worst_case())
                    .unwrap_or(0.0)
                    .max(tolerance);
                check.proven_wrong += u64::from(!distance.is_finite() || distance > at_worst);
                check.first_failing.get_or_insert(element);
                widen(&mut check.failing_within, &place(&self.shape, index as u64));
            }
            if check
                .worst
                .is_none_or(|worst| element.ratio > worst.ratio)
            {
                check.worst = Some(element);
            }
        }
        check.is_constant &= references_differ;
        check
    }
}

/// The index in each dimension of an element in C order.
#[must_use]
pub fn place(shape: &[usize], index: u64) -> Vec<u64> {
    let mut rest = index;
    let mut place: Vec<u64> = shape
        .iter()
        .rev()
        .map(|size| {
            let size = (*size as u64).max(1);
            let own = rest % size;
            rest /= size;
            own
        })
        .collect();
    place.reverse();
    place
}

fn widen(within: &mut Vec<(u64, u64)>, place: &[u64]) {
    if within.is_empty() {
        within.extend(place.iter().map(|own| (*own, *own)));
    }
    for ((first, last), own) in within.iter_mut().zip(place) {
        *first = (*first).min(*own);
        *last = (*last).max(*own);
    }
}

impl Check {
    /// Whether the output is right within the tolerance, and is an output at all.
    #[must_use]
    pub const fn is_right(&self) -> bool {
        self.failing == 0 && !self.is_constant
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(values: &[f64]) -> Reference {
        Reference {
            shape: vec![values.len()],
            values: values.to_vec(),
            noise: values.iter().map(|value| value.abs() * 8.0).collect(),
            length: 64,
        }
    }

    const TERMS: Terms = Terms {
        u_acc: 5.960_464_477_539_063e-8,
        c: DEFAULT_C,
    };

    #[test]
    fn rounding_is_right_and_more_is_not() {
        let reference = reference(&[1.0, 2.0, 3.0]);
        let ulp = 2_f64.powi(-23);
        let near = reference.check(&[1.0, 2.0 + ulp, 3.0 - 4.0 * ulp], Format::F32, TERMS);
        assert!(near.is_right(), "{near:?}");
        assert_eq!(near.exact, 1);
        assert_eq!(near.max_ulp, 2.0);
        // Four times 24 u and one rounding of 3: 99 u. These are 160 u, and √64 times 24 u are 192.
        let far = reference.check(&[1.0, 2.0, 3.0 + 80.0 * ulp], Format::F32, TERMS);
        assert_eq!((far.failing, far.proven_wrong), (1, 0));
        let wrong = reference.check(&[1.0, 2.0, 3.5], Format::F32, TERMS);
        assert_eq!((wrong.failing, wrong.proven_wrong), (1, 1));
        assert_eq!(wrong.first_failing.unwrap().index, 2);
    }

    #[test]
    fn where_elements_fail_is_told() {
        let reference = Reference {
            shape: vec![2, 4],
            ..reference(&[1.0; 8])
        };
        let values = [1.0, 1.0, 9.0, 1.0, 1.0, 1.0, 1.0, 9.0];
        let check = reference.check(&values, Format::F32, TERMS);
        assert_eq!(check.failing_within, [(0, 1), (2, 3)]);
        assert_eq!(place(&[2, 3, 4], 23), [1, 2, 3]);
    }

    #[test]
    fn one_side_that_is_not_finite_fails() {
        let of = |values: &[f64], expected: &[f64]| {
            let check = reference(expected).check(values, Format::F32, TERMS);
            (check.failing, check.not_finite, check.proven_wrong)
        };
        assert_eq!(of(&[f64::NAN, 1.0], &[2.0, 1.0]), (1, 1, 1));
        assert_eq!(of(&[2.0, 1.0], &[f64::NAN, 1.0]), (1, 1, 1));
        assert_eq!(of(&[f64::INFINITY], &[f64::NEG_INFINITY]), (1, 1, 1));
        assert_eq!(of(&[f64::NAN, f64::INFINITY], &[f64::NAN, f64::INFINITY]).0, 0);
    }

    #[test]
    fn formats_with_little_range_may_overflow_in_two_ways() {
        let reference = reference(&[1e5, -1e5, 1e5]);
        let check = reference.check(
            &[f64::INFINITY, -65504.0, 65472.0],
            Format::F16,
            TERMS,
        );
        assert_eq!((check.overflowed, check.failing), (2, 1));
        let check = Reference {
            values: vec![500.0],
            ..reference.clone()
        }
        .check(&[448.0], Format::E4m3, TERMS);
        assert_eq!((check.overflowed, check.failing), (1, 0));
    }

    #[test]
    fn a_constant_output_is_not_right() {
        let reference = Reference {
            noise: vec![1e9; 3],
            ..reference(&[1.0, 2.0, 3.0])
        };
        let check = reference.check(&[2.0, 2.0, 2.0], Format::F32, TERMS);
        assert_eq!(check.failing, 0);
        assert!(check.is_constant && !check.is_right());
    }

    #[test]
    fn flushed_results_are_named() {
        let reference = Reference {
            noise: vec![0.0; 2],
            ..reference(&[1.0, 1e-39])
        };
        let check = reference.check(&[1.0, 0.0], Format::F32, TERMS);
        assert_eq!((check.failing, check.flushed), (1, 1));
    }

    #[test]
    fn integers_have_to_be_the_nearest() {
        let reference = Reference {
            noise: vec![0.0; 3],
            ..reference(&[7.0, 2.5, -3.0])
        };
        let exact = Terms {
            u_acc: 0.0,
            ..TERMS
        };
        let check = reference.check(&[7.0, 3.0, -4.0], Format::I32, exact);
        assert_eq!((check.exact, check.failing), (1, 1));
    }
}
