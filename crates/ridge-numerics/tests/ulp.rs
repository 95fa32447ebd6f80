//! Distances in units in the last place against exact arithmetic, and conversions against what has to hold for all values.

use proptest::prelude::*;
use ridge_numerics::format::{Endian, Format, Overflow};

fn any_format() -> impl Strategy<Value = Format> {
    proptest::sample::select(Format::ALL.to_vec())
}

/// Floating-point formats with a sign and every size.
fn any_float() -> impl Strategy<Value = Format> {
    let floats: Vec<Format> = Format::ALL
        .into_iter()
        .filter(|format| format.is_float() && !format.is_complex() && *format != Format::E8m0)
        .collect();
    proptest::sample::select(floats)
}

/// The value of a finite code in units of the smallest number, as an integer of any size: its bits, lowest first.
fn exact(format: Format, code: u64) -> (bool, Vec<bool>) {
    let layout = format.layout().expect("a floating-point format");
    let code = code >> layout.padding;
    let is_negative = code >> (layout.exponent + layout.mantissa) & 1 == 1;
    let exponent = code >> layout.mantissa & ((1 << layout.exponent) - 1);
    let fraction = code & ((1 << layout.mantissa) - 1);
    let (significand, shift) = if exponent == 0 {
        (fraction, 0)
    } else {
        (fraction | 1 << layout.mantissa, exponent - 1)
    };
    let mut bits = vec![false; shift as usize];
    bits.extend((0..64).map(|bit| significand >> bit & 1 == 1));
    while bits.last() == Some(&false) {
        bits.pop();
    }
    (is_negative, bits)
}

/// How many numbers of a format are above 0 and not above a value, counted binade by binade of the exact integer.
fn rank(format: Format, bits: &[bool]) -> u128 {
    let mantissa = format.layout().expect("a floating-point format").mantissa as usize;
    // With up to `mantissa + 1` bits each integer is a number; with each further bit the next 2^mantissa numbers are there.
    let kept = bits.len().min(mantissa + 1);
    let top = bits[bits.len() - kept..]
        .iter()
        .rev()
        .fold(0_u128, |number, &bit| number << 1 | u128::from(bit));
    top + ((bits.len() - kept) as u128) * (1 << mantissa)
}

fn mask(format: Format) -> u64 {
    match format.part().size_bits() {
        64 => u64::MAX,
        bits => (1 << bits) - 1,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn distances_are_those_of_exact_integers(format in any_float(), a: u64, b: u64, near in 0_u64..64, is_near: bool) {
        let a = a & mask(format);
        let b = if is_near { a.wrapping_add(near << format.layout().unwrap().padding) } else { b } & mask(format);
        prop_assume!(format.decode(a).is_finite() && format.decode(b).is_finite());
        let place = |code| {
            let (is_negative, bits) = exact(format, code);
            let rank = rank(format, &bits) as i128;
            if is_negative { -rank } else { rank }
        };
        let expected = (place(a) - place(b)).unsigned_abs();
        prop_assert_eq!(format.ulp_distance(a, b).map(u128::from), Some(expected));
    }

    #[test]
    fn distances_of_integers_are_their_differences(a: u64, b: u64) {
        for format in Format::ALL.into_iter().filter(|format| !format.is_float()) {
            let value = |code| format.decode_integer(code & mask(format)).unwrap();
            let expected = value(a).abs_diff(value(b));
            prop_assert_eq!(format.ulp_distance(a & mask(format), b & mask(format)).map(u128::from), Some(expected));
        }
    }

    #[test]
    fn codes_come_back_from_their_values(format in any_format(), code: u64) {
        let code = code & mask(format);
        let value = format.decode(code);
        let back = format.encode(value, Overflow::NonFinite);
        if value.is_nan() {
            prop_assert!(format.is_nan_code(code) && format.is_nan_code(back));
        } else {
            prop_assert!(!format.is_nan_code(code));
            // Beyond 2^53, integers are rounded on the way to `f64`.
            let is_exact = value.abs() <= 9_007_199_254_740_992.0 || format.is_float();
            if is_exact {
                prop_assert_eq!(format.ulp_distance(code, back), Some(0));
            }
            prop_assert_eq!(format.decode(back).to_bits(), value.to_bits());
        }
    }

    /// Of all numbers of the format none is nearer, and the order of values is kept.
    #[test]
    fn the_nearest_number_is_taken(format in any_float(), value: f64, scale in -40_i32..40, other in -4.0_f64..4.0) {
        for value in [value, other * 2_f64.powi(scale)] {
            prop_assume!(!value.is_nan());
            let code = format.encode(value, Overflow::Saturate);
            let rounded = format.decode(code);
            prop_assert!(rounded.is_finite());
            if value.abs() <= format.max_finite() {
                prop_assert!((rounded - value).abs() <= format.ulp_of(value) / 2.0, "{} {:e}", format, value);
            } else {
                prop_assert_eq!(rounded.abs().to_bits(), format.max_finite().to_bits());
            }
            prop_assert!(rounded == 0.0 || rounded.is_sign_negative() == value.is_sign_negative());
        }
    }

    #[test]
    fn many_elements_are_decoded_like_single_ones(format in any_format(), bytes in prop::collection::vec(any::<u8>(), 0..200), room in 0_usize..60) {
        let size = format.part().size_bytes();
        for endian in [Endian::Little, Endian::Big] {
            let mut values = vec![1.5; room];
            let mut codes = vec![0; room];
            let count = format.decode_slice(&bytes, endian, &mut values);
            prop_assert_eq!(count, room.min(bytes.len() / size));
            prop_assert_eq!(format.codes(&bytes, endian, &mut codes), count);
            for (index, element) in bytes.chunks_exact(size).take(count).enumerate() {
                let byte = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
                let code = match endian {
                    Endian::Little => element.iter().rev().fold(0, byte),
                    Endian::Big => element.iter().fold(0, byte),
                };
                prop_assert_eq!(codes[index], code);
                let value = format.decode(code);
                prop_assert!(values[index].to_bits() == value.to_bits() || (value.is_nan() && values[index].is_nan()), "{} {:x}", format, code);
            }
            prop_assert!(values[count..].iter().all(|value| value.to_bits() == 1.5_f64.to_bits()));
        }
    }
}

#[test]
fn special_distances() {
    let f32_code = |value: f32| u64::from(value.to_bits());
    assert_eq!(
        Format::F32.ulp_distance(f32_code(0.0), f32_code(-0.0)),
        Some(0)
    );
    assert_eq!(
        Format::F32.ulp_distance(f32_code(f32::NAN), f32_code(1.0)),
        None
    );
    assert_eq!(
        Format::F32.ulp_distance(f32_code(f32::NAN), f32_code(-f32::NAN)),
        Some(0)
    );
    assert_eq!(
        Format::F32.ulp_distance(f32_code(f32::MAX), f32_code(f32::INFINITY)),
        Some(1)
    );
    assert_eq!(Format::E4m3Fnuz.ulp_distance(0x80, 0), None);
    let ends = [f64::NEG_INFINITY.to_bits(), f64::INFINITY.to_bits()];
    assert_eq!(
        Format::F64.ulp_distance(ends[0], ends[1]),
        Some(2 * 0x7ff0_0000_0000_0000)
    );
    assert_eq!(
        Format::I64.ulp_distance(i64::MIN as u64, i64::MAX as u64),
        Some(u64::MAX)
    );
    assert_eq!(Format::U64.ulp_distance(0, u64::MAX), Some(u64::MAX));
}

#[test]
fn spacing_at_the_ends_of_the_range() {
    assert_eq!(Format::F32.ulp_of(1.0).to_bits(), 2_f64.powi(-23).to_bits());
    assert_eq!(
        Format::F32.ulp_of(0.0).to_bits(),
        2_f64.powi(-149).to_bits()
    );
    assert_eq!(Format::F64.ulp_of(0.0).to_bits(), 1);
    assert_eq!(
        Format::F64.ulp_of(-f64::MAX).to_bits(),
        2_f64.powi(971).to_bits()
    );
    assert_eq!(Format::E4m3.ulp_of(1e9).to_bits(), 32_f64.to_bits());
    assert_eq!(
        Format::E4m3.ulp_of(f64::INFINITY).to_bits(),
        32_f64.to_bits()
    );
    assert_eq!(Format::I32.ulp_of(7.5).to_bits(), 1_f64.to_bits());
    assert!(Format::Bf16.ulp_of(f64::NAN).is_nan());
}

#[test]
fn what_does_not_fit_goes_where_the_rule_says() {
    use Overflow::{NonFinite, Saturate};
    for (format, value, rule, code) in [
        (Format::F16, 65519.99, NonFinite, 0x7bff),
        (Format::F16, 65520.0, NonFinite, 0x7c00),
        (Format::F16, -f64::INFINITY, Saturate, 0xfbff),
        (Format::F32, 1e39, Saturate, 0x7f7f_ffff),
        (Format::F32, 1e39, NonFinite, 0x7f80_0000),
        (
            Format::F64,
            f64::NEG_INFINITY,
            Saturate,
            0xffef_ffff_ffff_ffff,
        ),
        (Format::F64, 5e-324, Saturate, 1),
        (Format::Tf32, 1.0 + 2_f64.powi(-11), NonFinite, 0x3f80_0000),
        (
            Format::Tf32,
            1.0 + 3.0 * 2_f64.powi(-11),
            NonFinite,
            0x3f80_4000,
        ),
        (Format::E4m3, 464.0, NonFinite, 0x7e),
        (Format::E4m3, 464.1, NonFinite, 0x7f),
        (Format::E4m3, 464.1, Saturate, 0x7e),
        (Format::E4m3Fnuz, -1e-9, NonFinite, 0),
        (Format::E4m3Fnuz, -1e9, NonFinite, 0x80),
        (Format::E2m1, f64::NAN, NonFinite, 7),
        (Format::E2m1, -9.0, NonFinite, 0xf),
        (Format::E8m0, 0.0, Saturate, 0xff),
        (Format::E8m0, 1e300, Saturate, 0xfe),
        (Format::E8m0, 1e300, NonFinite, 0xff),
        (Format::E8m0, 1e-300, NonFinite, 0),
        (Format::I8, -128.6, NonFinite, 0x80),
        (Format::I8, 2.5, NonFinite, 2),
        (Format::U8, -3.0, NonFinite, 0),
        (Format::U64, 1e30, NonFinite, u64::MAX),
        (Format::I32, f64::NAN, NonFinite, 0),
        (Format::Bool, -0.0, NonFinite, 0),
        (Format::Bool, 0.25, NonFinite, 1),
    ] {
        assert_eq!(
            format.encode(value, rule),
            code,
            "{format} {value:e} {rule:?}"
        );
    }
}
