//! How a grid runs: waves of blocks, and what the last one leaves idle.

use crate::quantity::Ratio;

/// A grid on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waves {
    /// Blocks of the grid.
    pub grid_blocks: u64,
    /// Blocks that the whole device holds at once.
    pub wave_blocks: u64,
    /// SMs of the device.
    pub sms: u32,
}

impl Waves {
    /// A grid on so many SMs with so many resident blocks each; absent when nothing is resident.
    #[must_use]
    pub fn new(grid_blocks: u64, sms: u32, blocks_per_sm: u32) -> Option<Self> {
        let wave_blocks = u64::from(sms) * u64::from(blocks_per_sm);
        (wave_blocks > 0 && grid_blocks > 0).then_some(Self {
            grid_blocks,
            wave_blocks,
            sms,
        })
    }

    /// Blocks of the grid over those of a wave. Divided in the order of the profiler: the last digit is the same too.
    #[must_use]
    pub fn waves(self) -> f64 {
        let sms = f64::from(self.sms);
        self.grid_blocks as f64 / sms / (self.wave_blocks as f64 / sms)
    }

    /// Waves that are full.
    #[must_use]
    pub const fn full(self) -> u64 {
        self.grid_blocks / self.wave_blocks
    }

    /// Blocks of the last wave, when it is not full.
    #[must_use]
    pub const fn tail_blocks(self) -> u64 {
        self.grid_blocks % self.wave_blocks
    }

    /// The part of the device's room for blocks that the grid uses when all blocks take equally long and run wave by
    /// wave: waves over waves rounded up.
    #[must_use]
    pub fn used(self) -> Ratio {
        let rounded = self.grid_blocks.div_ceil(self.wave_blocks);
        Ratio::new(self.waves() / rounded as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_of_a_report() {
        // 262,144 blocks, 8 on each of 132 SMs: the report says 248.24 waves.
        let waves = Waves::new(262_144, 132, 8).unwrap();
        assert_eq!(
            waves.waves().to_bits(),
            248.242_424_242_424_25_f64.to_bits()
        );
        assert_eq!((waves.full(), waves.tail_blocks()), (248, 256));
    }

    #[test]
    fn a_little_more_than_a_wave_wastes_half() {
        let waves = Waves::new(1057, 132, 8).unwrap();
        assert_eq!((waves.full(), waves.tail_blocks()), (1, 1));
        assert_eq!(waves.used().to_string(), "50.0 %");
    }

    #[test]
    fn nothing_resident_has_no_waves() {
        assert_eq!(Waves::new(10, 132, 0), None);
        assert_eq!(Waves::new(0, 132, 8), None);
    }
}
