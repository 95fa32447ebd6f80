//! The first run: which launches there are and how long they take, from a recording of the program without the profiler.

use std::collections::HashSet;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use ridge_collect::launches::{Seen, traced};
use ridge_diagnose::document::{CollectedTier, LaunchesFrom, Traced};
use ridge_render::kernel_name::base_name;
use ridge_trace::document::Trace;
use ridge_trace::native::{self, Outcome, RecordedProcess, Recording};
use ridge_trace::{Timeline, WorkKind, analyse};

use super::Run;
use super::request::{TRACE, recorded};
use crate::error::ExpectedError;
use crate::exit;
use crate::output::{temporary, unwritable};
use crate::process::{Signals, Streams, signal_name};
use crate::recorder::{
    self, Ended, Recorder, Refused, collect, doubt, refusal, tell, tell_displaced,
};

impl Run<'_> {
    /// Records the program. Absent where the recording does not tell the launches, so that the profiler has to; then it was
    /// said why.
    pub(super) fn record(&mut self) -> Result<Option<Vec<Seen>>, ExpectedError> {
        let path = self.folder.join(TRACE);
        let target = &self.options.target;
        let recorder = match Recorder::prepare(&self.folder) {
            Ok(recorder) => recorder,
            Err(refused @ Refused::NotHere) => {
                let why = refusal(&refused, target, &path).message;
                self.fall_back(&why, None);
                return Ok(None);
            }
            Err(refused) => return Err(refusal(&refused, target, &path)),
        };
        tell_displaced(self.output);
        let purpose = "launches and their times";
        let command = recorded(&recorder.environment(), target);
        self.output.progress(&format!("tier 0: {purpose}"));
        if self.output.verbosity() > 0 {
            self.output.note(&command);
        }
        let signals = Signals::watch_wishes().map_err(|error| {
            ExpectedError::unable(format!("cannot watch for interrupts: {error}"))
        })?;
        let started_unix_ns = recorder::unix_ns();
        let mut told = HashSet::new();
        let streams = Streams::Apart {
            stdin: &self.stdin,
            is_first: true,
            is_shown: true,
        };
        let ended = recorder
            .run(target, streams, &signals, |process| {
                tell(process, &mut told, self.output);
            })
            .map_err(|refused| refusal(&refused, target, &path))?;
        let run = native::Run {
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            started_unix_ns,
            outcome: recorder::outcome(&ended),
        };
        let (timeline, recording) = keep(&recorder, &run, &path)?;
        for process in &recording.processes {
            tell(process, &mut told, self.output);
            doubt(process, self.output);
        }
        let launches = kernels(&timeline);
        let failure = failed(&run.outcome).filter(|_| !ended.is_interrupted);
        self.collected.tiers.push(CollectedTier {
            tier: 0,
            purpose: purpose.to_owned(),
            command,
            report: Some(TRACE.to_owned()),
            launches,
            passes: None,
            wall_s: ended.took.as_secs_f64(),
            failure: failure.clone(),
        });
        if launches > 0 {
            self.collected.traced = Some(summary(
                &analyse(&timeline, TRACE, &[]),
                self.options.keep.is_some(),
            ));
        }
        self.judge_recording(&ended, &run.outcome, failure, launches, &recording)?;
        if launches == 0 {
            if !self.is_interrupted() {
                self.fall_back(why_nothing(&recording), Some(CUPTI));
            }
            return Ok(None);
        }
        let name = |signature: &str| base_name(signature).to_owned();
        let Some(found) = traced(&timeline, self.options.from_start, name) else {
            self.fall_back("it holds no call of cudaProfilerStart", None);
            return Ok(None);
        };
        if found.launches.is_empty() && !self.is_interrupted() {
            self.fall_back(
                "it holds no launch between cudaProfilerStart and cudaProfilerStop",
                None,
            );
            return Ok(None);
        }
        if let Some(traced) = &mut self.collected.traced {
            traced.differences = found.differences;
        }
        self.collected.launches_from = LaunchesFrom::Trace;
        Ok(Some(found.launches))
    }

    /// What became of the program. What was recorded of one that failed counts.
    fn judge_recording(
        &mut self,
        ended: &Ended,
        outcome: &Outcome,
        failure: Option<String>,
        launches: u64,
        recording: &Recording,
    ) -> Result<(), ExpectedError> {
        if ended.is_interrupted {
            self.code = exit::INTERRUPTED;
            return Ok(());
        }
        let Some(failure) = failure else {
            return Ok(());
        };
        match *outcome {
            Outcome::Exited(code) => self.collected.target_code = i32::try_from(code).ok(),
            Outcome::Signalled(signal) => self.collected.target_signal = i32::try_from(signal).ok(),
            Outcome::Unknown => {}
        }
        self.code = exit::TARGET_FAILED;
        let program = self.program();
        if launches > 0 {
            self.output.warn(&format!(
                "{program} {failure}; what it did until then is in the answer"
            ));
            return Ok(());
        }
        // One that could not be recorded may have launched something: the profiler finds out.
        let is_recordable = |process: &RecordedProcess| process.cupti_version.is_some();
        if !recording.processes.is_empty() && !recording.processes.iter().all(is_recordable) {
            return Ok(());
        }
        let before = if recording.processes.is_empty() {
            "before it used a GPU"
        } else {
            "before it launched a kernel"
        };
        let mut error = ExpectedError::unable(format!("{program} {failure} {before}"))
            .with_hint(format!("run it by itself: {}", self.command_line()));
        error.exit = exit::TARGET_FAILED;
        Err(error)
    }

    fn fall_back(&self, why: &str, hint: Option<&str>) {
        self.output.warn(&format!(
            "the recording does not tell the launches: {why}; the profiler times them, one after the other"
        ));
        if let Some(hint) = hint.filter(|_| !self.output.is_quiet()) {
            self.output.hint(hint);
        }
    }
}

/// What to do where nothing was recorded.
const CUPTI: &str =
    "`ridge doctor` tells whether CUPTI, which records, is installed, and how to get it";

/// Puts the recordings of all processes into the folder: the file is whole or not there.
fn keep(
    recorder: &Recorder,
    run: &native::Run,
    path: &Path,
) -> Result<(Timeline, Recording), ExpectedError> {
    let write = || -> io::Result<()> {
        let files = recorder.files()?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut file = temporary().tempfile_in(folder)?;
        let mut sink = BufWriter::new(file.as_file_mut());
        collect(run, &files, &mut sink)?;
        sink.flush()?;
        drop(sink);
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|error| {
        unwritable(path, &error).with_hint("name a folder with room: --keep DIR")
    })?;
    let bytes = std::fs::read(path).map_err(|error| {
        ExpectedError::unable(format!("cannot read {} back: {error}", path.display()))
    })?;
    native::read_all(&bytes).map_err(|error| {
        ExpectedError::internal(format!("failed to {error}, which was just written"))
    })
}

fn kernels(timeline: &Timeline) -> u64 {
    let kernels = timeline
        .work
        .iter()
        .filter(|work| matches!(work.kind, WorkKind::Kernel { .. }));
    u64::try_from(kernels.count()).unwrap_or(u64::MAX)
}

/// What a program that failed did.
fn failed(outcome: &Outcome) -> Option<String> {
    match *outcome {
        Outcome::Exited(0) => None,
        Outcome::Exited(code) => Some(format!("ended with code {code}")),
        Outcome::Signalled(signal) => Some(format!(
            "was ended by signal {signal}{}",
            signal_name(signal)
        )),
        Outcome::Unknown => Some("ended in an unknown way".to_owned()),
    }
}

/// Why there is no kernel in a recording.
fn why_nothing(recording: &Recording) -> &'static str {
    let is_recordable = |process: &RecordedProcess| process.cupti_version.is_some();
    if recording.processes.is_empty() {
        "no process of the program used a GPU through NVIDIA's driver, as far as the recorder saw"
    } else if recording.processes.iter().any(is_recordable) {
        "the program used a GPU, but no kernel was recorded"
    } else {
        "the program ran without being recorded"
    }
}

/// What the timeline says about the program as a whole.
fn summary(trace: &Trace, is_kept: bool) -> Traced {
    let device = trace.verdict.as_ref().and_then(|verdict| {
        trace
            .devices
            .iter()
            .find(|device| device.number == verdict.device)
    });
    let busy_share = device
        .filter(|device| device.span_ns > 0.0)
        .map(|device| (device.busy_ns / device.span_ns).clamp(0.0, 1.0));
    Traced {
        file: is_kept.then(|| TRACE.to_owned()),
        busy_share,
        span_ns: device.map(|device| device.span_ns),
        verdict: trace.verdict.as_ref().map(|verdict| verdict.title.clone()),
        is_bound_by_kernels: trace
            .verdict
            .as_ref()
            .is_some_and(|verdict| verdict.bound == ridge_trace::document::Bound::Kernels),
        finding: trace.findings.first().map(|finding| finding.id.clone()),
        differences: Vec::new(),
    }
}
