//! What every store does, and what becomes of a store when something around it fails.
//!
//! The suite runs on files always, and on a PostgreSQL server that it starts: on a free port of the loopback, in a folder of
//! its own. `RIDGE_POSTGRES` names the folder of the server's programs and makes those tests required.

mod faults;
mod samples;
#[cfg(feature = "postgres")]
mod server;
mod suite;

use std::path::PathBuf;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use ridge_history::{SqliteStore, Store};

/// A place for a store, which can be opened several times.
pub(crate) trait Place {
    fn open(&self) -> Box<dyn Store>;
}

struct File {
    folder: tempfile::TempDir,
}

impl File {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("a project/.ridge/history.db")
    }
}

impl Place for File {
    fn open(&self) -> Box<dyn Store> {
        Box::new(SqliteStore::open(&self.path()).unwrap())
    }
}

fn main() -> ExitCode {
    // The process that is killed in the middle of writing is this program itself.
    if let Some(code) = faults::child() {
        return code;
    }
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for (name, case) in suite::CASES {
        trials.push(Trial::test(format!("sqlite::{name}"), move || {
            case(&File::new());
            Ok(())
        }));
    }
    for (name, case) in faults::CASES {
        trials.push(Trial::test(format!("sqlite::{name}"), move || {
            case(&File::new().path());
            Ok(())
        }));
    }
    #[cfg(feature = "postgres")]
    server::add(&mut trials, !arguments.list);
    let conclusion = libtest_mimic::run(&arguments, trials);
    #[cfg(feature = "postgres")]
    server::stop();
    conclusion.exit_code()
}
