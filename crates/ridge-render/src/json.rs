//! Answers as one JSON document.

use std::io::{self, BufWriter, Write};

use serde::Serialize;

/// Writes a document, indented, with a newline at the end, piece by piece: its text is never held as a whole.
///
/// # Errors
/// When the sink takes no more.
pub fn write(document: &impl Serialize, sink: &mut dyn Write) -> io::Result<()> {
    // Tokens are short, and each would be a call.
    let mut sink = BufWriter::with_capacity(1 << 16, sink);
    serde_json::to_writer_pretty(&mut sink, document)?;
    sink.write_all(b"\n")?;
    sink.flush()
}
