//! Rates, and what two of them make together.

use std::fmt::{self, Display, Formatter};

use super::figures::{self, PLAIN};
use super::{Amount, Bytes, Flops, Hertz, Nanos, Ratio, Unit};

super::quantity! {
    /// Bytes a second: of a memory, a cache or a link in one direction.
    Bandwidth
}

super::quantity! {
    /// Operations a second. Integer operations are counted in the same way; see [`ComputeRate::of_integers`].
    ComputeRate
}

super::quantity! {
    /// Operations for each byte: arithmetic intensity, and the ridge point of a roofline.
    Intensity
}

impl Bandwidth {
    /// A rate as data sheets give it, in units of 10^9 bytes a second.
    #[must_use]
    pub const fn from_gb_per_s(value: f64) -> Self {
        Self(value * 1e9)
    }
}

impl ComputeRate {
    /// A rate as data sheets give it, in units of 10^12 operations a second.
    #[must_use]
    pub const fn from_tera(value: f64) -> Self {
        Self(value * 1e12)
    }

    /// The rate of a number of units that each do `operations_per_cycle`.
    #[must_use]
    pub const fn of_units(units: f64, operations_per_cycle: f64, clock: Hertz) -> Self {
        Self(units * operations_per_cycle * clock.get())
    }

    /// The intensity at which this rate and a bandwidth are both used up: the ridge point.
    #[must_use]
    pub const fn ridge_point(self, bandwidth: Bandwidth) -> Intensity {
        Intensity(self.0 / bandwidth.get())
    }

    /// The same number for integer operations, which are no FLOP.
    #[must_use]
    pub const fn of_integers(self) -> Amount {
        Amount::new(self.0, Unit::from_static("OP/s"))
    }
}

impl Bytes {
    /// How long these bytes take at a bandwidth.
    #[must_use]
    pub const fn at(self, bandwidth: Bandwidth) -> Nanos {
        Nanos::from_seconds(self.get() / bandwidth.get())
    }
}

impl Flops {
    /// How long these operations take at a rate.
    #[must_use]
    pub const fn at(self, rate: ComputeRate) -> Nanos {
        Nanos::from_seconds(self.get() / rate.get())
    }

    /// Operations for each byte.
    #[must_use]
    pub const fn for_each(self, bytes: Bytes) -> Intensity {
        Intensity::new(self.get() / bytes.get())
    }
}

impl Intensity {
    /// What can be attained at this intensity under a slope and a roof.
    #[must_use]
    pub const fn attainable(self, bandwidth: Bandwidth, roof: ComputeRate) -> ComputeRate {
        ComputeRate(roof.get().min(self.0 * bandwidth.get()))
    }

    /// The same for people, with the unit of integer operations where they are meant.
    #[must_use]
    pub fn text(self, is_integer: bool) -> String {
        let unit = if is_integer { "OP/byte" } else { "FLOP/byte" };
        // No prefix: people compare these numbers with each other.
        let (digits, _) = figures::scaled(self.0, 3, PLAIN);
        format!("{digits} {unit}")
    }

    /// How far right of a ridge point this is; below one is left of it.
    #[must_use]
    pub const fn over(self, ridge: Self) -> Ratio {
        Ratio::new(self.0 / ridge.0)
    }
}

impl Display for Bandwidth {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Amount::new(self.0, Unit::BYTES_PER_SECOND).fmt(f)
    }
}

impl Display for ComputeRate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Amount::new(self.0, Unit::FLOPS_PER_SECOND).fmt(f)
    }
}

impl Display for Intensity {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        figures::pad(f, &self.text(false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_read_as_on_a_data_sheet() {
        assert_eq!(Bandwidth::from_gb_per_s(3352.0).to_string(), "3.35 TB/s");
        assert_eq!(ComputeRate::from_tera(989.4).to_string(), "989 TFLOP/s");
        assert_eq!(
            ComputeRate::from_tera(1978.9).of_integers().to_string(),
            "1.98 POP/s"
        );
        assert_eq!(Intensity::new(12.53).to_string(), "12.5 FLOP/byte");
        assert_eq!(Intensity::new(2730.7).to_string(), "2,731 FLOP/byte");
        assert_eq!(Intensity::new(683.0).text(true), "683 OP/byte");
    }

    /// By hand: 132 SMs, 256 operations, 1.98 GHz.
    #[test]
    fn units_cycles_and_clock_make_a_peak() {
        let peak = ComputeRate::of_units(132.0, 256.0, Hertz::new(1.98e9));
        assert_eq!(format!("{peak:.4}"), "66.91 TFLOP/s");
    }

    #[test]
    fn slope_and_roof_meet_at_the_ridge_point() {
        let (bandwidth, roof) = (
            Bandwidth::from_gb_per_s(1555.0),
            ComputeRate::from_tera(19.49),
        );
        let ridge = roof.ridge_point(bandwidth);
        assert_eq!(ridge.to_string(), "12.5 FLOP/byte");
        let attained = |intensity: f64| Intensity::new(intensity).attainable(bandwidth, roof).get();
        assert!((attained(1.0) - 1.555e12).abs() < 1.0);
        assert!((attained(ridge.get() * 2.0) - 19.49e12).abs() < 1.0);
        assert!(Intensity::new(1.0).over(ridge).get() < 1.0);
    }
}
