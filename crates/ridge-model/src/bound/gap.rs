//! How far a measured time is from its bound, and how to read that.

use schemars::JsonSchema;
use serde::Serialize;

use crate::quantity::{Factor, Nanos, Ratio};

/// Up to this many times the bound, a kernel is good: what is left is mostly what no program reaches, since memory
/// delivers about 90 % of the sheet's bandwidth and tensor units about 80 % of the sheet's peak.
pub const GOOD: f64 = 1.5;
/// From this many times the bound on, the cause is coarse, and tuning instructions is too early.
pub const FAR: f64 = 5.0;
/// Below this, a time contradicts its bound; the table's rates themselves are right within two percent.
const CONTRADICTION: f64 = 0.98;

/// A measured time over its bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    ratio: Ratio,
}

/// How to read a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// Faster than the bound: one of the numbers is not what it seems.
    BelowBound,
    /// Up to 1.5 times the bound.
    Good,
    /// Between 1.5 and 5 times the bound.
    Room,
    /// Five times the bound and more.
    Far,
}

impl Gap {
    /// The gap of a measured time.
    #[must_use]
    pub fn of(time: Nanos, bound: Nanos) -> Self {
        Self {
            ratio: time / bound,
        }
    }

    /// How many times the bound the time is.
    #[must_use]
    pub const fn ratio(self) -> Ratio {
        self.ratio
    }

    /// The same for people, such as `1.43x`.
    #[must_use]
    pub const fn factor(self) -> Factor {
        self.ratio.factor()
    }

    /// How to read it.
    #[must_use]
    pub fn reading(self) -> Reading {
        let factor = self.ratio.get();
        if factor < CONTRADICTION {
            Reading::BelowBound
        } else if factor <= GOOD {
            Reading::Good
        } else if factor < FAR {
            Reading::Room
        } else {
            Reading::Far
        }
    }
}

impl Reading {
    /// What it means and what to do.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::BelowBound => {
                "faster than the bound, so one of the numbers is wrong: look for data that stayed in a cache, bytes or \
                 operations counted too high, another number format or sparsity, a higher clock, or work left out"
            }
            Self::Good => "good: up to 1.5x is what well-tuned kernels reach",
            Self::Room => {
                "there is room: between 1.5x and 5x, let `ridge why` find what limits it before you change anything"
            }
            Self::Far => {
                "far: from 5x on, look at the access pattern and the occupancy first, not at single instructions"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_change_at_the_stated_factors() {
        let reading = |time| Gap::of(Nanos::new(time), Nanos::new(100.0)).reading();
        assert_eq!(reading(97.0), Reading::BelowBound);
        assert_eq!(reading(99.0), Reading::Good);
        assert_eq!(reading(150.0), Reading::Good);
        assert_eq!(reading(151.0), Reading::Room);
        assert_eq!(reading(499.0), Reading::Room);
        assert_eq!(reading(500.0), Reading::Far);
    }
}
