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
    let processors = thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let count = processors.min(MOST).min(length.div_ceil(WORTH)).max(1);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_the_whole_in_order() {
        for length in [0, 1, WORTH, 5 * WORTH + 3] {
            let all: Vec<u64> = parts(7..7 + length, |part| part.collect::<Vec<u64>>()).concat();
            assert_eq!(all.len() as u64, length);
            assert!(all.iter().zip(7..).all(|(found, place)| *found == place));
        }
    }
}
