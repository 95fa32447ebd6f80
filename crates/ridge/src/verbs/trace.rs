//! `ridge trace`: runs a program with the recorder in it, and keeps what it did on the GPU.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use ridge_injection::format::state;
use ridge_model::quantity::{Bytes, Nanos, counted};
use ridge_trace::native::{self, Outcome, RecordedProcess, Recording, Run};
use ridge_trace::{Timeline, WorkKind};

use crate::args::TraceFormat;
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::output::{Output, unwritable};
use crate::pattern;
use crate::process::{Signals, Streams, signal_name};
use crate::recorder::{
    Ended, Recorder, collect, doubt, outcome, refusal, tell, tell_displaced, unix_ns,
};
use crate::verbs::ceilings::stored::driver_of_machine;
use crate::verbs::timeline;

/// What to record, and into what.
pub(crate) struct TraceOptions {
    pub(crate) command: Vec<OsString>,
    pub(crate) recording: crate::history::Recording,
    pub(crate) format: Option<TraceFormat>,
}

/// The extension of recordings.
const EXTENSION: &str = "ridgetrace";

pub(crate) fn run(options: &TraceOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let is_shared = output
        .path()
        .is_some_and(|path| !pattern::has_variable(path));
    if let Some(path) = output.path().map(pattern::with_environment).transpose()? {
        output.set_path(path);
    }
    let format = format(options, output)?;
    let taken = options.recording.begin(output)?;
    if is_shared {
        warn_of_shared_name(output);
    }
    let place = Place::of(&options.command, format, output)?;
    // An answer that cannot be written is better known before the program has run for an hour.
    let recorder = Recorder::prepare(&place.folder())
        .map_err(|refused| refusal(&refused, &options.command, &place.path))?;
    tell_displaced(output);
    let started_unix_ns = unix_ns();
    let mut told = HashSet::new();
    let signals = Signals::watch()
        .map_err(|error| ExpectedError::unable(format!("cannot watch for interrupts: {error}")))?;
    let ended = recorder
        .run(&options.command, Streams::Own, &signals, |process| {
            tell(process, &mut told, output);
        })
        .map_err(|refused| refusal(&refused, &options.command, &place.path))?;
    let run = Run {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started_unix_ns,
        outcome: outcome(&ended),
    };
    let written = write(&recorder, &run, format, output);
    let recorded = match written {
        Ok(recorded) => recorded,
        Err(error) => {
            // What was recorded is not thrown away because the answer could not be written.
            let kept = recorder.keep();
            output.complain(&error);
            output.note(&format!(
                "the recordings of processes are kept in {}; each can be read by itself",
                kept.display()
            ));
            place.settle();
            return Ok(error.exit);
        }
    };
    place.settle();
    for process in &recorded.recording.processes {
        tell(process, &mut told, output);
    }
    let is_recorded = recorded
        .recording
        .processes
        .iter()
        .any(|process| process.cupti_version.is_some());
    if is_recorded {
        summary(&recorded, &ended, output);
    }
    doubts(&recorded, output);
    if let Some(path) = output.path() {
        output.say_kept(path);
        if is_recorded && format == TraceFormat::Recording && !output.is_quiet() {
            output.hint(&format!("ridge timeline {}", path.display()));
        }
    }
    let code = judge(options, &ended, &recorded)?;
    let Some(taken) = taken.filter(|_| is_recorded) else {
        return Ok(code);
    };
    let name = output.path().map(|path| path.display().to_string());
    let document = timeline::document(&recorded.timeline, &name.unwrap_or_default(), output)?;
    let stored = taken
        .with_driver(driver_of_machine())
        .store(&document, output);
    Ok(if code == exit::FINE { stored } else { code })
}

/// Ranks that all write to one name leave the file of the one that is last.
fn warn_of_shared_name(output: &Output) {
    let others = pattern::own_rank().filter(|rank| rank.size.is_none_or(|size| size > 1));
    let (Some(rank), Some(path)) = (others, output.path()) else {
        return;
    };
    output.warn(&format!(
        "this is rank {} ({}), and every rank that is recorded into {} takes the place of the one before",
        rank.number,
        rank.told_by,
        path.display()
    ));
    if !output.is_quiet() {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let ending = output.extension().unwrap_or_else(|| EXTENSION.to_owned());
        output.hint(&format!(
            "give each its own: --output '{stem}-%q{{{}}}.{ending}'",
            rank.told_by
        ));
    }
}

fn format(options: &TraceOptions, output: &Output) -> Result<TraceFormat, ExpectedError> {
    Ok(match (options.format, output.extension().as_deref()) {
        (Some(format), _) => format,
        (None, None | Some(EXTENSION)) => TraceFormat::Recording,
        (None, Some("json")) => TraceFormat::Chrome,
        (None, Some(other)) => {
            return Err(ExpectedError::usage(format!(
                "the extension {other:?} of the output file names no format of `ridge trace`"
            ))
            .with_hint("say --format recording or --format chrome, or name a file that ends in .ridgetrace or .json"));
        }
    })
}

/// Where the answer goes.
struct Place {
    path: PathBuf,
    /// Made to keep a name that was chosen here from other runs.
    is_reserved: bool,
}

impl Place {
    fn of(
        command: &[OsString],
        format: TraceFormat,
        output: &mut Output,
    ) -> Result<Self, ExpectedError> {
        if let Some(path) = output.path() {
            if path.is_dir() {
                return Err(ExpectedError::unable(format!(
                    "cannot write {}: it is a directory",
                    path.display()
                ))
                .with_hint("name a file with --output FILE"));
            }
            return Ok(Self {
                path: path.to_owned(),
                is_reserved: false,
            });
        }
        /// More recordings of one name in one folder are a mistake.
        const MOST: u32 = 1000;
        let stem = stem(command);
        let extension = match format {
            TraceFormat::Recording => EXTENSION,
            TraceFormat::Chrome => "json",
        };
        for number in 1..MOST {
            let name = match number {
                1 => format!("{stem}.{extension}"),
                _ => format!("{stem}-{number}.{extension}"),
            };
            let path = PathBuf::from(name);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(_) => {
                    output.set_path(path.clone());
                    return Ok(Self {
                        path,
                        is_reserved: true,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(unwritable(&path, &error)),
            }
        }
        Err(
            ExpectedError::unable(format!("there are {MOST} recordings of {stem} here"))
                .with_hint("remove some, or name a file with --output FILE"),
        )
    }

    /// Where the folder of the run is made: beside the answer, which is on the disk that has room for it.
    fn folder(&self) -> PathBuf {
        if self.path.exists() && !self.path.is_file() {
            // A device or a pipe.
            return std::env::temp_dir();
        }
        self.path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."))
            .to_owned()
    }

    /// The name is taken by an answer, or free again.
    fn settle(&self) {
        let is_empty = |path: &Path| fs::metadata(path).is_ok_and(|found| found.len() == 0);
        if self.is_reserved && is_empty(&self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.settle();
    }
}

/// A name for the recording of a command: that of its program, or of the script that a Python runs.
fn stem(command: &[OsString]) -> String {
    let name = |path: &OsStr| {
        Path::new(path)
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
    };
    let program = command.first().and_then(|program| name(program));
    let program = program.unwrap_or_else(|| "trace".to_owned());
    let script = command
        .iter()
        .skip(1)
        .find(|argument| Path::new(argument).extension() == Some(OsStr::new("py")));
    match script.filter(|_| program.starts_with("python")) {
        Some(script) => name(script).unwrap_or(program),
        None => program,
    }
}

/// What was kept, read back.
struct Recorded {
    timeline: Timeline,
    recording: Recording,
    unread: Vec<(PathBuf, io::Error)>,
}

fn write(
    recorder: &Recorder,
    run: &Run,
    format: TraceFormat,
    output: &Output,
) -> Result<Recorded, ExpectedError> {
    let files = recorder
        .files()
        .map_err(|error| unwritable(recorder.path(), &error))?;
    let is_file = output.is_to_file();
    let mut unread = Vec::new();
    if format == TraceFormat::Recording && is_file {
        output.stream(|sink| {
            unread = collect(run, &files, sink)?;
            Ok(true)
        })?;
        let (timeline, recording) = read(output.path().unwrap_or(Path::new("")))?;
        return Ok(Recorded {
            timeline,
            recording,
            unread,
        });
    }
    let whole = recorder.path().join("whole");
    let made = File::create(&whole).and_then(|file| {
        let mut sink = io::BufWriter::new(file);
        unread = collect(run, &files, &mut sink)?;
        io::Write::flush(&mut sink)
    });
    made.map_err(|error| unwritable(&whole, &error))?;
    let (timeline, recording) = read(&whole)?;
    output.stream(|sink| {
        match format {
            TraceFormat::Chrome => ridge_render::chrome::write(&timeline, sink)?,
            TraceFormat::Recording => {
                io::copy(&mut BufReader::new(File::open(&whole)?), sink)?;
            }
        }
        Ok(true)
    })?;
    Ok(Recorded {
        timeline,
        recording,
        unread,
    })
}

fn read(path: &Path) -> Result<(Timeline, Recording), ExpectedError> {
    let bytes = fs::read(path).map_err(|error| {
        ExpectedError::unable(format!("cannot read {} back: {error}", path.display()))
    })?;
    native::read_all(&bytes).map_err(|error| {
        ExpectedError::internal(format!("failed to {error}, which was just written"))
    })
}

/// What was recorded, in a line.
fn summary(recorded: &Recorded, ended: &Ended, output: &Output) {
    let timeline = &recorded.timeline;
    let (mut kernels, mut kernel_ns) = (0, 0_i64);
    let (mut copies, mut copy_ns, mut copied) = (0, 0_i64, 0_u64);
    let mut memsets = 0;
    for work in &timeline.work {
        match &work.kind {
            WorkKind::Kernel { .. } | WorkKind::Graph => {
                kernels += 1;
                kernel_ns = kernel_ns.saturating_add(work.duration_ns());
            }
            WorkKind::Copy(copy) => {
                copies += 1;
                copy_ns = copy_ns.saturating_add(work.duration_ns());
                copied = copied.saturating_add(copy.bytes.unwrap_or(0));
            }
            WorkKind::Memset { .. } => memsets += 1,
        }
    }
    let mut parts = vec![format!(
        "{} ({})",
        counted(kernels, "kernel"),
        time(kernel_ns)
    )];
    if copies > 0 {
        let plural = if copies == 1 { "copy" } else { "copies" };
        parts.push(format!(
            "{} {plural} ({} in {})",
            ridge_model::quantity::grouped(copies),
            Bytes::new(float(copied)),
            time(copy_ns)
        ));
    }
    if memsets > 0 {
        parts.push(counted(memsets, "memset"));
    }
    parts.push(counted(length(timeline.calls.len()), "call"));
    if !timeline.annotations.is_empty() {
        parts.push(counted(length(timeline.annotations.len()), "range"));
    }
    let devices: HashSet<usize> = timeline
        .work
        .iter()
        .map(|work| timeline.device_of(work))
        .collect();
    let processes = counted(length(recorded.recording.processes.len()), "process")
        .replace("processs", "processes");
    output.note(&format!(
        "recorded {processes} on {} in {}: {}",
        counted(length(devices.len()), "GPU"),
        time(i64::try_from(ended.took.as_nanos()).unwrap_or(i64::MAX)),
        parts.join(", ")
    ));
}

/// What makes the recording less than the whole.
fn doubts(recorded: &Recorded, output: &Output) {
    let warn = |message: &str, hint: &str| {
        output.warn(message);
        if !output.is_quiet() {
            output.hint(hint);
        }
    };
    let Recorded {
        timeline,
        recording,
        unread,
    } = recorded;
    for (path, error) in unread {
        output.warn(&format!(
            "the recording of a process cannot be read and is left out: {}: {error}",
            path.display()
        ));
    }
    if recording.processes.is_empty() {
        warn(
            "nothing was recorded: no process of the program used a GPU through NVIDIA's driver",
            "see whether the program ran on the CPU or failed early (`nvidia-smi` lists GPUs, `ridge ceilings --quick` tries one), and whether it starts its work with a cleared environment (sudo, env -i, a container), where ridge trace has to stand inside",
        );
        return;
    }
    let is_recordable = recording
        .processes
        .iter()
        .any(|process| process.cupti_version.is_some());
    let has_kernels = timeline
        .work
        .iter()
        .any(|work| matches!(work.kind, WorkKind::Kernel { .. } | WorkKind::Graph));
    if is_recordable && !has_kernels {
        warn(
            "the GPU was used, but no kernel was recorded",
            "see whether the program launches any; whether it was killed soon after its launches; and whether a profiler of its own (such as torch.profiler) took CUPTI over",
        );
    }
    for process in &recording.processes {
        doubt(process, output);
    }
    for skipped in &timeline.completeness.skipped {
        output.warn(&format!(
            "{}: {} left out",
            skipped.kind,
            ridge_model::quantity::grouped(skipped.count)
        ));
    }
}

/// What becomes of the run as a whole.
fn judge(
    options: &TraceOptions,
    ended: &Ended,
    recorded: &Recorded,
) -> Result<Code, ExpectedError> {
    if ended.is_interrupted {
        return Ok(exit::INTERRUPTED);
    }
    let failed = match outcome(ended) {
        Outcome::Exited(0) => None,
        Outcome::Exited(code) => Some(format!("ended with code {code}")),
        Outcome::Signalled(signal) => Some(format!(
            "was ended by signal {signal}{}",
            signal_name(signal)
        )),
        Outcome::Unknown => Some("ended in an unknown way".to_owned()),
    };
    if let Some(failed) = failed {
        let program = options.command.first().cloned().unwrap_or_default();
        return Err(ExpectedError {
            message: format!(
                "the program {} {failed}; what it did until then is kept",
                program.to_string_lossy()
            ),
            hint: None,
            exit: exit::TARGET_FAILED,
            excerpt: None,
        });
    }
    let is_unrecorded = |process: &RecordedProcess| {
        process.cupti_version.is_none()
            || process
                .status
                .is_some_and(|status| status.state == state::WRITE_FAILED)
    };
    if recorded.recording.processes.iter().any(is_unrecorded) || !recorded.unread.is_empty() {
        return Ok(exit::UNABLE);
    }
    Ok(exit::FINE)
}

fn time(nanoseconds: i64) -> Nanos {
    Nanos::new(float(nanoseconds.max(0).unsigned_abs()))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "for people, who read four digits"
)]
fn float(value: u64) -> f64 {
    value as f64
}

fn length(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_are_called_like_what_ran() {
        let stem_of = |words: &[&str]| stem(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(stem_of(&["./build/app.exe", "--steps", "3"]), "app");
        assert_eq!(stem_of(&["/usr/bin/python3", "-u", "a/train.py"]), "train");
        assert_eq!(stem_of(&["python3", "-m", "train"]), "python3");
        assert_eq!(stem_of(&["./app", "config.py"]), "app");
        assert_eq!(stem_of(&[]), "trace");
    }
}
