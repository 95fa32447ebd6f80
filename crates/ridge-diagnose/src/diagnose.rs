//! One kernel through the three layers: how far from the limit, which resource, why and where.

use std::collections::BTreeSet;

use ncu_rep::Reads;
use ridge_model::latency::Latencies;

use crate::case::Case;
use crate::clock::SmClock;
use crate::code::CodeMap;
use crate::compulsory::{Given, compulsory};
use crate::counters::counters;
use crate::document::{
    Kernel, Launch, Location, ResourceRow, SpeedOfLight as SpeedOfLightDocument,
    SpeedOfLightMember, Stall,
};
use crate::findings;
use crate::hot_lines::hot_lines;
use crate::latency::{Inputs, latency};
use crate::ledger::Ledger;
use crate::limiter::limiter;
use crate::mix::InstructionMix;
use crate::outlook::outlook;
use crate::profile::KernelProfile;
use crate::settle;
use crate::speed_of_light::SpeedOfLight;
use crate::stalls;
use crate::work::memory::l2;

use ridge_stats::Samples;

/// A group of launches, of which one is diagnosed.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// All launches in stored order: place in the input, and duration.
    pub launches: Vec<(usize, Option<f64>)>,
    /// Share of the summed duration of all kernels of the input.
    pub time_share: Option<f64>,
    /// The input.
    pub source: usize,
}

impl Group {
    /// The launch with the median duration: the lower of the two middle ones.
    #[must_use]
    pub fn representative(&self) -> Option<usize> {
        let mut known: Vec<(f64, usize)> = self
            .launches
            .iter()
            .filter_map(|(index, ns)| Some(((*ns)?, *index)))
            .collect();
        known.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        match known.len() {
            0 => self.launches.first().map(|(index, _)| *index),
            len => known.get((len - 1) / 2).map(|(_, index)| *index),
        }
    }

    fn durations(&self) -> Vec<f64> {
        let mut durations: Vec<f64> = self.launches.iter().filter_map(|(_, ns)| *ns).collect();
        durations.sort_by(f64::total_cmp);
        durations
    }
}

/// The project's rule: savings under 2 % are not shown. Passes of the profiler disagree by as much, and a change of code
/// has to be worth a person's time.
const MIN_SAVING: f64 = 0.02;

/// What to show of what was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Findings that expect to save less than this fraction of the duration are left out.
    pub min_saving: f64,
    /// The profiled program, for the command that would settle open questions.
    pub program: Option<String>,
    /// What the user knows of the computation.
    pub given: Given,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            min_saving: MIN_SAVING,
            program: None,
            given: Given::default(),
        }
    }
}

/// Members of the Speed Of Light lists that are shown.
const MEMBERS: usize = 5;

/// Diagnoses the representative launch of a group.
#[must_use]
pub fn diagnose(
    profile: &KernelProfile<'_>,
    group: &Group,
    code: Option<&CodeMap>,
    options: &Options,
) -> Kernel {
    examine(profile, code, &options.given, |case| {
        conclude(case, group, options)
    })
}

/// What each part of the diagnosis asks of a profile: names of metrics, whether they are there or not. A name that ends in
/// `*` stands for all that begin so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The ledger, the Speed Of Light, the stall reasons, the instruction mix and what follows from them: whatever
    /// every finding looks at.
    pub layers: BTreeSet<String>,
    /// Each check by its identifier, with what it asks for itself.
    pub checks: Vec<(&'static str, BTreeSet<String>)>,
    /// Where samples fall.
    pub places: BTreeSet<String>,
}

/// Runs the diagnosis of a profile for what it asks of it. `reads` is what the profile's metrics note names in; see
/// [`ncu_rep::Metrics::noting`].
#[must_use]
pub fn needs(profile: &KernelProfile<'_>, code: Option<&CodeMap>, reads: &Reads) -> Needs {
    reads.take();
    examine(profile, code, &Given::default(), |case| {
        let layers = reads.take();
        let mut checks = Vec::new();
        findings::each(case, |id| checks.push((id, reads.take())));
        hot_lines(&profile.metrics, code);
        Needs {
            layers,
            checks,
            places: reads.take(),
        }
    })
}

/// Computes what findings look at, and looks at it.
fn examine<T>(
    profile: &KernelProfile<'_>,
    code: Option<&CodeMap>,
    given: &Given,
    look: impl FnOnce(&Case<'_, '_>) -> T,
) -> T {
    let ledger = Ledger::new(&profile.metrics, profile.architecture().as_ref());
    let speed_of_light = SpeedOfLight::new(&profile.metrics);
    let stalls = stalls::stalls(&profile.metrics);
    let mix = InstructionMix::of(&profile.metrics);
    let compulsory = compulsory(given, profile, &ledger, mix.as_ref());
    let mut case = Case {
        profile,
        ledger: &ledger,
        speed_of_light: &speed_of_light,
        stalls: &stalls,
        mix: mix.as_ref(),
        code,
        latency: None,
        compulsory: compulsory.as_ref(),
    };
    let latency = latency(&Inputs {
        metrics: &profile.metrics,
        ledger: &ledger,
        stalls: &stalls,
        mix: mix.as_ref(),
        latencies: profile.capability().and_then(Latencies::of),
        busiest: case.busiest(),
        idle: case.idle(),
        balance: case.balance(),
    });
    case.latency = latency.as_ref();
    look(&case)
}

fn conclude(case: &Case<'_, '_>, group: &Group, options: &Options) -> Kernel {
    let (profile, code) = (case.profile, case.code);
    let (ledger, speed_of_light, stalls) = (case.ledger, case.speed_of_light, case.stalls);
    let idle_share = case.idle_share();
    let found = findings::run(case, options.min_saving);
    let (mut findings, mut not_checked) = (found.findings, found.not_checked);
    let mut hot_lines = hot_lines(&profile.metrics, code);
    let places = findings
        .iter_mut()
        .flat_map(|finding| &mut finding.locations);
    for location in places.chain(hot_lines.iter_mut().map(|line| &mut line.location)) {
        name_own_function(location, profile);
    }
    not_checked.extend(settle::missing_layers(
        &profile.sections,
        |layer| match layer {
            "speed-of-light" => speed_of_light.members.is_empty(),
            "stalls" => stalls.is_empty(),
            "resource-ledger" => ledger.rows().len() < 2,
            _ => hot_lines.is_empty(),
        },
    ));
    let limiter = limiter(
        profile.duration_ns(),
        idle_share.unwrap_or(0.0),
        ledger,
        speed_of_light,
    );
    let waiting: Vec<Stall> = stalls
        .iter()
        .map(|stall| Stall {
            meaning: stalls::meaning(&stall.reason).to_owned(),
            reason: stall.reason.clone(),
            cycles: stall.cycles,
            share: stall.share,
        })
        .collect();
    let outlook = if findings.is_empty() {
        outlook(
            case,
            limiter.as_ref(),
            &waiting,
            found.left_out,
            &not_checked,
        )
    } else {
        None
    };
    let durations = group.durations();
    // What has no duration, or one that is no number, has no median either.
    let duration_ns = Samples::new(durations.clone())
        .ok()
        .map(|durations| durations.median());
    let extent = |size: ncu_rep::report::Dim3| [size.x, size.y, size.z];
    Kernel {
        source: group.source,
        name: profile.name.clone(),
        signature: profile.signature.clone(),
        grid: profile.grid.map(extent),
        block: profile.block.map(extent),
        device: profile.device().map(str::to_owned),
        compute_capability: profile
            .capability()
            .map(|capability| capability.to_string()),
        launches: group
            .launches
            .iter()
            .map(|&(index, duration_ns)| Launch { index, duration_ns })
            .collect(),
        diagnosed_launch: profile.launch_index,
        duration_ns,
        duration_min_ns: durations.first().copied(),
        duration_max_ns: durations.last().copied(),
        timed: None,
        idle_share,
        time_share: group.time_share,
        limiter,
        resources: rows(ledger),
        speed_of_light: SpeedOfLightDocument {
            compute: speed_of_light.compute,
            memory: speed_of_light.memory,
            members: speed_of_light
                .members
                .iter()
                .take(MEMBERS)
                .map(|member| SpeedOfLightMember {
                    metric: member.metric.clone(),
                    resource: member.resource,
                    share: member.share,
                })
                .collect(),
        },
        sm_clock_hz: SmClock::of(&profile.metrics).map(|clock| clock.hz),
        counters: counters(&profile.metrics),
        traffic: l2(&profile.metrics),
        compulsory: case.compulsory.cloned(),
        measured: None,
        stalls: waiting,
        latency: case.latency.cloned(),
        hot_lines,
        findings,
        outlook,
        settle_with: settle::command(&not_checked, profile, options.program.as_deref()),
        not_checked,
    }
}

/// The code knows functions by their mangled names; people know the kernel by its own.
fn name_own_function(location: &mut Location, profile: &KernelProfile<'_>) {
    if location.function.is_some() && location.function == profile.mangled {
        location.function = Some(profile.name.clone());
    }
}

fn rows(ledger: &Ledger) -> Vec<ResourceRow> {
    ledger
        .by_resource()
        .into_iter()
        .map(|row| ResourceRow {
            resource: row.resource,
            stage: row.stage.label().to_owned(),
            busy_share: row.busy_share,
            demand: row.demand,
            unit: row.unit.to_owned(),
            capacity_per_s: row.capacity_per_s,
            source: row.source.clone(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_launch_stands_for_the_group() {
        let group = Group {
            launches: vec![
                (0, Some(9.0)),
                (1, Some(1.0)),
                (2, None),
                (3, Some(5.0)),
                (4, Some(6.0)),
            ],
            ..Group::default()
        };
        assert_eq!(group.representative(), Some(3));
        assert_eq!(
            Group {
                launches: vec![(7, None)],
                ..Group::default()
            }
            .representative(),
            Some(7)
        );
        assert_eq!(Group::default().representative(), None);
    }
}
