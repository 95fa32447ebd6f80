//! Which device is simulated, and what happens to it.

use std::fmt;

use ridge_model::device::DeviceError as UnknownDevice;
use ridge_model::quantity::Nanos;
use ridge_model::{Device, Devices};

use crate::device::ThrottleReason;
use crate::error::Fault;

use super::cheats::Cheat;

/// Which device is simulated, and what happens to it.
///
/// From text ([`SimOptions::parse`]), as behind `sim:` on the command line:
///
/// ```
/// use ridge_gpu::SimOptions;
///
/// let options = SimOptions::parse("h200,seed=7,noise=0.01,throttle=50ms:0.8,wrong=scale:10").unwrap();
/// assert_eq!(options.device.name, "H200 SXM");
/// assert_eq!(options.faults.len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SimOptions {
    /// The device.
    pub device: Device,
    /// The seed of all noise. The same seed and the same calls give the same figures.
    pub seed: u64,
    /// Standard deviation of a kernel's time, relative to it.
    pub noise: f64,
    /// Standard deviation of a factor that all times of one opened device have in common, as processes differ.
    pub process_effect: f64,
    /// How much longer kernels get in each second of simulated time, relative to their time.
    pub drift: f64,
    /// Launches that are slow by chance.
    pub bimodal: Option<Bimodal>,
    /// Clocks that fall.
    pub throttle: Option<Throttle>,
    /// How long the device has to work until it reaches its clock, from 60 % on.
    pub warm_up: Nanos,
    /// Whether there are sensors.
    pub has_sensors: bool,
    /// Whether the kernels that stamp cycles and time store nothing.
    pub probe_fails: bool,
    /// Whether another process is on the GPU.
    pub is_shared: bool,
    /// The share of the memory that others hold.
    pub memory_taken: f64,
    /// How many other devices of the same kind the machine has, over NVLink where the table has it, else over PCIe.
    pub peers: u32,
    /// What goes wrong with kernels.
    pub faults: Vec<SimFault>,
}

/// Launches that are slow by chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bimodal {
    /// The share that is slow, 0 to 1.
    pub share: f64,
    /// How much slower they are.
    pub factor: f64,
}

/// Clocks that fall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throttle {
    /// When, in time of the host since the device was opened.
    pub after: Nanos,
    /// To which share of the highest clock.
    pub factor: f64,
    /// What the sensors give as the reason.
    pub reason: ThrottleReason,
}

/// Something that goes wrong with a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimFault {
    /// The kernel's name.
    pub kernel: String,
    /// How many launches of it are fine before.
    pub after_launches: u64,
    /// What goes wrong.
    pub what: SimFaultKind,
}

/// What goes wrong with a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SimFaultKind {
    /// It never ends.
    Hang,
    /// It ends the context.
    Ends(Fault),
    /// It writes other values than other kernels for the same problem.
    WrongOutput,
    /// It does nothing at all.
    NoWork,
    /// A thread may have only a quarter of the threads of a block, for want of registers.
    Registers,
    /// Its launch waits until the device is idle, as of a module that is loaded only then.
    Waits,
    /// It works in another stream than the one that it was launched in.
    OtherStream,
    /// It was built for debugging, and is 20 times slower.
    Debug,
    /// It is not what it seems to be.
    Cheats(Cheat),
}

impl SimFaultKind {
    const NAMES: [(&'static str, Self); 16] = [
        ("hang", Self::Hang),
        ("illegal", Self::Ends(Fault::IllegalAddress)),
        ("misaligned", Self::Ends(Fault::MisalignedAddress)),
        ("trap", Self::Ends(Fault::Trap)),
        ("wrong", Self::WrongOutput),
        ("nowork", Self::NoWork),
        ("registers", Self::Registers),
        ("waits", Self::Waits),
        ("stream", Self::OtherStream),
        ("debug", Self::Debug),
        ("stale", Self::Cheats(Cheat::Stale)),
        ("cached", Self::Cheats(Cheat::Cached)),
        ("peeks", Self::Cheats(Cheat::Peeks)),
        ("tail", Self::Cheats(Cheat::Tail)),
        ("rapid", Self::Cheats(Cheat::Rapid)),
        ("spoils", Self::Cheats(Cheat::Spoils)),
    ];
}

/// Why a text does not describe a simulated device.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SimOptionsError {
    /// The device is not known, or several fit.
    Device(UnknownDevice),
    /// There is no such setting.
    UnknownKey {
        /// The setting.
        key: String,
        /// Those that there are.
        known: Vec<&'static str>,
    },
    /// The value of a setting is none.
    Value {
        /// The setting.
        key: String,
        /// Its value.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
}

impl SimOptionsError {
    /// The stable code of the reason.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Device(_) => "GPU0150",
            Self::UnknownKey { .. } => "GPU0151",
            Self::Value { .. } => "GPU0152",
        }
    }
}

impl fmt::Display for SimOptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device(reason) => reason.fmt(f),
            Self::UnknownKey { key, known } => {
                write!(
                    f,
                    "a simulated device has no setting {key}; it has {}",
                    known.join(", ")
                )
            }
            Self::Value {
                key,
                value,
                expected,
            } => {
                write!(f, "{key}={value} is not {expected}")
            }
        }
    }
}

impl std::error::Error for SimOptionsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Device(reason) => Some(reason),
            _ => None,
        }
    }
}

/// Settings that are no faults.
const KEYS: [&str; 11] = [
    "seed", "noise", "process", "drift", "bimodal", "throttle", "warmup", "sensors", "probe",
    "shared", "peers",
];
/// More GPUs than these are in no machine.
const MOST_PEERS: u32 = 63;

impl SimOptions {
    /// A device, with the noise of a quiet machine and nothing else.
    #[must_use]
    pub const fn new(device: Device) -> Self {
        Self {
            device,
            seed: 1,
            noise: 0.003,
            process_effect: 0.0,
            drift: 0.0,
            bimodal: None,
            throttle: None,
            warm_up: Nanos::ZERO,
            has_sensors: true,
            probe_fails: false,
            is_shared: false,
            memory_taken: 0.0,
            peers: 0,
            faults: Vec::new(),
        }
    }

    /// A device of the built-in table by its name; see [`Devices::find`].
    ///
    /// # Errors
    /// When no device or more than one fits.
    pub fn named(name: &str) -> Result<Self, SimOptionsError> {
        let device = Devices::known()
            .find(name)
            .map_err(SimOptionsError::Device)?;
        Ok(Self::new(device.clone()))
    }

    /// A device of the built-in table and settings: `NAME[,KEY=VALUE…]`.
    ///
    /// | setting | value |
    /// |---|---|
    /// | `seed` | a whole number |
    /// | `noise`, `process` | relative standard deviations, of each time and of all times together |
    /// | `drift` | relative, a second |
    /// | `bimodal` | `SHARE:FACTOR` |
    /// | `throttle` | `TIME:FACTOR`: when clocks fall and to what share |
    /// | `warmup` | a time |
    /// | `sensors`, `probe` | `on`, `off` |
    /// | `shared` | the share of the memory that another process holds |
    /// | `peers` | how many other devices of the same kind the machine has |
    /// | `hang`, `illegal`, `misaligned`, `trap`, `wrong`, `nowork`, `registers`, `waits`, `stream`, `debug`, `stale`, `cached`, `peeks`, `tail`, `rapid`, `spoils` | `KERNEL[:LAUNCHES]`: what goes wrong with a kernel, after so many launches |
    ///
    /// # Errors
    /// When it is not that.
    pub fn parse(text: &str) -> Result<Self, SimOptionsError> {
        Self::parse_among(text, Devices::known())
    }

    /// The same, for a device of a table of one's own.
    ///
    /// # Errors
    /// As [`SimOptions::parse`].
    pub fn parse_among(text: &str, devices: &Devices) -> Result<Self, SimOptionsError> {
        let mut parts = text.split(',').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let device = devices.find(name).map_err(SimOptionsError::Device)?;
        let mut options = Self::new(device.clone());
        for part in parts.filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            options.set(key.trim(), value.trim())?;
        }
        Ok(options)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), SimOptionsError> {
        let expected = |expected| SimOptionsError::Value {
            key: key.to_owned(),
            value: value.to_owned(),
            expected,
        };
        let share = |text: &str| {
            let number = text.parse::<f64>().ok();
            number
                .filter(|number| (0.0..=1.0).contains(number))
                .ok_or_else(|| expected("a number from 0 to 1"))
        };
        let factor = |text: &str| {
            let number = text.parse::<f64>().ok();
            number
                .filter(|number| *number > 0.0 && *number <= 1000.0)
                .ok_or_else(|| expected("a factor from 0 to 1000"))
        };
        // Elsewhere a time of nothing is a mistake; here it means from the start.
        let time = |text: &str| {
            let nothing = (text == "0").then_some(Nanos::ZERO);
            nothing
                .or_else(|| text.parse().ok())
                .ok_or_else(|| expected("a time, such as 50ms"))
        };
        let switch = || match value {
            "on" => Ok(true),
            "off" => Ok(false),
            _ => Err(expected("on or off")),
        };
        let pair = |what| value.split_once(':').ok_or_else(|| expected(what));
        match key {
            "seed" => self.seed = value.parse().map_err(|_| expected("a whole number"))?,
            "noise" => self.noise = share(value)?,
            "process" => self.process_effect = share(value)?,
            "drift" => {
                let number = value
                    .parse::<f64>()
                    .ok()
                    .filter(|drift| drift.abs() <= 10.0);
                self.drift = number.ok_or_else(|| expected("a number from -10 to 10"))?;
            }
            "bimodal" => {
                let (part, slower) = pair("SHARE:FACTOR")?;
                self.bimodal = Some(Bimodal {
                    share: share(part)?,
                    factor: factor(slower)?,
                });
            }
            "throttle" => {
                let (after, to) = pair("TIME:FACTOR")?;
                self.throttle = Some(Throttle {
                    after: time(after)?,
                    factor: share(to)?.max(0.01),
                    reason: ThrottleReason::PowerCap,
                });
            }
            "warmup" => self.warm_up = time(value)?,
            "sensors" => self.has_sensors = switch()?,
            "probe" => self.probe_fails = !switch()?,
            "shared" => {
                self.is_shared = true;
                self.memory_taken = share(value)?;
            }
            "peers" => {
                let count = value.parse().ok().filter(|count| *count <= MOST_PEERS);
                self.peers = count.ok_or_else(|| expected("a whole number from 0 to 63"))?;
            }
            _ => {
                let fault = SimFaultKind::NAMES.iter().find(|(name, _)| *name == key);
                let Some((_, what)) = fault else {
                    let faults = SimFaultKind::NAMES.iter().map(|(name, _)| *name);
                    return Err(SimOptionsError::UnknownKey {
                        key: key.to_owned(),
                        known: KEYS.into_iter().chain(faults).collect(),
                    });
                };
                // A mangled name has no colon.
                let (kernel, after) = value.split_once(':').unwrap_or((value, "0"));
                if kernel.is_empty() {
                    return Err(expected("the name of a kernel"));
                }
                self.faults.push(SimFault {
                    kernel: kernel.to_owned(),
                    after_launches: after.parse().map_err(|_| expected("KERNEL:LAUNCHES"))?,
                    what: *what,
                });
            }
        }
        Ok(())
    }

    /// What is wrong with a kernel at one of its launches, counted from 0.
    pub(super) fn fault(&self, kernel: &str, launch: u64) -> Option<SimFaultKind> {
        self.faults
            .iter()
            .find(|fault| fault.kernel == kernel && launch >= fault.after_launches)
            .map(|fault| fault.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read() {
        let options = SimOptions::parse(
            "H100 SXM, seed=9, drift=-0.1, bimodal=0.25:1.5, throttle=2s:0.8, warmup=1s, sensors=off, probe=off, \
             shared=0.5, peers=7, hang=k, illegal=_Z1kPf:3",
        )
        .unwrap();
        assert_eq!(options.device.name, "H100 SXM");
        assert_eq!(options.seed, 9);
        assert!((options.drift + 0.1).abs() < 1e-12);
        assert!(!options.has_sensors && options.probe_fails && options.is_shared);
        assert_eq!(options.peers, 7);
        assert_eq!(options.throttle.unwrap().after, Nanos::from_seconds(2.0));
        assert_eq!(options.fault("k", 0), Some(SimFaultKind::Hang));
        assert_eq!(options.fault("_Z1kPf", 2), None);
        assert_eq!(
            options.fault("_Z1kPf", 3),
            Some(SimFaultKind::Ends(Fault::IllegalAddress))
        );
    }

    #[test]
    fn what_is_no_setting_is_refused_with_what_is() {
        let error = |text: &str| SimOptions::parse(text).unwrap_err();
        assert!(error("h999").to_string().contains("h999"));
        assert_eq!(error("h999").code(), "GPU0150");
        assert!(
            error("h200,sed=1")
                .to_string()
                .contains("it has seed, noise")
        );
        for wrong in [
            "seed=-1",
            "seed",
            "noise=2",
            "noise=nan",
            "drift=inf",
            "bimodal=0.5",
            "throttle=x:0.5",
            "throttle=1s:2",
            "warmup=-1s",
            "sensors=yes",
            "peers=64",
            "peers=-1",
            "hang=",
            "hang=k:x",
        ] {
            assert_eq!(error(&format!("h200,{wrong}")).code(), "GPU0152", "{wrong}");
        }
    }
}
