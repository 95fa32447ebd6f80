//! Outputs against what they have to be.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::expression::{Arrays, Expression, ExpressionError, Names, Value};
use crate::parallel;
use crate::spec::{CheckMode, ElementType, Elements, Tolerance};

/// What an output has to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Expected {
    /// Nobody knows.
    Unknown,
    /// All of it.
    Bytes(Vec<u8>),
    /// Some elements by their index.
    Some(Vec<(u64, f64)>),
}

/// How outputs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// What of them.
    pub what: Compared,
    /// Share of each right element.
    pub relative: Option<f64>,
    /// What is added to that.
    pub absolute: Option<f64>,
    /// The norm of the differences as a share of the norm of the right elements.
    pub norm: Option<f64>,
}

/// What of outputs is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compared {
    /// Each element.
    Elements,
    /// Their sums.
    Sum,
    /// Nothing: they are only looked at for whether they were written and are finite.
    Nothing,
}

impl Rule {
    /// The rule of a spec.
    #[must_use]
    pub const fn new(mode: CheckMode, tolerance: Tolerance) -> Self {
        Self {
            what: match mode {
                CheckMode::Elements => Compared::Elements,
                CheckMode::Sum => Compared::Sum,
                CheckMode::None => Compared::Nothing,
            },
            relative: tolerance.relative,
            absolute: tolerance.absolute,
            norm: tolerance.norm,
        }
    }
}

/// How one output compares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// The output's name in the spec.
    pub output: String,
    /// Whether it is right as far as that was looked at.
    pub is_right: bool,
    /// What of it was compared.
    pub compared: Compared,
    /// Elements that were compared.
    pub elements: u64,
    /// Those of them that are further off than the tolerance.
    pub wrong: u64,
    /// Elements that still hold the pattern of memory that nobody wrote.
    pub unwritten: u64,
    /// Elements that are not finite where the right ones are.
    pub not_finite: u64,
    /// The first wrong element.
    pub first: Option<WrongElement>,
    /// The largest difference.
    pub max_difference: Option<f64>,
    /// The norm of the differences over that of the right elements.
    pub relative_norm: Option<f64>,
    /// What differences were allowed, in words.
    pub tolerance: String,
}

impl Outcome {
    fn equal(name: &str, elements: u64, kind: ElementType, rule: &Rule) -> Self {
        Self {
            output: name.to_owned(),
            is_right: true,
            compared: rule.what,
            elements,
            wrong: 0,
            unwritten: 0,
            not_finite: 0,
            first: None,
            max_difference: Some(0.0),
            relative_norm: Some(0.0),
            tolerance: Allowed::of(rule, kind, 0.0).text,
        }
    }
}

impl Outcome {
    fn failed(name: &str, elements: u64, what: Compared) -> Self {
        Self {
            output: name.to_owned(),
            is_right: false,
            compared: what,
            elements,
            wrong: 0,
            unwritten: 0,
            not_finite: 0,
            first: None,
            max_difference: None,
            relative_norm: None,
            tolerance: String::new(),
        }
    }

    /// An element that was not written.
    pub(crate) fn unwritten(name: &str, index: u64, rule: &Rule) -> Self {
        Self {
            unwritten: 1,
            first: Some(WrongElement {
                index,
                found: None,
                expected: None,
            }),
            ..Self::failed(name, 1, rule.what)
        }
    }

    /// An input that is not what it was.
    pub(crate) fn changed(name: &str) -> Self {
        Self::failed(name, 0, Compared::Nothing)
    }
}

/// An element that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WrongElement {
    /// Its index.
    pub index: u64,
    /// What it is; `null` when it is not finite.
    pub found: Option<f64>,
    /// What it has to be; `null` when it is not finite.
    pub expected: Option<f64>,
}

/// The share that elements of a type may differ by when nothing is said: about what the units of others allow
/// (`docs/reference/bench-spec.md`), which is some roundings of a sum that is not long.
const fn usual(kind: ElementType) -> f64 {
    match kind {
        ElementType::F64 => 1e-12,
        ElementType::F32 => 1e-5,
        ElementType::F16 => 1e-3,
        ElementType::Bf16 => 1.6e-2,
        // One step: neighbours are an eighth and a quarter apart.
        ElementType::E4m3 => 0.125,
        ElementType::E5m2 => 0.25,
        _ => 0.0,
    }
}

/// Differences that an element may have.
struct Allowed {
    relative: f64,
    absolute: f64,
    norm: Option<f64>,
    /// Whether elements are judged one by one.
    has_elements: bool,
    text: String,
}

impl Allowed {
    fn of(rule: &Rule, kind: ElementType, root_mean_square: f64) -> Self {
        let is_silent = rule.relative.is_none() && rule.absolute.is_none() && rule.norm.is_none();
        let (relative, absolute) = if is_silent {
            (usual(kind), usual(kind) * root_mean_square)
        } else {
            (rule.relative.unwrap_or(0.0), rule.absolute.unwrap_or(0.0))
        };
        let has_elements = is_silent || rule.relative.is_some() || rule.absolute.is_some();
        let mut parts = Vec::new();
        if is_silent && relative > 0.0 {
            parts.push(format!(
                "{relative:e} of the element and of the root mean square (usual for {kind})"
            ));
        } else if has_elements && relative == 0.0 && absolute == 0.0 {
            parts.push("none: equal".to_owned());
        } else {
            if let Some(relative) = rule.relative {
                parts.push(format!("relative {relative:e}"));
            }
            if let Some(absolute) = rule.absolute {
                parts.push(format!("absolute {absolute:e}"));
            }
        }
        if let Some(norm) = rule.norm {
            parts.push(format!("norm {norm:e}"));
        }
        Self {
            relative,
            absolute,
            norm: rule.norm,
            has_elements,
            text: parts.join(", "),
        }
    }
}

/// The outcome of an output that is the same as the right one to the last bit, and of which every element was written.
pub(crate) fn equal(name: &str, elements: &Elements, rule: &Rule) -> Outcome {
    Outcome::equal(name, elements.length, elements.kind, rule)
}

/// Compares one output. `was_poisoned`: the memory held the pattern before the launch.
#[must_use]
pub fn compare(
    name: &str,
    elements: &Elements,
    found: &[u8],
    expected: &Expected,
    rule: &Rule,
    was_poisoned: bool,
) -> Outcome {
    let kind = elements.kind;
    let size = kind.size();
    let count = found.len() / size;
    let at = |index: usize| kind.number(found.get(index * size..).unwrap_or_default());
    let is_unwritten = |index: usize| {
        was_poisoned
            && found
                .get(index * size..(index + 1) * size)
                .is_some_and(|bytes| bytes.iter().all(|byte| *byte == ElementType::POISON))
    };
    let counts = parallel::parts(0..count as u64, |part| {
        let (mut unwritten, mut bad) = (0_u64, 0_u64);
        for index in part.start as usize..part.end as usize {
            unwritten += u64::from(is_unwritten(index));
            bad += u64::from(kind.is_float() && !at(index).is_finite());
        }
        (unwritten, bad)
    });
    let unwritten: u64 = counts.iter().map(|(unwritten, _)| unwritten).sum();
    let bad: u64 = counts.iter().map(|(_, bad)| bad).sum();
    // What is the same to the last bit needs no look at elements, which takes long where outputs are large.
    if let Expected::Bytes(right) = expected
        && rule.what != Compared::Nothing
        && found == right.as_slice()
        && count > 0
        && unwritten == 0
    {
        return Outcome::equal(name, count as u64, kind, rule);
    }
    let pairs: Box<dyn Fn(usize) -> Option<(usize, f64)> + '_> = match expected {
        Expected::Unknown => Box::new(|_| None),
        Expected::Bytes(bytes) => Box::new(move |place| {
            let start = place * size;
            (place < count && start + size <= bytes.len())
                .then(|| (place, kind.number(&bytes[start..])))
        }),
        Expected::Some(some) => Box::new(move |place| {
            some.get(place)
                .map(|(index, value)| (usize::try_from(*index).unwrap_or(usize::MAX), *value))
        }),
    };
    // Of a simulated device only the head of an output is there.
    let all = || {
        (0_usize..)
            .map_while(&pairs)
            .filter(|(index, _)| *index < count)
    };
    let mut outcome = Outcome {
        output: name.to_owned(),
        is_right: true,
        compared: rule.what,
        elements: 0,
        wrong: 0,
        unwritten,
        not_finite: 0,
        first: None,
        max_difference: None,
        relative_norm: None,
        tolerance: String::new(),
    };
    if *expected == Expected::Unknown || rule.what == Compared::Nothing {
        outcome.compared = Compared::Nothing;
        outcome.not_finite = bad - if kind.is_float() { unwritten } else { 0 };
        // Integers of the pattern may be right; all of them are not.
        let is_untouched = unwritten > 0 && (kind.is_float() || unwritten == count as u64);
        outcome.is_right = !is_untouched && outcome.not_finite == 0;
        return outcome;
    }
    let squares: f64 = all()
        .map(|(_, right)| right * right)
        .filter(|square| square.is_finite())
        .sum();
    let number = all().count();
    let allowed = Allowed::of(rule, kind, (squares / number.max(1) as f64).sqrt());
    outcome.tolerance.clone_from(&allowed.text);
    outcome.elements = number as u64;
    let mut square_of_differences = 0.0;
    let (mut sum, mut right_sum) = (0.0, 0.0);
    let mut largest = 0.0_f64;
    for (index, right) in all() {
        let value = at(index);
        let is_equal = value.to_bits() == right.to_bits() || (value.is_nan() && right.is_nan());
        let difference = (value - right).abs();
        let is_foul = !value.is_finite() && right.is_finite();
        outcome.not_finite += u64::from(is_foul);
        if difference.is_finite() {
            largest = largest.max(difference);
            square_of_differences += difference * difference;
            sum += value;
            right_sum += right;
        }
        let is_within = is_equal
            || (difference.is_finite()
                && difference <= allowed.absolute + allowed.relative * right.abs());
        let is_wrong = is_foul
            || (kind.is_float() && is_unwritten(index))
            || (allowed.has_elements && rule.what == Compared::Elements && !is_within);
        if is_wrong {
            outcome.wrong += 1;
            outcome.first.get_or_insert(WrongElement {
                index: index as u64,
                found: Some(value).filter(|value| value.is_finite()),
                expected: Some(right).filter(|right| right.is_finite()),
            });
        }
    }
    outcome.max_difference = Some(largest);
    let norm = if rule.what == Compared::Sum {
        // Sums of n elements differ by the root of n roundings.
        (sum - right_sum).abs() / (squares * number.max(1) as f64).sqrt()
    } else {
        (square_of_differences / squares).sqrt()
    };
    outcome.relative_norm = Some(norm).filter(|norm| norm.is_finite());
    let default = if rule.what == Compared::Sum {
        Some(usual(kind))
    } else {
        None
    };
    let is_norm_fine = allowed.norm.or(default).is_none_or(|most| {
        outcome
            .relative_norm
            .unwrap_or(if square_of_differences > 0.0 {
                f64::INFINITY
            } else {
                0.0
            })
            <= most
    });
    outcome.is_right = outcome.wrong == 0 && is_norm_fine && number > 0;
    outcome
}

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

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
pub(crate) const fn scramble(value: u64) -> u64 {
    let mut x = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Init;
    use proptest::prelude::*;

    fn elements(kind: ElementType, length: u64) -> Elements {
        Elements {
            kind,
            length,
            init: Init::Poison,
            seed: 0,
            take: 1,
            group: 1,
            offset: 0,
        }
    }

    fn bytes(values: &[f32]) -> Vec<u8> {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    }

    const SILENT: Rule = Rule {
        what: Compared::Elements,
        relative: None,
        absolute: None,
        norm: None,
    };

    fn outcome(found: &[f32], right: &[f32], rule: &Rule) -> Outcome {
        let elements = elements(ElementType::F32, found.len() as u64);
        compare(
            "out",
            &elements,
            &bytes(found),
            &Expected::Bytes(bytes(right)),
            rule,
            true,
        )
    }

    #[test]
    fn equal_outputs_are_right_and_others_are_not() {
        let right = [1.0, -2.0, 3.0, 0.0];
        assert!(outcome(&right, &right, &SILENT).is_right);
        let wrong = outcome(&[1.0, -2.0, 3.1, 0.0], &right, &SILENT);
        assert!(!wrong.is_right);
        assert_eq!((wrong.wrong, wrong.first.unwrap().index), (1, 2));
        // Negative references count by their size.
        let near = outcome(&[1.0, -2.000_01, 3.0, 0.0], &right, &SILENT);
        assert!(near.is_right, "{near:?}");
        let exact = Rule {
            relative: Some(0.0),
            ..SILENT
        };
        assert!(!outcome(&[1.0, -2.000_01, 3.0, 0.0], &right, &exact).is_right);
    }

    #[test]
    fn what_is_not_a_number_is_wrong_on_either_side() {
        for (found, right) in [
            (f32::NAN, 1.0),
            (1.0, f32::NAN),
            (f32::INFINITY, 1.0),
            (f32::INFINITY, f32::NEG_INFINITY),
        ] {
            let outcome = outcome(&[found, 2.0], &[right, 2.0], &SILENT);
            assert!(!outcome.is_right, "{found} {right}");
            assert!(outcome.max_difference.unwrap().is_finite());
        }
        assert!(outcome(&[f32::NAN], &[f32::NAN], &SILENT).is_right);
        assert!(outcome(&[f32::INFINITY], &[f32::INFINITY], &SILENT).is_right);
    }

    #[test]
    fn memory_that_nobody_wrote_is_seen() {
        let elements = elements(ElementType::F32, 4);
        let mut found = bytes(&[1.0, 2.0, 3.0]);
        found.extend([ElementType::POISON; 4]);
        let partly = compare("out", &elements, &found, &Expected::Unknown, &SILENT, true);
        assert_eq!((partly.is_right, partly.unwritten), (false, 1));
        let integers = Elements {
            kind: ElementType::I32,
            ..elements
        };
        // -1 may be right in integers, but not everywhere.
        assert!(compare("out", &integers, &found, &Expected::Unknown, &SILENT, true).is_right);
        let none = [ElementType::POISON; 16];
        assert!(!compare("out", &integers, &none, &Expected::Unknown, &SILENT, true).is_right);
    }

    #[test]
    fn sums_and_norms_have_their_own_tolerance() {
        let sum = Rule {
            what: Compared::Sum,
            norm: Some(1e-6),
            ..SILENT
        };
        assert!(outcome(&[1.0, 2.0, 3.0], &[3.0, 1.0, 2.0], &sum).is_right);
        assert!(!outcome(&[1.0, 2.0, 3.1], &[3.0, 1.0, 2.0], &sum).is_right);
        let norm = Rule {
            norm: Some(1e-3),
            ..SILENT
        };
        assert!(outcome(&[100.0, 0.01], &[100.0, 0.02], &norm).is_right);
        assert!(!outcome(&[101.0, 0.02], &[100.0, 0.02], &norm).is_right);
        assert!(!outcome(&[1.0], &[0.0], &norm).is_right);
        assert!(outcome(&[0.0], &[0.0], &norm).is_right);
    }

    #[test]
    fn an_expression_is_computed_at_both_ends_and_between() {
        let input = Elements {
            init: Init::Iota,
            ..elements(ElementType::F32, 1 << 20)
        };
        let expression = Expression::parse("in[i % n * n + i / n]").unwrap();
        let mut names = Names::default();
        names.set("n", Value::Int(1024));
        let right = expect(&expression, &names, &[("in", &input)], 1 << 20, 100).unwrap();
        assert_eq!(right.len(), 100);
        assert_eq!(right[0], (0, 0.0));
        assert_eq!(right[99], ((1 << 20) - 1, f64::from((1 << 20) - 1)));
        for (index, value) in &right {
            assert_eq!(*value as u64, index % 1024 * 1024 + index / 1024);
        }
        assert!(right.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    proptest! {
        #[test]
        fn a_wrong_element_is_found_wherever_it_is(values in prop::collection::vec(-1e3_f32..1e3, 1..50), place in any::<prop::sample::Index>(), off in 0.1_f32..10.0) {
            let place = place.index(values.len());
            let mut found = values.clone();
            found[place] += off;
            let outcome = outcome(&found, &values, &SILENT);
            prop_assert!(!outcome.is_right);
            prop_assert_eq!(outcome.first.unwrap().index, place as u64);
        }
    }
}
