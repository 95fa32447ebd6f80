//! Text for properties.

use proptest::prelude::*;

/// Any text, with many of the characters that a page has to watch; the default strategy leaves controls out.
pub(crate) fn any_text() -> impl Strategy<Value = String> {
    const SPECIAL: &[char] = &[
        '\n',
        '\r',
        '\t',
        '\0',
        '\u{1b}',
        '\u{7f}',
        '\u{9b}',
        '\u{85}',
        '\u{a0}',
        '\u{200b}',
        '\u{202e}',
        '\u{2066}',
        '\u{2028}',
        '\u{fe0f}',
        '\u{feff}',
        '\u{301}',
        '\u{e0041}',
        '#',
        '❤',
        '行',
        '|',
        '\\',
        '`',
        '"',
        '\'',
        '<',
        '&',
        '=',
        '-',
        ',',
        ';',
        ' ',
    ];
    let character = prop_oneof![
        3 => any::<char>(),
        3 => prop::sample::select(SPECIAL),
        4 => prop::char::range(' ', '~'),
    ];
    prop::collection::vec(character, 0..50).prop_map(String::from_iter)
}
