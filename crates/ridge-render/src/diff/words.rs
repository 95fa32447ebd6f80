//! Values of a difference in words, the same in every format.

use ridge_compare::Verdict;
use ridge_compare::document::Note;
use ridge_compare::kernels::document::{
    Busy, Conclusion, Figure, FlawChange, KernelPair, KernelRef, LedgerRow, Outcome, Remark, Rule,
    Time, TimeOrigin, VerifyResult, Warning,
};
use ridge_diagnose::document::Direction;
use ridge_model::quantity::{Amount, Nanos, Ratio, Unit, counted};

use crate::style::Role;

/// Stands where nothing was counted.
pub(super) const ABSENT: &str = "-";

/// How a verdict looks.
pub(super) const fn role(verdict: Verdict) -> Role {
    match verdict {
        Verdict::Same | Verdict::Faster => Role::Good,
        Verdict::Ambiguous => Role::Warning,
        Verdict::Slower | Verdict::Invalid => Role::Bad,
    }
}

/// A share in whole per cents.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

pub(super) fn nanos(time: Option<f64>) -> String {
    time.map_or_else(|| ABSENT.to_owned(), |time| Nanos::new(time).to_string())
}

/// Names of both sides; one where they are the same.
pub(super) fn names(pair: &KernelPair) -> String {
    if pair.before.name == pair.after.name {
        pair.before.name.clone()
    } else {
        format!("{} → {}", pair.before.name, pair.after.name)
    }
}

/// How a pair was found.
pub(super) fn matched(pair: &KernelPair) -> String {
    let sizes = || match (size(&pair.before), size(&pair.after)) {
        (Some(one), Some(other)) if one != other => format!(" ({one} → {other})"),
        _ => String::new(),
    };
    match pair.matched_by {
        Rule::Given => format!("matched by hand{}", sizes()),
        Rule::OnlyOne => format!("one kernel on each side{}", sizes()),
        Rule::Same => "same name, grid and block".to_owned(),
        Rule::OtherGrid => format!("same name and block, another grid{}", sizes()),
        Rule::OtherBlock => format!("same name, another block{}", sizes()),
        Rule::OtherArguments => {
            format!(
                "same base name, other template arguments or parameters{}",
                sizes()
            )
        }
        Rule::Alike => format!(
            "names are alike ({}){}",
            percent(pair.similarity.unwrap_or(0.0)),
            sizes()
        ),
    }
}

/// Grid and block.
pub(super) fn size(kernel: &KernelRef) -> Option<String> {
    let text = |[x, y, z]: [u32; 3]| match (y, z) {
        (1, 1) => x.to_string(),
        (_, 1) => format!("{x}x{y}"),
        _ => format!("{x}x{y}x{z}"),
    };
    Some(format!("{} of {}", text(kernel.grid?), text(kernel.block?)))
}

/// Both times and their ratio.
pub(super) fn times(time: &Time) -> String {
    let samples = |count: u64| match count {
        0 | 1 => String::new(),
        count => format!(" (median of {count})"),
    };
    let ratio = time.ratio.map_or_else(String::new, |ratio| {
        let interval = time
            .lower
            .zip(time.upper)
            .map_or_else(String::new, |(lower, upper)| {
                format!(
                    ", 95 % interval {} to {}",
                    self::ratio(lower),
                    self::ratio(upper)
                )
            });
        if let Some(text) = unconfirmed(time, ratio) {
            return format!(": {text}{interval}");
        }
        let faster = match time.verdict {
            Verdict::Faster if ratio > 0.0 => {
                format!(", {} faster", Ratio::new(1.0 / ratio).factor())
            }
            Verdict::Slower => format!(", {} slower", Ratio::new(ratio).factor()),
            _ => String::new(),
        };
        format!(": ratio {}{interval}{faster}", self::ratio(ratio))
    });
    format!(
        "{}{} → {}{}{ratio}",
        nanos(time.before_ns),
        samples(time.samples_before),
        nanos(time.after_ns),
        samples(time.samples_after),
    )
}

/// What durations under the profiler say, as far as they say it: no verdict rests on them.
fn unconfirmed(time: &Time, ratio: f64) -> Option<String> {
    /// Closer to one, nothing is seen.
    const SEEN: f64 = 0.01;
    let is_it = time.verdict == Verdict::Ambiguous && time.origin == TimeOrigin::Profiler;
    if !is_it || ratio <= 0.0 || (ratio - 1.0).abs() < SEEN {
        return None;
    }
    let (factor, word) = if ratio < 1.0 {
        (1.0 / ratio, "faster")
    } else {
        (ratio, "slower")
    };
    let durations = if time.samples_before.max(time.samples_after) > 1 {
        "durations"
    } else {
        "single durations"
    };
    Some(format!(
        "{} {word} by the profiler's {durations}, unconfirmed ({})",
        Ratio::new(factor).factor(),
        time.verdict
    ))
}

/// A ratio in three digits; near one a per mille counts, and it has one more.
pub(super) fn ratio(ratio: f64) -> String {
    if !ratio.is_finite() || ratio <= 0.0 || (0.9..1.1).contains(&ratio) {
        return format!("{ratio:.3}");
    }
    let decimals = (2.0 - ratio.log10().floor()).clamp(0.0, 9.0);
    // From 0 to 9.
    format!("{ratio:.*}", decimals as usize)
}

/// The clocks where they differ for a reader.
pub(super) fn clocks(time: &Time) -> Option<String> {
    let (before, after) = time.clock_before_hz.zip(time.clock_after_hz)?;
    let cycles = time.cycles_ratio?;
    Some(format!(
        "SM clock {:.2} → {:.2} GHz; in cycles {}",
        before / 1e9,
        after / 1e9,
        Ratio::new(cycles).factor()
    ))
}

/// One side of a row of the ledger: the share and the time bound.
pub(super) fn busy(busy: Option<&Busy>) -> (String, String) {
    busy.map_or_else(
        || (ABSENT.to_owned(), String::new()),
        |busy| (percent(busy.share), nanos(busy.bound_ns)),
    )
}

/// The stages of a row.
pub(super) fn stage(row: &LedgerRow) -> String {
    match (&row.before, &row.after) {
        (Some(one), Some(other)) if one.stage != other.stage => {
            format!("{} → {}", one.stage, other.stage)
        }
        (Some(one), _) => one.stage.clone(),
        (None, Some(other)) => other.stage.clone(),
        (None, None) => String::new(),
    }
}

/// What was asked of the resource on both sides, where it is one amount.
pub(super) fn demand(row: &LedgerRow) -> String {
    let Some(unit) = &row.unit else {
        return String::new();
    };
    let amount = |busy: Option<&Busy>| amount(busy.map(|busy| busy.demand), unit);
    format!(
        "{} → {}",
        amount(row.before.as_ref()),
        amount(row.after.as_ref())
    )
}

/// Rows that matter on either side.
pub(super) fn matters(row: &LedgerRow) -> bool {
    /// Less is not what a kernel waits for.
    const SMALL: f64 = 0.10;
    [&row.before, &row.after]
        .into_iter()
        .flatten()
        .any(|busy| busy.share >= SMALL)
}

pub(super) const fn outcome_role(outcome: Outcome) -> Role {
    match outcome {
        Outcome::Gone => Role::Good,
        Outcome::NoLongerLimits
        | Outcome::Smaller
        | Outcome::Still
        | Outcome::NotChecked
        | Outcome::NowShows
        | Outcome::New => Role::Warning,
    }
}

/// What became of a flaw, with what was expected.
pub(super) fn flaw(flaw: &FlawChange) -> String {
    let before = flaw
        .expected_before
        .zip(flaw.ceiling_before)
        .map(|(expected, ceiling)| {
            format!(
                "before, it cost about {}, at most {}",
                percent(expected),
                percent(ceiling)
            )
        });
    let after = flaw
        .expected_after
        .zip(flaw.ceiling_after)
        .map(|(expected, ceiling)| {
            format!(
                "now about {}, at most {}",
                percent(expected),
                percent(ceiling)
            )
        });
    let costs: Vec<String> = before.into_iter().chain(after).collect();
    match costs.as_slice() {
        [] => flaw.outcome.words().to_owned(),
        costs => format!("{} ({})", flaw.outcome.words(), costs.join("; ")),
    }
}

/// A metric, what it had to do, and what it did.
pub(super) fn verify(verify: &VerifyResult) -> String {
    let wanted = match (verify.direction, verify.target) {
        (Direction::Up, None) => "to rise".to_owned(),
        (Direction::Down, None) => "to fall".to_owned(),
        (Direction::Up, Some(target)) => {
            format!("to rise to {}", amount(Some(target), &verify.unit))
        }
        (Direction::Down, Some(target)) => {
            format!("to fall to {}", amount(Some(target), &verify.unit))
        }
        (Direction::To, Some(target)) => {
            format!("to come near {}", amount(Some(target), &verify.unit))
        }
        (Direction::To, None) => "to come near its target".to_owned(),
    };
    format!(
        "{}: {} had {wanted}: {} → {}",
        verify.outcome.words(),
        verify.metric,
        amount(verify.before, &verify.unit),
        amount(verify.after, &verify.unit)
    )
}

/// What got worse beside new flaws, which stand among the flaws.
pub(super) fn worse(pair: &KernelPair) -> impl Iterator<Item = &str> {
    let is_told = |remark: &&Remark| remark.code != "new-flaw";
    pair.worse
        .iter()
        .filter(is_told)
        .map(|remark| remark.text.as_str())
}

/// A value with its unit.
pub(super) fn amount(value: Option<f64>, unit: &str) -> String {
    /// Units that are words of which there are several.
    const COUNTED: &[&str] = &[
        "block",
        "cycle",
        "operation",
        "request",
        "sector",
        "thread",
        "warp",
        "warp instruction",
        "wavefront",
    ];
    value.map_or_else(
        || ABSENT.to_owned(),
        |value| {
            let text = Amount::new(value, Unit::new(unit.to_owned())).to_string();
            if COUNTED.contains(&unit) && (value - 1.0).abs() > f64::EPSILON {
                text + "s"
            } else {
                text
            }
        },
    )
}

/// A figure on both sides.
pub(super) fn figure(figure: &Figure) -> String {
    // "registers per thread" says what is counted, and for what.
    let unit = match figure.unit.split_once('/') {
        Some((counted, per)) if figure.label.ends_with(&format!("per {per}")) => {
            if figure.label.contains(counted) {
                ""
            } else {
                counted
            }
        }
        _ => &figure.unit,
    };
    format!(
        "{} {} → {}",
        figure.label,
        amount(figure.before, unit),
        amount(figure.after, unit)
    )
}

/// Whether a figure moved for a reader.
pub(super) fn moved(figure: &Figure) -> bool {
    /// Less is what counters differ by from run to run.
    const LEAST: f64 = 0.02;
    match (figure.before, figure.after) {
        (Some(before), Some(after)) => {
            (after - before).abs() > LEAST * before.abs().max(after.abs())
        }
        _ => true,
    }
}

fn spoils(conclusions: &[Conclusion]) -> String {
    if conclusions.is_empty() {
        return String::new();
    }
    let words: Vec<&str> = conclusions
        .iter()
        .map(|conclusion| conclusion.words())
        .collect();
    format!(" [spoils: {}]", words.join(", "))
}

pub(super) fn warning(warning: &Warning) -> String {
    format!("{}{}", warning.message, spoils(&warning.spoils))
}

pub(super) fn note(note: &Note) -> String {
    let file = note
        .file
        .as_ref()
        .map_or_else(String::new, |file| format!("{file}: "));
    format!("{file}{}{}", note.message, spoils(&note.spoils))
}

/// How many pairs have which verdict, in words.
pub(super) fn tally(pairs: &[KernelPair]) -> String {
    let list: Vec<String> = [
        Verdict::Invalid,
        Verdict::Slower,
        Verdict::Ambiguous,
        Verdict::Same,
        Verdict::Faster,
    ]
    .into_iter()
    .filter_map(|verdict| {
        let count = pairs
            .iter()
            .filter(|pair| pair.time.verdict == verdict)
            .count();
        (count > 0).then(|| format!("{count} {verdict}"))
    })
    .collect();
    format!(
        "{}: {}",
        counted(pairs.len() as u64, "pair"),
        list.join(", ")
    )
}

/// The summed times of both sides.
pub(super) fn totals(document: &ridge_compare::kernels::document::Kernels) -> Option<String> {
    let totals = &document.totals;
    let (before, after) = totals.before_ns.zip(totals.after_ns)?;
    let ratio = (before > 0.0).then(|| format!(", {}", Ratio::new(after / before).factor()));
    Some(format!(
        "all launches by the profiler: {} → {}{}",
        Nanos::new(before),
        Nanos::new(after),
        ratio.unwrap_or_default()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_have_three_digits() {
        for (value, text) in [
            (0.004_132, "0.00413"),
            (101.38, "101"),
            (2.085_4, "2.09"),
            (0.113_4, "0.113"),
            (0.998_2, "0.998"),
            (1.016_4, "1.016"),
        ] {
            assert_eq!(ratio(value), text);
        }
    }

    #[test]
    fn units_are_said_once_and_counted() {
        let of = |label: &str, unit: &str, before, after| Figure {
            metric: "m".to_owned(),
            label: label.to_owned(),
            before: Some(before),
            after: Some(after),
            unit: unit.to_owned(),
        };
        assert_eq!(
            figure(&of("registers per thread", "register/thread", 16.0, 32.0)),
            "registers per thread 16 → 32"
        );
        assert_eq!(
            figure(&of("shared memory per block", "byte/block", 0.0, 2048.0)),
            "shared memory per block 0 B → 2.05 kB"
        );
        assert_eq!(
            figure(&of("waiting for wait", "cycle", 0.0245, 1.0)),
            "waiting for wait 0.0245 cycles → 1 cycle"
        );
    }
}
