//! What a launch costs: four different numbers, and what an event costs.

use ridge_gpu::{Argument, DeviceError, Graph, Prepared};

use super::document::{Detail, Family, Figure, Measured, Path, Unit};
use super::probe::Shape;
use super::runner::{Runner, median, spread_of_times, state_of};
use crate::protocol::Failure;

/// An empty kernel as text that every driver compiles by itself, so that no compiler is needed.
const EMPTY: &str =
    ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry ridge_empty()\n{\n\tret;\n}\n";
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
    let mut add = |id: &str, name: &str, variant: &str, counts: &str, times: Vec<f64>| {
        measured.figures.push(Figure {
            id: id.to_owned(),
            family: Family::Launch,
            name: name.to_owned(),
            path: Path::Driver,
            format: None,
            unit: Unit::Nanoseconds,
            counts: counts.to_owned(),
            variant: variant.to_owned(),
            burst: spread_of_times(times, Vec::new(), state_of(device)),
            sustained: None,
            per_sm_cycle: None,
            architecture_per_sm_cycle: None,
            peak: None,
            checksum: None,
            details: Vec::new(),
        });
    };

    let mut calls = Vec::new();
    let mut waits = Vec::new();
    for _ in 0..MANY {
        let before = device.now().get();
        device.launch(stream, &launch)?;
        calls.push(device.now().get() - before);
        runner.synchronize()?;
        waits.push(device.now().get() - before);
    }
    add(
        "launch-call",
        "launch, the call",
        "an empty kernel, the stream idle",
        "time of the host in one call",
        calls,
    );
    add(
        "launch-wait",
        "launch and wait",
        "an empty kernel, the stream idle, polled",
        "time of the host from the call to the end of the wait",
        waits,
    );
    let mut rows = Vec::new();
    for _ in 0..runner.settings.repeats {
        let before = device.now().get();
        for _ in 0..IN_A_ROW {
            device.launch(stream, &launch)?;
        }
        runner.synchronize()?;
        rows.push((device.now().get() - before) / f64::from(IN_A_ROW));
    }
    add(
        "launch-in-a-row",
        "launches in a row",
        &format!("{IN_A_ROW} empty kernels from one thread"),
        "time of the host for each",
        rows,
    );
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
    add(
        "launch-queued",
        "launches that are queued",
        &format!("{QUEUED} empty kernels behind a blocked stream"),
        "time of the device for each but the first: gap and kernel",
        gaps,
    );
    let mut events = Vec::new();
    for _ in 0..runner.settings.repeats {
        events.push(runner.timed(&|_| Ok(()))?);
    }
    add(
        "event-pair",
        "two events with nothing between",
        "behind a blocked stream",
        "time of the device",
        events,
    );
    tell("graphs");
    let mut totals = Vec::new();
    for nodes in NODES {
        let launches: Vec<&Prepared> = (0..nodes).map(|_| &launch).collect();
        let graph: Graph = device.graph(&launches)?;
        device.launch_graph(stream, &graph)?;
        runner.synchronize()?;
        let mut times = Vec::new();
        for _ in 0..runner.settings.repeats {
            times.push(runner.timed(&|stream| device.launch_graph(stream, &graph))?);
        }
        totals.push((nodes as f64, times));
    }
    let (fixed, each) = line(
        totals
            .iter()
            .map(|(nodes, times)| (*nodes, median(times.clone()))),
    );
    // The spread is that of the longest graph, spread over its nodes.
    let long: Vec<f64> = totals
        .pop()
        .map(|(nodes, times)| {
            times
                .into_iter()
                .map(|time| (time - fixed).max(0.0) / nodes)
                .collect()
        })
        .unwrap_or_default();
    add(
        "graph-node",
        "node of a graph",
        "empty kernels in a line, 1, 10 and 100 of them",
        "time of the device for each node, fitted as a + b x nodes",
        long,
    );
    if let Some(figure) = measured.figures.last_mut() {
        figure.details = vec![
            Detail {
                name: "a, of a whole graph".to_owned(),
                value: fixed,
                unit: "ns".to_owned(),
            },
            Detail {
                name: "b, of each node".to_owned(),
                value: each,
                unit: "ns".to_owned(),
            },
        ];
    }
    Ok(())
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
