//! The answer of `ridge sanitize`, as data: every renderer prints this and computes nothing.
//!
//! Fields are only ever added within a version. Times are nanoseconds, sizes bytes, absent is `null`.

use schemars::JsonSchema;
use serde::Serialize;

use super::group::groups;
use super::noise::Noise;
use super::plan::{End, Options, Ran};
use super::record::{FaultKind, Notice, Record, Run, Severity, Summary, Tool};
use super::verdict::{Outcome, Reason, Verdict, judge, outcome};

/// Name of the contract.
pub const SCHEMA: &str = "ridgepoint.sanitize";
/// Its version.
pub const VERSION: u32 = 1;

/// What `compute-sanitizer` found, in one summary: what `ridge sanitize --format json` writes.
///
/// Fields are only ever added within a version. Times are nanoseconds, sizes are bytes, and what is not known is `null`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "Faults")]
pub struct Document {
    /// Always `ridgepoint.sanitize`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The version of the command.
    pub tool_version: String,
    /// What all runs say together.
    pub outcome: Outcome,
    /// Whether every tool that was asked for ran, and every input was read as a whole.
    pub is_complete: bool,
    /// The `compute-sanitizer` that was run; `null` for recorded outputs.
    pub sanitizer: Option<Sanitizer>,
    /// The program and its arguments; `null` for recorded outputs.
    pub command: Option<Vec<String>>,
    /// The runs in their order.
    pub runs: Vec<RunResult>,
    /// What was found: records of one fault at one place are one group, faults first.
    pub groups: Vec<FoundGroup>,
    /// What has to be known beside it.
    pub notes: Vec<Note>,
}

/// The `compute-sanitizer` that was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Sanitizer {
    /// Where it is.
    pub path: String,
    /// Its version, where it told.
    pub version: Option<String>,
}

/// One run of one tool.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunResult {
    /// The tool, where it is known.
    pub tool: Option<Tool>,
    /// The recorded output that it comes from; `null` where it was run.
    pub input: Option<String>,
    /// What it says.
    pub verdict: Verdict,
    /// Why, and what else has to be known.
    pub reasons: Vec<Why>,
    /// What became of the process; `null` for recorded outputs.
    pub end: Option<Ended>,
    /// How long it took; `null` for recorded outputs.
    pub took_ns: Option<f64>,
    /// What the tool counts.
    pub summary: Summary,
    /// Records that were read.
    pub records: u64,
    /// Of these, faults that are of no known kind of noise.
    pub faults: u64,
    /// What else the tool says.
    pub notices: Vec<Notice>,
    /// The end of what the program printed, where it failed.
    pub output: Option<String>,
}

/// What became of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Ended {
    /// How it ended.
    pub how: How,
    /// The code that it returned.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// It returned a code.
    Returned,
    /// A signal ended it.
    Signalled,
    /// The time limit ended it.
    TimeLimit,
    /// The user ended it.
    Interrupted,
}

impl From<End> for Ended {
    fn from(end: End) -> Self {
        let (how, code, signal) = match end {
            End::Code(code) => (How::Returned, Some(code), None),
            End::Signal(signal) => (How::Signalled, None, Some(signal)),
            End::TimedOut => (How::TimeLimit, None, None),
            End::Interrupted => (How::Interrupted, None, None),
        };
        Self { how, code, signal }
    }
}

/// A reason of a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Why {
    /// The stable name.
    pub id: Reason,
    /// What it means.
    pub text: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Records that say the same of the same place.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FoundGroup {
    /// The tool, where it is known.
    pub tool: Option<Tool>,
    /// What kind of fault it is.
    pub kind: FaultKind,
    /// How bad the tool calls it.
    pub severity: Severity,
    /// The kernel, as the tool writes it.
    pub kernel: Option<String>,
    /// The source file, where the code has line information.
    pub file: Option<String>,
    /// The line in it, from 1.
    pub line: Option<u32>,
    /// Records that were printed.
    pub count: u64,
    /// Different blocks among them.
    pub blocks: u64,
    /// Hazards of a race: one for each byte.
    pub hazards: Option<u64>,
    /// Bytes that were not freed.
    pub leaked_bytes: Option<u64>,
    /// Why it is likely no fault.
    pub noise: Option<NoiseNote>,
    /// What to do about it.
    pub advice: Option<String>,
    /// The first record.
    pub first: Record,
}

/// Why a group is likely no fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NoiseNote {
    /// The stable name.
    pub id: Noise,
    /// Why.
    pub text: String,
    /// What leaves it out, or settles it.
    pub hint: String,
}

/// What has to be known beside the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Note {
    /// The stable name.
    pub id: String,
    /// What it is.
    pub text: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// A run with what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The run.
    pub run: Run,
    /// The recorded output that it comes from.
    pub input: Option<String>,
    /// What became of the process.
    pub ran: Option<Ran>,
}

impl Document {
    /// Judges and groups runs. `options` are those of tools that were run; `is_complete` says whether all came to their
    /// turn.
    #[must_use]
    pub fn of(
        sources: &[Source],
        options: Option<&Options>,
        tool_version: &str,
        is_complete: bool,
    ) -> Self {
        let runs: Vec<RunResult> = sources.iter().map(result).collect();
        let groups: Vec<FoundGroup> = groups(sources.iter().map(|source| &source.run))
            .into_iter()
            .map(|group| FoundGroup {
                tool: group.tool,
                kind: group.first.kind,
                severity: group.first.severity,
                kernel: group.first.kernel().map(str::to_owned),
                file: group
                    .first
                    .place
                    .as_ref()
                    .and_then(|place| place.file.clone()),
                line: group.first.place.as_ref().and_then(|place| place.line),
                count: group.count,
                blocks: u64::try_from(group.blocks).unwrap_or(u64::MAX),
                hazards: group.hazards,
                leaked_bytes: group.leaked_bytes,
                noise: group.noise.map(|noise| NoiseNote {
                    id: noise,
                    text: noise.why().to_owned(),
                    hint: noise.remedy().to_owned(),
                }),
                advice: group
                    .first
                    .kind
                    .advice_for(&group.first.text)
                    .map(str::to_owned),
                first: group.first.clone(),
            })
            .collect();
        Self {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            tool_version: tool_version.to_owned(),
            outcome: outcome(runs.iter().map(|run| run.verdict)),
            is_complete,
            sanitizer: None,
            command: None,
            notes: notes(&runs, &groups, options),
            runs,
            groups,
        }
    }
}

fn result(source: &Source) -> RunResult {
    let run = &source.run;
    let judgement = judge(run, source.ran.as_ref().map(|ran| &ran.end));
    let why = |reason: &Reason| Why {
        id: *reason,
        text: reason.text().to_owned(),
        hint: reason.hint().map(str::to_owned),
    };
    let is_fault =
        |record: &&Record| record.severity == Severity::Error && super::noise(record).is_none();
    let output = source
        .ran
        .as_ref()
        .filter(|_| judgement.verdict != Verdict::Clean)
        .map(|ran| ran.output.trim_end().to_owned())
        .filter(|output| !output.is_empty());
    RunResult {
        tool: run.tool,
        input: source.input.clone(),
        verdict: judgement.verdict,
        reasons: judgement.reasons.iter().map(why).collect(),
        end: source.ran.as_ref().map(|ran| ran.end.into()),
        took_ns: source.ran.as_ref().map(|ran| ran.took_ns),
        summary: run.summary,
        records: count(run.records.len()).saturating_add(run.not_kept),
        faults: count(run.records.iter().filter(is_fault).count()),
        notices: run.notices.clone(),
        output,
    }
}

fn count(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn notes(runs: &[RunResult], groups: &[FoundGroup], options: Option<&Options>) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut note = |id: &str, text: &str, hint: Option<&str>| {
        notes.push(Note {
            id: id.to_owned(),
            text: text.to_owned(),
            hint: hint.map(str::to_owned),
        });
    };
    let of_device = |group: &&FoundGroup| group.kernel.is_some();
    if groups
        .iter()
        .filter(of_device)
        .any(|group| group.file.is_none() && group.kind != FaultKind::Exception)
    {
        note(
            "no-lines",
            "some device code has no line information",
            Some("compile with `nvcc -lineinfo`"),
        );
    }
    let capped = runs.iter().any(|run| {
        run.summary.not_printed.is_some()
            || run
                .summary
                .errors
                .is_some_and(|errors| errors > run.records)
    });
    if capped {
        note(
            "capped",
            "the tool stopped printing before it stopped counting: counts of groups are of what was printed",
            Some("mend the groups that are shown, and run again"),
        );
    }
    let is_clean = |tool| {
        runs.iter()
            .any(|run| run.tool == Some(tool) && run.verdict == Verdict::Clean)
    };
    if is_clean(Tool::Memcheck) && options.is_some_and(|options| options.padding_bytes.is_none()) {
        note(
            "neighbours",
            "memcheck does not see an overflow that lands in the next allocation, nor one inside a pool that is one large allocation",
            Some("--padding 32 puts room between allocations of cudaMalloc"),
        );
    }
    if is_clean(Tool::Racecheck) {
        note(
            "shared-only",
            "racecheck looks at shared memory: races on global memory are not found",
            None,
        );
    }
    notes
}
