//! The files of a run's processes as one recording: whole chunks are copied, one at a time.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use ridge_injection::format::{CHUNK_HEADER_BYTES, HEADER_BYTES, MOST_PAYLOAD_BYTES, header};
use ridge_trace::native::{self, Chunks, Run};

use crate::demangle::demangle;

/// Writes a recording.
///
/// What a file holds behind its last whole chunk is left out; that its process did not end is said by its status. A
/// file that cannot be read is left out as a whole, and handed back with the reason.
pub(crate) fn collect(
    run: &Run,
    files: &[PathBuf],
    sink: &mut dyn Write,
) -> io::Result<Vec<(PathBuf, io::Error)>> {
    sink.write_all(&header())?;
    sink.write_all(&run.chunk())?;
    let mut unread = Vec::new();
    for path in files {
        match Part::open(path) {
            Ok(mut part) => {
                while let Some(bytes) = part.next_chunk() {
                    write_chunk(bytes, sink)?;
                }
            }
            Err(error) => unread.push((path.clone(), error)),
        }
    }
    Ok(unread)
}

/// Names are written as programmers wrote them, and places of the machine are left out.
fn write_chunk(bytes: &[u8], sink: &mut dyn Write) -> io::Result<()> {
    let Some(chunk) = Chunks::new(bytes).ok().and_then(|mut chunks| chunks.next()) else {
        return Ok(());
    };
    let rename = |name: &str| name.starts_with("_Z").then(|| demangle(name).into_owned());
    let other = native::with_names(&chunk, rename).or_else(|| native::without_places(&chunk));
    sink.write_all(other.as_deref().unwrap_or(chunk.bytes))
}

/// A file of a process.
struct Part {
    file: BufReader<File>,
    /// The header of a file, then one chunk.
    buffer: Vec<u8>,
}

impl Part {
    fn open(path: &Path) -> io::Result<Self> {
        let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
        let mut buffer = vec![0; HEADER_BYTES];
        file.read_exact(&mut buffer)?;
        Ok(Self { file, buffer })
    }

    /// The next whole chunk, behind a header.
    fn next_chunk(&mut self) -> Option<&[u8]> {
        self.buffer.truncate(HEADER_BYTES);
        let mut head = [0; CHUNK_HEADER_BYTES];
        self.file.read_exact(&mut head).ok()?;
        let [_, _, _, _, l0, l1, l2, l3, ..] = head;
        let length = u32::from_le_bytes([l0, l1, l2, l3]);
        if length > MOST_PAYLOAD_BYTES {
            return None;
        }
        self.buffer.extend_from_slice(&head);
        let read = (&mut self.file)
            .take(u64::from(length))
            .read_to_end(&mut self.buffer)
            .ok()?;
        (u32::try_from(read).ok()? == length).then_some(&self.buffer)
    }
}
