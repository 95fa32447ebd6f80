//! Results of `ridge bench` against earlier ones.
//!
//! Each side is one or several runs: fresh processes that measured the same specs. States belong together when benchmark,
//! kernel, values of the axes and mode are the same; a kernel that was renamed is the same where the options say so. A pair whose times may not be compared is INVALID and has no ratio; for
//! the others [`ridge_stats::compare_runs`] has the verdict.
//!
//! ```no_run
//! use ridge_bench::document::Document;
//! use ridge_compare::bench::{Options, compare};
//!
//! let read = |path| Document::read(&std::fs::read(path).unwrap()).unwrap();
//! let (before, after) = (read("before.json"), read("after.json"));
//! let found = compare(&[&before], &[&after], &Options::default());
//! for pair in &found.pairs {
//!     println!("{} {}: {}", pair.subject.state, pair.subject.mode, pair.verdict);
//! }
//! ```

mod document;
mod entries;
mod setting;
mod validity;

pub use document::{BandOrigin, Comparison, Pair, Subject, Time, Unmatched, Warning};

use ridge_bench::document::{Document, Remark};
use ridge_stats::{Error, Rules, Samples, compare_runs};

use crate::Verdict;
use entries::{Entry, Sides};

/// How to compare.
#[derive(Clone, Copy, Debug)]
pub struct Options<'n> {
    /// What a verdict asks for.
    pub rules: Rules,
    /// Names of kernels before and after that are one. A kernel of such a name on the other side is not its like.
    pub renamed: &'n [(&'n str, &'n str)],
}

impl Default for Options<'_> {
    /// The rules of [`Rules::default`], but for results that exist: a single run on each side gets a verdict too, with the
    /// band of single runs.
    fn default() -> Self {
        Self {
            rules: Rules {
                min_replicates: 1,
                needs_control: false,
                ..Rules::default()
            },
            renamed: &[],
        }
    }
}

/// Compares runs with earlier runs.
#[must_use]
pub fn compare(before: &[&Document], after: &[&Document], options: &Options<'_>) -> Comparison {
    let sides = Sides::of(before, after, options.renamed);
    let setting = setting::compare(before, after, &sides);
    let mut pairs = Vec::new();
    let mut unmatched = Vec::new();
    for matched in &sides.matched {
        match (matched.before.as_slice(), matched.after.as_slice()) {
            ([], []) => {}
            ([first, ..], []) => unmatched.push(Unmatched::new(first, false)),
            ([], [first, ..]) => unmatched.push(Unmatched::new(first, true)),
            (before, after) => pairs.push(pair(before, after, &setting.invalid, options)),
        }
    }
    Comparison {
        verdict: Verdict::worst(pairs.iter().map(|pair| pair.verdict)),
        pairs,
        unmatched,
        warnings: setting.warnings,
    }
}

/// What two sides of a state come to.
fn pair(
    before: &[Entry<'_>],
    after: &[Entry<'_>],
    invalid: &[Remark],
    options: &Options<'_>,
) -> Pair {
    let mut pair = Pair::new(&before[0], &after[0], Time::of(before), Time::of(after));
    pair.invalid.extend(invalid.iter().cloned());
    validity::check(before, after, &mut pair.invalid);
    if !pair.invalid.is_empty() {
        return pair;
    }
    let samples = |entries: &[Entry<'_>]| -> Result<Vec<Samples>, Error> {
        let valid = entries.iter().filter(|entry| entry.is_valid());
        valid.map(Entry::samples).collect()
    };
    let compared = samples(before)
        .and_then(|before| Ok((before, samples(after)?)))
        .and_then(|(before, after)| compare_runs(&before, &after, &options.rules));
    match compared {
        Ok(comparison) => pair.judge(&comparison),
        Err(error) => pair.invalid.push(validity::remark(
            "not-comparable",
            &format!("the times cannot be compared: {error}"),
            None,
        )),
    }
    pair
}
