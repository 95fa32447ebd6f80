//! A step in a piece of a series, with or without a slope, fitted so that no point counts without limit.

use super::clean::{Dependence, NORMAL_MAD};
use super::{rank, tail};

/// Residuals count up to so many standard deviations (Huber, "Robust estimation of a location parameter", Annals of
/// Mathematical Statistics 35, 1964). His 1.345 costs 5 % for normal noise, this 1 %; outliers count more.
pub(super) const HUBER: f64 = 2.0;
/// Rounds of fitting and cutting. Steps that matter have settled by then.
pub(super) const ROUNDS: usize = 5;
/// As far out as numbers tell: what stands beside no noise at all.
pub(super) const CERTAIN: f64 = 38.0;
/// Points that the pooled variance of both sides counts as in the variance of one.
const PRIOR: f64 = 4.0;

/// What a piece of a series is made of.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    /// Values, as logarithms where ratios are asked for.
    pub(super) x: &'a [f64],
    /// The same without spikes.
    pub(super) cleaned: &'a [f64],
    /// The variance that each point is known to have at least.
    pub(super) least: &'a [f64],
    /// How much the points depend on each other.
    pub(super) dependence: Dependence,
}

impl<'a> Piece<'a> {
    /// A part of it.
    pub(super) fn part(self, start: usize, end: usize) -> Self {
        Self {
            x: &self.x[start..end],
            cleaned: &self.cleaned[start..end],
            least: &self.least[start..end],
            dependence: self.dependence,
        }
    }
}

/// A fitted step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// By how much the values are larger from there on.
    pub(super) height: f64,
    pub(super) standard_error: f64,
    pub(super) freedom: f64,
    /// The slope of both sides, for each point; 0 where none was fitted.
    slope: f64,
    /// The pooled variance of the points.
    pub(super) variance: f64,
}

impl Step {
    /// How far the height is from none, as a standard normal value.
    pub(super) fn z(&self) -> f64 {
        if self.standard_error <= 0.0 {
            return if self.height == 0.0 { 0.0 } else { CERTAIN };
        }
        tail::z_of_t(self.height / self.standard_error, self.freedom)
    }

    /// Half the width of the interval of the height that has `z` standard errors of a normal value to each side.
    pub(super) fn half_width(&self, z: f64) -> f64 {
        tail::t_of_z(z, self.freedom) * self.standard_error
    }
}

/// Fits a step before the point `at`. Both sides have two points at least.
pub(super) fn step(piece: Piece<'_>, at: usize, with_slope: bool) -> Step {
    let n = piece.x.len();
    let (left, right) = (at as f64, (n - at) as f64);
    let count = n as f64;
    let middle = (count - 1.0) / 2.0;
    let moment = (count.powi(3) - count) / 12.0;
    // The step that is left when level and slope are taken from it.
    let tilt = if with_slope {
        left * right / 2.0 / moment
    } else {
        0.0
    };
    let of_step = |i: usize| {
        let rise = if i >= at { 1.0 } else { 0.0 };
        rise - right / count - tilt * (i as f64 - middle)
    };
    let norm: f64 = (0..n).map(|i| of_step(i).powi(2)).sum();
    let mut values = piece.cleaned.to_vec();
    let mut residuals = vec![0.0; n];
    let mut height = 0.0;
    let mut slope = 0.0;
    let mut limits = [0.0; 2];
    let known = (piece.least.iter().sum::<f64>() / count).sqrt();
    for _ in 0..ROUNDS {
        let mean = values.iter().sum::<f64>() / count;
        height = values
            .iter()
            .enumerate()
            .map(|(i, v)| of_step(i) * (v - mean))
            .sum::<f64>()
            / norm;
        slope = if with_slope {
            let total = values
                .iter()
                .enumerate()
                .map(|(i, v)| (i as f64 - middle) * (v - mean))
                .sum::<f64>()
                / moment;
            total - height * tilt
        } else {
            0.0
        };
        let fitted = |i: usize| {
            let rise = if i >= at { 1.0 } else { 0.0 };
            mean + height * (rise - right / count) + slope * (i as f64 - middle)
        };
        for (i, residual) in residuals.iter_mut().enumerate() {
            *residual = piece.x[i] - fitted(i);
        }
        let usual = |residuals: &[f64]| {
            let mut sizes: Vec<f64> = residuals.iter().map(|r| r.abs()).collect();
            middle_of(&mut sizes) / NORMAL_MAD * (count / (count - 3.0).max(1.0)).sqrt()
        };
        let both = usual(&residuals).max(known);
        // The noisier side keeps its noise.
        limits = [&residuals[..at], &residuals[at..]].map(|side| HUBER * usual(side).max(both));
        for i in 0..n {
            let limit = limits[usize::from(i >= at)];
            values[i] = fitted(i) + residuals[i].clamp(-limit, limit);
        }
    }
    // Each side has its own variance, since noise varies; that of few points leans on both.
    let side = |range: std::ops::Range<usize>| {
        let points = range.len() as f64;
        let limit = limits[usize::from(range.start == at)];
        let freedom = (points - 1.5).max(0.5);
        let cut = residuals[range.clone()]
            .iter()
            .filter(|r| r.abs() > limit)
            .count() as f64;
        let whole = (1.0 - cut / points).max(0.5);
        let sum: f64 = residuals[range.clone()]
            .iter()
            .map(|r| r.clamp(-limit, limit).powi(2))
            .sum();
        let known = piece.least[range].iter().sum::<f64>() / points;
        (sum / (whole * whole), freedom, known)
    };
    let (of_left, of_right) = (side(0..at), side(at..n));
    let pooled = (of_left.0 + of_right.0) / (of_left.1 + of_right.1);
    let weights = |range: std::ops::Range<usize>| {
        range.map(|i| of_step(i).powi(2)).sum::<f64>() / (norm * norm)
    };
    let part = |(sum, freedom, known): (f64, f64, f64), weight: f64| {
        let all = freedom + PRIOR;
        let variance = ((sum + PRIOR * pooled) / all).max(known);
        (
            variance * weight * piece.dependence.of_sums,
            all.min(of_left.1 + of_right.1),
        )
    };
    let (left_part, left_freedom) = part(of_left, weights(0..at));
    let (right_part, right_freedom) = part(of_right, weights(at..n));
    let variance = left_part + right_part;
    let freedom = variance * variance
        / (left_part.powi(2) / left_freedom + right_part.powi(2) / right_freedom);
    Step {
        height,
        standard_error: variance.sqrt(),
        freedom: if freedom.is_finite() {
            (freedom / piece.dependence.of_squares).max(1.0)
        } else {
            1.0
        },
        slope,
        variance: pooled,
    }
}

/// The probability that chance alone makes a step so high at a given place, for dependent noise.
pub(super) fn p_of_height(step: &Step) -> f64 {
    tail::two_sided(step.z())
}

/// The probability that chance alone puts the values of both sides in an order like theirs, for independent noise of any
/// distribution. The slope is taken out first.
pub(super) fn p_of_ranks(piece: Piece<'_>, at: usize, step: &Step) -> f64 {
    let level: Vec<f64> = piece
        .x
        .iter()
        .zip(0..)
        .map(|(x, i)| x - step.slope * f64::from(i))
        .collect();
    rank::p_value(&level[..at], &level[at..])
}

/// The upper of the middle ones, which costs no sorting.
fn middle_of(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}
