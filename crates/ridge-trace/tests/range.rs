//! Parts of traces, by name and by time.

use ridge_trace::document::{GapClass, Trace};
use ridge_trace::range::{Found, NotFound, Wanted, cut, find};
use ridge_trace::{
    AnnotationKind, Api, Builder, Correlation, Launch, NewCall, NewWork, SourceKind, Timeline,
    analyse,
};

const STEP_NS: i64 = 100_000;

/// Three steps of 100 us. Each asks at 10 us for a kernel that runs from 40 to 90 us of the step, and at 80 us for one that
/// runs from 90 us on into the next step until 20 us of it.
fn steps() -> Timeline {
    let mut builder = Builder::new(SourceKind::Recording);
    let process = builder.process(1);
    let thread = builder.thread(process, 1);
    let stream = builder.stream(Some(process), 0, Some(1), 7);
    let launch = builder.launch(Launch::default());
    let (call, range) = (builder.name("cudaLaunchKernel"), builder.name("step"));
    let mut number = 0;
    for step in 0..3 {
        let at = |us: i64| step * STEP_NS + us * 1_000;
        builder.push_annotation(at(0), at(100), range, AnnotationKind::User, Some(thread));
        let own = builder.name(&format!("ProfilerStep#{}", 7 + step));
        builder.push_annotation(at(0), at(100), own, AnnotationKind::User, Some(thread));
        // The shadow of a range on the GPU, which another range of the name goes before.
        builder.push_annotation(at(40), at(120), range, AnnotationKind::Gpu, None);
        for (name, asked, from, to) in [("first", 10, 40, 90), ("second", 80, 90, 120)] {
            number += 1;
            let correlation = Correlation::new(number);
            builder.push_call(NewCall {
                start_ns: at(asked),
                end_ns: at(asked + 5),
                name: call,
                api: Api::Runtime,
                thread,
                correlation,
            });
            let name = builder.name(name);
            let new = NewWork {
                start_ns: at(from),
                end_ns: at(to),
                stream,
                correlation,
                graph: None,
            };
            builder.push_kernel(new, name, launch);
        }
    }
    builder.finish()
}

fn found(text: &str) -> Result<Found, NotFound> {
    find(&steps(), &text.parse().unwrap())
}

fn part(text: &str) -> Trace {
    let timeline = steps();
    let found = find(&timeline, &text.parse().unwrap()).unwrap();
    analyse(&cut(timeline, &found), "t", &[])
}

/// Sums of whole nanoseconds are exact.
#[track_caller]
fn same(actual: f64, expected: f64, what: &str) {
    assert_eq!(
        actual.to_bits(),
        expected.to_bits(),
        "{what}: {actual} is not {expected}"
    );
}

#[test]
fn names_and_times_are_told_apart() {
    let wanted = |text: &str| text.parse::<Wanted>();
    assert_eq!(
        wanted("12ms..40ms"),
        Ok(Wanted::Span(Some(12_000_000), Some(40_000_000)))
    );
    assert_eq!(
        wanted(" 0 .. 1.5us"),
        Ok(Wanted::Span(Some(0), Some(1_500)))
    );
    assert_eq!(wanted("..3s"), Ok(Wanted::Span(None, Some(3_000_000_000))));
    assert_eq!(wanted("3s.."), Ok(Wanted::Span(Some(3_000_000_000), None)));
    for name in ["step", "ProfilerStep#12", "a..b", "v1.2", "epoch 3..end"] {
        assert_eq!(wanted(name), Ok(Wanted::Name(name.to_owned())), "{name}");
    }
    for bad in [
        "",
        " ",
        "..",
        "12..40",
        "40ms..12ms",
        "1ms..1ms",
        "1ms..2",
        "1parsec..2parsec",
    ] {
        assert!(wanted(bad).is_err(), "{bad}");
    }
}

#[test]
fn ranges_are_found_by_name_and_place() {
    let third = found("step#3").unwrap();
    assert_eq!(
        (third.start_ns, third.end_ns, third.place, third.of),
        (200_000, 300_000, 3, 3)
    );
    // Without a place it is the first, and how many there are is said.
    let first = found("step").unwrap();
    assert_eq!((first.start_ns, first.place, first.of), (0, 1, 3));
    // A name that ends like a place is a name.
    let step = found("ProfilerStep#8").unwrap();
    assert_eq!(
        (step.start_ns, step.of, step.name.as_deref()),
        (100_000, 1, Some("ProfilerStep#8"))
    );
    assert_eq!(
        found("step#4"),
        Err(NotFound::Place {
            name: "step".to_owned(),
            of: 3
        })
    );
    assert_eq!(
        found("step#0"),
        Err(NotFound::Place {
            name: "step".to_owned(),
            of: 3
        })
    );
    let Err(NotFound::Name(names)) = found("stop") else {
        panic!("found")
    };
    assert_eq!(
        names,
        ["step", "ProfilerStep#7", "ProfilerStep#8", "ProfilerStep#9"]
    );
    // The trace ends with the last kernel.
    assert_eq!(found("1ms..2ms"), Err(NotFound::Beyond(320_000)));
    assert_eq!(found("300us..2ms").unwrap().end_ns, 320_000);
}

#[test]
fn figures_are_those_of_the_part() {
    let trace = part("step#2");
    let device = &trace.devices[0];
    // 20 us of the kernel of the step before, 50 us, and 10 us of a kernel that goes on.
    assert!((device.span_ns - 100_000.0).abs() < 0.5);
    assert!((device.busy_ns - 80_000.0).abs() < 0.5);
    assert!((device.idle_ns - 20_000.0).abs() < 0.5);
    assert_eq!(device.counts.kernels, 3);
    let range = trace.range.as_ref().unwrap();
    assert_eq!((range.cut_work, range.later_work, range.of), (2, 0, 3));
    assert!((range.start_ns - 100_000.0).abs() < 0.5);
    // The call of the kernel from before stays joined with it, and takes no time of this part.
    assert_eq!(trace.completeness.unmatched, 0);
    let calls = &trace.calls[0].durations;
    assert_eq!(calls.count, 2);
    let gap = &device.gaps.longest[0];
    assert_eq!(
        (gap.start_ns, gap.length_ns, gap.class),
        (20_000.0, 20_000.0, GapClass::Dependency)
    );
}

/// Time before the first work of a part is a gap of it, and the host that was late for it is found.
#[test]
fn the_start_of_a_part_can_be_idle() {
    // The kernel from the step before has ended at 20 us; the next one is asked for at 10 us, which is before.
    let trace = part("125us..190us");
    let gap = &trace.devices[0].gaps.longest[0];
    assert_eq!((gap.start_ns, gap.length_ns), (0.0, 15_000.0));
    assert_eq!(gap.class, GapClass::Dependency);
    assert_eq!(gap.before, "the start of the range");
    // In the first step nothing ran before, and the kernel was asked for in the part.
    let gap = &part("step").devices[0].gaps.longest[0];
    assert_eq!((gap.length_ns, gap.class), (40_000.0, GapClass::HostWait));
}

#[test]
fn work_that_runs_later_is_counted() {
    let trace = part("70us..85us");
    let range = trace.range.unwrap();
    assert_eq!((range.cut_work, range.later_work), (1, 1));
}

/// The part from the first to the last moment is the whole.
#[test]
fn the_whole_is_a_part_of_itself() {
    let whole = analyse(&steps(), "t", &[]);
    let mut part = part("40us..320us");
    same(part.devices[0].busy_ns, whole.devices[0].busy_ns, "whole");
    same(part.devices[0].idle_ns, whole.devices[0].idle_ns, "whole");
    assert_eq!(part.devices[0].kernels, whole.devices[0].kernels);
    part.range = None;
    assert_eq!(part.findings, whole.findings);
}

/// Two parts hold together what the whole holds, wherever it is cut.
#[test]
fn parts_add_up() {
    let packed: &[u8] = include_bytes!("../../../fixtures/traces/pytorch_kineto.json.gz");
    let mut json = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(packed), &mut json).unwrap();
    let timeline = ridge_trace::read(&json).unwrap();
    let whole = analyse(&timeline, "t", &[]);
    let part = |text: &str| {
        let found = find(&timeline, &text.parse().unwrap()).unwrap();
        analyse(&cut(timeline.clone(), &found), "t", &[])
    };
    for at in ["1us", "40ms", "83.9ms", "120.5ms", "167ms"] {
        let (first, second) = (part(&format!("..{at}")), part(&format!("{at}..")));
        let sum = |of: fn(&ridge_trace::document::Device) -> f64| {
            let parts = [&first, &second].into_iter().flat_map(|part| &part.devices);
            parts.map(of).sum::<f64>()
        };
        let device = &whole.devices[0];
        same(sum(|device| device.busy_ns), device.busy_ns, at);
        same(sum(|device| device.copy_ns), device.copy_ns, at);
        same(sum(|device| device.kernel_ns), device.kernel_ns, at);
        for part in [&first, &second] {
            assert_eq!(part.completeness.unmatched, 0, "{at}");
            for device in &part.devices {
                assert!(device.busy_ns + device.idle_ns <= part.range.as_ref().unwrap().length_ns);
                assert!(
                    device
                        .gaps
                        .all
                        .is_none_or(|gaps| gaps.sum_ns <= device.idle_ns)
                );
            }
        }
        // Work over the border is in both.
        let count: u64 = [&first, &second]
            .iter()
            .map(|part| part.completeness.work)
            .sum();
        let over = first.range.as_ref().unwrap().cut_work;
        assert_eq!(over, second.range.as_ref().unwrap().cut_work, "{at}");
        assert_eq!(count, whole.completeness.work + over, "{at}");
        let calls = [&first, &second].into_iter().flat_map(|part| &part.calls);
        let time: f64 = calls.map(|call| call.durations.sum_ns).sum();
        let all: f64 = whole.calls.iter().map(|call| call.durations.sum_ns).sum();
        same(time, all, at);
    }
}
