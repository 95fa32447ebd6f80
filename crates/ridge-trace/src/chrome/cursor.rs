//! A cursor over JSON that decodes only what is asked for, and bears what profilers write: bare `inf` and `nan`, and an
//! end in the middle.

use std::borrow::Cow;

/// Values within values, at most: deeper ones are no trace.
const MOST_DEPTH: usize = 128;

/// Why the cursor stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The input ends within a value.
    End,
    /// A byte that does not belong there; its place.
    Unexpected(usize),
    /// Values are nested too deeply; the place of the innermost.
    Depth(usize),
}

/// What a scalar value is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar<'i> {
    /// A text.
    Text(Cow<'i, str>),
    /// A number, `true`, `null`, `inf` and the like, as it is spelled.
    Bare(&'i str),
}

impl Scalar<'_> {
    /// What it says, whether it was quoted or not.
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Bare(text) => text,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Cursor<'i> {
    bytes: &'i [u8],
    at: usize,
}

impl<'i> Cursor<'i> {
    pub(super) fn new(bytes: &'i [u8]) -> Self {
        // A mark of the byte order is no part of the text.
        let at = if bytes.starts_with(&[0xef, 0xbb, 0xbf]) {
            3
        } else {
            0
        };
        Self { bytes, at }
    }

    fn rest(&self) -> &'i [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The next byte that is no white space.
    pub(super) fn peek(&mut self) -> Result<u8, Stop> {
        let rest = self.rest();
        let space = rest
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t'))
            .count();
        self.at += space;
        self.bytes.get(self.at).copied().ok_or(Stop::End)
    }

    /// Takes a byte if it is the next one.
    pub(super) fn take(&mut self, wanted: u8) -> Result<bool, Stop> {
        let is_next = self.peek()? == wanted;
        self.at += usize::from(is_next);
        Ok(is_next)
    }

    pub(super) fn expect(&mut self, wanted: u8) -> Result<(), Stop> {
        if self.take(wanted)? {
            Ok(())
        } else {
            Err(Stop::Unexpected(self.at))
        }
    }

    /// Steps to the next member of an object that has been opened; none at its end.
    pub(super) fn key(&mut self, is_first: &mut bool) -> Result<Option<Cow<'i, str>>, Stop> {
        if self.take(b'}')? {
            return Ok(None);
        }
        if !std::mem::replace(is_first, false) {
            self.expect(b',')?;
            // A comma after the last member is a fault that hand-made traces have.
            if self.take(b'}')? {
                return Ok(None);
            }
        }
        let key = self.text()?;
        self.expect(b':')?;
        Ok(Some(key))
    }

    /// Steps to the next element of an array that has been opened; false at its end.
    pub(super) fn element(&mut self, is_first: &mut bool) -> Result<bool, Stop> {
        if self.take(b']')? {
            return Ok(false);
        }
        if !std::mem::replace(is_first, false) {
            self.expect(b',')?;
            if self.take(b']')? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A text in quotes.
    pub(super) fn text(&mut self) -> Result<Cow<'i, str>, Stop> {
        self.expect(b'"')?;
        let start = self.at;
        let end = self.end_of_text()?;
        let raw = self.bytes.get(start..end).unwrap_or_default();
        Ok(if raw.contains(&b'\\') {
            Cow::Owned(unescape(raw))
        } else {
            String::from_utf8_lossy(raw)
        })
    }

    /// Moves behind the closing quote and returns its place.
    fn end_of_text(&mut self) -> Result<usize, Stop> {
        loop {
            let rest = self.rest();
            let ordinary = rest
                .iter()
                .take_while(|byte| !matches!(byte, b'"' | b'\\'))
                .count();
            match rest.get(ordinary) {
                Some(b'"') => {
                    let end = self.at + ordinary;
                    self.at = end + 1;
                    return Ok(end);
                }
                Some(_) if rest.len() > ordinary + 1 => self.at += ordinary + 2,
                _ => {
                    self.at = self.bytes.len();
                    return Err(Stop::End);
                }
            }
        }
    }

    /// A text, a number or a word; none for an object or an array, which is passed over.
    pub(super) fn scalar(&mut self) -> Result<Option<Scalar<'i>>, Stop> {
        match self.peek()? {
            b'"' => self.text().map(|text| Some(Scalar::Text(text))),
            b'{' | b'[' => self.skip().map(|()| None),
            _ => self.bare().map(|bare| Some(Scalar::Bare(bare))),
        }
    }

    fn bare(&mut self) -> Result<&'i str, Stop> {
        let rest = self.rest();
        let length = rest
            .iter()
            .take_while(|byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_')
            })
            .count();
        let word = rest
            .get(..length)
            .and_then(|word| std::str::from_utf8(word).ok());
        match word {
            Some(word) if length > 0 => {
                self.at += length;
                // What ends with the input may be half of a number.
                if self.at == self.bytes.len() {
                    Err(Stop::End)
                } else {
                    Ok(word)
                }
            }
            _ => Err(Stop::Unexpected(self.at)),
        }
    }

    /// Passes over a value, whatever it is.
    pub(super) fn skip(&mut self) -> Result<(), Stop> {
        let mut open: Vec<u8> = Vec::new();
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    self.end_of_text()?;
                }
                byte @ (b'{' | b'[') => {
                    if open.len() >= MOST_DEPTH {
                        return Err(Stop::Depth(self.at));
                    }
                    open.push(if byte == b'{' { b'}' } else { b']' });
                    self.at += 1;
                    continue;
                }
                byte @ (b'}' | b']') => {
                    if open.pop() != Some(byte) {
                        return Err(Stop::Unexpected(self.at));
                    }
                    self.at += 1;
                }
                // Their order is not checked: nothing of what is passed over is used.
                b',' | b':' if !open.is_empty() => {
                    self.at += 1;
                    continue;
                }
                _ => {
                    self.bare()?;
                }
            }
            if open.is_empty() {
                return Ok(());
            }
        }
    }
}

fn unescape(raw: &[u8]) -> String {
    let text = String::from_utf8_lossy(raw);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(next) = rest.next() {
        if next != '\\' {
            out.push(next);
            continue;
        }
        match rest.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('u') => out.push(code_point(&mut rest)),
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

fn code_point(rest: &mut std::str::Chars<'_>) -> char {
    let Some(unit) = hex(rest) else {
        return char::REPLACEMENT_CHARACTER;
    };
    if !(0xd800..0xdc00).contains(&unit) {
        return char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER);
    }
    // The first half of a pair needs the second.
    let mut ahead = rest.clone();
    let low = (ahead.next() == Some('\\') && ahead.next() == Some('u'))
        .then(|| hex(&mut ahead))
        .flatten();
    match low {
        Some(low) if (0xdc00..0xe000).contains(&low) => {
            *rest = ahead;
            let code = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        _ => char::REPLACEMENT_CHARACTER,
    }
}

fn hex(rest: &mut std::str::Chars<'_>) -> Option<u32> {
    let mut ahead = rest.clone();
    let mut value = 0;
    for _ in 0..4 {
        value = value * 16 + ahead.next()?.to_digit(16)?;
    }
    *rest = ahead;
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(text: &str) -> Cursor<'_> {
        Cursor::new(text.as_bytes())
    }

    #[test]
    fn texts_are_decoded() {
        let text = |json: &str| cursor(json).text().map(Cow::into_owned);
        assert_eq!(text(r#""plain""#).unwrap(), "plain");
        assert_eq!(
            text(r#" "a\"b\\c\nd\u00e9\ud83d\ude00\/" "#).unwrap(),
            "a\"b\\c\ndé😀/"
        );
        assert_eq!(text(r#""\ud83d!""#).unwrap(), "\u{fffd}!");
        assert_eq!(text(r#""open"#), Err(Stop::End));
        assert_eq!(text("\"open\\"), Err(Stop::End));
        assert_eq!(text("7"), Err(Stop::Unexpected(0)));
    }

    #[test]
    fn values_are_passed_over() {
        let mut cursor = cursor(r#"{"a": [1, {"b": "]}"}, -inf, nan], "c": null} 7,"#);
        cursor.skip().unwrap();
        assert_eq!(cursor.scalar().unwrap().unwrap().as_str(), "7");
    }

    #[test]
    fn brackets_have_to_fit_and_have_an_end() {
        assert_eq!(cursor("[1}").skip(), Err(Stop::Unexpected(2)));
        assert_eq!(cursor("[[1]").skip(), Err(Stop::End));
        let deep = "[".repeat(1000);
        assert_eq!(cursor(&deep).skip(), Err(Stop::Depth(MOST_DEPTH)));
    }

    #[test]
    fn a_number_that_ends_with_the_input_may_be_half_of_one() {
        assert_eq!(cursor("12").scalar(), Err(Stop::End));
    }
}
