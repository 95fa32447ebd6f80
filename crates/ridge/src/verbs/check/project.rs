//! The project that is checked: its `ridge.toml` and its folder.

use std::path::{Path, PathBuf};

use ridge_compare::check::Config;

use super::results::Spec;
use crate::error::{Excerpt, ExpectedError};
use crate::project::{SETTINGS, root};
use crate::small_file::{self, MOST_OF_SETTINGS};

/// A folder with what its `ridge.toml` says.
pub(super) struct Project {
    /// The folder of the file; without one, the root of the project.
    pub(super) folder: PathBuf,
    /// The file as people know it.
    pub(super) file: Option<String>,
    pub(super) config: Config,
}

impl Project {
    /// Reads the file that is named, or that of the project which the working folder belongs to.
    pub(super) fn find(named: Option<&Path>) -> Result<Self, ExpectedError> {
        let working = std::env::current_dir().map_err(|error| {
            ExpectedError::unable(format!("cannot find the working folder: {error}"))
        })?;
        if let Some(path) = named {
            let path = working.join(path);
            return Self::read(&path, &working);
        }
        let folder = root(&working);
        let settings = folder.join(SETTINGS);
        if settings.symlink_metadata().is_ok() {
            return Self::read(&settings, &working);
        }
        Ok(Self {
            folder,
            file: None,
            config: Config::default(),
        })
    }

    fn read(path: &Path, working: &Path) -> Result<Self, ExpectedError> {
        let shown = path
            .strip_prefix(working)
            .unwrap_or(path)
            .display()
            .to_string();
        let failed = |reason: String| {
            ExpectedError::unreadable(format!("cannot read {shown}: {reason}"))
                .with_hint("`ridge check --help` has an example of what it holds")
        };
        let text = small_file::text(path, MOST_OF_SETTINGS)
            .and_then(|text| text.ok_or_else(|| "there is no such file".to_owned()))
            .map_err(failed)?;
        let config = Config::read(&text).map_err(|error| {
            let message = match error.place() {
                Some(place) => format!("{shown}:{}:{}: {error}", place.line, place.column),
                None => format!("{shown}: {error}"),
            };
            let mut expected = ExpectedError::usage(message);
            expected.hint = error.hint().map(str::to_owned);
            expected.excerpt = error.place().map(|place| {
                Box::new(Excerpt {
                    line: place.line,
                    text: place.text.clone(),
                    column: place.column,
                    width: place.width,
                })
            });
            expected
        })?;
        Ok(Self {
            folder: path.parent().unwrap_or(Path::new(".")).to_path_buf(),
            file: Some(shown),
            config,
        })
    }

    /// The specs that the file names.
    pub(super) fn specs(&self) -> Vec<Spec> {
        self.config
            .specs
            .iter()
            .map(|spec| Spec {
                path: self.folder.join(spec),
                only: None,
            })
            .collect()
    }
}
