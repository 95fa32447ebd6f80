//! What things cost on a simulated device beside bytes and operations.
//!
//! Times are those that were seen on an H200 with driver 580 (`docs/design/device.md` names the sheet), rounded: the
//! simulation is to show the same effects, not the same digits. All in nanoseconds.

/// A launch, as the host sees the call.
pub(super) const LAUNCH_CALL: f64 = 2_900.0;
/// The launch of a graph, as the host sees the call.
pub(super) const GRAPH_CALL: f64 = 4_500.0;
/// Any other call that only queues something or asks.
pub(super) const SMALL_CALL: f64 = 600.0;
/// Reading the clock of the host.
pub(super) const CLOCK_CALL: f64 = 25.0;
/// An allocation.
pub(super) const ALLOCATE_CALL: f64 = 60_000.0;
/// Loading an image.
pub(super) const LOAD_CALL: f64 = 400_000.0;
/// Compiling a program.
pub(super) const COMPILE_CALL: f64 = 80e6;
/// Reading all sensors.
pub(super) const SENSORS_CALL: f64 = 150_000.0;
/// From the end of work to the return of who waits for it.
pub(super) const WAKE: f64 = 3_000.0;

/// From a launch to its start on an idle device.
pub(super) const LAUNCH_LATENCY: f64 = 5_000.0;
/// From a release to the start of what was held back.
pub(super) const RELEASE_LATENCY: f64 = 1_000.0;
/// Between two launches of a full queue.
pub(super) const GAP: f64 = 1_100.0;
/// Between two launches of a graph.
pub(super) const NODE_GAP: f64 = 300.0;
/// The start of a graph on the device.
pub(super) const GRAPH_START: f64 = 3_000.0;
/// An event in a stream.
pub(super) const EVENT: f64 = 800.0;
/// A kernel that does nothing.
pub(super) const EMPTY_KERNEL: f64 = 1_000.0;
/// The start of a copy.
pub(super) const COPY_START: f64 = 1_500.0;
/// The step of the device's timer, behind events and stamps.
pub(super) const TIMER_STEP: f64 = 32.0;

/// The share of the peak that DRAM reaches.
pub(super) const DRAM_SHARE: f64 = 0.9;
/// The share of the peak that units reach.
pub(super) const UNIT_SHARE: f64 = 0.95;
/// The share of the raw rate that links reach: to the host from pinned memory, and to other devices.
pub(super) const LINK_SHARE: f64 = 0.88;
/// The link to the host where the table has none: PCIe 4.0 with 16 lanes, in bytes a nanosecond.
pub(super) const LINK: f64 = 31.5;
/// Pageable memory to the device, and back, in bytes a nanosecond.
pub(super) const PAGEABLE: [f64; 2] = [19.0, 8.5];
/// The bandwidth of the L2 where nobody measured it, as a multiple of the DRAM's: what it is on most of the table.
pub(super) const L2_OVER_DRAM: f64 = 2.5;
/// How much slower code is that was built for debugging.
pub(super) const DEBUG_FACTOR: f64 = 20.0;
/// The SM clock of an idle device, in hertz.
pub(super) const IDLE_CLOCK: f64 = 345e6;
/// How long after its last work a device holds its clock.
pub(super) const CLOCK_HOLD: f64 = 100e6;
