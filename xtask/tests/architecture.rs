//! Compares what `ARCHITECTURE.md` says about the crates with what the manifests and sources say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use xtask::metadata::Metadata;

/// Source files that may switch the lint against `unsafe` off, relative to the root. Each one needs a reason here.
const MAY_USE_UNSAFE: &[&str] = &[
    // Mapping a file into memory is unsafe by nature.
    "crates/ridge/src/input/map.rs",
    // Functions of libraries that are loaded at run time: compiler, driver, sensors.
    "crates/ridge-gpu/src/nvrtc/library.rs",
    "crates/ridge-gpu/src/cublaslt/library.rs",
    "crates/ridge-gpu/src/cuda/driver.rs",
    "crates/ridge-gpu/src/nvml/library.rs",
    // Inside a program: what the driver calls, and CUPTI.
    "crates/ridge-injection/src/entry.rs",
    "crates/ridge-injection/src/cupti.rs",
];

type Uses = BTreeMap<String, BTreeSet<String>>;

/// The rows of the table that follows the marker: crate and what it uses.
fn table(page: &str) -> Uses {
    let (_, rest) = page
        .split_once("<!-- crates:")
        .expect("the marker of the table");
    let mut rows = rest
        .lines()
        .skip(1)
        .skip_while(|line| line.trim().is_empty())
        .take_while(|line| line.starts_with('|'));
    assert_eq!(
        rows.next(),
        Some("| crate | owns | uses |"),
        "the head of the table"
    );
    rows.next();
    let mut uses = Uses::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, owns, used] = *cells else {
            panic!("a row with {} cells: {row}", cells.len())
        };
        assert!(!owns.is_empty(), "nothing owned: {row}");
        let used = match used {
            "–" => BTreeSet::new(),
            list => list.split(", ").map(unquote).collect(),
        };
        assert_eq!(
            uses.insert(unquote(name), used),
            None,
            "two rows for {name}"
        );
    }
    uses
}

fn unquote(name: &str) -> String {
    name.strip_prefix('`')
        .and_then(|name| name.strip_suffix('`'))
        .unwrap_or_else(|| panic!("not a name in backticks: {name}"))
        .to_owned()
}

/// What the manifests say. Dependencies of tests are left out: they shape no product.
fn manifests(metadata: &Metadata) -> Uses {
    let members = metadata.members();
    let names: BTreeSet<&str> = members.iter().map(|member| member.name.as_str()).collect();
    members
        .iter()
        .map(|member| {
            let used = member
                .dependencies
                .iter()
                .filter(|dependency| dependency.kind.as_deref() != Some("dev"))
                .filter(|dependency| names.contains(dependency.name.as_str()))
                .map(|dependency| dependency.name.clone())
                .collect();
            (member.name.clone(), used)
        })
        .collect()
}

/// One line for each difference, and what to do about it.
fn differences(said: &Uses, real: &Uses) -> Vec<String> {
    let mut found = Vec::new();
    for (name, uses) in real {
        let Some(said) = said.get(name) else {
            found.push(format!(
                "{name}: a crate of the workspace that the table lacks"
            ));
            continue;
        };
        for used in uses.difference(said) {
            found.push(format!(
                "{name}: depends on {used}, which the table does not say"
            ));
        }
        for used in said.difference(uses) {
            found.push(format!(
                "{name}: does not depend on {used}, though the table says so"
            ));
        }
    }
    for name in said.keys().filter(|name| !real.contains_key(*name)) {
        found.push(format!(
            "{name}: in the table, but no crate of the workspace"
        ));
    }
    found
}

#[test]
fn the_table_of_crates_is_true() {
    let page = fs::read_to_string(xtask::root().join("ARCHITECTURE.md")).unwrap();
    let metadata = Metadata::members_only(xtask::root()).unwrap();
    let found = differences(&table(&page), &manifests(&metadata));
    assert!(
        found.is_empty(),
        "ARCHITECTURE.md and the manifests differ:\n{}",
        found.join("\n")
    );
}

#[test]
fn drift_is_seen_in_both_directions() {
    let said = table(
        "<!-- crates: -->\n| crate | owns | uses |\n|---|---|---|\n| `a` | A. | – |\n| `b` | B. | `a`, `c` |\n| `c` | C. | – |\n",
    );
    let uses = |list: &[&str]| list.iter().map(ToString::to_string).collect();
    let real = Uses::from([
        ("a".into(), uses(&["d"])),
        ("b".into(), uses(&["a"])),
        ("d".into(), uses(&[])),
    ]);
    assert_eq!(
        differences(&said, &real),
        [
            "a: depends on d, which the table does not say",
            "b: does not depend on c, though the table says so",
            "d: a crate of the workspace that the table lacks",
            "c: in the table, but no crate of the workspace",
        ]
    );
}

/// The value of a key in a table of a manifest. Knows the plain form alone; anything else counts as absent, so that
/// the test fails rather than passes.
fn setting<'a>(manifest: &'a str, table: &str, key: &str) -> Option<&'a str> {
    manifest
        .lines()
        .skip_while(|line| line.trim() != table)
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once('='))
        .find(|(name, _)| name.trim() == key)
        .map(|(_, value)| value.trim())
}

#[test]
fn every_manifest_denies_unsafe_code() {
    let denied = |level: Option<&str>| matches!(level, Some(r#""deny""# | r#""forbid""#));
    let workspace = fs::read_to_string(xtask::root().join("Cargo.toml")).unwrap();
    assert!(
        denied(setting(&workspace, "[workspace.lints.rust]", "unsafe_code")),
        "the workspace"
    );
    for member in Metadata::members_only(xtask::root()).unwrap().members() {
        let manifest = fs::read_to_string(&member.manifest_path).unwrap();
        let inherits = setting(&manifest, "[lints]", "workspace") == Some("true");
        let own = denied(setting(&manifest, "[lints.rust]", "unsafe_code"));
        assert!(
            inherits || own,
            "{}: neither the workspace's lints nor its own against unsafe code",
            member.name
        );
    }
}

#[test]
fn no_source_file_switches_the_lint_off() {
    let root = xtask::root();
    let mut files = Vec::new();
    for folder in ["crates", "xtask", "fuzz"] {
        rust_files(&root.join(folder), &mut files);
    }
    assert!(
        files
            .iter()
            .any(|file| file.ends_with("ncu-rep/src/lib.rs")),
        "the sources were not found"
    );
    let found: Vec<String> = files
        .iter()
        .filter(|file| {
            let text = fs::read_to_string(file).unwrap();
            // Split, so that this file does not find itself.
            [
                concat!("allow(", "unsafe_code"),
                concat!("expect(", "unsafe_code"),
                concat!("warn(", "unsafe_code"),
            ]
            .iter()
            .any(|switch| text.contains(switch))
        })
        .map(|file| {
            file.strip_prefix(root)
                .unwrap()
                .to_string_lossy()
                .replace('\\', "/")
        })
        .filter(|file| !MAY_USE_UNSAFE.contains(&file.as_str()))
        .collect();
    assert!(
        found.is_empty(),
        "unsafe code is switched on in {}",
        found.join(", ")
    );
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            if entry.file_name() != "target" {
                rust_files(&path, files);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}
