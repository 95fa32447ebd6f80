//! The words of a comparison.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a comparison comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The interval of the ratio lies within the margin.
    Same,
    /// The interval lies below the band: the later one takes less time.
    Faster,
    /// The interval lies above the band: the later one takes more time.
    Slower,
    /// None of these, or too little to go by.
    Ambiguous,
    /// The times may not be compared: one of them is not valid, or they are not of the same work.
    Invalid,
}

impl Verdict {
    /// The word that people read.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Same => "SAME",
            Self::Faster => "FASTER",
            Self::Slower => "SLOWER",
            Self::Ambiguous => "AMBIGUOUS",
            Self::Invalid => "INVALID",
        }
    }

    /// How much it decides among several: the worst one is what the whole comes to. INVALID before SLOWER before AMBIGUOUS;
    /// FASTER and SAME are fine.
    #[must_use]
    pub const fn weight(self) -> u8 {
        match self {
            Self::Same => 0,
            Self::Faster => 1,
            Self::Ambiguous => 2,
            Self::Slower => 3,
            Self::Invalid => 4,
        }
    }

    /// The worst of several; absent of none.
    pub fn worst(verdicts: impl IntoIterator<Item = Self>) -> Option<Self> {
        verdicts.into_iter().max_by_key(|verdict| verdict.weight())
    }
}

impl From<ridge_stats::Verdict> for Verdict {
    fn from(verdict: ridge_stats::Verdict) -> Self {
        match verdict {
            ridge_stats::Verdict::Same => Self::Same,
            ridge_stats::Verdict::Faster => Self::Faster,
            ridge_stats::Verdict::Slower => Self::Slower,
            ridge_stats::Verdict::CannotTell => Self::Ambiguous,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_decides() {
        use Verdict::{Ambiguous, Faster, Invalid, Same, Slower};
        assert_eq!(Verdict::worst([]), None);
        assert_eq!(Verdict::worst([Same, Faster, Same]), Some(Faster));
        assert_eq!(Verdict::worst([Same, Ambiguous, Faster]), Some(Ambiguous));
        assert_eq!(Verdict::worst([Slower, Ambiguous]), Some(Slower));
        assert_eq!(Verdict::worst([Slower, Invalid, Same]), Some(Invalid));
    }
}
