//! NVIDIA's profiler: the command line that asks for something, and what it says while it works.

mod command;
mod log;

pub use command::{Replay, Request, quote, shown};
pub use log::{Log, Profiled, Trouble};
