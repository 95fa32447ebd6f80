//! What works on a machine, what does not, and what mends it.
//!
//! [`Machine`] holds facts, [`examine`] turns them into lines. Whoever calls looks at the machine; nothing here does, so
//! that every state of one can be tried without it.
//!
//! ```
//! use ridge_collect::doctor::{Machine, Need, State, examine, preflight};
//!
//! // Nothing is known: no line claims that something works.
//! let lines = examine(&Machine::default());
//! assert!(lines.iter().all(|line| line.state != State::Works));
//! // What stands in the way of a profile, before anything is run.
//! assert!(!preflight(&Machine::default(), Need::Profile).is_empty());
//! ```

mod check;
mod counters;
pub mod document;
mod machine;
mod ncu;

pub use check::{Obstacle, examine, known_obstacle, obstacle, preflight};
pub use document::{Line, Need, State};
pub use machine::{
    Counters, Device, Disk, Driver, Failure, Gpu, Library, LibraryName, Machine, Process, Tool,
    ToolName, ToolState,
};
pub use ncu::oldest_for;
