//! `ridge why -- PROGRAM`: records a program, then profiles what matters in it, with the counters that a diagnosis needs.

mod first;
mod folder;
mod process;
mod profile;
mod request;
mod stored;

use std::ffi::OsString;
use std::path::PathBuf;

use ridge_collect::doctor::{Need, known_obstacle};
use ridge_collect::launches::{LaunchGroup, Seen, choose, closest, group};
use ridge_collect::ncu::{Replay, shown};
use ridge_diagnose::document::{Collected, CollectedRank, LaunchesFrom};

use crate::demangle::demangle;
use crate::error::ExpectedError;
use crate::evidence::Evidence;
use crate::exit::{self, Code};
use crate::filter::{Address, Selection};
use crate::input::Input;
use crate::output::Output;
use crate::pattern::own_rank;
use crate::process::Stdin;
use crate::verbs::bench::interrupts;
use crate::verbs::doctor::probe;
use folder::Claimed;
use profile::Failure;
use request::Tier;
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
        output.write(&request::dry(options))?;
        return Ok(Collection {
            code: exit::FINE,
            sets: Vec::new(),
            folder: None,
        });
    }
    let mut claimed = Claimed::take(options.keep.as_deref())?;
    let profiler = preflight(&claimed)?;
    let mut run = Run {
        options,
        output,
        profiler,
        folder: claimed.path.clone(),
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
            target_signal: None,
            launches_from: LaunchesFrom::TimingPass,
            traced: None,
            launches: 0,
            kernels_seen: 0,
            kernels_profiled: 0,
            covered: 0.0,
            tiers: Vec::new(),
            rank: own_rank().map(|rank| CollectedRank {
                number: rank.number,
                local: rank.local,
                size: rank.size,
                told_by: rank.told_by,
            }),
        },
        not_replayed: None,
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
        folder: claimed.temporary.take(),
    })
}

/// What is known to stand in the way, before the program runs; and where the profiler is.
fn preflight(claimed: &Claimed) -> Result<PathBuf, ExpectedError> {
    let (machine, profiler) = probe::beforehand(&claimed.path);
    if let Some(obstacle) = known_obstacle(&machine, Need::Profile) {
        // Whoever mends this one is to know of the others: the driver is asked only now, since it takes a moment.
        let whole = probe::with_driver(machine);
        let obstacle = known_obstacle(&whole, Need::Profile).unwrap_or(obstacle);
        return Err(ExpectedError::unable(obstacle.message).with_hint(obstacle.hint));
    }
    profiler.ok_or_else(|| ExpectedError::internal("a profiler that was found has no place"))
}

struct Run<'o> {
    options: &'o CollectOptions,
    output: &'o Output,
    profiler: PathBuf,
    folder: PathBuf,
    stdin: Stdin,
    is_interrupted: Box<dyn Fn() -> bool>,
    collected: Collected,
    /// What the profiler said of launches that it could not run again, although it could others.
    not_replayed: Option<String>,
    code: Code,
}

impl Run<'_> {
    /// Everything in order. What was collected before something failed is kept.
    fn all(&mut self, selection: &Selection) -> Result<Option<InputSet>, ExpectedError> {
        let seen = match self.record()? {
            Some(seen) => seen,
            None if self.is_interrupted() => Vec::new(),
            None => {
                self.profile(Tier::Times, Vec::new())
                    .map_err(|failure| failure.error)?;
                self.seen()?
            }
        };
        let mut groups = group(&seen);
        self.collected.launches = groups.iter().map(|group| group.count).sum();
        self.collected.kernels_seen = whole(groups.len());
        self.look_for_interrupt();
        if self.is_interrupted() {
            self.store(&groups)?;
            return Ok(None);
        }
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
        self.collected.kernels_profiled = whole(chosen.groups.len());
        let mut chosen: Vec<LaunchGroup> = chosen
            .groups
            .iter()
            .map(|&place| wanted[place].clone())
            .collect();
        if let Err(failure) = self.count(&chosen) {
            self.collected.kernels_profiled = 0;
            self.collected.covered = 0.0;
            // What the first run told is kept, and whoever asked for a folder finds it there.
            self.store(&groups)?;
            self.give_up(&failure.error);
            return Ok(None);
        }
        self.adopt(&mut groups, &mut chosen)?;
        let stored = self.store(&groups)?;
        Ok(Some(InputSet::of_collection(
            &self.folder.join(FILE),
            stored,
        )))
    }

    /// Profiles one launch of each kernel; the first one of its name where that which was chosen is not there again.
    fn count(&mut self, chosen: &[LaunchGroup]) -> Result<(), Failure> {
        match self.profile(Tier::Counters, selected(chosen)) {
            Err(failure) if failure.is_not_there && !self.is_interrupted() => {
                let first = chosen
                    .iter()
                    .map(|group| (group.name.clone(), vec![1]))
                    .collect();
                self.profile(Tier::Counters, first)?;
                self.output.warn("the launches that were chosen were not there again: the first launch of each kernel was profiled in their place, which may have another size and finds the GPU cold");
                Ok(())
            }
            outcome => outcome,
        }
    }

    /// Says why there is no answer, and what there is.
    fn give_up(&mut self, error: &ExpectedError) {
        self.output.complain(error);
        self.code = self.code.and(error.exit);
        if self.collected.launches_from != LaunchesFrom::Trace || self.output.is_quiet() {
            return;
        }
        self.output.hint(&match self.options.keep {
            Some(_) => format!(
                "`ridge timeline {}` shows what was recorded, for which no counters are needed",
                self.folder.join(request::TRACE).display()
            ),
            None => format!(
                "`ridge trace -- {}` and `ridge timeline` tell what needs no counters: times, copies and gaps",
                self.command_line()
            ),
        });
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

    /// What is known of the launches that the profiler timed.
    fn seen(&self) -> Result<Vec<Seen>, ExpectedError> {
        let extent = |size: ncu_rep::report::Dim3| [size.x, size.y, size.z];
        self.workloads("tier0.ncu-rep", |profile| Seen {
            duration_ns: profile.duration_ns(),
            grid: profile.grid.map_or([0; 3], extent),
            block: profile.block.map_or([0; 3], extent),
            name: profile.name,
            signature: profile.signature,
            process: 0,
        })
    }

    /// Takes the profiler's spelling of names over, by which reports are put to their launches, and says which of those that
    /// were chosen were not there again.
    fn adopt(
        &self,
        groups: &mut [LaunchGroup],
        chosen: &mut [LaunchGroup],
    ) -> Result<(), ExpectedError> {
        if self.collected.launches_from != LaunchesFrom::Trace {
            return Ok(());
        }
        let extent = |size: ncu_rep::report::Dim3| [size.x, size.y, size.z];
        let profiled = self.workloads("tier1.ncu-rep", |profile| Profiled {
            own: profile
                .mangled
                .as_deref()
                .map(|name| demangle(name).into_owned()),
            grid: profile.grid.map(extent),
            block: profile.block.map(extent),
            name: profile.name,
            signature: profile.signature,
        })?;
        let mut is_there = vec![false; chosen.len()];
        for one in &profiled {
            if let Some(place) = one.place(groups) {
                groups[place].signature.clone_from(&one.signature);
            }
            if let Some(place) = one.place(chosen) {
                chosen[place].signature.clone_from(&one.signature);
                is_there[place] = true;
            }
        }
        let missing: Vec<&str> = chosen
            .iter()
            .zip(&is_there)
            .filter(|(_, is_there)| !**is_there)
            .map(|(group, _)| group.name.as_str())
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let of = format!("{} of {} kernels", missing.len(), chosen.len());
        let names = missing.join(", ");
        let Some(trouble) = self.not_replayed.as_deref() else {
            self.output.warn(&format!(
                "{of} were not launched again as they were recorded, and are left out: {names}"
            ));
            return Ok(());
        };
        self.output.warn(&format!(
            "{of} could not be run again for their next pass, and are left out: {names} ({trouble})"
        ));
        if !self.output.is_quiet() {
            self.output.hint(&self.other_replay());
        }
        Ok(())
    }

    /// The workloads of a report of this run.
    fn workloads<T>(
        &self,
        report: &str,
        take: impl Fn(ridge_diagnose::KernelProfile<'_>) -> T,
    ) -> Result<Vec<T>, ExpectedError> {
        let path = self.folder.join(report);
        let address = Address::whole(path.as_os_str());
        let input = Input::open(&address, self.output)?;
        let evidence = Evidence::new(&input, &address)?;
        Ok((0..evidence.len())
            .filter_map(|index| evidence.workload(index))
            .map(|workload| take(workload.profile))
            .collect())
    }

    fn store(&self, groups: &[LaunchGroup]) -> Result<Stored, ExpectedError> {
        let stored = Stored::new(self.collected.clone(), groups);
        stored.write(&self.folder)?;
        Ok(stored)
    }

    /// Between two runs: no other one is started.
    fn look_for_interrupt(&mut self) {
        if (self.is_interrupted)() {
            self.code = exit::INTERRUPTED;
        }
    }

    fn is_interrupted(&self) -> bool {
        self.code == exit::INTERRUPTED
    }

    /// The name of the program.
    fn program(&self) -> String {
        let first = self.options.target.first();
        first.map_or_else(String::new, |word| word.to_string_lossy().into_owned())
    }

    /// The program with its arguments, as a shell takes it.
    fn command_line(&self) -> String {
        let first = self.options.target.first().cloned().unwrap_or_default();
        shown(&first, self.options.target.get(1..).unwrap_or_default())
    }
}

/// A launch as a report of the profiler has it.
struct Profiled {
    /// Its mangled name, as names of recordings are spelled.
    own: Option<String>,
    /// As the profiler spells it.
    signature: String,
    name: String,
    grid: Option<[u32; 3]>,
    block: Option<[u32; 3]>,
}

impl Profiled {
    /// The group that it is of: by its name and size; where names are spelled otherwise, by the function's own name, if only
    /// one group has it with this size.
    fn place(&self, groups: &[LaunchGroup]) -> Option<usize> {
        let is_alike = |group: &LaunchGroup| {
            Some(group.grid) == self.grid
                && Some(group.block) == self.block
                && group.name == self.name
        };
        let is_it = |group: &LaunchGroup| {
            is_alike(group)
                && (Some(&group.signature) == self.own.as_ref()
                    || group.signature == self.signature)
        };
        let mut alike = (0..groups.len()).filter(|place| is_alike(&groups[*place]));
        let only = alike.next().filter(|_| alike.next().is_none());
        groups.iter().position(is_it).or(only)
    }
}

/// One launch of each group: that in the middle, which is warm where the first is not.
fn selected(groups: &[LaunchGroup]) -> Vec<(String, Vec<u64>)> {
    groups
        .iter()
        .map(|group| {
            let middle = group.invocations.get(group.invocations.len() / 2);
            (group.name.clone(), middle.copied().into_iter().collect())
        })
        .collect()
}

fn whole(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
