//! SMs or warps finish at very different times.
//!
//! # What it says
//! Some blocks have far more to do than others, and the device waits for the last one.
//!
//! # Evidence
//! Active cycles of the busiest SM against the average one, without a short last wave that would explain it. Where all
//! blocks of the grid are resident from the start: how long the average warp lives against the longest.
//!
//! # Why it costs time
//! The duration is that of the busiest SM; the others wait for it.
//!
//! # What to do
//! Pair long work with short work, sort work by length and start with the longest, let blocks fetch work dynamically,
//! split long items.
//!
//! # When it is wrong
//! A grid with an unfavourable last wave shows the same counters: see `tail-effect`.
//!
//! # References
//! CUDA C++ Best Practices Guide; R. Farber, "Parallel Programming with OpenACC", load balancing.

use ridge_model::arch::WARP_SIZE;

use super::draft::Draft;
use super::tail_effect::balanced;
use super::{Case, Outcome, tail_effect};
use crate::document::Confidence;
use crate::limiter::BUSY;

pub(super) const ID: &str = "load-imbalance";

const NEEDS: &[&str] = &["WorkloadDistribution", "LaunchStats", "SpeedOfLight"];

/// Of grids that are resident at once, also how long their warps live.
const LIVES_NEED: &[&str] = &[
    "WorkloadDistribution",
    "LaunchStats",
    "SpeedOfLight",
    "SchedulerStats",
];

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let (Some(balance), Some(active)) = (case.balance(), case.active()) else {
        return Outcome::NotChecked(NEEDS);
    };
    let blocks = case.number("launch__grid_size");
    // With fewer blocks than SMs the idle ones are no imbalance; a short last wave is the other finding.
    let is_filled = blocks
        .zip(case.multiprocessors())
        .is_none_or(|(blocks, units)| blocks >= units);
    let has_tail = matches!(tail_effect::check(case), Outcome::Found(_));
    if !is_filled || has_tail {
        return Outcome::Clear;
    }
    let starts_together = case.waves().is_some_and(|waves| waves <= 1.0) && !has_roles(case);
    let lives = Lifetimes::of(case).filter(|_| starts_together);
    let is_unknown = starts_together && lives.is_none();
    // Where warps compete for a busy unit, those that are served first end first, and nothing is lost by that.
    let unequal = lives.filter(|lives| {
        case.busiest() < BUSY && lives.balance() <= super::BALANCED && !is_same_work(case)
    });
    let (draft, active) = match unequal {
        Some(lives) if lives.balance() < balance => (
            lives.describe(case),
            active.min(lives.balance() * (1.0 - case.idle())),
        ),
        _ if balance <= super::BALANCED => {
            let draft = between_multiprocessors(case, balance);
            let draft = if is_unknown {
                draft.confidence(Confidence::Low)
            } else {
                draft
            };
            (draft, active)
        }
        _ if is_unknown => return Outcome::NotChecked(LIVES_NEED),
        _ => return Outcome::Clear,
    };
    draft
        .act(&[
            "start with the longest items, or pair long ones with short ones",
            "let blocks fetch the next item from a counter instead of a fixed share",
            "split long items over several blocks",
        ])
        .weigh(case, &balanced(active), NEEDS)
}

/// Whether all warps execute the same instructions equally often: then those that end later were served later, by
/// memory or by a pipe in a part of the kernel, and there is no item to split.
fn is_same_work(case: &Case<'_, '_>) -> bool {
    let executed = case.by_instruction("inst_executed");
    // The first instruction is executed once by each warp.
    let first = executed.iter().min_by_key(|(address, _)| *address);
    first.is_some_and(|&(_, warps)| {
        warps > 0.0 && executed.iter().all(|(_, count)| count % warps < 0.5)
    })
}

/// Whether the warps of a block have different roles: some bring data, others compute, and they end at different times by
/// design. Such code arrives at barriers without waiting there, and moves registers between its warps.
fn has_roles(case: &Case<'_, '_>) -> bool {
    case.mix.is_some_and(|mix| {
        mix.of_opcodes(&["USETMAXREG", "SYNCS"]) + mix.with_modifier(&["BAR"], "ARV") > 0.0
    })
}

fn between_multiprocessors(case: &Case<'_, '_>, balance: f64) -> Draft {
    let title = format!(
        "the average SM is active for {:.0} % of the busiest one's time",
        100.0 * balance
    );
    Draft::new(ID, title)
        .seen_against(
            "sm__cycles_active.avg / sm__cycles_active.max",
            balance,
            "fraction",
            1.0,
        )
        .seen_against(
            "sm__cycles_active.max",
            case.number("sm__cycles_active.max").unwrap_or(0.0),
            "cycle",
            case.number("sm__cycles_active.avg").unwrap_or(0.0),
        )
        .reaches(
            "sm__cycles_active.max",
            case.number("sm__cycles_active.avg").unwrap_or(0.0),
        )
}

/// How long warps live that all start together.
///
/// Warps resident in an average cycle, times the cycles, are the lifetimes of all warps added up. In a grid that the
/// device holds at once no warp waits for another to end, so that the longest life is that of the busiest SM.
struct Lifetimes {
    mean: f64,
    longest: f64,
}

impl Lifetimes {
    fn of(case: &Case<'_, '_>) -> Option<Self> {
        let block = case.number("launch__block_size")?;
        let warps = case.number("launch__grid_size")? * (block / WARP_SIZE).ceil();
        if warps <= 0.0 {
            return None;
        }
        let resident = case.number("smsp__warps_active.avg.per_cycle_active")?;
        let cycles = case.number("smsp__cycles_active.sum")?;
        let longest = case
            .number("sm__cycles_active.max")
            .filter(|cycles| *cycles > 0.0)?;
        Some(Self {
            mean: resident * cycles / warps,
            longest,
        })
    }

    fn balance(&self) -> f64 {
        (self.mean / self.longest).min(1.0)
    }

    fn describe(&self, case: &Case<'_, '_>) -> Draft {
        let title = format!(
            "all warps start together, and the average one is done after {:.0} % of the longest one's time",
            100.0 * self.balance()
        );
        Draft::new(ID, title)
            .confidence(Confidence::Medium)
            .seen_against(
                "smsp__warps_active.avg.per_cycle_active x smsp__cycles_active.sum / warps of the grid",
                self.mean,
                "cycle",
                self.longest,
            )
            .seen_against("sm__cycles_active.max", self.longest, "cycle", self.mean)
            .seen(
                "launch__waves_per_multiprocessor",
                case.waves().unwrap_or(0.0),
                "wave",
            )
            .reaches("sm__cycles_active.max", self.mean)
            .rises("smsp__warps_active.avg.per_cycle_active")
    }
}
