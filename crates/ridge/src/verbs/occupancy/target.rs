//! The device of a launch: from the command line, the compiled code or the report.

use std::path::PathBuf;

use ridge_model::device::DeviceError;
use ridge_model::occupancy::document::{Given, Number};
use ridge_model::{ComputeCapability, Device};

use crate::error::ExpectedError;
use crate::output::Output;
use crate::verbs::devices;

/// What the command line says about the device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Target {
    /// Its name in the table.
    pub(crate) device: Option<String>,
    /// The user's own table of devices.
    pub(crate) table: Option<PathBuf>,
    /// Its compute capability.
    pub(crate) capability: Option<ComputeCapability>,
    /// Its SMs.
    pub(crate) sms: Option<u32>,
}

/// What is known of the device.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub(super) name: Option<String>,
    pub(super) capability: Option<ComputeCapability>,
    pub(super) sms: Option<Number>,
}

impl Target {
    /// Looks the device up. Where several fit that differ in no way that matters here, any will do.
    pub(super) fn resolve(&self, needs_sms: bool, output: &Output) -> Result<Known, ExpectedError> {
        let mut known = Known {
            name: None,
            capability: self.capability,
            sms: self.sms.map(|value| number(value, Given::Argument)),
        };
        let Some(name) = &self.device else {
            return Ok(known);
        };
        let table = devices::table(self.table.as_deref(), output)?;
        let found = match table.find(name) {
            Err(DeviceError::Several { .. }) => table.matching(name),
            _ => vec![devices::find(&table, name)?],
        };
        let capability = common(&found, |device| device.capability);
        let sms = common(&found, |device| device.multiprocessors.map(|sms| sms.value));
        // How many SMs there are matters for waves alone.
        let is_one = capability.is_some() && (sms.is_some() || known.sms.is_some() || !needs_sms);
        if !is_one {
            return devices::find(&table, name).map(|_| known).map_err(|error| {
                error.with_hint("name one of them in full, or say --cc and --sms")
            });
        }
        let names: Vec<&str> = found.iter().map(|device| device.name.as_str()).collect();
        known.name = Some(names.join(" or "));
        known.capability = capability;
        known.sms = known
            .sms
            .or(sms.flatten().map(|value| number(value, Given::Device)));
        Ok(known)
    }
}

fn number(value: u32, origin: Given) -> Number {
    Number {
        value: u64::from(value),
        origin,
    }
}

/// What all devices have in common, if they do.
fn common<T: PartialEq>(devices: &[&Device], of: impl Fn(&Device) -> T) -> Option<T> {
    let mut values = devices.iter().map(|device| of(device));
    let first = values.next()?;
    values.all(|other| other == first).then_some(first)
}
