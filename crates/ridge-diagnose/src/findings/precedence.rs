//! Causes before symptoms: one cause is reported once, however many counters show it.

use super::{
    atomic_contention, bank_conflicts, barrier_stall, constant_cache, fp64_promotion, half_scalar,
    instruction_cache, latency_bound, launch_bound, load_imbalance, local_memory, low_occupancy,
    memory_barrier, narrow_access, no_reuse, no_tensor_cores, redundant_traffic, register_spill,
    special_function, tail_effect, uncoalesced_global, underfilled_grid, unfused_fp,
    warp_divergence,
};
use crate::document::{Confidence, Finding, NotChecked};

/// A symptom goes when a cause explains most of what it promises: at least half.
const EXPLAINED: f64 = 0.5;

/// Each symptom with the causes that explain it.
const CAUSES: &[(&str, &[&str])] = &[
    // Waiting is explained by whatever makes each access long or keeps warps away.
    (
        latency_bound::ID,
        &[
            launch_bound::ID,
            underfilled_grid::ID,
            low_occupancy::REGISTERS,
            low_occupancy::SHARED,
            low_occupancy::BLOCK,
            narrow_access::ID,
            uncoalesced_global::ID,
            register_spill::ID,
            local_memory::ID,
            atomic_contention::ID,
            memory_barrier::ID,
            instruction_cache::ID,
            constant_cache::ID,
            barrier_stall::ID,
            no_reuse::ID,
            no_tensor_cores::ID,
            load_imbalance::ID,
            tail_effect::ID,
            // Results of shared memory and of the XU pipe come late behind these.
            bank_conflicts::ID,
            fp64_promotion::ID,
            special_function::ID,
        ],
    ),
    // A kernel that is shorter than its launch has no grid to fill.
    (
        underfilled_grid::ID,
        &[launch_bound::ID, atomic_contention::ID],
    ),
    (tail_effect::ID, &[launch_bound::ID]),
    (load_imbalance::ID, &[launch_bound::ID, tail_effect::ID]),
    // Few warps matter only for what they leave unhidden.
    (
        low_occupancy::REGISTERS,
        &[
            tail_effect::ID,
            load_imbalance::ID,
            register_spill::ID,
            local_memory::ID,
            atomic_contention::ID,
            memory_barrier::ID,
        ],
    ),
    (
        low_occupancy::SHARED,
        &[
            tail_effect::ID,
            load_imbalance::ID,
            register_spill::ID,
            local_memory::ID,
            atomic_contention::ID,
            bank_conflicts::ID,
        ],
    ),
    (
        low_occupancy::BLOCK,
        &[
            tail_effect::ID,
            load_imbalance::ID,
            register_spill::ID,
            local_memory::ID,
            atomic_contention::ID,
            memory_barrier::ID,
        ],
    ),
    (
        narrow_access::ID,
        &[
            uncoalesced_global::ID,
            atomic_contention::ID,
            half_scalar::ID,
            memory_barrier::ID,
            // Local memory is waited for as global memory is.
            register_spill::ID,
            local_memory::ID,
        ],
    ),
    // Spilled and private data is laid out by the compiler.
    (
        uncoalesced_global::ID,
        &[register_spill::ID, local_memory::ID, atomic_contention::ID],
    ),
    // Sectors of which a part is used, and spilled data, are bytes beyond those that are needed.
    (
        redundant_traffic::ID,
        &[uncoalesced_global::ID, register_spill::ID, local_memory::ID],
    ),
    // Barriers show the lateness of warps.
    (
        barrier_stall::ID,
        &[
            bank_conflicts::ID,
            no_tensor_cores::ID,
            uncoalesced_global::ID,
            memory_barrier::ID,
        ],
    ),
    // Conversions and expansions are instructions of their flaw.
    (special_function::ID, &[fp64_promotion::ID]),
    (unfused_fp::ID, &[special_function::ID, fp64_promotion::ID]),
    (
        super::integer_alu::ID,
        &[
            warp_divergence::ID,
            special_function::ID,
            no_reuse::ID,
            no_tensor_cores::ID,
        ],
    ),
    (
        no_reuse::ID,
        &[
            no_tensor_cores::ID,
            bank_conflicts::ID,
            register_spill::ID,
            local_memory::ID,
            // A reduction tree reads shared memory for each addition: that is how it exchanges values.
            barrier_stall::ID,
        ],
    ),
];

/// The causes that explain a symptom.
fn causes_of(id: &str) -> &'static [&'static str] {
    CAUSES
        .iter()
        .find(|(symptom, _)| *symptom == id)
        .map_or(&[], |(_, causes)| causes)
}

/// A finding that another one might explain which could not be checked is no more than a guess.
pub(super) fn doubt(findings: &mut [Finding], not_checked: &[NotChecked]) {
    for finding in findings {
        let causes = causes_of(&finding.id);
        if not_checked
            .iter()
            .any(|check| causes.contains(&check.id.as_str()))
        {
            finding.confidence = Confidence::Low;
        }
    }
}

/// Drops findings that a stronger one explains. The list is ordered by expected saving. What is inferred itself explains
/// nothing away.
pub(super) fn drop_symptoms(findings: &mut Vec<Finding>) {
    let promised: Vec<(String, f64, Confidence)> = findings
        .iter()
        .map(|finding| {
            (
                finding.id.clone(),
                finding.saving_expected,
                finding.confidence,
            )
        })
        .collect();
    findings.retain(|finding| {
        let causes = causes_of(&finding.id);
        !promised.iter().any(|(id, expected, confidence)| {
            causes.contains(&id.as_str())
                && *expected >= EXPLAINED * finding.saving_expected
                && *confidence != Confidence::Low
        })
    });
}
