//! Lanes of a warp read different constant addresses, one pass each.
//!
//! # What it says
//! A table in constant memory (`__constant__`, kernel parameters) is indexed by something that differs from lane to
//! lane.
//!
//! # Evidence
//! Requests to the indexed constant cache for each constant load, load of the caches for constants in the SM and in the
//! GPC.
//!
//! # Why it costs time
//! The constant path delivers one address at a time: a warp with 32 different addresses takes 32 passes, and misses
//! share one cache for all SMs of a GPC. Neither of the two Speed Of Light values shows that cache.
//!
//! # What to do
//! Put the table into shared memory, or read it through global memory with `__ldg`; keep constant memory for what all
//! lanes read together.
//!
//! # When it is wrong
//! First touches of parameters cost a request too; they are few.
//!
//! # References
//! CUDA C++ Programming Guide, "Constant Memory".

use super::draft::Draft;
use super::saving::{Remedy, Waiting};
use super::{Case, Outcome, WORTHWHILE};
use crate::ledger::{Relief, Stage};

pub(super) const ID: &str = "constant-cache";

const NEEDS: &[&str] = &[
    "MemoryWorkloadAnalysis_Chart",
    "InstructionStats",
    "WarpStateStats",
];

/// One pass serves all lanes that read one word. Halfway to two, half of the loads read two addresses or more.
const DIFFERENT: f64 = 1.5;
/// All of this waiting goes with the remedy. Where it is less, not even that is worthwhile.
const WORTH: f64 = WORTHWHILE;
/// Wavefronts of a warp that reads a table in shared memory at random places: the fullest of 32 banks holds 3.5 of 32
/// addresses on the average.
const RANDOM_CONFLICTS: f64 = 3.5;
const WAITS: &[&str] = &[
    "mio_throttle",
    "short_scoreboard",
    "imc_miss",
    "long_scoreboard",
];

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let (Some(mix), Some(requests)) = (case.mix, case.number("idc__requests.sum")) else {
        return Outcome::NotChecked(NEEDS);
    };
    let loads = mix.of_opcodes(&["LDC"]);
    let passes = requests / loads.max(1.0);
    let waiting = case.waiting_for(WAITS);
    if loads <= 0.0 || passes < DIFFERENT {
        return Outcome::Clear;
    }
    if case.stalls.is_empty() {
        return Outcome::NotChecked(NEEDS);
    }
    if waiting < WORTH {
        return Outcome::Clear;
    }
    let relief = Relief::none()
        .leave(Stage::ConstantRequests, 0.0)
        .leave(Stage::ConstantFills, 0.0);
    // From shared memory the same look-ups take a wavefront for each bank conflict.
    let cycles = case
        .number("sm__cycles_elapsed.sum")
        .unwrap_or(f64::INFINITY);
    let look_ups = loads / cycles;
    let remedy = Remedy::new(relief)
        .waiting(Waiting::Removed(waiting))
        .not_below(look_ups)
        .hardly_below(RANDOM_CONFLICTS * look_ups);
    Draft::new(
        ID,
        format!("a constant load takes {passes:.1} passes: lanes read different addresses"),
    )
    .seen_against(
        "idc__requests.sum / LDC instructions",
        passes,
        "request/inst",
        1.0,
    )
    .seen_against(
        "busy share of the constant path in the GPC",
        case.busy(Stage::ConstantFills),
        "fraction",
        0.0,
    )
    .seen_against(
        "waiting for the MIO queue and its results, share of all waiting",
        waiting,
        "fraction",
        0.0,
    )
    .act(&[
        "copy the table into shared memory at the start of the block",
        "read the table through global memory: it is cached by sector, and lanes may differ",
        "reorder work, so that all lanes of a warp read the same entry",
    ])
    .falls("idc__requests.sum")
    .falls("gcc__cache_requests_type_constant.sum")
    .at(case.sampled_places())
    .weigh(case, &remedy, NEEDS)
}
