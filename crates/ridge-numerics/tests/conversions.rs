//! Conversions of all codes of the small formats against tables that NumPy and ml_dtypes made. `fixtures/numerics/` tells how.

use std::path::Path;

use ridge_numerics::format::{Format, Overflow};
use ridge_numerics::tensor::{Contents, read};

const FORMATS: [Format; 10] = [
    Format::F16,
    Format::Bf16,
    Format::E4m3,
    Format::E5m2,
    Format::E4m3Fnuz,
    Format::E5m2Fnuz,
    Format::E2m3,
    Format::E3m2,
    Format::E2m1,
    Format::E8m0,
];

fn fixture() -> Vec<u8> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/numerics/conversions.npz");
    std::fs::read(path).expect("the fixture is there")
}

/// The values of an array, which is read in blocks of an odd size.
fn array(contents: &Contents<'_>, format: Format, part: &str) -> Vec<f64> {
    let name = format!("{format}.{part}");
    let tensor = contents
        .tensors
        .iter()
        .find(|tensor| tensor.name.as_deref() == Some(&name))
        .unwrap_or_else(|| panic!("no {name}"));
    let mut values = Vec::new();
    let mut out = [0.0; 1001];
    let mut blocks = tensor.blocks(out.len()).expect("in C order");
    while let Some(block) = blocks.next_block().expect("undamaged") {
        let count = block.decode(&mut out);
        values.extend_from_slice(&out[..count]);
    }
    assert_eq!(values.len() as u64, tensor.head.elements());
    values
}

/// Equal to the bit, NaNs by being one.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

#[test]
fn every_code_has_the_value_of_the_table() {
    let bytes = fixture();
    let contents = read(&bytes, None).unwrap();
    assert!(contents.unreadable.is_empty());
    for format in FORMATS {
        let values = array(&contents, format, "values");
        assert_eq!(values.len(), 1 << format.size_bits());
        for (code, &value) in values.iter().enumerate() {
            let code = code as u64;
            assert!(
                same(format.decode(code), value),
                "{format} {code:#x}: {} {value}",
                format.decode(code)
            );
            assert_eq!(
                format.is_nan_code(code),
                value.is_nan(),
                "{format} {code:#x}"
            );
            // And back. A NaN stays one, and keeps its sign where there are two.
            let back = format.encode(format.decode(code), Overflow::NonFinite);
            if value.is_nan() {
                assert!(
                    format.is_nan_code(back)
                        && back >> (format.size_bits() - 1) == code >> (format.size_bits() - 1)
                );
            } else {
                assert_eq!(back, code, "{format}");
            }
        }
    }
}

#[test]
fn values_between_two_numbers_become_the_code_of_the_table() {
    let bytes = fixture();
    let contents = read(&bytes, None).unwrap();
    for format in FORMATS {
        let inputs = array(&contents, format, "inputs");
        let codes = array(&contents, format, "codes");
        assert_eq!(inputs.len(), codes.len());
        assert!(inputs.len() >= 3 * 8);
        for (&input, &code) in inputs.iter().zip(&codes) {
            let encoded = format.encode(input, Overflow::NonFinite);
            assert_eq!(encoded, code as u64, "{format} {input:e}");
        }
    }
}

/// Rounding is done once: the neighbours of the middle in `f64` go to the nearer number, which a way by binary32 would miss.
#[test]
fn neighbours_of_the_middle_go_to_the_nearer_number() {
    let bytes = fixture();
    let contents = read(&bytes, None).unwrap();
    for format in FORMATS {
        let values = array(&contents, format, "values");
        let mut numbers: Vec<(f64, u64)> = values
            .iter()
            .enumerate()
            .filter(|(_, value)| value.is_finite() && value.is_sign_positive())
            .map(|(code, &value)| (value, code as u64))
            .collect();
        numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
        let sign = match format {
            Format::E8m0 => None,
            other => Some(1_u64 << (other.size_bits() - 1)),
        };
        for pair in numbers.windows(2) {
            let ((low, low_code), (high, high_code)) = (pair[0], pair[1]);
            let middle = low + (high - low) / 2.0;
            let at_middle = match format {
                // It has no even last bit.
                Format::E8m0 => high_code,
                _ if low_code % 2 == 0 => low_code,
                _ => high_code,
            };
            for (value, code) in [
                (low.next_up(), low_code),
                (middle.next_down(), low_code),
                (middle, at_middle),
                (middle.next_up(), high_code),
                (high.next_down(), high_code),
            ] {
                assert_eq!(
                    format.encode(value, Overflow::Saturate),
                    code,
                    "{format} {value:e}"
                );
                if let Some(sign) = sign {
                    // Formats without negative zero have NaN there.
                    let is_nan = code == 0 && format.is_nan_code(sign);
                    let negative = if is_nan { 0 } else { code | sign };
                    assert_eq!(
                        format.encode(-value, Overflow::Saturate),
                        negative,
                        "{format} {value:e}"
                    );
                }
            }
            assert_eq!(
                format.ulp_distance(low_code, high_code),
                Some(1),
                "{format}"
            );
            assert!(
                same(
                    format.ulp_of(low),
                    if format == Format::E8m0 {
                        low
                    } else {
                        high - low
                    }
                ),
                "{format} {low:e}"
            );
        }
    }
}
