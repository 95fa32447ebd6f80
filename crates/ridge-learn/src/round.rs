//! A practice round: some questions, the answers to them, and what became of it.

use ridge_stats::Random;

use crate::document::{Answered, Document, SCHEMA, VERSION};
use crate::lesson::{LESSONS, Lesson};
use crate::practice::Material;
use crate::progress::PASSED;
use crate::question::{Answer, Judgement, Outcome, Question, shown};

/// Questions of a round about one lesson. A mixed round has one of each lesson.
pub const QUESTIONS: usize = 5;
/// How often another question is drawn in place of one that cannot be made or was asked already.
const TRIES: usize = 40;

/// A round.
#[derive(Clone, Debug)]
pub struct Round {
    lesson: Option<&'static Lesson>,
    device: String,
    seed: u64,
    questions: Vec<(&'static Lesson, Question)>,
    answers: Vec<(String, Judgement)>,
}

impl Round {
    /// Draws the questions of a lesson, or one of each lesson. The same seed, device and version draw the same ones.
    #[must_use]
    pub fn new(lesson: Option<&'static Lesson>, material: &Material<'_>, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut questions: Vec<(&'static Lesson, Question)> = Vec::new();
        match lesson {
            Some(lesson) => {
                let mut makers = lesson.makers().to_vec();
                random.shuffle(&mut makers);
                let mut turns = makers.iter().cycle();
                for _ in 0..TRIES {
                    if questions.len() == QUESTIONS {
                        break;
                    }
                    let made = turns.next().and_then(|maker| maker(material, &mut random));
                    let is_new =
                        |made: &Question| questions.iter().all(|(_, old)| !is_like(old, made));
                    if let Some(made) = made.filter(is_new) {
                        questions.push((lesson, made));
                    }
                }
            }
            None => {
                for lesson in LESSONS {
                    let makers = lesson.makers();
                    let made = (0..TRIES).find_map(|_| {
                        let maker = makers.get(random.below(makers.len()))?;
                        maker(material, &mut random)
                    });
                    questions.extend(made.map(|made| (lesson, made)));
                }
            }
        }
        Self {
            lesson,
            device: material.device.name.clone(),
            seed,
            questions,
            answers: Vec::new(),
        }
    }

    /// How many questions there are; 0 where too little is known of the device.
    #[must_use]
    pub fn len(&self) -> usize {
        self.questions.len()
    }

    /// Whether there is nothing to ask.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.questions.is_empty()
    }

    /// The question that waits for an answer, its number from 1, and its lesson.
    #[must_use]
    pub fn current(&self) -> Option<(usize, &'static Lesson, &Question)> {
        let place = self.answers.len();
        let (lesson, question) = self.questions.get(place)?;
        Some((place + 1, lesson, question))
    }

    /// Takes a judged answer to the current question, and goes on to the next one.
    pub fn take(&mut self, typed: &str, judgement: Judgement) {
        if self.answers.len() < self.questions.len() {
            self.answers.push((typed.trim().to_owned(), judgement));
        }
    }

    /// Answers so far that are right, and all of them.
    #[must_use]
    pub fn score(&self) -> (usize, usize) {
        let is_right = |answer: &&(String, Judgement)| answer.1.outcome == Outcome::Right;
        (
            self.answers.iter().filter(is_right).count(),
            self.answers.len(),
        )
    }

    /// Whether all questions were answered.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.is_empty() && self.answers.len() == self.questions.len()
    }

    /// Whether enough of a whole round was right.
    #[must_use]
    pub fn is_passed(&self) -> bool {
        let (right, asked) = self.score();
        self.is_complete() && right as f64 >= PASSED * asked as f64
    }

    /// What became of the round, as data.
    #[must_use]
    pub fn document(&self) -> Document {
        let answered = self
            .questions
            .iter()
            .zip(&self.answers)
            .map(|((lesson, question), (typed, judgement))| {
                let (right_value, unit, tolerance) = match &question.answer {
                    Answer::Choice { .. } => (None, None, None),
                    Answer::Number {
                        right, tolerance, ..
                    } => (
                        Some(right.get()),
                        Some(right.unit().name().to_owned()),
                        Some(*tolerance),
                    ),
                };
                let choices = match &question.answer {
                    Answer::Choice { choices, .. } => {
                        choices.iter().map(|choice| choice.text.clone()).collect()
                    }
                    Answer::Number { .. } => Vec::new(),
                };
                Answered {
                    lesson: lesson.id.to_owned(),
                    kind: question.kind.to_owned(),
                    given: question.given.clone(),
                    ask: question.ask.clone(),
                    choices,
                    answer: typed.clone(),
                    outcome: judgement.outcome,
                    remark: Some(judgement.remark.clone()).filter(|remark| !remark.is_empty()),
                    right: match &question.answer {
                        Answer::Choice { choices, right } => choices
                            .get(*right)
                            .map_or_else(String::new, |choice| choice.text.clone()),
                        Answer::Number { right, .. } => shown(right),
                    },
                    right_value,
                    unit,
                    tolerance,
                    calculation: question.calculation.clone(),
                }
            })
            .collect();
        let (right, asked) = self.score();
        Document {
            schema: SCHEMA,
            version: VERSION,
            lesson: self.lesson.map(|lesson| lesson.id.to_owned()),
            device: self.device.clone(),
            seed: self.seed,
            questions: self.questions.len(),
            asked,
            right,
            is_complete: self.is_complete(),
            is_passed: self.is_passed(),
            answers: answered,
        }
    }
}

/// Whether two questions are the same to somebody who has answered one of them.
fn is_like(old: &Question, made: &Question) -> bool {
    let is_same = old.given == made.given && old.ask == made.ask;
    let has_same_number = match (&old.answer, &made.answer) {
        (Answer::Number { right: a, .. }, Answer::Number { right: b, .. }) => a == b,
        _ => false,
    };
    is_same || (old.kind == made.kind && has_same_number)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use ridge_model::Devices;

    use super::*;
    use crate::gallery::cases;
    use crate::question::letter;

    fn of(lesson: Option<&'static Lesson>, device: &str, seed: u64) -> Round {
        let material = Material {
            device: Devices::known().find(device).unwrap(),
            cases: cases(),
        };
        Round::new(lesson, &material, seed)
    }

    /// What a learner would type who knows everything.
    fn right(question: &Question) -> String {
        match &question.answer {
            Answer::Choice { right, .. } => letter(*right).to_string(),
            Answer::Number { right, .. } => match right.unit().name() {
                "ns" => format!("{}ns", right.get()),
                "FLOP/s" => format!("{:e}", right.get() / 1e12),
                "byte/s" => format!("{:e}", right.get() / 1e9),
                _ => format!("{:e}", right.get()),
            },
        }
    }

    /// Every lesson on every device of the table, for many seeds: right answers are right, no wrong choice or usual mistake
    /// is, and everything that is shown has numbers.
    #[test]
    fn every_question_has_one_right_answer() {
        let mut kinds = HashSet::new();
        for device in Devices::known().iter() {
            for lesson in LESSONS {
                for seed in 0..12 {
                    let material = Material {
                        device,
                        cases: cases(),
                    };
                    let mut round = Round::new(Some(lesson), &material, seed);
                    while let Some((_, _, question)) = round.current() {
                        let place =
                            format!("{}, {}, {seed}: {question:#?}", device.name, lesson.id);
                        kinds.insert(question.kind);
                        assert!(!question.calculation.is_empty(), "{place}");
                        let shown = question.given.iter().chain(&question.calculation);
                        for text in shown.chain([&question.ask, &question.right()]) {
                            assert!(!text.contains("NaN") && !text.contains("inf "), "{place}");
                        }
                        match &question.answer {
                            Answer::Choice { choices, right } => {
                                assert!(choices.len() >= 3, "{place}");
                                for (other, choice) in choices.iter().enumerate() {
                                    assert_eq!(
                                        choice.mistake.is_empty(),
                                        other == *right,
                                        "{place}"
                                    );
                                }
                            }
                            Answer::Number {
                                right, mistakes, ..
                            } => {
                                assert!(right.get().is_finite() && right.get() > 0.0, "{place}");
                                for mistake in mistakes {
                                    assert!(mistake.value.is_finite(), "{place}");
                                }
                            }
                        }
                        if let Answer::Number { .. } = &question.answer {
                            let shown = question.right();
                            let shown = shown.rsplit(" = ").next().unwrap_or_default();
                            let outcome = question.judge(shown).outcome;
                            assert_eq!(outcome, Outcome::Right, "{shown} for {place}");
                        }
                        let typed = right(question);
                        let judgement = question.judge(&typed);
                        assert_eq!(judgement.outcome, Outcome::Right, "{typed} for {place}");
                        round.take(&typed, judgement);
                    }
                    assert!(round.is_empty() || round.is_passed());
                }
            }
        }
        let all: HashSet<&str> = [
            "memory-time",
            "compute-time",
            "which-wall",
            "elementwise-intensity",
            "product-intensity",
            "fusion",
            "ridge-point",
            "attainable",
            "side",
            "bound-of-report",
            "launches",
            "chain",
            "resident-blocks",
            "occupancy-limit",
            "theoretical-occupancy",
            "occupancy-of-use",
            "finding",
            "at-most",
            "saved",
            "amdahl",
            "can-it-be",
            "gap",
            "cache",
            "compare",
            "unit-roundoff",
            "ulp",
            "counter",
            "range",
            "sum",
        ]
        .into();
        assert_eq!(kinds, all);
    }

    /// The number behind the last of some words in a line.
    fn number_behind(line: &str, words: &str) -> f64 {
        let text = line.rsplit(words).next().unwrap();
        let end = text.find([' ', ',', ')']).unwrap_or(text.len());
        text[..end].parse().unwrap()
    }

    /// What is asked follows from what is shown, and not from digits or cases that nobody sees.
    #[test]
    fn what_is_shown_decides() {
        let mut seen = HashSet::new();
        for seed in 0..150 {
            for lesson in LESSONS {
                for (_, question) in of(Some(lesson), "h200", seed).questions {
                    let place = format!("{seed}: {question:#?}");
                    let last = question.calculation.last().unwrap();
                    match question.kind {
                        "sum" => {
                            // Else terms are lost whole, and the errors are of no random sign.
                            assert!(number_behind(last, " = ") < 1.0, "{place}");
                        }
                        "at-most" => {
                            let own = question.calculation.iter();
                            let line = own
                                .into_iter()
                                .find(|line| line.contains("`ridge why` says"));
                            let typed = number_behind(line.unwrap(), "says ").to_string();
                            assert_eq!(question.judge(&typed).outcome, Outcome::Right, "{place}");
                            let typed = number_behind(line.unwrap(), " = ").to_string();
                            assert_eq!(question.judge(&typed).outcome, Outcome::Right, "{place}");
                        }
                        "compare" => {
                            let interval = &question.given[1];
                            let lower = number_behind(interval, "interval ");
                            let upper = number_behind(interval, " to ");
                            let band = number_behind(&question.given[2], "differs by up to ");
                            let margin = number_behind(&question.given[2], "changes up to ");
                            let read = if upper < -band && lower < -margin {
                                Some("B is faster")
                            } else if lower > band && upper > margin {
                                Some("B is slower")
                            } else if lower > -margin && upper < margin {
                                Some("they are the same")
                            } else {
                                None
                            };
                            let right = question.right();
                            assert!(
                                read.is_none_or(|read| right.contains(read)),
                                "{read:?} {place}"
                            );
                            assert!(read.is_some() || right.contains("nobody"), "{place}");
                        }
                        _ => continue,
                    }
                    seen.insert(question.kind);
                }
            }
        }
        assert_eq!(seen, HashSet::from(["sum", "at-most", "compare"]));
    }

    #[test]
    fn rounds_are_full_on_usual_devices() {
        for device in ["h200", "a100 80 sxm4", "l4", "b200", "t4"] {
            for lesson in LESSONS {
                assert_eq!(
                    of(Some(lesson), device, 3).len(),
                    QUESTIONS,
                    "{device} {}",
                    lesson.id
                );
            }
            assert_eq!(of(None, device, 3).len(), LESSONS.len());
        }
    }

    #[test]
    fn a_seed_makes_the_same_round() {
        let asked = |seed| -> Vec<Question> {
            let round = of(None, "h200", seed);
            round
                .questions
                .into_iter()
                .map(|(_, question)| question)
                .collect()
        };
        assert_eq!(asked(7), asked(7));
        assert_ne!(asked(7), asked(8));
    }

    #[test]
    fn choices_come_in_every_order() {
        let places: HashSet<usize> = (0..60)
            .flat_map(|seed| of(Some(&LESSONS[3]), "h200", seed).questions)
            .filter_map(|(_, question)| match question.answer {
                Answer::Choice { right, .. } => Some(right),
                Answer::Number { .. } => None,
            })
            .collect();
        assert_eq!(places, HashSet::from([0, 1, 2, 3]));
    }

    #[test]
    fn a_round_that_was_broken_off_is_not_passed() {
        let mut round = of(Some(&LESSONS[0]), "h200", 1);
        let typed = right(round.current().unwrap().2);
        let judgement = round.current().unwrap().2.judge(&typed);
        round.take(&typed, judgement);
        let document = round.document();
        assert_eq!(
            (document.right, document.asked, document.questions),
            (1, 1, 5)
        );
        assert!(!document.is_complete && !document.is_passed);
    }
}
