//! Draws rounds again, replicates first.

use std::ops::Range;

use crate::Random;

/// Rounds of one replicate that are drawn together, so that dependence between neighbours stays: the whole part of the
/// cube root, as Hall, Horowitz and Jing find for distributions ("On blocking rules for the bootstrap with dependent data",
/// Biometrika 82, 1995). 1 below 8 rounds, 2 below 27.
fn block(rounds: usize) -> usize {
    (1..=rounds)
        .take_while(|length| length.pow(3) <= rounds)
        .last()
        .unwrap_or(1)
}

/// Sets how often each round occurs in one draw: as many replicates as there are, with replacement, and of each as many
/// rounds as it has, in blocks that wrap around its end. With one replicate only the rounds are drawn.
pub(super) fn draw(replicates: &[Range<usize>], random: &mut Random, counts: &mut [u32]) {
    counts.fill(0);
    for _ in replicates {
        let replicate = &replicates[random.below(replicates.len())];
        let rounds = replicate.len();
        let block = block(rounds);
        let mut left = rounds;
        while left > 0 {
            let start = random.below(rounds);
            for offset in 0..block.min(left) {
                counts[replicate.start + (start + offset) % rounds] += 1;
            }
            left -= block.min(left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_grow_with_the_cube_root() {
        let lengths = [1, 7, 8, 26, 27, 500].map(block);
        assert_eq!(lengths, [1, 1, 2, 2, 3, 7]);
    }

    #[test]
    fn a_draw_holds_whole_replicates() {
        let replicates = [0..10, 10..20, 20..30];
        let mut random = Random::new(1);
        let mut counts = [0; 30];
        let mut seen = [0_i32; 4];
        for _ in 0..1_000 {
            draw(&replicates, &mut random, &mut counts);
            assert_eq!(counts.iter().sum::<u32>(), 30);
            for replicate in &replicates {
                let drawn: u32 = counts[replicate.clone()].iter().sum();
                assert_eq!(drawn % 10, 0);
                seen[drawn as usize / 10] += 1;
            }
        }
        // Of three drawn with replacement: none 8/27, once 12/27, twice 6/27, thrice 1/27 of 3,000.
        for (found, expected) in seen.iter().zip([889, 1_333, 667, 111]) {
            assert!((*found - expected).abs() < 120, "{seen:?}");
        }
    }
}
