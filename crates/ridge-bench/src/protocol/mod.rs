//! How kernels are measured: the order of operations of each sample, when to stop, and what is looked at so that a time
//! is valid.
//!
//! Everything here works on [`ridge_gpu::Device`] and reads no other clock than the device's, so that the same code runs
//! on a simulated GPU in simulated time. Judging comes later: a measurement holds what was seen.

mod answers;
mod clock;
mod failure;
mod floors;
mod image;
mod loaded;
mod measure;
mod mode;
mod order;
mod sample;
mod settings;
mod spots;
mod truth;
mod turns;
mod twin;

pub use clock::Rejection;
pub use failure::{Failure, FailureKind};
pub use floors::Floors;
pub use image::Source;
pub use measure::{
    CheckKind, CheckPoint, FunctionFacts, Measurement, ModeMeasurement, Progress, Right,
    SensorSummary, Spent, Stopped, Task, WarmUp, WarmUpEnd, floors, generations, measure,
};
pub use mode::Mode;
pub use settings::{FlushKind, Settings};
pub use turns::{Turn, Turns};

#[cfg(test)]
mod tests;
