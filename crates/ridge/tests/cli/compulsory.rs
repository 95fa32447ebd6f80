//! `ridge why --bytes --flops`, and what is said about a whole report.

use crate::driver::{AOS, AOS_CSV, VADD, ridge, snapshot};
use crate::schema::{diagnosis, violations};

/// Two inputs and an output of 67108864 floats, and an addition for each: `clinic.cu`.
const BYTES: &str = "768MiB";
const FLOPS: &str = "64Mi";

#[test]
fn amounts_that_make_no_sense_are_refused() {
    let mut page = String::new();
    for (option, amount) in [
        ("--bytes", "0"),
        ("--bytes", "-5MiB"),
        ("--bytes", "NaN"),
        ("--bytes", "1e400"),
        ("--bytes", "17EiB"),
        ("--bytes", "many"),
        ("--bytes", ""),
        ("--bytes", "192mb"),
        ("--bytes", "1,5GB"),
        ("--bytes", "2GB/s"),
        ("--bytes", "12\u{1b}[31m"),
        ("--flops", "0.5"),
        ("--flops", "-1"),
        ("--flops", "inf"),
        ("--flops", "2.1GFLOPS"),
        ("--flops", "2.1GB"),
    ] {
        let run = ridge(["why", VADD, "--launch", "0", option, amount])
            .run()
            .code(2)
            .shows_nothing();
        assert!(!run.stderr.contains('\u{1b}'), "{}", run.stderr);
        let first = run.stderr.lines().next().unwrap_or_default();
        page.push_str(first);
        page.push('\n');
    }
    snapshot("wrong_amounts", &page);
}

#[test]
fn several_kernels_have_no_compulsory_bytes_together() {
    let run = ridge(["why", AOS, "--bytes", "192MiB"])
        .run()
        .code(2)
        .shows_nothing();
    snapshot("bytes_of_several_kernels", &run.transcript());
    ridge(["why", VADD, AOS, "--launch", "0", "--flops", "1G"])
        .run()
        .code(2)
        .shows_nothing()
        .says("2 are selected");
    // A selection that selects nothing is told as such.
    ridge(["why", VADD, "--kernel", "nothing", "--flops", "1G"])
        .run()
        .code(2)
        .says("no kernel matches");
}

#[test]
fn one_kernel_is_set_against_what_it_needs() {
    let vadd = format!("{VADD}#vadd_slow");
    let page = ridge(["why", &vadd, "--bytes", BYTES, "--flops", FLOPS])
        .env("COLUMNS", "80")
        .env("LANG", "C.UTF-8")
        .run()
        .fine()
        .stdout;
    snapshot("why_vadd_compulsory_80", &page);
}

#[test]
fn ways_to_name_the_kernel_agree() {
    let by_address = format!("{VADD}#vadd_slow@0");
    let answers: Vec<serde_json::Value> = [
        &[by_address.as_str()][..],
        &[VADD, "--kernel", "vadd_slow"],
        &[VADD, "--launch", "0"],
    ]
    .into_iter()
    .map(|selection| {
        let run = ridge(
            ["why", "--format", "json", "--quiet", "--bytes", "805306368"]
                .iter()
                .chain(selection),
        );
        run.run().fine().json()["kernels"][0]["compulsory"].clone()
    })
    .collect();
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]));
    let bytes = &answers[0]["bytes"];
    assert_eq!(answers[0]["origin"], "command-line");
    assert_eq!(bytes["given"], 805_306_368.0);
    // 536.9 MB read and 256.7 MB written, as the profiler prints them; what was written last stays in the L2.
    let factor = bytes["factor"].as_f64().unwrap();
    assert!((factor - 793.6 / 805.3).abs() < 0.001, "{factor}");
    assert!(answers[0]["operations"].is_null());
    assert_eq!(answers[0]["reading"], "good");
}

#[test]
fn documents_with_given_amounts_follow_the_schema() {
    let schema = diagnosis();
    for file in [VADD, AOS, AOS_CSV] {
        let document = ridge([
            "why", file, "--launch", "1", "--bytes", "192MiB", "--flops", "2e9", "--format",
            "json", "--quiet",
        ])
        .run()
        .fine()
        .json();
        let found = violations(&schema, &document);
        assert!(found.is_empty(), "{file}\n{}", found.join("\n"));
        assert!(document["kernels"][0]["compulsory"]["bytes"].is_object());
    }
}

#[test]
fn a_document_tells_what_its_kernels_take_together() {
    let document = ridge(["why", AOS, VADD, "--format", "json", "--quiet"])
        .run()
        .fine()
        .json();
    assert!(document["kernels"][0]["compulsory"].is_null());
    for (source, totals) in document["totals"].as_array().unwrap().iter().enumerate() {
        assert_eq!(totals["source"], source);
        let kernels: Vec<&serde_json::Value> = document["kernels"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|kernel| kernel["source"] == source)
            .collect();
        let durations: f64 = kernels
            .iter()
            .map(|kernel| kernel["duration_ns"].as_f64().unwrap())
            .sum();
        let total = totals["duration_ns"].as_f64().unwrap();
        assert!((total - durations).abs() < 1e-6 * durations);
        let ceiling = totals["all"]["saving_ceiling"].as_f64().unwrap();
        for kernel in kernels {
            let share = kernel["time_share"].as_f64().unwrap();
            for finding in kernel["findings"].as_array().unwrap() {
                assert!(ceiling >= share * finding["saving_ceiling"].as_f64().unwrap() - 1e-9);
            }
        }
    }
    ridge(["why", AOS, "--top", "0"])
        .run()
        .fine()
        .shows("1 of 2 kernels takes 82 % of");
    // One kernel alone has nothing to be compared with.
    let one = ridge(["why", AOS, "--launch", "0"]).run().fine().stdout;
    assert!(!one.contains("best finding"), "{one}");
}
