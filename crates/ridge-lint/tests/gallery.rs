//! The kernels of `gallery/`: what is planted there and can be seen in the text is found in the slow kernel and not in the fixed one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// For each label, the rules that may see it in the text; none where a text does not show it.
const RULES: &[(&str, &[&str])] = &[
    ("atomic-contention", &["atomic-same-address"]),
    ("bank-conflicts", &["bank-stride"]),
    ("fp64-promotion", &["double-literal", "double-function"]),
    ("integer-alu", &["slow-division"]),
    ("local-memory", &["indexed-local-array"]),
    (
        "low-occupancy-block",
        &["single-warp-block", "partial-warp-block"],
    ),
    ("narrow-access", &["narrow-elements"]),
    (
        "uncoalesced-global",
        &["strided-access", "structure-access"],
    ),
    // These follow from sizes, from data, from what the compiler does, or from how often something runs.
    ("at-compute-limit", &[]),
    ("at-dram-limit", &[]),
    ("at-l2-limit", &[]),
    ("at-tensor-limit", &[]),
    ("barrier-stall", &[]),
    ("constant-cache", &[]),
    ("half-scalar", &[]),
    ("instruction-cache", &[]),
    ("latency-bound", &[]),
    ("launch-bound", &[]),
    ("load-imbalance", &[]),
    ("low-occupancy-registers", &[]),
    ("low-occupancy-shared", &[]),
    ("memory-barrier", &[]),
    ("no-reuse", &[]),
    ("no-tensor-cores", &[]),
    ("redundant-traffic", &[]),
    ("register-spill", &[]),
    ("special-function", &[]),
    ("tail-effect", &[]),
    ("underfilled-grid", &[]),
    ("unfused-fp", &[]),
    ("unfused-kernels", &[]),
    ("warp-divergence", &[]),
];

/// Flaws that the rules do not see, and why.
const NOT_SEEN: &[(&str, &str)] = &[
    (
        "codebook_matvec",
        "the array is indexed in a lambda, by what its caller hands over",
    ),
    ("cube_denoise", "the strides are parameters of a template"),
    ("gather_order", "the order of the indices is in the data"),
    ("haar_inplace", "the stride is a variable of a loop"),
    ("iir_rows", "the pitch is an argument of the launch"),
    (
        "ldpc_words",
        "the index is computed by a function that is chosen by a parameter of a template",
    ),
    (
        "min_hash",
        "the division is in a function object, and is told there, not in the kernel",
    ),
    (
        "price_groups",
        "a table of 20 counters is indexed by what a function returns",
    ),
    (
        "read_align",
        "the row of a thread is handed to a function with its step as a parameter of a template",
    ),
    (
        "sph_cells",
        "the literals are in a structure that is a parameter of a template",
    ),
    (
        "vertex_fetch",
        "how far apart the vertices are is in the data",
    ),
];

struct Case {
    name: String,
    label: String,
    source: String,
}

fn gallery() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery")
}

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = fs::read_dir(gallery())
        .unwrap()
        .filter_map(|entry| {
            let folder = entry.unwrap().path();
            let spec = fs::read_to_string(folder.join("bench.toml")).ok()?;
            Some(Case {
                name: folder.file_name()?.to_str()?.to_owned(),
                label: spec
                    .lines()
                    .find_map(|line| line.strip_prefix("label = \"")?.strip_suffix('"'))?
                    .to_owned(),
                source: fs::read_to_string(folder.join("kernels.cu")).ok()?,
            })
        })
        .collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(cases.len() > 80);
    cases
}

/// Whether a rule of a list finds something in a kernel of a kind, `slow` or `fixed`.
fn is_found(case: &Case, rules: &[&str], kind: &str) -> bool {
    let report = ridge_lint::lint(case.source.as_bytes()).unwrap();
    let kinds = ["slow", "fixed"];
    let kind_at = |line: u32| {
        let before = case.source.lines().take(line as usize);
        before
            .filter_map(|text| {
                kinds
                    .into_iter()
                    .find(|kind| text.contains(&format!("{}_{kind}(", case.name)))
            })
            .last()
    };
    report
        .findings
        .iter()
        .any(|finding| rules.contains(&finding.rule) && kind_at(finding.start.line) == Some(kind))
}

#[test]
fn every_label_is_in_the_table() {
    for case in cases() {
        assert!(
            RULES.iter().any(|(label, _)| *label == case.label),
            "{}",
            case.label
        );
    }
}

#[test]
fn what_is_planted_and_visible_is_found_in_the_slow_kernel_alone() {
    let not_seen: BTreeSet<&str> = NOT_SEEN.iter().map(|(name, _)| *name).collect();
    let mut wrong = Vec::new();
    for case in cases() {
        let Some((_, rules)) = RULES.iter().find(|(label, _)| *label == case.label) else {
            continue;
        };
        if rules.is_empty() {
            continue;
        }
        let is_seen = is_found(&case, rules, "slow");
        if is_seen == not_seen.contains(case.name.as_str()) {
            wrong.push(format!(
                "{} ({}): found in the slow kernel: {is_seen}",
                case.name, case.label
            ));
        }
        if is_found(&case, rules, "fixed") {
            wrong.push(format!(
                "{} ({}): found in the fixed kernel too",
                case.name, case.label
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
