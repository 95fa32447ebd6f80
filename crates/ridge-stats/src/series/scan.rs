//! Where in a piece of a series a step fits best, and which pieces are looked at.

/// Points on each side of a step at least. Fewer could not be told from a run of bad luck by any test that assumes no
/// distribution.
pub(super) const LEAST_SIDE: usize = 5;
/// Each layer of pieces is shorter by this.
const SHORTER: f64 = std::f64::consts::SQRT_2;

/// Pieces of a series of `n` points: all of it, then layers of shorter ones that overlap by half (Kovács, Bühlmann, Li and Munk,
/// "Seeded binary segmentation", Biometrika 110, 2023). Their lengths add up to O(n log n).
pub(super) fn layers(n: usize, shortest: usize) -> Vec<Vec<(usize, usize)>> {
    let mut layers = Vec::new();
    let mut length = n as f64;
    while length >= shortest.max(2 * LEAST_SIDE) as f64 {
        let size = length.ceil() as usize;
        let count = (2.0 * (n as f64 / length).ceil()) as usize - 1;
        let start = |at: usize| {
            if count == 1 {
                0
            } else {
                (n - size) * at / (count - 1)
            }
        };
        layers.push((0..count).map(|at| (start(at), start(at) + size)).collect());
        length /= SHORTER;
    }
    layers
}

/// The best place of a step beside a slope.
#[derive(Clone, Copy, Debug)]
pub(super) struct Best {
    /// The first point behind it.
    pub(super) at: usize,
    /// Its height over its standard error by least squares, for independent noise.
    pub(super) t: f64,
    /// By how much it makes the sum of squares less.
    pub(super) gain: f64,
}

/// By how much each place of a step makes the sum of squares less than a slope alone does, from `LEAST_SIDE` on.
pub(super) fn gains(x: &[f64]) -> (Vec<f64>, f64) {
    let n = x.len();
    let count = n as f64;
    let middle = (count - 1.0) / 2.0;
    let moment = (count.powi(3) - count) / 12.0;
    let mean = x.iter().sum::<f64>() / count;
    let slope = x
        .iter()
        .enumerate()
        .map(|(i, v)| (i as f64 - middle) * (v - mean))
        .sum::<f64>()
        / moment;
    let mut sum = 0.0;
    let mut squares = 0.0;
    let mut gains = Vec::with_capacity(n);
    for (i, value) in x.iter().enumerate() {
        // The residuals before the place add up to less of what those behind it do.
        let (left, right) = (i as f64, (n - i) as f64);
        let norm = left * right / count - (left * right / 2.0).powi(2) / moment;
        let is_inside = i >= LEAST_SIDE && n - i >= LEAST_SIDE;
        gains.push(if is_inside && norm > 0.0 {
            sum * sum / norm
        } else {
            0.0
        });
        let residual = value - mean - slope * (i as f64 - middle);
        sum += residual;
        squares += residual * residual;
    }
    (gains, squares)
}

/// The place that explains most. Absent for pieces that are too short.
pub(super) fn best(x: &[f64]) -> Option<Best> {
    let n = x.len();
    if n < 2 * LEAST_SIDE {
        return None;
    }
    let (gains, squares) = gains(x);
    let (at, gain) = gains.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
    let gain = &gain.clone();
    let rest = (squares - gain).max(0.0) / (n as f64 - 4.0);
    let t = if rest > 0.0 {
        (gain / rest).sqrt()
    } else if *gain > 0.0 {
        f64::INFINITY
    } else {
        0.0
    };
    Some(Best { at, t, gain: *gain })
}

/// By how much a parabola and a cubic make the sum of squares less than a slope alone does.
pub(super) fn gain_of_curve(x: &[f64]) -> f64 {
    let n = x.len() as f64;
    let at = |i: usize| 2.0 * i as f64 - (n - 1.0);
    // Chebyshev's polynomials for equal distances, by their recurrence: orthogonal to what comes before.
    let n2 = n * n;
    let (mut dot2, mut dot3, mut norm2, mut norm3) = (0.0, 0.0, 0.0, 0.0);
    for (i, value) in x.iter().enumerate() {
        let u = at(i) / n;
        let second = u * u - (n2 - 1.0) / (3.0 * n2);
        let third = u * (u * u - (3.0 * n2 - 7.0) / (5.0 * n2));
        dot2 += second * value;
        dot3 += third * value;
        norm2 += second * second;
        norm3 += third * third;
    }
    dot2 * dot2 / norm2 + dot3 * dot3 / norm3
}
