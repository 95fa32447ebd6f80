//! `ridge why -- PROGRAM`: profiles a program in tiers, each as small as the question that is still open.

mod process;
mod stored;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use ridge_collect::doctor::ToolName;
use ridge_collect::launches::{LaunchGroup, Seen, choose, closest, group};
use ridge_collect::ncu::{Log, Replay, Request, Trouble, shown};
use ridge_collect::plan::groups::{self, Group};
use ridge_collect::plan::{FIRST, Tier, metrics, open_questions};
use ridge_diagnose::document::{Collected, CollectedTier, Kernel, LaunchesFrom};

use crate::error::ExpectedError;
use crate::evidence::Evidence;
use crate::exit::{self, Code};
use crate::filter::{Address, Selection};
use crate::input::Input;
use crate::output::Output;
use crate::process::{Stdin, Streams};
use crate::tools;
use crate::verbs::bench::interrupts;
use crate::verbs::why::kernels_of;
use process::Ran;
use stored::{FILE, Stored};
pub(crate) use stored::{InputSet, input_sets};

/// How to collect.
pub(crate) struct CollectOptions {
    /// The program and its arguments.
    pub(crate) target: Vec<OsString>,
    /// Where reports are kept.
    pub(crate) keep: Option<PathBuf>,
    /// Whether commands are printed and nothing is run.
    pub(crate) is_dry: bool,
    /// Whether launches before the program switches the profiler on are looked at.
    pub(crate) from_start: bool,
    pub(crate) replay: Replay,
    /// At most so many kernels.
    pub(crate) most: Option<usize>,
}

/// What was collected.
pub(crate) struct Collection {
    /// What is to be said of it beside the answer.
    pub(crate) code: Code,
    /// What to diagnose; nothing where nothing was run.
    pub(crate) sets: Vec<InputSet>,
    /// To be kept until the answer was given.
    pub(crate) folder: Option<tempfile::TempDir>,
}

/// Kernels that take this share of the time are profiled.
const COVERAGE: f64 = 0.9;

/// Names that are offered for one that was not found.
const OFFERED: usize = 5;

pub(crate) fn run(
    options: &CollectOptions,
    selection: &Selection,
    output: &Output,
) -> Result<Collection, ExpectedError> {
    if options.is_dry {
        output.write(&dry(options))?;
        return Ok(Collection {
            code: exit::FINE,
            sets: Vec::new(),
            folder: None,
        });
    }
    let profiler = find_profiler()?;
    let (folder, guard) = folder(options)?;
    let mut run = Run {
        options,
        output,
        profiler,
        folder,
        stdin: Stdin::take().map_err(|error| {
            ExpectedError::unable(format!("cannot keep standard input for every run: {error}"))
                .with_hint("give the program </dev/null if it reads nothing")
        })?,
        is_interrupted: Box::new(interrupts()?),
        collected: Collected {
            target: options
                .target
                .iter()
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            target_code: None,
            launches_from: LaunchesFrom::TimingPass,
            launches: 0,
            kernels_seen: 0,
            kernels_profiled: 0,
            covered: 0.0,
            tiers: Vec::new(),
        },
        code: exit::FINE,
    };
    let set = run.all(selection)?;
    output.progress("");
    if options.keep.is_some() {
        output.say_kept(&run.folder.join(FILE));
    }
    Ok(Collection {
        code: run.code,
        sets: set.into_iter().collect(),
        folder: guard,
    })
}

/// The commands that would be run. Which kernels the later ones are about is known after the first.
fn dry(options: &CollectOptions) -> String {
    let folder = options.keep.clone().unwrap_or_else(|| PathBuf::from("."));
    let kernels = vec![("KERNELS".to_owned(), vec![])];
    let mut text = String::new();
    let mut add = |title: &str, request: &Request| {
        let command = shown("ncu".as_ref(), &request.arguments());
        text.extend(["# ", title, "\n", &command, "\n"]);
    };
    add(
        "launches and their times: 1 pass",
        &request(options, &folder, 0, &[], Vec::new()),
    );
    add(
        "tier 1, class of the limit, ledger, waiting and places: kernels with nine tenths of the time, one launch each: 11 passes on compute capability 9.0",
        &request(options, &folder, 1, FIRST, kernels.clone()),
    );
    add(
        "tier 2, for kernels that use local memory, what is in it: 5 passes on compute capability 9.0",
        &request(options, &folder, 2, &[&groups::LOCAL], kernels),
    );
    text
}

fn request(
    options: &CollectOptions,
    folder: &Path,
    tier: u8,
    groups: &[&Group],
    kernels: Vec<(String, Vec<u64>)>,
) -> Request {
    Request {
        metrics: metrics(groups).into_iter().map(str::to_owned).collect(),
        kernels,
        from_start: options.from_start,
        // Times of launches are those with caches as they are; counters are those of a launch that finds them empty, as in
        // every set of the profiler.
        flushes_caches: tier > 0,
        has_source: tier == 1,
        replay: options.replay,
        report: folder.join(format!("tier{tier}.ncu-rep")),
        log: folder.join(format!("tier{tier}.log")),
        target: options.target.clone(),
    }
}

/// Where `ridge doctor` finds the profiler too.
fn find_profiler() -> Result<PathBuf, ExpectedError> {
    tools::find(ToolName::Ncu).map_err(|looked| {
        ExpectedError::unable(format!(
            "cannot profile: there is no ncu; looked in {}",
            looked.join(", ")
        ))
        .with_hint(
            "install Nsight Compute (it comes with the CUDA toolkit), or name it in RIDGE_NCU; `ridge doctor` tells what else is missing",
        )
    })
}

/// The folder of the reports: a new one, so that two runs never share one.
fn folder(options: &CollectOptions) -> Result<(PathBuf, Option<tempfile::TempDir>), ExpectedError> {
    let Some(keep) = &options.keep else {
        let folder = tempfile::Builder::new().prefix("ridge-why-").tempdir();
        let folder = folder.map_err(|error| {
            ExpectedError::unable(format!("cannot make a folder for reports: {error}"))
                .with_hint("name one with --keep DIR, or a place with room in TMPDIR")
        })?;
        return Ok((folder.path().to_owned(), Some(folder)));
    };
    let keep = with_environment(keep);
    fs::create_dir_all(&keep).map_err(|error| {
        ExpectedError::unable(format!(
            "cannot make the folder {}: {error}",
            keep.display()
        ))
    })?;
    // Whoever makes this file first has the folder.
    let claim = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(keep.join("tier0.log"));
    match claim {
        Ok(_) => Ok((keep, None)),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(ExpectedError::usage(format!(
                "{} holds a collection, or another run writes one",
                keep.display()
            ))
            .with_hint("name another folder, or remove that one"))
        }
        Err(error) => Err(ExpectedError::unable(format!(
            "cannot write to {}: {error}",
            keep.display()
        ))),
    }
}

/// Puts the values of variables in place of `%q{NAME}`, as the profiler does: ranks of a program that is started by a
/// launcher have folders of their own.
fn with_environment(path: &Path) -> PathBuf {
    let text = path.to_string_lossy();
    let mut rest: &str = &text;
    let mut whole = String::new();
    while let Some((before, after)) = rest.split_once("%q{") {
        let Some((name, after)) = after.split_once('}') else {
            break;
        };
        whole.push_str(before);
        whole.push_str(&env::var(name).unwrap_or_default());
        rest = after;
    }
    if whole.is_empty() && rest.len() == text.len() {
        return path.to_owned();
    }
    whole.push_str(rest);
    PathBuf::from(whole)
}

struct Run<'o> {
    options: &'o CollectOptions,
    output: &'o Output,
    profiler: PathBuf,
    folder: PathBuf,
    stdin: Stdin,
    is_interrupted: Box<dyn Fn() -> bool>,
    collected: Collected,
    code: Code,
}

impl Run<'_> {
    /// Everything in order. What was collected before something failed is kept.
    fn all(&mut self, selection: &Selection) -> Result<Option<InputSet>, ExpectedError> {
        self.tier(0, "launches and their times", &[], Vec::new())?;
        let groups = group(&self.seen()?);
        self.collected.launches = groups.iter().map(|group| group.count).sum();
        self.collected.kernels_seen = u64::try_from(groups.len()).unwrap_or(u64::MAX);
        let wanted = self.wanted(&groups, selection)?;
        let chosen = choose(&wanted, COVERAGE, self.options.most);
        let all: f64 = groups.iter().map(|group| group.total_ns).sum();
        let part: f64 = chosen
            .groups
            .iter()
            .map(|&place| wanted[place].total_ns)
            .sum();
        self.collected.covered = if all > 0.0 {
            (part / all).min(1.0)
        } else {
            0.0
        };
        self.collected.kernels_profiled = u64::try_from(chosen.groups.len()).unwrap_or(u64::MAX);
        let chosen: Vec<&LaunchGroup> = chosen.groups.iter().map(|&place| &wanted[place]).collect();
        if self.code == exit::INTERRUPTED {
            return Ok(None);
        }
        let first = Tier::First;
        self.tier(first.number(), first.purpose(), FIRST, selected(&chosen))?;
        let kernels = self.so_far(&groups)?;
        let open: Vec<(usize, Vec<&'static Group>)> = kernels
            .iter()
            .map(|kernel| open_questions(kernel))
            .enumerate()
            .filter(|(_, open)| !open.is_empty())
            .collect();
        if !open.is_empty() && self.code != exit::INTERRUPTED {
            let mut asked: Vec<&Group> = Vec::new();
            for group in open.iter().flat_map(|(_, groups)| groups) {
                if !asked.iter().any(|known| known.id == group.id) {
                    asked.push(group);
                }
            }
            let subjects = self.subjects(&chosen, open.iter().map(|(place, _)| &kernels[*place]));
            self.later(Tier::Second, &asked, subjects);
        }
        let stored = Stored::new(self.collected.clone(), &groups);
        let path = stored.write(&self.folder)?;
        Ok(Some(InputSet::of_collection(&path, stored)))
    }

    /// The groups that the user wants, of those that there are.
    fn wanted(
        &self,
        groups: &[LaunchGroup],
        selection: &Selection,
    ) -> Result<Vec<LaunchGroup>, ExpectedError> {
        let is_named = |group: &&LaunchGroup| {
            selection.names.matches(&group.name) || selection.names.matches(&group.signature)
        };
        let named = groups.iter().filter(is_named);
        let launch = selection.launches.only();
        let wanted: Vec<LaunchGroup> = match launch {
            Some(launch) => named.filter_map(|group| group.only(launch)).collect(),
            None => named.cloned().collect(),
        };
        if !wanted.is_empty() || groups.is_empty() {
            return Ok(wanted);
        }
        let count = self.collected.launches;
        let hint = format!(
            "launches are counted from 0; the last one is {}",
            count.saturating_sub(1)
        );
        let Some(name) = selection.names.expression() else {
            let launch = launch.unwrap_or_default();
            let what = format!("the program made no launch {launch}");
            return Err(ExpectedError::usage(what).with_hint(hint));
        };
        let names = closest(name, groups.iter().map(|group| group.name.as_str()));
        let more = if names.len() > OFFERED { ", …" } else { "" };
        let names: Vec<&str> = names.into_iter().take(OFFERED).collect();
        Err(ExpectedError::usage(format!(
            "no kernel that the program launched matches {name:?}"
        ))
        .with_hint(format!("one of {}{more}", names.join(", "))))
    }

    /// A kernel that is looked at again: all its launches that were chosen.
    fn subjects<'k>(
        &self,
        chosen: &[&LaunchGroup],
        kernels: impl Iterator<Item = &'k Kernel>,
    ) -> Vec<(String, Vec<u64>)> {
        let of = |kernel: &Kernel| {
            chosen.iter().copied().find(|group| {
                group.signature == kernel.signature
                    && Some(group.grid) == kernel.grid
                    && Some(group.block) == kernel.block
            })
        };
        let groups: Vec<&LaunchGroup> = kernels.filter_map(of).collect();
        selected(&groups)
    }

    /// What is known of the launches that were seen in the first run.
    fn seen(&self) -> Result<Vec<Seen>, ExpectedError> {
        let path = self.folder.join("tier0.ncu-rep");
        let address = Address::whole(path.as_os_str());
        let input = Input::open(&address, self.output)?;
        let evidence = Evidence::new(&input, &address)?;
        let extent = |size: ncu_rep::report::Dim3| [size.x, size.y, size.z];
        Ok((0..evidence.len())
            .filter_map(|index| evidence.workload(index))
            .map(|workload| workload.profile)
            .map(|profile| Seen {
                duration_ns: profile.duration_ns(),
                grid: profile.grid.map_or([0; 3], extent),
                block: profile.block.map_or([0; 3], extent),
                name: profile.name,
                signature: profile.signature,
            })
            .collect())
    }

    /// The diagnosis of what was collected until now.
    fn so_far(&self, groups: &[LaunchGroup]) -> Result<Vec<Kernel>, ExpectedError> {
        let stored = Stored::new(self.collected.clone(), groups);
        let set = InputSet::of_collection(&self.folder.join(FILE), stored);
        kernels_of(&set, self.output)
    }

    /// A tier without which there is still an answer.
    fn later(&mut self, tier: Tier, groups: &[&Group], kernels: Vec<(String, Vec<u64>)>) {
        if let Err(error) = self.tier(tier.number(), tier.purpose(), groups, kernels) {
            self.output.warn(&format!(
                "tier {} failed, and the answer rests on the tiers before: {}",
                tier.number(),
                error.message
            ));
            if let Some(hint) = &error.hint {
                self.output.hint(hint);
            }
            self.code = self.code.and(error.exit);
        }
    }

    /// Runs the profiler once, and notes what came of it.
    fn tier(
        &mut self,
        tier: u8,
        purpose: &str,
        groups: &[&Group],
        kernels: Vec<(String, Vec<u64>)>,
    ) -> Result<(), ExpectedError> {
        let request = request(self.options, &self.folder, tier, groups, kernels);
        let arguments = request.arguments();
        let command = shown(self.profiler.as_os_str(), &arguments);
        self.output.progress(&format!("tier {tier}: {purpose}"));
        if self.output.verbosity() > 0 {
            self.output.note(&command);
        }
        // What the program prints is the same each time.
        let is_shown = tier == 0 || self.output.verbosity() > 1;
        let ran = process::run(
            &self.profiler,
            &arguments,
            Streams::Apart {
                stdin: &self.stdin,
                is_first: tier == 0,
                is_shown,
            },
            &self.is_interrupted,
        )?;
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
            failure: outcome.as_ref().err().map(|error| error.message.clone()),
        });
        outcome
    }

    /// What a run means. A program that fails after its kernels were profiled leaves a report, which counts.
    fn judge(&mut self, ran: &Ran, log: &Log, has_report: bool) -> Result<(), ExpectedError> {
        if ran.was_interrupted {
            self.code = exit::INTERRUPTED;
            return if has_report {
                Ok(())
            } else {
                let mut error = ExpectedError::unable("interrupted before anything was profiled");
                error.exit = exit::INTERRUPTED;
                Err(error)
            };
        }
        let program = self
            .options
            .target
            .first()
            .map_or_else(String::new, |word| word.to_string_lossy().into_owned());
        if let Some(code) = log.program_code() {
            let is_first = self.collected.target_code.replace(code).is_none();
            self.code = self.code.and(exit::TARGET_FAILED);
            let what = failed(&program, code);
            if !has_report {
                let mut error =
                    ExpectedError::unable(format!("{what} before a kernel was profiled"))
                        .with_hint(format!("run it without the profiler: {program}"));
                error.exit = exit::TARGET_FAILED;
                return Err(error);
            }
            if is_first {
                self.output.warn(&format!(
                    "{what}; what was profiled until then is in the answer"
                ));
            }
        }
        if has_report && !log.profiled.is_empty() {
            return Ok(());
        }
        Err(self.nothing(&program, ran, log))
    }

    /// Why there is no report.
    fn nothing(&self, program: &str, ran: &Ran, log: &Log) -> ExpectedError {
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
                    .with_hint(
                        "--replay application runs the whole program once for each pass instead",
                    );
                }
                Trouble::NoKernels { available } if !available.is_empty() => {
                    return ExpectedError::unable(format!(
                        "the launches that were seen before are not there again: {}",
                        available.join(", ")
                    ))
                    .with_hint("the program does something else each time: give it a fixed seed and input, or name one kernel with --kernel");
                }
                Trouble::NoKernels { .. } => return self.no_kernels(program),
                Trouble::Other(message) => {
                    return ExpectedError::unable(format!("ncu: {message}"));
                }
                Trouble::ProgramFailed(_) => {}
            }
        }
        if ran.status.success() {
            return self.no_kernels(program);
        }
        let last = ran
            .printed
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty());
        let last = last.map_or_else(String::new, |line| format!("; its last words: {line}"));
        ExpectedError::unable(format!("ncu ended with {}{last}", ran.status))
    }

    fn no_kernels(&self, program: &str) -> ExpectedError {
        let hint = if self.options.from_start {
            "does it use the GPU, and this one? an early end, CUDA_VISIBLE_DEVICES and work in a process on another machine are the usual reasons"
        } else {
            "--profile-from-start off waits for cudaProfilerStart: does the program call it?"
        };
        ExpectedError::unable(format!(
            "{program} launched no kernel that the profiler saw"
        ))
        .with_hint(hint)
    }
}

/// What a program that failed did.
fn failed(program: &str, code: i32) -> String {
    format!("{program} ended with code {code}")
}

/// One launch of each group: that in the middle, which is warm where the first is not.
fn selected(groups: &[&LaunchGroup]) -> Vec<(String, Vec<u64>)> {
    groups
        .iter()
        .map(|group| {
            let middle = group.invocations.get(group.invocations.len() / 2);
            (group.name.clone(), middle.copied().into_iter().collect())
        })
        .collect()
}
