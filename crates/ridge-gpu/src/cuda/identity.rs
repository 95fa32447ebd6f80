//! Who a device is, and what it is, for the driver and for NVML.

use ridge_model::ComputeCapability;
use ridge_model::quantity::{Bytes, Hertz};

use super::context::error_of;
use super::driver::{DeviceNumber, Driver, device_attribute};
use crate::device::{DeviceKind, Properties, SensorSource};
use crate::error::{DeviceError, Result};
use crate::nvml::{self, Clock, Gpu, Nvml};

/// Shared memory that a block gets without asking.
pub(super) const DEFAULT_SHARED: u32 = 48 << 10;

/// Who a device is, for the driver and for NVML.
pub(super) struct Identity {
    pub(super) uuid: Option<String>,
    pci: Option<String>,
    pub(super) gpu: Option<Gpu>,
    is_mig: Option<bool>,
}

impl Identity {
    /// NVML finds the GPU by its identifier, or by its place on the bus: never by its number, which is another one where
    /// some are hidden.
    pub(super) fn of(driver: &Driver, number: DeviceNumber, nvml: Option<&'static Nvml>) -> Self {
        let pci = driver.device_pci(number).ok();
        let plain = driver.device_uuid(number).map(|uuid| uuid_text(&uuid));
        let find = |prefix: &str| {
            let uuid = format!("{prefix}-{}", plain.as_ref()?);
            Some((nvml?.by_uuid(&uuid)?, uuid))
        };
        if let Some((gpu, uuid)) = find("GPU") {
            return Self {
                uuid: Some(uuid),
                pci,
                gpu: Some(gpu),
                is_mig: Some(false),
            };
        }
        if let Some((gpu, uuid)) = find("MIG") {
            return Self {
                uuid: Some(uuid),
                pci,
                gpu: Some(gpu),
                is_mig: Some(true),
            };
        }
        let gpu = pci
            .as_ref()
            .and_then(|pci| nvml.and_then(|nvml| nvml.by_pci(pci)));
        Self {
            uuid: plain.map(|plain| format!("GPU-{plain}")),
            pci,
            gpu,
            is_mig: None,
        }
    }
}

/// The digits of an identifier in groups of 8, 4, 4, 4 and 12.
fn uuid_text(uuid: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (place, byte) in uuid.iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(digit), 16).unwrap_or('?'));
        }
    }
    text
}

/// What a device is, as far as the driver and NVML tell. Sensors, compiler and timer are for who opens it to fill in.
///
/// # Errors
/// When the driver does not tell what nobody can do without.
pub(super) fn properties(
    driver: &Driver,
    number: DeviceNumber,
    ordinal: u32,
    identity: &Identity,
) -> Result<Properties> {
    let get = |attribute| driver.attribute(number, attribute);
    let known = |value: Option<u32>, what: &'static str| {
        value.ok_or_else(|| DeviceError::Unsupported {
            feature: what,
            reason: "the driver does not tell it".to_owned(),
        })
    };
    let bytes = |value: u32| Bytes::from_count(u64::from(value));
    let positive = |value: Option<u32>| value.filter(|value| *value > 0);
    // The driver tells clocks in kHz, NVML in MHz.
    let clock = |attribute, which| {
        let by_driver = positive(get(attribute)).map(|clock| Hertz::new(f64::from(clock) * 1e3));
        let by_nvml = identity.gpu.and_then(|gpu| gpu.max_clock(which));
        by_nvml.map(nvml::megahertz).or(by_driver)
    };
    let shared = get(device_attribute::MAX_SHARED_MEMORY_PER_BLOCK).unwrap_or(DEFAULT_SHARED);
    let capability = ComputeCapability {
        major: known(
            get(device_attribute::COMPUTE_CAPABILITY_MAJOR),
            "the compute capability",
        )?,
        minor: known(
            get(device_attribute::COMPUTE_CAPABILITY_MINOR),
            "the compute capability",
        )?,
    };
    let refused = |refused| error_of(&refused);
    Ok(Properties {
        kind: DeviceKind::Cuda { ordinal },
        name: driver.device_name(number).map_err(refused)?,
        uuid: identity.uuid.clone(),
        pci_id: identity.pci.clone(),
        capability,
        multiprocessors: known(
            get(device_attribute::MULTIPROCESSOR_COUNT),
            "the number of SMs",
        )?,
        l2: positive(get(device_attribute::L2_CACHE_SIZE)).map(bytes),
        max_persisting_l2: positive(get(device_attribute::MAX_PERSISTING_L2_CACHE_SIZE)).map(bytes),
        memory: Bytes::from_count(driver.device_memory(number).map_err(refused)?),
        memory_bus_bits: positive(get(device_attribute::GLOBAL_MEMORY_BUS_WIDTH)),
        max_sm_clock: clock(device_attribute::CLOCK_RATE, Clock::Sm),
        max_memory_clock: clock(device_attribute::MEMORY_CLOCK_RATE, Clock::Memory),
        base_sm_clock: identity
            .gpu
            .and_then(|gpu| gpu.base_clock(Clock::Sm))
            .map(nvml::megahertz),
        power_limit_watts: identity
            .gpu
            .and_then(Gpu::power_limit)
            .map(|limit| f64::from(limit) / 1e3),
        max_threads_per_block: get(device_attribute::MAX_THREADS_PER_BLOCK).unwrap_or(1024),
        shared_per_block: bytes(shared),
        shared_per_block_opt_in: bytes(
            positive(get(device_attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)).unwrap_or(shared),
        ),
        has_clusters: get(device_attribute::CLUSTER_LAUNCH).is_some_and(|value| value != 0),
        copy_engines: get(device_attribute::ASYNC_ENGINE_COUNT),
        is_ecc_on: get(device_attribute::ECC_ENABLED).map(|value| value != 0),
        is_mig: identity.is_mig,
        is_persistent: identity.gpu.and_then(Gpu::is_persistent),
        has_display_watchdog: get(device_attribute::KERNEL_EXEC_TIMEOUT).map(|value| value != 0),
        driver: Some(driver.version()),
        driver_release: None,
        compiler: None,
        sensors: SensorSource::Absent {
            reason: String::new(),
        },
        timer_step: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_written_as_everybody_writes_them() {
        let uuid = [
            0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x00, 0x11, 0x22, 0x33, 0x44, 0x55,
            0x66, 0x77,
        ];
        assert_eq!(uuid_text(&uuid), "01234567-89ab-cdef-0011-223344556677");
    }
}
