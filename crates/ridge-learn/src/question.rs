//! Questions, and what an answer to one is worth.

use ridge_model::quantity::{
    Amount, Bandwidth, Bytes, ComputeRate, Flops, Intensity, Nanos, Ratio, Unit, counted, grouped,
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
                    "x" => "a factor".to_owned(),
                    noun if is_noun(noun) => format!("a number of {noun}s"),
                    unit => format!("a number in {unit}"),
                };
                // Of percent it would be taken for points.
                let of = if right.unit().name() == "%" {
                    " of it"
                } else {
                    ""
                };
                if *tolerance > 0.0 {
                    format!("{unit}, {:.0} %{of} off is right", tolerance * 100.0)
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
        if typed == "?" {
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
        let slip = slips(right.unit().name())
            .find(|(factor, _)| is_near(times, *factor, tolerance.max(0.01)));
        Judgement::wrong(slip.map_or("", |(_, text)| *text))
    }

    fn not_understood(&self) -> Judgement {
        Judgement {
            outcome: Outcome::NotUnderstood,
            remark: format!("expected {}; ? shows the answer", self.how()),
        }
    }
}

/// Slips of which any number of a unit can be the outcome: how many times the right number it is then, and what to say.
fn slips(unit: &str) -> impl Iterator<Item = &'static (f64, &'static str)> {
    const TWICE: &[(f64, &str)] = &[
        (
            2.0,
            "that is twice as much: look for what was counted twice",
        ),
        (
            0.5,
            "that is half of it: look for what was counted once and is there twice",
        ),
    ];
    const POWERS: &[(f64, &str)] = &[
        (2.0, "that is one power of two too high"),
        (0.5, "that is one power of two too low"),
    ];
    const PREFIXES: &[(f64, &str)] = &[
        (1e3, "that is a thousand times too much: check the prefix"),
        (1e-3, "that is a thousandth of it: check the prefix"),
        (1e6, "that is a million times too much: check the prefix"),
        (1e-6, "that is a millionth of it: check the prefix"),
    ];
    const PERCENT: &[(f64, &str)] = &[(0.01, "that is the share of 1: it is asked in %")];
    let (some, others): (&[_], &[_]) = match unit {
        "" => (POWERS, &[]),
        "%" => (TWICE, PERCENT),
        "x" => (TWICE, &[]),
        count if is_noun(count) => (TWICE, &[]),
        _ => (TWICE, PREFIXES),
    };
    some.iter().chain(others)
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
        // Nobody can type a rounded number exactly.
        "" if value.fract() == 0.0 && (0.0..1e15).contains(&value) => grouped(value as u64),
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
    let text = without_groups(typed)?;
    let text = text.trim();
    let bare = || plain(text);
    let plain_with = |units: &[&str]| -> Option<f64> {
        let lower = text.to_lowercase();
        units
            .iter()
            .find_map(|unit| plain(lower.strip_suffix(unit)?))
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

/// A number without a unit: decimal, a power as 2^-8, or a fraction as 1/8.
fn plain(text: &str) -> Option<f64> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let value = if let Some((base, exponent)) = text.split_once('^') {
        number(base)?.powf(number(exponent)?)
    } else if let Some((above, below)) = text.split_once('/') {
        number(above)? / number(below)?
    } else {
        number(text)?
    };
    Some(value).filter(|value| value.is_finite())
}

/// A number without what groups its digits. `None` where a comma stands for something else: 0,125 is no 125.
fn without_groups(typed: &str) -> Option<String> {
    let text = typed.replace('_', "");
    let Some((first, rest)) = text.split_once(',') else {
        return Some(text);
    };
    let first = first.trim_start_matches(['-', '+', ' ']);
    let starts_group = (1..=3).contains(&first.len())
        && first.bytes().all(|byte| byte.is_ascii_digit())
        && !first.starts_with('0');
    let is_group = |group: &str| {
        let digits = group.bytes().take_while(u8::is_ascii_digit).count();
        digits == 3
    };
    let mut groups = rest.split(',').rev();
    // Only the last one may have more behind it, such as decimals or a unit.
    let has_groups = groups.next().is_some_and(is_group)
        && groups.all(|group| group.len() == 3 && is_group(group));
    (starts_group && has_groups).then(|| text.replace(',', ""))
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
    fn fractions_are_read_and_commas_group_digits_only() {
        let intensity = Amount::new(0.125, Unit::FLOPS_PER_BYTE);
        let intensity = Question::number("i", "Intensity?", intensity);
        for right in ["1/8", "1 / 8 FLOP/byte", "2^-3 flop/b", "0.125"] {
            assert_eq!(outcome(&intensity, right), Outcome::Right, "{right}");
        }
        for other in [
            "0,125", ",125", "1,", "1,25,000", "1/0", "1234,567", "12,34",
        ] {
            assert_eq!(
                outcome(&intensity, other),
                Outcome::NotUnderstood,
                "{other}"
            );
        }
        let nodes = Amount::new(1_234_567.5, Unit::NONE);
        let nodes = Question::number("n", "Nodes?", nodes).exactly();
        assert_eq!(outcome(&nodes, "1,234,567.5"), Outcome::Right);
    }

    /// What is said of a wrong number has to be possible for numbers of its unit.
    #[test]
    fn slips_go_by_the_unit() {
        let of = |value, unit| Question::number("q", "?", Amount::new(value, unit));
        let share = of(12.2, Unit::PERCENT);
        assert!(share.judge("0.122").remark.contains("asked in %"));
        assert_eq!(share.judge("12200").remark, "");
        let ulp = of(0.25, Unit::NONE);
        assert_eq!(ulp.judge("2^-3").remark, "that is one power of two too low");
        let blocks = Question::number("b", "?", count_of(8, "block")).exactly();
        assert_eq!(blocks.judge("1").remark, "");
        assert!(blocks.judge("4").remark.starts_with("that is half of it"));
        assert_eq!(blocks.judge("8000").remark, "");
    }

    #[test]
    fn it_is_told_how_to_answer() {
        let how = |question: Question| question.how();
        let of = |unit| Question::number("q", "?", Amount::new(4.0, unit));
        assert_eq!(
            how(of(Unit::PERCENT)),
            "a number in %, 5 % of it off is right"
        );
        assert_eq!(
            how(of(Unit::from_static("x"))),
            "a factor, 5 % off is right"
        );
        let blocks = Question::number("b", "?", count_of(8, "block"));
        assert_eq!(how(blocks.exactly()), "a number of blocks, exactly");
        // An empty line is a slip of the finger and gives nothing away.
        assert_eq!(outcome(&of(Unit::PERCENT), ""), Outcome::NotUnderstood);
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
