//! The list of generated files, and the one loop that writes or checks them.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::Error;

/// Everything that is generated. A new kind of file is one line here and one function.
pub const GENERATORS: &[Generator] = &[
    Generator {
        owns: None,
        files: crate::dependencies::files,
    },
    Generator {
        owns: None,
        files: crate::schemas::files,
    },
    Generator {
        owns: None,
        files: crate::bench_spec::files,
    },
    Generator {
        owns: None,
        files: crate::reference::files,
    },
    Generator {
        owns: None,
        files: crate::devices::files,
    },
    Generator {
        owns: None,
        files: crate::checklist::files,
    },
    Generator {
        owns: None,
        files: crate::gallery::files,
    },
    Generator {
        owns: None,
        files: crate::learn::files,
    },
    Generator {
        owns: Some("docs/findings"),
        files: crate::findings::files,
    },
    Generator {
        owns: Some("docs/lint"),
        files: crate::lint::files,
    },
];

/// One source of generated files.
pub struct Generator {
    /// A folder, relative to the root, in which only this generator's files may lie. What else is found there is
    /// left over from something that was renamed or removed.
    pub owns: Option<&'static str>,
    /// Produces the files. It is given the workspace's root.
    pub files: fn(&Path) -> Result<Vec<File>, Error>,
}

/// A generated file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Relative to the workspace's root.
    pub path: PathBuf,
    /// The whole content.
    pub content: String,
}

/// Whether files are written or compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Bring every file up to date.
    Write,
    /// Touch nothing.
    Check,
}

/// A file that was not current before the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Relative to the workspace's root.
    pub path: PathBuf,
    /// What was wrong with it.
    pub reason: Reason,
}

/// Why a file was not current.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It did not exist.
    Missing,
    /// Its content was another one.
    Differs,
    /// Nothing generates it any more.
    LeftOver,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = match self.reason {
            Reason::Missing => "missing",
            Reason::Differs => "differs",
            Reason::LeftOver => "left over",
        };
        write!(f, "{}: {reason}", self.path.display())
    }
}

/// Runs generators and returns what was not current, sorted by path.
pub fn run(root: &Path, generators: &[Generator], mode: Mode) -> Result<Vec<Change>, Error> {
    let mut changes = Vec::new();
    for generator in generators {
        let files = (generator.files)(root)?;
        for file in &files {
            let place = root.join(&file.path);
            let reason = match fs::read(&place) {
                Ok(found) if found == file.content.as_bytes() => continue,
                Ok(_) => Reason::Differs,
                Err(error) if error.kind() == io::ErrorKind::NotFound => Reason::Missing,
                Err(error) => return Err(at(&file.path, &error)),
            };
            if mode == Mode::Write {
                if let Some(folder) = place.parent() {
                    fs::create_dir_all(folder).map_err(|error| at(&file.path, &error))?;
                }
                fs::write(&place, &file.content).map_err(|error| at(&file.path, &error))?;
            }
            changes.push(Change {
                path: file.path.clone(),
                reason,
            });
        }
        if let Some(folder) = generator.owns {
            for path in entries(root, Path::new(folder))? {
                if files.iter().any(|file| file.path == path) {
                    continue;
                }
                if mode == Mode::Write {
                    fs::remove_file(root.join(&path)).map_err(|error| at(&path, &error))?;
                }
                changes.push(Change {
                    path,
                    reason: Reason::LeftOver,
                });
            }
        }
    }
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(changes)
}

/// The files directly in a folder, relative to the root; none if the folder does not exist.
fn entries(root: &Path, folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let listing = match fs::read_dir(root.join(folder)) {
        Ok(listing) => listing,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(at(folder, &error)),
    };
    let mut found = Vec::new();
    for entry in listing {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            found.push(folder.join(entry.file_name()));
        }
    }
    Ok(found)
}

fn at(path: &Path, error: &io::Error) -> Error {
    format!("{}: {error}", path.display()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES: Generator = Generator {
        owns: Some("docs/pages"),
        files: |_| {
            Ok(vec![
                File {
                    path: "docs/pages/a.md".into(),
                    content: "a\n".into(),
                },
                File {
                    path: "docs/pages/b.md".into(),
                    content: "b\n".into(),
                },
            ])
        },
    };

    fn change(path: &str, reason: Reason) -> Change {
        Change {
            path: path.into(),
            reason,
        }
    }

    #[test]
    fn check_lists_what_is_not_current_and_touches_nothing() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("docs/pages");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("b.md"), "old\n").unwrap();
        fs::write(folder.join("gone.md"), "gone\n").unwrap();

        let changes = run(root.path(), &[PAGES], Mode::Check).unwrap();
        assert_eq!(
            changes,
            [
                change("docs/pages/a.md", Reason::Missing),
                change("docs/pages/b.md", Reason::Differs),
                change("docs/pages/gone.md", Reason::LeftOver),
            ]
        );
        assert!(!folder.join("a.md").exists());
        assert_eq!(fs::read_to_string(folder.join("b.md")).unwrap(), "old\n");
        assert!(folder.join("gone.md").exists());
        assert_eq!(changes[1].to_string(), "docs/pages/b.md: differs");
    }

    #[test]
    fn write_makes_everything_current_once() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("docs/pages");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("gone.md"), "gone\n").unwrap();

        assert_eq!(run(root.path(), &[PAGES], Mode::Write).unwrap().len(), 3);
        assert_eq!(fs::read_to_string(folder.join("a.md")).unwrap(), "a\n");
        assert!(!folder.join("gone.md").exists());
        assert_eq!(run(root.path(), &[PAGES], Mode::Write).unwrap(), []);
        assert_eq!(run(root.path(), &[PAGES], Mode::Check).unwrap(), []);
    }

    #[test]
    fn a_failing_generator_fails_the_run() {
        let root = tempfile::tempdir().unwrap();
        let broken = Generator {
            owns: None,
            files: |_| Err("no input".into()),
        };
        assert_eq!(
            run(root.path(), &[broken], Mode::Check)
                .unwrap_err()
                .to_string(),
            "no input"
        );
    }
}
