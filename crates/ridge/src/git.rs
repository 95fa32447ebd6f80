//! The state of the source, as git tells it.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use ridge_history::Revision;

use crate::output::Output;
use crate::process::{Answer, ask};

/// How long git may take for an answer. Large work trees on a network take seconds.
const LIMIT: Duration = Duration::from_secs(10);
/// No commit and no branch has a longer name, and of changed files it counts that there are some.
const MOST_BYTES: u64 = 16 << 10;

/// Asks git about the repository that a folder is in. What it does not tell is absent: there may be no git, no repository and no
/// commit.
pub(crate) fn revision(folder: &Path, output: &Output) -> Revision {
    let (revision, is_complete) = asked(Path::new("git"), folder, LIMIT);
    if !is_complete {
        output.warn(&format!(
            "git did not answer within {} s: the result does not tell all of commit, branch and changed files",
            LIMIT.as_secs()
        ));
    }
    revision
}

/// What a git tells, and whether it did so in time. Nothing more is asked when it did not: the next answer takes as long.
fn asked(git: &Path, folder: &Path, limit: Duration) -> (Revision, bool) {
    let ask = |arguments: &[&str]| -> Result<Option<String>, ()> {
        let mut command = Command::new(git);
        command
            // Looking does not write: an index that is refreshed in the middle of somebody's rebase would.
            .env("GIT_OPTIONAL_LOCKS", "0")
            .arg("-C")
            .arg(folder)
            .args(arguments);
        match ask(&mut command, limit, MOST_BYTES) {
            Ok(Answer::Said(said)) => Ok(Some(String::from_utf8_lossy(&said).trim().to_owned())),
            Ok(Answer::Failed) | Err(_) => Ok(None),
            Ok(Answer::TimedOut) => Err(()),
        }
    };
    let named = |arguments: &[&str]| Ok(ask(arguments)?.filter(|answer| !answer.is_empty()));
    let mut revision = Revision::default();
    let mut fill = || -> Result<(), ()> {
        revision.commit = named(&["rev-parse", "--verify", "--quiet", "HEAD"])?;
        if revision.commit.is_some() {
            revision.branch = named(&["symbolic-ref", "--quiet", "--short", "HEAD"])?;
            // Files that git does not know are no part of a commit: builds and results lie around everywhere.
            revision.is_dirty = ask(&["status", "--porcelain", "--untracked-files=no"])?
                .map(|changes| !changes.is_empty());
        }
        Ok(())
    };
    let is_complete = fill().is_ok();
    (revision, is_complete)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn git(script: &str) -> (Revision, bool) {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("git");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        asked(&path, folder.path(), Duration::from_millis(2000))
    }

    #[test]
    fn a_git_that_hangs_or_talks_for_ever_is_ended() {
        assert_eq!(git("sleep 100"), (Revision::default(), false));
        assert_eq!(git("exit 128"), (Revision::default(), true));
        let (revision, is_complete) = git(
            "case \"$3\" in rev-parse) echo 1f0c;; symbolic-ref) echo main;; status) exec yes ' M file';; esac",
        );
        assert!(is_complete);
        assert_eq!(revision.commit.as_deref(), Some("1f0c"));
        assert_eq!(revision.branch.as_deref(), Some("main"));
        assert_eq!(revision.is_dirty, Some(true));
        let (revision, is_complete) = git(
            "case \"$3\" in rev-parse) echo 1f0c;; symbolic-ref) exit 1;; status) sleep 100;; esac",
        );
        assert!(!is_complete);
        assert_eq!(revision.commit.as_deref(), Some("1f0c"));
        assert_eq!((revision.branch, revision.is_dirty), (None, None));
    }
}
