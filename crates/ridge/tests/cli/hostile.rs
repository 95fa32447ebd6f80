//! Names from a report or the command line that carry terminal escapes, markup or formulas.

use crate::driver::{Folder, report, ridge};

/// A name as long as `aos_slow`.
const NAME: &[u8; 8] = b"\x1b[31m<b>";
const SHOWN: &str = "\\x1b[31m<b>";

/// The report with one of its kernels renamed everywhere.
fn renamed(name: &[u8; 8]) -> Vec<u8> {
    let mut bytes = report().to_vec();
    let old = b"aos_slow";
    let places: Vec<usize> = (0..bytes.len() - old.len())
        .filter(|place| bytes[*place..].starts_with(old))
        .collect();
    assert!(!places.is_empty());
    for place in places {
        bytes[place..place + old.len()].copy_from_slice(name);
    }
    bytes
}

#[test]
fn no_page_passes_escape_sequences_on() {
    let folder = Folder::with("hostile.ncu-rep", renamed(NAME));
    for arguments in [
        &["why", "hostile.ncu-rep"][..],
        &["why", "hostile.ncu-rep", "-v", "--all"],
        &["export", "hostile.ncu-rep"],
    ] {
        let run = ridge(arguments).within(&folder).run().fine().shows(SHOWN);
        assert!(!run.stdout.contains('\x1b'), "{arguments:?}");
    }
    // With colour, the only sequences are those of the page.
    let run = ridge(["why", "hostile.ncu-rep", "--color", "always"])
        .within(&folder)
        .run()
        .fine();
    let mut rest = run.shows(SHOWN).stdout;
    for ours in [
        "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[4m", "\x1b[32m", "\x1b[33m",
    ] {
        rest = rest.replace(ours, "");
    }
    assert!(!rest.contains('\x1b'));
}

/// With several inputs, their names stand in the table.
#[test]
fn names_of_files_are_escaped_in_the_table() {
    let folder = Folder::with("\x1b[31mred.ncu-rep", report());
    folder.write("plain.ncu-rep", report());
    let files = ["why", "\x1b[31mred.ncu-rep", "plain.ncu-rep", "--top", "1"];
    let run = ridge(files).within(&folder).run().fine();
    assert!(!run.stdout.contains('\x1b'));
    let rows = |name: &str| {
        let rows = run.stdout.lines().filter(|line| line.contains(" %"));
        rows.filter(|line| line.split_whitespace().any(|word| word == name))
            .count()
    };
    // A report holds two kernels; the one that is explained tells its file too.
    assert!(rows("\\x1b[31mred") >= 2, "{}", run.stdout);
    assert!(rows("plain") >= 2, "{}", run.stdout);
}

#[test]
fn documents_hold_the_name_as_it_is() {
    let folder = Folder::with("hostile.ncu-rep", renamed(NAME));
    let run = ridge(["why", "hostile.ncu-rep", "--format", "json", "--quiet"])
        .within(&folder)
        .run()
        .fine();
    assert!(!run.stdout.contains('\x1b'));
    let name = run.json()["kernels"][0]["signature"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(name.contains("\x1b[31m<b>"), "{name:?}");

    let run = ridge(["export", "hostile.ncu-rep", "--format", "json", "--quiet"])
        .within(&folder)
        .run()
        .fine();
    assert!(!run.stdout.contains('\x1b'));
    let row: serde_json::Value = serde_json::from_str(run.stdout.lines().next().unwrap()).unwrap();
    assert!(row["kernel"].as_str().unwrap().contains("\x1b[31m<b>"));
}

#[test]
fn messages_do_not_pass_escape_sequences_on() {
    let folder = Folder::with("hostile.ncu-rep", renamed(NAME));
    let run = ridge(["why", "hostile.ncu-rep", "--kernel", "nobody\x1b[a]"])
        .within(&folder)
        .run();
    let run = run
        .code(2)
        .says("\\u{1b}[a]")
        .says("one of \\x1b, aos_fixed");
    assert!(!run.stderr.contains('\x1b'));
    let run = ridge(["why", "\x1b]0;title\x07.ncu-rep"])
        .run()
        .code(3)
        .says("\\x1b]0;title\\x07");
    assert!(!run.stderr.contains('\x1b'));
}

#[test]
fn a_name_is_no_formula_in_a_spreadsheet() {
    let folder = Folder::with("hostile.ncu-rep", renamed(b"=cmd|'A'"));
    let run = ridge([
        "export",
        "hostile.ncu-rep",
        "--metric",
        "^gpu__time_duration.sum$",
    ]);
    let run = run.within(&folder).run().fine();
    let cell = crate::export::csv(&run.stdout)[1][2].clone();
    assert!(cell.starts_with("'=cmd|"), "{cell}");
}
