//! `.safetensors` files: the length of a head in JSON, the head, the elements.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::{Contents, Head, Kind, Order, Reason, Source, Tensor, TensorError, instead, need};
use crate::format::{Endian, Format};

/// Bytes of the length of the head.
const LENGTH: usize = 8;

/// The limit that the format sets.
const MAX_HEAD: u64 = 100_000_000;

/// Whether bytes look like such a file: the head is an object.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    bytes.get(LENGTH) == Some(&b'{')
}

/// What is said of a tensor.
#[derive(serde::Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: (u64, u64),
}

/// The head in the order in which it is written. Maps would lose that, and names that are there twice.
struct Entries(Vec<(String, Entry)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    if name == "__metadata__" {
                        map.next_value::<IgnoredAny>()?;
                    } else {
                        entries.push((name, map.next_value()?));
                    }
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

pub(super) fn read(bytes: &[u8], elements: Option<Format>) -> Result<Contents<'_>, TensorError> {
    let malformed = |at, what| TensorError::new(at, Reason::Malformed(what));
    let (length, rest) = bytes
        .split_first_chunk::<LENGTH>()
        .ok_or_else(|| malformed(0, "the length of the head is cut off"))?;
    let length = u64::from_le_bytes(*length);
    if length > MAX_HEAD {
        return Err(malformed(0, "the head is longer than 100 MB"));
    }
    let head = rest.get(..length as usize).ok_or_else(|| {
        TensorError::new(
            LENGTH as u64,
            Reason::Truncated {
                what: "the head",
                need: length,
                have: rest.len() as u64,
            },
        )
    })?;
    let entries: Entries = serde_json::from_slice(head).map_err(|error| {
        // Where it is in the text; columns are bytes and begin with 1.
        let line_start: usize = head
            .split_inclusive(|&byte| byte == b'\n')
            .take(error.line().saturating_sub(1))
            .map(<[u8]>::len)
            .sum();
        let at = LENGTH + line_start + error.column().saturating_sub(1);
        malformed(
            at as u64,
            match error.classify() {
                serde_json::error::Category::Data => {
                    "a tensor needs `dtype`, `shape` and `data_offsets`"
                }
                _ => "the head is no JSON",
            },
        )
    })?;
    let mut names = BTreeSet::new();
    for (name, _) in &entries.0 {
        if !names.insert(name.as_str()) {
            return Err(TensorError::new(
                LENGTH as u64,
                Reason::Duplicate(name.clone()),
            ));
        }
    }
    let start = LENGTH as u64 + length;
    let data = &rest[length as usize..];
    covers(&entries.0, start, data.len() as u64)?;
    let mut contents = Contents {
        kind: Kind::Safetensors,
        tensors: Vec::new(),
        unreadable: Vec::new(),
    };
    for (name, entry) in entries.0 {
        match tensor(&entry, start, data, elements) {
            Ok(tensor) => contents.tensors.push(Tensor {
                name: Some(name),
                ..tensor
            }),
            Err(error) => contents.unreadable.push((name, error)),
        }
    }
    Ok(contents)
}

/// The tensors have to cover the bytes behind the head, each byte once: the format says so.
fn covers(entries: &[(String, Entry)], start: u64, length: u64) -> Result<(), TensorError> {
    let mut sorted: Vec<_> = entries
        .iter()
        .map(|(name, entry)| (entry.data_offsets, name))
        .collect();
    sorted.sort_unstable();
    let mut end = 0;
    for ((from, to), name) in sorted {
        let at = start.saturating_add(from);
        if from > to {
            return Err(TensorError::new(
                at,
                Reason::Malformed("a tensor ends before it begins"),
            ));
        }
        if to > length {
            let reason = Reason::Truncated {
                what: "a tensor",
                need: to - from,
                have: length.saturating_sub(from),
            };
            return Err(TensorError::new(at, reason));
        }
        if from < end {
            return Err(TensorError::new(at, Reason::Overlap(name.clone())));
        }
        if from > end {
            return Err(TensorError::new(start + end, Reason::Hole(name.clone())));
        }
        end = to;
    }
    if end < length {
        return Err(TensorError::new(
            start + end,
            Reason::Trailing(length - end),
        ));
    }
    Ok(())
}

fn tensor<'a>(
    entry: &Entry,
    start: u64,
    data: &'a [u8],
    elements: Option<Format>,
) -> Result<Tensor<'a>, TensorError> {
    let (from, to) = entry.data_offsets;
    let at = start + from;
    let said: Format = entry
        .dtype
        .parse()
        .map_err(|_| TensorError::new(at, Reason::Type(entry.dtype.chars().take(80).collect())))?;
    let is_packed = said.size_bits() < 8;
    let format = if is_packed {
        said
    } else {
        instead(Some(said), said.size_bytes() as u64, elements, at)?
    };
    let head = Head {
        format,
        shape: entry.shape.clone(),
        order: Order::C,
        endian: Endian::Little,
        is_packed,
        data: at..start + to,
    };
    let (need, have) = (need(&head, at)?, to - from);
    if need != have {
        return Err(TensorError::new(at, Reason::SizeDiffers { need, have }));
    }
    Ok(Tensor {
        name: None,
        head,
        // The range was compared with the length.
        source: Source::Stored(&data[from as usize..to as usize]),
    })
}
