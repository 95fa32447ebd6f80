//! `ridge devices`: the table, one device, a table of one's own, and what is refused.

use std::fmt::Write;

use serde_json::Value;

use crate::driver::{Folder, ridge, snapshot};
use crate::schema::{named, violations};

fn document(arguments: &[&str]) -> Value {
    let all = ["devices", "--format", "json"].iter().chain(arguments);
    let document = ridge(all).run().fine().json();
    let found = violations(&named("devices"), &document);
    assert!(found.is_empty(), "{arguments:?}\n{}", found.join("\n"));
    document
}

fn names(document: &Value) -> Vec<&str> {
    let devices = document["devices"].as_array().unwrap();
    devices
        .iter()
        .map(|device| device["name"].as_str().unwrap())
        .collect()
}

#[test]
fn pages() {
    for (name, arguments, columns) in [
        ("devices_80", &["devices"][..], "80"),
        ("devices_120", &["devices"], "120"),
        ("devices_h200_80", &["devices", "h200"], "80"),
        ("devices_b300_100", &["devices", "b300"], "100"),
        ("devices_capability", &["devices", "12.0"], "100"),
    ] {
        let page = ridge(arguments).env("COLUMNS", columns).run().fine().stdout;
        snapshot(name, &page);
        let columns = columns.parse().unwrap();
        assert!(
            page.lines().all(|line| line.chars().count() <= columns),
            "{page}"
        );
    }
}

#[test]
fn documents_hold_peaks_with_clock_and_source() {
    assert_eq!(names(&document(&[])).len(), 42);
    let h100 = document(&["H100", "SXM"]);
    let device = &h100["devices"][0];
    assert_eq!(device["name"], "H100 SXM");
    let peaks = device["peaks"].as_array().unwrap();
    let bf16 = peaks
        .iter()
        .find(|peak| peak["label"] == "BF16 tensor, FP32 accumulate")
        .unwrap();
    assert_eq!(bf16["operations_per_s"], 989.4e12);
    assert_eq!(bf16["clock_hz"], 1.83e9);
    assert_eq!(bf16["operations_per_cycle"], 4096.0);
    assert_eq!(bf16["origin"], "derived");
    // What no sheet promises is null, not zero.
    assert_eq!(
        document(&["t4"])["devices"][0]["nvlink_bytes_per_s"],
        Value::Null
    );
}

#[test]
fn names_are_found_in_many_spellings() {
    for name in ["h100-sxm", "H100_SXM", "nvidia h100 80gb hbm3", "h100sxm"] {
        assert_eq!(names(&document(&[name])), ["H100 SXM"], "{name}");
    }
    assert_eq!(
        names(&document(&["h100"])),
        ["H100 PCIe", "H100 SXM", "H100 NVL"]
    );
    assert_eq!(names(&document(&["7.5"])), ["T4", "RTX 2080 Ti"]);
}

#[test]
fn the_csv_can_be_read_again() {
    let folder = Folder::new();
    ridge(["devices", "-o", "own.csv"])
        .within(&folder)
        .run()
        .fine();
    let again = ridge(["devices", "--devices", "own.csv", "--format", "csv"])
        .within(&folder)
        .run()
        .fine();
    assert_eq!(again.stdout, folder.read("own.csv"));
}

#[test]
fn a_table_of_ones_own_goes_first() {
    let table = "name,cc,sm,boost_mhz,mem_gbs\nH100 SXM,9.0,132,1980,3000\nMy \u{1b}[31mGPU,8.9,46,2475,504\n";
    let folder = Folder::with("own.csv", table);
    let run = ridge([
        "bound",
        "--bytes",
        "3GB",
        "--device",
        "h100-sxm",
        "--devices",
        "own.csv",
        "--format",
        "json",
    ])
    .within(&folder)
    .run()
    .fine();
    assert!((run.json()["lower_bound_ns"].as_f64().unwrap() - 1e6).abs() < 1.0);
    for arguments in [
        &["devices", "my", "--devices", "own.csv"][..],
        &[
            "bound",
            "copy",
            "--bytes",
            "1GB",
            "--device",
            "my",
            "--devices",
            "own.csv",
        ],
    ] {
        let run = ridge(arguments).within(&folder).run().fine();
        assert!(!run.stdout.contains('\u{1b}'), "{}", run.transcript());
    }
}

#[test]
fn mistakes() {
    let folder = Folder::with("report.bin", [0xff, 0xfe, 0x00]);
    folder.write("wrong.csv", "name,cc,bandwith\nX,9.0,1\n");
    folder.write("cell.csv", "name,cc,mem_gbs\nX,9.0,3.35 TB/s\n");
    let mut text = String::new();
    for (arguments, code) in [
        (&["devices", "h300"][..], 2),
        (&["devices", "xyzzyxyzzy"], 2),
        (&["devices", "-o", "x.svg"], 2),
        (&["devices", "--devices", "missing.csv"], 3),
        (&["devices", "--devices", "report.bin"], 3),
        (&["devices", "--devices", "wrong.csv"], 3),
        (&["devices", "--devices", "cell.csv"], 3),
    ] {
        let run = ridge(arguments)
            .within(&folder)
            .run()
            .code(code)
            .shows_nothing();
        writeln!(text, "$ ridge {}\n{}", arguments.join(" "), run.stderr).unwrap();
    }
    snapshot("devices_mistakes", &text);
}

#[test]
fn without_unicode_pages_are_ascii() {
    for arguments in [&["devices"][..], &["devices", "b300"]] {
        let page = ridge(arguments).env("LC_ALL", "C").run().fine().stdout;
        assert!(page.is_ascii(), "{page}");
    }
}

/// What has to be checked is marked in the list, at every width.
#[test]
fn rows_of_low_confidence_are_marked() {
    for (columns, mark) in [("80", "A10G  ?"), ("120", "low")] {
        let run = ridge(["devices"]).env("COLUMNS", columns).run().fine();
        let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = |name: &str| {
            let mut lines = run.stdout.lines();
            squeezed(lines.find(|line| line.starts_with(name)).unwrap())
        };
        let mark = squeezed(mark);
        assert!(line("A10G ").contains(&mark), "{}", run.stdout);
        assert!(!line("T4 ").contains('?') && !line("T4 ").contains("low"));
    }
}

/// A number that is a compute capability is one, before it is a part of names; PCI ids come from tables of users.
#[test]
fn numbers_and_pci_ids_are_found() {
    for number in ["10", "10.0", "100", "sm_100"] {
        assert_eq!(
            names(&document(&[number])),
            ["B200", "GB200 (per GPU)"],
            "{number}"
        );
    }
    let folder = Folder::with("own.csv", "name,cc,pci_ids\nLab H200,9.0,10de:2335\n");
    let own = |name: &str| {
        ridge(["devices", name, "--devices", "own.csv"])
            .within(&folder)
            .run()
    };
    own("10DE:2335").fine().shows("Lab H200").shows("10de:2335");
    own("10de:ffff").code(2).says("pci_ids");
    ridge(["devices", "10de:2335"])
        .run()
        .fine()
        .shows("H200 SXM");
}

/// Half of a compute capability is not a name that is near to others.
#[test]
fn a_major_number_offers_its_capabilities() {
    ridge(["devices", "9"]).run().code(2).says("9.0 (H100 PCIe");
    ridge(["devices", "8"])
        .run()
        .code(2)
        .says("8.0 (")
        .says(" or 8.6 (")
        .says("8.9 (");
    let none = ridge(["devices", "6"]).run().code(2);
    assert!(
        !none.stderr.contains("compute capabilities"),
        "{}",
        none.stderr
    );
}
