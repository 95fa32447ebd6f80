//! `ridge check` in a sample repository: baselines, budgets, noise, a planted slowdown, and every form of the answer.

use std::process::Command;

use serde_json::Value;

use crate::driver::{Folder, Run, report, ridge, root, snapshot};
use crate::junit::violations_of_junit;
use crate::sarif::violations_of_sarif;
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
    assert_eq!(violations_of_sarif(&sarif), [] as [String; 0]);
    assert_eq!(
        violations_of_junit(&folder.read("check.xml")),
        [] as [String; 0]
    );
    let marks = check(&folder, &["answer.json", "--format", "github"]).code(10);
    assert!(
        marks
            .stdout
            .starts_with("::error file=.ridge/baselines/default.json,line=1,title=SLOWER"),
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
    // What was measured while a file differed from its commit is of no commit, though lists show one.
    git(&["add", "copy.toml"]);
    git(&["commit", "--quiet", "-m", "second"]);
    let commit = git(&["rev-parse", "HEAD"]);
    folder.write("copy.toml", spec(1.0) + "\n");
    let record = ["bench", "copy.toml", "--device", "sim:h200", "--record"];
    ridge(record)
        .within(&folder)
        .env("PATH", &path)
        .run()
        .code(0);
    run(&["--baseline", &commit[..10]])
        .code(2)
        .says("1 past result of")
        .says("--record=LABEL");
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

/// `RESULT#KERNEL` is one kernel of the results and of the baseline; a name that is not there is refused.
#[test]
fn one_kernel_can_be_chosen() {
    let folder = recorded();
    let bench = |file: &str| {
        ridge([
            "bench",
            "copy.toml",
            "--device",
            "sim:h200,seed=9",
            "-o",
            file,
        ])
        .within(&folder)
        .run()
        .fine();
    };
    bench("new.json");
    let of = |what: &str| check(&folder, &[what, "--baseline", "default"]);
    of("new.json").code(0).shows("of 3 checks");
    let one = of("new.json#vector").code(0).shows("vector[n=65536], cold");
    assert!(!one.stdout.contains("plain[n="), "{}", one.stdout);
    of("new.json#vectr")
        .code(2)
        .says("holds no kernel \"vectr\"")
        .says("one of vector, plain");
    // A spec, and a file as the baseline.
    let one = of("copy.toml#vector")
        .code(0)
        .shows("vector[n=65536], cold");
    assert!(!one.stdout.contains("plain[n="), "{}", one.stdout);
    of("copy.toml#gone").code(2);
    check(&folder, &["new.json#plain", "--baseline", "new.json#plain"])
        .code(0)
        .shows("plain[n=65536], cold");
    check(&folder, &["new.json", "--baseline", "new.json#gone"]).code(2);
    let recorded = ".ridge/baselines/default.json#vector";
    let run = check(&folder, &["new.json", "--baseline", recorded]).code(0);
    run.shows("not in the baseline: plain[n=65536] (cold)");
    // What was checked before has no kernels to choose from.
    folder.write(
        "answer.json",
        check(&folder, &["new.json", "--format", "json"]).stdout,
    );
    check(&folder, &["answer.json#plain"])
        .code(2)
        .says("RESULT#plain");
}

/// A state that was lost, or a run that was interrupted, is no pass; a part that is meant to be one is.
#[test]
fn states_that_are_missing_are_no_pass() {
    let folder = recorded();
    folder.write("ridge.toml", "");
    let bench = |file: &str, more: &[&str]| {
        ridge(
            [
                "bench",
                "copy.toml",
                "--device",
                "sim:h200,seed=9",
                "-o",
                file,
            ]
            .iter()
            .chain(more),
        )
        .within(&folder)
        .run()
        .fine();
    };
    bench("part.json", &["--filter", "plain"]);
    let against = ["part.json", "--baseline", "default"];
    let run = check(&folder, &against).code(11);
    run.shows("cannot tell completeness: vector[n=65536], cold");
    let subset = check(&folder, &[&against[..], &["--subset"]].concat()).code(0);
    subset.shows("in the baseline only: vector[n=65536] (cold)");

    bench("whole.json", &[]);
    let mut document: Value = serde_json::from_str(&folder.read("whole.json")).unwrap();
    document["is_complete"] = Value::Bool(false);
    folder.write("interrupted.json", document.to_string());
    let against = ["interrupted.json", "--baseline", "default"];
    check(&folder, &against)
        .code(11)
        .shows("not measured to its end");
    check(&folder, &[&against[..], &["--subset"]].concat()).code(11);
    let before = folder.read(".ridge/baselines/default.json");
    check(&folder, &["interrupted.json", "--update"])
        .code(11)
        .says("no baseline was recorded");
    assert_eq!(folder.read(".ridge/baselines/default.json"), before);
}

/// Labels have files of their own, and a baseline under the name of an earlier version is found and kept.
#[test]
fn labels_do_not_share_files() {
    let folder = repository();
    ridge([
        "bench",
        "copy.toml",
        "--device",
        "sim:h200",
        "-o",
        "new.json",
    ])
    .within(&folder)
    .run()
    .fine();
    folder.write("ridge.toml", "");
    let record = |label: &str| check(&folder, &["new.json", "--update", "--baseline", label]);
    for label in ["ü", "_", "a:b", "a_b", "branch-main"] {
        record(label).code(0);
    }
    for label in ["ü", "_", "a:b", "a_b", "branch-main"] {
        check(&folder, &["new.json", "--baseline", label]).code(0);
        let path = match label {
            "ü" => "%C3%BC.json",
            "a:b" => "a%3Ab.json",
            "branch-main" => "%62ranch-main.json",
            "_" => "_.json",
            _ => "a_b.json",
        };
        let stored: Value =
            serde_json::from_str(&folder.read(&format!(".ridge/baselines/{path}"))).unwrap();
        assert_eq!(stored["label"], label);
    }
    for label in ["", " ", "label:", "a\u{7}b", "branch:", "commit:"] {
        record(label).code(2);
    }
    record(&"a".repeat(251)).code(2).says("too long");
    record("A_B").code(2).says("holds another baseline");
    // As an earlier version wrote it.
    let text = folder.read(".ridge/baselines/%C3%BC.json");
    std::fs::remove_file(folder.path().join(".ridge/baselines/%C3%BC.json")).unwrap();
    folder.write(".ridge/baselines/__.json", text.replace("\"ü\"", "\"öü\""));
    check(&folder, &["new.json", "--baseline", "öü"]).code(0);
    record("öü").code(0).says("__.json");
    record("__").code(2).says("holds another baseline, \"öü\"");
}

/// Numbers that no measurement has are told as such, and come onto no page.
#[test]
fn absurd_samples_are_not_valid() {
    let folder = recorded();
    ridge([
        "bench",
        "copy.toml",
        "--device",
        "sim:h200",
        "-o",
        "new.json",
    ])
    .within(&folder)
    .run()
    .fine();
    folder.write("ridge.toml", CONFIG);
    for value in ["1e308", "5e-324", "-3.0"] {
        let mut document: Value = serde_json::from_str(&folder.read("new.json")).unwrap();
        let number: Value = serde_json::from_str(value).unwrap();
        for time in document["states"][0]["modes"][0]["raw"]["times_ns"]
            .as_array_mut()
            .unwrap()
        {
            *time = number.clone();
        }
        for key in ["median_ns", "lower_ns", "upper_ns", "min_ns"] {
            document["states"][0]["modes"][0][key] = number.clone();
        }
        folder.write("absurd.json", document.to_string());
        for format in ["text", "markdown", "json", "sarif", "junit", "github"] {
            let arguments = ["absurd.json", "--baseline", "default", "--format", format];
            let page = check(&folder, &arguments).code(12).stdout;
            let page = page.replace("information", "").replace("\"in", "");
            assert!(!page.contains("inf") && !page.contains("NaN"), "{page}");
        }
        for format in ["text", "markdown", "json", "html"] {
            let run = ridge(["diff", "new.json", "absurd.json", "--format", format])
                .within(&folder)
                .run()
                .code(12);
            let words = run.stdout.split(|c: char| !c.is_ascii_alphabetic());
            let found = words.filter(|word| ["inf", "NaN"].contains(word)).count();
            assert_eq!(found, 0, "{value} {format}: {}", run.stdout);
        }
    }
    folder.write(
        "infinite.json",
        folder
            .read("new.json")
            .replacen("\"median_ns\": ", "\"median_ns\": 1e999, \"x\": ", 1),
    );
    check(&folder, &["infinite.json"]).code(3);
}

/// Every outcome, with names that try to break out, and no outcome at all.
#[test]
fn answers_for_servers_follow_their_schemas() {
    let folder = recorded();
    folder.write("copy.toml", spec(1.05));
    let run = check(&folder, &["--baseline", "default", "--format", "json"]).code(10);
    let mut document = run.json();
    let hostile = "<k a=\"b\">\u{1b}[31m]]>&amp;'%0A\u{ffff}\n\u{0}é%";
    let mut checks = Vec::new();
    for (place, outcome) in ["pass", "cannot-tell", "broken", "invalid"]
        .iter()
        .enumerate()
    {
        let mut one = document["checks"][0].clone();
        one["outcome"] = (*outcome).into();
        one["verdict"] = Value::Null;
        for key in ["subject", "text", "hint", "file"] {
            one[key] = hostile.into();
        }
        one["line"] = (place + 1).into();
        checks.push(one);
    }
    document["baseline"]["name"] = hostile.into();
    document["config"] = hostile.into();
    for checks in [Value::from(checks), Value::Array(Vec::new())] {
        document["checks"] = checks;
        // The contract is named first.
        document.as_object_mut().unwrap().remove("schema");
        let text = document
            .to_string()
            .replacen('{', "{\"schema\":\"ridgepoint.check\",", 1);
        folder.write("answer.json", text);
        for (format, is_xml) in [("sarif", false), ("junit", true)] {
            let page = check(&folder, &["answer.json", "--format", format])
                .code(10)
                .stdout;
            let found = if is_xml {
                violations_of_junit(&page)
            } else {
                violations_of_sarif(&serde_json::from_str(&page).unwrap())
            };
            assert_eq!(found, [] as [String; 0], "{page}");
        }
    }
}

/// One report against itself is one measurement, for `ridge check` as for `ridge diff`.
#[test]
fn a_report_against_itself_is_the_same() {
    let folder = Folder::with("a.ncu-rep", report());
    check(&folder, &["a.ncu-rep", "--baseline", "a.ncu-rep"])
        .code(0)
        .shows("SAME baseline: ")
        .shows("the same launches of the same file");
    check(&folder, &["a.ncu-rep", "--update"]).code(0);
    check(&folder, &["a.ncu-rep", "--baseline", "default"]).code(0);
}

/// A mark stands at the line that asks, else at the baseline; what GitHub needs of a result is there.
#[test]
fn marks_stand_at_what_asks() {
    let folder = recorded();
    folder.write("copy.toml", spec(1.05));
    folder.write("ridge.toml", CONFIG.replace("400 us", "1 us"));
    let arguments = ["--baseline", "default", "--format", "sarif"];
    let run = check(&folder, &arguments).code(10);
    let sarif: Value = serde_json::from_str(&run.stdout).unwrap();
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"]
        .as_array()
        .unwrap();
    let mut fingerprints = std::collections::HashSet::new();
    let mut places = Vec::new();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(rules[index]["fullDescription"]["text"].is_string());
        assert!(result["message"]["text"].is_string());
        let place = &result["locations"][0]["physicalLocation"];
        places.push((
            result["ruleId"].as_str().unwrap().to_owned(),
            place["artifactLocation"]["uri"]
                .as_str()
                .unwrap()
                .to_owned(),
            place["region"]["startLine"].as_u64().unwrap(),
        ));
        let print = &result["partialFingerprints"]["primaryLocationLineHash"];
        assert!(fingerprints.insert(print.as_str().unwrap().to_owned()));
    }
    places.sort();
    let expected = [
        ("baseline", ".ridge/baselines/default.json", 1),
        // The line of `time`.
        ("time", "ridge.toml", 7),
    ];
    let expected = expected.map(|(rule, file, line)| (rule.to_owned(), file.to_owned(), line));
    assert_eq!(places, expected);
    assert_eq!(violations_of_sarif(&sarif), [] as [String; 0]);
    let run = check(&folder, &["--baseline", "default", "--format", "junit"]).code(10);
    assert_eq!(violations_of_junit(&run.stdout), [] as [String; 0]);
    assert!(run.stdout.contains("<failure ") && run.stdout.contains("/>\n    <system-out>"));
}
