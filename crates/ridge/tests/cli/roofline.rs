//! `ridge roofline`: every kind of input, every format, and what it says about points that cannot be.

use crate::driver::{AOS_CSV, Folder, Run, VADD, ridge, snapshot};
use crate::schema;

const BF16: &str = "fixtures/gallery/bf16_linear.ncu-rep.zst";
const OSCILLATOR: &str = "fixtures/gallery/oscillator.ncu-rep.zst";
const INT8: &str = "fixtures/gallery/int8_dot.ncu-rep.zst";

fn roofline(arguments: &[&str]) -> Run {
    ridge(["roofline"].iter().chain(arguments))
        .env("COLUMNS", "100")
        .run()
}

fn page(arguments: &[&str]) -> String {
    let page = roofline(arguments).fine().stdout;
    for line in page.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    page
}

#[test]
fn pages() {
    snapshot("roofline_report", &page(&[BF16, OSCILLATOR]));
    snapshot("roofline_level", &page(&[OSCILLATOR, "--level", "l1"]));
    // Copies and integers have no point, and one of these only seems to have one.
    snapshot("roofline_beside", &page(&[INT8, "-v"]));
    let (before, after) = (
        format!("{BF16}#bf16_linear_slow"),
        format!("{BF16}#bf16_linear_fixed"),
    );
    snapshot(
        "roofline_before_after",
        &page(&["--before", &before, "--after", &after]),
    );
    let text = ridge(["roofline", BF16])
        .env("COLUMNS", "60")
        .env("LANG", "C")
        .run()
        .fine()
        .stdout;
    assert!(text.is_ascii(), "{text}");
    snapshot("roofline_ascii_60", &text);
}

/// One kernel, one run, one SM clock: every verb names the same, which the profiler calls "SM Frequency".
#[test]
fn the_clock_is_that_of_the_diagnosis() {
    for file in [BF16, OSCILLATOR, INT8, VADD] {
        let run = |verb: &str| {
            let run = ridge([verb, file, "--format", "json", "--quiet"]).run();
            run.fine().json()
        };
        let diagnosis = run("why")["sources"][0]["collection"]["sm_clock_hz"].clone();
        assert!(diagnosis[0].as_f64() > Some(1e9), "{diagnosis}");
        assert_eq!(
            run("roofline")["charts"][0]["device"]["sm_clock_hz"],
            diagnosis
        );
    }
}

/// The example of `ridge explain roofline`, and points that cannot be.
#[test]
fn points_of_ones_own() {
    snapshot(
        "roofline_points",
        &page(&[
            "--device",
            "h200",
            "--clock",
            "1.7GHz",
            "--point",
            "gemm<float, 4>,137GFLOP,805MB,215us,bf16",
            "--point",
            "cached,1GFLOP,1GB,100us",
            "--point",
            "textbook,100GFLOP,1GB,1ms",
            "--point",
            "dp4a,100G,1GB,1ms,int8",
            "--point",
            "copy,0,1GB,250us",
        ]),
    );
}

#[test]
fn the_picture() {
    let (before, after) = (
        format!("{BF16}#bf16_linear_slow"),
        format!("{BF16}#bf16_linear_fixed"),
    );
    let svg = roofline(&[
        "--before",
        &before,
        "--after",
        &after,
        "--point",
        "cached,1GFLOP,1GB,100us",
        "--format",
        "svg",
        "--width",
        "720",
    ])
    .fine()
    .stdout;
    // The arrow, the hollow dot before it, and the ring around what cannot be.
    for part in [
        "\"arrow\"",
        "\"head\"",
        "\"dot before compute\"",
        "\"flag\"",
        "2.08x of its DRAM roof",
    ] {
        assert!(svg.contains(part), "{part}");
    }
    snapshot("roofline_picture", &svg);
}

#[test]
fn every_format_has_the_same_points() {
    let json = roofline(&[BF16, OSCILLATOR, INT8, "--format", "json"])
        .code(0)
        .json();
    let found = schema::violations(&schema::named("roofline"), &json);
    assert!(found.is_empty(), "{found:?}");
    let csv = roofline(&[BF16, OSCILLATOR, INT8, "--format", "csv"])
        .fine()
        .stdout;
    let mut rows = 0;
    for kernel in json["charts"][0]["kernels"].as_array().unwrap() {
        let points = kernel["points"].as_array().unwrap();
        for point in points {
            for place in point["placements"].as_array().unwrap() {
                let (rate, intensity) = (
                    point["ops_per_s"].as_f64().unwrap().to_string(),
                    place["intensity"].as_f64().unwrap().to_string(),
                );
                let is_there = csv.lines().any(|row| {
                    let mut cells = row.split(',');
                    cells.any(|cell| cell == rate) && cells.any(|cell| cell == intensity)
                });
                assert!(is_there, "{rate} {intensity}\n{csv}");
                rows += 1;
            }
        }
        rows += usize::from(points.is_empty());
    }
    assert_eq!(csv.lines().count(), rows + 1);
    let svg = roofline(&[BF16, OSCILLATOR, INT8, "--format", "svg"])
        .fine()
        .stdout;
    let mains = json["charts"][0]["kernels"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|kernel| kernel["left_out"].is_null())
        .count();
    let dots = svg
        .lines()
        .filter(|line| line.starts_with("<path class=\"dot ") && line.contains("/byte"));
    assert_eq!(dots.count(), mains);
    // A page for the browser carries the document as it is.
    let html = roofline(&[BF16, OSCILLATOR, INT8, "--format", "html"])
        .fine()
        .stdout;
    let start = html.find("id=\"data\">").unwrap() + "id=\"data\">".len();
    let data = &html[start..];
    let data: serde_json::Value =
        serde_json::from_str(&data[..data.find("</script>").unwrap()]).unwrap();
    assert_eq!(data, json);
}

#[test]
fn the_extension_of_the_output_tells_the_format() {
    let folder = Folder::new();
    for (name, start) in [
        ("r.svg", "<svg"),
        ("r.html", "<!doctype html>"),
        ("r.json", "{"),
        ("r.csv", "device,"),
        ("r.txt", "Roofline"),
    ] {
        ridge([
            "roofline",
            "--device",
            "t4",
            "--point",
            "k,1G,1MB,1ms",
            "-o",
            name,
        ])
        .within(&folder)
        .run()
        .fine()
        .shows_nothing();
        assert!(folder.read(name).starts_with(start), "{name}");
    }
    roofline(&[BF16, "-o", "r.pdf"])
        .code(2)
        .says("names no format");
}

/// Two devices make two charts, each with its own roofs and shares of time.
#[test]
fn several_devices_are_several_charts() {
    let run = roofline(&[
        BF16,
        "--device",
        "a100 40 sxm4",
        "--point",
        "k,1G,1MB,1ms",
        "--format",
        "json",
    ])
    .fine();
    let charts = run.json()["charts"].clone();
    let names: Vec<&str> = charts
        .as_array()
        .unwrap()
        .iter()
        .map(|chart| chart["device"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["NVIDIA H200", "A100 40 SXM4"]);
    assert_eq!(charts[1]["kernels"][0]["time_share"], 1.0);
    // Without a device, points join the only chart.
    let run = roofline(&[BF16, "--point", "k,1G,1MB,1ms", "--format", "json"]).fine();
    assert_eq!(run.json()["charts"].as_array().unwrap().len(), 1);
}

#[test]
fn a_device_of_no_table_has_the_roofs_of_its_report() {
    let folder = Folder::with("empty.csv", "not a table");
    ridge([
        "roofline",
        "--device",
        "h200",
        "--devices",
        "empty.csv",
        "--point",
        "k,1G,1MB,1ms",
    ])
    .within(&folder)
    .run()
    .code(3)
    .says("cannot read the table");
    // A CSV export of the details page does not name the device.
    let run = roofline(&[AOS_CSV, "--format", "json"]).code(0);
    let chart = run.json()["charts"][0].clone();
    assert!(
        chart["memory_roofs"]
            .as_array()
            .is_some_and(|roofs| !roofs.is_empty())
    );
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let mut transcript = String::new();
    for (arguments, code) in [
        (&[][..], 2),
        (&["--point", "k,1G,1MB,1ms"], 2),
        (&["--device", "h300", "--point", "k,1G,1MB,1ms"], 2),
        (&["--device", "h200", "--point", "k,1G,1MB"], 2),
        (&["--device", "h200", "--point", "k,1G,1MB,5"], 2),
        (&["--device", "h200", "--point", "k,1G,1MB,5us,fp17"], 2),
        (&["--device", "h200", "--point", "k,1G,1MB,5us,fp16:gpu"], 2),
        (&["--before", BF16], 2),
        (&["--clock", "1GHz", BF16], 2),
        (&[BF16, "--kernel", "nothing"], 2),
        (&["missing.ncu-rep"], 3),
        (&["README.md"], 3),
        (&[BF16, "--width", "10"], 2),
    ] {
        let run = roofline(arguments).code(code).shows_nothing();
        transcript.push_str(&run.transcript());
        transcript.push('\n');
    }
    snapshot("roofline_refused", &transcript);
}

/// What is whole is drawn, and the code says that something is not.
#[test]
fn one_bad_input_of_two_leaves_the_other() {
    roofline(&["missing.ncu-rep", OSCILLATOR])
        .code(3)
        .says("missing.ncu-rep")
        .shows("oscillator_slow");
}

#[test]
fn kernels_without_a_partner_are_said() {
    roofline(&["--before", OSCILLATOR, "--after", VADD, "--format", "json"])
        .code(0)
        .says("FILE#NAME on both sides");
}

#[test]
fn reports_with_few_counters_stand_beside_the_chart() {
    for file in ["basic", "sol", "twometrics", "range", "graph"] {
        let file = format!("fixtures/reports/small/{file}.ncu-rep.zst");
        let run = roofline(&[&file, "--format", "json"]).code(0);
        let json = run.json();
        for kernel in json["charts"][0]["kernels"].as_array().unwrap() {
            let has_points = !kernel["points"].as_array().unwrap().is_empty();
            assert_ne!(has_points, kernel["left_out"].is_string(), "{file}");
        }
    }
}

/// Names come from inputs: no format lets them through as they are.
#[test]
fn hostile_names_are_escaped() {
    let name = "</script><script>alert(1)</script>\u{1b}[2J\u{202e}\u{2028}=1";
    let point = format!("{name},1GFLOP,1GB,1ms");
    for format in ["text", "svg", "html", "csv", "json"] {
        let page = roofline(&["--device", "h200", "--point", &point, "--format", format])
            .code(0)
            .stdout;
        assert!(!page.contains('\u{1b}'), "{format}");
        if format != "json" {
            assert!(
                !page.contains("</script><script>alert") || format == "csv" || format == "text",
                "{format}"
            );
            assert!(!page.contains('\u{2028}'), "{format}");
        }
        if format == "html" {
            // The data, the script, and the end of each.
            assert_eq!(page.matches("<script").count(), 2);
            assert_eq!(page.matches("</script>").count(), 2);
            assert!(!page.contains("src=") && !page.contains("<link"));
        }
    }
}

/// Two thousand points make files that a browser and a mail take.
#[test]
fn two_thousand_points_stay_small() {
    let points: Vec<String> = (0..2000_u32)
        .map(|index| {
            format!(
                "kernel_{index},{}MFLOP,{}kB,{}us",
                10 + index,
                900 + index % 97,
                5 + index % 31
            )
        })
        .collect();
    let mut arguments = vec!["--device", "h200"];
    for point in &points {
        arguments.extend(["--point", point]);
    }
    for (format, most) in [("svg", 1_500_000), ("html", 4_500_000), ("text", 10_000)] {
        let mut arguments = arguments.clone();
        arguments.extend(["--format", format]);
        let size = roofline(&arguments).fine().stdout.len();
        assert!(size < most, "{format}: {size} bytes");
    }
    arguments.extend(["--format", "csv"]);
    assert_eq!(roofline(&arguments).fine().stdout.lines().count(), 2001);
}

/// A point has a roof over it, as `ridge bound` needs one.
#[test]
fn a_point_without_a_roof_is_a_mistake() {
    for (device, precision, told) in [
        ("t4", "bf16", "no BF16 peak is known for T4"),
        ("h200", "fp4", "no FP4 peak is known for H200 SXM"),
        (
            "h200",
            "bf16:vector",
            "no BF16 vector peak is known for H200 SXM",
        ),
        (
            "v100-sxm2",
            "fp16:mma.sync",
            "no FP16 mma.sync peak is known",
        ),
    ] {
        let point = format!("x,1G,1GB,1ms,{precision}");
        for format in ["text", "json", "csv", "svg", "html"] {
            roofline(&["--device", device, "--point", &point, "--format", format])
                .code(2)
                .shows_nothing()
                .says(told)
                .says("it has ");
        }
        // A copy needs no roof for operations.
        let copy = format!("x,0,1GB,1ms,{precision}");
        roofline(&["--device", device, "--point", &copy]).fine();
    }
    // Without a clock in the table nothing can be scaled to one.
    roofline(&[
        "--device",
        "b300",
        "--clock",
        "1GHz",
        "--point",
        "x,1G,1GB,1ms,bf16",
    ])
    .code(2)
    .says("no SM clock is known")
    .says("--devices FILE");
}

/// A clock that cannot be is drawn, and told.
#[test]
fn doubtful_clocks_are_told() {
    for (clock, told) in [
        ("99GHz", Some("above the highest")),
        ("2MHz", Some("implausibly low")),
        ("1.7GHz", None),
    ] {
        let words = [
            "--device",
            "h200",
            "--clock",
            clock,
            "--point",
            "x,1T,1GB,1ms,bf16",
        ];
        let page = roofline(&words).code(0);
        let document = roofline(&[words.as_slice(), &["--format", "json"]].concat()).code(0);
        let warnings = document.json()["warnings"].as_array().unwrap().clone();
        assert_eq!(warnings.len(), usize::from(told.is_some()), "{warnings:?}");
        if let Some(told) = told {
            page.shows(told);
            assert_eq!(warnings[0]["code"], "doubtful-clock");
            document.says(told);
        }
    }
}

/// One point more than a page has rows is one point.
#[test]
fn one_more_point_is_one() {
    for (count, told) in [(21, "and 1 more point; -v"), (22, "and 2 more points; -v")] {
        let points: Vec<String> = (0..count).map(|n| format!("k{n},1G,1GB,1ms")).collect();
        let mut words = vec!["--device", "h200"];
        for point in &points {
            words.extend(["--point", point]);
        }
        roofline(&words).fine().shows(told);
    }
}

/// A kernel with everything, one without operations, one without bytes, one with neither, and one whose outputs are
/// wrong, because the model is not told what it computes.
const SPEC: &str = r#"
name = "kinds"
source = "kinds.cu"

[sizes]
n = 67108864

[buffers]
in = { type = "f32", length = "n", init = "random" }
out = { type = "f32", length = "n" }

[kernels.whole]
entry = "whole"
grid = "n / 1024"
block = 256
args = ["in", "out"]
bytes = "8 * n"
flops = "16 * n"

[kernels.copy]
entry = "copy"
grid = "n / 1024"
block = 256
args = ["in", "out"]
bytes = "8 * n"

[kernels.busy]
entry = "busy"
grid = "n / 1024"
block = 256
args = ["in", "out"]
flops = "16 * n"

[kernels.silent]
entry = "silent"
grid = "n / 1024"
block = 256
args = ["in", "out"]
"#;

fn kinds(folder: &Folder) {
    let kernel = |name: &str| {
        format!("extern \"C\" __global__ void {name}(const float* in, float* out) {{ }}\n")
    };
    folder.write("kinds.toml", SPEC);
    let source: String = ["whole", "copy", "busy", "silent"].map(kernel).concat();
    folder.write("kinds.cu", source);
}

fn measure(folder: &Folder, arguments: &[&str]) {
    let common = [
        "bench",
        "--device",
        "sim:h200",
        "--min-samples",
        "6",
        "--max-samples",
        "12",
    ];
    ridge(common.iter().chain(arguments))
        .within(folder)
        .run()
        .fine();
}

#[test]
fn what_was_measured_is_drawn() {
    let folder = Folder::new();
    kinds(&folder);
    measure(&folder, &["kinds.toml", "-o", "kinds.json"]);
    let run = |arguments: &[&str]| {
        ridge(["roofline", "kinds.json"].iter().chain(arguments))
            .within(&folder)
            .env("COLUMNS", "100")
            .run()
    };
    snapshot("roofline_bench", &run(&[]).fine().stdout);
    let json = run(&["--format", "json"]).code(0).json();
    let found = schema::violations(&schema::named("roofline"), &json);
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(json["sources"][0]["kind"], "bench");
    let kernels = json["charts"][0]["kernels"].as_array().unwrap();
    let of = |name: &str| {
        kernels
            .iter()
            .find(|kernel| kernel["name"] == name)
            .unwrap()
    };
    for (name, reason) in [
        ("whole", None),
        ("copy", Some("operations-not-declared")),
        ("busy", Some("bytes-not-declared")),
        ("silent", Some("nothing-declared")),
    ] {
        assert_eq!(of(name)["left_out"].as_str(), reason, "{name}");
        assert_eq!(of(name)["origin"], "declared");
        assert!(of(name)["sm_clock_hz"].as_f64() > Some(1e9));
    }
    // 16 operations for 8 bytes, over the median that the document tells.
    let document: serde_json::Value = serde_json::from_str(&folder.read("kinds.json")).unwrap();
    let median = document["states"][0]["modes"][0]["median_ns"]
        .as_f64()
        .unwrap();
    let point = &of("whole")["points"][0];
    assert_eq!(of("whole")["time_ns"].as_f64(), Some(median));
    let rate = 16.0 * 67_108_864.0 / (median * 1e-9);
    assert!((point["ops_per_s"].as_f64().unwrap() / rate - 1.0).abs() < 1e-9);
    assert_eq!(point["placements"][0]["intensity"].as_f64(), Some(2.0));
    assert_eq!(point["roof"]["basis"], "run");
    // Every format says that nobody counted.
    let csv = run(&["--format", "csv"]).code(0).stdout;
    assert!(csv.lines().next().unwrap().ends_with(",amounts"));
    assert!(
        csv.lines().skip(1).all(|line| line.ends_with(",declared")),
        "{csv}"
    );
    for format in ["svg", "html"] {
        let page = run(&["--format", format]).code(0).stdout;
        assert!(page.contains("specs declare, not counted"), "{format}");
        assert!(page.contains("add bytes and flops"), "{format}");
    }
    // Packed, on standard input, and beside a report.
    let packed = zstd::encode_all(folder.read("kinds.json").as_bytes(), 3).unwrap();
    let both = ridge(["roofline", "-", BF16, "--format", "json"])
        .stdin(&packed)
        .run()
        .code(0)
        .json();
    let names: Vec<&str> = both["charts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|chart| chart["device"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["simulated H200 SXM", "NVIDIA H200"]);
    let one = run(&["-k", "^busy", "--format", "json"]).code(0).json();
    assert_eq!(one["charts"][0]["kernels"].as_array().unwrap().len(), 1);
}

/// Hot data that fits into the L2 has its place there, a host's time has none, and two runs are joined state by state.
#[test]
fn modes_and_changes_of_a_benchmark() {
    let folder = Folder::new();
    kinds(&folder);
    let modes = [
        "--filter",
        "whole",
        "--axis",
        "n=1048576",
        "--mode",
        "cold,hot,latency",
    ];
    measure(
        &folder,
        &[["kinds.toml", "-o", "a.json"].as_slice(), &modes].concat(),
    );
    measure(
        &folder,
        &[["kinds.toml", "-o", "b.json"].as_slice(), &modes].concat(),
    );
    let json = ridge([
        "roofline", "--before", "a.json", "--after", "b.json", "--format", "json",
    ])
    .within(&folder)
    .run()
    .code(0)
    .json();
    let chart = &json["charts"][0];
    assert_eq!(chart["pairs"].as_array().unwrap().len(), 3);
    let kernels = chart["kernels"].as_array().unwrap();
    for pair in chart["pairs"].as_array().unwrap() {
        let name = |side: &str| {
            let id = pair[side].as_u64().unwrap() as usize;
            kernels[id]["name"].clone()
        };
        assert_eq!(name("before"), name("after"));
    }
    let levels: Vec<_> = kernels[..3]
        .iter()
        .map(|kernel| {
            let place = &kernel["points"][0]["placements"][0]["level"];
            (place.as_str(), kernel["left_out"].as_str())
        })
        .collect();
    assert_eq!(
        levels,
        [
            (Some("dram"), None),
            (Some("l2"), None),
            (None, Some("host-time"))
        ]
    );
}

/// Documents that were changed by somebody: what does not count is left out, and what is damaged is told.
#[test]
fn documents_that_do_not_count() {
    let stored = fixture("fixtures/formats/bench-1/copy.json");
    let mut document: serde_json::Value = serde_json::from_str(&stored).unwrap();
    let run = |text: &str| {
        ridge(["roofline", "-", "--format", "json"])
            .stdin(text.as_bytes())
            .run()
    };
    let reason = |document: &serde_json::Value| {
        let json = run(&document.to_string()).code(0).json();
        let kernel = &json["charts"][0]["kernels"][0];
        let codes: Vec<String> = json["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|warning| warning["code"].as_str().unwrap().to_owned())
            .collect();
        (
            kernel["left_out"].clone(),
            kernel["time_ns"].clone(),
            codes.join(" "),
        )
    };
    let state = document["states"][0].as_object_mut().unwrap();
    state.insert("flops".to_owned(), 1e9.into());
    state.insert("flops_format".to_owned(), "fp32".into());
    let (left_out, time, _) = reason(&document);
    assert!(left_out.is_null() && time.is_number());
    for (key, value, expected) in [
        ("bytes", serde_json::json!(-5.0), "not-valid"),
        ("flops", serde_json::json!(1e300), "not-valid"),
        ("status", serde_json::json!("differs"), "wrong-outputs"),
        ("modes", serde_json::json!([]), "did-not-run"),
    ] {
        let mut changed = document.clone();
        changed["states"][0][key] = value;
        assert_eq!(reason(&changed).0, expected, "{key}");
    }
    let mut invalid = document.clone();
    invalid["states"][0]["modes"][0]["invalid"] =
        serde_json::json!([{ "id": "clock-not-held", "text": "\u{1b}[2J", "hint": null }]);
    invalid["is_complete"] = false.into();
    let (left_out, time, codes) = reason(&invalid);
    assert_eq!(left_out, "not-valid");
    assert!(time.is_null());
    assert_eq!(codes, "simulated incomplete amounts-not-declared not-valid");

    run(&stored[..stored.len() / 2])
        .code(3)
        .says("is damaged")
        .says("BEN0030");
    run(&stored.replacen("\"version\": 1", "\"version\": 9", 1))
        .code(3)
        .says("BEN0032");
    let why = ridge(["why", "fixtures/formats/bench-1/copy.json"])
        .run()
        .code(3);
    why.says("holds no counters")
        .says("ridge roofline fixtures");
}

/// A file of the repository.
fn fixture(name: &str) -> String {
    std::fs::read_to_string(crate::driver::root().join(name)).unwrap()
}
