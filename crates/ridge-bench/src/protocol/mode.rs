//! What a time is of.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a time is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// One launch with nothing of its own in the L2.
    Cold,
    /// One launch again and again on the same buffers.
    Hot,
    /// Many launches between two events, over their number.
    Batch,
    /// One launch and the wait for it, as the host sees it.
    Latency,
    /// Launches in a graph: what one more costs.
    Graph,
}

impl Mode {
    /// All modes, in the order in which they are measured and shown.
    pub const ALL: [Self; 5] = [
        Self::Cold,
        Self::Hot,
        Self::Batch,
        Self::Latency,
        Self::Graph,
    ];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Hot => "hot",
            Self::Batch => "batch",
            Self::Latency => "latency",
            Self::Graph => "graph",
        }
    }

    /// What its time is of, in a sentence.
    #[must_use]
    pub const fn explanation(self) -> &'static str {
        match self {
            Self::Cold => {
                "one launch with nothing of its own in the L2: every byte comes from device memory"
            }
            Self::Hot => {
                "one launch again and again on the same buffers: what fits into the L2 stays there"
            }
            Self::Batch => {
                "launches one behind the other without waiting, over their number: the gap between two launches is in it, \
                 and starts and ends may overlap"
            }
            Self::Latency => {
                "one launch and the wait for it, as the host sees it: launch and wait are in it"
            }
            Self::Graph => {
                "what one more launch in a CUDA graph costs: the start of the graph is not in it"
            }
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
