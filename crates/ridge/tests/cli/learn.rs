//! `ridge learn`: the list, rounds from a script, progress that is kept, and what is refused.

use std::fs;

use serde_json::Value;

use crate::driver::{Folder, Run, ridge, snapshot};
use crate::schema::{named, violations};

const PROGRESS: &str = ".ridge/learn.json";

/// A round about an H200 with answers from standard input, in a folder of its own.
fn round(folder: &Folder, arguments: &[&str], answers: &str) -> Run {
    let all = ["learn", "--device", "h200", "--quiz", "-"]
        .iter()
        .chain(arguments);
    ridge(all).within(folder).stdin(answers.as_bytes()).run()
}

fn document(folder: &Folder, arguments: &[&str], answers: &str) -> Value {
    let all: Vec<&str> = ["--format", "json"]
        .iter()
        .chain(arguments)
        .copied()
        .collect();
    let document = round(folder, &all, answers).fine().json();
    let found = violations(&named("learn"), &document);
    assert!(found.is_empty(), "{arguments:?}\n{}", found.join("\n"));
    document
}

/// The right answers of a round, as a script: nobody knows at first.
fn right_answers(arguments: &[&str]) -> String {
    let folder = Folder::new();
    let document = document(&folder, arguments, &"?\n".repeat(20));
    let answers = document["answers"].as_array().unwrap();
    let lines: Vec<String> = answers
        .iter()
        .map(|answer| {
            let right = answer["right"].as_str().unwrap();
            let choices = answer["choices"].as_array().unwrap();
            match choices.iter().position(|choice| choice == right) {
                Some(place) => ["a", "b", "c", "d", "e", "f"][place].to_owned(),
                None => {
                    let value = answer["right_value"].as_f64().unwrap();
                    let scale = match answer["unit"].as_str().unwrap() {
                        "ns" => 1e3,
                        "FLOP/s" => 1e12,
                        _ => 1.0,
                    };
                    format!("{}", value / scale)
                }
            }
        })
        .collect();
    lines.join("\n")
}

fn progress(folder: &Folder) -> Value {
    let text = fs::read_to_string(folder.path().join(PROGRESS)).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn pages() {
    let folder = Folder::new();
    let list = |columns| {
        let run = ridge(["learn"])
            .within(&folder)
            .env("COLUMNS", columns)
            .run();
        run.fine().stdout
    };
    snapshot("learn_list", &list("100"));
    assert!(
        !folder.path().join(".ridge").exists(),
        "looking keeps nothing"
    );
    let answers = "# a comment\n?\n\n60us\na\nnonsense\nb\n";
    let run = round(&folder, &["two-walls", "--seed", "3"], answers).fine();
    snapshot("learn_round", &run.stdout);
    snapshot("learn_list_80", &list("80"));
    let mixed = round(&folder, &["--seed", "1"], &"?\n".repeat(8)).fine();
    snapshot("learn_mixed", &mixed.stdout);
}

#[test]
fn right_answers_make_a_lesson_known() {
    let folder = Folder::new();
    for lesson in ["two-walls", "layers", "numerics"] {
        let arguments = [lesson, "--seed", "11"];
        let result = document(&folder, &arguments, &right_answers(&arguments));
        assert_eq!(
            (&result["right"], &result["is_passed"]),
            (&5.into(), &true.into()),
            "{result:#}"
        );
        assert_eq!(progress(&folder)["lessons"][lesson]["best"], 5);
    }
    let list = ridge(["learn"]).within(&folder).run().fine();
    list.shows("known: 5 of 5")
        .shows("Next: `ridge learn arithmetic-intensity`");
}

#[test]
fn a_seed_makes_the_round_reproducible() {
    let folder = Folder::new();
    let of = |seed: &str| {
        round(&folder, &["occupancy", "--seed", seed], "?\n")
            .fine()
            .stdout
    };
    assert_eq!(of("5"), of("5"));
    assert_ne!(of("5"), of("6"));
}

#[test]
fn the_end_of_the_script_keeps_what_was_answered() {
    let folder = Folder::new();
    let run = round(&folder, &["measuring"], "a\n?").fine();
    run.shows("The round has 5 questions and was left after 2.");
    let standing = &progress(&folder)["lessons"]["measuring"];
    assert_eq!(
        (&standing["asked"], &standing["rounds"]),
        (&2.into(), &0.into())
    );
    let ignore = fs::read_to_string(folder.path().join(".ridge/.gitignore")).unwrap();
    assert!(ignore.contains("/learn.json*"), "{ignore}");
}

#[test]
fn a_file_of_answers_is_read() {
    let folder = Folder::with("answers.txt", "a\nb\nc\nd\n?\n");
    let run = |file: &str| {
        let arguments = ["learn", "layers", "--device", "l40s", "--quiz", file];
        ridge(arguments).within(&folder).run()
    };
    run("answers.txt").code(0).shows("Question 5 of 5");
    let folder_of = |text: &str| Folder::with("answers.txt", text);
    // What editors of Windows write is the same script.
    let windows = folder_of("\u{feff}a\r\nb\r\n\r\n# c\r\nc\r\nd\r\n?\r\n");
    let arguments = [
        "learn",
        "layers",
        "--device",
        "l40s",
        "--quiz",
        "answers.txt",
    ];
    let of_windows = ridge(arguments).within(&windows).run().code(0);
    assert_eq!(of_windows.stdout, run("answers.txt").stdout);
    let more = folder_of("a\nb\nc\nd\n?\n# no answer\nmore\nand more\n");
    let more = ridge(arguments).within(&more).run().code(0);
    more.says("2 answers more than the round has questions");
    run("missing.txt")
        .code(3)
        .says("there is no such file")
        .shows_nothing();
    run(".").code(3).says("it is a folder");
}

#[test]
fn damage_is_told_and_set_aside() {
    let folder = Folder::new();
    round(&folder, &["layers"], "a\n").fine();
    for (number, damage) in ["{\"schema\": \"ridgepoint.prog", "", "{}"]
        .iter()
        .enumerate()
    {
        fs::write(folder.path().join(PROGRESS), damage).unwrap();
        let run = round(&folder, &["layers"], "a\n").code(0);
        run.says("progress begins anew")
            .says("the old file is kept as");
        let kept = folder
            .path()
            .join(format!("{PROGRESS}.damaged-{}", number + 1));
        assert_eq!(&fs::read_to_string(kept).unwrap(), damage);
        assert_eq!(progress(&folder)["lessons"]["layers"]["asked"], 1);
    }
    let later = "{\"schema\": \"ridgepoint.progress\", \"version\": 2, \"lessons\": 7}";
    fs::write(folder.path().join(PROGRESS), later).unwrap();
    round(&folder, &["layers"], "a\n")
        .code(0)
        .says("it stays as it is");
    assert_eq!(
        fs::read_to_string(folder.path().join(PROGRESS)).unwrap(),
        later
    );
    fs::remove_file(folder.path().join(PROGRESS)).unwrap();
    fs::create_dir(folder.path().join(PROGRESS)).unwrap();
    round(&folder, &["layers"], "a\n")
        .code(0)
        .says("it is a folder");
}

/// Two terminals, one project: what one of them keeps, the other does not undo.
#[test]
fn rounds_at_the_same_time_keep_each_others_answers() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;

    let folder = Folder::new();
    let arguments = ["learn", "layers", "--device", "h200", "--quiz", "-"];
    let mut child = ridge(arguments)
        .within(&folder)
        .into_command()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(stdout.any(|line| line.unwrap().starts_with("Question 1")));
    round(&folder, &["numerics"], "?\n?\n").fine();
    stdin.write_all(b"?\n").unwrap();
    drop(stdin);
    assert!(stdout.any(|line| line.unwrap().contains("was left after 1")));
    assert!(child.wait().unwrap().success());
    let lessons = &progress(&folder)["lessons"];
    assert_eq!(lessons["numerics"]["asked"], 2);
    assert_eq!(lessons["layers"]["asked"], 1);
}

/// A round is worth its answers also where nothing can be written.
#[test]
fn progress_that_cannot_be_kept_ends_no_round() {
    let folder = Folder::with(".ridge", "a file");
    let run = round(&folder, &["layers"], "a\nb\nc\na\nb\n").code(0);
    assert_eq!(
        run.stderr.matches("progress is not kept").count(),
        1,
        "{}",
        run.transcript()
    );
    run.shows("of 5 right");
}

#[test]
fn what_cannot_be_is_refused_with_what_to_do() {
    let folder = Folder::new();
    let refused = |arguments: &[&str], text: &str| {
        let run = ridge(arguments).within(&folder).run().code(2);
        run.says(text).says("try:").shows_nothing();
    };
    refused(&["learn", "two-walls"], "this is no terminal");
    refused(
        &["learn", "two-wals"],
        "`ridge learn` with one of: two-walls",
    );
    refused(&["learn", "xyzzy"], "numerics");
    refused(
        &["learn", "layers", "--quiz", "-", "--device", "h300"],
        "h300",
    );
    refused(&["learn", "--format", "json"], "the result of a round");
    refused(&["learn", "layers", "--format", "json"], "--quiz ANSWERS");
    refused(&["learn", "--seed", "1"], "--seed is about the questions");
    refused(
        &["learn", "layers", "--quiz", "-", "-o", "a.svg"],
        "names no format",
    );
}

#[test]
#[cfg(unix)]
fn an_interrupt_keeps_what_was_answered() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;

    let folder = Folder::new();
    let arguments = ["learn", "layers", "--device", "h200", "--quiz", "-"];
    let mut child = ridge(arguments)
        .within(&folder)
        .into_command()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
    stdin.write_all(b"a\n").unwrap();
    stdin.flush().unwrap();
    let is_second = |line: String| line.starts_with("Question 2");
    assert!(stdout.any(|line| is_second(line.unwrap())));
    let process = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let rest: Vec<String> = stdout.map(Result::unwrap).collect();
    assert!(
        rest.iter().any(|line| line.contains("was left after 1")),
        "{rest:#?}"
    );
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(progress(&folder)["lessons"]["layers"]["asked"], 1);
}
