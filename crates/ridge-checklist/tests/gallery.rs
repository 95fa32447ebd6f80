//! Every pair of the gallery: the list says no to the line of the flaw on the slow kernel, and not on the fixed one.

use std::path::Path;

use libtest_mimic::{Arguments, Failed, Trial};
use ncu_rep::Report;
use ridge_checklist::{Answer, Diagnosed, Document, Inputs, Line, Named, Origin, checklist};
use ridge_diagnose::document::{Document as Diagnosis, Kernel};
use ridge_diagnose::{
    CodeMap, Given, Group, KernelProfile, Options, diagnose, is_verdict, report_findings,
};
use ridge_model::quantity::Bytes;
use serde_json::Value;

/// The line of each finding. Verdicts have none: a kernel at its limit has no flaw.
const LINES: &[(&str, &[&str])] = &[
    ("enough-work", &["launch-bound"]),
    ("fills-device", &["underfilled-grid", "tail-effect"]),
    ("balanced", &["load-imbalance"]),
    ("uniform-branches", &["warp-divergence"]),
    ("coalesced", &["uncoalesced-global", "constant-cache"]),
    ("wide-accesses", &["narrow-access"]),
    (
        "reuse",
        &["no-reuse", "redundant-traffic", "unfused-kernels"],
    ),
    ("shared-memory", &["bank-conflicts"]),
    (
        "occupancy",
        &[
            "low-occupancy-registers",
            "low-occupancy-shared",
            "low-occupancy-block",
        ],
    ),
    ("independent-work", &["latency-bound"]),
    ("registers", &["register-spill", "local-memory"]),
    ("atomics", &["atomic-contention", "memory-barrier"]),
    ("barriers", &["barrier-stall"]),
    (
        "instructions",
        &[
            "fp64-promotion",
            "special-function",
            "integer-alu",
            "unfused-fp",
            "half-scalar",
            "no-tensor-cores",
            "instruction-cache",
        ],
    ),
];

/// Pairs of which no line says no to the slow kernel.
///
/// `fma_peak`, `l2_lines`, `tensor_peak`, `triad`: these kernels are at a limit and have no flaw.
const WITHOUT_LINE: &[&str] = &["fma_peak", "l2_lines", "tensor_peak", "triad"];

/// Pairs whose flaw shows only where it is told which bytes are needed, as with `ridge why --bytes`: here other blocks, and
/// not the same ones, read the same image again.
const NEEDS_BYTES: &[&str] = &["band_scores"];

/// Pairs whose fixed kernel still has some of the flaw, less than the slow one: the list is right to say no.
///
/// * `cube_denoise`: a third of the shared wavefronts is still beyond the pattern's need.
/// * `gather_order`, `vertex_fetch`: gathers that touch more sectors than they use, 1.3 and 1.8 times.
/// * `horner_chain`, `modexp_batch`: more chains side by side, in grids that still leave the device mostly empty.
/// * `material_states`: 27 of 32 lanes take part in an instruction.
/// * `min_hash`: most instructions are still integer arithmetic.
/// * `scan_steps`: a third of the waiting is at barriers.
/// * `wave_step`: nearly as many loads as before, most of them from shared memory.
const PARTLY_FIXED: &[&str] = &[
    "cube_denoise",
    "gather_order",
    "horner_chain",
    "material_states",
    "min_hash",
    "modexp_batch",
    "scan_steps",
    "vertex_fetch",
    "wave_step",
];

fn main() {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/gallery");
    let labels = std::fs::read_to_string(folder.join("labels.jsonl")).expect("a file of labels");
    let mut trials: Vec<Trial> = labels
        .lines()
        .map(|line| {
            let label: Value = serde_json::from_str(line).expect("a label is a JSON object");
            let folder = folder.clone();
            Trial::test(text(&label, "case").to_owned(), move || {
                check(&folder, &label)
            })
        })
        .collect();
    trials.push(Trial::test(
        "every finding has one line",
        every_finding_has_one_line,
    ));
    libtest_mimic::run(&arguments, trials).exit();
}

fn text<'l>(label: &'l Value, key: &str) -> &'l str {
    label[key].as_str().unwrap_or_default()
}

fn line_of(finding: &str) -> Option<&'static str> {
    let mut lines = LINES.iter();
    lines
        .find(|(_, findings)| findings.contains(&finding))
        .map(|(line, _)| *line)
}

fn every_finding_has_one_line() -> Result<(), Failed> {
    for id in ridge_diagnose::page_ids() {
        let count = LINES
            .iter()
            .filter(|(_, findings)| findings.contains(&id))
            .count();
        if count != usize::from(!is_verdict(id)) {
            return Err(format!("{id} is in {count} lines").into());
        }
    }
    for (line, _) in LINES {
        if ridge_checklist::title(line).is_none() {
            return Err(format!("there is no line {line}").into());
        }
    }
    Ok(())
}

fn answers(kernels: Vec<Kernel>) -> Document {
    let mut document = Diagnosis::of_kernels(kernels);
    document.report_findings = report_findings(&document.kernels);
    let origin = Origin::File("report".to_owned());
    checklist(&Inputs {
        diagnoses: vec![Named::new("report", Diagnosed { document, origin })],
        ..Inputs::default()
    })
}

fn line<'d>(document: &'d Document, id: &str) -> Result<&'d Line, Failed> {
    let mut lines = document.lines.iter();
    Ok(lines.find(|line| line.id == id).ok_or("no such line")?)
}

fn check(folder: &Path, label: &Value) -> Result<(), Failed> {
    let case = text(label, "case");
    let given = Given {
        bytes: NEEDS_BYTES
            .contains(&case)
            .then(|| label["min_bytes"].as_f64().map(Bytes::new))
            .flatten(),
        ..Given::default()
    };
    let kernels = kernels(&folder.join(text(label, "report")), given)?;
    let named = |name: &str| -> Vec<Kernel> {
        let own = kernels.iter().filter(|kernel| kernel.name == name);
        own.cloned().collect()
    };
    // The flaw of a sequence of kernels is that of the report.
    let slow = if label["scope"] == "report" {
        let fixed = text(label, "fixed");
        let own = kernels.iter().filter(|kernel| kernel.name != fixed);
        answers(own.cloned().collect())
    } else {
        answers(named(text(label, "slow")))
    };
    let accepted = label["accept"].as_array().into_iter().flatten();
    let right = std::iter::once(text(label, "label")).chain(accepted.filter_map(Value::as_str));
    let mut found = None;
    for id in right.filter_map(line_of) {
        let line = line(&slow, id)?;
        if line.answer == Answer::No {
            found = Some(line);
            break;
        }
    }
    let is_without = WITHOUT_LINE.contains(&case);
    let Some(found) = found.filter(|_| !is_without) else {
        return match (found, is_without) {
            (None, true) => Ok(()),
            (None, false) => Err("no line says no to the slow kernel".into()),
            (Some(_), _) => Err("it has a line by now".into()),
        };
    };
    if found.evidence.is_empty() || found.actions.is_empty() || found.next.is_empty() {
        return Err("a no without figures, advice or a command".into());
    }
    let fixed = answers(named(text(label, "fixed")));
    let fixed = line(&fixed, found.id)?;
    match (fixed.answer, PARTLY_FIXED.contains(&case)) {
        (Answer::Yes, false) => Ok(()),
        (Answer::No, true) if fixed.saving_expected < found.saving_expected => Ok(()),
        (answer, _) => Err(format!(
            "{} of the fixed kernel: {answer:?}, {:?} (slow: {:?})",
            found.id, fixed.saving_expected, found.saving_expected
        )
        .into()),
    }
}

/// Diagnoses every launch of a report by itself.
fn kernels(path: &Path, given: Given) -> Result<Vec<Kernel>, Failed> {
    let file = std::fs::read(path)?;
    let unpacked = ncu_rep::unpack(&file, u64::MAX);
    let report = Report::parse(&unpacked.bytes)?;
    let mut kernels = Vec::new();
    for (launch_index, profile) in report.profiles().enumerate() {
        let header = profile.header().value;
        let code = header.sources.first().and_then(|key| report.source(*key));
        let code = code.map(|source| CodeMap::new(&source.value));
        let profile = KernelProfile::of_launch(&profile, launch_index);
        let group = Group {
            launches: vec![(launch_index, profile.duration_ns())],
            ..Group::default()
        };
        kernels.push(diagnose(
            &profile,
            &group,
            code.as_ref(),
            &Options {
                given,
                ..Options::default()
            },
        ));
    }
    Ok(kernels)
}
