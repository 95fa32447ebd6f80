//! Peaks that the vendor prints for its boards against what architecture, multiprocessors and clock make: they agree
//! within two per cent.

use ridge_model::NumberFormat::{self, Bf16, Fp4, Fp8E4m3, Fp16, Fp32, Fp64, Int8, Tf32};
use ridge_model::arch::tensor::{Board, Family, Operands};
use ridge_model::{Architecture, ComputeCapability, Devices, PeakRequest, PeakUnit};

/// What a peak is printed for.
#[derive(Clone, Copy, Debug)]
enum Printed {
    /// Ordinary arithmetic.
    Vector(NumberFormat),
    /// Dense matrix products with the usual sums.
    Tensor(NumberFormat),
    /// Dense matrix products summed in FP16.
    IntoFp16(NumberFormat),
}

use Printed::{IntoFp16, Tensor, Vector};

/// Device, what, and the printed dense peak in TFLOP/s or TOP/s; sheets that print the sparse one were halved.
const SHEETS: &[(&str, Printed, f64)] = &[
    ("V100 SXM2", Tensor(Fp16), 125.0),
    ("V100 SXM2", Vector(Fp32), 15.7),
    ("V100 SXM2", Vector(Fp64), 7.8),
    ("T4", Tensor(Fp16), 65.0),
    ("T4", Vector(Fp32), 8.1),
    ("A100 40 SXM4", Vector(Fp32), 19.5),
    ("A100 40 SXM4", Vector(Fp64), 9.7),
    ("A100 40 SXM4", Tensor(Fp64), 19.5),
    ("A100 40 SXM4", Tensor(Tf32), 156.0),
    ("A100 80 SXM4", Tensor(Bf16), 312.0),
    ("A100 80 PCIe", Tensor(Int8), 624.0),
    ("A30", Tensor(Bf16), 165.0),
    ("A10", Tensor(Int8), 250.0),
    ("A10", Vector(Fp32), 31.2),
    ("A40", Tensor(Fp16), 149.7),
    ("RTX 3090", Tensor(Fp16), 71.0),
    ("RTX 4090", Tensor(Fp8E4m3), 330.3),
    ("L4", Tensor(Fp16), 121.0),
    ("L40S", Tensor(Fp16), 362.05),
    ("L40S", Tensor(Fp8E4m3), 733.0),
    ("RTX 6000 Ada", Tensor(Fp8E4m3), 728.5),
    ("H100 PCIe", Vector(Fp32), 51.0),
    ("H100 PCIe", Tensor(Bf16), 756.0),
    ("H100 SXM", Vector(Fp32), 67.0),
    ("H100 SXM", Vector(Fp64), 34.0),
    ("H100 SXM", Tensor(Fp64), 67.0),
    ("H100 SXM", Tensor(Bf16), 989.4),
    ("H100 SXM", Tensor(Fp8E4m3), 1979.0),
    ("B200", Vector(Fp32), 75.0),
    ("B200", Vector(Fp64), 37.0),
    ("B200", Tensor(Bf16), 2250.0),
    ("B200", Tensor(Fp8E4m3), 4500.0),
    ("B200", Tensor(Fp4), 9000.0),
    ("RTX 5070", IntoFp16(Fp16), 123.5),
    ("RTX 5070", Tensor(Fp16), 61.7),
    ("RTX 5090", IntoFp16(Fp16), 419.0),
    ("RTX 5090", Tensor(Fp4), 1676.0),
    ("RTX PRO 6000 WS", Vector(Fp32), 125.0),
    ("RTX PRO 6000 WS", Tensor(Fp4), 2000.0),
];

#[test]
fn architecture_and_device_give_the_printed_peaks() {
    for &(name, what, printed) in SHEETS {
        let device = Devices::known().find(name).unwrap();
        let request = match what {
            Vector(format) => PeakRequest::of(format).on(PeakUnit::Vector),
            Tensor(format) => PeakRequest::of(format).on(PeakUnit::Tensor),
            IntoFp16(format) => PeakRequest {
                accumulator: Some(Fp16),
                ..PeakRequest::of(format).on(PeakUnit::Tensor)
            },
        };
        let peak = device
            .peak(request)
            .unwrap_or_else(|| panic!("{name} has no {what:?}"));
        let derived = device
            .derived(peak)
            .expect("a peak that is printed can be derived");
        let tera = derived.get() * 1e-12;
        assert!(
            (tera / printed - 1.0).abs() < 0.02,
            "{name}, {what:?}: {tera:.1} computed, {printed} printed"
        );
    }
}

/// The sheet of Jetson AGX Xavier (8 SMs at 1377 MHz) prints whole numbers, cut off: 11 TFLOP/s and 22 TOP/s.
#[test]
fn whole_printed_numbers_are_cut_off() {
    let xavier =
        Architecture::of(ComputeCapability { major: 7, minor: 2 }).expect("a known capability");
    for (operands, printed) in [(Operands::Fp16IntoFp32, 11.0), (Operands::Int8, 22.0)] {
        let rate = xavier
            .tensor
            .rate(operands, Family::Warp, false, Some(Board::Professional))
            .expect("a figure that has a headline is known");
        let tera = rate.value * 8.0 * 1377.0 * 1e-6;
        assert!((printed..printed + 1.0).contains(&tera), "{tera:.1}");
    }
}
