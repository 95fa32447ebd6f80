//! Whether the times of a state may be compared at all.

use ridge_bench::document::{BufferFacts, Remark, StateResult, Status};
use ridge_model::quantity::Hertz;

use super::entries::Entry;

/// How far the clocks of both sides may be apart, as a share: what samples within a run may be.
const CLOCKS: f64 = 0.02;
/// A clock that is known worse than this says nothing.
const LEAST_RESOLUTION: f64 = 0.1;
/// Amounts of work that differ by no more are one amount, written in two ways.
const ROUNDING: f64 = 1e-9;

pub(super) fn remark(id: &str, text: &str, hint: Option<&str>) -> Remark {
    Remark {
        id: id.to_owned(),
        text: text.to_owned(),
        hint: hint.map(str::to_owned),
    }
}

/// Adds why times of the two sides may not be compared.
pub(super) fn check(before: &[Entry<'_>], after: &[Entry<'_>], found: &mut Vec<Remark>) {
    side("before", before, found);
    side("after", after, found);
    let Some(first) = before.first() else { return };
    for other in before.iter().skip(1).chain(after) {
        work(first.state, other.state, found);
    }
    clocks(before, after, found);
}

fn add(found: &mut Vec<Remark>, remark: Remark) {
    if !found.contains(&remark) {
        found.push(remark);
    }
}

/// Outputs that are wrong once are wrong. A run that was disturbed does not count, as long as another one does.
fn side(name: &str, entries: &[Entry<'_>], found: &mut Vec<Remark>) {
    for entry in entries {
        match entry.state.status {
            Status::Differs => add(
                found,
                remark(
                    "output-wrong",
                    &format!(
                        "{name}: the outputs are wrong, so that its time is of something else"
                    ),
                    Some("`ridge bench` shows the first element that is wrong"),
                ),
            ),
            Status::Failed => {
                let failure = entry.state.failure.as_ref();
                let reason = failure.map_or("it did not run", |failure| failure.message.as_str());
                let hint = failure.and_then(|failure| failure.hint.as_deref());
                add(found, remark("failed", &format!("{name}: {reason}"), hint));
            }
            Status::Valid | Status::Invalid => {}
        }
    }
    if entries.iter().any(Entry::is_valid) {
        return;
    }
    let before = found.len();
    for invalid in entries
        .iter()
        .filter_map(|entry| entry.mode)
        .flat_map(|mode| &mode.invalid)
    {
        let text = format!("{name}: {}", invalid.text);
        add(found, remark(&invalid.id, &text, invalid.hint.as_deref()));
    }
    let is_silent = found.len() == before && !entries.iter().any(|entry| entry.mode.is_none());
    if is_silent
        && entries
            .iter()
            .all(|entry| entry.state.status != Status::Differs)
    {
        found.push(remark(
            "no-valid-samples",
            &format!("{name}: no sample counts"),
            Some("measure again"),
        ));
    }
}

/// Whether both states are of the same problem. How it is computed, launches and scratch memory included, may differ: that
/// is what a change is for.
fn work(was: &StateResult, is: &StateResult, found: &mut Vec<Remark>) {
    let mut differs = |text: String| {
        add(
            found,
            remark(
                "work-differs",
                &format!("not the same work: {text}"),
                Some("measure the same spec on both sides, or record a new baseline"),
            ),
        );
    };
    for (what, was, is) in [
        ("bytes that have to move", was.bytes, is.bytes),
        ("operations", was.flops, is.flops),
    ] {
        match (was, is) {
            (Some(was), Some(is)) if (was - is).abs() <= ROUNDING * was.abs() => {}
            (Some(was), Some(is)) => differs(format!("{what} were {was} and are {is}")),
            // What one side does not say may be the same.
            _ => {}
        }
    }
    if was.repeat != is.repeat {
        differs(format!(
            "a run was {} passes and is {}",
            was.repeat, is.repeat
        ));
    }
    for buffer in &was.buffers {
        let name = &buffer.name;
        match is.buffers.iter().find(|other| other.name == *name) {
            Some(other) if other == buffer => {}
            Some(other) => differs(format!(
                "buffer {name:?} was {} and is {}",
                told(buffer),
                told(other)
            )),
            None if buffer.is_output => differs(format!("output {name:?} is gone")),
            None => {}
        }
    }
    for buffer in is.buffers.iter().filter(|buffer| buffer.is_output) {
        if !was.buffers.iter().any(|other| other.name == buffer.name) {
            differs(format!("output {:?} is new", buffer.name));
        }
    }
}

fn told(buffer: &BufferFacts) -> String {
    let kind = if buffer.is_output { "output" } else { "input" };
    format!(
        "{kind} {}[{}], {}, seed {}",
        buffer.kind, buffer.length, buffer.init, buffer.seed
    )
}

/// Whether the SM clocks are the same as far as they are known.
fn clocks(before: &[Entry<'_>], after: &[Entry<'_>], found: &mut Vec<Remark>) {
    let valid = |entries: &[Entry<'_>]| -> Vec<(f64, f64)> {
        entries
            .iter()
            .filter(|entry| entry.is_valid())
            .filter_map(|entry| {
                let mode = entry.mode?;
                let resolution = 2.0 * entry.step_ns().unwrap_or(0.0) / mode.median_ns?;
                (resolution <= LEAST_RESOLUTION).then_some((mode.clock_hz?, resolution))
            })
            .collect()
    };
    let (before, after) = (valid(before), valid(after));
    let differ = |(was, coarse): &(f64, f64)| {
        after.iter().find_map(|(is, also)| {
            let allowed = CLOCKS.max(*coarse).max(*also);
            ((is / was - 1.0).abs() > allowed).then_some((*was, *is))
        })
    };
    if let Some((was, is)) = before.iter().find_map(differ) {
        add(
            found,
            remark(
                "clock",
                &format!(
                    "the SM clock was {:.4} and is {:.4}: times at other clocks are of another machine",
                    Hertz::new(was),
                    Hertz::new(is)
                ),
                Some("lock the clocks of both with --lock-clocks base, or let the GPU cool down"),
            ),
        );
    }
}
