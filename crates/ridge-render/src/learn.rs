//! Lessons and practice rounds for a terminal: the list, a question, what an answer is worth, and the end of a round.

use ridge_learn::{Answer, Judgement, LESSONS, Lesson, Outcome, Progress, Question, Round, letter};

use crate::escape;
use crate::page::Layout;
use crate::style::Role;
use crate::table::{Cell, Column, Table};

/// The lessons with what was done of them.
#[must_use]
pub fn list(progress: &Progress, layout: &Layout) -> String {
    let mut table = Table::new([
        Column::left("lesson"),
        Column::left("what it is about").wrapped(1, 20),
        Column::left("so far"),
    ]);
    for lesson in LESSONS {
        let standing = progress.of(lesson.id);
        let so_far = if standing.is_passed() {
            let text = format!("known: {} of {}", standing.best, standing.best_of);
            Cell::styled(Role::Good, &text)
        } else if standing.best_of > 0 {
            Cell::from(format!("best: {} of {}", standing.best, standing.best_of))
        } else if standing.asked > 0 {
            Cell::from(format!("{} of {} right", standing.right, standing.asked))
        } else {
            Cell::styled(Role::Dim, "new")
        };
        table.row([Cell::from(lesson.id), Cell::from(lesson.about()), so_far]);
    }
    let mut out = table.render(layout.columns, layout.charset, layout.painter);
    out.push('\n');
    let text = match next(progress) {
        Some(lesson) => format!("Next: `ridge learn {}`. A lesson is known when four of five answers of a round are right.", lesson.id),
        None => "All lessons are known. `ridge gallery` has kernels to look at; `ridge why` tells about yours.".to_owned(),
    };
    layout.paragraph(&mut out, &text, "", "", Some(Role::Dim));
    out
}

/// The first lesson that is not known.
fn next(progress: &Progress) -> Option<&'static Lesson> {
    LESSONS
        .iter()
        .find(|lesson| !progress.of(lesson.id).is_passed())
}

/// A question, up to the place where the answer is typed.
#[must_use]
pub fn question(round: &Round, layout: &Layout) -> String {
    let Some((number, lesson, question)) = round.current() else {
        return String::new();
    };
    let mut out = String::new();
    let of = round.len();
    layout.heading(
        &mut out,
        &format!("Question {number} of {of}: {}", lesson.title()),
    );
    out.push('\n');
    for line in &question.given {
        layout.paragraph(&mut out, line, "  - ", "    ", None);
    }
    if !question.given.is_empty() {
        out.push('\n');
    }
    layout.paragraph(&mut out, &question.ask, "  ", "  ", None);
    if let Answer::Choice { choices, .. } = &question.answer {
        for (place, choice) in choices.iter().enumerate() {
            let first = format!("  {}) ", letter(place));
            layout.paragraph(&mut out, &choice.text, &first, "     ", None);
        }
    }
    out.push('\n');
    out.push_str(&prompt(question, layout));
    out
}

/// What stands before the answer.
#[must_use]
pub fn prompt(question: &Question, layout: &Layout) -> String {
    let how = format!("({})", question.how());
    format!("answer {}: ", layout.painter.paint(Role::Dim, &how))
}

/// What an answer is worth, and how the right one follows.
#[must_use]
pub fn judged(question: &Question, judgement: &Judgement, layout: &Layout) -> String {
    let mut out = String::new();
    let (role, word) = match judgement.outcome {
        Outcome::Right => (Role::Good, "right"),
        Outcome::Wrong => (Role::Bad, "wrong"),
        Outcome::Skipped => (Role::Dim, "not answered"),
        Outcome::NotUnderstood => (Role::Warning, "not understood"),
    };
    let remark = if judgement.remark.is_empty() {
        String::new()
    } else {
        format!(": {}", judgement.remark)
    };
    let mut line = String::new();
    layout.paragraph(&mut line, &format!("{word}{remark}"), "", "  ", None);
    out.push_str(&line.replacen(word, &layout.painter.paint(role, word).to_string(), 1));
    layout.paragraph(
        &mut out,
        &format!("the answer is {}", question.right()),
        "  ",
        "    ",
        None,
    );
    for line in &question.calculation {
        layout.paragraph(&mut out, line, "    ", "      ", None);
    }
    let read = format!("read: ridge explain {}", question.read);
    layout.paragraph(&mut out, &read, "  ", "    ", Some(Role::Dim));
    out
}

/// That an answer was not understood, where it is asked for again.
#[must_use]
pub fn again(question: &Question, judgement: &Judgement, layout: &Layout) -> String {
    let mut out = String::new();
    layout.paragraph(&mut out, &judgement.remark, "", "  ", Some(Role::Warning));
    out.push_str(&prompt(question, layout));
    out
}

/// The end of a round.
#[must_use]
pub fn end(
    round: &Round,
    lesson: Option<&Lesson>,
    seed: u64,
    progress: &Progress,
    layout: &Layout,
) -> String {
    let mut out = String::new();
    let (right, asked) = round.score();
    layout.heading(&mut out, &format!("{right} of {asked} right"));
    let mut say = |text: &str| layout.paragraph(&mut out, text, "  ", "  ", None);
    if asked == 0 {
        say(&format!(
            "The round has {} questions; none was answered.",
            round.len()
        ));
    } else if !round.is_complete() {
        say(&format!(
            "The round has {} questions and was left after {asked}. What was answered is kept.",
            round.len()
        ));
    } else if let Some(lesson) = lesson {
        if round.is_passed() {
            say(&format!("{} is known.", lesson.title()));
            match next(progress) {
                Some(next) => say(&format!("Next: ridge learn {}", next.id)),
                None => say("All lessons are known. Kernels to look at: ridge gallery"),
            }
        } else {
            say(&format!(
                "Four of five make a lesson known. Other questions: ridge learn {}",
                lesson.id
            ));
        }
    } else if !round.is_passed() {
        say("`ridge learn` lists the lessons.");
    }
    say(&format!("The same questions again: --seed {seed}"));
    out
}

/// An answer that was not typed, for those who read along.
#[must_use]
pub fn echo(typed: &str) -> String {
    format!("{}\n", escape::terminal(typed.trim()))
}
