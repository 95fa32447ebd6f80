//! The measures against plain formulas, and the fast way against the general one.

use super::*;
use crate::format::{Format, Overflow};
use proptest::prelude::*;

pub(super) fn bytes(format: Format, values: &[f64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| {
            let code = format.encode(*value, Overflow::NonFinite);
            code.to_le_bytes()[..format.size_bytes()].to_vec()
        })
        .collect()
}

fn strict() -> Judge {
    Judge {
        tolerance: Limits {
            relative: 1e-3,
            ..Limits::default()
        },
        certain: None,
        accepts_flush_to_zero: false,
        relative_floor: 1e-30,
    }
}

fn measured(format: Format, shape: &[u64], r: &[f64], x: &[f64], judge: &Judge) -> Measures {
    let (r, x) = (bytes(format, r), bytes(format, x));
    let view = |bytes| View::row_major(format, shape, Endian::Little, bytes).unwrap();
    measure(&view(&r), &view(&x), None, judge, 1).unwrap()
}

/// Numbers of mean 0 that look random.
fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    (0..count)
        .map(|_| {
            (0..4)
                .map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    (state >> 40) as f64 / (1 << 24) as f64 - 0.5
                })
                .sum()
        })
        .collect()
}

#[test]
fn measures_are_those_of_plain_formulas() {
    let r = noise(40_000, 1);
    let x: Vec<f64> = r
        .iter()
        .zip(noise(40_000, 2))
        .map(|(r, e)| r + 1e-5 * e)
        .collect();
    for format in [
        Format::F32,
        Format::Bf16,
        Format::F16,
        Format::F64,
        Format::E4m3,
    ] {
        let judge = Judge {
            tolerance: Limits {
                absolute: 1e3,
                ..Limits::default()
            },
            ..strict()
        };
        let found = measured(format, &[200, 200], &r, &x, &judge);
        let round = |v: &[f64]| -> Vec<(u64, f64)> {
            v.iter()
                .map(|v| {
                    let code = format.encode(*v, Overflow::NonFinite);
                    (code, format.decode(code))
                })
                .collect()
        };
        let (r, x) = (round(&r), round(&x));
        let pairs = || r.iter().zip(&x).map(|((a, r), (b, x))| (*a, *r, *b, *x));
        assert_eq!(found.failing, 0);
        assert_eq!(found.compared, 40_000);
        let equal = pairs().filter(|(_, r, _, x)| r == x).count() as u64;
        assert_eq!(found.equal, equal, "{format}");
        let mut ulps: Vec<u64> = pairs()
            .map(|(a, _, b, _)| format.ulp_distance(a, b).unwrap())
            .collect();
        let peak = *ulps.iter().max().unwrap();
        let place = ulps.iter().position(|u| *u == peak).unwrap() as u64;
        let found_peak = found.ulps.peak.unwrap();
        assert_eq!(
            (found_peak.value, found_peak.index),
            (peak as f64, vec![place / 200, place % 200]),
            "{format}"
        );
        ulps.sort_unstable();
        for (share, quantile) in [(0.5, found.ulps.p50), (0.99, found.ulps.p99)] {
            let exact = ulps[(share * 40_000.0) as usize - 1] as f64;
            let quantile = quantile.unwrap();
            assert!(
                quantile <= exact && exact <= quantile * (1.0 + 1.0 / 16.0),
                "{format} {exact} {quantile}"
            );
        }
        let dd: f64 = pairs().map(|(_, r, _, x)| (x - r) * (x - r)).sum();
        let rr: f64 = pairs().map(|(_, r, ..)| r * r).sum();
        let xx: f64 = pairs().map(|(.., x)| x * x).sum();
        let rx: f64 = pairs().map(|(_, r, _, x)| r * x).sum();
        let close = |a: Option<f64>, b: f64| {
            let a = a.unwrap();
            assert!((a - b).abs() <= 1e-5 * b.abs() + 1e-12, "{format}: {a} {b}");
        };
        close(found.relative_l2, (dd / rr).sqrt());
        close(found.one_minus_cosine, 1.0 - rx / (rr * xx).sqrt());
        let largest = pairs()
            .map(|(_, r, _, x)| (x - r).abs())
            .fold(0.0, f64::max);
        assert_eq!(found.absolute.unwrap().value, largest);
        let relative = pairs()
            .filter(|(_, r, _, x)| r != x)
            .map(|(_, r, _, x)| (x - r).abs() / r.abs().max(x.abs()))
            .fold(0.0, f64::max);
        close(Some(found.relative.unwrap().value), relative);
        let flips = pairs().filter(|(_, r, _, x)| r * x < 0.0).count() as u64;
        assert_eq!(found.sign_flips, flips, "{format}");
        let above = pairs().filter(|(_, r, _, x)| x > r).count() as u64;
        let outward = pairs().filter(|(_, r, _, x)| x.abs() > r.abs()).count() as u64;
        let below = pairs().filter(|(_, r, _, x)| x < r).count() as u64;
        let inward = pairs().filter(|(_, r, _, x)| x.abs() < r.abs()).count() as u64;
        let bias = found.bias;
        assert_eq!((bias.above, bias.below), (above, below));
        assert_eq!((bias.outward, bias.inward), (outward, inward));
        let counted: u64 = found.ulps.histogram.iter().map(|bin| bin.count).sum();
        assert_eq!(counted, 40_000);
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    // Some segments and a rest that fills no vector.
    let count = 3 * SEGMENT as usize + 4099;
    let r = noise(count, 5);
    let mut x: Vec<f64> = r
        .iter()
        .zip(noise(count, 6))
        .map(|(r, e)| r * (1.0 + 1e-6 * e))
        .collect();
    for element in (0..count).step_by(99_991) {
        x[element] = f64::NAN;
        x[element / 2 + 7] *= 1.5;
    }
    let (r, x) = (bytes(Format::F32, &r), bytes(Format::F32, &x));
    let view =
        |bytes| View::row_major(Format::F32, &[count as u64], Endian::Little, bytes).unwrap();
    let all: Vec<Measures> = [1, 2, 3, 7]
        .map(|threads| measure(&view(&r), &view(&x), None, &strict(), threads).unwrap())
        .into();
    assert!(all[0].failing > 20);
    for other in &all[1..] {
        assert_eq!(other, &all[0]);
    }
}

#[test]
fn nothing_is_measured_where_there_is_nothing() {
    let found = measured(Format::F32, &[0, 5], &[], &[], &strict());
    assert_eq!((found.elements, found.compared, found.failing), (0, 0, 0));
    assert_eq!(
        (found.absolute, found.relative_l2, found.ulps.p50),
        (None, None, None)
    );
    let bytes = [0; 8];
    let view = |shape: &[u64]| View::row_major(Format::F32, shape, Endian::Little, &bytes).unwrap();
    let error = measure(&view(&[2]), &view(&[1, 2]), None, &strict(), 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the reference has shape [2], the output [1, 2]"
    );
}

#[test]
fn special_values_are_told_apart() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let r = [nan, 1.0, nan, inf, -inf, 1.0, inf, inf, 1e-40, 2.0];
    let x = [nan, nan, 1.0, inf, inf, inf, 1.0, inf, 0.0, 2.0];
    for format in [Format::F32, Format::F64] {
        let mut r = r.to_vec();
        if format == Format::F64 {
            r[8] = 1e-310;
        }
        let found = measured(format, &[10], &r, &x, &strict());
        let non_finite = found.non_finite;
        assert_eq!(
            (
                non_finite.nan_both,
                non_finite.nan_extra,
                non_finite.nan_missing
            ),
            (1, 1, 1)
        );
        assert_eq!(
            (non_finite.infinite_both, non_finite.infinite_extra),
            (2, 1)
        );
        assert_eq!(
            (non_finite.infinite_missing, non_finite.infinite_sign),
            (1, 1)
        );
        assert_eq!((found.subnormals.reference, found.subnormals.lost), (1, 1));
        assert_eq!((found.failing, found.equal, found.compared), (6, 4, 2));
        assert_eq!(found.first[0].index, [1]);
        assert_eq!(found.first[0].output, Number::Special(Special::Nan));
        assert_eq!(found.first[0].neighbours.len(), 2);
    }
}

#[test]
fn a_finer_reference_is_rounded_to_the_output() {
    let r = bytes(
        Format::F64,
        &[1.0 + 1e-4, 1.0, 500.0, -1e6, f64::INFINITY, 460.0],
    );
    for (x, saturated, converted) in [
        ([1.0, 1.125, 448.0, -448.0, 448.0, 448.0], 3, 0),
        ([1.0, 1.125, f64::NAN, f64::NAN, f64::NAN, 448.0], 0, 3),
    ] {
        let x = bytes(Format::E4m3, &x);
        let r = View::row_major(Format::F64, &[6], Endian::Little, &r).unwrap();
        let x = View::row_major(Format::E4m3, &[6], Endian::Little, &x).unwrap();
        let found = measure(&r, &x, None, &strict(), 1).unwrap();
        let non_finite = &found.non_finite;
        assert_eq!(
            (non_finite.overflow_saturated, non_finite.overflow_converted),
            (saturated, converted)
        );
        // 1.125 instead of 1 is one ULP off; all others are the reference, rounded.
        assert_eq!((found.equal, found.ulps.peak.unwrap().value), (5, 1.0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any bits at all: the fast way and the general one count the same.
    #[test]
    fn the_fast_way_is_the_general_one(
        seed in any::<u64>(),
        which in 0..4_usize,
        kind in 0..3_u32,
        tolerance in prop::sample::select(vec![0.0, 1.0, 3.0]),
    ) {
        let format = [Format::F32, Format::Bf16, Format::F16, Format::E5m2][which];
        let size = format.size_bytes();
        let count = 4096;
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        let (mut r, mut x) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let code = match kind {
                0 => next(),
                // Near 1, and among the smallest numbers.
                1 => format.encode(1.0 + (next() & 0xff) as f64 / 256.0, Overflow::NonFinite),
                _ => next() & 7,
            } & ((1_u64 << format.size_bits()) - 1);
            let other = if kind == 0 && next() & 7 == 0 { next() } else { code ^ (next() & 1) };
            r.extend_from_slice(&code.to_le_bytes()[..size]);
            x.extend_from_slice(&other.to_le_bytes()[..size]);
        }
        let judge = Judge {
            tolerance: Limits { ulps: tolerance, ..Limits::default() },
            ..strict()
        };
        let view = |bytes| View::row_major(format, &[64, 64], Endian::Little, bytes).unwrap();
        let (r, x) = (view(&r), view(&x));
        let fast = measure(&r, &x, None, &judge, 1).unwrap();
        let task = Task {
            reference: &r,
            output: &x,
            magnitudes: None,
            judge: &judge,
            axes: Axes::new(r.shape()),
            elements: r.len(),
            first_values: [r.value(0).unwrap(), x.value(0).unwrap()],
            level: Level::new(),
            way: Way::General,
        };
        let (partial, sums) = all(&task, 1);
        let mut general = Measures::new(&task, partial, &sums);
        // Sums of few elements are added in another order and in less precision.
        let close = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() <= 1e-5 * (1e-3 + b.abs()),
            (a, b) => a == b,
        };
        prop_assert!(close(fast.relative_l2, general.relative_l2), "{:?} {:?}", fast.relative_l2, general.relative_l2);
        prop_assert!(close(fast.one_minus_cosine, general.one_minus_cosine));
        general.relative_l2 = fast.relative_l2;
        general.one_minus_cosine = fast.one_minus_cosine;
        general.reference_rms = fast.reference_rms;
        general.bias.mean_error = fast.bias.mean_error;
        general.bias.standard_error = fast.bias.standard_error;
        general.factor = fast.factor;
        general.offset = fast.offset;
        if let (Some(a), Some(b)) = (&fast.relative, &mut general.relative) {
            prop_assert!((a.value - b.value).abs() <= 2e-6 * a.value);
            b.clone_from(a);
        }
        prop_assert_eq!(fast, general);
    }
}
