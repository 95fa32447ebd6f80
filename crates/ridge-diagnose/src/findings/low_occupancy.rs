//! Few warps fit on an SM at once, and the kernel waits for latency that more of them would hide.
//!
//! # What it says
//! Registers, shared memory or the number of blocks cap the warps that an SM can hold, and no unit is busy.
//!
//! # Evidence
//! Theoretical occupancy and the limit that sets it, latency stalls, no busy unit. Low occupancy alone is no flaw: a
//! kernel that keeps a unit busy with few warps needs no more. The latency model tells by how much what is in flight has
//! to grow, and how much of that full SMs would supply.
//!
//! # Why it costs time
//! By Little's law throughput is what is in flight over the latency; half the warps have half as much in flight.
//!
//! # What to do
//! Registers: fewer live values, smaller tiles, `__launch_bounds__`; shared memory: smaller tiles, smaller types, a
//! second pass; blocks: larger blocks.
//!
//! # When it is wrong
//! More warps also share caches and registers; when spills or misses grow, the kernel gets slower. More work for each
//! thread can do the same without any more warps.
//!
//! # References
//! CUDA C++ Best Practices Guide, "Occupancy"; V. Volkov, "Better performance at lower occupancy".

use ridge_model::arch::SCHEDULERS_PER_SM;

use super::draft::Draft;
use super::saving::Remedy;
use super::{Case, Outcome, in_flight};
use crate::document::Confidence;

pub(super) const REGISTERS: &str = "low-occupancy-registers";
pub(super) const SHARED: &str = "low-occupancy-shared";
pub(super) const BLOCK: &str = "low-occupancy-block";

const NEEDS: &[&str] = &["Occupancy", "LaunchStats", "WarpStateStats", "SpeedOfLight"];

/// With 60 % of the 2048 threads of an SM, 10 bytes in flight for each fill the memory of an H200 (12.8 KB an SM, its
/// bandwidth times an unloaded latency), with all of them 6: both are more than one float and less than one access of
/// 16 bytes. Below 40 %, not even that is enough.
pub(super) const ENOUGH: f64 = 0.6;
/// More warps help a unit that has queues, up to where they only wait: at 70 % a request waits for more than twice its
/// service time (`ρ / (1 − ρ)` = 2.3), and more warps lengthen that. At the 60 % of other findings it is 1.5.
const BUSY: f64 = 0.7;
/// Most of the waiting is for results, which more warps hide; barriers and full queues they do not.
const MOSTLY: f64 = 0.5;
const LATENCIES: &[&str] = &[
    "long_scoreboard",
    "short_scoreboard",
    "wait",
    "gmma",
    "membar",
];

pub(super) fn registers(case: &Case<'_, '_>) -> Outcome {
    check(case, REGISTERS, Cap::Registers)
}

pub(super) fn shared(case: &Case<'_, '_>) -> Outcome {
    check(case, SHARED, Cap::Shared)
}

pub(super) fn block(case: &Case<'_, '_>) -> Outcome {
    check(case, BLOCK, Cap::Blocks)
}

/// What caps the resident blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cap {
    Registers,
    Shared,
    Blocks,
}

/// Resident blocks by limit, and the warps of a block.
struct Limits {
    registers: f64,
    shared: f64,
    warps: f64,
    blocks: f64,
    /// Whether blocks use shared memory at all: what the driver reserves is no cause.
    uses_shared: bool,
    warps_per_block: f64,
    max_warps: f64,
}

impl Limits {
    fn of(case: &Case<'_, '_>) -> Option<Self> {
        let limit = |name: &str| {
            case.number(&format!("launch__occupancy_limit_{name}"))
                .filter(|limit| *limit > 0.0)
        };
        let block = case
            .number("launch__block_size")
            .filter(|size| *size > 0.0)?;
        let max_warps = case
            .number("device__attribute_max_warps_per_multiprocessor")
            .or_else(|| {
                case.number("smsp__warps_active.avg.peak_sustained")
                    .map(|warps| SCHEDULERS_PER_SM * warps)
            })
            .or_else(|| {
                let architecture = case.profile.architecture()?;
                Some(f64::from(architecture.limits.warps))
            })?;
        Some(Self {
            registers: limit("registers")?,
            shared: limit("shared_mem")?,
            warps: limit("warps")?,
            blocks: limit("blocks")?,
            uses_shared: case
                .sum(&[
                    "launch__shared_mem_per_block_static",
                    "launch__shared_mem_per_block_dynamic",
                ])
                .is_none_or(|bytes| bytes > 0.0),
            warps_per_block: (block / 32.0).ceil(),
            max_warps,
        })
    }

    /// Occupancy with a number of resident blocks.
    fn occupancy(&self, blocks: f64) -> f64 {
        (blocks * self.warps_per_block / self.max_warps).min(1.0)
    }

    fn cap(&self) -> Cap {
        let least = self
            .registers
            .min(self.shared)
            .min(self.warps)
            .min(self.blocks);
        // Where limits are equal, the one that is easiest to lift by changing code is named.
        if self.shared <= least && self.uses_shared {
            Cap::Shared
        } else if self.registers <= least {
            Cap::Registers
        } else {
            Cap::Blocks
        }
    }

    /// Occupancy with the cap lifted.
    fn without(&self, cap: Cap) -> f64 {
        match cap {
            Cap::Registers => self.occupancy(self.shared.min(self.warps).min(self.blocks)),
            Cap::Shared => self.occupancy(self.registers.min(self.warps).min(self.blocks)),
            // Larger blocks: registers and shared memory for each warp stay.
            Cap::Blocks if self.uses_shared => self.occupancy(self.registers.min(self.shared)),
            Cap::Blocks => self.occupancy(self.registers),
        }
    }
}

fn check(case: &Case<'_, '_>, id: &'static str, cap: Cap) -> Outcome {
    let (Some(limits), Some(occupancy)) = (Limits::of(case), case.theoretical_occupancy()) else {
        return Outcome::NotChecked(NEEDS);
    };
    let waiting = case.waiting_for(LATENCIES);
    let is_filled = case.waves().is_none_or(|waves| waves >= 1.0);
    if limits.cap() != cap
        || occupancy <= 0.0
        || occupancy > ENOUGH
        || !is_filled
        || case.busiest() >= BUSY
        || (waiting < MOSTLY && !case.stalls.is_empty())
    {
        return Outcome::Clear;
    }
    let possible = limits.without(cap);
    if possible <= occupancy {
        return Outcome::Clear;
    }
    // What is in flight grows at most with the warps.
    // Tiny blocks also come and go faster than they can be launched: then even the warps that fit are not there.
    let resident = case
        .number("sm__warps_active.avg.pct_of_peak_sustained_active")
        .map(|percent| percent / 100.0);
    let today = if cap == Cap::Blocks {
        resident.unwrap_or(occupancy).min(occupancy)
    } else {
        occupancy
    };
    let remedy = Remedy::hiding().not_below(today / possible);
    let (what, actions): (&str, &[&str]) = match cap {
        Cap::Registers => (
            "registers let",
            &[
                "keep fewer values live: smaller tiles, less unrolling, recompute instead of keeping",
                "cap registers with __launch_bounds__(threads, blocks) and watch for spills",
            ],
        ),
        Cap::Shared => (
            "shared memory lets",
            &[
                "use less shared memory for each block: smaller tiles, smaller types, fewer stages",
                "keep in registers what only one thread uses",
            ],
        ),
        Cap::Blocks => (
            "the number of blocks lets",
            &[
                "use larger blocks: 128 to 256 threads",
                "let a block take the work of several",
            ],
        ),
    };
    let title = format!(
        "{what} an SM hold {:.0} % of its warps; without that limit it could hold {:.0} %",
        100.0 * occupancy,
        100.0 * possible
    );
    // What the limit in force has to allow; larger blocks are no matter of any of them.
    let wanted = possible * limits.max_warps / limits.warps_per_block;
    let mut draft = Draft::new(id, title)
        .confidence(Confidence::Medium)
        .seen_against(
            "sm__maximum_warps_per_active_cycle_pct",
            100.0 * occupancy,
            "%",
            100.0 * possible,
        );
    for (limit, metric, blocks) in [
        (
            Cap::Registers,
            "launch__occupancy_limit_registers",
            limits.registers,
        ),
        (
            Cap::Shared,
            "launch__occupancy_limit_shared_mem",
            limits.shared,
        ),
        (Cap::Blocks, "launch__occupancy_limit_blocks", limits.blocks),
    ] {
        draft = if limit == cap && cap != Cap::Blocks {
            draft.seen_against(metric, blocks, "block", wanted)
        } else {
            draft.seen(metric, blocks, "block")
        };
    }
    let draft = draft
        .seen(
            "waiting for results, share of all waiting",
            waiting,
            "fraction",
        )
        .act(actions)
        .act(&[in_flight::open_more(case)
            .map_or_else(
                || {
                    "or give each thread more independent work, which needs no more warps"
                        .to_owned()
                },
                |advice| format!("or {advice}; that needs no more warps"),
            )
            .as_str()])
        .rises("sm__maximum_warps_per_active_cycle_pct")
        .rises("smsp__warps_eligible.avg.per_cycle_active");
    in_flight::describe(draft, case)
        .at(in_flight::waiting_places(case))
        .weigh(case, &remedy, NEEDS)
}
