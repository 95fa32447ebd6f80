//! What outputs may differ by.

use ridge_numerics::measure::Limits;
use ridge_numerics::tolerance::{Computation, Tolerance, ToleranceError};

use super::Rule;
use crate::spec::ElementType;

/// The share that elements of a type may differ by when nothing is said: about what the units of others allow
/// (`docs/reference/bench-spec.md`), which is some roundings of a sum that is not long.
pub(super) const fn usual(kind: ElementType) -> f64 {
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

/// Differences that elements of one output may have.
pub(super) struct Allowed {
    pub(super) elements: Tolerance,
    /// What the norm of the differences may be, as a share of that of the right elements.
    pub(super) norm: Option<f64>,
    /// In words.
    pub(super) text: String,
}

impl Allowed {
    /// `root_mean_square` is that of the right elements. `is_reference_rounded`: they have the type of the output.
    pub(super) fn of(
        rule: &Rule,
        kind: ElementType,
        root_mean_square: f64,
        is_reference_rounded: bool,
    ) -> Result<Self, ToleranceError> {
        let (own, mut parts) = limits(rule, kind, root_mean_square);
        let computation = Computation {
            reduction: rule.reduction,
            accumulate: rule.accumulate,
            preset: rule.preset,
            own,
            is_reference_rounded,
            reference_rms: Some(root_mean_square),
            ..Computation::default()
        };
        let elements = Tolerance::new(kind.format(), &computation)?;
        if own.is_none() {
            parts.push(elements.name.clone());
        }
        if let Some(norm) = rule.norm {
            parts.push(format!("norm {norm:e}"));
        }
        Ok(Self {
            elements,
            norm: rule.norm,
            text: parts.join(", "),
        })
    }
}

/// The limits that are given or usual, with their words; none where they follow from the computation.
fn limits(rule: &Rule, kind: ElementType, root_mean_square: f64) -> (Option<Limits>, Vec<String>) {
    if rule.relative.is_some() || rule.absolute.is_some() {
        let (relative, absolute) = (rule.relative.unwrap_or(0.0), rule.absolute.unwrap_or(0.0));
        let own = Limits {
            relative,
            absolute,
            ..Limits::default()
        };
        if relative == 0.0 && absolute == 0.0 {
            return (Some(own), vec!["none: equal".to_owned()]);
        }
        let relative = rule.relative.map(|share| format!("relative {share:e}"));
        let absolute = rule.absolute.map(|most| format!("absolute {most:e}"));
        return (Some(own), relative.into_iter().chain(absolute).collect());
    }
    if rule.reduction.is_some() || rule.preset.is_some() || rule.accumulate.is_some() {
        return (None, Vec::new());
    }
    if rule.norm.is_some() {
        // Elements are not judged one by one.
        let any = Limits {
            absolute: f64::INFINITY,
            ..Limits::default()
        };
        return (Some(any), Vec::new());
    }
    let share = usual(kind);
    let own = Limits {
        relative: share,
        absolute: share * root_mean_square,
        ..Limits::default()
    };
    let text = if share > 0.0 {
        format!("{share:e} of the element and of the root mean square (usual for {kind})")
    } else {
        "none: equal".to_owned()
    };
    (Some(own), vec![text])
}
