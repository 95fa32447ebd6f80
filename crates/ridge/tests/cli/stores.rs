//! Stores, settings and addresses that are not what they should be.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ridge_history::{Circumstances, Filter, Id, Record, SqliteStore, Store, Timestamp};
use tempfile::TempDir;

const BENCH: &[u8] = include_bytes!("../../../../fixtures/formats/bench-1/copy.json");

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        // No project around the temporary folder is meant.
        fs::create_dir(place.at(".git")).unwrap();
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn pipe(&self, name: &str) {
        let made = Command::new("mkfifo").arg(self.at(name)).status().unwrap();
        assert!(made.success());
    }

    #[track_caller]
    fn run(&self, code: i32, arguments: &[&str]) -> (String, String) {
        let Output {
            status,
            stdout,
            stderr,
        } = Command::new(env!("CARGO_BIN_EXE_ridge"))
            .args(arguments)
            .current_dir(self.0.path())
            .env_remove("RIDGE_HISTORY")
            .env("PGPASSWORD", "s3cret")
            .env("NO_COLOR", "1")
            .env("COLUMNS", "100")
            .output()
            .unwrap();
        let said = String::from_utf8(stderr).unwrap();
        assert_eq!(status.code(), Some(code), "{arguments:?}: {said}");
        (String::from_utf8(stdout).unwrap(), said)
    }

    /// All files with their content.
    fn content(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        fn walk(folder: &Path, found: &mut Vec<(PathBuf, Option<Vec<u8>>)>) {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let path = entry.path();
                let kind = entry.file_type().unwrap();
                let bytes = kind.is_file().then(|| fs::read(&path).unwrap());
                found.push((path.clone(), bytes));
                if kind.is_dir() {
                    walk(&path, found);
                }
            }
        }
        let mut found = Vec::new();
        walk(self.0.path(), &mut found);
        found.sort();
        found
    }
}

fn record(minute: i64) -> Record {
    let start: Timestamp = "2026-11-30T18:00:00Z".parse().unwrap();
    let circumstances = Circumstances {
        time: Some(Timestamp::from_micros(start.micros() + minute * 60_000_000)),
        ..Circumstances::default()
    };
    Record::of_document(BENCH, circumstances).unwrap()
}

/// A store with results of all times that a number of 64 bits can say.
#[test]
fn times_that_cannot_be_end_no_command_and_get_no_further() {
    let place = Place::new();
    let mut records: Vec<Record> = (0..3).map(record).collect();
    for (minute, time) in [(4, i64::MAX), (5, i64::MIN), (6, 253_402_300_800_000_000)] {
        let mut odd = record(minute);
        odd.head.time = Timestamp::from_micros(time);
        records.push(odd);
    }
    SqliteStore::open(&place.at("odd.db"))
        .unwrap()
        .insert(&records)
        .unwrap();

    let (page, _) = place.run(0, &["history", "--store", "odd.db", "list"]);
    assert!(page.contains("+294247-01-10 04:00:54"), "{page}");
    assert!(page.contains("-290308-12-21 19:59:05"), "{page}");
    place.run(
        0,
        &["history", "--store", "odd.db", "plot", "--metric", "all"],
    );
    let (lines, _) = place.run(0, &["history", "--store", "odd.db", "export"]);
    assert_eq!(lines.lines().count(), 6);

    let (page, said) = place.run(3, &["history", "--store", "new.db", "merge", "odd.db"]);
    assert!(page.contains("3 results added"), "{page}");
    assert_eq!(
        said.matches("before 1970 or behind 9999").count(),
        3,
        "{said}"
    );
    assert!(
        said.contains("odd.db: 3 results cannot be taken") && said.contains("try: "),
        "{said}"
    );

    // The first line is the oldest.
    fs::write(place.at("lines.jsonl"), lines).unwrap();
    let (_, said) = place.run(
        3,
        &["history", "--store", "third.db", "import", "lines.jsonl"],
    );
    assert!(
        said.contains("lines.jsonl: 3 lines are no results") && said.contains("line 1: "),
        "{said}"
    );
    assert!(
        said.contains("the time \"-290308-12-21T19:59:05.224192Z\""),
        "{said}"
    );

    // A document has the time of its file.
    fs::write(place.at("copy.json"), BENCH).unwrap();
    let far = std::time::UNIX_EPOCH + std::time::Duration::from_secs(300_000_000_000);
    let file = fs::File::options()
        .append(true)
        .open(place.at("copy.json"))
        .unwrap();
    // A file system that keeps no such times gives none to refuse.
    if file.set_modified(far).is_ok() && file.metadata().unwrap().modified().unwrap() == far {
        let (_, said) = place.run(
            3,
            &["history", "--store", "third.db", "import", "copy.json"],
        );
        assert!(said.contains("+011476-"), "{said}");
    }
    let mut third = SqliteStore::open(&place.at("third.db")).unwrap();
    // Those of the lines that can be, and no other.
    assert_eq!(third.count(&Filter::default()).unwrap(), 3);
}

#[test]
fn what_is_no_store_is_told_and_left_alone() {
    let place = Place::new();
    place.pipe("pipe");
    fs::create_dir(place.at("folder")).unwrap();
    fs::write(place.at("empty"), "").unwrap();
    fs::write(place.at("text"), "no store, but a longer text: ".repeat(20)).unwrap();
    symlink("around", place.at("around")).unwrap();
    fs::write(place.at("copy.json"), BENCH).unwrap();
    let whole = {
        let path = place.at("whole.db");
        SqliteStore::open(&path)
            .unwrap()
            .insert(&[record(0)])
            .unwrap();
        let bytes = fs::read(&path).unwrap();
        fs::remove_file(path).unwrap();
        bytes
    };
    fs::write(place.at("short"), &whole[..90]).unwrap();
    let before = place.content();
    let readers: [&[&str]; 9] = [
        &["list"],
        &["show", "latest"],
        &["compare", "latest", "latest"],
        &["plot"],
        &["changes"],
        &["export"],
        &["prune", "--before", "1d"],
        &["prune", "--before", "1d", "--dry-run"],
        &["list", "--format", "json"],
    ];
    for (store, words) in [
        ("pipe", "no regular file"),
        ("/dev/null", "no regular file"),
        ("/dev/zero", "no regular file"),
        ("folder", "a folder"),
        ("around", "leads nowhere"),
        ("text", "no SQLite database"),
        ("short", "malformed"),
        ("empty", "holds nothing"),
        ("missing", "does not exist"),
    ] {
        for reader in readers {
            let arguments = [&["history", "--store", store], reader].concat();
            let (page, said) = place.run(3, &arguments);
            assert_eq!(page, "");
            assert!(
                said.contains(store) && said.contains(words),
                "{arguments:?}: {said}"
            );
            assert!(said.contains("try: "), "{said}");
        }
        let now = place.content();
        let names = |all: &[(PathBuf, Option<Vec<u8>>)]| -> Vec<PathBuf> {
            all.iter().map(|one| one.0.clone()).collect()
        };
        assert_eq!(names(&now), names(&before), "{store}");
        assert!(now == before, "{store} was changed");
        if !["empty", "missing"].contains(&store) {
            for writer in [["import", "copy.json"], ["merge", "text"]] {
                let arguments = [&["history", "--store", store], writer.as_slice()].concat();
                let (_, said) = place.run(3, &arguments);
                assert!(said.contains(words), "{arguments:?}: {said}");
            }
            assert_eq!(place.content(), before, "{store}");
        }
    }
    // Who writes takes an empty file for a new store.
    let (page, _) = place.run(0, &["history", "--store", "empty", "import", "copy.json"]);
    assert!(page.contains("1 result added"), "{page}");
    place.run(0, &["history", "--store", "empty", "show", "latest"]);
    let (_, said) = place.run(2, &["history", "--store", "", "list"]);
    assert!(
        said.contains("--store is given, and names nothing"),
        "{said}"
    );
}

/// Settings that cannot be read are none that are not there.
#[test]
fn settings_that_cannot_be_read_are_told() {
    let place = Place::new();
    SqliteStore::open(&place.at("mine.db"))
        .unwrap()
        .insert(&[record(0)])
        .unwrap();
    let settings = place.at("ridge.toml");
    let cases: [(&dyn Fn(), &str); 8] = [
        (&|| fs::create_dir(&settings).unwrap(), "it is a folder"),
        (
            &|| symlink("ridge.toml", &settings).unwrap(),
            "symbolic links",
        ),
        (&|| symlink("nowhere", &settings).unwrap(), "not there"),
        (&|| place.pipe("ridge.toml"), "no regular file"),
        (
            &|| symlink("/dev/zero", &settings).unwrap(),
            "no regular file",
        ),
        (
            &|| fs::write(&settings, b"a = \"\xff\"").unwrap(),
            "no UTF-8",
        ),
        (
            &|| fs::write(&settings, "#".repeat((1 << 20) + 1)).unwrap(),
            "more than 1 MiB",
        ),
        (
            &|| fs::write(&settings, "[history]\nstore = \" \"\n").unwrap(),
            "names no store",
        ),
    ];
    for (make, words) in cases {
        make();
        let (_, said) = place.run(3, &["history", "list"]);
        assert!(
            said.contains("ridge.toml") && said.contains(words),
            "{said}"
        );
        // Who names a store needs no settings.
        let (page, _) = place.run(0, &["history", "--store", "mine.db", "list"]);
        assert!(page.contains("1 result in mine.db"), "{page}");
        if words != "names no store" {
            for arguments in [&["check"][..], &["check", "--config", "ridge.toml"]] {
                let (_, said) = place.run(3, arguments);
                assert!(
                    said.contains("ridge.toml") && said.contains(words),
                    "{said}"
                );
            }
        }
        if settings.symlink_metadata().unwrap().is_dir() {
            fs::remove_dir(&settings).unwrap();
        } else {
            fs::remove_file(&settings).unwrap();
        }
    }
}

/// Nothing listens on this port: the message tells the address, and not what is secret in it.
#[test]
fn no_message_tells_a_password() {
    let place = Place::new();
    let before = place.content();
    for (address, code) in [
        ("postgres://ci:s3cret@127.0.0.1:1/perf", 4),
        ("POSTGRES://ci:s3cret@127.0.0.1:1/perf", 4),
        ("  PostgreSQL://ci:s3cret@127.0.0.1:1/perf", 4),
        ("postgres://ci@127.0.0.1:1/perf?password=s3cret", 4),
        (
            "host=127.0.0.1 port=1 user=ci password=s3cret dbname=perf",
            4,
        ),
        (
            "host=127.0.0.1 port=1 user=ci password='s3 s3cret' dbname=perf",
            4,
        ),
        ("postgres://ci:a@s3cret@127.0.0.1:1/perf", 2),
        ("postgres://ci:a@s3cret?x=@127.0.0.1:1/perf", 2),
        ("postgres://ci:a/s3cret", 2),
        ("user=ci password=s3cret", 2),
        ("host=127.0.0.1 user=ci password=s3cret noise", 2),
    ] {
        for action in [
            &["list"][..],
            &["send"],
            &["merge", "missing.db"],
            &["list", "-v"],
        ] {
            let arguments = [&["history", "--store", address], action].concat();
            // Nothing waits to be sent.
            let code = if action == ["send"] { 0 } else { code };
            let (page, said) = place.run(code, &arguments);
            assert!(
                !page.contains("s3cret") && !said.contains("s3cret"),
                "{page}{said}"
            );
            if code == 4 {
                assert!(said.contains("postgres://ci@127.0.0.1:1/perf"), "{said}");
            }
        }
        // Somebody takes it for a file.
        for arguments in [
            &["history", "--store", "new.db", "import", address][..],
            &["history", "--store", "new.db", "merge", address],
            &["why", address],
        ] {
            let output = Command::new(env!("CARGO_BIN_EXE_ridge"))
                .args(arguments)
                .current_dir(place.0.path())
                .output()
                .unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(
                !output.status.success() && !said.contains("s3cret"),
                "{said}"
            );
        }
        let _ = fs::remove_file(place.at("new.db"));
        assert_eq!(place.content(), before, "{address}");
    }
}

/// Names of a store are somebody else's words: no page lets them end a line or speak to the terminal.
#[test]
fn names_in_pages_end_no_line() {
    let place = Place::new();
    let mut odd = record(0);
    let name = "two\nlines\r\u{1b}[31m\u{2028}end";
    odd.head.name = name.to_owned();
    odd.head.host = Some(name.to_owned());
    odd.head.revision.commit = Some("1\n2\u{1b}3".to_owned());
    odd.head.revision.branch = Some(name.to_owned());
    if let Some(gpu) = &mut odd.head.gpu {
        gpu.name = name.to_owned();
    }
    for point in &mut odd.points {
        point.subject = name.to_owned();
        point.unit = "n\ns\u{1b}".to_owned();
    }
    odd.points[0].metric = format!("time.{name}");
    odd.points.truncate(1);
    let mut other = odd.clone();
    other.head.id = Id::from_bytes(&[7; 32]).unwrap();
    SqliteStore::open(&place.at("odd.db"))
        .unwrap()
        .insert(&[odd, other])
        .unwrap();
    for page in [
        &["list"][..],
        &["list", "-v"],
        &["show", "latest"],
        &["plot", "--metric", "all"],
        &["changes", "--metric", "all", "-v"],
        &["compare", "0707", "latest"],
        &["plot", "--metric", "all", "--format", "svg"],
        &["plot", "--metric", "all", "--format", "html"],
    ] {
        let arguments = [&["history", "--store", "odd.db"], page].concat();
        let (text, said) = place.run(0, &arguments);
        for shown in [&text, &said] {
            assert!(
                !shown.contains('\u{1b}') && !shown.contains('\u{2028}'),
                "{shown}"
            );
            assert!(!shown.contains('\r'), "{shown}");
            // Markup may break lines where a name does, and shows none of it.
            let is_markup = page.contains(&"--format");
            assert!(
                is_markup || !shown.lines().any(|line| line.starts_with("lines")),
                "{page:?}: {shown}"
            );
        }
    }
}
