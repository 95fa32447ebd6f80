//! Reading the layers: from what is busy to the flaw, and to what its remedy can save at most.

use ridge_diagnose::{is_verdict, page};
use ridge_model::quantity::{Amount, Unit};
use ridge_stats::Random;

use super::{Maker, Material, counters, percent, pick, with_given};
use crate::gallery::{Case, Found, Row};
use crate::question::{Question, TOLERANCE};

pub(crate) const MAKERS: &[Maker] = &[finding, at_most, measured, amdahl, finding];

/// The first sentence of a finding's page.
fn says(id: &str) -> Option<String> {
    let page = page(id)?;
    let paragraph = page.split("\n\n").nth(1)?.replace('\n', " ");
    let end = paragraph.find(". ").unwrap_or(paragraph.len());
    Some(paragraph[..end].trim_end_matches('.').to_owned())
}

/// A finding as a choice.
fn text(id: &str) -> Option<String> {
    Some(format!("{id}: {}", says(id)?))
}

/// Which finding is it?
fn finding(material: &Material<'_>, random: &mut Random) -> Option<Question> {
    let is_clear = |case: &&Case| {
        let found = &case.entry.slow.findings;
        // Others on the same report would be right, too.
        found
            .first()
            .is_some_and(|first| first.id == case.entry.label)
            && found.iter().filter(|other| other.at_most > 0.1).count() <= 1
            && case.entry.slow.rows.len() >= 3
    };
    let clear: Vec<&Case> = material.cases.iter().filter(is_clear).collect();
    let case = *pick(&clear, random)?;
    let slow = &case.entry.slow;
    let first = slow.findings.first()?;
    let mut others: Vec<&str> = material
        .cases
        .iter()
        .map(|other| other.entry.label.as_str())
        .filter(|label| !case.shows(label) && slow.findings.iter().all(|found| found.id != *label))
        .collect();
    others.sort_unstable();
    others.dedup();
    random.shuffle(&mut others);
    let wrong: Vec<(String, String)> = others
        .into_iter()
        .filter_map(|id| {
            Some((
                text(id)?,
                format!("`ridge explain {id}` tells what it would look like"),
            ))
        })
        .take(3)
        .collect();
    let question = Question::choice(
        "finding",
        "Which finding does `ridge why` put first?",
        text(&first.id)?,
        wrong,
        random,
    );
    let saves = if is_verdict(&first.id) {
        "there is nothing to mend: it is at its limit".to_owned()
    } else {
        format!("it saves at most {}", percent(first.at_most))
    };
    Some(
        with_given(question, counters(slow))
            .because(format!("{}: {}", first.id, first.title))
            .because(format!("{saves}; see `ridge gallery {}`", case.entry.name))
            .read("ledger"),
    )
}

/// The flaw is mended: what binds then, and what is saved at most?
fn at_most(material: &Material<'_>, random: &mut Random) -> Option<Question> {
    /// A remedy that changes the next resource too is another calculation. Both numbers are right answers then.
    const AGREES: f64 = TOLERANCE / 2.0;
    let next = |case: &Case| -> Option<(Found, Row)> {
        let slow = &case.entry.slow;
        let found = slow
            .findings
            .first()
            .filter(|found| !is_verdict(&found.id))?;
        let row = slow
            .rows
            .iter()
            .find(|row| Some(row.resource) == found.next)?;
        let agrees = (1.0 - row.share - found.at_most).abs() <= AGREES * found.at_most;
        let holds = case.saved().is_none_or(|saved| saved <= found.at_most);
        (agrees && holds && row.share > 0.03).then(|| (found.clone(), row.clone()))
    };
    let fitting: Vec<(&Case, (Found, Row))> = material
        .cases
        .iter()
        .filter_map(|case| Some((case, next(case)?)))
        .collect();
    let (case, (found, next)) = pick(&fitting, random)?;
    let (left, label) = (next.share, next.resource.label());
    let right = 1.0 - left;
    let mut question = Question::number(
        "at-most",
        format!(
            "The finding is {}: {}. With the flaw gone, {label} binds next. Which part of the time is saved at most, in %?",
            found.id, found.title
        ),
        Amount::new(right * 100.0, Unit::PERCENT),
    )
    .mistake(left * 100.0, "that is the time that is left, not the part that is saved")
    .mistake(100.0, format!("{label} stays busy for as long as it is today"));
    for row in case
        .entry
        .slow
        .rows
        .iter()
        .filter(|row| row.resource != next.resource)
    {
        question = question.mistake(
            row.share * 100.0,
            format!(
                "that is the part for which {} is busy today",
                row.resource.label()
            ),
        );
    }
    question = with_given(question, counters(&case.entry.slow))
        .because(format!(
            "{label} stays busy for {} of today's time: no less is left",
            percent(left)
        ))
        .because(format!(
            "100 % - {} = {}; `ridge why` says {}",
            percent(left),
            percent(right),
            percent(found.at_most)
        ));
    if let Some(saved) = case.saved() {
        question = question.because(format!(
            "the fix of `ridge gallery {}` was measured to save {}",
            case.entry.name,
            percent(saved)
        ));
    }
    Some(question.read("ceiling"))
}

/// Two measured times: what was saved?
fn measured(material: &Material<'_>, random: &mut Random) -> Option<Question> {
    let known: Vec<(&Case, f64, f64)> = material
        .cases
        .iter()
        .filter_map(|case| Some((case, case.entry.fixed_hot_us?, case.saved()?)))
        .collect();
    let (case, fixed, saved) = *pick(&known, random)?;
    let slow = case.entry.slow_hot_us;
    let micros = |value: f64| Amount::new(value, Unit::from_static("us")).to_string();
    Some(
        Question::number(
            "saved",
            "Which part of the time did the fix save, in %?",
            Amount::new(saved * 100.0, Unit::PERCENT),
        )
        .given(format!(
            "{}: {} before, {} after",
            case.title,
            micros(slow),
            micros(fixed)
        ))
        .mistake(
            100.0 * (slow / fixed - 1.0),
            "that is how much more is done in the same time",
        )
        .mistake(100.0 * fixed / slow, "that is the part that is left")
        .because(format!(
            "1 - {} / {} = {}",
            micros(fixed),
            micros(slow),
            percent(saved)
        ))
        .because(format!(
            "the kernel is {:.2} times as fast; see `ridge gallery {}`",
            slow / fixed,
            case.entry.name
        ))
        .read("ceiling"),
    )
}

/// A kernel in a program.
fn amdahl(material: &Material<'_>, random: &mut Random) -> Option<Question> {
    let fitting: Vec<(&Case, f64)> = material
        .cases
        .iter()
        .filter_map(|case| Some((case, case.entry.slow.findings.first()?.at_most)))
        .filter(|(_, at_most)| *at_most > 0.2)
        .collect();
    let (case, at_most) = *pick(&fitting, random)?;
    let share = *pick(&[0.1, 0.2, 0.25, 0.4, 0.6], random)?;
    let right = share * at_most;
    let id = &case.entry.slow.findings.first()?.id;
    Some(
        Question::number(
            "amdahl",
            "By which part does the time of all kernels fall at most, in %?",
            Amount::new(right * 100.0, Unit::PERCENT),
        )
        .given(format!(
            "a kernel takes {} of the time of all kernels",
            percent(share)
        ))
        .given(format!(
            "its finding {id} saves at most {} of its time",
            percent(at_most)
        ))
        .mistake(
            at_most * 100.0,
            "that is the part of the kernel, not of all of them",
        )
        .mistake(share * 100.0, "that would be without the kernel at all")
        .because(format!(
            "{} x {} = {}",
            percent(share),
            percent(at_most),
            percent(right)
        ))
        .because(format!(
            "and never more than {}, however fast the kernel gets",
            percent(share)
        ))
        .read("amdahl"),
    )
}
