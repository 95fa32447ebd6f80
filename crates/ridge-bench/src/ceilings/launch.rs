//! What a launch costs: four different numbers, and what an event costs.

use ridge_gpu::{Argument, Device, DeviceError, Graph, Prepared};

use super::document::{Detail, Family, Figure, Measured, Path, Unit};
use super::probe::{Label, Shape, reads};
use super::runner::{Runner, median, spread_of_times, state_of};
use crate::protocol::Failure;

/// An empty kernel as text that every driver compiles by itself, so that no compiler is needed.
const EMPTY: &str =
    ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry ridge_empty()\n{\n\tret;\n}\n";
/// One that hands data on: each thread adds one to a word, which the next launch reads.
const STEP: &str = "\
.version 6.0
.target sm_50
.address_size 64
.visible .entry ridge_step(.param .u64 words)
{
\t.reg .b32 %r<3>;
\t.reg .b64 %rd<4>;
\tld.param.u64 %rd1, [words];
\tcvta.to.global.u64 %rd1, %rd1;
\tmov.u32 %r1, %tid.x;
\tmul.wide.u32 %rd2, %r1, 4;
\tadd.s64 %rd3, %rd1, %rd2;
\tld.global.u32 %r2, [%rd3];
\tadd.u32 %r2, %r2, 1;
\tst.global.u32 [%rd3], %r2;
\tret;
}
";
/// Threads of its only block.
const STEP_THREADS: u32 = 256;
/// Launches one after the other.
const IN_A_ROW: u32 = 1000;
/// Launches behind a blocked stream.
const QUEUED: u32 = 24;
/// Nodes of the graphs whose times are fitted.
const NODES: [usize; 3] = [1, 10, 100];
/// Repeats of what takes a few microseconds.
const MANY: u32 = 200;

pub(super) fn measure(
    runner: &Runner<'_>,
    measured: &mut Measured,
    tell: &mut dyn FnMut(&str),
) -> Result<(), Failure> {
    let device = runner.device;
    tell("launches");
    let module = device.load(EMPTY.as_bytes())?;
    let function = device.function(&module, "ridge_empty")?;
    let launch = Shape {
        function: &function,
        blocks: 1,
        threads: 32,
        arguments: &[] as &[Argument<'_>],
        accesses: &[],
        operations: &[],
    }
    .prepare(device)?;
    let stream = &runner.stream;
    for _ in 0..MANY {
        device.launch(stream, &launch)?;
    }
    runner.synchronize()?;
    let mut calls = Vec::new();
    let mut waits = Vec::new();
    for _ in 0..MANY {
        let before = device.now().get();
        device.launch(stream, &launch)?;
        calls.push(device.now().get() - before);
        runner.synchronize()?;
        waits.push(device.now().get() - before);
    }
    measured.figures.push(figure(
        device,
        "launch-call",
        "launch, the call",
        "an empty kernel, the stream idle",
        "time of the host in one call",
        calls,
    ));
    measured.figures.push(figure(
        device,
        "launch-wait",
        "launch and wait",
        "an empty kernel, the stream idle, polled",
        "time of the host from the call to the end of the wait",
        waits,
    ));
    let mut rows = Vec::new();
    for _ in 0..runner.settings.repeats {
        let before = device.now().get();
        for _ in 0..IN_A_ROW {
            device.launch(stream, &launch)?;
        }
        runner.synchronize()?;
        rows.push((device.now().get() - before) / f64::from(IN_A_ROW));
    }
    measured.figures.push(figure(
        device,
        "launch-in-a-row",
        "launches in a row",
        &format!("{IN_A_ROW} empty kernels from one thread"),
        "time of the host for each",
        rows,
    ));
    let mut gaps = Vec::new();
    let queue = |count: u32| {
        let launch = &launch;
        move |stream: &ridge_gpu::Stream| -> Result<(), DeviceError> {
            (0..count).try_for_each(|_| device.launch(stream, launch))
        }
    };
    for _ in 0..runner.settings.repeats {
        let one = runner.timed(&queue(1))?;
        let all = runner.timed(&queue(QUEUED))?;
        gaps.push((all - one).max(0.0) / f64::from(QUEUED - 1));
    }
    measured.figures.push(figure(
        device,
        "launch-queued",
        "launches that are queued",
        &format!("{QUEUED} empty kernels behind a blocked stream"),
        "time of the device for each but the first: gap and kernel",
        gaps,
    ));
    let mut events = Vec::new();
    for _ in 0..runner.settings.repeats {
        events.push(runner.timed(&|_| Ok(()))?);
    }
    measured.figures.push(figure(
        device,
        "event-pair",
        "two events with nothing between",
        "behind a blocked stream",
        "time of the device",
        events,
    ));
    tell("graphs");
    let nodes = graph(runner, &launch)?;
    measured.figures.push(figure(
        device,
        "graph-node",
        "node of a graph",
        "empty kernels in a line, 1, 10 and 100 of them",
        "time of the device for each node, fitted as a + b x nodes",
        nodes.each,
    ));
    if let Some(figure) = measured.figures.last_mut() {
        figure.details = nodes.details;
    }
    let module = device.load(STEP.as_bytes())?;
    let function = device.function(&module, "ridge_step")?;
    let words = device.allocate(u64::from(STEP_THREADS) * 4)?;
    let step = Shape {
        function: &function,
        blocks: 1,
        threads: STEP_THREADS,
        arguments: &[Argument::buffer(&words)],
        accesses: &[reads(&words, words.bytes(), 1.0)],
        operations: &[],
    }
    .prepare(device)?;
    let nodes = graph(runner, &step)?;
    measured.figures.push(figure(
        device,
        "graph-node-data",
        "node that hands data on",
        "a block of 256 threads: a load, an addition, a store; 1, 10 and 100 in a line",
        "time of the device for each node, fitted as a + b x nodes",
        nodes.each,
    ));
    if let Some(figure) = measured.figures.last_mut() {
        figure.details = nodes.details;
    }
    Ok(())
}

/// A figure of times.
fn figure(
    device: &dyn Device,
    id: &str,
    name: &str,
    variant: &str,
    counts: &str,
    times: Vec<f64>,
) -> Figure {
    Label {
        id,
        family: Family::Launch,
        name,
        path: Path::Driver,
        format: None,
        unit: Unit::Nanoseconds,
        counts,
    }
    .named(
        variant,
        spread_of_times(times, Vec::new(), state_of(device)),
    )
}

/// What graphs of one launch took.
struct Nodes {
    /// The time of each node in the longest one, by its repeats.
    each: Vec<f64>,
    /// What was fitted.
    details: Vec<Detail>,
}

/// Times graphs with one launch again and again in a line.
fn graph(runner: &Runner<'_>, launch: &Prepared) -> Result<Nodes, DeviceError> {
    let device = runner.device;
    let mut totals = Vec::new();
    for nodes in NODES {
        let launches: Vec<&Prepared> = (0..nodes).map(|_| launch).collect();
        let graph: Graph = device.graph(&launches)?;
        device.launch_graph(&runner.stream, &graph)?;
        runner.synchronize()?;
        let mut times = Vec::new();
        for _ in 0..runner.settings.repeats {
            times.push(runner.timed(&|stream| device.launch_graph(stream, &graph))?);
        }
        totals.push((nodes as f64, times));
    }
    let (fixed, slope) = line(
        totals
            .iter()
            .map(|(nodes, times)| (*nodes, median(times.clone()))),
    );
    // The spread is that of the longest graph, spread over its nodes.
    let each = totals.pop().map(|(nodes, times)| {
        let of_node = |time: f64| (time - fixed).max(0.0) / nodes;
        times.into_iter().map(of_node).collect()
    });
    let detail = |name: &str, value| Detail {
        name: name.to_owned(),
        value,
        unit: "ns".to_owned(),
    };
    Ok(Nodes {
        each: each.unwrap_or_default(),
        details: vec![
            detail("a, of a whole graph", fixed),
            detail("b, of each node", slope),
        ],
    })
}

/// The line through points by least squares: where it starts, and its slope.
pub(super) fn line(points: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let count = points.clone().count() as f64;
    if count < 2.0 {
        return (0.0, 0.0);
    }
    let mean_x = points.clone().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = points.clone().map(|(_, y)| y).sum::<f64>() / count;
    let above: f64 = points
        .clone()
        .map(|(x, y)| (x - mean_x) * (y - mean_y))
        .sum();
    let below: f64 = points.map(|(x, _)| (x - mean_x).powi(2)).sum();
    if below > 0.0 {
        let slope = above / below;
        (mean_y - slope * mean_x, slope)
    } else {
        (mean_y, 0.0)
    }
}
