//! Axes and their values.

use crate::expression::Value;

/// A named list of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it is called.
    pub name: String,
    /// The values; at least one.
    pub values: Vec<Value>,
}

/// The most values of one axis.
pub(super) const MAX_VALUES: usize = 10_000;

/// The values from one number to another: by adding a step, or with these as exponents of a base.
pub(super) fn values(
    from: Value,
    to: Value,
    step: Value,
    base: Option<Value>,
) -> Result<Vec<Value>, &'static str> {
    let mut found = Vec::new();
    match (from, to, step) {
        (Value::Int(from), Value::Int(to), Value::Int(step)) => {
            if step == 0 {
                return Err("a step that is not 0");
            }
            let mut value = from;
            while (step > 0 && value <= to) || (step < 0 && value >= to) {
                found.push(Value::Int(value));
                if found.len() > MAX_VALUES {
                    return Err("at most 10000 values");
                }
                let Some(next) = value.checked_add(step) else {
                    break;
                };
                value = next;
            }
        }
        _ => {
            let (Some(from), Some(to), Some(step)) = (from.number(), to.number(), step.number())
            else {
                return Err("numbers");
            };
            if step.abs() == 0.0 {
                return Err("a step that is not 0");
            }
            let count = ((to - from) / step + 1e-9).floor();
            if count >= MAX_VALUES as f64 {
                return Err("at most 10000 values");
            }
            let mut place = 0.0;
            while place <= count {
                found.push(Value::Float(from + place * step));
                place += 1.0;
            }
        }
    }
    let Some(base) = base else {
        return Ok(found);
    };
    found
        .into_iter()
        .map(|exponent| match (base, exponent) {
            (Value::Int(base), Value::Int(exponent)) if exponent >= 0 => u32::try_from(exponent)
                .ok()
                .and_then(|exponent| base.checked_pow(exponent))
                .map(Value::Int)
                .ok_or("powers that fit into 64 bits"),
            _ => base
                .number()
                .zip(exponent.number())
                .map(|(base, exponent)| base.powf(exponent))
                .filter(|value| value.is_finite())
                .map(Value::Float)
                .ok_or("powers that are finite"),
        })
        .collect()
}

/// Values as an option has them: `1,2,4`, `FROM:TO`, `FROM:TO:STEP`, or `BASE^FROM:TO` and `BASE^FROM:TO:STEP` with
/// exponents.
///
/// # Errors
/// What would be right, in words.
pub fn parse_axis(text: &str) -> Result<Vec<Value>, String> {
    let number = |text: &str| -> Result<Value, String> {
        let text = text.trim();
        text.parse::<i64>()
            .map(Value::Int)
            .or_else(|_| text.parse::<f64>().map(Value::Float))
            .ok()
            .filter(|value| value.number().is_some_and(f64::is_finite))
            .ok_or_else(|| format!("{text:?} is no number"))
    };
    if let Some((from, rest)) = text.split_once(':') {
        let (base, from) = match from.split_once('^') {
            Some((base, from)) => (Some(number(base)?), from),
            None => (None, from),
        };
        let (to, step) = rest.split_once(':').unwrap_or((rest, "1"));
        let to = to.rsplit_once('^').map_or(to, |(_, exponent)| exponent);
        return values(number(from)?, number(to)?, number(step)?, base)
            .map_err(|expected| format!("expected {expected}"))
            .and_then(|values| {
                if values.is_empty() {
                    Err(format!("{text:?} has no values"))
                } else {
                    Ok(values)
                }
            });
    }
    if text.trim().is_empty() {
        return Err("expected at least one value".to_owned());
    }
    text.split(',').map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match parse_axis(text) {
            Ok(values) => values
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" "),
            Err(error) => error,
        }
    }

    #[test]
    fn options() {
        assert_eq!(shown("1,2,4"), "1 2 4");
        assert_eq!(shown("8:32:8"), "8 16 24 32");
        assert_eq!(shown("2:4"), "2 3 4");
        assert_eq!(shown("2^10:13"), "1024 2048 4096 8192");
        assert_eq!(shown("2^10:2^14:2"), "1024 4096 16384");
        assert_eq!(shown("0.5:2:0.5"), "0.5 1.0 1.5 2.0");
        assert_eq!(shown("10^-1:1"), "0.1 1 10");
        assert_eq!(shown("4:2"), "\"4:2\" has no values");
        assert_eq!(shown(""), "expected at least one value");
        assert_eq!(shown("1,x"), "\"x\" is no number");
        assert_eq!(shown("1:2:0"), "expected a step that is not 0");
        assert_eq!(shown("2^60:70"), "expected powers that fit into 64 bits");
        assert_eq!(shown("1:1000000000"), "expected at most 10000 values");
        assert_eq!(shown("inf"), "\"inf\" is no number");
    }
}
