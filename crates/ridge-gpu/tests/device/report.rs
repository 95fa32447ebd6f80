//! What a device is, and what things cost on it: for people who look at the log.

use ridge_gpu::{
    Argument, CudaDevice, Device, Dim3, Flush, FlushKind, Launch, Prepared, Program, WindowEnd,
    Work,
};
use ridge_model::quantity::Nanos;

use super::suite::Outcome;

const PATIENCE: Nanos = Nanos::new(20e9);
const ROUNDS: usize = 201;

/// Minimum, median and maximum.
fn spread(mut times: Vec<f64>) -> String {
    times.sort_by(f64::total_cmp);
    let at = |place: usize| Nanos::new(times[place]);
    let last = times.len() - 1;
    format!("min {}, median {}, max {}", at(0), at(last / 2), at(last))
}

pub(crate) fn print(device: &CudaDevice) -> Outcome {
    println!("{:#?}", device.properties());
    println!("{:#?}", device.sensors());
    println!("{:?}", device.memory()?);
    let text = "extern \"C\" __global__ void nothing(int) {}";
    let compiled = device.compile(&Program {
        text: text.to_owned(),
        name: "nothing.cu".to_owned(),
        ..Program::default()
    })?;
    let module = device.load(&compiled.image)?;
    let function = device.function(&module, "nothing")?;
    println!("{:?}", function.attributes());
    let launch = device.prepare(&Launch {
        function: &function,
        grid: Dim3::linear(1),
        block: Dim3::linear(32),
        cluster: None,
        dynamic_shared_bytes: 0,
        arguments: &[Argument::I32(0)],
        work: Work::default(),
    })?;
    let (empty, steps) = held_back(device, 0, &launch)?;
    println!("empty pair of events: {empty}");
    println!("smallest differences of events seen: {steps:?} ns");
    println!(
        "empty kernel between events: {}",
        held_back(device, 1, &launch)?.0
    );
    println!("20 empty kernels: {}", held_back(device, 20, &launch)?.0);
    let stream = device.stream()?;
    let calls = |call: &dyn Fn() -> Outcome| -> Result<String, libtest_mimic::Failed> {
        let mut times = Vec::with_capacity(ROUNDS);
        for _ in 0..ROUNDS {
            let start = device.now();
            call()?;
            times.push((device.now() - start).get());
            device.synchronize(&stream, PATIENCE)?;
        }
        Ok(spread(times))
    };
    println!("reading the clock of the host: {}", calls(&|| Ok(()))?);
    println!(
        "call of a launch: {}",
        calls(&|| Ok(device.launch(&stream, &launch)?))?
    );
    println!(
        "launch and wait: {}",
        calls(&|| {
            device.launch(&stream, &launch)?;
            Ok(device.synchronize(&stream, PATIENCE)?)
        })?
    );
    for kind in [FlushKind::Read, FlushKind::Write] {
        let flush = Flush { kind, times_l2: 2 };
        device.flush_l2(&stream, flush)?;
        let (start, stop) = (device.event()?, device.event()?);
        let mut times = Vec::with_capacity(ROUNDS);
        for _ in 0..ROUNDS {
            device.record(&stream, &start)?;
            device.flush_l2(&stream, flush)?;
            device.record(&stream, &stop)?;
            device.synchronize(&stream, PATIENCE)?;
            times.push(device.elapsed(&start, &stop)?.get());
        }
        println!(
            "flush of twice the L2 by {}: {}",
            kind.name(),
            spread(times)
        );
    }
    // Long enough for the clock to rise: the flushes above were work.
    let probe = device.clock_probe()?;
    for launches in [1, 1000] {
        device.stamp(&stream, &probe, WindowEnd::Start)?;
        for _ in 0..launches {
            device.launch(&stream, &launch)?;
        }
        device.stamp(&stream, &probe, WindowEnd::Stop)?;
        device.synchronize(&stream, PATIENCE)?;
        println!(
            "clock over {launches} empty kernels: {:?}",
            device.clock(&probe)?
        );
    }
    println!(
        "sensors: {}",
        calls(&|| {
            let _ = device.sensors();
            Ok(())
        })?
    );
    println!(
        "resetting persisting lines: {}",
        calls(&|| Ok(device.reset_persisting_l2()?))?
    );
    Ok(())
}

/// Times of so many launches between two events, and the smallest differences between them.
fn held_back(
    device: &CudaDevice,
    launches: usize,
    launch: &Prepared,
) -> Result<(String, Vec<f64>), libtest_mimic::Failed> {
    let stream = device.stream()?;
    let (start, stop) = (device.event()?, device.event()?);
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let block = device.block(&stream, PATIENCE)?;
        device.record(&stream, &start)?;
        for _ in 0..launches {
            device.launch(&stream, launch)?;
        }
        device.record(&stream, &stop)?;
        block.release();
        device.synchronize(&stream, PATIENCE)?;
        times.push(device.elapsed(&start, &stop)?.get());
    }
    let mut sorted = times.clone();
    sorted.sort_by(f64::total_cmp);
    let mut steps: Vec<f64> = sorted
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .filter(|step| *step > 0.0)
        .collect();
    steps.sort_by(f64::total_cmp);
    steps.dedup();
    steps.truncate(5);
    Ok((spread(times), steps))
}
