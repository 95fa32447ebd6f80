//! The order of operations of one sample, as data: the same list runs on every device, and a test compares it with the
//! calls that a device gets.

use super::mode::Mode;

/// One operation of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Makes persisting lines of the L2 ordinary ones.
    ResetPersisting,
    /// Replaces what is in the L2.
    Flush,
    /// Waits, so that nothing from before is in the sample.
    Drain,
    /// Reads the clock of the host.
    HostStart,
    /// Holds the stream back, so that everything is queued before anything runs.
    Block,
    /// Stamps cycles and time of the SMs. Outside of the events.
    ProbeStart,
    /// Starts the timed window.
    EventStart,
    /// All launches.
    Launch,
    /// As many launches as fit into the queue of a blocked stream.
    LaunchHead,
    /// The rest of them, into a stream that runs.
    LaunchTail,
    /// The small graph.
    SmallGraph,
    /// Between the two graphs.
    EventMiddle,
    /// The large graph.
    LargeGraph,
    /// Ends the timed window.
    EventStop,
    /// Stamps again.
    ProbeStop,
    /// Lets the stream run.
    Unblock,
    /// Waits for all of it.
    Wait,
    /// Reads the clock of the host again.
    HostStop,
}

use Step::{
    Block, Drain, EventMiddle, EventStart, EventStop, Flush, HostStart, HostStop, LargeGraph,
    Launch, LaunchHead, LaunchTail, ProbeStart, ProbeStop, ResetPersisting, SmallGraph, Unblock,
    Wait,
};

/// Launches that are queued in a blocked stream at most: drivers hold about 32 entries, and events and probes take four.
pub(crate) const QUEUE: u64 = 20;

const COLD: &[Step] = &[
    ResetPersisting,
    Flush,
    Drain,
    HostStart,
    Block,
    ProbeStart,
    EventStart,
    Launch,
    EventStop,
    ProbeStop,
    Unblock,
    Wait,
    HostStop,
];
const COLD_LONG: &[Step] = &[
    ResetPersisting,
    Flush,
    Drain,
    HostStart,
    Block,
    ProbeStart,
    EventStart,
    LaunchHead,
    Unblock,
    LaunchTail,
    EventStop,
    ProbeStop,
    Wait,
    HostStop,
];
const COLD_HOST: &[Step] = &[
    ResetPersisting,
    Flush,
    Drain,
    HostStart,
    ProbeStart,
    EventStart,
    Launch,
    EventStop,
    ProbeStop,
    Wait,
    HostStop,
];
const HOT: &[Step] = &[
    Drain, HostStart, Block, ProbeStart, EventStart, Launch, EventStop, ProbeStop, Unblock, Wait,
    HostStop,
];
const HOT_LONG: &[Step] = &[
    Drain, HostStart, Block, ProbeStart, EventStart, LaunchHead, Unblock, LaunchTail, EventStop,
    ProbeStop, Wait, HostStop,
];
const HOT_HOST: &[Step] = &[
    Drain, HostStart, ProbeStart, EventStart, Launch, EventStop, ProbeStop, Wait, HostStop,
];
/// The probes are waited for, so that the host's window holds the launch and the wait alone.
const LATENCY: &[Step] = &[
    ProbeStart, Drain, HostStart, Launch, Wait, HostStop, ProbeStop, Drain,
];
const GRAPH: &[Step] = &[
    Drain,
    HostStart,
    Block,
    ProbeStart,
    EventStart,
    SmallGraph,
    EventMiddle,
    LargeGraph,
    EventStop,
    ProbeStop,
    Unblock,
    Wait,
    HostStop,
];

/// The order of a sample with so many launches between its events.
pub(crate) const fn order(mode: Mode, launches: u64, is_host_timed: bool) -> &'static [Step] {
    match mode {
        Mode::Latency => LATENCY,
        Mode::Graph => GRAPH,
        Mode::Cold if is_host_timed => COLD_HOST,
        Mode::Hot | Mode::Batch if is_host_timed => HOT_HOST,
        Mode::Cold if launches > QUEUE => COLD_LONG,
        Mode::Cold => COLD,
        Mode::Hot | Mode::Batch if launches > QUEUE => HOT_LONG,
        Mode::Hot | Mode::Batch => HOT,
    }
}
