//! The page about number formats, compared with the formats.

use ridge_numerics::format::Format;

const PAGE: &str = include_str!("../../../docs/concepts/number-formats.md");

const SHOWN: [(Format, &str); 11] = [
    (Format::F64, "FP64"),
    (Format::F32, "FP32"),
    (Format::Tf32, "TF32"),
    (Format::F16, "FP16"),
    (Format::Bf16, "BF16"),
    (Format::E4m3, "FP8 E4M3"),
    (Format::E5m2, "FP8 E5M2"),
    (Format::E2m3, "FP6 E2M3"),
    (Format::E3m2, "FP6 E3M2"),
    (Format::E2m1, "FP4 E2M1"),
    (Format::E8m0, "E8M0"),
];

#[test]
fn diagrams_are_those_of_the_layouts() {
    for (format, title) in SHOWN {
        let diagram = format.layout().unwrap().diagram();
        let drawn = format!("\n{title}\n{diagram}\n");
        assert!(PAGE.contains(&drawn), "expected in the page:{drawn}");
    }
}

/// A cell such as `2^-14`, `65504` or `3.40e38`.
fn value(cell: &str) -> f64 {
    match cell.split_once('^') {
        Some((base, exponent)) => base.parse::<f64>().unwrap().powi(exponent.parse().unwrap()),
        None => cell.parse().unwrap(),
    }
}

#[test]
fn limits_are_those_of_the_formats() {
    for (format, title) in SHOWN.iter().filter(|(format, _)| *format != Format::E8m0) {
        let head = format!("| {title} | ");
        let row = PAGE
            .lines()
            .find(|line| line.starts_with(&head))
            .unwrap_or_else(|| panic!("no row of {title}"));
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        // 2^-1074 is a product of two powers that `powi` has.
        let smallest = match cells[5] {
            "2^-1074" => f64::from_bits(1),
            cell => value(cell),
        };
        assert_eq!(Some(value(cells[2])), format.unit_roundoff(), "{title}");
        let largest = format.max_finite();
        assert!((value(cells[3]) / largest - 1.0).abs() < 2e-3, "{title}");
        assert_eq!(Some(value(cells[4])), format.min_normal(), "{title}");
        assert_eq!(Some(smallest), format.min_subnormal(), "{title}");
        let exact = format.exact_integer_limit().unwrap();
        assert_eq!(value(cells[6]) as u64, exact, "{title}");
    }
}

#[test]
fn the_worked_example_is_right() {
    let code = Format::Bf16.encode(0.1, ridge_numerics::format::Overflow::NonFinite);
    assert_eq!(code, 0x3dcd);
    // 77 of 128 parts above 1, times 2^-4.
    let value = (1.0 + 77.0 / 128.0) / 16.0;
    assert_eq!(Format::Bf16.decode(code).to_bits(), f64::to_bits(value));
}
