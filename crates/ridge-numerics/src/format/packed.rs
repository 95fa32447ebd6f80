//! Elements of less than a byte, bit after bit.

use super::Format;

impl Format {
    /// Gives elements that stand bit after bit a byte each, as the other functions want them: `count` from `first` on. The first
    /// element is in the lowest bits of the first byte: of two FP4 the low nibble comes first, and four FP6 take three bytes.
    ///
    /// Returns how many there were; only of FP4 and FP6 there are any.
    pub fn unpack(self, packed: &[u8], first: u64, count: usize, out: &mut Vec<u8>) -> usize {
        out.clear();
        let bits = u64::from(self.size_bits());
        if bits >= 8 {
            return 0;
        }
        let there = (packed.len() as u64 * 8 / bits).saturating_sub(first);
        let count = there.min(count as u64);
        let mask = (1_u16 << bits) - 1;
        out.extend((first..first + count).map(|element| {
            let bit = element * bits;
            let byte = (bit / 8) as usize;
            let pair = [packed[byte], packed.get(byte + 1).copied().unwrap_or(0)];
            ((u16::from_le_bytes(pair) >> (bit % 8)) & mask) as u8
        }));
        count as usize
    }

    /// The opposite of [`Format::unpack`]. Empty for formats of whole bytes.
    #[must_use]
    pub fn pack(self, codes: &[u8]) -> Vec<u8> {
        let bits = self.size_bits() as usize;
        if bits >= 8 {
            return Vec::new();
        }
        let mut packed = vec![0; (codes.len() * bits).div_ceil(8)];
        let mask = (1_u8 << bits) - 1;
        for (element, &code) in codes.iter().enumerate() {
            let bit = element * bits;
            let [low, high] = (u16::from(code & mask) << (bit % 8)).to_le_bytes();
            packed[bit / 8] |= low;
            if high != 0 {
                packed[bit / 8 + 1] |= high;
            }
        }
        packed
    }
}
