//! Where ceilings are kept: one file for each GPU.

use std::env;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use ridge_bench::ceilings::document::{Document, SCHEMA, VERSION};
use ridge_bench::document::Machine;
use serde::Deserialize;

use crate::error::ExpectedError;

/// The folder: what `RIDGE_CEILINGS` names, else that of the user's data; absent where there is neither.
pub(crate) fn folder() -> Option<PathBuf> {
    let named = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    named("RIDGE_CEILINGS").or_else(|| {
        let data = named("XDG_DATA_HOME")
            .or_else(|| Some(named("HOME")?.join(".local/share")))
            .or_else(|| named("LOCALAPPDATA"))?;
        Some(data.join("ridgepoint").join("ceilings"))
    })
}

/// The file of a machine; absent where there is no folder.
pub(super) fn path_of(machine: &Machine) -> Result<Option<PathBuf>, ExpectedError> {
    let Some(uuid) = &machine.uuid else {
        return Err(
            ExpectedError::unable("the figures were not kept: the GPU has no identifier")
                .with_hint("--save FILE keeps them where you say"),
        );
    };
    // An identifier has letters, digits and hyphens; what else it may have is no part of a file's name.
    let name: String = uuid
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() || letter == '-' {
                letter
            } else {
                '_'
            }
        })
        .collect();
    Ok(folder().map(|folder| folder.join(format!("{name}.json"))))
}

/// Writes a document beside its place and moves it there.
pub(super) fn write(
    path: &Path,
    document: &Document,
    makes_folder: bool,
) -> Result<(), ExpectedError> {
    let failed = |error: &dyn std::fmt::Display| {
        ExpectedError::unable(format!(
            "the figures were not kept in {}: {error}",
            path.display()
        ))
        .with_hint("--save FILE keeps them elsewhere, --save none nowhere")
    };
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    if makes_folder {
        std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    }
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(|error| failed(&error))?;
    ridge_render::json::write(document, &mut file)
        .and_then(|()| file.as_file().sync_all())
        .map_err(|error| failed(&error))?;
    file.persist(path).map_err(|error| failed(&error.error))?;
    Ok(())
}

/// Reads a document.
pub(crate) fn read(path: &Path) -> Result<Document, ExpectedError> {
    let failed = |reason: &dyn std::fmt::Display| {
        ExpectedError::unreadable(format!(
            "cannot read the ceilings {}: {reason}",
            path.display()
        ))
        .with_hint("`ridge ceilings --save FILE` writes such a file; --ceilings none does without")
    };
    let text = std::fs::read(path).map_err(|error| failed(&error))?;
    // A newer version may have what this one cannot read, so that its number is looked at first.
    let header: Header = serde_json::from_slice(&text).map_err(|error| failed(&error))?;
    if header.schema != SCHEMA {
        return Err(failed(&format!("it is no {SCHEMA} document")));
    }
    match header.version {
        Some(version) if version > VERSION => Err(failed(&format!(
            "it has version {version}, and this command reads up to {VERSION}"
        ))),
        _ => serde_json::from_slice(&text).map_err(|error| failed(&error)),
    }
}

/// What every version starts with.
#[derive(Deserialize)]
struct Header {
    schema: String,
    version: Option<u32>,
}

/// The day in UTC, as `2026-08-14`.
pub(super) fn today() -> String {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    day(seconds / 86_400)
}

/// The day of the Gregorian calendar, counted from the first of January 1970 ("days from civil" of Howard Hinnant,
/// backwards).
fn day(days: u64) -> String {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `date -u -d @86400...` says so.
    #[test]
    fn days_are_those_of_the_calendar() {
        for (days, text) in [
            (0, "1970-01-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_454, "2026-01-01"),
            (20_787, "2026-11-30"),
        ] {
            assert_eq!(day(days), text);
        }
    }
}
