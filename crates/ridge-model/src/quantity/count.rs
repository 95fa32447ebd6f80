//! Counts that are quantities of their own: operations and cycles.

use std::fmt::{self, Display, Formatter};

use super::{Amount, Hertz, Nanos, Unit};

super::quantity! {
    /// A number of floating-point operations (not a rate); a fused multiply-add counts as two.
    Flops
}

super::quantity! {
    /// A number of clock cycles.
    Cycles
}

impl Flops {
    /// The rate at which these operations run in `time`.
    #[must_use]
    pub const fn per(self, time: Nanos) -> Amount {
        Amount::new(self.0 / time.seconds(), Unit::FLOPS_PER_SECOND)
    }
}

impl Cycles {
    /// How long these cycles take at a clock rate.
    #[must_use]
    pub const fn at(self, clock: Hertz) -> Nanos {
        Nanos::from_seconds(self.0 / clock.get())
    }
}

impl Display for Flops {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Amount::new(self.0, Unit::FLOPS).fmt(f)
    }
}

impl Display for Cycles {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Amount::new(self.0, Unit::CYCLES).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_carry_their_unit() {
        assert_eq!(Flops::new(1.374e11).to_string(), "137 GFLOP");
        assert_eq!(
            Flops::new(1.374e11).per(Nanos::new(2e6)).to_string(),
            "68.7 TFLOP/s"
        );
        assert_eq!(Cycles::from_count(12_345).to_string(), "12,345 cycle");
        assert_eq!(Cycles::from_count(1_234_567).to_string(), "1.23 Mcycle");
        assert_eq!(
            Cycles::new(1_980.0).at(Hertz::new(1.98e9)).to_string(),
            "1.00 us"
        );
    }
}
