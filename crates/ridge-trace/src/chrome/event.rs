//! One event, as far as a timeline needs it.

use std::borrow::Cow;

use super::cursor::{Cursor, Scalar, Stop};
use super::number::{micros_as_ns, whole};

/// The keys of an event that are read.
#[derive(Debug, Default)]
pub(super) struct Event<'i> {
    pub(super) phase: Option<Cow<'i, str>>,
    pub(super) category: Option<Cow<'i, str>>,
    pub(super) name: Option<Cow<'i, str>>,
    pub(super) pid: Option<Scalar<'i>>,
    pub(super) tid: Option<Scalar<'i>>,
    pub(super) start_ns: Option<i64>,
    pub(super) duration_ns: Option<i64>,
    pub(super) args: Args<'i>,
}

/// The arguments that are read.
#[derive(Debug, Default)]
pub(super) struct Args<'i> {
    pub(super) name: Option<Cow<'i, str>>,
    pub(super) kind: Option<Cow<'i, str>>,
    pub(super) correlation: Option<u64>,
    pub(super) device: Option<u64>,
    pub(super) context: Option<u64>,
    pub(super) stream: Option<u64>,
    pub(super) bytes: Option<u64>,
    pub(super) grid: Option<[u32; 3]>,
    pub(super) block: Option<[u32; 3]>,
    pub(super) cluster: Option<[u32; 3]>,
    pub(super) registers: Option<u32>,
    pub(super) shared_bytes: Option<u64>,
    pub(super) graph: Option<u64>,
    pub(super) graph_node: Option<u64>,
}

impl<'i> Event<'i> {
    /// Reads the object that the cursor stands before.
    pub(super) fn read(cursor: &mut Cursor<'i>) -> Result<Self, Stop> {
        cursor.expect(b'{')?;
        let mut event = Self::default();
        let mut is_first = true;
        while let Some(key) = cursor.key(&mut is_first)? {
            match key.as_ref() {
                "ph" => event.phase = text(cursor)?,
                "cat" => event.category = text(cursor)?,
                "name" => event.name = text(cursor)?,
                "pid" => event.pid = cursor.scalar()?,
                "tid" => event.tid = cursor.scalar()?,
                "ts" => {
                    event.start_ns = cursor
                        .scalar()?
                        .and_then(|value| micros_as_ns(value.as_str()))
                }
                "dur" => {
                    event.duration_ns = cursor
                        .scalar()?
                        .and_then(|value| micros_as_ns(value.as_str()))
                }
                "args" => event.args = Args::read(cursor)?,
                _ => cursor.skip()?,
            }
        }
        Ok(event)
    }
}

impl<'i> Args<'i> {
    fn read(cursor: &mut Cursor<'i>) -> Result<Self, Stop> {
        let mut args = Self::default();
        if cursor.peek()? != b'{' {
            cursor.skip()?;
            return Ok(args);
        }
        cursor.expect(b'{')?;
        let mut is_first = true;
        while let Some(key) = cursor.key(&mut is_first)? {
            match key.as_ref() {
                "name" => args.name = text(cursor)?,
                "kind" | "cuda_sync_kind" => args.kind = text(cursor)?,
                "correlation" => args.correlation = number(cursor)?,
                "device" => args.device = number(cursor)?,
                "context" => args.context = number(cursor)?,
                "stream" => args.stream = number(cursor)?,
                "bytes" | "Bytes" => args.bytes = number(cursor)?,
                "grid" => args.grid = triple(cursor)?,
                "block" => args.block = triple(cursor)?,
                "cluster" | "cluster dims" => args.cluster = triple(cursor)?,
                "registers per thread" => {
                    args.registers = number(cursor)?.and_then(|count| u32::try_from(count).ok())
                }
                "shared memory" => args.shared_bytes = number(cursor)?,
                "graph id" => args.graph = number(cursor)?,
                "graph node id" => args.graph_node = number(cursor)?,
                _ => cursor.skip()?,
            }
        }
        Ok(args)
    }
}

fn text<'i>(cursor: &mut Cursor<'i>) -> Result<Option<Cow<'i, str>>, Stop> {
    Ok(cursor.scalar()?.map(|value| match value {
        Scalar::Text(text) => text,
        Scalar::Bare(bare) => Cow::Borrowed(bare),
    }))
}

fn number(cursor: &mut Cursor<'_>) -> Result<Option<u64>, Stop> {
    Ok(cursor.scalar()?.and_then(|value| whole(value.as_str())))
}

/// Three numbers; fewer or more are none.
fn triple(cursor: &mut Cursor<'_>) -> Result<Option<[u32; 3]>, Stop> {
    if cursor.peek()? != b'[' {
        cursor.skip()?;
        return Ok(None);
    }
    cursor.expect(b'[')?;
    let (mut values, mut count, mut is_first) = ([0; 3], 0, true);
    while cursor.element(&mut is_first)? {
        let value = number(cursor)?.and_then(|value| u32::try_from(value).ok());
        if let (Some(value), Some(slot)) = (value, values.get_mut(count)) {
            *slot = value;
        }
        count += usize::from(value.is_some());
    }
    Ok((count == 3).then_some(values))
}
