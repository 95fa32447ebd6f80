//! What becomes of a file when something around it fails.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use ridge_history::{Filter, SqliteStore, Store};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::samples::{Sample, ten};

type Case = fn(&Path);

pub(crate) const CASES: &[(&str, Case)] = &[
    (
        "a_killed_writer_loses_nothing_committed",
        a_killed_writer_loses_nothing_committed,
    ),
    (
        "a_full_disk_loses_nothing_committed",
        a_full_disk_loses_nothing_committed,
    ),
    (
        "a_newer_version_is_read_and_not_written_to",
        a_newer_version_is_read_and_not_written_to,
    ),
    ("other_files_are_left_alone", other_files_are_left_alone),
    ("damage_is_told", damage_is_told),
    (
        "databases_that_only_look_alike_are_left_alone",
        databases_that_only_look_alike_are_left_alone,
    ),
    (
        "a_log_of_another_program_is_left_alone",
        a_log_of_another_program_is_left_alone,
    ),
    (
        "what_is_no_file_is_not_waited_for",
        what_is_no_file_is_not_waited_for,
    ),
    (
        "looking_makes_nothing_of_an_empty_file",
        looking_makes_nothing_of_an_empty_file,
    ),
    (
        "a_file_without_the_right_to_write_is_read",
        a_file_without_the_right_to_write_is_read,
    ),
    (
        "a_writer_that_holds_on_is_told",
        a_writer_that_holds_on_is_told,
    ),
];

const CHILD: &str = "RIDGE_TEST_WRITER";

/// The writer that is killed, or that meets a full disk: it says the number of each batch that it has stored.
pub(crate) fn child() -> Option<ExitCode> {
    let path = std::env::var_os(CHILD)?;
    let mut store = SqliteStore::open(Path::new(&path)).unwrap();
    for batch in 0..100_000_i64 {
        let records: Vec<_> = (0..20)
            .map(|place| {
                Sample {
                    minute: batch * 20 + place,
                    ..Sample::default()
                }
                .record()
            })
            .collect();
        match store.insert(&records) {
            Ok(_) => {
                let mut out = std::io::stdout().lock();
                writeln!(out, "{batch}").and_then(|()| out.flush()).unwrap();
            }
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "{} {error}", error.code());
                return Some(ExitCode::from(4));
            }
        }
    }
    Some(ExitCode::SUCCESS)
}

fn writer(path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(CHILD, path);
    command
}

/// Batches are there as a whole or not at all, and all that were said are there.
fn check(path: &Path, said: u64) {
    let mut store = SqliteStore::open(path).unwrap();
    let count = store.count(&Filter::default()).unwrap();
    assert!(
        count >= said * 20,
        "{count} results, {said} batches were committed"
    );
    assert_eq!(count % 20, 0, "a part of a batch");
    let series = store.series(&Filter::default()).unwrap();
    assert!(
        series.iter().all(|series| series.points == count),
        "{series:?}"
    );
    let mut walked = 0;
    store
        .for_each(&Filter::default(), &mut |record| {
            walked += 1;
            record.document.json().map(drop)
        })
        .unwrap();
    assert_eq!(walked, count);
    // It can be written to as before.
    store
        .insert(&[Sample {
            host: "after",
            ..Sample::default()
        }
        .record()])
        .unwrap();
    drop(store);
    let connection = Connection::open(path).unwrap();
    let verdict: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(verdict, "ok");
    let mut orphans = connection.prepare("PRAGMA foreign_key_check").unwrap();
    assert!(orphans.query([]).unwrap().next().unwrap().is_none());
}

fn a_killed_writer_loses_nothing_committed(path: &Path) {
    // At several moments, over one file: each next writer meets what the last one left.
    let mut said = 0;
    for batches in [1_usize, 3, 7, 12] {
        let mut child = writer(path).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = child.stdout.take().unwrap();
        let mut text = Vec::new();
        let mut byte = [0];
        while text.iter().filter(|byte| **byte == b'\n').count() < batches {
            assert_ne!(
                output.read(&mut byte).unwrap(),
                0,
                "the writer ended by itself"
            );
            text.push(byte[0]);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        output.read_to_end(&mut text).unwrap();
        let lines = String::from_utf8(text).unwrap();
        let last: u64 = lines.lines().last().unwrap().parse().unwrap();
        said = said.max(last + 1);
        let mut store = SqliteStore::open(path).unwrap();
        assert!(store.count(&Filter::default()).unwrap() >= said * 20);
    }
    check(path, said);
}

/// A limit of the size of files stands for a disk without room: the system refuses to write more, in the middle of a batch.
fn a_full_disk_loses_nothing_committed(path: &Path) {
    SqliteStore::open(path).unwrap();
    let program = std::env::current_exe().unwrap();
    // Blocks of 512 bytes or 1 KiB, as the shell has them. Without the trap, the signal would end the writer.
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 600; exec \"$0\""])
        .arg(program)
        .env(CHILD, path)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(
        complaint.starts_with("HIS0006 write to the history"),
        "{complaint}"
    );
    let lines = String::from_utf8(output.stdout).unwrap();
    let said = u64::try_from(lines.lines().count()).unwrap();
    assert!(said > 0, "{complaint}");
    check(path, said);
}

fn a_newer_version_is_read_and_not_written_to(path: &Path) {
    let records = ten();
    SqliteStore::open(path).unwrap().insert(&records).unwrap();
    // What a later version may do: another column, another table, another number.
    Connection::open(path)
        .unwrap()
        .execute_batch("ALTER TABLE result ADD COLUMN colour TEXT; CREATE TABLE later (x); PRAGMA user_version = 99;")
        .unwrap();
    let mut store = SqliteStore::open(path).unwrap();
    assert_eq!(store.count(&Filter::default()).unwrap(), 10);
    assert_eq!(
        store.get(records[3].head.id).unwrap().as_ref(),
        Some(&records[3])
    );
    for error in [
        store.refuses_writes().unwrap(),
        store.insert(&records).unwrap_err(),
        store.prune(&Filter::default()).unwrap_err(),
    ] {
        assert_eq!(error.code(), "HIS0003");
        assert!(error.to_string().contains("version 99"), "{error}");
    }
    assert_eq!(store.count(&Filter::default()).unwrap(), 10);
}

fn other_files_are_left_alone(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, "no database, only some text that is longer than a header of one hundred bytes, which is what SQLite reads first of a file").unwrap();
    let before = std::fs::read(path).unwrap();
    let error = SqliteStore::open(path).unwrap_err();
    assert_eq!(error.code(), "HIS0002", "{error}");
    assert_eq!(std::fs::read(path).unwrap(), before);
    std::fs::remove_file(path).unwrap();

    Connection::open(path)
        .unwrap()
        .execute_batch("CREATE TABLE photos (name TEXT)")
        .unwrap();
    let error = SqliteStore::open(path).unwrap_err();
    assert_eq!(error.code(), "HIS0002", "{error}");
    assert!(error.to_string().contains("another program"), "{error}");
    std::fs::remove_file(path).unwrap();

    std::fs::create_dir(path).unwrap();
    let error = SqliteStore::open(path).unwrap_err();
    assert_eq!(error.code(), "HIS0002", "{error}");
    assert!(error.to_string().contains("a folder"), "{error}");
    let missing = path.with_file_name("missing.db");
    assert_eq!(
        SqliteStore::open_existing(&missing).unwrap_err().code(),
        "HIS0021"
    );
    assert!(!missing.exists());
}

fn damage_is_told(path: &Path) {
    SqliteStore::open(path).unwrap().insert(&ten()).unwrap();
    let whole = std::fs::read(path).unwrap();
    // Every page but the first, so that it still looks like a history.
    let mut damaged = whole.clone();
    for byte in damaged.iter_mut().skip(4096) {
        *byte ^= 0x5a;
    }
    std::fs::write(path, damaged).unwrap();
    let mut store = SqliteStore::open(path).unwrap();
    let error = store.list(&Filter::default()).unwrap_err();
    assert_eq!(error.code(), "HIS0007", "{error}");
    // Cut off.
    drop(store);
    std::fs::write(path, &whole[..whole.len() / 2]).unwrap();
    let outcome = SqliteStore::open(path).and_then(|mut store| store.list(&Filter::default()));
    assert_eq!(outcome.unwrap_err().code(), "HIS0007");
}

/// The files of a folder with their content.
fn content(path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, std::fs::read(entry.path()).unwrap())
        })
        // The index of a log is made anew by whoever looks.
        .filter(|(name, _)| !name.ends_with("-shm"))
        .collect();
    files.sort();
    files
}

fn databases_that_only_look_alike_are_left_alone(path: &Path) {
    let folder = path.parent().unwrap();
    let make = |statements: &str| {
        let _ = std::fs::remove_dir_all(folder);
        std::fs::create_dir_all(folder).unwrap();
        Connection::open(path)
            .unwrap()
            .execute_batch(statements)
            .unwrap();
    };
    let mark = "PRAGMA application_id = 0x52444748;";
    let schema = include_str!("../../src/sqlite/migrations/1.sql");
    let reads = |store: SqliteStore| {
        let mut store = store;
        store
            .for_each(&Filter::default(), &mut |_| Ok(()))
            .and_then(|()| store.series(&Filter::default()))
    };
    for (statements, code, words) in [
        (
            "CREATE TABLE photos (name TEXT)".to_owned(),
            "HIS0002",
            "another program",
        ),
        (
            "PRAGMA user_version = -3".to_owned(),
            "HIS0002",
            "another program",
        ),
        (
            "PRAGMA application_id = 7".to_owned(),
            "HIS0002",
            "another program",
        ),
        (
            "PRAGMA journal_mode = wal; CREATE TABLE photos (name TEXT)".to_owned(),
            "HIS0002",
            "another program",
        ),
        (
            format!("{mark} CREATE TABLE photos (name TEXT)"),
            "HIS0007",
            "version 0",
        ),
        (
            format!("{mark} {schema} PRAGMA user_version = -1"),
            "HIS0007",
            "version -1",
        ),
        (
            format!("{mark} PRAGMA user_version = 1"),
            "HIS0007",
            "result, document, label, series, point",
        ),
        (
            format!("{mark} {schema} DROP TABLE point; PRAGMA user_version = 1"),
            "HIS0007",
            "no table point",
        ),
        (
            format!(
                "{mark} {schema} DROP TABLE point; CREATE VIEW point AS SELECT 1; PRAGMA user_version = 1"
            ),
            "HIS0007",
            "no table point",
        ),
        (
            format!(
                "{mark} {schema} ALTER TABLE result RENAME COLUMN host TO guest; PRAGMA user_version = 1"
            ),
            "HIS0007",
            "r.host",
        ),
        (
            format!(
                "{mark} {schema} PRAGMA user_version = 1; \
                 INSERT INTO series VALUES (1, x'00', CAST(x'ff' AS TEXT), 'm', 'ns', NULL); \
                 INSERT INTO result (id, time_us, kind, name, labels, schema_version) \
                 VALUES (zeroblob(32), 0, 'bench', CAST(x'6180ff' AS TEXT), '{{}}', 1); \
                 INSERT INTO point VALUES (1, 0, 1, 0, 1.0, NULL, NULL, NULL); INSERT INTO document VALUES (1, x'')"
            ),
            "HIS0007",
            "no UTF-8",
        ),
    ] {
        make(&statements);
        let before = content(path);
        for open in [SqliteStore::open_existing, SqliteStore::open_read_only] {
            let error = open(path).and_then(reads).unwrap_err();
            assert_eq!(error.code(), code, "{statements}: {error}");
            assert!(error.to_string().contains(words), "{error}");
        }
        assert_eq!(content(path), before, "{statements}");
        let error = SqliteStore::open(path).and_then(reads).unwrap_err();
        assert_eq!(error.code(), code, "{statements}: {error}");
        if code == "HIS0002" {
            assert_eq!(content(path), before, "{statements}");
        }
    }
}

/// What another program has written and not brought into its file yet stays where it is.
fn a_log_of_another_program_is_left_alone(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = Connection::open(path).unwrap();
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .unwrap();
    connection
        .execute_batch("PRAGMA journal_mode = wal; CREATE TABLE photos (name TEXT)")
        .unwrap();
    drop(connection);
    let before = content(path);
    assert!(
        before
            .iter()
            .any(|(name, log)| name.ends_with("-wal") && !log.is_empty())
    );
    for open in [
        SqliteStore::open,
        SqliteStore::open_existing,
        SqliteStore::open_read_only,
    ] {
        let error = open(path).unwrap_err();
        assert_eq!(error.code(), "HIS0002", "{error}");
        assert_eq!(content(path), before);
    }
}

fn what_is_no_file_is_not_waited_for(path: &Path) {
    let folder = path.parent().unwrap();
    std::fs::create_dir_all(folder).unwrap();
    let pipe = folder.join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    for path in [
        &pipe,
        Path::new("/dev/null"),
        Path::new("/dev/zero"),
        folder,
    ] {
        for open in [
            SqliteStore::open,
            SqliteStore::open_existing,
            SqliteStore::open_read_only,
        ] {
            let error = open(path).unwrap_err();
            assert_eq!(error.code(), "HIS0002", "{error}");
        }
    }
    let around = folder.join("around");
    std::os::unix::fs::symlink("around", &around).unwrap();
    let error = SqliteStore::open(&around).unwrap_err();
    assert_eq!(error.code(), "HIS0002", "{error}");
}

fn looking_makes_nothing_of_an_empty_file(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    for is_database in [false, true] {
        if is_database {
            // A database without any table, as SQLite leaves it behind.
            let connection = Connection::open(path).unwrap();
            connection
                .execute_batch("CREATE TABLE t (x); DROP TABLE t; VACUUM")
                .unwrap();
            drop(connection);
        } else {
            std::fs::write(path, "").unwrap();
        }
        let before = content(path);
        for open in [SqliteStore::open_existing, SqliteStore::open_read_only] {
            let error = open(path).unwrap_err();
            assert!(
                error.code() == "HIS0020" || is_database && error.code() == "HIS0002",
                "{error}"
            );
            assert_eq!(content(path), before);
        }
    }
    std::fs::write(path, "").unwrap();
    // Who writes makes a history of it.
    assert_eq!(
        SqliteStore::open(path)
            .unwrap()
            .insert(&ten())
            .unwrap()
            .added,
        10
    );
    assert_eq!(
        SqliteStore::open_existing(path)
            .unwrap()
            .count(&Filter::default())
            .unwrap(),
        10
    );
}

fn a_file_without_the_right_to_write_is_read(path: &Path) {
    let records = ten();
    SqliteStore::open(path).unwrap().insert(&records).unwrap();
    // Rights do not bind root, so that the whole file is made one that does not change, as on a read-only medium.
    let mut store = SqliteStore::open_read_only(path).unwrap();
    assert_eq!(store.count(&Filter::default()).unwrap(), 10);
    let error = store.insert(&records).unwrap_err();
    assert_eq!(error.code(), "HIS0004", "{error}");
}

fn a_writer_that_holds_on_is_told(path: &Path) {
    let mut store = SqliteStore::open(path).unwrap();
    store
        .set_patience(std::time::Duration::from_millis(50))
        .unwrap();
    let other = Connection::open(path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.insert(&ten()).unwrap_err();
    assert_eq!(error.code(), "HIS0005", "{error}");
    // Reading goes on.
    assert_eq!(store.count(&Filter::default()).unwrap(), 0);
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(store.insert(&ten()).unwrap().added, 10);
}
