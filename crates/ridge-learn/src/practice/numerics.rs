//! Numerics: how fine formats are, how far they reach, and what sums lose.

use ridge_model::quantity::{Amount, Unit, grouped};
use ridge_numerics::format::{Format, Overflow};
use ridge_stats::Random;

use super::{Maker, Material, pick, power};
use crate::question::{Question, shown};

pub(crate) const MAKERS: &[Maker] = &[roundoff, ulp, counter, range, sum];

const FLOATS: [Format; 5] = [
    Format::F64,
    Format::F32,
    Format::F16,
    Format::Bf16,
    Format::E4m3,
];
/// Formats that are taken for each other.
const NARROW: [Format; 3] = [Format::F32, Format::F16, Format::Bf16];

fn plain(value: f64) -> Amount {
    Amount::new(value, Unit::NONE)
}

/// The largest relative error of one rounding.
fn roundoff(_: &Material<'_>, random: &mut Random) -> Option<Question> {
    let format = *pick(&FLOATS, random)?;
    let u = format.unit_roundoff()?;
    let layout = format.layout()?;
    let mut question = Question::number(
        "unit-roundoff",
        format!("What is the largest relative error of rounding a number to {format}?"),
        plain(u),
    )
    .given(format!(
        "{format} has {} bits of exponent and {} stored bits of mantissa",
        layout.exponent, layout.mantissa
    ))
    .mistake(
        2.0 * u,
        "that is the distance from 1 to the next number; rounding errs by half of it",
    );
    for other in FLOATS.iter().filter(|other| **other != format) {
        question = question.mistake(
            other.unit_roundoff()?,
            format!("that is the one of {other}"),
        );
    }
    Some(
        question
            .because(format!(
                "the next number after 1 is 2^-{} away, and the nearest is at most half of that away",
                layout.mantissa
            ))
            .because(shown(&plain(u)))
            .read("unit-roundoff"),
    )
}

/// The distance of neighbours at a value.
fn ulp(_: &Material<'_>, random: &mut Random) -> Option<Question> {
    let format = *pick(&NARROW, random)?;
    let exponent = 3 + random.below(10) as i32;
    let value = (2_f64.powi(exponent) * (1.0 + random.unit() * 0.9)).round();
    let ulp = format.ulp_of(value);
    let layout = format.layout()?;
    let mut question = Question::number(
        "ulp",
        format!("How far apart are neighbouring numbers of {format} at {value}?"),
        plain(ulp),
    )
    .given(format!(
        "{format} has {} stored bits of mantissa",
        layout.mantissa
    ))
    .mistake(
        format.ulp_of(1.0),
        "that is the distance at 1; it grows with the number",
    );
    for other in NARROW.iter().filter(|other| **other != format) {
        question = question.mistake(other.ulp_of(value), format!("that is the one of {other}"));
    }
    Some(
        question
            .mistake(
                ulp / 2.0,
                "that is the largest error of rounding, half the distance",
            )
            .because(format!(
                "{value} lies between 2^{exponent} and 2^{}",
                exponent + 1
            ))
            .because(format!(
                "2^{exponent} x 2^-{} = {}",
                layout.mantissa,
                shown(&plain(ulp))
            ))
            .read("ulp"),
    )
}

/// Adding one again and again.
fn counter(_: &Material<'_>, random: &mut Random) -> Option<Question> {
    let format = *pick(
        &[Format::F32, Format::F16, Format::Bf16, Format::E5m2],
        random,
    )?;
    let limit = format.exact_integer_limit()?;
    let bits = format.layout()?.mantissa;
    Some(
        Question::number(
            "counter",
            "At which number does the counter stop?",
            plain(limit as f64),
        )
        .exactly()
        .given(format!(
            "a counter in {format} starts at 0, and 1 is added to it again and again, rounded to nearest even; {format} has {bits} stored bits of mantissa"
        ))
        .mistake(limit as f64 / 2.0, "the leading bit is not stored, and counts")
        .mistake(format.max_finite(), "that is the largest number; it stops long before")
        .because(format!(
            "all integers up to 2^{} = {} are numbers of {format}",
            bits + 1,
            grouped(limit)
        ))
        .because("the next one lies halfway between two numbers, and is rounded back to the even one")
        .read("ulp"),
    )
}

/// What becomes of a large number.
fn range(_: &Material<'_>, random: &mut Random) -> Option<Question> {
    let format = *pick(&[Format::F16, Format::Bf16, Format::E5m2], random)?;
    let value = *pick(
        &[300.0, 2_049.0, 40_000.0, 70_000.0, 100_000.0, 1e9],
        random,
    )?;
    let stored = |format: Format| format.decode(format.encode(value, Overflow::NonFinite));
    let text = |value: f64| {
        if value.is_infinite() {
            "infinity".to_owned()
        } else if value.abs() < 1e9 {
            value.to_string()
        } else {
            format!("{value:.4e}")
        }
    };
    let mut wrong = vec![
        (text(value), format!("{format} has no such number, or not that one")),
        ("infinity".to_owned(), format!("{format} reaches up to {}", text(format.max_finite()))),
        (
            text(format.max_finite()),
            "that is the largest number; conversions give infinity beyond it unless they are told to saturate".to_owned(),
        ),
    ];
    for other in [Format::F16, Format::Bf16, Format::E5m2] {
        wrong.push((
            text(stored(other)),
            format!("that is what {other} makes of it"),
        ));
    }
    let right = stored(format);
    let question = Question::choice(
        "range",
        format!(
            "What is stored when {} is converted to {format}?",
            text(value)
        ),
        text(right),
        wrong.into_iter().take(5),
        random,
    );
    let layout = format.layout()?;
    Some(
        question
            .given(format!(
                "{format} has {} bits of exponent and {} stored bits of mantissa; the conversion rounds to nearest and does not saturate",
                layout.exponent, layout.mantissa
            ))
            .because(format!("largest number of {format}: {}", text(format.max_finite())))
            .because(if right.is_infinite() {
                "the value is beyond it".to_owned()
            } else {
                let apart = format.ulp_of(value);
                let is_tie = (right - value).abs() * 2.0 >= apart;
                format!(
                    "neighbours at {} are {apart} apart; {} is {}",
                    text(value),
                    if is_tie { "it lies halfway, and the even one" } else { "the nearest" },
                    text(right)
                )
            })
            .read("number-formats"),
    )
}

/// What a long sum loses.
fn sum(_: &Material<'_>, random: &mut Random) -> Option<Question> {
    let format = *pick(&NARROW, random)?;
    // So few that the worst case is less than the sum itself: beyond that terms are lost whole, always the same way.
    let most = format.layout()?.mantissa as usize;
    let terms = power(4, most.min(14), random);
    let u = format.unit_roundoff()?;
    let root = (terms as f64).sqrt();
    let expected = root * u;
    let mut question = Question::number(
        "sum",
        "Which error do you expect, relative to the sum of the sizes of the terms?",
        plain(expected),
    )
    .given(format!(
        "{} terms are added one after the other in {format}, whose unit roundoff is {}",
        grouped(terms),
        shown(&plain(u))
    ))
    .given("roundings go up as often as down")
    .mistake(
        terms as f64 * u,
        "that is the worst case, in which all roundings go the same way",
    )
    .mistake(u, "that is one rounding");
    for other in NARROW.iter().filter(|other| **other != format) {
        question = question.mistake(
            root * other.unit_roundoff()?,
            format!("that is what {other} loses"),
        );
    }
    Some(
        question
            .because("errors of random sign grow like a random walk: with the square root of their number")
            .because(format!("sqrt({}) x {u:.3e} = {expected:.3e}", grouped(terms)))
            .because(format!("at worst {} x {u:.3e} = {:.3e}", grouped(terms), terms as f64 * u))
            .read("unit-roundoff"),
    )
}
