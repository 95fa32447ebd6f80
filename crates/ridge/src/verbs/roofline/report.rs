//! Kernels of a report or a CSV export, by device.

use std::collections::HashMap;

use rayon::prelude::*;
use ridge_bench::document::Machine;
use ridge_diagnose::{Group, GroupKey, roofline};
use ridge_model::device::Attributes;
use ridge_model::roofline::document::Side;
use ridge_model::roofline::{Setting, Sheet, Subject};
use ridge_model::{Device, Devices};

use super::{Answer, SIMULATED};
use crate::error::ExpectedError;
use crate::evidence::Evidence;
use crate::filter::{Address, LeftOut};

/// Kernels that are looked at before their devices are put together.
const AT_ONCE: usize = 1024;

/// What the first walk keeps of one launch.
struct Glance {
    key: (GroupKey, Option<String>),
    name: String,
    signature: String,
    duration_ns: Option<f64>,
    problems: Vec<ncu_rep::Error>,
}

impl Answer<'_> {
    /// Adds the kernels of a report; launches of one function at one size are one.
    pub(super) fn add_report(
        &mut self,
        evidence: &Evidence<'_>,
        id: usize,
        address: &Address,
        side: Option<Side>,
    ) -> Result<(), ExpectedError> {
        for problem in evidence.problems() {
            self.add_problem(id, problem);
        }
        let glances: Vec<Option<Glance>> = (0..evidence.len())
            .into_par_iter()
            .map(|index| {
                let workload = evidence.workload(index)?;
                let profile = workload.profile;
                Some(Glance {
                    key: (
                        profile.group_key(),
                        device_key(&roofline::attributes(&profile)),
                    ),
                    duration_ns: profile.duration_ns(),
                    name: profile.name,
                    signature: profile.signature,
                    problems: workload.problems,
                })
            })
            .collect();
        let mut left_out = LeftOut::default();
        let mut groups: Vec<Group> = Vec::new();
        let mut places = HashMap::new();
        for (index, glance) in glances.into_iter().enumerate() {
            let Some(glance) = glance else { continue };
            let selection = &self.options.selection;
            if !selection.selects(address, &glance.name, &glance.signature, index) {
                left_out.add(&glance.name, index);
                continue;
            }
            for problem in &glance.problems {
                self.add_problem(id, problem);
            }
            let place = *places.entry(glance.key).or_insert_with(|| {
                groups.push(Group {
                    source: id,
                    ..Group::default()
                });
                groups.len() - 1
            });
            groups[place].launches.push((index, glance.duration_ns));
        }
        if groups.is_empty() && address.kernel.is_some() && !left_out.is_empty() {
            return Err(left_out.nothing_at(address));
        }
        self.left_out.merge(left_out);
        let table = self.table;
        let fallback = self.device;
        // Each comes with all that is known of its device, which is dropped when the device is known already.
        for groups in groups.chunks(AT_ONCE) {
            let subjects: Vec<(Place, Subject)> = groups
                .par_iter()
                .filter_map(|group| {
                    let workload = evidence.workload(group.representative()?)?;
                    let profile = &workload.profile;
                    let place = Place::of(&roofline::attributes(profile), table, fallback);
                    let subject = roofline::subject(profile, group, place.device.as_ref(), side);
                    Some((place, subject))
                })
                .collect();
            for (place, subject) in subjects {
                self.add(place, subject, Some(id));
            }
        }
        Ok(())
    }
}

/// What tells one device of a report from another.
fn device_key(attributes: &Attributes) -> Option<String> {
    let name = attributes.name.as_ref()?;
    Some(format!("{name} {:?}", attributes.multiprocessors))
}

/// Where a kernel ran.
pub(super) struct Place {
    pub(super) setting: Setting,
    /// The device with what the report says about it.
    pub(super) device: Option<Device>,
    /// What is doubtful about it.
    pub(super) doubt: Option<(&'static str, String)>,
}

impl Place {
    /// A device of the table.
    pub(super) fn of_table(device: &Device) -> Self {
        Self {
            setting: Setting {
                device: Some(device.name.clone()),
                compute_capability: Some(device.capability.to_string()),
                multiprocessors: device.multiprocessors.map(|count| count.value),
                sheet: Some(Sheet {
                    device: device.clone(),
                    scaled_to: None,
                }),
                ..Setting::default()
            },
            device: Some(device.clone()),
            doubt: None,
        }
    }

    /// The machine of a benchmark. A simulated one has the data sheet of the device that it stands in for.
    pub(super) fn of_machine(
        machine: &Machine,
        table: &Devices,
        fallback: Option<&Device>,
    ) -> Self {
        let attributes = machine.attributes();
        let model = machine
            .device
            .strip_prefix(SIMULATED)
            .and_then(|name| table.find(name).ok());
        match model {
            Some(device) => Self::with_sheet(machine.device.clone(), device, &attributes),
            None => Self::of(&attributes, table, fallback),
        }
    }

    /// The device of a report: its data sheet by the name that the driver reports.
    fn of(attributes: &Attributes, table: &Devices, fallback: Option<&Device>) -> Self {
        let Some(name) = &attributes.name else {
            return match fallback {
                Some(device) => Self::of_table(device),
                None => Self::unknown(
                    attributes,
                    "no-device",
                    "the input does not tell which device its kernels ran on: only roofs that it holds itself are drawn; name the device with --device".to_owned(),
                ),
            };
        };
        let found: Vec<&Device> = table
            .matching(name)
            .into_iter()
            .filter(|device| {
                attributes
                    .capability
                    .is_none_or(|capability| capability == device.capability)
            })
            .collect();
        let [device] = found.as_slice() else {
            let message = if found.is_empty() {
                format!(
                    "{name} stands in no table of devices: its roofs are those that the report and the architecture give, without a data sheet; --devices FILE adds one"
                )
            } else {
                let names: Vec<&str> = found.iter().map(|device| device.name.as_str()).collect();
                format!(
                    "{name} may be {}: no data sheet is drawn, only roofs that the report gives",
                    names.join(" or ")
                )
            };
            return Self::unknown(attributes, "no-datasheet", message);
        };
        Self::with_sheet(name.clone(), device, attributes)
    }

    /// A device with its data sheet, scaled to the multiprocessors that there are.
    fn with_sheet(name: String, device: &Device, attributes: &Attributes) -> Self {
        let own = attributes.multiprocessors;
        let scaled_to = own.filter(|count| {
            device
                .multiprocessors
                .is_some_and(|sheet| sheet.value != *count)
        });
        let scaled = match scaled_to {
            Some(_) => device.with_attributes(&Attributes {
                multiprocessors: own,
                ..Attributes::default()
            }),
            None => device.clone(),
        };
        Self {
            setting: Setting {
                device: Some(name),
                compute_capability: Some(device.capability.to_string()),
                multiprocessors: own.or(device.multiprocessors.map(|count| count.value)),
                sheet: Some(Sheet {
                    device: scaled.clone(),
                    scaled_to,
                }),
                ..Setting::default()
            },
            device: Some(scaled),
            doubt: None,
        }
    }

    fn unknown(attributes: &Attributes, code: &'static str, message: String) -> Self {
        Self {
            setting: Setting {
                device: attributes.name.clone(),
                compute_capability: attributes.capability.map(|known| known.to_string()),
                multiprocessors: attributes.multiprocessors,
                ..Setting::default()
            },
            device: Device::from_attributes(attributes),
            doubt: Some((code, message)),
        }
    }
}
