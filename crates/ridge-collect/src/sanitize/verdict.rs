//! Whether a run says that there are faults, that there are none, or neither.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::noise::noise;
use super::plan::End;
use super::record::{NoticeKind, Run, Severity};

/// What one run of one tool says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The tool ran to its end, over a program that used CUDA, and counted nothing.
    Clean,
    /// There are faults.
    Faults,
    /// Neither can be said.
    Inconclusive,
    /// The program failed, and the tool found no reason.
    TargetFailed,
    /// The tool does not work here.
    NotSupported,
}

impl Verdict {
    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Faults => "faults",
            Self::Inconclusive => "inconclusive",
            Self::TargetFailed => "target-failed",
            Self::NotSupported => "not-supported",
        }
    }
}

/// Why a verdict is what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The time limit ended it.
    TimeLimit,
    /// The user ended it.
    Interrupted,
    /// The tool does not support the GPU, the driver, or where they run.
    NotSupported,
    /// The tool failed itself.
    InternalError,
    /// The tool ended before it began.
    NotStarted,
    /// The tool's first line is missing.
    NoBanner,
    /// The tool's last line is missing.
    NoSummary,
    /// XML has no summary, so that it does not tell whether the run came to its end.
    XmlHasNoSummary,
    /// The program never used CUDA.
    NoCuda,
    /// The program failed.
    TargetFailed,
    /// A signal ended the program.
    TargetCrashed,
    /// The tool counted errors that it did not print, or that were not understood.
    NotShown,
    /// All that was found is of kinds that programs without fault have too.
    OnlyNoise,
    /// There are warnings and no errors.
    OnlyWarnings,
}

impl Reason {
    /// What it means, for people.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::TimeLimit => "the time limit ended it; what was printed until then counts",
            Self::Interrupted => "it was interrupted; what was printed until then counts",
            Self::NotSupported => "the tool does not work on this machine",
            Self::InternalError => "the tool itself failed",
            Self::NotStarted => "the tool ended before it began",
            Self::NoBanner => "the tool's first line is missing",
            Self::NoSummary => {
                "the tool printed no summary, so the run did not come to its end, or the output is cut off"
            }
            Self::XmlHasNoSummary => {
                "XML holds no summary, so an empty file does not tell a clean run from one that was cut off"
            }
            Self::NoCuda => "the program never used CUDA",
            Self::TargetFailed => "the program failed, and the tool found no reason",
            Self::TargetCrashed => "a signal ended the program, and the tool found no reason",
            Self::NotShown => "the tool counts more errors than it printed",
            Self::OnlyNoise => "what was found is of kinds that programs without fault have too",
            Self::OnlyWarnings => "there are warnings and no errors",
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn hint(self) -> Option<&'static str> {
        Some(match self {
            Self::TimeLimit => {
                "a higher --timeout, a smaller problem, or one --tool at a time: tools slow kernels down 10 to 100 times"
            }
            Self::NotSupported => {
                "a compute-sanitizer that is as new as the GPU and fits the driver; sandboxes such as gVisor do not allow what it needs: `ridge doctor`"
            }
            Self::InternalError => "see the lines of the tool; another version of it may work",
            Self::NotStarted => {
                "see what it printed; `compute-sanitizer --version` shows whether it starts at all"
            }
            Self::NoSummary => "run it again to the end",
            Self::XmlHasNoSummary => "name the text that the tool printed, too or instead",
            Self::NoCuda => {
                "check the arguments of the program: it ended before its first call of CUDA, with a code that the tool does not tell"
            }
            Self::TargetFailed | Self::TargetCrashed => {
                "run the program without the tool: it may fail there, too"
            }
            Self::OnlyNoise | Self::OnlyWarnings => {
                "judge them one by one; what leaves them out is said beside each"
            }
            Self::Interrupted | Self::NoBanner | Self::NotShown => return None,
        })
    }
}

/// A verdict with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Why, and what else has to be known.
    pub reasons: Vec<Reason>,
}

/// Judges a run; `end` is what became of the process, where Ridgepoint started it.
#[must_use]
pub fn judge(run: &Run, end: Option<&End>) -> Judgement {
    let has = |kind| run.notices.iter().any(|notice| notice.kind == kind);
    let errors = run
        .records
        .iter()
        .filter(|record| record.severity == Severity::Error && noise(record).is_none());
    let faults = errors.count();
    let of_error_level = run
        .records
        .iter()
        .filter(|record| record.severity == Severity::Error)
        .count();
    let others = run.records.len() - faults;
    let noisy = run
        .records
        .iter()
        .filter(|record| noise(record).is_some())
        .count();
    let counted = run.summary.errors.unwrap_or(0);
    let shown = u64::try_from(of_error_level).unwrap_or(u64::MAX);
    // One of them may be what the tool counts for the program's own failure.
    let own_failure = u64::from(has(NoticeKind::TargetFailed) || has(NoticeKind::Crashed));
    let not_shown = counted.saturating_sub(shown).saturating_sub(own_failure);

    let mut reasons = Vec::new();
    let failed = match end {
        Some(End::TimedOut) => {
            reasons.push(Reason::TimeLimit);
            None
        }
        Some(End::Interrupted) => {
            reasons.push(Reason::Interrupted);
            None
        }
        Some(End::Code(0)) | None => None,
        // The code is the tool's then, and that of the program is not known.
        Some(End::Code(_)) if has(NoticeKind::NoCuda) => None,
        Some(End::Code(_)) => Some(Reason::TargetFailed),
        Some(End::Signal(_)) => Some(Reason::TargetCrashed),
    };
    let is_ended = !matches!(end, Some(End::TimedOut | End::Interrupted));
    if not_shown > 0 {
        reasons.push(Reason::NotShown);
    }
    let is_unsupported = has(NoticeKind::NotSupported);
    if is_unsupported {
        reasons.push(Reason::NotSupported);
    }
    let is_started = run.has_banner || failed.is_none() || !run.records.is_empty();
    if !is_started {
        reasons.push(Reason::NotStarted);
    }
    if has(NoticeKind::InternalError) {
        reasons.push(Reason::InternalError);
    }
    if has(NoticeKind::NoCuda) {
        reasons.push(Reason::NoCuda);
    }
    if run.is_xml {
        reasons.push(Reason::XmlHasNoSummary);
    } else if is_started {
        if !run.has_banner {
            reasons.push(Reason::NoBanner);
        }
        // Each of these says why there is none.
        let is_explained =
            is_unsupported || has(NoticeKind::NoCuda) || has(NoticeKind::InternalError);
        if !run.summary.is_there() && is_ended && !is_explained {
            reasons.push(Reason::NoSummary);
        }
    }
    let failed = failed.or_else(|| {
        (end.is_none() && has(NoticeKind::TargetFailed)).then_some(if has(NoticeKind::Crashed) {
            Reason::TargetCrashed
        } else {
            Reason::TargetFailed
        })
    });
    let verdict = if faults > 0 || (not_shown > 0 && !is_unsupported) {
        // What is missing at the end does not make faults doubtful.
        reasons.retain(|reason| *reason != Reason::XmlHasNoSummary);
        Verdict::Faults
    } else if is_unsupported || !is_started {
        Verdict::NotSupported
    } else if let Some(failed) = failed
        && run.has_banner
    {
        reasons.insert(0, failed);
        Verdict::TargetFailed
    } else if others > 0 {
        reasons.push(if noisy == others {
            Reason::OnlyNoise
        } else {
            Reason::OnlyWarnings
        });
        Verdict::Inconclusive
    } else if reasons.is_empty() {
        Verdict::Clean
    } else {
        Verdict::Inconclusive
    };
    Judgement { verdict, reasons }
}

/// What all runs say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Every run is clean.
    Clean,
    /// A run has faults.
    Faults,
    /// No run has faults, and one says nothing.
    Inconclusive,
    /// The program failed, and no tool found a reason.
    TargetFailed,
    /// The tools do not work here.
    NotSupported,
}

impl Outcome {
    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Faults => "faults",
            Self::Inconclusive => "inconclusive",
            Self::TargetFailed => "target-failed",
            Self::NotSupported => "not-supported",
        }
    }
}

/// The outcome of several runs; of none it is that nothing can be said.
#[must_use]
pub fn outcome(verdicts: impl IntoIterator<Item = Verdict>) -> Outcome {
    let mut found = Vec::new();
    found.extend(verdicts);
    let any = |verdict| found.contains(&verdict);
    if any(Verdict::Faults) {
        Outcome::Faults
    } else if any(Verdict::NotSupported) {
        Outcome::NotSupported
    } else if any(Verdict::TargetFailed) {
        Outcome::TargetFailed
    } else if any(Verdict::Inconclusive) || found.is_empty() {
        Outcome::Inconclusive
    } else {
        Outcome::Clean
    }
}
