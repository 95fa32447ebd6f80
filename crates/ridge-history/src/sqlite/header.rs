//! What a file is, before SQLite opens it: opening alone waits for a pipe, and may write to a database of another program.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{APPLICATION_ID, immutable};
use crate::Error;

/// SQLite has no smaller pages, and writes the first one whole.
const LEAST_PAGE: u64 = 512;

/// What lies there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    /// A file of no bytes.
    Empty,
    /// A database that may be a history.
    Database,
}

/// Looks at a file. It is only read, and nothing is made.
///
/// # Errors
/// When it is something else, or cannot be read.
pub(super) fn look(path: &Path, place: &str) -> Result<Found, Error> {
    let failed = |error: std::io::Error| Error::Open {
        place: place.to_owned(),
        reason: error.to_string(),
    };
    let foreign = |what: &str| Error::Foreign {
        place: place.to_owned(),
        what: what.to_owned(),
    };
    let (kind, size) = match fs::metadata(path) {
        Ok(facts) => (facts.file_type(), facts.len()),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return Err(failed(error)),
        // Links in a circle, or a file where a folder would have to be.
        Err(error) => return Err(foreign(&format!("a path that leads nowhere ({error})"))),
    };
    if kind.is_dir() {
        return Err(foreign("a folder"));
    }
    if !kind.is_file() {
        return Err(foreign("a pipe, a socket or a device, and no regular file"));
    }
    if size == 0 {
        return Ok(Found::Empty);
    }
    // By SQLite, and without locks: a file that this process closes by itself takes along the locks that another connection of
    // the process has on it.
    let header = Connection::open_with_flags(
        immutable(path),
        OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI,
    )
    .and_then(|connection| {
        let number =
            |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        Ok([
            number("application_id")?,
            number("schema_version")?,
            number("user_version")?,
        ])
    });
    match header {
        // A history that is just being made has its mark together with its tables.
        Ok(_) if size < LEAST_PAGE => Err(foreign(
            "a malformed database, of which less than a page is there",
        )),
        Ok([application, schema, version]) => {
            let has_content = [application, schema, version] != [0; 3];
            if application != APPLICATION_ID && has_content {
                return Err(foreign("a database of another program"));
            }
            Ok(Found::Database)
        }
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            Err(foreign("no SQLite database"))
        }
        // Somebody may be writing to it at this moment: whoever opens it with locks says what is wrong.
        Err(_) => Ok(Found::Database),
    }
}
