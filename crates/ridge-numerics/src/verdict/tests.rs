//! Outputs that are right and outputs that are wrong in one known way, with the verdict that they have to get.
//!
//! Each way is built by what it means, from a reference of random numbers, in each format that it makes sense for. Right twins stand
//! beside wrong ones: what looks alike and is no mistake.

use super::*;
use crate::document::{Document, compare};
use crate::format::{Endian, Overflow};
use crate::measure::Limits;
use crate::tolerance::{Computation, Preset};

const ROWS: usize = 96;
const COLUMNS: usize = 136;

/// Numbers that look random, between -1 and 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Of about a normal distribution with deviation 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() / 2.0
    }
}

/// A way to make an output of a reference.
type Make = fn(&Case, &[f64]) -> Vec<f64>;

/// A case: what is done, and what has to be said.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    formats: &'static [Format],
    make: Make,
    computation: Computation,
    expected: Outcome,
    /// The first cause; none where there is none.
    cause: Option<CauseKind>,
    /// Words of the sentence.
    says: &'static str,
    format: Format,
}

const ALL: &[Format] = &[
    Format::F64,
    Format::F32,
    Format::F16,
    Format::Bf16,
    Format::E4m3,
    Format::E5m2,
    Format::I8,
];
const FLOATS: &[Format] = &[
    Format::F64,
    Format::F32,
    Format::F16,
    Format::Bf16,
    Format::E4m3,
    Format::E5m2,
];
const WIDE: &[Format] = &[Format::F64, Format::F32, Format::F16, Format::Bf16];
const FINE: &[Format] = &[Format::F64, Format::F32];

impl Case {
    fn round(&self, value: f64) -> f64 {
        self.format
            .decode(self.format.encode(value, Overflow::Saturate))
    }

    /// The number that follows a value, by some steps.
    fn step(&self, value: f64, steps: i64) -> f64 {
        let code = self.format.encode(value, Overflow::Saturate);
        self.format.decode(code.wrapping_add_signed(steps))
    }
}

const fn case(
    name: &'static str,
    formats: &'static [Format],
    make: Make,
    expected: Outcome,
    cause: Option<CauseKind>,
    says: &'static str,
) -> Case {
    Case {
        name,
        formats,
        make,
        computation: Computation {
            reduction: None,
            accumulate: None,
            function: None,
            preset: None,
            own: None,
            has_magnitudes: false,
            is_reference_rounded: false,
            reference_rms: None,
        },
        expected,
        cause,
        says,
        format: Format::F32,
    }
}

fn with(case: Case, computation: Computation) -> Case {
    Case {
        computation,
        ..case
    }
}

fn at(row: usize, column: usize) -> usize {
    row * COLUMNS + column
}

/// The output is the reference but for some elements.
fn but(
    reference: &[f64],
    is_meant: impl Fn(usize, usize) -> bool,
    other: impl Fn(usize, usize, f64) -> f64,
) -> Vec<f64> {
    (0..ROWS)
        .flat_map(|row| (0..COLUMNS).map(move |column| (row, column)))
        .map(|(row, column)| {
            let value = reference[at(row, column)];
            if is_meant(row, column) {
                other(row, column, value)
            } else {
                value
            }
        })
        .collect()
}

fn of_length(length: u64, accumulate: Option<Format>) -> Computation {
    Computation {
        reduction: Some(length),
        accumulate,
        ..Computation::default()
    }
}

fn of_preset(preset: Preset) -> Computation {
    Computation {
        preset: Some(preset),
        ..Computation::default()
    }
}

fn noisy(case: &Case, r: &[f64], size: f64) -> Vec<f64> {
    let mut random = Random(77);
    r.iter()
        .map(|r| case.round(r + size * random.normal()))
        .collect()
}

fn cases() -> Vec<Case> {
    use CauseKind as C;
    use Outcome::{CannotTell, Right, Wrong};
    vec![
        case(
            "the same",
            ALL,
            |_, r| r.to_vec(),
            Right,
            None,
            "all 13,056 elements are equal",
        ),
        case(
            "one step off here and there",
            FLOATS,
            |c, r| {
                let mut random = Random(5);
                r.iter()
                    .map(|r| c.step(*r, if random.next() > 0.6 { 1 } else { 0 }))
                    .collect()
            },
            Right,
            None,
            "worst 1 ULP",
        ),
        case(
            "an integer one off",
            &[Format::I8],
            |_, r| {
                but(
                    r,
                    |i, j| (i * 37 + j) % 1013 == 5,
                    |_, _, v| if v > 0.0 { v - 1.0 } else { v + 1.0 },
                )
            },
            Wrong,
            None,
            "not rounding of i8",
        ),
        // Memory that nobody wrote.
        case(
            "all zero",
            ALL,
            |_, r| vec![0.0; r.len()],
            Wrong,
            None,
            "the output is 0 everywhere",
        ),
        case(
            "all NaN",
            FLOATS,
            |_, r| vec![f64::NAN; r.len()],
            Wrong,
            None,
            "NaN everywhere",
        ),
        case(
            "constant",
            ALL,
            |_, r| vec![1.0; r.len()],
            Wrong,
            None,
            "the output is 1 everywhere",
        ),
        case(
            "a row of zeros",
            ALL,
            |_, r| but(r, |i, _| i == 40, |_, _, _| 0.0),
            Wrong,
            Some(C::Unwritten),
            "all in rows 40",
        ),
        // Tiles and tails.
        case(
            "the last tile skipped",
            ALL,
            |_, r| but(r, |_, j| j >= 128, |_, _, _| 0.0),
            Wrong,
            Some(C::Unwritten),
            "all in columns 128–135: the rest after whole tiles of 128",
        ),
        case(
            "the last tile wrong",
            ALL,
            |c, r| {
                let mut random = Random(9);
                let other: Vec<f64> = r.iter().map(|_| c.round(20.0 * random.normal())).collect();
                but(r, |_, j| j >= 128, |i, j, _| other[at(i, j)])
            },
            Wrong,
            Some(C::Tail),
            "all in columns 128–135",
        ),
        case(
            "the last rows wrong",
            ALL,
            |c, r| {
                let mut random = Random(9);
                let other: Vec<f64> = r.iter().map(|_| c.round(20.0 * random.normal())).collect();
                but(r, |i, _| i >= 64, |i, j, _| other[at(i, j)])
            },
            Wrong,
            Some(C::Tail),
            "all in rows 64–95: the rest after whole tiles of 64",
        ),
        case(
            "a block in the middle",
            ALL,
            |c, r| {
                let mut random = Random(9);
                let other: Vec<f64> = r.iter().map(|_| c.round(20.0 * random.normal())).collect();
                but(
                    r,
                    |i, j| (32..64).contains(&i) && (16..32).contains(&j),
                    |i, j, _| other[at(i, j)],
                )
            },
            Wrong,
            Some(C::Region),
            "all in rows 32–63 and columns 16–31",
        ),
        case(
            "the edge of each tile",
            ALL,
            |c, r| {
                let mut random = Random(9);
                let other: Vec<f64> = r.iter().map(|_| c.round(20.0 * random.normal())).collect();
                but(r, |_, j| j % 16 == 15, |i, j, _| other[at(i, j)])
            },
            Wrong,
            Some(C::TileEdge),
            "modulo",
        ),
        // Elements in wrong places.
        case(
            "transposed",
            ALL,
            |_, r| {
                (0..ROWS * COLUMNS)
                    .map(|k| r[(k % ROWS) * COLUMNS + k / ROWS])
                    .collect()
            },
            Wrong,
            Some(C::Transposed),
            "transposed",
        ),
        case(
            "one place off",
            ALL,
            |_, r| (0..r.len()).map(|k| r[(k + 1) % r.len()]).collect(),
            Wrong,
            Some(C::Shifted),
            "the one 1 place after it",
        ),
        case(
            "one row off",
            ALL,
            |_, r| {
                (0..r.len())
                    .map(|k| r[(k + r.len() - COLUMNS) % r.len()])
                    .collect()
            },
            Wrong,
            Some(C::Shifted),
            "each row is that before it",
        ),
        // Values.
        case(
            "twice as much",
            WIDE,
            |_, r| r.iter().map(|r| 2.0 * r).collect(),
            Wrong,
            Some(C::Factor),
            "2 times the reference",
        ),
        case(
            "a scale is missing",
            WIDE,
            |c, r| r.iter().map(|r| c.round(r * 0.17677)).collect(),
            Wrong,
            Some(C::Factor),
            "0.17",
        ),
        case(
            "the opposite sign",
            ALL,
            |_, r| r.iter().map(|r| -r).collect(),
            Wrong,
            Some(C::Sign),
            "opposite sign",
        ),
        case(
            "the opposite sign in some rows",
            FLOATS,
            |_, r| but(r, |i, _| i % 3 == 1, |_, _, v| -v),
            Wrong,
            Some(C::Sign),
            "opposite sign",
        ),
        case(
            "a constant is missing",
            WIDE,
            |c, r| r.iter().map(|r| c.round(r - 100.0)).collect(),
            Wrong,
            Some(C::Offset),
            "a constant",
        ),
        case(
            "the bias is missing",
            FINE,
            |c, r| {
                but(
                    r,
                    |_, _| true,
                    |_, j, v| c.round(v + 3.0 + (j * j % 23) as f64),
                )
            },
            Wrong,
            Some(C::BiasVector),
            "all of a column are off by the same",
        ),
        // Formats.
        case(
            "rounded to a narrower format",
            &[Format::F64, Format::F32],
            |_, r| {
                r.iter()
                    .map(|r| Format::Bf16.decode(Format::Bf16.encode(*r, Overflow::Saturate)))
                    .collect()
            },
            Wrong,
            Some(C::Narrowed),
            "numbers of bf16",
        ),
        with(
            case(
                "inputs rounded to TF32",
                &[Format::F32],
                |c, r| noisy(c, r, 10.0 * 3.5e-4),
                Wrong,
                Some(C::LowerPrecision),
                "tf32",
            ),
            of_length(64, None),
        ),
        with(
            case(
                "the same on tensor cores",
                &[Format::F32],
                |c, r| noisy(c, r, 10.0 * 3.5e-4),
                Right,
                None,
                "tensor-core product with K = 64",
            ),
            Computation {
                preset: Some(Preset::TensorCore),
                ..of_length(64, None)
            },
        ),
        case(
            "truncated",
            &[Format::F32, Format::F16, Format::Bf16],
            |c, r| {
                let mut random = Random(21);
                // 60 % are one step nearer to 0, some two.
                r.iter()
                    .map(|r| {
                        c.step(
                            *r,
                            match random.next() {
                                v if v > 0.9 => -2,
                                v if v > -0.2 => -1,
                                _ => 0,
                            },
                        )
                    })
                    .collect()
            },
            Wrong,
            Some(C::Truncation),
            "truncated",
        ),
        case(
            "subnormal numbers lost",
            &[Format::F32, Format::F64, Format::F16, Format::Bf16],
            |c, r| {
                let least = c.format.min_normal().unwrap();
                r.iter()
                    .map(|r| if r.abs() < least { 0.0 } else { *r })
                    .collect()
            },
            Wrong,
            Some(C::FlushToZero),
            "flush to zero",
        ),
        with(
            case(
                "subnormal numbers lost, as fast math does",
                &[Format::F32, Format::F16, Format::Bf16],
                |c, r| {
                    let least = c.format.min_normal().unwrap();
                    r.iter()
                        .map(|r| if r.abs() < least { 0.0 } else { *r })
                        .collect()
                },
                Right,
                None,
                "--use_fast_math",
            ),
            of_preset(Preset::FastMath),
        ),
        case(
            "an overflow",
            &[Format::F32, Format::F16, Format::E5m2],
            |_, r| but(r, |i, j| (i + j) % 401 == 3, |_, _, _| f64::INFINITY),
            Wrong,
            Some(C::Overflow),
            "overflow",
        ),
        case(
            "NaN in some",
            FLOATS,
            |_, r| but(r, |i, j| (i * 7 + j) % 389 == 3, |_, _, _| f64::NAN),
            Wrong,
            None,
            "NaN",
        ),
        // Races.
        case(
            "few and far off",
            FLOATS,
            |c, r| {
                let mut random = Random(31);
                r.iter()
                    .map(|r| {
                        if random.next() > 0.997 {
                            c.round(r * 0.3 + 40.0 * random.next())
                        } else {
                            *r
                        }
                    })
                    .collect()
            },
            Wrong,
            Some(C::Scattered),
            "race",
        ),
        case(
            "a single element",
            ALL,
            |c, r| {
                but(
                    r,
                    |i, j| i == 50 && j == 77,
                    |_, _, v| c.round(if v > 0.0 { -64.0 } else { 64.0 }),
                )
            },
            Wrong,
            None,
            "1 element wrong",
        ),
        // Reductions.
        with(
            case(
                "rounding of a product",
                FINE,
                |c, r| noisy(c, r, 10.0 * 32.0 * c.format.unit_roundoff().unwrap()),
                Right,
                None,
                "product with K = 1024",
            ),
            of_length(1024, None),
        ),
        with(
            case(
                "rounding of a product, stored in few bits",
                &[Format::F16, Format::Bf16],
                |c, r| noisy(c, r, 4e-4),
                Right,
                None,
                "product with K = 1024",
            ),
            of_length(1024, None),
        ),
        with(
            case(
                "a sum in half precision",
                &[Format::F16],
                |c, r| noisy(c, r, 0.2),
                Right,
                None,
                "K = 1024, summed in f16",
            ),
            of_length(1024, Some(Format::F16)),
        ),
        with(
            case(
                "a sum in half precision that should not be",
                &[Format::F16],
                |c, r| noisy(c, r, 0.2),
                Wrong,
                None,
                "not rounding of an f16 product",
            ),
            of_length(1024, None),
        ),
        case(
            "a product of unknown length",
            FINE,
            |c, r| noisy(c, r, 10.0 * 32.0 * c.format.unit_roundoff().unwrap()),
            CannotTell,
            None,
            "products or more would explain it",
        ),
        // Rules of others.
        with(
            case(
                "close by torch's rule",
                &[Format::F32],
                |c, r| noisy(c, r, 2e-6),
                Right,
                None,
                "assert_close",
            ),
            of_preset(Preset::Torch),
        ),
        with(
            case(
                "not close by torch's rule",
                &[Format::F32],
                |c, r| noisy(c, r, 1e-4),
                Wrong,
                None,
                "not torch.testing.assert_close",
            ),
            of_preset(Preset::Torch),
        ),
        with(
            case(
                "close by numpy's rule",
                &[Format::F64],
                |c, r| noisy(c, r, 1e-9),
                Right,
                None,
                "numpy.allclose",
            ),
            of_preset(Preset::Numpy),
        ),
        with(
            case(
                "zero within numpy's rule is still zero",
                &[Format::F32],
                |_, r| vec![0.0; r.len()],
                Wrong,
                None,
                "0 everywhere",
            ),
            Computation {
                own: Some(Limits {
                    absolute: 1e9,
                    ..Limits::default()
                }),
                ..Computation::default()
            },
        ),
        with(
            case(
                "one step off is not strict",
                FLOATS,
                |c, r| r.iter().map(|r| c.step(*r, 1)).collect(),
                Wrong,
                None,
                "not correct rounding",
            ),
            of_preset(Preset::Strict),
        ),
    ]
}

/// Numbers of a format: normal with deviation 10, and no two the same more often than the format makes it so. Where subnormal numbers
/// are to be lost there are some.
fn reference(case: &Case) -> Vec<f64> {
    let mut random = Random(12_345);
    let has_subnormals = case.name.starts_with("subnormal");
    (0..ROWS * COLUMNS)
        .map(|element| {
            if has_subnormals && element % 7 == 0 {
                return case.format.min_subnormal().unwrap() * (1 + element % 5) as f64;
            }
            loop {
                let value = case.round(10.0 * random.normal());
                // Twice and half of it are numbers of the format as well.
                if value.abs() > 0.25 && value.abs() < 100.0 {
                    return value;
                }
            }
        })
        .collect()
}

fn bytes(format: Format, values: &[f64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| {
            let code = format.encode(*value, Overflow::NonFinite);
            code.to_le_bytes()[..format.size_bytes()].to_vec()
        })
        .collect()
}

fn judged(
    format: Format,
    shape: &[u64],
    r: &[u8],
    x: &[u8],
    computation: &Computation,
) -> Document {
    let r = View::row_major(format, shape, Endian::Little, r).unwrap();
    let x = View::row_major(format, shape, Endian::Little, x).unwrap();
    compare(["r", "x"], &r, &x, None, computation, 1).unwrap()
}

#[test]
fn every_case_gets_its_verdict() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for case in cases() {
        for format in case.formats {
            count += 1;
            let case = Case {
                format: *format,
                ..case
            };
            let r = reference(&case);
            let x = (case.make)(&case, &r);
            let document = judged(
                *format,
                &[ROWS as u64, COLUMNS as u64],
                &bytes(*format, &r),
                &bytes(*format, &x),
                &case.computation,
            );
            let verdict = document.verdict;
            let cause = verdict.causes.first().map(|cause| cause.kind);
            if verdict.outcome != case.expected
                || !verdict.sentence.contains(case.says)
                || (case.cause.is_some() && cause != case.cause)
                || (case.expected == Outcome::Right && cause.is_some())
            {
                wrong.push(format!(
                    "{} in {format}: {cause:?} {}",
                    case.name, verdict.sentence
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(count > 150);
}

#[test]
fn a_finer_reference_judges_and_a_coarser_one_does_not() {
    let values = [1.1, 2.2, -3.3, 4.4];
    let fine = bytes(Format::F64, &values);
    for format in [
        Format::F32,
        Format::Bf16,
        Format::F16,
        Format::E4m3,
        Format::E5m2,
    ] {
        let coarse = bytes(format, &values);
        let fine = View::row_major(Format::F64, &[4], Endian::Little, &fine).unwrap();
        let coarse = View::row_major(format, &[4], Endian::Little, &coarse).unwrap();
        let document =
            compare(["r", "x"], &fine, &coarse, None, &Computation::default(), 1).unwrap();
        assert_eq!(
            document.verdict.sentence,
            "right: all 4 elements are the reference, rounded"
        );
        let document =
            compare(["r", "x"], &coarse, &fine, None, &Computation::default(), 1).unwrap();
        assert_eq!(document.verdict.outcome, Outcome::Wrong);
        assert_eq!(
            document.verdict.sentence,
            format!("wrong type: the output is f64, the reference {format}")
        );
    }
    assert!(!can_judge(Format::F16, Format::Bf16) && !can_judge(Format::Bf16, Format::F16));
    assert!(!can_judge(Format::F32, Format::I8) && !can_judge(Format::I32, Format::I8));
    assert!(can_judge(Format::F16, Format::E5m2) && can_judge(Format::F32, Format::Tf32));
}

#[test]
fn shapes_have_to_be_the_same() {
    let (r, x) = (bytes(Format::F32, &[0.0; 6]), bytes(Format::F32, &[0.0; 6]));
    let said = |one: &[u64], other: &[u64]| {
        let length = |shape: &[u64]| 4 * shape.iter().product::<u64>() as usize;
        let r = View::row_major(Format::F32, one, Endian::Little, &r[..length(one)]).unwrap();
        let x = View::row_major(Format::F32, other, Endian::Little, &x[..length(other)]).unwrap();
        let document = compare(["r", "x"], &r, &x, None, &Computation::default(), 1).unwrap();
        assert!(document.measures.is_none());
        (
            document.verdict.outcome,
            document.verdict.sentence,
            document.verdict.next.unwrap(),
        )
    };
    let (outcome, sentence, next) = said(&[2, 3], &[3, 2]);
    assert_eq!(outcome, Outcome::Wrong);
    assert_eq!(
        sentence,
        "wrong shape: the output has [3, 2], the reference [2, 3]"
    );
    assert!(next.contains("transpose"));
    assert!(said(&[6], &[2, 3]).2.contains("reshape"));
    assert!(said(&[3], &[2, 3]).2.contains("broadcast"));
    assert!(said(&[4], &[2, 3]).2.contains("which tensors"));
    let (outcome, sentence, _) = said(&[0, 5], &[0, 5]);
    assert_eq!(outcome, Outcome::CannotTell);
    assert!(sentence.contains("empty (shape [0, 5])"));
}

#[test]
fn a_reference_that_tests_nothing_is_no_proof() {
    let of = |r: &[f64], x: &[f64]| {
        judged(
            Format::F32,
            &[r.len() as u64],
            &bytes(Format::F32, r),
            &bytes(Format::F32, x),
            &Computation::default(),
        )
        .verdict
    };
    let zero = of(&[0.0; 64], &[0.0; 64]);
    assert_eq!(zero.outcome, Outcome::CannotTell);
    assert!(zero.sentence.contains("0 everywhere"));
    let nan = of(&[f64::NAN; 64], &[f64::NAN; 64]);
    assert_eq!(nan.outcome, Outcome::CannotTell);
    let ones = of(&[1.0; 64], &[1.0; 64]);
    assert_eq!(ones.outcome, Outcome::Right);
    assert!(ones.notes[0].contains("tests little"));
    // One element is always constant.
    assert_eq!(of(&[3.0], &[3.0]).outcome, Outcome::Right);
}

#[test]
fn a_fill_pattern_is_memory_that_nobody_wrote() {
    let r = bytes(Format::F32, &(0..256).map(f64::from).collect::<Vec<f64>>());
    for byte in [0xff, 0xcd, 0xaa] {
        let mut x = r.clone();
        x[512..].fill(byte);
        let verdict = judged(Format::F32, &[256], &r, &x, &Computation::default()).verdict;
        assert_eq!(
            verdict.causes[0].kind,
            CauseKind::Unwritten,
            "{}",
            verdict.sentence
        );
        assert!(
            verdict.sentence.contains("fill pattern")
                && verdict.sentence.contains("elements 128–255")
        );
        let verdict = judged(
            Format::F32,
            &[256],
            &r,
            &vec![byte; 1024],
            &Computation::default(),
        )
        .verdict;
        assert_eq!(verdict.outcome, Outcome::Wrong);
        assert!(verdict.sentence.contains("pattern"), "{}", verdict.sentence);
    }
}

#[test]
fn conversions_that_overflow_may_saturate() {
    // The reference is too large for the output: either conversion is right, the other one in the same format is not.
    let r = bytes(
        Format::F32,
        &[
            500.0, 1000.0, -700.0, 3.0, 5.0, 7.0, 9.0, 11.0, 470.0, 480.0, 490.0, 600.0,
        ],
    );
    let r = View::row_major(Format::F32, &[12], Endian::Little, &r).unwrap();
    let values: Vec<f64> = (0..12).map(|element| r.value(element).unwrap()).collect();
    for overflow in [Overflow::Saturate, Overflow::NonFinite] {
        let x: Vec<u8> = values
            .iter()
            .map(|value| Format::E4m3.encode(*value, overflow) as u8)
            .collect();
        let x = View::row_major(Format::E4m3, &[12], Endian::Little, &x).unwrap();
        let verdict = compare(["r", "x"], &r, &x, None, &Computation::default(), 1)
            .unwrap()
            .verdict;
        assert_eq!(verdict.outcome, Outcome::Right, "{}", verdict.sentence);
        assert!(verdict.notes.iter().any(|note| note.contains("too large")));
    }
    let mut r = vec![f64::INFINITY; 16];
    r.extend((1..200).map(f64::from));
    let x: Vec<f64> = r.iter().map(|value| value.min(65504.0)).collect();
    let verdict = judged(
        Format::F16,
        &[215],
        &bytes(Format::F16, &r),
        &bytes(Format::F16, &x),
        &Computation::default(),
    )
    .verdict;
    assert_eq!(verdict.outcome, Outcome::Wrong);
    assert!(
        verdict
            .causes
            .iter()
            .any(|cause| cause.kind == CauseKind::Saturation),
        "{}",
        verdict.sentence
    );
}

/// Most elements are off by rounding, by chance not the first one: that is no region, and a longer sum explains it.
#[test]
fn nearly_all_places_are_no_region() {
    let mut random = Random(3);
    let reference: Vec<f32> = (0..100_000).map(|_| random.next() as f32).collect();
    let mut output: Vec<f32> = reference
        .iter()
        .map(|value| value + (random.normal() * 1.5e-7) as f32)
        .collect();
    for place in [0, 1, 99_999] {
        output[place] = reference[place];
    }
    let bytes = |values: &[f32]| -> Vec<u8> {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    };
    let (reference, output) = (bytes(&reference), bytes(&output));
    let view = |bytes| View::row_major(Format::F32, &[100_000], Endian::Little, bytes).unwrap();
    let document = compare(
        ["reference", "output"],
        &view(&reference),
        &view(&output),
        None,
        &Computation::default(),
        2,
    );
    let verdict = document.unwrap().verdict;
    assert_eq!(verdict.outcome, Outcome::CannotTell, "{}", verdict.sentence);
    assert!(
        verdict
            .sentence
            .contains("products or more would explain it"),
        "{}",
        verdict.sentence
    );
}
