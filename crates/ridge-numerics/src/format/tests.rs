use super::*;

#[test]
fn properties_are_those_of_the_published_tables() {
    // Format, unit roundoff as a power of two, largest number, smallest normal and smallest number, exact integers.
    let rows: [(Format, i32, f64, f64, f64, u64); 12] = [
        (
            Format::F64,
            -53,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
            1 << 53,
        ),
        (
            Format::F32,
            -24,
            f64::from(f32::MAX),
            f64::from(f32::MIN_POSITIVE),
            f64::from(1e-45_f32),
            1 << 24,
        ),
        (
            Format::Tf32,
            -11,
            (2.0 - 2_f64.powi(-10)) * 2_f64.powi(127),
            f64::from(f32::MIN_POSITIVE),
            2_f64.powi(-136),
            2048,
        ),
        (
            Format::F16,
            -11,
            65504.0,
            2_f64.powi(-14),
            2_f64.powi(-24),
            2048,
        ),
        (
            Format::Bf16,
            -8,
            (2.0 - 2_f64.powi(-7)) * 2_f64.powi(127),
            f64::from(f32::MIN_POSITIVE),
            2_f64.powi(-133),
            256,
        ),
        (Format::E4m3, -4, 448.0, 2_f64.powi(-6), 2_f64.powi(-9), 16),
        (
            Format::E5m2,
            -3,
            57344.0,
            2_f64.powi(-14),
            2_f64.powi(-16),
            8,
        ),
        (
            Format::E4m3Fnuz,
            -4,
            240.0,
            2_f64.powi(-7),
            2_f64.powi(-10),
            16,
        ),
        (
            Format::E5m2Fnuz,
            -3,
            57344.0,
            2_f64.powi(-15),
            2_f64.powi(-17),
            8,
        ),
        (Format::E2m3, -4, 7.5, 1.0, 0.125, 7),
        (Format::E3m2, -3, 28.0, 0.25, 0.0625, 8),
        (Format::E2m1, -2, 6.0, 1.0, 0.5, 4),
    ];
    for (format, roundoff, max, normal, subnormal, integers) in rows {
        let bits = |value: Option<f64>| value.map(f64::to_bits);
        assert_eq!(
            bits(format.unit_roundoff()),
            bits(Some(2_f64.powi(roundoff))),
            "{format}"
        );
        assert_eq!(format.max_finite().to_bits(), max.to_bits(), "{format}");
        assert_eq!(bits(format.min_normal()), bits(Some(normal)), "{format}");
        assert_eq!(
            bits(format.min_subnormal()),
            bits(Some(subnormal)),
            "{format}"
        );
        assert_eq!(format.exact_integer_limit(), Some(integers), "{format}");
    }
}

#[test]
fn names_of_others_are_understood() {
    for (name, format) in [
        ("torch.bfloat16", Format::Bf16),
        ("BF16", Format::Bf16),
        ("np.float32", Format::F32),
        ("<f4", Format::F32),
        (">i8", Format::I64),
        ("i8", Format::I8),
        ("F8_E4M3", Format::E4m3),
        ("F4", Format::E2m1),
        ("float8_e5m2fnuz", Format::E5m2Fnuz),
        ("|b1", Format::Bool),
        ("complex128", Format::C128),
    ] {
        assert_eq!(name.parse(), Ok(format), "{name}");
    }
    for format in Format::ALL {
        assert_eq!(format.to_string().parse(), Ok(format));
    }
    for name in ["", "f8", "float8_e4m3", "<f16", "torch.", "é4", "i128"] {
        let error = name.parse::<Format>().unwrap_err();
        assert!(error.to_string().ends_with("bool, c64, c128"), "{error}");
    }
}
