//! Which project this is, and which store is meant.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use ridge_history::{SqliteStore, Store};
use toml::de::{DeTable, DeValue};

use super::expected;
use crate::error::ExpectedError;
use crate::output::Output;
use crate::project::{FOLDER, SETTINGS, root};

/// What names a store.
const VARIABLE: &str = "RIDGE_HISTORY";

/// The project that the current folder belongs to.
#[derive(Debug)]
pub(crate) struct Project {
    root: PathBuf,
    store: Option<String>,
    records: bool,
}

impl Project {
    /// The project that the current folder belongs to.
    pub(crate) fn find(output: &Output) -> Result<Self, ExpectedError> {
        let here = env::current_dir().map_err(|error| {
            ExpectedError::unable(format!("cannot tell the current folder: {error}"))
        })?;
        Self::of(&here, output)
    }

    /// The project that a folder belongs to.
    pub(crate) fn of(here: &Path, output: &Output) -> Result<Self, ExpectedError> {
        let root = root(here);
        let mut project = Self {
            root,
            store: None,
            records: false,
        };
        project.read_settings(output)?;
        Ok(project)
    }

    /// Whether every result is recorded.
    pub(crate) fn records(&self) -> bool {
        self.records
    }

    /// The folder for what Ridgepoint keeps here.
    pub(crate) fn folder(&self) -> PathBuf {
        self.root.join(FOLDER)
    }

    /// The store: what an option names, else the environment, else the settings, else the file of the project.
    pub(crate) fn store(&self, option: Option<&OsStr>) -> StorePlace {
        let variable = env::var_os(VARIABLE).filter(|value| !value.is_empty());
        let named = option.map(OsStr::to_owned).or(variable);
        let setting = || {
            let store = self.store.as_ref()?;
            Some(if is_server(OsStr::new(store)) {
                OsString::from(store)
            } else {
                // A file of the settings lies where the settings lie.
                self.root.join(store).into_os_string()
            })
        };
        match named.or_else(setting) {
            Some(named) if is_server(&named) => {
                StorePlace::Server(named.to_string_lossy().into_owned())
            }
            Some(named) => StorePlace::File(PathBuf::from(named)),
            None => StorePlace::Own(self.folder().join("history.db")),
        }
    }

    fn read_settings(&mut self, output: &Output) -> Result<(), ExpectedError> {
        let path = self.root.join(SETTINGS);
        let Ok(text) = std::fs::read_to_string(&path) else {
            return Ok(());
        };
        let wrong = |reason: &str| {
            ExpectedError::unreadable(format!("cannot read {}: {reason}", path.display()))
                .with_hint("`[history]` has the keys store (a file or an address) and record (true or false)")
        };
        let table = DeTable::parse(&text).map_err(|error| wrong(error.message()))?;
        let Some(history) = table.get_ref().get("history") else {
            return Ok(());
        };
        let Some(history) = history.get_ref().as_table() else {
            return Err(wrong("history is no table"));
        };
        for (key, value) in history {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("store", DeValue::String(store)) => self.store = Some(store.clone().into_owned()),
                ("record", DeValue::Boolean(records)) => self.records = *records,
                ("store", _) => return Err(wrong("history.store is no text")),
                ("record", _) => return Err(wrong("history.record is neither true nor false")),
                (other, _) => output.warn(&format!(
                    "{}: history.{other} is not known and left out",
                    path.display()
                )),
            }
        }
        Ok(())
    }
}

fn is_server(text: &OsStr) -> bool {
    ["postgres://", "postgresql://"]
        .iter()
        .any(|scheme| text.as_encoded_bytes().starts_with(scheme.as_bytes()))
}

/// Where a store is.
#[derive(Clone, Debug)]
pub(crate) enum StorePlace {
    /// The file of the project.
    Own(PathBuf),
    /// A file of one's choice.
    File(PathBuf),
    /// A server, with everything that the address holds: it is never shown.
    Server(String),
}

/// An open store.
pub(crate) type Opened = Box<dyn Store>;

impl StorePlace {
    /// What is meant by a word: an address or a file.
    pub(crate) fn named(word: &OsStr) -> Self {
        if is_server(word) {
            Self::Server(word.to_string_lossy().into_owned())
        } else {
            Self::File(PathBuf::from(word))
        }
    }

    /// Whether the address can be one, which is better known before something is measured for an hour.
    pub(crate) fn check(&self) -> Result<(), ExpectedError> {
        match self {
            Self::Own(_) | Self::File(_) => Ok(()),
            Self::Server(address) => shown(address).map(drop),
        }
    }

    /// Opens the store; makes it where there is none.
    pub(crate) fn open(&self) -> Result<Opened, ridge_history::Error> {
        match self {
            Self::Own(path) => {
                prepare_folder(path);
                Ok(Box::new(SqliteStore::open(path)?))
            }
            Self::File(path) => Ok(Box::new(SqliteStore::open(path)?)),
            Self::Server(address) => connect(address),
        }
    }

    /// Opens the store for looking at it: nothing is made.
    pub(crate) fn open_existing(&self) -> Result<Opened, ExpectedError> {
        let (Self::Own(path) | Self::File(path)) = self else {
            return self.open().map_err(|error| expected(&error));
        };
        if !path.exists() {
            return Err(ExpectedError::unreadable(format!(
                "there is no history yet: {} does not exist",
                path.display()
            ))
            .with_hint(
                "`ridge bench SPEC --record` starts one; --store or RIDGE_HISTORY names another",
            ));
        }
        match SqliteStore::open_existing(path) {
            Ok(store) => Ok(Box::new(store)),
            Err(error) => Err(expected(&error)),
        }
    }
}

/// The folder of the project keeps itself out of version control: a history is not source, and would make every next result
/// one of changed files.
fn prepare_folder(store: &Path) {
    let Some(folder) = store.parent() else {
        return;
    };
    let ignore = folder.join(".gitignore");
    // Where it cannot be written, opening the store says why.
    if std::fs::create_dir_all(folder).is_ok() && !ignore.exists() {
        let _ = std::fs::write(ignore, "/.gitignore\n/history.db*\n/spool/\n");
    }
}

#[cfg(feature = "postgres")]
fn connect(address: &str) -> Result<Opened, ridge_history::Error> {
    let password = env::var("PGPASSWORD").ok();
    let store = ridge_history::postgres::PostgresStore::open(address, password.as_deref())?;
    Ok(Box::new(store))
}

#[cfg(not(feature = "postgres"))]
fn connect(_address: &str) -> Result<Opened, ridge_history::Error> {
    Err(ridge_history::Error::Address(
        "this build of ridge has no client of PostgreSQL".to_owned(),
    ))
}

/// The address without its secrets.
#[cfg(feature = "postgres")]
pub(crate) fn shown(address: &str) -> Result<String, ExpectedError> {
    ridge_history::postgres::shown_address(address).map_err(|error| expected(&error))
}

#[cfg(not(feature = "postgres"))]
pub(crate) fn shown(_address: &str) -> Result<String, ExpectedError> {
    Err(
        ExpectedError::unable("this build of ridge has no client of PostgreSQL")
            .with_hint("build it with the feature `postgres`, which is on by default"),
    )
}
