//! How the metrics of a report were collected.
//!
//! Reports of 2025 do not store replay mode, cache control or clock control: they follow from the profiler's command
//! line, where an option that is not given has its default. Reports of 2022 store some as settings.

use std::collections::HashSet;

use crate::error::Error;
use crate::wire::{Message, Room};

/// How the metrics were collected.
///
/// A value is absent when neither a command line nor a setting tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collection {
    /// How a workload is run again for each pass.
    pub replay: Option<ReplayMode>,
    /// What the profiler does with the caches before each pass.
    pub caches: Option<CacheControl>,
    /// What the profiler does with the clocks.
    pub clocks: Option<ClockControl>,
    /// Names of the sets that were asked for.
    pub sets: Vec<String>,
    /// Sections that were asked for one by one.
    pub sections: Vec<String>,
    /// Metrics that were asked for one by one, as written.
    pub metrics: Vec<String>,
    /// Whether graphs are profiled as one workload.
    pub whole_graphs: Option<bool>,
    /// The program that was profiled, as written on the command line.
    pub program: Option<String>,
}

/// How a workload is run again for each pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayMode {
    /// Each kernel is run again with its memory restored.
    Kernel,
    /// The whole program is run again.
    Application,
    /// A range of calls is recorded and run again.
    Range,
    /// A range of the program is run again with the program.
    ApplicationRange,
}

/// What the profiler does with the caches before each pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheControl {
    /// All caches are flushed: kernels start cold.
    FlushAll,
    /// Caches are left as the program left them.
    None,
}

/// What the profiler does with the clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockControl {
    /// Held at the base clock: comparable, but slower than in production.
    Base,
    /// Left alone: as in production, but they may move between passes.
    None,
    /// Reset to their default after an earlier hold.
    Reset,
    /// Held at the boost clock.
    Boost,
}

/// Options of the profiler that take no value. Everything else that starts with a dash takes one.
pub(crate) const SWITCHES: &[&str] = &[
    "-f",
    "-h",
    "-v",
    "--call-stack",
    "--check-config-file",
    "--csv",
    "--details-all",
    "--disable-extra-suffixes",
    "--disable-profiler-start-stop",
    "--force-overwrite",
    "--forward-signals",
    "--help",
    "--list-chips",
    "--list-metrics",
    "--list-rules",
    "--list-sections",
    "--list-sets",
    "--null-stdin",
    "--nvtx",
    "--open-in-ui",
    "--print-fp",
    "--print-metric-attribution",
    "--print-rule-details",
    "--query-metrics",
    "--quiet",
    "--section-folder-restore",
    "--support-32bit",
    "--verbose",
    "--version",
];

impl Collection {
    /// Reads the command line that a report stores: the words are joined with spaces, without quotes.
    pub(super) fn from_command_line(line: &str, room: &mut Room) -> Result<Self, Error> {
        let mut collection = Self {
            replay: Some(ReplayMode::Kernel),
            caches: Some(CacheControl::FlushAll),
            clocks: Some(ClockControl::Base),
            whole_graphs: Some(false),
            ..Self::default()
        };
        let mut words = line.split_ascii_whitespace().peekable();
        words.next(); // The profiler itself.
        while let Some(word) = words.next() {
            if !word.starts_with('-') {
                // From here on it is the profiled program and its own options.
                collection.program = Some(word.to_owned());
                break;
            }
            if let Some((option, value)) = word.split_once('=') {
                collection.set(option, value, room)?;
            } else if !word.starts_with("--") && word.len() > 2 {
                // A short option with its value behind it, such as `-c3`.
            } else if !SWITCHES.contains(&word)
                && let Some(value) = words.next_if(|next| !next.starts_with('-'))
            {
                collection.set(word, value, room)?;
            }
        }
        Ok(collection)
    }

    fn set(&mut self, option: &str, value: &str, room: &mut Room) -> Result<(), Error> {
        match option {
            "--replay-mode" => {
                self.replay = match value {
                    "kernel" => Some(ReplayMode::Kernel),
                    "application" => Some(ReplayMode::Application),
                    "range" => Some(ReplayMode::Range),
                    "app-range" => Some(ReplayMode::ApplicationRange),
                    _ => None,
                };
            }
            "--cache-control" => {
                self.caches = match value {
                    "all" => Some(CacheControl::FlushAll),
                    "none" => Some(CacheControl::None),
                    _ => None,
                };
            }
            "--clock-control" => {
                self.clocks = match value {
                    "base" => Some(ClockControl::Base),
                    "boost" => Some(ClockControl::Boost),
                    "none" => Some(ClockControl::None),
                    "reset" => Some(ClockControl::Reset),
                    _ => None,
                };
            }
            "--graph-profiling" => self.whole_graphs = Some(value == "graph"),
            "--set" => add_list(&mut self.sets, value, room)?,
            "--section" => add_list(&mut self.sections, value, room)?,
            "--metrics" => add_list(&mut self.metrics, value, room)?,
            _ => {}
        }
        Ok(())
    }

    /// Reads stored settings. The numbers of the modes are documented by use only, so that just the lists are taken.
    pub(super) fn apply_settings(
        &mut self,
        settings: Message<'_>,
        room: &mut Room,
    ) -> Result<(), Error> {
        let mut known: HashSet<String> = self.sections.iter().cloned().collect();
        for field in settings.fields() {
            let field = field?;
            if let (7, Some(section)) = (field.number, field.value.text())
                && !known.contains(&*section)
            {
                room.charge(size_of::<String>().saturating_mul(3))?;
                known.insert(section.to_string());
                room.push(&mut self.sections, section.into_owned())?;
            }
        }
        Ok(())
    }
}

fn add_list(list: &mut Vec<String>, items: &str, room: &mut Room) -> Result<(), Error> {
    for item in items.split(',').filter(|item| !item.is_empty()) {
        room.charge(item.len())?;
        room.push(list, item.to_owned())?;
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn read(line: &str) -> Collection {
        Collection::from_command_line(line, &mut Room::new(0, 0)).unwrap()
    }

    #[test]
    fn options_before_the_program_are_the_profilers() {
        let found = read(
            "/opt/ncu --clock-control none -f --set full --import-source yes -o out ./app --set basic --replay-mode x ",
        );
        assert_eq!(found.clocks, Some(ClockControl::None));
        assert_eq!(found.caches, Some(CacheControl::FlushAll));
        assert_eq!(found.replay, Some(ReplayMode::Kernel));
        assert_eq!(found.sets, ["full"]);
        assert_eq!(found.program.as_deref(), Some("./app"));
    }

    #[test]
    fn values_may_be_joined_and_listed() {
        let found = read(
            "ncu --forward-signals --launch-skip-before-match 1 -c3 --replay-mode=app-range --cache-control=none --section SpeedOfLight --section=Occupancy --metrics a.sum,b.avg python3 t.py",
        );
        assert_eq!(found.replay, Some(ReplayMode::ApplicationRange));
        assert_eq!(found.caches, Some(CacheControl::None));
        assert_eq!(found.clocks, Some(ClockControl::Base));
        assert_eq!(found.sections, ["SpeedOfLight", "Occupancy"]);
        assert_eq!(found.metrics, ["a.sum", "b.avg"]);
        assert_eq!(found.program.as_deref(), Some("python3"));
    }

    #[test]
    fn an_unknown_mode_is_absent_and_not_guessed() {
        let found = read("ncu --replay-mode quantum app");
        assert_eq!(found.replay, None);
    }
}
