//! Which project a folder belongs to.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The settings of a project.
pub(crate) const SETTINGS: &str = "ridge.toml";
/// The folder in a project that is Ridgepoint's.
pub(crate) const FOLDER: &str = ".ridge";

/// The root of the project: the nearest folder from here upwards with `ridge.toml`, else with `.ridge`, else the root of the git
/// repository, else the folder itself. What lies outside of the repository belongs to somebody else.
pub(crate) fn root(here: &Path) -> PathBuf {
    let mut within: Vec<&Path> = Vec::new();
    let mut repository = None;
    for folder in here.ancestors() {
        within.push(folder);
        if folder.join(".git").exists() {
            repository = Some(folder);
            break;
        }
    }
    // A link that leads nowhere is there too: whoever reads it says so.
    let nearest = |name: &str| {
        within
            .iter()
            .copied()
            .find(|folder| folder.join(name).symlink_metadata().is_ok())
    };
    nearest(SETTINGS)
        .or_else(|| nearest(FOLDER))
        .or(repository)
        .unwrap_or(here)
        .to_owned()
}

/// What of the folder is not source: a history would make every next result one of changed files, and progress is a person's.
const IGNORED: &str = "/.gitignore\n/history.db*\n/spool/\n/learn.json*\n";
/// What earlier versions wrote.
const IGNORED_BEFORE: &str = "/.gitignore\n/history.db*\n/spool/\n";

/// Makes the folder that is Ridgepoint's, which keeps itself out of version control. Lines that somebody changed stay.
pub(crate) fn prepare(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let ignore = folder.join(".gitignore");
    let is_ours = match fs::read_to_string(&ignore) {
        Ok(text) => text == IGNORED_BEFORE,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if is_ours {
        // What is kept in the folder is worth more than that git leaves it out.
        let _ = fs::write(ignore, IGNORED);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_ends_the_search() {
        let outer = tempfile::tempdir().unwrap();
        let inner = outer.path().join("inner");
        let below = inner.join("a/b");
        fs::create_dir_all(&below).unwrap();
        fs::create_dir(inner.join(".git")).unwrap();
        fs::write(outer.path().join(SETTINGS), "").unwrap();
        assert_eq!(root(&below), inner);
        fs::create_dir(inner.join("a").join(FOLDER)).unwrap();
        assert_eq!(root(&below), inner.join("a"));
        // Settings go before what was only kept somewhere.
        fs::write(inner.join(SETTINGS), "").unwrap();
        assert_eq!(root(&below), inner);
        #[cfg(unix)]
        {
            fs::remove_file(inner.join(SETTINGS)).unwrap();
            std::os::unix::fs::symlink(SETTINGS, inner.join(SETTINGS)).unwrap();
            assert_eq!(root(&below), inner);
        }
        assert_eq!(root(outer.path()), outer.path());
    }

    #[test]
    fn the_folder_keeps_itself_out_of_version_control() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join(FOLDER);
        let ignore = folder.join(".gitignore");
        for (before, after) in [
            (None, IGNORED),
            (Some(IGNORED_BEFORE), IGNORED),
            (Some("mine\n"), "mine\n"),
        ] {
            if let Some(before) = before {
                fs::write(&ignore, before).unwrap();
            }
            prepare(&folder).unwrap();
            assert_eq!(fs::read_to_string(&ignore).unwrap(), after);
        }
    }
}
