//! What the diagnosis knows of one profiled workload, whatever file it came from.

use ncu_rep::Metrics;
use ncu_rep::report::{Dim3, Profile};
use ridge_model::{Architecture, ComputeCapability};

use crate::samples;

/// One profiled workload.
#[derive(Debug)]
pub struct KernelProfile<'r> {
    /// The function's name without namespaces, template arguments and parameters.
    pub name: String,
    /// The whole demangled name.
    pub signature: String,
    /// The mangled name, by which code calls the function.
    pub mangled: Option<String>,
    /// Whether the counters mix several kernels: ranges, command lists and graphs.
    pub is_mixture: bool,
    /// Blocks in the grid; absent for ranges and graphs.
    pub grid: Option<Dim3>,
    /// Threads in a block; absent for ranges and graphs.
    pub block: Option<Dim3>,
    /// Place of the launch in its source, from 0.
    pub launch_index: usize,
    /// Identifiers of the collected sections, such as `SpeedOfLight`; empty when the source does not tell.
    pub sections: Vec<String>,
    /// All counters.
    pub metrics: Metrics<'r>,
}

/// What separates groups of launches from each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupKey {
    /// The whole demangled name.
    pub signature: String,
    /// Blocks in the grid.
    pub grid: Option<Dim3>,
    /// Threads in a block.
    pub block: Option<Dim3>,
    /// Shared memory of a block in bytes, static and dynamic.
    pub shared_bytes: Option<u64>,
}

impl<'r> KernelProfile<'r> {
    /// A launch of a single kernel in a report, as it stands there.
    #[must_use]
    pub fn of_launch(launch: &Profile<'r>, launch_index: usize) -> Self {
        let header = launch.header().value;
        let size = header.launches.first();
        Self {
            name: header
                .function_name
                .as_deref()
                .unwrap_or_default()
                .to_owned(),
            signature: header.name().unwrap_or_default().to_owned(),
            mangled: header.mangled_name.as_deref().map(str::to_owned),
            is_mixture: false,
            grid: size.map(|launch| launch.grid),
            block: size.map(|launch| launch.block),
            launch_index,
            sections: Vec::new(),
            metrics: launch.metrics().value,
        }
    }
}

impl KernelProfile<'_> {
    /// GPU time of the workload in nanoseconds.
    #[must_use]
    pub fn duration_ns(&self) -> Option<f64> {
        self.metrics
            .number("gpu__time_duration.sum")
            .filter(|ns| *ns > 0.0)
    }

    /// Compute capability of the device.
    #[must_use]
    pub fn capability(&self) -> Option<ComputeCapability> {
        let number = |name| {
            self.metrics
                .integer(name)
                .and_then(|number| u32::try_from(number).ok())
        };
        Some(ComputeCapability {
            major: number("device__attribute_compute_capability_major")?,
            minor: number("device__attribute_compute_capability_minor")?,
        })
    }

    /// What is known of the architecture.
    #[must_use]
    pub fn architecture(&self) -> Option<Architecture> {
        Architecture::of(self.capability()?)
    }

    /// Name of the device.
    #[must_use]
    pub fn device(&self) -> Option<&str> {
        self.metrics.text("device__attribute_display_name")
    }

    /// Threads of the whole launch.
    #[must_use]
    pub fn threads(&self) -> Option<u64> {
        Some(self.grid?.count().saturating_mul(self.block?.count()))
    }

    /// How often warps were sampled; absent where they were not.
    #[must_use]
    pub fn samples(&self) -> Option<f64> {
        samples::count(&self.metrics)
    }

    /// Whether anything of the run itself was counted. A profiler that is stopped during a launch leaves its result with
    /// facts of the device and names without values.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        /// What is known without running the kernel.
        const STATIC: &[&str] = &[
            "device__",
            "launch__",
            "profiler__",
            "numa__",
            "nvlink__",
            "pcie__",
            "c2clink__",
            "smsp__maximum_warps",
        ];
        let is_static = |name: &str| {
            name.ends_with(".peak_sustained")
                || name.ends_with(".max_rate")
                || STATIC.iter().any(|prefix| name.starts_with(prefix))
        };
        self.duration_ns().is_some()
            || self.metrics.iter().any(|metric| {
                !is_static(metric.name) && metric.number().is_some_and(|number| number != 0.0)
            })
    }

    /// What groups this launch with others of the same work.
    #[must_use]
    pub fn group_key(&self) -> GroupKey {
        let bytes = |name| self.metrics.integer(name);
        let shared_bytes = bytes("launch__shared_mem_per_block_static")
            .zip(bytes("launch__shared_mem_per_block_dynamic"))
            .map(|(fixed, dynamic)| fixed.saturating_add(dynamic));
        GroupKey {
            signature: self.signature.clone(),
            grid: self.grid,
            block: self.block,
            shared_bytes,
        }
    }
}
