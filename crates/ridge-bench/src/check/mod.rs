//! Outputs against what they have to be.

mod compare;
mod expect;
mod tolerance;

pub use compare::compare;
pub(crate) use compare::equal;
pub use expect::expect;

use ridge_numerics::format::Format;
use ridge_numerics::tolerance::Preset;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::spec::{CheckMode, Tolerance};

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
    /// How many terms are added up for an element.
    pub reduction: Option<u64>,
    /// In which format.
    pub accumulate: Option<Format>,
    /// A rule that others use.
    pub preset: Option<Preset>,
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
            reduction: None,
            accumulate: tolerance.accumulate,
            preset: tolerance.preset,
        }
    }

    /// The same for sums of so many terms.
    #[must_use]
    pub const fn over(self, terms: u64) -> Self {
        Self {
            reduction: Some(terms),
            ..self
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
    /// What the differences look like, in a sentence; `null` where nothing is wrong, and where only some elements are known.
    #[serde(default)]
    pub explanation: Option<String>,
}

impl Outcome {
    fn right(name: &str, elements: u64, compared: Compared) -> Self {
        Self {
            output: name.to_owned(),
            is_right: true,
            compared,
            elements,
            wrong: 0,
            unwritten: 0,
            not_finite: 0,
            first: None,
            max_difference: None,
            relative_norm: None,
            tolerance: String::new(),
            explanation: None,
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
            is_right: false,
            ..Self::right(name, 1, rule.what)
        }
    }

    /// An input that is not what it was.
    pub(crate) fn changed(name: &str) -> Self {
        Self {
            is_right: false,
            ..Self::right(name, 0, Compared::Nothing)
        }
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
    use crate::expression::{Expression, Names, Value};
    use crate::spec::{ElementType, Elements, Init};
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
        reduction: None,
        accumulate: None,
        preset: None,
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
