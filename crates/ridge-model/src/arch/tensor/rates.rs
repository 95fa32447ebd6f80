//! Rates of the matrix pipes, one list for each generation.

use super::super::{ComputeCapability, Source};
use super::{Family, Operands, Rate};

use Operands::{
    Bf16, Fp4, Fp8IntoFp16, Fp8IntoFp32, Fp16IntoFp16, Fp16IntoFp32, Fp64, Int1, Int4, Int8, Tf32,
};

pub(super) fn of(capability: ComputeCapability) -> &'static [Rate] {
    match (capability.major, capability.minor) {
        (7, 0) => VOLTA,
        (7, 2) => XAVIER,
        (7, 5) => TURING,
        (8, 0) => AMPERE,
        (8, 6) => GA10X,
        (8, 9) => ADA,
        (9, 0) => HOPPER,
        (10, 0) => BLACKWELL,
        (12, 0) => BLACKWELL_RTX,
        // Peaks of 8.7, 10.3 and 11.0 are published for whole chips in terms that leave SMs or clock open; for 12.1
        // only the 4-bit peak is.
        _ => &[],
    }
}

/// A rate of the data sheets that every board has.
const fn sheet(operands: Operands, dense: f64) -> Rate {
    Rate {
        operands,
        family: Family::Warp,
        dense,
        sparse: None,
        geforce_share: Some(1.0),
        source: Source::DataSheet,
    }
}

impl Rate {
    /// 2:4 sparsity doubles the rate.
    const fn doubled(self) -> Self {
        Self {
            sparse: Some(2.0 * self.dense),
            ..self
        }
    }

    /// With 2:4 sparsity the rate is this.
    const fn sparse(self, sparse: f64) -> Self {
        Self {
            sparse: Some(sparse),
            ..self
        }
    }

    /// GeForce boards do half of it.
    const fn halved(self) -> Self {
        Self {
            geforce_share: Some(0.5),
            ..self
        }
    }

    /// What GeForce boards do is not known.
    const fn professional(self) -> Self {
        Self {
            geforce_share: None,
            ..self
        }
    }

    /// Made by four warps together.
    const fn by_group(self) -> Self {
        Self {
            family: Family::WarpGroup,
            ..self
        }
    }

    const fn stored(self) -> Self {
        Self {
            source: Source::StoredPeak,
            ..self
        }
    }

    const fn measured(self) -> Self {
        Self {
            source: Source::PublishedMeasurement,
            ..self
        }
    }
}

/// 125 TFLOP/s of V100: 80 SMs at 1530 MHz.
const VOLTA: &[Rate] = &[sheet(Fp16IntoFp32, 1024.0), sheet(Fp16IntoFp16, 1024.0)];

/// 11 TFLOP/s and 22 TOP/s of Jetson AGX Xavier: 8 SMs at 1377 MHz.
const XAVIER: &[Rate] = &[
    sheet(Fp16IntoFp32, 1024.0),
    sheet(Fp16IntoFp16, 1024.0),
    sheet(Int8, 2048.0),
];

/// 65 TFLOP/s of T4: 40 SMs at 1590 MHz.
const TURING: &[Rate] = &[
    sheet(Fp16IntoFp32, 1024.0).professional(),
    sheet(Fp16IntoFp16, 1024.0),
    sheet(Int8, 2048.0),
    sheet(Int4, 4096.0),
];

const AMPERE: &[Rate] = &[
    sheet(Fp64, 128.0).stored(),
    sheet(Tf32, 1024.0).doubled().stored(),
    sheet(Bf16, 2048.0).doubled().stored(),
    sheet(Fp16IntoFp32, 2048.0).doubled().stored(),
    sheet(Fp16IntoFp16, 2048.0).doubled().stored(),
    sheet(Int8, 4096.0).doubled().stored(),
    sheet(Int4, 8192.0).doubled().stored(),
];

/// 149.7 TFLOP/s of A40, 250 TOP/s of A10, 71 TFLOP/s of RTX 3090.
const GA10X: &[Rate] = &[
    sheet(Tf32, 512.0).doubled().halved(),
    sheet(Bf16, 1024.0).doubled().halved(),
    sheet(Fp16IntoFp32, 1024.0).doubled().halved(),
    sheet(Fp16IntoFp16, 1024.0).doubled(),
    sheet(Int8, 2048.0).doubled(),
    sheet(Int4, 4096.0).doubled(),
];

/// 733 TFLOP/s of L40S, 330.3 TFLOP/s of RTX 4090.
const ADA: &[Rate] = &[
    sheet(Tf32, 512.0).doubled().halved(),
    sheet(Bf16, 1024.0).doubled().halved(),
    sheet(Fp16IntoFp32, 1024.0).doubled().halved(),
    sheet(Fp16IntoFp16, 1024.0).doubled(),
    sheet(Fp8IntoFp32, 2048.0).doubled().halved(),
    sheet(Fp8IntoFp16, 2048.0).doubled(),
    sheet(Int8, 2048.0).doubled(),
    sheet(Int4, 4096.0).doubled(),
];

/// Instructions of one warp reach two thirds of what four warps reach together, with sparsity one half.
const HOPPER: &[Rate] = &[
    sheet(Fp64, 256.0).stored(),
    sheet(Tf32, 4096.0 / 3.0).sparse(2048.0).stored(),
    sheet(Bf16, 8192.0 / 3.0).sparse(4096.0).stored(),
    sheet(Fp16IntoFp32, 8192.0 / 3.0).sparse(4096.0).stored(),
    sheet(Fp16IntoFp16, 8192.0 / 3.0).sparse(4096.0).stored(),
    sheet(Int8, 16_384.0 / 3.0).sparse(8192.0).stored(),
    sheet(Int1, 131_072.0 / 3.0).stored(),
    sheet(Tf32, 2048.0).by_group().doubled().stored(),
    sheet(Bf16, 4096.0).by_group().doubled().stored(),
    sheet(Fp16IntoFp32, 4096.0).by_group().doubled().stored(),
    sheet(Fp16IntoFp16, 4096.0).by_group().doubled().stored(),
    sheet(Fp8IntoFp32, 8192.0).by_group().doubled().stored(),
    sheet(Fp8IntoFp16, 8192.0).by_group().doubled().stored(),
    sheet(Int8, 8192.0).by_group().doubled().stored(),
    sheet(Int1, 65_536.0).by_group().stored(),
];

/// 2250, 4500 and 9000 TFLOP/s of B200: 148 SMs, at a clock that was fitted to these peaks. What instructions of one
/// warp reach of it is not known.
const BLACKWELL: &[Rate] = &[
    sheet(Fp64, 128.0),
    sheet(Tf32, 4096.0).by_group(),
    sheet(Bf16, 8192.0).by_group(),
    sheet(Fp16IntoFp32, 8192.0).by_group(),
    sheet(Fp16IntoFp16, 8192.0).by_group(),
    sheet(Fp8IntoFp32, 16_384.0).by_group(),
    sheet(Fp4, 32_768.0).by_group(),
    sheet(Int8, 16_384.0).by_group(),
];

/// 419 and 1676 TFLOP/s of RTX 5090, 2000 of RTX PRO 6000, and a measurement on a board with 30 SMs.
const BLACKWELL_RTX: &[Rate] = &[
    sheet(Tf32, 512.0).doubled().halved().measured(),
    sheet(Bf16, 1024.0).doubled().halved().measured(),
    sheet(Fp16IntoFp32, 1024.0).doubled().halved().measured(),
    sheet(Fp16IntoFp16, 1024.0).doubled().measured(),
    sheet(Fp8IntoFp32, 2048.0).doubled().halved().measured(),
    sheet(Fp8IntoFp16, 2048.0).doubled().measured(),
    sheet(Fp4, 4096.0).doubled().measured(),
    sheet(Int8, 2048.0).doubled().measured(),
];
