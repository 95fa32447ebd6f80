//! Timelines and benchmarks as titled lists and tables, which each format writes in its way.

use ridge_compare::Verdict;
use ridge_compare::bench::{Comparison, Pair};
use ridge_compare::kernels::document::{Outcome, Rule, Time};
use ridge_compare::timelines::document::{
    AloneKernel, FigureMoved, FindingChange, KernelChange, Timelines, Two,
};
use ridge_model::quantity::{Amount, Bytes, Nanos, Unit, counted};
use ridge_trace::document::{Direction, GapClass};
use ridge_trace::{CopyKind, Memory};

use super::words::{self, ABSENT};
use crate::charset::Charset;
use crate::kernel_name::shorten;

/// Columns of a name.
const NAME: usize = 60;
/// Kernels whose reasons are told before the table.
const MOST_REASONS: usize = 20;

/// A piece of a page.
pub(super) struct Part {
    pub(super) title: String,
    /// What is said before the table.
    pub(super) lines: Vec<Line>,
    /// Headers, and whether the column holds numbers; none without a table.
    pub(super) columns: Vec<(&'static str, bool)>,
    pub(super) rows: Vec<Vec<String>>,
    /// What the rows are, for a page that leaves some out.
    pub(super) what: &'static str,
}

/// A line, and the verdict that it is about.
pub(super) struct Line {
    pub(super) verdict: Option<Verdict>,
    pub(super) text: String,
}

impl Line {
    fn plain(text: String) -> Self {
        Self {
            verdict: None,
            text,
        }
    }
}

/// The parts of two timelines.
pub(super) fn timelines(found: &Timelines) -> Vec<Part> {
    let mut parts = vec![
        Part {
            title: "the whole".to_owned(),
            lines: found.span.as_ref().map_or_else(Vec::new, time),
            columns: vec![
                ("device", false),
                ("figure", false),
                ("before", true),
                ("after", true),
            ],
            rows: devices(found),
            what: "figure",
        },
        Part {
            title: "kernels, one launch each".to_owned(),
            lines: found
                .kernels
                .iter()
                .filter_map(why_ambiguous)
                .take(MOST_REASONS)
                .collect(),
            columns: vec![
                ("verdict", false),
                ("kernel", false),
                ("before", true),
                ("after", true),
                ("ratio", true),
                ("launches", true),
                ("all before", true),
                ("all after", true),
            ],
            rows: found.kernels.iter().map(kernel).collect(),
            what: "kernel",
        },
        Part {
            title: "copies".to_owned(),
            lines: Vec::new(),
            columns: vec![
                ("copies", false),
                ("number", true),
                ("bytes", true),
                ("time", true),
            ],
            rows: found
                .copies
                .iter()
                .map(|copies| {
                    vec![
                        format!(
                            "{} ({} to {})",
                            kind(copies.kind),
                            memory(copies.from),
                            memory(copies.to)
                        ),
                        two(copies.count, |count| format!("{count:.0}")),
                        two(copies.bytes, |bytes| Bytes::new(bytes).to_string()),
                        two(copies.sum_ns, |time| Nanos::new(time).to_string()),
                    ]
                })
                .collect(),
            what: "kind",
        },
        Part {
            title: "findings".to_owned(),
            lines: found.findings.iter().flat_map(finding).collect(),
            columns: Vec::new(),
            rows: Vec::new(),
            what: "finding",
        },
    ];
    for (title, list) in [
        ("only before", &found.only_before),
        ("only after", &found.only_after),
    ] {
        parts.push(Part {
            title: title.to_owned(),
            lines: Vec::new(),
            columns: vec![("kernel", false), ("launches", true), ("time", true)],
            rows: list.iter().map(alone).collect(),
            what: "kernel",
        });
    }
    parts.retain(|part| !(part.lines.is_empty() && part.rows.is_empty()));
    parts
}

fn time(time: &Time) -> Vec<Line> {
    let mut lines = vec![Line {
        verdict: Some(time.verdict),
        text: format!(
            "{} by {}: {}",
            time.verdict,
            time.origin.words(),
            words::times(time)
        ),
    }];
    lines.extend(time.reasons.iter().cloned().map(Line::plain));
    lines.extend(
        time.next_step
            .iter()
            .map(|step| Line::plain(format!("try: {step}"))),
    );
    lines
}

fn devices(found: &Timelines) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for device in &found.devices {
        let name = match &device.name_before {
            Some(name) => format!("{} {name}", device.number),
            None => device.number.to_string(),
        };
        let mut add = |figure: &str, values: Two, show: &dyn Fn(f64) -> String| {
            let cell = |value: Option<f64>| value.map_or_else(|| ABSENT.to_owned(), show);
            rows.push(vec![
                if rows.is_empty() {
                    name.clone()
                } else {
                    String::new()
                },
                figure.to_owned(),
                cell(values.before),
                cell(values.after),
            ]);
        };
        let nanos = |time: f64| Nanos::new(time).to_string();
        add("span", device.span_ns, &nanos);
        add("busy", device.busy_share, &words::percent);
        add("kernels", device.kernel_ns, &nanos);
        add(
            "copies that no kernel hides",
            device.copy_exposed_ns,
            &nanos,
        );
        add("idle", device.idle_ns, &nanos);
        add("number of kernels", device.kernels, &|count| {
            format!("{count:.0}")
        });
        for gaps in &device.gaps {
            add(&format!("gaps: {}", gap(gaps.class)), gaps.sum_ns, &nanos);
        }
    }
    rows
}

/// Why nobody can tell of a kernel, and between what its ratio is.
fn why_ambiguous(kernel: &KernelChange) -> Option<Line> {
    let time = &kernel.time;
    if time.verdict != Verdict::Ambiguous {
        return None;
    }
    let interval = time
        .lower
        .zip(time.upper)
        .map_or_else(String::new, |(lower, upper)| {
            format!(
                " (95 % interval of the ratio {} to {})",
                words::ratio(lower),
                words::ratio(upper)
            )
        });
    Some(Line {
        verdict: Some(time.verdict),
        text: format!(
            "{} {}: {}{interval}",
            time.verdict,
            shorten(&kernel.before, NAME, Charset::Unicode),
            time.reasons.join("; ")
        ),
    })
}

const fn gap(class: GapClass) -> &'static str {
    match class {
        GapClass::HostWait => "the host asked late",
        GapClass::LaunchFloor => "queued, below 3 us",
        GapClass::Dependency => "queued, 3 us and more",
        GapClass::Unknown => "call not in the trace",
    }
}

fn kernel(kernel: &KernelChange) -> Vec<String> {
    let name = |name: &str| shorten(name, NAME, Charset::Unicode);
    let names = if kernel.before == kernel.after {
        name(&kernel.before)
    } else {
        format!("{} → {}", name(&kernel.before), name(&kernel.after))
    };
    let how = match kernel.matched_by {
        Rule::Given => " (by hand)",
        Rule::OnlyOne => " (the only one)",
        Rule::OtherArguments => " (other arguments)",
        Rule::Alike => " (names are alike)",
        Rule::Same | Rule::OtherGrid | Rule::OtherBlock => "",
    };
    vec![
        kernel.time.verdict.word().to_owned(),
        format!("{names}{how}"),
        words::nanos(kernel.time.before_ns),
        words::nanos(kernel.time.after_ns),
        ratio(kernel.time.ratio),
        two(kernel.launches, |count| format!("{count:.0}")),
        words::nanos(kernel.sum_ns.before),
        words::nanos(kernel.sum_ns.after),
    ]
}

fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| ABSENT.to_owned(), words::ratio)
}

fn alone(kernel: &AloneKernel) -> Vec<String> {
    vec![
        shorten(&kernel.name, NAME, Charset::Unicode),
        kernel.launches.to_string(),
        Nanos::new(kernel.sum_ns).to_string(),
    ]
}

/// Both sides in one cell; once where they are the same.
fn two(values: Two, show: impl Fn(f64) -> String) -> String {
    let cell = |value: Option<f64>| value.map_or_else(|| ABSENT.to_owned(), &show);
    let (before, after) = (cell(values.before), cell(values.after));
    if before == after {
        before
    } else {
        format!("{before} → {after}")
    }
}

const fn kind(kind: CopyKind) -> &'static str {
    match kind {
        CopyKind::HostToDevice => "host to device",
        CopyKind::DeviceToHost => "device to host",
        CopyKind::DeviceToDevice => "within a device",
        CopyKind::PeerToPeer => "device to device",
        CopyKind::HostToHost => "host to host",
        CopyKind::UnifiedToDevice => "managed, to device",
        CopyKind::UnifiedToHost => "managed, to host",
        CopyKind::Other => "other",
    }
}

const fn memory(memory: Memory) -> &'static str {
    match memory {
        Memory::Pageable => "pageable",
        Memory::Pinned => "pinned",
        Memory::Device => "device",
        Memory::Array => "array",
        Memory::Managed => "managed",
        Memory::Unknown => "not said",
    }
}

fn finding(finding: &FindingChange) -> Vec<Line> {
    let saving = two(finding.saving_expected, words::percent);
    let verdict = match finding.outcome {
        Outcome::Gone => Some(Verdict::Faster),
        _ => Some(Verdict::Ambiguous),
    };
    let mut lines = vec![Line {
        verdict,
        text: format!(
            "{}: {} (share of the span: {saving})",
            finding.id,
            finding.outcome.words()
        ),
    }];
    lines.extend(
        finding
            .verify
            .iter()
            .map(|moved| Line::plain(figure(moved))),
    );
    lines
}

fn figure(moved: &FigureMoved) -> String {
    let wanted = match moved.direction {
        Direction::Up => "rise",
        Direction::Down => "fall",
    };
    let show = |value: f64| Amount::new(value, Unit::new(moved.unit.clone())).to_string();
    let cell = |value: Option<f64>| value.map_or_else(|| ABSENT.to_owned(), show);
    format!(
        "{}: {} had to {wanted}: {} → {}",
        moved.outcome.words(),
        moved.metric,
        cell(moved.values.before),
        cell(moved.values.after)
    )
}

/// The parts of two results of `ridge bench`.
pub(super) fn benchmarks(found: &Comparison) -> Vec<Part> {
    let mut lines: Vec<Line> = found
        .warnings
        .iter()
        .map(|warning| {
            Line::plain(format!(
                "warning: {} [spoils: {}]",
                warning.text, warning.spoils
            ))
        })
        .collect();
    for pair in &found.pairs {
        for remark in pair.invalid.iter().chain(&pair.doubts) {
            let hint = remark
                .hint
                .as_ref()
                .map_or_else(String::new, |hint| format!("; {hint}"));
            lines.push(Line {
                verdict: Some(pair.verdict),
                text: format!(
                    "{} {}: {}: {}{hint}",
                    pair.verdict,
                    renamed(pair, &pair.subject.state),
                    pair.subject.mode,
                    remark.text
                ),
            });
        }
    }
    let labels: Vec<&str> = found
        .pairs
        .iter()
        .map(|pair| pair.subject.state.as_str())
        .collect();
    let common = common_axes(&labels);
    if !common.is_empty() {
        lines.push(Line::plain(format!(
            "of all states below: {}",
            common.join(", ")
        )));
    }
    let mut parts = vec![Part {
        title: format!("states: {}", counted(found.pairs.len() as u64, "pair")),
        lines,
        columns: vec![
            ("verdict", false),
            ("state", false),
            ("mode", false),
            ("before", true),
            ("after", true),
            ("ratio", true),
            ("95 % interval", true),
            ("band", true),
        ],
        rows: found
            .pairs
            .iter()
            .map(|pair| state(pair, &common))
            .collect(),
        what: "state",
    }];
    if !found.unmatched.is_empty() {
        parts.push(Part {
            title: "on one side only".to_owned(),
            lines: Vec::new(),
            columns: vec![("side", false), ("state", false), ("mode", false)],
            rows: found
                .unmatched
                .iter()
                .map(|one| {
                    vec![
                        if one.is_new { "after" } else { "before" }.to_owned(),
                        one.subject.state.clone(),
                        one.subject.mode.to_string(),
                    ]
                })
                .collect(),
            what: "state",
        });
    }
    parts
}

/// Axes that have one value in all of several states: a table that is cut would show them and not what tells states apart.
fn common_axes<'l>(labels: &[&'l str]) -> Vec<&'l str> {
    let Some((first, rest)) = labels.split_first().filter(|(_, rest)| !rest.is_empty()) else {
        return Vec::new();
    };
    let of_first = split(first).1;
    of_first
        .into_iter()
        .filter(|axis| rest.iter().all(|label| split(label).1.contains(axis)))
        .collect()
}

/// The name and the axes of a state, `name[n=1024,block=128]`.
fn split(label: &str) -> (&str, Vec<&str>) {
    label
        .strip_suffix(']')
        .and_then(|label| label.split_once('['))
        .map_or((label, Vec::new()), |(name, axes)| {
            (name, axes.split(',').collect())
        })
}

fn without(label: &str, common: &[&str]) -> String {
    let (name, mut axes) = split(label);
    axes.retain(|axis| !common.contains(axis));
    if axes.is_empty() {
        name.to_owned()
    } else {
        format!("{name}[{}]", axes.join(","))
    }
}

/// The label of a state, behind the name that its kernel had.
fn renamed(pair: &Pair, label: &str) -> String {
    match &pair.kernel_before {
        Some(before) => format!("{before} → {label}"),
        None => label.to_owned(),
    }
}

fn state(pair: &Pair, common: &[&str]) -> Vec<String> {
    let interval = pair.ratio_lower.zip(pair.ratio_upper).map_or_else(
        || ABSENT.to_owned(),
        |(lower, upper)| format!("{lower:.3} to {upper:.3}"),
    );
    let band = pair.band.zip(pair.band_origin).map_or_else(
        || ABSENT.to_owned(),
        |(band, origin)| format!("{:.1} % ({})", 100.0 * band, origin.words()),
    );
    vec![
        pair.verdict.word().to_owned(),
        renamed(pair, &without(&pair.subject.state, common)),
        pair.subject.mode.to_string(),
        words::nanos(pair.before.as_ref().map(|time| time.median_ns)),
        words::nanos(pair.after.as_ref().map(|time| time.median_ns)),
        ratio(pair.ratio),
        interval,
        band,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_states_have_is_said_once() {
        let labels = ["scalar[n=4194304,block=128]", "scalar[n=4194304,block=256]"];
        let common = common_axes(&labels);
        assert_eq!(common, ["n=4194304"]);
        assert_eq!(without(labels[0], &common), "scalar[block=128]");
        assert_eq!(without(labels[1], &common), "scalar[block=256]");
        assert_eq!(without("plain[n=4194304]", &common), "plain");
        // One state has nothing to be told from.
        assert!(common_axes(&labels[..1]).is_empty());
        assert!(common_axes(&["a", "b"]).is_empty());
    }

    #[test]
    fn a_kernel_that_nobody_can_tell_has_its_reason_and_interval() {
        let time = Time {
            verdict: Verdict::Ambiguous,
            origin: ridge_compare::kernels::document::TimeOrigin::Trace,
            before_ns: Some(100.0),
            after_ns: Some(104.0),
            samples_before: 5,
            samples_after: 5,
            ratio: Some(1.04),
            lower: Some(0.97),
            upper: Some(1.21),
            band: None,
            clock_before_hz: None,
            clock_after_hz: None,
            cycles_ratio: None,
            reasons: vec!["too few samples".to_owned()],
            next_step: None,
        };
        let mut change = KernelChange {
            before: "scan".to_owned(),
            after: "scan".to_owned(),
            matched_by: Rule::Same,
            similarity: None,
            launches: Two::default(),
            sum_ns: Two::default(),
            time,
        };
        assert_eq!(
            why_ambiguous(&change).map(|line| line.text).as_deref(),
            Some("AMBIGUOUS scan: too few samples (95 % interval of the ratio 0.970 to 1.21)")
        );
        change.time.verdict = Verdict::Faster;
        assert!(why_ambiguous(&change).is_none());
    }
}
