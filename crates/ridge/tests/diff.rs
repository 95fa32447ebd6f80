//! `ridge diff` of the slow against the fixed version of every labelled pair: the direction of the labels, a limiter that
//! both ledgers bear out, and what had to move did. Times of the labels were measured without the profiler.
//!
//! The pairs of the gallery are in the repository; those of the corpus are looked for in `RIDGE_CORPUS`, then in
//! `../shared/corpus`, and ignored without it.

mod cases;

use std::path::Path;
use std::process::{Command, ExitCode};

use cases::{corpus, root, without_corpus};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};

/// Their reports hold one of many launches, so that its times are not those of the labels.
const ONE_OF_MANY: &[&str] = &["tiny", "relax_sweeps"];
/// Pairs whose flaw the diagnosis does not find, so that nothing is to be verified (`docs/diagnosis-accuracy.md`).
const NOT_FOUND: &[&str] = &["band_scores"];
/// Pairs that were mended in another way than the finding proposes, so that what it asks to look at did not move, and that is
/// said:
///
/// * `horner_chain`, `list_walk`, `modexp_batch`, `ilp`: found is a grid that is too small; each thread got more independent
///   work instead, in the same grid.
/// * `int8_dot`: found is that too few instructions issue; the fix needs fewer of them. It issues less often and is faster.
/// * `wave_step`: the fixed version is still accused of the flaw.
const MENDED_OTHERWISE: &[&str] = &[
    "horner_chain",
    "list_walk",
    "modexp_batch",
    "ilp",
    "int8_dot",
    "wave_step",
];
/// Pairs that are limited by a unit that no counter of the ledger shows, which is said.
///
/// * `bin_counts`: the port of the L2, by Speed Of Light.
const NOT_IN_LEDGER: &[&str] = &["bin_counts"];
/// Times that differ by less may fall on either side under the profiler.
const CLOSE: f64 = 0.05;
/// A row that is busy for less does not limit by itself; the diagnosis draws the same line.
const BUSY: f64 = 0.60;
/// Rows whose shares differ by less are equal for a person.
const EQUAL: f64 = 0.10;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = trials("gallery", &root().join("fixtures/gallery"));
    match corpus() {
        Some(corpus) => trials.extend(self::trials("pairs", &corpus.join("pairs"))),
        None => trials.push(without_corpus("pairs")),
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trials(name: &str, folder: &Path) -> Vec<Trial> {
    let labels =
        std::fs::read_to_string(folder.join("labels.jsonl")).expect("the folder has labels");
    labels
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a label is a JSON object"))
        .filter(|label| !ONE_OF_MANY.contains(&text(label, "case")))
        // What is about several kernels of a report has no slow and no fixed kernel.
        .filter(|label| label["scope"] != "report" && label["fixed"].is_string())
        .map(|label| {
            let folder = folder.to_owned();
            Trial::test(format!("{name}::{}", text(&label, "case")), move || {
                check(&folder, &label)
            })
        })
        .collect()
}

fn text<'l>(value: &'l Value, key: &str) -> &'l str {
    value[key].as_str().unwrap_or_default()
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or(f64::NAN)
}

/// The document and the exit code.
fn diff(arguments: &[String]) -> Result<(Value, Option<i32>), Failed> {
    let output = Command::new(env!("CARGO_BIN_EXE_ridge"))
        .arg("diff")
        .args(arguments)
        .args(["--format", "json", "--quiet"])
        .env_clear()
        .output()?;
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    let document = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{arguments:?}: {error}\n{message}"))?;
    Ok((document, output.status.code()))
}

fn check(folder: &Path, label: &Value) -> Result<(), Failed> {
    let report = folder.join(text(label, "report"));
    let kernel = |key: &str| format!("{}#{}", report.display(), text(label, key));
    let mut faults = Vec::new();
    let (document, code) = diff(&[kernel("slow"), kernel("fixed")])?;
    let pair = &document["kernels"]["pairs"][0];
    if code != Some(11)
        || document["verdict"] != "ambiguous"
        || pair["time"]["origin"] != "profiler"
    {
        faults.push(format!(
            "durations of the profiler make a verdict: {} with code {code:?}",
            document["verdict"]
        ));
    }
    direction(label, pair, &mut faults);
    let is_borne_out = pair["limiter"]["is_borne_out"] == true;
    if NOT_IN_LEDGER.contains(&text(label, "case")) {
        if is_borne_out {
            faults.push("the ledgers bear the limiter out".to_owned());
        }
    } else {
        limiter(pair, &mut faults);
    }
    flaw(label, pair, &mut faults);
    let folder = std::env::temp_dir().join(format!(
        "ridge-diff-{}-{}",
        std::process::id(),
        text(label, "case")
    ));
    std::fs::create_dir_all(&folder)?;
    let found = with_clean_times(label, pair, &folder, &kernel, &mut faults);
    std::fs::remove_dir_all(&folder)?;
    found?;
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults.join("\n").into())
    }
}

fn direction(label: &Value, pair: &Value, faults: &mut Vec<String>) {
    let real = number(label, "fixed_us") / number(label, "slow_us");
    let ratio = number(&pair["time"], "ratio");
    let is_right = (real - 1.0).abs() < CLOSE || (ratio < 1.0) == (real < 1.0);
    if !is_right || !ratio.is_finite() {
        faults.push(format!("the ratio is {ratio:.3}, the labels say {real:.3}"));
    }
}

/// The limiter of each side against the rows of its ledger, as the document has them.
fn limiter(pair: &Value, faults: &mut Vec<String>) {
    for side in ["before", "after"] {
        let limiter = &pair["limiter"][side];
        let rows = pair["ledger"].as_array().cloned().unwrap_or_default();
        let share = |row: &Value| row[side]["share"].as_f64().unwrap_or(0.0);
        let most = rows.iter().map(share).fold(0.0, f64::max);
        let is_borne_out = match text(limiter, "class") {
            "memory" | "compute" => rows
                .iter()
                .filter(|row| row["resource"] == limiter["resource"])
                .any(|row| share(row) >= BUSY.max(most - EQUAL)),
            "latency" | "launch" => most < BUSY + EQUAL,
            other => {
                faults.push(format!("{side}: no limiter ({other:?})"));
                continue;
            }
        };
        if !is_borne_out {
            faults.push(format!(
                "{side}: limited by {}, but the busiest row is at {most:.2}",
                limiter["resource"]
            ));
        }
    }
    if pair["limiter"]["is_borne_out"] != true {
        faults.push("the document says that the ledgers do not bear it out".to_owned());
    }
    if text(&pair["limiter"], "sentence").is_empty() {
        faults.push("no sentence about the limiter".to_owned());
    }
}

/// The labelled flaw is found before, and all that it asked to look at has moved.
fn flaw(label: &Value, pair: &Value, faults: &mut Vec<String>) {
    let flaws = pair["flaws"].as_array().cloned().unwrap_or_default();
    let accepted = label["accept"].as_array().cloned().unwrap_or_default();
    let mut before = flaws
        .iter()
        .filter(|flaw| flaw["expected_before"].is_number());
    let labelled = before.clone().find(|flaw| flaw["id"] == label["label"]);
    let Some(flaw) = labelled.or_else(|| before.find(|flaw| accepted.contains(&flaw["id"]))) else {
        // A verdict (`at-…`) is no flaw.
        if !text(label, "label").starts_with("at-") && !NOT_FOUND.contains(&text(label, "case")) {
            faults.push(format!("{} is not among the flaws before", label["label"]));
        }
        return;
    };
    let verify = flaw["verify"].as_array().cloned().unwrap_or_default();
    let missed: Vec<&Value> = verify
        .iter()
        .filter(|verify| verify["outcome"] != "held")
        .collect();
    if verify.is_empty() {
        faults.push(format!("{} asks for nothing", flaw["id"]));
    }
    if missed.is_empty() == MENDED_OTHERWISE.contains(&text(label, "case")) {
        faults.push(format!("{}: what had to move: {verify:?}", flaw["id"]));
    }
}

/// Times without the profiler give a verdict; the slow version against itself is the same.
fn with_clean_times(
    label: &Value,
    pair: &Value,
    folder: &Path,
    kernel: &dyn Fn(&str) -> String,
    faults: &mut Vec<String>,
) -> Result<(), Failed> {
    let slow = results(
        &folder.join("slow.json"),
        &pair["before"],
        number(label, "slow_us"),
        1,
    )?;
    let again = results(
        &folder.join("again.json"),
        &pair["before"],
        number(label, "slow_us"),
        2,
    )?;
    let fixed = results(
        &folder.join("fixed.json"),
        &pair["after"],
        number(label, "fixed_us"),
        3,
    )?;
    let mut expect = |after: &str, times: &str, verdict: &str| -> Result<(), Failed> {
        let arguments = [
            kernel("slow"),
            kernel(after),
            "--times".to_owned(),
            slow.clone(),
            times.to_owned(),
        ];
        let (document, code) = diff(&arguments)?;
        let time = &document["kernels"]["pairs"][0]["time"];
        let expected = if verdict == "slower" { 10 } else { 0 };
        if time["verdict"] != verdict || time["origin"] != "benchmark" || code != Some(expected) {
            faults.push(format!(
                "clean times: {} instead of {verdict}, code {code:?}: {}",
                time["verdict"], time["reasons"]
            ));
        }
        Ok(())
    };
    let real = number(label, "fixed_us") / number(label, "slow_us");
    if (real - 1.0).abs() > CLOSE {
        expect(
            "fixed",
            &fixed,
            if real < 1.0 { "faster" } else { "slower" },
        )?;
    }
    expect("slow", &again, "same")?;
    let (document, code) = diff(&[kernel("slow"), kernel("slow")])?;
    if document["verdict"] != "same" || code != Some(0) {
        faults.push(format!(
            "a launch against itself: {} with code {code:?}",
            document["verdict"]
        ));
    }
    Ok(())
}

/// A result of `ridge bench` with samples around a time: the noise of the simulated device, and the step of its timer.
fn results(path: &Path, kernel: &Value, time_us: f64, seed: u64) -> Result<String, Failed> {
    const SAMPLES: usize = 60;
    let template = root().join("fixtures/formats/bench-1/copy.json");
    let mut document: Value = serde_json::from_slice(&std::fs::read(template)?)?;
    let noise = ridge_gpu::SimOptions::named("h200")
        .map_err(|error| error.to_string())?
        .noise;
    let step = number(&document["floors"], "timer_step_ns");
    let mut random = Normal(seed);
    let times: Vec<f64> = (0..SAMPLES)
        .map(|_| (1e3 * time_us * (1.0 + noise * random.next()) / step).round() * step)
        .collect();
    let mut state = document["states"][0].take();
    state["name"] = kernel["name"].clone();
    state["kernel"] = kernel["name"].clone();
    state["launches"][0]["entry"] = kernel["name"].clone();
    state["launches"][0]["grid"] = kernel["grid"].clone();
    state["launches"][0]["block"] = kernel["block"].clone();
    let mut mode = state["modes"][0].take();
    mode["raw"] = json!({
        "host_ns": times,
        "clocks_hz": vec![mode["clock_hz"].clone(); SAMPLES],
        "rejected": vec![Value::Null; SAMPLES],
        "times_ns": times,
    });
    mode["samples"] = json!(SAMPLES);
    state["modes"] = json!([mode]);
    document["states"] = json!([state]);
    document["best"] = json!([]);
    std::fs::write(path, serde_json::to_vec(&document)?)?;
    Ok(path.display().to_string())
}

/// Normal numbers, by SplitMix64 and Box and Muller.
struct Normal(u64);

impl Normal {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn next(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
