//! Findings: one flaw in one file, as a counterfactual on the ledger.
//!
//! A check either says what it found, says that all is well, or says what it needs and does not have. It never keys on
//! names of kernels, files or source text, nor on exact values of any report.

mod at_dram_limit;
mod at_limit;
mod atomic_contention;
mod bank_conflicts;
mod barrier_advice;
mod barrier_stall;
mod constant_cache;
mod draft;
mod fp64_promotion;
mod half_scalar;
mod in_flight;
mod instruction_cache;
mod integer_alu;
mod latency_bound;
mod launch_bound;
mod less_work;
mod load_imbalance;
mod local_memory;
mod low_occupancy;
mod memory_barrier;
mod narrow_access;
mod no_reuse;
mod no_tensor_cores;
mod passes;
mod per_instruction;
mod precedence;
mod redundant_traffic;
mod register_spill;
mod saving;
mod special_function;
mod tail_effect;
mod uncoalesced_global;
mod underfilled_grid;
mod unfused_fp;
mod warp_divergence;

pub(crate) use per_instruction::{places, total};

use crate::case::Case;
use crate::document::{Finding, LeftOut, NotChecked};

/// What a check says.
pub(crate) enum Outcome {
    /// A flaw or a verdict.
    Found(Box<Finding>),
    /// Nothing wrong.
    Clear,
    /// The input lacks counters; these sections of the profiler hold them, all together.
    NotChecked(&'static [&'static str]),
}

/// Every set of the profiler holds what this check needs.
const NO_SECTIONS: &[&str] = &[];
/// SMs are balanced when the average one is active for this part of the busiest one's time: evening out the rest saves
/// no more than is worthwhile.
const BALANCED: f64 = 1.0 - WORTHWHILE;

/// A check: its name, the file whose head describes it, and how it looks at a case.
struct Check {
    id: &'static str,
    source: &'static str,
    run: fn(&Case<'_, '_>) -> Outcome,
}

const CHECKS: &[Check] = &[
    Check {
        id: uncoalesced_global::ID,
        source: include_str!("uncoalesced_global.rs"),
        run: uncoalesced_global::check,
    },
    Check {
        id: narrow_access::ID,
        source: include_str!("narrow_access.rs"),
        run: narrow_access::check,
    },
    Check {
        id: redundant_traffic::ID,
        source: include_str!("redundant_traffic.rs"),
        run: redundant_traffic::check,
    },
    Check {
        id: no_reuse::ID,
        source: include_str!("no_reuse.rs"),
        run: no_reuse::check,
    },
    Check {
        id: bank_conflicts::ID,
        source: include_str!("bank_conflicts.rs"),
        run: bank_conflicts::check,
    },
    Check {
        id: atomic_contention::ID,
        source: include_str!("atomic_contention.rs"),
        run: atomic_contention::check,
    },
    Check {
        id: register_spill::ID,
        source: include_str!("register_spill.rs"),
        run: register_spill::check,
    },
    Check {
        id: local_memory::ID,
        source: include_str!("local_memory.rs"),
        run: local_memory::check,
    },
    Check {
        id: low_occupancy::REGISTERS,
        source: include_str!("low_occupancy.rs"),
        run: low_occupancy::registers,
    },
    Check {
        id: low_occupancy::SHARED,
        source: include_str!("low_occupancy.rs"),
        run: low_occupancy::shared,
    },
    Check {
        id: low_occupancy::BLOCK,
        source: include_str!("low_occupancy.rs"),
        run: low_occupancy::block,
    },
    Check {
        id: latency_bound::ID,
        source: include_str!("latency_bound.rs"),
        run: latency_bound::check,
    },
    Check {
        id: underfilled_grid::ID,
        source: include_str!("underfilled_grid.rs"),
        run: underfilled_grid::check,
    },
    Check {
        id: tail_effect::ID,
        source: include_str!("tail_effect.rs"),
        run: tail_effect::check,
    },
    Check {
        id: load_imbalance::ID,
        source: include_str!("load_imbalance.rs"),
        run: load_imbalance::check,
    },
    Check {
        id: warp_divergence::ID,
        source: include_str!("warp_divergence.rs"),
        run: warp_divergence::check,
    },
    Check {
        id: barrier_stall::ID,
        source: include_str!("barrier_stall.rs"),
        run: barrier_stall::check,
    },
    Check {
        id: memory_barrier::ID,
        source: include_str!("memory_barrier.rs"),
        run: memory_barrier::check,
    },
    Check {
        id: special_function::ID,
        source: include_str!("special_function.rs"),
        run: special_function::check,
    },
    Check {
        id: fp64_promotion::ID,
        source: include_str!("fp64_promotion.rs"),
        run: fp64_promotion::check,
    },
    Check {
        id: integer_alu::ID,
        source: include_str!("integer_alu.rs"),
        run: integer_alu::check,
    },
    Check {
        id: unfused_fp::ID,
        source: include_str!("unfused_fp.rs"),
        run: unfused_fp::check,
    },
    Check {
        id: half_scalar::ID,
        source: include_str!("half_scalar.rs"),
        run: half_scalar::check,
    },
    Check {
        id: no_tensor_cores::ID,
        source: include_str!("no_tensor_cores.rs"),
        run: no_tensor_cores::check,
    },
    Check {
        id: constant_cache::ID,
        source: include_str!("constant_cache.rs"),
        run: constant_cache::check,
    },
    Check {
        id: instruction_cache::ID,
        source: include_str!("instruction_cache.rs"),
        run: instruction_cache::check,
    },
    Check {
        id: launch_bound::ID,
        source: include_str!("launch_bound.rs"),
        run: launch_bound::check,
    },
    Check {
        id: at_dram_limit::ID,
        source: include_str!("at_dram_limit.rs"),
        run: at_dram_limit::check,
    },
    Check {
        id: at_limit::L2,
        source: include_str!("at_limit.rs"),
        run: at_limit::l2,
    },
    Check {
        id: at_limit::COMPUTE,
        source: include_str!("at_limit.rs"),
        run: at_limit::compute,
    },
    Check {
        id: at_limit::TENSOR,
        source: include_str!("at_limit.rs"),
        run: at_limit::tensor,
    },
];

/// From this expected saving on there is something better to do than to accept the limit. Estimates are off by 5 to 6
/// points in the median (`docs/diagnosis-accuracy.md`): a tenth is clearly more than that.
pub(crate) const WORTHWHILE: f64 = 0.10;

/// Runs every check and orders what they found: largest expected saving first, causes before their symptoms.
///
/// A verdict (`at-…`) says that no flaw is left; it stands first if nothing expects to save a tenth, and is left out
/// otherwise.
pub(crate) fn run(case: &Case<'_, '_>, min_saving: f64) -> Found {
    let (mut flaws, mut verdicts, mut not_checked) = (Vec::new(), Vec::new(), Vec::new());
    let mut left_out = Vec::new();
    for check in CHECKS {
        match (check.run)(case) {
            Outcome::Found(finding) if is_verdict(&finding.id) => verdicts.push(*finding),
            Outcome::Found(finding) if finding.saving_expected >= min_saving => {
                flaws.push(*finding)
            }
            Outcome::Found(finding) if finding.saving_expected > 0.0 => left_out.push(LeftOut {
                id: finding.id,
                saving_expected: finding.saving_expected,
            }),
            Outcome::Found(_) | Outcome::Clear => {}
            Outcome::NotChecked(needs) => not_checked.push(NotChecked {
                id: check.id.to_owned(),
                needs: needs.iter().map(|&section| section.to_owned()).collect(),
            }),
        }
    }
    precedence::doubt(&mut flaws, &not_checked);
    // A verdict says that no flaw is left; where flaws could not be looked for, that is less sure.
    if not_checked.iter().any(|check| !is_verdict(&check.id)) {
        for verdict in &mut verdicts {
            verdict.confidence = verdict.confidence.lowered();
        }
    }
    flaws.sort_by(|a, b| b.saving_expected.total_cmp(&a.saving_expected));
    precedence::drop_symptoms(&mut flaws);
    if flaws
        .iter()
        .all(|finding| finding.saving_expected < WORTHWHILE)
    {
        verdicts.append(&mut flaws);
        flaws = verdicts;
    }
    left_out.sort_by(|a, b| b.saving_expected.total_cmp(&a.saving_expected));
    Found {
        findings: flaws,
        left_out,
        not_checked,
    }
}

/// Runs every check for its own sake, and tells after each which one it was.
pub(crate) fn each(case: &Case<'_, '_>, mut done: impl FnMut(&'static str)) {
    for check in CHECKS {
        (check.run)(case);
        done(check.id);
    }
}

/// What all checks together say.
pub(crate) struct Found {
    pub(crate) findings: Vec<Finding>,
    /// Flaws that promise less than was asked for.
    pub(crate) left_out: Vec<LeftOut>,
    pub(crate) not_checked: Vec<NotChecked>,
}

/// Whether a finding is an answer and no flaw.
#[must_use]
pub fn is_verdict(id: &str) -> bool {
    id.starts_with("at-")
}

/// The identifiers of all checks.
pub fn ids() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().map(|check| check.id)
}

/// Each check with the source whose head describes it.
pub(crate) fn sources() -> impl Iterator<Item = (&'static str, &'static str)> {
    CHECKS.iter().map(|check| (check.id, check.source))
}
