//! Which commit is checked out, as `git` says it.

use std::path::Path;
use std::process::{Command, Stdio};

/// The state of a repository; what git does not say is absent.
#[derive(Default)]
pub(super) struct CheckedOut {
    pub(super) commit: Option<String>,
    pub(super) branch: Option<String>,
}

impl CheckedOut {
    /// Of the repository that a folder is in.
    pub(super) fn in_folder(folder: &Path) -> Self {
        let ask = |arguments: &[&str]| {
            let answer = Command::new("git")
                .arg("-C")
                .arg(folder)
                .args(arguments)
                .stdin(Stdio::null())
                .stderr(Stdio::null())
                .output()
                .ok()
                .filter(|answer| answer.status.success())?;
            let text = String::from_utf8(answer.stdout).ok()?;
            Some(text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        Self {
            commit: ask(&["rev-parse", "--verify", "HEAD"]),
            // Nothing on a detached head.
            branch: ask(&["symbolic-ref", "--short", "--quiet", "HEAD"]),
        }
    }
}
