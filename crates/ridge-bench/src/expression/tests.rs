use std::fmt::Write;

use proptest::prelude::*;

use super::*;

fn names() -> Names {
    let mut names = Names::default();
    names.set("n", Value::Int(1000));
    names.set("tile", Value::Int(32));
    names.set("zero", Value::Int(0));
    names.set("device.sms", Value::Int(132));
    names
}

fn value(text: &str) -> Value {
    Expression::parse(text).unwrap().value(&names()).unwrap()
}

fn error(text: &str) -> ExpressionError {
    match Expression::parse(text) {
        Ok(expression) => expression.value(&names()).unwrap_err(),
        Err(error) => error,
    }
}

#[test]
fn values() {
    for (text, expected) in [
        ("1 + 2 * 3", Value::Int(7)),
        ("(1 + 2) * 3", Value::Int(9)),
        ("-2 ** 2", Value::Int(-4)),
        ("2 ** 3 ** 2", Value::Int(512)),
        ("7 / 2", Value::Int(3)),
        ("-7 / 2", Value::Int(-4)),
        ("-7 % 3", Value::Int(2)),
        ("7.0 / 2", Value::Float(3.5)),
        ("2 ** -1", Value::Float(0.5)),
        ("ceil(n, tile)", Value::Int(32)),
        ("ceil_div(-7, 2)", Value::Int(-3)),
        ("ceil(1.2)", Value::Int(2)),
        ("round_up(n, 64)", Value::Int(1024)),
        ("min(4, 2.5, 3)", Value::Float(2.5)),
        ("max(device.sms, 100)", Value::Int(132)),
        ("log2(1024)", Value::Int(10)),
        ("0x10 + 1_000", Value::Int(1016)),
        ("1e3", Value::Float(1000.0)),
        (
            "n >= 1000 and tile < 32 or not zero == 1",
            Value::Bool(true),
        ),
        ("if(zero == 0, 5, n / zero)", Value::Int(5)),
        ("zero != 0 and n / zero > 1", Value::Bool(false)),
        ("sum(k, 0, 10, k * k)", Value::Int(285)),
        ("sum(i, 0, 3, sum(j, 0, i + 1, 10 * i + j))", Value::Int(84)),
        ("sum(k, 5, 5, k)", Value::Int(0)),
        (".5 + .5", Value::Float(1.0)),
        ("float(1) / 4", Value::Float(0.25)),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn mistakes_point_into_the_text() {
    let mut page = String::new();
    for text in [
        "",
        "1 +",
        "1 + * 2",
        "(1 + 2",
        "1 2",
        "a @ b",
        "12abc",
        "99999999999999999999",
        "tyle * 2",
        "device.sm",
        "cel_div(n, 2)",
        "ceil_div(n)",
        "n / zero",
        "n % (tile - 32)",
        "2 ** 80",
        "n * 9223372036854775807",
        "sqrt(0 - 1)",
        "exp(1000)",
        "1 < 2 < 3",
        "1 + (1 == 1)",
        "n and tile",
        "x[3]",
        "sum(1, 0, 3, 2)",
        "sum(k, 0, 2 ** 40, k)",
        "min()",
    ] {
        let error = error(text);
        let marks = "^".repeat(error.span().len().max(1));
        let hint = error
            .hint()
            .map_or(String::new(), |hint| format!("\n      try {hint}"));
        write!(
            page,
            "{text}\n{}{marks} {} {error}{hint}\n",
            " ".repeat(error.span().start),
            error.code()
        )
        .unwrap();
    }
    insta::assert_snapshot!(page);
}

#[test]
fn deep_and_long_ones_are_refused() {
    assert_eq!(
        error(&format!("{}1{}", "(".repeat(9999), ")".repeat(9999))).code(),
        "EXP0005"
    );
    assert_eq!(
        error(&format!("{}1{}", "(".repeat(200), ")".repeat(200))).code(),
        "EXP0004"
    );
    assert_eq!(error(&format!("{}1", "-".repeat(2000))).code(), "EXP0004");
    assert_eq!(error(&vec!["1"; 500].join("+")).code(), "EXP0004");
    assert_eq!(error(&vec!["2"; 500].join("**")).code(), "EXP0004");
    // Half of that is fine.
    assert_eq!(value(&vec!["1"; 32].join("+")), Value::Int(32));
}

struct Ramp;

impl Arrays for Ramp {
    fn length(&self, _array: usize) -> u64 {
        100
    }
    fn element(&self, array: usize, index: u64) -> Value {
        Value::Float(index as f64 + 1000.0 * array as f64)
    }
    fn name(&self, array: usize) -> &str {
        ["a", "b"][array]
    }
}

#[test]
fn elements_of_arrays() {
    let expression = Expression::parse("sum(k, 0, 10, a[i * 10 + k] * 1.0) + b[i]").unwrap();
    let program = expression.program(&names(), &["a", "b"], &["i"]).unwrap();
    assert_eq!(
        program.value(&[2], &Ramp).unwrap(),
        Value::Float(245.0 + 1002.0)
    );
    let outside = program.value(&[10], &Ramp).unwrap_err();
    assert_eq!(
        outside.to_string(),
        "`a` has 100 elements, and there is none at 100"
    );
    assert!(
        Expression::parse("c[0]")
            .unwrap()
            .program(&names(), &["a"], &[])
            .is_err()
    );
}

/// Expressions of whole numbers as text, beside what 128 bits make of them.
fn arithmetic() -> impl Strategy<Value = (String, Option<i128>)> {
    let leaf = (-1000_i64..1000).prop_map(|value| (format!("({value})"), Some(i128::from(value))));
    leaf.prop_recursive(5, 40, 2, |inner| {
        (inner.clone(), inner, 0..5_usize).prop_map(|((a, x), (b, y), operator)| {
            let symbol = ["+", "-", "*", "/", "%"][operator];
            let fits = |value: i128| i64::try_from(value).ok().map(i128::from);
            let computed = x.zip(y).and_then(|(x, y)| match symbol {
                "+" => fits(x + y),
                "-" => fits(x - y),
                "*" => fits(x * y),
                _ if y == 0 => None,
                "/" => fits(floor_div(x, y)),
                _ => Some(x - floor_div(x, y) * y),
            });
            (format!("({a} {symbol} {b})"), computed)
        })
    })
}

/// The greatest whole number that is not above the quotient.
fn floor_div(x: i128, y: i128) -> i128 {
    let (x, y) = if y < 0 { (-x, -y) } else { (x, y) };
    x.div_euclid(y)
}

proptest! {
    #[test]
    fn whole_numbers_are_exact_or_refused((text, expected) in arithmetic()) {
        let found = Expression::parse(&text).unwrap().value(&Names::default());
        match (found, expected) {
            (Ok(Value::Int(value)), Some(expected)) => prop_assert_eq!(i128::from(value), expected),
            (Err(error), None) => prop_assert!(["EXP0010", "EXP0011"].contains(&error.code()), "{}", error),
            (found, expected) => prop_assert!(false, "{text}: {found:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn any_text_is_read_or_refused_with_a_place(text in "[ -~é]{0,80}") {
        match Expression::parse(&text) {
            Ok(expression) => {
                if let Err(error) = expression.value(&names()) {
                    prop_assert!(error.span().end <= text.len());
                    prop_assert!(text.get(error.span()).is_some());
                }
            }
            Err(error) => {
                prop_assert!(error.span().end <= text.len());
                prop_assert!(text.get(error.span()).is_some());
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }
}
