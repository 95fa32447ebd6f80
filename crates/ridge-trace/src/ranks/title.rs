//! Who stands out, in words.

use ridge_model::quantity::Nanos;

use crate::analysis::percent;
use crate::document::{Figure, Odd, RankKernel, Ranks};
use crate::findings::base_name;

/// One sentence for the whole comparison.
pub(super) fn title(ranks: &Ranks) -> String {
    let count = ranks.members.len();
    if !ranks.is_one_program {
        return format!(
            "these are not traces of one program: {} of the time of kernels is in kernels that all {count} have",
            percent(ranks.common_share)
        );
    }
    let label = |member: usize| {
        ranks
            .members
            .get(member)
            .map_or("", |row| row.label.as_str())
    };
    let mut parts = Vec::new();
    if let Some(last) = &ranks.last {
        let share = percent(last.span_share);
        parts.push(match last.member {
            Some(member) => format!(
                "{} comes last in {} of {} launches in which ranks wait for each other: the others wait {} for it, {share} of the span",
                label(member),
                last.came_last,
                last.launches,
                Nanos::new(last.wait_ns)
            ),
            None => format!(
                "ranks wait {} for each other, {share} of the span, and take turns in coming last",
                Nanos::new(last.wait_ns)
            ),
        });
    }
    let is_told = |odd: &&Odd| {
        // That a late rank waits less than the others follows from its being late.
        let last = ranks.last.as_ref().and_then(|last| last.member);
        last.is_none_or(|last| odd.member == last) || odd.figure != Figure::IdleShare
    };
    match ranks.odd.iter().find(is_told) {
        Some(odd) => {
            let others = ranks.odd.iter().filter(|other| other.member != odd.member);
            let mut members: Vec<usize> = others.map(|other| other.member).collect();
            members.sort_unstable();
            members.dedup();
            let more = match members.len() {
                0 => String::new(),
                1 => format!("; {} does too, in less", label(members[0])),
                more => format!("; {more} others do too, in less"),
            };
            parts.push(format!(
                "{} stands out: {}{more}",
                label(odd.member),
                odd.title
            ));
        }
        None if count < ridge_stats::LEAST_VALUES && parts.is_empty() => {
            parts.push("two are compared, and which of two is odd cannot be told".to_owned());
        }
        None if parts.is_empty() => parts.push(format!("none of {count} stands out")),
        None => {}
    }
    parts.join("; ")
}

/// A figure in which a rank stands out, against the median of all.
pub(super) fn words(kernels: &[RankKernel], odd: &Odd) -> String {
    let words = figure(kernels, odd);
    match odd.figure {
        // These say it themselves.
        Figure::Span | Figure::IdleShare => words,
        _ => format!("{words}; that is {} of the span", percent(odd.span_share)),
    }
}

fn figure(kernels: &[RankKernel], odd: &Odd) -> String {
    let time = |ns: f64| Nanos::new(ns).to_string();
    let kernel = odd
        .kernel
        .and_then(|place| kernels.get(place))
        .map_or("", |kernel| base_name(&kernel.name));
    let against = |value: String, median: String| {
        let more = if odd.median > 0.0 {
            let change = odd.value / odd.median - 1.0;
            let way = if change > 0.0 { "more" } else { "less" };
            format!(
                ", {} {way} than the median of {median}",
                percent(change.abs())
            )
        } else {
            format!(", where the median is {median}")
        };
        format!("{value}{more}")
    };
    match odd.figure {
        Figure::Span => format!("its span is {}", against(time(odd.value), time(odd.median))),
        Figure::KernelTime => format!(
            "its kernels run for {}",
            against(
                format!("{} without waiting for ranks", time(odd.value)),
                time(odd.median)
            )
        ),
        Figure::CopyTime => format!(
            "its copies run for {}",
            against(time(odd.value), time(odd.median))
        ),
        Figure::IdleShare => format!(
            "it idles for {} of its span, where the median is {}",
            percent(odd.value),
            percent(odd.median)
        ),
        Figure::KernelMedian => format!(
            "a launch of {kernel} takes {}",
            against(time(odd.value), time(odd.median))
        ),
        Figure::Launches => format!(
            "it launches {kernel} {} times, where the median is {}",
            odd.value, odd.median
        ),
    }
}
