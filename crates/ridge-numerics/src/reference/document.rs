//! The answers about references, as data: every renderer prints these and computes nothing.
//!
//! Fields are only ever added within a version. Absent is `null`; an infinity, which JSON does not have, is `null` too.

use schemars::JsonSchema;
use serde::Serialize;

use super::check::{Check, Element, Terms, place};
use super::sums::{Order, Orders};
use crate::format::Format;

/// Name of the contract about an output and its reference.
pub const CHECK_SCHEMA: &str = "ridgepoint.numerics-reference";
/// Name of the contract about orders of a sum.
pub const ORDERS_SCHEMA: &str = "ridgepoint.numerics-sum";
/// The version of both.
pub const VERSION: u32 = 1;

/// A number that JSON can hold.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// An output held against what its inputs say, computed in higher precision: what `ridge numerics gemm` and the like write with
/// `--format json`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "Output and reference")]
pub struct CheckDocument {
    /// Always `ridgepoint.numerics-reference`.
    #[schemars(extend("const" = CHECK_SCHEMA))]
    pub schema: String,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The version of the command.
    pub tool_version: String,
    /// The operation, such as `gemm`.
    pub operation: String,
    /// The tensors in the order in which they were given, the output last.
    pub tensors: Vec<NamedTensor>,
    /// How the tolerance comes about.
    pub tolerance: Tolerance,
    /// Whether the output is right.
    pub verdict: Verdict,
    /// The verdict in a sentence.
    pub sentence: String,
    /// Elements that were compared.
    pub elements: u64,
    /// Elements beyond the tolerance.
    pub failing: u64,
    /// Of these, elements beyond what rounding can do at worst.
    pub proven_wrong: u64,
    /// Of the failing ones, elements that are NaN or infinite on one side only.
    pub not_finite: u64,
    /// Of the failing ones, zeros in place of a number below the normal ones.
    pub flushed: u64,
    /// Elements whose reference is beyond the range of the format, written as infinity, NaN or the largest number.
    pub overflowed: u64,
    /// Elements that are the reference, rounded once.
    pub exact: u64,
    /// The largest error in units in the last place of the output's format.
    pub max_ulp: f64,
    /// For each dimension the first and the last index of failing elements.
    pub failing_within: Vec<[u64; 2]>,
    /// The first failing element.
    pub first_failing: Option<FoundElement>,
    /// The element with the largest error beside its tolerance.
    pub worst: Option<FoundElement>,
}

/// A tensor that took part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NamedTensor {
    /// What it is in the operation, such as `A`.
    pub role: String,
    /// The file, and the name in it where there is one.
    pub input: String,
    /// The format of its elements.
    pub format: String,
    /// Its shape.
    pub shape: Vec<u64>,
}

/// `u_out · |r| + c · u_acc · noise + smallest number of the output`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Tolerance {
    /// Unit roundoff of the output; `null` for integers, which are rounded to the nearest.
    pub u_out: Option<f64>,
    /// Unit roundoff of what sums are taken in; 0 where they are exact.
    pub u_acc: f64,
    /// What sums are taken in.
    pub accumulated_in: String,
    /// How many times the noise is allowed.
    pub c: f64,
    /// How many values are accumulated into one.
    pub length: u64,
    /// What the noise of this operation is.
    pub noise: String,
}

/// Whether an output is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every element is within the tolerance.
    Right,
    /// Some element is not, or the output is no output.
    Wrong,
    /// There are no elements.
    Empty,
}

/// One element.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FoundElement {
    /// Its index in each dimension.
    pub index: Vec<u64>,
    /// What is there; `null` where it is not finite.
    pub value: Option<f64>,
    /// What should be there; `null` where it is not finite.
    pub reference: Option<f64>,
    /// How far from it that may be.
    pub tolerance: Option<f64>,
    /// The distance over the tolerance; `null` where only one of both is finite.
    pub ratio: Option<f64>,
    /// The distance in units in the last place.
    pub ulps: Option<f64>,
}

/// What a document is made from, beside the check.
#[derive(Clone, Debug)]
pub struct Subject<'s> {
    /// The operation.
    pub operation: &'s str,
    /// The tensors, the output last.
    pub tensors: Vec<NamedTensor>,
    /// The format of the output.
    pub output: Format,
    /// The shape of the output.
    pub shape: &'s [usize],
    /// What sums are taken in.
    pub accumulated_in: Format,
    /// How many values are accumulated into one.
    pub length: usize,
    /// What the noise of the operation is.
    pub noise: &'s str,
    /// What the output was held to.
    pub terms: Terms,
}

fn element(shape: &[usize], element: &Element) -> FoundElement {
    FoundElement {
        index: place(shape, element.index),
        value: finite(element.value),
        reference: finite(element.reference),
        tolerance: finite(element.tolerance),
        ratio: finite(element.ratio),
        ulps: finite(element.ulps),
    }
}

impl CheckDocument {
    /// Puts the answer together.
    #[must_use]
    pub fn of(check: &Check, subject: Subject<'_>, tool_version: &str) -> Self {
        let verdict = if check.elements == 0 {
            Verdict::Empty
        } else if check.is_right() {
            Verdict::Right
        } else {
            Verdict::Wrong
        };
        Self {
            schema: CHECK_SCHEMA.to_owned(),
            version: VERSION,
            tool_version: tool_version.to_owned(),
            operation: subject.operation.to_owned(),
            tolerance: Tolerance {
                u_out: subject.output.unit_roundoff(),
                u_acc: subject.terms.u_acc,
                accumulated_in: subject.accumulated_in.name().to_owned(),
                c: subject.terms.c,
                length: subject.length as u64,
                noise: subject.noise.to_owned(),
            },
            verdict,
            sentence: sentence(check, &subject),
            elements: check.elements,
            failing: check.failing,
            proven_wrong: check.proven_wrong,
            not_finite: check.not_finite,
            flushed: check.flushed,
            overflowed: check.overflowed,
            exact: check.exact,
            max_ulp: check.max_ulp,
            failing_within: check
                .failing_within
                .iter()
                .map(|(first, last)| [*first, *last])
                .collect(),
            first_failing: check
                .first_failing
                .as_ref()
                .map(|found| element(subject.shape, found)),
            worst: check
                .worst
                .as_ref()
                .map(|found| element(subject.shape, found)),
            tensors: subject.tensors,
        }
    }
}

/// Three significant figures, without an exponent where that is short.
fn figure(value: f64) -> String {
    if value == 0.0 || (0.01..1e4).contains(&value.abs()) {
        let digits = if value == 0.0 {
            0
        } else {
            (2 - value.abs().log10().floor() as i32).clamp(0, 4)
        };
        format!("{value:.*}", digits as usize)
    } else {
        format!("{value:.2e}")
    }
}

/// A share in per cent; a few of many are no 0 %.
fn share(part: u64, whole: u64) -> String {
    let share = 100.0 * part as f64 / whole.max(1) as f64;
    if share >= 0.01 {
        format!("{} %", figure(share))
    } else {
        "less than 0.01 %".to_owned()
    }
}

fn sentence(check: &Check, subject: &Subject<'_>) -> String {
    let what = if subject.length > 1 {
        format!(
            "{} of length {} in {}",
            subject.operation,
            subject.length,
            subject.accumulated_in.name()
        )
    } else {
        format!(
            "{} in {}",
            subject.operation,
            subject.accumulated_in.name()
        )
    };
    if check.elements == 0 {
        return "the output has no elements, and nothing was compared".to_owned();
    }
    if check.is_constant {
        return format!(
            "no output: all {} elements are the same, and their references are not",
            check.elements
        );
    }
    if check.failing == 0 {
        return match &check.worst {
            None => format!("every element is the exact result of {what}, rounded once"),
            Some(worst) => format!(
                "within rounding of {what}, written as {}; worst {} ULP, {} of what is allowed there",
                subject.output.name(),
                figure(check.max_ulp),
                figure(worst.ratio)
            ),
        };
    }
    let mut text = format!(
        "not rounding of {what}: {} of elements wrong ({} of {})",
        share(check.failing, check.elements),
        check.failing,
        check.elements
    );
    if let Some(within) = within(&check.failing_within, subject.shape) {
        text.push_str(", all within ");
        text.push_str(&within);
    }
    if check.not_finite == check.failing {
        text.push_str("; each is NaN or infinite on one side only");
    } else if check.flushed == check.failing {
        text.push_str("; each is 0 in place of a subnormal number: flushed to zero");
    } else if check.proven_wrong == 0 {
        text.push_str("; none beyond what rounding can do at worst, so that a format with less precision is likely");
    }
    text
}

/// The part of the output in which elements fail, where it is smaller than the whole.
fn within(failing: &[(u64, u64)], shape: &[usize]) -> Option<String> {
    let is_part = failing
        .iter()
        .zip(shape)
        .any(|((first, last), size)| last - first + 1 < *size as u64);
    is_part.then(|| {
        let ranges: Vec<String> = failing
            .iter()
            .zip(shape)
            .map(|((first, last), size)| {
                if last - first + 1 == *size as u64 {
                    ":".to_owned()
                } else if first == last {
                    first.to_string()
                } else {
                    format!("{first}-{last}")
                }
            })
            .collect();
        format!("[{}]", ranges.join(", "))
    })
}

/// One sum in several orders: what `ridge numerics sum --format json` writes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "Orders of a sum")]
pub struct OrdersDocument {
    /// Always `ridgepoint.numerics-sum`.
    #[schemars(extend("const" = ORDERS_SCHEMA))]
    pub schema: String,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The version of the command.
    pub tool_version: String,
    /// The tensor whose elements are summed.
    pub tensor: NamedTensor,
    /// What additions are rounded to.
    pub accumulated_in: String,
    /// The unit roundoff u of that.
    pub u: f64,
    /// How many values there are.
    pub count: u64,
    /// The exact sum, rounded to `f64`.
    pub exact: f64,
    /// The sum of the sizes of the values, S.
    pub size: f64,
    /// S over the size of the exact sum; `null` where that is 0 and S is not.
    pub condition: Option<f64>,
    /// The orders.
    pub orders: Vec<OrderRow>,
    /// How many random orders were tried.
    pub shuffles: u64,
    /// How many different sums they gave.
    pub distinct: u64,
    /// The smallest of these.
    pub lowest: f64,
    /// The largest of these.
    pub highest: f64,
    /// What is to be learned, in sentences.
    pub lessons: Vec<String>,
}

/// One order.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OrderRow {
    /// Its name.
    pub order: String,
    /// Who sums like that.
    pub who: String,
    /// The sum; `null` where it overflowed.
    pub value: Option<f64>,
    /// The sum less the exact one; `null` where it overflowed.
    pub error: Option<f64>,
    /// The size of the error in units in the last place at the exact sum.
    pub ulps: Option<f64>,
    /// The size of the error over u · S.
    pub error_per_u_s: Option<f64>,
    /// What is to be expected of that: the root of the number of roundings that a value goes through.
    pub expected_per_u_s: f64,
    /// What it cannot exceed, beside one rounding of the result: that number.
    pub bound_per_u_s: f64,
}

/// The name of an order, and who sums like that.
fn named(order: Order) -> (String, &'static str) {
    match order {
        Order::Serial => ("serial".to_owned(), "one thread, or a loop on a CPU"),
        Order::Reversed => ("serial, backwards".to_owned(), "the same from the end"),
        Order::Ascending => (
            "smallest first".to_owned(),
            "nobody, since it has to be sorted",
        ),
        Order::Pairwise => ("pairwise".to_owned(), "NumPy; a tree over everything"),
        Order::Tree { threads } => (
            format!("{threads} threads, then a tree"),
            if threads == 32 {
                "a warp with shuffles"
            } else {
                "a block with shared memory"
            },
        ),
        Order::Split { parts } => (format!("{parts} parts"), "split-K; a block for each part"),
        Order::Kahan => ("Kahan".to_owned(), "serial, errors carried along"),
        Order::Neumaier => ("Neumaier".to_owned(), "the same, safe for large terms"),
        Order::Shuffled { seed } => (format!("shuffled {seed}"), "atomics"),
    }
}

impl OrdersDocument {
    /// Puts the answer together.
    #[must_use]
    pub fn of(orders: &Orders, tensor: NamedTensor, tool_version: &str) -> Self {
        Self {
            schema: ORDERS_SCHEMA.to_owned(),
            version: VERSION,
            tool_version: tool_version.to_owned(),
            tensor,
            accumulated_in: orders.format.name().to_owned(),
            u: orders.format.unit_roundoff().unwrap_or(0.0),
            count: orders.count as u64,
            exact: orders.exact,
            size: orders.size,
            condition: finite(orders.condition),
            orders: orders
                .results
                .iter()
                .map(|result| {
                    let (order, who) = named(result.order);
                    OrderRow {
                        order,
                        who: who.to_owned(),
                        value: finite(result.value),
                        error: finite(result.error),
                        ulps: finite(result.ulps),
                        error_per_u_s: finite(result.relative_to_size),
                        expected_per_u_s: result.expected,
                        bound_per_u_s: result.bound,
                    }
                })
                .collect(),
            shuffles: orders.shuffles as u64,
            distinct: orders.distinct as u64,
            lowest: orders.spread.0,
            highest: orders.spread.1,
            lessons: lessons(orders),
        }
    }
}

/// What the figures of this sum show; nothing is said that they do not.
fn lessons(orders: &Orders) -> Vec<String> {
    let mut lessons = Vec::new();
    let of = |order: Order| orders.results.iter().find(|result| result.order == order);
    if let (Some(serial), Some(pairwise)) = (of(Order::Serial), of(Order::Pairwise)) {
        if serial.ulps > 2.0 * pairwise.ulps && serial.ulps >= 1.0 {
            lessons.push(format!(
                "one after the other is {} ULP off, in pairs {} ULP: a value goes through {} roundings in the one and {} in the other",
                figure(serial.ulps),
                figure(pairwise.ulps),
                Order::Serial.depth(orders.count).unwrap_or(0),
                Order::Pairwise.depth(orders.count).unwrap_or(0),
            ));
        } else if serial.error == 0.0 && pairwise.error == 0.0 {
            lessons.push("these values add up without rounding: the order does not matter".to_owned());
        }
    }
    if orders.condition > 100.0 {
        let digits = if orders.condition.is_finite() {
            format!("{} times", figure(orders.condition))
        } else {
            "without bound".to_owned()
        };
        lessons.push(format!(
            "the values cancel: relative errors of the sum are larger than those of the values, {digits}; only a wider format or a compensated sum helps"
        ));
    }
    if orders.shuffles > 1 {
        if orders.distinct > 1 {
            let ulps = (orders.spread.1 - orders.spread.0) / orders.format.ulp_of(orders.exact);
            lessons.push(format!(
                "{} random orders give {} different sums, {} ULP from the smallest to the largest: what atomic additions vary by from run to run",
                orders.shuffles,
                orders.distinct,
                figure(ulps),
            ));
        } else {
            lessons.push(format!(
                "all of {} random orders give the same sum",
                orders.shuffles
            ));
        }
    }
    if let (Some(kahan), Some(neumaier)) = (of(Order::Kahan), of(Order::Neumaier))
        && neumaier.ulps + 1.0 < kahan.ulps
    {
        lessons.push(
            "Kahan's sum fails where a value is larger than the sum so far; Neumaier's does not"
                .to_owned(),
        );
    }
    lessons
}

#[cfg(test)]
mod tests {
    use super::super::compare_orders;
    use super::*;

    fn subject(shape: &[usize]) -> Subject<'_> {
        Subject {
            operation: "gemm",
            tensors: Vec::new(),
            output: Format::Bf16,
            shape,
            accumulated_in: Format::F32,
            length: 4096,
            noise: "",
            terms: Terms {
                u_acc: 0.0,
                c: 4.0,
            },
        }
    }

    #[test]
    fn verdicts_read_as_sentences() {
        let worst = Element {
            index: 0,
            value: 1.0,
            reference: 1.01,
            tolerance: 0.02,
            ratio: 0.5,
            ulps: 2.1,
        };
        let right = Check {
            elements: 100,
            max_ulp: 2.1,
            worst: Some(worst),
            ..Check::default()
        };
        let say = |check: &Check| CheckDocument::of(check, subject(&[64, 4096]), "0").sentence;
        assert_eq!(
            say(&right),
            "within rounding of gemm of length 4096 in f32, written as bf16; worst 2.10 ULP, 0.500 of what is allowed there"
        );
        let tail = Check {
            elements: 262_144,
            failing: 1024,
            proven_wrong: 1024,
            failing_within: vec![(0, 63), (4080, 4095)],
            ..Check::default()
        };
        assert_eq!(
            say(&tail),
            "not rounding of gemm of length 4096 in f32: 0.391 % of elements wrong (1024 of 262144), all within [:, 4080-4095]"
        );
        let coarse = Check {
            proven_wrong: 0,
            failing_within: vec![(0, 63), (0, 4095)],
            ..tail
        };
        assert!(say(&coarse).ends_with("a format with less precision is likely"));
        assert!(say(&Check::default()).contains("no elements"));
    }

    #[test]
    fn lessons_follow_from_the_figures() {
        let values: Vec<f64> = (1..=4096).map(|index| 1.0 / f64::from(index)).collect();
        let orders = compare_orders(&values, Format::F32, 8).unwrap();
        let lessons = lessons(&orders);
        assert!(lessons[0].contains("4095 roundings in the one and 12 in the other"), "{lessons:?}");
        assert!(lessons[1].starts_with("8 random orders give"));
        let exact = compare_orders(&[1.0, 2.0, 4.0], Format::F32, 3).unwrap();
        assert_eq!(
            super::lessons(&exact),
            [
                "these values add up without rounding: the order does not matter",
                "all of 3 random orders give the same sum"
            ]
        );
        let cancelling = compare_orders(&[1.0, 1e30, 1.0, -1e30], Format::F64, 0).unwrap();
        let lessons = super::lessons(&cancelling).join("\n");
        assert!(lessons.contains("cancel") && lessons.contains("Neumaier"));
    }
}
