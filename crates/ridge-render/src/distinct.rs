//! Names that are too long for their column, cut where it does not matter which of them is meant.

use std::borrow::Cow;

use crate::charset::Charset;
use crate::width::{prefix, truncate, width};

/// Cuts texts to at most `columns` each. What a text shares with its likes gives way first: of `team/gemm/tile=16` beside
/// `team/gemm/tile=32`, `team/…16` is left. What is like no other is cut in the middle.
pub(crate) fn cut<'t>(texts: &[&'t str], columns: usize, charset: Charset) -> Vec<Cow<'t, str>> {
    let mut long: Vec<&str> = texts
        .iter()
        .copied()
        .filter(|text| width(text) > columns)
        .collect();
    long.sort_unstable();
    long.dedup();
    texts
        .iter()
        .map(|text| {
            let Ok(place) = long.binary_search(text) else {
                return Cow::Borrowed(*text);
            };
            // In this order the likest are neighbours.
            let before = place.checked_sub(1).and_then(|before| long.get(before));
            let neighbours = before.into_iter().chain(long.get(place + 1));
            let shared = neighbours
                .map(|other| shared(text, other))
                .max()
                .unwrap_or(0);
            one(text, shared, columns, charset)
        })
        .collect()
}

/// The bytes that two texts begin with.
fn shared(one: &str, other: &str) -> usize {
    one.chars()
        .zip(other.chars())
        .take_while(|(one, other)| one == other)
        .map(|(letter, _)| letter.len_utf8())
        .sum()
}

/// Cuts a text whose first bytes are shared with another one.
fn one<'t>(text: &'t str, shared: usize, columns: usize, charset: Charset) -> Cow<'t, str> {
    let ellipsis = charset.ellipsis();
    let Some(room) = columns
        .checked_sub(width(ellipsis))
        .filter(|room| *room > 1)
    else {
        return truncate(text, columns, charset);
    };
    let own = text.get(shared..).unwrap_or_default();
    if shared == 0 || own.is_empty() {
        // Nothing is like it, or it is the beginning of another one: both ends count.
        let head = prefix(text, room.div_ceil(2));
        return Cow::Owned(format!(
            "{head}{ellipsis}{}",
            suffix(text, room - width(head))
        ));
    }
    if width(own) < room {
        let head = prefix(text, room - width(own));
        return Cow::Owned(format!("{head}{ellipsis}{own}"));
    }
    // A third for where it begins, the rest for what is its own.
    let head = prefix(text, (room / 3).min(width(text) - width(own)));
    let left = room - width(head);
    if width(own) <= left {
        return Cow::Owned(format!("{head}{ellipsis}{own}"));
    }
    Cow::Owned(format!("{head}{ellipsis}{}", truncate(own, left, charset)))
}

/// The longest end of a text that takes at most so many columns.
fn suffix(text: &str, columns: usize) -> &str {
    text.char_indices()
        .map(|(place, _)| text.get(place..).unwrap_or_default())
        .find(|end| width(end) <= columns)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::any_text;

    fn cuts(texts: &[&str], columns: usize) -> Vec<String> {
        cut(texts, columns, Charset::Unicode)
            .into_iter()
            .map(Cow::into_owned)
            .collect()
    }

    #[test]
    fn what_tells_names_apart_is_kept() {
        let long = [
            "team/kernels/gemm/tile=16",
            "short",
            "team/kernels/gemm/tile=32",
        ];
        assert_eq!(cuts(&long, 12), ["team/kern…16", "short", "team/kern…32"]);
        assert_eq!(cuts(&long, 25), long);
        assert_eq!(
            cuts(
                &[
                    "benchmark-of-copies-A-then-much-more",
                    "benchmark-of-copies-B-then-much-more"
                ],
                16
            ),
            ["bench…A-then-mu…", "bench…B-then-mu…"]
        );
        assert_eq!(cuts(&["feature/one-long-name"], 11), ["featu…-name"]);
        assert_eq!(
            cuts(&["abcdefghij", "abcdefghijklm"], 6),
            ["abc…ij", "ab…klm"]
        );
        assert_eq!(cuts(&["abcdefghij"], 2), ["a…"]);
    }

    proptest! {
        #[test]
        fn what_is_cut_fits(texts in prop::collection::vec(any_text(), 0..6), columns in 1_usize..30) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            for charset in [Charset::Unicode, Charset::Ascii] {
                for (cut, text) in cut(&texts, columns, charset).iter().zip(&texts) {
                    prop_assert!(width(cut) <= columns, "{cut:?} of {text:?}");
                    prop_assert!(width(text) > columns || cut == text);
                }
            }
        }

        #[test]
        fn two_names_stay_two(
            head in "[a-z/]{0,40}", one in "[a-z]", other in "[A-Z]", tail in "[a-z/]{0,40}", columns in 8_usize..20,
        ) {
            let texts = [format!("{head}{one}{tail}"), format!("{head}{other}{tail}")];
            let cut = cut(&[&texts[0], &texts[1]], columns, Charset::Unicode);
            prop_assert_ne!(&cut[0], &cut[1]);
        }
    }
}
