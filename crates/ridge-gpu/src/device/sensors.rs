//! What sensors of a device say at one moment.

use std::fmt;

use ridge_model::quantity::Hertz;

/// What sensors say at one moment. A sensor that is missing or does not answer is absent, never zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Readings {
    /// The SM clock.
    pub sm_clock: Option<Hertz>,
    /// The memory clock.
    pub memory_clock: Option<Hertz>,
    /// The power that the board draws, in watts.
    pub power_watts: Option<f64>,
    /// The energy that the board has used since the driver was loaded, in joules.
    pub energy_joules: Option<f64>,
    /// The temperature of the GPU, in degrees Celsius.
    pub temperature_celsius: Option<f64>,
    /// What holds the clocks down at this moment.
    pub throttle: Option<ThrottleReasons>,
    /// Processes that compute on the GPU, this one included.
    pub processes: Option<Vec<GpuProcess>>,
}

/// A process on the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuProcess {
    /// Its number, as the driver sees it: inside a container it may be another one than the process itself sees.
    pub pid: u32,
    /// The memory that it holds, in bytes.
    pub memory_bytes: Option<u64>,
}

/// One reason for a clock below the highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ThrottleReason {
    /// Nothing runs.
    Idle,
    /// Somebody set application clocks.
    ApplicationClocks,
    /// The power limit.
    PowerCap,
    /// The hardware halves the clock or more: heat, power or the supply.
    HardwareSlowdown,
    /// The clocks follow those of other GPUs.
    SyncBoost,
    /// The temperature limit, by software.
    ThermalSlowdown,
    /// The temperature limit, by hardware.
    HardwareThermalSlowdown,
    /// The power supply asks for less.
    PowerBrake,
    /// The clock of a display.
    DisplayClocks,
}

impl ThrottleReason {
    /// All reasons, in the order of NVML's bits.
    pub const ALL: [Self; 9] = [
        Self::Idle,
        Self::ApplicationClocks,
        Self::PowerCap,
        Self::HardwareSlowdown,
        Self::SyncBoost,
        Self::ThermalSlowdown,
        Self::HardwareThermalSlowdown,
        Self::PowerBrake,
        Self::DisplayClocks,
    ];

    /// The bit of NVML.
    #[must_use]
    pub const fn bit(self) -> u64 {
        match self {
            Self::Idle => 0x1,
            Self::ApplicationClocks => 0x2,
            Self::PowerCap => 0x4,
            Self::HardwareSlowdown => 0x8,
            Self::SyncBoost => 0x10,
            Self::ThermalSlowdown => 0x20,
            Self::HardwareThermalSlowdown => 0x40,
            Self::PowerBrake => 0x80,
            Self::DisplayClocks => 0x100,
        }
    }

    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::ApplicationClocks => "application-clocks",
            Self::PowerCap => "power-cap",
            Self::HardwareSlowdown => "hardware-slowdown",
            Self::SyncBoost => "sync-boost",
            Self::ThermalSlowdown => "thermal-slowdown",
            Self::HardwareThermalSlowdown => "hardware-thermal-slowdown",
            Self::PowerBrake => "power-brake",
            Self::DisplayClocks => "display-clocks",
        }
    }

    /// Whether it slows work down, rather than telling that there is none or that somebody chose the clock.
    #[must_use]
    pub const fn is_slowdown(self) -> bool {
        !matches!(self, Self::Idle | Self::ApplicationClocks)
    }
}

/// A set of reasons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ThrottleReasons(u64);

impl ThrottleReasons {
    /// No reason.
    pub const NONE: Self = Self(0);

    /// The set of NVML's bits. Bits without a name are kept.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// NVML's bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// This set and one more reason.
    #[must_use]
    pub const fn with(self, reason: ThrottleReason) -> Self {
        Self(self.0 | reason.bit())
    }

    /// All reasons of both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a reason is in the set.
    #[must_use]
    pub const fn contains(self, reason: ThrottleReason) -> bool {
        self.0 & reason.bit() != 0
    }

    /// The reasons that have a name, in the order of NVML's bits.
    pub fn iter(self) -> impl Iterator<Item = ThrottleReason> {
        ThrottleReason::ALL
            .into_iter()
            .filter(move |reason| self.contains(*reason))
    }

    /// The bits that have no name.
    #[must_use]
    pub fn unnamed(self) -> u64 {
        ThrottleReason::ALL
            .into_iter()
            .fold(self.0, |rest, reason| rest & !reason.bit())
    }

    /// Whether any of it slows work down; a reason without a name counts as one.
    #[must_use]
    pub fn is_slowdown(self) -> bool {
        self.unnamed() != 0 || self.iter().any(ThrottleReason::is_slowdown)
    }
}

impl fmt::Display for ThrottleReasons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<String> = self.iter().map(|reason| reason.name().to_owned()).collect();
        if self.unnamed() != 0 {
            names.push(format!("{:#x}", self.unnamed()));
        }
        if names.is_empty() {
            names.push("none".to_owned());
        }
        f.pad(&names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_without_a_name_are_kept_and_told() {
        let reasons = ThrottleReasons::from_bits(0x8004);
        assert_eq!(reasons.to_string(), "power-cap, 0x8000");
        assert_eq!(reasons.unnamed(), 0x8000);
        assert_eq!(ThrottleReasons::NONE.to_string(), "none");
    }

    #[test]
    fn an_idle_or_chosen_clock_is_no_slowdown() {
        let idle = ThrottleReasons::NONE.with(ThrottleReason::Idle);
        assert!(!idle.is_slowdown());
        assert!(!idle.with(ThrottleReason::ApplicationClocks).is_slowdown());
        assert!(idle.with(ThrottleReason::PowerCap).is_slowdown());
        assert!(ThrottleReasons::from_bits(0x1000).is_slowdown());
    }

    #[test]
    fn every_reason_has_its_own_bit() {
        let all = ThrottleReason::ALL.into_iter();
        let set = all.fold(ThrottleReasons::NONE, ThrottleReasons::with);
        assert_eq!(set.bits(), 0x1ff);
        assert_eq!(set.iter().count(), 9);
    }
}
