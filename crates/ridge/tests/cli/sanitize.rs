//! `ridge sanitize` over recorded outputs, and over programs with a script that stands in for `compute-sanitizer`.

use std::fmt::Write;
use std::io::Read;

use serde_json::Value;

use crate::driver::{Folder, Ridge, Run, ridge, root, snapshot, without_durations};
use crate::sarif::violations_of_sarif;
use crate::schema::{named, violations};

const CAPTURED: &str = "fixtures/sanitizer/captured.txt";

/// A program that does what `case` says, under the stand-in.
fn under(options: &[&str], case: &[&str]) -> Ridge {
    let folder = root().join("crates/ridge/tests/cli/compute_sanitizer");
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let words = ["sanitize"].iter().chain(options);
    ridge(words.chain(&["--", "/bin/true"]).chain(case)).env("PATH", &path)
}

fn page(run: &Run) -> String {
    format!(
        "{}\n--- exit code {:?}\n{}",
        without_durations(&run.stdout),
        run.code,
        run.stderr
    )
}

fn follows_the_schema(document: &Value) {
    let found = violations(&named("sanitize"), document);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn recorded_outputs_are_summed_up() {
    let run = ridge(["sanitize", CAPTURED])
        .env("COLUMNS", "100")
        .run()
        .code(14);
    snapshot("sanitize_captured", &run.stdout);
    let xml = ["w.xml.gz", "m.xml.gz", "l.xml", "a.xml.gz"]
        .map(|name| format!("fixtures/sanitizer/memcheck_{name}"));
    let arguments = ["sanitize", "--format", "markdown"]
        .into_iter()
        .chain(xml.iter().map(String::as_str));
    snapshot(
        "sanitize_xml_markdown",
        &ridge(arguments).run().code(14).stdout,
    );
    let sarif = ridge([
        "sanitize",
        "fixtures/sanitizer/racecheck_r.xml",
        "--format",
        "sarif",
    ])
    .run()
    .code(14)
    .json();
    assert_eq!(violations_of_sarif(&sarif), [] as [String; 0]);
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "race");
    assert_eq!(result["level"], "error");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(
        place["artifactLocation"]["uri"],
        "file:///home/user/ridgepoint/faults/f.cu"
    );
    assert_eq!(place["region"]["startLine"], 7);
    let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
    assert_eq!(
        sarif["runs"][0]["tool"]["driver"]["rules"][index]["id"],
        "race"
    );
}

#[test]
fn every_recorded_file_gives_a_document_that_follows_the_schema() {
    let folder = root().join("fixtures/sanitizer");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.ends_with(".md") || name.ends_with(".cu") {
            continue;
        }
        let file = format!("fixtures/sanitizer/{name}");
        let run = ridge(["sanitize", &file, "--format", "json"]).run();
        let document = run.json();
        follows_the_schema(&document);
        // Only the cases without a fault say nothing, as XML has no summary.
        let is_silent = name.contains("_k.");
        assert_eq!(run.code, Some(if is_silent { 11 } else { 14 }), "{name}");
        count += 1;
    }
    assert_eq!(count, 14);
}

#[test]
fn inputs_that_cannot_be_read() {
    let folder = Folder::new();
    folder.write("text.txt", "nothing of interest\n");
    folder.write("binary", b"\x08\0\0\0SAVE");
    folder.write("other.xml", "<html></html>");
    folder.write(
        "bomb.xml",
        "<!DOCTYPE a [<!ENTITY b \"c\">]><ComputeSanitizerOutput/>",
    );
    let whole = std::fs::read(root().join("fixtures/sanitizer/memcheck_l.xml")).unwrap();
    folder.write("cut.xml", &whole[..4000]);
    folder.write("empty", "");
    let mut page = String::new();
    for name in [
        "text.txt",
        "binary",
        "other.xml",
        "bomb.xml",
        "empty",
        "missing.txt",
    ] {
        let run = ridge(["sanitize", name])
            .within(&folder)
            .run()
            .code(3)
            .shows_nothing();
        page.push_str(&run.transcript());
        page.push('\n');
    }
    // What was read is shown.
    let run = ridge(["sanitize", "cut.xml", "text.txt"])
        .within(&folder)
        .env("COLUMNS", "90")
        .run()
        .code(3);
    page.push_str(&run.transcript());
    snapshot("sanitize_unreadable", &page);
}

#[test]
fn mistakes_are_told() {
    let mut page = String::new();
    for arguments in [
        &["sanitize"][..],
        &["sanitize", CAPTURED, "--tool", "memcheck"],
        &["sanitize", CAPTURED, "--", "/bin/true"],
        &["sanitize", "--tool", "leakcheck", "--", "/bin/true"],
        &["sanitize", "--timeout", "0s", "--", "/bin/true"],
        &["sanitize", "--padding", "1.5", "--", "/bin/true"],
        &["sanitize", "-", "-"],
        &["sanitize", CAPTURED, "-o", "faults.html"],
        &["sanitize", "--", "no-such-program"],
        &["sanitize", "--", "./no-such-program"],
    ] {
        page.push_str(&ridge(arguments).run().code(2).shows_nothing().transcript());
        page.push('\n');
    }
    snapshot("sanitize_mistakes", &page);
}

#[test]
fn without_the_tool_the_machine_cannot_do_it() {
    let run = ridge(["sanitize", "--", "/bin/true"])
        .run()
        .code(4)
        .shows_nothing();
    run.says("compute-sanitizer is not installed; looked in the folders of PATH")
        .says("CUDA_HOME");
}

#[cfg(unix)]
#[test]
fn a_clean_program_is_clean_under_all_tools() {
    let run = under(&[], &["clean"]).run().fine();
    snapshot("sanitize_clean", &page(&run));
    let document = under(&["--format", "json"], &["clean"]).run().fine().json();
    follows_the_schema(&document);
    assert_eq!(document["outcome"], "clean");
    assert_eq!(document["sanitizer"]["version"], "2025.3.1.0");
    assert_eq!(document["runs"].as_array().unwrap().len(), 4);
    // With room between allocations there is no need to say so.
    let run = under(&["--padding", "32", "--tool", "memcheck"], &["padding"])
        .run()
        .fine();
    assert!(!run.stdout.contains("--padding"));
}

#[cfg(unix)]
#[test]
fn faults_have_a_code_of_their_own() {
    let run = under(&[], &["faults"]).env("COLUMNS", "100").run().code(14);
    snapshot("sanitize_faults", &page(&run));
    let document = under(&["--format", "json"], &["faults"])
        .run()
        .code(14)
        .json();
    follows_the_schema(&document);
    assert_eq!(document["groups"][0]["count"], 5);
    assert_eq!(document["groups"][0]["first"]["thread"][0], 250);
    // The summary counts more than the stand-in printed.
    assert!(
        document["notes"]
            .as_array()
            .unwrap()
            .iter()
            .any(|note| note["id"] == "capped")
    );
    let run = under(&["--tool", "synccheck,initcheck"], &["faults"])
        .run()
        .fine();
    assert!(run.stdout.contains("initcheck") && !run.stdout.contains("memcheck  "));
}

#[cfg(unix)]
#[test]
fn endings_without_a_fault() {
    let mut pages = String::new();
    for (case, code) in [
        ("fails", 15),
        ("crashes", 15),
        ("no-cuda", 11),
        ("unsupported", 4),
        ("internal", 11),
        ("silent", 4),
    ] {
        let run = under(&["--tool", "memcheck,synccheck"], &[case])
            .env("COLUMNS", "100")
            .run()
            .code(code);
        let _ = writeln!(pages, "=== {case}\n{}", page(&run));
        let document = under(&["--format", "json"], &[case]).run().json();
        follows_the_schema(&document);
    }
    snapshot("sanitize_endings", &pages);
}

#[cfg(unix)]
#[test]
fn a_time_limit_keeps_what_was_printed() {
    let run = under(&["--timeout", "300ms"], &["hangs"])
        .env("COLUMNS", "100")
        .run()
        .code(14);
    let document = under(&["--timeout", "300ms", "--format", "json"], &["hangs"])
        .run()
        .json();
    follows_the_schema(&document);
    let runs = document["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 4, "the tools after it run too");
    assert_eq!(runs[1]["end"]["how"], "time-limit");
    assert_eq!(runs[1]["verdict"], "faults");
    assert_eq!(runs[1]["reasons"][0]["id"], "time-limit");
    assert!(run.stdout.contains("time limit"), "{}", run.transcript());
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_the_tools_that_are_done() {
    let folder = Folder::new();
    let fifo = folder.path().join("fifo");
    let made = std::process::Command::new("mkfifo")
        .arg(&fifo)
        .status()
        .unwrap();
    assert!(made.success());
    let mut command =
        under(&["--format", "json"], &["hangs", fifo.to_str().unwrap()]).into_command();
    let child = command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Opening waits until the stand-in hangs.
    let mut word = String::new();
    std::fs::File::open(&fifo)
        .unwrap()
        .read_to_string(&mut word)
        .unwrap();
    assert_eq!(word, "hanging\n");
    let pid = child.id().to_string();
    assert!(
        std::process::Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    follows_the_schema(&document);
    let runs = document["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0]["verdict"], "clean");
    assert_eq!(runs[1]["end"]["how"], "interrupted");
    assert_eq!(document["is_complete"], false);
    assert_eq!(document["groups"][0]["kind"], "race");
}

#[cfg(unix)]
#[test]
fn names_from_a_program_are_escaped() {
    for format in ["text", "markdown"] {
        let run = under(&["--tool", "synccheck", "--format", format], &["escapes"])
            .run()
            .code(14);
        assert!(
            !run.stdout.contains('\u{1b}') && !run.stdout.contains('\u{7}'),
            "{}",
            run.transcript()
        );
    }
    let run = under(
        &["--tool", "synccheck", "--format", "markdown"],
        &["escapes"],
    )
    .run()
    .code(14);
    assert!(
        !run.stdout.contains("<script>") && !run.stdout.contains("a|b"),
        "{}",
        run.transcript()
    );
}
