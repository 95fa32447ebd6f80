//! What is likely behind elements that vary.

use super::Variation;
use crate::format::Format;

/// What is likely behind elements that vary from run to run. It is a guess from sizes and places: what proves it is another tool's
/// work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Nothing varies.
    None,
    /// Sums in another order: differences of the size of rounding.
    Rounding,
    /// The same elements in other places, as where threads take the next free place of an output.
    Order,
    /// Few elements, far apart: a value was read before or after it was written.
    Race,
    /// NaN, infinities, subnormal or huge numbers in some runs: memory that nothing was written to.
    Uninitialized,
    /// Nearly everything differs, and by much: the runs did not compute the same.
    Inputs,
    /// None of these fits.
    Unclear,
}

impl Cause {
    /// Its name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Rounding => "rounding-order",
            Self::Order => "element-order",
            Self::Race => "race",
            Self::Uninitialized => "uninitialized-memory",
            Self::Inputs => "other-inputs",
            Self::Unclear => "unclear",
        }
    }
}

/// Up to so many u, beside the size of the output, a difference is one of rounding where sums are taken in the format itself: a
/// random walk of a million roundings.
const OF_SUMS: f64 = 1024.0;
/// So many u are two steps of the format: what a sum that is taken in a wider format and rounded once can vary by.
const OF_ONE_ROUNDING: f64 = 4.0;
/// Formats with so many bits of mantissa are what sums are taken in.
const ACCUMULATED_IN: u32 = 23;
/// From this share on nearly everything varies.
const NEARLY_ALL: f64 = 0.9;
/// Differences this large beside the whole output are no rounding.
const MUCH: f64 = 0.1;
/// Up to this share elements that vary are few.
const FEW: f64 = 0.05;

pub(super) fn of(variation: &Variation, format: Format) -> Cause {
    if variation.varying == 0 {
        return Cause::None;
    }
    let share = variation.varying as f64 / variation.elements.max(1) as f64;
    if variation.not_finite > 0 || variation.implausible > 0 {
        // A subnormal number may also be the rest of a sum that cancels.
        let is_rest = variation.not_finite == 0 && is_rounding(variation, format);
        return if is_rest {
            Cause::Rounding
        } else {
            Cause::Uninitialized
        };
    }
    if variation.is_reordered {
        return Cause::Order;
    }
    if is_rounding(variation, format) {
        return Cause::Rounding;
    }
    if share >= NEARLY_ALL && variation.relative_l2 >= MUCH {
        return Cause::Inputs;
    }
    if share <= FEW {
        return Cause::Race;
    }
    Cause::Unclear
}

fn is_rounding(variation: &Variation, format: Format) -> bool {
    let (Some(u), Some(layout)) = (format.unit_roundoff(), format.layout()) else {
        // Sums of integers do not depend on their order.
        return false;
    };
    let limit = if layout.mantissa >= ACCUMULATED_IN {
        OF_SUMS
    } else {
        OF_ONE_ROUNDING
    };
    variation.not_finite == 0 && variation.max_relative <= limit * u
}
