//! Metrics packed into bytes: how readers of other formats than the report keep them. Most values of an export are a few
//! digits, for which [`Value`] takes ten times the text; packed they take less than the text.
//!
//! A value is one byte and what belongs to it:
//!
//! | byte | value |
//! |---|---|
//! | `00` to `ef` | that whole number |
//! | `f0` | none |
//! | `f1` to `f8` | a whole number of one to eight bytes, the lowest first |
//! | `f9` | a float of eight bytes |
//! | `fa` | text, behind its length |
//!
//! A metric is the step from the number of the name before to its own, its value and, where it has some, the length of its
//! instances and these: the step from the key before to its own, and the value. Steps and lengths are variable in length.

use std::borrow::Cow;

use crate::metric::{Instance, Value};

/// The largest whole number that is its own byte.
const SMALL: u64 = 0xef;
const NONE: u8 = 0xf0;
const FLOAT: u8 = 0xf9;
const TEXT: u8 = 0xfa;

/// Metrics of one workload. They stay in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packed {
    bytes: Vec<u8>,
    /// The number of the last name, which is one of the 65,536 that are kept.
    last: u32,
}

impl Packed {
    /// Adds a metric under the number of its name.
    pub(crate) fn push(
        &mut self,
        slot: usize,
        value: Option<&Value<'_>>,
        instances: &PackedInstances,
    ) {
        let slot = u32::try_from(slot).unwrap_or(u32::MAX);
        // Names mostly follow each other, which makes the step zero.
        let step = u64::from(slot)
            .wrapping_sub(u64::from(self.last))
            .wrapping_sub(1);
        let step = zigzag(step);
        let has_instances = !instances.bytes.is_empty();
        push_number(
            &mut self.bytes,
            step.wrapping_shl(1) | u64::from(has_instances),
        );
        self.last = slot;
        push_value(&mut self.bytes, value);
        if has_instances {
            push_text(&mut self.bytes, &instances.bytes);
        }
    }

    /// Gives back what was held for more metrics.
    pub(crate) fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
    }

    /// The same without values; instances stay.
    pub(crate) fn without_values(&self) -> Self {
        let mut packed = Self::default();
        for (slot, _, instances) in self.iter() {
            let instances = PackedInstances {
                bytes: instances.to_vec(),
                ..PackedInstances::default()
            };
            packed.push(slot, None, &instances);
        }
        packed.shrink();
        packed
    }

    /// For each metric the number of its name, its value, and its instances.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, Option<Value<'_>>, &[u8])> {
        let mut rest = Reader(&self.bytes);
        let mut last = 0_u64;
        std::iter::from_fn(move || {
            let head = rest.number()?;
            let step = unzigzag(head.wrapping_shr(1));
            last = last.wrapping_add(step).wrapping_add(1);
            let value = rest.value()?;
            let instances = match head & 1 {
                1 => rest.text()?,
                _ => &[],
            };
            Some((usize::try_from(last).ok()?, value, instances))
        })
    }
}

/// Instances of a metric under construction, each with a number as its key.
#[derive(Clone, Debug, Default)]
pub(crate) struct PackedInstances {
    bytes: Vec<u8>,
    last: u64,
    is_unordered: bool,
}

impl PackedInstances {
    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Adds an instance.
    pub(crate) fn push(&mut self, key: u64, value: Option<&Value<'_>>) {
        self.is_unordered |= key < self.last;
        push_number(&mut self.bytes, zigzag(key.wrapping_sub(self.last)));
        self.last = key;
        push_value(&mut self.bytes, value);
    }

    /// Orders them by key; those with one key stay in their order.
    pub(crate) fn sort(&mut self) {
        if !self.is_unordered {
            return;
        }
        let mut places = Vec::new();
        let mut cursor = Cursor::new(&self.bytes);
        while let Some(key) = cursor.key() {
            let from = cursor.rest.0;
            if cursor.rest.value().is_none() {
                break;
            }
            let length = from.len().saturating_sub(cursor.rest.0.len());
            places.push((key, from.get(..length).unwrap_or_default()));
        }
        places.sort_by_key(|(key, _)| *key);
        let mut sorted = Self::default();
        sorted.bytes.reserve_exact(self.bytes.len());
        for (key, value) in places {
            push_number(&mut sorted.bytes, zigzag(key.wrapping_sub(sorted.last)));
            sorted.last = key;
            sorted.bytes.extend_from_slice(value);
        }
        *self = sorted;
    }
}

/// Walks over instances.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'p> {
    rest: Reader<'p>,
    last: u64,
}

impl<'p> Cursor<'p> {
    pub(crate) const fn new(bytes: &'p [u8]) -> Self {
        Self {
            rest: Reader(bytes),
            last: 0,
        }
    }

    fn key(&mut self) -> Option<u64> {
        self.last = self.last.wrapping_add(unzigzag(self.rest.number()?));
        Some(self.last)
    }
}

impl<'p> Iterator for Cursor<'p> {
    type Item = Instance<'p>;

    fn next(&mut self) -> Option<Instance<'p>> {
        let key = self.key()?;
        Some(Instance {
            key: Some(Value::U64(key)),
            value: self.rest.value()?,
        })
    }
}

#[derive(Clone, Debug)]
struct Reader<'p>(&'p [u8]);

impl<'p> Reader<'p> {
    fn take(&mut self, length: usize) -> Option<&'p [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f).wrapping_shl(shift);
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn text(&mut self) -> Option<&'p [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length)
    }

    /// The outer option is for the end of the bytes.
    #[expect(clippy::option_option, reason = "a value that is none is not the end")]
    fn value(&mut self) -> Option<Option<Value<'p>>> {
        Some(Some(match self.byte()? {
            NONE => return Some(None),
            FLOAT => Value::F64(f64::from_le_bytes(self.take(8)?.try_into().ok()?)),
            TEXT => Value::Text(Cow::Borrowed(std::str::from_utf8(self.text()?).ok()?)),
            small if u64::from(small) <= SMALL => Value::U64(u64::from(small)),
            size => {
                let bytes = self.take(usize::from(size.wrapping_sub(NONE)))?;
                let mut whole = [0; 8];
                whole.get_mut(..bytes.len())?.copy_from_slice(bytes);
                Value::U64(u64::from_le_bytes(whole))
            }
        }))
    }
}

/// Small steps in both directions as small numbers.
const fn zigzag(step: u64) -> u64 {
    let sign = step.wrapping_shr(63);
    step.wrapping_shl(1) ^ 0_u64.wrapping_sub(sign)
}

const fn unzigzag(number: u64) -> u64 {
    number.wrapping_shr(1) ^ 0_u64.wrapping_sub(number & 1)
}

fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number = number.wrapping_shr(7);
        if number == 0 {
            bytes.push(low & 0x7f);
            return;
        }
        bytes.push(low | 0x80);
    }
}

fn push_text(bytes: &mut Vec<u8>, text: &[u8]) {
    push_number(bytes, u64::try_from(text.len()).unwrap_or(u64::MAX));
    bytes.extend_from_slice(text);
}

fn push_whole(bytes: &mut Vec<u8>, whole: u64) {
    let digits = whole.to_le_bytes();
    match digits.first() {
        Some(low) if whole <= SMALL => bytes.push(*low),
        _ => {
            let zeros = digits.iter().rev().take_while(|byte| **byte == 0).count();
            let used = digits.len().saturating_sub(zeros);
            bytes.push(u8::try_from(used).unwrap_or(8).saturating_add(NONE));
            bytes.extend_from_slice(digits.get(..used).unwrap_or(&digits));
        }
    }
}

fn push_value(bytes: &mut Vec<u8>, value: Option<&Value<'_>>) {
    let mut float = |value: f64| {
        bytes.push(FLOAT);
        bytes.extend_from_slice(&value.to_le_bytes());
    };
    match value {
        None => bytes.push(NONE),
        Some(Value::F64(value)) => float(*value),
        Some(Value::F32(value)) => float(f64::from(*value)),
        Some(Value::U64(whole)) => push_whole(bytes, *whole),
        Some(Value::U32(whole)) => push_whole(bytes, u64::from(*whole)),
        Some(Value::Text(text)) => {
            bytes.push(TEXT);
            push_text(bytes, text.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLES: [u64; 9] = [
        0,
        1,
        0xef,
        0xf0,
        0xff,
        0x100,
        65_536,
        (1 << 56) + 3,
        u64::MAX,
    ];

    #[test]
    fn what_is_packed_comes_out_again() {
        let mut values: Vec<Option<Value<'_>>> = WHOLES.map(|whole| Some(Value::U64(whole))).into();
        values.extend([
            None,
            Some(Value::F64(0.5)),
            Some(Value::F64(-0.0)),
            Some(Value::Text(Cow::Borrowed(""))),
            Some(Value::Text(Cow::Borrowed("r\u{e9}sum\u{e9}"))),
        ]);
        let mut packed = Packed::default();
        let slots: Vec<usize> = [7, 8, 9, 3, 65_535, 0, 1]
            .into_iter()
            .cycle()
            .take(values.len())
            .collect();
        for (slot, value) in slots.iter().zip(&values) {
            let mut instances = PackedInstances::default();
            if slot % 2 == 0 {
                instances.push(u64::MAX, value.as_ref());
                instances.push(16, value.as_ref());
                instances.push(0, None);
                instances.sort();
            }
            packed.push(*slot, value.as_ref(), &instances);
        }
        packed.shrink();
        let mut count = 0;
        for ((slot, value, instances), (expected_slot, expected)) in
            packed.iter().zip(slots.iter().zip(&values))
        {
            count += 1;
            assert_eq!((slot, &value), (*expected_slot, expected));
            let instances: Vec<(Option<Value<'_>>, Option<Value<'_>>)> = Cursor::new(instances)
                .map(|instance| (instance.key, instance.value))
                .collect();
            if slot % 2 == 0 {
                let key = |key| Some(Value::U64(key));
                assert_eq!(
                    instances,
                    [
                        (key(0), None),
                        (key(16), expected.clone()),
                        (key(u64::MAX), expected.clone())
                    ]
                );
            } else {
                assert!(instances.is_empty());
            }
        }
        assert_eq!(count, values.len());
        assert!(
            packed
                .without_values()
                .iter()
                .all(|(_, value, _)| value.is_none())
        );
    }

    #[test]
    fn a_cell_of_one_digit_takes_two_bytes() {
        let mut packed = Packed::default();
        for slot in 0..1000 {
            packed.push(slot, Some(&Value::U64(7)), &PackedInstances::default());
        }
        // The first one has no name before it.
        assert!(packed.bytes.len() <= 2001);
    }
}
