//! The pages of `ridge sanitize`: what each tool says, then each fault with the first time that it was seen.

mod markdown;
mod sarif;

use ridge_collect::sanitize::document::{Document, Ended, FoundGroup, How, RunResult};
use ridge_collect::sanitize::{
    FaultKind, NoticeKind, Outcome, Place, Record, Severity, Side, Tool, Verdict,
};
use ridge_model::quantity::{Nanos, counted, grouped};

use crate::page::Layout;
use crate::style::Role;
use crate::table::{Cell, Column, Table};

pub use markdown::markdown;
pub use sarif::sarif;
pub(crate) use sarif::uri;

/// Groups that are shown without `-v`.
const MOST_GROUPS: usize = 20;
/// Lines of the program's output that are shown without `-v`.
const MOST_LINES: usize = 10;

/// What all runs say, in a sentence.
fn headline(document: &Document) -> String {
    let kinds = document
        .groups
        .iter()
        .filter(|group| is_fault(group))
        .count();
    let text = match document.outcome {
        Outcome::Clean => "no faults: each tool ran to its end and counted nothing".to_owned(),
        Outcome::Faults if kinds == 0 => {
            "faults were counted, and none of them was printed".to_owned()
        }
        Outcome::Faults => {
            let places = counted(u64::try_from(kinds).unwrap_or(u64::MAX), "fault");
            let records: u64 = document.runs.iter().map(|run| run.faults).sum();
            format!("{places} in {}", counted(records, "record"))
        }
        Outcome::Inconclusive => {
            "inconclusive: no fault was found, but not every tool says that there is none"
                .to_owned()
        }
        Outcome::TargetFailed => {
            "the program failed by itself, and no tool found a reason".to_owned()
        }
        Outcome::NotSupported => "the tools do not work on this machine".to_owned(),
    };
    let by = document.sanitizer.as_ref().map(|sanitizer| {
        let version = sanitizer.version.as_deref().unwrap_or("of unknown version");
        format!(" (compute-sanitizer {version})")
    });
    let part = if document.is_complete {
        ""
    } else {
        "; only a part was looked at"
    };
    format!("{text}{part}{}", by.unwrap_or_default())
}

fn is_fault(group: &FoundGroup) -> bool {
    group.noise.is_none() && group.severity == Severity::Error
}

const fn role(verdict: Verdict) -> Role {
    match verdict {
        Verdict::Clean => Role::Good,
        Verdict::Faults | Verdict::TargetFailed => Role::Bad,
        Verdict::Inconclusive | Verdict::NotSupported => Role::Warning,
    }
}

fn tool_name(tool: Option<Tool>) -> &'static str {
    tool.map_or("(tool not told)", Tool::name)
}

/// What became of the process.
fn ended(end: Ended) -> String {
    match (end.how, end.code, end.signal) {
        (_, Some(code), _) => format!("exit code {code}"),
        (_, None, Some(signal)) => format!("signal {signal}"),
        (How::Interrupted, ..) => "interrupted".to_owned(),
        _ => "time limit".to_owned(),
    }
}

/// What a tool counts; `None` where it has not counted.
fn counts(run: &RunResult) -> Option<String> {
    let errors = run.summary.errors?;
    let warnings = run.summary.warnings.filter(|warnings| *warnings > 0);
    let warnings = warnings.map(|warnings| format!(", {}", counted(warnings, "warning")));
    Some(format!(
        "{}{}",
        counted(errors, "error"),
        warnings.unwrap_or_default()
    ))
}

/// A place as people write it.
fn place_text(place: &Place) -> Option<String> {
    let file = place.file.as_deref()?;
    Some(match place.line {
        Some(line) => format!("{file}:{line}"),
        None => file.to_owned(),
    })
}

/// A place, or as much of it as there is.
fn place_or_offset(place: &Place) -> String {
    place_text(place).unwrap_or_else(|| {
        let function = place.function.as_deref().unwrap_or("unknown code");
        place.offset.map_or_else(
            || function.to_owned(),
            |offset| format!("{function}+{offset:#x}"),
        )
    })
}

/// Where a group is: the kernel, else the call of the host.
fn subject(group: &FoundGroup) -> String {
    if let Some(kernel) = &group.kernel {
        return kernel.clone();
    }
    let site = group.first.host_site();
    let function = site.and_then(|frame| frame.function.as_deref());
    let place = site.and_then(|frame| {
        let file = frame.file.as_deref()?;
        Some(format!(" at {file}:{}", frame.line?))
    });
    match function {
        Some(function) => format!("host code: {function}{}", place.unwrap_or_default()),
        None => "host code".to_owned(),
    }
}

fn triple([x, y, z]: [u32; 3]) -> String {
    format!("({x},{y},{z})")
}

/// What happened, in a sentence.
fn what(group: &FoundGroup) -> String {
    let first = &group.first;
    let memory = first.memory.as_ref();
    let bytes = memory
        .and_then(|memory| memory.bytes)
        .map(|bytes| format!(" of {}", counted(bytes, "byte")))
        .unwrap_or_default();
    let direction = memory
        .and_then(|memory| memory.direction.as_deref())
        .unwrap_or("access");
    let space = memory
        .and_then(|memory| memory.space.as_deref())
        .map(|space| format!(" in {space} memory"))
        .unwrap_or_default();
    match first.kind {
        FaultKind::OutOfBounds => format!("{direction}{bytes} out of bounds{space}"),
        FaultKind::Misaligned => format!("misaligned {direction}{bytes}{space}"),
        FaultKind::InvalidAccess => format!("invalid {direction}{bytes}{space}"),
        FaultKind::UninitializedRead => format!("read{bytes} that nobody wrote{space}"),
        FaultKind::Leak => match group.leaked_bytes {
            Some(bytes) => format!("{} bytes were not freed", grouped(bytes)),
            None => first.text.clone(),
        },
        FaultKind::Race if first.accesses.len() > 1 => {
            let side = |access: &ridge_collect::sanitize::Access| {
                format!("{} at {}", access.direction, place_or_offset(&access.place))
            };
            let others: Vec<String> = first.accesses.iter().skip(1).map(side).collect();
            format!(
                "race on shared memory between {} and {}",
                side(&first.accesses[0]),
                others.join(", ")
            )
        }
        _ => first.text.trim_end_matches('.').to_owned(),
    }
}

/// How often.
fn times(group: &FoundGroup) -> String {
    let mut text = counted(group.count, "time");
    if group.blocks > 1 {
        text = format!("{text} in {}", counted(group.blocks, "block"));
    }
    if let Some(hazards) = group.hazards {
        text = format!("{text}, {}", counted(hazards, "hazard"));
    }
    text
}

/// The first record, in a sentence.
fn first_seen(record: &Record) -> Option<String> {
    let mut parts = Vec::new();
    let thread = record
        .thread
        .map(|thread| format!("thread {}", triple(thread)));
    let block = record.block.map(|block| format!("block {}", triple(block)));
    match (thread, block) {
        (Some(thread), Some(block)) => parts.push(format!("{thread} of {block}")),
        (Some(one), None) | (None, Some(one)) => parts.push(one),
        (None, None) => {}
    }
    if let Some(memory) = &record.memory
        && let Some(address) = &memory.address
    {
        let near = memory.nearest.as_ref().map(|nearest| {
            let size = nearest
                .size_bytes
                .map(|size| format!(" of {} bytes", grouped(size)))
                .unwrap_or_default();
            let distance = nearest
                .distance_bytes
                .filter(|_| nearest.side != Side::Inside)
                .map(|distance| format!("{} ", counted(distance, "byte")))
                .unwrap_or_default();
            format!(
                ", {distance}{} the nearest allocation{size}",
                nearest.side.name()
            )
        });
        parts.push(format!("address {address}{}", near.unwrap_or_default()));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Writes the page.
#[must_use]
pub fn text(document: &Document, layout: &Layout) -> String {
    let mut out = String::new();
    layout.heading(&mut out, &headline(document));
    if let Some(command) = &document.command {
        let command = format!("program: {}", command.join(" "));
        layout.paragraph(&mut out, &command, "  ", "    ", Some(Role::Dim));
    }
    out.push('\n');
    out.push_str(&runs(document, layout));
    let most = if layout.is_verbose {
        usize::MAX
    } else {
        MOST_GROUPS
    };
    for group in document.groups.iter().take(most) {
        out.push('\n');
        one(&mut out, group, layout);
    }
    let more = document.groups.len().saturating_sub(most);
    if more > 0 {
        let more = counted(u64::try_from(more).unwrap_or(u64::MAX), "more group");
        layout.paragraph(
            &mut out,
            &format!("and {more}; -v shows all"),
            "\n",
            "",
            None,
        );
    }
    reasons(&mut out, document, layout);
    if !document.notes.is_empty() {
        out.push('\n');
    }
    for note in &document.notes {
        let hint = note.hint.as_ref().map(|hint| format!("; {hint}"));
        let text = format!("{}{}", note.text, hint.unwrap_or_default());
        layout.paragraph(&mut out, &text, "note: ", "  ", Some(Role::Dim));
    }
    out
}

fn runs(document: &Document, layout: &Layout) -> String {
    let absent = layout.charset.absent();
    let has_inputs = document.runs.iter().any(|run| run.input.is_some());
    let mut columns = vec![
        Column::left("tool"),
        Column::left("verdict"),
        Column::right("counted"),
        Column::right("printed"),
    ];
    columns.push(if has_inputs {
        Column::left("input").truncated(1, 12)
    } else {
        Column::right("time")
    });
    if !has_inputs {
        columns.push(Column::left("program ended with"));
    }
    let mut table = Table::new(columns);
    for run in &document.runs {
        let role = role(run.verdict);
        let verdict = format!("{} {}", role.mark(), run.verdict.name());
        let mut cells: Vec<Cell> = vec![
            tool_name(run.tool).into(),
            Cell::styled(role, &verdict),
            counts(run).unwrap_or_else(|| absent.to_owned()).into(),
            grouped(run.records).into(),
        ];
        match &run.input {
            Some(input) => cells.push(input.as_str().into()),
            None => {
                let time = run.took_ns.map(|time| Nanos::new(time).to_string());
                cells.push(time.unwrap_or_else(|| absent.to_owned()).into());
                cells.push(run.end.map_or_else(|| absent.to_owned(), ended).into());
            }
        }
        table.row(cells);
    }
    table.render(layout.columns, layout.charset, layout.painter)
}

/// Why runs say what they say, where it is not for what they found.
fn reasons(out: &mut String, document: &Document, layout: &Layout) {
    let mut told: Vec<(String, u64)> = Vec::new();
    for run in &document.runs {
        if run.reasons.is_empty() && run.notices.is_empty() && run.output.is_none() {
            continue;
        }
        let name = match &run.input {
            Some(input) => format!("{} in {input}", tool_name(run.tool)),
            None => tool_name(run.tool).to_owned(),
        };
        let mut body = String::new();
        for reason in &run.reasons {
            let hint = reason.hint.as_ref().map(|hint| format!("; try: {hint}"));
            let text = format!("{}{}", reason.text, hint.unwrap_or_default());
            layout.paragraph(&mut body, &text, "  ! ", "    ", Some(Role::Warning));
        }
        // What the reasons say already is not said twice.
        let is_new = |notice: &&ridge_collect::sanitize::Notice| {
            !matches!(
                notice.kind,
                NoticeKind::TargetFailed | NoticeKind::Crashed | NoticeKind::NoCuda
            )
        };
        for notice in run.notices.iter().filter(is_new) {
            layout.paragraph(&mut body, &notice.text, "  it says: ", "    ", None);
        }
        if let Some(output) = &run.output
            && run.verdict != Verdict::Faults
        {
            layout.paragraph(&mut body, "printed at its end:", "  ", "  ", None);
            let lines: Vec<&str> = output.lines().collect();
            let most = if layout.is_verbose {
                lines.len()
            } else {
                MOST_LINES
            };
            for line in &lines[lines.len().saturating_sub(most)..] {
                layout.paragraph(&mut body, line, "    ", "      ", Some(Role::Dim));
            }
        }
        if body.is_empty() {
            continue;
        }
        let mut block = String::new();
        layout.paragraph(&mut block, &name, "", "  ", None);
        block.push_str(&body);
        match told.iter_mut().find(|(other, _)| *other == block) {
            Some((_, count)) => *count += 1,
            None => told.push((block, 1)),
        }
    }
    for (block, count) in told {
        out.push('\n');
        out.push_str(&block);
        if count > 1 {
            let text = format!("the same for {}", counted(count - 1, "more run"));
            layout.paragraph(out, &text, "  ", "    ", Some(Role::Dim));
        }
    }
}

fn one(out: &mut String, group: &FoundGroup, layout: &Layout) {
    let role = match (group.noise.is_some(), group.severity) {
        (false, Severity::Error) => Role::Bad,
        (_, Severity::Info) => Role::Dim,
        _ => Role::Warning,
    };
    let place = group
        .first
        .place
        .as_ref()
        .filter(|_| group.kernel.is_some())
        .map(|place| match place_text(place) {
            Some(text) => format!(" at {text}"),
            // An offset counts from the start of the function, which need not be the kernel.
            None => place
                .offset
                .filter(|_| place.function == group.kernel)
                .map(|offset| format!(" at +{offset:#x}"))
                .unwrap_or_default(),
        })
        .unwrap_or_default();
    layout.heading(out, &format!("{}{place}", subject(group)));
    let severity = match group.severity {
        Severity::Error => String::new(),
        other => format!(" {}", other.name()),
    };
    let line = format!(
        "{}{severity}: {}; {}",
        tool_name(group.tool),
        what(group),
        times(group)
    );
    layout.paragraph(
        out,
        &line,
        &format!("  {} ", role.mark()),
        "    ",
        Some(role),
    );
    let mut detail = |text: String| layout.paragraph(out, &text, "    ", "      ", None);
    if let Some(noise) = &group.noise {
        detail(format!("likely no fault: {}", noise.text));
    }
    if let Some(first) = first_seen(&group.first) {
        detail(format!("first: {first}"));
    }
    let own = group
        .first
        .place
        .as_ref()
        .and_then(|place| place.function.as_deref());
    if let Some(own) = own
        && group.kernel.as_deref() != Some(own)
    {
        detail(format!("in {own}"));
    }
    for frame in &group.first.device_frames {
        // Code without lines may be its own caller.
        if frame.file.is_none() && frame.function.as_deref() == own {
            continue;
        }
        let at = place_or_offset(frame);
        let function = frame.function.as_deref().unwrap_or("unknown function");
        detail(format!("called by {function} at {at}"));
    }
    if layout.is_verbose {
        for frame in &group.first.host_frames {
            let function = frame.function.as_deref().unwrap_or("unknown function");
            let module = frame.module.as_deref().unwrap_or("unknown module");
            let moment = group.first.host_moment.as_deref().unwrap_or("host");
            detail(format!("{moment}: {function} in {module}"));
        }
        for line in &group.first.more {
            detail(line.clone());
        }
    } else if group.kernel.is_some()
        && let Some(site) = group.first.host_site()
        && let Some(function) = &site.function
    {
        detail(format!("launched by {function}"));
    }
    let advice = group.noise.as_ref().map(|noise| &noise.hint);
    if let Some(advice) = advice.or(group.advice.as_ref()) {
        layout.paragraph(out, advice, "    do: ", "      ", None);
    }
}
