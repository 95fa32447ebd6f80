//! One output against what it has to be.

use std::borrow::Cow;
use std::thread;

use ridge_numerics::document::hold;
use ridge_numerics::format::{Endian, Format};
use ridge_numerics::measure::Measures;
use ridge_numerics::verdict::{Outcome as Judgement, Verdict};
use ridge_numerics::view::View;

use super::tolerance::{Allowed, usual};
use super::{Compared, Expected, Outcome, Rule, WrongElement};
use crate::parallel;
use crate::spec::{ElementType, Elements};

/// The outcome of an output that is the same as the right one to the last bit, and of which every element was written.
pub(crate) fn equal(name: &str, elements: &Elements, rule: &Rule) -> Outcome {
    let text = Allowed::of(rule, elements.kind, 0.0, true).map(|allowed| allowed.text);
    Outcome {
        max_difference: Some(0.0),
        relative_norm: Some(0.0),
        tolerance: text.unwrap_or_default(),
        ..Outcome::right(name, elements.length, rule.what)
    }
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
    let (count, unwritten) = if was_poisoned {
        written(kind, found)
    } else {
        (found.len() / kind.size(), 0)
    };
    let found = &found[..count * kind.size()];
    let mut outcome = match pairs(kind, found, expected).filter(|_| rule.what != Compared::Nothing)
    {
        None => looked_at(name, kind, found, unwritten),
        Some(pairs) if pairs.count == 0 => Outcome {
            is_right: false,
            ..Outcome::right(name, 0, rule.what)
        },
        // What is the same to the last bit needs no look at elements, which takes long where outputs are large.
        Some(pairs) if pairs.format == kind.format() && pairs.found == pairs.right => Outcome {
            elements: pairs.count,
            ..equal(name, elements, rule)
        },
        Some(pairs) if rule.what == Compared::Sum => sums(name, kind, &pairs, rule),
        Some(pairs) => each(name, kind, &pairs, rule),
    };
    outcome.unwritten = unwritten;
    // Integers of the pattern may be right; floating-point numbers of it are none.
    if unwritten > 0 && kind.is_float() {
        outcome.is_right = false;
    }
    outcome
}

/// How many whole elements there are, and how many of them hold the pattern of memory that nobody wrote.
fn written(kind: ElementType, found: &[u8]) -> (usize, u64) {
    let size = kind.size();
    let count = found.len() / size;
    let unwritten = parallel::parts(0..count as u64, |part| {
        let bytes = &found[part.start as usize * size..part.end as usize * size];
        let elements = bytes.chunks_exact(size);
        let is_unwritten =
            |element: &&[u8]| element.iter().all(|byte| *byte == ElementType::POISON);
        elements.filter(is_unwritten).count() as u64
    });
    (count, unwritten.iter().sum())
}

/// An output of which it is not known what it has to be.
fn looked_at(name: &str, kind: ElementType, found: &[u8], unwritten: u64) -> Outcome {
    let size = kind.size();
    let count = (found.len() / size) as u64;
    let bad = parallel::parts(0..count, |part| {
        let bytes = &found[part.start as usize * size..part.end as usize * size];
        let is_bad = |element: &&[u8]| kind.is_float() && !kind.number(element).is_finite();
        bytes.chunks_exact(size).filter(is_bad).count() as u64
    });
    let bad: u64 = bad.iter().sum();
    let not_finite = bad - if kind.is_float() { unwritten } else { 0 };
    Outcome {
        not_finite,
        // All integers of the pattern are no result.
        is_right: not_finite == 0 && (unwritten == 0 || unwritten < count),
        ..Outcome::right(name, 0, Compared::Nothing)
    }
}

/// Elements that are compared: both sides, one after another.
struct Pairs<'a> {
    count: u64,
    found: Cow<'a, [u8]>,
    right: Cow<'a, [u8]>,
    /// Of the right ones.
    format: Format,
    /// Where they are in the output, if not at its start.
    places: Option<Vec<u64>>,
}

/// Absent where nobody knows what is right. Of a simulated device only the head of an output is there.
fn pairs<'a>(kind: ElementType, found: &'a [u8], expected: &'a Expected) -> Option<Pairs<'a>> {
    let size = kind.size();
    match expected {
        Expected::Unknown => None,
        Expected::Bytes(right) => {
            let length = found.len().min(right.len() / size * size);
            Some(Pairs {
                count: (length / size) as u64,
                found: Cow::Borrowed(&found[..length]),
                right: Cow::Borrowed(&right[..length]),
                format: kind.format(),
                places: None,
            })
        }
        Expected::Some(some) => {
            let (mut taken, mut right, mut places) = (Vec::new(), Vec::new(), Vec::new());
            for (index, value) in some {
                let start = usize::try_from(*index).ok()?.checked_mul(size)?;
                let Some(element) = found.get(start..start + size) else {
                    continue;
                };
                taken.extend_from_slice(element);
                // Integers are whole there, and expressions end at 2^53 in them.
                if kind.is_float() {
                    right.extend_from_slice(&value.to_le_bytes());
                } else {
                    kind.push(crate::expression::Value::Float(*value), &mut right);
                }
                places.push(*index);
            }
            Some(Pairs {
                count: places.len() as u64,
                found: Cow::Owned(taken),
                right: Cow::Owned(right),
                format: if kind.is_float() {
                    Format::F64
                } else {
                    kind.format()
                },
                places: Some(places),
            })
        }
    }
}

impl Pairs<'_> {
    fn views(&self, kind: ElementType) -> Option<(View<'_>, View<'_>)> {
        let view =
            |format, bytes| View::row_major(format, &[self.count], Endian::Little, bytes).ok();
        Some((
            view(self.format, &self.right)?,
            view(kind.format(), &self.found)?,
        ))
    }

    /// Pairs of a found and a right number.
    fn values(&self, kind: ElementType) -> impl Iterator<Item = (f64, f64)> {
        let right = self.right.chunks_exact(self.format.size_bytes());
        let numbers = self.found.chunks_exact(kind.size()).zip(right);
        numbers.map(move |(found, right)| {
            let right = match self.format {
                Format::F64 => ElementType::F64.number(right),
                _ => kind.number(right),
            };
            (kind.number(found), right)
        })
    }

    /// The root mean square of the right numbers, as far as they are finite.
    fn root_mean_square(&self, kind: ElementType) -> f64 {
        let squares = self.values(kind).map(|(_, right)| right * right);
        let sum: f64 = squares.filter(|square| square.is_finite()).sum();
        (sum / self.count as f64).sqrt()
    }
}

/// Each element against the right one.
fn each(name: &str, kind: ElementType, pairs: &Pairs<'_>, rule: &Rule) -> Outcome {
    let is_rounded = pairs.format == kind.format();
    let allowed = Allowed::of(rule, kind, pairs.root_mean_square(kind), is_rounded);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let judged =
        allowed
            .as_ref()
            .ok()
            .zip(pairs.views(kind))
            .and_then(|(allowed, (right, found))| {
                hold(["", ""], &right, &found, None, &allowed.elements, threads).ok()
            });
    let (Ok(allowed), Some(document)) = (&allowed, judged) else {
        let reason = allowed.err().map(|error| error.to_string());
        return Outcome {
            is_right: false,
            explanation: reason,
            ..Outcome::right(name, pairs.count, rule.what)
        };
    };
    let mut outcome = Outcome {
        tolerance: allowed.text.clone(),
        ..Outcome::right(name, pairs.count, rule.what)
    };
    let Some(measures) = &document.measures else {
        // Shapes and types fit by construction: what cannot be measured all the same is not right.
        outcome.is_right = false;
        return outcome;
    };
    outcome.wrong = measures.failing;
    outcome.not_finite = measures.non_finite.nan_extra + measures.non_finite.infinite_extra;
    outcome.first = first(measures, pairs);
    outcome.max_difference = Some(measures.absolute.as_ref().map_or(0.0, |peak| peak.value));
    outcome.relative_norm = measures.relative_l2;
    let norm = measures
        .relative_l2
        .unwrap_or(if outcome.max_difference > Some(0.0) {
            f64::INFINITY
        } else {
            0.0
        });
    let is_norm_fine = allowed.norm.is_none_or(|most| norm <= most);
    outcome.is_right = document.verdict.outcome != Judgement::Wrong && is_norm_fine;
    outcome.explanation = explained(&document.verdict, pairs);
    outcome
}

/// What the verdict adds to the counts. Places mean nothing where elements were taken from here and there.
fn explained(verdict: &Verdict, pairs: &Pairs<'_>) -> Option<String> {
    let says_more = verdict.outcome != Judgement::Right && pairs.places.is_none();
    says_more.then(|| verdict.sentence.clone())
}

/// The first wrong element.
fn first(measures: &Measures, pairs: &Pairs<'_>) -> Option<WrongElement> {
    let element = measures.first.first()?;
    let place = *element.index.first()?;
    let index = match &pairs.places {
        Some(places) => *places.get(usize::try_from(place).ok()?)?,
        None => place,
    };
    Some(WrongElement {
        index,
        found: element.output.finite(),
        expected: element.reference.finite(),
    })
}

/// The sum of all elements against that of the right ones.
fn sums(name: &str, kind: ElementType, pairs: &Pairs<'_>, rule: &Rule) -> Outcome {
    let mut outcome = Outcome::right(name, pairs.count, rule.what);
    let (mut sum, mut right_sum, mut squares) = (0.0, 0.0, 0.0);
    let mut largest = 0.0_f64;
    for (place, (value, right)) in (0_u64..).zip(pairs.values(kind)) {
        let difference = (value - right).abs();
        if difference.is_finite() {
            largest = largest.max(difference);
            sum += value;
            right_sum += right;
        }
        if (right * right).is_finite() {
            squares += right * right;
        }
        if !value.is_finite() && right.is_finite() {
            outcome.not_finite += 1;
            outcome.wrong += 1;
            outcome.first.get_or_insert(WrongElement {
                index: place,
                found: None,
                expected: Some(right),
            });
        }
    }
    // Sums of n elements differ by the root of n roundings.
    let scale = (squares * pairs.count as f64).sqrt();
    let norm = (sum - right_sum).abs() / scale;
    let most = rule.norm.unwrap_or(usual(kind));
    outcome.tolerance = format!("norm {most:e}");
    outcome.max_difference = Some(largest);
    outcome.relative_norm = Some(norm).filter(|norm| norm.is_finite());
    let is_fine = outcome
        .relative_norm
        .unwrap_or(if largest > 0.0 { f64::INFINITY } else { 0.0 })
        <= most;
    outcome.is_right = outcome.wrong == 0 && is_fine;
    outcome
}
