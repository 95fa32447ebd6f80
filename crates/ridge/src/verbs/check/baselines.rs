//! Where baselines are: a file that is named, the folder of the project's own, or the store of past results.
//!
//! Recorded baselines lie in `.ridge/baselines/` of the project, one JSON file each, small enough to be committed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use ridge_compare::check::Baseline;

use super::names;
use super::past;
use super::project::Project;
use super::results::{self, Kind, Loaded};
use crate::error::ExpectedError;
use crate::filter::Address;
use crate::git;
use crate::input::Input;
use crate::output::{Output, unwritable};
use crate::small_file;

/// A name that can be read and written: not empty, and without what cannot be seen.
fn named(kind: &str, name: &str) -> Result<String, ExpectedError> {
    let wrong = if name.trim().is_empty() {
        "is empty"
    } else if name.chars().any(is_unseen) {
        "has characters in it that cannot be seen"
    } else {
        return Ok(name.to_owned());
    };
    Err(
        ExpectedError::usage(format!("the {kind} of the baseline {wrong}: {name:?}"))
            .with_hint("name it with what can be typed: --baseline release-2"),
    )
}

/// Control characters, and those that only change how others are shown.
fn is_unseen(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Whether a text names a file that is there, or one kernel of it.
fn is_file(text: &str) -> bool {
    Address::of_argument(OsStr::new(text)).is_ok_and(|address| Path::new(&address.file).is_file())
}

/// Which baseline is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    File(PathBuf),
    Label(String),
    /// The beginning of a commit's hash.
    Commit(String),
    Branch(String),
}

/// What a recorded baseline has at most: the samples of some thousand states.
const MOST_OF_BASELINE: u64 = 64 << 20;
/// Letters of a commit's hash that are told from a label.
const LEAST_OF_HASH: usize = 7;
const MOST_OF_HASH: usize = 64;

impl Wanted {
    /// `branch:NAME`, `commit:HASH` and `label:NAME` say what they are, as for `ridge history`; seven or more hexadecimal digits are
    /// a commit, what has a slash, ends in `.json` or is there is a file, and the rest is a label.
    ///
    /// # Errors
    /// When it is a name that nothing can have.
    pub(super) fn of(text: &str) -> Result<Self, ExpectedError> {
        let is_hash = (LEAST_OF_HASH..=MOST_OF_HASH).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if let Some(branch) = text.strip_prefix("branch:") {
            named("branch", branch).map(Self::Branch)
        } else if let Some(commit) = text.strip_prefix("commit:") {
            if commit.is_empty() || !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Err(
                    ExpectedError::usage(format!("{commit:?} is no hash of a commit"))
                        .with_hint("give its beginning: commit:0123abc"),
                );
            }
            Ok(Self::Commit(commit.to_ascii_lowercase()))
        } else if let Some(label) = text.strip_prefix("label:") {
            named("label", label).map(Self::Label)
        } else if text.contains(['/', '\\']) || text.ends_with(".json") || is_file(text) {
            Ok(Self::File(PathBuf::from(text)))
        } else if is_hash {
            Ok(Self::Commit(text.to_ascii_lowercase()))
        } else {
            named("label", text).map(Self::Label)
        }
    }

    /// As people write it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Label(label) => label.clone(),
            Self::Commit(commit) => commit.clone(),
            Self::Branch(branch) => format!("branch:{branch}"),
        }
    }

    fn is_of(&self, baseline: &Baseline) -> bool {
        match self {
            Self::File(_) => false,
            Self::Label(label) => baseline.label.as_ref() == Some(label),
            Self::Commit(hash) => baseline
                .commit
                .as_ref()
                .is_some_and(|commit| commit.to_ascii_lowercase().starts_with(hash)),
            Self::Branch(branch) => baseline.branch.as_ref() == Some(branch),
        }
    }
}

impl Wanted {
    /// Whether a recorded baseline is this one, and not only of the same branch or commit under a label.
    fn is_exactly(&self, baseline: &Baseline) -> bool {
        match self {
            Self::File(_) | Self::Label(_) => self.is_of(baseline),
            Self::Commit(_) | Self::Branch(_) => baseline.label.is_none() && self.is_of(baseline),
        }
    }
}

/// A baseline that was found.
pub(super) struct Against {
    /// As people know it.
    pub(super) name: String,
    /// The file that it is in; absent for past results.
    pub(super) file: Option<PathBuf>,
    pub(super) baseline: Baseline,
}

/// The folder of a project.
pub(super) struct Folder {
    project: PathBuf,
    baselines: PathBuf,
}

impl Folder {
    pub(super) fn of(project: &Project) -> Self {
        Self {
            project: project.folder.clone(),
            baselines: project.folder.join(".ridge").join("baselines"),
        }
    }

    /// Files in the folder, by name.
    fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.baselines).into_iter().flatten();
        let mut files: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension() == Some(OsStr::new("json")))
            .collect();
        files.sort();
        files
    }

    /// The file that a baseline goes to: that which has it already, else one of a name of its own.
    fn path(&self, wanted: &Wanted, output: &Output) -> Result<PathBuf, ExpectedError> {
        if let Wanted::File(path) = wanted {
            return match Address::of_argument(path.as_os_str())?.kernel {
                None => Ok(path.clone()),
                Some(_) => Err(ExpectedError::usage(format!(
                    "{} chooses a kernel of a baseline, and a whole one is recorded",
                    path.display()
                ))
                .with_hint("choose the kernel of the results: RESULT#KERNEL")),
            };
        }
        let Some(name) = names::file_name(wanted) else {
            return Err(ExpectedError::usage(format!(
                "the name of the baseline is too long for a file: {:?}",
                wanted.shown()
            ))
            .with_hint("choose a shorter one, or name a file: --baseline FILE.json"));
        };
        let recorded = |path: &Path| file(path, output).ok();
        if let Some(earlier) = names::earlier_name(wanted) {
            let path = self.baselines.join(earlier);
            if path.is_file() && recorded(&path).is_some_and(|known| wanted.is_exactly(&known)) {
                return Ok(path);
            }
        }
        let path = self.baselines.join(&name);
        // An earlier version may have put another one there, and some file systems take letters of both cases for one.
        for known in self.files() {
            let is_there = known
                .file_name()
                .and_then(OsStr::to_str)
                .is_some_and(|known| known.eq_ignore_ascii_case(&name));
            if !is_there {
                continue;
            }
            if let Some(other) = recorded(&known).filter(|known| !wanted.is_exactly(known)) {
                return Err(ExpectedError::usage(format!(
                    "{} holds another baseline, {}",
                    known.display(),
                    other
                        .label
                        .map(|label| format!("{label:?}"))
                        .or(other.branch.map(|branch| format!("that of branch {branch:?}")))
                        .unwrap_or_else(|| "without a label".to_owned())
                ))
                .with_hint("choose another label, or rename that file: baselines are found by what is in them"));
            }
        }
        Ok(path)
    }

    /// The baseline that is meant: what was recorded as one, else past results. Of a branch, the newer of the two.
    pub(super) fn find(&self, wanted: &Wanted, output: &Output) -> Result<Against, ExpectedError> {
        if let Wanted::File(path) = wanted {
            let address = Address::of_argument(path.as_os_str())?;
            return Ok(Against {
                name: wanted.shown(),
                file: Some(PathBuf::from(address.file)),
                baseline: file(path, output)?,
            });
        }
        let mut known = Vec::new();
        let mut newest: Option<(Baseline, Option<PathBuf>)> = None;
        for path in self.files() {
            let baseline = match recorded(&path) {
                Ok(baseline) => baseline,
                Err(error) => {
                    // Another one may be meant.
                    output.warn(&error.message);
                    continue;
                }
            };
            if !wanted.is_of(&baseline) {
                known.extend(baseline.label.clone());
            } else if newest
                .as_ref()
                .is_none_or(|(newest, _)| newest.recorded_unix_s <= baseline.recorded_unix_s)
            {
                newest = Some((baseline, Some(path)));
            }
        }
        let past = match (&newest, wanted) {
            (Some(_), Wanted::File(_) | Wanted::Label(_) | Wanted::Commit(_)) => None,
            (None, _) | (Some(_), Wanted::Branch(_)) => past::find(&self.project, wanted, output)?,
        };
        let found = newest
            .into_iter()
            .chain(past.map(|baseline| (baseline, None)))
            .max_by_key(|(baseline, _)| baseline.recorded_unix_s)
            .map(|(baseline, file)| Against {
                name: wanted.shown(),
                file,
                baseline,
            });
        found.ok_or_else(|| {
            let known = match known.as_slice() {
                [] => String::new(),
                known => format!("; recorded are {}", known.join(", ")),
            };
            ExpectedError::usage(format!(
                "there is no baseline {:?} in {}, nor a past result of `ridge bench`",
                wanted.shown(),
                self.baselines.display()
            ))
            .with_hint(format!(
                "record one with --update, or results with `ridge bench --record`{known}"
            ))
        })
    }

    /// Keeps results as a baseline, and says where. Results that were not measured just now are of no commit, unless the user
    /// says so.
    pub(super) fn record(
        &self,
        wanted: &Wanted,
        results: &[Loaded],
        is_measured: bool,
        output: &Output,
    ) -> Result<PathBuf, ExpectedError> {
        let now = git::revision(&self.project, output);
        let differs = |what: &str, asked: &str, is: Option<&str>| {
            ExpectedError::usage(format!(
                "the baseline is to be of {what} {asked}, and {} is checked out",
                is.unwrap_or("none")
            ))
            .with_hint("check it out first, or record under a label")
        };
        match wanted {
            Wanted::Branch(branch) if now.branch.as_ref() != Some(branch) => {
                return Err(differs("branch", branch, now.branch.as_deref()));
            }
            Wanted::Commit(hash)
                if !now
                    .commit
                    .as_ref()
                    .is_some_and(|commit| commit.starts_with(hash)) =>
            {
                return Err(differs("commit", hash, now.commit.as_deref()));
            }
            _ => {}
        }
        let is_known = is_measured || matches!(wanted, Wanted::Branch(_) | Wanted::Commit(_));
        let facts = Baseline {
            label: match wanted {
                Wanted::Label(label) => Some(label.clone()),
                _ => None,
            },
            commit: now.commit.filter(|_| is_known),
            branch: now.branch.filter(|_| is_known),
            recorded_unix_s: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .ok()
                .map(|since| since.as_secs()),
            results: Vec::new(),
        };
        let bytes: Vec<&[u8]> = results
            .iter()
            .map(|result| result.bytes.as_slice())
            .collect();
        let text = facts
            .write(&bytes)
            .map_err(|error| ExpectedError::internal(error.to_string()))?;
        let path = self.path(wanted, output)?;
        let failed = |error: std::io::Error| unwritable(&path, &error);
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(failed)?;
        let mut written = tempfile::Builder::new()
            .tempfile_in(folder)
            .map_err(failed)?;
        std::io::Write::write_all(&mut written, text.as_bytes())
            .and_then(|()| written.as_file().sync_all())
            .map_err(failed)?;
        // Temporary files are private, and a baseline is committed.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::Permissions::from_mode(0o644);
            written.as_file().set_permissions(mode).map_err(failed)?;
        }
        written
            .persist(&path)
            .map_err(|error| failed(error.error))?;
        Ok(path)
    }
}

/// A baseline of the project's folder, which nobody named.
fn recorded(path: &Path) -> Result<Baseline, ExpectedError> {
    let failed = |reason: String| {
        ExpectedError::unreadable(format!("cannot read {}: {reason}", path.display()))
            .with_hint("record it again with --update, or take it from the repository")
    };
    let bytes = small_file::bytes(path, MOST_OF_BASELINE)
        .and_then(|bytes| bytes.ok_or_else(|| "it is gone".to_owned()))
        .map_err(failed)?;
    if !Baseline::looks_like(&bytes) {
        return Err(failed(
            "it is no baseline that `ridge check --update` wrote".to_owned(),
        ));
    }
    Baseline::read(&bytes).map_err(|error| failed(error.to_string()))
}

/// A baseline that is a file: a recorded one, a result, or a report.
fn file(path: &Path, output: &Output) -> Result<Baseline, ExpectedError> {
    let address = Address::of_argument(path.as_os_str())?;
    let input = Input::open(&address, output)?;
    if Baseline::looks_like(input.bytes()) {
        let mut baseline = Baseline::read(input.bytes()).map_err(|error| {
            ExpectedError::unreadable(format!("cannot read {}: {error}", path.display()))
                .with_hint("record it again with --update, or take it from the repository")
        })?;
        if address.kernel.is_some() {
            only(&mut baseline, &address)?;
        }
        return Ok(baseline);
    }
    match results::open(path.as_os_str(), output)? {
        Kind::Result(result) => Ok(Baseline {
            results: vec![result.named.found],
            ..Baseline::default()
        }),
        Kind::Spec(_) => Err(ExpectedError::usage(format!(
            "{} is a spec, and a baseline is a result",
            path.display()
        ))
        .with_hint("record one with `ridge check SPEC --update`")),
    }
}

/// Keeps the kernel that is meant, in the results that have it.
fn only(baseline: &mut Baseline, address: &Address) -> Result<(), ExpectedError> {
    let mut missed = None;
    baseline
        .results
        .retain_mut(|found| match results::narrow(found, address) {
            Ok(()) => true,
            Err(error) => {
                missed.get_or_insert(error);
                false
            }
        });
    match missed {
        Some(error) if baseline.results.is_empty() => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_meant_is_told_by_its_form() {
        for (text, expected) in [
            ("default", Wanted::Label("default".to_owned())),
            ("v1.2", Wanted::Label("v1.2".to_owned())),
            ("facade", Wanted::Label("facade".to_owned())),
            ("0123abc", Wanted::Commit("0123abc".to_owned())),
            ("0123ABC", Wanted::Commit("0123abc".to_owned())),
            ("label:nightly/x", Wanted::Label("nightly/x".to_owned())),
            ("commit:0123", Wanted::Commit("0123".to_owned())),
            ("branch:feature/x", Wanted::Branch("feature/x".to_owned())),
            ("old.json", Wanted::File(PathBuf::from("old.json"))),
            ("a/b", Wanted::File(PathBuf::from("a/b"))),
        ] {
            assert_eq!(Wanted::of(text).unwrap(), expected);
        }
        for text in [
            "",
            " ",
            "label:",
            "branch:",
            "commit:",
            "commit:main",
            "a\nb",
            "a\u{202e}b",
            "label:\u{7}",
        ] {
            let error = Wanted::of(text).unwrap_err();
            assert_eq!(error.exit, crate::exit::USAGE, "{text:?}");
        }
    }
}
