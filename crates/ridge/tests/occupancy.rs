//! The occupancy model against the profiler: every limit, the theoretical occupancy, the waves and every point of every
//! stored curve, of every kernel in the fixtures and the corpus. Equal, not close.
//!
//! The corpus is looked for in `RIDGE_CORPUS`, then in `../shared/corpus`; without it its tests are reported as ignored.

mod cases;
#[path = "cases/files.rs"]
mod files;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cases::{corpus, root, without_corpus};
use files::files;
use libtest_mimic::{Arguments, Failed, Trial};
use ncu_rep::{Metrics, Report, default_limit, unpack};
use ridge_model::ComputeCapability;
use ridge_model::device::Origin;
use ridge_model::occupancy::{
    self, Launch, Limit, Limiter, SmLimits, Waves, blocks_by_shared_memory, resident,
    round_up_shared, slots_of_h200,
};

/// Reports, packed or not.
const REPORTS: &[&str] = &[".ncu-rep"];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let fixtures = [
        "fixtures/gallery",
        "fixtures/reports",
        "fixtures/reports/small",
    ]
    .map(|folder| files(&root().join(folder), REPORTS))
    .concat();
    let mut trials: Vec<Trial> = fixtures
        .into_iter()
        .map(|path| trial("fixture", path))
        .collect();
    assert!(trials.len() > 40, "the fixtures were not found");
    trials.push(Trial::test("fixture::launches of the toolkit", toolkit));
    match corpus() {
        Some(corpus) => trials.extend(
            ["pairs", "reports"]
                .map(|folder| files(&corpus.join(folder), REPORTS))
                .concat()
                .into_iter()
                .map(|path| trial("corpus", path)),
        ),
        None => trials.push(without_corpus("corpus")),
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial(kind: &str, path: PathBuf) -> Trial {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    Trial::test(format!("{kind}::{name}"), move || check(&path))
}

/// Random launches on every capability, with what the occupancy header of the CUDA toolkit gives for them.
fn toolkit() -> Result<(), Failed> {
    let packed = std::fs::read(root().join("fixtures/occupancy/launches.csv.zst"))?;
    let unpacked = unpack(&packed, default_limit(packed.len() as u64));
    let text = std::str::from_utf8(&unpacked.bytes)?;
    let (mut faults, mut possible) = (Vec::new(), 0);
    for line in text.lines().skip(1) {
        let numbers: Vec<u32> = line.split(',').map(str::parse).collect::<Result<_, _>>()?;
        let [
            major,
            minor,
            threads,
            registers,
            fixed,
            dynamic,
            barriers,
            blocks,
        ] = *numbers
        else {
            return Err(format!("not eight numbers: {line}").into());
        };
        let limits = SmLimits::of(ComputeCapability { major, minor }).ok_or("a capability")?;
        let launch = Launch::new(threads, registers)
            .with_shared(fixed, dynamic)
            .with_barriers(barriers);
        let found = match occupancy::check(&limits, &launch) {
            Ok(()) => resident(&limits, &launch).blocks,
            Err(_) => 0,
        };
        possible += u32::from(found > 0);
        if found != blocks {
            faults.push(format!("{line}: {found}"));
        }
    }
    if possible < 1000 {
        faults.push(format!("only {possible} launches are possible"));
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults.join("\n").into())
    }
}

/// What was compared, so that a report without the counters does not pass for one that agrees.
#[derive(Default)]
struct Checked {
    limits: usize,
    curves: usize,
    points: usize,
    faults: Vec<String>,
}

impl Checked {
    fn equal(&mut self, what: &str, found: f64, stored: f64) {
        if found.to_bits() != stored.to_bits() && self.faults.len() < 20 {
            self.faults
                .push(format!("{what}: {found}, the report has {stored}"));
        }
    }
}

fn check(path: &Path) -> Result<(), Failed> {
    let packed = std::fs::read(path)?;
    let unpacked = unpack(&packed, default_limit(packed.len() as u64));
    let report = Report::parse(&unpacked.bytes)?;
    let (mut any_launch, mut checked) = (false, Checked::default());
    for profile in report.profiles() {
        let header = profile.header().value;
        let metrics = profile.metrics().value;
        let name = header.name().unwrap_or("?").to_owned();
        // Ranges and graphs have no launch of their own.
        if metrics.integer("launch__registers_per_thread").is_none()
            || metrics.integer(Limiter::Registers.metric()).is_none()
        {
            continue;
        }
        any_launch = true;
        check_kernel(&name, &metrics, &mut checked)
            .ok_or_else(|| format!("{name}: the report lacks a number of the launch"))?;
    }
    if !checked.faults.is_empty() {
        return Err(checked.faults.join("\n").into());
    }
    if any_launch && checked.limits == 0 {
        return Err("no limit was compared".into());
    }
    // 257 values of registers alone.
    if checked.curves > 0 && checked.points < 257 {
        return Err(format!(
            "{} curves, but only {} points",
            checked.curves, checked.points
        )
        .into());
    }
    Ok(())
}

fn number(metrics: &Metrics<'_>, name: &str) -> Option<u32> {
    u32::try_from(metrics.integer(name)?).ok()
}

fn limits(metrics: &Metrics<'_>) -> Option<SmLimits> {
    let attribute = |name: &str| number(metrics, &format!("device__attribute_{name}"));
    let capability = ComputeCapability {
        major: attribute("compute_capability_major")?,
        minor: attribute("compute_capability_minor")?,
    };
    Some(SmLimits::of(capability)?.with_attributes(attribute))
}

fn check_kernel(name: &str, metrics: &Metrics<'_>, checked: &mut Checked) -> Option<()> {
    let limits = limits(metrics)?;
    let launch = Launch {
        barriers: number(metrics, "launch__barrier_count"),
        carveout_bytes: number(metrics, "launch__shared_mem_config_size"),
        ..Launch::new(
            number(metrics, "launch__block_size")?,
            number(metrics, "launch__registers_per_thread")?,
        )
        .with_shared(
            number(metrics, "launch__shared_mem_per_block_static")?,
            number(metrics, "launch__shared_mem_per_block_dynamic")?,
        )
    };
    let found = resident(&limits, &launch);
    for limiter in Limiter::ALL {
        if let (Some(allowed), Some(stored)) =
            (found.allowed(limiter), metrics.number(limiter.metric()))
        {
            checked.limits += 1;
            let what = format!("{name}: blocks by {}", limiter.label());
            checked.equal(&what, f64::from(allowed), stored);
        }
    }
    if let Some(stored) = metrics.number("sm__maximum_warps_per_active_cycle_pct") {
        checked.limits += 1;
        let occupancy = found.occupancy().get();
        checked.equal(&format!("{name}: occupancy"), 100.0 * occupancy, stored);
    }
    // The largest carve-out allows as many blocks as the one in force.
    let predicted = resident(
        &limits,
        &Launch {
            carveout_bytes: None,
            ..launch
        },
    );
    if let Some(stored) = metrics.number("sm__maximum_warps_avg_per_active_cycle") {
        checked.equal(
            &format!("{name}: warps"),
            f64::from(predicted.warps),
            stored,
        );
    }
    if let (Some(stored), Some(grid), Some(sms)) = (
        metrics.number("launch__waves_per_multiprocessor"),
        metrics.integer("launch__grid_size"),
        number(metrics, "device__attribute_multiprocessor_count"),
    ) {
        let waves = Waves::new(grid, sms, found.blocks)?;
        checked.equal(&format!("{name}: waves"), waves.waves(), stored);
    }
    check_curves(name, metrics, &limits, &launch, checked);
    Some(())
}

fn check_curves(
    name: &str,
    metrics: &Metrics<'_>,
    limits: &SmLimits,
    launch: &Launch,
    checked: &mut Checked,
) {
    let warps = |launch: Launch| resident(limits, &launch).warps;
    let by_registers = |at| {
        // The curve starts at zero registers, which limit nothing.
        warps(Launch {
            registers: at,
            ..*launch
        })
    };
    let by_block_size = |at| {
        warps(Launch {
            threads: at,
            ..*launch
        })
    };
    let by_barriers = |at| {
        warps(Launch {
            barriers: Some(at),
            ..*launch
        })
    };
    let by_shared = |at: u32| warps_by_charged_bytes(limits, launch, at);
    let curves: [(&str, &dyn Fn(u32) -> u32); 4] = [
        ("register_count", &by_registers),
        ("block_size", &by_block_size),
        ("barrier_count", &by_barriers),
        ("shared_mem_size", &by_shared),
    ];
    for (curve, model) in curves {
        let stored = format!("launch__occupancy_per_{curve}");
        checked.curves += usize::from(
            metrics
                .get(&stored)
                .is_some_and(|metric| metric.has_instances()),
        );
        let percent = format!("derived__pct_occupancy_per_{curve}");
        for (at, value) in points(metrics, &stored) {
            checked.points += 1;
            checked.equal(
                &format!("{name}: {curve} {at}"),
                f64::from(model(at)),
                value,
            );
        }
        for (at, value) in points(metrics, &percent) {
            // The profiler cuts the decimals off.
            let whole = 100 * model(at) / limits.warps.value;
            checked.points += 1;
            checked.equal(
                &format!("{name}: percent by {curve} {at}"),
                f64::from(whole),
                value,
            );
        }
    }
    // A query of the driver, which depends on the SMs that are switched off: known for the H200.
    for (at, value) in points(metrics, "launch__occupancy_per_cluster_size") {
        checked.points += 1;
        let slots =
            slots_of_h200(at, resident(limits, launch).blocks).map_or(0, |slots| slots.clusters);
        checked.equal(
            &format!("{name}: clusters of {at}"),
            f64::from(slots),
            value,
        );
    }
}

/// The profiler's curve over shared memory is no what-if: its values include what the system reserves, and the carve-out
/// stays as it is, though at least one block fits. The curve of a kernel that declares no shared memory in its code and
/// did not opt in ends at what it can have so, that of others at what a block can have at all.
fn warps_by_charged_bytes(limits: &SmLimits, launch: &Launch, charged: u32) -> u32 {
    let usual = limits.usual_shared_bytes_per_block.value;
    let most = if launch.static_shared_bytes > 0 || launch.dynamic_shared_bytes > usual {
        limits.shared_bytes_per_block.value
    } else {
        usual
    };
    if charged > most {
        return 0;
    }
    let unlimited = SmLimits {
        shared_bytes: Limit {
            value: u32::MAX,
            origin: Origin::Attribute,
        },
        ..*limits
    };
    let others = Launch {
        carveout_bytes: None,
        ..*launch
    };
    let by_others = resident(&unlimited, &others).blocks;
    let allowed = blocks_by_shared_memory(
        limits,
        launch.carveout_bytes,
        round_up_shared(limits, charged),
    );
    by_others.min(allowed.max(1)) * launch.warps()
}

fn points(metrics: &Metrics<'_>, name: &str) -> Vec<(u32, f64)> {
    let points = metrics
        .get(name)
        .map(|metric| metric.by_number().expect("the curve can be read"));
    points
        .into_iter()
        .flatten()
        .filter_map(|(at, value)| Some((u32::try_from(at).ok()?, value)))
        .collect()
}
