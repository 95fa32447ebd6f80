//! Names as people type them: what spelling does not matter, and which known name is near.

/// A name in lower case, without what separates words: spaces, hyphens, underscores and parentheses.
#[must_use]
pub fn plain(name: &str) -> String {
    name.chars()
        .filter(|letter| !letter.is_whitespace() && !matches!(letter, '-' | '_' | '(' | ')'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// How many letters have to be added, removed or replaced to turn one text into the other.
#[must_use]
pub fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (above, letter) in a.chars().enumerate() {
        let mut diagonal = above;
        let mut left = above + 1;
        for (place, other) in b.iter().enumerate() {
            let up = row.get(place + 1).copied().unwrap_or_default();
            let replaced = diagonal + usize::from(letter != *other);
            let least = replaced.min(up + 1).min(left + 1);
            if let Some(cell) = row.get_mut(place) {
                *cell = left;
            }
            diagonal = up;
            left = least;
        }
        if let Some(cell) = row.last_mut() {
            *cell = left;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("warp", "warp"), 0);
        assert_eq!(distance("h100", "h200"), 1);
    }

    #[test]
    fn separators_and_case_do_not_matter() {
        assert_eq!(plain("H100-SXM"), plain("h100_sxm "));
        assert_eq!(plain("GB200 (per GPU)"), "gb200pergpu");
    }
}
