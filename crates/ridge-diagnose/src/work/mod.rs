//! What a launch did, from its counters: operations by number format and unit, and bytes by level of memory.
//!
//! The ledger sets these amounts against capacities, lower bounds against what was needed, and the roofline against
//! each other.

pub(crate) mod memory;
mod shapes;
pub(crate) mod tensor;
pub(crate) mod threads;
