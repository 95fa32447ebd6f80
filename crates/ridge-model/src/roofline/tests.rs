//! Charts by hand.

use super::document::{Basis, Beside, Chart, Class, FlagCode, RidgeSide, Side};
use super::{Amounts, Cause, Moved, Precision, RunRoofs, Setting, Sheet, Subject};
use crate::device::Origin;
use crate::quantity::{Bandwidth, Bytes, ComputeRate, Flops, Hertz, Nanos};
use crate::roof::{ComputeRoof, MemoryLevel, MemoryRoof};
use crate::{Devices, NumberFormat, PeakUnit};

/// A100 40 GB SXM: 19.49 TFLOP/s over 1555 GB/s make 12.53 FLOP/byte.
fn a100() -> Setting {
    let device = Devices::known().find("A100 40 SXM4").unwrap();
    Setting {
        device: Some(device.name.clone()),
        sheet: Some(Sheet {
            device: device.clone(),
            scaled_to: None,
        }),
        ..Setting::default()
    }
}

const FP32: Precision = Precision::vector(NumberFormat::Fp32);

fn subject(name: &str, gflop: f64, gb: f64, ms: f64) -> Subject {
    Subject {
        name: name.to_owned(),
        signature: None,
        shape: None,
        source: None,
        side: None,
        launches: Vec::new(),
        launch: None,
        origin: Origin::Given,
        left_out: None,
        time: Some(Nanos::new(ms * 1e6)),
        total_time: Some(Nanos::new(ms * 1e6)),
        class: Some(Class::Memory),
        operations: vec![Amounts {
            precision: FP32,
            operations: Flops::new(gflop * 1e9),
            source: Vec::new(),
            may_be_moves: false,
        }],
        not_counted: Vec::new(),
        moved: vec![Moved {
            level: MemoryLevel::Dram,
            bytes: Bytes::new(gb * 1e9),
            source: Vec::new(),
        }],
        run: RunRoofs::default(),
    }
}

fn near(found: f64, expected: f64) {
    assert!(
        (found / expected - 1.0).abs() < 1e-3,
        "{found} instead of {expected}"
    );
}

#[test]
fn a_point_left_of_the_ridge_is_held_against_the_slope() {
    // 1 GFLOP and 1 GB in 1 ms: 1 FLOP/byte, 1 TFLOP/s of the 1.555 that the slope allows there.
    let chart = Chart::new(&a100(), vec![subject("triad", 1.0, 1.0, 1.0)]);
    let point = &chart.kernels[0].points[0];
    let place = &point.placements[0];
    near(point.ops_per_s, 1e12);
    near(place.intensity, 1.0);
    near(place.attainable_ops_per_s.unwrap(), 1.555e12);
    near(place.share.unwrap(), 1.0 / 1.555);
    assert_eq!(place.bound, Some(RidgeSide::Memory));
    near(point.roof.as_ref().unwrap().share, 1.0 / 19.49);
    assert!(point.flags.is_empty());
    let roof = &chart.compute_roofs[0];
    assert_eq!(roof.id, "fp32-vector-datasheet");
    near(roof.ridge_points[0].intensity, 12.53);
}

#[test]
fn a_point_right_of_the_ridge_is_held_against_the_flat_roof() {
    let chart = Chart::new(&a100(), vec![subject("gemm", 15.0, 0.1, 1.0)]);
    let place = &chart.kernels[0].points[0].placements[0];
    assert_eq!(place.bound, Some(RidgeSide::Compute));
    near(place.share.unwrap(), 15.0 / 19.49);
}

#[test]
fn what_is_above_a_roof_is_flagged_with_its_causes() {
    let flags = |gflop, gb| {
        let chart = Chart::new(&a100(), vec![subject("k", gflop, gb, 1.0)]);
        chart.kernels[0].points[0].flags.clone()
    };
    let above = flags(1.0, 3.11);
    assert_eq!(above.len(), 1);
    assert_eq!(above[0].code, FlagCode::AboveMemoryRoof);
    near(above[0].factor, 2.0);
    assert_eq!(above[0].causes[0].code, Cause::CacheResident);
    let above = flags(39.0, 0.1);
    assert_eq!(above[0].code, FlagCode::AboveComputeRoof);
    let causes: Vec<Cause> = above[0].causes.iter().map(|cause| cause.code).collect();
    assert_eq!(
        causes,
        [Cause::OtherUnit, Cause::Counting, Cause::OtherClock]
    );
    // A tenth is what another clock makes.
    assert_eq!(flags(21.5, 0.1)[0].causes[0].code, Cause::OtherClock);
    // Rounding is no contradiction.
    assert!(flags(1.0, 1.57).is_empty() && flags(19.8, 0.1).is_empty());
}

#[test]
fn sparse_products_above_the_dense_peak_are_thought_of() {
    let mut dense = subject("mma", 400.0, 0.1, 1.0);
    dense.operations[0].precision =
        Precision::matrix(NumberFormat::Bf16, NumberFormat::Fp32, PeakUnit::Tensor);
    let chart = Chart::new(&a100(), vec![dense]);
    let causes = &chart.kernels[0].points[0].flags[0].causes;
    assert!(causes.iter().any(|cause| cause.code == Cause::SparsePeak));
}

#[test]
fn the_roof_of_the_own_run_goes_before_the_sheet_and_the_highest_is_drawn() {
    let at = |name: &str, ghz: f64| Subject {
        run: RunRoofs {
            sm_clock: Some(Hertz::new(ghz * 1e9)),
            memory: vec![(
                MemoryLevel::Dram,
                Bandwidth::from_gb_per_s(1500.0),
                Vec::new(),
            )],
            compute: vec![(FP32, ComputeRate::from_tera(10.0 * ghz), Vec::new())],
        },
        ..subject(name, 9.0, 0.1, 1.0)
    };
    let chart = Chart::new(&a100(), vec![at("slow", 1.0), at("fast", 1.4)]);
    let share = |name: &str| {
        let kernel = chart.kernels.iter().find(|kernel| kernel.name == name);
        kernel.unwrap().points[0].roof.as_ref().unwrap().share
    };
    near(share("slow"), 0.9);
    near(share("fast"), 9.0 / 14.0);
    let run = &chart.compute_roofs[0];
    assert_eq!(
        (run.basis, run.id.as_str()),
        (Basis::Run, "fp32-vector-run")
    );
    near(run.ops_per_s, 14e12);
    assert_eq!(chart.device.sm_clock_hz, Some((1e9, 1.4e9)));
    assert_eq!(chart.memory_roofs[0].id, "dram-run");
    assert!(
        chart
            .memory_roofs
            .iter()
            .any(|roof| roof.id == "dram-datasheet")
    );
}

#[test]
fn measured_roofs_stand_beside_the_others_and_go_before_the_sheet() {
    let setting = Setting {
        measured_memory: vec![MemoryRoof::measured(
            MemoryLevel::Dram,
            Bandwidth::from_gb_per_s(1400.0),
        )],
        measured_compute: vec![ComputeRoof::measured(
            NumberFormat::Fp32,
            ComputeRate::from_tera(18.0),
            None,
        )],
        ..a100()
    };
    let chart = Chart::new(&setting, vec![subject("k", 9.0, 0.1, 1.0)]);
    let point = &chart.kernels[0].points[0];
    assert_eq!(point.roof.as_ref().unwrap().basis, Basis::Measured);
    near(point.roof.as_ref().unwrap().share, 0.5);
    let ids: Vec<&str> = chart.compute_roofs[..2]
        .iter()
        .map(|roof| roof.id.as_str())
        .collect();
    assert_eq!(ids, ["fp32-vector-measured", "fp32-vector-datasheet"]);
    near(
        chart.compute_roofs[0].ridge_points[0].intensity,
        18_000.0 / 1400.0,
    );
}

#[test]
fn kernels_without_a_place_are_kept_with_their_reason() {
    let mut copy = subject("copy", 0.0, 1.0, 1.0);
    copy.not_counted = Vec::new();
    let mut uncounted = subject("uncounted", 0.0, 1.0, 1.0);
    uncounted.operations = Vec::new();
    uncounted.not_counted = vec!["FP32"];
    let resident = subject("resident", 1.0, 0.0, 1.0);
    let mut untimed = subject("untimed", 1.0, 1.0, 1.0);
    (untimed.time, untimed.total_time) = (None, None);
    let chart = Chart::new(&a100(), vec![copy, uncounted, resident, untimed]);
    let reason = |name: &str| {
        let kernel = chart.kernels.iter().find(|kernel| kernel.name == name);
        kernel.unwrap().left_out
    };
    assert_eq!(reason("copy"), Some(Beside::NoOperations));
    assert_eq!(reason("uncounted"), Some(Beside::OperationsNotCounted));
    assert_eq!(reason("resident"), Some(Beside::NoBytes));
    assert_eq!(reason("untimed"), Some(Beside::NoTime));
}

#[test]
fn a_device_without_roofs_still_has_points() {
    let chart = Chart::new(&Setting::default(), vec![subject("k", 1.0, 1.0, 1.0)]);
    let place = &chart.kernels[0].points[0].placements[0];
    assert_eq!((place.share, place.bound), (None, None));
    assert!(chart.compute_roofs.is_empty() && chart.memory_roofs.is_empty());
}

#[test]
fn kernels_before_and_after_find_each_other() {
    let on = |side, name: &str, shape: &str, ms| Subject {
        side: Some(side),
        shape: Some(shape.to_owned()),
        ..subject(name, 1.0, 1.0, ms)
    };
    let chart = Chart::new(
        &a100(),
        vec![
            on(Side::Before, "gemm", "large", 8.0),
            on(Side::Before, "gemm", "small", 4.0),
            on(Side::Before, "gone", "x", 1.0),
            on(Side::After, "gemm", "small", 2.0),
            on(Side::After, "gemm", "large", 5.0),
            on(Side::After, "new", "x", 1.0),
        ],
    );
    let name = |id: usize| {
        let kernel = &chart.kernels[id];
        (kernel.name.as_str(), kernel.time_ns.unwrap() / 1e6)
    };
    let pairs: Vec<_> = chart
        .pairs
        .iter()
        .map(|pair| (name(pair.before).1, name(pair.after).1, pair.speedup))
        .collect();
    assert_eq!(pairs, [(8.0, 5.0, Some(1.6)), (4.0, 2.0, Some(2.0))]);
    // Shares are of one side.
    near(chart.kernels[0].time_share.unwrap(), 8.0 / 13.0);
}

#[test]
fn one_kernel_on_each_side_is_a_pair_whatever_the_names() {
    let mut before = subject("slow", 1.0, 1.0, 3.0);
    before.side = Some(Side::Before);
    let mut after = subject("fixed", 1.0, 1.0, 1.0);
    after.side = Some(Side::After);
    let chart = Chart::new(&a100(), vec![after, before]);
    assert_eq!(chart.pairs.len(), 1);
    near(chart.pairs[0].speedup.unwrap(), 3.0);
}

#[test]
fn integers_have_a_roof_and_a_unit_of_their_own() {
    let mut dot = subject("dp", 300.0, 0.1, 1.0);
    dot.operations[0].precision =
        Precision::matrix(NumberFormat::Int8, NumberFormat::Int32, PeakUnit::Tensor);
    let chart = Chart::new(&a100(), vec![dot]);
    let point = &chart.kernels[0].points[0];
    assert_eq!(point.unit, "OP/s");
    near(point.roof.as_ref().unwrap().share, 300.0 / 624.0);
}
