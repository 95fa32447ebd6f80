use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::*;

const TRANSPOSE: &str = r#"
name = "transpose"
source = "transpose.cu"
bytes = "2 * n * n * 4"
where = "tile * rows <= 1024"

[axes]
tile = [16, 32]
rows = { from = 2, to = 3, power_of = 2 }
n = { from = 1024, to = 2048, step = 1024 }

[sizes]
tiles = "ceil_div(n, tile)"

[buffers]
in = { type = "f32", length = "n * n", init = "random", low = -1.0, high = 1.0, seed = 1 }
out = { type = "f32", length = "n * n" }

[scalars]
n = { type = "i32" }

[kernels.naive]
entry = "naive"
grid = ["ceil_div(n, 32)", "ceil_div(n, 8)"]
block = [32, 8]
args = ["in", "out", "n"]
axes = ["n"]

[kernels.tiled]
entry = "tiled"
grid = ["tiles", "tiles"]
block = ["tile", "rows"]
shared = "tile * (tile + 1) * 4"
args = ["in", "out", "n"]
define = { TILE = "tile", ROWS = "rows" }

[check]
reference = "naive"
relative = 0.0
"#;

fn device() -> Names {
    let mut names = Names::default();
    names.set("device.sms", Value::Int(132));
    names
}

#[test]
fn states_are_the_product_without_what_is_restricted() {
    let spec = Spec::read(TRANSPOSE).unwrap();
    let states = spec.states(&device()).unwrap();
    let names: Vec<String> = states.iter().map(State::name).collect();
    insta::assert_snapshot!(names.join("\n"), @"
    naive[n=1024]
    naive[n=2048]
    tiled[tile=16,rows=4,n=1024]
    tiled[tile=16,rows=4,n=2048]
    tiled[tile=16,rows=8,n=1024]
    tiled[tile=16,rows=8,n=2048]
    tiled[tile=32,rows=4,n=1024]
    tiled[tile=32,rows=4,n=2048]
    tiled[tile=32,rows=8,n=1024]
    tiled[tile=32,rows=8,n=2048]
    ");
    let job = spec.job(&states[9], &device()).unwrap();
    assert_eq!(job.options, ["-DTILE=32", "-DROWS=8"]);
    assert_eq!(job.launches[0].grid, [64, 64, 1]);
    assert_eq!(job.launches[0].block, [32, 8, 1]);
    assert_eq!(job.launches[0].shared, 4224);
    assert_eq!(
        job.launches[0].args,
        [
            JobArgument::Buffer(0),
            JobArgument::Buffer(1),
            JobArgument::Scalar(2048_i32.to_le_bytes().to_vec())
        ]
    );
    assert_eq!(job.bytes, Some(33_554_432.0));
    assert!(job.buffers[1].output == Some(0) && job.buffers[1].elements.is_poison());
    assert_eq!(job.memory_bytes(), 33_554_432);
}

use super::job::JobArgument;

#[test]
fn axes_of_an_option_replace_those_of_the_spec() {
    let mut spec = Spec::read(TRANSPOSE).unwrap();
    spec.set_axis("n", parse_axis("4096").unwrap()).unwrap();
    spec.set_axis("tile", parse_axis("32").unwrap()).unwrap();
    assert_eq!(spec.states(&device()).unwrap().len(), 3);
    let error = spec.set_axis("tyle", vec![Value::Int(1)]).unwrap_err();
    assert_eq!(error.hint().as_deref(), Some("`tile`"));
    // A size becomes an axis; the kernel that names its axes does not have it.
    spec.set_axis("tiles", parse_axis("1,2").unwrap()).unwrap();
    assert_eq!(spec.states(&device()).unwrap().len(), 5);
}

/// Mistakes: what is replaced in the spec, with what, and what is said.
#[test]
fn mistakes_are_told_at_their_place() {
    let mut page = String::new();
    for (from, to) in [
        ("[axes]", "[axis]"),
        (
            "args = [\"in\", \"out\", \"n\"]\naxes",
            "arg = [\"in\", \"out\", \"n\"]\naxes",
        ),
        (
            "type = \"f32\", length = \"n * n\" }",
            "typ = \"f32\", length = \"n * n\" }",
        ),
        (
            "type = \"f32\", length = \"n * n\" }",
            "type = \"float\", length = \"n * n\" }",
        ),
        ("type = \"f32\", length = \"n * n\" }", "type = \"f32\" }"),
        ("tile = [16, 32]", "tile = []"),
        ("tile = [16, 32]", "tile = { from = 4, to = 2 }"),
        ("tile = [16, 32]", "tile = [\"16\"]"),
        ("tile = [16, 32]", "tile = 16"),
        ("tile = [16, 32]", "tile = { from = 1, to = 100000 }"),
        ("tile = [16, 32]", "2tile = [16]"),
        (
            "tiles = \"ceil_div(n, tile)\"",
            "tiles = \"ceil_div(n, tyle)\"",
        ),
        (
            "tiles = \"ceil_div(n, tile)\"",
            "tiles = \"n / (tile - 16)\"",
        ),
        (
            "tiles = \"ceil_div(n, tile)\"",
            "tiles = \"n * 9000000000000000000\"",
        ),
        ("tiles = \"ceil_div(n, tile)\"", "tiles = \"ceil_div(n, \""),
        ("tiles = \"ceil_div(n, tile)\"", "tile = 3"),
        (
            "block = [\"tile\", \"rows\"]",
            "block = [\"tile\", 1, 2, 3]",
        ),
        (
            "block = [\"tile\", \"rows\"]",
            "block = [\"tile - 16\", \"rows\"]",
        ),
        (
            "block = [\"tile\", \"rows\"]",
            "block = [\"tile * 32\", \"rows\"]",
        ),
        ("block = [\"tile\", \"rows\"]", "block = true"),
        (
            "args = [\"in\", \"out\", \"n\"]\ndefine",
            "args = [\"in\", \"our\", \"n\"]\ndefine",
        ),
        ("axes = [\"n\"]", "axes = [\"m\"]"),
        ("where = \"tile * rows <= 1024\"", "where = \"tile * rows\""),
        (
            "where = \"tile * rows <= 1024\"",
            "where = [\"tile > 16\", \"n > 5000\"]",
        ),
        ("reference = \"naive\"", "reference = \"nave\""),
        (
            "reference = \"naive\"",
            "reference = \"naive\"\nfile = { out = \"x.bin\" }",
        ),
        ("reference = \"naive\"", "expression = { put = \"in[i]\" }"),
        ("relative = 0.0", "relative = -1"),
        ("relative = 0.0", "mode = \"element\""),
        ("n = { type = \"i32\" }", "n = { type = \"i8\" }"),
        (
            "n = { type = \"i32\" }",
            "n = { type = \"i32\", value = \"1 < 2\" }",
        ),
        ("init = \"random\"", "init = \"permutation\""),
        (
            "init = \"random\", low = -1.0, high = 1.0",
            "init = \"random\", low = 2.0, high = 1.0",
        ),
        ("name = \"transpose\"", "name = transpose"),
        ("name = \"transpose\"", "case = \"a\"\nname = \"b\""),
        (
            "name = \"transpose\"",
            "name = \"transpose\"\nformat = \"fp31\"",
        ),
        (
            "name = \"transpose\"",
            "name = \"transpose\"\nslow_repeat = 3",
        ),
        (
            "shared = \"tile * (tile + 1) * 4\"",
            "launch = [{ entry = \"a\", grid = 1, block = 1 }]",
        ),
    ] {
        let text = TRANSPOSE.replacen(from, to, 1);
        assert_ne!(text, TRANSPOSE, "{from}");
        let error = Spec::read(&text)
            .and_then(|spec| {
                let states = spec.states(&device())?;
                states
                    .iter()
                    .try_for_each(|state| spec.job(state, &device()).map(|_| ()))
            })
            .expect_err(to);
        let place = error.place().map_or("no place".to_owned(), |place| {
            format!(
                "{}:{}\n    {}\n    {}{}",
                place.line,
                place.column,
                place.text,
                " ".repeat(place.column - 1),
                "^".repeat(place.width)
            )
        });
        let hint = error
            .hint()
            .map_or(String::new(), |hint| format!("\n    try {hint}"));
        writeln!(page, "{} {error} at {place}{hint}", error.code()).unwrap();
    }
    for text in ["", "name = \"x\"\n"] {
        let error = Spec::read(text).unwrap_err();
        writeln!(page, "{} {error}", error.code()).unwrap();
    }
    insta::assert_snapshot!(page);
}

#[test]
fn too_many_states_are_refused_before_they_are_made() {
    let axes: String = (0..9)
        .map(|axis| format!("a{axis} = {{ from = 1, to = 9000 }}\n"))
        .collect();
    let text = TRANSPOSE.replacen("[axes]", &format!("[axes]\n{axes}"), 1);
    let error = Spec::read(&text).unwrap().states(&device()).unwrap_err();
    assert_eq!(error.code(), "SPC0011");
}

/// The benchmarks of the gallery are specs too.
#[test]
fn every_case_of_the_gallery_is_read() {
    let gallery = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery");
    let mut cases = 0;
    for entry in fs::read_dir(gallery).unwrap() {
        let file = entry.unwrap().path().join("bench.toml");
        let Ok(text) = fs::read_to_string(&file) else {
            continue;
        };
        let told = |error: SpecError| format!("{}: {error}: {:?}", file.display(), error.place());
        let spec = Spec::read(&text).map_err(told).unwrap();
        for state in spec.states(&device()).map_err(told).unwrap() {
            let job = spec.job(&state, &device()).map_err(told).unwrap();
            assert!(job.bytes.is_some(), "{}", file.display());
            let is_compared = spec.check.mode != CheckMode::None;
            assert!(
                !is_compared || job.buffers.iter().any(|buffer| buffer.output.is_some()),
                "{}",
                file.display()
            );
        }
        cases += 1;
    }
    assert_eq!(cases, 78);
}

/// Sizes of one case, worked out by hand.
#[test]
fn a_case_of_the_gallery_in_numbers() {
    let text = include_str!("../../../../gallery/relax_sweeps/bench.toml");
    let spec = Spec::read(text).unwrap();
    assert_eq!(spec.timing, Timing::Host);
    let states = spec.states(&device()).unwrap();
    assert_eq!(
        states.iter().map(State::name).collect::<Vec<_>>(),
        ["slow", "fixed"]
    );
    let slow = spec.job(&states[0], &device()).unwrap();
    assert_eq!(slow.launch_count(), 200);
}
