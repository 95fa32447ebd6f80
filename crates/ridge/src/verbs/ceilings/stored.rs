//! Stored ceilings in use: which file is that of a device, and whether it still holds.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use ridge_bench::ceilings::document::Document;
use ridge_model::Device;
use ridge_model::measured::MeasuredCeilings;

use super::store;
use crate::error::ExpectedError;
use crate::output::Output;

/// What `--ceilings` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Those that are stored for the device, where there are some.
    Auto,
    /// None.
    Nothing,
    /// Those of a file.
    File(PathBuf),
}

impl FromStr for Choice {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "auto" => Self::Auto,
            "none" => Self::Nothing,
            path => Self::File(PathBuf::from(path)),
        })
    }
}

/// Ceilings that may be used, with the devices they are asked for one by one.
pub(crate) struct Stored {
    all: Vec<(PathBuf, Document)>,
    is_named: bool,
    driver: Option<String>,
}

/// Which device is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    /// Its row of the table.
    pub(crate) device: &'a Device,
    /// Its multiprocessors, where they are known to be others than those of the row.
    pub(crate) multiprocessors: Option<u32>,
    /// Its identifier, where it is at hand: then only its own figures will do.
    pub(crate) uuid: Option<&'a str>,
}

impl Stored {
    /// Reads what the choice names. `driver` is that of the machine, where it is known.
    pub(crate) fn read(
        choice: &Choice,
        driver: Option<String>,
        output: &Output,
    ) -> Result<Self, ExpectedError> {
        let (all, is_named) = match choice {
            Choice::Nothing => (Vec::new(), false),
            Choice::File(path) => (vec![(path.clone(), store::read(path)?)], true),
            Choice::Auto => (of_folder(output), false),
        };
        Ok(Self {
            all,
            is_named,
            driver,
        })
    }

    /// Whether there are none at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The ceilings of a device. What was measured with another driver is told, and used only where its file was named.
    pub(crate) fn of(
        &self,
        asked: &Asked<'_>,
        output: &Output,
    ) -> Result<Option<MeasuredCeilings>, ExpectedError> {
        let use_of = |(path, document): &(PathBuf, Document)| {
            Some(document.measured(&path.display().to_string()))
        };
        match self.find(asked) {
            Found::Nothing => Ok(None),
            Found::OfAnother((path, document)) => Err(ExpectedError::usage(format!(
                "{} holds ceilings of {}, and the device is {}",
                path.display(),
                document.machine.device,
                asked.device.name
            ))
            .with_hint("--ceilings none does without them")),
            Found::Current(found) => Ok(use_of(found)),
            Found::Stale { found, then, now } => {
                let what = format!(
                    "the stored ceilings of {} were measured with driver {then}, and this machine has {now}",
                    found.1.machine.device
                );
                if self.is_named {
                    output.warn(&what);
                    return Ok(use_of(found));
                }
                output.warn(&format!("{what}: they are not used"));
                output.hint(&format!(
                    "`ridge ceilings` measures them again; --ceilings {} uses them all the same",
                    found.0.display()
                ));
                Ok(None)
            }
        }
    }

    /// The newest that are of the device.
    fn find(&self, asked: &Asked<'_>) -> Found<'_> {
        let fits = |document: &Document| {
            let machine = &document.machine;
            let is_same_part = asked
                .multiprocessors
                .is_none_or(|count| count == machine.multiprocessors);
            match asked.uuid {
                Some(uuid) if !self.is_named => machine.uuid.as_deref() == Some(uuid),
                _ => {
                    is_same_part && machine.known_as.as_deref() == Some(asked.device.name.as_str())
                }
            }
        };
        let newest = self
            .all
            .iter()
            .filter(|(_, document)| fits(document))
            .max_by(|a, b| a.1.date.cmp(&b.1.date));
        let Some(found) = newest else {
            return match self.all.first() {
                Some(other) if self.is_named => Found::OfAnother(other),
                _ => Found::Nothing,
            };
        };
        match (found.1.machine.driver.as_deref(), self.driver.as_deref()) {
            (Some(then), Some(now)) if then != now => Found::Stale { found, then, now },
            _ => Found::Current(found),
        }
    }
}

/// What there is for a device.
#[derive(Debug, PartialEq)]
enum Found<'s> {
    Nothing,
    Current(&'s (PathBuf, Document)),
    /// Measured with another driver than the machine has now.
    Stale {
        found: &'s (PathBuf, Document),
        then: &'s str,
        now: &'s str,
    },
    /// The file that was named is of another device.
    OfAnother(&'s (PathBuf, Document)),
}

/// All that are kept. A file that cannot be read is told, and hides no other.
fn of_folder(output: &Output) -> Vec<(PathBuf, Document)> {
    let Some(entries) = store::folder().and_then(|folder| std::fs::read_dir(folder).ok()) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        match store::read(&path) {
            Ok(document) => all.push((path, document)),
            Err(error) => output.warn(&format!("{}; they are not used", error.message)),
        }
    }
    all
}

/// The version of the kernel's driver, which can be read without opening a GPU; absent where there is none.
pub(crate) fn driver_of_machine() -> Option<String> {
    let text = std::fs::read_to_string(Path::new("/proc/driver/nvidia/version")).ok()?;
    version_in(&text)
}

fn version_in(text: &str) -> Option<String> {
    let is_version = |word: &&str| {
        word.contains('.')
            && word
                .split('.')
                .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    text.lines()
        .next()?
        .split_whitespace()
        .find(is_version)
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use ridge_bench::ceilings::document::{SCHEMA, Settings, VERSION};
    use ridge_bench::document::Machine;
    use ridge_model::Devices;

    use super::*;

    fn document(date: &str, uuid: &str, driver: &str) -> (PathBuf, Document) {
        let machine = Machine {
            device: "NVIDIA H200".to_owned(),
            is_simulated: false,
            known_as: Some("H200 SXM".to_owned()),
            uuid: Some(uuid.to_owned()),
            compute_capability: "9.0".to_owned(),
            multiprocessors: 132,
            l2_bytes: None,
            memory_bytes: 1e11,
            max_sm_clock_hz: None,
            power_limit_w: None,
            is_ecc_on: None,
            is_mig: None,
            is_persistent: None,
            driver: Some(driver.to_owned()),
            cuda: None,
            compiler: None,
            shared_bytes_per_block: 49152.0,
            max_memory_clock_hz: None,
            memory_bus_bits: None,
            has_display_watchdog: None,
            notes: Vec::new(),
        };
        let document = Document {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            tool_version: "0.1.0".to_owned(),
            date: Some(date.to_owned()),
            took_ns: 1.0,
            is_complete: true,
            machine,
            settings: Settings::quick(),
            figures: Vec::new(),
            missing: Vec::new(),
            warnings: Vec::new(),
        };
        (PathBuf::from(format!("{uuid}.json")), document)
    }

    fn stored(is_named: bool, driver: Option<&str>) -> Stored {
        Stored {
            all: vec![
                document("2026-11-01", "GPU-a", "580.1"),
                document("2026-11-30", "GPU-b", "580.2"),
                document("2026-10-30", "GPU-c", "580.2"),
            ],
            is_named,
            driver: driver.map(str::to_owned),
        }
    }

    fn asked<'a>(name: &str, uuid: Option<&'a str>, multiprocessors: Option<u32>) -> Asked<'a> {
        Asked {
            device: Devices::known().find(name).unwrap(),
            multiprocessors,
            uuid,
        }
    }

    fn file(found: &Found<'_>) -> Option<PathBuf> {
        match found {
            Found::Current(found) => Some(found.0.clone()),
            _ => None,
        }
    }

    #[test]
    fn a_name_finds_the_newest_and_an_identifier_its_own() {
        let stored = stored(false, None);
        let by_name = stored.find(&asked("h200", None, None));
        assert_eq!(file(&by_name), Some(PathBuf::from("GPU-b.json")));
        let own = stored.find(&asked("h200", Some("GPU-a"), Some(132)));
        assert_eq!(file(&own), Some(PathBuf::from("GPU-a.json")));
        for other in [
            asked("h200", Some("GPU-d"), None),
            asked("a100-80-sxm", None, None),
            // A part of the GPU reaches less.
            asked("h200", None, Some(60)),
        ] {
            assert_eq!(stored.find(&other), Found::Nothing);
        }
    }

    #[test]
    fn another_driver_makes_them_stale() {
        let with = stored(false, Some("580.2"));
        assert!(matches!(
            with.find(&asked("h200", Some("GPU-a"), None)),
            Found::Stale {
                then: "580.1",
                now: "580.2",
                ..
            }
        ));
        assert!(file(&with.find(&asked("h200", Some("GPU-b"), None))).is_some());
    }

    #[test]
    fn a_file_that_was_named_has_to_be_of_the_device() {
        let named = stored(true, None);
        assert!(matches!(
            named.find(&asked("a100-80-sxm", None, None)),
            Found::OfAnother(_)
        ));
        // It may be of another GPU of the same kind.
        assert!(file(&named.find(&asked("h200", Some("GPU-d"), None))).is_some());
    }

    /// Both kernel modules write the version into the first line; the second is that of the compiler.
    #[test]
    fn the_version_of_the_driver_is_found() {
        let open = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (root@host)  Mon\nGCC version:  gcc version 11.4.0\n";
        assert_eq!(version_in(open).as_deref(), Some("580.159.04"));
        let closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6\n";
        assert_eq!(version_in(closed).as_deref(), Some("535.54.03"));
        assert_eq!(version_in("GCC\n"), None);
        assert_eq!(version_in(""), None);
    }
}
