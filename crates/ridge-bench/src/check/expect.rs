//! What outputs have to be, from expressions.

use super::scramble;
use crate::expression::{Arrays, Expression, ExpressionError, Names, Value};
use crate::spec::Elements;

/// Elements of inputs, as expressions of a check use them.
struct Inputs<'a> {
    buffers: Vec<(&'a str, &'a Elements)>,
}

impl Arrays for Inputs<'_> {
    fn length(&self, array: usize) -> u64 {
        self.buffers[array].1.length
    }

    fn element(&self, array: usize, index: u64) -> Value {
        let elements = self.buffers[array].1;
        let stored = elements.stored(index);
        // Integers stay whole, so that quotients and remainders are those of integers.
        if elements.kind.is_float() {
            Value::Float(stored)
        } else {
            Value::Int(stored as i64)
        }
    }

    fn name(&self, array: usize) -> &str {
        self.buffers[array].0
    }
}

/// Computes some elements of an output: the first, the last, and others spread at random.
///
/// # Errors
/// When the expression has no value somewhere.
pub fn expect(
    expression: &Expression,
    names: &Names,
    inputs: &[(&str, &Elements)],
    length: u64,
    samples: u64,
) -> Result<Vec<(u64, f64)>, ExpressionError> {
    let arrays: Vec<&str> = inputs.iter().map(|(name, _)| *name).collect();
    let program = expression.program(names, &arrays, &["i"])?;
    let inputs = Inputs {
        buffers: inputs.to_vec(),
    };
    places(length, samples)
        .into_iter()
        .map(|index| {
            let value = program.value(&[index as i64], &inputs)?;
            Ok((index, value.number().unwrap_or(f64::NAN)))
        })
        .collect()
}

/// Which elements are computed: all of few, else the first and the last and one at random from each of equal parts.
fn places(length: u64, samples: u64) -> Vec<u64> {
    if length <= samples {
        return (0..length).collect();
    }
    let parts = samples.max(2);
    (0..parts)
        .map(|part| {
            let start = (u128::from(length) * u128::from(part) / u128::from(parts)) as u64;
            let end = (u128::from(length) * u128::from(part + 1) / u128::from(parts)) as u64;
            match part {
                0 => 0,
                part if part == parts - 1 => length - 1,
                part => start + scramble(part) % (end - start),
            }
        })
        .collect()
}
