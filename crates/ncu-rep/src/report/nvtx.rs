//! NVTX ranges that were open when a workload was launched.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::error::Error;
use crate::wire::{Message, Room};

/// NVTX state at a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NvtxState<'r> {
    /// The domains that the program registered.
    pub domains: Vec<NvtxDomain<'r>>,
    /// Open push/pop ranges by thread, outermost first.
    pub threads: Vec<NvtxThread<'r>>,
    /// Open start/end ranges.
    pub ranges: Vec<NvtxRange<'r>>,
}

/// An NVTX domain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NvtxDomain<'r> {
    /// The number that ranges use.
    pub id: u64,
    /// Its name; the profiler calls the default domain `<default domain>`.
    pub name: Cow<'r, str>,
}

/// The push/pop ranges of one thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NvtxThread<'r> {
    /// The thread.
    pub id: u64,
    /// Open ranges, outermost first, domain after domain.
    pub stack: Vec<NvtxRange<'r>>,
}

/// An open NVTX range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NvtxRange<'r> {
    /// The domain.
    pub domain: u64,
    /// Its name; a registered message is looked up in its domain.
    pub name: Cow<'r, str>,
    /// Category number.
    pub category: Option<u64>,
    /// Colour as stored (ARGB).
    pub colour: Option<u64>,
    /// Number of an API call, comparable with [`Header::api_call_id`](super::Header::api_call_id): the last one before
    /// the range was pushed, or the one that a start/end range stores.
    pub api_call_id: Option<u64>,
    /// Thread that started it, for start/end ranges.
    pub thread: Option<u64>,
}

/// Registered strings by domain and handle.
type Registered<'r> = HashMap<(u64, u64), Cow<'r, str>>;

impl<'r> NvtxState<'r> {
    pub(super) fn fill(&mut self, message: Message<'r>, room: &mut Room) -> Result<(), Error> {
        let mut registered = Registered::new();
        // Ranges may name strings of domains that stand behind them, so domains come first.
        for field in message.fields() {
            let field = field?;
            if let (1, Some(message)) = (field.number, field.value.message()) {
                let domain = decode_domain(message, &mut registered, room)?;
                room.push(&mut self.domains, domain)?;
            }
        }
        for field in message.fields() {
            let field = field?;
            match (field.number, field.value.message()) {
                (2, Some(message)) => {
                    let thread = decode_thread(message, &registered, room)?;
                    room.push(&mut self.threads, thread)?;
                }
                (3, Some(message)) => {
                    let into = &mut self.ranges;
                    decode_ranges(message, Style::StartEnd, &registered, into, room)?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn decode_domain<'r>(
    message: Message<'r>,
    registered: &mut Registered<'r>,
    room: &mut Room,
) -> Result<NvtxDomain<'r>, Error> {
    let mut domain = NvtxDomain::default();
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => domain.id = field.value.varint().unwrap_or(0),
            2 => domain.name = field.value.text().unwrap_or_default(),
            _ => {}
        }
    }
    // Strings may stand before the id of their domain.
    for field in message.fields() {
        let field = field?;
        let (3, Some(message)) = (field.number, field.value.message()) else {
            continue;
        };
        let (mut handle, mut text) = (None, None);
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => handle = field.value.varint(),
                2 => text = field.value.text(),
                _ => {}
            }
        }
        if let (Some(handle), Some(text)) = (handle, text) {
            room.charge(size_of::<((u64, u64), Cow<'_, str>)>().saturating_mul(3))?;
            registered.insert((domain.id, handle), text);
        }
    }
    Ok(domain)
}

fn decode_thread<'r>(
    message: Message<'r>,
    registered: &Registered<'r>,
    room: &mut Room,
) -> Result<NvtxThread<'r>, Error> {
    let mut thread = NvtxThread::default();
    for field in message.fields() {
        let field = field?;
        match (field.number, field.value.message()) {
            (1, _) => thread.id = field.value.varint().unwrap_or(0),
            (2, Some(message)) => {
                let into = &mut thread.stack;
                decode_ranges(message, Style::PushPop, registered, into, room)?;
            }
            _ => {}
        }
    }
    Ok(thread)
}

/// The two kinds of ranges are stored with different field numbers.
#[derive(Clone, Copy)]
enum Style {
    PushPop,
    StartEnd,
}

/// The ranges of one domain: its id is field 1, its ranges are field 3.
fn decode_ranges<'r>(
    message: Message<'r>,
    style: Style,
    registered: &Registered<'r>,
    into: &mut Vec<NvtxRange<'r>>,
    room: &mut Room,
) -> Result<(), Error> {
    let mut domain = 0;
    for field in message.fields() {
        let field = field?;
        if field.number == 1 {
            domain = field.value.varint().unwrap_or(0);
        }
    }
    for field in message.fields() {
        let field = field?;
        if let (3, Some(message)) = (field.number, field.value.message()) {
            let range = decode_range(message, style, domain, registered, room)?;
            room.push(into, range)?;
        }
    }
    Ok(())
}

fn decode_range<'r>(
    message: Message<'r>,
    style: Style,
    domain: u64,
    registered: &Registered<'r>,
    room: &mut Room,
) -> Result<NvtxRange<'r>, Error> {
    let mut range = NvtxRange {
        domain,
        ..NvtxRange::default()
    };
    let mut handle = None;
    let (name, attributes, api_call, thread) = match style {
        Style::PushPop => (1, 2, 3, 0),
        Style::StartEnd => (2, 3, 4, 5),
    };
    for field in message.fields() {
        let field = field?;
        match field.number {
            number if number == name => range.name = field.value.text().unwrap_or_default(),
            number if number == api_call => range.api_call_id = field.value.varint(),
            number if number == thread => range.thread = field.value.varint(),
            number if number == attributes => {
                if let Some(message) = field.value.message() {
                    handle = decode_attributes(message, &mut range)?;
                }
            }
            _ => {}
        }
    }
    if range.name.is_empty()
        && let Some(text) = handle.and_then(|handle| registered.get(&(domain, handle)))
    {
        // Text with replaced bytes is copied for each range that names it.
        if let Cow::Owned(text) = text {
            room.charge(text.len())?;
        }
        range.name = text.clone();
    }
    Ok(range)
}

/// Reads attributes into a range and returns the handle of a registered message.
fn decode_attributes<'r>(
    message: Message<'r>,
    range: &mut NvtxRange<'r>,
) -> Result<Option<u64>, Error> {
    let mut handle = None;
    for field in message.fields() {
        let field = field?;
        match field.number {
            2 => range.category = field.value.varint(),
            3 => {
                if let Some(colour) = field.value.message() {
                    for field in colour.fields() {
                        let field = field?;
                        if field.number == 2 {
                            range.colour = field.value.varint();
                        }
                    }
                }
            }
            5 => {
                if let Some(message) = field.value.message() {
                    for field in message.fields() {
                        let field = field?;
                        match field.number {
                            2 if range.name.is_empty() => {
                                range.name = field.value.text().unwrap_or_default()
                            }
                            3 => handle = field.value.varint(),
                            _ => {}
                        }
                    }
                }
            }
            _ => {}
        }
    }
    Ok(handle)
}
