//! Bounds that were worked out by hand from data sheets.

use ridge_model::bound::document::Document;
use ridge_model::bound::{
    Arithmetic, BoundError, BoundKind, Bounds, Ceilings, Chain, Gap, Launches, Link, Reading,
    StepLatency, Synchronizations, Transfer, Work,
};
use ridge_model::device::{Fact, Origin};
use ridge_model::quantity::{Bytes, Flops, Hertz, Nanos};
use ridge_model::roof::MemoryLevel;
use ridge_model::template::{Copy, Gemm, Vector};
use ridge_model::{Device, Devices, NumberFormat, PeakUnit};

fn device(name: &str) -> &'static Device {
    Devices::known().find(name).unwrap()
}

fn bounds(work: &Work, name: &str) -> Bounds {
    Bounds::of(work, &Ceilings::of(device(name))).unwrap()
}

/// The longest time of a kind, in microseconds.
fn us(bounds: &Bounds, kind: BoundKind) -> f64 {
    let of_kind = bounds.rows().iter().filter(|row| row.kind == kind);
    of_kind
        .map(|row| row.time.get() / 1e3)
        .fold(f64::NAN, f64::max)
}

#[track_caller]
fn near(value: f64, expected: f64, tolerance: f64) {
    assert!(
        (value - expected).abs() <= tolerance,
        "{value} is not within {tolerance} of {expected}"
    );
}

/// 192 MiB over 3.35 TB/s; 2^24 operations over 67 TFLOP/s.
#[test]
fn adding_arrays_on_h100() {
    let work = Vector::add(1 << 24, NumberFormat::Fp32)
        .demand()
        .unwrap()
        .work();
    let bounds = bounds(&work, "H100 SXM");
    near(us(&bounds, BoundKind::Bandwidth), 60.1, 0.1);
    near(us(&bounds, BoundKind::Compute), 0.25, 0.01);
    assert_eq!(bounds.binding().kind.class(), "bandwidth-bound");
    // One operation for 12 bytes.
    near(bounds.intensity().unwrap().get(), 1.0 / 12.0, 1e-9);
}

/// 12 MiB over 3.35 TB/s; 2^31 operations over 67 TFLOP/s.
#[test]
fn a_product_of_1024_on_h100() {
    let work = Gemm::square(1024, NumberFormat::Fp32)
        .demand()
        .unwrap()
        .work();
    let bounds = bounds(&work, "H100 SXM");
    near(us(&bounds, BoundKind::Bandwidth), 3.76, 0.05);
    near(us(&bounds, BoundKind::Compute), 32.1, 0.1);
    assert_eq!(bounds.binding().kind.class(), "compute-bound");
    assert_eq!(bounds.binding().resource, "FP32 vector");
}

/// 100 launches at 5 us are 0.5 ms, while the kernels take 0.2 ms.
#[test]
fn many_short_kernels() {
    let cost = |micros: f64| Fact {
        value: Nanos::new(micros * 1e3),
        origin: Origin::Given,
    };
    let work = Work {
        launches: Some(Launches {
            count: 100,
            cost: cost(5.0),
        }),
        kernel_time: Some(Nanos::new(2e3)),
        ..Work::default()
    };
    let bounds_of = |work: &Work| bounds(work, "h100-sxm");
    near(bounds_of(&work).time().get(), 0.5e6, 1e-3);
    near(us(&bounds_of(&work), BoundKind::Kernels), 200.0, 1e-6);
    assert_eq!(bounds_of(&work).binding().kind.class(), "launch-bound");
    // Kernels of 20 us hide the launches.
    let longer = Work {
        kernel_time: Some(Nanos::new(20e3)),
        ..work.clone()
    };
    assert_eq!(bounds_of(&longer).binding().kind.class(), "kernel-bound");
    let waiting = Work {
        synchronizations: Some(Synchronizations {
            count: 100,
            cost: cost(6.0),
        }),
        ..work
    };
    near(bounds_of(&waiting).time().get(), 0.6e6, 1e-3);
}

/// 2 GiB in 1.2 ms are 1.79 TB/s, 53 % of 3.35.
#[test]
fn a_copy_at_half_of_the_bandwidth() {
    let copy = Copy {
        size: Bytes::from_count(1 << 30),
    };
    let demand = copy.demand().unwrap();
    let ceilings = Ceilings::of(device("h100-sxm"));
    let time = Nanos::new(1.2e6);
    let document = Document::new(&demand.work(), Some(&demand), &ceilings, Some(time)).unwrap();
    let measured = document.measured.unwrap();
    near(measured.bytes_per_s.unwrap(), 1.79e12, 0.01e12);
    near(measured.bandwidth_share.unwrap(), 0.53, 0.01);
    assert_eq!(measured.reading, Reading::Room);
    assert_eq!(measured.compute_share, None);
}

/// 19.49 TFLOP/s over 1.555 TB/s.
#[test]
fn the_ridge_point_of_a100() {
    let work = Work {
        bytes: Some(Bytes::new(1e9)),
        arithmetic: vec![Arithmetic::elementwise(Flops::new(1e9), NumberFormat::Fp32)],
        ..Work::default()
    };
    let bounds = bounds(&work, "A100 40 SXM4");
    near(bounds.ridge_point().unwrap().get(), 12.53, 0.01);
}

/// 137.4 GFLOP in 176.4 us at 1593 MHz were 90.1 % of the dense peak at that clock, 78.7 % of the sheet's.
#[test]
fn the_clock_of_a_run_sets_the_roof() {
    let work = Work {
        arithmetic: vec![Arithmetic::matrix(Flops::new(137.44e9), NumberFormat::Bf16)],
        ..Work::default()
    };
    let mut ceilings = Ceilings::of(device("h200"));
    let time = Nanos::new(176.4e3);
    let share = |ceilings: &Ceilings<'_>| {
        let bounds = Bounds::of(&work, ceilings).unwrap();
        1.0 / Gap::of(time, bounds.time()).ratio().get()
    };
    near(share(&ceilings), 0.787, 0.002);
    ceilings.clock = Some(Hertz::new(1.593e9));
    near(share(&ceilings), 0.904, 0.004);
    // Instructions of one warp have two thirds of it: such a kernel could not have done this.
    ceilings.unit = Some(PeakUnit::TensorWarp);
    assert!(share(&ceilings) > 1.0);
}

/// 1000 dependent loads from DRAM of 658 cycles at 1.98 GHz.
#[test]
fn a_chain_of_loads() {
    let work = Work {
        chain: Some(Chain {
            steps: 1000,
            latency: StepLatency::Load(MemoryLevel::Dram),
        }),
        ..Work::default()
    };
    let of_h200 = bounds(&work, "h200");
    near(of_h200.time().get(), 658_000.0 / 1.98, 1.0);
    assert_eq!(of_h200.binding().kind.class(), "latency-bound");
    let error = Bounds::of(&work, &Ceilings::of(device("t4"))).unwrap_err();
    assert!(
        matches!(error, BoundError::NoRate { .. }),
        "nobody measured T4 here"
    );
}

/// 6.3 GB to the device at 63 GB/s, and half of that back at the same time.
#[test]
fn transfers_in_both_directions_overlap() {
    let transfer = |link, gb: f64| Transfer {
        link,
        bytes: Bytes::new(gb * 1e9),
    };
    let work = Work {
        transfers: vec![
            transfer(Link::HostToDevice, 6.302),
            transfer(Link::DeviceToHost, 3.151),
        ],
        ..Work::default()
    };
    near(bounds(&work, "h100-sxm").time().get(), 0.1e9, 1.0);
    let nvlink = Work {
        transfers: vec![transfer(Link::NvLink, 1.0)],
        ..Work::default()
    };
    assert!(matches!(
        Bounds::of(&nvlink, &Ceilings::of(device("l4"))),
        Err(BoundError::NoRate { what: "NVLink", .. })
    ));
}

#[test]
fn a_unit_that_is_not_there_is_no_bound_of_zero() {
    let work = Gemm::square(128, NumberFormat::Fp8E5m2)
        .demand()
        .unwrap()
        .work();
    let error = Bounds::of(&work, &Ceilings::of(device("a100 40 sxm4"))).unwrap_err();
    let BoundError::NoPeak {
        available, wanted, ..
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!(wanted, "FP8");
    assert!(
        available
            .iter()
            .any(|label| label.starts_with("BF16 tensor"))
    );
    assert_eq!(
        Bounds::of(&Work::default(), &Ceilings::of(device("t4"))),
        Err(BoundError::NothingToDo)
    );
}

#[test]
fn elementwise_work_on_narrow_formats_runs_on_single_precision() {
    let work = Vector::add(1 << 20, NumberFormat::Bf16)
        .demand()
        .unwrap()
        .work();
    let bounds = bounds(&work, "h200");
    let compute = bounds
        .rows()
        .iter()
        .find(|row| row.kind == BoundKind::Compute);
    assert_eq!(compute.unwrap().resource, "FP32 vector");
    assert_eq!(bounds.remarks().len(), 1);
}
