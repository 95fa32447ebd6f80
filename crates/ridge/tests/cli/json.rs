//! The JSON contract of `ridge why`, as `docs` and scripts rely on it.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::driver::{AOS, AOS_CSV, BANK_CONFLICT, Folder, VADD, report, ridge, root};
use crate::schema::{diagnosis, violations};

fn document(arguments: &[&str]) -> Value {
    let all = ["why", "--format", "json", "--quiet"]
        .iter()
        .chain(arguments);
    ridge(all).run().fine().json()
}

#[test]
fn documents_follow_the_schema() {
    let schema = diagnosis();
    for arguments in [
        &[AOS][..],
        &[VADD, "--all"],
        &[BANK_CONFLICT],
        &[AOS_CSV],
        &["fixtures/csv/aos_details.csv.zst"],
        &[AOS, AOS_CSV, VADD],
    ] {
        let found = violations(&schema, &document(arguments));
        assert!(found.is_empty(), "{arguments:?}\n{}", found.join("\n"));
    }
    let folder = Folder::with("cut.ncu-rep", &report()[..3_000_000]);
    let run = ridge(["why", "cut.ncu-rep", "--format", "json"])
        .within(&folder)
        .run()
        .code(3);
    assert_eq!(violations(&schema, &run.json()), Vec::<String>::new());
}

/// The names of the contract, written down here once more: a field that is renamed or removed breaks scripts.
#[test]
fn all_fields_are_there() {
    let document = document(&[AOS]);
    let has = |value: &Value, names: &str| {
        let object = value
            .as_object()
            .unwrap_or_else(|| panic!("no object for {names}"));
        for name in names.split_whitespace() {
            assert!(object.contains_key(name), "{name} is missing in {value}");
        }
    };
    has(
        &document,
        "schema version sources kernels report_findings totals warnings",
    );
    assert_eq!(document["schema"], "ridgepoint.diagnosis");
    assert_eq!(document["version"], 1);
    has(&document["sources"][0], "id file kind profiler_version");
    assert_eq!(document["sources"][0]["kind"], "ncu-report");
    assert_eq!(document["sources"][0]["file"], AOS);
    has(&document["warnings"][0], "code message source offset field");
    let kernel = &document["kernels"][0];
    has(
        kernel,
        "source name signature grid block device compute_capability launches duration_ns time_share limiter resources \
         compulsory findings not_checked",
    );
    has(&kernel["launches"][0], "index duration_ns");
    has(&kernel["limiter"], "class resource share");
    has(
        &kernel["resources"][0],
        "resource busy_share demand unit capacity_per_s source",
    );
    let finding = &kernel["findings"][0];
    has(
        finding,
        "id title saving_ceiling saving_expected next_limit confidence evidence actions verify locations",
    );
    has(&finding["evidence"][0], "metric value unit healthy");
    has(&finding["verify"][0], "metric direction target");
    has(&finding["locations"][0], "file line function pc share sass");
    assert!(finding["actions"][0].is_string());
}

/// An export lacks the lists that say which values belong to Speed Of Light, and holds larger ones that do not.
#[test]
fn an_export_names_the_same_busiest_resource_as_its_report() {
    let busiest = |file: &str| -> Vec<(Value, Value)> {
        let document = document(&[file]);
        let kernels = document["kernels"].as_array().unwrap();
        kernels
            .iter()
            .map(|kernel| {
                let speed = &kernel["speed_of_light"];
                (
                    speed["class"].clone(),
                    speed["members"][0]["resource"].clone(),
                )
            })
            .collect()
    };
    let expected = busiest(AOS);
    assert_eq!(expected.len(), 2);
    assert!(expected.iter().all(|(_, resource)| resource == "dram"));
    assert_eq!(busiest(AOS_CSV), expected);
}

/// Values that the profiler itself prints for this report, in nanoseconds and fractions.
#[test]
fn values_are_those_of_the_profiler() {
    let document = document(&[AOS]);
    let kernels = document["kernels"].as_array().unwrap();
    let names: Vec<&str> = kernels
        .iter()
        .map(|kernel| kernel["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["aos_slow", "aos_fixed"]);
    let near = |value: &Value, expected: f64| {
        let value = value.as_f64().unwrap();
        assert!(
            (value - expected).abs() < 1e-4 * expected,
            "{value} is not {expected}"
        );
    };
    // From `ncu --import aos.ncu-rep --csv --page raw`: see fixtures/csv.
    near(&kernels[0]["duration_ns"], 260_736.0);
    near(&kernels[1]["duration_ns"], 57_728.0);
    near(
        &kernels[0]["time_share"],
        260_736.0 / (260_736.0 + 57_728.0),
    );
    near(&kernels[1]["speed_of_light"]["compute"], 0.351_824);
    assert_eq!(kernels[0]["grid"], serde_json::json!([65536, 1, 1]));
    assert_eq!(kernels[0]["block"], serde_json::json!([256, 1, 1]));
    assert_eq!(kernels[0]["device"], "NVIDIA H200");
    assert_eq!(kernels[0]["compute_capability"], "9.0");
    assert_eq!(kernels[0]["signature"], "aos_slow(P *, int, float)");
}

#[test]
fn kernels_stand_in_order_of_first_launch_whatever_is_shown() {
    let all = document(&[BANK_CONFLICT]);
    for top in ["0", "1", "9"] {
        assert_eq!(document(&[BANK_CONFLICT, "--top", top]), all);
    }
    for kernel in all["kernels"].as_array().unwrap() {
        let launches: Vec<u64> = kernel["launches"]
            .as_array()
            .unwrap()
            .iter()
            .map(|l| l["index"].as_u64().unwrap())
            .collect();
        assert!(launches.is_sorted());
        let diagnosed = kernel["diagnosed_launch"].as_u64().unwrap();
        assert!(launches.contains(&diagnosed));
    }
    let first = |document: &Value| -> Vec<(u64, u64)> {
        let kernels = document["kernels"].as_array().unwrap();
        let place = |kernel: &Value| {
            (
                kernel["source"].as_u64().unwrap(),
                kernel["launches"][0]["index"].as_u64().unwrap(),
            )
        };
        kernels.iter().map(place).collect()
    };
    assert!(first(&all).is_sorted());
    // Several inputs stand in the order in which they were named.
    let both = document(&[VADD, AOS]);
    assert!(first(&both).is_sorted());
    assert_eq!(both["sources"][0]["file"], VADD);
    assert_eq!(both["sources"][1]["id"], 1);
}

/// Fractions and savings make sense together, not only one by one.
#[test]
fn findings_are_consistent() {
    for file in [AOS, BANK_CONFLICT, VADD, AOS_CSV] {
        let document = document(&[file, "--all"]);
        let kernels = document["kernels"].as_array().unwrap().len() as u64;
        for finding in document["report_findings"].as_array().unwrap() {
            let places = finding["kernels"].as_array().unwrap();
            assert!(!places.is_empty(), "{finding}");
            assert!(
                places.iter().all(|place| place.as_u64().unwrap() < kernels),
                "{finding}"
            );
        }
        let shares: f64 = document["kernels"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|kernel| kernel["time_share"].as_f64())
            .sum();
        assert!(
            (shares - 1.0).abs() < 1e-9,
            "{file}: shares of time sum to {shares}"
        );
        for kernel in document["kernels"].as_array().unwrap() {
            let busy: Vec<f64> = kernel["resources"]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| row["busy_share"].as_f64().unwrap())
                .collect();
            assert!(
                busy.is_sorted_by(|a, b| a >= b),
                "{file}: busiest first: {busy:?}"
            );
            for finding in kernel["findings"].as_array().unwrap() {
                let saving = |name| finding[name].as_f64().unwrap();
                assert!(
                    saving("saving_expected") <= saving("saving_ceiling"),
                    "{finding}"
                );
            }
            let ids: Vec<&str> = ["findings", "not_checked"]
                .iter()
                .flat_map(|list| kernel[list].as_array().unwrap())
                .map(|entry| entry["id"].as_str().unwrap())
                .collect();
            let different: BTreeSet<&str> = ids.iter().copied().collect();
            assert_eq!(ids.len(), different.len(), "{file}: said twice: {ids:?}");
        }
    }
}

#[test]
fn small_findings_are_left_out_unless_asked_for() {
    for file in [AOS, BANK_CONFLICT, VADD] {
        for kernel in document(&[file])["kernels"].as_array().unwrap() {
            for finding in kernel["findings"].as_array().unwrap() {
                let is_verdict = finding["id"].as_str().unwrap().starts_with("at-");
                assert!(is_verdict || finding["saving_expected"].as_f64().unwrap() >= 0.02);
            }
        }
    }
}

#[test]
fn selections_leave_the_rest_as_it_is() {
    let all = document(&[AOS]);
    let one = document(&[AOS, "--kernel", "^aos_fixed"]);
    assert_eq!(one["kernels"].as_array().unwrap().len(), 1);
    // Its share is that of the whole input, not of what was chosen.
    assert_eq!(one["kernels"][0], all["kernels"][1]);
    assert_eq!(document(&[AOS, "--launch", "1"])["kernels"], one["kernels"]);
    assert_eq!(
        document(&[&format!("{AOS}#aos_fixed@1")])["kernels"],
        one["kernels"]
    );
}

/// One document on standard output and nothing else; warnings on standard error, unless they are not wanted.
#[test]
fn standard_output_holds_the_document_alone() {
    let run = ridge(["why", AOS, "--format", "json"])
        .run()
        .code(0)
        .says("the clocks were not held");
    run.json();
    assert!(run.stdout.starts_with("{\n") && run.stdout.ends_with("}\n"));
    let quiet = ridge(["why", AOS, "--format", "json", "--quiet"])
        .run()
        .fine();
    assert_eq!(quiet.stdout, run.stdout);
    // Colour and width are for pages.
    let run = ridge([
        "why", AOS, "--format", "json", "--quiet", "--color", "always", "-v",
    ])
    .env("COLUMNS", "60");
    assert_eq!(run.run().fine().stdout, quiet.stdout);
}

/// The same input gives the same bytes, wherever and with however many threads.
#[test]
fn documents_are_reproducible() {
    let once = document(&[AOS, VADD]);
    assert_eq!(document(&[AOS, VADD]), once);
    let run = ridge(["why", AOS, VADD, "--format", "json", "--quiet"])
        .env("RAYON_NUM_THREADS", "1")
        .env("TZ", "Asia/Kolkata")
        .env("LC_ALL", "de_DE.UTF-8")
        .env("HOME", "/nonexistent");
    assert_eq!(run.run().fine().json(), once);
    let folder = Folder::new();
    let aos = root().join(AOS).to_string_lossy().into_owned();
    let elsewhere = ridge(["why", &aos, "--format", "json", "--quiet"])
        .within(&folder)
        .run()
        .fine();
    assert_eq!(elsewhere.json()["kernels"], document(&[AOS])["kernels"]);
}

#[test]
fn the_checker_sees_what_is_wrong() {
    let schema = diagnosis();
    let mut document = document(&[AOS]);
    assert_eq!(violations(&schema, &document), Vec::<String>::new());

    document["version"] = 2.into();
    document["kernels"][0]["limiter"]["resource"] = "gpu".into();
    document["kernels"][0]["time_share"] = 1.5.into();
    document["kernels"][0]["extra"] = 1.into();
    document["kernels"][0]["grid"] = serde_json::json!([1, 2]);
    document["kernels"][1]
        .as_object_mut()
        .unwrap()
        .remove("findings");
    let found = violations(&schema, &document).join("\n");
    for part in [
        "$.version is 2, against const: 1",
        "$.kernels[0].limiter",
        "$.kernels[0].time_share is 1.5, against maximum: 1",
        "$.kernels[0].extra is not in the schema",
        "$.kernels[0].grid is [1,2], against minItems: 3",
        "$.kernels[1].findings is missing",
    ] {
        assert!(found.contains(part), "{part}\n{found}");
    }
}

/// Where no flaw is found, the document says what limits next and what was looked for; where one is, it says that.
#[test]
fn kernels_without_findings_have_an_outlook() {
    for (file, is_partial) in [
        (
            "fixtures/gallery/band_scores.ncu-rep.zst#band_scores_fixed",
            false,
        ),
        (
            "fixtures/gallery/code_variants.ncu-rep.zst#code_variants_fixed",
            false,
        ),
        ("fixtures/reports/small/sol.ncu-rep.zst", true),
    ] {
        let document = document(&[file]);
        let kernel = &document["kernels"][0];
        assert_eq!(
            kernel["findings"].as_array().map(Vec::len),
            Some(0),
            "{file}"
        );
        let outlook = &kernel["outlook"];
        let text = outlook["summary"].as_str().expect("a summary");
        assert!(text.contains("next limit: "), "{text}");
        assert_eq!(
            text.contains("could not be looked for"),
            is_partial,
            "{text}"
        );
        assert_eq!(outlook["next_limit"], kernel["limiter"]["resource"]);
        assert_eq!(outlook["busy_share"], kernel["limiter"]["share"]);
        assert_eq!(outlook["attainable_share"].is_null(), is_partial, "{text}");
    }
    let document = document(&[AOS, "--all"]);
    let kernels = document["kernels"].as_array().expect("kernels");
    for kernel in kernels {
        let has_findings = kernel["findings"]
            .as_array()
            .is_some_and(|list| !list.is_empty());
        assert_eq!(kernel["outlook"].is_null(), has_findings);
    }
}

/// An export tells of its device what its page holds: all on the raw page, the compute capability on the others.
#[test]
fn the_device_of_an_export_is_told_as_far_as_it_is_known() {
    let devices = |file: &str| document(&[file])["sources"][0]["devices"].clone();
    let report = devices(AOS);
    assert_eq!(report[0]["name"], "NVIDIA H200");
    assert_eq!(devices(AOS_CSV), report);
    assert_eq!(
        devices("fixtures/csv/aos_details.csv.zst"),
        serde_json::json!([{ "name": null, "compute_capability": "9.0", "multiprocessors": null }])
    );
}
