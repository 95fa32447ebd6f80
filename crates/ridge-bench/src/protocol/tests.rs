use ridge_gpu::{SimDevice, SimOptions};

use super::sample::{Instruments, Recipe, take};
use super::*;
use crate::check::Rule;
use crate::expression::Names;
use crate::spec::Spec;
use ridge_model::quantity::Nanos;

const COPY: &str = r#"
bytes = "2 * n * 4"
[sizes]
n = 4194304
[buffers]
in = { type = "f32", length = "n", init = "random", seed = 1 }
out = { type = "f32", length = "n" }
[kernels.copy]
entry = "copy"
grid = 1024
block = 256
args = ["in", "out"]
[kernels.other]
entry = "other"
grid = 1024
block = 256
args = ["in", "out"]
"#;

const SOURCE: &str = "extern \"C\" __global__ void copy(const float* in, float* out) { }\n\
                      extern \"C\" __global__ void other(const float* in, float* out) { }\n";

fn device(settings: &str) -> SimDevice {
    SimDevice::open(&SimOptions::parse(&format!("h200{settings}")).unwrap()).unwrap()
}

fn source(text: &str) -> Source {
    Source {
        name: "kernels.cu".to_owned(),
        content: text.as_bytes().to_vec(),
        options: Vec::new(),
        include_paths: Vec::new(),
    }
}

/// The task of one kernel of a spec, with another as reference if there is one.
fn task(spec: &str, kernel: &str, reference: Option<&str>) -> Task {
    let spec = Spec::read(spec).unwrap();
    let states = spec.states(&Names::default()).unwrap();
    let job = |name: &str| {
        let state = states.iter().find(|state| state.kernel == name).unwrap();
        spec.job(state, &Names::default()).unwrap()
    };
    Task {
        job: job(kernel),
        source: source(SOURCE),
        right: reference.map_or(Right::Unknown, |name| {
            Right::Kernel(Box::new((job(name), source(SOURCE))))
        }),
        rule: Rule::new(spec.check.mode, spec.check.tolerance),
    }
}

fn settings(modes: &[Mode]) -> Settings {
    Settings {
        modes: modes.to_vec(),
        min_time_ns: 0.0,
        max_time_ns: 1e9,
        ..Settings::default()
    }
}

fn run(device: &SimDevice, task: &Task, settings: &Settings) -> Result<Measurement, Failure> {
    let floors = floors(device, settings)?;
    measure(device, task, settings, &floors, &mut |_| {})
}

fn accepted(mode: &ModeMeasurement) -> Vec<f64> {
    mode.times_ns
        .iter()
        .zip(&mode.rejections)
        .filter(|(_, rejection)| rejection.is_none())
        .map(|(time, _)| *time)
        .collect()
}

fn middle(mode: &ModeMeasurement) -> f64 {
    clock::median(&accepted(mode)).unwrap()
}

/// What a test of the order needs: a job on a device.
fn loaded<'d>(device: &'d SimDevice, task: &Task) -> loaded::Loaded<'d> {
    let loadable = image::load(device, &task.source, &["copy", "other"]).unwrap();
    loaded::Loaded::new(device, &loadable.module, &task.job, &[], Nanos::new(1e9)).unwrap()
}

/// The order of the calls of a cold sample, as facts about measuring have it (section 2 of the measurement sheet).
const COLD: &[&str] = &[
    "reset_persisting_l2",
    "flush_l2",
    "synchronize",
    "block",
    "stamp",
    "record",
    "launch",
    "record",
    "stamp",
    "release",
    "synchronize",
    "elapsed",
    "clock",
];

#[test]
fn a_cold_sample_makes_these_calls_in_this_order() {
    let device = device("");
    let loaded = loaded(&device, &task(COPY, "copy", None));
    let instruments = Instruments::new(&device).unwrap();
    let recipe = Recipe::new(Mode::Cold, &loaded, 1, false, ridge_gpu::Flush::READ);
    device.record_calls();
    take(&loaded, &instruments, &recipe).unwrap();
    assert_eq!(device.take_calls(), COLD);
}

#[test]
fn after_a_failure_at_any_step_the_stream_is_released_and_waited_for() {
    let (task, mut steps) = (task(COPY, "copy", None), 0);
    for (place, call) in COLD
        .iter()
        .enumerate()
        .filter(|(_, call)| **call != "release")
    {
        let device = device("");
        let loaded = loaded(&device, &task);
        let instruments = Instruments::new(&device).unwrap();
        let recipe = Recipe::new(Mode::Cold, &loaded, 1, false, ridge_gpu::Flush::READ);
        device.record_calls();
        let before = COLD[..place].iter().filter(|other| *other == call).count() as u64;
        device.fail(call, before);
        let error = take(&loaded, &instruments, &recipe).unwrap_err();
        assert_eq!(error.code(), "GPU0199", "{call}");
        let calls = device.take_calls();
        let is_blocked = calls.contains(&"block") && *call != "block";
        assert_eq!(calls.contains(&"release"), is_blocked, "{call}: {calls:?}");
        if !["elapsed", "clock"].contains(call) {
            assert_eq!(calls.last(), Some(&"synchronize"), "{call}: {calls:?}");
        }
        // The next sample is not disturbed.
        take(&loaded, &instruments, &recipe).unwrap();
        steps += 1;
    }
    assert_eq!(steps, 12);
}

#[test]
fn nothing_is_allocated_loaded_or_compiled_between_block_and_release() {
    let device = device("");
    device.record_calls();
    run(
        &device,
        &task(COPY, "copy", Some("other")),
        &settings(&Mode::ALL),
    )
    .unwrap();
    let calls = device.take_calls();
    let mut is_blocked = false;
    for call in &calls {
        match *call {
            "block" => is_blocked = true,
            "release" => is_blocked = false,
            // A check of batches restores memory between two launches; that is queued, too.
            "stamp" | "record" | "launch" | "launch_graph" | "fill" => {}
            other => assert!(!is_blocked, "{other}"),
        }
    }
    // The flush gets its memory once, at its first call, which is no sample.
    assert!(
        calls.iter().position(|call| *call == "flush_l2")
            < calls
                .iter()
                .position(|call| *call == "stamp" || *call == "elapsed")
                .map(|place| place + calls.len())
    );
}

#[test]
fn modes_differ_as_they_should() {
    let small = COPY.replace("4194304", "2097152");
    let found = run(
        &device(""),
        &task(&small, "copy", None),
        &settings(&Mode::ALL),
    )
    .unwrap();
    let [cold, hot, batch, latency, graph] = found.modes.as_slice() else {
        panic!("five modes");
    };
    for mode in &found.modes {
        assert!(
            accepted(mode).len() >= 30,
            "{}: {:?}",
            mode.mode,
            mode.stopped
        );
    }
    // 8 MiB fit into the L2: hot is faster than cold, and the host sees more than the device.
    assert!(
        middle(hot) < middle(cold),
        "{} {}",
        middle(hot),
        middle(cold)
    );
    assert!(middle(latency) > middle(hot) + 5_000.0);
    // A graph has shorter gaps than single launches have.
    assert!(middle(graph) < middle(batch));
    assert!(batch.runs_per_sample > 10 && graph.runs_per_sample > 10);
}

#[test]
fn cold_moves_every_byte_whatever_ran_before() {
    let large = run(
        &device(""),
        &task(COPY, "copy", None),
        &settings(&[Mode::Cold]),
    )
    .unwrap();
    let again = run(
        &device(""),
        &task(COPY, "copy", None),
        &settings(&[Mode::Batch, Mode::Hot, Mode::Cold]),
    )
    .unwrap();
    let (one, other) = (middle(&large.modes[0]), middle(&again.modes[2]));
    assert!((one / other - 1.0).abs() < 0.01, "{one} {other}");
}

#[test]
fn the_same_seed_gives_the_same_samples_and_another_others() {
    let measure = |options: &str| {
        run(
            &device(options),
            &task(COPY, "copy", None),
            &settings(&[Mode::Cold]),
        )
        .unwrap()
    };
    assert_eq!(measure(""), measure(""));
    assert_ne!(
        measure("").modes[0].times_ns,
        measure(",seed=2").modes[0].times_ns
    );
}

#[test]
fn more_noise_takes_more_samples_and_the_limit_is_told() {
    let samples = |options: &str| {
        let found = run(
            &device(options),
            &task(COPY, "copy", None),
            &settings(&[Mode::Cold]),
        )
        .unwrap();
        (found.modes[0].times_ns.len(), found.modes[0].stopped)
    };
    let (quiet, reason) = samples(",noise=0.001");
    assert_eq!((quiet, reason), (30, Stopped::Precision));
    let (loud, reason) = samples(",noise=0.05");
    assert!(
        loud > 200 && matches!(reason, Stopped::Precision | Stopped::TimerStep),
        "{loud} {reason:?}"
    );
    let little = Settings {
        max_samples: 40,
        ..settings(&[Mode::Cold])
    };
    let cut = run(&device(",noise=0.05"), &task(COPY, "copy", None), &little).unwrap();
    assert_eq!(
        (cut.modes[0].times_ns.len(), cut.modes[0].stopped),
        (40, Stopped::MaxSamples)
    );
    let short = Settings {
        max_time_ns: 3e6,
        ..settings(&[Mode::Cold])
    };
    let cut = run(&device(",noise=0.05"), &task(COPY, "copy", None), &short).unwrap();
    assert_eq!(cut.modes[0].stopped, Stopped::MaxTime);
}

#[test]
fn precision_alone_does_not_end_it_before_its_least_time() {
    let measure = |min_time_ns: f64, max_time_ns: f64| {
        let settings = Settings {
            min_time_ns,
            max_time_ns,
            ..settings(&[Mode::Cold])
        };
        run(
            &device(",noise=0.001"),
            &task(COPY, "copy", None),
            &settings,
        )
        .unwrap()
        .modes
        .remove(0)
    };
    let mode = measure(50e6, 1e9);
    assert_eq!(mode.stopped, Stopped::Precision);
    assert!(
        (50e6..51e6).contains(&mode.sampling_ns),
        "{}",
        mode.sampling_ns
    );
    assert!(mode.times_ns.len() > 100, "{}", mode.times_ns.len());
    // Looks at outputs are not sampling.
    assert!(mode.beside_ns > 1e5, "{}", mode.beside_ns);
    // A limit below it is the limit.
    let mode = measure(50e6, 10e6);
    assert!(
        (10e6..11e6).contains(&mode.sampling_ns),
        "{}",
        mode.sampling_ns
    );
}

/// Reading 64 MiB back takes longer than the time that is given, and the samples get that time all the same.
#[test]
fn looking_at_outputs_takes_no_time_of_the_samples() {
    let large = COPY.replace("4194304", "16777216");
    let short = Settings {
        max_time_ns: 4e6,
        ..settings(&[Mode::Cold])
    };
    let found = run(
        &device(",noise=0.05"),
        &task(&large, "copy", Some("other")),
        &short,
    )
    .unwrap();
    let mode = &found.modes[0];
    assert_eq!(mode.stopped, Stopped::MaxTime);
    assert!(mode.times_ns.len() > 10, "{}", mode.times_ns.len());
}

#[test]
fn a_clock_that_falls_is_no_slow_kernel() {
    // 1980 MHz to 1584 MHz, which a check against 75 % of the highest clock lets through, half-way.
    let noisy = Settings {
        min_samples: 20_000,
        ..settings(&[Mode::Cold])
    };
    let large = COPY.replace("4194304", "16777216");
    let found = run(
        &device(",throttle=700ms:0.8"),
        &task(&large, "copy", None),
        &noisy,
    )
    .unwrap();
    let mode = &found.modes[0];
    assert_eq!(mode.stopped, Stopped::ClockNotHeld);
    let low = mode
        .rejections
        .iter()
        .flatten()
        .filter(|reason| **reason == Rejection::ClockLow)
        .count();
    assert!(low >= 64, "{low}");
    assert_eq!(mode.times_ns.len(), mode.rejections.len());
    assert_eq!(
        accepted(mode).len() + mode.rejections.iter().flatten().count(),
        mode.times_ns.len()
    );
    assert!(
        mode.sensors
            .throttle_reasons
            .as_ref()
            .unwrap()
            .contains(&"power-cap".to_owned())
    );
    for (clock, rejection) in mode.clocks_hz.iter().zip(&mode.rejections) {
        assert_eq!(clock.unwrap() < 1.9e9, rejection.is_some());
    }
}

#[test]
fn a_clock_that_has_to_warm_up_is_waited_for() {
    let found = run(
        &device(",warmup=100ms"),
        &task(COPY, "copy", None),
        &settings(&[Mode::Cold]),
    )
    .unwrap();
    let warm_up = found.modes[0].warm_up;
    assert_eq!(warm_up.ended, WarmUpEnd::Settled);
    assert!(warm_up.time_ns > 100e6, "{warm_up:?}");
    assert_eq!(found.modes[0].rejections.iter().flatten().count(), 0);
    let never = Settings {
        max_warm_up_ns: 60e6,
        ..settings(&[Mode::Cold])
    };
    let found = run(&device(",warmup=500ms"), &task(COPY, "copy", None), &never).unwrap();
    assert_eq!(found.modes[0].warm_up.ended, WarmUpEnd::Limit);
}

#[test]
fn without_a_clock_no_sample_counts() {
    let found = run(
        &device(",probe=off"),
        &task(COPY, "copy", None),
        &settings(&[Mode::Cold]),
    )
    .unwrap();
    let mode = &found.modes[0];
    assert!(accepted(mode).is_empty());
    assert!(
        mode.rejections
            .iter()
            .all(|reason| *reason == Some(Rejection::ProbeFailed))
    );
    assert_eq!(mode.warm_up.ended, WarmUpEnd::NoClock);
}

#[test]
fn sensors_that_are_missing_are_absent() {
    let found = run(
        &device(",sensors=off"),
        &task(COPY, "copy", None),
        &settings(&[Mode::Cold]),
    )
    .unwrap();
    let sensors = &found.modes[0].sensors;
    assert_eq!(
        (
            sensors.throttle_reasons.as_ref(),
            sensors.power_w,
            sensors.processes
        ),
        (None, None, None)
    );
    let shared = run(
        &device(",shared=0.5"),
        &task(COPY, "copy", None),
        &settings(&[Mode::Cold]),
    )
    .unwrap();
    assert_eq!(shared.modes[0].sensors.processes, Some(2));
}

fn is_right(found: &Measurement) -> Vec<bool> {
    found.modes[0]
        .checks
        .iter()
        .map(|check| check.outcomes.iter().all(|outcome| outcome.is_right))
        .collect()
}

#[test]
fn outputs_of_timed_launches_are_compared() {
    let of = |options: &str| {
        let found = run(
            &device(options),
            &task(COPY, "copy", Some("other")),
            &settings(&[Mode::Cold]),
        )
        .unwrap();
        is_right(&found)
    };
    // The first and the last launch, one at random, and one with other inputs.
    assert_eq!(of(""), [true; 4]);
    assert_eq!(of(",wrong=copy"), [false; 4]);
    // The reference is the one that is wrong: the outputs differ all the same.
    assert_eq!(of(",wrong=other"), [false; 4]);
}

/// A check before the timing alone would pass.
#[test]
fn a_kernel_that_turns_wrong_after_many_launches_is_caught() {
    let long = Settings {
        precision: 0.0001,
        max_samples: 2000,
        ..settings(&[Mode::Cold])
    };
    let found = run(
        &device(",wrong=copy:1500,noise=0.2"),
        &task(COPY, "copy", Some("other")),
        &long,
    );
    let found = found.unwrap();
    let mode = &found.modes[0];
    for (check, is_right) in mode.checks.iter().zip(is_right(&found)) {
        // Warming up launches it, too.
        assert!(is_right || check.after_samples > 100, "{check:?}");
    }
    let wrong = is_right(&found)
        .iter()
        .filter(|is_right| !**is_right)
        .count();
    assert!(wrong >= 2, "{wrong}");
}

#[test]
fn a_launch_that_does_nothing_leaves_the_pattern() {
    let found = run(
        &device(",nowork=copy"),
        &task(COPY, "copy", None),
        &settings(&[Mode::Hot]),
    )
    .unwrap();
    assert!(is_right(&found).iter().all(|is_right| !is_right));
    let outcome = &found.modes[0].checks[0].outcomes[0];
    // Of a simulated device the first MiB is looked at.
    assert_eq!(outcome.unwritten, 262_144);
}

#[test]
fn what_goes_wrong_is_named() {
    for (fault, kind, code) in [
        (",hang=copy", FailureKind::Hang, "GPU0131"),
        (",illegal=copy", FailureKind::Fault, "GPU0130"),
        (",misaligned=copy", FailureKind::Fault, "GPU0130"),
        (",trap=copy:40", FailureKind::Fault, "GPU0130"),
        (",registers=copy", FailureKind::Launch, "GPU0123"),
        (",waits=copy", FailureKind::Wait, "GPU0132"),
        (",shared=0.9999", FailureKind::Memory, "GPU0124"),
    ] {
        let mut task = task(COPY, "copy", None);
        if fault.contains("registers") {
            task.job.launches[0].block = [512, 1, 1];
        }
        let failure = run(&device(fault), &task, &settings(&[Mode::Cold])).unwrap_err();
        assert_eq!(
            (failure.kind, failure.code.as_str()),
            (kind, code),
            "{fault}: {failure}"
        );
        assert!(failure.hint.is_some(), "{fault}");
    }
    let mut wrong = task(COPY, "copy", None);
    wrong.source = source("extern \"C\" __global__ void copy() {\n#error not today\n}");
    let failure = run(&device(""), &wrong, &settings(&[Mode::Cold])).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Compile);
    assert!(failure.log.unwrap().contains("kernels.cu(2): error"));
    wrong.source = source("extern \"C\" __global__ void kopy() { }");
    let failure = run(&device(""), &wrong, &settings(&[Mode::Cold])).unwrap_err();
    assert_eq!(
        (failure.kind, failure.message.as_str()),
        (
            FailureKind::Image,
            "the image has no kernel copy; it has kopy"
        )
    );
}

#[test]
fn a_kernel_without_extern_c_is_found_by_its_plain_name() {
    let mut mangled = task(COPY, "copy", None);
    mangled.source =
        source(".version 7.0\n.target sm_70\n.visible .entry copy(.param .u64 a)\n{ ret; }");
    run(&device(""), &mangled, &settings(&[Mode::Cold])).unwrap();
}

#[test]
fn a_reference_that_fails_is_told_as_such() {
    let failure = run(
        &device(",illegal=other"),
        &task(COPY, "copy", Some("other")),
        &settings(&[Mode::Cold]),
    )
    .unwrap_err();
    assert!(
        failure.message.starts_with("the reference `other` failed"),
        "{failure}"
    );
}

#[test]
fn fresh_inputs_are_compared_with_their_own_reference() {
    let fresh = Settings {
        has_fresh_inputs: true,
        ..settings(&[Mode::Cold])
    };
    let small = COPY.replace("4194304", "65536");
    let found = run(&device(""), &task(&small, "copy", Some("other")), &fresh).unwrap();
    assert_eq!(is_right(&found), [true; 3]);
}

/// What kernels that pretend are caught by, in each mode. The list is that of the facts about numbers (section 7).
fn caught(cheat: &str, mode: Mode) -> Vec<CheckKind> {
    let small = COPY.replace("4194304", "65536");
    let found = run(
        &device(cheat),
        &task(&small, "copy", Some("other")),
        &settings(&[mode]),
    )
    .unwrap();
    let wrong = |check: &&CheckPoint| check.outcomes.iter().any(|outcome| !outcome.is_right);
    let checks = found.modes[0].checks.iter();
    checks.filter(wrong).map(|check| check.kind).collect()
}

#[test]
fn kernels_that_do_their_work_are_right_in_all_modes() {
    for mode in Mode::ALL {
        assert_eq!(caught("", mode), [], "{mode}");
    }
}

/// Each check from restored memory finds nothing wrong with it.
#[test]
fn a_kernel_that_leaves_old_outputs_is_caught_by_a_canary() {
    for mode in Mode::ALL {
        let caught = caught(",stale=copy", mode);
        assert_eq!(caught.first(), Some(&CheckKind::Canary), "{mode}");
        // The same element may be seen when the whole of that sample is compared.
        let others = [CheckKind::Canary, CheckKind::Timed];
        assert!(
            caught.iter().all(|kind| others.contains(kind)),
            "{mode}: {caught:?}"
        );
    }
}

#[test]
fn an_answer_that_is_remembered_is_caught_by_other_inputs() {
    for mode in [Mode::Cold, Mode::Hot] {
        let caught = caught(",cached=copy", mode);
        assert!(caught.contains(&CheckKind::NewInputs), "{mode}: {caught:?}");
    }
}

#[test]
fn an_answer_that_is_looked_for_is_not_there() {
    let caught = caught(",peeks=copy", Mode::Cold);
    assert!(caught.contains(&CheckKind::Restored), "{caught:?}");
}

#[test]
fn a_tail_that_is_left_out_is_seen_from_the_first_launch_on() {
    let caught = caught(",tail=copy", Mode::Cold);
    assert_eq!(caught.first(), Some(&CheckKind::Restored));
}

/// Launches of other modes have more time between them, and do their work.
#[test]
fn a_kernel_that_does_nothing_when_launched_rapidly_is_caught_in_a_batch() {
    assert_eq!(caught(",rapid=copy", Mode::Cold), []);
    let caught = caught(",rapid=copy", Mode::Batch);
    assert!(caught.contains(&CheckKind::Restored), "{caught:?}");
}

#[test]
fn inputs_that_are_changed_are_seen() {
    let caught = caught(",spoils=copy", Mode::Cold);
    assert_eq!(caught.last(), Some(&CheckKind::Inputs));
}

#[test]
fn work_that_is_left_running_is_seen_without_any_bound() {
    let large = COPY
        .replace("4194304", "33554432")
        .replace("bytes = \"2 * n * 4\"", "");
    let left = |device: &str| {
        let found = run(
            &self::device(device),
            &task(&large, "copy", None),
            &settings(&[Mode::Cold]),
        );
        found.unwrap().modes[0].left_running_ns.unwrap()
    };
    assert!(left("") < 5e3);
    assert!(left(",stream=copy") > 20e3);
}

#[test]
fn other_seeds_look_elsewhere() {
    let places = |check_seed: u32| {
        let settings = Settings {
            check_seed,
            ..settings(&[Mode::Cold])
        };
        let found = run(&device(""), &task(COPY, "copy", Some("other")), &settings).unwrap();
        let checks = found.modes[0].checks.iter();
        let places: Vec<u64> = checks.map(|check| check.after_samples).collect();
        (places, found.modes[0].canaries)
    };
    assert_ne!(places(1), places(2));
    assert_eq!(places(3), places(3));
}

/// The harness is not in the time, and small beside it.
#[test]
fn the_overhead_between_samples_is_known() {
    let found = run(
        &device(""),
        &task(COPY, "copy", None),
        &settings(&[Mode::Cold]),
    )
    .unwrap();
    let mode = &found.modes[0];
    let overhead = mode.overhead_ns.unwrap();
    assert!(overhead > 0.0 && overhead < 30e3, "{overhead}");
    assert!(mode.preparation_ns.unwrap() > 20e3);
}

#[test]
fn many_launches_of_one_sample_do_not_fill_the_queue() {
    let mut long = task(COPY, "copy", None);
    long.job.repeat = 200;
    let found = run(&device(""), &long, &settings(&[Mode::Cold, Mode::Hot])).unwrap();
    assert!(middle(&found.modes[0]) > 200.0 * 1e3);
    long.job.is_host_timed = true;
    let host = run(&device(""), &long, &settings(&[Mode::Hot])).unwrap();
    assert!(middle(&host.modes[0]) >= middle(&found.modes[1]) * 0.99);
}
