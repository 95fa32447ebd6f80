//! Measurements with a known truth.
use ridge_stats::Random;

/// A source of noise that repeats for the same seed.
pub(crate) struct Source(Random);

impl Source {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    pub(crate) fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    /// Mean 0, standard deviation 1, by Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.0.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.0.unit()).cos()
    }
}

/// How the times of one kernel scatter around their median. Shares are of the median.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Noise {
    /// Skewed to the right, as times are.
    Lognormal { share: f64 },
    /// Two modes, drawn anew for each sample.
    Bimodal {
        distance: f64,
        upper: f64,
        share: f64,
    },
    /// First-order dependence with the coefficient `phi`.
    Ar1 { phi: f64, share: f64 },
    /// A linear movement over the run.
    Drift { change: f64, share: f64 },
    /// A level that jumps at a random place of the run, and stays there.
    Shift { size: f64, share: f64 },
    /// Normal, seen in steps of the timer.
    Quantised { step: f64, share: f64 },
    /// Evenly over a width, which starts at the median.
    Uniform { width: f64 },
    /// Normal, but one in twenty samples is a tenth to twice as slow.
    Outliers { share: f64 },
}

/// Samples around a median, in the order in which they are taken.
pub(crate) fn run(source: &mut Source, noise: Noise, median: f64, n: usize) -> Vec<f64> {
    let mut state = source.normal();
    let jump = match noise {
        Noise::Shift { .. } => (source.unit() * n as f64) as usize,
        _ => 0,
    };
    let mut sample = |at: usize| match noise {
        Noise::Lognormal { share } => median * (share * source.normal()).exp(),
        Noise::Bimodal {
            distance,
            upper,
            share,
        } => {
            let mode = if source.unit() < upper {
                1.0 + distance
            } else {
                1.0
            };
            median * mode * (share * source.normal()).exp()
        }
        Noise::Ar1 { phi, share } => {
            state = phi * state + (1.0 - phi * phi).sqrt() * source.normal();
            median * (share * state).exp()
        }
        Noise::Drift { change, share } => {
            let moved = 1.0 + change * at as f64 / n as f64;
            median * moved * (share * source.normal()).exp()
        }
        Noise::Shift { size, share } => {
            let level = if at < jump { 1.0 } else { 1.0 + size };
            median * level * (share * source.normal()).exp()
        }
        Noise::Quantised { step, share } => {
            let exact = median * (1.0 + share * source.normal());
            // As CUDA's events report it: milliseconds in 32 bits.
            f64::from(((exact / step).round() * step / 1e6) as f32) * 1e6
        }
        Noise::Uniform { width } => median * (1.0 + width * source.unit()),
        Noise::Outliers { share } => {
            let late = if source.unit() < 0.05 {
                0.1 + source.unit()
            } else {
                0.0
            };
            median * (1.0 + late) * (share * source.normal()).exp()
        }
    };
    (0..n).map(&mut sample).collect()
}

/// The median of the distribution: where the noise moves it, that of many samples.
pub(crate) fn median(noise: Noise, median: f64) -> f64 {
    match noise {
        Noise::Lognormal { .. } | Noise::Ar1 { .. } => median,
        _ => {
            let mut samples = run(&mut Source::new(99), noise, median, 1_000_001);
            *samples.select_nth_unstable_by(500_000, f64::total_cmp).1
        }
    }
}

/// The share of runs that came out as asked.
pub(crate) fn share(runs: usize, mut came_out: impl FnMut(usize) -> bool) -> f64 {
    (0..runs).filter(|run| came_out(*run)).count() as f64 / runs as f64
}
