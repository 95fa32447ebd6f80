//! Metrics of one profiled workload: values of every type, and lists of instances with their keys.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::error::{Error, Kind};
use crate::packed;
use crate::wire::{self, Message, Room};

/// A value as the report stores it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'r> {
    /// Text, such as an opcode or a list of metric names.
    Text(Cow<'r, str>),
    /// A 64-bit float; most counters are stored so.
    F64(f64),
    /// A 32-bit float.
    F32(f32),
    /// A 64-bit unsigned integer, such as an address.
    U64(u64),
    /// A 32-bit unsigned integer.
    U32(u32),
}

impl Value<'_> {
    /// The value as a number; text and values that are not finite have none.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        let number = match self {
            Self::Text(_) => return None,
            Self::F64(value) => *value,
            Self::F32(value) => f64::from(*value),
            Self::U64(value) => float(*value),
            Self::U32(value) => f64::from(*value),
        };
        number.is_finite().then_some(number)
    }

    /// The value as an unsigned integer, exact where the report stores one; floats only when they are whole.
    #[must_use]
    pub fn integer(&self) -> Option<u64> {
        match self {
            Self::U64(value) => Some(*value),
            Self::U32(value) => Some(u64::from(*value)),
            _ => self.number().and_then(whole),
        }
    }

    /// The text, if the value is text.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The same value, independent of the input.
    #[must_use]
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Self::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            Self::F64(value) => Value::F64(value),
            Self::F32(value) => Value::F32(value),
            Self::U64(value) => Value::U64(value),
            Self::U32(value) => Value::U32(value),
        }
    }
}

impl<'r> Value<'r> {
    /// Decodes a value message; an empty message is a value that is not available.
    #[inline]
    pub(crate) fn decode(message: Message<'r>) -> Result<Option<Self>, Error> {
        match Self::usual(message.bytes) {
            Some(value) => Ok(Some(value)),
            None => Self::decode_fields(message),
        }
    }

    /// The value of a message that is one field, in one of the two forms that nearly all have.
    // Always inlined: a value that goes through memory costs more than its decoding.
    #[inline(always)]
    fn usual(message: &[u8]) -> Option<Self> {
        match *message {
            [0x19, a, b, c, d, e, f, g, h] => {
                let bytes = [a, b, c, d, e, f, g, h];
                Some(Self::F64(f64::from_le_bytes(bytes)))
            }
            [0x28, ref number @ ..] => wire::whole_varint(number).map(Self::U64),
            _ => None,
        }
    }

    fn decode_fields(message: Message<'r>) -> Result<Option<Self>, Error> {
        let mut found = None;
        for field in message.fields() {
            let field = field?;
            let value = match field.number {
                1 => field.value.text().map(Value::Text),
                2 => field.value.float().map(Value::F32),
                3 => field.value.double().map(Value::F64),
                4 => field
                    .value
                    .varint()
                    .map(|v| Value::U32(u32::try_from(v).unwrap_or(u32::MAX))),
                5 => field.value.varint().map(Value::U64),
                _ => None,
            };
            found = value.or(found);
        }
        Ok(found)
    }
}

/// Writes numbers in full precision and text as it is.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::F64(value) => write!(f, "{value}"),
            Self::F32(value) => write!(f, "{value}"),
            Self::U64(value) => write!(f, "{value}"),
            Self::U32(value) => write!(f, "{value}"),
        }
    }
}

/// What the instances of a metric are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Category {
    /// Instances belong to places: addresses, opcodes, launches, sizes.
    #[default]
    Counter,
    /// Instances are samples over time, keyed by nanoseconds.
    Series,
    /// A category that this version does not know.
    Other(u64),
}

/// One instance of a metric: what it belongs to, and its value there.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance<'r> {
    /// What the value belongs to: an address, an opcode, a time; absent where the report names none.
    pub key: Option<Value<'r>>,
    /// The value; absent is not zero.
    pub value: Option<Value<'r>>,
}

/// Number of the field that holds an instance.
const INSTANCES: u8 = 3;

/// A metric of one workload.
#[derive(Clone, Debug)]
pub struct Metric<'r> {
    /// The metric's name, as the profiler spells it.
    pub name: &'r str,
    /// The value for the whole workload. Absent means "not available": the profiler asked and got nothing.
    pub value: Option<Value<'r>>,
    /// What the instances are.
    pub category: Category,
    instances: Source<'r>,
}

/// Where instances come from: still encoded, listed, or packed by a reader of another format.
#[derive(Clone, Copy, Debug)]
enum Source<'r> {
    Encoded(Message<'r>),
    Listed(&'r [Instance<'r>]),
    Packed(&'r [u8]),
}

impl<'r> Metric<'r> {
    /// A metric with instances that are already decoded.
    pub(crate) fn listed(
        name: &'r str,
        value: Option<Value<'r>>,
        instances: &'r [Instance<'r>],
    ) -> Self {
        Self {
            name,
            value,
            category: Category::Counter,
            instances: Source::Listed(instances),
        }
    }

    /// A metric with instances that are packed.
    pub(crate) fn packed(name: &'r str, value: Option<Value<'r>>, instances: &'r [u8]) -> Self {
        Self {
            name,
            value,
            category: Category::Counter,
            instances: Source::Packed(instances),
        }
    }

    /// Decodes the scalar parts of a metric message; instances stay encoded until they are asked for.
    fn decode(message: Message<'r>, names: &'r Names<'r>) -> Result<(usize, Self), Error> {
        let mut index = 0_u64; // The wire format leaves out a zero.
        let mut value = None;
        let mut category = Category::Counter;
        let mut fields = message.fields();
        while let Some(field) = fields.next() {
            let field = field?;
            match field.number {
                1 => index = field.value.varint().unwrap_or(0),
                2 => {
                    if let Some(message) = field.value.message() {
                        value = Value::decode(message)?;
                    }
                }
                // All of them are passed over at once.
                3 => while fields.next_short(INSTANCES).is_some() {},
                4 => {
                    category = match field.value.varint() {
                        Some(0) | None => Category::Counter,
                        Some(1) => Category::Series,
                        Some(other) => Category::Other(other),
                    };
                }
                _ => {}
            }
        }
        let slot = usize::try_from(index).unwrap_or(usize::MAX);
        let name = names.get(slot).ok_or_else(|| {
            let len = u64::try_from(names.len()).unwrap_or(u64::MAX);
            Error::new(Kind::StringIndex { index, len }, message.offset, "name")
        })?;
        Ok((
            slot,
            Self {
                name,
                value,
                category,
                instances: Source::Encoded(message),
            },
        ))
    }

    /// The instances, decoded one at a time, in stored order.
    #[must_use]
    pub fn instances(&self) -> Instances<'r> {
        Instances(match self.instances {
            Source::Encoded(message) => Cursor::Encoded(message.fields()),
            Source::Listed(list) => Cursor::Listed(list.iter()),
            Source::Packed(bytes) => Cursor::Packed(packed::Cursor::new(bytes)),
        })
    }

    /// Whether there is at least one instance.
    #[must_use]
    pub fn has_instances(&self) -> bool {
        self.instances().next().is_some()
    }

    /// The value as a finite number.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        self.value.as_ref().and_then(Value::number)
    }

    /// Instances with a numeric key and value, such as counts by address. Others are left out.
    ///
    /// # Errors
    /// When an instance is malformed.
    pub fn by_number(&self) -> Result<Vec<(u64, f64)>, Error> {
        let mut list = Vec::new();
        for instance in self.instances() {
            let Instance { key, value } = instance?;
            if let (Some(key), Some(value)) = (
                key.and_then(|k| k.integer()),
                value.and_then(|v| v.number()),
            ) {
                list.push((key, value));
            }
        }
        Ok(list)
    }

    /// Instances with a text key and a numeric value, such as counts by opcode. Others are left out.
    ///
    /// # Errors
    /// When an instance is malformed.
    pub fn by_text(&self) -> Result<Vec<(Cow<'r, str>, f64)>, Error> {
        let mut list = Vec::new();
        for instance in self.instances() {
            let Instance { key, value } = instance?;
            if let (Some(Value::Text(key)), Some(value)) = (key, value.and_then(|v| v.number())) {
                list.push((key, value));
            }
        }
        Ok(list)
    }
}

/// Iterates over the instances of a metric.
#[derive(Clone, Debug)]
pub struct Instances<'r>(Cursor<'r>);

#[derive(Clone, Debug)]
enum Cursor<'r> {
    Encoded(wire::Fields<'r>),
    Listed(std::slice::Iter<'r, Instance<'r>>),
    Packed(packed::Cursor<'r>),
}

impl<'r> Iterator for Instances<'r> {
    type Item = Result<Instance<'r>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        // Small enough to become a part of the caller's loop.
        if let Cursor::Encoded(fields) = &mut self.0 {
            let mut ahead = fields.clone();
            if let Some(instance) = ahead.next_short(INSTANCES).and_then(Instance::usual) {
                *fields = ahead;
                return Some(Ok(instance));
            }
        }
        self.next_unusual()
    }
}

impl<'r> Instances<'r> {
    #[inline(never)]
    fn next_unusual(&mut self) -> Option<Result<Instance<'r>, Error>> {
        match &mut self.0 {
            Cursor::Listed(list) => list.next().cloned().map(Ok),
            Cursor::Packed(cursor) => cursor.next().map(Ok),
            Cursor::Encoded(fields) => loop {
                match fields.next()? {
                    Err(error) => return Some(Err(error.inside("instances"))),
                    Ok(field) if field.number == u32::from(INSTANCES) => {
                        let Some(message) = field.value.message() else {
                            continue;
                        };
                        let instance = Instance::decode(message);
                        return Some(instance.map_err(|error| error.inside("instances")));
                    }
                    Ok(_) => {}
                }
            },
        }
    }
}

impl<'r> Instance<'r> {
    /// An instance with a key and a value, both of them in the usual form.
    #[inline]
    fn usual(message: &'r [u8]) -> Option<Self> {
        let mut fields = Message::new(message, 0).fields();
        let (key, value) = (fields.next_short(1)?, fields.next_short(2)?);
        if !fields.is_done() {
            return None;
        }
        Some(Self {
            key: Some(Value::usual(key)?),
            value: Some(Value::usual(value)?),
        })
    }

    fn decode(message: Message<'r>) -> Result<Self, Error> {
        let mut instance = Self {
            key: None,
            value: None,
        };
        for field in message.fields() {
            let field = field?;
            if let Some(message) = field.value.message() {
                match field.number {
                    1 => instance.key = Value::decode(message)?,
                    2 => instance.value = Value::decode(message)?,
                    _ => {}
                }
            }
        }
        Ok(instance)
    }
}

/// Finds the numbers of names.
#[derive(Clone, Debug)]
struct NameIndex {
    /// The number of each name: the first of equal ones, which an appended report repeats.
    slots: HashMap<Box<str>, u32>,
    /// For each number the first number of the same name.
    first: Vec<u32>,
}

/// Metric names of a whole report, each with its number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names<'a> {
    list: Vec<Cow<'a, str>>,
    /// Built when the first name is looked up: whoever walks over all metrics needs none.
    index: OnceLock<NameIndex>,
}

impl<'a> Names<'a> {
    pub(crate) const fn none() -> Self {
        Self {
            list: Vec::new(),
            index: OnceLock::new(),
        }
    }

    pub(crate) fn new(list: Vec<Cow<'a, str>>) -> Self {
        Self {
            list,
            index: OnceLock::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn get(&self, slot: usize) -> Option<&str> {
        self.list.get(slot).map(|name| &**name)
    }

    fn slot(&self, name: &str) -> Option<u32> {
        self.index().slots.get(name).copied()
    }

    fn index(&self) -> &NameIndex {
        self.index.get_or_init(|| {
            let mut slots = HashMap::with_capacity(self.list.len());
            let first = self
                .list
                .iter()
                .zip(0..)
                .map(|(name, slot)| *slots.entry(Box::from(&**name)).or_insert(slot))
                .collect();
            NameIndex { slots, first }
        })
    }
}

/// All metrics of one workload, found by name.
#[derive(Clone, Debug)]
pub struct Metrics<'r> {
    names: &'r Names<'r>,
    list: Vec<Metric<'r>>,
    /// For each metric the number of its name.
    slots: Vec<u32>,
    /// Numbers of names with the place of the first metric of that name, ordered; made by the first look-up. Not a
    /// table with a place for each name: a report of many names and tiny results would cost their product.
    places: OnceLock<Vec<(u32, u32)>>,
    /// Who writes down which names are asked for.
    reads: Option<&'r Reads>,
}

/// The names of metrics that somebody asked for, whether they were there or not.
///
/// What a computation needs can be told from a run of it: see [`Metrics::noting`].
#[derive(Debug, Default)]
pub struct Reads(Mutex<BTreeSet<String>>);

impl Reads {
    fn note(&self, name: &str) {
        // A set of names is whole after each insertion, so that a panic elsewhere leaves nothing half done.
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !names.contains(name) {
            names.insert(name.to_owned());
        }
    }

    /// What was asked for since the last call. A name that ends in `*` stands for all that begin so.
    pub fn take(&self) -> BTreeSet<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<'r> Metrics<'r> {
    /// What a metric takes here, beside its text.
    const COST: usize = size_of::<Metric<'_>>() + size_of::<u32>() + size_of::<(u32, u32)>();

    pub(crate) fn new(names: &'r Names<'r>) -> Self {
        Self {
            names,
            list: Vec::new(),
            slots: Vec::new(),
            places: OnceLock::new(),
            reads: None,
        }
    }

    /// The same metrics; every name that is asked for from now on is noted.
    #[must_use]
    pub fn noting(mut self, reads: &'r Reads) -> Self {
        self.reads = Some(reads);
        self
    }

    /// Takes away all metrics but those whose names are wanted.
    pub fn retain(&mut self, mut is_wanted: impl FnMut(&str) -> bool) {
        let list = std::mem::take(&mut self.list);
        let slots = std::mem::take(&mut self.slots);
        for (metric, slot) in list.into_iter().zip(slots) {
            if is_wanted(metric.name) {
                self.list.push(metric);
                self.slots.push(slot);
            }
        }
        self.places.take();
    }

    /// All metrics whose names begin with these characters, in stored order, duplicates included.
    pub fn beginning_with<'m>(
        &'m self,
        prefix: &'m str,
    ) -> impl Iterator<Item = &'m Metric<'r>> + use<'m, 'r> {
        if let Some(reads) = self.reads {
            reads.note(&format!("{prefix}*"));
        }
        self.list
            .iter()
            .filter(move |metric| metric.name.starts_with(prefix))
    }

    /// Makes room for so many metrics, or for as many as may come.
    pub(crate) fn reserve(&mut self, count: usize, room: &Room) {
        let count = count.min(room.fits(Self::COST));
        self.list.reserve_exact(count);
        self.slots.reserve_exact(count);
    }

    /// Adds a metric from its message.
    pub(crate) fn decode(&mut self, message: Message<'r>, room: &mut Room) -> Result<(), Error> {
        room.charge(Self::COST)?;
        let (slot, metric) = Metric::decode(message, self.names)?;
        self.insert(slot, metric);
        Ok(())
    }

    /// Adds a metric under the number that its name has in the report.
    pub(crate) fn insert(&mut self, slot: usize, metric: Metric<'r>) {
        self.slots.push(u32::try_from(slot).unwrap_or(u32::MAX));
        self.list.push(metric);
        self.places.take();
    }

    /// Takes away values that no counter can have, so that what is computed from the others is finite, and says which they
    /// were.
    ///
    /// A counter has 64 bits, and a metric is one over a time, over another one, or in percent: what is not zero lies between
    /// 10^-30 and 10^30. Anything else is damage, or was never counted. Instances stay as they are.
    pub fn leave_out_implausible(&mut self) -> Vec<Error> {
        const LEAST: f64 = 1e-30;
        const MOST: f64 = 1e30;
        /// A damaged input says the same thing over and over.
        const TOLD: usize = 3;
        let mut problems = Vec::new();
        for metric in &mut self.list {
            // What is not finite has no number anyway.
            let Some(value) = metric.number() else {
                continue;
            };
            let is_plausible = value == 0.0 || (LEAST..=MOST).contains(&value.abs());
            if !is_plausible {
                metric.value = None;
                if problems.len() < TOLD {
                    let kind = Kind::Implausible(format!("{value:e}"));
                    problems.push(Error::new(kind, None, metric.name.to_owned()));
                }
            }
        }
        problems
    }

    fn places(&self) -> &[(u32, u32)] {
        self.places.get_or_init(|| {
            let first = &self.names.index().first;
            let first_slot = |slot: &u32| first.get(usize::try_from(*slot).ok()?).copied();
            let mut places: Vec<_> = self
                .slots
                .iter()
                .zip(0..)
                .filter_map(|(slot, place)| Some((first_slot(slot)?, place)))
                .collect();
            places.sort_unstable();
            places.dedup_by_key(|(slot, _)| *slot);
            places
        })
    }

    /// The metric of a name; the first if the report stores the name twice.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Metric<'r>> {
        if let Some(reads) = self.reads {
            reads.note(name);
        }
        let slot = self.names.slot(name)?;
        let places = self.places();
        let found = places.binary_search_by_key(&slot, |(slot, _)| *slot).ok()?;
        let (_, place) = places.get(found)?;
        self.list.get(usize::try_from(*place).ok()?)
    }

    /// The value of a metric as a finite number; absent is not zero.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.number()
    }

    /// The value of a metric as an unsigned integer.
    #[must_use]
    pub fn integer(&self, name: &str) -> Option<u64> {
        self.get(name)?.value.as_ref()?.integer()
    }

    /// The value of a metric as text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.value.as_ref()?.text()
    }

    /// All metrics in stored order, duplicates included.
    pub fn iter(&self) -> std::slice::Iter<'_, Metric<'r>> {
        self.list.iter()
    }

    /// How many metrics are stored, duplicates included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether no metric is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl<'m, 'r> IntoIterator for &'m Metrics<'r> {
    type Item = &'m Metric<'r>;
    type IntoIter = std::slice::Iter<'m, Metric<'r>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The nearest float of an integer: exact up to 2^53, beyond every count of a report.
#[expect(
    clippy::as_conversions,
    reason = "there is no other conversion, and rounding is what is meant"
)]
fn float(value: u64) -> f64 {
    value as f64
}

/// The integer that a float stands for, if it stands for one.
#[expect(clippy::as_conversions, reason = "the range is checked before")]
fn whole(value: f64) -> Option<u64> {
    const LIMIT: f64 = 9_007_199_254_740_992.0; // 2^53: above it not every integer has a float.
    ((0.0..=LIMIT).contains(&value) && value.fract().abs() < f64::EPSILON).then_some(value as u64)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn shortcuts_give_what_the_fields_give() {
        let mut float = vec![0x19];
        float.extend(2.5_f64.to_le_bytes());
        let values: &[&[u8]] = &[
            &float,
            &[0x28, 7],
            &[0x28, 0x96, 0x01],
            &[0x28, 0x80, 0x80, 0x01],
            &[0x28, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
            &[0x28, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
            // Two fields, of which the last counts; a number of ten bytes; one that breaks off.
            &[0x28, 7, 0x28, 8],
            &[
                0x28, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,
            ],
            &[0x28, 0x80],
            &[0x20, 7],
            &[0x0a, 1, b'x'],
            &[],
        ];
        for bytes in values {
            let by_fields = Value::decode_fields(Message::new(bytes, 0));
            match Value::usual(bytes) {
                Some(value) => assert_eq!(by_fields.unwrap(), Some(value), "{bytes:x?}"),
                None => assert_eq!(by_fields, Value::decode(Message::new(bytes, 0))),
            }
        }
        assert_eq!(Value::usual(&[0x28, 0x96, 0x01]), Some(Value::U64(150)));
    }

    #[test]
    fn what_is_asked_for_is_noted_and_what_is_not_wanted_goes() {
        let names = Names::new(vec![Cow::Borrowed("a__x"), Cow::Borrowed("a__y")]);
        let mut metrics = Metrics::new(&names);
        let slots: [&[u8]; 2] = [&[0x08, 0], &[0x08, 1]];
        for slot in slots {
            let mut room = Room::new(0, 1 << 20);
            metrics.decode(Message::new(slot, 0), &mut room).unwrap();
        }
        let reads = Reads::default();
        metrics.retain(|name| name != "a__y");
        let metrics = metrics.noting(&reads);
        assert!(metrics.get("a__x").is_some() && metrics.get("a__y").is_none());
        assert_eq!(metrics.beginning_with("a__").count(), 1);
        let noted: Vec<String> = reads.take().into_iter().collect();
        assert_eq!(noted, ["a__*", "a__x", "a__y"]);
        assert!(reads.take().is_empty());
    }

    #[test]
    fn instances_in_unusual_forms_stand_between_usual_ones() {
        let usual = [0x1a, 8, 0x0a, 2, 0x28, 1, 0x12, 2, 0x28, 5];
        let value_first = [0x1a, 8, 0x12, 2, 0x28, 6, 0x0a, 2, 0x28, 2];
        let without_key = [0x1a, 4, 0x12, 2, 0x28, 7];
        let category = [0x20, 1];
        let bytes = [&usual[..], &value_first, &category, &without_key, &usual].concat();
        let names = Names::new(vec![Cow::Borrowed("m")]);
        let mut metrics = Metrics::new(&names);
        metrics
            .decode(Message::new(&bytes, 0), &mut Room::new(0, 0))
            .unwrap();
        let metric = metrics.get("m").unwrap();
        assert_eq!(metric.category, Category::Series);
        let found: Vec<_> = metric
            .instances()
            .map(|instance| {
                let Instance { key, value } = instance.unwrap();
                (
                    key.and_then(|key| key.integer()),
                    value.and_then(|value| value.integer()),
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                (Some(1), Some(5)),
                (Some(2), Some(6)),
                (None, Some(7)),
                (Some(1), Some(5))
            ]
        );
    }
}
