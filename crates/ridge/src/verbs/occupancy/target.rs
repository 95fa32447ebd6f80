//! The device of a launch: from the command line, the compiled code or the report.

use ridge_model::device::DeviceError;
use ridge_model::occupancy::document::{Given, Number};
use ridge_model::{ComputeCapability, Devices};

use crate::error::ExpectedError;

/// What the command line says about the device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Target {
    /// Its name in the table.
    pub(crate) device: Option<String>,
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
    /// Looks the device up.
    pub(super) fn resolve(&self) -> Result<Known, ExpectedError> {
        let given = |value: u32| Number {
            value: u64::from(value),
            origin: Given::Argument,
        };
        let mut known = Known {
            name: None,
            capability: self.capability,
            sms: self.sms.map(given),
        };
        let Some(name) = &self.device else {
            return Ok(known);
        };
        match Devices::known().find(name) {
            Ok(device) => {
                known.name = Some(device.name.clone());
                known.capability = Some(device.capability);
                known.sms = known.sms.or(device.multiprocessors.map(|sms| Number {
                    value: u64::from(sms.value),
                    origin: Given::Device,
                }));
                Ok(known)
            }
            // All that fit have the same limits: what is asked for is the capability.
            Err(DeviceError::Several { matches, .. }) => {
                let found = Devices::known().matching(name);
                let mut capabilities = found.iter().map(|device| device.capability);
                let first = capabilities.next();
                if capabilities.all(|other| Some(other) == first) {
                    let sms: Vec<u32> = found
                        .iter()
                        .filter_map(|device| Some(device.multiprocessors?.value))
                        .collect();
                    let is_one =
                        sms.len() == found.len() && sms.windows(2).all(|pair| pair[0] == pair[1]);
                    known.name = Some(matches.join(" or "));
                    known.capability = first;
                    known.sms = known
                        .sms
                        .or(sms.first().filter(|_| is_one).map(|sms| Number {
                            value: u64::from(*sms),
                            origin: Given::Device,
                        }));
                    return Ok(known);
                }
                Err(ExpectedError::usage(format!(
                    "{name:?} fits devices of different compute capability: {}",
                    matches.join(", ")
                ))
                .with_hint("name one of them, or say --cc with a compute capability such as 9.0"))
            }
            Err(error) => {
                let hint = match &error {
                    DeviceError::Unknown { nearest, .. } if !nearest.is_empty() => format!(
                        "--device {:?}, or --cc with its compute capability",
                        nearest.join("\" or \"")
                    )
                    .replace("\\\"", "\""),
                    _ => "--cc with its compute capability, such as --cc 9.0".to_owned(),
                };
                Err(ExpectedError::usage(error.to_string()).with_hint(hint))
            }
        }
    }
}
