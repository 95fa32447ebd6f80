//! `ridge export`: rows that other programs read back.

use std::collections::BTreeMap;

use ncu_rep::{Report, Value, unit_of};
use serde_json::json;

use crate::driver::{AOS, AOS_CSV, Folder, VADD, report, ridge};

/// Rows of cells, read as RFC 4180 says.
pub(crate) fn csv(text: &str) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut row = Vec::new();
    let mut cell = String::new();
    let mut is_quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !is_quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            _ => cell.push(character),
        }
    }
    assert!(
        !is_quoted && cell.is_empty() && row.is_empty(),
        "the last row has no end"
    );
    rows
}

fn number(value: &Value<'_>) -> Option<f64> {
    value.number().or(match value {
        Value::F64(value) => Some(*value),
        Value::F32(value) => Some(f64::from(*value)),
        _ => None,
    })
}

#[test]
fn csv_holds_every_metric_of_every_launch() {
    let run = ridge(["export", AOS]).run().fine();
    let rows = csv(&run.stdout);
    assert_eq!(
        rows[0],
        ["file", "launch", "kernel", "metric", "unit", "value"]
    );
    let mut rows = rows[1..].iter();
    let report = Report::parse(report()).unwrap();
    for (launch, profile) in report.profiles().enumerate() {
        let metrics = profile.metrics().value;
        // Some are stored twice; the first counts.
        let is_first = |metric: &&ncu_rep::Metric<'_>| {
            metrics
                .get(metric.name)
                .is_some_and(|first| std::ptr::eq(first, *metric))
        };
        for metric in metrics.iter().filter(is_first) {
            let row = rows.next().expect("a row for each metric");
            assert_eq!(row[..2], [AOS, &launch.to_string()]);
            assert!(
                row[2].starts_with(["aos_slow(", "aos_fixed("][launch]),
                "{row:?}"
            );
            assert_eq!(row[3], metric.name);
            assert_eq!(row[4], unit_of(metric.name).to_string());
            match &metric.value {
                None => assert_eq!(row[5], ""),
                Some(Value::Text(text)) => assert_eq!(
                    row[5].trim_start_matches('\''),
                    text.trim_start_matches('\'')
                ),
                // A float is written so that it reads back as itself.
                Some(value) => {
                    let (written, read) = (row[5].parse::<f64>().unwrap(), number(value).unwrap());
                    assert_eq!(written.is_nan(), read.is_nan(), "{row:?}");
                    assert!(
                        written.is_nan() || written.to_bits() == read.to_bits(),
                        "{row:?}"
                    );
                }
            }
        }
    }
    assert_eq!(rows.next(), None);
}

#[test]
fn json_lines_hold_the_same_values() {
    let lines = ridge(["export", AOS, "--format", "json"])
        .run()
        .fine()
        .stdout;
    let rows = csv(&ridge(["export", AOS]).run().fine().stdout);
    assert_eq!(lines.lines().count(), rows.len() - 1);
    for (line, row) in lines.lines().zip(&rows[1..]) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["file"], row[0]);
        assert_eq!(line["launch"].to_string(), row[1]);
        assert_eq!(line["kernel"], row[2]);
        assert_eq!(line["metric"], row[3]);
        assert_eq!(line["unit"].as_str().unwrap_or_default(), row[4]);
        match &line["value"] {
            serde_json::Value::Null => {
                assert!(row[5].is_empty() || row[5].parse::<f64>().is_ok_and(|v| !v.is_finite()))
            }
            serde_json::Value::String(text) => assert_eq!(*text, row[5].trim_start_matches('\'')),
            value => {
                // The reader of this test may be off by the last bit.
                let (json, csv) = (value.as_f64().unwrap(), row[5].parse::<f64>().unwrap());
                assert!(
                    (json - csv).abs() <= 4.0 * f64::EPSILON * csv.abs(),
                    "{row:?}"
                );
            }
        }
    }
}

/// The profiler's own export of the same report says the same, to the digits that it prints.
#[test]
fn values_agree_with_the_profilers_export() {
    let values = |file: &str| -> BTreeMap<(String, String), String> {
        csv(&ridge(["export", file]).run().fine().stdout)
            .into_iter()
            .skip(1)
            .map(|row| ((row[1].clone(), row[3].clone()), row[5].clone()))
            .collect()
    };
    let (ours, theirs) = (values(AOS), values(AOS_CSV));
    let mut compared = 0;
    for (key, value) in &ours {
        let (Ok(ours), Some(Ok(theirs))) = (
            value.parse::<f64>(),
            theirs.get(key).map(|v| v.parse::<f64>()),
        ) else {
            continue;
        };
        let scale = ours.abs().max(theirs.abs());
        assert!(
            (ours - theirs).abs() <= 1e-4 * scale + 0.006,
            "{key:?}: {ours} and {theirs}"
        );
        compared += 1;
    }
    assert!(compared > 2000, "{compared} values were compared");
}

#[test]
fn filters_select_rows() {
    let run = ridge([
        "export",
        AOS,
        "--kernel",
        "slow",
        "--metric",
        "^(dram__bytes_read.sum|gpu__time_duration.sum)$",
        "--format",
        "json",
    ]);
    let rows: Vec<serde_json::Value> = run
        .run()
        .fine()
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    // From `ncu --import aos.ncu-rep --csv --page raw`.
    let row = |metric, unit, value: f64| json!({"file": AOS, "launch": 0, "kernel": "aos_slow(P *, int, float)", "metric": metric, "unit": unit, "value": value as u64});
    assert_eq!(
        rows,
        [
            row("dram__bytes_read.sum", "byte", 536_924_672.0),
            row("gpu__time_duration.sum", "ns", 260_736.0)
        ]
    );
    let launch = |number| {
        csv(&ridge(["export", AOS, "--launch", number])
            .run()
            .fine()
            .stdout)
        .into_iter()
        .skip(1)
        .map(|row| row[1].clone())
        .collect::<Vec<_>>()
    };
    assert!(launch("1").iter().all(|launch| launch == "1"));
    // A metric that is not there is no failure: reports differ in what they hold.
    ridge(["export", AOS, "--metric", "no_such_metric"])
        .run()
        .code(0)
        .shows("file,launch,kernel,metric,unit,value\n")
        .says("no metric of the chosen kernels matches");
}

#[test]
fn instances_follow_their_metric() {
    let run = ridge([
        "export",
        AOS,
        "--instances",
        "--metric",
        "^sass__inst_executed_per_opcode$",
        "--launch",
        "0",
    ]);
    let rows = csv(&run.run().fine().stdout);
    assert_eq!(
        rows[0],
        [
            "file", "launch", "kernel", "metric", "instance", "unit", "value"
        ]
    );
    assert_eq!(rows[1][4], "", "the value of the launch has no instance");
    let total: f64 = rows[1][6].parse().unwrap();
    let parts: f64 = rows[2..]
        .iter()
        .map(|row| row[6].parse::<f64>().unwrap())
        .sum();
    assert!(rows.len() > 5);
    assert!((total - parts).abs() < 0.5, "{parts} of {total}");
    assert!(rows[2..].iter().any(|row| row[4] == "LDG"));
}

#[test]
fn several_inputs_of_any_kind_are_one_table() {
    let run = ridge([
        "export",
        AOS_CSV,
        AOS,
        VADD,
        "--metric",
        "^gpu__time_duration.sum$",
    ])
    .run()
    .fine();
    let rows = csv(&run.stdout);
    let columns: Vec<(&str, &str, &str)> = rows[1..]
        .iter()
        .map(|row| (row[0].as_str(), row[1].as_str(), row[5].as_str()))
        .collect();
    assert_eq!(columns[0], (AOS_CSV, "0", "260736"));
    assert_eq!(columns[2], (AOS, "0", "260736"));
    assert_eq!(columns[5].0, VADD);
    assert_eq!(run.stdout.matches("file,launch").count(), 1);
}

/// A damaged list of instances keeps its beginning, and the rest of the report; what is missing is said.
#[test]
fn damaged_instances_are_said() {
    // The key of an instance: a message that holds the text `LDG`. Its tag gets a wire type that does not exist.
    let key = b"\x0a\x05\x0a\x03LDG";
    let mut bytes = report().to_vec();
    let place = bytes
        .windows(key.len())
        .position(|window| window == key)
        .unwrap();
    bytes[place + 2] = 0x0f;
    let folder = Folder::with("damaged.ncu-rep", &bytes);
    let arguments = [
        "export",
        "damaged.ncu-rep",
        "--instances",
        "--metric",
        "^sass__inst_executed_per_opcode$",
    ];
    let run = ridge(arguments).within(&folder).run().code(3);
    let run = run
        .says("damaged.ncu-rep: ")
        .says(&format!("(byte {})", place + 2));
    let rows = csv(&run.stdout);
    let opcodes = |launch: &str| -> Vec<String> {
        rows.iter()
            .filter(|row| row[1] == launch)
            .map(|row| row[4].clone())
            .collect()
    };
    assert_eq!(opcodes("0"), ["", "ULDC", "S2R"], "up to the damage");
    assert!(
        opcodes("1").contains(&"LDG".to_owned()),
        "the other launch is whole"
    );
    // The damage is in the instances; without them nothing is missing.
    ridge(["export", "damaged.ncu-rep"])
        .within(&folder)
        .run()
        .fine();
    // The diagnosis rests on them.
    ridge(["why", "damaged.ncu-rep"])
        .within(&folder)
        .run()
        .code(3)
        .shows(&format!("(byte {})", place + 2));
}

/// The committed reports store settings of the sampler twice; a table with two rows for one value counts it twice.
#[test]
fn a_metric_that_is_stored_twice_is_written_once() {
    let run = ridge(["export", VADD, AOS]).run().fine();
    let rows = csv(&run.stdout);
    let mut seen = std::collections::HashSet::new();
    for row in &rows {
        assert!(seen.insert(row[..4].to_vec()), "{row:?}");
    }
    assert!(
        rows.iter()
            .any(|row| row[3] == "profiler__pmsampler_interval_time")
    );
}

#[test]
fn another_value_under_the_same_name_is_said() {
    // One name becomes another one of the same length, so that the report stores that twice.
    let (from, to): (&[u8], &[u8]) = (
        b"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
        b"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    );
    let mut bytes = report().to_vec();
    let places: Vec<usize> = (0..bytes.len() - from.len())
        .filter(|place| bytes[*place..].starts_with(from))
        .collect();
    assert!(!places.is_empty());
    for place in places {
        bytes[place..place + to.len()].copy_from_slice(to);
    }
    let folder = Folder::with("twice.ncu-rep", &bytes);
    let run = ridge([
        "export",
        "twice.ncu-rep",
        "--launch",
        "0",
        "--metric",
        "^l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum$",
    ])
    .within(&folder)
    .run()
    .code(0)
    .says("launch 0 stores a metric twice with different values");
    let rows = csv(&run.stdout);
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1][5], "1048576", "the first, which is that of loads");
}
