//! The answer of `ridge occupancy`, as data: every renderer prints this and computes nothing.
//!
//! Fields are only ever added within a version. Fractions are 0 to 1, sizes are bytes, absent is `null`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Change, Launch, Limiter, Point, Resident, SmLimits, Waves, check, over_barriers,
    over_block_size, over_registers, over_shared_memory, resident, room, steps,
};
use crate::ComputeCapability;
use crate::device::Origin;

/// Name of the contract.
pub const SCHEMA: &str = "ridgepoint.occupancy";
/// Its version.
pub const VERSION: u32 = 1;

/// The occupancy of launches: what `ridge occupancy --format json` writes.
///
/// Fields are only ever added within a version. Fractions are 0 to 1, sizes are bytes, and what is not known is `null`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(title = "Occupancy")]
pub struct Document {
    /// Always `ridgepoint.occupancy`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The inputs; none when the launch came as numbers.
    pub sources: Vec<Source>,
    /// The kernels, in the order of the inputs.
    #[schemars(with = "Vec<Kernel>")]
    pub kernels: Kernels,
    /// What could not be read, and what makes the answer less certain.
    pub warnings: Vec<Warning>,
}

/// The kernels of a document. Only what is known of them is held: what follows from that is computed for one kernel after
/// the other, when it is written, since a kernel with its curves takes some 12 kB.
#[derive(Clone, Debug)]
pub struct Kernels(Vec<Subject>);

impl Kernels {
    /// The kernels, in order.
    #[must_use]
    pub const fn new(subjects: Vec<Subject>) -> Self {
        Self(subjects)
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is known of them.
    #[must_use]
    pub fn subjects(&self) -> &[Subject] {
        &self.0
    }

    /// Computes one after the other.
    pub fn iter(&self) -> impl Iterator<Item = Kernel> {
        self.0.iter().map(Kernel::new)
    }
}

impl Serialize for Kernels {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter())
    }
}

/// What follows from limits and a launch, computed where it is shown and not before.
#[derive(Clone, Copy, Debug)]
pub struct Lazy<T> {
    limits: SmLimits,
    launch: Launch,
    compute: fn(&SmLimits, &Launch) -> T,
}

impl<T> Lazy<T> {
    /// Computes it.
    #[must_use]
    pub fn get(&self) -> T {
        (self.compute)(&self.limits, &self.launch)
    }
}

impl<T: Serialize> Serialize for Lazy<T> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(to)
    }
}

/// An input.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Source {
    /// The number that kernels and warnings refer to.
    pub id: usize,
    /// The file as it was named.
    pub file: String,
    /// What it is.
    pub kind: SourceKind,
}

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// A binary report of Nsight Compute.
    NcuReport,
    /// A CSV export of Nsight Compute.
    NcuCsv,
    /// A cubin.
    Cubin,
    /// A fat binary, alone or in an object file, library or program.
    Fatbin,
    /// The text that `ptxas -v` prints.
    Ptxas,
    /// CUDA source, compiled with NVRTC.
    CudaSource,
}

/// What could not be read, or makes the answer less certain.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Warning {
    /// A stable code.
    pub code: String,
    /// What happened.
    pub message: String,
    /// The input that it is about.
    pub source: Option<usize>,
    /// The place in the input, in bytes from its start.
    pub offset: Option<u64>,
}

/// Where a number of a launch comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Given {
    /// The command line.
    Argument,
    /// The report.
    Report,
    /// The compiled code: cubin, fat binary or the compiler's text.
    Code,
    /// The table of devices.
    Device,
    /// Nobody said: a usual value was taken.
    Assumed,
}

/// A number of a launch and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Number {
    /// The number.
    pub value: u64,
    /// Where it comes from.
    pub origin: Given,
}

/// What is known of a kernel before anything is computed.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The input that holds it.
    pub source: Option<usize>,
    /// Name without namespaces, template arguments and parameters; absent for numbers.
    pub name: Option<String>,
    /// The whole name, demangled where the input has it so.
    pub signature: Option<String>,
    /// Places of the launches with these numbers in their report.
    pub launches: Vec<usize>,
    /// Name of the device.
    pub device: Option<String>,
    /// Its compute capability.
    pub capability: ComputeCapability,
    /// What an SM of it holds.
    pub limits: SmLimits,
    /// Its SMs.
    pub sms: Option<Number>,
    /// The launch.
    pub launch: Launch,
    /// Where its numbers come from.
    pub origins: Origins,
    /// Blocks in the grid.
    pub grid_blocks: Option<Number>,
    /// Stack of a thread in bytes.
    pub stack_bytes: Option<u64>,
    /// Registers stored to local memory by a thread, in bytes.
    pub spill_bytes: Option<u64>,
    /// Achieved occupancy.
    pub achieved: Option<f64>,
    /// Clusters that the device holds at once, and who says so.
    pub clusters: Option<(super::Slots, ClusterOrigin)>,
    /// What limits the kernel, as the diagnosis has it.
    pub bound_by: Option<BoundBy>,
}

/// Where the numbers of a launch come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origins {
    /// Threads in a block.
    pub threads: Given,
    /// Registers.
    pub registers: Given,
    /// Static shared memory.
    pub static_shared: Given,
    /// Dynamic shared memory.
    pub dynamic_shared: Given,
    /// Barriers.
    pub barriers: Given,
    /// Cluster.
    pub cluster: Given,
}

impl Origins {
    /// All numbers from one place.
    #[must_use]
    pub const fn all(origin: Given) -> Self {
        Self {
            threads: origin,
            registers: origin,
            static_shared: origin,
            dynamic_shared: origin,
            barriers: origin,
            cluster: origin,
        }
    }
}

/// What limits a kernel, and how much of that is in use.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BoundBy {
    /// The kind of limit.
    pub kind: Bound,
    /// The busiest resource, for people.
    pub busiest: String,
    /// The part of the time in which it is busy.
    pub share: f64,
}

/// The kind of limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// A level of memory is busy.
    Memory,
    /// A pipe or the issue slots are busy.
    Compute,
    /// Nothing is busy: warps wait.
    Latency,
    /// The kernel is shorter than its launch.
    Launch,
}

/// Who says how many clusters run at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClusterOrigin {
    /// The report of the kernel.
    Report,
    /// The driver of an H200; another device can have other SMs switched off.
    SameModel,
}

/// A kernel, its launch and what is resident of it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Kernel {
    /// The input that holds it.
    pub source: Option<usize>,
    /// Name without namespaces, template arguments and parameters.
    pub name: Option<String>,
    /// The whole name.
    pub signature: Option<String>,
    /// Places of the launches with these numbers in their report, from 0.
    pub launches: Vec<usize>,
    /// The device.
    pub device: Device,
    /// The launch.
    pub launch: LaunchNumbers,
    /// What an SM of the device holds.
    pub sm_limits: Vec<Figure>,
    /// Why the launch is not possible, if it is not; then the rest is empty.
    pub impossible: Option<String>,
    /// Theoretical occupancy.
    pub theoretical: Option<Theoretical>,
    /// Achieved occupancy, 0 to 1: resident warps as the profiler counted them.
    pub achieved_occupancy: Option<f64>,
    /// What each limit alone allows.
    pub limiters: Vec<Allowed>,
    /// Theoretical occupancy over one number of the launch, with all others as they are.
    #[schemars(with = "Option<Curves>")]
    pub curves: Lazy<Option<Curves>>,
    /// What the launch can use more of without losing a block.
    #[schemars(with = "Option<Spare>")]
    pub room: Lazy<Option<Spare>>,
    /// Launches near this one with a higher theoretical occupancy.
    #[schemars(with = "Vec<Better>")]
    pub steps: Lazy<Vec<Better>>,
    /// How the grid runs.
    pub waves: Option<GridWaves>,
    /// How its clusters run.
    pub clusters: Option<Clusters>,
    /// What limits the kernel: more warps help only when that is latency.
    pub bound_by: Option<BoundBy>,
}

/// A device.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Device {
    /// Its name.
    pub name: Option<String>,
    /// Its compute capability, such as `9.0`.
    pub compute_capability: String,
    /// Its SMs.
    pub sms: Option<Number>,
}

/// The numbers of a launch on which occupancy depends.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LaunchNumbers {
    /// Threads in a block.
    pub threads_per_block: Number,
    /// Registers of a thread.
    pub registers_per_thread: Number,
    /// Registers that a thread is given: those of its warp are rounded up.
    pub registers_per_thread_allocated: u32,
    /// Static shared memory of a block, in bytes.
    pub static_shared_bytes: Number,
    /// Dynamic shared memory of a block, in bytes.
    pub dynamic_shared_bytes: Number,
    /// Shared memory that a block is charged for, in bytes: with what the system reserves, rounded up.
    pub shared_bytes_allocated: u32,
    /// Named barriers of a block.
    pub barriers: Option<Number>,
    /// Blocks in a cluster.
    pub cluster_blocks: Option<Number>,
    /// Shared memory in force on the SM, in bytes; absent when it is taken to be the largest.
    pub carveout_bytes: Option<u32>,
    /// Blocks in the grid.
    pub grid_blocks: Option<Number>,
    /// Lanes of the last warp of each block that have no thread.
    pub idle_lanes: u32,
    /// Stack of a thread, in bytes.
    pub stack_bytes: Option<u64>,
    /// Registers that a thread stores to local memory, in bytes.
    pub spill_bytes: Option<u64>,
}

/// A figure of the device, its unit and its origin.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Figure {
    /// What it is.
    pub name: &'static str,
    /// The value.
    pub value: u32,
    /// Its unit.
    pub unit: &'static str,
    /// Where it comes from; `attribute` is what the device of a report says.
    pub origin: Origin,
}

/// Theoretical occupancy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Theoretical {
    /// Resident warps over those that the SM can hold, 0 to 1.
    pub occupancy: f64,
    /// Blocks on an SM.
    pub blocks: u32,
    /// Warps on an SM.
    pub warps: u32,
    /// Warps that an SM can hold.
    pub max_warps: u32,
    /// Warps of a block.
    pub warps_per_block: u32,
}

impl Theoretical {
    fn new(resident: &Resident, launch: &Launch) -> Self {
        Self {
            occupancy: resident.occupancy().get(),
            blocks: resident.blocks,
            warps: resident.warps,
            max_warps: resident.max_warps,
            warps_per_block: launch.warps(),
        }
    }
}

/// What one limit alone allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Allowed {
    /// The limit.
    #[serde(serialize_with = "limiter_name")]
    #[schemars(with = "String")]
    pub limiter: Limiter,
    /// Blocks on an SM; absent when the limit is not known.
    pub blocks: Option<u32>,
    /// Whether no other limit allows fewer.
    pub is_limiting: bool,
    /// The profiler's metric with the same value.
    pub metric: &'static str,
}

fn limiter_name<S: serde::Serializer>(limiter: &Limiter, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(match limiter {
        Limiter::Warps => "warps",
        Limiter::Blocks => "blocks",
        Limiter::Registers => "registers",
        Limiter::SharedMemory => "shared-memory",
        Limiter::Barriers => "barriers",
    })
}

/// Curves: stretches of equal occupancy, in ascending order.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Curves {
    /// Over threads in a block, in steps of a warp; registers of a thread and shared memory of a block stay.
    pub block_size: Vec<Stretch>,
    /// Over registers of a thread.
    pub registers: Vec<Stretch>,
    /// Over shared memory of a block in bytes, with the carve-out that was asked for, else the largest.
    pub shared_bytes: Vec<Stretch>,
    /// Over named barriers; empty where it is not known how many an SM has.
    pub barriers: Vec<Stretch>,
}

/// A stretch of a curve with equal occupancy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Stretch {
    /// The first value.
    pub from: u32,
    /// The last value.
    pub to: u32,
    /// Blocks on an SM; 0 where the launch is not possible.
    pub blocks: u32,
    /// Warps on an SM.
    pub warps: u32,
    /// Theoretical occupancy, 0 to 1.
    pub occupancy: f64,
}

/// Joins points of equal occupancy. What lies between two points belongs to the second: all limits round up.
fn stretches(points: &[Point]) -> Vec<Stretch> {
    let mut list: Vec<Stretch> = Vec::new();
    for point in points {
        let (blocks, warps) = (point.resident.blocks, point.resident.warps);
        let mut from = point.at;
        if let Some(last) = list.last_mut() {
            if (last.blocks, last.warps) == (blocks, warps) {
                last.to = point.at;
                continue;
            }
            from = last.to + 1;
        }
        list.push(Stretch {
            from,
            to: point.at,
            blocks,
            warps,
            occupancy: point.resident.occupancy().get(),
        });
    }
    list
}

/// What a launch can use more of without losing a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Spare {
    /// Registers of a thread, in all.
    pub registers_per_thread: u32,
    /// Shared memory of a block in bytes, static and dynamic, in all.
    pub shared_bytes: u32,
}

/// A launch with a higher theoretical occupancy.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Better {
    /// What has to change; all of it together.
    pub changes: Vec<Changed>,
    /// Occupancy then.
    pub theoretical: Theoretical,
}

/// One number of a launch that has to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Changed {
    /// The number.
    pub what: Knob,
    /// What it is.
    pub from: u32,
    /// What it has to be; for registers, shared memory and barriers at most.
    pub to: u32,
}

/// A number of a launch that can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Knob {
    /// Registers of a thread.
    RegistersPerThread,
    /// Shared memory of a block in bytes, static and dynamic.
    SharedBytes,
    /// Named barriers of a block.
    Barriers,
    /// Threads in a block.
    ThreadsPerBlock,
    /// Shared memory in force on the SM, in bytes.
    CarveoutBytes,
}

impl Changed {
    fn new(change: Change, launch: &Launch) -> Self {
        let (what, from, to) = match change {
            Change::Registers(to) => (Knob::RegistersPerThread, launch.registers, to),
            Change::SharedMemory(to) => (Knob::SharedBytes, launch.shared_bytes(), to),
            Change::Barriers(to) => (Knob::Barriers, launch.barriers.unwrap_or(0), to),
            Change::BlockSize(to) => (Knob::ThreadsPerBlock, launch.threads, to),
            Change::Carveout(to) => (Knob::CarveoutBytes, launch.carveout_bytes.unwrap_or(0), to),
        };
        Self { what, from, to }
    }
}

/// How a grid runs on the device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GridWaves {
    /// Blocks in the grid.
    pub grid_blocks: u64,
    /// Blocks that the device holds at once.
    pub blocks_per_wave: u64,
    /// Blocks of the grid over those of a wave; clusters are not looked at.
    pub waves: f64,
    /// Full waves.
    pub full_waves: u64,
    /// Blocks of the last wave; 0 when it is full.
    pub tail_blocks: u64,
    /// Waves over waves rounded up: the part of the device's room that is used when all blocks take equally long.
    pub used: f64,
}

/// How clusters run on the device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Clusters {
    /// Blocks in a cluster.
    pub size: u32,
    /// Whether every device of the capability can launch that size; larger ones need an opt-in.
    pub is_portable: Option<bool>,
    /// Clusters that the device holds at once.
    pub at_once: Option<u32>,
    /// The part of the device's room for blocks that clusters can use, 0 to 1.
    pub usable_share: Option<f64>,
    /// Clusters of the grid over those that run at once.
    pub waves: Option<f64>,
    /// Who says how many run at once.
    pub origin: Option<ClusterOrigin>,
}

impl Kernel {
    /// What follows from a launch; curves, room and steps are computed when they are asked for.
    #[must_use]
    pub fn new(subject: &Subject) -> Self {
        let (limits, launch) = (&subject.limits, &subject.launch);
        let now = resident(limits, launch);
        let impossible = check(limits, launch).err();
        let is_possible = impossible.is_none();
        let sms = subject.sms.and_then(|sms| u32::try_from(sms.value).ok());
        let grid = subject.grid_blocks.map(|grid| grid.value);
        let waves = grid
            .zip(sms)
            .and_then(|(grid, sms)| Waves::new(grid, sms, now.blocks))
            .filter(|_| is_possible);
        let clusters = clusters(subject, &now, sms, grid);
        Self {
            launch: LaunchNumbers::new(subject),
            device: Device {
                name: subject.device.clone(),
                compute_capability: subject.capability.to_string(),
                sms: subject.sms,
            },
            source: subject.source,
            name: subject.name.clone(),
            signature: subject.signature.clone(),
            launches: subject.launches.clone(),
            sm_limits: limits
                .figures()
                .map(|(name, unit, limit)| Figure {
                    name,
                    value: limit.value,
                    unit,
                    origin: limit.origin,
                })
                .collect(),
            impossible: impossible.map(|reason| reason.to_string()),
            theoretical: is_possible.then(|| Theoretical::new(&now, launch)),
            achieved_occupancy: subject.achieved,
            limiters: Limiter::ALL
                .into_iter()
                .filter(|_| is_possible)
                .map(|limiter| Allowed {
                    limiter,
                    blocks: now.allowed(limiter),
                    is_limiting: now.allowed(limiter) == Some(now.blocks),
                    metric: limiter.metric(),
                })
                .collect(),
            curves: later(subject, Curves::new),
            room: later(subject, Spare::new),
            steps: later(subject, Better::all),
            waves: waves.map(|waves| GridWaves {
                grid_blocks: waves.grid_blocks,
                blocks_per_wave: waves.wave_blocks,
                waves: waves.waves(),
                full_waves: waves.full(),
                tail_blocks: waves.tail_blocks(),
                used: waves.used().get(),
            }),
            clusters,
            bound_by: subject.bound_by.clone(),
        }
    }
}

const fn later<T>(subject: &Subject, compute: fn(&SmLimits, &Launch) -> T) -> Lazy<T> {
    Lazy {
        limits: subject.limits,
        launch: subject.launch,
        compute,
    }
}

impl Curves {
    /// Absent where the launch is not possible.
    fn new(limits: &SmLimits, launch: &Launch) -> Option<Self> {
        check(limits, launch).ok()?;
        Some(Self {
            block_size: stretches(&over_block_size(limits, launch)),
            registers: stretches(&over_registers(limits, launch)),
            shared_bytes: stretches(&over_shared_memory(limits, launch)),
            barriers: stretches(&over_barriers(limits, launch)),
        })
    }
}

impl Spare {
    fn new(limits: &SmLimits, launch: &Launch) -> Option<Self> {
        let room = room(limits, launch)?;
        Some(Self {
            registers_per_thread: room.registers,
            shared_bytes: room.shared_bytes,
        })
    }
}

impl Better {
    fn all(limits: &SmLimits, launch: &Launch) -> Vec<Self> {
        let better = |step: super::Step| Self {
            changes: step
                .changes
                .iter()
                .map(|change| Changed::new(*change, launch))
                .collect(),
            theoretical: Theoretical::new(&step.resident, &step.launch),
        };
        steps(limits, launch).into_iter().map(better).collect()
    }
}

impl LaunchNumbers {
    fn new(subject: &Subject) -> Self {
        let (limits, launch, origins) = (&subject.limits, &subject.launch, &subject.origins);
        let number = |value: u32, origin| Number {
            value: u64::from(value),
            origin,
        };
        Self {
            threads_per_block: number(launch.threads, origins.threads),
            registers_per_thread: number(launch.registers, origins.registers),
            registers_per_thread_allocated: super::registers_per_warp(limits, launch.registers)
                / super::WARP_THREADS,
            static_shared_bytes: number(launch.static_shared_bytes, origins.static_shared),
            dynamic_shared_bytes: number(launch.dynamic_shared_bytes, origins.dynamic_shared),
            shared_bytes_allocated: super::shared_bytes_charged(limits, launch.shared_bytes()),
            barriers: launch.barriers.map(|count| number(count, origins.barriers)),
            cluster_blocks: launch.cluster.map(|size| number(size, origins.cluster)),
            carveout_bytes: launch.carveout_bytes,
            grid_blocks: subject.grid_blocks,
            idle_lanes: launch.idle_lanes(),
            stack_bytes: subject.stack_bytes,
            spill_bytes: subject.spill_bytes,
        }
    }
}

fn clusters(
    subject: &Subject,
    now: &Resident,
    sms: Option<u32>,
    grid: Option<u64>,
) -> Option<Clusters> {
    let size = subject.launch.cluster?;
    let known = subject.clusters;
    Some(Clusters {
        size,
        is_portable: subject.limits.cluster_blocks.map(|most| size <= most.value),
        at_once: known.map(|(slots, _)| slots.clusters),
        usable_share: known
            .zip(sms)
            .and_then(|((slots, _), sms)| slots.usable(sms, now.blocks))
            .map(crate::quantity::Ratio::get),
        waves: known
            .zip(grid)
            .and_then(|((slots, _), grid)| slots.waves(grid)),
        origin: known.map(|(_, origin)| origin),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(launch: Launch) -> Subject {
        let capability = ComputeCapability { major: 9, minor: 0 };
        Subject {
            source: None,
            name: None,
            signature: None,
            launches: Vec::new(),
            device: None,
            capability,
            limits: SmLimits::of(capability).unwrap(),
            sms: Some(Number {
                value: 132,
                origin: Given::Argument,
            }),
            launch,
            origins: Origins::all(Given::Argument),
            grid_blocks: None,
            stack_bytes: None,
            spill_bytes: None,
            achieved: None,
            clusters: None,
            bound_by: None,
        }
    }

    #[test]
    fn curves_hold_every_value_once() {
        let kernel = Kernel::new(&subject(Launch::new(256, 40).with_shared(0, 10_000)));
        let curves = kernel.curves.get().unwrap();
        for (curve, end) in [
            (&curves.registers, 255),
            (&curves.shared_bytes, 232_448),
            (&curves.barriers, 16),
        ] {
            for pair in curve.windows(2) {
                assert_eq!(pair[0].to + 1, pair[1].from);
                assert_ne!(pair[0].blocks, pair[1].blocks);
            }
            assert_eq!(curve.last().map(|stretch| stretch.to), Some(end));
        }
        // 233,472 / 38,912 is 6, with 1,024 bytes of each block for the system.
        let at = |bytes| {
            let found = curves.shared_bytes.iter();
            let mut found = found.filter(|stretch| (stretch.from..=stretch.to).contains(&bytes));
            found.next().unwrap().blocks
        };
        assert_eq!((at(27_648), at(37_888), at(37_889)), (6, 6, 5));
    }

    #[test]
    fn an_impossible_launch_has_a_reason_and_no_numbers() {
        let kernel = Kernel::new(&subject(Launch::new(2048, 40)));
        assert!(kernel.impossible.unwrap().contains("1024"));
        assert!(kernel.theoretical.is_none() && kernel.limiters.is_empty());
        assert!(kernel.steps.get().is_empty());
        assert!(kernel.curves.get().is_none() && kernel.room.get().is_none());
    }
}
