//! Counters of matrix operations, by the names that the profiler gives them on each compute capability.

use super::super::ComputeCapability;
use super::{Counter, Family, Operands};

use Family::{Warp, WarpGroup};
use Operands::{
    Bf16, Fp4, Fp8IntoFp16, Fp8IntoFp32, Fp16IntoFp16, Fp16IntoFp32, Fp64, Int1, Int4, Int8, Tf32,
};

/// Names are those of the profiler's section files of version 2025.3; before 7.5 there are none.
pub(super) fn of(capability: ComputeCapability) -> &'static [Counter] {
    match (capability.major, capability.minor) {
        (7, 5) => TURING,
        (8, 0 | 6 | 7 | 9) => AMPERE,
        (9, 0) => HOPPER,
        (10, 0 | 3) | (11, 0) => BLACKWELL,
        (12, 0 | 1) => BLACKWELL_RTX,
        _ => &[],
    }
}

/// A counter whose stored peak belongs to what it counts.
const fn own(name: &'static str, operands: Operands) -> Counter {
    Counter {
        name,
        operands,
        family: Warp,
        is_sparse: false,
        has_own_peak: true,
    }
}

/// A total over dense and sparse products: it is set against the dense peak, and its stored peak is not used.
const fn total(name: &'static str, operands: Operands) -> Counter {
    Counter {
        has_own_peak: false,
        ..own(name, operands)
    }
}

impl Counter {
    const fn sparse(self) -> Self {
        Self {
            is_sparse: true,
            ..self
        }
    }

    const fn by_group(self) -> Self {
        Self {
            family: WarpGroup,
            ..self
        }
    }
}

/// Without sparsity every total has its own peak. The counter of 16-bit inputs with 32-bit sums counts two more kinds
/// of inputs by name that the pipe of 7.5 does not take.
const TURING: &[Counter] = &[
    own("sm__ops_path_tensor_src_fp16_dst_fp16", Fp16IntoFp16),
    own(
        "sm__ops_path_tensor_src_fp16_bf16_tf32_dst_fp32",
        Fp16IntoFp32,
    ),
    own("sm__ops_path_tensor_src_int8", Int8),
    own("sm__ops_path_tensor_src_int4", Int4),
    own("sm__ops_path_tensor_src_int1", Int1),
];

/// 8-bit floating point came with 8.9; its total does not tell the sums apart.
const AMPERE: &[Counter] = &[
    own("sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off", Bf16),
    own("sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_on", Bf16).sparse(),
    own(
        "sm__ops_path_tensor_src_fp16_dst_fp32_sparsity_off",
        Fp16IntoFp32,
    ),
    own(
        "sm__ops_path_tensor_src_fp16_dst_fp32_sparsity_on",
        Fp16IntoFp32,
    )
    .sparse(),
    own("sm__ops_path_tensor_src_tf32_dst_fp32_sparsity_off", Tf32),
    own("sm__ops_path_tensor_src_tf32_dst_fp32_sparsity_on", Tf32).sparse(),
    own(
        "sm__ops_path_tensor_src_fp16_dst_fp16_sparsity_off",
        Fp16IntoFp16,
    ),
    own(
        "sm__ops_path_tensor_src_fp16_dst_fp16_sparsity_on",
        Fp16IntoFp16,
    )
    .sparse(),
    own("sm__ops_path_tensor_src_fp8_sparsity_off", Fp8IntoFp32),
    own("sm__ops_path_tensor_src_fp8_sparsity_on", Fp8IntoFp32).sparse(),
    own("sm__ops_path_tensor_src_int8_sparsity_off", Int8),
    own("sm__ops_path_tensor_src_int8_sparsity_on", Int8).sparse(),
    own("sm__ops_path_tensor_src_int4_sparsity_off", Int4),
    own("sm__ops_path_tensor_src_int4_sparsity_on", Int4).sparse(),
    own("sm__ops_path_tensor_src_int1", Int1),
    own("sm__ops_path_tensor_src_fp64", Fp64),
];

/// Counted by family, since one warp and four warps have peaks of their own. 8-bit floating point is only in the
/// instructions of four warps.
const HOPPER: &[Counter] = &[
    own(
        "sm__ops_path_tensor_op_hgmma_src_fp16_sparsity_off",
        Fp16IntoFp32,
    )
    .by_group(),
    own(
        "sm__ops_path_tensor_op_hgmma_src_fp16_sparsity_on",
        Fp16IntoFp32,
    )
    .by_group()
    .sparse(),
    own(
        "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off",
        Bf16,
    )
    .by_group(),
    own(
        "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_on",
        Bf16,
    )
    .by_group()
    .sparse(),
    own(
        "sm__ops_path_tensor_op_hgmma_src_tf32_dst_fp32_sparsity_off",
        Tf32,
    )
    .by_group(),
    own(
        "sm__ops_path_tensor_op_hgmma_src_tf32_dst_fp32_sparsity_on",
        Tf32,
    )
    .by_group()
    .sparse(),
    own("sm__ops_path_tensor_op_igmma_src_int8_sparsity_off", Int8).by_group(),
    own("sm__ops_path_tensor_op_igmma_src_int8_sparsity_on", Int8)
        .by_group()
        .sparse(),
    own("sm__ops_path_tensor_op_bgmma_src_int1", Int1).by_group(),
    own("sm__ops_path_tensor_src_fp8_sparsity_off", Fp8IntoFp32).by_group(),
    own("sm__ops_path_tensor_src_fp8_sparsity_on", Fp8IntoFp32)
        .by_group()
        .sparse(),
    own(
        "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32_sparsity_off",
        Fp16IntoFp32,
    ),
    own(
        "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32_sparsity_on",
        Fp16IntoFp32,
    )
    .sparse(),
    own(
        "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp16_sparsity_off",
        Fp16IntoFp16,
    ),
    own(
        "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp16_sparsity_on",
        Fp16IntoFp16,
    )
    .sparse(),
    own(
        "sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32_sparsity_off",
        Bf16,
    ),
    own(
        "sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32_sparsity_on",
        Bf16,
    )
    .sparse(),
    own(
        "sm__ops_path_tensor_op_hmma_src_tf32_dst_fp32_sparsity_off",
        Tf32,
    ),
    own(
        "sm__ops_path_tensor_op_hmma_src_tf32_dst_fp32_sparsity_on",
        Tf32,
    )
    .sparse(),
    own("sm__ops_path_tensor_op_imma_src_int8_sparsity_off", Int8),
    own("sm__ops_path_tensor_op_imma_src_int8_sparsity_on", Int8).sparse(),
    own("sm__ops_path_tensor_op_bmma_src_int1", Int1),
    own("sm__ops_path_tensor_src_fp64", Fp64),
];

/// The totals mix one warp and four warps; they are set against the peak of the latter. The last two are 10.3's, which
/// counts 8-bit floating point by family only.
const BLACKWELL: &[Counter] = &[
    total("sm__ops_path_tensor_src_bf16_dst_fp32", Bf16).by_group(),
    total("sm__ops_path_tensor_src_fp16_dst_fp32", Fp16IntoFp32).by_group(),
    total("sm__ops_path_tensor_src_tf32_dst_fp32", Tf32).by_group(),
    total("sm__ops_path_tensor_src_fp16_dst_fp16", Fp16IntoFp16).by_group(),
    total("sm__ops_path_tensor_src_int8", Int8).by_group(),
    total("sm__ops_path_tensor_src_fp4_dst_fp32", Fp4).by_group(),
    total("sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp32", Fp8IntoFp32).by_group(),
    total("sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp16", Fp8IntoFp16).by_group(),
    own("sm__ops_path_tensor_src_fp64", Fp64),
    total("sm__ops_path_tensor_src_fp4_fp6_dst_fp32", Fp8IntoFp32).by_group(),
    total("sm__ops_path_tensor_src_fp4_fp6_dst_fp16", Fp8IntoFp16).by_group(),
];

const BLACKWELL_RTX: &[Counter] = &[
    own(
        "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32_sparsity_off",
        Fp16IntoFp32,
    ),
    own(
        "sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32_sparsity_off",
        Bf16,
    ),
    own(
        "sm__ops_path_tensor_op_hmma_src_tf32_dst_fp32_sparsity_off",
        Tf32,
    ),
    total("sm__ops_path_tensor_src_fp16_dst_fp16", Fp16IntoFp16),
    total("sm__ops_path_tensor_src_int8", Int8),
    own("sm__ops_path_tensor_src_fp64", Fp64),
    own(
        "sm__ops_path_tensor_src_fp8_dst_fp32_sparsity_off",
        Fp8IntoFp32,
    ),
    own(
        "sm__ops_path_tensor_src_fp8_dst_fp32_sparsity_on",
        Fp8IntoFp32,
    )
    .sparse(),
    own(
        "sm__ops_path_tensor_src_fp8_dst_fp16_sparsity_off",
        Fp8IntoFp16,
    ),
    own(
        "sm__ops_path_tensor_src_fp8_dst_fp16_sparsity_on",
        Fp8IntoFp16,
    )
    .sparse(),
    own(
        "sm__ops_path_tensor_src_fp4_fp6_dst_fp32_sparsity_off",
        Fp8IntoFp32,
    ),
    own(
        "sm__ops_path_tensor_src_fp4_fp6_dst_fp32_sparsity_on",
        Fp8IntoFp32,
    )
    .sparse(),
    own(
        "sm__ops_path_tensor_src_fp4_fp6_dst_fp16_sparsity_off",
        Fp8IntoFp16,
    ),
    own(
        "sm__ops_path_tensor_src_fp4_fp6_dst_fp16_sparsity_on",
        Fp8IntoFp16,
    )
    .sparse(),
    own("sm__ops_path_tensor_src_fp4_dst_fp32_sparsity_off", Fp4),
    own("sm__ops_path_tensor_src_fp4_dst_fp32_sparsity_on", Fp4).sparse(),
];
