//! Tails of the normal distribution and of Student's.

use std::f64::consts::PI;

/// Beyond this the continued fraction is exact to ten digits, below it the series is.
const FRACTION_FROM: f64 = 2.0;
/// Terms of the continued fraction and of the series.
const TERMS: u32 = 80;

/// `P(|Z| > z)` for a standard normal `Z`, down to where numbers end: Laplace's continued fraction of Mills' ratio for the
/// tail, and the series of the distribution function near the middle.
pub(super) fn two_sided(z: f64) -> f64 {
    let z = z.abs();
    let density = (-z * z / 2.0).exp() / (2.0 * PI).sqrt();
    if z >= FRACTION_FROM {
        let fraction = (1..=TERMS)
            .rev()
            .fold(z, |rest, term| z + f64::from(term) / rest);
        return 2.0 * density / fraction;
    }
    let mut term = z;
    let mut sum = z;
    for at in 1..TERMS {
        term *= z * z / f64::from(2 * at + 1);
        sum += term;
    }
    (1.0 - 2.0 * density * sum).max(0.0)
}

/// The `z` that is as far out as a `t` with so many degrees of freedom (Wallace, "Bounds on normal approximations to
/// Student's and the chi-square distributions", Annals of Mathematical Statistics 30, 1959).
pub(super) fn z_of_t(t: f64, freedom: f64) -> f64 {
    let freedom = freedom.max(1.0);
    shrink(freedom) * (freedom * (t * t / freedom).ln_1p()).sqrt()
}

/// The reverse of [`z_of_t`].
pub(super) fn t_of_z(z: f64, freedom: f64) -> f64 {
    let freedom = freedom.max(1.0);
    let z = z / shrink(freedom);
    (freedom * (z * z / freedom).exp_m1()).sqrt()
}

fn shrink(freedom: f64) -> f64 {
    (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(found: f64, expected: f64, share: f64) -> bool {
        (found / expected - 1.0).abs() < share
    }

    #[test]
    fn the_normal_tail_is_the_tabulated_one() {
        // Abramowitz and Stegun, tables 26.1 and 26.2: Q(1), Q(1.96), Q(3), Q(5), doubled.
        for (z, one_side) in [
            (1.0, 0.158_655_253_9),
            (1.96, 0.024_997_895_15),
            (3.0, 1.349_898_032e-3),
            (5.0, 2.866_515_719e-7),
        ] {
            assert!(is_near(two_sided(z), 2.0 * one_side, 1e-9), "{z}");
        }
        assert!((two_sided(0.0) - 1.0).abs() < 1e-15);
        assert!(two_sided(60.0) >= 0.0);
        // Both ways meet.
        let (below, above) = (two_sided(FRACTION_FROM - 1e-9), two_sided(FRACTION_FROM));
        assert!(is_near(below, above, 1e-7), "{below} {above}");
    }

    #[test]
    fn students_tail_is_the_tabulated_one() {
        // Two-sided 5 %, 1 % and 0.1 % of Student's t, from any table of it, and the normal ones.
        for (freedom, t, z) in [
            (5.0, 2.571, 1.960),
            (10.0, 3.169, 2.576),
            (10.0, 4.587, 3.291),
            (30.0, 2.042, 1.960),
            (30.0, 3.646, 3.291),
        ] {
            assert!(is_near(z_of_t(t, freedom), z, 0.01), "{freedom} {t}");
            assert!(is_near(t_of_z(z, freedom), t, 0.01), "{freedom} {z}");
        }
    }
}
