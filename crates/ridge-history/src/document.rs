//! Documents as they are stored: compact JSON, packed with zstd.

use std::cell::RefCell;
use std::fmt;
use std::io::{self, Read};

use serde_json::value::RawValue;
use zstd::zstd_safe::{DCtx, ResetDirective};

use crate::Error;

/// What a document has at most, unpacked: far more than any command writes, and little enough for memory.
const LARGEST: u64 = 1 << 28;
/// Fast, and within a few per cent of the default level for JSON.
const LEVEL: i32 = 1;

/// What packing and unpacking work in. To make both anew for each document takes longer than its packing.
struct Room {
    packing: zstd::bulk::Compressor<'static>,
    unpacking: DCtx<'static>,
}

thread_local! {
    static ROOM: RefCell<Option<Room>> = const { RefCell::new(None) };
}

fn with_room<T>(work: impl FnOnce(&mut Room) -> io::Result<T>) -> io::Result<T> {
    ROOM.with_borrow_mut(|kept| {
        let room = match kept {
            Some(room) => room,
            None => kept.insert(Room {
                packing: zstd::bulk::Compressor::new(LEVEL)?,
                unpacking: DCtx::create(),
            }),
        };
        work(room)
    })
}

/// A JSON document, packed.
#[derive(Clone, PartialEq, Eq)]
pub struct Packed(Vec<u8>);

impl Packed {
    /// Packs a JSON text. White space between its tokens is taken out; numbers and texts stay as they are written.
    ///
    /// # Errors
    /// When it is no JSON, or larger than 256 MiB.
    pub fn of(json: &[u8]) -> Result<Self, Error> {
        let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
        if json.len() as u64 > LARGEST {
            return Err(Error::Document("it is larger than 256 MiB".to_owned()));
        }
        let raw: &RawValue = serde_json::from_slice(json)
            .map_err(|error| Error::Document(format!("it is no whole JSON: {error}")))?;
        let compact = compact(raw.get());
        let packed = with_room(|room| room.packing.compress(compact.as_bytes()))
            .map_err(|error| Error::Document(format!("it cannot be packed: {error}")))?;
        Ok(Self(packed))
    }

    /// The compact JSON text.
    ///
    /// # Errors
    /// When what is stored is damaged.
    pub fn json(&self) -> Result<Vec<u8>, Error> {
        let mut json = Vec::new();
        with_room(|room| {
            // What a damaged document left there.
            let reset = room.unpacking.reset(ResetDirective::SessionOnly);
            reset.map_err(|code| io::Error::other(zstd::zstd_safe::get_error_name(code)))?;
            zstd::stream::read::Decoder::with_context(self.0.as_slice(), &mut room.unpacking)
                .take(LARGEST + 1)
                .read_to_end(&mut json)
        })
        .map_err(|error| Error::Document(format!("its packing is damaged: {error}")))?;
        if json.len() as u64 > LARGEST {
            return Err(Error::Document("it is larger than 256 MiB".to_owned()));
        }
        Ok(json)
    }

    /// The bytes that are stored.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// What was stored, as it comes back. It is looked at when it is unpacked.
    pub(crate) fn stored(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for Packed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Packed({} bytes)", self.0.len())
    }
}

/// A JSON text without white space between its tokens. It has been found to be JSON.
fn compact(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut is_inside = false;
    let mut is_escaped = false;
    let mut start = 0;
    for (place, byte) in json.bytes().enumerate() {
        if is_inside {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => is_inside = false,
                _ => {}
            }
        } else if byte == b'"' {
            is_inside = true;
        } else if byte.is_ascii_whitespace() {
            text.push_str(json.get(start..place).unwrap_or_default());
            start = place + 1;
        }
    }
    text.push_str(json.get(start..).unwrap_or_default());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_document_does_not_spoil_the_next() {
        let text = br#"{"a":[1,2,3],"b":"a text that is long enough to be packed, packed, packed, packed"}"#;
        let packed = Packed::of(text).unwrap();
        for end in 1..packed.bytes().len() {
            let damaged = Packed::stored(packed.bytes()[..end].to_vec());
            assert!(damaged.json().is_err(), "{end} bytes");
            assert_eq!(packed.json().unwrap(), text);
        }
    }

    #[test]
    fn documents_come_back_without_white_space() {
        let json = "\u{feff} {\n  \"a b\" : [ 1.50, -0.0,\t1e400 ],\r\n \"c\\\" d\\\\\": \"\\u0041  ü\" }\n";
        let packed = Packed::of(json.as_bytes()).unwrap();
        let text = String::from_utf8(packed.json().unwrap()).unwrap();
        assert_eq!(text, r#"{"a b":[1.50,-0.0,1e400],"c\" d\\":"\u0041  ü"}"#);
        assert_eq!(Packed::of(text.as_bytes()).unwrap(), packed);
    }

    #[test]
    fn what_is_no_document_is_told() {
        for wrong in ["", "{", "{} {}", "[1,]", "\u{1}", "{\"a\": \"\u{0}\"}"] {
            let error = Packed::of(wrong.as_bytes()).unwrap_err();
            assert_eq!(error.code(), "HIS0012", "{wrong:?}");
        }
        let whole = Packed::of(br#"{"a": [1, 2, 3, 4, 5, 6, 7, 8, 9]}"#).unwrap();
        for end in 0..whole.bytes().len() {
            let cut = Packed::stored(whole.bytes()[..end].to_vec());
            // An empty packing unpacks to nothing, which is no document either.
            assert!(cut.json().is_err() || end == 0, "{end}");
        }
    }
}
