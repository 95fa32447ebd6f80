use super::*;

fn f32s(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn i32s(values: &[i32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn compared(runs: &[Vec<u8>], format: Format) -> Variation {
    let runs: Vec<&[u8]> = runs.iter().map(Vec::as_slice).collect();
    compare(&runs, format, Endian::Little).unwrap()
}

/// Numbers that look random and are the same everywhere.
fn noise(seed: u64, count: usize) -> Vec<f32> {
    (0..count as u64)
        .map(|index| {
            let mixed = scattered(index.wrapping_mul(0x1_0001).wrapping_add(seed << 32));
            (mixed >> 40) as f32 / (1 << 23) as f32 - 1.0
        })
        .collect()
}

/// The sums of `length` values each, added in an order that depends on the run: what atomic additions do.
fn atomic_sums(run: u64, count: usize, length: usize) -> Vec<f32> {
    (0..count)
        .map(|element| {
            let mut values = noise(element as u64, length);
            let mut state = run * 7919 + element as u64;
            for last in (1..length).rev() {
                state = scattered(state);
                values.swap(last, (state % (last as u64 + 1)) as usize);
            }
            values.iter().sum()
        })
        .collect()
}

#[test]
fn equal_runs_do_not_vary() {
    let runs = vec![f32s(&[1.0, f32::NAN, -0.0]); 3];
    let variation = compared(&runs, Format::F32);
    assert_eq!(variation.cause, Cause::None);
    assert_eq!((variation.varying, variation.first), (0, None));
    assert!(!variation.is_reordered);
}

#[test]
fn sums_in_other_orders_are_rounding() {
    let runs: Vec<Vec<u8>> = (0..5)
        .map(|run| f32s(&atomic_sums(run, 200, 4096)))
        .collect();
    let variation = compared(&runs, Format::F32);
    assert_eq!(variation.cause, Cause::Rounding, "{variation:?}");
    assert!(variation.varying > 150);
    // Some sums cancel: many steps of a small result, and yet small beside the output.
    assert!(variation.max_steps > 4 && variation.max_relative < 1e-4);
}

#[test]
fn bf16_outputs_of_such_sums_vary_by_a_step() {
    let runs: Vec<Vec<u8>> = (0..5)
        .map(|run| {
            atomic_sums(run, 2000, 256)
                .iter()
                .flat_map(|sum| {
                    let code =
                        Format::Bf16.encode(f64::from(*sum), crate::format::Overflow::NonFinite);
                    (code as u16).to_le_bytes()
                })
                .collect()
        })
        .collect();
    let variation = compared(&runs, Format::Bf16);
    assert_eq!(variation.cause, Cause::Rounding, "{variation:?}");
    assert!((1..100).contains(&variation.varying));
}

#[test]
fn few_elements_that_are_far_off_are_a_race() {
    let right = noise(1, 10_000);
    let mut runs = vec![f32s(&right); 9];
    // A partial sum was read: half of what it should be, in one run.
    let mut wrong = right;
    for index in [17, 4000, 4001, 9998] {
        wrong[index] *= 0.5;
    }
    runs.push(f32s(&wrong));
    let variation = compared(&runs, Format::F32);
    assert_eq!(variation.cause, Cause::Race);
    assert_eq!((variation.varying, variation.stretches), (4, 3));
    assert_eq!(variation.first, Some(17));
}

#[test]
fn garbage_is_memory_that_nothing_was_written_to() {
    let right = noise(2, 1000);
    for garbage in [f32::NAN, f32::INFINITY, 1e30, 1e-41] {
        let mut wrong = right.clone();
        wrong[990..].fill(garbage);
        let variation = compared(&[f32s(&right), f32s(&wrong)], Format::F32);
        assert_eq!(variation.cause, Cause::Uninitialized, "{garbage}");
        assert_eq!((variation.varying, variation.stretches), (10, 1));
    }
}

#[test]
fn the_rest_of_a_sum_that_cancels_is_no_garbage() {
    let variation = compared(
        &[f32s(&[1.0, 0.0, 2.0]), f32s(&[1.0, 1e-40, 2.0])],
        Format::F32,
    );
    assert_eq!(variation.implausible, 1);
    assert_eq!(variation.cause, Cause::Rounding);
}

#[test]
fn the_same_elements_elsewhere_are_an_order() {
    let runs = [i32s(&[5, 7, 9, 11]), i32s(&[7, 5, 9, 11])];
    let variation = compared(&runs, Format::I32);
    assert_eq!(variation.cause, Cause::Order);
    assert!(variation.is_reordered);
    // Integers are never rounded.
    let variation = compared(&[i32s(&[100; 100]), i32s(&[101; 100])], Format::I32);
    assert_eq!(variation.cause, Cause::Unclear);
}

#[test]
fn other_inputs_are_told_from_faults() {
    let runs: Vec<Vec<u8>> = (0..3).map(|seed| f32s(&noise(seed + 10, 5000))).collect();
    let variation = compared(&runs, Format::F32);
    assert_eq!(variation.cause, Cause::Inputs);
    assert!(variation.relative_l2 > 1.0);
}

#[test]
fn signs_of_zero_are_bits() {
    let variation = compared(&[f32s(&[0.0]), f32s(&[-0.0])], Format::F32);
    assert_eq!((variation.varying, variation.max_steps), (1, 0));
    assert_eq!(variation.cause, Cause::Rounding);
}

#[test]
fn medians_are_bounds() {
    let mut other = [1.0_f32; 9];
    for (index, value) in other.iter_mut().enumerate() {
        *value = f32::from_bits(1_f32.to_bits() + 1 + index as u32);
    }
    let variation = compared(&[f32s(&[1.0; 9]), f32s(&other)], Format::F32);
    // Steps 1 to 9: the fifth is 5, of three bits.
    assert_eq!((variation.median_steps, variation.max_steps), (7, 9));
}

#[test]
fn outputs_have_to_be_alike() {
    let (a, b) = (f32s(&[1.0]), f32s(&[1.0, 2.0]));
    assert_eq!(
        compare(&[&a, &b], Format::F32, Endian::Little),
        Err(Incomparable)
    );
    assert_eq!(compare(&[], Format::F32, Endian::Little), Err(Incomparable));
    assert_eq!(
        compare(&[&a[..3]], Format::F32, Endian::Little),
        Err(Incomparable)
    );
}

#[test]
fn equal_runs_bound_what_they_missed() {
    // After ten runs a fault that shows in 28 % of runs may still be hidden, at 95 %.
    assert!((missed_share(10) - 0.283).abs() < 0.001);
    assert_eq!(missed_share(1), 1.0);
    assert!(missed_share(300) < 0.0101);
}
