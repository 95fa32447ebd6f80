//! Samples to summaries, stopping rules and comparison verdicts.
//!
//! The crate is pure: it takes no samples, reads no clock and prints nothing. Where it needs random numbers it takes a
//! seed. It knows no units: results are in the unit of the samples, and shares and ratios have none. Whether a sample may
//! count is decided before, by its cause and not by its value; nothing is left out here. `docs/design/statistics.md` tells why
//! these statistics and not others.
//!
//! ```
//! use ridge_stats::{Confidence, Round, Rounds, Rules, Samples, Summary, Verdict, compare_rounds};
//!
//! // Times in nanoseconds.
//! let samples = Samples::new(vec![3_712.0, 3_744.0, 3_712.0, 3_680.0, 3_712.0, 3_712.0])?;
//! let summary = Summary::of(&samples, Confidence::P95);
//! assert_eq!(summary.median, 3_712.0);
//!
//! // Three processes, ten rounds each: the medians of A, of B, and of A once more.
//! let round = |i: u32| {
//!     let noise = f64::from(i * 7 % 10) / 10.0;
//!     Round { a: 100.0 + noise, b: 103.0 + noise, control: Some(100.5) }
//! };
//! let rounds = Rounds::new(vec![(0..10).map(round).collect(); 3])?;
//! let comparison = compare_rounds(&rounds, &Rules::default())?;
//! assert_eq!(comparison.verdict, Verdict::Slower);
//! # Ok::<(), ridge_stats::Error>(())
//! ```
#![forbid(unsafe_code)]

mod binomial;
mod compare;
mod dependence;
mod error;
mod interval;
mod odd;
mod quantile;
mod random;
mod samples;
mod series;
mod shape;
mod spread;
mod stopping;
mod summary;

pub use compare::{
    BandSource, Comparison, Doubt, Effect, Round, Rounds, Rules, Verdict, compare_rounds,
    compare_runs, compare_samples,
};
pub use error::{Arm, Error};
pub use interval::{Confidence, Interval};
pub use odd::{LEAST_VALUES, Oddity};
pub use random::Random;
pub use samples::Samples;
pub use series::{Change, ChangeRules, Changes, Drift, Point, Segment, find_changes};
pub use shape::{Modes, Quantisation, Trend};
pub use stopping::{StopReason, Stopping, StoppingRule};
pub use summary::Summary;
