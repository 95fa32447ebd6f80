//! The state of the source, as git tells it.

use std::path::Path;
use std::process::{Command, Stdio};

use ridge_history::Revision;

/// Asks git about the repository that a folder is in. What it does not tell is absent: there may be no git, no repository and no
/// commit.
pub(crate) fn revision(folder: &Path) -> Revision {
    let answer = |arguments: &[&str]| answer(folder, arguments);
    let ask = |arguments: &[&str]| answer(arguments).filter(|answer| !answer.is_empty());
    let Some(commit) = ask(&["rev-parse", "--verify", "--quiet", "HEAD"]) else {
        return Revision::default();
    };
    Revision {
        commit: Some(commit),
        branch: ask(&["symbolic-ref", "--quiet", "--short", "HEAD"]),
        // Files that git does not know are no part of a commit: builds and results lie around everywhere.
        is_dirty: answer(&["status", "--porcelain", "--untracked-files=no"])
            .map(|changes| !changes.is_empty()),
    }
}

fn answer(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        // Looking does not write: an index that is refreshed in the middle of somebody's rebase would.
        .env("GIT_OPTIONAL_LOCKS", "0")
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
