//! Work on many elements, by all processors.

use std::ops::Range;
use std::thread;

/// Below this many elements the threads cost more than they save.
const WORTH: u64 = 1 << 18;
/// Threads at most.
const MOST: u64 = 16;

/// Cuts a range into parts and computes each in a thread of its own; the results are in the order of the parts.
pub(crate) fn parts<T: Send>(
    range: Range<u64>,
    compute: impl Fn(Range<u64>) -> T + Sync,
) -> Vec<T> {
    let length = range.end.saturating_sub(range.start);
    let count = threads(length);
    if count == 1 {
        return vec![compute(range)];
    }
    let each = length.div_ceil(count);
    let compute = &compute;
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|part| {
                let start = (range.start + part * each).min(range.end);
                let end = (start + each).min(range.end);
                scope.spawn(move || compute(start..end))
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    })
}

/// Fills memory with elements of `size` bytes, by all processors: each part is given the number of its first element.
pub(crate) fn fill(out: &mut [u8], size: usize, fill: impl Fn(u64, &mut [u8]) + Sync) {
    let elements = out.len() / size.max(1);
    let count = threads(elements as u64) as usize;
    if count <= 1 {
        return fill(0, out);
    }
    let each = elements.div_ceil(count);
    let fill = &fill;
    thread::scope(|scope| {
        for (part, bytes) in out.chunks_mut(each * size).enumerate() {
            scope.spawn(move || fill((part * each) as u64, bytes));
        }
    });
}

/// How many threads so many elements are worth.
fn threads(elements: u64) -> u64 {
    let processors = thread::available_parallelism().map_or(1, |count| count.get() as u64);
    processors.min(MOST).min(elements.div_ceil(WORTH)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_filled_in_order_to_the_last_element() {
        for length in [0, 3, WORTH as usize + 1, 5 * WORTH as usize + 3] {
            let mut bytes = vec![0xff; length * 4];
            fill(&mut bytes, 4, |from, part| {
                for (index, element) in (from as u32..).zip(part.chunks_exact_mut(4)) {
                    element.copy_from_slice(&index.to_le_bytes());
                }
            });
            let words = bytes.chunks_exact(4).zip(0_u32..);
            assert!(
                words
                    .into_iter()
                    .all(|(word, index)| word == index.to_le_bytes())
            );
        }
    }

    #[test]
    fn parts_are_the_whole_in_order() {
        for length in [0, 1, WORTH, 5 * WORTH + 3] {
            let all: Vec<u64> = parts(7..7 + length, |part| part.collect::<Vec<u64>>()).concat();
            assert_eq!(all.len() as u64, length);
            assert!(all.iter().zip(7..).all(|(found, place)| *found == place));
        }
    }
}
