//! `ridge occupancy`: every kind of input, every format, and what it says about launches that cannot be.

use std::fs;

use crate::driver::{Folder, Run, VADD, ridge, root, snapshot};
use crate::schema;

const TILE_GEMM: &str = "fixtures/gallery/tile_gemm.ncu-rep.zst";
const FATBIN: &str = "fixtures/cubin/occupancy.fatbin";
const SMALL_CUBIN: &str = "fixtures/cubin/small.cubin.zst";
const PTXAS: &str = "fixtures/cubin/occupancy_sm_90.txt";
const SOURCE: &str = "fixtures/programs/occupancy.cu";

/// A launch whose numbers stand in `docs/concepts/occupancy.md`.
const NUMBERS: &[&str] = &[
    "--device", "h200", "--block", "128", "--regs", "168", "--smem", "16KiB", "--grid", "400",
];

fn occupancy(arguments: &[&str]) -> Run {
    ridge(["occupancy"].iter().chain(arguments))
        .env("COLUMNS", "80")
        .run()
}

fn page(arguments: &[&str]) -> String {
    let page = occupancy(arguments).fine().stdout;
    for line in page.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    page
}

#[test]
fn pages() {
    snapshot("occupancy_numbers", &page(NUMBERS));
    snapshot("occupancy_report", &page(&[TILE_GEMM]));
    snapshot(
        "occupancy_cubin",
        &page(&[SMALL_CUBIN, "--block", "16x16", "--kernel", "transpose"]),
    );
    snapshot("occupancy_fatbin", &page(&[FATBIN]));
    snapshot(
        "occupancy_fatbin_one_verbose",
        &page(&[
            "fixtures/cubin/occupancy.fatbin#tile_sum",
            "--cc",
            "8.6",
            "--block",
            "192",
            "-v",
        ]),
    );
    snapshot(
        "occupancy_cluster",
        &page(&[
            "--device",
            "h200",
            "--block",
            "384",
            "--regs",
            "168",
            "--smem",
            "231424",
            "--barriers",
            "16",
            "--cluster",
            "4",
            "--grid",
            "120",
        ]),
    );
    let text = ridge(["occupancy", "-", "--kernel", "polynomial", "--block", "128"])
        .env("COLUMNS", "60")
        .env("LANG", "C")
        .stdin(&fs::read(root().join(PTXAS)).unwrap())
        .run()
        .fine()
        .stdout;
    assert!(text.is_ascii());
    snapshot("occupancy_ptxas_ascii_60", &text);
}

#[test]
fn the_picture() {
    let folder = Folder::new();
    let mut arguments = vec!["occupancy".to_owned()];
    arguments.extend(NUMBERS.iter().map(ToString::to_string));
    arguments.extend(["-o".to_owned(), "curves.svg".to_owned()]);
    ridge(arguments)
        .within(&folder)
        .run()
        .fine()
        .shows_nothing();
    let svg = folder.read("curves.svg");
    snapshot("occupancy_svg", &svg);
    assert!(svg.contains("18.75 %") && svg.contains("<title") && svg.contains("<desc"));
}

fn occupancy_schema() -> serde_json::Value {
    let text = fs::read_to_string(root().join("schemas/occupancy.schema.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// One model, three formats: what one says stands in the others.
#[test]
fn formats_agree() {
    let schema = occupancy_schema();
    for arguments in [
        NUMBERS,
        &[TILE_GEMM],
        &[VADD],
        &[FATBIN],
        &[PTXAS],
        &[SMALL_CUBIN],
        &["fixtures/csv/aos_raw.csv.zst"],
        &[TILE_GEMM, "--device", "a100"],
    ] {
        let run = |format: &str| {
            let all = ["occupancy", "--format", format, "-v", "-q"];
            ridge(all.iter().chain(arguments))
                .env("COLUMNS", "100")
                .run()
                .code(0)
        };
        let (json, text, svg) = (run("json"), run("text").stdout, run("svg").stdout);
        let document = json.json();
        assert_eq!(
            schema::violations(&schema, &document),
            Vec::<String>::new(),
            "{arguments:?}"
        );
        let kernels = document["kernels"].as_array().unwrap();
        assert!(!kernels.is_empty());
        for kernel in kernels {
            let theoretical = &kernel["theoretical"];
            let warps = format!(
                "{} of {} warps",
                theoretical["warps"], theoretical["max_warps"]
            );
            let percent = 100.0 * theoretical["occupancy"].as_f64().unwrap();
            let percent = format!("occupancy {percent} %");
            for page in [&text, &svg] {
                assert!(page.contains(&warps), "{warps}\n{page}");
                assert!(
                    page.contains(&percent) || percent.len() > 20,
                    "{percent}\n{page}"
                );
            }
        }
    }
}

/// The same kernel in every kind of input has the same occupancy.
#[test]
fn inputs_agree() {
    let of = |arguments: &[&str]| {
        let all = [
            "occupancy",
            "--format",
            "json",
            "-q",
            "--block",
            "128",
            "--kernel",
            "tile_sum",
        ];
        let document = ridge(all.iter().chain(arguments)).run().code(0).json();
        let kernels = document["kernels"].as_array().unwrap();
        let last = kernels.last().unwrap();
        let allowed: Vec<u64> = last["limiters"]
            .as_array()
            .unwrap()
            .iter()
            .map(|limit| limit["blocks"].as_u64().unwrap())
            .collect();
        assert_eq!(last["device"]["compute_capability"], "9.0");
        allowed
    };
    // By hand: W = 4; 23 registers are 24, 16384 / 768 = 21 warps in a quarter, 84 / 4; 233472 / 9216.
    let expected = [16, 32, 21, 25, 32];
    assert_eq!(of(&[FATBIN]), expected);
    assert_eq!(of(&[PTXAS]), expected);
    let gzipped = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, &fs::read(root().join(FATBIN)).unwrap()).unwrap();
        encoder.finish().unwrap()
    };
    let packed = ridge([
        "occupancy",
        "-",
        "-q",
        "--block",
        "128",
        "--kernel",
        "tile_sum",
    ])
    .stdin(&gzipped)
    .run()
    .code(0);
    assert!(
        packed.stdout.contains("64 of 64 warps"),
        "{}",
        packed.transcript()
    );
}

#[test]
fn wrong_arguments_are_explained() {
    let number = |arguments: &'static str| {
        let mut list = vec!["--cc", "9.0", "--block", "256", "--regs", "32"];
        list.extend(arguments.split_whitespace());
        list
    };
    let launch = |arguments: &'static str| arguments.split_whitespace().collect::<Vec<_>>();
    let mut transcript = String::new();
    for arguments in [
        vec![],
        vec!["--cc", "9.0"],
        launch("--block 256 --regs 32"),
        launch("--block 256"),
        launch("--device h200 --block 256"),
        launch("--device h200 --regs 32"),
        launch("--device h200 --block 0"),
        launch("--device h200 --smem 300KiB"),
        launch("--device h200 --regs 300"),
        launch("--device h200 --block 256 --carveout 1MiB"),
        launch("--device h200 --smem 100KiB --carveout 64KiB"),
        vec!["--device", "h300", "--block", "256", "--regs", "32"],
        vec!["--device", "rtx", "--block", "256", "--regs", "32"],
        launch("--cc 9.5 --block 256 --regs 32"),
        launch("--cc h200 --block 256 --regs 32"),
        launch("--cc 9.0 --block 2048 --regs 32"),
        launch("--cc 9.0 --block 0 --regs 32"),
        launch("--cc 9.0 --block -32 --regs 32"),
        launch("--cc 9.0 --block nan --regs 32"),
        launch("--cc 9.0 --block 99999999999 --regs 32"),
        launch("--cc 9.0 --block 256 --regs 0"),
        launch("--cc 9.0 --block 256 --regs 256"),
        launch("--cc 9.0 --block 1024 --regs 80"),
        number("--smem 228KiB"),
        number("--smem -1"),
        number("--smem 1e99"),
        number("--barriers 17"),
        number("--cluster 17"),
        number("--cluster 0"),
        number("--cluster 3 --grid 400"),
        number("--grid 0"),
        number("--grid 2147483648"),
        number("--grid 65536x65536x65536"),
        launch("--cc 9.0 --block 1x1x128 --regs 32"),
        launch("--cc 9.0 --block 1x2048 --regs 32"),
        number("--carveout 1MiB"),
        number("--smem 100KiB --carveout 64KiB"),
        number("--kernel gemm"),
        launch("--cc 8.6 --block 256 --regs 32 --cluster 2"),
        vec![FATBIN, "--cc", "7.5"],
        vec!["fixtures/cubin/occupancy.fatbin#no_such_kernel"],
        vec![FATBIN, "--kernel", "no_such_kernel"],
        vec![
            FATBIN,
            "--cc",
            "9.0",
            "--kernel",
            "polynomial",
            "--block",
            "256",
        ],
        vec![TILE_GEMM, "--kernel", "no_such_kernel"],
        vec![TILE_GEMM, "--block", "2048"],
        vec![TILE_GEMM, "-o", "curves.pdf"],
        vec!["-", "-"],
    ] {
        let run = occupancy(&arguments).code(2).shows_nothing();
        transcript.push_str(&run.transcript());
        transcript.push('\n');
    }
    snapshot("occupancy_wrong_arguments", &transcript);
}

/// A carve-out that was asked for holds for limits, curves, steps and room alike.
#[test]
fn a_carve_out_is_one_rule() {
    let document = ridge([
        "occupancy",
        "--cc",
        "9.0",
        "--block",
        "128",
        "--regs",
        "32",
        "--smem",
        "8KiB",
        "--carveout",
        "64KiB",
        "--format",
        "json",
    ])
    .run()
    .fine()
    .json();
    let kernel = &document["kernels"][0];
    let blocks = kernel["theoretical"]["blocks"].as_u64().unwrap();
    assert_eq!(blocks, 7);
    let curve = kernel["curves"]["shared_bytes"].as_array().unwrap();
    let at = |bytes: u64| {
        let found = curve.iter().find(|stretch| {
            (stretch["from"].as_u64().unwrap()..=stretch["to"].as_u64().unwrap()).contains(&bytes)
        });
        found.unwrap()["blocks"].as_u64().unwrap()
    };
    let room = kernel["room"]["shared_bytes"].as_u64().unwrap();
    assert_eq!((at(8192), at(room)), (blocks, blocks));
    assert!(at(room + 1) < blocks);
    assert_eq!(at(64 * 1024), 0);
    let step = &kernel["steps"][0]["changes"][0];
    assert_eq!(
        (&step["what"], &step["to"]),
        (&"carveout-bytes".into(), &102_400.into())
    );
}

/// What no device can launch is wrong, whatever else is missing.
#[test]
fn wrong_numbers_are_told_before_missing_ones() {
    for (words, told) in [
        ("--block 0", "a block has at least 1 thread"),
        ("--block 32x64", "it has at most 1024"),
        ("--regs 256", "it has at most 255"),
        ("--smem 300KiB", "it has at most 232448"),
        ("--cluster 0", "a cluster has at least 1 block"),
        ("--cluster 17", "it has at most 16"),
        ("--barriers 17", "it has at most 16"),
        ("--carveout 300KiB", "more shared memory than an SM has"),
        (
            "--cluster 3 --grid 10",
            "it must be a multiple of the cluster",
        ),
    ] {
        let words: Vec<&str> = words.split_whitespace().collect();
        let run = occupancy(&words).code(2).says(told);
        assert!(!run.stderr.contains("must be given"), "{}", run.stderr);
    }
    // What some device can launch is not wrong.
    occupancy(&["--block", "256", "--smem", "200KiB"])
        .code(2)
        .says("the device (--device NAME or --cc CAPABILITY) and the registers of a thread");
}

/// The same launch on two devices of one report is two answers.
#[test]
fn devices_of_one_report_stay_apart() {
    let mut export = "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"launch__registers_per_thread\",\"device__attribute_display_name\",\"device__attribute_compute_capability_major\",\"device__attribute_compute_capability_minor\"\n\"\",\"\",\"\",\"\",\"register/thread\",\"\",\"\",\"\"\n".to_owned();
    for (id, device) in [
        "\"H100\",\"9\",\"0\"",
        "\"L40\",\"8\",\"9\"",
        "\"H100\",\"9\",\"0\"",
    ]
    .iter()
    .enumerate()
    {
        let launch = "\"k(int)\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"32\"";
        export.extend([format!("\"{id}\",{launch},{device}\n")]);
    }
    let folder = Folder::with("raw.csv", export);
    let document = ridge(["occupancy", "raw.csv", "--format", "json", "-q"])
        .within(&folder)
        .run()
        .fine()
        .json();
    let found: Vec<(&str, String, u64)> = document["kernels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kernel| {
            (
                kernel["device"]["compute_capability"].as_str().unwrap(),
                kernel["launches"].to_string(),
                kernel["theoretical"]["max_warps"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("9.0", "[0,2]".to_owned(), 64),
            ("8.9", "[1]".to_owned(), 48)
        ]
    );
}

/// The grid of a report is told about too.
#[test]
fn a_grid_of_a_report_without_sms_is_told() {
    let export = "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"launch__registers_per_thread\"\n\"\",\"\",\"\",\"\",\"register/thread\"\n\"0\",\"k(int)\",\"(256, 1, 1)\",\"(4000, 1, 1)\",\"32\"\n";
    let folder = Folder::with("raw.csv", export);
    let words = ["occupancy", "raw.csv", "--cc", "9.0"];
    let told = "the number of SMs is not known for compute capability 9.0";
    ridge(words).within(&folder).run().fine().shows(told);
    let document = ridge(words.iter().chain(&["--format", "json"]))
        .within(&folder)
        .run()
        .code(0)
        .says(told)
        .json();
    assert_eq!(document["warnings"][0]["code"], "unknown-sms");
    assert!(document["kernels"][0]["waves"].is_null());
    let known = ridge(words.iter().chain(&["--sms", "132"])).within(&folder);
    assert!(!known.run().fine().stdout.contains(told));
}

/// A grid that nothing can be said about is not left out silently, in whichever format and for whichever input.
#[test]
fn a_grid_without_sms_is_told() {
    let told = "the number of SMs is not known";
    for words in [
        "--cc 9.0 --block 256 --regs 64 --grid 1000",
        "--device b300 --block 256 --regs 64 --grid 1000",
        "fixtures/cubin/occupancy.fatbin --cc 9.0 --block 128 --grid 1000",
    ] {
        let words: Vec<&str> = words.split_whitespace().collect();
        occupancy(&words).code(0).shows(told).shows("--sms");
        let document = ridge(["occupancy", "--format", "json"].iter().chain(&words))
            .run()
            .code(0)
            .says(told)
            .json();
        assert_eq!(document["warnings"].as_array().unwrap().len(), 1);
        assert_eq!(document["warnings"][0]["code"], "unknown-sms");
        let known = ridge(["occupancy", "--sms", "132"].iter().chain(&words));
        assert!(!known.run().code(0).stdout.contains(told));
    }
}

#[test]
fn unreadable_inputs_are_explained() {
    let folder = Folder::new();
    let fatbin = fs::read(root().join(FATBIN)).unwrap();
    let cubin = zstd::decode_all(fs::File::open(root().join(SMALL_CUBIN)).unwrap()).unwrap();
    folder.write("cut.cubin", &cubin[..5000]);
    folder.write("cut.fatbin", &fatbin[..9000]);
    folder.write("text.txt", "nothing of interest\n");
    folder.write("empty.cubin", "");
    let mut transcript = String::new();
    for name in ["cut.cubin", "text.txt", "empty.cubin", "missing.cubin"] {
        let run = ridge(["occupancy", name])
            .within(&folder)
            .run()
            .code(3)
            .shows_nothing();
        transcript.push_str(&run.transcript());
        transcript.push('\n');
    }
    // What is whole is shown.
    let run = ridge(["occupancy", "cut.fatbin", "--block", "128"])
        .within(&folder)
        .env("COLUMNS", "80")
        .run()
        .code(3)
        .shows("polynomial");
    transcript.push_str(&run.transcript());
    snapshot("occupancy_unreadable_inputs", &transcript);
}

/// Source is compiled first, and without a compiler the way to a cubin is named.
#[test]
fn source_without_a_compiler_names_the_way_to_a_cubin() {
    let run = ridge(["occupancy", SOURCE, "--cc", "9.0"])
        .env("RIDGE_NVRTC", "/nonexistent/libnvrtc.so")
        .run()
        .code(4)
        .shows_nothing()
        .says("nvcc -cubin");
    snapshot("occupancy_source", &run.transcript());
    let ptx = b".version 9.0\n.target sm_90\n.address_size 64\n";
    ridge(["occupancy", "-"])
        .stdin(ptx)
        .run()
        .code(4)
        .says("PTX");
}

/// Names come from inputs: neither the page nor the picture lets them through as they are.
#[test]
fn hostile_names_are_escaped() {
    let log = "ptxas info : Compiling entry function '<script>\u{1b}[2J&\u{202e}' for 'sm_90'\n\
               ptxas info : Used 32 registers, used 0 barriers\n";
    for format in ["text", "svg", "json"] {
        let page = ridge(["occupancy", "-", "--block", "64", "--format", format])
            .stdin(log.as_bytes())
            .run()
            .code(0)
            .stdout;
        assert!(
            !page.contains('\u{1b}') && (format == "json" || !page.contains('\u{202e}')),
            "{page}"
        );
        assert!(format != "svg" || !page.contains("<script>"), "{page}");
    }
}
