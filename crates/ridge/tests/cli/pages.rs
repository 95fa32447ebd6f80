//! Pages for people, each as a snapshot.

use crate::driver::{AOS, AOS_CSV, BANK_CONFLICT, Run, VADD, ridge, snapshot};

/// Width in columns, as the environment asks for it.
fn page(arguments: &[&str], columns: usize) -> Run {
    let columns_text = columns.to_string();
    let run = ridge(arguments).env("COLUMNS", &columns_text).run().fine();
    for line in run.stdout.lines() {
        // Metric names and file names are never cut or broken.
        let width = line.chars().count();
        let has_long_word = line.split_whitespace().any(|word| word.len() > 40);
        assert!(width <= columns || has_long_word, "{width} columns: {line}");
    }
    run
}

#[test]
fn help() {
    for (name, arguments) in [
        ("help", &["--help"][..]),
        ("help_short", &["-h"]),
        ("help_why", &["why", "--help"]),
        ("help_bound", &["bound", "--help"]),
        ("help_bound_gemm", &["bound", "gemm", "-h"]),
        ("help_ceilings", &["ceilings", "--help"]),
        ("help_check", &["check", "--help"]),
        ("help_devices", &["devices", "--help"]),
        ("help_doctor", &["doctor", "--help"]),
        ("help_export", &["export", "--help"]),
        ("help_gallery", &["gallery", "--help"]),
        ("help_history", &["history", "--help"]),
        ("help_history_list", &["history", "list", "--help"]),
        ("help_learn", &["learn", "--help"]),
        ("help_lint", &["lint", "--help"]),
        ("help_occupancy", &["occupancy", "--help"]),
        ("help_roofline", &["roofline", "--help"]),
        ("help_sanitize", &["sanitize", "--help"]),
        ("help_explain", &["explain", "--help"]),
    ] {
        snapshot(name, &ridge(arguments).run().fine().stdout);
    }
    // The same text, however it is asked for.
    let help = ridge(["why", "--help"]).run().stdout;
    assert_eq!(ridge(["help", "why"]).run().fine().stdout, help);
}

#[test]
fn the_help_fits_in_80_columns() {
    for arguments in [
        &["--help"][..],
        &["why", "--help"],
        &["bound", "--help"],
        &["bound", "gemm", "-h"],
        &["ceilings", "--help"],
        &["check", "--help"],
        &["devices", "--help"],
        &["doctor", "--help"],
        &["export", "--help"],
        &["gallery", "--help"],
        &["learn", "--help"],
        &["lint", "--help"],
        &["occupancy", "--help"],
        &["roofline", "--help"],
        &["sanitize", "--help"],
        &["explain", "--help"],
    ] {
        page(arguments, 80);
    }
}

/// The profiler was stopped in the middle of the launch.
#[test]
fn a_launch_without_counters() {
    let path = "fixtures/reports/small/cut_short.ncu-rep.zst";
    let run = page(&["why", path], 80);
    snapshot("why_cut_short_80", &run.stdout);
}

#[test]
fn why() {
    snapshot("why_vadd_80", &page(&["why", VADD], 80).stdout);
    snapshot("why_vadd_120", &page(&["why", VADD], 120).stdout);
    snapshot(
        "why_bankconflict_80",
        &page(&["why", BANK_CONFLICT], 80).stdout,
    );
    snapshot(
        "why_bankconflict_120",
        &page(&["why", BANK_CONFLICT], 120).stdout,
    );
    snapshot("why_aos_80", &page(&["why", AOS], 80).stdout);
    snapshot("why_csv_80", &page(&["why", AOS_CSV], 80).stdout);
}

/// Kernels that wait: too few warps, too little in flight, chains of arithmetic, and SMs without work.
#[test]
fn why_they_wait() {
    for name in ["list_walk", "int8_dot", "horner_chain"] {
        let file = format!("fixtures/gallery/{name}.ncu-rep.zst");
        snapshot(
            &format!("why_{name}_80"),
            &page(&["why", &file, "--top", "1"], 80).stdout,
        );
    }
    let graph = "fixtures/reports/small/graph.ncu-rep.zst";
    snapshot("why_graph_80", &page(&["why", graph, "--all"], 80).stdout);
}

#[test]
fn why_with_options() {
    snapshot(
        "why_aos_verbose_120",
        &page(&["why", AOS, "-v"], 120).stdout,
    );
    snapshot(
        "why_vadd_all_100",
        &page(&["why", VADD, "--all"], 100).stdout,
    );
    snapshot(
        "why_aos_top_1",
        &page(&["why", AOS, "--top", "1"], 100).stdout,
    );
    snapshot(
        "why_two_files_one_kernel",
        &page(&["why", AOS, VADD, "--kernel", "_slow"], 100).stdout,
    );
    snapshot(
        "why_three_files_80",
        &page(&["why", AOS, AOS_CSV, VADD, "--top", "1"], 80).stdout,
    );
}

#[test]
fn a_locale_without_unicode_gets_ascii() {
    for (name, value) in [
        ("LC_ALL", "C"),
        ("LANG", "POSIX"),
        ("LC_CTYPE", "de_DE.ISO-8859-1"),
    ] {
        let run = ridge(["why", AOS, AOS_CSV, VADD, "-v", "--all"])
            .env(name, value)
            .run()
            .fine();
        assert!(
            run.stdout.is_ascii(),
            "{name}={value}\n{}",
            run.transcript()
        );
    }
    let run = ridge(["why", BANK_CONFLICT])
        .env("LC_ALL", "C")
        .env("COLUMNS", "80")
        .run();
    snapshot("why_bankconflict_ascii_80", &run.fine().stdout);
    // The order of the variables is that of POSIX; an empty one counts as absent.
    let run = ridge(["why", VADD])
        .env("LC_ALL", "")
        .env("LC_CTYPE", "C.UTF-8")
        .env("LANG", "C")
        .run()
        .fine();
    assert!(!run.stdout.is_ascii());
}

#[test]
fn colour_adds_nothing_but_colour() {
    let plain = ridge(["why", BANK_CONFLICT, "--color", "never"])
        .run()
        .fine()
        .stdout;
    assert!(!plain.contains('\x1b'));
    let coloured = ridge(["why", BANK_CONFLICT, "--color", "always"])
        .run()
        .fine()
        .stdout;
    assert_eq!(without_colour(&coloured), plain);
    // In a pipe there is none unless it is asked for, and asking counts more than NO_COLOR.
    assert_eq!(ridge(["why", BANK_CONFLICT]).run().fine().stdout, plain);
    let run = ridge(["why", BANK_CONFLICT, "--color", "always"])
        .env("NO_COLOR", "1")
        .run();
    assert_eq!(run.fine().stdout, coloured);
    // Escapes as text, so that the snapshot can be read.
    snapshot("why_bankconflict_colour", &coloured.replace('\x1b', "^"));
}

fn without_colour(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        out.push_str(before);
        rest = after.split_once('m').expect("a whole sequence").1;
    }
    out + rest
}

#[test]
fn quiet_keeps_the_page_as_it_is() {
    let run = ridge(["why", AOS]).run().fine();
    assert_eq!(
        ridge(["why", AOS, "--quiet"]).run().fine().stdout,
        run.stdout
    );
}

#[test]
fn a_nonsensical_width_is_no_width() {
    let usual = ridge(["why", AOS]).run().fine().stdout;
    for columns in ["0", "-3", "wide", ""] {
        let run = ridge(["why", AOS]).env("COLUMNS", columns).run().fine();
        assert_eq!(run.stdout, usual, "COLUMNS={columns:?}");
    }
}
