//! Inputs: files and standard input, plain or compressed, recognised by content.

mod map;

use std::borrow::Cow;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use ridge_model::quantity::Bytes;

use crate::error::ExpectedError;
use crate::filter::Address;
use crate::output::Output;
use map::Map;

/// Below this size a file is read: a map costs more than it saves.
const MAP_FROM_BYTES: u64 = 1 << 20;
/// What is taken at most from what may never end: standard input, pipes and devices. All of it is held in memory, unlike a
/// file, and no report that a profiler writes comes near to this.
const STREAM_LIMIT_BYTES: u64 = 1 << 30;

/// The content of an input.
pub(crate) struct Input {
    storage: Storage,
    is_file_itself: bool,
    /// Why the content is not complete, if it is not.
    pub(crate) problem: Option<ncu_rep::Error>,
}

enum Storage {
    Owned(Vec<u8>),
    Mapped(Map),
}

impl Input {
    /// Opens and unpacks an input.
    pub(crate) fn open(address: &Address, output: &Output) -> Result<Self, ExpectedError> {
        let is_stdin = address.file == "-";
        let storage = if is_stdin {
            read_stdin()?
        } else {
            open_file(address, output)?
        };
        let is_file = !is_stdin && Path::new(&address.file).is_file();
        let bytes = storage.bytes();
        let limit = ncu_rep::default_limit(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        let unpacked = ncu_rep::unpack(bytes, limit);
        let problem = unpacked.problem;
        Ok(match unpacked.bytes {
            Cow::Owned(unpacked) => Self {
                storage: Storage::Owned(unpacked),
                is_file_itself: false,
                problem,
            },
            Cow::Borrowed(_) => Self {
                storage,
                is_file_itself: is_file,
                problem,
            },
        })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.storage.bytes()
    }

    /// Whether the content is that of a file as it lies there, so that others can open it too.
    pub(crate) fn is_file_itself(&self) -> bool {
        self.is_file_itself
    }
}

impl Storage {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Owned(bytes) => bytes,
            Self::Mapped(map) => map.bytes(),
        }
    }
}

fn read_stdin() -> Result<Storage, ExpectedError> {
    let name = "standard input";
    let failed = |error| ExpectedError::unreadable(format!("cannot read {name}: {error}"));
    read_stream(std::io::stdin().lock(), STREAM_LIMIT_BYTES, name, failed)
}

/// Reads what may never end.
fn read_stream(
    stream: impl Read,
    limit_bytes: u64,
    name: &str,
    failed: impl FnOnce(std::io::Error) -> ExpectedError,
) -> Result<Storage, ExpectedError> {
    let mut bytes = Vec::new();
    let read = stream.take(limit_bytes + 1).read_to_end(&mut bytes);
    let length = read.map_err(failed)?;
    if u64::try_from(length).unwrap_or(u64::MAX) > limit_bytes {
        let limit = Bytes::from_count(limit_bytes).binary();
        let message = format!("{name} is no file and gives more than {limit}");
        return Err(ExpectedError::unreadable(message).with_hint(
            "write it to a file and name the file, which may be larger: files are mapped, not read into memory",
        ));
    }
    Ok(Storage::Owned(bytes))
}

fn open_file(address: &Address, output: &Output) -> Result<Storage, ExpectedError> {
    let path = Path::new(&address.file);
    let failed = |error: std::io::Error| {
        let failure =
            ExpectedError::unreadable(format!("cannot read {}: {}", path.display(), plain(&error)));
        match (error.kind(), &address.kernel) {
            (ErrorKind::NotFound, Some(_)) => failure.with_hint(
                "what follows the last # of an input names a kernel; check the path before it",
            ),
            (ErrorKind::NotFound, None) => failure.with_hint(
                "check the path; an input is a report (.ncu-rep) or a CSV export of ncu, and `-` is standard input",
            ),
            (ErrorKind::PermissionDenied, _) => failure
                .with_hint("make it readable for you: a report that was made with sudo belongs to root"),
            _ => failure,
        }
    };
    if output.would_replace(path) {
        return Err(ExpectedError::usage(format!(
            "{} is an input, and --output would replace it",
            path.display()
        ))
        .with_hint("name another file with --output"));
    }
    let mut file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(
            ExpectedError::unreadable(format!("{} is a directory", path.display()))
                .with_hint("name the reports in it, for example with *.ncu-rep"),
        );
    }
    if !metadata.is_file() {
        let name = path.display().to_string();
        return read_stream(file, STREAM_LIMIT_BYTES, &name, failed);
    }
    if metadata.len() >= MAP_FROM_BYTES && output.may_map() {
        return Ok(Storage::Mapped(Map::new(&file).map_err(failed)?));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(failed)?;
    Ok(Storage::Owned(bytes))
}

/// The system's message without its number.
fn plain(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(stream: impl Read, limit_bytes: u64) -> Result<Storage, ExpectedError> {
        let failed = |error: std::io::Error| ExpectedError::unreadable(error.to_string());
        read_stream(stream, limit_bytes, "/dev/zero", failed)
    }

    #[test]
    fn what_never_ends_has_a_limit() {
        let error = read(std::io::repeat(0), 4096).err().unwrap();
        assert_eq!(error.exit, crate::exit::UNREADABLE);
        assert_eq!(
            error.message,
            "/dev/zero is no file and gives more than 4 KiB"
        );
        assert!(error.hint.unwrap().contains("write it to a file"));
        let whole = read(std::io::repeat(7).take(4096), 4096).ok().unwrap();
        assert_eq!(whole.bytes().len(), 4096);
    }
}
