//! Third layer: what warps wait for.

use ncu_rep::Metrics;

const PREFIX: &str = "smsp__average_warps_issue_stalled_";
const SUFFIX: &str = "_per_issue_active.ratio";
const LATENCY: &str = "smsp__average_warp_latency_per_inst_issued.ratio";

/// A reason for which warps wait.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stall {
    /// The profiler's name of the reason, such as `long_scoreboard`.
    pub(crate) reason: String,
    /// Cycles that a warp spends in it for each instruction.
    pub(crate) cycles: f64,
    /// Share of the time between two instructions of a warp.
    pub(crate) share: f64,
}

/// Reasons, longest first. `selected` (issuing) is left out: it is no wait.
#[must_use]
pub(crate) fn stalls(metrics: &Metrics<'_>) -> Vec<Stall> {
    let mut list: Vec<Stall> = Vec::new();
    for metric in metrics.beginning_with(PREFIX) {
        let reason = metric.name.strip_prefix(PREFIX);
        let Some(reason) = reason.and_then(|rest| rest.strip_suffix(SUFFIX)) else {
            continue;
        };
        // Where a value is stored twice, the first counts.
        let is_known = list.iter().any(|stall| stall.reason == reason);
        if let (false, Some(cycles)) = (is_known, metric.number()) {
            list.push(Stall {
                reason: reason.to_owned(),
                cycles,
                share: 0.0,
            });
        }
    }
    // The sum equals the stored latency, but for very short kernels, where counters of different passes disagree.
    let sum: f64 = list.iter().map(|stall| stall.cycles).sum();
    let latency = metrics.number(LATENCY).unwrap_or(sum).max(sum);
    if latency <= 0.0 {
        return Vec::new();
    }
    for stall in &mut list {
        stall.share = stall.cycles / latency;
    }
    list.retain(|stall| stall.reason != "selected" && stall.cycles > 0.0);
    list.sort_by(|a, b| b.share.total_cmp(&a.share));
    list
}

/// Of the time in which a warp waits and is not ready to issue, the part that goes into these reasons.
pub(crate) fn waiting_for(stalls: &[Stall], reasons: &[&str]) -> f64 {
    let share = |picks: &dyn Fn(&str) -> bool| -> f64 {
        let picked = stalls.iter().filter(|stall| picks(&stall.reason));
        picked.map(|stall| stall.share).sum()
    };
    let waiting = share(&|reason| reason != "not_selected").min(1.0);
    if waiting > 0.0 {
        (share(&|reason| reasons.contains(&reason)) / waiting).min(1.0)
    } else {
        0.0
    }
}

/// Reasons for which warps stall, by the profiler's names, with what warps wait for.
const REASONS: &[(&str, &str)] = &[
    ("barrier", "other warps of the block at a barrier"),
    ("branch_resolving", "a branch target"),
    ("dispatch_stall", "the dispatcher"),
    ("drain", "stores to finish after exit"),
    ("gmma", "a warp-group matrix operation"),
    ("imc_miss", "an immediate constant"),
    ("lg_throttle", "a free entry in the global/local queue"),
    (
        "long_scoreboard",
        "data from L1TEX: global, local or texture memory",
    ),
    ("math_pipe_throttle", "a busy math pipe"),
    ("membar", "a memory fence"),
    (
        "mio_throttle",
        "a free entry in the MIO queue: shared memory, special functions",
    ),
    ("misc", "something that the hardware does not itemise"),
    ("no_instruction", "the next instruction"),
    ("not_selected", "nothing: ready, another warp was issued"),
    ("selected", "nothing: it issued an instruction"),
    (
        "short_scoreboard",
        "a result of shared memory or a special function",
    ),
    ("sleeping", "the end of a sleep"),
    ("tex_throttle", "a free entry in the texture queue"),
    ("wait", "the fixed latency of the instruction before"),
    ("warpgroup_arrive", "a warp-group matrix operation"),
];

/// The profiler's names of all reasons that are known.
pub fn reasons() -> impl Iterator<Item = &'static str> {
    REASONS.iter().map(|(reason, _)| *reason)
}

/// What warps wait for that are stalled for this reason of the profiler, in a few words.
#[must_use]
pub fn meaning(reason: &str) -> &'static str {
    REASONS
        .iter()
        .find(|(known, _)| *known == reason)
        .map_or("something else", |(_, meaning)| meaning)
}
