//! Recording: a result of this run into the store.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use ridge_collect::ncu::quote;
use ridge_history::address::without_secrets;
use ridge_history::{Circumstances, Labels, Record, Timestamp};
use ridge_model::quantity::counted;
use serde::Serialize;

use super::{Project, Spool, StorePlace, expected};
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::git;
use crate::output::Output;

/// Whether the result of a run is recorded, as the command line says it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recording {
    /// The labels of `--record`; absent without the option.
    pub(crate) asked: Option<Labels>,
}

/// What a run is recorded with: everything that is told before it begins.
pub(crate) struct Taken {
    project: Project,
    place: StorePlace,
    circumstances: Circumstances,
}

impl Recording {
    /// Looks at the circumstances before the run: the source may change while it goes on. `None` where nothing is recorded.
    pub(crate) fn begin(&self, output: &Output) -> Result<Option<Taken>, ExpectedError> {
        let project = match Project::find(output) {
            Ok(project) => project,
            // Who does not record does not need the settings either.
            Err(error) if self.asked.is_some() => return Err(error),
            Err(error) => {
                output.warn(&format!("{}; nothing is recorded", error.message));
                return Ok(None);
            }
        };
        if self.asked.is_none() && !project.records() {
            return Ok(None);
        }
        let place = project.store(None);
        place.check()?;
        Ok(Some(Taken {
            place,
            circumstances: Circumstances {
                time: Some(now()),
                host: host(),
                revision: git::revision(Path::new("."), output),
                command: Some(command()),
                labels: self.asked.clone().unwrap_or_default(),
                driver: None,
                tool_version: Some(env!("CARGO_PKG_VERSION").to_owned()),
                name: None,
            },
            project,
        }))
    }
}

impl Taken {
    /// Adds the driver, where the document does not tell it.
    pub(crate) fn with_driver(mut self, driver: Option<String>) -> Self {
        self.circumstances.driver = driver;
        self
    }

    /// Stores a result. Whatever becomes of that, the answer has been written before: no measurement is lost by it.
    ///
    /// A store that cannot be written to is no failure of the run as long as the result is kept here.
    pub(crate) fn store(self, document: &impl Serialize, output: &Output) -> Code {
        match self.try_store(document, output) {
            Ok(()) => exit::FINE,
            Err(error) => {
                output.complain(&error);
                error.exit
            }
        }
    }

    fn try_store(self, document: &impl Serialize, output: &Output) -> Result<(), ExpectedError> {
        let mut json = Vec::new();
        ridge_render::json::write(document, &mut json).map_err(|error| {
            ExpectedError::internal(format!("cannot write the document: {error}"))
        })?;
        let record =
            Record::of_document(&json, self.circumstances).map_err(|error| expected(&error))?;
        let spool = Spool::of(&self.project);
        let outcome = self.place.open().and_then(|mut store| {
            let inserted = store.insert(std::slice::from_ref(&record))?;
            Ok((store, inserted))
        });
        match outcome {
            Ok((mut store, _)) => {
                output.note(&format!(
                    "recorded as {} in {}",
                    record.head.id.short(),
                    store.place()
                ));
                match spool.send(store.as_mut(), output) {
                    Ok(sent) if sent.added + sent.known > 0 => output.note(&format!(
                        "sent {} that waited in {}",
                        counted(sent.added + sent.known, "result"),
                        spool.folder().display()
                    )),
                    Ok(_) => {}
                    // They wait for the next time.
                    Err(error) => output.warn(&format!("failed to {error}")),
                }
                Ok(())
            }
            Err(error) if error.is_of_store() => {
                let path = spool.keep(&record).map_err(|second| {
                    // Both are said: the first is what has to be mended.
                    let first = expected(&error);
                    ExpectedError {
                        message: format!(
                            "the result is recorded nowhere: {}; {}",
                            first.message, second.message
                        ),
                        hint: first.hint,
                        exit: exit::UNABLE,
                        excerpt: None,
                    }
                })?;
                output.warn(&format!("failed to {error}"));
                output.note(&format!(
                    "the result is kept in {}; the next one that is recorded takes it along, and `ridge history send` sends it",
                    path.display()
                ));
                Ok(())
            }
            Err(error) => Err(expected(&error)),
        }
    }
}

/// The present.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_micros());
    Timestamp::from_micros(i64::try_from(since).unwrap_or(i64::MAX))
}

/// The name of this machine; absent where the system does not tell.
pub(crate) fn host() -> Option<String> {
    let told = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    told.or_else(|| std::env::var("HOSTNAME").ok())
        .or_else(|| std::env::var("COMPUTERNAME").ok())
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
}

/// The command line as a shell takes it. Addresses of servers lose their passwords.
fn command() -> String {
    std::env::args_os()
        .enumerate()
        .map(|(place, word)| {
            let word = word.to_string_lossy();
            if place == 0 {
                // Where the command lies says nothing about the result.
                return "ridge".to_owned();
            }
            quote(&without_secrets(&word))
        })
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_a_shell_takes_them() {
        assert_eq!(quote("--axis=n=1,2"), "--axis=n=1,2");
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(quote(""), "''");
    }
}
