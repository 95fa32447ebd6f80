//! What a device is, in a form that is stored and sent.

use ridge_gpu::Properties;
use ridge_model::ComputeCapability;
use ridge_model::device::Attributes;
use ridge_model::quantity::{Bytes, Hertz};

use crate::document::{Machine, Remark};
use crate::expression::{Names, Value};

/// Threads of a warp, on every device.
const WARP: i64 = 32;

impl Machine {
    /// What a device tells of itself.
    #[must_use]
    pub fn of(properties: &Properties) -> Self {
        let hertz = |clock: Option<Hertz>| clock.map(Hertz::get);
        Self {
            device: properties.name.clone(),
            is_simulated: properties.is_simulated(),
            known_as: None,
            uuid: properties.uuid.clone(),
            compute_capability: properties.capability.to_string(),
            multiprocessors: properties.multiprocessors,
            l2_bytes: properties.l2.map(Bytes::get),
            memory_bytes: properties.memory.get(),
            max_sm_clock_hz: hertz(properties.max_sm_clock),
            power_limit_w: properties.power_limit_watts,
            is_ecc_on: properties.is_ecc_on,
            is_mig: properties.is_mig,
            is_persistent: properties.is_persistent,
            driver: properties.driver_release.clone(),
            cuda: properties.driver.map(|version| version.to_string()),
            compiler: properties.compiler.map(|version| version.to_string()),
            shared_bytes_per_block: properties.shared_per_block_opt_in.get(),
            max_memory_clock_hz: hertz(properties.max_memory_clock),
            memory_bus_bits: properties.memory_bus_bits,
            has_display_watchdog: properties.has_display_watchdog,
            notes: notes(properties),
        }
    }

    /// What goes before the table of devices.
    #[must_use]
    pub fn attributes(&self) -> Attributes {
        Attributes {
            name: Some(self.device.clone()),
            capability: self.capability(),
            multiprocessors: Some(self.multiprocessors),
            sm_clock: self.max_sm_clock_hz.map(Hertz::new),
            memory_clock: self.max_memory_clock_hz.map(Hertz::new),
            memory_bus_bits: self.memory_bus_bits,
            memory: Some(Bytes::new(self.memory_bytes)),
            l2: self.l2_bytes.map(Bytes::new),
        }
    }

    fn capability(&self) -> Option<ComputeCapability> {
        let (major, minor) = self.compute_capability.split_once('.')?;
        Some(ComputeCapability {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    }

    /// The names that expressions of a spec may use.
    #[must_use]
    pub fn names(&self) -> Names {
        let mut names = Names::default();
        let mut set =
            |name: &str, value: f64| names.set(format!("device.{name}"), Value::Int(value as i64));
        set("sms", f64::from(self.multiprocessors));
        set("memory_bytes", self.memory_bytes);
        set("shared_bytes", self.shared_bytes_per_block);
        if let Some(l2) = self.l2_bytes {
            set("l2_bytes", l2);
        }
        names.set("device.warp", Value::Int(WARP));
        names
    }
}

fn notes(properties: &Properties) -> Vec<Remark> {
    let note = |id: &str, text: &str, hint: Option<&str>| Remark {
        id: id.to_owned(),
        text: text.to_owned(),
        hint: hint.map(str::to_owned),
    };
    let mut notes = Vec::new();
    if properties.is_simulated() {
        notes.push(note(
            "simulated",
            "the device is simulated: these figures are no measurements of anything",
            None,
        ));
    }
    if properties.is_mig == Some(true) {
        notes.push(note(
            "mig",
            "the device is a partition (MIG): neighbours share clocks, power and memory",
            None,
        ));
    }
    if properties.is_ecc_on == Some(false) {
        notes.push(note(
            "ecc-off",
            "ECC is off, which gives some boards more bandwidth",
            None,
        ));
    }
    if properties.is_persistent == Some(false) {
        notes.push(note(
            "no-persistence",
            "persistence mode is off: the driver starts anew for each process, with cold clocks",
            Some("`nvidia-smi -pm 1` as root"),
        ));
    }
    if properties.has_display_watchdog == Some(true) {
        notes.push(note(
            "display",
            "the device drives a display: kernels longer than its watchdog are ended",
            None,
        ));
    }
    notes
}
