//! Sums over all elements, from which norms, angle, slope and bias follow.

/// Sums of the errors d = x - r and of the reference r, in units of a power of two.
///
/// All norms follow from few sums: |x|² = rr + 2 dr + dd and <x, r> = rr + dr. What is small beside |r|² is summed by itself and so
/// keeps its figures.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    /// Elements that are in the sums.
    pub(super) count: u64,
    /// All values are in units of 2 to this power; 0 unless squares would leave the range of `f64`.
    pub(super) exponent: i32,
    pub(super) d: f64,
    pub(super) dd: f64,
    pub(super) dr: f64,
    pub(super) rr: f64,
    pub(super) r: f64,
}

/// Squares of values within 2^±400, and sums of 2^64 of them, stay in the range of `f64`.
const SAFE: i32 = 400;

/// The unit in which values up to this magnitude can be squared and summed.
pub(super) fn unit_for(largest: f64) -> i32 {
    if largest == 0.0 {
        return 0;
    }
    let power = ((largest.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    if power.abs() <= SAFE { 0 } else { power }
}

/// 2 to a power that may lie beyond the normal numbers, as a factor that is applied in two steps.
pub(super) fn scale(value: f64, power: i32) -> f64 {
    let half = power / 2;
    value * 2.0_f64.powi(half) * 2.0_f64.powi(power - half)
}

impl Sums {
    /// The same sums in a larger unit.
    fn in_unit(self, exponent: i32) -> Self {
        if exponent == self.exponent {
            return self;
        }
        let by = (self.exponent - exponent).max(-2000);
        Self {
            exponent,
            d: scale(self.d, by),
            r: scale(self.r, by),
            dd: scale(scale(self.dd, by), by),
            dr: scale(scale(self.dr, by), by),
            rr: scale(scale(self.rr, by), by),
            ..self
        }
    }
}

/// A sum that carries what rounding took away (Neumaier).
#[derive(Clone, Copy, Debug, Default)]
struct Compensated {
    sum: f64,
    lost: f64,
}

impl Compensated {
    fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        self.lost += if self.sum.abs() >= value.abs() {
            (self.sum - sum) + value
        } else {
            (value - sum) + self.sum
        };
        self.sum = sum;
    }

    fn get(self) -> f64 {
        self.sum + self.lost
    }
}

/// The sums of many parts, added in their order.
pub(super) fn total(parts: &[Sums]) -> Sums {
    let of_any = parts.iter().filter(|part| part.count > 0);
    // Sums of zeros alone have the unit 1, which is no reason to give up that of tiny numbers.
    let exponent = of_any
        .clone()
        .filter(|part| part.rr > 0.0 || part.dd > 0.0)
        .map(|part| part.exponent)
        .max()
        .unwrap_or(0);
    let mut sums = [Compensated::default(); 5];
    let mut count = 0;
    for part in of_any {
        let part = part.in_unit(exponent);
        count += part.count;
        for (sum, value) in sums
            .iter_mut()
            .zip([part.d, part.dd, part.dr, part.rr, part.r])
        {
            sum.add(value);
        }
    }
    let [d, dd, dr, rr, r] = sums.map(Compensated::get);
    Sums {
        count,
        exponent,
        d,
        dd,
        dr,
        rr,
        r,
    }
}

impl Sums {
    /// |x - r| over |r| in the Euclidean norm; `None` where r is 0 everywhere.
    pub(super) fn relative_l2(&self) -> Option<f64> {
        (self.rr > 0.0).then(|| (self.dd / self.rr).sqrt())
    }

    fn xx(&self) -> f64 {
        (self.rr + 2.0 * self.dr + self.dd).max(0.0)
    }

    /// 1 less the cosine of the angle between x and r, without the cancellation of that difference.
    pub(super) fn one_minus_cosine(&self) -> Option<f64> {
        let (xx, rr) = (self.xx(), self.rr);
        if xx <= 0.0 || rr <= 0.0 {
            return None;
        }
        let sine_squared = ((self.dd / rr - (self.dr / rr) * (self.dr / rr)) / (xx / rr)).max(0.0);
        let cosine = (1.0 + self.dr / rr) / (xx / rr).sqrt();
        Some(if cosine > 0.5 {
            sine_squared.min(1.0) / (1.0 + cosine)
        } else {
            1.0 - cosine
        })
    }

    /// The root mean square of the reference.
    pub(super) fn root_mean_square(&self) -> Option<f64> {
        (self.count > 0).then(|| scale((self.rr / self.count as f64).sqrt(), self.exponent))
    }

    /// The mean error, and the standard error of that mean.
    pub(super) fn mean_error(&self) -> Option<(f64, f64)> {
        if self.count == 0 {
            return None;
        }
        let n = self.count as f64;
        let mean = self.d / n;
        let variance = (self.dd / n - mean * mean).max(0.0);
        Some((
            scale(mean, self.exponent),
            scale((variance / n).sqrt(), self.exponent),
        ))
    }

    /// The factor k and the share of |x|² that is left when x = k r is taken away.
    pub(super) fn factor(&self) -> Option<(f64, f64)> {
        if self.rr <= 0.0 || self.xx() <= 0.0 {
            return None;
        }
        let slope = self.dr / self.rr;
        let left = (self.dd - self.dr * slope).max(0.0) / self.xx();
        Some((1.0 + slope, left))
    }

    /// The offset b and the share of the errors' squares that is left when d = b is taken away.
    pub(super) fn offset(&self) -> Option<(f64, f64)> {
        if self.count == 0 || self.dd <= 0.0 {
            return None;
        }
        let mean = self.d / self.count as f64;
        let left = (self.dd - mean * self.d).max(0.0) / self.dd;
        Some((scale(mean, self.exponent), left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(f64, f64)]) -> Sums {
        let largest = pairs
            .iter()
            .fold(0.0, |most: f64, (r, x)| most.max(r.abs()).max(x.abs()));
        let exponent = unit_for(largest);
        let mut sums = Sums {
            exponent,
            ..Sums::default()
        };
        for (r, x) in pairs {
            let (r, x) = (scale(*r, -exponent), scale(*x, -exponent));
            let d = x - r;
            sums.count += 1;
            sums.d += d;
            sums.dd += d * d;
            sums.dr += d * r;
            sums.rr += r * r;
            sums.r += r;
        }
        sums
    }

    #[test]
    fn norms_and_angle_are_those_of_the_vectors() {
        let sums = of(&[(3.0, 3.0), (4.0, 4.0), (0.0, 5.0)]);
        assert_eq!(sums.relative_l2(), Some(1.0));
        let cosine = 25.0 / (25.0_f64.sqrt() * 50.0_f64.sqrt());
        assert!((sums.one_minus_cosine().unwrap() - (1.0 - cosine)).abs() < 1e-15);
        // An angle so small that the difference from 1 is lost in the cosine itself.
        let sums = of(&[(1.0, 1.0), (0.0, 1e-9)]);
        assert!((sums.one_minus_cosine().unwrap() / 5e-19 - 1.0).abs() < 1e-6);
        let opposite = of(&[(1.0, -1.0)]);
        assert_eq!(opposite.one_minus_cosine(), Some(2.0));
        assert_eq!(of(&[(0.0, 1.0)]).relative_l2(), None);
    }

    #[test]
    fn squares_beyond_the_range_of_f64_are_summed() {
        for size in [1e300, 1e-300, 1e-310, 1.0] {
            let half = size * 0.5;
            let sums = total(&[of(&[(size, size)]), of(&[(size, size + half)])]);
            let expected = half / size / 2.0_f64.sqrt();
            let found = sums.relative_l2().unwrap();
            assert!(
                (found - expected).abs() < 1e-12,
                "{size}: {found} {expected}"
            );
        }
        // Large and small parts together: the large ones count.
        let sums = total(&[
            of(&[(1e300, 1e300)]),
            of(&[(1e-300, 0.0)]),
            of(&[(0.0, 0.0)]),
        ]);
        assert_eq!((sums.count, sums.relative_l2()), (3, Some(0.0)));
        let sums = total(&[of(&[(1e-300, 0.0)]), of(&[(0.0, 0.0)])]);
        assert_eq!(sums.relative_l2(), Some(1.0));
    }

    #[test]
    fn factors_and_offsets_are_found() {
        let values: Vec<f64> = (0..100).map(|i| f64::from(i) - 40.0).collect();
        let doubled: Vec<(f64, f64)> = values.iter().map(|r| (*r, 2.0 * r)).collect();
        let (factor, left) = of(&doubled).factor().unwrap();
        assert!((factor - 2.0).abs() < 1e-12 && left < 1e-12);
        let moved: Vec<(f64, f64)> = values.iter().map(|r| (*r, r + 3.0)).collect();
        let (offset, left) = of(&moved).offset().unwrap();
        assert!((offset - 3.0).abs() < 1e-12 && left < 1e-12);
    }

    #[test]
    fn parts_are_added_without_loss() {
        let parts: Vec<Sums> = std::iter::once(1e16)
            .chain(std::iter::repeat_n(1.0, 1000))
            .chain([-1e16])
            .map(|d| Sums {
                count: 1,
                d,
                rr: 1.0,
                ..Sums::default()
            })
            .collect();
        assert_eq!(total(&parts).d, 1000.0);
    }
}
