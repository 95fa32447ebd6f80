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

    /// The ceilings of a device, the newest first. What was measured with another driver is told, and used only where its
    /// file was named.
    pub(crate) fn of(
        &self,
        asked: &Asked<'_>,
        output: &Output,
    ) -> Result<Option<MeasuredCeilings>, ExpectedError> {
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
        let found = self
            .all
            .iter()
            .filter(|(_, document)| fits(document))
            .max_by_key(|(_, document)| document.date.clone());
        let Some((path, document)) = found else {
            return match self.all.first() {
                Some((path, document)) if self.is_named => Err(ExpectedError::usage(format!(
                    "{} holds ceilings of {}, and the device is {}",
                    path.display(),
                    document.machine.device,
                    asked.device.name
                ))
                .with_hint("--ceilings none does without them")),
                _ => Ok(None),
            };
        };
        let then = document.machine.driver.as_deref();
        if let (Some(then), Some(now)) = (then, self.driver.as_deref())
            && then != now
        {
            let what = format!(
                "the stored ceilings of {} were measured with driver {then}, and this machine has {now}",
                document.machine.device
            );
            if !self.is_named {
                output.warn(&format!("{what}: they are not used"));
                output.hint(&format!(
                    "`ridge ceilings` measures them again; --ceilings {} uses them all the same",
                    path.display()
                ));
                return Ok(None);
            }
            output.warn(&what);
        }
        Ok(Some(document.measured(&path.display().to_string())))
    }
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
    use super::*;

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
