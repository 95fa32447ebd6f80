//! Operations of `ridge numerics` that need no reference, runs of one program, and flags.

use std::path::Path;

use serde_json::Value;

use crate::driver::{Folder, Ridge, Run, ridge, root, snapshot};
use crate::schema::{named, violations};

/// A file of NumPy, version 1.
fn npy(shape: &[usize], values: &[f32]) -> Vec<u8> {
    let sizes: Vec<String> = shape.iter().map(|size| format!("{size},")).collect();
    let mut head = format!(
        "{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}",
        sizes.join(" ")
    );
    while !(10 + head.len() + 1).is_multiple_of(64) {
        head.push(' ');
    }
    head.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(head.len()).unwrap().to_le_bytes());
    bytes.extend(head.as_bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

/// The same with another type of 4 bytes.
fn npy_of(descr: &str, shape: &[usize], words: &[u32]) -> Vec<u8> {
    let values: Vec<f32> = words.iter().map(|word| f32::from_bits(*word)).collect();
    let bytes = npy(shape, &values);
    let at = bytes.windows(3).position(|part| part == b"<f4").unwrap();
    [&bytes[..at], descr.as_bytes(), &bytes[at + 3..]].concat()
}

/// Numbers between -1 and 1 that look random.
fn noise(seed: u32, count: usize) -> Vec<f32> {
    let mut state = seed;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        })
        .collect()
}

/// C = A x B as an FP32 kernel has it.
fn product(a: &[f32], b: &[f32], (m, n, k): (usize, usize, usize)) -> Vec<f32> {
    let mut c = vec![0.0; m * n];
    for i in 0..m {
        for j in 0..n {
            for l in 0..k {
                c[i * n + j] += a[i * k + l] * b[l * n + j];
            }
        }
    }
    c
}

const SHAPE: (usize, usize, usize) = (32, 48, 64);

/// A folder with A, B and their product, whose last columns `spoil` may change.
fn gemm(spoil: impl Fn(&mut [f32])) -> Folder {
    let (m, n, k) = SHAPE;
    let (a, b) = (noise(1, m * k), noise(2, k * n));
    let mut c = product(&a, &b, SHAPE);
    for row in c.chunks_exact_mut(n) {
        spoil(&mut row[n - 8..]);
    }
    let folder = Folder::with("a.npy", npy(&[m, k], &a));
    folder.write("b.npy", npy(&[k, n], &b));
    folder.write("c.npy", npy(&[m, n], &c));
    folder
}

fn page(run: &Run) -> String {
    format!("{}--- exit code {:?}\n{}", run.stdout, run.code, run.stderr)
}

fn follows(name: &str, document: &Value) {
    let found = violations(&named(name), document);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_product_is_held_against_its_inputs() {
    let right = gemm(|_| {});
    let words = ["numerics", "gemm", "a.npy", "b.npy", "c.npy"];
    ridge(words)
        .within(&right)
        .run()
        .code(0)
        .shows("RIGHT")
        .shows("product with K = 64")
        .shows("against gemm of a.npy and b.npy");

    let tail = gemm(|tail| tail.fill(0.0));
    ridge(words)
        .within(&tail)
        .run()
        .code(13)
        .shows("WRONG")
        .shows("columns 40–47");
    for (format, start) in [
        ("svg", "<svg"),
        ("html", "<!doctype html>"),
        ("markdown", "**wrong**"),
    ] {
        let words = words.into_iter().chain(["--format", format]);
        let run = ridge(words).within(&tail).run().code(13);
        assert!(
            run.stdout.to_lowercase().starts_with(start),
            "{}",
            run.stdout
        );
    }

    let json = words.into_iter().chain(["--format", "json"]);
    let document = ridge(json).within(&tail).run().code(13).json();
    follows("numerics", &document);
    assert_eq!(document["verdict"]["outcome"], "wrong");
    assert_eq!(document["reference"]["name"], "gemm of a.npy and b.npy");
    assert_eq!(document["reference"]["format"], "f64");

    // A product that was summed in FP16 is not within rounding of FP32, and is of FP16.
    let (m, n, k) = SHAPE;
    let coarse: Vec<f32> = product(&noise(1, m * k), &noise(2, k * n), SHAPE)
        .iter()
        .map(|value| value * (1.0 + 2_f32.powi(-11)))
        .collect();
    let folder = gemm(|_| {});
    folder.write("c.npy", npy(&[m, n], &coarse));
    ridge(words).within(&folder).run().code(13);
    let half = words.into_iter().chain(["--accumulate", "f16"]);
    ridge(half).within(&folder).run().code(0);
}

#[test]
fn other_operations_need_no_reference_either() {
    let x = noise(3, 4 * 100);
    let folder = Folder::with("x.npy", npy(&[4, 100], &x));
    let rows = |of: &dyn Fn(&[f32]) -> Vec<f32>| -> Vec<f32> {
        x.chunks_exact(100).flat_map(of).collect()
    };
    let softmax = rows(&|row| {
        let sum: f32 = row.iter().map(|x| x.exp()).sum();
        row.iter().map(|x| x.exp() / sum).collect()
    });
    folder.write("softmax.npy", npy(&[4, 100], &softmax));
    let norm = rows(&|row| {
        let mean = row.iter().sum::<f32>() / 100.0;
        let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / 100.0;
        row.iter()
            .map(|x| (x - mean) / (variance + 1e-5).sqrt())
            .collect()
    });
    folder.write("norm.npy", npy(&[4, 100], &norm));
    let rms = rows(&|row| {
        let squares = row.iter().map(|x| x * x).sum::<f32>() / 100.0;
        row.iter().map(|x| x / (squares + 1e-6).sqrt()).collect()
    });
    folder.write("rms.npy", npy(&[4, 100], &rms));
    let sums = rows(&|row| vec![row.iter().sum()]);
    folder.write("sums.npy", npy(&[4], &sums));
    folder.write(
        "max.npy",
        npy(
            &[4],
            &rows(&|row| vec![row.iter().copied().fold(f32::MIN, f32::max)]),
        ),
    );
    let tanh: Vec<f32> = x.iter().map(|x| x.tanh()).collect();
    folder.write("tanh.npy", npy(&[4, 100], &tanh));
    let run = |words: &[&str]| -> Run {
        ridge(["numerics"].iter().chain(words))
            .within(&folder)
            .run()
    };
    for words in [
        &["softmax", "x.npy", "softmax.npy"][..],
        &["layernorm", "x.npy", "norm.npy"],
        &["rmsnorm", "x.npy", "rms.npy"],
        &["reduce", "sum", "x.npy", "sums.npy"],
        &["reduce", "max", "x.npy", "max.npy"],
        &["map", "tanh", "x.npy", "tanh.npy"],
    ] {
        run(words).code(0).shows("RIGHT");
    }
    // Each with the result of another.
    for words in [
        &["softmax", "x.npy", "norm.npy"][..],
        &["layernorm", "x.npy", "rms.npy"],
        &["reduce", "mean", "x.npy", "sums.npy"],
        &["map", "sin", "x.npy", "tanh.npy"],
    ] {
        run(words).code(13).shows("WRONG");
    }
    // A convolution with a kernel of one pixel is a product.
    folder.write("image.npy", npy(&[1, 1, 4, 100], &x));
    folder.write("kernel.npy", npy(&[1, 1, 1, 1], &[2.0]));
    let doubled: Vec<f32> = x.iter().map(|x| 2.0 * x).collect();
    folder.write("doubled.npy", npy(&[1, 1, 4, 100], &doubled));
    run(&["conv2d", "image.npy", "kernel.npy", "doubled.npy"])
        .code(0)
        .shows("all 400 elements are equal");
}

#[test]
fn integers_are_summed_exactly() {
    let folder = Folder::with("a.npy", npy_of("<i4", &[2, 3], &[1, 2, 3, 4, 5, 6]));
    folder.write("b.npy", npy_of("<i4", &[3, 1], &[1, 10, 100]));
    folder.write("c.npy", npy_of("<i4", &[2, 1], &[321, 654]));
    folder.write("off.npy", npy_of("<i4", &[2, 1], &[321, 655]));
    let run = |output| {
        ridge(["numerics", "gemm", "a.npy", "b.npy", output])
            .within(&folder)
            .run()
    };
    run("c.npy").code(0).shows("equal");
    run("off.npy").code(13).shows("WRONG");
}

#[test]
fn what_does_not_fit_is_said() {
    let folder = gemm(|_| {});
    folder.write("short.npy", &npy(&[4], &[1.0; 4])[..100]);
    folder.write("row.npy", npy(&[4], &[1.0; 4]));
    folder.write("notes.txt", "no tensor");
    let run = |words: &[&str]| -> Run {
        ridge(["numerics"].iter().chain(words))
            .within(&folder)
            .run()
    };
    run(&["gemm", "b.npy", "a.npy", "c.npy"])
        .code(2)
        .shows_nothing()
        .says("columns of A are 48, rows of B are 32")
        .says("--transpose-a");
    run(&["gemm", "a.npy", "b.npy", "row.npy"])
        .code(13)
        .shows("WRONG")
        .shows("[4]");
    run(&["gemm", "a.npy", "b.npy", "short.npy"])
        .code(3)
        .says("short.npy");
    run(&["gemm", "a.npy", "notes.txt", "c.npy"])
        .code(3)
        .says("B: notes.txt");
    run(&["gemm", "a.npy", "nowhere.npy", "c.npy"])
        .code(3)
        .says("B: cannot read nowhere.npy: there is no such file");
    run(&["map", "pow", "a.npy", "c.npy"])
        .code(2)
        .says("pow takes 2 inputs and the output");
    run(&["map", "tangent", "a.npy", "c.npy"])
        .code(2)
        .says("tanh");
    run(&["gemm", "a.npy", "b.npy", "c.npy", "--accumulate", "i8"])
        .code(2)
        .says("f64, f32, f16 or bf16");
    run(&["gemm", "-", "-", "c.npy"])
        .code(2)
        .says("standard input is named more than once");
    run(&[]).code(2).says("<REF>");
    run(&["a.npy", "c.npy", "--repeat", "2", "--", "true"]).code(2);
}

#[test]
fn orders_of_a_sum_are_compared() {
    let harmonic: Vec<f32> = (1..=4096_u16).map(|index| 1.0 / f32::from(index)).collect();
    let folder = Folder::with("x.npy", npy(&[4096], &harmonic));
    let run = ridge(["numerics", "sum", "x.npy"])
        .within(&folder)
        .env("COLUMNS", "110")
        .run();
    snapshot("numerics_sum", &page(&run.code(0)));
    let document = ridge(["numerics", "sum", "x.npy", "--format", "json"])
        .within(&folder)
        .run()
        .fine()
        .json();
    follows("numerics-sum", &document);
    assert_eq!(document["orders"].as_array().unwrap().len(), 10);
    ridge(["numerics", "sum", "x.npy", "--format", "markdown"])
        .within(&folder)
        .run()
        .fine()
        .shows("| Kahan |");
    folder.write("nan.npy", npy(&[2], &[1.0, f32::NAN]));
    ridge(["numerics", "sum", "nan.npy"])
        .within(&folder)
        .run()
        .code(3)
        .says("the first at element 1");
}

/// A program of the shell that is run several times.
fn repeated(folder: &Folder, options: &[&str], script: &str) -> Ridge {
    let words = ["numerics", "--repeat", "4"].iter().chain(options);
    ridge(words.chain(&["--", "/bin/sh", "-c", script, "sh", "{output}"]))
        .within(folder)
        .env("PATH", "/usr/bin:/bin")
        .env("COLUMNS", "90")
}

#[test]
fn runs_of_a_program_are_compared() {
    let values = noise(5, 1000);
    let folder = Folder::with("same.npy", npy(&[10, 100], &values));
    let same = repeated(&folder, &[], "cp same.npy \"$1\"").run();
    snapshot("numerics_repeat_same", &page(&same.code(0)));

    // The third run reads before something is written.
    let mut raced = values.clone();
    raced[417] = 0.25;
    folder.write("raced.npy", npy(&[10, 100], &raced));
    let script = "n=$(cat n 2> /dev/null || echo 0); echo $((n + 1)) > n; \
                  if [ $n = 2 ]; then cp raced.npy \"$1\"; else cp same.npy \"$1\"; fi";
    let run = repeated(&folder, &[], script).run();
    let page = page(&run.code(13));
    snapshot("numerics_repeat_race", &page);
    std::fs::remove_file(folder.path().join("n")).unwrap();
    let document = repeated(&folder, &["--format", "json"], script)
        .run()
        .code(13)
        .json();
    follows("numerics-repeat", &document);
    assert_eq!(document["cause"], "race");
    assert_eq!(document["counts"], serde_json::json!([3, 1]));
    assert_eq!(document["tensors"][0]["first"], serde_json::json!([4, 17]));

    // Bytes without a head are elements where somebody says of what.
    let bytes = "printf '%s' $$ > \"$1\"";
    repeated(&folder, &[], bytes)
        .run()
        .code(13)
        .shows("--dtype");
}

#[test]
fn runs_that_fail_or_write_nothing_are_not_compared() {
    let folder = Folder::with("same.npy", npy(&[2], &[1.0, 2.0]));
    repeated(&folder, &[], "echo no device >&2; exit 7")
        .run()
        .code(15)
        .shows_nothing()
        .says("run 1 ended with exit code 7; it said: no device");
    repeated(&folder, &[], "true")
        .run()
        .code(15)
        .says("its output cannot be read");
    let stale = |options: &[&str]| {
        let words = ["numerics", "--repeat", "2"].iter().chain(options);
        ridge(words.chain(&["--", "/bin/true"]))
            .within(&folder)
            .env("PATH", "/usr/bin:/bin")
            .run()
    };
    stale(&["--output-of", "same.npy"])
        .code(15)
        .says("older than the run");
    stale(&["--output-of", "same.npy", "--format", "svg"])
        .code(2)
        .says("no picture");
    stale(&[])
        .code(2)
        .says("nothing says what the program writes");
    repeated(&folder, &["--timeout", "200ms"], "sleep 20")
        .run()
        .code(15)
        .says("ended at the time limit");
    assert_eq!(folder.names(), ["same.npy"]);
}

const PTX: &str = "\
.version 8.8
.target sm_90
.visible .entry scale(.param .u64 a)
{
\tdiv.approx.ftz.f32 \t%f3, %f1, %f2;
\tatom.global.add.f32 \t%f4, [%rd1], %f3;
}
";

#[test]
fn flags_and_code_are_looked_at() {
    let run = ridge([
        "numerics",
        "flags",
        "--flags",
        "--use_fast_math -prec-div=true -O3",
    ])
    .env("COLUMNS", "100")
    .run();
    snapshot("numerics_flags", &page(&run.code(0)));
    let folder = Folder::with("k.ptx", PTX);
    let run = ridge(["numerics", "flags", "k.ptx"])
        .within(&folder)
        .env("COLUMNS", "100")
        .run();
    snapshot("numerics_flags_ptx", &page(&run.code(0)));
    let document = ridge([
        "numerics",
        "flags",
        "k.ptx",
        "--flags",
        "-fmad=false",
        "--format",
        "json",
    ])
    .within(&folder)
    .run()
    .fine()
    .json();
    follows("numerics-flags", &document);
    assert_eq!(document["code"]["instructions"], 2);
    assert_eq!(document["effects"][0]["id"], "flush-to-zero");
    folder.write(
        "k.sass",
        "\t\tFunction : k\n        /*0010*/   MUFU.SIN R1, R2 ;\n",
    );
    ridge(["numerics", "flags", "k.sass"])
        .within(&folder)
        .run()
        .fine()
        .shows("MUFU.SIN");
    folder.write("k.cubin", b"\x7fELF\x02\x01");
    ridge(["numerics", "flags", "k.cubin"])
        .within(&folder)
        .env("PATH", "/nowhere")
        .run()
        .code(4)
        .says("there is no nvdisasm");
    folder.write("k.txt", "nothing here");
    ridge(["numerics", "flags", "k.txt"])
        .within(&folder)
        .run()
        .code(3)
        .says("there are no instructions");
    ridge(["numerics", "flags", "--flags", "-ftz=perhaps"])
        .run()
        .code(0)
        .says("-ftz=perhaps is neither true nor false");
    assert!(Path::new(root()).join("docs/concepts/flags.md").is_file());
}
