//! What a file is, before SQLite opens it: opening alone waits for a pipe, and may write to a database of another program.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use super::APPLICATION_ID;
use crate::Error;

/// "The Database Header" of SQLite's file format has 100 bytes and begins with this text.
const MAGIC: &[u8] = b"SQLite format 3\0";
const HEADER: usize = 100;
/// Where it has numbers of four bytes, the first byte the highest.
const SCHEMA_COOKIE: usize = 40;
const USER_VERSION: usize = 60;
const APPLICATION: usize = 68;

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
    let kind = match fs::metadata(path) {
        Ok(facts) => facts.file_type(),
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
    let mut header = Vec::with_capacity(HEADER);
    File::open(path)
        .and_then(|file| file.take(HEADER as u64).read_to_end(&mut header))
        .map_err(failed)?;
    if header.is_empty() {
        return Ok(Found::Empty);
    }
    if !header.starts_with(MAGIC) {
        return Err(foreign("no SQLite database"));
    }
    let number = |at: usize| {
        let bytes = header.get(at..at + 4)?;
        Some(i32::from_be_bytes(bytes.try_into().ok()?))
    };
    let damaged = || Error::Damaged {
        place: place.to_owned(),
        reason: "it is cut off within its first 100 bytes".to_owned(),
    };
    let application = number(APPLICATION).ok_or_else(damaged)?;
    let has_content = [SCHEMA_COOKIE, USER_VERSION].map(number) != [Some(0); 2];
    // A history that is just being made has its mark together with its tables.
    if i64::from(application) != APPLICATION_ID && (application != 0 || has_content) {
        return Err(foreign("a database of another program"));
    }
    Ok(Found::Database)
}
