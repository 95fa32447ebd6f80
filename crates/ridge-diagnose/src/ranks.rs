//! One program on several ranks, each with a collection of its own: kernels that stand out on one of them.
//!
//! Kernels are timed one after the other under the profiler, so that no rank waits for another within a kernel that can be
//! profiled by itself; what is compared is how each of them runs alone.

use std::collections::BTreeSet;

use ridge_model::quantity::Nanos;
use ridge_stats::{LEAST_VALUES, Oddity, Samples};

use crate::document::{Kernel, RankMember, RankedKernel, Ranks, Source};

/// A duration is odd only if it differs from the median by more than this share of it: equal GPUs differ by some per cent.
const LEAST_SHARE: f64 = 0.05;
/// Durations come in steps of 32 ns; three of them show nothing.
const LEAST_DURATION_NS: f64 = 100.0;

/// Compares the collections of ranks. None where there are fewer than two of one program.
#[must_use]
pub fn ranks(sources: &[Source], kernels: &[Kernel]) -> Option<Ranks> {
    let mut collected: Vec<&Source> = sources
        .iter()
        .filter(|source| source.collected.is_some())
        .collect();
    let program = |source: &Source| -> Option<String> {
        let collected = source.collected.as_ref()?;
        Some(collected.target.first()?.clone())
    };
    let first = program(collected.first()?)?;
    if collected.len() < 2
        || collected
            .iter()
            .any(|source| program(source).as_ref() != Some(&first))
    {
        return None;
    }
    let rank = |source: &Source| Some(source.collected.as_ref()?.rank.as_ref()?.number);
    if collected.iter().all(|source| rank(source).is_some()) {
        collected.sort_by_key(|source| rank(source));
    }
    let told: BTreeSet<u64> = collected.iter().filter_map(|source| rank(source)).collect();
    let are_ranks = told.len() == collected.len();
    let members: Vec<RankMember> = collected
        .iter()
        .map(|source| RankMember {
            source: source.id,
            rank: rank(source),
            label: match rank(source).filter(|_| are_ranks) {
                Some(rank) => format!("rank {rank}"),
                None => source.file.clone(),
            },
        })
        .collect();
    let kernels = ranked(&members, kernels);
    Some(Ranks {
        title: title(&members, &kernels),
        members,
        kernels,
    })
}

fn ranked(members: &[RankMember], kernels: &[Kernel]) -> Vec<RankedKernel> {
    let member = |kernel: &Kernel| {
        members
            .iter()
            .position(|member| member.source == kernel.source)
    };
    let mut rows: Vec<(f64, RankedKernel)> = Vec::new();
    for (place, kernel) in kernels.iter().enumerate() {
        let Some(member) = member(kernel) else {
            continue;
        };
        let is_it = |row: &RankedKernel| {
            row.signature == kernel.signature
                && row.grid == kernel.grid
                && row.block == kernel.block
                // The same kernel with another size of shared memory is another group of the same input.
                && row.places[member].is_none()
        };
        let at = match rows.iter().position(|(_, row)| is_it(row)) {
            Some(at) => at,
            None => {
                rows.push((
                    0.0,
                    RankedKernel {
                        name: kernel.name.clone(),
                        signature: kernel.signature.clone(),
                        grid: kernel.grid,
                        block: kernel.block,
                        places: vec![None; members.len()],
                        durations_ns: Vec::new(),
                        median_ns: None,
                        odd: Vec::new(),
                        limiters_differ: false,
                        first_findings_differ: false,
                    },
                ));
                rows.len() - 1
            }
        };
        let (total, row) = &mut rows[at];
        row.places[member] = Some(place);
        *total += kernel.timed.map_or_else(
            || kernel.duration_ns.unwrap_or(0.0) * kernel.launches.len() as f64,
            |timed| timed.total_ns,
        );
    }
    rows.retain(|(_, row)| row.places.iter().flatten().count() > 1);
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut rows: Vec<RankedKernel> = rows.into_iter().map(|(_, row)| row).collect();
    for row in &mut rows {
        judge(row, kernels);
    }
    rows
}

fn judge(row: &mut RankedKernel, kernels: &[Kernel]) {
    let here: Vec<&Kernel> = row
        .places
        .iter()
        .flatten()
        .map(|place| &kernels[*place])
        .collect();
    let all_timed = here.iter().all(|kernel| kernel.timed.is_some());
    let duration = |kernel: &Kernel| match kernel.timed.filter(|_| all_timed) {
        Some(timed) => Some(timed.median_ns),
        None => kernel.duration_ns,
    };
    let durations: Vec<Option<f64>> = row
        .places
        .iter()
        .map(|place| place.and_then(|place| duration(&kernels[place])))
        .collect();
    let known: Vec<(usize, f64)> = durations
        .iter()
        .enumerate()
        .filter_map(|(member, ns)| Some((member, (*ns)?)))
        .collect();
    let values: Vec<f64> = known.iter().map(|(_, ns)| *ns).collect();
    row.median_ns = Samples::new(values.clone())
        .ok()
        .map(|samples| samples.median());
    let least = (LEAST_SHARE * row.median_ns.unwrap_or(0.0)).max(LEAST_DURATION_NS);
    if let Ok(Some(found)) = Oddity::among(&values, least) {
        row.odd = found.odd.iter().map(|place| known[*place].0).collect();
    }
    row.durations_ns = durations;
    // What was not collected on a rank differs from nothing.
    let limiters = here.iter().filter_map(|kernel| kernel.limiter.as_ref());
    let resources: Vec<_> = limiters.map(|limiter| limiter.resource).collect();
    row.limiters_differ = resources.windows(2).any(|pair| pair[0] != pair[1]);
    let first = |kernel: &&Kernel| kernel.findings.first().map(|finding| finding.id.clone());
    let firsts: BTreeSet<Option<String>> = here.iter().map(first).collect();
    row.first_findings_differ = firsts.len() > 1;
}

fn title(members: &[RankMember], kernels: &[RankedKernel]) -> String {
    let label = |member: usize| {
        members
            .get(member)
            .map_or("", |member| member.label.as_str())
    };
    let mut parts = Vec::new();
    let odd = kernels.iter().find_map(|kernel| {
        let member = *kernel.odd.first()?;
        Some((
            kernel,
            member,
            kernel.durations_ns[member]?,
            kernel.median_ns?,
        ))
    });
    match odd {
        Some((kernel, member, ns, median)) => {
            let change = if median > 0.0 { ns / median - 1.0 } else { 0.0 };
            let way = if change > 0.0 { "more" } else { "less" };
            let count = kernels
                .iter()
                .filter(|kernel| !kernel.odd.is_empty())
                .count();
            let more = match count - 1 {
                0 => String::new(),
                1 => "; in 1 more kernel a rank stands out".to_owned(),
                more => format!("; in {more} more kernels a rank stands out"),
            };
            parts.push(format!(
                "{} stands out: {} takes {} there, {:.0} % {way} than the median of {}{more}",
                label(member),
                kernel.name,
                Nanos::new(ns),
                100.0 * change.abs(),
                Nanos::new(median)
            ));
        }
        None if kernels.is_empty() => {
            parts.push("no kernel was profiled on more than one of them".to_owned());
        }
        None if members.len() < LEAST_VALUES => {
            parts.push("two are compared, and which of two is odd cannot be told".to_owned());
        }
        None => parts.push(format!("none of {} stands out", members.len())),
    }
    let differ: Vec<&str> = kernels
        .iter()
        .filter(|kernel| kernel.limiters_differ)
        .map(|kernel| kernel.name.as_str())
        .collect();
    if let Some(first) = differ.first() {
        let more = match differ.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        parts.push(format!(
            "what limits {first}{more} is not the same on all of them"
        ));
    }
    parts.join("; ")
}
