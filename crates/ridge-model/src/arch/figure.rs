//! A figure and where it comes from.

/// Where a figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// The vendor's table of arithmetic throughput.
    ThroughputTable,
    /// The vendor's table of technical specifications by compute capability.
    SpecificationTable,
    /// Operations a cycle and SM behind the peaks of the vendor's data sheets: the sheet's peak over SMs and clock.
    DataSheet,
    /// Peaks that the profiler itself stores with its counters, read from reports of that compute capability.
    StoredPeak,
    /// Fitted to counters and percentages of one H200, or their exact quotient; see `docs/design/ledger.md`.
    FittedOnH200,
    /// A published measurement by others, with loops of one instruction.
    PublishedMeasurement,
    /// A published measurement by others, with loads of which each gives the address of the next.
    PointerChase,
}

impl Source {
    /// What to look up.
    #[must_use]
    pub fn citation(self) -> &'static str {
        match self {
            Self::ThroughputTable => {
                "CUDA C++ programming guide, and from 13.0 on the best practices guide: \
                 throughput of native arithmetic instructions"
            }
            Self::SpecificationTable => {
                "CUDA programming guide, December 2025, and the edition of CUDA 12 for 7.0 and 7.2: compute \
                 capabilities, technical specifications"
            }
            Self::DataSheet => "data sheets and white papers of the boards of this capability",
            Self::StoredPeak => "peak_sustained in Nsight Compute reports of A100 and H200",
            Self::FittedOnH200 => "counters against percentages of one H200, docs/design/ledger.md",
            Self::PublishedMeasurement => {
                "published microbenchmarks: Accel-sim tuner on Orin and GA10x, matrix loops on a 12.0 board"
            }
            Self::PointerChase => {
                "gpu-benches, latency sweep on V100, A100 80 GB, L40 and H100 PCIe"
            }
        }
    }
}

/// A figure with its source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The value, in the unit that the field names.
    pub value: f64,
    /// Where it comes from.
    pub source: Source,
}

impl Figure {
    pub(crate) const fn new(value: f64, source: Source) -> Option<Self> {
        Some(Self { value, source })
    }
}
