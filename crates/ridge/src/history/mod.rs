//! Past results: where they are kept, and how a result gets there.

mod place;
mod record;
mod spool;

use ridge_history::Error;

use crate::error::ExpectedError;
use crate::exit;

pub(crate) use place::{Opened, Project, StorePlace};
pub(crate) use record::{Recording, Taken, now};
pub(crate) use spool::Spool;

/// What users hear of an error of the history.
pub(crate) fn expected(error: &Error) -> ExpectedError {
    let message = match error {
        Error::Missing { place } => format!("there is no history yet: {place} does not exist"),
        Error::Empty { place } => format!("there is no history yet: {place} holds nothing"),
        error => format!("failed to {error}"),
    };
    let (exit, hint) = match error {
        Error::Open { .. } => (
            exit::UNABLE,
            Some("name another file with --store FILE or RIDGE_HISTORY"),
        ),
        Error::Foreign { .. } => (
            exit::UNREADABLE,
            Some(
                "name another file with --store FILE or RIDGE_HISTORY; this one was left as it is",
            ),
        ),
        Error::Missing { .. } | Error::Empty { .. } => (
            exit::UNREADABLE,
            Some("`ridge bench SPEC --record` starts one; --store or RIDGE_HISTORY names another"),
        ),
        Error::Newer { .. } => (
            exit::UNABLE,
            Some(
                "use a newer version of ridge, or another store; this one can still be read, and exported",
            ),
        ),
        Error::ReadOnly { .. } => (
            exit::UNABLE,
            Some("ask for the right to write, or name another store with --store or RIDGE_HISTORY"),
        ),
        Error::Busy { .. } => (
            exit::UNABLE,
            Some("try again when the other process is done"),
        ),
        Error::Full { .. } => (
            exit::UNABLE,
            Some("free some space; `ridge history prune --before 90d` removes old results"),
        ),
        Error::Damaged { .. } => (
            exit::UNREADABLE,
            Some(
                "copy what can still be read with `ridge history export`, and import it into a new store",
            ),
        ),
        Error::Connection { .. } => (
            exit::UNABLE,
            Some(
                "see whether the server runs and the address is right; results are kept here until it is reached",
            ),
        ),
        Error::Encryption { .. } => (
            exit::UNABLE,
            Some(
                "have TLS switched on at the server, or name its authority with sslrootcert=FILE in the address where this machine does not trust it; docs/history.md has all modes, and results are kept here until it is reached",
            ),
        ),
        Error::Refused { .. } => (
            exit::UNABLE,
            Some(
                "see whether user, password (PGPASSWORD) and database are right, and whether the user may create a schema; docs/history.md tells what the server needs",
            ),
        ),
        Error::Address(_) => (
            exit::USAGE,
            Some("write it as postgres://USER@HOST:PORT/DATABASE, with the password in PGPASSWORD"),
        ),
        Error::Document(_) => (
            exit::UNREADABLE,
            Some(
                "name what `ridge bench`, `why`, `timeline` or `ceilings` wrote with --format json, or what `ridge history export` wrote",
            ),
        ),
        Error::Line { .. } => (
            exit::UNREADABLE,
            Some(
                "results of the lines before it are stored; export the file again where it comes from",
            ),
        ),
        Error::Implausible(_) => (
            exit::UNREADABLE,
            Some("correct the clock or the time of the file, and make or import the result again"),
        ),
        // A limit of the server or of the machine that it runs on.
        Error::Query { .. } => (
            exit::UNABLE,
            Some("see what the database says, and try again when that is mended"),
        ),
        Error::Label { .. } | Error::Time(_) | Error::Id(_) | Error::Kind(_) => (exit::USAGE, None),
        Error::Stream { .. } => (exit::UNABLE, None),
        // Nothing that users do leads here.
        _ => (exit::INTERNAL, None),
    };
    ExpectedError {
        message,
        hint: hint.map(str::to_owned),
        exit,
        excerpt: None,
    }
}
