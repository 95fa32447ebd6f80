//! One sample: a list of steps, run on a device.

use ridge_gpu::{
    Block, ClockProbe, ClockReading, Device, DeviceError, Event, Flush, Graph, WindowEnd,
};
use ridge_model::quantity::Nanos;

use super::loaded::Loaded;
use super::mode::Mode;
use super::order::{QUEUE, Step, order};

/// What a sample needs beside its launches; made once.
pub(super) struct Instruments {
    start: Event,
    middle: Event,
    stop: Event,
    probe: ClockProbe,
}

impl Instruments {
    pub(super) fn new(device: &dyn Device) -> Result<Self, DeviceError> {
        Ok(Self {
            start: device.event()?,
            middle: device.event()?,
            stop: device.event()?,
            probe: device.clock_probe()?,
        })
    }
}

/// What a sample is made of.
pub(super) struct Recipe<'r> {
    pub(super) mode: Mode,
    pub(super) steps: &'static [Step],
    /// Launches between the events; 0 for an empty pair.
    pub(super) launches: u64,
    /// What the time is divided by.
    pub(super) divisor: f64,
    pub(super) graphs: Option<&'r (Graph, Graph)>,
    pub(super) flush: Flush,
    /// How long a stream may stay blocked.
    pub(super) block_for: Nanos,
}

impl<'r> Recipe<'r> {
    pub(super) fn new(
        mode: Mode,
        loaded: &Loaded<'_>,
        samples_at_once: u64,
        is_host_timed: bool,
        flush: Flush,
    ) -> Self {
        let launches = loaded.count() * samples_at_once;
        Self {
            mode,
            steps: order(mode, launches, is_host_timed),
            launches,
            divisor: samples_at_once.max(1) as f64,
            graphs: None,
            flush,
            block_for: loaded.timeout(),
        }
    }

    pub(super) const fn with_graphs(mut self, graphs: &'r (Graph, Graph)) -> Self {
        self.graphs = Some(graphs);
        self
    }
}

/// What a sample gave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw {
    /// The time, of one sample's launches.
    pub(super) time: Nanos,
    /// The window of the host.
    pub(super) host: Nanos,
    /// When the first step began and when the window of the host began and ended.
    pub(super) began: Nanos,
    pub(super) host_start: Nanos,
    pub(super) host_stop: Nanos,
    /// The clock in it.
    pub(super) clock: Option<ClockReading>,
}

/// What a running sample has got.
#[derive(Default)]
struct Progress {
    block: Option<Block>,
    host_start: Option<Nanos>,
    host_stop: Option<Nanos>,
}

/// Takes one sample. After a failure the stream is released and waited for, so that nothing of the sample is left in it.
pub(super) fn take(
    loaded: &Loaded<'_>,
    instruments: &Instruments,
    recipe: &Recipe<'_>,
) -> Result<Raw, DeviceError> {
    let device = loaded.device;
    let began = device.now();
    let mut progress = Progress::default();
    for step in recipe.steps {
        if let Err(error) = run(*step, loaded, instruments, recipe, &mut progress) {
            drop(progress.block.take());
            // The first error is the one to tell.
            let _ = loaded.synchronize();
            return Err(error);
        }
    }
    let host_start = progress.host_start.unwrap_or(began);
    let host_stop = progress.host_stop.unwrap_or(host_start);
    let host = host_stop - host_start;
    let elapsed = |from: &Event, to: &Event| device.elapsed(from, to);
    let whole = match recipe.mode {
        Mode::Latency => host,
        Mode::Graph => {
            elapsed(&instruments.middle, &instruments.stop)?
                - elapsed(&instruments.start, &instruments.middle)?
        }
        _ => elapsed(&instruments.start, &instruments.stop)?,
    };
    Ok(Raw {
        time: whole * (1.0 / recipe.divisor),
        host,
        began,
        host_start,
        host_stop,
        clock: device.clock(&instruments.probe)?,
    })
}

fn run(
    step: Step,
    loaded: &Loaded<'_>,
    instruments: &Instruments,
    recipe: &Recipe<'_>,
    progress: &mut Progress,
) -> Result<(), DeviceError> {
    let (device, stream) = (loaded.device, &loaded.stream);
    let head = recipe.launches.min(QUEUE);
    match step {
        Step::ResetPersisting => device.reset_persisting_l2(),
        Step::Flush => device.flush_l2(stream, recipe.flush),
        Step::Drain | Step::Wait => loaded.synchronize(),
        Step::HostStart => {
            progress.host_start = Some(device.now());
            Ok(())
        }
        Step::HostStop => {
            progress.host_stop = Some(device.now());
            Ok(())
        }
        Step::Block => {
            progress.block = Some(device.block(stream, recipe.block_for)?);
            Ok(())
        }
        Step::Unblock => {
            if let Some(block) = progress.block.take() {
                block.release();
            }
            Ok(())
        }
        Step::ProbeStart => device.stamp(stream, &instruments.probe, WindowEnd::Start),
        Step::ProbeStop => device.stamp(stream, &instruments.probe, WindowEnd::Stop),
        Step::EventStart => device.record(stream, &instruments.start),
        Step::EventMiddle => device.record(stream, &instruments.middle),
        Step::EventStop => device.record(stream, &instruments.stop),
        Step::Launch => loaded.launch(0, recipe.launches),
        Step::LaunchHead => loaded.launch(0, head),
        Step::LaunchTail => loaded.launch(head, recipe.launches - head),
        Step::SmallGraph => graph(loaded, recipe.graphs.map(|graphs| &graphs.0)),
        Step::LargeGraph => graph(loaded, recipe.graphs.map(|graphs| &graphs.1)),
    }
}

fn graph(loaded: &Loaded<'_>, graph: Option<&Graph>) -> Result<(), DeviceError> {
    graph.map_or(Ok(()), |graph| {
        loaded.device.launch_graph(&loaded.stream, graph)
    })
}
