//! Where baselines are: a file that is named, the folder of the project's own, or the store of past results.
//!
//! Recorded baselines lie in `.ridge/baselines/` of the project, one JSON file each, small enough to be committed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use ridge_compare::check::Baseline;

use super::past;
use super::project::Project;
use super::results::{self, Kind, Loaded};
use crate::error::ExpectedError;
use crate::filter::Address;
use crate::git;
use crate::input::Input;
use crate::output::{Output, unwritable};
use crate::small_file;

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
    pub(super) fn of(text: &str) -> Self {
        let is_hash = (LEAST_OF_HASH..=MOST_OF_HASH).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if let Some(branch) = text.strip_prefix("branch:") {
            Self::Branch(branch.to_owned())
        } else if let Some(commit) = text.strip_prefix("commit:") {
            Self::Commit(commit.to_ascii_lowercase())
        } else if let Some(label) = text.strip_prefix("label:") {
            Self::Label(label.to_owned())
        } else if text.contains(['/', '\\']) || text.ends_with(".json") || Path::new(text).is_file()
        {
            Self::File(PathBuf::from(text))
        } else if is_hash {
            Self::Commit(text.to_ascii_lowercase())
        } else {
            Self::Label(text.to_owned())
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

    /// The file of a baseline. Characters that mean something in paths are replaced.
    fn path(&self, wanted: &Wanted) -> PathBuf {
        let (kind, name) = match wanted {
            Wanted::File(path) => return path.clone(),
            Wanted::Label(label) => ("", label),
            Wanted::Commit(commit) => ("commit-", commit),
            Wanted::Branch(branch) => ("branch-", branch),
        };
        let safe: String = name
            .chars()
            .map(|letter| {
                if letter.is_ascii_alphanumeric() || "-_.".contains(letter) {
                    letter
                } else {
                    '_'
                }
            })
            .collect();
        self.baselines.join(format!("{kind}{safe}.json"))
    }

    /// The baseline that is meant: what was recorded as one, else past results. Of a branch, the newer of the two.
    pub(super) fn find(&self, wanted: &Wanted, output: &Output) -> Result<Baseline, ExpectedError> {
        if let Wanted::File(path) = wanted {
            return file(path, output);
        }
        let mut known = Vec::new();
        let mut newest: Option<Baseline> = None;
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
                .is_none_or(|newest| newest.recorded_unix_s <= baseline.recorded_unix_s)
            {
                newest = Some(baseline);
            }
        }
        let past = match (&newest, wanted) {
            (Some(_), Wanted::File(_) | Wanted::Label(_) | Wanted::Commit(_)) => None,
            (None, _) | (Some(_), Wanted::Branch(_)) => past::find(&self.project, wanted, output)?,
        };
        let found = newest
            .into_iter()
            .chain(past)
            .max_by_key(|baseline| baseline.recorded_unix_s);
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
        let path = self.path(wanted);
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
    let input = Input::open(&Address::whole(path.as_os_str()), output)?;
    if Baseline::looks_like(input.bytes()) {
        return Baseline::read(input.bytes()).map_err(|error| {
            ExpectedError::unreadable(format!("cannot read {}: {error}", path.display()))
                .with_hint("record it again with --update, or take it from the repository")
        });
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
            assert_eq!(Wanted::of(text), expected);
        }
    }

    #[test]
    fn labels_do_not_leave_the_folder() {
        let folder = Folder {
            project: PathBuf::from("/p"),
            baselines: PathBuf::from("/p/.ridge/baselines"),
        };
        let path = |wanted: Wanted| folder.path(&wanted).display().to_string();
        assert_eq!(
            path(Wanted::Label("a".to_owned())),
            "/p/.ridge/baselines/a.json"
        );
        assert_eq!(
            path(Wanted::Branch("feature/../x".to_owned())),
            "/p/.ridge/baselines/branch-feature_.._x.json"
        );
        assert_eq!(
            path(Wanted::Label("..".to_owned())),
            "/p/.ridge/baselines/...json"
        );
    }
}
