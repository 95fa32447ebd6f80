//! `ridge bench` on a simulated GPU: pages, documents, faults, mistakes, interrupts.

use std::fmt::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::driver::{Folder, Run, ridge, snapshot};
use crate::schema::{named, violations};

/// A spec that is small enough for a test.
const COPY: &str = r#"
name = "copy"
source = "copy.cu"
bytes = "2 * n * 4"

[axes]
n = [1048576]

[buffers]
in = { type = "f32", length = "n", init = "random", seed = 1 }
out = { type = "f32", length = "n" }

[scalars]
n = { type = "i32" }

[kernels.plain]
entry = "copy_plain"
grid = "ceil_div(n, 256)"
block = 256
args = ["in", "out", "n"]

[kernels.vector]
entry = "copy_vector"
grid = "ceil_div(n, 1024)"
block = 256
args = ["in", "out", "n"]

[check]
expression = { out = "in[i]" }
relative = 0.0
"#;

const SOURCE: &str = "extern \"C\" __global__ void copy_plain(const float* in, float* out, int n) { }\n\
                      extern \"C\" __global__ void copy_vector(const float* in, float* out, int n) { }\n";

fn folder() -> Folder {
    let folder = Folder::with("copy.toml", COPY);
    folder.write("copy.cu", SOURCE);
    folder
}

fn bench(folder: &Folder, arguments: &[&str]) -> Run {
    ridge(["bench"].iter().chain(arguments))
        .within(folder)
        .run()
}

/// The same without what takes a page: samples.
fn without_samples(document: &mut Value) {
    for state in document["states"].as_array_mut().unwrap() {
        for mode in state["modes"].as_array_mut().unwrap() {
            let samples = mode["samples"].as_u64().unwrap() + mode["rejected"].as_u64().unwrap();
            for list in ["times_ns", "host_ns", "clocks_hz", "rejected"] {
                assert_eq!(mode["raw"][list].as_array().unwrap().len() as u64, samples);
            }
            mode["raw"] = Value::from(format!("{samples} samples"));
        }
    }
}

#[test]
fn the_example_compares_kernels_on_a_simulated_gpu() {
    let arguments = [
        "bench",
        "examples/transpose.toml",
        "--device",
        "sim:h200",
        "--axis",
        "n=2048",
        "--axis",
        "rows=8",
    ];
    for (name, columns) in [("bench_transpose_80", "80"), ("bench_transpose_120", "120")] {
        let run = ridge(arguments).env("COLUMNS", columns).run().fine();
        snapshot(name, &run.stdout);
        let columns: usize = columns.parse().unwrap();
        assert!(
            run.stdout
                .lines()
                .all(|line| line.chars().count() <= columns),
            "{}",
            run.stdout
        );
    }
    let mut document = ridge(arguments.into_iter().chain(["--format", "json"]))
        .run()
        .fine()
        .json();
    let found = violations(&named("bench"), &document);
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert_eq!(document["best"][0]["others"].as_array().unwrap().len(), 5);
    without_samples(&mut document);
    let states = document["states"].as_array_mut().unwrap();
    states.truncate(1);
    snapshot(
        "bench_transpose_json",
        &serde_json::to_string_pretty(&document).unwrap(),
    );
}

#[test]
fn every_example_runs() {
    for (example, axes) in [
        ("copy", &["n=2^20:20"][..]),
        ("reduction", &["rows=256", "columns=1024"]),
        ("gemm", &["n=256"]),
        ("transpose", &["n=512", "rows=8"]),
    ] {
        let spec = format!("examples/{example}.toml");
        let axes = axes.iter().flat_map(|axis| ["--axis", axis]);
        let run = ridge(
            ["bench", &spec, "--device", "sim:h200", "--format", "json"]
                .into_iter()
                .chain(axes),
        )
        .run();
        let run = run.code(0);
        for state in run.json()["states"].as_array().unwrap() {
            assert_eq!(state["status"], "valid", "{example}: {}", state["name"]);
        }
    }
}

/// Cases of the gallery are specs: with one kernel, with several launches, with repeats.
#[test]
fn cases_of_the_gallery_run() {
    for case in ["tile_gemm", "elementwise_chain", "relax_sweeps", "triad"] {
        let spec = format!("gallery/{case}/bench.toml");
        let run = ridge([
            "bench",
            &spec,
            "--device",
            "sim:h200",
            "--format",
            "csv",
            "--max-samples",
            "30",
        ])
        .run();
        assert!(run.stdout.lines().count() >= 2, "{}", run.transcript());
        assert!(!run.stdout.contains("GPU0"), "{}", run.transcript());
    }
}

#[test]
fn modes_are_explained() {
    let folder = folder();
    let run = bench(
        &folder,
        &[
            "copy.toml",
            "--device",
            "sim:h200",
            "--mode",
            "all",
            "--filter",
            "plain",
        ],
    );
    let run = run.fine();
    snapshot("bench_modes", &run.stdout);
    for format in ["markdown", "csv"] {
        let run = bench(
            &folder,
            &[
                "copy.toml",
                "--device",
                "sim:h200",
                "--mode",
                "cold,hot",
                "--format",
                format,
            ],
        );
        snapshot(&format!("bench_{format}"), &run.fine().stdout);
    }
}

#[test]
fn a_kernel_needs_no_spec() {
    let folder = folder();
    let run = bench(
        &folder,
        &[
            "copy.cu",
            "--device",
            "sim:h200",
            "--kernel",
            "copy_plain",
            "--size",
            "n=1048576",
            "--grid",
            "ceil_div(n, 256)",
            "--block",
            "256",
            "--arg",
            "in=f32[n]:random",
            "--arg",
            "out=f32[n]",
            "--arg",
            "n=i32",
            "--bytes",
            "8 * n",
            "--check",
            "in[i]",
            "--format",
            "json",
        ],
    );
    let document = run.fine().json();
    assert_eq!(document["states"][0]["status"], "valid");
    assert_eq!(document["states"][0]["checked"]["with"], "expression");
    assert_eq!(document["states"][0]["bytes"], 8_388_608.0);
}

/// The list of faults: what is said, and the code of each.
#[test]
fn faults_are_named_and_the_run_goes_on() {
    let folder = folder();
    folder.write("copy.cu", SOURCE);
    let mut page = String::new();
    for (device, code) in [
        ("sim:h200,illegal=copy_plain", 15),
        ("sim:h200,hang=copy_plain", 15),
        ("sim:h200,trap=copy_plain:500", 15),
        ("sim:h200,registers=copy_plain", 0),
        ("sim:h200,waits=copy_plain", 15),
        ("sim:h200,shared=0.99999", 15),
        ("sim:h200,wrong=copy_plain", 13),
        ("sim:h200,nowork=copy_plain", 13),
        ("sim:h200,stream=copy_plain", 12),
        ("sim:h200,probe=off", 12),
        ("sim:h200,throttle=250ms:0.8", 12),
        ("sim:h200,debug=copy_plain", 0),
        ("sim:h200,shared=0.1", 0),
    ] {
        let axis = if device.contains("0.99999") || device.contains("stream") {
            "n=16777216"
        } else {
            "n=1048576"
        };
        let samples = if device.contains("throttle") {
            "20000"
        } else {
            "30"
        };
        let run = bench(
            &folder,
            &[
                "copy.toml",
                "--device",
                device,
                "--axis",
                axis,
                "--min-samples",
                samples,
                "--timeout",
                "1s",
                "--format",
                "json",
            ],
        )
        .code(code);
        let document = run.json();
        assert_eq!(document["is_complete"], true);
        let states = document["states"].as_array().unwrap();
        assert_eq!(states.len(), 2);
        writeln!(page, "$ {device}").unwrap();
        for state in states {
            write!(page, "{}: {}", state["name"], state["status"]).unwrap();
            if let Some(failure) = state["failure"].as_object() {
                write!(
                    page,
                    " {} {}: {} | {}",
                    failure["kind"], failure["code"], failure["message"], failure["hint"]
                )
                .unwrap();
            }
            for mode in state["modes"].as_array().unwrap() {
                for list in ["invalid", "notes"] {
                    for remark in mode[list].as_array().unwrap() {
                        write!(page, " {}", remark["id"]).unwrap();
                    }
                }
            }
            page.push('\n');
        }
        // A kernel that ends its context leaves the next one alone.
        let one_kernel = [
            "illegal", "hang", "trap", "waits", "wrong", "nowork", "stream",
        ];
        if one_kernel.iter().any(|fault| device.contains(fault)) {
            assert_eq!(states[1]["status"], "valid", "{device}");
        }
    }
    snapshot("bench_faults", &page);
}

#[test]
fn mistakes_in_specs_and_options() {
    let folder = folder();
    folder.write("key.toml", COPY.replace("block = 256", "blok = 256"));
    folder.write("zero.toml", COPY.replace("ceil_div(n, 256)", "n / (n - n)"));
    folder.write("empty.toml", COPY.replace("[1048576]", "[]"));
    folder.write(
        "name.toml",
        COPY.replace("\"ceil_div(n, 256)\"", "\"ceil_div(m, 256)\""),
    );
    folder.write("toml.toml", "name = \n");
    folder.write("nosource.toml", COPY.replace("copy.cu", "none.cu"));
    folder.write(
        "broken.cu",
        "extern \"C\" __global__ void copy_plain() {\n#error not today\n}\n",
    );
    folder.write("compile.toml", COPY.replace("copy.cu", "broken.cu"));
    folder.write(
        "entry.toml",
        COPY.replace("\"copy_plain\"", "\"copy_plane\""),
    );
    folder.write("escape.toml", COPY.replace("copy_plain", "\\u001b[31mred"));
    let mut page = String::new();
    for (arguments, code) in [
        (&["key.toml"][..], 2),
        (&["zero.toml"], 2),
        (&["empty.toml"], 2),
        (&["name.toml"], 2),
        (&["toml.toml"], 2),
        (&["nosource.toml"], 3),
        (&["missing.toml"], 3),
        (&["compile.toml"], 3),
        (&["entry.toml"], 3),
        (&["escape.toml"], 0),
        (&["copy.cu"], 2),
        (&["copy.cu", "--kernel", "copy_plain"], 2),
        (
            &[
                "copy.cu",
                "--kernel",
                "copy_plain",
                "--grid",
                "1",
                "--block",
                "1",
                "--arg",
                "in",
            ],
            2,
        ),
        (&["copy.toml", "--axis", "m=1"], 2),
        (&["copy.toml", "--axis", "n="], 2),
        (&["copy.toml", "--filter", "nothing"], 2),
        (&["copy.toml", "--precision", "2"], 2),
        (&["copy.toml", "--min-samples", "3"], 2),
        (&["copy.toml", "--max-samples", "10"], 2),
        (&["copy.toml", "--min-time", "6s"], 2),
        (&["copy.toml", "--min-time", "soon"], 2),
        (&["copy.toml", "--lock-clocks", "fast"], 2),
        (&["copy.toml", "--lock-clocks", "base"], 4),
        (&["copy.toml", "-o", "times.svg"], 2),
    ] {
        let all: Vec<&str> = arguments
            .iter()
            .copied()
            .chain(["--device", "sim:h200"])
            .collect();
        let run = bench(&folder, &all).code(code);
        assert!(!run.stderr.contains('\u{1b}') && !run.stdout.contains('\u{1b}'));
        writeln!(
            page,
            "$ ridge bench {}\n{}",
            arguments.join(" "),
            run.stderr
        )
        .unwrap();
    }
    for device in ["h200", "sim:h999", "sim:h200,sed=1"] {
        let run = bench(&folder, &["copy.toml", "--device", device])
            .code(2)
            .shows_nothing();
        writeln!(
            page,
            "$ ridge bench copy.toml --device {device}\n{}",
            run.stderr
        )
        .unwrap();
    }
    snapshot("bench_mistakes", &page);
}

/// Without a driver there is no GPU, and the simulated one is offered.
#[test]
fn without_a_gpu_the_simulated_one_is_offered() {
    if std::path::Path::new("/dev/nvidiactl").exists() {
        return;
    }
    let folder = folder();
    let run = bench(&folder, &["copy.toml"]).code(4).shows_nothing();
    assert!(run.stderr.contains("--device sim:h200"), "{}", run.stderr);
}

#[test]
fn results_go_to_a_file_of_the_format_that_it_names() {
    let folder = folder();
    for (file, beginning) in [
        ("a.json", "{\n  \"schema\": \"ridgepoint.bench\""),
        ("a.md", "## copy on"),
        ("a.csv", "state,kernel,"),
        ("a.txt", "copy on"),
    ] {
        bench(&folder, &["copy.toml", "--device", "sim:h200", "-o", file])
            .fine()
            .shows_nothing();
        assert!(
            folder.read(file).starts_with(beginning),
            "{file}: {}",
            folder.read(file)
        );
    }
}

/// A model has no drift to average over, so that the usual least time is for GPUs alone.
#[test]
fn sampling_has_a_least_time_where_it_is_asked_for() {
    let folder = folder();
    let measured = |options: &[&str]| {
        let usual = [
            "copy.toml",
            "--device",
            "sim:h200",
            "--filter",
            "plain",
            "--format",
            "json",
        ];
        let run = bench(&folder, &[&usual, options].concat());
        let document = run.fine().json();
        let mode = &document["states"][0]["modes"][0];
        let sampled = mode["sampling_ns"].as_f64().unwrap();
        (
            document["settings"]["min_time_ns"].as_f64().unwrap() as u64,
            sampled,
            mode["samples"].as_u64().unwrap(),
        )
    };
    let (least, sampled, samples) = measured(&[]);
    assert!(least == 0 && sampled < 5e6, "{least} {sampled} {samples}");
    let (least, sampled, samples) = measured(&["--min-time", "20ms"]);
    assert!(
        least == 20_000_000 && (20e6..21e6).contains(&sampled) && samples > 100,
        "{least} {sampled} {samples}"
    );
}

#[test]
fn what_the_time_went_to_is_told() {
    let folder = folder();
    let run = bench(
        &folder,
        &[
            "copy.toml",
            "--device",
            "sim:h200",
            "-v",
            "--format",
            "json",
        ],
    )
    .code(0);
    for part in [
        "in all: ",
        " opening the GPU, ",
        " inputs, ",
        " sampling, ",
        " the end of the worker",
    ] {
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
    let state = &run.json()["states"][0];
    for part in ["image_ns", "inputs_ns", "first_launches_ns"] {
        assert!(
            state["spent"][part].as_f64().unwrap() > 0.0,
            "{part}: {state}"
        );
    }
    assert!(state["modes"][0]["beside_ns"].as_f64().unwrap() > 0.0);
}

/// An interrupt ends the run; what was finished is in the file.
#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_was_finished() {
    let folder = folder();
    // A thousand states take longer than the test waits.
    let arguments = [
        "bench",
        "copy.toml",
        "--device",
        "sim:h200",
        "--axis",
        "n=1000:2000",
        "-o",
        "all.json",
    ];
    let mut child = ridge(arguments)
        .within(&folder)
        .into_command()
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while !folder.path().join("all.json").exists() {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "no result was written"
        );
        std::thread::yield_now();
    }
    let status = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(status.success());
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    let document: Value = serde_json::from_str(&folder.read("all.json")).unwrap();
    assert_eq!(document["is_complete"], false);
    assert!(!document["states"].as_array().unwrap().is_empty());
}

/// A table in constant memory that is filled before the launches, and a counter that they leave behind.
const VARIABLES: &str = r#"
source = "weigh.cu"

[sizes]
n = 1048576

[buffers]
table = { type = "f32", length = 64, init = "random", seed = 3, symbol = "weights" }
total = { type = "u32", length = 1, init = "zeros", output = true, symbol = "total" }
out = { type = "f32", length = "n" }

[kernels.weigh]
entry = "weigh"
grid = "n / 256"
block = 256
args = ["out"]

[check]
expression = { out = "2 * table[i % 64]", total = "n" }
relative = 0.0
"#;

#[test]
fn variables_of_the_module_are_buffers() {
    let folder = Folder::with("weigh.toml", VARIABLES);
    let source = "__constant__ float weights[64];\n__device__ unsigned total;\n\
                  extern \"C\" __global__ void weigh(float* out) { }\n";
    folder.write("weigh.cu", source);
    let common = [
        "weigh.toml",
        "--device",
        "sim:h200",
        "--max-samples",
        "30",
        "--format",
        "json",
    ];
    let document = bench(&folder, &common).fine().json();
    let state = &document["states"][0];
    assert_eq!(state["status"], "valid");
    let names: Vec<&str> = state["checked"]["shown"]["outcomes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|outcome| outcome["output"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(
        names.contains(&"total") && names.contains(&"out"),
        "{names:?}"
    );
    // One that is not there, and one that is too small.
    folder.write("weigh.cu", source.replace("unsigned total", "unsigned sum"));
    bench(&folder, &common)
        .code(3)
        .says("no variable total")
        .says("__constant__");
    folder.write("weigh.cu", source.replace("[64]", "[32]"));
    bench(&folder, &common)
        .code(15)
        .says("the buffer table takes 256 bytes, and the variable weights has 128");
}

/// Cases of the gallery with a table in constant memory.
#[test]
fn cases_of_the_gallery_with_variables_run() {
    for case in ["read_align", "class_coefficients"] {
        let spec = format!("gallery/{case}/bench.toml");
        let run = ridge([
            "bench",
            &spec,
            "--device",
            "sim:h200",
            "--max-samples",
            "30",
            "--format",
            "json",
        ])
        .run();
        let document = run.code(0).json();
        for state in document["states"].as_array().unwrap() {
            assert_eq!(state["status"], "valid", "{case}: {}", state["name"]);
        }
    }
}

/// Several specs are one document; the worst code is that of the run, and what was measured is there.
#[test]
fn several_specs_in_one_run() {
    let folder = folder();
    folder.write(
        "again.toml",
        COPY.replace("name = \"copy\"", "name = \"again\""),
    );
    folder.write("broken.toml", COPY.replace("block = 256", "block = 4096"));
    let few = [
        "--device",
        "sim:h200",
        "--min-samples",
        "6",
        "--max-samples",
        "12",
    ];
    let arguments = [["copy.toml", "again.toml"].as_slice(), &few].concat();
    let document = bench(
        &folder,
        &[arguments.as_slice(), &["--format", "json"]].concat(),
    )
    .fine()
    .json();
    let found = violations(&named("bench"), &document);
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert_eq!(document["benchmark"], "copy, again");
    assert_eq!(document["is_complete"], true);
    let places: Vec<_> = document["states"]
        .as_array()
        .unwrap()
        .iter()
        .map(|state| (state["spec"].as_u64(), state["name"].as_str().unwrap()))
        .collect();
    let names = ["plain[n=1048576]", "vector[n=1048576]"];
    assert_eq!(
        places,
        [(0, names[0]), (0, names[1]), (1, names[0]), (1, names[1])]
            .map(|(spec, name)| (Some(spec), name))
    );
    // States of different specs are not compared.
    let best = document["best"].as_array().unwrap();
    assert_eq!(best.len(), 2);
    assert!(
        best.iter()
            .all(|best| best["others"].as_array().unwrap().len() == 1)
    );

    let arguments = [
        ["copy.toml", "broken.toml", "missing.toml"].as_slice(),
        &few,
    ]
    .concat();
    let run = bench(&folder, &arguments).code(3);
    snapshot("bench_several", &run.stdout);
    assert!(
        run.stderr.contains("broken.toml:19:9") && run.stderr.contains("missing.toml"),
        "{}",
        run.stderr
    );
    let markdown = bench(
        &folder,
        &[arguments.as_slice(), &["--format", "markdown"]].concat(),
    )
    .code(3);
    snapshot("bench_several_markdown", &markdown.stdout);
    let csv = bench(
        &folder,
        &[arguments.as_slice(), &["--format", "csv"]].concat(),
    )
    .code(3)
    .stdout;
    assert!(csv.lines().next().unwrap().ends_with(",spec"));
    assert!(
        csv.lines().skip(1).all(|line| line.ends_with(",copy.toml")),
        "{csv}"
    );
    // A mistake alone is a mistake; with outputs that are wrong it still is.
    bench(
        &folder,
        &[["copy.toml", "broken.toml"].as_slice(), &few].concat(),
    )
    .code(2);
    bench(
        &folder,
        &[["missing.toml", "broken.toml"].as_slice(), &few].concat(),
    )
    .code(3)
    .shows_nothing();
}

/// A source that is missing is found when its turn comes: what was measured before is kept.
#[test]
fn a_spec_that_fails_half_way_does_not_lose_the_others() {
    let folder = folder();
    folder.write(
        "lost.toml",
        COPY.replace("source = \"copy.cu\"", "source = \"lost.cu\""),
    );
    let run = bench(
        &folder,
        &[
            "lost.toml",
            "copy.toml",
            "--device",
            "sim:h200",
            "--max-samples",
            "30",
            "--format",
            "json",
        ],
    )
    .code(3);
    let document = run.json();
    assert_eq!(document["states"].as_array().unwrap().len(), 2);
    assert_eq!(document["specs"][0]["error"]["id"], "unreadable");
    assert!(document["specs"][1]["error"].is_null());
    assert_eq!(document["is_complete"], false);
}

#[test]
fn options_of_a_kernel_are_for_one_file_and_axes_for_specs_that_have_them() {
    let folder = folder();
    folder.write(
        "other.toml",
        COPY.replace("n = [1048576]", "n = [1048576]\nm = [1]"),
    );
    bench(
        &folder,
        &[
            "a.cu", "b.cu", "--kernel", "k", "--grid", "1", "--block", "32",
        ],
    )
    .code(2)
    .says("describe a kernel of one file");
    let common = [
        "copy.toml",
        "other.toml",
        "--device",
        "sim:h200",
        "--max-samples",
        "30",
        "--format",
        "json",
    ];
    let document = bench(&folder, &[common.as_slice(), &["--axis", "m=2,3"]].concat())
        .fine()
        .json();
    assert_eq!(document["states"].as_array().unwrap().len(), 6);
    bench(&folder, &[common.as_slice(), &["--axis", "k=2"]].concat())
        .code(2)
        .says("no axis or size `k`");
    bench(&folder, &[common.as_slice(), &["--filter", "m=1"]].concat()).fine();
    bench(&folder, &[common.as_slice(), &["--filter", "zzz"]].concat())
        .code(2)
        .says("no state has a name that matches");
}
