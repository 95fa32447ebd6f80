//! The figures of each architecture against the peaks that the vendor prints for its boards: figures times SMs times
//! clock give the printed value within two per cent.
//!
//! SMs and clocks are those of the data sheets. Boards of 9.0 and 10.0 run their matrix pipes at a lower clock than the
//! others, which the printed peaks imply.

use ridge_model::arch::tensor::{Board, Family, Operands};
use ridge_model::{Architecture, ComputeCapability};

/// What a data sheet prints a peak for.
#[derive(Clone, Copy)]
enum Peak {
    Fp64,
    Fp32,
    /// Dense products with instructions of one warp.
    Warp(Operands),
    /// Dense products with instructions of four warps.
    Group(Operands),
}

use Operands::{
    Bf16, Fp4, Fp8IntoFp32, Fp16IntoFp16, Fp16IntoFp32, Fp64 as TensorFp64, Int8, Tf32,
};
use Peak::{Fp32, Fp64, Group, Warp};

/// Board, compute capability, SMs, clock in MHz, what, and the printed peak in TFLOP/s or TOP/s.
type Line = (&'static str, (u32, u32), f64, f64, Peak, f64);

const SHEETS: &[Line] = &[
    ("V100 SXM2", (7, 0), 80.0, 1530.0, Warp(Fp16IntoFp32), 125.0),
    ("V100 SXM2", (7, 0), 80.0, 1530.0, Fp32, 15.7),
    ("V100 SXM2", (7, 0), 80.0, 1530.0, Fp64, 7.8),
    ("T4", (7, 5), 40.0, 1590.0, Warp(Fp16IntoFp32), 65.0),
    ("T4", (7, 5), 40.0, 1590.0, Fp32, 8.1),
    ("A100", (8, 0), 108.0, 1410.0, Fp32, 19.5),
    ("A100", (8, 0), 108.0, 1410.0, Fp64, 9.7),
    ("A100", (8, 0), 108.0, 1410.0, Warp(TensorFp64), 19.5),
    ("A100", (8, 0), 108.0, 1410.0, Warp(Tf32), 156.0),
    ("A100", (8, 0), 108.0, 1410.0, Warp(Bf16), 312.0),
    ("A100", (8, 0), 108.0, 1410.0, Warp(Int8), 624.0),
    ("A30", (8, 0), 56.0, 1440.0, Warp(Bf16), 165.0),
    ("A10", (8, 6), 72.0, 1695.0, Warp(Int8), 250.0),
    ("A10", (8, 6), 72.0, 1695.0, Fp32, 31.2),
    ("A40", (8, 6), 84.0, 1740.0, Warp(Fp16IntoFp32), 149.7),
    (
        "GeForce RTX 3090",
        (8, 6),
        82.0,
        1695.0,
        Warp(Fp16IntoFp32),
        71.0,
    ),
    (
        "GeForce RTX 4090",
        (8, 9),
        128.0,
        2520.0,
        Warp(Fp8IntoFp32),
        330.3,
    ),
    ("L4", (8, 9), 58.0, 2040.0, Warp(Fp16IntoFp32), 121.0),
    ("L40S", (8, 9), 142.0, 2520.0, Warp(Fp16IntoFp32), 362.05),
    ("L40S", (8, 9), 142.0, 2520.0, Warp(Fp8IntoFp32), 733.0),
    (
        "RTX 6000 Ada",
        (8, 9),
        142.0,
        2505.0,
        Warp(Fp8IntoFp32),
        728.5,
    ),
    ("H100 PCIe", (9, 0), 114.0, 1755.0, Fp32, 51.0),
    ("H100 PCIe", (9, 0), 114.0, 1620.0, Group(Bf16), 756.0),
    ("H100 SXM", (9, 0), 132.0, 1980.0, Fp32, 67.0),
    ("H100 SXM", (9, 0), 132.0, 1980.0, Fp64, 34.0),
    ("H100 SXM", (9, 0), 132.0, 1980.0, Warp(TensorFp64), 67.0),
    ("H100 SXM", (9, 0), 132.0, 1830.0, Group(Bf16), 989.4),
    (
        "H100 SXM",
        (9, 0),
        132.0,
        1830.0,
        Group(Fp8IntoFp32),
        1979.0,
    ),
    ("B200", (10, 0), 148.0, 1965.0, Fp32, 75.0),
    ("B200", (10, 0), 148.0, 1965.0, Fp64, 37.0),
    ("B200", (10, 0), 148.0, 1856.0, Group(Bf16), 2250.0),
    ("B200", (10, 0), 148.0, 1856.0, Group(Fp8IntoFp32), 4500.0),
    ("B200", (10, 0), 148.0, 1856.0, Group(Fp4), 9000.0),
    (
        "GeForce RTX 5070",
        (12, 0),
        48.0,
        2512.0,
        Warp(Fp16IntoFp16),
        123.5,
    ),
    (
        "GeForce RTX 5070",
        (12, 0),
        48.0,
        2512.0,
        Warp(Fp16IntoFp32),
        61.7,
    ),
    (
        "GeForce RTX 5090",
        (12, 0),
        170.0,
        2407.0,
        Warp(Fp16IntoFp16),
        419.0,
    ),
    (
        "GeForce RTX 5090",
        (12, 0),
        170.0,
        2407.0,
        Warp(Fp4),
        1676.0,
    ),
    ("RTX PRO 6000", (12, 0), 188.0, 2617.0, Fp32, 125.0),
    ("RTX PRO 6000", (12, 0), 188.0, 2617.0, Warp(Fp4), 2000.0),
];

#[test]
fn the_figures_give_the_printed_peaks() {
    for &(name, (major, minor), sms, mhz, peak, printed) in SHEETS {
        let architecture =
            Architecture::of(ComputeCapability { major, minor }).expect("a known capability");
        let dense = |operands, family| {
            architecture
                .tensor
                .rate(operands, family, false, Some(Board::of(name)))
        };
        // A multiply-add is two operations.
        let per_cycle = match peak {
            Fp32 => architecture
                .execution
                .fp32_lanes
                .map(|lanes| 2.0 * lanes.value),
            Fp64 => architecture
                .execution
                .fp64_lanes
                .map(|lanes| 2.0 * lanes.value),
            Warp(operands) => dense(operands, Family::Warp).map(|rate| rate.value),
            Group(operands) => dense(operands, Family::WarpGroup).map(|rate| rate.value),
        };
        let tera = per_cycle.expect("a figure that has a headline is known") * sms * mhz * 1e-6;
        assert!(
            (tera / printed - 1.0).abs() < 0.02,
            "{name}: {tera:.1} computed, {printed} printed"
        );
    }
}

/// The sheet of Jetson AGX Xavier (8 SMs at 1377 MHz) prints whole numbers, cut off: 11 TFLOP/s and 22 TOP/s.
#[test]
fn whole_printed_numbers_are_cut_off() {
    let xavier =
        Architecture::of(ComputeCapability { major: 7, minor: 2 }).expect("a known capability");
    for (operands, printed) in [(Fp16IntoFp32, 11.0), (Int8, 22.0)] {
        let rate = xavier
            .tensor
            .rate(operands, Family::Warp, false, Some(Board::Professional))
            .expect("a figure that has a headline is known");
        let tera = rate.value * 8.0 * 1377.0 * 1e-6;
        assert!((printed..printed + 1.0).contains(&tera), "{tera:.1}");
    }
}
