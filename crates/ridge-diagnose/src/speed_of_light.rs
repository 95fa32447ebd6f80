//! First layer: how far from the limit? The profiler's own Speed Of Light percentages, read member by member.
//!
//! The compute and memory values are each the largest of a list of members that the report names. A member tells the
//! unit, which the value alone does not: "72 % compute" may be the address divergence unit and no arithmetic at all.

use ncu_rep::Metrics;

use crate::ledger::Resource;

const COMPUTE: &str = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
const MEMORY: &str = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
const SUFFIX: &str = ".avg.pct_of_peak_sustained_elapsed";

/// The Speed Of Light of a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpeedOfLight {
    /// Compute value as a share, 0 to 1.
    pub compute: Option<f64>,
    /// Memory value as a share, 0 to 1.
    pub memory: Option<f64>,
    /// Members of both, largest first.
    pub members: Vec<Member>,
}

/// One member of a Speed Of Light value.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The metric.
    pub metric: String,
    /// The resource that the unit belongs to; absent for units that the profiler does not itemise.
    pub resource: Option<Resource>,
    /// Share of the unit's peak, 0 to 1.
    pub share: f64,
}

/// Exports print two decimals of a percentage.
const ROUNDING: f64 = 0.0001;

impl SpeedOfLight {
    /// Reads the values and their members.
    #[must_use]
    pub fn new(metrics: &Metrics<'_>) -> Self {
        let share = |name: &str| share_of(metrics.number(name)?);
        let mut members: Vec<Member> = Vec::new();
        let mut add = |name: &str| {
            if let Some(share) = share(name)
                && !members.iter().any(|member| member.metric == name)
            {
                members.push(Member {
                    metric: name.to_owned(),
                    resource: resource_of(name),
                    share,
                });
            }
        };
        let lists: Vec<&str> = [COMPUTE, MEMORY]
            .iter()
            .filter_map(|value| metrics.text(&format!("breakdown:{value}")))
            .collect();
        if lists.is_empty() {
            // Exports drop the lists but keep the members, and some keep only the value of each level.
            let named = metrics.iter().map(|metric| metric.name);
            named
                .filter(|name| name.ends_with(SUFFIX) && resource_of(name).is_some())
                .for_each(&mut add);
        }
        lists
            .iter()
            .flat_map(|list| list.split(','))
            .for_each(&mut add);
        if lists.is_empty() {
            members.extend(l1_of_active_cycles(metrics, share(MEMORY)));
            // No member is above the value that it is a member of. What is above both belongs to neither, such as
            // `lts__throughput`, which counts more of the L2 than the memory value does.
            if let Some(value) = share(COMPUTE)
                .into_iter()
                .chain(share(MEMORY))
                .reduce(f64::max)
            {
                members.retain(|member| member.share <= value + ROUNDING);
            }
        }
        members.sort_by(|a, b| b.share.total_cmp(&a.share));
        Self {
            compute: share(COMPUTE),
            memory: share(MEMORY),
            members,
        }
    }

    /// The largest member whose unit is known.
    #[must_use]
    pub fn busiest(&self) -> Option<(&Member, Resource)> {
        self.members
            .iter()
            .find_map(|member| Some((member, member.resource?)))
    }
}

/// The share that a percentage of a peak is; absent where it cannot be one. Differences of counters of two passes leave dust
/// below zero, and units run a little above their peak.
fn share_of(percent: f64) -> Option<f64> {
    const MOST: f64 = 10.0;
    let share = percent / 100.0;
    (-ROUNDING..=MOST)
        .contains(&share)
        .then_some(share.max(0.0))
}

/// The basic set keeps the L1 value over active cycles only. It is above that over all cycles, and so above what the L1
/// adds to the memory value: the smaller of the two is what the L1 can be busy.
fn l1_of_active_cycles(metrics: &Metrics<'_>, memory: Option<f64>) -> Option<Member> {
    const METRIC: &str = "l1tex__throughput.avg.pct_of_peak_sustained_active";
    let share = share_of(metrics.number(METRIC)?)?;
    Some(Member {
        metric: METRIC.to_owned(),
        resource: Some(Resource::L1),
        share: share.min(memory?),
    })
}

/// The resource that a member of a breakdown list stands for.
///
/// The address divergence unit (`sm__inst_executed_pipe_adu`) has none: it serves barriers and indexed constants.
fn resource_of(metric: &str) -> Option<Resource> {
    let name = metric.strip_suffix(SUFFIX).unwrap_or(metric);
    Some(match name {
        "lts__d_atomic_input_cycles_active" => Resource::AtomicL2,
        "idc__request_cycles_active" => Resource::Constant,
        // The value of a whole level stands in for its members where they were not collected.
        "gpu__dram_throughput" => Resource::Dram,
        "sm__issue_active" | "sm__inst_executed" | "sm__inst_executed_pipe_cbu_pred_on_any" => {
            Resource::Issue
        }
        "sm__inst_executed_pipe_xu" => Resource::Xu,
        "sm__inst_executed_pipe_uniform" => Resource::Uniform,
        "sm__inst_executed_pipe_fp16" | "sm__inst_executed_pipe_fma_type_fp16" => Resource::Fp16,
        "sm__inst_executed_pipe_lsu" => Resource::L1,
        _ if name.starts_with("sm__pipe_fma") => Resource::Fma,
        _ if name.starts_with("sm__pipe_alu") => Resource::Alu,
        _ if name.starts_with("sm__pipe_fp64") => Resource::Fp64,
        _ if name.starts_with("sm__pipe_tensor") => Resource::Tensor,
        _ if name.starts_with("sm__mio") => Resource::L1,
        _ if name.starts_with("dram__") || name.starts_with("fbpa__") => Resource::Dram,
        _ if name.starts_with("lts__") => Resource::L2,
        _ if name.starts_with("l1tex__") => Resource::L1,
        _ => return None,
    })
}
