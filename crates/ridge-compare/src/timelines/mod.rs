//! Two timelines: what became of the span, of each kernel, of gaps and copies, and of the findings.

pub mod document;
mod figures;

use std::collections::HashMap;

use ridge_stats::Rules;
use ridge_trace::Timeline;
use ridge_trace::document::{Device, Direction, Finding, GapClass, Trace, Transfer};

use self::document::{
    AloneKernel, CopyChange, DeviceChange, FigureMoved, FindingChange, GapChange, KernelChange,
    Timelines, Two,
};
use crate::kernels::document::{Held, Outcome, Time, TimeOrigin};
use crate::kernels::matching::{self, Key};
use crate::kernels::{Clean, CleanTimes, gone, of_clean, one_span};

/// One side.
pub struct Side<'t> {
    /// The timeline.
    pub timeline: &'t Timeline,
    /// What it comes to.
    pub trace: &'t Trace,
    /// The kernel that is meant: all are where it is absent.
    pub only: Option<&'t str>,
}

/// The answer.
pub struct Answer {
    /// What became of everything.
    pub timelines: Timelines,
    /// Whether names were compared of a part of the kernels only.
    pub is_limited: bool,
    /// Pairs by hand of which a name is not there: the place in the list, and whether it is the one before.
    pub not_found: Vec<(usize, bool)>,
}

/// A kernel's own name, without namespaces, template arguments and parameters.
pub type Base = fn(&str) -> &str;

/// Whether a kernel is the one that is meant: by its whole name, or by its own.
#[must_use]
pub fn is_named(name: &str, wanted: &str, base: Base) -> bool {
    name == wanted || base(name) == wanted
}

/// A flaw that costs less than this part of what it cost is mostly mended.
const MOSTLY: f64 = 0.5;
/// A movement of less is not told from none.
const LEAST_MOVE: f64 = 0.01;
/// A figure that is worse by less is what it was.
const NOISE: f64 = 0.1;

/// Compares two timelines.
#[must_use]
pub fn compare(
    before: &Side<'_>,
    after: &Side<'_>,
    is_same_input: bool,
    given: &[(&str, &str)],
    base: Base,
    rules: &Rules,
) -> Answer {
    let devices: Vec<(&Device, &Device)> = before
        .trace
        .devices
        .iter()
        .filter_map(|one| {
            let mut others = after.trace.devices.iter();
            Some((one, others.find(|other| other.number == one.number)?))
        })
        .collect();
    // Numbers of devices are those of the machine: one device on each side is the same part of the program.
    let devices = match (
        devices.as_slice(),
        before.trace.devices.as_slice(),
        after.trace.devices.as_slice(),
    ) {
        ([], [one], [other]) => vec![(one, other)],
        _ => devices,
    };
    let other_device = devices.iter().find_map(|(one, other)| {
        let (was, is) = (one.name.as_ref()?, other.name.as_ref()?);
        (was != is).then(|| {
            format!("the devices differ ({was} before, {is} after): times are not of one machine")
        })
    });
    let (ours, theirs) = (Kernels::of(before, base), Kernels::of(after, base));
    // Of single kernels, what the whole did is no part of the answer.
    let is_whole = before.only.is_none() && after.only.is_none();
    let whole = if is_whole { devices.as_slice() } else { &[] };
    let found = matching::pairs(&ours.keys(base), &theirs.keys(base), given);
    let mut kernels: Vec<KernelChange> = found
        .pairs
        .iter()
        .map(|pair| {
            let (one, other) = (&ours.0[pair.before], &theirs.0[pair.after]);
            KernelChange {
                before: one.name.clone(),
                after: other.name.clone(),
                matched_by: pair.rule,
                similarity: pair.similarity,
                launches: Two::of(one.durations.len() as f64, other.durations.len() as f64),
                sum_ns: Two::of(one.sum(), other.sum()),
                time: time_of(one, other, is_same_input, other_device.as_deref(), rules),
            }
        })
        .collect();
    kernels.sort_by(|a, b| {
        b.sum_ns
            .before
            .unwrap_or(0.0)
            .total_cmp(&a.sum_ns.before.unwrap_or(0.0))
    });
    Answer {
        timelines: Timelines {
            span: is_whole.then(|| span(&devices, is_same_input, other_device)),
            devices: whole
                .iter()
                .map(|(one, other)| device(one, other))
                .collect(),
            kernels,
            only_before: alone(&ours, &found.before),
            only_after: alone(&theirs, &found.after),
            copies: copies(whole),
            findings: if is_whole {
                findings(before.trace, after.trace)
            } else {
                Vec::new()
            },
        },
        is_limited: found.is_limited,
        not_found: found.not_found,
    }
}

/// The durations of the launches of each name, in order of their start.
struct Kernels(Vec<Named>);

struct Named {
    name: String,
    durations: Vec<f64>,
}

impl Named {
    fn sum(&self) -> f64 {
        self.durations.iter().sum()
    }
}

impl Kernels {
    fn of(side: &Side<'_>, base: Base) -> Self {
        let timeline = side.timeline;
        let is_meant = |name: &str| side.only.is_none_or(|only| is_named(name, only, base));
        let mut places = HashMap::new();
        let mut list: Vec<Named> = Vec::new();
        for work in timeline.work.iter().filter(|work| work.is_kernel()) {
            let place = *places.entry(work.name).or_insert_with(|| {
                list.push(Named {
                    name: timeline.name(work.name).to_owned(),
                    durations: Vec::new(),
                });
                list.len() - 1
            });
            // Durations of work are far below 2^53 nanoseconds.
            list[place].durations.push(work.duration_ns() as f64);
        }
        list.retain(|named| is_meant(&named.name));
        Self(list)
    }

    fn keys(&self, base: Base) -> Vec<Key<'_>> {
        self.0
            .iter()
            .map(|named| Key {
                name: base(&named.name),
                signature: &named.name,
                grid: None,
                block: None,
                weight: named.sum(),
            })
            .collect()
    }
}

fn time_of(
    one: &Named,
    other: &Named,
    is_same_input: bool,
    invalid: Option<&str>,
    rules: &Rules,
) -> Time {
    if is_same_input && one.name == other.name {
        return one_span(Some(one.sum()), Some(one.sum()), true, None);
    }
    let clean = |named: &Named| Clean {
        name: named.name.clone(),
        grid: None,
        block: None,
        label: named.name.clone(),
        runs_ns: vec![named.durations.clone()],
        step_ns: None,
        clock_hz: None,
        bytes: None,
        flops: None,
        invalid: None,
    };
    let times = CleanTimes {
        origin: TimeOrigin::Trace,
        before: Vec::new(),
        after: Vec::new(),
        invalid: invalid.map(str::to_owned),
    };
    of_clean(&clean(one), &clean(other), &times, rules)
}

/// The span of the device with the longest one before.
fn span(devices: &[(&Device, &Device)], is_same_input: bool, invalid: Option<String>) -> Time {
    let longest = devices
        .iter()
        .max_by(|a, b| a.0.span_ns.total_cmp(&b.0.span_ns));
    one_span(
        longest.map(|(one, _)| one.span_ns),
        longest.map(|(_, other)| other.span_ns),
        is_same_input,
        invalid,
    )
}

fn device(one: &Device, other: &Device) -> DeviceChange {
    let share = |device: &Device| (device.span_ns > 0.0).then(|| device.busy_ns / device.span_ns);
    let gaps = [
        GapClass::HostWait,
        GapClass::LaunchFloor,
        GapClass::Dependency,
        GapClass::Unknown,
    ];
    let of_class = |device: &Device, class: GapClass| {
        let mut classes = device.gaps.classes.iter();
        // A class that is left out has no gap.
        classes
            .find(|gaps| gaps.class == class)
            .map_or((0.0, 0.0), |gaps| {
                (gaps.lengths.count as f64, gaps.lengths.sum_ns)
            })
    };
    DeviceChange {
        number: one.number,
        name_before: one.name.clone(),
        name_after: other.name.clone(),
        span_ns: Two::of(one.span_ns, other.span_ns),
        busy_share: Two {
            before: share(one),
            after: share(other),
        },
        kernel_ns: Two::of(one.kernel_ns, other.kernel_ns),
        copy_exposed_ns: Two::of(one.copy_exposed_ns, other.copy_exposed_ns),
        idle_ns: Two::of(one.idle_ns, other.idle_ns),
        kernels: Two::of(one.counts.kernels as f64, other.counts.kernels as f64),
        gaps: gaps
            .into_iter()
            .map(|class| {
                let (was, is) = (of_class(one, class), of_class(other, class));
                GapChange {
                    class,
                    count: Two::of(was.0, is.0),
                    sum_ns: Two::of(was.1, is.1),
                }
            })
            .filter(|gaps| gaps.count != Two::of(0.0, 0.0))
            .collect(),
    }
}

fn alone(kernels: &Kernels, places: &[usize]) -> Vec<AloneKernel> {
    let mut list: Vec<AloneKernel> = places
        .iter()
        .map(|place| {
            let named = &kernels.0[*place];
            AloneKernel {
                name: named.name.clone(),
                launches: named.durations.len() as u64,
                sum_ns: named.sum(),
            }
        })
        .collect();
    list.sort_by(|a, b| b.sum_ns.total_cmp(&a.sum_ns));
    list
}

/// Copies of all devices that both sides have.
fn copies(devices: &[(&Device, &Device)]) -> Vec<CopyChange> {
    let mut list: Vec<CopyChange> = Vec::new();
    let mut add = |copies: &Transfer, is_before: bool| {
        let is_it = |known: &&mut CopyChange| {
            (known.kind, known.from, known.to) == (copies.kind, copies.from, copies.to)
        };
        let place = match list.iter_mut().find(is_it) {
            Some(known) => known,
            None => {
                list.push(CopyChange {
                    kind: copies.kind,
                    from: copies.from,
                    to: copies.to,
                    count: Two::of(0.0, 0.0),
                    bytes: Two::of(0.0, 0.0),
                    sum_ns: Two::of(0.0, 0.0),
                });
                let last = list.len() - 1;
                &mut list[last]
            }
        };
        let side = |two: &mut Two, value: Option<f64>| {
            let own = if is_before {
                &mut two.before
            } else {
                &mut two.after
            };
            *own = own.zip(value).map(|(sum, value)| sum + value);
        };
        side(&mut place.count, Some(copies.durations.count as f64));
        side(&mut place.bytes, copies.bytes.map(|bytes| bytes as f64));
        side(&mut place.sum_ns, Some(copies.durations.sum_ns));
    };
    for (one, other) in devices {
        one.transfers.iter().for_each(|copies| add(copies, true));
        other.transfers.iter().for_each(|copies| add(copies, false));
    }
    let most = |copies: &CopyChange| {
        copies
            .sum_ns
            .before
            .unwrap_or(0.0)
            .max(copies.sum_ns.after.unwrap_or(0.0))
    };
    list.sort_by(|a, b| most(b).total_cmp(&most(a)));
    list
}

fn findings(before: &Trace, after: &Trace) -> Vec<FindingChange> {
    let find = |trace: &'_ Trace, id: &str| -> Option<Finding> {
        trace
            .findings
            .iter()
            .find(|finding| finding.id == id)
            .cloned()
    };
    let cost = |trace: &Trace, finding: &Finding| {
        let device = trace
            .devices
            .iter()
            .find(|device| device.number == finding.device);
        device.map(|device| device.span_ns * finding.saving_expected)
    };
    let mut list: Vec<FindingChange> = before
        .findings
        .iter()
        .map(|finding| {
            let now = find(after, &finding.id);
            let verify = verify(finding, before, after);
            let outcome = match &now {
                Some(now) => match cost(before, finding).zip(cost(after, now)) {
                    Some((was, is)) if is < MOSTLY * was => Outcome::Smaller,
                    _ => Outcome::Still,
                },
                None if after.not_checked.iter().any(|check| check.id == finding.id) => {
                    Outcome::NotChecked
                }
                None => gone(verify.iter().map(|moved| moved.outcome)),
            };
            FindingChange {
                id: finding.id.clone(),
                title: finding.title.clone(),
                outcome,
                saving_expected: Two {
                    before: Some(finding.saving_expected),
                    after: now.map(|now| now.saving_expected),
                },
                verify,
            }
        })
        .collect();
    let is_new = |finding: &&Finding| find(before, &finding.id).is_none();
    list.extend(
        after
            .findings
            .iter()
            .filter(is_new)
            .map(|finding| FindingChange {
                id: finding.id.clone(),
                title: finding.title.clone(),
                outcome: if is_worse(finding, before, after) {
                    Outcome::New
                } else {
                    Outcome::NowShows
                },
                saving_expected: Two {
                    before: None,
                    after: Some(finding.saving_expected),
                },
                verify: Vec::new(),
            }),
    );
    list
}

/// Whether a figure of a finding that was not there before moved away from what it has to do.
fn is_worse(finding: &Finding, before: &Trace, after: &Trace) -> bool {
    verify(finding, before, after).iter().any(|moved| {
        let (Some(was), Some(is)) = (moved.values.before, moved.values.after) else {
            return false;
        };
        match moved.direction {
            Direction::Up => is < was * (1.0 - NOISE),
            Direction::Down => is > was * (1.0 + NOISE),
        }
    })
}

fn verify(finding: &Finding, before: &Trace, after: &Trace) -> Vec<FigureMoved> {
    let of = |trace: &Trace, name: &str| {
        let numbered = trace
            .devices
            .iter()
            .find(|device| device.number == finding.device);
        let device = numbered.or(match trace.devices.as_slice() {
            [only] => Some(only),
            _ => None,
        });
        device.and_then(|device| figures::figure(trace, device, name))
    };
    finding
        .verify
        .iter()
        .map(|verify| {
            let (was, is) = (of(before, &verify.metric), of(after, &verify.metric));
            let outcome = match was.zip(is) {
                None => Held::NotMeasured,
                Some(((was, _), (is, _))) => {
                    let moved = match verify.direction {
                        Direction::Up => is - was,
                        Direction::Down => was - is,
                    };
                    if moved > LEAST_MOVE * was.abs() {
                        Held::Held
                    } else {
                        Held::NotHeld
                    }
                }
            };
            FigureMoved {
                metric: verify.metric.clone(),
                direction: verify.direction,
                values: Two {
                    before: was.map(|(value, _)| value),
                    after: is.map(|(value, _)| value),
                },
                unit: was.or(is).map_or("", |(_, unit)| unit).to_owned(),
                outcome,
            }
        })
        .collect()
}
