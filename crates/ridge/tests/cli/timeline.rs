//! `ridge timeline`: every kind of input, every format, and what it says where a trace holds little.

use std::io::Write;

use serde_json::Value;

use crate::driver::{Folder, Run, VADD, ridge, root, snapshot};
use crate::schema;

const KINETO: &str = "fixtures/traces/pytorch_kineto.json.gz";

fn timeline(arguments: &[&str]) -> Run {
    ridge(["timeline"].iter().chain(arguments))
        .env("COLUMNS", "100")
        .run()
}

fn unpacked() -> Vec<u8> {
    let packed = std::fs::read(root().join(KINETO)).unwrap();
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&packed[..]), &mut bytes).unwrap();
    bytes
}

/// A trace of two kernels, with what a test puts between them.
fn small(events: &str) -> String {
    format!(
        r#"{{"traceEvents":[
        {{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":5,"tid":5,"ts":0,"dur":4,"args":{{"correlation":1}}}},
        {{"ph":"X","cat":"kernel","name":"first","pid":0,"tid":7,"ts":10,"dur":90,"args":{{"correlation":1,"device":0,"stream":7}}}},
        {events}
        {{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":5,"tid":5,"ts":140,"dur":4,"args":{{"correlation":2}}}},
        {{"ph":"X","cat":"kernel","name":"second","pid":0,"tid":7,"ts":150,"dur":50,"args":{{"correlation":2,"device":0,"stream":7}}}}
        ]}}"#
    )
}

fn file(folder: &Folder, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn pages() {
    let page = timeline(&[KINETO]).fine().stdout;
    for line in page.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    snapshot("timeline_100", &page);
    snapshot("timeline_verbose", &timeline(&[KINETO, "-v"]).fine().stdout);
    let narrow = ridge(["timeline", KINETO])
        .env("COLUMNS", "80")
        .env("LANG", "C")
        .run()
        .fine()
        .stdout;
    assert!(narrow.is_ascii(), "{narrow}");
    snapshot("timeline_ascii_80", &narrow);
}

/// The verdict that this trace must give.
#[test]
fn the_verdict_names_the_copies() {
    let page = timeline(&[KINETO]).fine().stdout;
    let verdict =
        "87 % of the span of 168 ms is 6 pageable copies; all copies 89 %, kernels 7 %, idle 4 %";
    assert!(page.contains(verdict), "{page}");
}

#[test]
fn json_follows_its_schema() {
    let folder = Folder::new();
    let small = file(&folder, "small.json", small(""));
    let document = timeline(&[KINETO, &small, "--format", "json"])
        .fine()
        .json();
    assert_eq!(
        schema::violations(&schema::named("timeline"), &document),
        Vec::<String>::new()
    );
    assert_eq!(document["traces"].as_array().unwrap().len(), 2);
    let device = &document["traces"][0]["devices"][0];
    // The link is that of the table: nothing was measured here.
    let link = &device["transfers"][0]["link"];
    assert_eq!(link["bytes_per_s"], 63.02e9);
    assert_eq!(link["origin"], "derived");
    assert_eq!(
        document["traces"][0]["findings"][0]["id"],
        "pageable-transfer"
    );
}

/// The same figures in every format.
#[test]
fn formats_agree() {
    let folder = Folder::new();
    let document = timeline(&[KINETO, "--format", "json"]).fine().json();
    let kernels = document["traces"][0]["devices"][0]["kernels"]
        .as_array()
        .unwrap()
        .clone();
    let csv = timeline(&[KINETO, "--format", "csv"]).fine().stdout;
    assert_eq!(csv.lines().count(), kernels.len() + 1);
    assert!(
        csv.lines().nth(1).unwrap().contains(
            &kernels[0]["durations"]["sum_ns"]
                .as_f64()
                .unwrap()
                .to_string()
        )
    );
    let verdict = document["traces"][0]["verdict"]["title"].as_str().unwrap();
    for name in ["page.html", "picture.svg", "page.txt"] {
        let path = folder.path().join(name);
        timeline(&[KINETO, "-o", path.to_str().unwrap()]).fine();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.replace('\n', " ").contains(verdict), "{name}");
    }
    snapshot(
        "timeline_svg",
        &timeline(&[KINETO, "--format", "svg"]).fine().stdout,
    );
}

#[test]
fn standard_input_and_packings() {
    let bytes = unpacked();
    let plain = ridge(["timeline", "-", "--format", "json"])
        .stdin(&bytes)
        .run()
        .fine()
        .json();
    let packed = zstd::encode_all(&bytes[..], 1).unwrap();
    let zstd = ridge(["timeline", "-", "--format", "json"])
        .stdin(&packed)
        .run()
        .fine()
        .json();
    assert_eq!(plain, zstd);
    assert_eq!(plain["traces"][0]["file"], "-");
    let twice = ridge(["timeline", "-", "-"]).stdin(&bytes).run();
    assert_eq!(twice.code, Some(2));
}

/// A file that was cut off gives what was read of it, says so, and ends with 3.
#[test]
fn cut_files() {
    let bytes = unpacked();
    let run = ridge(["timeline", "-"])
        .stdin(&bytes[..bytes.len() / 2])
        .run();
    assert_eq!(run.code, Some(3));
    assert!(run.stdout.contains("pageable copies"), "{}", run.stdout);
    assert!(
        run.stdout.contains("not all of it could be read: event"),
        "{}",
        run.stdout
    );
    let packed = std::fs::read(root().join(KINETO)).unwrap();
    let run = ridge(["timeline", "-", "--format", "json"])
        .stdin(&packed[..packed.len() / 2])
        .run();
    assert_eq!(run.code, Some(3));
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    let codes: Vec<&str> = document["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|warning| warning["code"].as_str())
        .collect();
    assert!(
        codes.contains(&"TRC0100") && codes.contains(&"TRC0101"),
        "{codes:?}"
    );
    assert!(
        !document["traces"][0]["devices"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn inputs_that_are_no_traces() {
    let folder = Folder::new();
    for (name, content, hint) in [
        ("empty", &b""[..], "torch.profiler"),
        ("text", b"hello", "torch.profiler"),
        ("other.json", b"{\"a\": 1}", "torch.profiler"),
        ("db.sqlite", b"SQLite format 3\0", "nsys export"),
        ("report.nsys-rep", b"\x01\x02", "nsys export --type sqlite"),
    ] {
        let run = timeline(&[&file(&folder, name, content)]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(3), ""), "{name}");
        assert!(run.stderr.contains(hint), "{name}: {}", run.stderr);
    }
    let run = timeline(&[VADD]);
    assert_eq!(run.code, Some(3));
    assert!(run.stderr.contains("ridge why"), "{}", run.stderr);
    let run = timeline(&["none.json"]);
    assert_eq!(run.code, Some(3));
    // One that can be read still gets its answer.
    let run = timeline(&["none.json", KINETO]);
    assert_eq!(run.code, Some(3));
    assert!(run.stdout.contains("pageable copies"), "{}", run.stdout);
    assert_eq!(timeline(&[KINETO, "-o", "page.pdf"]).code, Some(2));
    assert_eq!(timeline(&[]).code, Some(2));
}

#[test]
fn a_trace_without_gpu_events_is_no_error() {
    let trace = r#"{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":1,"dur":1}]}"#;
    let run = ridge(["timeline", "-"]).stdin(trace.as_bytes()).run();
    assert!(run.fine().stdout.contains("no GPU events"));
    for format in ["json", "csv", "svg", "html"] {
        ridge(["timeline", "-", "--format", format])
            .stdin(trace.as_bytes())
            .run()
            .fine();
    }
}

/// Names are text, whatever they hold.
#[test]
fn hostile_names() {
    let name = "<script>alert(1)</script>\u{1b}]0;x\u{7}=cmd()";
    let trace = small("").replace("\"first\"", &serde_json::to_string(name).unwrap());
    for format in ["text", "csv", "svg", "html"] {
        let out = ridge(["timeline", "-", "--format", format])
            .stdin(trace.as_bytes())
            .run()
            .fine()
            .stdout;
        assert!(!out.contains('\u{1b}'), "{format}");
        assert!(
            !out.contains("<script>alert") || format == "text" || format == "csv",
            "{format}"
        );
    }
}

/// What the trace does not hold is said.
#[test]
fn what_is_missing_is_said() {
    let event = r#"{"ph":"X","cat":"strange","name":"x","pid":1,"tid":1,"ts":1,"dur":1},
        {"ph":"X","cat":"kernel","name":"lost","pid":0,"tid":7,"ts":110,"dur":5,"args":{"correlation":77,"device":0,"stream":7}},"#;
    let out = ridge(["timeline", "-"])
        .stdin(small(event).as_bytes())
        .run()
        .fine()
        .stdout;
    assert!(
        out.contains("1 of 3 pieces of work have no call in the trace"),
        "{out}"
    );
    assert!(out.contains("strange (1)"), "{out}");
}

/// A database is read where it lies, and packed ones from memory.
#[test]
fn databases() {
    let folder = Folder::new();
    let path = folder.path().join("report.sqlite");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
             INSERT INTO StringIds VALUES (1,'triad'),(2,'cudaLaunchKernel_v7000');
             CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER);
             INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (2000,90000,0,7,1,16777216,1),(95000,190000,0,7,2,16777216,1);
             CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
             INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0,1000,16777217,1,2),(1500,1900,16777217,2,2);",
        )
        .unwrap();
    drop(connection);
    let document = timeline(&[path.to_str().unwrap(), "--format", "json"])
        .fine()
        .json();
    let trace = &document["traces"][0];
    assert_eq!(
        (&trace["kind"], &trace["completeness"]["unmatched"]),
        (&"nsys-sqlite".into(), &0.into())
    );
    assert_eq!(
        trace["devices"][0]["gaps"]["classes"][0]["class"],
        "dependency"
    );
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&std::fs::read(&path).unwrap()).unwrap();
    let again = ridge(["timeline", "-", "--format", "json"])
        .stdin(&packed.finish().unwrap())
        .run()
        .fine()
        .json();
    assert_eq!(again["traces"][0]["devices"], trace["devices"]);
    // Cut in the middle: whatever is left, the command says what is wrong.
    let bytes = std::fs::read(&path).unwrap();
    let run = timeline(&[&file(&folder, "cut.sqlite", &bytes[..bytes.len() / 2])]);
    assert_eq!(run.code, Some(3), "{}{}", run.stdout, run.stderr);
}

/// Every finding has its page, also those that kernels have too.
#[test]
fn findings_are_explained() {
    for id in [
        "launch-bound",
        "transfer-bound",
        "pageable-transfer",
        "serialised-transfer",
        "unexpected-sync",
        "idle-gap",
        "unfused-kernels",
    ] {
        let page = ridge(["explain", id]).run().fine().stdout;
        assert!(page.contains("When it is wrong"), "{id}");
    }
    for term in ["gaps", "timeline", "exposed copy", "pinned memory"] {
        assert!(
            ridge(["explain", term])
                .run()
                .fine()
                .stdout
                .contains("example"),
            "{term}"
        );
    }
}

/// The same file twice is no second trace, by whatever path it is named.
#[test]
fn a_file_that_is_named_twice_is_shown_once() {
    let file = "fixtures/traces/pytorch_kineto.json.gz";
    let other = "fixtures/../fixtures/traces/pytorch_kineto.json.gz";
    let run = ridge(["timeline", file, other, "--format", "json"])
        .run()
        .code(0)
        .says("is named more than once and is shown once");
    let document = run.json();
    assert_eq!(document["traces"].as_array().unwrap().len(), 1);
    assert!(document["ranks"].is_null());
}
