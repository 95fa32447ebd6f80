//! `ridge check` in a sample repository: baselines, budgets, noise, a planted slowdown, and every form of the answer.

use std::process::Command;

use serde_json::Value;

use crate::driver::{Folder, Run, ridge, root, snapshot};
use crate::schema::{named, violations};

const SOURCE: &str = "extern \"C\" __global__ void plain(const float* in, float* out) { }\n\
                      extern \"C\" __global__ void vector(const float* in, float* out) { }\n";

const CONFIG: &str = r#"[check]
spec = "copy.toml"
device = "sim:h200"

[[budget]]
kernel = "plain"
time = "400 us"
"#;

/// A spec whose kernel `plain` takes so many times what it could: the L2 of the simulated device is what takes time.
fn spec(slowdown: f64) -> String {
    format!(
        r#"name = "copy"
source = "copy.cu"
bytes = "2 * n * 4"
[axes]
n = [65536]
[buffers]
in = {{ type = "f32", length = "n", init = "random", seed = 1 }}
out = {{ type = "f32", length = "n" }}
[kernels.plain]
entry = "plain"
grid = 256
block = 256
args = ["in", "out"]
simulated_traffic = {}
[kernels.vector]
entry = "vector"
grid = 64
block = 256
args = ["in", "out"]
simulated_traffic = 6400.0
"#,
        6400.0 * slowdown
    )
}

/// A repository with kernels, a spec and budgets.
fn repository() -> Folder {
    let folder = Folder::with("copy.cu", SOURCE);
    folder.write("copy.toml", spec(1.0));
    folder.write("ridge.toml", CONFIG);
    folder
}

fn check(folder: &Folder, arguments: &[&str]) -> Run {
    ridge(["check"].iter().chain(arguments))
        .within(folder)
        .run()
}

fn recorded() -> Folder {
    let folder = repository();
    check(&folder, &["--update"]).code(0).says("kept in ");
    folder
}

#[test]
fn a_planted_slowdown_of_three_percent_fails_and_noise_passes() {
    let folder = recorded();
    for seed in 20..24 {
        let device = format!("sim:h200,seed={seed},process=0.001");
        check(&folder, &["--baseline", "default", "--device", &device]).code(0);
    }
    folder.write("copy.toml", spec(1.03));
    for seed in 30..32 {
        let device = format!("sim:h200,seed={seed},process=0.001");
        let run = check(&folder, &["--baseline", "default", "--device", &device]).code(10);
        let run = run.shows("SLOWER baseline: plain[n=65536], cold");
        assert!(
            !run.stdout.contains("SLOWER baseline: vector"),
            "{}",
            run.stdout
        );
    }
    // On purpose it is the new baseline, and then it holds.
    check(&folder, &["--update"]).code(0);
    check(&folder, &["--baseline", "default"]).code(0);
}

#[test]
fn every_form_of_the_answer() {
    let folder = recorded();
    folder.write("copy.toml", spec(1.05));
    let run = check(&folder, &["--baseline", "default", "--format", "json"]).code(10);
    let document = run.json();
    let found = violations(&named("check"), &document);
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert_eq!(document["outcome"], "broken");
    assert_eq!(document["baseline"]["runs"], 3);
    assert_eq!(document["measured_runs"], 1);
    let first = &document["checks"][0];
    assert_eq!(
        (first["rule"].as_str(), first["verdict"].as_str()),
        (Some("baseline"), Some("slower"))
    );
    // The answer is written in other forms without measuring, and comes to the same.
    folder.write("answer.json", &run.stdout);
    let page = check(&folder, &["answer.json"]).code(10);
    snapshot("check_text", &page.stdout);
    for (file, begins) in [
        ("summary.md", "## ridge check: broken"),
        ("check.sarif", "{"),
        ("check.xml", "<?xml "),
    ] {
        check(&folder, &["answer.json", "--output", file])
            .code(10)
            .shows_nothing();
        assert!(
            folder.read(file).starts_with(begins),
            "{}",
            folder.read(file)
        );
    }
    let sarif: Value = serde_json::from_str(&folder.read("check.sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "baseline");
    let marks = check(&folder, &["answer.json", "--format", "github"]).code(10);
    assert!(
        marks.stdout.starts_with("::error title=SLOWER"),
        "{}",
        marks.stdout
    );
    // What is read back is what was written.
    let again = check(&folder, &["answer.json", "--format", "json"]).code(10);
    assert_eq!(again.stdout, run.stdout);
}

#[test]
fn results_and_files_as_baselines() {
    let folder = repository();
    for (file, seed) in [("old.json", 1), ("new.json", 2)] {
        let device = format!("sim:h200,seed={seed}");
        ridge(["bench", "copy.toml", "--device", &device, "--output", file])
            .within(&folder)
            .run()
            .fine();
    }
    let same = check(&folder, &["new.json", "--baseline", "old.json"]).code(0);
    same.shows("SAME baseline: plain[n=65536], cold");
    // A budget that is broken needs no baseline.
    folder.write(
        "ridge.toml",
        "[[budget]]\nkernel = \"plain\"\ntime = \"1 us\"\n",
    );
    let broken = check(&folder, &["new.json"]).code(10);
    broken
        .shows("broken time: plain[n=65536], cold")
        .shows("at most 1.000 us allowed");
    // What cannot be told may pass, and what is broken may not.
    folder.write(
        "ridge.toml",
        "[[budget]]\nkernel = \"gone\"\ntime = \"1 us\"\n",
    );
    check(&folder, &["new.json"]).code(11);
    check(&folder, &["new.json", "--allow-ambiguous"]).code(0);
    folder.write("ridge.toml", "");
    check(&folder, &["new.json"])
        .code(11)
        .shows("nothing was checked");
}

/// Labels, commits and branches are those of the repository.
#[test]
fn baselines_have_labels_commits_and_branches() {
    let folder = repository();
    let git = |arguments: &[&str]| {
        let done = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@example.com"])
            .args(arguments)
            .current_dir(folder.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    };
    git(&["init", "--quiet", "--initial-branch", "main"]);
    git(&["commit", "--quiet", "--allow-empty", "-m", "first"]);
    let commit = git(&["rev-parse", "HEAD"]);
    let path = std::env::var("PATH").unwrap();
    let run = |arguments: &[&str]| {
        ridge(["check"].iter().chain(arguments))
            .within(&folder)
            .env("PATH", &path)
            .run()
    };
    run(&["--update", "--baseline", "release"]).code(0);
    for baseline in ["release", "branch:main", &commit[..10]] {
        let answer = run(&["--baseline", baseline, "--format", "json"])
            .code(0)
            .json();
        assert_eq!(answer["baseline"]["commit"], commit.as_str(), "{baseline}");
        assert_eq!(answer["baseline"]["branch"], "main");
    }
    run(&["--baseline", "branch:other"])
        .code(2)
        .says("there is no baseline \"branch:other\"")
        .says("release");
    run(&["--update", "--baseline", "branch:other"])
        .code(2)
        .says("main is checked out");
}

#[test]
fn past_results_are_baselines() {
    let folder = repository();
    let record = |labels: &str, seed: u32| {
        let device = format!("sim:h200,seed={seed},process=0.001");
        ridge(["bench", "copy.toml", "--device", &device, labels])
            .within(&folder)
            .run()
            .code(0);
    };
    for seed in 1..=3 {
        record("--record=release-2", seed);
    }
    let fine = "sim:h200,seed=40,process=0.001";
    check(&folder, &["--baseline", "release-2", "--device", fine]).code(0);
    folder.write("copy.toml", spec(1.05));
    let run = check(&folder, &["--baseline", "release-2", "--device", fine]).code(10);
    assert!(run.stdout.contains("SLOWER"), "{}", run.transcript());
    // What was recorded on purpose goes before what was only measured.
    check(&folder, &["--update", "--baseline", "release-2"]).code(0);
    check(&folder, &["--baseline", "release-2", "--device", fine]).code(0);
    check(&folder, &["--baseline", "release-3"])
        .code(2)
        .says("nor a past result");
}

#[test]
fn mistakes_are_told_with_what_to_do() {
    let folder = repository();
    check(&folder, &["--baseline", "nothing"])
        .code(2)
        .says("record one with --update");
    check(&folder, &["--baseline", "gone.json"])
        .code(3)
        .says("gone.json");
    check(&folder, &["gone.json"]).code(3);
    check(&folder, &["--device", "sim:nothing"]).code(2);
    check(&folder, &["--output", "check.docx"])
        .code(2)
        .says("names no format");
    folder.write(
        "cut.json",
        "{\"schema\":\"ridgepoint.bench\",\"version\":1,",
    );
    check(&folder, &["cut.json"]).code(3).says("damaged");
    folder.write(
        "answer.json",
        "{\"schema\":\"ridgepoint.check\",\"version\":9}",
    );
    check(&folder, &["answer.json"]).code(3);
    folder.write("ridge.toml", "[[budget]]\nkernel = \"a\"\ntime = 3\n");
    let run = check(&folder, &["cut.json"]).code(2);
    insta::assert_snapshot!(run.stderr, @r#"
    error: ridge.toml:3:8: time is a time
      3 | time = 3
                 ^
      try: time = "120 us"
    "#);
    let empty = Folder::new();
    check(&empty, &[]).code(2).says("there is nothing to check");
}

/// A kernel whose outputs are wrong is no baseline, and no pass.
#[test]
fn what_is_not_valid_is_not_recorded() {
    let folder = repository();
    let spec = spec(1.0) + "[check]\nexpression = { out = \"in[i]\" }\nrelative = 0.0\n";
    folder.write("copy.toml", spec);
    let wrong = ["--device", "sim:h200,wrong=plain"];
    let run = check(&folder, &[&["--update"][..], &wrong].concat()).code(12);
    let run = run.says("no baseline was recorded");
    run.shows("the outputs are wrong");
    assert!(!folder.names().contains(&".ridge".to_owned()));
    check(&folder, &[&["--allow-ambiguous"][..], &wrong].concat()).code(12);
}

/// Each command of the recipe and of the workflow is one that the command line takes.
#[test]
fn commands_of_the_recipe_are_commands() {
    let mut found = 0;
    for file in ["docs/recipes/ci.md", "examples/ci/gpu-check.yml"] {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        let lines = text
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with("ridge "));
        for line in lines {
            let line = line.split("||").next().unwrap_or(line);
            let words = line.split_whitespace().map(|word| word.trim_matches('"'));
            if let Err(error) = ridge::command().try_get_matches_from(words) {
                panic!("{file}: {line}: {error}");
            }
            found += 1;
        }
    }
    assert!(found >= 10, "{found}");
    // The configuration of the recipe is one, too.
    let page = std::fs::read_to_string(root().join("docs/recipes/ci.md")).unwrap();
    let (_, rest) = page.split_once("```toml\n").unwrap();
    let (config, _) = rest.split_once("```").unwrap();
    let folder = Folder::with("ridge.toml", config);
    check(&folder, &["gone.json"]).code(3);
}
