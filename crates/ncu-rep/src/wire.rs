//! A cursor over the fields of one protocol-buffer message.
//!
//! Nothing is copied and nothing is allocated: a length-delimited value is a slice of the input. The cursor checks
//! every length against the bytes that remain in its message, so a hostile length cannot reach outside.

use std::borrow::Cow;

use crate::error::{Error, Kind};

/// The bytes of one message and where they start in the input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) offset: u64,
}

/// One field of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) number: u32,
    pub(crate) value: Value<'a>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Varint(u64),
    Fixed64([u8; 8]),
    Fixed32([u8; 4]),
    Bytes(Message<'a>),
}

impl<'a> Message<'a> {
    pub(crate) fn new(bytes: &'a [u8], offset: u64) -> Self {
        Self { bytes, offset }
    }

    pub(crate) fn fields(self) -> Fields<'a> {
        Fields {
            rest: self.bytes,
            end: self.offset.saturating_add(len(self.bytes)),
        }
    }

    /// The bytes as numbers that stand one after the other.
    pub(crate) fn packed_varints(self) -> impl Iterator<Item = Result<u64, Error>> + 'a {
        let mut fields = self.fields();
        std::iter::from_fn(move || {
            if fields.rest.is_empty() {
                return None;
            }
            let value = fields.varint();
            if value.is_err() {
                fields.rest = &[];
            }
            Some(value)
        })
    }

    /// The bytes as floats that stand one after the other.
    pub(crate) fn packed_doubles(self) -> impl Iterator<Item = Result<f64, Error>> + 'a {
        let mut fields = self.fields();
        std::iter::from_fn(move || {
            if fields.rest.is_empty() {
                return None;
            }
            let value = fields.array().map(f64::from_le_bytes);
            if value.is_err() {
                fields.rest = &[];
            }
            Some(value)
        })
    }

    /// The message as text; bytes that are not UTF-8 are replaced.
    pub(crate) fn text(self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.bytes)
    }
}

impl<'a> Value<'a> {
    pub(crate) fn varint(self) -> Option<u64> {
        match self {
            Self::Varint(value) => Some(value),
            _ => None,
        }
    }

    /// A varint that says yes or no.
    pub(crate) fn flag(self) -> Option<bool> {
        self.varint().map(|value| value != 0)
    }

    pub(crate) fn message(self) -> Option<Message<'a>> {
        match self {
            Self::Bytes(message) => Some(message),
            _ => None,
        }
    }

    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        self.message().map(Message::text)
    }

    pub(crate) fn double(self) -> Option<f64> {
        match self {
            Self::Fixed64(bytes) => Some(f64::from_le_bytes(bytes)),
            _ => None,
        }
    }

    pub(crate) fn float(self) -> Option<f32> {
        match self {
            Self::Fixed32(bytes) => Some(f32::from_le_bytes(bytes)),
            _ => None,
        }
    }
}

/// Iterates over the fields of a message; stops for good after the first error.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
    /// Offset of the end of the message in the input: the place of the cursor follows from what is left.
    end: u64,
}

impl<'a> Fields<'a> {
    /// Where the next field starts in the input.
    pub(crate) fn offset(&self) -> u64 {
        self.end.saturating_sub(len(self.rest))
    }

    #[inline]
    fn varint(&mut self) -> Result<u64, Error> {
        // Most tags and lengths are one byte.
        if let Some((&byte, rest)) = self.rest.split_first()
            && byte < 0x80
        {
            self.rest = rest;
            return Ok(u64::from(byte));
        }
        self.long_varint()
    }

    fn long_varint(&mut self) -> Result<u64, Error> {
        let start = self.offset();
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let Some((&byte, rest)) = self.rest.split_first() else {
                return Err(Error::new(Kind::Wire("a number breaks off"), start, ""));
            };
            self.rest = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Error::new(
            Kind::Wire("a number is longer than 10 bytes"),
            start,
            "",
        ))
    }

    #[inline]
    fn take(&mut self, count: u64) -> Result<&'a [u8], Error> {
        let place = self.offset();
        let available = len(self.rest);
        let overrun = || {
            Error::new(
                Kind::Overrun {
                    needed: count,
                    available,
                },
                place,
                "",
            )
        };
        let count = usize::try_from(count).map_err(|_| overrun())?;
        let (head, rest) = self.rest.split_at_checked(count).ok_or_else(overrun)?;
        self.rest = rest;
        Ok(head)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        match self.rest.split_first_chunk::<N>() {
            Some((head, rest)) => {
                self.rest = rest;
                Ok(*head)
            }
            None => Err(Error::new(
                Kind::Wire("a fixed-size value breaks off"),
                self.offset(),
                "",
            )),
        }
    }

    #[inline]
    fn field(&mut self) -> Result<Field<'a>, Error> {
        let start = self.offset();
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).unwrap_or(0);
        if number == 0 {
            return Err(Error::new(
                Kind::Wire("a field number is out of range"),
                start,
                "",
            ));
        }
        let value = match tag & 7 {
            0 => Value::Varint(self.varint()?),
            1 => Value::Fixed64(self.array()?),
            2 => {
                let size = self.varint()?;
                let offset = self.offset();
                Value::Bytes(Message {
                    bytes: self.take(size)?,
                    offset,
                })
            }
            5 => Value::Fixed32(self.array()?),
            _ => return Err(Error::new(Kind::Wire("an unknown wire type"), start, "")),
        };
        Ok(Field { number, value })
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

/// Bounds what decoded values take in memory by a multiple of the bytes that they come from: an empty message takes two
/// bytes of a report and may be two hundred in memory. Real values take about as much as their bytes.
#[derive(Debug)]
pub(crate) struct Room {
    limit: u64,
    left: u64,
}

impl Room {
    /// Small inputs are not looked at so closely.
    const FREE: u64 = 64 << 10;

    pub(crate) fn new(factor: u64, bytes: u64) -> Self {
        let limit = bytes.saturating_mul(factor).saturating_add(Self::FREE);
        Self { limit, left: limit }
    }

    /// Accounts for memory; refuses once there is no room, and from then on.
    pub(crate) fn charge(&mut self, size: usize) -> Result<(), Error> {
        let left = u64::try_from(size)
            .ok()
            .and_then(|size| self.left.checked_sub(size));
        self.left = left.unwrap_or(0);
        match left {
            Some(_) => Ok(()),
            None => Err(Error::new(Kind::Swollen { limit: self.limit }, None, "")),
        }
    }

    /// Appends to a list. A list that grows holds its old storage and a new one of twice the size.
    pub(crate) fn push<T>(&mut self, list: &mut Vec<T>, value: T) -> Result<(), Error> {
        self.charge(size_of::<T>().saturating_mul(3))?;
        list.push(value);
        Ok(())
    }

    /// How many values of a size there is room for.
    pub(crate) fn fits(&self, size: usize) -> usize {
        usize::try_from(self.left)
            .unwrap_or(usize::MAX)
            .checked_div(size)
            .unwrap_or(usize::MAX)
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0
    }
}

/// The length of a slice as the 64-bit number that offsets are made of.
#[inline]
pub(crate) fn len(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Vec<Result<Field<'_>, Error>> {
        Message::new(bytes, 100).fields().collect()
    }

    #[test]
    fn reads_each_wire_type() {
        let bytes = [
            0x08, 0x96, 0x01, 0x11, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0x1a, 2, b'o', b'k', 0x25, 0, 0,
            0x80, 0x3f,
        ];
        let fields: Vec<_> = read(&bytes).into_iter().map(Result::unwrap).collect();
        assert_eq!(fields[0].value.varint(), Some(150));
        assert_eq!(fields[1].value.double(), Some(1.0));
        assert_eq!(fields[2].value.text().as_deref(), Some("ok"));
        let Value::Bytes(message) = fields[2].value else {
            panic!("not bytes")
        };
        assert_eq!(message.offset, 114);
        assert_eq!(fields[3].value.float(), Some(1.0));
        assert_eq!(
            fields.iter().map(|f| f.number).collect::<Vec<_>>(),
            [1, 2, 3, 4]
        );
    }

    #[test]
    fn a_length_past_the_end_is_refused_with_its_place() {
        let error = read(&[0x08, 1, 0x12, 0x7f, 1, 2])
            .pop()
            .unwrap()
            .unwrap_err();
        assert_eq!(error.code(), "NCU0004");
        assert_eq!(error.offset(), Some(104));
    }

    #[test]
    fn endless_numbers_groups_and_field_zero_are_refused() {
        for bytes in [&[0xff; 12][..], &[0x0b], &[0x02, 0], &[0x09, 1, 2], &[0x80]] {
            let error = read(bytes).pop().unwrap().unwrap_err();
            assert_eq!(error.code(), "NCU0005", "{bytes:x?}");
        }
    }
}
