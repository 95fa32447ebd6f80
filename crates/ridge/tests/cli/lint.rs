//! `ridge lint` over sources, lists of compile commands, files of CMake and flags.

use serde_json::Value;

use crate::driver::{Folder, ridge, snapshot};
use crate::sarif::violations_of_sarif;
use crate::schema::{named, violations};

const FIRES: &str = "crates/ridge-lint/fixtures/double-literal/fires.cu";
const ERRORS: &str = "crates/ridge-lint/fixtures/divergent-barrier/fires.cu";

#[test]
fn findings_have_lines_and_codes() {
    let run = ridge(["lint", FIRES]).env("COLUMNS", "90").run().code(0);
    snapshot("lint_source", &run.stdout);
    ridge(["lint", FIRES, ERRORS]).run().code(14);
}

#[test]
fn documents_follow_the_schema() {
    let run = ridge(["lint", ERRORS, "--flags", "-G", "--format", "json"])
        .run()
        .code(14);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    let found = violations(&named("lint"), &document);
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert_eq!(document["counts"]["errors"], 5);
    let run = ridge(["lint", ERRORS, "--format", "sarif"]).run().code(14);
    let log: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(log["runs"][0]["results"][0]["level"], "error");
    assert_eq!(violations_of_sarif(&log), [] as [String; 0]);
    let run = ridge([
        "lint",
        ERRORS,
        FIRES,
        "no such.cu",
        "--flags",
        "-G",
        "--format",
        "sarif",
    ]);
    let log: Value = serde_json::from_str(&run.run().code(3).stdout).unwrap();
    assert_eq!(violations_of_sarif(&log), [] as [String; 0]);
}

#[test]
fn lists_of_commands_lead_to_their_sources() {
    let folder = Folder::new();
    folder.write(
        "k.cu",
        b"__global__ void k(float* x) { x[threadIdx.x] *= 0.1; }\n",
    );
    folder.write("CMakeLists.txt", b"set(CMAKE_CUDA_FLAGS \"-G\")\n");
    let list = r#"[{"directory": ".", "command": "nvcc -G -c k.cu", "file": "k.cu"}]"#;
    folder.write("compile_commands.json", list.as_bytes());
    let run = ridge([
        "lint",
        "compile_commands.json",
        "CMakeLists.txt",
        "--format",
        "json",
    ])
    .within(&folder)
    .run()
    .code(14);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    let rules: Vec<&str> = document["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["rule"].as_str().unwrap())
        .collect();
    assert_eq!(rules, ["debug-flags", "double-literal", "debug-flags"]);
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_is_shown() {
    let folder = Folder::new();
    folder.write("binary.cu", b"\x7fELF\x02\0\0");
    folder.write("fine.cu", b"int main() {}\n");
    let run = ridge(["lint", "binary.cu", "fine.cu", "gone.cu"])
        .within(&folder)
        .run()
        .code(3);
    assert!(run.stderr.contains("LINT0001") && run.stderr.contains("gone.cu"));
    assert!(run.stdout.contains("nothing found in 3 files"));
    ridge(["lint"]).run().code(2);
    ridge(["lint", "-", "-"]).run().code(2);
}

#[test]
fn rules_are_explained() {
    let run = ridge(["explain", "divergent-barrier"]).run().code(0);
    assert!(run.stdout.contains("When it is wrong"));
}
