//! Ranks of one program beside each other: who stands out, in what, and for whom the others wait. The rules are in
//! `docs/design/timeline.md`.

mod meeting;
mod member;
#[cfg(test)]
mod tests;
mod title;

use std::collections::{BTreeMap, BTreeSet};

use ridge_stats::{Oddity, Samples};

pub use member::Member;

use crate::analysis::to_f64;
use crate::document::{Figure, Last, Odd, RankKernel, RankRow, Ranks};

/// A time is odd only if it differs from the median by more than this share of it. Medians of many launches on equal GPUs
/// differ by a few per cent, and nobody looks for less.
const LEAST_SHARE: f64 = 0.05;
/// Nor if the difference is below this share of the span: it is of no use to know.
const LEAST_OF_SPAN: f64 = 0.01;
/// Durations of kernels come in steps of 32 ns; three of them show nothing.
const LEAST_DURATION_NS: f64 = 100.0;
/// A kernel below this share of the time of all kernels is listed and not judged.
const LEAST_OF_KERNELS: f64 = 0.01;
/// Programs that have less of the time of their kernels in common are not the same.
const LEAST_COMMON: f64 = 0.5;
/// Who comes last in so many of the launches is the one to look at; below, ranks take turns.
const LAST_IN: f64 = 2.0 / 3.0;

/// Compares ranks. None for fewer than two.
#[must_use]
pub fn compare(members: Vec<Member>) -> Option<Ranks> {
    if members.len() < 2 {
        return None;
    }
    let members = in_order(members);
    let mut rows = rows(&members);
    let kernels = kernels(&members);
    let common_share = common_share(&members);
    let is_one_program = common_share >= LEAST_COMMON;
    let has_clocks = meeting::have_clocks(&members);
    if has_clocks && is_one_program {
        for (place, row) in rows.iter_mut().enumerate() {
            let waits = kernels.iter().filter_map(|kernel| kernel.meeting.as_ref());
            row.wait_ns = Some(waits.filter_map(|met| met.waits_ns.get(place)).sum());
        }
    }
    let span_ns = median(rows.iter().map(|row| row.span_ns));
    let mut odd = Vec::new();
    if is_one_program {
        of_rows(&rows, span_ns, &mut odd);
        of_kernels(&kernels, span_ns, &mut odd);
        odd.sort_by(|a, b| b.span_share.total_cmp(&a.span_share));
    }
    let last = last(&rows, &kernels, span_ns).filter(|_| is_one_program);
    let mut ranks = Ranks {
        title: String::new(),
        remarks: if is_one_program {
            remarks(&members, has_clocks)
        } else {
            Vec::new()
        },
        members: rows,
        odd,
        kernels,
        last,
        is_one_program,
        common_share,
    };
    for odd in &mut ranks.odd {
        odd.title = title::words(&ranks.kernels, odd);
    }
    ranks.title = title::title(&ranks);
    Some(ranks)
}

/// By rank, where all tell one; else as they were named.
fn in_order(mut members: Vec<Member>) -> Vec<Member> {
    if members.iter().all(|member| member.rank.is_some()) {
        members.sort_by_key(|member| member.rank);
    }
    members
}

/// Whether each member has a rank of its own.
fn are_ranks(members: &[Member]) -> bool {
    let ranks: Option<BTreeSet<u64>> = members.iter().map(|member| member.rank).collect();
    ranks.is_some_and(|ranks| ranks.len() == members.len())
}

fn rows(members: &[Member]) -> Vec<RankRow> {
    let are_ranks = are_ranks(members);
    members
        .iter()
        .map(|member| {
            let busy = member.share(member.busy_ns);
            RankRow {
                trace: member.trace,
                processes: member.processes.clone(),
                rank: member.rank,
                label: match member.rank.filter(|_| are_ranks) {
                    Some(rank) => format!("rank {rank}"),
                    None => member.file.clone(),
                },
                devices: member.devices,
                span_ns: to_f64(member.span_ns),
                busy_share: busy,
                idle_share: 1.0 - busy,
                kernel_ns: to_f64(member.kernel_ns),
                wait_ns: None,
                copy_ns: to_f64(member.copy_ns),
            }
        })
        .collect()
}

fn sum(launches: &[(i64, i64)]) -> f64 {
    launches
        .iter()
        .map(|(start, end)| to_f64(end - start))
        .sum()
}

/// The median of some figures; 0 of none.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    Samples::new(values.collect()).map_or(0.0, |samples| samples.median())
}

fn kernels(members: &[Member]) -> Vec<RankKernel> {
    let mut totals: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, launches) in members.iter().flat_map(|member| &member.kernels) {
        *totals.entry(name).or_default() += sum(launches);
    }
    let whole: f64 = totals.values().sum::<f64>().max(1.0);
    let mut kernels: Vec<RankKernel> = totals
        .into_iter()
        .map(|(name, total)| {
            let of = |member: &Member| {
                let durations = member.kernels.get(name)?.iter();
                Some(median(durations.map(|(start, end)| to_f64(end - start))))
            };
            let medians_ns: Vec<Option<f64>> = members.iter().map(of).collect();
            RankKernel {
                name: name.to_owned(),
                median_ns: median(medians_ns.iter().flatten().copied()),
                medians_ns,
                launches: members
                    .iter()
                    .map(|member| member.kernels.get(name).map_or(0, |own| own.len() as u64))
                    .collect(),
                time_share: total / whole,
                meeting: meeting::of_kernel(members, name),
            }
        })
        .collect();
    kernels.sort_by(|a, b| {
        b.time_share
            .total_cmp(&a.time_share)
            .then_with(|| a.name.cmp(&b.name))
    });
    kernels
}

/// How much of the time of kernels is in kernels that all have. All of it where there are no kernels.
fn common_share(members: &[Member]) -> f64 {
    let (mut common, mut whole) = (0.0, 0.0);
    for (name, launches) in members.iter().flat_map(|member| &member.kernels) {
        let time = sum(launches);
        whole += time;
        if members
            .iter()
            .all(|member| member.kernels.contains_key(name))
        {
            common += time;
        }
    }
    if whole > 0.0 { common / whole } else { 1.0 }
}

/// Judges one figure of all ranks. `to_span_share` says what a difference amounts to.
fn judge(
    values: &[f64],
    least: f64,
    (figure, kernel): (Figure, Option<usize>),
    to_span_share: impl Fn(f64) -> f64,
    odd: &mut Vec<Odd>,
) {
    // Figures are finite, so that nothing is refused.
    let Ok(Some(found)) = Oddity::among(values, least) else {
        return;
    };
    for member in found.odd {
        let value = values[member];
        odd.push(Odd {
            member,
            figure,
            kernel,
            title: String::new(),
            value,
            median: found.median,
            limit: found.limit,
            span_share: to_span_share((value - found.median).abs()),
        });
    }
}

fn of_rows(rows: &[RankRow], span_ns: f64, odd: &mut Vec<Odd>) {
    let of_span = |ns: f64| ns / span_ns.max(1.0);
    let mut times = |figure: Figure, value: fn(&RankRow) -> f64| {
        let values: Vec<f64> = rows.iter().map(value).collect();
        let least = (LEAST_SHARE * median(values.iter().copied())).max(LEAST_OF_SPAN * span_ns);
        judge(&values, least, (figure, None), of_span, odd);
    };
    times(Figure::Span, |row| row.span_ns);
    times(Figure::KernelTime, |row| {
        (row.kernel_ns - row.wait_ns.unwrap_or(0.0)).max(0.0)
    });
    times(Figure::CopyTime, |row| row.copy_ns);
    let values: Vec<f64> = rows.iter().map(|row| row.idle_share).collect();
    judge(
        &values,
        LEAST_SHARE,
        (Figure::IdleShare, None),
        |share| share,
        odd,
    );
}

/// Kernels that all ranks launch, and in which they do not wait for each other: there the rank that is late is the fast one.
fn of_kernels(kernels: &[RankKernel], span_ns: f64, odd: &mut Vec<Odd>) {
    for (place, kernel) in kernels.iter().enumerate() {
        let Some(medians) = kernel
            .medians_ns
            .iter()
            .copied()
            .collect::<Option<Vec<f64>>>()
        else {
            continue;
        };
        if kernel.time_share < LEAST_OF_KERNELS || kernel.meeting.is_some() {
            continue;
        }
        let launches: Vec<f64> = kernel.launches.iter().map(|count| *count as f64).collect();
        let typical = median(launches.iter().copied());
        let least = (LEAST_SHARE * kernel.median_ns).max(LEAST_DURATION_NS);
        let of_time = |ns: f64| ns * typical / span_ns.max(1.0);
        judge(
            &medians,
            least,
            (Figure::KernelMedian, Some(place)),
            of_time,
            odd,
        );
        let of_count = |count: f64| count * kernel.median_ns / span_ns.max(1.0);
        judge(
            &launches,
            LEAST_SHARE * typical,
            (Figure::Launches, Some(place)),
            of_count,
            odd,
        );
    }
}

/// Who comes last where ranks wait for each other.
fn last(rows: &[RankRow], kernels: &[RankKernel], span_ns: f64) -> Option<Last> {
    let met = || kernels.iter().filter_map(|kernel| kernel.meeting.as_ref());
    let launches: u64 = met().map(|met| met.launches).sum();
    let came_last = |member: usize| met().filter_map(|met| met.came_last.get(member)).sum();
    let counts: Vec<u64> = (0..rows.len()).map(came_last).collect();
    let (place, most) = counts
        .iter()
        .copied()
        .enumerate()
        .max_by_key(|(_, count)| *count)?;
    let is_one = launches > 0 && most as f64 >= LAST_IN * launches as f64;
    let waits = rows
        .iter()
        .enumerate()
        .filter(|(member, _)| !is_one || *member != place)
        .filter_map(|(_, row)| row.wait_ns);
    let wait_ns = median(waits);
    let span_share = wait_ns / span_ns.max(1.0);
    (launches > 0 && span_share >= LEAST_OF_SPAN).then_some(Last {
        member: is_one.then_some(place),
        launches,
        came_last: most,
        wait_ns,
        span_share,
    })
}

fn remarks(members: &[Member], has_clocks: bool) -> Vec<String> {
    let mut remarks = Vec::new();
    let sizes: BTreeSet<Option<u64>> = members.iter().map(|member| member.size).collect();
    let only = (sizes.len() == 1)
        .then(|| sizes.into_iter().next().flatten())
        .flatten();
    if let Some(size) = only.filter(|size| *size > members.len() as u64 && are_ranks(members)) {
        remarks.push(format!(
            "{} of {size} ranks are here: an odd one can be among the others",
            members.len()
        ));
    }
    if !are_ranks(members) && members.iter().any(|member| member.rank.is_some()) {
        remarks.push(
            "not every trace has a rank of its own: they are told apart by their files".to_owned(),
        );
    }
    if !has_clocks {
        remarks.push(
            "not every trace tells when its times begin: for whom ranks wait cannot be told, and where they wait, a late rank looks fast".to_owned(),
        );
    }
    remarks
}
