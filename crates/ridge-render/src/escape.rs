//! Untrusted text made safe for where it goes.
//!
//! A kernel name, a file path or a rule message comes from a file that anybody can have made. Each function here is
//! for one destination; what has no harmless form there becomes a visible escape such as `\x1b` or `\u{202e}`.
//! Backslashes of the text itself stay single, because they are common in paths: the escapes are for reading, not for
//! decoding.

use std::borrow::Cow;

/// Makes `text` safe for one line of a terminal, a log or a plain-text file.
///
/// Control characters (with newline and tab), terminal escape sequences, bidirectional overrides and characters
/// without a visible form become escapes, so what a person reads is what the text holds.
#[must_use]
pub fn terminal(text: &str) -> Cow<'_, str> {
    rewrite(text, |character, out| {
        if is_deceptive(character) {
            push_visible(character, out);
            return true;
        }
        false
    })
}

/// Makes `text` safe as the content of an HTML or SVG element; newlines and tabs stay.
#[must_use]
pub fn html_text(text: &str) -> Cow<'_, str> {
    rewrite(text, |character, out| {
        !matches!(character, '\n' | '\t') && push_markup(character, out)
    })
}

/// Makes `text` safe inside a quoted attribute of HTML or SVG; newlines and tabs become character references,
/// because XML turns the characters themselves into spaces.
#[must_use]
pub fn html_attribute(text: &str) -> Cow<'_, str> {
    rewrite(text, |character, out| {
        match character {
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            _ => return push_markup(character, out),
        }
        true
    })
}

/// Makes a JSON text safe inside a `<script>` element: what could end the element, open a comment or be taken for the
/// end of a line is written as an escape of JSON, which means the same.
#[must_use]
pub fn json_in_script(json: &str) -> Cow<'_, str> {
    rewrite(json, |character, out| {
        let is_risky = matches!(character, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
        if is_risky {
            out.extend(["\\u", &format!("{:04x}", u32::from(character))]);
        }
        is_risky
    })
}

/// The address, if it may stand in a link: only `http` and `https`, so that no report can bring a script along.
///
/// It still needs [`html_attribute`].
#[must_use]
pub fn web_address(address: &str) -> Option<&str> {
    let scheme = address.split_once("://")?.0;
    let is_web = scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
    (is_web
        && !address
            .chars()
            .any(|c| c.is_whitespace() || is_deceptive(c)))
    .then_some(address)
}

/// Makes `text` one cell of a CSV file, quoted where needed.
///
/// A text that a spreadsheet would run as a formula gets an apostrophe in front; plain numbers, also negative ones,
/// stay numbers.
#[must_use]
pub fn csv(text: &str) -> Cow<'_, str> {
    let visible = rewrite(text, |character, out| {
        if is_deceptive(character) && !matches!(character, '\n' | '\t') {
            push_visible(character, out);
            return true;
        }
        false
    });
    let guard = if is_formula(&visible) { "'" } else { "" };
    let needs_quotes = visible
        .chars()
        .any(|c| matches!(c, ',' | ';' | '"' | '\n' | '\t'))
        || visible.starts_with(' ')
        || visible.ends_with(' ');
    if needs_quotes {
        Cow::Owned(format!("\"{guard}{}\"", visible.replace('"', "\"\"")))
    } else if guard.is_empty() {
        visible
    } else {
        Cow::Owned(format!("{guard}{visible}"))
    }
}

/// Makes `text` safe as running text or a table cell of GitHub-flavoured Markdown, on one line.
#[must_use]
pub fn markdown(text: &str) -> Cow<'_, str> {
    rewrite(text, |character, out| {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // A backslash in front of punctuation takes its meaning away, also that of the cell separator.
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' | '$' | '@' => {
                out.push('\\');
                out.push(character);
            }
            _ if is_deceptive(character) => {
                // The escape's own backslash needs one too.
                out.push('\\');
                push_visible(character, out);
            }
            _ => return false,
        }
        true
    })
}

/// Makes `text` a code span of Markdown that also holds inside a table; empty text stays empty.
///
/// This is the right form for kernel names and metrics, which are full of underscores and angle brackets.
#[must_use]
pub fn markdown_code(text: &str) -> String {
    let visible = terminal(text);
    if visible.is_empty() {
        return String::new();
    }
    // A code span knows no escape for its own fence, and tables split at a bar inside one.
    if visible.contains(['`', '|']) || visible.trim().len() != visible.len() {
        let content = rewrite(&visible, |character, out| match character {
            '&' | '<' | '>' | '`' | '|' | '*' | '_' | '[' | ']' | '\\' | '~' | '$' | '!' => {
                out.extend(["&#", &u32::from(character).to_string(), ";"]);
                true
            }
            _ => false,
        });
        return format!("<code>{content}</code>");
    }
    format!("`{visible}`")
}

/// Whether a character hides, moves or controls instead of showing itself.
fn is_deceptive(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'                       // soft hyphen
            | '\u{34f}'                    // combining grapheme joiner
            | '\u{61c}'                    // Arabic letter mark
            | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' // Hangul fillers
            | '\u{17b4}' | '\u{17b5}'      // invisible Khmer vowels
            | '\u{180b}'..='\u{180f}'      // Mongolian selectors
            | '\u{200b}'..='\u{200f}'      // zero width, direction marks
            | '\u{2028}'..='\u{202e}'      // line separators, bidirectional embeddings and overrides
            | '\u{2060}'..='\u{206f}'      // word joiner, invisible operators, bidirectional isolates
            | '\u{2800}'                   // blank Braille pattern
            | '\u{fe00}'..='\u{fe0f}'      // variation selectors
            | '\u{feff}'                   // byte order mark
            | '\u{fff0}'..='\u{fffb}'      // annotations and specials
            | '\u{fffe}' | '\u{ffff}'      // not characters, and forbidden in XML
            | '\u{1d173}'..='\u{1d17a}'    // musical formatting
            | '\u{e0000}'..='\u{e0fff}'    // tags and more variation selectors
        )
}

/// Whether a spreadsheet would take the text for a formula.
fn is_formula(text: &str) -> bool {
    let start = text.trim_start();
    let is_suspect = start.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    is_suspect && text.parse::<f64>().is_err()
}

fn push_visible(character: char, out: &mut String) {
    match character {
        '\n' | '\r' | '\t' => out.extend(character.escape_default()),
        _ if character.is_ascii() => out.extend(["\\x", &format!("{:02x}", u32::from(character))]),
        _ => out.extend(character.escape_unicode()),
    }
}

/// Writes the reference or escape that `character` needs in HTML and XML, if any.
fn push_markup(character: char, out: &mut String) -> bool {
    match character {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        _ if is_deceptive(character) => push_visible(character, out),
        _ => return false,
    }
    true
}

/// Copies `text`, except the characters that `replace` writes itself; borrows when there are none.
fn rewrite(text: &str, mut replace: impl FnMut(char, &mut String) -> bool) -> Cow<'_, str> {
    let mut out = String::new();
    let mut replacement = String::new();
    let mut copied = 0;
    for (index, character) in text.char_indices() {
        if replace(character, &mut replacement) {
            out.push_str(&text[copied..index]);
            out.push_str(&replacement);
            replacement.clear();
            copied = index + character.len_utf8();
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::testing::any_text;

    #[test]
    fn ordinary_text_is_borrowed() {
        let name = "void gemm<float, (int)4>(const float *)";
        assert!(matches!(terminal(name), Cow::Borrowed(_)));
        assert!(matches!(csv("vadd"), Cow::Borrowed(_)));
        assert!(matches!(html_text("größer 行列"), Cow::Borrowed(_)));
    }

    #[test]
    fn terminal_text_shows_what_it_hides() {
        let lines = [
            terminal("red \u{1b}[31m and title \u{1b}]0;owned\u{7}"),
            terminal("two\r\nlines\tand a \0 and \u{9b}31m"),
            terminal("access \u{202e}resu\u{2066} and zero\u{200b}width\u{feff}"),
            terminal("C:\\kernels\\new.cu"),
            terminal("tag \u{e0041} selector \u{fe0f} del \u{7f}"),
        ]
        .join("\n");
        insta::assert_snapshot!(lines, @r"
        red \x1b[31m and title \x1b]0;owned\x07
        two\r\nlines\tand a \x00 and \u{9b}31m
        access \u{202e}resu\u{2066} and zero\u{200b}width\u{feff}
        C:\kernels\new.cu
        tag \u{e0041} selector \u{fe0f} del \x7f
        ");
    }

    #[test]
    fn markup_cannot_start() {
        assert_eq!(
            html_text("</text><script>alert('1')</script> & \"x\""),
            "&lt;/text&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;x&quot;"
        );
        assert_eq!(html_text("a\n\tb\u{0}"), "a\n\tb\\x00");
        assert_eq!(html_attribute("a\n\tb\u{ffff}"), "a&#10;&#9;b\\u{ffff}");
    }

    #[test]
    fn json_cannot_leave_its_script() {
        let json = serde_json::to_string("</script><!--\u{2028}&").unwrap();
        let safe = json_in_script(&json);
        assert_eq!(safe, r#""\u003c/script\u003e\u003c!--\u2028\u0026""#);
        let back: String = serde_json::from_str(&safe).unwrap();
        assert_eq!(back, "</script><!--\u{2028}&");
    }

    #[test]
    fn only_web_addresses_become_links() {
        assert_eq!(
            web_address("https://docs.nvidia.com/cuda"),
            Some("https://docs.nvidia.com/cuda")
        );
        assert_eq!(
            web_address("HTTP://example.org"),
            Some("HTTP://example.org")
        );
        assert_eq!(web_address("javascript://alert(1)"), None);
        assert_eq!(web_address(" https://example.org"), None);
        assert_eq!(web_address("data:text/html,x"), None);
    }

    #[test]
    fn csv_cells_are_quoted_where_needed() {
        assert_eq!(csv("foo<int, 4>"), "\"foo<int, 4>\"");
        assert_eq!(csv("say \"hi\""), "\"say \"\"hi\"\"\"");
        assert_eq!(csv("two\nlines"), "\"two\nlines\"");
        assert_eq!(csv("bell\u{7}"), "bell\\x07");
        assert_eq!(csv(""), "");
    }

    #[test]
    fn csv_formulas_are_disarmed() {
        assert_eq!(csv("=1+2"), "'=1+2");
        assert_eq!(csv("@SUM(A1)"), "'@SUM(A1)");
        assert_eq!(csv("-2+3|cmd"), "'-2+3|cmd");
        assert_eq!(csv("+1;2"), "\"'+1;2\"");
        assert_eq!(csv("\t=1"), "\"'\t=1\"");
        assert_eq!(csv("-12.5e3"), "-12.5e3");
    }

    #[test]
    fn markdown_text_stays_in_its_cell() {
        assert_eq!(
            markdown("a|b `c` *d* _e_ [f](g) <h> \\ \n"),
            "a\\|b \\`c\\` \\*d\\* \\_e\\_ \\[f\\](g) &lt;h&gt; \\\\ \\\\n"
        );
    }

    #[test]
    fn markdown_code_holds_any_name() {
        assert_eq!(markdown_code("foo<int>(bar_t)"), "`foo<int>(bar_t)`");
        assert_eq!(markdown_code("a|b`c"), "<code>a&#124;b&#96;c</code>");
        assert_eq!(markdown_code(" <b>"), "<code> &#60;b&#62;</code>");
        assert_eq!(markdown_code(""), "");
    }

    proptest! {
        #[test]
        fn terminal_text_has_nothing_deceptive_and_is_stable(text in any_text()) {
            let safe = terminal(&text);
            prop_assert!(!safe.chars().any(is_deceptive));
            prop_assert_eq!(terminal(&safe), safe.clone());
        }

        #[test]
        fn markup_has_no_delimiters(text in any_text()) {
            for safe in [html_text(&text), html_attribute(&text)] {
                prop_assert!(!safe.contains(['<', '>', '"', '\'']));
            }
        }

        #[test]
        fn a_csv_cell_reads_back_as_one(text in "[ -~\n\t]{0,30}") {
            let cell = csv(&text);
            let content = match cell.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
                Some(quoted) => quoted.replace("\"\"", "\""),
                None => {
                    prop_assert!(!cell.contains([',', '"', '\n']));
                    cell.to_string()
                }
            };
            prop_assert!(content == text || content.strip_prefix('\'') == Some(&text));
        }

        #[test]
        fn markdown_has_no_bare_separator(text in any_text()) {
            let safe = markdown(&text).replace("\\\\", "").replace("\\|", "");
            prop_assert!(!safe.contains(['|', '\n', '<']));
            prop_assert!(!markdown_code(&text).contains(['|', '\n']));
        }
    }
}
