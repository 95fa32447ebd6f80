//! What the fuzz target for traces does with its input. The replay in `crates/ridge-trace/tests/replay.rs` includes this
//! file too.

use ridge_trace::lanes::Lanes;
use ridge_trace::range::{Wanted, cut, find};
use ridge_trace::ranks::{Member, compare};
use ridge_trace::{Timeline, analyse, chrome};

/// Trace events in Chrome's format: whatever was read adds up, and can be analysed and drawn.
pub fn chrome(input: &[u8]) {
    let timeline = match chrome::read(input) {
        Ok(timeline) => timeline,
        Err(error) => {
            assert!(error.code().starts_with("TRC") && !error.to_string().is_empty());
            return;
        }
    };
    assert!(timeline.work.is_sorted_by_key(|work| work.start_ns));
    assert!(
        timeline
            .work
            .iter()
            .all(|work| work.start_ns <= work.end_ns && work.start_ns >= 0)
    );
    // An event takes more bytes of the input than records of it are counted.
    let records = timeline.work.len() + timeline.calls.len() + timeline.annotations.len();
    assert!(records <= input.len() / 16);
    let trace = analyse(&timeline, "input", &[]);
    for device in &trace.devices {
        let parts = device.busy_ns + device.idle_ns;
        assert!((parts - device.span_ns).abs() <= 1e-6 * device.span_ns + 1.0);
        assert!(device.kernel_ns <= device.busy_ns && device.copy_exposed_ns <= device.copy_ns);
        let gaps = device.gaps.all.map_or(0.0, |gaps| gaps.sum_ns);
        assert!((gaps - device.idle_ns).abs() <= 1e-6 * device.span_ns + 1.0);
    }
    for finding in &trace.findings {
        assert!((0.0..=1.0).contains(&finding.saving_ceiling));
        assert!(finding.saving_expected <= finding.saving_ceiling);
    }
    let lanes = Lanes::of(&timeline);
    let events: usize = lanes.lanes.iter().map(|lane| lane.events.len()).sum();
    assert!(events <= records);
    parts(&timeline);
    let member = || Member::of(&timeline, 0, "input");
    if let Some(ranks) = compare(
        member()
            .into_iter()
            .chain(member())
            .chain(member())
            .collect(),
    ) {
        // Whatever it is, it is like itself.
        assert!(ranks.odd.is_empty() && !ranks.title.is_empty());
    }
}

/// Parts of it are within their borders.
fn parts(timeline: &Timeline) {
    let last = timeline.span_ns().map_or(0, |(_, last)| last);
    let first_name = timeline.annotations.first();
    let by_name = first_name.map(|range| Wanted::Name(timeline.name(range.name).to_owned()));
    let by_time = Wanted::Span(Some(last / 3), Some(2 * (last / 3)));
    for wanted in by_name.into_iter().chain([by_time]) {
        let Ok(found) = find(timeline, &wanted) else {
            continue;
        };
        let length = found.end_ns - found.start_ns;
        let part = cut(timeline.clone(), &found);
        assert!(part.work.is_sorted_by_key(|work| work.start_ns));
        let is_inside = |from: i64, to: i64| 0 <= from && from <= to && to <= length;
        assert!(
            part.work
                .iter()
                .all(|work| is_inside(work.start_ns, work.end_ns))
        );
        let trace = analyse(&part, "input", &[]);
        assert!(trace.devices.iter().all(|device| device.idle_ns >= 0.0));
        let _ = Lanes::of(&part);
    }
}
