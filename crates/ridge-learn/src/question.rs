//! Questions, and what an answer to one is worth.

use ridge_model::quantity::{
    Amount, Bandwidth, Bytes, ComputeRate, Flops, Intensity, Nanos, Ratio, Unit, counted,
};
use ridge_stats::Random;
use schemars::JsonSchema;
use serde::Serialize;

/// An answer off by so much from the right number is right, where a question says nothing else.
pub const TOLERANCE: f64 = 0.05;
/// Letters of the choices.
const LETTERS: &str = "abcdefgh";

/// A question with its right answer and the calculation that leads to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// A stable name of the kind of question.
    pub kind: &'static str,
    /// What is known, one line each.
    pub given: Vec<String>,
    /// What is asked.
    pub ask: String,
    /// What is right.
    pub answer: Answer,
    /// How the answer follows, one line each, with numbers and units.
    pub calculation: Vec<String>,
    /// What to read, as `ridge explain` takes it.
    pub read: &'static str,
}

/// The right answer, and what is usually said in its place.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// One of several.
    Choice {
        /// The choices, in the order in which they are shown.
        choices: Vec<Choice>,
        /// The place of the right one.
        right: usize,
    },
    /// A number.
    Number {
        /// The right one.
        right: Amount,
        /// How far off an answer may be, as a share of the right one; 0 for counts.
        tolerance: f64,
        /// Wrong numbers that follow from usual mistakes.
        mistakes: Vec<Mistake>,
    },
}

/// Something to choose.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// What it says.
    pub text: String,
    /// Which mistake leads to it; empty for the right one.
    pub mistake: String,
}

/// A wrong number, and the mistake that leads to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mistake {
    /// The number, in the unit of the right one.
    pub value: f64,
    /// What went wrong.
    pub text: String,
}

/// What an answer is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It is right.
    Right,
    /// It is wrong.
    Wrong,
    /// Nobody knew: a question mark.
    Skipped,
    /// It is no answer to this question.
    NotUnderstood,
}

/// An answer that was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What it is worth.
    pub outcome: Outcome,
    /// The mistake that it looks like, or how to answer; empty where there is nothing to say.
    pub remark: String,
}

impl Question {
    /// A question for one of several choices; the order is chosen by `random`. A wrong choice that says the same as the right
    /// one, or as another, is left out.
    pub(crate) fn choice(
        kind: &'static str,
        ask: impl Into<String>,
        right: impl Into<String>,
        wrong: impl IntoIterator<Item = (String, String)>,
        random: &mut Random,
    ) -> Self {
        let right = right.into();
        let mut choices = vec![Choice {
            text: right.clone(),
            mistake: String::new(),
        }];
        for (text, mistake) in wrong {
            if choices.iter().all(|choice| choice.text != text) {
                choices.push(Choice { text, mistake });
            }
        }
        random.shuffle(&mut choices);
        let place = choices.iter().position(|choice| choice.text == right);
        Self {
            kind,
            given: Vec::new(),
            ask: ask.into(),
            answer: Answer::Choice {
                right: place.unwrap_or_default(),
                choices,
            },
            calculation: Vec::new(),
            read: "",
        }
    }

    /// A question for a number.
    pub(crate) fn number(kind: &'static str, ask: impl Into<String>, right: Amount) -> Self {
        Self {
            kind,
            given: Vec::new(),
            ask: ask.into(),
            answer: Answer::Number {
                right,
                tolerance: TOLERANCE,
                mistakes: Vec::new(),
            },
            calculation: Vec::new(),
            read: "",
        }
    }

    /// Only the number itself is right: it is a count.
    pub(crate) fn exactly(mut self) -> Self {
        if let Answer::Number { tolerance, .. } = &mut self.answer {
            *tolerance = 0.0;
        }
        self
    }

    pub(crate) fn given(mut self, line: impl Into<String>) -> Self {
        self.given.push(line.into());
        self
    }

    pub(crate) fn because(mut self, line: impl Into<String>) -> Self {
        self.calculation.push(line.into());
        self
    }

    pub(crate) fn read(mut self, name: &'static str) -> Self {
        self.read = name;
        self
    }

    /// Adds a wrong number that a usual mistake leads to. What cannot be told from the right one is left out.
    pub(crate) fn mistake(mut self, wrong: f64, text: impl Into<String>) -> Self {
        if let Answer::Number {
            right,
            tolerance,
            mistakes,
        } = &mut self.answer
            && !is_near(wrong, right.get(), *tolerance)
        {
            mistakes.push(Mistake {
                value: wrong,
                text: text.into(),
            });
        }
        self
    }

    /// The right answer in words.
    #[must_use]
    pub fn right(&self) -> String {
        match &self.answer {
            Answer::Choice { choices, right } => choices
                .get(*right)
                .map(|choice| format!("{}) {}", letter(*right), choice.text))
                .unwrap_or_default(),
            Answer::Number { right, .. } => shown(right),
        }
    }

    /// How to answer.
    #[must_use]
    pub fn how(&self) -> String {
        match &self.answer {
            Answer::Choice { choices, .. } => {
                format!(
                    "a letter from a to {}",
                    letter(choices.len().saturating_sub(1))
                )
            }
            Answer::Number {
                right, tolerance, ..
            } => {
                let unit = match unit_name(right) {
                    "" => "a number".to_owned(),
                    unit => format!("a number in {unit}"),
                };
                if *tolerance > 0.0 {
                    format!("{unit}, {:.0} % off is right", tolerance * 100.0)
                } else {
                    format!("{unit}, exactly")
                }
            }
        }
    }

    /// Judges an answer as somebody typed it.
    #[must_use]
    pub fn judge(&self, typed: &str) -> Judgement {
        let typed = typed.trim();
        if matches!(typed, "?" | "") {
            return Judgement {
                outcome: Outcome::Skipped,
                remark: String::new(),
            };
        }
        match &self.answer {
            Answer::Choice { choices, right } => self.judge_choice(typed, choices, *right),
            Answer::Number {
                right,
                tolerance,
                mistakes,
            } => self.judge_number(typed, right, *tolerance, mistakes),
        }
    }

    fn judge_choice(&self, typed: &str, choices: &[Choice], right: usize) -> Judgement {
        let word = typed.trim_end_matches([')', '.']).to_lowercase();
        let by_letter = (0..choices.len()).find(|place| word == letter(*place).to_string());
        let place = by_letter.or_else(|| {
            choices
                .iter()
                .position(|choice| choice.text.to_lowercase() == word)
        });
        match place.and_then(|place| Some((place, choices.get(place)?))) {
            None => self.not_understood(),
            Some((place, _)) if place == right => Judgement::right(),
            Some((_, choice)) => Judgement::wrong(&choice.mistake),
        }
    }

    fn judge_number(
        &self,
        typed: &str,
        right: &Amount,
        tolerance: f64,
        mistakes: &[Mistake],
    ) -> Judgement {
        let Some(value) = read_number(typed, right) else {
            return self.not_understood();
        };
        if is_near(value, right.get(), tolerance) {
            return Judgement::right();
        }
        let made = mistakes
            .iter()
            .find(|mistake| is_near(value, mistake.value, tolerance.max(0.01)));
        if let Some(mistake) = made {
            return Judgement::wrong(&mistake.text);
        }
        let times = value / right.get();
        for (factor, text) in [
            (8.0, "that is 8 times too much: bits were counted for bytes"),
            (0.125, "that is an eighth of it: bytes were taken for bits"),
            (
                2.0,
                "that is twice as much: look for what was counted twice",
            ),
            (
                0.5,
                "that is half of it: a multiply-add is two operations, a copy moves its bytes twice",
            ),
            (1e3, "that is a thousand times too much: check the prefix"),
            (1e-3, "that is a thousandth of it: check the prefix"),
            (1e6, "that is a million times too much: check the prefix"),
            (1e-6, "that is a millionth of it: check the prefix"),
        ] {
            if is_near(times, factor, tolerance.max(0.01)) {
                return Judgement::wrong(text);
            }
        }
        Judgement::wrong("")
    }

    fn not_understood(&self) -> Judgement {
        Judgement {
            outcome: Outcome::NotUnderstood,
            remark: format!("expected {}; ? shows the answer", self.how()),
        }
    }
}

impl Judgement {
    fn right() -> Self {
        Self {
            outcome: Outcome::Right,
            remark: String::new(),
        }
    }

    fn wrong(remark: &str) -> Self {
        Self {
            outcome: Outcome::Wrong,
            remark: remark.to_owned(),
        }
    }
}

/// The letter of a choice.
#[must_use]
pub fn letter(place: usize) -> char {
    LETTERS.chars().nth(place).unwrap_or('?')
}

/// Whether a number is so near to another that it counts as it.
fn is_near(value: f64, other: f64, tolerance: f64) -> bool {
    // Decimal digits that somebody types are not the last bit.
    (value - other).abs() <= other.abs() * tolerance.max(1e-9)
}

/// A number with its unit, as the units of a question are written.
pub(crate) fn shown(amount: &Amount) -> String {
    let value = amount.get();
    match amount.unit().name() {
        "FLOP/byte" => Intensity::new(value).text(false),
        "x" => Ratio::new(value).factor().to_string(),
        "" if value.fract() == 0.0 => amount.to_string(),
        "" => power_of_two(value).map_or_else(
            || format!("{value:.3e}"),
            |power| format!("2^{power} = {value:.3e}"),
        ),
        what if value.fract() == 0.0 && (0.0..1e9).contains(&value) && is_noun(what) => {
            counted(value as u64, what)
        }
        _ => amount.to_string(),
    }
}

/// Whether a unit is a word for things that are counted.
fn is_noun(unit: &str) -> bool {
    matches!(unit, "block" | "warp")
}

/// The exponent of a number that is a power of two.
fn power_of_two(value: f64) -> Option<i32> {
    let power = value.log2().round();
    ((-1000.0..1000.0).contains(&power) && is_near(value, power.exp2(), 0.0))
        .then_some(power as i32)
}

/// In which unit a bare number is taken.
fn unit_name(right: &Amount) -> &str {
    match right.unit().name() {
        // Kernels take microseconds.
        "ns" => "us",
        "byte/s" => "GB/s",
        "FLOP/s" => "TFLOP/s",
        "byte" => "bytes",
        other => other,
    }
}

/// The number that was typed, in the unit of the right one; a bare number is in the unit that the question names.
fn read_number(typed: &str, right: &Amount) -> Option<f64> {
    let text = typed.replace(['_', ','], "");
    let text = text.trim();
    let bare = || -> Option<f64> {
        let (base, exponent) = match text.split_once('^') {
            Some((base, exponent)) => (base.trim().parse().ok()?, exponent.trim().parse().ok()?),
            None => (text.parse::<f64>().ok()?, 1.0),
        };
        Some(f64::powf(base, exponent)).filter(|number| number.is_finite())
    };
    let plain_with = |units: &[&str]| -> Option<f64> {
        let lower = text.to_lowercase();
        units
            .iter()
            .find_map(|unit| lower.strip_suffix(unit)?.trim().parse().ok())
    };
    let value = match right.unit().name() {
        "ns" => match bare() {
            Some(micros) => Some(micros * 1e3),
            None => text.parse::<Nanos>().ok().map(Nanos::get),
        },
        "byte" => bare().or_else(|| text.parse::<Bytes>().ok().map(Bytes::get)),
        "FLOP" => bare().or_else(|| text.parse::<Flops>().ok().map(Flops::get)),
        "byte/s" => match bare() {
            Some(giga) => Some(giga * 1e9),
            None => text.parse::<Bandwidth>().ok().map(Bandwidth::get),
        },
        "FLOP/s" => match bare() {
            Some(tera) => Some(tera * 1e12),
            None => text.parse::<ComputeRate>().ok().map(ComputeRate::get),
        },
        "FLOP/byte" => {
            bare().or_else(|| plain_with(&["flop/byte", "flops/byte", "flop/b", "flop per byte"]))
        }
        "%" => bare().or_else(|| plain_with(&["%", "percent"])),
        "x" => bare().or_else(|| plain_with(&["x", "times"])),
        name => bare().or_else(|| {
            let plural = format!("{name}s");
            plain_with(&[name, plural.as_str()])
        }),
    };
    value.filter(|value| value.is_finite())
}

/// A count of something.
pub(crate) fn count_of(value: u32, what: &'static str) -> Amount {
    Amount::new(f64::from(value), Unit::from_static(what))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn time() -> Question {
        Question::number("time", "How long?", Amount::new(60_100.0, Unit::NANOS))
            .mistake(40_000.0, "the output was forgotten")
            .mistake(60_000.0, "cannot be told from the right one")
    }

    fn outcome(question: &Question, typed: &str) -> Outcome {
        question.judge(typed).outcome
    }

    #[test]
    fn numbers_within_the_band_are_right_in_any_unit() {
        let question = time();
        for right in ["60.1", "60us", "0.06 ms", "57.2", "63 us", " 60,100ns "] {
            assert_eq!(outcome(&question, right), Outcome::Right, "{right}");
        }
        for wrong in ["57", "63.2", "60.1ms", "-60", "0"] {
            assert_eq!(outcome(&question, wrong), Outcome::Wrong, "{wrong}");
        }
        for nonsense in ["us", "a", "60 apples", "1e999", "nan", "60 GB"] {
            assert_eq!(
                outcome(&question, nonsense),
                Outcome::NotUnderstood,
                "{nonsense}"
            );
        }
        assert_eq!(outcome(&question, " ? "), Outcome::Skipped);
        assert_eq!(question.how(), "a number in us, 5 % off is right");
    }

    #[test]
    fn mistakes_are_told() {
        let question = time();
        assert_eq!(question.judge("40").remark, "the output was forgotten");
        assert!(question.judge("481").remark.contains("bits were counted"));
        assert!(question.judge("60.1ms").remark.contains("thousand times"));
        let Answer::Number { mistakes, .. } = &question.answer else {
            panic!("it asks for a number");
        };
        assert_eq!(mistakes.len(), 1);
    }

    #[test]
    fn counts_are_exact_and_powers_are_read() {
        let blocks = Question::number("blocks", "How many?", count_of(13, "block")).exactly();
        assert_eq!(outcome(&blocks, "13 blocks"), Outcome::Right);
        assert_eq!(outcome(&blocks, "13.1"), Outcome::Wrong);
        let u = Amount::new(2_f64.powi(-8), Unit::NONE);
        let roundoff = Question::number("u", "u?", u);
        for right in ["2^-8", "0.0039", "3.9e-3"] {
            assert_eq!(outcome(&roundoff, right), Outcome::Right, "{right}");
        }
    }

    #[test]
    fn choices_go_by_letter_and_by_words() {
        let wrong = [("L2", "no"), ("L2", "twice"), ("DRAM", "the same")];
        let wrong = wrong.map(|(text, mistake)| (text.to_owned(), mistake.to_owned()));
        let question = Question::choice("which", "Which?", "DRAM", wrong, &mut Random::new(1));
        let Answer::Choice { choices, right } = &question.answer else {
            panic!("it asks for a choice");
        };
        assert_eq!(choices.len(), 2, "what says the same is left out");
        let letter = letter(*right);
        for typed in [format!("{letter}"), format!("{letter})"), "dram".to_owned()] {
            assert_eq!(outcome(&question, &typed), Outcome::Right, "{typed}");
        }
        assert_eq!(question.judge("l2").remark, "no");
        assert_eq!(outcome(&question, "c"), Outcome::NotUnderstood);
    }

    proptest! {
        #[test]
        fn nothing_that_is_typed_is_a_panic(typed in ".{0,40}") {
            let _ = time().judge(&typed);
            let u = Question::number("u", "u?", Amount::new(2.0, Unit::PERCENT));
            let _ = u.judge(&typed);
        }
    }
}
