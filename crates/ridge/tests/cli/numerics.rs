//! `ridge numerics`: kinds of files, verdicts with their exit codes, every format, and what is refused.

use serde_json::Value;

use crate::driver::{Folder, Run, ridge, snapshot};
use crate::schema::{named, violations};

const ROWS: usize = 64;
const COLUMNS: usize = 136;

/// A file of NumPy.
fn npy(kind: &str, is_fortran: bool, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let order = if is_fortran { "True" } else { "False" };
    let mut head = format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': ({shape}), }}");
    while !(head.len() + 11).is_multiple_of(64) {
        head.push(' ');
    }
    head.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((head.len() as u16).to_le_bytes());
    file.extend(head.as_bytes());
    file.extend(bytes);
    file
}

/// Numbers between -50 and 50 without a pattern, all exact in binary32.
fn numbers() -> Vec<f32> {
    let mut state = 12_345_u32;
    (0..ROWS * COLUMNS)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 167_772.16 - 50.0
        })
        .collect()
}

fn array(values: &[f32]) -> Vec<u8> {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    npy("<f4", false, "64, 136", &bytes)
}

/// The reference, and outputs that are right and wrong.
fn folder() -> Folder {
    let reference = numbers();
    let near: Vec<f32> = reference
        .iter()
        .enumerate()
        .map(|(place, value)| {
            if place % 5 == 0 {
                value.next_up()
            } else {
                *value
            }
        })
        .collect();
    let tail: Vec<f32> = near
        .iter()
        .enumerate()
        .map(|(place, value)| if place % COLUMNS >= 128 { 0.0 } else { *value })
        .collect();
    let sum: Vec<f32> = reference
        .iter()
        .map(|value| value * (1.0 + 3e-6) + 2e-5)
        .collect();
    let folder = Folder::with("ref.npy", array(&reference));
    folder.write("near.npy", array(&near));
    folder.write("tail.npy", array(&tail));
    folder.write("sum.npy", array(&sum));
    folder.write("zero.npy", array(&vec![0.0; reference.len()]));
    folder
}

fn numerics(folder: &Folder, line: &str) -> Run {
    ridge(std::iter::once("numerics").chain(line.split_whitespace()))
        .env("COLUMNS", "80")
        .within(folder)
        .run()
}

#[test]
fn pages() {
    let folder = folder();
    let right = numerics(&folder, "ref.npy near.npy").fine().stdout;
    snapshot("numerics_right", &right);
    let wrong = numerics(&folder, "ref.npy tail.npy").code(13).stdout;
    snapshot("numerics_tail", &wrong);
    for line in wrong.lines().chain(right.lines()) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let ascii = ridge(["numerics", "ref.npy", "tail.npy"])
        .env("COLUMNS", "60")
        .env("LANG", "C")
        .within(&folder)
        .run()
        .code(13)
        .stdout;
    for line in ascii.lines().filter(|line| line.contains('#')) {
        assert!(line.is_ascii(), "{line}");
    }
    snapshot(
        "numerics_markdown",
        &numerics(&folder, "ref.npy tail.npy --format markdown")
            .code(13)
            .stdout,
    );
}

#[test]
fn verdicts_have_exit_codes() {
    let folder = folder();
    numerics(&folder, "ref.npy ref.npy")
        .fine()
        .shows("RIGHT: all 8704 elements are equal");
    numerics(&folder, "ref.npy zero.npy --atol 1e9")
        .code(13)
        .shows("0 everywhere");
    numerics(&folder, "ref.npy sum.npy")
        .code(11)
        .shows("--k LENGTH");
    numerics(&folder, "ref.npy sum.npy --k 4096")
        .fine()
        .shows("product with K = 4096");
    numerics(&folder, "ref.npy sum.npy --preset strict")
        .code(13)
        .shows("not correct rounding");
    numerics(&folder, "ref.npy sum.npy --preset torch").code(13);
    numerics(&folder, "ref.npy sum.npy --rtol 1e-4 --atol 1e-4")
        .fine()
        .shows("limits that were given");
    numerics(&folder, "ref.npy near.npy --function expf")
        .fine()
        .shows("the error of exp");
}

#[test]
fn documents_follow_their_schema() {
    let folder = folder();
    folder.write("empty.npy", npy("<f4", false, "0, 4", &[]));
    for line in [
        "ref.npy near.npy --k 64",
        "ref.npy tail.npy",
        "ref.npy zero.npy",
        "empty.npy empty.npy",
        "ref.npy empty.npy",
    ] {
        let document = numerics(&folder, &format!("{line} --format json")).json();
        let found = violations(&named("numerics"), &document);
        assert!(found.is_empty(), "{line}\n{}", found.join("\n"));
        assert_eq!(document["schema"], "ridgepoint.numerics");
    }
    let document = numerics(&folder, "ref.npy tail.npy --format json").json();
    assert_eq!(document["verdict"]["outcome"], "wrong");
    assert_eq!(document["verdict"]["causes"][0]["kind"], "unwritten");
    assert_eq!(document["measures"]["failing"], 8 * 64);
    assert_eq!(
        document["measures"]["first"][0]["index"],
        serde_json::json!([0, 128])
    );
    let nothing = numerics(&folder, "empty.npy empty.npy --format json")
        .code(11)
        .json();
    assert_eq!(nothing["measures"], Value::Null);
}

#[test]
fn every_order_of_elements_and_bytes_is_read() {
    let folder = folder();
    let values = numbers();
    let big: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_be_bytes())
        .collect();
    folder.write("big.npy", npy(">f4", false, "64, 136", &big));
    let columns: Vec<u8> = (0..COLUMNS)
        .flat_map(|column| (0..ROWS).map(move |row| row * COLUMNS + column))
        .flat_map(|place| values[place].to_le_bytes())
        .collect();
    folder.write("fortran.npy", npy("<f4", true, "64, 136", &columns));
    let raw: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    folder.write("raw.bin", &raw);
    folder.write("raw-big.bin", &big);
    for line in [
        "ref.npy big.npy",
        "ref.npy fortran.npy",
        "fortran.npy big.npy",
        "ref.npy raw.bin --dtype f32 --shape 64x136",
        "big.npy raw-big.bin --dtype float32 --shape 64,136 --big-endian",
    ] {
        numerics(&folder, line)
            .fine()
            .shows("all 8704 elements are equal");
    }
    let wide: Vec<u8> = values
        .iter()
        .flat_map(|value| f64::from(*value).to_le_bytes())
        .collect();
    folder.write("wide.npy", npy("<f8", false, "64, 136", &wide));
    numerics(&folder, "wide.npy ref.npy").fine().shows("equal");
    numerics(&folder, "ref.npy wide.npy")
        .code(13)
        .shows("wrong type: the output is f64, the reference f32");
    folder.write("flat.npy", npy("<f4", false, "8704,", &raw));
    numerics(&folder, "ref.npy flat.npy")
        .code(13)
        .shows("wrong shape")
        .shows("reshape");
}

#[test]
fn files_that_are_none_are_refused() {
    let folder = folder();
    let whole = array(&numbers());
    folder.write("cut.npy", &whole[..1000]);
    folder.write("text.txt", "no tensor");
    numerics(&folder, "ref.npy cut.npy")
        .code(3)
        .says("cut.npy")
        .shows_nothing();
    numerics(&folder, "ref.npy text.txt")
        .code(3)
        .says("--dtype and --shape");
    numerics(&folder, "ref.npy text.txt --dtype f32 --shape 64x136")
        .code(3)
        .says("34816 bytes");
    numerics(&folder, "ref.npy nothing.npy")
        .code(3)
        .says("there is no such file")
        .says(".safetensors");
    numerics(&folder, "ref.npy ref.npy#y")
        .code(2)
        .says("holds no tensor \"y\"");
    numerics(&folder, "- -").code(2).says("only once");
    for (line, says) in [
        ("ref.npy", "OUT"),
        ("ref.npy near.npy --k 0", "from 1"),
        ("ref.npy near.npy --rtol -1", "from 0"),
        ("ref.npy near.npy --shape 64x136", "--dtype"),
        ("ref.npy near.npy --dtype f33", "no number format"),
        ("ref.npy near.npy --preset tensor-core", "--k"),
        ("ref.npy near.npy --preset torch --k 8", "leave out --k"),
        ("ref.npy near.npy --function sinn", "no bound"),
        ("ref.npy near.npy -o map.pdf", "pdf"),
    ] {
        numerics(&folder, line).code(2).says(says);
    }
}

#[test]
fn pictures_and_pages_escape_names() {
    let folder = folder();
    let name = "<b>&'.npy";
    folder.write(name, array(&numbers()));
    for format in ["svg", "html"] {
        let run = ridge(["numerics", "ref.npy", name, "--format", format])
            .within(&folder)
            .run()
            .fine();
        assert!(!run.stdout.contains("<b>") && run.stdout.contains("&lt;b&gt;"));
        assert!(run.stdout.contains("<svg"));
    }
    numerics(&folder, "ref.npy tail.npy -o map.html")
        .code(13)
        .shows_nothing();
    assert!(folder.read("map.html").contains("columns 128"));
    folder.write("empty.npy", npy("<f4", false, "0,", &[]));
    numerics(&folder, "empty.npy empty.npy --format svg")
        .code(2)
        .says("no map");
}
