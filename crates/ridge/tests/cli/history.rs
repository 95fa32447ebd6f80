//! Recording results, and looking at them again.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::driver::{root, snapshot};
use crate::schema::{named, violations};

/// A project of its own, with a commit.
struct Project {
    folder: TempDir,
}

impl Project {
    fn new() -> Self {
        let project = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        std::fs::write(project.path().join("code.cu"), "// one\n").unwrap();
        // Command lines are stored, and paths of examples differ from clone to clone.
        for name in ["copy.toml", "copy.cu"] {
            let example = root().join("examples").join(name);
            std::fs::copy(example, project.path().join(name)).unwrap();
        }
        project.git(&["init", "-q", "-b", "main"]);
        std::fs::write(project.path().join(".git/info/exclude"), "/copy.*\n").unwrap();
        project.git(&["add", "code.cu"]);
        project.commit("first");
        project
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn git(&self, arguments: &[&str]) {
        let output = Command::new("git")
            .args([
                "-c",
                "user.name=A",
                "-c",
                "user.email=a@example.org",
                "-c",
                "commit.gpgsign=false",
            ])
            .args(arguments)
            .current_dir(self.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_AUTHOR_DATE", "2026-11-30T18:00:00Z")
            .env("GIT_COMMITTER_DATE", "2026-11-30T18:00:00Z")
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    fn commit(&self, message: &str) {
        self.git(&["commit", "-q", "-a", "--allow-empty", "-m", message]);
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ridge"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env_remove("RIDGE_HISTORY")
            .env_remove("PGPASSWORD")
            .env("NO_COLOR", "1")
            .env("COLUMNS", "120")
            .env("LC_ALL", "C.UTF-8");
        command
    }

    #[track_caller]
    fn run(&self, code: i32, arguments: &[&str]) -> (String, String) {
        finished(code, &mut self.command(arguments))
    }

    /// Measures a kernel of the examples on a model.
    #[track_caller]
    fn bench(&self, more: &[&str]) -> (String, String) {
        let mut arguments = vec![
            "bench",
            "copy.toml",
            "--device",
            "sim:h200",
            "--max-samples",
            "30",
            "--axis",
            "n=1048576",
            "--filter",
            "scalar",
        ];
        arguments.extend(more);
        self.run(0, &arguments)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.run(0, arguments).0).unwrap()
    }

    fn database(&self) -> PathBuf {
        self.path().join(".ridge/history.db")
    }

    /// A text without what differs from run to run: identifiers, times, hosts and paths.
    fn hidden(&self, text: &str) -> String {
        let mut text = text.replace(self.path().to_str().unwrap(), "[project]");
        let listing = self.json(&["history", "list", "-n", "100", "--format", "json"]);
        for result in listing["results"].as_array().unwrap() {
            let field = |name: &str| result[name].as_str().unwrap_or_default().to_owned();
            let (id, time) = (field("id"), field("time"));
            for (whole, word) in [
                (id.clone(), "IDENTIFIER".to_owned()),
                (id[..12].to_owned(), "IDENTIFIER..".to_owned()),
                (time.clone(), "TIME".to_owned()),
                (
                    time[..19].replace('T', " "),
                    "DATE......... TIME.".to_owned(),
                ),
                (field("host"), "HOST".to_owned()),
            ] {
                if !whole.is_empty() {
                    text = text.replace(&whole, &word);
                }
            }
        }
        text
    }
}

#[track_caller]
fn finished(code: i32, command: &mut Command) -> (String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let texts = (
        String::from_utf8(stdout).unwrap(),
        String::from_utf8(stderr).unwrap(),
    );
    assert_eq!(
        status.code(),
        Some(code),
        "{command:?}\n{}\n{}",
        texts.0,
        texts.1
    );
    texts
}

#[test]
fn results_are_recorded_listed_and_shown() {
    let project = Project::new();
    let (_, said) = project.bench(&["--record"]);
    assert!(said.contains("note: recorded as "), "{said}");
    std::fs::write(project.path().join("code.cu"), "// two\n").unwrap();
    project.bench(&["--record=nightly,variant=tiled"]);
    project.commit("second");
    project.git(&["switch", "-q", "-c", "wip"]);
    project.bench(&["--record=baseline"]);

    let (page, _) = project.run(0, &["history", "list"]);
    snapshot("history_list", &project.hidden(&page));
    let (page, _) = project.run(0, &["history", "show", "label:variant=tiled"]);
    snapshot("history_show", &project.hidden(&page));
    let (page, _) = project.run(0, &["history", "compare", "label:nightly", "branch:wip"]);
    snapshot("history_compare", &project.hidden(&page));

    let listing = project.json(&["history", "list", "--format", "json"]);
    assert_eq!(violations(&named("history"), &listing), [] as [&str; 0]);
    assert_eq!(listing["total"], 3);
    let facts: Vec<_> = listing["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| (result["branch"].clone(), result["is_dirty"].clone()))
        .collect();
    let expected = [("wip", false), ("main", true), ("main", false)];
    assert_eq!(
        facts,
        expected.map(|(branch, dirty)| (branch.into(), dirty.into()))
    );
    let id = listing["results"][0]["id"].as_str().unwrap();
    let record = project.json(&["history", "show", &id[..8], "--format", "json"]);
    // The document has a schema of its own.
    let mut outside = record.clone();
    outside["document"] = Value::Null;
    assert_eq!(
        violations(&named("history-record"), &outside),
        [] as [&str; 0]
    );
    let document = project.json(&["history", "show", id, "--document"]);
    assert_eq!(document, record["document"]);
    assert_eq!(violations(&named("bench"), &document), [] as [&str; 0]);
    let compared = project.json(&["history", "compare", "branch:main", id, "--format", "json"]);
    assert_eq!(
        violations(&named("history-comparison"), &compared),
        [] as [&str; 0]
    );
    let verdict = &compared["changes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|change| change["metric"] == "time.cold")
        .unwrap()["verdict"];
    assert_ne!(verdict, "faster");
    assert_ne!(verdict, "slower");
}

/// Nothing is recorded that nobody asked for, and what is recorded makes no changed files.
#[test]
fn recording_is_asked_for() {
    let project = Project::new();
    project.bench(&[]);
    assert!(!project.database().exists());
    let (_, said) = project.run(3, &["history", "list"]);
    assert!(said.contains("there is no history yet"), "{said}");

    std::fs::write(
        project.path().join("ridge.toml"),
        "[history]\nrecord = true\ncolour = 1\n",
    )
    .unwrap();
    let (_, said) = project.bench(&[]);
    assert!(said.contains("history.colour is not known"), "{said}");
    assert!(project.database().exists());
    let status = Command::new("git")
        .args(["status", "--porcelain"])
        .current_dir(project.path())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(status.stdout).unwrap(), "?? ridge.toml\n");
    // From a folder below, the project is the same.
    let below = project.path().join("a/b");
    std::fs::create_dir_all(&below).unwrap();
    let (page, _) = finished(0, project.command(&["history", "list"]).current_dir(&below));
    assert!(page.contains("1 result in "), "{page}");

    std::fs::write(project.path().join("ridge.toml"), "[history]\nstore = 3\n").unwrap();
    let (_, said) = project.run(3, &["history", "list"]);
    assert!(said.contains("history.store is no text"), "{said}");
    std::fs::write(
        project.path().join("ridge.toml"),
        "[history]\nstore = \"team.db\"\nrecord = true\n",
    )
    .unwrap();
    project.bench(&[]);
    assert!(project.path().join("team.db").exists());
}

#[test]
fn every_command_with_a_result_records() {
    let project = Project::new();
    let report = root().join("fixtures/reports/aos.ncu-rep.zst");
    project.run(0, &["why", report.to_str().unwrap(), "--record"]);
    project.run(
        0,
        &[
            "ceilings",
            "--device",
            "sim:h200",
            "--quick",
            "--only",
            "launch",
            "--save",
            "none",
            "--record=ci",
        ],
    );
    let (page, _) = project.run(0, &["history", "list"]);
    assert!(
        page.contains("  why  ") && page.contains("  ceilings  "),
        "{page}"
    );
    let (page, _) = project.run(0, &["history", "show", "latest"]);
    assert!(page.contains("launch-in-a-row"), "{page}");
    let why = project.json(&["history", "list", "--kind", "why", "--format", "json"]);
    assert_eq!(why["results"][0]["gpu"], "NVIDIA H200");
    let (_, said) = project.run(
        2,
        &[
            "history",
            "compare",
            why["results"][0]["id"].as_str().unwrap(),
            "label:ci",
        ],
    );
    assert!(said.contains("have nothing to compare"), "{said}");
}

#[test]
fn stores_exchange_results() {
    let (one, other) = (Project::new(), Project::new());
    one.bench(&["--record=one"]);
    one.bench(&["--record=two"]);
    other.bench(&["--record=three"]);
    let file = one.path().join("all.jsonl.zst");
    one.run(0, &["history", "export", "-o", file.to_str().unwrap()]);
    let (said, _) = other.run(0, &["history", "import", file.to_str().unwrap()]);
    assert!(said.starts_with("2 results added to "), "{said}");
    let (said, _) = other.run(0, &["history", "import", file.to_str().unwrap()]);
    assert!(
        said.starts_with("0 results added, 2 known before, to "),
        "{said}"
    );
    let (said, _) = one.run(0, &["history", "merge", other.database().to_str().unwrap()]);
    assert!(
        said.starts_with("1 result added, 2 known before, to "),
        "{said}"
    );
    let lines = |project: &Project| project.run(0, &["history", "export"]).0;
    assert_eq!(lines(&one), lines(&other));
    // Files are known by what is in them, whatever their name and packing; a report's document is no small one.
    let report = root().join("fixtures/reports/aos.ncu-rep.zst");
    one.run(0, &["why", report.to_str().unwrap(), "--record"]);
    let plain = lines(&one);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, plain.as_bytes()).unwrap();
    for (name, bytes) in [
        ("plain", plain.clone().into_bytes()),
        ("zstd", zstd::encode_all(plain.as_bytes(), 3).unwrap()),
        ("gzip", gzip.finish().unwrap()),
    ] {
        let file = one.path().join(name);
        std::fs::write(&file, bytes).unwrap();
        let fresh = Project::new();
        let (said, _) = fresh.run(0, &["history", "import", file.to_str().unwrap()]);
        assert!(said.starts_with("4 results added to "), "{name}: {said}");
        let mut from_input = fresh.command(&["history", "import", "-"]);
        from_input.stdin(std::fs::File::open(&file).unwrap());
        let (said, _) = finished(0, &mut from_input);
        assert!(
            said.starts_with("0 results added, 4 known"),
            "{name}: {said}"
        );
    }

    // A document as a file; the same twice is one result.
    let result = one.path().join("result.json");
    one.bench(&["-o", result.to_str().unwrap()]);
    for added in ["1 result added to ", "0 results added, 1 known before, to "] {
        let (said, _) = one.run(
            0,
            &[
                "history",
                "import",
                "--label",
                "file",
                result.to_str().unwrap(),
            ],
        );
        assert!(said.starts_with(added), "{said}");
    }
    // What is damaged is told, and the rest is stored.
    let mut text = lines(&other);
    text.truncate(text.len() - 40);
    let cut = one.path().join("cut.jsonl");
    std::fs::write(&cut, text).unwrap();
    let third = Project::new();
    let (said, complaint) = third.run(
        3,
        &[
            "history",
            "import",
            cut.to_str().unwrap(),
            result.to_str().unwrap(),
        ],
    );
    assert!(said.starts_with("3 results added to "), "{said}");
    assert!(
        complaint.contains("cut.jsonl") && complaint.contains("line 3"),
        "{complaint}"
    );
    let (_, complaint) = third.run(3, &["history", "import", "code.cu"]);
    assert!(complaint.contains("no whole JSON"), "{complaint}");
}

/// Lines that are no results are counted and named, wherever they are, and cost no other line.
#[test]
fn an_import_takes_the_good_lines_of_a_damaged_file() {
    let (one, other) = (Project::new(), Project::new());
    for label in ["--record=one", "--record=two", "--record=three"] {
        one.bench(&[label]);
    }
    let (text, _) = one.run(0, &["history", "export"]);
    let good: Vec<&str> = text.lines().collect();
    let changed = good[1].replace("\"time\":\"", "\"time\":\"1");
    assert_ne!(changed, good[1]);
    let mut lines = vec!["no \u{1b}[31mresult", good[0], &changed, good[1]];
    lines.extend(["{}"; 5]);
    lines.push(good[2]);
    let file = one.path().join("damaged.jsonl");
    std::fs::write(&file, lines.join("\n")).unwrap();
    let import = ["history", "import", file.to_str().unwrap()];
    let (said, complaint) = other.run(3, &import);
    assert!(
        said.starts_with("3 results added to ") && said.ends_with("; 7 lines left out\n"),
        "{said}"
    );
    assert!(
        complaint.contains("damaged.jsonl: 7 lines are no results")
            && complaint.contains("\n  line 1: ")
            && complaint.contains("\n  line 3: ")
            && complaint.contains("\n  line 7: ")
            && !complaint.contains("line 8")
            && complaint.contains("\n  and 2 more\n")
            && !complaint.contains('\u{1b}'),
        "{complaint}"
    );
    // The good ones are there, and the same file again adds nothing.
    assert_eq!(other.run(0, &["history", "export"]).0, text);
    let (said, _) = other.run(3, &import);
    assert!(
        said.starts_with("0 results added, 3 known before, "),
        "{said}"
    );
}

#[test]
fn pruning_says_what_it_removes() {
    let project = Project::new();
    project.bench(&["--record"]);
    project.bench(&["--record=baseline"]);
    let (_, said) = project.run(2, &["history", "prune"]);
    assert!(said.contains("nothing says what to remove"), "{said}");
    let all = ["history", "prune", "--kind", "bench", "--keep", "baseline"];
    let (said, _) = project.run(0, &[&all[..], &["--dry-run"]].concat());
    assert!(
        said.starts_with("1 result would be removed from "),
        "{said}"
    );
    let (said, _) = project.run(0, &all);
    assert!(said.starts_with("1 result removed from "), "{said}");
    let (said, _) = project.run(0, &["history", "prune", "--since", "1h"]);
    assert!(said.starts_with("1 result removed from "), "{said}");
    let (page, _) = project.run(0, &["history", "list"]);
    assert!(page.starts_with("no such result in "), "{page}");
}

/// A server that is not there costs no result, and no exit code.
#[test]
fn results_wait_for_a_server_that_is_gone() {
    let project = Project::new();
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let address = format!("postgres://ci:s3cret@127.0.0.1:{port}/perf");
    let spec = root().join("examples/copy.toml");
    let bench = [
        "bench",
        spec.to_str().unwrap(),
        "--device",
        "sim:h200",
        "--max-samples",
        "30",
        "--axis",
        "n=1048576",
        "--filter",
        "scalar",
        "--record",
    ];
    let (page, said) = finished(0, project.command(&bench).env("RIDGE_HISTORY", &address));
    assert!(page.contains("scalar"), "{page}");
    assert!(
        said.contains(&format!(
            "reach the history postgres://ci@127.0.0.1:{port}/perf"
        )),
        "{said}"
    );
    assert!(
        said.contains("the result is kept in ") && !said.contains("s3cret"),
        "{said}"
    );
    let (_, said) = finished(
        4,
        project
            .command(&["history", "send"])
            .env("RIDGE_HISTORY", &address),
    );
    assert!(
        said.contains("reach the history") && !said.contains("s3cret"),
        "{said}"
    );
    // Another store takes what waits, with the next result or at once.
    let (said, _) = project.run(0, &["history", "send"]);
    assert!(said.starts_with("1 result added to "), "{said}");
    assert_eq!(project.run(0, &["history", "send"]).0, "no result waits\n");
    finished(0, project.command(&bench).env("RIDGE_HISTORY", &address));
    let (_, said) = project.bench(&["--record"]);
    assert!(said.contains("sent 1 result that waited in "), "{said}");
    let listing = project.json(&["history", "list", "--format", "json"]);
    assert_eq!(listing["total"], 3);
    assert!(!listing.to_string().contains("s3cret"));
}

#[test]
fn mistakes_are_told() {
    let project = Project::new();
    project.bench(&["--record"]);
    let mut page = String::new();
    for arguments in [
        &["history"][..],
        &["history", "show", "ffff"],
        &["history", "show", "branch:none"],
        &["history", "show", "xyz"],
        &["history", "list", "--since", "yesterday"],
        &["history", "list", "--kind", "roofline"],
        &["history", "list", "--commit", "HEAD"],
        &["history", "list", "-o", "list.pdf"],
        &["history", "list", "--store", "postgres://nobody"],
        &["history", "list", "--store", "missing.db"],
        &["history", "list", "--store", "code.cu"],
        &["history", "export", "-o", "all.csv"],
        &["history", "merge", "missing.db"],
        &["bench", "x.toml", "--record==x"],
        &["history", "import", "missing.json"],
    ] {
        let output = project.command(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let said = if arguments.len() == 1 {
            "(help)\n".to_owned()
        } else {
            said
        };
        let code = output.status.code().unwrap();
        writeln!(page, "$ ridge {}\n{said}exit {code}\n", arguments.join(" ")).unwrap();
    }
    snapshot("history_mistakes", &project.hidden(&page));
}
