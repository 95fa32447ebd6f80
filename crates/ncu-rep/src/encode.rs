//! Writes protocol-buffer wire data: the counterpart of [`crate::wire`].
//!
//! A nested message is written in place; its length is put before it when it is closed, so that one buffer serves for
//! all depths.

use crate::wire::{Value, len};

/// Wire data under construction.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    bytes: Vec<u8>,
}

/// A nested message that is open.
#[derive(Debug)]
#[must_use]
pub(crate) struct Open {
    /// Where its tag starts.
    start: usize,
    /// Where its content starts; the byte before is kept for the length.
    content: usize,
}

impl Encoder {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Adds what another encoder holds.
    pub(crate) fn append(&mut self, other: &Self) {
        self.bytes.extend_from_slice(&other.bytes);
    }

    fn varint(&mut self, value: u64) {
        push_varint(&mut self.bytes, value);
    }

    fn tag(&mut self, number: u32, wire_type: u8) {
        self.varint((u64::from(number) << 3) | u64::from(wire_type));
    }

    pub(crate) fn number(&mut self, number: u32, value: u64) {
        self.tag(number, 0);
        self.varint(value);
    }

    pub(crate) fn text(&mut self, number: u32, text: &str) {
        self.data(number, text.as_bytes());
    }

    pub(crate) fn data(&mut self, number: u32, data: &[u8]) {
        self.tag(number, 2);
        self.varint(len(data));
        self.bytes.extend_from_slice(data);
    }

    /// Writes a number of any wire type as it is; says no to anything else.
    pub(crate) fn scalar(&mut self, number: u32, value: Value<'_>) -> bool {
        match value {
            Value::Varint(value) => self.number(number, value),
            Value::Fixed64(bytes) => {
                self.tag(number, 1);
                self.bytes.extend_from_slice(&bytes);
            }
            Value::Fixed32(bytes) => {
                self.tag(number, 5);
                self.bytes.extend_from_slice(&bytes);
            }
            Value::Bytes(_) => return false,
        }
        true
    }

    pub(crate) fn open(&mut self, number: u32) -> Open {
        let start = self.bytes.len();
        self.tag(number, 2);
        self.bytes.push(0);
        Open {
            start,
            content: self.bytes.len(),
        }
    }

    /// Whether nothing was written into the open message.
    pub(crate) fn is_empty(&self, open: &Open) -> bool {
        self.bytes.len() == open.content
    }

    pub(crate) fn close(&mut self, open: Open) {
        let size = self.bytes.get(open.content..).map_or(0, len);
        let place = open.content.saturating_sub(1);
        if let (Ok(small @ 0..=0x7f), Some(byte)) = (u8::try_from(size), self.bytes.get_mut(place))
        {
            *byte = small;
            return;
        }
        let mut length = Vec::with_capacity(5);
        push_varint(&mut length, size);
        self.bytes.splice(place..open.content, length);
    }

    /// Takes the open message back, tag included.
    pub(crate) fn discard(&mut self, open: Open) {
        self.bytes.truncate(open.start);
    }
}

fn push_varint(bytes: &mut Vec<u8>, mut value: u64) {
    // Seven bits fit into a byte whatever the value is.
    let low = |value: u64| u8::try_from(value & 0x7f).unwrap_or(0);
    while value > 0x7f {
        bytes.push(low(value) | 0x80);
        value >>= 7;
    }
    bytes.push(low(value));
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;
    use crate::wire::Message;

    #[test]
    fn what_is_written_is_read_back() {
        for size in [0_usize, 1, 127, 128, 129, 16_383, 16_384, 70_000] {
            let mut encoder = Encoder::default();
            encoder.number(1, u64::MAX);
            let outer = encoder.open(2);
            let inner = encoder.open(3000);
            encoder.data(1, &vec![7; size]);
            encoder.close(inner);
            let gone = encoder.open(5);
            encoder.text(1, "gone");
            encoder.discard(gone);
            encoder.close(outer);
            assert!(encoder.scalar(6, Value::Fixed64(1.5_f64.to_le_bytes())));
            assert!(encoder.scalar(7, Value::Fixed32(2.5_f32.to_le_bytes())));

            let fields: Vec<_> = Message::new(encoder.bytes(), 0)
                .fields()
                .collect::<Result<_, _>>()
                .unwrap();
            assert_eq!(
                fields.iter().map(|field| field.number).collect::<Vec<_>>(),
                [1, 2, 6, 7]
            );
            assert_eq!(fields[0].value.varint(), Some(u64::MAX));
            assert_eq!(fields[2].value.double(), Some(1.5));
            assert_eq!(fields[3].value.float(), Some(2.5));
            let outer: Vec<_> = fields[1]
                .value
                .message()
                .unwrap()
                .fields()
                .collect::<Result<_, _>>()
                .unwrap();
            assert_eq!((outer.len(), outer[0].number), (1, 3000));
            let inner = outer[0].value.message().unwrap().fields().next();
            let data = inner.unwrap().unwrap().value.message().unwrap();
            assert_eq!(data.bytes, vec![7; size]);
        }
    }
}
