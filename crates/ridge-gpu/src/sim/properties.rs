//! What a simulated device says that it is.

use ridge_model::Architecture;
use ridge_model::quantity::{Bytes, Nanos};

use super::costs;
use super::options::SimOptions;
use crate::device::{DeviceKind, Properties, SensorSource};

/// `None` where the table does not know enough of the device.
pub(super) fn properties(options: &SimOptions) -> Option<Properties> {
    let device = &options.device;
    let limits = Architecture::of(device.capability).map(|architecture| architecture.limits);
    let capability = device.capability;
    Some(Properties {
        kind: DeviceKind::Simulated { seed: options.seed },
        name: format!("simulated {}", device.name),
        uuid: Some(format!(
            "SIM-{}-{}",
            device.name.replace(' ', "-"),
            options.seed
        )),
        pci_id: None,
        capability,
        multiprocessors: device.multiprocessors?.value,
        l2: Some(device.l2?.value),
        max_persisting_l2: None,
        memory: device.memory?.value,
        memory_bus_bits: None,
        max_sm_clock: Some(device.boost_clock?.value),
        max_memory_clock: None,
        base_sm_clock: None,
        power_limit_watts: device.power_limit_w.map(|fact| fact.value),
        max_threads_per_block: 1024,
        shared_per_block: Bytes::from_count(48 << 10),
        shared_per_block_opt_in: Bytes::from_count(
            limits.map_or(48 << 10, |limits| u64::from(limits.shared_bytes_per_block)),
        ),
        has_clusters: capability.major >= 9,
        copy_engines: Some(2),
        is_ecc_on: None,
        is_mig: Some(false),
        is_persistent: None,
        has_display_watchdog: Some(false),
        driver: None,
        driver_release: None,
        compiler: None,
        sensors: if options.has_sensors {
            SensorSource::Simulated
        } else {
            SensorSource::Absent {
                reason: "the simulation was asked for none".to_owned(),
            }
        },
        timer_step: Some(Nanos::new(costs::TIMER_STEP)),
    })
}
