//! Instructions as text, where the user has `nvdisasm`. Scripts stand in for it.

use serde_json::Value;

use crate::driver::{Ridge, Run, VADD, ridge, root};

fn why_with(nvdisasm: &str) -> Ridge {
    let folder = root()
        .join("crates/ridge/tests/cli/nvdisasm")
        .join(nvdisasm);
    ridge(["why", VADD, "--format", "json"]).env("PATH", folder.to_str().unwrap())
}

/// The texts of the hottest instructions of each kernel.
fn texts(run: &Run) -> Vec<(String, Vec<Value>)> {
    let document = run.json();
    let kernels = document["kernels"].as_array().unwrap();
    kernels
        .iter()
        .map(|kernel| {
            let lines = kernel["hot_lines"].as_array().unwrap();
            assert!(!lines.is_empty());
            (
                kernel["name"].as_str().unwrap().to_owned(),
                lines
                    .iter()
                    .map(|line| line["location"]["sass"].clone())
                    .collect(),
            )
        })
        .collect()
}

#[test]
fn instructions_have_no_text_without_a_disassembler() {
    let run = ridge(["why", VADD, "--format", "json"]).run().code(0);
    assert!(
        texts(&run)
            .iter()
            .all(|(_, lines)| lines.iter().all(Value::is_null))
    );
    assert!(!run.stdout.contains("no-disassembly"));
}

#[cfg(unix)]
#[test]
fn a_disassembler_gives_instructions_their_text() {
    let run = why_with("prints").run().code(0);
    for (name, lines) in texts(&run) {
        let expected = match name.as_str() {
            "vadd_slow" => Value::from("FADD R9, R4, R3"),
            _ => Value::Null,
        };
        assert_eq!(lines, [expected], "{name}\n{}", run.transcript());
    }
    assert!(!run.stdout.contains("no-disassembly"));
}

#[cfg(unix)]
#[test]
fn a_disassembler_that_fails_costs_only_the_text() {
    let run = why_with("fails").run().code(0);
    assert!(
        texts(&run)
            .iter()
            .all(|(_, lines)| lines.iter().all(Value::is_null))
    );
    let document = run.json();
    let warnings = document["warnings"].as_array().unwrap();
    let told: Vec<&Value> = warnings
        .iter()
        .filter(|warning| warning["code"] == "no-disassembly")
        .collect();
    assert_eq!(told.len(), 1, "{}", run.transcript());
    let message = told[0]["message"].as_str().unwrap();
    assert!(message.starts_with("instructions are shown without their text: "));
    assert!(message.ends_with("unknown architecture"), "{message}");
}
