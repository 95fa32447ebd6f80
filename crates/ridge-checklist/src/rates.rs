//! What a device can do: as it was measured on such a one before, else as its data sheet says.

use ridge_model::bound::{Launches, Link};
use ridge_model::device::Origin;
use ridge_model::roof::MemoryLevel;
use ridge_model::{Device, Devices};

use crate::inputs::Inputs;

/// Rates of a device.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rates {
    /// Bytes a second of the device memory.
    pub(crate) memory: f64,
    /// Bytes a second of the link to the host, in one direction.
    pub(crate) link: Option<f64>,
    /// What one of many launches costs the host, in nanoseconds.
    pub(crate) launch_ns: f64,
    /// Where the figures come from.
    pub(crate) source: String,
}

/// The row of the table that fits a name and a compute capability, where only one does.
fn device(name: &str, capability: Option<&str>) -> Option<&'static Device> {
    let mut fitting = Devices::known().matching(name).into_iter().filter(|row| {
        capability.is_none_or(|text| {
            let own = row.capability;
            format!("{}.{}", own.major, own.minor) == text
        })
    });
    match (fitting.next(), fitting.next()) {
        (Some(row), None) => Some(row),
        _ => None,
    }
}

/// The rates of a device by the name that a driver reports.
pub(crate) fn of(inputs: &Inputs, name: &str, capability: Option<&str>) -> Option<Rates> {
    let row = device(name, capability);
    let measured = inputs
        .ceilings
        .iter()
        .find(|(own, _)| own == name)
        .map(|(_, measured)| measured);
    let own_memory = measured.and_then(|measured| measured.memory(MemoryLevel::Dram));
    let memory = own_memory
        .map(|roof| roof.bandwidth.get())
        .or_else(|| Some(row?.bandwidth?.value.get()))?;
    let link = measured
        .and_then(|measured| measured.link(Link::HostToDevice))
        .map(|rate| rate.get())
        .or_else(|| Some(row?.host_link?.value.get()));
    let launch = measured.and_then(|measured| measured.launch);
    let source = match measured {
        Some(measured) if measured.origin() == Origin::Measured => {
            format!("ceilings {}", measured.provenance.short())
        }
        Some(_) => "ceilings of a model".to_owned(),
        None => "data sheet, and the typical cost of a launch".to_owned(),
    };
    Some(Rates {
        memory,
        link,
        launch_ns: launch.unwrap_or(Launches::TYPICAL_COST.value).get(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_device_has_rates_and_another_has_none() {
        let inputs = Inputs::default();
        let rates = of(&inputs, "NVIDIA H200", Some("9.0")).unwrap();
        assert!(rates.memory > 4e12 && rates.link.unwrap() > 3e10);
        assert!((rates.launch_ns - 2000.0).abs() < 1.0);
        assert_eq!(of(&inputs, "NVIDIA H200", Some("8.0")), None);
        assert_eq!(of(&inputs, "a GPU of nobody", None), None);
    }
}
