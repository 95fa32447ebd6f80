//! The expressions of a spec: sizes, lengths, grids, restrictions, and references of outputs.
//!
//! Whole numbers have 64 bits and never wrap; the quotient of two of them is rounded down, as is that of Python's `//`.
//! With a fraction on either side, the value has one. Values are finite: what is not is an error.
//!
//! ```
//! use ridge_bench::expression::{Expression, Names, Value};
//!
//! let mut names = Names::default();
//! names.set("n", Value::Int(1000));
//! names.set("tile", Value::Int(32));
//! let blocks = Expression::parse("ceil_div(n, tile) * 2")?;
//! assert_eq!(blocks.value(&names)?, Value::Int(64));
//! let error = Expression::parse("n / (tile - 32)")?.value(&names).unwrap_err();
//! assert_eq!(error.to_string(), "division by zero: `(tile - 32)` is 0");
//! # Ok::<(), ridge_bench::expression::ExpressionError>(())
//! ```

mod error;
mod function;
mod lexer;
mod parser;
mod program;
mod value;

use std::collections::BTreeMap;

pub(crate) use error::nearest;
pub use error::{ExpressionError, Reason};
pub use value::Value;

use function::Function;
use parser::Node;
use program::{Machine, Resolver, Step};

/// The most bytes of an expression.
pub const MAX_LENGTH: usize = 4096;
/// The most levels of an expression; beyond, a hostile one could exhaust the stack.
pub const MAX_DEPTH: usize = 64;
/// The most terms that the sums of one value have together.
pub const MAX_TERMS: i64 = 1 << 28;

/// Names and what they are worth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names(BTreeMap<String, Value>);

impl Names {
    /// Gives a name a value, in place of an earlier one.
    pub fn set(&mut self, name: impl Into<String>, value: Value) {
        self.0.insert(name.into(), value);
    }

    /// What a name is worth.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Value> {
        self.0.get(name).copied()
    }

    /// All names in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }
}

/// Arrays whose elements an expression may use.
pub trait Arrays {
    /// How many elements the array with this number has.
    fn length(&self, array: usize) -> u64;
    /// One element.
    fn element(&self, array: usize, index: u64) -> Value;
    /// What the array is called.
    fn name(&self, array: usize) -> &str;
}

/// No arrays.
struct NoArrays;

impl Arrays for NoArrays {
    fn length(&self, _array: usize) -> u64 {
        0
    }

    fn element(&self, _array: usize, _index: u64) -> Value {
        Value::Int(0)
    }

    fn name(&self, _array: usize) -> &str {
        ""
    }
}

/// An expression that was read.
#[derive(Clone, Debug)]
pub struct Expression {
    text: String,
    root: Node,
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// When the text is none, or too long or too deep.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        Ok(Self {
            root: parser::parse(text)?,
            text: text.to_owned(),
        })
    }

    /// The expression as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it is worth.
    ///
    /// # Errors
    /// When a name is not known, or a value does not exist.
    pub fn value(&self, names: &Names) -> Result<Value, ExpressionError> {
        self.program(names, &[], &[])?.value(&[], &NoArrays)
    }

    /// Looks up all names once, for an expression whose value is needed at many places.
    ///
    /// # Errors
    /// When a name is not known.
    pub fn program(
        &self,
        names: &Names,
        arrays: &[&str],
        variables: &[&str],
    ) -> Result<Program, ExpressionError> {
        let mut resolver = Resolver {
            names,
            arrays,
            variables: variables.iter().map(ToString::to_string).collect(),
            places: variables.len(),
        };
        let root = resolver.step(&self.root)?;
        Ok(Program {
            text: self.text.clone(),
            places: resolver.places,
            root,
        })
    }

    /// Whether it has sums, whose length decides how long it takes.
    #[must_use]
    pub fn has_sums(&self) -> bool {
        has_sums(&self.root)
    }

    /// Whether a name occurs in it, other than as a variable of a sum.
    #[must_use]
    pub fn uses(&self, name: &str) -> bool {
        uses(&self.root, name)
    }
}

fn has_sums(node: &Node) -> bool {
    use parser::Kind;
    match &node.kind {
        Kind::Literal(_) | Kind::Name(_) => false,
        Kind::Element(_, inner) | Kind::Negated(inner) | Kind::Not(inner) => has_sums(inner),
        Kind::Binary(_, left, right) => has_sums(left) || has_sums(right),
        Kind::Call(definition, arguments) => {
            definition.function == Function::Sum || arguments.iter().any(has_sums)
        }
    }
}

fn uses(node: &Node, name: &str) -> bool {
    use parser::Kind;
    match &node.kind {
        Kind::Literal(_) => false,
        Kind::Name(own) => own == name,
        Kind::Element(_, inner) | Kind::Negated(inner) | Kind::Not(inner) => uses(inner, name),
        Kind::Binary(_, left, right) => uses(left, name) || uses(right, name),
        Kind::Call(_, arguments) => arguments.iter().any(|argument| uses(argument, name)),
    }
}

/// An expression with its names looked up.
#[derive(Clone, Debug)]
pub struct Program {
    text: String,
    places: usize,
    root: Step,
}

impl Program {
    /// What it is worth where its variables have these values.
    ///
    /// # Errors
    /// When a value does not exist.
    pub fn value(&self, variables: &[i64], arrays: &dyn Arrays) -> Result<Value, ExpressionError> {
        let mut places = vec![0; self.places];
        for (place, value) in places.iter_mut().zip(variables) {
            *place = *value;
        }
        Machine {
            text: &self.text,
            variables: places,
            arrays,
            terms: program::terms(),
        }
        .value(&self.root)
    }
}

/// All functions with what they give, for the reference.
pub fn functions() -> impl Iterator<Item = &'static str> {
    function::FUNCTIONS.iter().map(|known| known.gives)
}

fn function_names() -> Vec<&'static str> {
    function::FUNCTIONS.iter().map(|known| known.name).collect()
}

#[cfg(test)]
mod tests;
