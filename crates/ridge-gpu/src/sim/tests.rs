use ridge_model::{NumberFormat, PeakUnit};

use super::*;
use crate::device::{Access, Dim3, Effect, FlushKind, Operations, SensorSource, Work};
use crate::error::Fault;

const SECOND: Nanos = Nanos::new(1e9);
const MIB: u64 = 1 << 20;

fn open(settings: &str) -> SimDevice {
    SimDevice::open(&SimOptions::parse(&format!("h200,{settings}")).unwrap()).unwrap()
}

/// A copy of `bytes`, under a name that settings can mean.
struct Copy {
    from: Buffer,
    to: Buffer,
    launch: Prepared,
}

fn copy(device: &SimDevice, name: &str, bytes: u64) -> Copy {
    let text = format!("extern \"C\" __global__ void {name}(float* to, float* from) {{}}");
    let program = Program {
        text,
        ..Program::default()
    };
    let module = device
        .load(&device.compile(&program).unwrap().image)
        .unwrap();
    let function = device.function(&module, name).unwrap();
    let (from, to) = (
        device.allocate(bytes).unwrap(),
        device.allocate(bytes).unwrap(),
    );
    device.write(&from, 0, &[1; 1000]).unwrap();
    let access = |buffer, effect| Access {
        buffer,
        offset: 0,
        bytes,
        times: 1.0,
        effect,
    };
    let launch = device
        .prepare(&Launch {
            function: &function,
            grid: Dim3::linear(1024),
            block: Dim3::linear(256),
            cluster: None,
            dynamic_shared_bytes: 0,
            arguments: &[],
            work: Work {
                accesses: &[
                    access(&from, Effect::Read),
                    access(&to, Effect::Write(NumberFormat::Fp32)),
                ],
                operations: &[],
                problem: 5,
            },
        })
        .unwrap();
    Copy { from, to, launch }
}

/// One launch between events, held back until all is queued.
fn timed(device: &SimDevice, launch: &Prepared) -> Result<f64> {
    let (stream, start, stop) = (device.stream()?, device.event()?, device.event()?);
    let block = device.block(&stream, SECOND)?;
    device.record(&stream, &start)?;
    device.launch(&stream, launch)?;
    device.record(&stream, &stop)?;
    block.release();
    device.synchronize(&stream, SECOND)?;
    Ok(device.elapsed(&start, &stop)?.get())
}

fn flush(device: &SimDevice, kind: FlushKind) {
    let stream = device.stream().unwrap();
    device
        .flush_l2(&stream, Flush { kind, times_l2: 2 })
        .unwrap();
    device.synchronize(&stream, SECOND).unwrap();
}

/// 1 GiB read and 1 GiB written at nine tenths of 4814 GB/s take 495.6 us.
#[test]
fn a_large_copy_runs_at_the_bandwidth_of_dram() {
    let device = open("noise=0");
    let copy = copy(&device, "copy", 1024 * MIB);
    timed(&device, &copy.launch).unwrap();
    let time = timed(&device, &copy.launch).unwrap();
    let expected = 2.0 * 1024.0 * 1_048_576.0 / (4814.0 * 0.9);
    assert!(
        (time / expected - 1.0).abs() < 0.01,
        "{time} and {expected}"
    );
}

#[test]
fn hot_is_faster_than_cold_and_dirty_lines_cost() {
    let device = open("noise=0");
    let copy = copy(&device, "copy", 16 * MIB);
    timed(&device, &copy.launch).unwrap();
    let hot = timed(&device, &copy.launch).unwrap();
    flush(&device, FlushKind::Read);
    let cold = timed(&device, &copy.launch).unwrap();
    flush(&device, FlushKind::Write);
    let dirty = timed(&device, &copy.launch).unwrap();
    assert!(hot + 400.0 < cold, "{hot} and {cold}");
    assert!(dirty > 1.5 * cold, "{dirty} and {cold}");
}

/// As seen on a real device: without holding the stream back, the host is in the time.
#[test]
fn latency_of_launches_is_visible_unless_the_stream_is_held_back() {
    let device = open("noise=0");
    let copy = copy(&device, "copy", MIB);
    timed(&device, &copy.launch).unwrap();
    let hidden = timed(&device, &copy.launch).unwrap();
    let (stream, start, stop) = (
        device.stream().unwrap(),
        device.event().unwrap(),
        device.event().unwrap(),
    );
    device.record(&stream, &start).unwrap();
    device.launch(&stream, &copy.launch).unwrap();
    device.record(&stream, &stop).unwrap();
    device.synchronize(&stream, SECOND).unwrap();
    let visible = device.elapsed(&start, &stop).unwrap().get();
    assert!(visible > hidden + 3_000.0, "{visible} and {hidden}");
}

#[test]
fn all_times_are_whole_steps_and_follow_from_the_seed() {
    let times = |seed: u32| -> Vec<f64> {
        let device = open(&format!("seed={seed}"));
        let copy = copy(&device, "copy", 4 * MIB);
        (0..50)
            .map(|_| timed(&device, &copy.launch).unwrap())
            .collect()
    };
    let first = times(1);
    assert_eq!(first, times(1));
    assert_ne!(first, times(2));
    assert!(first.iter().all(|time| (time / 32.0).fract().abs() < 1e-9));
}

#[test]
fn operations_cost_what_the_peak_promises_at_the_clock_of_the_moment() {
    let run = |settings: &str| {
        let device = open(settings);
        let kernel = copy(&device, "k", MIB);
        let module = device
            .load(b".version 7.0\n.visible .entry fma()\n")
            .unwrap();
        let function = device.function(&module, "fma").unwrap();
        let operations = [Operations {
            format: NumberFormat::Fp32,
            unit: PeakUnit::Vector,
            count: 66.91e9,
        }];
        let launch = device
            .prepare(&Launch {
                function: &function,
                grid: Dim3::linear(132),
                block: Dim3::linear(1024),
                cluster: Some(Dim3::linear(2)),
                dynamic_shared_bytes: 200 << 10,
                arguments: &[],
                work: Work {
                    operations: &operations,
                    ..Work::default()
                },
            })
            .unwrap();
        drop(kernel);
        timed(&device, &launch).unwrap()
    };
    // 66.91 GFLOP at 66.91 TFLOP/s take 1 ms; 95 % of it are reached.
    let full = run("noise=0");
    assert!((full / (1e6 / 0.95) - 1.0).abs() < 0.01, "{full}");
    let slow = run("noise=0,throttle=0:0.5");
    assert!((slow / full - 2.0).abs() < 0.02, "{slow} and {full}");
}

#[test]
fn outputs_follow_from_problem_and_inputs() {
    let device = open("wrong=bad");
    let output = |name: &str| {
        let copy = copy(&device, name, MIB);
        let stream = device.stream().unwrap();
        device.fill(&stream, &copy.to, 0xff).unwrap();
        device.write(&copy.from, 0, &[3; MIB as usize]).unwrap();
        device.launch(&stream, &copy.launch).unwrap();
        device.synchronize(&stream, SECOND).unwrap();
        let mut bytes = vec![0; MIB as usize];
        device.read(&copy.to, 0, &mut bytes).unwrap();
        bytes
    };
    let first = output("one");
    assert!(first == output("two"));
    assert!(first != output("bad"));
    let value = f32::from_le_bytes(first[..4].try_into().unwrap());
    assert!(value.abs() < 1.0, "{value}");
}

#[test]
fn the_clock_of_a_window_is_measured_and_may_fail() {
    let measured = |settings: &str| {
        let device = open(settings);
        let copy = copy(&device, "copy", 256 * MIB);
        let (stream, probe) = (device.stream().unwrap(), device.clock_probe().unwrap());
        device.stamp(&stream, &probe, WindowEnd::Start).unwrap();
        device.launch(&stream, &copy.launch).unwrap();
        device.stamp(&stream, &probe, WindowEnd::Stop).unwrap();
        device.synchronize(&stream, SECOND).unwrap();
        device.clock(&probe).unwrap()
    };
    let clock = measured("noise=0").unwrap();
    assert!((clock.clock.get() / 1.98e9 - 1.0).abs() < 0.01, "{clock:?}");
    let slow = measured("throttle=0:0.8").unwrap();
    assert!((slow.clock.get() / 1.584e9 - 1.0).abs() < 0.01, "{slow:?}");
    assert_eq!(measured("probe=off"), None);
}

#[test]
fn what_hangs_ends_the_context_after_the_time_that_was_allowed() {
    let device = open("hang=copy:1");
    let copy = copy(&device, "copy", MIB);
    timed(&device, &copy.launch).unwrap();
    let before = device.now();
    let error = timed(&device, &copy.launch).unwrap_err();
    assert_eq!(error, DeviceError::Timeout { after: SECOND });
    assert!(device.now() - before >= SECOND);
    let again = device.stream().unwrap_err();
    assert_eq!(again.root(), &error);
    assert_eq!(device.death(), Some(error));
}

#[test]
fn a_fault_is_told_once_and_then_as_the_cause() {
    let device = open("illegal=copy");
    let copy = copy(&device, "copy", MIB);
    let error = timed(&device, &copy.launch).unwrap_err();
    assert_eq!(
        error,
        DeviceError::Fault {
            fault: Fault::IllegalAddress,
            call: "synchronize"
        }
    );
    let dead = device.allocate(MIB).unwrap_err();
    assert!(matches!(dead, DeviceError::Dead { .. }));
    assert_eq!(dead.code(), "GPU0133");
}

#[test]
fn who_waits_inside_a_blocked_stream_is_told_so() {
    let device = open("waits=copy");
    let copy = copy(&device, "copy", MIB);
    let stream = device.stream().unwrap();
    let block = device.block(&stream, Nanos::new(5e6)).unwrap();
    device.launch(&stream, &copy.launch).unwrap();
    block.release();
    let error = device.synchronize(&stream, SECOND).unwrap_err();
    assert_eq!(
        error,
        DeviceError::BlockExpired {
            after: Nanos::new(5e6)
        }
    );
    // It is no fatal one.
    timed(&device, &copy.launch).unwrap_err();
    device.synchronize(&stream, SECOND).unwrap();
}

#[test]
fn a_block_that_is_dropped_releases_its_stream() {
    let device = open("seed=1");
    let stream = device.stream().unwrap();
    let other = device.stream().unwrap();
    let block = device.block(&stream, SECOND).unwrap();
    assert!(!device.is_done(&stream).unwrap());
    assert!(device.block(&other, SECOND).is_err());
    drop(block);
    device.synchronize(&stream, SECOND).unwrap();
    assert!(device.is_done(&stream).unwrap());
    drop(device.block(&other, SECOND).unwrap());
}

#[test]
fn freeing_memory_releases_a_blocked_stream() {
    let device = open("seed=1");
    let stream = device.stream().unwrap();
    let buffer = device.allocate(MIB).unwrap();
    let block = device.block(&stream, SECOND).unwrap();
    device.fill(&stream, &buffer, 1).unwrap();
    assert!(!device.is_done(&stream).unwrap());
    let event = device.event().unwrap();
    drop(event);
    assert!(!device.is_done(&stream).unwrap());
    // The fill holds the memory too; another piece is free at once.
    drop(device.allocate(MIB).unwrap());
    device.pause(Nanos::new(1e6));
    device.is_done(&stream).unwrap();
    device.pause(Nanos::new(1e6));
    assert!(device.is_done(&stream).unwrap());
    drop(block);
}

#[test]
fn streams_wait_for_events_of_others() {
    let device = open("noise=0");
    let (first, second) = (device.stream().unwrap(), device.stream().unwrap());
    let go = device.event().unwrap();
    let ends = [device.event().unwrap(), device.event().unwrap()];
    let starts = [device.event().unwrap(), device.event().unwrap()];
    let pinned = [
        device.allocate_pinned(64 * MIB).unwrap(),
        device.allocate_pinned(64 * MIB).unwrap(),
    ];
    let buffers = [
        device.allocate(64 * MIB).unwrap(),
        device.allocate(64 * MIB).unwrap(),
    ];
    let block = device.block(&first, SECOND).unwrap();
    device.record(&first, &go).unwrap();
    device.wait(&second, &go).unwrap();
    for (stream, start) in [&first, &second].into_iter().zip(&starts) {
        device.record(stream, start).unwrap();
    }
    device
        .upload(&first, &pinned[0], &buffers[0], 64 * MIB)
        .unwrap();
    device
        .download(&second, &buffers[1], &pinned[1], 64 * MIB)
        .unwrap();
    for (stream, end) in [&first, &second].into_iter().zip(&ends) {
        device.record(stream, end).unwrap();
    }
    assert_eq!(
        device.elapsed(&starts[1], &ends[1]),
        Err(DeviceError::NotReady)
    );
    block.release();
    device.synchronize(&first, SECOND).unwrap();
    device.synchronize(&second, SECOND).unwrap();
    // 64 MiB at 88 % of 63.02 GB/s take 1.21 ms; both directions at once do not take longer.
    for (start, end) in starts.iter().zip(&ends) {
        let time = device.elapsed(start, end).unwrap().get();
        assert!((time / 1.21e6 - 1.0).abs() < 0.02, "{time}");
    }
}

/// Two streams that start each round together are as fast as one, also where the events are recorded again in each round.
#[test]
fn events_that_are_recorded_again_are_others() {
    let device = open("noise=0");
    let (first, second) = (device.stream().unwrap(), device.stream().unwrap());
    let [go, back, start, stop] = [(); 4].map(|()| device.event().unwrap());
    let (from, to) = (
        device.allocate_pinned(16 * MIB).unwrap(),
        device.allocate_pinned(16 * MIB).unwrap(),
    );
    let buffers = [
        device.allocate(16 * MIB).unwrap(),
        device.allocate(16 * MIB).unwrap(),
    ];
    let block = device.block(&first, SECOND).unwrap();
    device.record(&first, &start).unwrap();
    for _ in 0..8 {
        device.record(&first, &go).unwrap();
        device.wait(&second, &go).unwrap();
        device.upload(&first, &from, &buffers[0], 16 * MIB).unwrap();
        device
            .download(&second, &buffers[1], &to, 16 * MIB)
            .unwrap();
        device.record(&second, &back).unwrap();
        device.wait(&first, &back).unwrap();
    }
    device.record(&first, &stop).unwrap();
    block.release();
    device.synchronize(&first, SECOND).unwrap();
    // 16 MiB at 88 % of 63.02 GB/s take 302.5 us.
    let time = device.elapsed(&start, &stop).unwrap().get();
    assert!((time / (8.0 * 302.5e3) - 1.0).abs() < 0.05, "{time}");
}

#[test]
fn memory_is_counted_and_given_back() {
    let device = open("shared=0.5");
    let free = || device.memory().unwrap().free.get() as u64;
    let before = free();
    assert_eq!(before, 141_000_000_000 / 2);
    let buffer = device.allocate(1 << 30).unwrap();
    assert_eq!(free(), before - (1 << 30));
    drop(buffer);
    assert_eq!(free(), before);
    let error = device.allocate(1 << 40).unwrap_err();
    assert_eq!(
        error.to_string(),
        "device memory is not enough: 1.10 TB asked for, 70.5 GB free"
    );
    assert_eq!(device.sensors().processes.unwrap().len(), 2);
}

#[test]
fn calls_are_recorded_and_can_be_made_to_fail() {
    let device = open("seed=1");
    let copy = copy(&device, "copy", MIB);
    device.record_calls();
    timed(&device, &copy.launch).unwrap();
    assert_eq!(
        device.take_calls(),
        [
            "stream",
            "event",
            "event",
            "block",
            "record",
            "launch",
            "record",
            "release",
            "synchronize",
            "elapsed"
        ]
    );
    device.fail("record", 1);
    device.record_calls();
    let error = timed(&device, &copy.launch).unwrap_err();
    assert_eq!(error, DeviceError::Injected { call: "record" });
    assert_eq!(device.take_calls().last(), Some(&"release"));
    timed(&device, &copy.launch).unwrap();
}

#[test]
fn graphs_cost_less_for_each_launch() {
    let device = open("noise=0");
    let copy = copy(&device, "copy", MIB);
    let graphs = [10, 110].map(|count| device.graph(&vec![&copy.launch; count]).unwrap());
    let time = |graph: &Graph| {
        let (stream, start, stop) = (
            device.stream().unwrap(),
            device.event().unwrap(),
            device.event().unwrap(),
        );
        let block = device.block(&stream, SECOND).unwrap();
        device.record(&stream, &start).unwrap();
        device.launch_graph(&stream, graph).unwrap();
        device.record(&stream, &stop).unwrap();
        block.release();
        device.synchronize(&stream, SECOND).unwrap();
        device.elapsed(&start, &stop).unwrap().get()
    };
    time(&graphs[0]);
    let slope = (time(&graphs[1]) - time(&graphs[0])) / 100.0;
    let alone = timed(&device, &copy.launch).unwrap();
    assert!(slope < alone, "{slope} and {alone}");
    assert_eq!(graphs[1].launches(), 110);
    assert!(device.graph(&[]).is_err());
}

#[test]
fn a_simulated_device_says_that_it_is_one() {
    let device = open("seed=3");
    let properties = device.properties();
    assert!(properties.is_simulated());
    assert_eq!(properties.name, "simulated H200 SXM");
    assert!(properties.uuid.as_ref().unwrap().starts_with("SIM-"));
    assert_eq!(properties.sensors, SensorSource::Simulated);
}

/// 88 % of the link of the table: NVLink on an H200, PCIe on an L4.
#[test]
fn copies_to_other_devices_run_at_the_rate_of_their_link() {
    for (settings, rate, link) in [
        ("h200,peers=2", 450.0, PeerLink::NvLink { links: None }),
        ("l4,peers=1", 31.5, PeerLink::Pcie),
    ] {
        let device = SimDevice::open(&SimOptions::parse(settings).unwrap()).unwrap();
        let peers = device.peers().unwrap();
        let last = peers.last().unwrap();
        assert_eq!(last.link, Some(link));
        assert_eq!(last.ordinal as usize, peers.len());
        let bytes = 64 * MIB;
        let (own, there) = (
            device.allocate(bytes).unwrap(),
            device.allocate_peer(last.ordinal, bytes).unwrap(),
        );
        let stream = device.stream().unwrap();
        let (start, stop) = (device.event().unwrap(), device.event().unwrap());
        device.record(&stream, &start).unwrap();
        device.copy_to_peer(&stream, &own, &there, bytes).unwrap();
        device.record(&stream, &stop).unwrap();
        device.synchronize(&stream, SECOND).unwrap();
        let seen = bytes as f64 / device.elapsed(&start, &stop).unwrap().get();
        assert!((0.82..0.89).contains(&(seen / rate)), "{settings}: {seen}");
        assert!(device.allocate_peer(last.ordinal + 1, MIB).is_err());
    }
    assert!(open("seed=1").peers().unwrap().is_empty());
}

#[test]
fn handles_of_another_device_are_refused() {
    let (one, other) = (open("seed=1"), open("seed=1"));
    let stream = one.stream().unwrap();
    let buffer = one.allocate(MIB).unwrap();
    let foreign = |result: Result<()>| matches!(result, Err(DeviceError::Foreign { .. }));
    assert!(foreign(other.synchronize(&stream, SECOND)));
    assert!(foreign(other.write(&buffer, 0, &[1])));
    assert!(one.write(&buffer, MIB, &[1]).is_err());
}

#[test]
fn a_device_of_which_too_little_is_known_is_refused() {
    let error = SimDevice::open(&SimOptions::named("b300").unwrap()).unwrap_err();
    assert!(error.to_string().contains("B300"), "{error}");
}

#[test]
fn wrong_launches_are_refused_with_the_limit() {
    let device = open("registers=greedy");
    let module = device
        .load(b".version 7.0\n.visible .entry greedy()\n.visible .entry fine()\n")
        .unwrap();
    let prepare = |name: &str, grid, block, cluster, shared| {
        let function = device.function(&module, name).unwrap();
        device.prepare(&Launch {
            function: &function,
            grid,
            block,
            cluster,
            dynamic_shared_bytes: shared,
            arguments: &[],
            work: Work::default(),
        })
    };
    let one = Dim3::linear(1);
    for (result, code) in [
        (prepare("fine", Dim3::linear(0), one, None, 0), "GPU0122"),
        (
            prepare("fine", Dim3::new(1, 70_000, 1), one, None, 0),
            "GPU0122",
        ),
        (prepare("fine", one, Dim3::linear(1025), None, 0), "GPU0122"),
        (
            prepare("fine", one, Dim3::new(1, 1, 65), None, 0),
            "GPU0122",
        ),
        (prepare("fine", one, one, None, 228 << 10), "GPU0123"),
        (
            prepare("fine", Dim3::linear(3), one, Some(Dim3::linear(2)), 0),
            "GPU0122",
        ),
        (
            prepare("greedy", one, Dim3::linear(512), None, 0),
            "GPU0123",
        ),
    ] {
        assert_eq!(result.unwrap_err().code(), code);
    }
    assert!(prepare("greedy", one, Dim3::linear(256), None, 0).is_ok());
    let error = device.function(&module, "grady").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the image has no kernel grady; it has greedy, fine"
    );
}
