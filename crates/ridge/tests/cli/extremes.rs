//! Numbers that cannot be: refused on the command line, and left out of inputs, with a word about it. No answer holds
//! `inf` or `NaN`, and no document `null` where its schema has a number.

use crate::driver::{AOS_CSV, Folder, ridge, root};
use crate::schema;

/// What damage makes of a counter, beside what is large or small and can be.
const EXTREMES: &[&str] = &[
    "5e-324",
    "1e308",
    "1e-300",
    "1.7976931348623157e308",
    "1e29",
    "1e-29",
    "18446744073709551615",
    "0",
    "-1",
    "-1e300",
];

fn cells(line: &str) -> Vec<&str> {
    let line = line.trim_end().trim_matches('"');
    line.split("\",\"").collect()
}

/// The fixture with other numbers: a cell in so many becomes an extreme.
fn damaged(seed: usize, one_in: usize) -> String {
    let packed = std::fs::read(root().join(AOS_CSV)).unwrap();
    let text = String::from_utf8(zstd::decode_all(packed.as_slice()).unwrap()).unwrap();
    let mut lines = text.lines();
    let mut out = format!("{}\n{}\n", lines.next().unwrap(), lines.next().unwrap());
    let mut state = seed;
    for line in lines {
        let row: Vec<String> = cells(line)
            .into_iter()
            .enumerate()
            .map(|(column, cell)| {
                // Constants of Knuth's generator; its upper bits are as good as any.
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let number = state >> 33;
                // What stands before the metrics is not counted.
                let is_number = column >= 11 && cell.parse::<f64>().is_ok();
                if is_number && number.is_multiple_of(one_in) {
                    EXTREMES[number / one_in % EXTREMES.len()].to_owned()
                } else {
                    cell.to_owned()
                }
            })
            .collect();
        out.extend(["\"", &row.join("\",\""), "\"\n"]);
    }
    out
}

fn assert_finite(text: &str) {
    for word in text.split(|letter: char| !letter.is_ascii_alphanumeric()) {
        let is_none = matches!(word, "inf" | "NaN" | "infx" | "NaNx" | "Infinity");
        assert!(!is_none, "{word} in {text}");
    }
}

#[test]
fn damaged_counters_make_no_infinite_answer() {
    for (seed, one_in) in [
        (1, 1),
        (2, 2),
        (3, 3),
        (4, 10),
        (5, 50),
        (6, 5),
        (7, 2),
        (8, 3),
        (9, 20),
        (10, 4),
    ] {
        let folder = Folder::with("damaged.csv", damaged(seed, one_in));
        let run = |verb: &str, format: &str| {
            let run = ridge([verb, "damaged.csv", "--format", format])
                .within(&folder)
                .run();
            assert!(
                matches!(run.code, Some(0 | 2 | 3)),
                "{verb} {format}: {}",
                run.stderr
            );
            assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
            run
        };
        for (verb, name) in [
            ("why", "diagnosis"),
            ("roofline", "roofline"),
            ("occupancy", "occupancy"),
        ] {
            let json = run(verb, "json");
            if !json.stdout.is_empty() {
                let found = schema::violations(&schema::named(name), &json.json());
                assert!(found.is_empty(), "{verb}, seed {seed}: {found:#?}");
            }
            assert_finite(&run(verb, "text").stdout);
        }
        for (verb, format) in [
            ("roofline", "svg"),
            ("roofline", "csv"),
            ("occupancy", "svg"),
        ] {
            assert_finite(&run(verb, format).stdout);
        }
    }
}

#[test]
fn what_is_left_out_of_an_input_is_told() {
    let folder = Folder::with("damaged.csv", damaged(1, 3));
    ridge(["why", "damaged.csv", "--format", "json"])
        .within(&folder)
        .run()
        .code(3)
        .says("is no number that a counter can have; it is left out");
}

#[test]
fn what_cannot_be_is_refused_with_its_range() {
    let bound = "bound --flops 1G --bytes 1GB --device h200";
    let roofline = "roofline --device h200 --point";
    for (words, range) in [
        (format!("{bound} --time 1e-300us"), "0.001 ns to 1e9 s"),
        (format!("{bound} --time 1e300s"), "0.001 ns to 1e9 s"),
        (format!("{bound} --clock 1e-308GHz"), "1 MHz to 100 GHz"),
        (format!("{bound} --clock 1e300GHz"), "1 MHz to 100 GHz"),
        (
            format!("{bound} --bandwidth 1e-300GB/s"),
            "1 kB/s to 1 EB/s",
        ),
        (format!("{bound} --bandwidth 1e300GB/s"), "1 kB/s to 1 EB/s"),
        (
            format!("{bound} --peak 1e-300TFLOP/s"),
            "1 kFLOP/s to 1e24 FLOP/s",
        ),
        (
            format!("{bound} --peak 1e300TFLOP/s"),
            "1 kFLOP/s to 1e24 FLOP/s",
        ),
        (format!("{roofline} a,1G,1GB,1e-300us"), "0.001 ns to 1e9 s"),
        (format!("{roofline} a,1G,1GB,1e300s"), "0.001 ns to 1e9 s"),
        (
            format!("{roofline} a,1G,1GB,1us --clock 1e-308GHz"),
            "1 MHz to 100 GHz",
        ),
    ] {
        ridge(words.split_whitespace()).run().code(2).says(range);
    }
    let folder = Folder::with("own.csv", "name,cc,boost_mhz,mem_gbs\nX,9.0,1e-300,1e300\n");
    ridge(["devices", "--devices", "own.csv"])
        .within(&folder)
        .run()
        .code(3)
        .says("a number from 0.001 to 1e9");
}
