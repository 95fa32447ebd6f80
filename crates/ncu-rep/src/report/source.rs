//! Source entries: code, symbols and imported files, merged by reference.

use std::borrow::Cow;
use std::collections::HashSet;

use super::frame::sized_at;
use super::{PART_FACTOR, Partial, Problems};
use crate::error::Error;
use crate::wire::{Message, Room, len};

/// Where the parts of each source lie. Parts are decoded when a source is asked for.
#[derive(Debug, Default)]
pub(super) struct SourceIndex {
    /// Places of the first part of each source, in order of appearance.
    order: Vec<u32>,
    /// Key and offset of each part; ordered once all are known.
    parts: Vec<(SourceKey, u64)>,
}

/// Which source a workload belongs to.
///
/// Every process numbers its sources by itself: in a report of several processes the reference alone is ambiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceKey {
    /// Place of the process in the list of the report.
    pub(super) process: u32,
    /// The reference, as the report stores it.
    pub reference: u64,
}

impl SourceIndex {
    /// Notes a part; a damaged one too, if the damage lies behind its reference.
    pub(super) fn add(&mut self, message: Message<'_>, process: u32) -> Result<(), Error> {
        let mut reference = None;
        let mut outcome = Ok(());
        for field in message.fields() {
            match field {
                Ok(field) if field.number == 1 => reference = field.value.varint(),
                Ok(_) => {}
                Err(error) => outcome = Err(error),
            }
        }
        // An empty part says nothing, and would take more memory than bytes allow.
        if reference.is_some() || (outcome.is_ok() && !message.bytes.is_empty()) {
            let key = SourceKey {
                process,
                reference: reference.unwrap_or(0),
            };
            self.parts.push((key, message.offset));
        }
        outcome
    }

    pub(super) fn finish(&mut self) {
        self.parts.sort_unstable();
        let mut known = None;
        for (place, (key, _)) in (0_u32..).zip(&self.parts) {
            if known.replace(*key) != Some(*key) {
                self.order.push(place);
            }
        }
        let parts = &self.parts;
        self.order
            .sort_unstable_by_key(|place| part(parts, *place).map(|(_, offset)| offset));
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = SourceKey> + '_ {
        self.order
            .iter()
            .filter_map(|place| part(&self.parts, *place).map(|(key, _)| key))
    }

    pub(super) fn decode<'a>(
        &self,
        bytes: &'a [u8],
        key: SourceKey,
    ) -> Option<Partial<Source<'a>>> {
        let start = self.parts.partition_point(|(found, _)| *found < key);
        let parts = self.parts.get(start..)?;
        let parts = parts.iter().take_while(|(found, _)| *found == key);
        let parts = parts.map(|(_, offset)| sized_at(bytes, *offset));
        let size = parts.clone().map(|part| len(part.bytes)).sum();
        let mut source = Source {
            reference: key.reference,
            ..Source::default()
        };
        let mut problems = Problems::default();
        let mut symbols = Symbols::default();
        let mut room = Room::new(PART_FACTOR, size);
        let mut is_known = false;
        for part in parts {
            is_known = true;
            if let Err(error) = source.merge(part, &mut symbols, &mut room) {
                problems.push(error.inside("source"));
            }
            if room.is_spent() {
                break;
            }
        }
        is_known.then(|| Partial {
            value: source,
            problems: problems.into_vec(),
        })
    }
}

fn part(parts: &[(SourceKey, u64)], place: u32) -> Option<(SourceKey, u64)> {
    parts.get(usize::try_from(place).ok()?).copied()
}

/// Code that results refer to, and what is known of it.
#[derive(Clone, Debug, Default)]
pub struct Source<'a> {
    /// The key that results of the same process use.
    pub reference: u64,
    /// Source text, where the report holds it as such.
    pub text: Option<Cow<'a, str>>,
    /// Intermediate code (PTX), where the report holds it as such.
    pub intermediate: Option<Cow<'a, str>>,
    /// The complete cubin, an ELF file.
    pub cubin: Option<&'a [u8]>,
    /// Level of the machine code; not a compute capability.
    pub sass_level: Option<u64>,
    /// Compute capability as (major, minor).
    pub compute_capability: Option<(u32, u32)>,
    /// Flags of the binary, as stored.
    pub binary_flags: Option<u64>,
    /// Source files that the profiler imported; the content is absent when it could not.
    pub files: Vec<SourceFile<'a>>,
    /// Load addresses of functions.
    pub functions: Vec<Relocation<'a>>,
    /// Load addresses of data objects.
    pub objects: Vec<Relocation<'a>>,
}

/// An imported source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile<'a> {
    /// The path on the machine that compiled the program.
    pub path: Cow<'a, str>,
    /// The text, if the profiler could read it.
    pub content: Option<Cow<'a, str>>,
}

/// Where the driver placed a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation<'a> {
    /// The mangled name.
    pub symbol: Cow<'a, str>,
    /// The address on the device.
    pub address: u64,
    /// Index in the symbol table of the cubin.
    pub symbol_index: u64,
}

/// Symbols and paths that a source already has: later parts of a source repeat some.
#[derive(Default)]
struct Symbols<'a> {
    functions: HashSet<(Cow<'a, str>, u64)>,
    objects: HashSet<(Cow<'a, str>, u64)>,
    files: HashSet<Cow<'a, str>>,
}

impl<'a> Source<'a> {
    /// Adds a part. With lazy loading a later part carries no code, only functions that are new.
    fn merge(
        &mut self,
        part: Message<'a>,
        known: &mut Symbols<'a>,
        room: &mut Room,
    ) -> Result<(), Error> {
        for field in part.fields() {
            let field = field?;
            let value = field.value;
            match field.number {
                2 => self.text = value.text().or(self.text.take()),
                3 => self.intermediate = value.text().or(self.intermediate.take()),
                4 => {
                    let code = value
                        .message()
                        .map(|message| message.bytes)
                        .filter(|bytes| !bytes.is_empty());
                    self.cubin = self.cubin.or(code);
                }
                5 => self.sass_level = value.varint().or(self.sass_level),
                6 => {
                    let packed = value.varint().and_then(|packed| u32::try_from(packed).ok());
                    self.compute_capability = packed
                        .map(|packed| (packed >> 16, packed & 0xffff))
                        .or(self.compute_capability);
                }
                7 => self.binary_flags = value.varint().or(self.binary_flags),
                8 => {
                    if let Some(message) = value.message() {
                        self.merge_files(message, known, room)?;
                    }
                }
                9 => {
                    if let Some(message) = value.message() {
                        self.merge_relocations(message, known, room)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn merge_files(
        &mut self,
        list: Message<'a>,
        known: &mut Symbols<'a>,
        room: &mut Room,
    ) -> Result<(), Error> {
        for field in list.fields() {
            let field = field?;
            let (1, Some(message)) = (field.number, field.value.message()) else {
                continue;
            };
            let mut file = SourceFile {
                path: Cow::Borrowed(""),
                content: None,
            };
            for field in message.fields() {
                let field = field?;
                match field.number {
                    1 => file.path = field.value.text().unwrap_or_default(),
                    2 => file.content = field.value.text(),
                    _ => {}
                }
            }
            if !known.files.contains(&file.path) {
                room.charge(size_of::<Cow<'_, str>>().saturating_mul(3))?;
                known.files.insert(file.path.clone());
                room.push(&mut self.files, file)?;
            }
        }
        Ok(())
    }

    fn merge_relocations(
        &mut self,
        relocation: Message<'a>,
        known: &mut Symbols<'a>,
        room: &mut Room,
    ) -> Result<(), Error> {
        for field in relocation.fields() {
            let field = field?;
            let Some(message) = field.value.message() else {
                continue;
            };
            let (list, seen) = match field.number {
                1 => (&mut self.functions, &mut known.functions),
                2 => (&mut self.objects, &mut known.objects),
                _ => continue,
            };
            let entry = Relocation::decode(message)?;
            let key = (entry.symbol.clone(), entry.address);
            if !seen.contains(&key) {
                room.charge(size_of_val(&key).saturating_mul(3))?;
                seen.insert(key);
                room.push(list, entry)?;
            }
        }
        Ok(())
    }
}

impl<'a> Relocation<'a> {
    fn decode(message: Message<'a>) -> Result<Self, Error> {
        let mut entry = Self {
            symbol: Cow::Borrowed(""),
            address: 0,
            symbol_index: 0,
        };
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => entry.symbol = field.value.text().unwrap_or_default(),
                2 => entry.address = field.value.varint().unwrap_or(0),
                3 => entry.symbol_index = field.value.varint().unwrap_or(0),
                _ => {}
            }
        }
        Ok(entry)
    }
}
