//! Lanes as bytes for a page: a few for each event, and two for each bin of the pyramid.

use ridge_trace::lanes::Lane;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The events of a lane. For each: start after the start of the one before, length, and name times 16 plus shade, each
/// with seven bits in a byte, the low ones first.
pub(super) fn events(lane: &Lane) -> String {
    let mut bytes = Vec::with_capacity(lane.events.len() * 6);
    let mut last = 0;
    for event in &lane.events {
        push(&mut bytes, event.start_ns.saturating_sub(last));
        push(&mut bytes, event.duration_ns);
        push(
            &mut bytes,
            (u64::from(event.name) << 4) | event.shade as u64,
        );
        last = event.start_ns;
    }
    base64(&bytes)
}

/// The pyramid of a lane, the finest level first: shade and cover of each bin.
pub(super) fn pyramid(lane: &Lane) -> String {
    let bins = lane.levels.iter().flatten();
    let bytes: Vec<u8> = bins.flat_map(|bin| [bin.shade as u8, bin.cover]).collect();
    base64(&bytes)
}

fn push(bytes: &mut Vec<u8>, mut value: u64) {
    loop {
        let low = u8::try_from(value & 0x7f).unwrap_or(0);
        value >>= 7;
        if value == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk
            .iter()
            .fold(0_u32, |all, byte| (all << 8) | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            if place > chunk.len() {
                out.push('=');
            } else {
                let index = usize::try_from(group >> (18 - 6 * place) & 63).unwrap_or(0);
                out.push(char::from(ALPHABET[index]));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_text() {
        // Values of RFC 4648, section 10.
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn numbers_take_as_many_bytes_as_they_need() {
        let bytes = |value| {
            let mut bytes = Vec::new();
            push(&mut bytes, value);
            bytes
        };
        assert_eq!(bytes(0), [0]);
        assert_eq!(bytes(127), [127]);
        assert_eq!(bytes(300), [0xac, 2]);
        assert_eq!(bytes(u64::MAX).len(), 10);
    }
}
