//! As much of XML as the tool writes: elements, text, the five entities and numbers of characters.

use std::borrow::Cow;

use super::super::Error;

/// Text of one element is kept up to here.
const LONGEST: usize = 16 << 10;

/// A piece of XML.
#[derive(Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// The start of an element; one without content has no end.
    Open { name: &'a str, is_empty: bool },
    /// Text between elements.
    Text(Cow<'a, str>),
    /// The end of the element that was opened last.
    Close,
    /// The end of the input.
    End,
}

/// Reads one piece after the other.
pub(super) struct Pull<'a> {
    bytes: &'a [u8],
    at: usize,
    open: Vec<&'a str>,
}

/// More open elements are refused before anything else looks at them.
const MOST_OPEN: usize = 64;

impl<'a> Pull<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            open: Vec::new(),
        }
    }

    pub(super) const fn offset(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn malformed<T>(&self, what: &'static str) -> Result<T, Error> {
        Err(Error::Malformed {
            offset: self.at,
            what,
        })
    }

    /// What stands before an end mark, and moves behind it.
    fn until(&mut self, end: &[u8]) -> Result<&'a [u8], Error> {
        let rest = self.rest();
        let Some(length) = rest.windows(end.len()).position(|window| window == end) else {
            return Err(Error::CutOff {
                offset: self.bytes.len(),
            });
        };
        self.at = self.at.saturating_add(length).saturating_add(end.len());
        Ok(rest.get(..length).unwrap_or_default())
    }

    pub(super) fn next(&mut self) -> Result<Token<'a>, Error> {
        loop {
            let rest = self.rest();
            if rest.is_empty() {
                return Ok(Token::End);
            }
            if !rest.starts_with(b"<") {
                return self.text();
            }
            if rest.starts_with(b"<?") {
                self.until(b"?>")?;
            } else if rest.starts_with(b"<!--") {
                self.until(b"-->")?;
            } else if let Some(inner) = rest.strip_prefix(b"<![CDATA[") {
                let length = rest.len().saturating_sub(inner.len());
                self.at = self.at.saturating_add(length);
                let text = self.until(b"]]>")?;
                return Ok(Token::Text(text_of(text)));
            } else if rest.starts_with(b"<!") {
                return Err(Error::DocumentType { offset: self.at });
            } else if rest.starts_with(b"</") {
                return self.close();
            } else {
                return self.open();
            }
        }
    }

    fn close(&mut self) -> Result<Token<'a>, Error> {
        let start = self.at;
        let inner = self.until(b">")?;
        let name = inner.strip_prefix(b"</").unwrap_or(inner).trim_ascii();
        match self.open.pop() {
            Some(open) if open.as_bytes() == name => Ok(Token::Close),
            _ => {
                self.at = start;
                self.malformed("an end that fits no start")
            }
        }
    }

    fn open(&mut self) -> Result<Token<'a>, Error> {
        let start = self.at;
        let inner = self.tag()?;
        let inner = inner.strip_prefix(b"<").unwrap_or(inner);
        let (inner, is_empty) = match inner.strip_suffix(b"/") {
            Some(inner) => (inner, true),
            None => (inner, false),
        };
        let name = inner
            .split(u8::is_ascii_whitespace)
            .next()
            .and_then(|name| std::str::from_utf8(name).ok())
            .filter(|name| {
                name.starts_with(|first: char| first.is_alphabetic() || first == '_')
                    && !name.contains(['<', '&', '"', '\''])
            });
        let Some(name) = name else {
            self.at = start;
            return self.malformed("the name of an element");
        };
        if !is_empty {
            if self.open.len() >= MOST_OPEN {
                return Err(Error::TooDeep { offset: start });
            }
            self.open.push(name);
        }
        Ok(Token::Open { name, is_empty })
    }

    /// A tag up to its end, which may also stand in quotes of an attribute.
    fn tag(&mut self) -> Result<&'a [u8], Error> {
        let rest = self.rest();
        let mut quote = None;
        for (length, byte) in rest.iter().enumerate() {
            match (quote, byte) {
                (None, b'>') => {
                    self.at = self.at.saturating_add(length).saturating_add(1);
                    return Ok(rest.get(..length).unwrap_or_default());
                }
                (None, b'"' | b'\'') => quote = Some(*byte),
                (Some(open), byte) if open == *byte => quote = None,
                _ => {}
            }
        }
        Err(Error::CutOff {
            offset: self.bytes.len(),
        })
    }

    fn text(&mut self) -> Result<Token<'a>, Error> {
        let rest = self.rest();
        let length = rest
            .iter()
            .position(|byte| *byte == b'<')
            .unwrap_or(rest.len());
        let start = self.at;
        self.at = self.at.saturating_add(length);
        let whole = rest.get(..length).unwrap_or_default();
        let text = text_of(whole);
        if !whole.contains(&b'&') {
            return Ok(Token::Text(text));
        }
        let mut out = String::new();
        let mut left = &*text;
        while let Some((before, after)) = left.split_once('&') {
            out.push_str(before);
            let refused = || Error::Entity { offset: start };
            // The text may have been cut inside the last one.
            let Some((name, after)) = after.split_once(';') else {
                if whole.len() > LONGEST {
                    left = "";
                    break;
                }
                return Err(refused());
            };
            out.push(character(name).ok_or_else(refused)?);
            left = after;
        }
        out.push_str(left);
        Ok(Token::Text(Cow::Owned(out)))
    }
}

fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes.get(..LONGEST).unwrap_or(bytes))
}

/// The character of an entity.
fn character(name: &str) -> Option<char> {
    Some(match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let digits = name.strip_prefix('#')?;
            let number = match digits.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => digits.parse(),
            };
            char::from_u32(number.ok()?)?
        }
    })
}
