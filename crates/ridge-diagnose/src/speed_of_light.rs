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

impl SpeedOfLight {
    /// Reads the values and their members.
    #[must_use]
    pub fn new(metrics: &Metrics<'_>) -> Self {
        let share = |name: &str| metrics.number(name).map(|percent| percent / 100.0);
        let mut members: Vec<Member> = Vec::new();
        for list in [COMPUTE, MEMORY] {
            let Some(list) = metrics.text(&format!("breakdown:{list}")) else { continue };
            for name in list.split(',') {
                let Some(share) = share(name) else { continue };
                if !members.iter().any(|member| member.metric == name) {
                    members.push(Member { metric: name.to_owned(), resource: resource_of(name), share });
                }
            }
        }
        members.sort_by(|a, b| b.share.total_cmp(&a.share));
        Self { compute: share(COMPUTE), memory: share(MEMORY), members }
    }

    /// The largest member whose unit is known.
    #[must_use]
    pub fn busiest(&self) -> Option<(&Member, Resource)> {
        self.members.iter().find_map(|member| Some((member, member.resource?)))
    }
}

/// The resource that a member of a breakdown list stands for.
fn resource_of(metric: &str) -> Option<Resource> {
    let name = metric.strip_suffix(SUFFIX).unwrap_or(metric);
    Some(match name {
        "lts__d_atomic_input_cycles_active" => Resource::AtomicL2,
        "idc__request_cycles_active" => Resource::Constant,
        // The address divergence unit serves barriers and indexed constants; which of them, the counters tell later.
        "sm__inst_executed_pipe_adu" => Resource::Constant,
        "sm__issue_active" | "sm__inst_executed" | "sm__inst_executed_pipe_cbu_pred_on_any" => Resource::Issue,
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
