//! Text to tokens.

use std::ops::Range;

use super::error::{ExpressionError, Reason};
use super::value::Value;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(Value),
    Name(String),
    Symbol(&'static str),
    End,
}

impl Token {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Number(value) => format!("the number {value}"),
            Self::Name(name) => format!("`{name}`"),
            Self::Symbol(symbol) => format!("`{symbol}`"),
            Self::End => "the end".to_owned(),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Spanned {
    pub(super) token: Token,
    pub(super) span: Range<usize>,
}

/// Longer symbols stand before those that they begin with.
const SYMBOLS: &[&str] = &[
    "**", "==", "!=", "<=", ">=", "&&", "||", "+", "-", "*", "/", "%", "(", ")", "[", "]", ",",
    "<", ">", "!",
];

pub(super) fn tokens(text: &str) -> Result<Vec<Spanned>, ExpressionError> {
    let mut found = Vec::new();
    let mut place = 0;
    while let Some(rest) = text.get(place..) {
        let Some(first) = rest.chars().next() else {
            break;
        };
        if first.is_whitespace() {
            place += first.len_utf8();
            continue;
        }
        let (token, length) = if first.is_ascii_digit()
            || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()))
        {
            number(rest, place)?
        } else if first.is_alphabetic() || first == '_' {
            let length = rest
                .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'))
                .unwrap_or(rest.len());
            let name = &rest[..length];
            (
                match name {
                    "and" => Token::Symbol("&&"),
                    "or" => Token::Symbol("||"),
                    "not" => Token::Symbol("!"),
                    "true" => Token::Number(Value::Bool(true)),
                    "false" => Token::Number(Value::Bool(false)),
                    _ => Token::Name(name.to_owned()),
                },
                length,
            )
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            (Token::Symbol(symbol), symbol.len())
        } else {
            return Err(ExpressionError {
                reason: Reason::Unexpected {
                    found: format!("`{first}`"),
                    expected: "a number, a name or an operator",
                },
                span: place..place + first.len_utf8(),
            });
        };
        found.push(Spanned {
            token,
            span: place..place + length,
        });
        place += length;
    }
    found.push(Spanned {
        token: Token::End,
        span: text.len()..text.len(),
    });
    Ok(found)
}

/// A number such as `1024`, `1_024`, `0x400`, `0.5` or `1e-3`.
fn number(rest: &str, place: usize) -> Result<(Token, usize), ExpressionError> {
    let mut length = 0;
    let mut is_float = false;
    let bytes = rest.as_bytes();
    let is_hexadecimal = rest.starts_with("0x") || rest.starts_with("0X");
    while let Some(byte) = bytes.get(length) {
        let goes_on = match byte {
            b'e' | b'E' if !is_hexadecimal => {
                is_float = true;
                true
            }
            b'+' | b'-' => {
                !is_hexadecimal && length > 0 && matches!(bytes.get(length - 1), Some(b'e' | b'E'))
            }
            b'.' => {
                is_float = true;
                true
            }
            byte => byte.is_ascii_alphanumeric() || *byte == b'_',
        };
        if !goes_on {
            break;
        }
        length += 1;
    }
    let written = &rest[..length];
    let digits = written.replace('_', "");
    let value = if is_hexadecimal {
        i64::from_str_radix(&digits[2..], 16).ok().map(Value::Int)
    } else if is_float {
        digits
            .parse::<f64>()
            .ok()
            .filter(|value| value.is_finite())
            .map(Value::Float)
    } else {
        digits.parse().ok().map(Value::Int)
    };
    value
        .map(|value| (Token::Number(value), length))
        .ok_or_else(|| ExpressionError {
            reason: Reason::BadNumber(written.to_owned()),
            span: place..place + length,
        })
}
