//! Runs of the profiler, and what becomes of them.

use std::fs;

use ridge_collect::ncu::{Log, Replay, Trouble, shown};
use ridge_collect::plan::passes;
use ridge_diagnose::document::{CollectedTier, LaunchesFrom};
use ridge_model::quantity::Nanos;

use super::Run;
use super::process::{self, Ran};
use super::request::{Tier, request};
use crate::error::ExpectedError;
use crate::exit;
use crate::process::{Streams, signal_name};

/// Why a run of the profiler gave nothing.
pub(super) struct Failure {
    pub(super) error: ExpectedError,
    /// Nothing that was asked for was launched.
    pub(super) is_not_there: bool,
}

impl From<ExpectedError> for Failure {
    fn from(error: ExpectedError) -> Self {
        Self {
            error,
            is_not_there: false,
        }
    }
}

impl Run<'_> {
    /// One run of the profiler.
    pub(super) fn profile(
        &mut self,
        tier: Tier,
        kernels: Vec<(String, Vec<u64>)>,
    ) -> Result<(), Failure> {
        let request = request(self.options, &self.folder, tier, kernels);
        let (tier, purpose) = (tier.number(), tier.purpose());
        let arguments = request.arguments();
        let command = shown(self.profiler.as_os_str(), &arguments);
        self.output.progress(&format!("tier {tier}: {purpose}"));
        if self.output.verbosity() > 0 {
            self.output.note(&command);
        }
        // What the program prints is the same each time.
        let is_first = self.collected.tiers.is_empty();
        let streams = Streams::Apart {
            stdin: &self.stdin,
            is_first,
            is_shown: is_first || self.output.verbosity() > 1,
        };
        let ran = process::run(&self.profiler, &arguments, streams, &self.is_interrupted)?;
        let mut text = fs::read_to_string(&request.log).unwrap_or_default();
        text.push('\n');
        text.push_str(&ran.printed);
        let log = Log::read(&text);
        let has_report = request.report.is_file();
        let outcome = self.judge(&ran, &log, has_report);
        let passes = log.profiled.iter().map(|one| one.passes);
        self.collected.tiers.push(CollectedTier {
            tier,
            purpose: purpose.to_owned(),
            command,
            report: has_report.then(|| format!("tier{tier}.ncu-rep")),
            launches: u64::try_from(log.profiled.len()).unwrap_or(u64::MAX),
            passes: passes.clone().min().zip(passes.max()),
            wall_s: ran.wall.as_secs_f64(),
            failure: outcome
                .as_ref()
                .err()
                .map(|failure| failure.error.message.clone()),
        });
        outcome
    }

    /// What a run means. A program that fails after its kernels were profiled leaves a report, which counts.
    fn judge(&mut self, ran: &Ran, log: &Log, has_report: bool) -> Result<(), Failure> {
        if ran.was_interrupted {
            self.code = exit::INTERRUPTED;
            return if has_report {
                Ok(())
            } else {
                let mut error = ExpectedError::unable("interrupted before anything was profiled");
                error.exit = exit::INTERRUPTED;
                Err(error.into())
            };
        }
        if let Some(code) = log.program_code() {
            let is_first =
                self.collected.target_code.is_none() && self.collected.target_signal.is_none();
            if is_first {
                self.collected.target_code = Some(code);
            }
            self.code = self.code.and(exit::TARGET_FAILED);
            let what = failed(&self.program(), code);
            if !has_report {
                let mut error =
                    ExpectedError::unable(format!("{what} before a kernel was profiled"))
                        .with_hint(format!(
                            "run it without the profiler: {}",
                            self.command_line()
                        ));
                error.exit = exit::TARGET_FAILED;
                return Err(error.into());
            }
            if is_first {
                self.output.warn(&format!(
                    "{what}; what was profiled until then is in the answer"
                ));
            }
        }
        if has_report && !log.profiled.is_empty() {
            let is_replay = |trouble: &Trouble| match trouble {
                Trouble::NotReplayed(message) | Trouble::NoMemoryToReplay(message) => {
                    Some(message.clone())
                }
                _ => None,
            };
            self.not_replayed = log.troubles.iter().find_map(is_replay);
            return Ok(());
        }
        let is_not_there = log
            .troubles
            .iter()
            .all(|trouble| matches!(trouble, Trouble::NoKernels { .. }));
        Err(Failure {
            error: self.nothing(ran, log),
            is_not_there: is_not_there && !log.troubles.is_empty(),
        })
    }

    /// Why there is no report.
    fn nothing(&self, ran: &Ran, log: &Log) -> ExpectedError {
        let program = self.program();
        for trouble in &log.troubles {
            match trouble {
                Trouble::NoPermission => {
                    return ExpectedError::unable(
                        "the driver lets this user read no counters (ERR_NVGPUCTRPERM)",
                    )
                    .with_hint(
                        "as an administrator: echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' > /etc/modprobe.d/nvidia-counters.conf and reboot; in a container: start it with --cap-add=SYS_ADMIN; or run ridge as root",
                    );
                }
                Trouble::NoProgram => {
                    return ExpectedError::usage(format!(
                        "there is no program {program:?}, or it cannot be started"
                    ))
                    .with_hint(
                        "name it with its path, such as ./app, or python3 train.py for a script",
                    );
                }
                Trouble::Unsupported(message) => {
                    return ExpectedError::unable(format!(
                        "this profiler, driver and GPU do not fit together: {message}"
                    ))
                    .with_hint("compare `ncu --version` and `nvidia-smi`, and install an Nsight Compute that knows this GPU");
                }
                Trouble::Busy(message) => {
                    return ExpectedError::unable(format!(
                        "another tool has the counters: {message}"
                    ))
                    .with_hint("end other profilers, and pause a monitor: dcgmi profilee --pause");
                }
                Trouble::NotWritten(message) => {
                    return ExpectedError::unable(format!(
                        "the report cannot be written: {message}"
                    ))
                    .with_hint("name a folder with room: --keep DIR");
                }
                Trouble::NoMemoryToReplay(message) => {
                    return ExpectedError::unable(format!(
                        "the memory of a launch cannot be saved for its next pass: {message}"
                    ))
                    .with_hint(self.other_replay());
                }
                Trouble::NotReplayed(message) => {
                    return ExpectedError::unable(format!(
                        "a launch cannot be run again for its next pass: {message}"
                    ))
                    .with_hint(self.other_replay());
                }
                Trouble::NoKernels { available } if !available.is_empty() => {
                    return ExpectedError::unable(format!(
                        "the launches that were seen before are not there again: {}",
                        available.join(", ")
                    ))
                    .with_hint("the program does something else each time: give it a fixed seed and input, or name one kernel with --kernel");
                }
                Trouble::NoKernels { .. } => return self.no_kernels(&program),
                Trouble::Other(message) => {
                    return ExpectedError::unable(format!("ncu: {message}"));
                }
                Trouble::ProgramFailed(_) => {}
            }
        }
        if ran.status.success() {
            return self.no_kernels(&program);
        }
        let last = ran
            .printed
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty());
        let last = last.map_or_else(String::new, |line| format!("; its last words: {line}"));
        ExpectedError::unable(format!("ncu ended with {}{last}", ran.status))
    }

    /// What to do where a launch cannot be run again, with what that takes at least.
    pub(super) fn other_replay(&self) -> String {
        if self.options.replay == Replay::Application {
            return "application replay needs the same launches in every run: give the program a fixed seed and input, or look at one kernel with --kernel".to_owned();
        }
        let took = self
            .collected
            .tiers
            .iter()
            .find(|tier| tier.tier == 0 && tier.passes.is_none())
            .map(|tier| format!(", which took {} by itself,", Nanos::new(1e9 * tier.wall_s)));
        format!(
            "--replay application runs the whole program{} once for each pass instead, {} times on compute capability 9.0 (the full set: {}); it has to launch the same each time",
            took.unwrap_or_default(),
            passes::OF_COUNTERS,
            passes::OF_FULL_SET
        )
    }

    fn no_kernels(&self, program: &str) -> ExpectedError {
        let hint = if self.collected.launches_from == LaunchesFrom::Trace {
            "the recording has its launches: did the program end early under the profiler? `ridge doctor` tells what a profile needs"
        } else if self.options.from_start {
            "does it use the GPU, and this one? an early end, CUDA_VISIBLE_DEVICES and work in a process on another machine are the usual reasons; `ridge doctor` tells what is missing here"
        } else {
            "--profile-from-start off waits for cudaProfilerStart: does the program call it?"
        };
        ExpectedError::unable(format!(
            "{program} launched no kernel that the profiler saw"
        ))
        .with_hint(hint)
    }
}

/// What a program that failed did. The profiler has one number for codes and signals.
fn failed(program: &str, code: i32) -> String {
    /// What shells add to the number of a signal.
    const OF_SIGNAL: i32 = 128;
    let signal = if code > OF_SIGNAL {
        code - OF_SIGNAL
    } else {
        code
    };
    let name = u64::try_from(signal).map_or("", signal_name);
    // A program may return 1 or 2 by itself, as most do that fail; hardly one returns the number of a crash.
    let is_crash = matches!(signal, 4 | 6 | 7 | 8 | 9 | 11) || code > OF_SIGNAL;
    if is_crash && !name.is_empty() {
        format!("{program} ended with code {code}, which is that of a signal{name}")
    } else {
        format!("{program} ended with code {code}")
    }
}

#[cfg(test)]
mod tests {
    use super::failed;

    #[test]
    fn numbers_of_signals_are_told() {
        assert_eq!(failed("app", 3), "app ended with code 3");
        assert_eq!(failed("app", 1), "app ended with code 1");
        let crash = "which is that of a signal (SIGSEGV)";
        assert!(failed("app", 11).ends_with(crash));
        assert!(failed("app", 139).ends_with(crash));
        assert_eq!(failed("app", 255), "app ended with code 255");
    }
}
