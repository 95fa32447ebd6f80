//! Pipes of a multiprocessor.
//!
//! Lanes are results a cycle and SM: a warp instruction keeps a pipe of 32 lanes busy for one cycle.

use super::{ComputeCapability, Figure, Source};

/// What the pipes of a multiprocessor can do in a cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Execution {
    /// Single-precision lanes: fused multiply-adds.
    pub fp32_lanes: Option<Figure>,
    /// Double-precision lanes.
    pub fp64_lanes: Option<Figure>,
    /// Lanes for 32-bit integer multiply-add.
    pub integer_multiply_lanes: Option<Figure>,
    /// Lanes of the pipe for integer addition, comparison and logic. Absent on 12.x, where the throughput table gives
    /// twice as many additions as logic operations and does not say which pipe takes the other half.
    pub alu_lanes: Option<Figure>,
    /// Special-function lanes.
    pub xu_lanes: Option<Figure>,
    /// Lanes for packed 16-bit arithmetic; each lane works on two values.
    pub half_lanes: Option<Figure>,
    /// Where packed 16-bit arithmetic runs.
    pub half_path: HalfPath,
    /// Lanes of the matrix pipe for packed 16-bit arithmetic that the compiler places there (`HFMA2.MMA`).
    pub half_on_tensor_lanes: Option<Figure>,
    /// Lanes of the uniform datapath: warp instructions a cycle and scheduler, as lanes of a warp.
    pub uniform_lanes: Option<Figure>,
    /// Whether the single-precision pipe has two halves, of which only the heavy one multiplies integers.
    pub has_split_fma: bool,
    /// Warp instructions that enter the load/store unit.
    pub lsu_instructions: Option<Figure>,
}

/// Where packed 16-bit arithmetic runs: what the vendor's engineers say of GV100, GA100, GA10x and GH100 in their forum
/// (forums.developer.nvidia.com, topics 108729 and 302018), and percentages of one H200.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HalfPath {
    /// On a pipe of its own.
    OwnPipe,
    /// On both halves of the single-precision pipe at once; on 9.0 also on the matrix pipe, where the compiler says so.
    BothHalves,
    /// The rate may be known, the pipe is not.
    Unknown,
}

/// The figures that the throughput table has for every capability it lists.
struct Listed {
    fp32: f64,
    fp64: f64,
    half: f64,
}

impl Listed {
    /// Integer multiply-add has 64 lanes and special functions 16 in every column from 7.x on; a warp shuffle, which
    /// passes the load/store unit, has 32: one instruction a cycle.
    const fn execution(self, half_path: HalfPath, has_split_fma: bool) -> Execution {
        const fn table(value: f64) -> Option<Figure> {
            Figure::new(value, Source::ThroughputTable)
        }
        Execution {
            fp32_lanes: table(self.fp32),
            fp64_lanes: table(self.fp64),
            integer_multiply_lanes: table(64.0),
            alu_lanes: table(64.0),
            xu_lanes: table(16.0),
            half_lanes: table(self.half),
            half_path,
            half_on_tensor_lanes: None,
            uniform_lanes: None,
            has_split_fma,
            lsu_instructions: table(1.0),
        }
    }
}

/// Nothing but what is said otherwise.
const NOTHING: Execution = Execution {
    fp32_lanes: None,
    fp64_lanes: None,
    integer_multiply_lanes: None,
    alu_lanes: None,
    xu_lanes: None,
    half_lanes: None,
    half_path: HalfPath::Unknown,
    half_on_tensor_lanes: None,
    uniform_lanes: None,
    has_split_fma: true,
    lsu_instructions: None,
};

impl Execution {
    /// The figures of a compute capability.
    pub(super) fn of(capability: ComputeCapability) -> Option<Self> {
        let listed = |fp32, fp64, half| Listed { fp32, fp64, half };
        let (whole, split) = (false, true);
        Some(match (capability.major, capability.minor) {
            (7, 0 | 2) => listed(64.0, 32.0, 64.0).execution(HalfPath::OwnPipe, whole),
            (7, 5) => listed(64.0, 2.0, 64.0).execution(HalfPath::OwnPipe, whole),
            (8, 0) => Self {
                half_lanes: Figure::new(128.0, Source::StoredPeak),
                ..listed(64.0, 32.0, 128.0).execution(HalfPath::OwnPipe, whole)
            },
            (8, 6 | 9) => listed(128.0, 2.0, 64.0).execution(HalfPath::BothHalves, split),
            // Not in the throughput table: 2048 lanes on 16 SMs by the data sheet, the others by measurement.
            (8, 7) => Self {
                fp32_lanes: Figure::new(128.0, Source::DataSheet),
                fp64_lanes: Figure::new(2.0, Source::PublishedMeasurement),
                integer_multiply_lanes: Figure::new(64.0, Source::PublishedMeasurement),
                ..NOTHING
            },
            (9, 0) => Self {
                fp32_lanes: Figure::new(128.0, Source::StoredPeak),
                fp64_lanes: Figure::new(64.0, Source::StoredPeak),
                half_lanes: Figure::new(128.0, Source::StoredPeak),
                half_on_tensor_lanes: Figure::new(64.0, Source::FittedOnH200),
                uniform_lanes: Figure::new(64.0, Source::FittedOnH200),
                lsu_instructions: Figure::new(1.0, Source::FittedOnH200),
                ..listed(128.0, 64.0, 128.0).execution(HalfPath::BothHalves, split)
            },
            (10, 0) => listed(128.0, 64.0, 64.0).execution(HalfPath::Unknown, split),
            // Special functions were widened and other units cut by amounts that are not published.
            (10, 3) => Self {
                xu_lanes: None,
                half_lanes: None,
                ..listed(128.0, 2.0, 64.0).execution(HalfPath::Unknown, split)
            },
            // 2560 lanes on 20 SMs.
            (11, 0) => Self {
                fp32_lanes: Figure::new(128.0, Source::DataSheet),
                ..NOTHING
            },
            (12, 0 | 1) => Self {
                alu_lanes: None,
                ..listed(128.0, 2.0, 64.0).execution(HalfPath::Unknown, split)
            },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = (ComputeCapability, Execution)> {
        ComputeCapability::KNOWN
            .into_iter()
            .filter_map(|capability| Some((capability, Execution::of(capability)?)))
    }

    #[test]
    fn the_heavy_half_is_half_of_a_split_pipe() {
        for (capability, execution) in all() {
            let (Some(fp32), Some(integer)) =
                (execution.fp32_lanes, execution.integer_multiply_lanes)
            else {
                continue;
            };
            let halves = if execution.has_split_fma { 2.0 } else { 1.0 };
            assert!(
                (integer.value * halves - fp32.value).abs() < f64::EPSILON,
                "{capability}"
            );
        }
    }

    /// Both places together make the rate that reports store and the throughput table gives for 9.0.
    #[test]
    fn half_arithmetic_of_9_0_runs_in_two_places() {
        let hopper = Execution::of(ComputeCapability::new(9, 0)).expect("9.0 is known");
        let halves = hopper.fp32_lanes.expect("9.0 is listed").value / 2.0;
        let matrix = hopper.half_on_tensor_lanes.expect("9.0 was measured").value;
        assert!((halves + matrix - hopper.half_lanes.expect("9.0 is listed").value).abs() < 1e-9);
    }

    #[test]
    fn only_one_capability_has_figures_that_were_fitted_to_it() {
        for (capability, execution) in all() {
            let is_fitted = [
                execution.half_on_tensor_lanes,
                execution.uniform_lanes,
                execution.lsu_instructions,
            ]
            .into_iter()
            .flatten()
            .any(|figure| figure.source == Source::FittedOnH200);
            assert_eq!(
                is_fitted,
                capability == ComputeCapability::new(9, 0),
                "{capability}"
            );
        }
    }
}
