//! Patterns of names.

use std::fmt;

/// A pattern of a name: `*` stands for any text, `?` for any one character, and everything else for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
}

impl Pattern {
    /// Any text is a pattern.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
        }
    }

    /// Whether all of a name is as the pattern says. Takes at most the product of both lengths.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let pattern: Vec<char> = self.text.chars().collect();
        let name: Vec<char> = name.chars().collect();
        let (mut at, mut place) = (0, 0);
        // Where the last star stands, and which part of the name it stands for so far.
        let mut star: Option<(usize, usize)> = None;
        while place < name.len() {
            match pattern.get(at) {
                Some('*') => {
                    star = Some((at, place));
                    at += 1;
                }
                Some(letter) if *letter == '?' || *letter == name[place] => {
                    at += 1;
                    place += 1;
                }
                _ => match star {
                    Some((after, taken)) => {
                        star = Some((after, taken + 1));
                        at = after + 1;
                        place = taken + 1;
                    }
                    None => return false,
                },
            }
        }
        pattern[at..].iter().all(|letter| *letter == '*')
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks() {
        let matches = |pattern: &str, name: &str| Pattern::new(pattern).matches(name);
        assert!(matches("gemm", "gemm") && !matches("gemm", "gemm2"));
        assert!(matches("gemm*", "gemm") && matches("gemm*", "gemm_tile"));
        assert!(matches("*n=4096*", "tile[n=4096, width=2]"));
        assert!(!matches("*n=4096", "tile[n=4096]"));
        assert!(matches("a?c", "abc") && matches("a?c", "aäc") && !matches("a?c", "ac"));
        assert!(matches("*", "") && matches("", "") && !matches("", "a"));
        assert!(matches("a*b*c", "aXbYbc") && !matches("a*b*c", "aXbYb"));
        // Not exponential.
        assert!(!matches(&"*a".repeat(200), &"a".repeat(150)));
    }
}
