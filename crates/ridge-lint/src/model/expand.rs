//! What macros and functions of one expression stand for: their text, or their `return`, with the arguments in place.

use std::cell::Cell;

use super::evaluate::{Scope, arithmetic, literal};
use super::value::{Factor, Spread, Value};
use super::{Base, Model, Type, strip};
use crate::syntax::{Id, Kind, Role};

/// A macro of the file that is defined once.
#[derive(Clone, Debug)]
pub(crate) struct Macro<'s> {
    /// Absent where it has none, not even parentheses.
    pub(super) parameters: Option<Vec<&'s str>>,
    pub(crate) text: &'s str,
}

/// Longer texts are no expressions that people write.
const MOST_BYTES: usize = 512;

/// The number of a macro, or of a constant of `<math.h>`, that stands for a literal of double precision.
pub(crate) fn double_text<'m>(model: &Model<'m>, name: &'m str) -> Option<&'m str> {
    if let Some(known) = model.macros.get(name) {
        return known
            .parameters
            .is_none()
            .then(|| strip(known.text).trim_start_matches('-'));
    }
    match name {
        "M_PI" => Some("3.14159265358979323846"),
        "M_PI_2" => Some("1.57079632679489661923"),
        "M_PI_4" => Some("0.78539816339744830962"),
        "M_1_PI" => Some("0.31830988618379067154"),
        "M_2_PI" => Some("0.63661977236758134308"),
        "M_E" => Some("2.7182818284590452354"),
        "M_LN2" => Some("0.69314718055994530942"),
        "M_SQRT2" => Some("1.41421356237309504880"),
        "M_SQRT1_2" => Some("0.70710678118654752440"),
        _ => None,
    }
}

/// What a macro stands for, with values for its parameters; `None` where its text is more than an expression that is understood.
pub(super) fn text(scope: &Scope<'_, '_>, known: &Macro<'_>, arguments: &[Value]) -> Option<Value> {
    let names = known.parameters.as_deref().unwrap_or_default();
    if known.text.len() > MOST_BYTES || names.len() != arguments.len() {
        return None;
    }
    let mut reader = Reader {
        scope,
        names,
        arguments,
        rest: known.text.split("//").next().unwrap_or_default(),
        depth: 0,
    };
    let value = reader.binary(0)?;
    reader.skip();
    reader.rest.is_empty().then_some(value)
}

struct Reader<'r, 'm, 's> {
    scope: &'r Scope<'m, 's>,
    names: &'r [&'r str],
    arguments: &'r [Value],
    rest: &'r str,
    depth: usize,
}

/// Operators with how strongly they bind, longer ones first.
const OPERATORS: [(&str, u8); 18] = [
    ("||", 1),
    ("&&", 2),
    ("==", 6),
    ("!=", 6),
    ("<=", 7),
    (">=", 7),
    ("<<", 8),
    (">>", 8),
    ("|", 3),
    ("^", 4),
    ("&", 5),
    ("<", 7),
    (">", 7),
    ("+", 9),
    ("-", 9),
    ("*", 10),
    ("/", 10),
    ("%", 10),
];

impl<'r> Reader<'r, '_, '_> {
    fn skip(&mut self) {
        loop {
            self.rest = self
                .rest
                .trim_start_matches(|c: char| c.is_whitespace() || c == '\\');
            match self
                .rest
                .strip_prefix("/*")
                .and_then(|rest| rest.split_once("*/"))
            {
                Some((_, rest)) => self.rest = rest,
                None => return,
            }
        }
    }

    fn takes(&mut self, token: &str) -> bool {
        self.skip();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn word(&mut self) -> &'r str {
        self.skip();
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.'))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn binary(&mut self, weakest: u8) -> Option<Value> {
        let mut left = self.unary()?;
        loop {
            self.skip();
            let next = OPERATORS
                .iter()
                .find(|(text, _)| self.rest.starts_with(text));
            let Some((operator, binds)) = next.filter(|(_, binds)| *binds > weakest) else {
                return Some(left);
            };
            self.rest = &self.rest[operator.len()..];
            let right = self.binary(*binds)?;
            left = arithmetic(operator, left, right);
        }
    }

    fn unary(&mut self) -> Option<Value> {
        self.depth += 1;
        if self.depth > 64 {
            return None;
        }
        if self.takes("-") {
            let value = self.unary()?;
            return Some(Value::number(0, value.ty).plus(value, true));
        }
        if self.takes("(") {
            let before = self.rest;
            if let Some(ty) = self.cast() {
                let value = self.unary()?;
                return Some(Value { ty, ..value });
            }
            self.rest = before;
            let value = self.binary(0)?;
            return self.takes(")").then_some(value);
        }
        let word = self.word();
        if word.is_empty() {
            return None;
        }
        if word.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return Some(number(word));
        }
        if let Some(which) = self.names.iter().position(|name| *name == word) {
            return self.arguments.get(which).copied();
        }
        self.skip();
        if self.rest.starts_with('(') {
            return None;
        }
        if let Some((of, member)) = word.split_once('.') {
            return index(of, member);
        }
        self.scope.named(word)
    }

    /// The type of `(type)`, behind its first parenthesis.
    fn cast(&mut self) -> Option<Type> {
        let (inside, rest) = self.rest.split_once(')')?;
        let inside = inside.trim();
        let is_word = inside
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ' '));
        if !is_word || self.names.contains(&inside) {
            return None;
        }
        let ty = self.scope.model.types.by_name(inside);
        if ty == Type::UNKNOWN {
            return None;
        }
        self.rest = rest;
        Some(ty)
    }
}

/// `threadIdx.x` and its like.
pub(super) fn index(of: &str, member: &str) -> Option<Value> {
    let unsigned = Type::of(Base::Integer {
        bytes: 4,
        is_signed: false,
    });
    Some(match (of, member) {
        ("threadIdx", "x") => Value::of(Spread::Lane(Factor::Number(1)), unsigned),
        // Blocks are taken to be at least a warp wide; where a launch says otherwise, rules ask for the width.
        ("threadIdx", _) => Value {
            moves: true,
            walks: true,
            ..Value::of(Spread::Warp, unsigned)
        },
        ("blockIdx", "x") | ("blockDim" | "gridDim", _) => Value::of(Spread::Uniform, unsigned),
        ("blockIdx", _) => Value {
            moves: true,
            walks: true,
            ..Value::of(Spread::Uniform, unsigned)
        },
        _ => return None,
    })
}

/// A literal.
pub(super) fn number(text: &str) -> Value {
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    if !is_hex && text.contains(['.', 'e', 'E']) {
        let bytes = if text.ends_with(['f', 'F']) { 4 } else { 8 };
        return Value {
            is_constant: true,
            ..Value::of(Spread::Uniform, Type::of(Base::Float { bytes }))
        };
    }
    let lower = text.to_ascii_lowercase();
    let suffix = lower.trim_start_matches(|c: char| c.is_ascii_hexdigit() || c == 'x' || c == '\'');
    let ty = Type::of(Base::Integer {
        bytes: if suffix.contains('l') { 8 } else { 4 },
        is_signed: !suffix.contains('u'),
    });
    match literal(text) {
        Some(number) => Value::number(number, ty),
        None => Value {
            is_constant: true,
            ..Value::of(Spread::Uniform, ty)
        },
    }
}

/// The expression of a function that does nothing but return it.
pub(crate) fn returned(model: &Model<'_>, name: &str) -> Option<(usize, Id)> {
    let [which] = model.by_name.get(name)?.as_slice() else {
        return None;
    };
    let tree = &model.tree;
    let mut parts = tree.parts(model.functions[*which].body);
    let only = parts.next().filter(|only| tree.is(*only, Kind::Return))?;
    let value = tree.parts(only).next()?;
    parts.next().is_none().then_some((*which, value))
}

/// What a call of such a function gives, with values for its parameters.
pub(super) fn call(
    scope: &Scope<'_, '_>,
    name: &str,
    arguments: &[Value],
    depth: usize,
) -> Option<Value> {
    let model = scope.model;
    let (which, value) = returned(model, name)?;
    let function = &model.functions[which];
    if function.parameters != arguments.len() {
        return None;
    }
    let inside = Scope {
        model,
        function: Some(which),
        arguments: Some(arguments),
        left: scope.left,
    };
    let given = inside.value(value, depth + 8);
    let ty = tree_type(model, function.node);
    Some(if ty == Type::UNKNOWN || given.ty.is_pointer() {
        given
    } else {
        Value { ty, ..given }
    })
}

fn tree_type(model: &Model<'_>, function: Id) -> Type {
    let is_plain = model
        .tree
        .part(function, Role::Declarator)
        .is_some_and(|declarator| model.tree.is(declarator, Kind::FunctionDeclarator));
    if is_plain {
        model.types.written(&model.tree, function)
    } else {
        Type::UNKNOWN
    }
}

/// Takes one of the expansions that are left for an expression.
pub(super) fn takes_one(left: &Cell<u32>) -> bool {
    let has_one = left.get() > 0;
    left.set(left.get().saturating_sub(1));
    has_one
}
