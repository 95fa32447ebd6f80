//! Launch sequences that repeat: what a graph could replay.

use std::collections::HashMap;

/// A sequence that repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Repeat {
    /// Where the first one begins.
    pub(crate) start: usize,
    /// How many launches it has.
    pub(crate) period: usize,
    /// How often it follows itself, the first time counted.
    pub(crate) times: usize,
}

/// A graph of fewer launches is hardly worth its code.
const LEAST_PERIOD: usize = 2;
/// Fewer repetitions are no loop.
const LEAST_TIMES: usize = 3;
/// Distances between equal launches that are tried: the periods of the loops that there are.
const TRIED: usize = 24;

/// The run of equal sequences that covers most of a list of symbols.
pub(crate) fn longest_repeat(symbols: &[u64]) -> Option<Repeat> {
    let mut distances: HashMap<usize, usize> = HashMap::new();
    let mut seen: HashMap<u64, usize> = HashMap::new();
    for (place, symbol) in symbols.iter().enumerate() {
        if let Some(before) = seen.insert(*symbol, place) {
            *distances.entry(place - before).or_default() += 1;
        }
    }
    let mut candidates: Vec<(usize, usize)> = distances
        .into_iter()
        .filter(|(period, _)| *period >= LEAST_PERIOD)
        .collect();
    // A launch that occurs once in each turn is at the distance of a period; long periods have fewer such pairs, but
    // cover as much.
    candidates.sort_by_key(|(period, count)| (std::cmp::Reverse(period * count), *period));
    let mut best: Option<(usize, Repeat)> = None;
    for (period, _) in candidates.into_iter().take(TRIED) {
        let Some(repeat) = longest_run(symbols, period) else {
            continue;
        };
        let covers = repeat.times * repeat.period;
        // A multiple of a period covers no more; the shorter one is the loop.
        let is_better = best
            .is_none_or(|(most, known)| covers > most || (covers == most && period < known.period));
        if is_better {
            best = Some((covers, repeat));
        }
    }
    best.map(|(_, repeat)| repeat)
}

/// The longest run in which every symbol is that of one period before.
fn longest_run(symbols: &[u64], period: usize) -> Option<Repeat> {
    let (mut run, mut best): (usize, Option<(usize, usize)>) = (0, None);
    for place in period..symbols.len() {
        if symbols[place] == symbols[place - period] {
            run += 1;
            if best.is_none_or(|(most, _)| run > most) {
                best = Some((run, place + 1 - run - period));
            }
        } else {
            run = 0;
        }
    }
    let (run, start) = best?;
    let times = run / period + 1;
    (times >= LEAST_TIMES).then_some(Repeat {
        start,
        period,
        times,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeat(text: &str) -> Option<(usize, usize, usize)> {
        let symbols: Vec<u64> = text.bytes().map(u64::from).collect();
        longest_repeat(&symbols).map(|repeat| (repeat.start, repeat.period, repeat.times))
    }

    #[test]
    fn loops_are_found() {
        assert_eq!(repeat("xyabcabcabcabz"), Some((2, 3, 3)));
        assert_eq!(repeat("abababab"), Some((0, 2, 4)));
        // The same kernel twice in a turn.
        assert_eq!(repeat("aabaabaab"), Some((0, 3, 3)));
        assert_eq!(repeat("abcdefg"), None);
        assert_eq!(repeat("abcabc"), None, "twice is no loop");
        assert_eq!(repeat(""), None);
    }
}
