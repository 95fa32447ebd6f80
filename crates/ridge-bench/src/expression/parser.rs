//! Tokens to a tree, by precedence.

use std::ops::Range;

use super::error::{ExpressionError, Reason, nearest};
use super::function::{self, Definition, FUNCTIONS};
use super::lexer::{Spanned, Token, tokens};
use super::value::Value;
use super::{MAX_DEPTH, MAX_LENGTH};

/// A part of an expression with its place in the text.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Literal(Value),
    Name(String),
    Element(String, Box<Node>),
    Negated(Box<Node>),
    Not(Box<Node>),
    Binary(Operator, Box<Node>, Box<Node>),
    Call(&'static Definition, Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
}

/// Operators by how tightly they bind, loosest first. Those of one level group from the left.
const LEVELS: &[&[(&str, Operator)]] = &[
    &[("||", Operator::Or)],
    &[("&&", Operator::And)],
    &[
        ("==", Operator::Equal),
        ("!=", Operator::NotEqual),
        ("<=", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[
        ("*", Operator::Multiply),
        ("/", Operator::Divide),
        ("%", Operator::Remainder),
    ],
];

/// Comparisons do not chain: `a < b < c` would compare a truth value.
const COMPARISONS: usize = 2;

pub(super) fn parse(text: &str) -> Result<Node, ExpressionError> {
    if text.len() > MAX_LENGTH {
        return Err(ExpressionError {
            reason: Reason::TooLong,
            span: 0..text.len(),
        });
    }
    let tokens = tokens(text)?;
    if tokens.len() == 1 {
        return Err(ExpressionError {
            reason: Reason::Empty,
            span: 0..text.len(),
        });
    }
    let mut parser = Parser {
        tokens,
        place: 0,
        depth: 0,
    };
    let node = parser.level(0)?;
    if parser.peek().token != Token::End {
        return Err(parser.unexpected("an operator or the end"));
    }
    Ok(node)
}

struct Parser {
    tokens: Vec<Spanned>,
    place: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> &Spanned {
        // The last token is the end, behind which the parser does not go.
        &self.tokens[self.place.min(self.tokens.len() - 1)]
    }

    fn is_at(&self, symbol: &str) -> bool {
        matches!(self.peek().token, Token::Symbol(found) if found == symbol)
    }

    fn take(&mut self, symbol: &str) -> bool {
        let is_there = self.is_at(symbol);
        self.place += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, symbol: &str, expected: &'static str) -> Result<usize, ExpressionError> {
        let end = self.peek().span.end;
        if self.take(symbol) {
            Ok(end)
        } else {
            Err(self.unexpected(expected))
        }
    }

    fn unexpected(&self, expected: &'static str) -> ExpressionError {
        let found = self.peek();
        ExpressionError {
            reason: Reason::Unexpected {
                found: found.token.describe(),
                expected,
            },
            span: found.span.clone(),
        }
    }

    fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, ExpressionError>,
    ) -> Result<T, ExpressionError> {
        if self.depth >= MAX_DEPTH {
            return Err(ExpressionError {
                reason: Reason::TooDeep,
                span: self.peek().span.clone(),
            });
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    fn level(&mut self, level: usize) -> Result<Node, ExpressionError> {
        let Some(operators) = LEVELS.get(level) else {
            return self.prefixed();
        };
        let mut left = self.level(level + 1)?;
        // Each operator makes the tree one deeper, so a long row of them counts like parentheses do.
        let mut taken = 0;
        while let Some((_, operator)) = operators.iter().find(|(symbol, _)| self.is_at(symbol)) {
            taken += 1;
            if self.depth + taken > MAX_DEPTH {
                return Err(ExpressionError {
                    reason: Reason::TooDeep,
                    span: self.peek().span.clone(),
                });
            }
            self.place += 1;
            let right = self.level(level + 1)?;
            let span = left.span.start..right.span.end;
            left = Node {
                kind: Kind::Binary(*operator, Box::new(left), Box::new(right)),
                span,
            };
            if level == COMPARISONS && operators.iter().any(|(symbol, _)| self.is_at(symbol)) {
                return Err(self.unexpected("`and` between two comparisons"));
            }
        }
        Ok(left)
    }

    fn prefixed(&mut self) -> Result<Node, ExpressionError> {
        let start = self.peek().span.start;
        for (symbol, make) in [
            ("-", Kind::Negated as fn(Box<Node>) -> Kind),
            ("!", Kind::Not),
        ] {
            if self.take(symbol) {
                // `not a == b` negates the comparison, as in Python; `-a * b` negates a.
                let inner = self.deeper(|parser| {
                    if symbol == "!" {
                        parser.level(COMPARISONS)
                    } else {
                        parser.prefixed()
                    }
                })?;
                let span = start..inner.span.end;
                return Ok(Node {
                    kind: make(Box::new(inner)),
                    span,
                });
            }
        }
        if self.take("+") {
            return self.deeper(Self::prefixed);
        }
        let base = self.operand()?;
        if self.take("**") {
            let exponent = self.deeper(Self::prefixed)?;
            let span = base.span.start..exponent.span.end;
            return Ok(Node {
                kind: Kind::Binary(Operator::Power, Box::new(base), Box::new(exponent)),
                span,
            });
        }
        Ok(base)
    }

    fn operand(&mut self) -> Result<Node, ExpressionError> {
        let Spanned { token, span } = self.peek().clone();
        match token {
            Token::Number(value) => {
                self.place += 1;
                Ok(Node {
                    kind: Kind::Literal(value),
                    span,
                })
            }
            Token::Symbol("(") => {
                self.place += 1;
                let inner = self.deeper(|parser| parser.level(0))?;
                let end = self.expect(")", "`)`")?;
                Ok(Node {
                    kind: inner.kind,
                    span: span.start..end,
                })
            }
            Token::Name(name) => {
                self.place += 1;
                if self.take("(") {
                    self.call(&name, span)
                } else if self.take("[") {
                    let index = self.deeper(|parser| parser.level(0))?;
                    let end = self.expect("]", "`]`")?;
                    Ok(Node {
                        kind: Kind::Element(name, Box::new(index)),
                        span: span.start..end,
                    })
                } else {
                    Ok(Node {
                        kind: Kind::Name(name),
                        span,
                    })
                }
            }
            _ => Err(self.unexpected("a number, a name or `(`")),
        }
    }

    fn call(&mut self, name: &str, span: Range<usize>) -> Result<Node, ExpressionError> {
        let Some(definition) = function::definition(name) else {
            return Err(ExpressionError {
                reason: Reason::UnknownFunction {
                    name: name.to_owned(),
                    nearest: nearest(name, FUNCTIONS.iter().map(|known| known.name)),
                },
                span,
            });
        };
        let mut arguments = Vec::new();
        if !self.is_at(")") {
            loop {
                arguments.push(self.deeper(|parser| parser.level(0))?);
                if !self.take(",") {
                    break;
                }
            }
        }
        let end = self.expect(")", "`,` or `)`")?;
        let span = span.start..end;
        if !(definition.least..=definition.most).contains(&arguments.len()) {
            return Err(ExpressionError {
                reason: Reason::Arguments {
                    function: definition.name,
                    expected: definition.takes,
                    found: arguments.len(),
                },
                span,
            });
        }
        Ok(Node {
            kind: Kind::Call(definition, arguments),
            span,
        })
    }
}
