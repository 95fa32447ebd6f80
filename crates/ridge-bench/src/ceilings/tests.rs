use ridge_gpu::{SimDevice, SimOptions};

use super::document::{Family, Measured, PeerLink, Settings, Unit};
use super::launch::line;
use super::measure;

fn on(device: &str, family: Family) -> Result<Measured, crate::protocol::Failure> {
    let device = SimDevice::open(&SimOptions::parse(device).unwrap()).unwrap();
    measure(&device, family, &Settings::quick(), &mut |_| {})
}

#[test]
fn every_family_has_figures_that_repeat() {
    for family in Family::ALL {
        let first = on("h200,peers=1", family).unwrap();
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
        assert_eq!(first, on("h200,peers=1", family).unwrap(), "{family}");
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

/// One figure for each way to each other GPU, with the link that the model has: 88 % of 450 GB/s.
#[test]
fn every_other_gpu_has_its_figures() {
    let measured = on("h200,peers=3", Family::Peer).unwrap();
    let told: Vec<(u32, &str)> = measured
        .figures
        .iter()
        .map(|figure| (figure.peer.as_ref().unwrap().ordinal, figure.id.as_str()))
        .collect();
    let ways = ["peer-to", "peer-from", "peer-duplex"];
    let expected: Vec<(u32, &str)> = (1..=3).flat_map(|gpu| ways.map(|way| (gpu, way))).collect();
    assert_eq!(told, expected);
    for figure in &measured.figures {
        let ways = if figure.id == "peer-duplex" { 2.0 } else { 1.0 };
        let share = figure.burst.median / (ways * 450e9);
        assert!((0.8..0.89).contains(&share), "{}: {share}", figure.name);
        assert_eq!(figure.peer.as_ref().unwrap().link, Some(PeerLink::NvLink));
        assert!(figure.name.ends_with("NVLink"), "{}", figure.name);
    }
    let alone = on("h200", Family::Peer).unwrap();
    assert_eq!(alone, Measured::default());
}

/// A GPU that is not reached is missing, and the others are measured.
#[test]
fn a_gpu_that_cannot_be_reached_takes_no_other_with_it() {
    let device = SimDevice::open(&SimOptions::parse("h200,peers=2").unwrap()).unwrap();
    device.fail("allocate_peer", 0);
    let measured = measure(&device, Family::Peer, &Settings::quick(), &mut |_| {}).unwrap();
    assert_eq!(measured.missing.len(), 1);
    let missing = &measured.missing[0];
    assert_eq!(missing.name.as_deref(), Some("copies to and from GPU 1"));
    assert_eq!(measured.figures.len(), 3);
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
