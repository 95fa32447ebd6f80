//! What goes into a chart: kernels with their amounts, and the device with its roofs.

use super::Precision;
use super::document::{Beside, Class, Side};
use crate::Device;
use crate::device::Origin;
use crate::measured::Provenance;
use crate::quantity::{Bandwidth, Bytes, ComputeRate, Flops, Hertz, Nanos};
use crate::roof::{ComputeRoof, MemoryLevel, MemoryRoof};

/// Operations of one kind in one launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Amounts {
    /// The kind.
    pub precision: Precision,
    /// How many; a multiply-add is two.
    pub operations: Flops,
    /// The counters behind the number; none for one that was given.
    pub source: Vec<String>,
    /// Whether the instructions that were counted may have moved constants instead of computing.
    pub may_be_moves: bool,
}

/// Bytes of one launch at a level of memory, in both directions.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// The level.
    pub level: MemoryLevel,
    /// How many.
    pub bytes: Bytes,
    /// The counters behind the number; none for one that was given.
    pub source: Vec<String>,
}

/// What the device could do while a kernel ran: peaks at the clocks of that run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunRoofs {
    /// The SM clock.
    pub sm_clock: Option<Hertz>,
    /// Memories, and the counters behind each.
    pub memory: Vec<(MemoryLevel, Bandwidth, Vec<String>)>,
    /// Arithmetic, and the counters behind each.
    pub compute: Vec<(Precision, ComputeRate, Vec<String>)>,
}

/// A kernel, or a number of launches of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// Name without namespaces, template arguments and parameters.
    pub name: String,
    /// The whole name, where it is another.
    pub signature: Option<String>,
    /// What launches have in common beside the name, to find the same kernel in another input.
    pub shape: Option<String>,
    /// The input that holds it.
    pub source: Option<usize>,
    /// Whether it is from before or after a change.
    pub side: Option<Side>,
    /// Places of all launches in their input.
    pub launches: Vec<usize>,
    /// The launch that the amounts are of.
    pub launch: Option<usize>,
    /// Where bytes and operations come from.
    pub origin: Origin,
    /// Why it has no place, where whoever made it knows that already.
    pub left_out: Option<Beside>,
    /// Time of that launch.
    pub time: Option<Nanos>,
    /// Time of all launches together.
    pub total_time: Option<Nanos>,
    /// What limits it, where it was diagnosed.
    pub class: Option<Class>,
    /// Operations by kind; kinds without any may be left out.
    pub operations: Vec<Amounts>,
    /// Kinds of operations that were not counted, in words.
    pub not_counted: Vec<&'static str>,
    /// Bytes by level.
    pub moved: Vec<Moved>,
    /// The roofs of its run.
    pub run: RunRoofs,
}

impl Subject {
    /// Whether nobody counted what it does.
    pub(super) fn is_told(&self) -> bool {
        matches!(self.origin, Origin::Given | Origin::Declared)
    }

    /// Leaves out numbers that cannot be, from a damaged input or a mistaken formula, so that every quotient of the others
    /// is finite; `true` when a time, an amount or a number of bytes was one.
    pub(super) fn leave_out(&mut self) -> bool {
        let times = [self.time, self.total_time];
        self.time = self.time.and_then(Nanos::plausible);
        self.total_time = self.total_time.and_then(Nanos::plausible);
        let amounts = self.operations.len() + self.moved.len();
        self.operations
            .retain(|amounts| amounts.operations.plausible().is_some());
        self.moved.retain(|moved| moved.bytes.plausible().is_some());
        let run = &mut self.run;
        run.sm_clock = run.sm_clock.and_then(Hertz::plausible);
        run.memory
            .retain(|(_, bandwidth, _)| bandwidth.plausible().is_some());
        run.compute
            .retain(|(_, rate, _)| rate.plausible().is_some());
        times != [self.time, self.total_time] || amounts != self.operations.len() + self.moved.len()
    }
}

/// The data sheet of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// The device, as the table has it.
    pub device: Device,
    /// The multiprocessors that its peaks were scaled to, where the one at hand has another number.
    pub scaled_to: Option<u32>,
}

/// Where the kernels of a chart ran, and what is known of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setting {
    /// The name that the driver reports, or the table's.
    pub device: Option<String>,
    /// Its compute capability.
    pub compute_capability: Option<String>,
    /// Its multiprocessors.
    pub multiprocessors: Option<u32>,
    /// Its data sheet; absent where no table knows it.
    pub sheet: Option<Sheet>,
    /// Roofs that were measured on it.
    pub measured_memory: Vec<MemoryRoof>,
    /// The same for arithmetic.
    pub measured_compute: Vec<ComputeRoof>,
    /// Where they come from.
    pub measured_by: Option<Provenance>,
}
