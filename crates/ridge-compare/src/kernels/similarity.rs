//! How alike two names are.

/// Names are compared up to so many characters: what follows is arguments of templates.
const MOST_CHARACTERS: usize = 256;

/// One less the edits that make one name of the other, over the characters of the longer one: 1 is the same name, 0 nothing
/// in common. Case counts, since names do.
pub(super) fn similarity(one: &str, other: &str) -> f64 {
    let one: Vec<char> = one.chars().take(MOST_CHARACTERS).collect();
    let other: Vec<char> = other.chars().take(MOST_CHARACTERS).collect();
    let longest = one.len().max(other.len());
    if longest == 0 {
        return 1.0;
    }
    1.0 - edits(&one, &other) as f64 / longest as f64
}

/// Insertions, removals and exchanges of one character (Levenshtein).
fn edits(one: &[char], other: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, a) in one.iter().enumerate() {
        let mut diagonal = line;
        row[0] = line + 1;
        for (column, b) in other.iter().enumerate() {
            let exchanged = diagonal + usize::from(a != b);
            diagonal = row[column + 1];
            row[column + 1] = exchanged.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_distances() {
        let of = |one: &str, other: &str| {
            edits(
                &one.chars().collect::<Vec<_>>(),
                &other.chars().collect::<Vec<_>>(),
            )
        };
        // The examples of every text on the subject.
        assert_eq!(of("kitten", "sitting"), 3);
        assert_eq!(of("saturday", "sunday"), 3);
        assert_eq!(of("", "abc"), 3);
        assert!((similarity("reduce_v1", "reduce_v2") - 8.0 / 9.0).abs() < 1e-12);
        assert!((similarity("", "") - 1.0).abs() < 1e-12);
    }

    /// The steps of a comparison are bounded, whatever the length: what follows the first characters is not looked at.
    #[test]
    fn long_names_cost_no_more_than_their_beginnings() {
        let long = |letter: &str| {
            format!(
                "{}{}",
                letter.repeat(MOST_CHARACTERS - 1),
                "z".repeat(3_000_000)
            )
        };
        let short = |letter: &str| format!("{}z", letter.repeat(MOST_CHARACTERS - 1));
        let (one, other) = (long("ä"), long("ö"));
        let steps = MOST_CHARACTERS as f64;
        assert!((similarity(&one, &other) - 1.0 / steps).abs() < 1e-12);
        assert!((similarity(&one, &other) - similarity(&short("ä"), &short("ö"))).abs() < 1e-12);
    }
}
