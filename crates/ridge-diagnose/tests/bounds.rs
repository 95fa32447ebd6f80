//! What bounds a saving: the work that the remedy leaves, and the time in which nothing ran.

mod support;

use libtest_mimic::{Arguments, Trial};
use ridge_diagnose::attainable::attainable;
use ridge_diagnose::document::{Class, Finding, Kernel, Resource};
use ridge_diagnose::{Stage, is_verdict, report_findings};
use support::{Sample, corpus, fixtures, has_corpus, in_parallel, is_cycles, is_rate};

fn main() {
    let arguments = Arguments::from_args();
    let tests: [(&str, fn()); 5] = [
        ("savings_keep_their_bounds", savings_keep_their_bounds),
        (
            "the_table_names_each_finding_once",
            the_table_names_each_finding_once,
        ),
        ("no_idle_time_is_saved", no_idle_time_is_saved),
        (
            "fusing_kernels_leaves_their_arithmetic",
            fusing_kernels_leaves_their_arithmetic,
        ),
        (
            "the_limiter_agrees_with_its_class",
            the_limiter_agrees_with_its_class,
        ),
    ];
    let trial = |name: &str, test: fn()| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    let mut trials: Vec<Trial> = tests.map(|(name, test)| trial(name, test)).into();
    trials.push(if has_corpus() {
        trial("the_corpus_keeps_the_bounds", || assert_bounds(&corpus()))
    } else {
        trial(
            "the_corpus_keeps_the_bounds (not found: set RIDGE_CORPUS)",
            || (),
        )
        .with_ignored_flag(true)
    });
    libtest_mimic::run(&arguments, trials).exit();
}

/// What a remedy cannot make less, from how the hardware works and not from how a finding is computed.
enum Untouched {
    /// No work goes away: it is done by more warps at a time, or by SMs that idled.
    Everything,
    /// These resources have the same work afterwards.
    Some(&'static [Resource]),
    /// A bound of another kind, with the reason.
    Other(&'static str),
}
use Resource::{
    Alu, AtomicL2, AtomicShared, Constant, Dram, Fma, Fp16, Fp64, Issue, L1, L2, Local, Shared,
    Tensor, Uniform, Xu,
};

const UNTOUCHED: &[(&str, Untouched)] = &[
    // Fewer sectors are moved; as many instructions are executed, and shared memory has no sectors.
    (
        "uncoalesced-global",
        Untouched::Some(&[
            Issue,
            Fma,
            Alu,
            Fp64,
            Fp16,
            Xu,
            Tensor,
            Uniform,
            Shared,
            AtomicShared,
            Constant,
        ]),
    ),
    // The same bytes in fewer pieces, and the same arithmetic on them.
    (
        "narrow-access",
        Untouched::Some(&[Dram, Fp64, Xu, Tensor, Shared, AtomicL2, AtomicShared]),
    ),
    // Data is read once instead of several times; what is computed from it stays.
    (
        "redundant-traffic",
        Untouched::Some(&[Fp64, Tensor, AtomicL2]),
    ),
    // Operands come from registers; the arithmetic stays.
    ("no-reuse", Untouched::Some(&[Fp64, Xu, AtomicL2])),
    // Padding and swizzling change addresses in shared memory and nothing else.
    (
        "bank-conflicts",
        Untouched::Some(&[
            Dram, L2, L1, Local, Issue, Fma, Alu, Fp64, Fp16, Xu, Tensor, Uniform, Constant,
            AtomicL2,
        ]),
    ),
    // The data that is counted or added still has to be read and computed.
    (
        "atomic-contention",
        Untouched::Some(&[Dram, Fma, Fp64, Xu, Tensor]),
    ),
    // Spills are loads and stores relative to the stack pointer, and nothing else.
    (
        "register-spill",
        Untouched::Some(&[
            Fma,
            Alu,
            Fp64,
            Fp16,
            Xu,
            Tensor,
            Shared,
            AtomicL2,
            AtomicShared,
            Constant,
        ]),
    ),
    // An array that is indexed at run time needs addresses, which go with it.
    (
        "local-memory",
        Untouched::Some(&[Fp64, Fp16, Xu, Tensor, Shared, AtomicL2, AtomicShared]),
    ),
    ("low-occupancy-registers", Untouched::Everything),
    ("low-occupancy-shared", Untouched::Everything),
    ("low-occupancy-block", Untouched::Everything),
    ("latency-bound", Untouched::Everything),
    ("underfilled-grid", Untouched::Everything),
    ("tail-effect", Untouched::Everything),
    ("load-imbalance", Untouched::Everything),
    // Full warps execute fewer instructions; they touch the same data.
    ("warp-divergence", Untouched::Some(&[Dram, Tensor])),
    // A reduction by shuffles reads the same data from memory.
    ("barrier-stall", Untouched::Some(&[Dram, L2, Tensor])),
    // A fence that is not executed was an instruction of the load/store unit.
    (
        "memory-barrier",
        Untouched::Some(&[Dram, L2, Fma, Alu, Fp64, Fp16, Xu, Tensor, Shared]),
    ),
    // Approximations take fewer instructions for the same loads and stores.
    (
        "special-function",
        Untouched::Some(&[Dram, L2, Shared, Tensor, AtomicL2, AtomicShared]),
    ),
    (
        "fp64-promotion",
        Untouched::Some(&[Dram, L2, L1, Shared, Tensor, AtomicL2, AtomicShared]),
    ),
    (
        "integer-alu",
        Untouched::Some(&[Dram, L2, L1, Shared, Fp64, Tensor, AtomicL2, AtomicShared]),
    ),
    (
        "unfused-fp",
        Untouched::Some(&[
            Dram,
            L2,
            L1,
            Shared,
            Alu,
            Xu,
            Tensor,
            Uniform,
            Constant,
            AtomicL2,
            AtomicShared,
        ]),
    ),
    // Two values to an instruction: the bytes stay.
    ("half-scalar", Untouched::Some(&[Dram, Fp64, Xu, Tensor])),
    // Matrix instructions need the same operands from memory.
    ("no-tensor-cores", Untouched::Some(&[Dram, Fp64, AtomicL2])),
    // The table is read from another place by as many instructions.
    (
        "constant-cache",
        Untouched::Some(&[
            Dram,
            Issue,
            Fma,
            Alu,
            Fp64,
            Fp16,
            Xu,
            Tensor,
            AtomicL2,
            AtomicShared,
        ]),
    ),
    // A loop instead of copies does the same work on the same data.
    (
        "instruction-cache",
        Untouched::Some(&[
            Dram,
            L1,
            Fma,
            Fp64,
            Fp16,
            Xu,
            Tensor,
            Shared,
            AtomicL2,
            AtomicShared,
        ]),
    ),
    (
        "launch-bound",
        Untouched::Other("a fraction of the launch period, not of the duration"),
    ),
    ("at-dram-limit", Untouched::Some(&[Dram])),
    ("at-l2-limit", Untouched::Everything),
    ("at-compute-limit", Untouched::Everything),
    ("at-tensor-limit", Untouched::Everything),
];

/// Shares are rounded when two passes disagree.
const ROUNDING: f64 = 1e-6;

/// How long the kernel takes at least after a remedy, as a share of today: the work that the remedy leaves.
fn remains(kernel: &Kernel, untouched: &Untouched) -> f64 {
    kernel
        .resources
        .iter()
        .filter(|row| match untouched {
            Untouched::Everything => true,
            Untouched::Some(list) => list.contains(&row.resource),
            Untouched::Other(_) => false,
        })
        .map(|row| row.busy_share)
        .fold(0.0, f64::max)
}

/// Time in which no SM had a warp is not shortened by anything that is done to the work.
fn idle(sample: &Sample) -> f64 {
    let (active, elapsed) = (
        sample.counters.number("sm__cycles_active.max"),
        sample.counters.number("sm__cycles_elapsed.max"),
    );
    active
        .zip(elapsed)
        .map_or(0.0, |(active, elapsed)| (1.0 - active / elapsed).max(0.0))
}

/// Everything that bounds the savings of one kernel.
fn faults(sample: &Sample) -> Vec<String> {
    let kernel = sample.all_findings();
    let idle = idle(sample);
    let mut faults = Vec::new();
    let mut fault = |what: String| faults.push(format!("{}: {what}", sample.name()));
    for found in &kernel.findings {
        let Finding {
            id,
            saving_ceiling: ceiling,
            saving_expected: expected,
            ..
        } = found;
        let Some((_, untouched)) = UNTOUCHED.iter().find(|(known, _)| known == id) else {
            fault(format!("{id} has no line in the table"));
            continue;
        };
        if !(0.0..=1.0).contains(ceiling) || !(0.0..=ceiling + ROUNDING).contains(expected) {
            fault(format!("{id}: {expected} of {ceiling}"));
        }
        let remains = remains(&kernel, untouched);
        if *ceiling > 1.0 - remains + ROUNDING {
            fault(format!(
                "{id}: at most {ceiling:.3}, and {remains:.3} stays"
            ));
        }
        if id != "launch-bound" && *ceiling > 1.0 - idle + ROUNDING {
            fault(format!(
                "{id}: at most {ceiling:.3}, and {idle:.3} was idle"
            ));
        }
    }
    if let Some(what) = verdict_fault(&kernel) {
        fault(what);
    }
    faults
}

/// From this expected saving on a flaw is worth more than the verdict.
const WORTHWHILE: f64 = 0.10;

/// A verdict stands first where no flaw expects a tenth, and nowhere else.
fn verdict_fault(kernel: &Kernel) -> Option<String> {
    let flaw = kernel
        .findings
        .iter()
        .filter(|found| !is_verdict(&found.id))
        .map(|found| found.saving_expected)
        .fold(0.0, f64::max);
    let verdict = kernel
        .findings
        .iter()
        .position(|found| is_verdict(&found.id));
    // The busiest resource that a verdict exists for, within a tenth of what is attainable on it.
    let busiest = kernel.resources.first()?;
    let reach = attainable(match busiest.resource {
        Dram => Stage::DramBytes,
        Tensor => Stage::Tensor,
        L2 => Stage::L2Sectors,
        Issue | Fma | Alu | Fp64 | Fp16 | Xu | Uniform => Stage::Issue,
        _ => return verdict.map(|_| format!("a verdict where {:?} is busiest", busiest.resource)),
    });
    let is_at_limit = busiest.busy_share >= 0.9 * reach.share;
    let should_stand = is_at_limit && flaw < WORTHWHILE;
    (verdict != should_stand.then_some(0)).then(|| {
        format!(
            "{:?} is busy for {:.3}, the best flaw expects {flaw:.3}, and the verdict stands at {verdict:?}",
            busiest.resource, busiest.busy_share
        )
    })
}

fn assert_bounds(samples: &[Sample]) {
    let faults: Vec<String> = in_parallel(samples, faults).into_iter().flatten().collect();
    assert!(
        faults.is_empty(),
        "{} cases:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

fn savings_keep_their_bounds() {
    assert_bounds(fixtures());
}

fn the_table_names_each_finding_once() {
    let table: Vec<&str> = UNTOUCHED.iter().map(|(id, _)| *id).collect();
    for id in ridge_diagnose::ids() {
        assert_eq!(
            table.iter().filter(|known| **known == id).count(),
            1,
            "{id}"
        );
    }
    assert_eq!(table.len(), ridge_diagnose::ids().count());
    for (id, untouched) in UNTOUCHED {
        if let Untouched::Other(reason) = untouched {
            assert!(!reason.is_empty(), "{id}");
        }
    }
}

/// The same launches with idle time before and after the work: shares fall, and no remedy saves any of it.
fn no_idle_time_is_saved() {
    for idle in [0.3, 0.9] {
        let samples: Vec<Sample> = fixtures()
            .iter()
            .map(|sample| {
                let mut counters = sample.counters.clone();
                let factor = 1.0 / (1.0 - idle);
                counters.scale(
                    |name| {
                        name.starts_with("gpu__time_duration")
                            || is_cycles(name) && name.contains("elapsed")
                    },
                    factor,
                );
                // Rates in active cycles stay.
                counters.scale(
                    |name| is_rate(name) && !name.contains("per_cycle_active"),
                    1.0 / factor,
                );
                sample.with(counters)
            })
            .collect();
        // Passes of very short kernels disagree by more than that.
        assert!(
            samples
                .iter()
                .filter(|sample| sample.counters.get("gpu__time_duration.sum") > 1e5)
                .all(|sample| self::idle(sample) >= idle - 0.05)
        );
        assert_bounds(&samples);
    }
}

/// Findings about several kernels leave what each of them computes.
fn fusing_kernels_leaves_their_arithmetic() {
    let mut reports: Vec<&str> = fixtures().iter().map(|sample| &*sample.report).collect();
    reports.dedup();
    for report in reports {
        let kernels: Vec<Kernel> = fixtures()
            .iter()
            .filter(|sample| sample.report == report)
            .map(Sample::shown)
            .collect();
        for found in report_findings(&kernels) {
            let (ceiling, expected) = (found.finding.saving_ceiling, found.finding.saving_expected);
            assert!(
                (0.0..=1.0).contains(&ceiling) && (0.0..=ceiling + ROUNDING).contains(&expected),
                "{report}"
            );
            let of = |kernel: &Kernel| kernel.duration_ns.unwrap_or(0.0);
            let total: f64 = found.kernels.iter().map(|index| of(&kernels[*index])).sum();
            for resource in [Fp64, Xu, Tensor] {
                let busy = |kernel: &Kernel| {
                    let row = kernel.resources.iter().find(|row| row.resource == resource);
                    row.map_or(0.0, |row| row.busy_share) * of(kernel)
                };
                let stays: f64 = found
                    .kernels
                    .iter()
                    .map(|index| busy(&kernels[*index]))
                    .sum();
                assert!(
                    ceiling <= 1.0 - stays / total + ROUNDING,
                    "{report}: {} {resource:?}",
                    found.finding.id
                );
            }
        }
    }
}

/// What binds is said of the class that it belongs to.
fn the_limiter_agrees_with_its_class() {
    for sample in fixtures() {
        let kernel = sample.shown();
        let limiter = kernel.limiter.expect("a full report tells what binds");
        match limiter.class {
            Class::Latency | Class::Launch => assert!(limiter.share < 0.6, "{}", sample.name()),
            Class::Memory | Class::Compute => {
                assert_eq!(limiter.class, limiter.busiest.class(), "{}", sample.name())
            }
        }
    }
}
