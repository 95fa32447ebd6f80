//! Matrix products of cuBLASLt, when that library is installed.

mod library;

use std::path::PathBuf;
use std::rc::Rc;

use ridge_model::NumberFormat;

use crate::device::Product;
pub(crate) use library::{Library, Plan};
use library::{Problem, compute_type, data_type};

/// Names under which the system's loader may know the library, newest first.
#[cfg(not(windows))]
pub(crate) const NAMES: &[&str] = &["libcublasLt.so", "libcublasLt.so.13", "libcublasLt.so.12"];
/// Names under which the system's loader may know the library, newest first.
#[cfg(windows)]
pub(crate) const NAMES: &[&str] = &["cublasLt64_13.dll", "cublasLt64_12.dll"];

/// Loads the first candidate that is there, for the context that is current.
pub(crate) fn load(candidates: &[PathBuf]) -> Result<Rc<Library>, String> {
    candidates
        .iter()
        .find_map(|path| Library::load(path))
        .unwrap_or_else(|| Err("cuBLASLt is not installed".to_owned()))
}

/// Asks for the algorithms of a product.
pub(crate) fn plan(
    library: &Rc<Library>,
    product: &Product<'_>,
    most: usize,
) -> Result<Plan, String> {
    let one32 = 1.0_f32.to_le_bytes();
    let with_zeros = |bytes: [u8; 4]| [bytes[0], bytes[1], bytes[2], bytes[3], 0, 0, 0, 0];
    let single = with_zeros(one32);
    let (input, output, compute, scale, one) = match (product.format, product.accumulator) {
        (NumberFormat::Fp64, _) => (
            data_type::F64,
            data_type::F64,
            compute_type::F64,
            data_type::F64,
            1.0_f64.to_le_bytes(),
        ),
        (NumberFormat::Fp32, _) => (
            data_type::F32,
            data_type::F32,
            compute_type::F32,
            data_type::F32,
            single,
        ),
        (NumberFormat::Tf32, _) => (
            data_type::F32,
            data_type::F32,
            compute_type::TF32,
            data_type::F32,
            single,
        ),
        (NumberFormat::Fp16, NumberFormat::Fp16) => (
            data_type::F16,
            data_type::F16,
            compute_type::F16,
            data_type::F16,
            // 1 in 16 bits.
            [0x00, 0x3c, 0, 0, 0, 0, 0, 0],
        ),
        (NumberFormat::Fp16, _) => (
            data_type::F16,
            data_type::F16,
            compute_type::F32,
            data_type::F32,
            single,
        ),
        (NumberFormat::Bf16, _) => (
            data_type::BF16,
            data_type::BF16,
            compute_type::F32,
            data_type::F32,
            single,
        ),
        (NumberFormat::Fp8E4m3, _) => (
            data_type::E4M3,
            data_type::BF16,
            compute_type::F32,
            data_type::F32,
            single,
        ),
        (NumberFormat::Int8, _) => (
            data_type::I8,
            data_type::I32,
            compute_type::I32,
            data_type::I32,
            with_zeros(1_i32.to_le_bytes()),
        ),
        (other, _) => return Err(format!("{other} is not asked of the library here")),
    };
    let problem = Problem {
        rows: product.rows,
        columns: product.columns,
        depth: product.depth,
        input,
        output,
        compute,
        scale,
        one,
        is_transposed: product.is_transposed,
        has_fast_sums: product.has_fast_sums,
    };
    let workspace = product.workspace.bytes() as usize;
    Plan::new(library, &problem, workspace, most)
}
