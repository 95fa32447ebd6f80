//! What holds for every device, shape and amount of work.

use proptest::prelude::*;
use ridge_model::bound::{Arithmetic, Bounds, Ceilings, Gap, Work};
use ridge_model::quantity::{Bytes, Flops};
use ridge_model::template::{Attention, Conv2d, Gemm, Reduce, Vector};
use ridge_model::{Device, Devices, NumberFormat};

fn device() -> impl Strategy<Value = &'static Device> {
    let count = Devices::known().iter().count();
    (0..count).prop_filter_map("in the table", |place| Devices::known().iter().nth(place))
}

fn format() -> impl Strategy<Value = NumberFormat> {
    prop::sample::select(NumberFormat::ALL.to_vec())
}

fn work(bytes: f64, operations: f64) -> Work {
    Work {
        bytes: Some(Bytes::new(bytes)),
        arithmetic: vec![Arithmetic::matrix(
            Flops::new(operations),
            NumberFormat::Fp32,
        )],
        ..Work::default()
    }
}

/// A name of a device finds it, and a name of the driver finds no other chip.
#[test]
fn every_name_of_the_table_is_found() {
    let devices = Devices::known();
    for device in devices.iter() {
        assert_eq!(devices.find(&device.name), Ok(device));
        assert_eq!(
            devices.find(&device.name.to_lowercase().replace(' ', "-")),
            Ok(device)
        );
        for alias in &device.aliases {
            let found = devices.matching(alias);
            assert!(found.contains(&device), "{alias}");
        }
    }
}

proptest! {
    #[test]
    fn the_bound_is_its_longest_row_and_grows_with_the_work(
        device in device(), bytes in 1.0..1e15f64, operations in 1.0..1e18f64, factor in 1.0..100.0f64,
    ) {
        let bounds = |bytes, operations| Bounds::of(&work(bytes, operations), &Ceilings::of(device)).unwrap();
        let once = bounds(bytes, operations);
        for row in once.rows() {
            prop_assert!(row.time <= once.time());
        }
        prop_assert!(bounds(bytes * factor, operations).time() >= once.time());
        prop_assert!(bounds(bytes, operations * factor).time() >= once.time());
        // Left of the ridge point memory binds, right of it arithmetic does.
        let is_left = once.intensity().unwrap() < once.ridge_point().unwrap();
        prop_assert_eq!(is_left, once.binding().kind.name() == "bandwidth");
        prop_assert!((Gap::of(once.time(), once.time()).ratio().get() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_product_is_as_large_as_its_transposed_one(m in 1..5000u64, n in 1..5000u64, k in 1..5000u64, format in format()) {
        let gemm = |m, n| Gemm { m, n, k, ..Gemm::square(1, format) }.demand().unwrap();
        let (one, other) = (gemm(m, n), gemm(n, m));
        prop_assert!((one.bytes().get() - other.bytes().get()).abs() < 0.5);
        prop_assert_eq!(one.operations(), other.operations());
        // Nothing moves less than each array once.
        let values = m * k + k * n + m * n;
        prop_assert!(one.bytes().get() >= Bytes::from_count(values).get() * format.size_in_bytes());
    }

    /// A convolution with a kernel of one point is a matrix product.
    #[test]
    fn a_pointwise_convolution_is_a_product(batch in 1..9u64, channels in 1..300u64, side in 1..60u64, filters in 1..300u64) {
        let conv = Conv2d {
            batch, channels, height: side, width: side, filters,
            kernel_height: 1, kernel_width: 1, stride: 1, padding: 0, dilation: 1, groups: 1,
            format: NumberFormat::Fp16, output: NumberFormat::Fp16,
        };
        let gemm = Gemm { m: batch * side * side, n: filters, k: channels, ..Gemm::square(1, NumberFormat::Fp16) };
        let (conv, gemm) = (conv.demand().unwrap(), gemm.demand().unwrap());
        prop_assert_eq!(conv.bytes(), gemm.bytes());
        prop_assert_eq!(conv.operations(), gemm.operations());
    }

    #[test]
    fn a_mask_halves_attention_at_most(heads in 1..64u64, queries in 1..5000u64, keys in 1..5000u64) {
        let attention = |is_causal| Attention {
            batch: 1, heads, kv_heads: heads, queries, keys, head_dim: 64, is_causal, format: NumberFormat::Bf16,
        }.demand().unwrap().operations().unwrap();
        let share = (attention(true) / attention(false)).get();
        prop_assert!(share <= 1.0);
        if queries <= keys {
            prop_assert!(share > 0.5);
        }
    }

    #[test]
    fn no_shape_makes_it_fail(a in any::<u64>(), b in any::<u64>(), c in any::<u64>(), format in format()) {
        let _ = Vector { inputs: b, outputs: c, ..Vector::add(a, format) }.demand();
        let _ = Reduce { elements: a, results: b, format }.demand();
        let _ = Conv2d {
            batch: 1, channels: 1, height: a, width: b, filters: 1, kernel_height: c, kernel_width: a,
            stride: b, padding: c, dilation: a, groups: 1, format, output: format,
        }.demand();
        let _ = Attention { batch: a, heads: b, kv_heads: b, queries: c, keys: a, head_dim: 1, is_causal: true, format }.demand();
    }

    #[test]
    fn no_name_makes_the_search_fail(name in ".{0,30}") {
        let _ = Devices::known().find(&name);
    }
}
