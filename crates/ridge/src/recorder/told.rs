//! What users hear of a run with the recorder in it.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use ridge_injection::format::state;
use ridge_model::quantity::counted;
use ridge_trace::native::{Outcome, RecordedProcess, problem};

use super::{Ended, Recorder, Refused};
use crate::error::ExpectedError;
use crate::output::{Output, unwritable};

/// Why there was no run, for people. The path is that of the answer.
pub(crate) fn refusal(refused: &Refused, command: &[OsString], path: &Path) -> ExpectedError {
    match refused {
        Refused::NotHere => ExpectedError::unable(
            "this build of ridge cannot record: it is not for Linux with glibc, the system of CUDA programs",
        )
        .with_hint("use a build for x86_64-unknown-linux-gnu or aarch64-unknown-linux-gnu; recordings can be read everywhere"),
        Refused::Folder(error) => unwritable(path, error),
        Refused::Start(error) => {
            let program = command.first().cloned().unwrap_or_default();
            let program = program.to_string_lossy();
            match error.kind() {
                io::ErrorKind::NotFound => {
                    ExpectedError::usage(format!("cannot start {program}: there is no such program"))
                        .with_hint("name a program of the search path, or one with its folder, such as ./app")
                }
                io::ErrorKind::PermissionDenied => {
                    ExpectedError::unable(format!("cannot start {program}: permission denied"))
                        .with_hint(format!("make it executable with `chmod +x {program}`, or start what runs it, such as `python3 {program}`"))
                }
                _ => ExpectedError::unable(format!("cannot start {program}: {error}")),
            }
        }
    }
}

/// Says whose place the recorder takes.
pub(crate) fn tell_displaced(output: &Output) {
    if let Some(other) = Recorder::displaced() {
        output.warn(&format!(
            "CUDA_INJECTION64_PATH names {}, which is not loaded in this run: only one library can be",
            other.to_string_lossy()
        ));
    }
}

/// How a program ended, as a recording has it.
pub(crate) fn outcome(ended: &Ended) -> Outcome {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&ended.status) {
        return Outcome::Signalled(u64::try_from(signal).unwrap_or(0));
    }
    match ended.status.code() {
        Some(code) => Outcome::Exited(u64::from(code.cast_unsigned())),
        None => Outcome::Unknown,
    }
}

/// Says what a process could not record, each thing once.
pub(crate) fn tell(
    process: &RecordedProcess,
    told: &mut HashSet<(u64, u64, u64)>,
    output: &Output,
) {
    for (code, value, words) in &process.problems {
        if !told.insert((process.id, process.started_unix_ns, *code)) {
            continue;
        }
        let who = who(process);
        match *code {
            problem::NO_CUPTI => {
                output.warn(&format!(
                    "{who} runs without being recorded: CUPTI, NVIDIA's library for tools, was not found"
                ));
                if !output.is_quiet() {
                    for place in places(words) {
                        output.detail(&place);
                    }
                    output.hint("install it (it comes with the CUDA toolkit, in extras/CUPTI, and with `pip install nvidia-cuda-cupti` for CUDA 13 or nvidia-cuda-cupti-cu12 for CUDA 12), or set RIDGE_CUPTI to the path of libcupti.so");
                }
            }
            problem::OLD_CUPTI => output.warn(&format!(
                "{who} runs without being recorded: its CUPTI has version {value}, and the oldest that can be used is 18, that of CUDA 12.0; RIDGE_CUPTI can name another one"
            )),
            problem::IN_USE => output.warn(&format!(
                "{who} runs without being recorded: another tool uses CUPTI, which has one user at a time; run the program without it"
            )),
            problem::CALL_FAILED => output.warn(&format!(
                "{who}: CUPTI refuses {words} (result {value}{})",
                result_name(*value)
            )),
            problem::LAYOUT => output.warn(&format!(
                "{who}: CUPTI's records of version {value} do not look as this version of ridge knows them; those that do not are left out"
            )),
            problem::FAULT => output.warn(&format!(
                "{who}: the recorder met a fault of its own and stopped; the program went on. Please report it"
            )),
            other => output.warn(&format!("{who}: problem {other} of a later version")),
        }
    }
}

/// Where CUPTI was looked for, a folder on a line: the recorder lists each name in each folder.
fn places(words: &str) -> Vec<String> {
    let mut places = Vec::new();
    for line in words.lines() {
        // What was there and did not load has a reason behind it.
        let (path, reason) = match line.split_once(": ") {
            Some((path, reason)) => (path, Some(reason)),
            None => (line, None),
        };
        let place = match (reason, path.rsplit_once('/')) {
            (Some(reason), _) => format!("{path} is there and does not load: {reason}"),
            (None, Some(("", _))) => "looked in /".to_owned(),
            (None, Some((folder, _))) => format!("looked in {folder}"),
            (None, None) => "looked where the system's loader looks".to_owned(),
        };
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// How a process is called.
pub(crate) fn who(process: &RecordedProcess) -> String {
    if process.program.is_empty() {
        format!("process {}", process.id)
    } else {
        format!("process {} ({})", process.id, process.program)
    }
}

/// What results of CUPTI mean that users meet.
fn result_name(result: u64) -> &'static str {
    match result {
        33 => ", which means that the virtual GPU does not let programs be recorded",
        35 | 40 => {
            ", which means that only administrators may: ask for the driver option NVreg_RestrictProfilingToAdminUsers=0, or run as root"
        }
        39 => ", which means that another tool uses CUPTI",
        41 => ", which means that GPUs in confidential computing do not allow it",
        _ => "",
    }
}

/// Says what makes the recording of a process less than the whole.
pub(crate) fn doubt(process: &RecordedProcess, output: &Output) {
    let Some(status) = process.status.filter(|_| process.cupti_version.is_some()) else {
        return;
    };
    let who = who(process);
    match status.state {
        state::WRITE_FAILED => output.warn(&format!(
            "{who}: writing failed ({}); {} after that {} lost",
            io::Error::from_raw_os_error(status.error.cast_signed()),
            counted(status.lost, "record"),
            if status.lost == 1 { "is" } else { "are" }
        )),
        state::ENDED => {}
        _ => output.warn(&format!(
            "{who} did not end in an orderly way: of each thread, what it did in the last quarter of a second, or the last 1 MiB of records, can be missing"
        )),
    }
    if status.dropped > 0 {
        output.warn(&format!(
            "{who}: CUPTI dropped {}: the program made them faster than they could be written",
            counted(status.dropped, "record")
        ));
        if !output.is_quiet() {
            output.hint("record a shorter part of the program, or write to a faster disk");
        }
    }
    if status.damaged > 0 {
        output.warn(&format!(
            "{who}: {} of CUPTI contradict themselves and are left out",
            counted(status.damaged, "record")
        ));
    }
}

/// The time of the system's clock, as recordings have it.
pub(crate) fn unix_ns() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|time| u64::try_from(time.as_nanos()).ok())
        .unwrap_or(0)
}
