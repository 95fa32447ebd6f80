//! Pages about findings, metrics, stall reasons and terms.

use crate::driver::{ridge, snapshot};

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
