//! Trees with their names looked up, and their values.

use std::ops::Range;

use super::error::{ExpressionError, Reason, nearest};
use super::function::Function;
use super::parser::{Kind, Node, Operator};
use super::value::Value;
use super::{Arrays, MAX_TERMS, Names};

/// An expression whose names are values, places of variables and numbers of arrays.
#[derive(Clone, Debug)]
pub(super) struct Step {
    kind: StepKind,
    span: Range<usize>,
}

#[derive(Clone, Debug)]
enum StepKind {
    Value(Value),
    Variable(usize),
    Element(usize, Box<Step>),
    Negated(Box<Step>),
    Not(Box<Step>),
    Binary(Operator, Box<Step>, Box<Step>),
    Call(Function, Vec<Step>),
    Sum(usize, Box<[Step; 3]>),
}

/// Looks names up.
pub(super) struct Resolver<'n> {
    pub(super) names: &'n Names,
    pub(super) arrays: &'n [&'n str],
    /// Names of variables by place; inner ones hide outer ones.
    pub(super) variables: Vec<String>,
    /// The most variables at once.
    pub(super) places: usize,
}

impl Resolver<'_> {
    pub(super) fn step(&mut self, node: &Node) -> Result<Step, ExpressionError> {
        let span = node.span.clone();
        let kind = match &node.kind {
            Kind::Literal(value) => StepKind::Value(*value),
            Kind::Name(name) => match self.variables.iter().rposition(|known| known == name) {
                Some(place) => StepKind::Variable(place),
                None => StepKind::Value(
                    self.names
                        .get(name)
                        .ok_or_else(|| self.unknown(name, &span))?,
                ),
            },
            Kind::Element(name, index) => {
                let array = self
                    .arrays
                    .iter()
                    .position(|known| known == name)
                    .ok_or_else(|| ExpressionError {
                        reason: Reason::UnknownName {
                            name: name.clone(),
                            nearest: nearest(name, self.arrays.iter().copied()),
                        },
                        span: span.clone(),
                    })?;
                StepKind::Element(array, Box::new(self.step(index)?))
            }
            Kind::Negated(inner) => StepKind::Negated(Box::new(self.step(inner)?)),
            Kind::Not(inner) => StepKind::Not(Box::new(self.step(inner)?)),
            Kind::Binary(operator, left, right) => StepKind::Binary(
                *operator,
                Box::new(self.step(left)?),
                Box::new(self.step(right)?),
            ),
            Kind::Call(definition, arguments) if definition.function == Function::Sum => {
                let [variable, from, to, body] = arguments.as_slice() else {
                    return Err(wrong_kind("four arguments", "others", &span));
                };
                let Kind::Name(variable) = &variable.kind else {
                    return Err(wrong_kind(
                        "the name of the variable of the sum",
                        "something else",
                        &variable.span,
                    ));
                };
                let bounds = (self.step(from)?, self.step(to)?);
                let place = self.variables.len();
                self.variables.push(variable.clone());
                self.places = self.places.max(self.variables.len());
                let body = self.step(body);
                self.variables.pop();
                StepKind::Sum(place, Box::new([bounds.0, bounds.1, body?]))
            }
            Kind::Call(definition, arguments) => {
                let steps: Result<Vec<Step>, ExpressionError> = arguments
                    .iter()
                    .map(|argument| self.step(argument))
                    .collect();
                StepKind::Call(definition.function, steps?)
            }
        };
        Ok(Step { kind, span })
    }

    fn unknown(&self, name: &str, span: &Range<usize>) -> ExpressionError {
        let known = self
            .names
            .iter()
            .map(|(name, _)| name)
            .chain(self.variables.iter().map(String::as_str));
        ExpressionError {
            reason: Reason::UnknownName {
                name: name.to_owned(),
                nearest: nearest(name, known),
            },
            span: span.clone(),
        }
    }
}

fn wrong_kind(
    expected: &'static str,
    found: impl Into<String>,
    span: &Range<usize>,
) -> ExpressionError {
    ExpressionError {
        reason: Reason::Kind {
            expected,
            found: found.into(),
        },
        span: span.clone(),
    }
}

/// What steps are worth.
pub(super) struct Machine<'a> {
    pub(super) text: &'a str,
    pub(super) variables: Vec<i64>,
    pub(super) arrays: &'a dyn Arrays,
    /// Terms of sums that may still be computed.
    pub(super) terms: i64,
}

impl Machine<'_> {
    pub(super) fn value(&mut self, step: &Step) -> Result<Value, ExpressionError> {
        match &step.kind {
            StepKind::Value(value) => Ok(*value),
            StepKind::Variable(place) => Ok(Value::Int(self.variables[*place])),
            StepKind::Element(array, index) => {
                let index = self.int(index, "a whole number as an index")?;
                let length = self.arrays.length(*array);
                let place = u64::try_from(index).ok().filter(|place| *place < length);
                let place = place.ok_or_else(|| ExpressionError {
                    reason: Reason::OutOfRange {
                        array: self.arrays.name(*array).to_owned(),
                        index,
                        length,
                    },
                    span: step.span.clone(),
                })?;
                Ok(self.arrays.element(*array, place))
            }
            StepKind::Negated(inner) => match self.value(inner)? {
                Value::Int(value) => value
                    .checked_neg()
                    .map(Value::Int)
                    .ok_or_else(|| self.overflow(&step.span)),
                Value::Float(value) => Ok(Value::Float(-value)),
                other => Err(wrong_kind("a number", other.kind(), &inner.span)),
            },
            StepKind::Not(inner) => Ok(Value::Bool(!self.bool(inner)?)),
            StepKind::Binary(Operator::And, left, right) => {
                Ok(Value::Bool(self.bool(left)? && self.bool(right)?))
            }
            StepKind::Binary(Operator::Or, left, right) => {
                Ok(Value::Bool(self.bool(left)? || self.bool(right)?))
            }
            StepKind::Binary(operator, left, right) => {
                let values = (self.value(left)?, self.value(right)?);
                self.binary(*operator, values, left, right, &step.span)
            }
            StepKind::Call(Function::If, arguments) => match arguments.as_slice() {
                [condition, yes, no] => {
                    if self.bool(condition)? {
                        self.value(yes)
                    } else {
                        self.value(no)
                    }
                }
                _ => Err(wrong_kind("three arguments", "others", &step.span)),
            },
            StepKind::Call(function, arguments) => {
                let values: Result<Vec<Value>, ExpressionError> = arguments
                    .iter()
                    .map(|argument| self.value(argument))
                    .collect();
                self.call(*function, &values?, arguments, &step.span)
            }
            StepKind::Sum(place, parts) => self.sum(*place, parts, &step.span),
        }
    }

    fn sum(
        &mut self,
        place: usize,
        parts: &[Step; 3],
        span: &Range<usize>,
    ) -> Result<Value, ExpressionError> {
        let from = self.int(&parts[0], "a whole number as the start of a sum")?;
        let to = self.int(&parts[1], "a whole number as the end of a sum")?;
        let terms = to.saturating_sub(from).max(0);
        self.terms = self.terms.saturating_sub(terms);
        if self.terms < 0 {
            return Err(ExpressionError {
                reason: Reason::TooManyTerms { terms },
                span: span.clone(),
            });
        }
        let mut whole = Some(0_i64);
        let mut total = 0.0;
        for index in from..to {
            self.variables[place] = index;
            match self.value(&parts[2])? {
                Value::Int(value) => {
                    whole = whole.and_then(|sum| sum.checked_add(value));
                    total += value as f64;
                }
                Value::Float(value) => {
                    whole = None;
                    total += value;
                }
                Value::Bool(_) => {
                    return Err(wrong_kind("a number", "a truth value", &parts[2].span));
                }
            }
        }
        whole.map_or_else(|| self.finite(total, span), |sum| Ok(Value::Int(sum)))
    }

    fn bool(&mut self, step: &Step) -> Result<bool, ExpressionError> {
        match self.value(step)? {
            Value::Bool(value) => Ok(value),
            other => Err(wrong_kind(
                "a condition, such as a comparison",
                format!("the number {other}"),
                &step.span,
            )),
        }
    }

    fn int(&mut self, step: &Step, expected: &'static str) -> Result<i64, ExpressionError> {
        match self.value(step)? {
            Value::Int(value) => Ok(value),
            other => Err(wrong_kind(expected, other.to_string(), &step.span)),
        }
    }

    fn written(&self, span: &Range<usize>) -> String {
        self.text.get(span.clone()).unwrap_or_default().to_owned()
    }

    fn overflow(&self, span: &Range<usize>) -> ExpressionError {
        ExpressionError {
            reason: Reason::Overflow {
                operation: self.written(span),
            },
            span: span.clone(),
        }
    }

    fn by_zero(&self, divisor: &Step) -> ExpressionError {
        ExpressionError {
            reason: Reason::DivisionByZero {
                divisor: self.written(&divisor.span),
            },
            span: divisor.span.clone(),
        }
    }

    fn finite(&self, value: f64, span: &Range<usize>) -> Result<Value, ExpressionError> {
        if value.is_finite() {
            Ok(Value::Float(value))
        } else {
            Err(ExpressionError {
                reason: Reason::NotFinite {
                    operation: self.written(span),
                },
                span: span.clone(),
            })
        }
    }

    fn whole(&self, value: f64, span: &Range<usize>) -> Result<Value, ExpressionError> {
        // Beyond 2^63 a conversion would stop at the largest integer without a word.
        if value.abs() < 9.2e18 {
            Ok(Value::Int(value as i64))
        } else {
            Err(self.overflow(span))
        }
    }

    fn binary(
        &self,
        operator: Operator,
        values: (Value, Value),
        left: &Step,
        right: &Step,
        span: &Range<usize>,
    ) -> Result<Value, ExpressionError> {
        if let (Value::Int(a), Value::Int(b)) = values {
            return self.integers(operator, a, b, right, span);
        }
        if let (Value::Bool(a), Value::Bool(b)) = values {
            match operator {
                Operator::Equal => return Ok(Value::Bool(a == b)),
                Operator::NotEqual => return Ok(Value::Bool(a != b)),
                _ => {}
            }
        }
        let number = |value: Value, step: &Step| {
            value
                .number()
                .ok_or_else(|| wrong_kind("a number", value.kind(), &step.span))
        };
        let (a, b) = (number(values.0, left)?, number(values.1, right)?);
        let computed = match operator {
            Operator::Add => a + b,
            Operator::Subtract => a - b,
            Operator::Multiply => a * b,
            Operator::Divide | Operator::Remainder if b.abs() == 0.0 => {
                return Err(self.by_zero(right));
            }
            Operator::Divide => a / b,
            Operator::Remainder => a - b * (a / b).floor(),
            Operator::Power => a.powf(b),
            other => return Ok(Value::Bool(compare(other, &a, &b))),
        };
        self.finite(computed, span)
    }

    fn integers(
        &self,
        operator: Operator,
        a: i64,
        b: i64,
        right: &Step,
        span: &Range<usize>,
    ) -> Result<Value, ExpressionError> {
        let computed = match operator {
            Operator::Add => a.checked_add(b),
            Operator::Subtract => a.checked_sub(b),
            Operator::Multiply => a.checked_mul(b),
            Operator::Divide | Operator::Remainder if b == 0 => return Err(self.by_zero(right)),
            // Rounded down, and the remainder to match, as in Python.
            Operator::Divide => a
                .checked_div(b)
                .map(|quotient| quotient - i64::from(a % b != 0 && (a < 0) != (b < 0))),
            Operator::Remainder => a.checked_rem(b).map(|rest| {
                if rest != 0 && (rest < 0) != (b < 0) {
                    rest + b
                } else {
                    rest
                }
            }),
            Operator::Power if b < 0 => return self.finite((a as f64).powf(b as f64), span),
            Operator::Power => u32::try_from(b)
                .ok()
                .and_then(|exponent| a.checked_pow(exponent)),
            other => return Ok(Value::Bool(compare(other, &a, &b))),
        };
        computed.map(Value::Int).ok_or_else(|| self.overflow(span))
    }

    fn call(
        &self,
        function: Function,
        values: &[Value],
        arguments: &[Step],
        span: &Range<usize>,
    ) -> Result<Value, ExpressionError> {
        let number = |place: usize| -> Result<f64, ExpressionError> {
            values[place]
                .number()
                .ok_or_else(|| wrong_kind("a number", values[place].kind(), &arguments[place].span))
        };
        let int = |place: usize| -> Result<i64, ExpressionError> {
            match values[place] {
                Value::Int(value) => Ok(value),
                other => Err(wrong_kind(
                    "a whole number",
                    other.to_string(),
                    &arguments[place].span,
                )),
            }
        };
        match function {
            Function::CeilDiv => self.ceil_div(int(0)?, int(1)?, &arguments[1], span),
            Function::Ceil if values.len() == 2 => {
                self.ceil_div(int(0)?, int(1)?, &arguments[1], span)
            }
            Function::RoundUp => {
                let multiple = int(1)?;
                match self.ceil_div(int(0)?, multiple, &arguments[1], span)? {
                    Value::Int(count) => count
                        .checked_mul(multiple)
                        .map(Value::Int)
                        .ok_or_else(|| self.overflow(span)),
                    other => Ok(other),
                }
            }
            Function::Abs => match values[0] {
                Value::Int(value) => value
                    .checked_abs()
                    .map(Value::Int)
                    .ok_or_else(|| self.overflow(span)),
                _ => self.finite(number(0)?.abs(), span),
            },
            Function::Ceil | Function::Floor | Function::Round => match values[0] {
                Value::Int(value) => Ok(Value::Int(value)),
                _ => {
                    let value = number(0)?;
                    let rounded = match function {
                        Function::Ceil => value.ceil(),
                        Function::Floor => value.floor(),
                        _ => value.round(),
                    };
                    self.whole(rounded, span)
                }
            },
            Function::Log2 => match values[0] {
                Value::Int(value) if value > 0 && value & (value - 1) == 0 => {
                    Ok(Value::Int(i64::from(value.trailing_zeros())))
                }
                _ => self.finite(number(0)?.log2(), span),
            },
            Function::Min | Function::Max => {
                let mut best = values[0];
                for (place, value) in values.iter().enumerate() {
                    let other = number(place)?;
                    let known = best.number().unwrap_or_default();
                    let is_better = if function == Function::Min {
                        other < known
                    } else {
                        other > known
                    };
                    if is_better {
                        best = *value;
                    }
                }
                Ok(best)
            }
            Function::Float => self.finite(number(0)?, span),
            Function::Cos => self.finite(number(0)?.cos(), span),
            Function::Exp => self.finite(number(0)?.exp(), span),
            Function::Log => self.finite(number(0)?.ln(), span),
            Function::Sin => self.finite(number(0)?.sin(), span),
            Function::Sqrt => self.finite(number(0)?.sqrt(), span),
            Function::Tanh => self.finite(number(0)?.tanh(), span),
            // They do not come here: their arguments are not all computed.
            Function::If | Function::Sum => {
                Err(wrong_kind("a function of values", "another", span))
            }
        }
    }

    fn ceil_div(
        &self,
        a: i64,
        b: i64,
        divisor: &Step,
        span: &Range<usize>,
    ) -> Result<Value, ExpressionError> {
        if b == 0 {
            return Err(self.by_zero(divisor));
        }
        a.checked_div(b)
            .map(|quotient| quotient + i64::from(a % b != 0 && (a < 0) == (b < 0)))
            .map(Value::Int)
            .ok_or_else(|| self.overflow(span))
    }
}

fn compare<T: PartialOrd>(operator: Operator, a: &T, b: &T) -> bool {
    match operator {
        Operator::Equal => a == b,
        Operator::NotEqual => a != b,
        Operator::Less => a < b,
        Operator::LessOrEqual => a <= b,
        Operator::Greater => a > b,
        _ => a >= b,
    }
}

/// The most terms that the sums of one value may have together.
pub(super) const fn terms() -> i64 {
    MAX_TERMS
}
