//! A part of a timeline: a range that the program named, a step of a profiler, or a span of time.
//!
//! A part is a span of time, whoever asked for what ran in it: work that was asked for in a range and ran after it is not in
//! its part, and is counted. What reaches over a border counts with its part inside.

use std::collections::HashMap;
use std::str::FromStr;

use ridge_model::quantity::{Nanos, ParseError};

use crate::timeline::{Annotation, AnnotationKind, CallId, Timeline, Window};

/// Which part is wanted, as a person writes it.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// A range by its name; `NAME#3` is the third of that name, unless a range has this very name.
    Name(String),
    /// From one time to another, counted from the first record; without a start from there, without an end to the last.
    Span(Option<i64>, Option<i64>),
}

/// Why a text is no part.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BadRange {
    /// There is nothing.
    Empty,
    /// One side of the span is no time.
    Time {
        /// The side.
        text: String,
        /// Why.
        reason: ParseError,
    },
    /// The span does not end after its start.
    Backwards,
}

impl std::fmt::Display for BadRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => f.write_str("name a range, or write a span of time such as 12ms..40ms"),
            Self::Time { text, reason } => write!(f, "{text:?} is no time: {reason}"),
            Self::Backwards => f.write_str("the span does not end after its start"),
        }
    }
}

impl std::error::Error for BadRange {}

impl FromStr for Wanted {
    type Err = BadRange;

    fn from_str(text: &str) -> Result<Self, BadRange> {
        let text = text.trim();
        if text.is_empty() || text == ".." {
            return Err(BadRange::Empty);
        }
        // Names can hold two points; times begin with a digit.
        let is_side =
            |side: &str| side.is_empty() || side.starts_with(|c: char| c.is_ascii_digit());
        let sides = text
            .split_once("..")
            .map(|(from, to)| (from.trim(), to.trim()))
            .filter(|(from, to)| is_side(from) && is_side(to));
        let Some((from, to)) = sides else {
            return Ok(Self::Name(text.to_owned()));
        };
        let (from, to) = (time(from)?, time(to)?);
        if from.zip(to).is_some_and(|(from, to)| to <= from) {
            return Err(BadRange::Backwards);
        }
        Ok(Self::Span(from, to))
    }
}

/// One side of a span. Nothing is none, and 0 needs no unit.
fn time(text: &str) -> Result<Option<i64>, BadRange> {
    if text.is_empty() {
        return Ok(None);
    }
    let digits = text.trim_end_matches(|c: char| c.is_alphabetic() || c.is_whitespace());
    if digits.parse() == Ok(0.0_f64) {
        return Ok(Some(0));
    }
    let nanos: Nanos = text.parse().map_err(|reason| BadRange::Time {
        text: text.to_owned(),
        reason,
    })?;
    // Plausible times are far below the range of numbers.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "nobody traces for centuries"
    )]
    let whole = nanos.get().round() as i64;
    Ok(Some(whole))
}

/// A part that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// When it begins, from the first record.
    pub start_ns: i64,
    /// When it ends.
    pub end_ns: i64,
    /// The name of the range that it is.
    pub name: Option<String>,
    /// Which of the ranges of that name it is, from 1.
    pub place: u64,
    /// How many ranges have the name.
    pub of: u64,
}

/// Why a part was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotFound {
    /// No range has the name. All names of ranges, each once, those of the program before those of a framework.
    Name(Vec<String>),
    /// Fewer ranges have the name.
    Place {
        /// The name.
        name: String,
        /// How many have it.
        of: u64,
    },
    /// The trace is shorter: it ends here.
    Beyond(i64),
}

/// Finds a part of a timeline.
///
/// Where ranges of the program have the name, those of a framework with the same name do not count, nor do the shadows that
/// a profiler makes of ranges on GPUs.
///
/// # Errors
/// When there is no such part.
pub fn find(timeline: &Timeline, wanted: &Wanted) -> Result<Found, NotFound> {
    match wanted {
        Wanted::Span(from, to) => {
            let last = last_ns(timeline);
            let (start_ns, end_ns) = (from.unwrap_or(0), to.unwrap_or(last).min(last));
            if start_ns >= last || end_ns <= start_ns {
                return Err(NotFound::Beyond(last));
            }
            Ok(Found {
                start_ns,
                end_ns,
                name: None,
                place: 1,
                of: 1,
            })
        }
        Wanted::Name(text) => {
            let whole = named(timeline, text);
            if !whole.is_empty() {
                return nth(&whole, text, 1);
            }
            if let Some((name, place)) = text.rsplit_once('#')
                && let Ok(place) = place.parse::<u64>()
            {
                let of_name = named(timeline, name);
                if !of_name.is_empty() {
                    return nth(&of_name, name, place);
                }
            }
            Err(NotFound::Name(names(timeline)))
        }
    }
}

fn nth(ranges: &[&Annotation], name: &str, place: u64) -> Result<Found, NotFound> {
    let of = ranges.len() as u64;
    let at = place.checked_sub(1).and_then(|at| usize::try_from(at).ok());
    let range = at.and_then(|at| ranges.get(at));
    range
        .map(|range| Found {
            start_ns: range.start_ns,
            end_ns: range.end_ns,
            name: Some(name.to_owned()),
            place,
            of,
        })
        .ok_or_else(|| NotFound::Place {
            name: name.to_owned(),
            of,
        })
}

const KINDS: [AnnotationKind; 3] = [
    AnnotationKind::User,
    AnnotationKind::Operator,
    AnnotationKind::Gpu,
];

/// The ranges of a name, of the first kind that has any, in order of their start. A moment has no inside.
fn named<'t>(timeline: &'t Timeline, name: &str) -> Vec<&'t Annotation> {
    KINDS
        .into_iter()
        .map(|kind| {
            let of_kind = timeline
                .annotations
                .iter()
                .filter(|range| range.kind == kind && range.end_ns > range.start_ns);
            of_kind
                .filter(|range| timeline.name(range.name) == name)
                .collect::<Vec<_>>()
        })
        .find(|ranges| !ranges.is_empty())
        .unwrap_or_default()
}

fn names(timeline: &Timeline) -> Vec<String> {
    let mut known = std::collections::HashSet::new();
    let mut names = Vec::new();
    for kind in KINDS {
        let ranges = timeline.annotations.iter();
        for range in ranges.filter(|range| range.kind == kind && range.end_ns > range.start_ns) {
            if known.insert(range.name) {
                names.push(timeline.name(range.name).to_owned());
            }
        }
    }
    names
}

/// The last end of anything.
fn last_ns(timeline: &Timeline) -> i64 {
    let ends = timeline.work.iter().map(|work| work.end_ns);
    let ends = ends.chain(timeline.calls.iter().map(|call| call.end_ns));
    let ends = ends.chain(timeline.synchronisations.iter().map(|wait| wait.end_ns));
    let ends = ends.chain(timeline.annotations.iter().map(|range| range.end_ns));
    ends.max().unwrap_or(0)
}

/// The part of a timeline that was found. Times count from its start.
///
/// Calls that began before it and asked for work in it stay, with times below 0, since they tell why the work began when it
/// did.
#[must_use]
pub fn cut(mut timeline: Timeline, found: &Found) -> Timeline {
    let (start, end) = (found.start_ns, found.end_ns);
    let mut window = Window {
        length_ns: end - start,
        start_ns: start,
        name: found.name.clone(),
        place: found.place,
        of: found.of,
        earlier_ns: vec![None; timeline.devices.len()],
        cut_work: 0,
        later_work: 0,
    };
    let is_asked_inside = |call: &crate::Call| start <= call.start_ns && call.start_ns < end;
    let is_inside = |from: i64, to: i64| overlaps((from, to), (start, end));
    for work in &timeline.work {
        if work.end_ns <= start
            && let Some(earlier) = window.earlier_ns.get_mut(timeline.device_of(work))
        {
            *earlier = (*earlier).max(Some(work.end_ns - start));
        }
        let inside = is_inside(work.start_ns, work.end_ns);
        window.cut_work += u64::from(inside && (work.start_ns < start || work.end_ns > end));
        let is_later = !inside && work.start_ns >= end;
        window.later_work +=
            u64::from(is_later && timeline.call_of(work).is_some_and(is_asked_inside));
    }
    timeline
        .work
        .retain(|work| is_inside(work.start_ns, work.end_ns));
    let clip = |from: &mut i64, to: &mut i64| {
        *from = (*from).max(start) - start;
        *to = (*to).min(end) - start;
    };
    for work in &mut timeline.work {
        clip(&mut work.start_ns, &mut work.end_ns);
    }
    timeline
        .work
        .sort_by_key(|work| (work.start_ns, work.end_ns));
    keep_calls(&mut timeline, (start, end));
    timeline
        .synchronisations
        .retain(|wait| is_inside(wait.start_ns, wait.end_ns));
    for wait in &mut timeline.synchronisations {
        clip(&mut wait.start_ns, &mut wait.end_ns);
    }
    timeline
        .overheads
        .retain(|cost| is_inside(cost.start_ns, cost.end_ns));
    for cost in &mut timeline.overheads {
        clip(&mut cost.start_ns, &mut cost.end_ns);
    }
    timeline
        .annotations
        .retain(|range| is_inside(range.start_ns, range.end_ns));
    for range in &mut timeline.annotations {
        clip(&mut range.start_ns, &mut range.end_ns);
    }
    timeline
        .annotations
        .sort_by_key(|range| (range.start_ns, std::cmp::Reverse(range.end_ns)));
    timeline.origin_ns += start;
    timeline.origin_unix_ns = timeline.origin_unix_ns.map(|zero| zero + i128::from(start));
    if timeline.completeness.has_calls {
        let unmatched = timeline
            .work
            .iter()
            .filter(|work| work.call.is_none())
            .count() as u64;
        timeline.completeness.unmatched = unmatched;
        timeline.completeness.ambiguous = timeline.completeness.ambiguous.min(unmatched);
    }
    timeline.window = Some(window);
    timeline
}

/// Whether an interval has a part in a span; one without length is in it when its moment is.
fn overlaps((from, to): (i64, i64), (start, end): (i64, i64)) -> bool {
    if from == to {
        start <= from && from < end
    } else {
        from < end && start < to
    }
}

/// Keeps calls in a span, and those before it that asked for work in it; work gets their new places.
fn keep_calls(timeline: &mut Timeline, span: (i64, i64)) {
    let asked: std::collections::HashSet<CallId> =
        timeline.work.iter().filter_map(|work| work.call).collect();
    let mut places: HashMap<CallId, CallId> = HashMap::with_capacity(asked.len());
    let mut kept = Vec::new();
    for (place, mut call) in std::mem::take(&mut timeline.calls).into_iter().enumerate() {
        let id = CallId::of_place(place);
        if overlaps((call.start_ns, call.end_ns), span) || asked.contains(&id) {
            places.insert(id, CallId::of_place(kept.len()));
            call.start_ns -= span.0;
            call.end_ns -= span.0;
            kept.push(call);
        }
    }
    timeline.calls = kept;
    for work in &mut timeline.work {
        work.call = work.call.and_then(|call| places.get(&call).copied());
    }
}
