//! Whether a level moves slowly.

use super::clean::NORMAL_MAD;
use super::fit::{CERTAIN, HUBER, Piece, ROUNDS};
use super::{Drift, Values, Z95, tail};
use crate::compare::Effect;
use crate::interval::Interval;
use crate::quantile::median_of;

/// Fewer points are no basis for a slope.
const LEAST_POINTS: usize = 12;

/// A fitted line.
pub(super) struct Line {
    /// From the first point to the last.
    rise: f64,
    half_width: f64,
    start: f64,
}

impl Line {
    pub(super) fn describe(&self, values: Values) -> Drift {
        let interval = Interval {
            lower: self.rise - self.half_width,
            upper: self.rise + self.half_width,
        };
        match values {
            Values::Ratios => Drift {
                difference: self.start.exp() * self.rise.exp_m1(),
                ratio: Some(Effect::from_log(self.rise, Some(interval))),
            },
            Values::Differences { unit } => Drift {
                difference: self.rise * unit,
                ratio: None,
            },
        }
    }
}

/// The line through a segment, if its slope is none by chance with a probability of at most `limit`.
pub(super) fn find(piece: Piece<'_>, limit: f64) -> Option<Line> {
    let n = piece.x.len();
    if n < LEAST_POINTS {
        return None;
    }
    let count = n as f64;
    let middle = (count - 1.0) / 2.0;
    let moment = (count.powi(3) - count) / 12.0;
    let known = piece.least.iter().sum::<f64>() / count;
    let mut values = piece.cleaned.to_vec();
    let (mut slope, mut mean, mut variance) = (0.0, 0.0, 0.0);
    for _ in 0..ROUNDS {
        mean = values.iter().sum::<f64>() / count;
        slope = values
            .iter()
            .enumerate()
            .map(|(i, v)| (i as f64 - middle) * (v - mean))
            .sum::<f64>()
            / moment;
        let residuals: Vec<f64> = piece
            .x
            .iter()
            .enumerate()
            .map(|(i, x)| x - mean - slope * (i as f64 - middle))
            .collect();
        let usual =
            median_of(&mut residuals.iter().map(|r| r.abs()).collect::<Vec<_>>()) / NORMAL_MAD;
        let bound = HUBER * usual.max(known.sqrt());
        let mut cut = 0.0;
        let mut squares = 0.0;
        for (i, residual) in residuals.iter().enumerate() {
            let kept = residual.clamp(-bound, bound);
            if residual.abs() > bound {
                cut += 1.0;
            }
            squares += kept * kept;
            values[i] = mean + slope * (i as f64 - middle) + kept;
        }
        let whole: f64 = (1.0_f64 - cut / count).max(0.5);
        variance = (squares / (count - 2.0) / (whole * whole)).max(known);
    }
    let standard_error = (variance * piece.dependence.of_sums / moment).sqrt();
    let freedom = ((count - 2.0) / piece.dependence.of_squares).max(1.0);
    let z = if standard_error > 0.0 {
        tail::z_of_t(slope / standard_error, freedom)
    } else if slope == 0.0 {
        0.0
    } else {
        CERTAIN
    };
    (tail::two_sided(z) <= limit).then(|| Line {
        rise: slope * (count - 1.0),
        half_width: tail::t_of_z(Z95, freedom) * standard_error * (count - 1.0),
        start: mean - slope * middle,
    })
}
