//! The compiler ran out of registers and keeps values in local memory.
//!
//! # What it says
//! A cap on registers (`__launch_bounds__`, `-maxrregcount`, the limit of 255) or too many live values make the
//! compiler store registers to local memory and load them back.
//!
//! # Evidence
//! Counted spill instructions, local loads and stores.
//!
//! # Why it costs time
//! Spills are memory accesses: they pass the L1, and what does not stay there the L2 and DRAM.
//!
//! # What to do
//! Lift the cap, keep fewer values live (smaller tiles, less unrolling, shorter lifetimes), move arrays into shared
//! memory.
//!
//! # When it is wrong
//! A few spills outside the hot loop cost nothing; the ledger weighs them by their traffic.
//!
//! # References
//! CUDA C++ Best Practices Guide, "Register Pressure"; CUDA C++ Programming Guide, "Launch Bounds".

use super::draft::Draft;
use super::local_memory::{NEEDS, SPILLS, Traffic};
use super::per_instruction::places;
use super::{Case, Outcome};

pub(super) const ID: &str = "register-spill";

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let Some(traffic) = Traffic::of(case) else {
        return Outcome::NotChecked(NEEDS);
    };
    // Reports that do not count spills leave the question to `local-memory`.
    if traffic.instructions <= 0.0 || traffic.spilled.is_none_or(|spilled| spilled < SPILLS) {
        return Outcome::Clear;
    }
    let registers = case.number("launch__registers_per_thread").unwrap_or(0.0);
    let title = format!(
        "{:.0} % of the loads and stores are register spills, with {registers:.0} registers a thread",
        100.0 * traffic.access_share
    );
    Draft::new(ID, title)
        .seen_against("sass__inst_executed_register_spilling", traffic.instructions, "inst", 0.0)
        .seen("launch__registers_per_thread", registers, "register/thread")
        .seen_against("share of local sectors in the traffic beyond the L1", traffic.beyond_l1, "fraction", 0.0)
        .act(&[
            "lift the cap: a smaller minimum of blocks in __launch_bounds__, no -maxrregcount",
            "keep fewer values live: smaller tiles, less unrolling, values computed where they are used",
            "put arrays that are used by all threads of a block into shared memory",
        ])
        .reaches("sass__inst_executed_register_spilling", 0.0)
        .falls("smsp__sass_inst_executed_op_local_ld.sum")
        .at(places(&case.by_instruction("memory_l2_theoretical_sectors_local"), case.code))
        .weigh(case, &traffic.remedy(case), NEEDS)
}
