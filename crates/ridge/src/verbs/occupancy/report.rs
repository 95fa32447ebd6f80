//! Kernels of a report or a CSV export: launch, device, achieved occupancy and what limits them.

use std::collections::HashMap;

use ncu_rep::Metrics;
use ridge_diagnose::{Class, Group, KernelProfile, Options, diagnose};
use ridge_model::ComputeCapability;
use ridge_model::device::Origin;
use ridge_model::occupancy::document::{
    Bound, BoundBy, ClusterOrigin, Given, Number, Origins, Subject,
};
use ridge_model::occupancy::{Launch, Limiter, Slots, resident};

use super::Answer;
use crate::error::ExpectedError;
use crate::evidence::Evidence;
use crate::filter::{Address, LeftOut};

impl Answer<'_> {
    /// Adds the kernels of a report; launches with the same numbers are one.
    pub(super) fn add_report(
        &mut self,
        evidence: &Evidence<'_>,
        id: usize,
        address: &Address,
    ) -> Result<(), ExpectedError> {
        for problem in evidence.problems() {
            self.add_problem(id, problem);
        }
        let mut left_out = LeftOut::default();
        let mut places: HashMap<(String, Launch, Option<u64>, usize), usize> = HashMap::new();
        // What fits on an SM depends on the device that a launch ran on.
        let mut devices: HashMap<OwnDevice, usize> = HashMap::new();
        let mut without: Vec<String> = Vec::new();
        let before = self.subjects.len();
        for index in 0..evidence.len() {
            let Some(workload) = evidence.workload(index) else {
                continue;
            };
            let profile = &workload.profile;
            if !self
                .options
                .selection
                .selects(address, &profile.name, &profile.signature, index)
            {
                left_out.add(&profile.name, index);
                continue;
            }
            for problem in &workload.problems {
                self.add_problem(id, problem);
            }
            let Some(launch) = launch(profile) else {
                without.push(profile.name.clone());
                continue;
            };
            let grid = profile.grid.map(|grid| grid.count());
            let many = devices.len();
            let device = *devices.entry(own_device(profile)).or_insert(many);
            let key = (profile.signature.clone(), launch, grid, device);
            if let Some(place) = places.get(&key) {
                self.subjects[*place].launches.push(index);
                continue;
            }
            places.insert(key, self.subjects.len());
            let subject = self.subject_of(profile, launch, grid, id, index)?;
            self.add(subject)?;
        }
        if matches!(evidence, Evidence::Csv(_)) && self.subjects[before..].iter().any(is_rounded) {
            let message = "the details page rounds sizes to three digits, so that shared memory may be a little off; \
                           `ncu --import REPORT --csv --page raw` is exact";
            self.warn("rounded-sizes", message.to_owned(), Some(id));
        }
        if !without.is_empty() {
            self.warn("no-launch", no_launch(&without), Some(id));
        }
        let is_empty = self.subjects.len() == before && without.is_empty();
        if is_empty && address.kernel.is_some() && !left_out.is_empty() {
            return Err(left_out.nothing_at(address));
        }
        self.left_out.merge(left_out);
        Ok(())
    }

    fn subject_of(
        &mut self,
        profile: &KernelProfile<'_>,
        launch: Launch,
        grid: Option<u64>,
        id: usize,
        index: usize,
    ) -> Result<Subject, ExpectedError> {
        let metrics = &profile.metrics;
        // Another device is a what-if: what the report says about its own is left out then.
        let own = profile.capability();
        let is_what_if = own.is_some()
            && (self.known.name.is_some()
                || self
                    .known
                    .capability
                    .is_some_and(|wanted| Some(wanted) != own));
        let Some(capability) = self.known.capability.or(own) else {
            return Err(ExpectedError::usage(
                "the input does not tell which device its kernels ran on",
            )
            .with_hint("name it with --device NAME or --cc CAPABILITY"));
        };
        let mut subject = self.subject(Some(id), capability, Some(&profile.signature));
        subject.name = Some(profile.name.clone());
        subject.launches = vec![index];
        subject.origins = Origins::all(Given::Report);
        subject.launch = launch;
        subject.grid_blocks = grid.map(|value| Number {
            value,
            origin: Given::Report,
        });
        if is_what_if {
            subject.launch.carveout_bytes = None;
            subject.launch.blocks_by_barriers = None;
            return Ok(subject);
        }
        subject.limits = subject
            .limits
            .with_attributes(|name| number(metrics, &format!("device__attribute_{name}")));
        subject.device = subject.device.or(profile.device().map(str::to_owned));
        subject.sms = subject.sms.or(metrics
            .integer("device__attribute_multiprocessor_count")
            .or(metrics.integer("launch__sm_count"))
            .map(|value| Number {
                value,
                origin: Given::Report,
            }));
        let numbers = &self.options.numbers;
        let is_as_it_ran = numbers.block.is_none()
            && numbers.registers.is_none()
            && numbers.shared_bytes.is_none()
            && numbers.barriers.is_none()
            && numbers.cluster.is_none();
        if is_as_it_ran {
            subject.achieved = metrics
                .number("sm__warps_active.avg.pct_of_peak_sustained_active")
                .map(|percent| percent / 100.0)
                // Passes of the profiler differ a little; more than that is no occupancy.
                .filter(|share| (0.0..=1.1).contains(share));
            subject.clusters = subject
                .launch
                .cluster
                .and_then(|size| Some((slots(metrics, size)?, ClusterOrigin::Report)));
            subject.bound_by = bound_by(profile);
            self.compare(&subject, metrics, id);
        }
        Ok(subject)
    }

    /// The report's own limits are what this verb claims to know: a difference is told.
    fn compare(&mut self, subject: &Subject, metrics: &Metrics<'_>, id: usize) {
        let found = resident(&subject.limits, &subject.launch);
        for limiter in Limiter::ALL {
            let stored = number(metrics, limiter.metric());
            if let (Some(stored), Some(allowed)) = (stored, found.allowed(limiter))
                && stored != allowed
            {
                let name = subject.name.as_deref().unwrap_or_default();
                let message = format!(
                    "{name}: the report says that {} allow {stored} blocks, the model {allowed}; please report this",
                    limiter.label()
                );
                self.warn("differs-from-report", message, Some(id));
            }
        }
    }
}

/// What tells devices of one report apart.
type OwnDevice = (Option<String>, Option<ComputeCapability>, Option<u32>);

fn own_device(profile: &KernelProfile<'_>) -> OwnDevice {
    (
        profile.device().map(str::to_owned),
        profile.capability(),
        number(&profile.metrics, "device__attribute_multiprocessor_count"),
    )
}

/// Sizes in bytes are exact on the raw page alone, which also tells about the device.
fn is_rounded(subject: &Subject) -> bool {
    /// Sizes below this are written in full.
    const ROUNDED_FROM: u32 = 1000;
    let launch = &subject.launch;
    let is_raw = subject.limits.warps.origin == Origin::Attribute;
    !is_raw && launch.static_shared_bytes.max(launch.dynamic_shared_bytes) >= ROUNDED_FROM
}

fn no_launch(names: &[String]) -> String {
    /// So many names are told.
    const TOLD: usize = 3;
    let told: Vec<&str> = names.iter().take(TOLD).map(String::as_str).collect();
    let more = names.len().saturating_sub(TOLD);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!(
        "{}{more}: no launch is known, so that nothing is said about occupancy; collect with \
         `ncu --section LaunchStats --section Occupancy` (ranges and graphs as a whole have none)",
        told.join(", ")
    )
}

fn number(metrics: &Metrics<'_>, name: &str) -> Option<u32> {
    u32::try_from(metrics.integer(name)?).ok()
}

/// The launch, when the numbers that matter are there.
fn launch(profile: &KernelProfile<'_>) -> Option<Launch> {
    if profile.is_mixture {
        return None;
    }
    let metrics = &profile.metrics;
    let bytes = |name| number(metrics, name);
    let threads = number(metrics, "launch__block_size")
        .or_else(|| u32::try_from(profile.block?.count()).ok())?;
    let registers = number(metrics, "launch__registers_per_thread")?;
    Some(Launch {
        barriers: number(metrics, "launch__barrier_count"),
        blocks_by_barriers: number(metrics, Limiter::Barriers.metric()),
        cluster: number(metrics, "launch__cluster_size").filter(|size| *size > 0),
        // The details page rounds it to three digits.
        carveout_bytes: bytes("launch__shared_mem_config_size").filter(|carveout| {
            carveout.is_multiple_of(1024)
                && bytes("launch__shared_mem_per_block_allocated")
                    .is_none_or(|block| block <= *carveout)
        }),
        ..Launch::new(threads, registers).with_shared(
            bytes("launch__shared_mem_per_block_static").unwrap_or(0),
            bytes("launch__shared_mem_per_block_dynamic").unwrap_or(0),
        )
    })
}

/// How many clusters of a size run at once, as the driver answered when the report was made.
fn slots(metrics: &Metrics<'_>, size: u32) -> Option<Slots> {
    let stored = metrics.get("launch__occupancy_per_cluster_size")?;
    let of_curve = stored
        .by_number()
        .ok()?
        .into_iter()
        .find(|(at, _)| *at == u64::from(size))
        .map(|(_, clusters)| clusters);
    let clusters = of_curve.or_else(|| {
        metrics
            .number("launch__cluster_max_active")
            .filter(|clusters| *clusters > 0.0)
    })?;
    Some(Slots {
        // Counts of clusters are small and whole.
        clusters: clusters as u32,
        size,
    })
}

/// What limits the kernel, from the whole diagnosis.
fn bound_by(profile: &KernelProfile<'_>) -> Option<BoundBy> {
    let group = Group {
        launches: vec![(profile.launch_index, profile.duration_ns())],
        ..Group::default()
    };
    let limiter = diagnose(profile, &group, None, &Options::default()).limiter?;
    Some(BoundBy {
        kind: match limiter.class {
            Class::Memory => Bound::Memory,
            Class::Compute => Bound::Compute,
            Class::Latency => Bound::Latency,
            Class::Launch => Bound::Launch,
        },
        busiest: limiter.busiest.label().to_owned(),
        share: limiter.share,
    })
}

/// The compute capability of compiled code or a report, as a type.
pub(super) fn capability((major, minor): (u32, u32)) -> ComputeCapability {
    ComputeCapability { major, minor }
}
