use ridge_gpu::{SimDevice, SimOptions};

use super::document::{Family, Measured, Settings, Unit};
use super::launch::line;
use super::measure;

fn on(device: &str, family: Family) -> Result<Measured, crate::protocol::Failure> {
    let device = SimDevice::open(&SimOptions::parse(device).unwrap()).unwrap();
    measure(&device, family, &Settings::quick(), &mut |_| {})
}

#[test]
fn every_family_has_figures_that_repeat() {
    for family in Family::ALL {
        let first = on("h200", family).unwrap();
        assert!(!first.figures.is_empty(), "{family}");
        assert!(first.missing.is_empty(), "{family}: {:?}", first.missing);
        for figure in &first.figures {
            assert!(
                figure.burst.median > 0.0 && figure.burst.median.is_finite(),
                "{}: {figure:?}",
                figure.id
            );
            let is_time = figure.unit == Unit::Nanoseconds;
            let (best, median) = (figure.burst.best, figure.burst.median);
            assert!(
                if is_time {
                    best <= median
                } else {
                    best >= median
                },
                "{}: {best} {median}",
                figure.id
            );
        }
        assert_eq!(first, on("h200", family).unwrap(), "{family}");
    }
}

/// What the simulation is made of comes out again: 90 % of 4814 GB/s.
#[test]
fn the_bandwidth_of_the_model_is_found() {
    let measured = on("h200", Family::Dram).unwrap();
    for figure in &measured.figures {
        let share = figure.burst.median / 4.814e12;
        assert!((0.85..0.905).contains(&share), "{}: {share}", figure.id);
    }
}

/// A device that computes something else is found out.
#[test]
fn wrong_results_are_no_figures() {
    for (kernel, family) in [
        ("copy<4", Family::Dram),
        ("chains<Fp32", Family::Vector),
        ("shared_read", Family::L1),
        ("spread_integer", Family::Atomics),
    ] {
        let device = SimOptions::parse("h200").unwrap();
        let mut options = device;
        for name in all_names(kernel) {
            options.faults.push(ridge_gpu::SimFault {
                kernel: name,
                after_launches: 0,
                what: ridge_gpu::SimFaultKind::WrongOutput,
            });
        }
        let device = SimDevice::open(&options).unwrap();
        let failure = measure(&device, family, &Settings::quick(), &mut |_| {}).unwrap_err();
        assert_eq!(failure.code, "BEN0020", "{kernel}: {failure}");
    }
}

fn all_names(kernel: &str) -> Vec<String> {
    match kernel {
        "copy<4" => [1, 2, 4]
            .iter()
            .flat_map(|items| [0, 1].map(|streaming| format!("copy<{items}, {streaming}>")))
            .collect(),
        "chains<Fp32" => vec!["chains<Fp32, 32>".to_owned()],
        other => vec![other.to_owned()],
    }
}

#[test]
fn a_line_is_found_again() {
    let points = [(1.0, 5.0), (10.0, 23.0), (100.0, 203.0)];
    let (start, slope) = line(points.into_iter());
    assert!((start - 3.0).abs() < 1e-9 && (slope - 2.0).abs() < 1e-9);
}
