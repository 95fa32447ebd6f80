//! `--range`: the part of a trace that is looked at.

use ridge_collect::launches::closest;
use ridge_model::quantity::Nanos;
use ridge_trace::Timeline;
use ridge_trace::range::{NotFound, Wanted, cut, find};

use crate::error::ExpectedError;
use crate::evidence::shown_name;

/// Names that are offered for one that was not found.
const OFFERED: usize = 5;

/// The part of a trace that is wanted.
pub(super) fn of(
    timeline: Timeline,
    wanted: &Wanted,
    file: &str,
) -> Result<Timeline, ExpectedError> {
    match find(&timeline, wanted) {
        Ok(found) => Ok(cut(timeline, &found)),
        Err(reason) => Err(not_found(&timeline, &reason, wanted, &shown_name(file))),
    }
}

fn not_found(timeline: &Timeline, reason: &NotFound, wanted: &Wanted, file: &str) -> ExpectedError {
    match reason {
        NotFound::Name(names) if names.is_empty() => {
            ExpectedError::usage(format!("{file} has no ranges with a name")).with_hint(
                "give a span of time such as 12ms..40ms; ranges come from NVTX, record_function and steps of the PyTorch profiler",
            )
        }
        NotFound::Name(names) => {
            let text = match wanted {
                Wanted::Name(text) => text.as_str(),
                Wanted::Span(..) => "",
            };
            let offered = closest(text, names.iter().map(String::as_str));
            let more = if offered.len() > OFFERED { ", …" } else { "" };
            let offered: Vec<&str> = offered.into_iter().take(OFFERED).collect();
            ExpectedError::usage(format!("no range of {file} is called {text:?}"))
                .with_hint(format!("one of {}{more}", offered.join(", ")))
        }
        NotFound::Place { name, of } => {
            let message = format!("{file} has {of} of the range {name:?}, which are counted from 1");
            ExpectedError::usage(message).with_hint(format!("name one from {name}#1 to {name}#{of}"))
        }
        NotFound::Beyond(last_ns) => {
            let nanos = Nanos::new(float(*last_ns));
            let what = match timeline.work.is_empty() && timeline.calls.is_empty() {
                true => "holds nothing".to_owned(),
                false => format!("ends {nanos} after its first record"),
            };
            ExpectedError::usage(format!("nothing of {file} is in that span: it {what}"))
                .with_hint("times count from the first record of the trace")
        }
        _ => ExpectedError::usage(format!("{file} has no such part")),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "for people, who read four digits"
)]
fn float(value: i64) -> f64 {
    value as f64
}
