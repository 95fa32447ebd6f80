//! Which project this is, and which store is meant.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use ridge_history::address::is_address;
use ridge_history::{Error, SqliteStore, Store};
use toml::de::{DeTable, DeValue};

use super::expected;
use crate::error::ExpectedError;
use crate::output::Output;
use crate::project::{FOLDER, SETTINGS, prepare, root};
use crate::small_file::{self, MOST_OF_SETTINGS};

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
        Self::of(&here()?, output)
    }

    /// The same for a store that an option may name. Settings are not needed, and not read, where the store is named.
    pub(crate) fn find_for(option: Option<&OsStr>, output: &Output) -> Result<Self, ExpectedError> {
        if option.is_some_and(OsStr::is_empty) {
            return Err(ExpectedError::usage("--store is given, and names nothing")
                .with_hint("name a file or an address with it, or leave it out"));
        }
        if named(option).is_none() {
            return Self::find(output);
        }
        Ok(Self::without_settings(&here()?))
    }

    /// The project that a folder belongs to.
    pub(crate) fn of(here: &Path, output: &Output) -> Result<Self, ExpectedError> {
        let mut project = Self::without_settings(here);
        project.read_settings(output)?;
        Ok(project)
    }

    fn without_settings(here: &Path) -> Self {
        Self {
            root: root(here),
            store: None,
            records: false,
        }
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
        let setting = || {
            let store = self.store.as_ref()?;
            Some(if is_server(OsStr::new(store)) {
                OsString::from(store)
            } else {
                // A file of the settings lies where the settings lie.
                self.root.join(store).into_os_string()
            })
        };
        match named(option).or_else(setting) {
            Some(named) => StorePlace::named(&named),
            None => StorePlace::Own(self.folder().join("history.db")),
        }
    }

    fn read_settings(&mut self, output: &Output) -> Result<(), ExpectedError> {
        let path = self.root.join(SETTINGS);
        let wrong = |reason: &str| {
            ExpectedError::unreadable(format!("cannot read {}: {reason}", path.display()))
                .with_hint("`[history]` has the keys store (a file or an address) and record (true or false)")
        };
        let Some(text) =
            small_file::text(&path, MOST_OF_SETTINGS).map_err(|reason| wrong(&reason))?
        else {
            return Ok(());
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
                ("store", DeValue::String(store)) if store.trim().is_empty() => {
                    return Err(wrong("history.store is empty, and names no store"));
                }
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

fn here() -> Result<PathBuf, ExpectedError> {
    env::current_dir()
        .map_err(|error| ExpectedError::unable(format!("cannot tell the current folder: {error}")))
}

/// The store that is named beside the settings: by an option, else by the environment.
fn named(option: Option<&OsStr>) -> Option<OsString> {
    let variable = || env::var_os(VARIABLE).filter(|value| !value.is_empty());
    option.map(OsStr::to_owned).or_else(variable)
}

fn is_server(text: &OsStr) -> bool {
    is_address(&text.to_string_lossy())
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
    pub(crate) fn open(&self) -> Result<Opened, Error> {
        match self {
            Self::Own(path) => {
                // Where it cannot be made, opening the store says why.
                if let Some(folder) = path.parent() {
                    let _ = prepare(folder);
                }
                Ok(Box::new(SqliteStore::open(path)?))
            }
            Self::File(path) => Ok(Box::new(SqliteStore::open(path)?)),
            Self::Server(address) => connect(address, Purpose::Write),
        }
    }

    /// Opens the store for looking at it: nothing is made.
    pub(crate) fn open_existing(&self) -> Result<Opened, ExpectedError> {
        self.existing().map_err(|error| expected(&error))
    }

    /// The same; `None` where there is no history yet.
    pub(crate) fn look(&self) -> Result<Option<Opened>, ExpectedError> {
        match self.existing() {
            Ok(store) => Ok(Some(store)),
            Err(Error::Missing { .. } | Error::Empty { .. }) => Ok(None),
            Err(error) => Err(expected(&error)),
        }
    }

    fn existing(&self) -> Result<Opened, Error> {
        match self {
            Self::Own(path) | Self::File(path) => Ok(Box::new(SqliteStore::open_existing(path)?)),
            Self::Server(address) => connect(address, Purpose::Look),
        }
    }
}

/// What a connection is for.
#[derive(Clone, Copy)]
enum Purpose {
    /// The history is made where there is none.
    Write,
    Look,
}

#[cfg(feature = "postgres")]
fn connect(address: &str, purpose: Purpose) -> Result<Opened, Error> {
    use ridge_history::postgres::PostgresStore;
    let password = env::var("PGPASSWORD").ok();
    let open = match purpose {
        Purpose::Write => PostgresStore::open,
        Purpose::Look => PostgresStore::open_existing,
    };
    Ok(Box::new(open(address, password.as_deref())?))
}

#[cfg(not(feature = "postgres"))]
fn connect(_address: &str, _purpose: Purpose) -> Result<Opened, Error> {
    Err(Error::Address(
        "this build of ridge has no client of PostgreSQL".to_owned(),
    ))
}

/// The address without its secrets.
#[cfg(feature = "postgres")]
fn shown(address: &str) -> Result<String, ExpectedError> {
    ridge_history::postgres::shown_address(address).map_err(|error| expected(&error))
}

#[cfg(not(feature = "postgres"))]
fn shown(_address: &str) -> Result<String, ExpectedError> {
    Err(
        ExpectedError::unable("this build of ridge has no client of PostgreSQL")
            .with_hint("build it with the feature `postgres`, which is on by default"),
    )
}
