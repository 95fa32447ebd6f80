//! Series without their spikes, and what is known of their noise before any change is.

use crate::quantile::median_of;

/// Points around one that say what is usual there. Three spikes in a row are told from a new level, five are one.
const WINDOW: usize = 2 * REACH + 1;
/// So far from a spike others may be taken for one.
pub(super) const REACH: usize = 3;
/// Standard deviations of neighbours from which on a point is a spike.
const SPIKE: f64 = 4.0;
/// The median absolute deviation of normal noise, in standard deviations.
pub(super) const NORMAL_MAD: f64 = 0.674_489_75;

/// Points whose distances from their neighbours make one spread.
const LOCAL: usize = 64;

/// Replaces each spike by the median of the points around it (Hampel's filter). Steps stay where they are, since a running
/// median keeps them. Nothing within one `step` of the values is a spike.
pub(super) fn without_spikes(x: &[f64], step: f64) -> Vec<f64> {
    let n = x.len();
    if n < WINDOW {
        return x.to_vec();
    }
    let mut cleaned = x.to_vec();
    let usual: Vec<f64> = (0..n)
        .map(|at| {
            let start = at.saturating_sub(REACH).min(n - WINDOW);
            let mut window = [0.0; WINDOW];
            window.copy_from_slice(&x[start..start + WINDOW]);
            median_of(&mut window)
        })
        .collect();
    let distances: Vec<f64> = x.iter().zip(&usual).map(|(a, b)| (a - b).abs()).collect();
    // Local, since noise may vary over the series.
    let blocks = n.div_ceil(LOCAL);
    for block in 0..blocks {
        let (start, end) = (block * n / blocks, (block + 1) * n / blocks);
        let spread = median_of(&mut distances[start..end].to_vec()) / NORMAL_MAD;
        let spread = spread.max(step);
        for at in start..end {
            if distances[at] > SPIKE * spread {
                cleaned[at] = usual[at];
            }
        }
    }
    cleaned
}

/// How much the points depend on their neighbours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dependence {
    /// By how much the variance of a sum is larger than that of independent points: `(1 + φ) / (1 − φ)`.
    pub(super) of_sums: f64,
    /// By how much that of a sum of squares is: `(1 + φ²) / (1 − φ²)`.
    pub(super) of_squares: f64,
}

/// Before any point is seen, `φ` is taken to be this, which counts as much as so many points.
const EXPECTED: f64 = 0.5;
const EXPECTED_POINTS: f64 = 20.0;
/// Standard errors that are added to `φ`, so that few points are believed less.
const CAREFUL: f64 = 1.2;
/// The largest `φ` that is told from a series that wanders without a level.
const MOST: f64 = 0.9;

/// The dependence of a first-order process with the `φ` of the series. It comes from differences over one and two points,
/// `E(x₂ − x₀)² / E(x₁ − x₀)² = 1 + φ`: levels cancel in them, and a change of the level is in three of them and not in all.
pub(super) fn dependence(x: &[f64]) -> Dependence {
    let n = x.len().max(1) as f64;
    let (near, far) = (mean_square(x, 1), mean_square(x, 2));
    let found = if near > 0.0 { far / near - 1.0 } else { 0.0 };
    let trust = n / (n + EXPECTED_POINTS);
    let phi = trust * (found + CAREFUL / n.sqrt()) + (1.0 - trust) * EXPECTED;
    let phi = phi.clamp(0.0, MOST);
    Dependence {
        of_sums: (1.0 + phi) / (1.0 - phi),
        of_squares: (1.0 + phi * phi) / (1.0 - phi * phi),
    }
}

/// Of the differences over `lag` points. Those that are far from usual are left out: changes and spikes.
fn mean_square(x: &[f64], lag: usize) -> f64 {
    if x.len() <= lag {
        return 0.0;
    }
    let mut differences: Vec<f64> = x
        .iter()
        .zip(&x[lag..])
        .map(|(a, b)| (b - a).abs())
        .collect();
    let usual = median_of(&mut differences.clone()) / NORMAL_MAD;
    let mean = |kept: &[f64]| kept.iter().map(|d| d * d).sum::<f64>() / kept.len().max(1) as f64;
    if usual > 0.0 {
        differences.retain(|d| *d <= FAR * usual);
        return mean(&differences);
    }
    // Most values are the same as their neighbours. What may be a change in each so many points is left out.
    differences.sort_unstable_by(f64::total_cmp);
    let changes = lag * x.len().div_ceil(ONE_IN);
    mean(&differences[..differences.len().saturating_sub(changes)])
}

/// Differences that are larger than so many of their standard deviations are changes or spikes.
const FAR: f64 = 3.0;
/// A series without noise has no more changes than one in so many points.
const ONE_IN: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    fn noise(n: usize, phi: f64) -> Vec<f64> {
        let mut random = Random::new(4);
        let mut state = 0.0;
        (0..n)
            .map(|_| {
                let normal: f64 = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
                state = phi * state + normal;
                state
            })
            .collect()
    }

    #[test]
    fn spikes_go_and_steps_stay() {
        let mut x = noise(100, 0.0);
        for (i, value) in x.iter_mut().enumerate() {
            *value += if i < 40 { 0.0 } else { 20.0 };
        }
        let steps = without_spikes(&x, 0.0);
        for spike in [10, 70, 71, 72] {
            x[spike] += 50.0;
        }
        let cleaned = without_spikes(&x, 0.0);
        for (i, (cleaned, stepped)) in cleaned.iter().zip(&steps).enumerate() {
            assert!((cleaned - stepped).abs() < 5.0, "{i}: {cleaned} {stepped}");
        }
    }

    #[test]
    fn dependence_is_seen_beside_steps() {
        let with_steps = |phi| {
            let mut x = noise(2_000, phi);
            for (i, value) in x.iter_mut().enumerate() {
                *value += (i / 100 % 2) as f64 * 15.0;
            }
            dependence(&x).of_sums
        };
        // (1 + φ) / (1 − φ) is 1 and 3; the care taken adds to both.
        let (none, half) = (with_steps(0.0), with_steps(0.5));
        assert!((1.0..1.3).contains(&none), "{none}");
        assert!((2.8..4.2).contains(&half), "{half}");
    }

    #[test]
    fn little_is_known_of_few_points() {
        for x in [vec![], vec![1.0], vec![1.0, 2.0], vec![3.0; 9]] {
            let found = dependence(&x).of_sums;
            assert!((1.5..=19.0).contains(&found), "{found}");
        }
    }
}
