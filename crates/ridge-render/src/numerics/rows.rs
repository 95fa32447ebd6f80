//! Measures as rows of a table, the same for every format.

use ridge_numerics::format::Format;
use ridge_numerics::measure::{Element, Measures, Number, Peak, Special};
use ridge_numerics::words::{figures, grouped, percent};

/// A measure, its value, and what else is to be said of it.
pub(super) struct Row {
    pub(super) what: &'static str,
    pub(super) value: String,
    pub(super) about: String,
}

fn row(what: &'static str, value: impl Into<String>, about: impl Into<String>) -> Row {
    Row {
        what,
        value: value.into(),
        about: about.into(),
    }
}

/// What is not known has a dash, in ASCII as well.
fn or_dash(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), figures)
}

pub(super) fn index(places: &[u64]) -> String {
    let places: Vec<String> = places.iter().map(u64::to_string).collect();
    format!("[{}]", places.join(", "))
}

fn at(peak: Option<&Peak>) -> String {
    peak.filter(|peak| peak.value > 0.0)
        .map_or_else(String::new, |peak| format!("at {}", index(&peak.index)))
}

fn share(count: u64, of: u64) -> String {
    if of == 0 {
        return String::new();
    }
    percent(count as f64 / of as f64)
}

/// The measures, those that people ask for first first. `is_verbose`: also those that say nothing here.
pub(super) fn rows(measures: &Measures, is_verbose: bool) -> Vec<Row> {
    let value = |peak: &Option<Peak>| or_dash(peak.as_ref().map(|peak| peak.value));
    let ulps = &measures.ulps;
    let bias = &measures.bias;
    let mut rows = vec![
        row("elements", grouped(measures.elements), ""),
        row(
            "equal",
            grouped(measures.equal),
            share(measures.equal, measures.elements),
        ),
        row(
            "beyond the tolerance",
            grouped(measures.failing),
            share(measures.failing, measures.elements),
        ),
        row("ULP, largest", value(&ulps.peak), at(ulps.peak.as_ref())),
        row(
            "ULP, p50 and p99",
            format!("{}, {}", or_dash(ulps.p50), or_dash(ulps.p99)),
            if ulps.p99.is_some_and(|p99| p99 > 32.0) {
                "up to 1/16 more"
            } else {
                ""
            },
        ),
        row(
            "ULP of the largest element",
            or_dash(ulps.at_largest),
            "the largest absolute error in them",
        ),
        row(
            "absolute error, largest",
            value(&measures.absolute),
            at(measures.absolute.as_ref()),
        ),
        row(
            "relative error, largest",
            value(&measures.relative),
            at(measures.relative.as_ref()),
        ),
        row("relative L2", or_dash(measures.relative_l2), ""),
        row(
            "relative maximum norm",
            or_dash(measures.max_norm_relative),
            "",
        ),
        row("1 - cosine", or_dash(measures.one_minus_cosine), ""),
        row(
            "mean error",
            or_dash(bias.mean_error),
            bias.standard_error
                .map_or_else(String::new, |error| format!("± {}", figures(error))),
        ),
    ];
    let non_finite = &measures.non_finite;
    let counts = [
        ("sign flips", measures.sign_flips, ""),
        ("above the reference", bias.above, ""),
        ("below the reference", bias.below, ""),
        ("further from 0 than it", bias.outward, ""),
        ("nearer to 0 than it", bias.inward, ""),
        ("NaN in the output alone", non_finite.nan_extra, ""),
        ("NaN in the reference alone", non_finite.nan_missing, ""),
        ("NaN in both", non_finite.nan_both, "count as equal"),
        (
            "infinite in the output alone",
            non_finite.infinite_extra,
            "",
        ),
        (
            "infinite in the reference alone",
            non_finite.infinite_missing,
            "",
        ),
        ("infinities of opposite signs", non_finite.infinite_sign, ""),
        (
            "the same infinity",
            non_finite.infinite_both,
            "count as equal",
        ),
        (
            "too large for the output, saturated",
            non_finite.overflow_saturated,
            "count as equal",
        ),
        (
            "too large for the output, not finite",
            non_finite.overflow_converted,
            "count as equal",
        ),
        ("subnormal numbers", measures.subnormals.reference, ""),
        (
            "subnormal numbers that became 0",
            measures.subnormals.lost,
            "",
        ),
    ];
    for (what, count, about) in counts {
        let is_of_sides =
            what.contains(" the reference") && !what.contains("alone") || what.ends_with("than it");
        if is_verbose || (count > 0 && !is_of_sides) {
            let about = if about.is_empty() {
                share(count, measures.elements)
            } else {
                about.to_owned()
            };
            rows.push(row(what, grouped(count), about));
        }
    }
    rows
}

/// Figures that tell neighbouring numbers of a format apart.
pub(super) fn digits(format: &str) -> usize {
    let bits = format
        .parse::<Format>()
        .ok()
        .and_then(Format::layout)
        .map_or(20, |layout| layout.mantissa + 1);
    2 + (f64::from(bits) * std::f64::consts::LOG10_2) as usize
}

/// A value of an element.
pub(super) fn number(value: Number, digits: usize) -> String {
    match value {
        Number::Finite(0.0) => "0".to_owned(),
        Number::Finite(value) if (1e-4..1e9).contains(&value.abs()) => {
            let before = value.abs().log10().floor() as i32 + 1;
            let decimals = usize::try_from(digits as i32 - before).unwrap_or(0);
            let text = format!("{value:.decimals$}");
            if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            } else {
                text
            }
        }
        Number::Finite(value) => format!("{value:.*e}", digits.saturating_sub(1)),
        Number::Special(Special::Nan) => "NaN".to_owned(),
        Number::Special(Special::Infinity) => "inf".to_owned(),
        Number::Special(Special::NegativeInfinity) => "-inf".to_owned(),
    }
}

/// Headers of the table of elements.
pub(super) const ELEMENT: [&str; 7] = [
    "element",
    "reference",
    "output",
    "ULP",
    "tolerances",
    "before it",
    "after it",
];

/// Figures of neighbours, which are there for their size.
const NEIGHBOUR: usize = 4;

/// An element as a row. Neighbours are reference and output.
pub(super) fn element(element: &Element, digits: usize) -> [String; 7] {
    let neighbour = |offset: i8| {
        element
            .neighbours
            .iter()
            .find(|neighbour| neighbour.offset == offset)
            .map_or_else(String::new, |neighbour| {
                format!(
                    "{} : {}",
                    number(neighbour.reference, digits.min(NEIGHBOUR)),
                    number(neighbour.output, digits.min(NEIGHBOUR))
                )
            })
    };
    [
        index(&element.index),
        number(element.reference, digits),
        number(element.output, digits),
        or_dash(element.ulps),
        or_dash(element.times_tolerance),
        neighbour(-1),
        neighbour(1),
    ]
}

/// Bounds of the bins that are shown; beyond the last they grow by the factor.
const BOUNDS: [f64; 7] = [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0];
const GROWTH: f64 = 16.0;

/// Elements by the size of their errors: bound, count, share. Sizes that no error has are left out.
pub(super) fn sizes(measures: &Measures) -> Vec<(String, u64, f64)> {
    let total: u64 = measures.ulps.histogram.iter().map(|bin| bin.count).sum();
    let mut bounds = BOUNDS.into_iter();
    let mut bound = bounds.next().unwrap_or(0.0);
    let mut sizes: Vec<(f64, u64)> = Vec::new();
    for bin in measures.ulps.histogram.iter().filter(|bin| bin.count > 0) {
        while bound < bin.up_to {
            bound = bounds.next().unwrap_or(bound * GROWTH);
        }
        match sizes.last_mut() {
            Some((last, count)) if last.total_cmp(&bound).is_eq() => *count += bin.count,
            _ => sizes.push((bound, bin.count)),
        }
    }
    sizes
        .into_iter()
        .map(|(bound, count)| {
            let name = if bound <= 0.0 {
                "0".to_owned()
            } else {
                format!("up to {}", figures(bound))
            };
            (name, count, count as f64 / total.max(1) as f64)
        })
        .collect()
}
