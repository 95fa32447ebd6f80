//! Exports as Parquet files, read by somebody else: pyarrow, which DuckDB, Spark and pandas agree with about the format.
//!
//! `RIDGE_PYARROW` names a Python that has it, which makes the test required; else a `python3` in the search path that has it is
//! taken, and without one the test is reported as ignored.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};
use ridge_history::parquet::{Exported, Sink, export};
use ridge_history::{
    Circumstances, Filter, Labels, Record, Revision, SqliteStore, Store, Timestamp,
};
use serde_json::{Value, json};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = vec![
        Trial::test("folders are by day and GPU", || folders().map(drop)),
        Trial::test("large exports have several parts", parts),
    ];
    const NAME: &str = "pyarrow reads what was written";
    trials.push(match python() {
        Some(python) => Trial::test(NAME, move || read_by_pyarrow(&python)),
        None => {
            let reason = "no python3 with pyarrow found: install it, or set RIDGE_PYARROW to one";
            Trial::test(format!("{NAME} ({reason})"), || Ok(())).with_ignored_flag(true)
        }
    });
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn python() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("RIDGE_PYARROW").filter(|named| !named.is_empty()) {
        return Some(named.into());
    }
    let has_it = Command::new("python3")
        .args(["-c", "import pyarrow.dataset"])
        .output()
        .is_ok_and(|output| output.status.success());
    has_it.then(|| "python3".into())
}

/// A GPU whose name tries to lead elsewhere, and labels that need escapes.
const HOSTILE_GPU: &str = "../..\\ <b> = % 'x' \\u00fc";
const HOSTILE_LABEL: &str = "a \"b\" </script> ü";

fn record(time: &str, gpu: Option<&str>, median: f64, labels: &[(&str, &str)]) -> Record {
    let machine = gpu.map_or_else(String::new, |gpu| {
        let gpu = gpu.replace("\\ ", "\\\\ ");
        format!(r#""machine": {{"device": "{gpu}", "uuid": "GPU-1", "driver": "580.65.06"}},"#)
    });
    let document = format!(
        r#"{{"schema": "ridgepoint.bench", "version": 1, "tool_version": "0.1.0", "benchmark": "copy", {machine}
        "states": [{{"name": "scalar", "status": "valid", "functions": [{{"registers": 32}}], "modes": [
            {{"mode": "cold", "invalid": [], "samples": 40, "median_ns": {median}, "lower_ns": 990.5, "upper_ns": 1010.25,
              "clock_hz": 1.98e9}}]}}]}}"#
    );
    Record::of_document(
        document.as_bytes(),
        Circumstances {
            time: Some(time.parse().unwrap()),
            revision: Revision {
                commit: gpu.map(|_| "0123456789abcdef0123456789abcdef01234567".to_owned()),
                branch: None,
                is_dirty: gpu.map(|_| true),
            },
            labels: labels.iter().copied().collect::<Labels>(),
            ..Circumstances::default()
        },
    )
    .unwrap()
}

fn records() -> Vec<Record> {
    vec![
        record(
            "2026-11-29T23:59:59.999999Z",
            Some("NVIDIA H200"),
            1000.125,
            &[],
        ),
        record(
            "2026-11-30T00:00:00Z",
            Some("NVIDIA H200"),
            1001.0,
            &[("nightly", ""), ("variant", HOSTILE_LABEL)],
        ),
        record(
            "2026-11-30T12:00:00Z",
            Some(HOSTILE_GPU),
            1002.0,
            &[("n", "1")],
        ),
        record("2026-11-30T13:00:00.000001Z", None, 1003.0, &[]),
    ]
}

fn store(folder: &Path, records: &[Record]) -> SqliteStore {
    let mut store = SqliteStore::open(&folder.join("history.db")).unwrap();
    store.insert(records).unwrap();
    store
}

fn written(store: &mut dyn Store, folder: &Path) -> Exported {
    export(store, &Filter::default(), &mut |path| {
        let file = folder.join(path);
        fs::create_dir_all(file.parent().unwrap())?;
        let sink: Sink = Box::new(File::create_new(file)?);
        Ok(sink)
    })
    .unwrap()
}

fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let path = path.strip_prefix(folder).unwrap();
                found.push(path.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

fn folders() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let mut store = store(folder.path(), &records());
    let tables = folder.path().join("tables");
    let exported = written(&mut store, &tables);
    let points: usize = records().iter().map(|record| record.points.len()).sum();
    assert_eq!(
        exported,
        Exported {
            results: 4,
            rows: points as u64,
            files: 4
        }
    );
    assert_eq!(
        files(&tables),
        [
            "date=2026-11-29/gpu=NVIDIA%20H200/part-00000.parquet",
            "date=2026-11-30/gpu=..%2F..%5C%20%3Cb%3E%20%3D%20%25%20%27x%27%20%C3%BC/part-00000.parquet",
            "date=2026-11-30/gpu=NVIDIA%20H200/part-00000.parquet",
            "date=2026-11-30/gpu=__HIVE_DEFAULT_PARTITION__/part-00000.parquet",
        ]
    );
    Ok(())
}

/// Rows of one day that do not fit into memory together go into files of their own.
fn parts() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let start: Timestamp = "2026-11-30".parse().unwrap();
    // 3,000 states with two numbers each: 18 such results are 108,000 rows.
    let states: Vec<String> = (0..3_000)
        .map(|state| {
            format!(
                r#"{{"name": "s{state}", "status": "valid", "functions": [{{"registers": 32}}], "modes": [
                {{"mode": "cold", "invalid": [], "samples": 40, "median_ns": {state}.5}}]}}"#
            )
        })
        .collect();
    let document = format!(
        r#"{{"schema": "ridgepoint.bench", "version": 1, "benchmark": "copy", "states": [{}]}}"#,
        states.join(",")
    );
    let records: Vec<Record> = (0..18)
        .map(|minute| {
            let time = Timestamp::from_micros(start.micros() + minute * 60_000_000);
            let circumstances = Circumstances {
                time: Some(time),
                ..Circumstances::default()
            };
            Record::of_document(document.as_bytes(), circumstances).unwrap()
        })
        .collect();
    let rows: usize = records.iter().map(|record| record.points.len()).sum();
    assert!(rows > 100_000, "{rows}");
    let mut store = store(folder.path(), &records);
    let tables = folder.path().join("tables");
    let exported = written(&mut store, &tables);
    assert_eq!((exported.rows, exported.files), (rows as u64, 2));
    let folder = "date=2026-11-30/gpu=__HIVE_DEFAULT_PARTITION__";
    assert_eq!(
        files(&tables),
        [
            format!("{folder}/part-00000.parquet"),
            format!("{folder}/part-00001.parquet")
        ]
    );
    Ok(())
}

/// Prints types and rows of a folder.
const READ: &str = r#"
import json, sys
import pyarrow as pa, pyarrow.dataset as ds
hive = ds.HivePartitioning(pa.schema([("date", pa.string()), ("gpu", pa.string())]))
table = ds.dataset(sys.argv[1], format="parquet", partitioning=hive).to_table()
types = {field.name: str(field.type) for field in table.schema}
rows = table.to_pylist()
for row in rows:
    row["time"] = row["time"].isoformat()
    row["labels"] = dict(row["labels"])
json.dump({"types": types, "rows": rows}, sys.stdout)
"#;

fn read_by_pyarrow(python: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let mut store = store(folder.path(), &records());
    let tables = folder.path().join("tables");
    written(&mut store, &tables);
    let output = Command::new(python)
        .args(["-c", READ])
        .arg(&tables)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let read: Value = serde_json::from_slice(&output.stdout)?;
    let types = &read["types"];
    assert_eq!(types["time"], "timestamp[us, tz=UTC]");
    assert_eq!(types["value"], "double");
    assert_eq!(types["samples"], "int64");
    assert_eq!(types["is_dirty"], "bool");
    assert_eq!(types["labels"], "map<string, string ('labels')>");
    // Each row against the store: what another program reads is what was recorded.
    let mut expected: BTreeMap<String, Value> = BTreeMap::new();
    for record in records() {
        let head = &record.head;
        let labels: serde_json::Map<String, Value> = head
            .labels
            .iter()
            .map(|(key, value)| (key.to_owned(), json!(value)))
            .collect();
        let gpu = head.gpu.as_ref();
        for point in &record.points {
            let row = json!({
                "time": head.time.to_string().replace('Z', "+00:00"),
                "date": head.time.date(),
                "gpu": gpu.map(|gpu| &gpu.name),
                "gpu_name": gpu.map(|gpu| &gpu.name),
                "gpu_uuid": gpu.and_then(|gpu| gpu.uuid.as_ref()),
                "result": head.id.to_string(),
                "kind": head.kind.name(),
                "name": head.name,
                "subject": point.subject,
                "metric": point.metric,
                "unit": point.unit,
                "value": point.value,
                "low": point.low,
                "high": point.high,
                "samples": point.samples,
                "commit": head.revision.commit,
                "branch": head.revision.branch,
                "is_dirty": head.revision.is_dirty,
                "host": head.host,
                "driver": head.driver,
                "sm_clock_low_hz": head.sm_clock.map(|clock| clock.low_hz),
                "sm_clock_high_hz": head.sm_clock.map(|clock| clock.high_hz),
                "command": head.command,
                "tool_version": head.tool_version,
                "labels": labels,
            });
            expected.insert(format!("{} {}", head.id, point.metric), row);
        }
    }
    let rows = read["rows"].as_array().unwrap();
    assert_eq!(rows.len(), expected.len());
    for row in rows {
        let key = format!(
            "{} {}",
            row["result"].as_str().unwrap(),
            row["metric"].as_str().unwrap()
        );
        assert_eq!(Some(row), expected.get(&key), "{key}");
    }
    Ok(())
}
