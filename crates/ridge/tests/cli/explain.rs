//! Pages about findings, metrics, stall reasons and terms.

use crate::driver::{ridge, root, snapshot};

#[test]
fn pages() {
    for (name, arguments) in [
        ("explain_finding", &["explain", "bank-conflicts"][..]),
        (
            "explain_metric",
            &["explain", "dram__bytes_read.sum.per_second"],
        ),
        (
            "explain_stall_metric",
            &[
                "explain",
                "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
            ],
        ),
        ("explain_stall", &["explain", "mio_throttle"]),
        ("explain_term", &["explain", "issue", "slot"]),
        (
            "explain_markdown",
            &["explain", "wave", "--format", "markdown"],
        ),
        ("explain_list", &["explain"]),
    ] {
        let page = ridge(arguments)
            .env("COLUMNS", "80")
            .env("LANG", "C.UTF-8")
            .run()
            .fine()
            .stdout;
        snapshot(name, &page);
        if name != "explain_markdown" {
            assert!(
                page.lines().all(|line| line.chars().count() <= 80),
                "{page}"
            );
        }
    }
}

#[test]
fn names_that_the_profiler_shows_lead_to_their_page() {
    for (name, title) in [
        ("stall_long_sb", "long_scoreboard"),
        ("stall_short_sb", "short_scoreboard"),
        ("stall_lg", "lg_throttle"),
        ("stall_no_inst", "no_instruction"),
        ("stall_barrier", "barrier"),
        ("Stall Wait", "wait"),
    ] {
        let page = ridge(["explain", name]).run().fine().stdout;
        assert!(page.starts_with(&format!("{title}\n")), "{name}: {page}");
    }
}

#[test]
fn columns_of_the_source_page_are_stall_reasons() {
    let file = std::fs::File::open(root().join("fixtures/csv/aos_source.csv.zst")).unwrap();
    let text = String::from_utf8(zstd::decode_all(file).unwrap()).unwrap();
    let columns: std::collections::BTreeSet<&str> = text
        .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .filter(|word| word.starts_with("stall_"))
        .collect();
    assert!(columns.len() > 10);
    for column in columns {
        ridge(["explain", column])
            .run()
            .fine()
            .shows("A stall reason");
    }
}

#[test]
fn misspelt_metrics_are_told() {
    ridge(["explain", "dram__bytes_raed.sum"])
        .env("COLUMNS", "200")
        .run()
        .fine()
        .shows("Did you mean dram__bytes_read?");
    ridge(["explain", "dram_bytes_read"])
        .run()
        .code(2)
        .says("`ridge explain dram__bytes_read`");
    let right = ridge(["explain", "dram__bytes_read.sum"]).run().fine();
    assert!(!right.stdout.contains("known here"), "{}", right.stdout);
}

#[test]
fn unknown_names_are_wrong_usage() {
    let run = ridge(["explain", "bank-conflict"])
        .run()
        .code(2)
        .shows_nothing();
    snapshot("explain_unknown", &run.transcript());
    ridge(["explain", "xyzzyxyzzy"])
        .run()
        .code(2)
        .says("lists what can be explained");
}

#[test]
fn without_unicode_pages_are_ascii() {
    let page = ridge(["explain", "no-reuse"])
        .env("LANG", "C")
        .run()
        .fine()
        .stdout;
    assert!(page.is_ascii(), "{page}");
}
