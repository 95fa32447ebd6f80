//! The literal of Python in the head of a `.npy` file: a dictionary with a type, an order and a shape.

use super::{Reason, TensorError};

/// What the dictionary says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dictionary<'a> {
    pub(super) descr: Descr<'a>,
    pub(super) is_fortran: bool,
    pub(super) shape: Vec<u64>,
    /// Where the type stands.
    pub(super) descr_at: u64,
    /// Where the shape stands.
    pub(super) shape_at: u64,
}

/// The type of elements.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Descr<'a> {
    Code(&'a str),
    /// A list of fields.
    Structured,
}

/// Reads the dictionary; `start` is where the text begins in the input.
pub(super) fn read(text: &[u8], start: u64) -> Result<Dictionary<'_>, TensorError> {
    let mut cursor = Cursor { text, at: 0, start };
    let (mut descr, mut is_fortran, mut shape) = (None, None, None);
    cursor.expect(b'{', "the head has to begin with `{`")?;
    loop {
        if cursor.take(b'}') {
            break;
        }
        let key_at = cursor.place();
        let key = cursor.string()?;
        cursor.expect(b':', "a key needs `:` after it")?;
        cursor.space();
        let at = cursor.place();
        let is_new = match key {
            "descr" => descr.replace((cursor.descr()?, at)).is_none(),
            "fortran_order" => is_fortran.replace(cursor.boolean()?).is_none(),
            "shape" => shape.replace((cursor.shape()?, at)).is_none(),
            _ => {
                return Err(TensorError::new(
                    key_at,
                    Reason::Malformed("a key of the head that NumPy does not write"),
                ));
            }
        };
        if !is_new {
            return Err(TensorError::new(key_at, Reason::Duplicate(key.to_owned())));
        }
        // What follows a list of fields is not looked at: such arrays are refused.
        if let Some((Descr::Structured, at)) = descr {
            return Err(TensorError::new(at, Reason::Structured));
        }
        if !cursor.take(b',') {
            cursor.expect(b'}', "the head has to end with `}`")?;
            break;
        }
    }
    cursor.space();
    if cursor.at < text.len() {
        return Err(cursor.malformed("text after the `}` of the head"));
    }
    let missing = |what| TensorError::new(start, Reason::Malformed(what));
    let (descr, descr_at) = descr.ok_or_else(|| missing("the head has no `descr`"))?;
    let (shape, shape_at) = shape.ok_or_else(|| missing("the head has no `shape`"))?;
    Ok(Dictionary {
        descr,
        is_fortran: is_fortran.ok_or_else(|| missing("the head has no `fortran_order`"))?,
        shape,
        descr_at,
        shape_at,
    })
}

struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
    start: u64,
}

impl<'a> Cursor<'a> {
    fn place(&self) -> u64 {
        self.start + self.at as u64
    }

    fn malformed(&self, what: &'static str) -> TensorError {
        TensorError::new(self.place(), Reason::Malformed(what))
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Takes a byte if it comes next, spaces before it left out.
    fn take(&mut self, byte: u8) -> bool {
        self.space();
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), TensorError> {
        if self.take(byte) {
            Ok(())
        } else {
            Err(self.malformed(what))
        }
    }

    /// A string without escapes, in either kind of quotes.
    fn string(&mut self) -> Result<&'a str, TensorError> {
        self.space();
        let quote = match self.peek() {
            Some(quote @ (b'\'' | b'"')) => quote,
            _ => return Err(self.malformed("a string has to stand here")),
        };
        let rest = &self.text[self.at + 1..];
        let length = rest
            .iter()
            .position(|&byte| byte == quote)
            .ok_or_else(|| self.malformed("a string without end"))?;
        let inner = std::str::from_utf8(&rest[..length])
            .ok()
            .filter(|inner| !inner.contains('\\'))
            .ok_or_else(|| self.malformed("a string with escapes or that is no UTF-8"))?;
        self.at += length + 2;
        Ok(inner)
    }

    fn descr(&mut self) -> Result<Descr<'a>, TensorError> {
        match self.peek() {
            Some(b'[' | b'(') => Ok(Descr::Structured),
            _ => self.string().map(Descr::Code),
        }
    }

    fn boolean(&mut self) -> Result<bool, TensorError> {
        for (word, value) in [("True", true), ("False", false)] {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.malformed("`fortran_order` has to be True or False"))
    }

    fn shape(&mut self) -> Result<Vec<u64>, TensorError> {
        let mut shape = Vec::new();
        self.expect(b'(', "`shape` has to be a tuple")?;
        while !self.take(b')') {
            if shape.len() == super::MAX_DIMENSIONS {
                return Err(TensorError::new(
                    self.place(),
                    Reason::TooManyDimensions(shape.len() + 1),
                ));
            }
            shape.push(self.number()?);
            if !self.take(b',') {
                // `(3)` is a number of Python and no tuple, but means the same.
                self.expect(b')', "sizes of `shape` are separated by `,`")?;
                break;
            }
        }
        Ok(shape)
    }

    fn number(&mut self) -> Result<u64, TensorError> {
        self.space();
        let rest = &self.text[self.at..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = std::str::from_utf8(&rest[..digits])
            .ok()
            .and_then(|digits| digits.parse().ok())
            .ok_or_else(|| {
                self.malformed("a size of `shape` has to be a whole number, not negative")
            })?;
        self.at += digits;
        // Python 2 wrote its long numbers like this.
        self.at += usize::from(self.peek() == Some(b'L'));
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_numpy_writes_is_read() {
        let text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }     \n";
        let head = read(text, 10).unwrap();
        assert_eq!(head.descr, Descr::Code("<f4"));
        assert_eq!(head.shape, [3, 4]);
        assert!(!head.is_fortran);
        let head = read(br#"{"shape":(2L,),"fortran_order":True,"descr":"|u1"}"#, 0).unwrap();
        assert_eq!((head.shape, head.is_fortran), (vec![2], true));
        assert!(
            read(b"{'descr': '<f8', 'fortran_order': False, 'shape': ()}", 0)
                .unwrap()
                .shape
                .is_empty()
        );
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        for (text, at, code) in [
            (&b""[..], 0, "NUM0008"),
            (
                b"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
                10,
                "NUM0010",
            ),
            (b"{'descr': '<f4', 'descr': '<f4'}", 17, "NUM0016"),
            (b"{'descr': '<f4'", 15, "NUM0008"),
            (b"{'shape': (-1,)}", 11, "NUM0008"),
            (b"{'shape': (99999999999999999999,)}", 11, "NUM0008"),
            (b"{'other': 1}", 1, "NUM0008"),
            (b"{'fortran_order': 1}", 18, "NUM0008"),
            (b"{'descr", 1, "NUM0008"),
            (b"{} x", 3, "NUM0008"),
        ] {
            let error = read(text, 0).unwrap_err();
            assert_eq!((error.at, error.reason.code()), (at, code), "{error}");
        }
    }
}
