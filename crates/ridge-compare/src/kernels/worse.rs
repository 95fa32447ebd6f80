//! What got worse and matters, and the figures that only explain.

use ridge_diagnose::document::{Class, Kernel};
use ridge_model::ComputeCapability;
use ridge_model::occupancy::SmLimits;
use ridge_model::quantity::{Bytes, Nanos};

use super::document::{Figure, FlawChange, LedgerRow, Outcome, Remark};
use super::ledger::diagnosed_ns;
use super::limiter::with_verb;
use super::time::counter;

/// A unit that works longer by less is within what counters differ by, or does not matter.
const LONGER: f64 = 1.1;
/// A unit that is busy for less of the time afterwards is not what a kernel waits for.
const NOTABLE: f64 = 0.3;
/// Occupancy that falls by less, in points of a hundred.
const POINTS: f64 = 5.0;

/// A launch that takes less than this part of the time is faster, and what is not its limit costs it nothing.
const FASTER: f64 = 0.95;

/// What got worse and limits now, or costs time. Waiting of warps is not among it: duration and ledger decide.
pub(super) fn worse(
    before: &Kernel,
    after: &Kernel,
    ledger: &[LedgerRow],
    flaws: &[FlawChange],
) -> Vec<Remark> {
    let mut list = Vec::new();
    let mut add = |code: &str, text: String| {
        list.push(Remark {
            code: code.to_owned(),
            text,
        });
    };
    let is_faster = diagnosed_ns(before)
        .zip(diagnosed_ns(after))
        .is_some_and(|(one, other)| other < FASTER * one);
    let limiter = after.limiter.as_ref();
    let has_finding = |start: &str| {
        let mut findings = after.findings.iter();
        findings.any(|finding| finding.id.starts_with(start))
    };
    for row in ledger {
        if is_faster && limiter.is_none_or(|limiter| limiter.resource != row.resource) {
            continue;
        }
        let (Some(one), Some(other)) = (&row.before, &row.after) else {
            continue;
        };
        if let Some((was, is)) = one.bound_ns.zip(other.bound_ns)
            && is > LONGER * was
            && other.share >= NOTABLE
        {
            add(
                "resource-longer",
                format!(
                    "{} for {} instead of {}",
                    with_verb(row.resource, "works", "work"),
                    Nanos::new(is),
                    Nanos::new(was)
                ),
            );
        }
    }
    for flaw in flaws.iter().filter(|flaw| flaw.outcome == Outcome::New) {
        let share = flaw.expected_after.unwrap_or(0.0);
        add(
            "new-flaw",
            format!(
                "{} is new: it costs about {:.0} % of the time now",
                flaw.id,
                100.0 * share
            ),
        );
    }
    let pair = |metric| counter(before, metric).zip(counter(after, metric));
    if let Some((one, other)) = pair("sass__inst_executed_register_spilling")
        && other > one
        && other > 0.0
        && (!is_faster || has_finding("register-spill"))
    {
        add(
            "spills",
            format!("{other:.0} instructions spill registers, {one:.0} before"),
        );
    }
    if let Some((one, other)) = pair("sm__maximum_warps_per_active_cycle_pct")
        && other < one - POINTS
        && (!is_faster
            || limiter.is_some_and(|limiter| limiter.class == Class::Latency)
            || has_finding("low-occupancy"))
    {
        let cause = occupancy_limit(before, after, other).unwrap_or_default();
        add(
            "occupancy-lower",
            format!("theoretical occupancy {one:.0} % → {other:.0} %{cause}"),
        );
    }
    if let Some((one, other)) = diagnosed_ns(before).zip(diagnosed_ns(after)) {
        let idle = |kernel: &Kernel, duration: f64| kernel.idle_share.map(|share| share * duration);
        if let Some((was, is)) = idle(before, one).zip(idle(after, other))
            && is > LONGER * was
            && is > NOTABLE * other
        {
            add(
                "idle-longer",
                format!(
                    "no SM has a warp for {} of the launch, {} before",
                    Nanos::new(is),
                    Nanos::new(was)
                ),
            );
        }
    }
    list
}

/// Whether two numbers are the same count.
fn is_count(one: f64, other: f64) -> bool {
    (one - other).abs() < 0.5
}

/// Which limit allows as few blocks on an SM as are there.
fn occupancy_limit(before: &Kernel, after: &Kernel, occupancy: f64) -> Option<String> {
    let (major, minor) = after.compute_capability.as_deref()?.split_once('.')?;
    let limits = SmLimits::of(ComputeCapability {
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
    })?;
    let threads: u32 = after.block?.iter().product();
    let warps = threads.div_ceil(32);
    if warps == 0 {
        return None;
    }
    // Below 2^6 warps.
    let blocks = (occupancy / 100.0 * f64::from(limits.warps.value) / f64::from(warps)).round();
    let change = |metric| {
        let one = counter(before, metric);
        counter(after, metric).map(|is| match one {
            Some(was) if !is_count(was, is) => format!("{was:.0} → {is:.0}"),
            _ => format!("{is:.0}"),
        })
    };
    if counter(after, "launch__occupancy_limit_registers")
        .is_some_and(|limit| is_count(limit, blocks))
    {
        let registers = change("launch__registers_per_thread")?;
        return Some(format!(": registers limit it, {registers} per thread"));
    }
    let of_block = [limits.warps.value / warps, limits.blocks.value];
    if of_block
        .into_iter()
        .any(|limit| is_count(f64::from(limit), blocks))
    {
        return Some(format!(
            ": the size of the block limits it, {threads} threads"
        ));
    }
    let bytes = counter(after, "launch__shared_mem_per_block").filter(|bytes| *bytes > 0.0)?;
    let was = counter(before, "launch__shared_mem_per_block");
    let before = was.map_or_else(String::new, |was| format!(", {} before", Bytes::new(was)));
    Some(format!(
        ": shared memory limits it, {} per block{before}",
        Bytes::new(bytes)
    ))
}

/// Figures that explain: how often instructions issue, and how long warps wait for each reason.
pub(super) fn mechanism(before: &Kernel, after: &Kernel) -> Vec<Figure> {
    /// Reasons that are named: the longest of either side.
    const REASONS: usize = 3;
    let mut list = counted(
        before,
        after,
        &[
            ("smsp__issue_active.avg.per_cycle_active", "issue rate"),
            (
                "smsp__warps_eligible.avg.per_cycle_active",
                "eligible warps",
            ),
            (
                "sm__warps_active.avg.pct_of_peak_sustained_active",
                "achieved occupancy",
            ),
        ],
    );
    let mut reasons: Vec<(&str, f64)> = Vec::new();
    for stall in before.stalls.iter().chain(&after.stalls) {
        match reasons
            .iter_mut()
            .find(|(reason, _)| *reason == stall.reason)
        {
            Some((_, most)) => *most = most.max(stall.cycles),
            None => reasons.push((&stall.reason, stall.cycles)),
        }
    }
    reasons.sort_by(|a, b| b.1.total_cmp(&a.1));
    let cycles = |kernel: &Kernel, reason: &str| {
        let found = kernel.stalls.iter().find(|stall| stall.reason == reason);
        // Where any reason was counted, all were: one that is not listed took no cycle.
        found
            .map(|stall| stall.cycles)
            .or((!kernel.stalls.is_empty()).then_some(0.0))
    };
    list.extend(reasons.into_iter().take(REASONS).map(|(reason, _)| Figure {
        metric: format!("smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"),
        label: format!("waiting for {reason}, per instruction"),
        before: cycles(before, reason),
        after: cycles(after, reason),
        unit: "cycle".to_owned(),
    }));
    list
}

/// What a launch is and does.
pub(super) fn work(before: &Kernel, after: &Kernel) -> Vec<Figure> {
    counted(
        before,
        after,
        &[
            ("smsp__inst_executed.sum", "warp instructions"),
            ("dram__bytes_read.sum", "DRAM reads"),
            ("dram__bytes_write.sum", "DRAM writes"),
            ("l1tex__m_xbar2l1tex_read_bytes.sum", "L2 to SMs"),
            ("l1tex__m_l1tex2xbar_write_bytes.sum", "SMs to L2"),
            ("launch__registers_per_thread", "registers per thread"),
            ("launch__shared_mem_per_block", "shared memory per block"),
            (
                "sm__maximum_warps_per_active_cycle_pct",
                "theoretical occupancy",
            ),
            ("launch__waves_per_multiprocessor", "waves"),
        ],
    )
}

/// Counters that at least one side has.
fn counted(before: &Kernel, after: &Kernel, list: &[(&str, &str)]) -> Vec<Figure> {
    let unit = |metric: &str| {
        let mut counters = before.counters.iter().chain(&after.counters);
        let found = counters.find(|counter| counter.metric == metric);
        found.map_or_else(String::new, |counter| counter.unit.clone())
    };
    list.iter()
        .map(|(metric, label)| Figure {
            metric: (*metric).to_owned(),
            label: (*label).to_owned(),
            before: counter(before, metric),
            after: counter(after, metric),
            unit: unit(metric),
        })
        .filter(|figure| figure.before.is_some() || figure.after.is_some())
        .collect()
}

#[cfg(test)]
mod tests {
    use ridge_diagnose::document::Document;

    use super::*;

    fn kernel(block: u32, counters: &[(&str, f64)]) -> Kernel {
        let text = include_str!("../../tests/support/diagnosis.json");
        let mut kernel = Document::read(text.as_bytes()).unwrap().kernels.remove(0);
        kernel.compute_capability = Some("9.0".to_owned());
        kernel.block = Some([block, 1, 1]);
        let mut counter = kernel.counters[0].clone();
        kernel.counters = counters
            .iter()
            .map(|(metric, value)| {
                counter.metric = (*metric).to_owned();
                counter.value = *value;
                counter.clone()
            })
            .collect();
        kernel
    }

    /// Which limit it is, by hand from the limits of compute capability 9.0: 64 warps and 32 blocks on an SM.
    #[test]
    fn what_limits_occupancy_is_named() {
        const REGISTERS: &str = "launch__registers_per_thread";
        const LIMIT: &str = "launch__occupancy_limit_registers";
        const SHARED: &str = "launch__shared_mem_per_block";
        let of = |before: &Kernel, after: &Kernel, occupancy: f64| {
            occupancy_limit(before, after, occupancy).unwrap_or_default()
        };
        // Three blocks of 8 warps: 37.5 %.
        let (was, is) = (
            kernel(256, &[(LIMIT, 4.0), (REGISTERS, 64.0)]),
            kernel(256, &[(LIMIT, 3.0), (REGISTERS, 69.0)]),
        );
        assert_eq!(
            of(&was, &is, 37.5),
            ": registers limit it, 64 → 69 per thread"
        );
        // Two blocks of 24 warps fit: 75 %. And 32 blocks of one warp: 50 %.
        for (threads, occupancy) in [(768, 75.0), (32, 50.0)] {
            let is = kernel(threads, &[(LIMIT, 40.0), (REGISTERS, 20.0)]);
            assert_eq!(
                of(&was, &is, occupancy),
                format!(": the size of the block limits it, {threads} threads")
            );
        }
        // One block of 8 warps, though registers allow four: 12.5 %.
        let (was, is) = (
            kernel(256, &[(SHARED, 2048.0)]),
            kernel(256, &[(LIMIT, 4.0), (SHARED, 103_000.0)]),
        );
        assert_eq!(
            of(&was, &is, 12.5),
            ": shared memory limits it, 103 kB per block, 2.05 kB before"
        );
        // Without shared memory nobody knows.
        assert_eq!(of(&was, &kernel(256, &[(LIMIT, 4.0)]), 12.5), "");
    }
}
