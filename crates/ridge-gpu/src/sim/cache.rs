//! The L2: which parts of which buffers it holds, and which of them are dirty.

use std::collections::{BTreeMap, HashMap};

/// A part of a buffer.
type Key = (u64, u64);

#[derive(Clone, Copy, Debug)]
struct Line {
    stamp: u64,
    bytes: u64,
    is_dirty: bool,
}

/// A cache that forgets first what was used longest ago, in parts of buffers rather than lines.
#[derive(Debug)]
pub(super) struct Cache {
    capacity: u64,
    part: u64,
    held: u64,
    stamp: u64,
    lines: HashMap<Key, Line>,
    by_age: BTreeMap<u64, Key>,
}

/// Bytes between L2 and DRAM.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Traffic {
    pub(super) read: u64,
    pub(super) written_back: u64,
}

/// How many parts a full cache has: fine enough for a per cent, coarse enough to be quick.
const PARTS: u64 = 512;

impl Cache {
    pub(super) fn new(capacity: u64) -> Self {
        Self {
            capacity,
            part: (capacity / PARTS).max(1),
            held: 0,
            stamp: 0,
            lines: HashMap::new(),
            by_age: BTreeMap::new(),
        }
    }

    /// Touches a range once, from its start to its end. A read of what is not held comes from DRAM, a write does not; what
    /// is dirty goes to DRAM when its place is needed.
    pub(super) fn touch(
        &mut self,
        buffer: u64,
        offset: u64,
        bytes: u64,
        reads: bool,
        writes: bool,
    ) -> Traffic {
        let mut traffic = Traffic::default();
        if bytes == 0 {
            return traffic;
        }
        let end = offset + bytes;
        let (first, last) = (offset / self.part, (end - 1) / self.part);
        let mut missed = 0;
        let mut index = first;
        while index <= last {
            let start = (index * self.part).max(offset);
            let stop = ((index + 1) * self.part).min(end);
            let part = stop - start;
            let key = (buffer, index);
            let mut line = self.take(key).unwrap_or(Line {
                stamp: 0,
                bytes: 0,
                is_dirty: false,
            });
            let new = part.saturating_sub(line.bytes);
            if reads {
                traffic.read += new;
            }
            missed += new;
            line.bytes = line.bytes.max(part);
            line.is_dirty |= writes;
            self.put(key, line);
            traffic.written_back += self.evict();
            index += 1;
            // Everything older is gone, and all up to the last parts misses and goes again: what is between is counted
            // without being looked at.
            let rest = PARTS + 1;
            if missed >= 2 * self.capacity && last.saturating_sub(index) > 2 * rest {
                let skipped = (last - rest - index) * self.part;
                if reads {
                    traffic.read += skipped;
                }
                if writes {
                    traffic.written_back += skipped;
                }
                index = last - rest;
            }
        }
        traffic
    }

    fn take(&mut self, key: Key) -> Option<Line> {
        let line = self.lines.remove(&key)?;
        self.by_age.remove(&line.stamp);
        self.held -= line.bytes;
        Some(line)
    }

    fn put(&mut self, key: Key, line: Line) {
        self.stamp += 1;
        self.held += line.bytes;
        self.by_age.insert(self.stamp, key);
        let stamp = self.stamp;
        self.lines.insert(key, Line { stamp, ..line });
    }

    /// Makes room; returns what had to be written back.
    fn evict(&mut self) -> u64 {
        let mut written_back = 0;
        while self.held > self.capacity {
            let Some((_, key)) = self.by_age.pop_first() else {
                break;
            };
            if let Some(line) = self.lines.remove(&key) {
                self.held -= line.bytes;
                written_back += if line.is_dirty { line.bytes } else { 0 };
            }
        }
        written_back
    }

    /// Forgets a buffer that is no more.
    pub(super) fn forget(&mut self, buffer: u64) {
        let keys: Vec<Key> = self
            .lines
            .keys()
            .filter(|(owner, _)| *owner == buffer)
            .copied()
            .collect();
        for key in keys {
            self.take(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn what_was_touched_is_held_until_its_place_is_needed() {
        let mut cache = Cache::new(64 * MIB);
        assert_eq!(cache.touch(1, 0, 16 * MIB, true, false).read, 16 * MIB);
        assert_eq!(cache.touch(1, 0, 16 * MIB, true, false), Traffic::default());
        // Twice the capacity flushes all of it.
        cache.touch(2, 0, 128 * MIB, true, false);
        assert_eq!(cache.touch(1, 0, 16 * MIB, true, false).read, 16 * MIB);
    }

    #[test]
    fn who_comes_after_a_write_pays_for_it() {
        let mut cache = Cache::new(64 * MIB);
        assert_eq!(cache.touch(1, 0, 16 * MIB, false, true), Traffic::default());
        let after = cache.touch(2, 0, 128 * MIB, true, false);
        assert_eq!(after.written_back, 16 * MIB);
        // A flush by writing leaves as much as the cache holds.
        cache.touch(2, 0, 128 * MIB, false, true);
        let next = cache.touch(3, 0, 64 * MIB, true, false);
        assert_eq!(next.written_back, 64 * MIB);
    }

    #[test]
    fn a_long_range_costs_as_much_as_its_parts_one_by_one() {
        for (reads, writes) in [(true, false), (false, true), (true, true)] {
            let mut at_once = Cache::new(MIB);
            let mut by_parts = Cache::new(MIB);
            let long = at_once.touch(1, 0, 64 * MIB, reads, writes);
            let mut sum = Traffic::default();
            for piece in 0..64 {
                let part = by_parts.touch(1, piece * MIB, MIB, reads, writes);
                sum.read += part.read;
                sum.written_back += part.written_back;
            }
            assert_eq!(long, sum);
            assert_eq!(at_once.held, by_parts.held);
        }
    }

    #[test]
    fn a_buffer_that_is_freed_is_forgotten() {
        let mut cache = Cache::new(MIB);
        cache.touch(1, 0, MIB, false, true);
        cache.forget(1);
        assert_eq!(cache.held, 0);
        assert_eq!(cache.touch(2, 0, MIB, true, false).written_back, 0);
    }
}
