//! Tails of the binomial distribution with probability one half: how many of n samples lie below the median.

/// `P(X ≤ k)` for `X` from `Bin(n, ½)`.
pub(crate) fn at_most(n: u64, k: u64) -> f64 {
    if k >= n {
        return 1.0;
    }
    let (below, above) = (n - 1 - k, k);
    if below < above {
        return 1.0 - at_most(n, below);
    }
    Walk::from_middle(n)
        .find(|(at, _)| *at == k)
        .map_or(0.0, |(_, tail)| tail)
}

/// The largest `k` with `P(X < k) ≤ tail`, for a tail below one half. 0 where there is none but that.
pub(crate) fn rank(n: u64, tail: f64) -> u64 {
    Walk::from_middle(n)
        .find(|(_, at_most)| *at_most <= tail)
        .map_or(0, |(at, _)| at + 1)
}

/// Pairs of `k` and `P(X ≤ k)`, from the largest `k` below the middle downwards. From the middle the terms follow from
/// each other, and only as many are needed as the tail is far away: a few times `√n`.
struct Walk {
    n: f64,
    /// The next `k`; absent past 0.
    k: Option<u64>,
    tail: f64,
    /// `P(X = k)`.
    mass: f64,
}

impl Walk {
    fn from_middle(n: u64) -> Self {
        let middle = central(n / 2);
        let half = n / 2;
        if n.is_multiple_of(2) {
            // Below the middle value lies half of what it leaves.
            let k = half.checked_sub(1);
            let mass = middle * half as f64 / (half as f64 + 1.0);
            Self {
                n: n as f64,
                k,
                tail: (1.0 - middle) / 2.0,
                mass,
            }
        } else {
            // C(2m + 1, m) / 2^(2m + 1) from C(2m, m) / 2^(2m).
            let mass = middle * (n as f64 / (half as f64 + 1.0)) / 2.0;
            Self {
                n: n as f64,
                k: Some(half),
                tail: 0.5,
                mass,
            }
        }
    }
}

impl Iterator for Walk {
    type Item = (u64, f64);

    fn next(&mut self) -> Option<Self::Item> {
        let k = self.k?;
        let item = (k, self.tail);
        self.k = k.checked_sub(1);
        self.tail = (self.tail - self.mass).max(0.0);
        self.mass *= k as f64 / (self.n - k as f64 + 1.0);
        Some(item)
    }
}

/// From here on the series is exact to the last digits.
const SERIES_FROM: u64 = 256;

/// `C(2m, m) / 4^m`: the probability of as many heads as tails.
fn central(m: u64) -> f64 {
    if m < SERIES_FROM {
        (1..=m).fold(1.0, |product, i| product * (1.0 - 0.5 / i as f64))
    } else {
        // The asymptotic series of the central binomial coefficient, from Stirling's.
        let x = 1.0 / m as f64;
        let series =
            1.0 + x * (-1.0 / 8.0 + x * (1.0 / 128.0 + x * (5.0 / 1024.0 - x * 21.0 / 32_768.0)));
        series / (std::f64::consts::PI * m as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_scipy() {
        // scipy 1.17.1: scipy.stats.binom.cdf(k, n, 0.5)
        let expected = [
            (1, 0, 0.5),
            (2, 0, 0.25),
            (6, 0, 0.015625),
            (10, 4, 0.376953125),
            (10, 5, 0.623046875),
            (25, 6, 0.007316648960113525),
            (30, 9, 0.02138697262853384),
            (1000, 468, 0.02314559868024909),
            (100_000, 49_689, 0.024777857334761195),
        ];
        for (n, k, value) in expected {
            let found = at_most(n, k);
            assert!((found - value).abs() < 1e-9, "{n} {k}: {found}");
        }
        assert!((at_most(0, 0) - 1.0).abs() < 1e-15);
        assert!((at_most(5, 9) - 1.0).abs() < 1e-15);
        assert!(at_most(5_000, 10).abs() < 1e-15);
    }

    #[test]
    fn product_and_series_meet() {
        let product = (1..=SERIES_FROM).fold(1.0, |product, i| product * (1.0 - 0.5 / i as f64));
        assert!((central(SERIES_FROM) / product - 1.0).abs() < 1e-12);
    }
}
