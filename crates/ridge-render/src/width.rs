//! Display width: columns of a terminal, not bytes and not characters.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::charset::Charset;

/// The number of terminal columns that `text` takes.
#[must_use]
pub fn width(text: &str) -> usize {
    text.width()
}

/// Cuts `text` to at most `columns`, with an ellipsis where it was cut.
///
/// Where not even the ellipsis fits, as much of it as fits is left.
#[must_use]
pub fn truncate(text: &str, columns: usize, charset: Charset) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let ellipsis = charset.ellipsis();
    let Some(room) = columns.checked_sub(width(ellipsis)) else {
        return Cow::Borrowed(prefix(ellipsis, columns));
    };
    Cow::Owned(format!("{}{ellipsis}", prefix(text, room)))
}

/// The longest prefix of `text` that takes at most `columns`.
pub(crate) fn prefix(text: &str, columns: usize) -> &str {
    let mut used = 0;
    let mut end = text.len();
    for (index, character) in text.char_indices() {
        used += character.width().unwrap_or(1);
        if used > columns {
            end = index;
            break;
        }
    }
    let mut prefix = text.get(..end).unwrap_or_default();
    // A sequence of characters can be wider than their sum, as with emoji presentation selectors.
    while width(prefix) > columns {
        let mut characters = prefix.chars();
        characters.next_back();
        prefix = characters.as_str();
    }
    prefix
}

/// Appends `count` spaces.
pub(crate) fn push_spaces(out: &mut String, count: usize) {
    out.extend(std::iter::repeat_n(' ', count));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::testing::any_text;

    #[test]
    fn columns_are_counted_not_characters() {
        assert_eq!(width("gemm"), 4);
        assert_eq!(width("µs"), 2);
        assert_eq!(width("行列"), 4);
        assert_eq!(width("e\u{301}"), 1);
    }

    #[test]
    fn a_wide_character_is_never_split() {
        assert_eq!(truncate("行列積", 6, Charset::Unicode), "行列積");
        assert_eq!(truncate("行列積", 5, Charset::Unicode), "行列…");
        assert_eq!(truncate("行列積", 4, Charset::Unicode), "行…");
    }

    #[test]
    fn the_ellipsis_is_cut_before_the_width_is_exceeded() {
        assert_eq!(truncate("kernel", 5, Charset::Ascii), "ke...");
        assert_eq!(truncate("kernel", 2, Charset::Ascii), "..");
        assert_eq!(truncate("kernel", 0, Charset::Unicode), "");
    }

    proptest! {
        #[test]
        fn truncated_text_fits(text in any_text(), columns in 0..40usize) {
            prop_assert!(width(&truncate(&text, columns, Charset::Unicode)) <= columns);
            prop_assert!(width(&truncate(&text, columns, Charset::Ascii)) <= columns);
        }
    }
}
