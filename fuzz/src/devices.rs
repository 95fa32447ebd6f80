//! What the fuzz target for tables of devices does with its input. The replay in `crates/ridge-model/tests/replay.rs`
//! includes this file too.

use ridge_model::Devices;

/// A table of devices, as `--devices FILE` takes it.
pub fn devices(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    match Devices::parse(text) {
        Ok(own) => {
            let all = Devices::known().with(own.clone());
            for device in own.iter().take(64) {
                // A name that was read can be looked up, and every rate that is shown can be computed.
                let _ = all.find(&device.name);
                let _ = (device.memory_roofs(), device.l1_bandwidth());
                for peak in &device.peaks {
                    assert!(peak.rate.get() > 0.0);
                    let _ = (device.derived(peak), peak.label());
                }
                for column in Devices::columns() {
                    let _ = device.cell(column);
                }
            }
        }
        Err(error) => assert!(!error.to_string().is_empty() && error.code().starts_with("MOD")),
    }
}
