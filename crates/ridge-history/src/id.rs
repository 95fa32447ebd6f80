//! Identifiers of results: what they are made of, so that the same result has the same identifier everywhere.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use crate::Error;

/// The identifier of a result: the SHA-256 of its content.
///
/// It covers what cannot be derived: time, host, revision, command, labels and the document. What is read out of the document
/// (points, GPU, clocks, and the name where the document tells it) is left out, so that versions that read more out of it agree
/// about the identifier; whoever takes a result from elsewhere reads it out of the document again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id([u8; 32]);

impl Id {
    /// So many digits are shown to people: among 10^6 results, two share them with a chance of 1 in 500.
    pub const SHORT: usize = 12;

    /// Hashes parts. Each goes in with its length, so that no two lists of parts are the same bytes.
    pub(crate) fn of_parts<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            let length = u64::try_from(part.len()).unwrap_or(u64::MAX);
            hash.update(length.to_le_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    /// The bytes.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// An identifier from its bytes; absent where there are not 32.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The first digits, which usually tell one result from the others.
    #[must_use]
    pub fn short(&self) -> String {
        let mut text = self.to_string();
        text.truncate(Self::SHORT);
        text
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl FromStr for Id {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.parse::<IdPrefix>() {
            Ok(prefix) if prefix.digits == 64 => Ok(Self(prefix.low)),
            _ => Err(Error::Id(text.to_owned())),
        }
    }
}

/// The first digits of an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdPrefix {
    low: [u8; 32],
    high: [u8; 32],
    digits: usize,
}

impl IdPrefix {
    /// The first identifier with these digits.
    #[must_use]
    pub const fn low(&self) -> &[u8; 32] {
        &self.low
    }

    /// The last one.
    #[must_use]
    pub const fn high(&self) -> &[u8; 32] {
        &self.high
    }
}

impl From<Id> for IdPrefix {
    fn from(id: Id) -> Self {
        Self {
            low: id.0,
            high: id.0,
            digits: 64,
        }
    }
}

impl FromStr for IdPrefix {
    type Err = Error;

    /// Reads 4 to 64 hexadecimal digits.
    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::Id(text.to_owned());
        if !(4..=64).contains(&text.len()) {
            return Err(wrong());
        }
        let (mut low, mut high) = ([0; 32], [0xff; 32]);
        for (place, letter) in text.chars().enumerate() {
            let digit = letter
                .to_digit(16)
                .and_then(|digit| u8::try_from(digit).ok());
            let digit = digit.ok_or_else(wrong)?;
            let (shift, mask) = if place % 2 == 0 { (4, 0x0f) } else { (0, 0xf0) };
            for bytes in [&mut low, &mut high] {
                if let Some(byte) = bytes.get_mut(place / 2) {
                    *byte = *byte & mask | digit << shift;
                }
            }
        }
        Ok(Self {
            low,
            high,
            digits: text.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_and_their_beginnings_are_read() {
        let id = Id::of_parts([b"abc".as_slice()]);
        assert_eq!(id.to_string().parse::<Id>().unwrap(), id);
        assert_eq!(id.short().len(), Id::SHORT);
        for digits in [4, 5, 12, 64] {
            let prefix: IdPrefix = id.to_string()[..digits].parse().unwrap();
            assert!(prefix.low() <= id.bytes() && id.bytes() <= prefix.high());
        }
        assert_ne!(Id::of_parts([b"ab".as_slice(), b"c"]), id);
        for wrong in ["", "abc", "xyzz", "12 4", &"a".repeat(65)] {
            assert!(wrong.parse::<IdPrefix>().is_err(), "{wrong}");
        }
        assert!("abcd".parse::<Id>().is_err());
    }
}
