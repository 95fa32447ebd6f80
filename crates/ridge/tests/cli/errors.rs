//! Exit codes and messages: what happened, where, and what to do.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use crate::driver::{AOS, Folder, VADD, report, ridge, snapshot};

/// The report cut off inside its second kernel.
fn cut() -> &'static [u8] {
    &report()[..4_000_000]
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, bytes).unwrap();
    encoder.finish().unwrap()
}

/// Zeros that pack some thousandfold.
fn bomb() -> Vec<u8> {
    zstd(&vec![0; (64 << 20) + 1])
}

// One test for each exit code. Code 1 is for faults of our own: no input is known to cause one, so its way is tested
// beside the code, in `src/lib.rs`.

#[test]
fn code_0_is_an_answer() {
    ridge(["why", AOS]).run().fine();
    ridge(["export", AOS, "--metric", "^gpu__time_duration.sum$"])
        .run()
        .fine();
    ridge(["--help"]).run().fine();
    ridge(["--version"]).run().fine().shows("ridge 0.");
}

#[test]
fn code_2_is_wrong_usage() {
    ridge(["why", AOS, "--no-such-option"])
        .run()
        .code(2)
        .shows_nothing();
}

#[test]
fn code_3_is_an_input_that_cannot_be_read() {
    ridge(["why", "Cargo.toml"]).run().code(3).shows_nothing();
}

#[test]
fn code_4_is_a_machine_that_cannot_do_it() {
    let folder = Folder::new();
    ridge(["why", &path(AOS), "--output", "no-such-folder/why.txt"])
        .within(&folder)
        .run()
        .code(4)
        .shows_nothing()
        .says("cannot write no-such-folder/why.txt: its folder does not exist");
    assert!(folder.names().is_empty());
}

fn path(fixture: &str) -> String {
    crate::driver::root()
        .join(fixture)
        .to_string_lossy()
        .into_owned()
}

/// Every message about an input that cannot be read, on one page.
#[test]
fn unreadable_inputs_are_explained() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    let inputs: [(&str, Vec<u8>); 11] = [
        ("empty.ncu-rep", Vec::new()),
        ("text.txt", b"nothing of interest\n".to_vec()),
        ("object.json", b"{\"traceEvents\": []}".to_vec()),
        ("program.cubin", b"\x7fELF\x02\x01\x01\x41".to_vec()),
        ("report.sqlite", b"SQLite format 3\0\x10\x00".to_vec()),
        ("report.qdrep", b"\x01\x00\xfe\xffQDREP".to_vec()),
        ("bomb.ncu-repz", bomb()),
        ("cut-short.ncu-repz", zstd(report())[..60].to_vec()),
        ("cut-short.gz", gzip(report())[..8].to_vec()),
        ("table.csv", b"a,b\n1,2\n".to_vec()),
        ("twice.zst", zstd(&zstd(b"NVR\0"))),
    ];
    let mut page = String::new();
    for (name, content) in &inputs {
        folder.write(name, content);
    }
    let names = inputs.iter().map(|(name, _)| *name);
    for name in names.chain(["folder", "missing.ncu-rep", "missing.ncu-rep#kernel"]) {
        for verb in ["why", "export"] {
            let run = ridge([verb, name])
                .within(&folder)
                .run()
                .code(3)
                .shows_nothing();
            if verb == "why" {
                page.push_str(&run.transcript());
                page.push('\n');
            }
        }
    }
    snapshot("unreadable_inputs", &page);
}

/// Every message about arguments, on one page.
#[test]
fn wrong_arguments_are_explained() {
    let runs: [&[&str]; 18] = [
        &[],
        &["wy"],
        &["why"],
        &["why", AOS, "--kernel", "("],
        &["why", AOS, "--kernel", "no_such_kernel"],
        &["why", AOS, "--kernel", "aos", "--launch", "7"],
        &["why", AOS, "--launch", "7"],
        &["why", AOS, "--launch", "first"],
        &["why", AOS, "--launch", "-1"],
        &["why", AOS, "--format", "yaml"],
        &["why", AOS, "--color", "sometimes"],
        &["why", "-", "-"],
        &["why", "fixtures/reports/aos.ncu-rep.zst#no_such_kernel"],
        &["why", "fixtures/reports/aos.ncu-rep.zst#aos_slow@1"],
        &["why", "fixtures/reports/aos.ncu-rep.zst#aos_slow@x"],
        &["why", AOS, "--output", "why.html"],
        &["export", AOS, "--output", "metrics.xlsx"],
        &["export", AOS, "--kernel", "no_such_kernel"],
    ];
    let mut page = String::new();
    for arguments in runs {
        let run = ridge(arguments.iter().copied())
            .run()
            .code(2)
            .shows_nothing();
        page.push_str(&run.transcript());
        page.push('\n');
    }
    snapshot("wrong_arguments", &page);
}

#[test]
fn the_readable_part_of_a_cut_report_is_shown() {
    let folder = Folder::with("cut.ncu-rep", cut());
    let run = ridge(["why", "cut.ncu-rep"])
        .within(&folder)
        .run()
        .code(3)
        .shows("1  aos_slow")
        .says("not everything could be read");
    assert!(!run.stdout.contains("aos_fixed"), "{}", run.transcript());
    snapshot("cut_report", &run.transcript());

    let run = ridge(["why", "cut.ncu-rep", "--format", "json"])
        .within(&folder)
        .run()
        .code(3);
    let document = run.json();
    let damage: Vec<_> = document["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|warning| warning["code"] == "NCU0003")
        .collect();
    assert_eq!(damage.len(), 1, "{}", run.transcript());
    assert!(damage[0]["offset"].as_u64().unwrap() < 4_000_000);
    let field = damage[0]["field"].as_str().unwrap();
    assert!(field.ends_with("kernel result"), "{field}");
    assert_eq!(document["kernels"].as_array().unwrap().len(), 1);
    let run = run.says(&format!("cut.ncu-rep: {field} (byte "));
    // Quiet says nothing, and the exit code still tells.
    ridge(["why", "cut.ncu-rep", "--format", "json", "--quiet"])
        .within(&folder)
        .run()
        .code(3)
        .shows(run.stdout.as_str());
}

#[test]
fn the_readable_part_of_a_cut_report_is_exported() {
    let folder = Folder::with("cut.ncu-rep", cut());
    ridge([
        "export",
        "cut.ncu-rep",
        "--metric",
        "^gpu__time_duration.sum$",
    ])
    .within(&folder)
    .run()
    .code(3)
    .shows("cut.ncu-rep,0,")
    .says("kernel result: the input ends early");
}

#[test]
fn the_readable_part_of_a_cut_stream_is_shown() {
    let mut packed = zstd(report());
    packed.truncate(packed.len() - packed.len() / 50);
    let folder = Folder::with("cut.ncu-repz", packed);
    ridge(["why", "cut.ncu-repz"])
        .within(&folder)
        .run()
        .code(3)
        .shows("1  aos_slow")
        .shows("! compressed stream (byte ");
}

#[test]
fn a_report_cut_before_its_first_kernel_is_not_called_empty() {
    let folder = Folder::with("cut.ncu-rep", &report()[..500_000]);
    ridge(["why", "cut.ncu-rep"])
        .within(&folder)
        .run()
        .code(3)
        .shows("no kernel could be read");
}

#[test]
fn a_bomb_is_stopped_at_a_stated_limit() {
    let folder = Folder::with("bomb.zst", bomb());
    ridge(["why", "bomb.zst"])
        .within(&folder)
        .run()
        .code(3)
        .says("exceeds the limit of 67108864 bytes");
}

#[test]
fn one_unreadable_input_does_not_hide_the_others() {
    for arguments in [
        ["why", "missing.ncu-rep", AOS, VADD],
        ["why", AOS, "missing.ncu-rep", VADD],
        ["why", AOS, VADD, "missing.ncu-rep"],
    ] {
        ridge(arguments)
            .run()
            .code(3)
            .shows("aos_slow")
            .shows("vadd_slow")
            .says("cannot read missing.ncu-rep: there is no such file");
    }
    ridge(["export", "missing.ncu-rep", AOS])
        .run()
        .code(3)
        .shows("aos_slow")
        .says("cannot read missing.ncu-rep");
    let run = ridge(["why", "missing.ncu-rep", AOS, "--format", "json"])
        .run()
        .code(3);
    assert_eq!(run.json()["sources"].as_array().unwrap().len(), 1);
    // Two different faults: that of the input counts.
    ridge(["why", "missing.ncu-rep", AOS, "--kernel", "no_such_kernel"])
        .run()
        .code(3)
        .says("missing.ncu-rep")
        .says("no kernel matches");
}

#[test]
fn no_file_is_left_or_replaced_without_an_answer() {
    let folder = Folder::with("metrics.csv", "earlier");
    for arguments in [
        vec!["export", "missing.ncu-rep", "--output", "metrics.csv"],
        vec![
            "why",
            "missing.ncu-rep",
            "--format",
            "text",
            "--output",
            "metrics.csv",
        ],
    ] {
        ridge(arguments)
            .within(&folder)
            .run()
            .code(3)
            .shows_nothing();
    }
    ridge([
        "export",
        &path(AOS),
        "--kernel",
        "no_such_kernel",
        "--output",
        "metrics.csv",
    ])
    .within(&folder)
    .run()
    .code(2)
    .says("one of aos_slow, aos_fixed");
    assert_eq!(folder.read("metrics.csv"), "earlier");
    assert_eq!(folder.names(), ["metrics.csv"]);
}

/// An answer that replaces its input would lose it.
#[test]
fn an_input_is_not_the_output() {
    let report = std::fs::read(path(AOS)).unwrap();
    for (verb, name) in [
        ("why", "report.json"),
        ("why", "./report.json"),
        ("export", "report.json"),
        ("roofline", "report.json"),
        ("occupancy", "report.json"),
    ] {
        let folder = Folder::with("report.json", &report);
        ridge([verb, "report.json", "--output", name])
            .within(&folder)
            .run()
            .code(2)
            .says("is an input, and --output would replace it");
        assert_eq!(
            std::fs::read(folder.path().join("report.json")).unwrap(),
            report,
            "{verb}"
        );
    }
}

#[test]
fn the_extension_of_the_output_selects_the_format() {
    let folder = Folder::new();
    let aos = path(AOS);
    for (verb, file, start) in [
        ("why", "a.json", "{\n"),
        ("why", "a.JSON", "{\n"),
        ("why", "a.txt", "/"),
        ("why", "a", "/"),
        ("export", "b.csv", "file,launch,kernel,metric,unit,value\n"),
        ("export", "b.jsonl", "{\"file\":"),
    ] {
        ridge([verb, &aos, "--quiet", "--output", file])
            .within(&folder)
            .run()
            .fine()
            .shows_nothing();
        let text = folder.read(file);
        assert!(
            text.starts_with(start),
            "{file} starts with {:?}",
            &text[..20]
        );
    }
    // An explicit format counts more.
    ridge([
        "why", &aos, "--format", "json", "--quiet", "--output", "c.html",
    ])
    .within(&folder)
    .run()
    .fine();
    assert!(folder.read("c.html").starts_with('{'));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said() {
    ridge(["why", AOS, "--output", "/dev/full"])
        .run()
        .code(4)
        .says("cannot write /dev/full: no space is left on the device");
    for verb in ["why", "export"] {
        let mut command = ridge([verb, AOS]).into_command();
        let full = std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let output = command.stdin(Stdio::null()).stdout(full).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(4), "{message}");
        assert!(
            message.contains("cannot write to standard output: no space is left on the device"),
            "{message}"
        );
    }
}

#[cfg(unix)]
#[test]
fn an_output_has_the_permissions_of_any_new_file_and_links_stay() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let binary = env!("CARGO_BIN_EXE_ridge");
    let status = std::process::Command::new("/bin/sh")
        .args([
            "-c",
            "umask 027; exec \"$0\" \"$@\"",
            binary,
            "why",
            &path(AOS),
            "-o",
            "why.txt",
        ])
        .current_dir(folder.path())
        .status()
        .unwrap();
    assert!(status.success());
    let mode = std::fs::metadata(folder.path().join("why.txt"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);

    let link = folder.path().join("link.json");
    folder.write("target.json", "old");
    std::os::unix::fs::symlink("target.json", &link).unwrap();
    ridge(["why", &path(AOS), "-q", "-o", "link.json"])
        .within(&folder)
        .run()
        .fine();
    assert!(link.is_symlink());
    assert!(folder.read("target.json").starts_with('{'));
}

/// A link is followed also where its target does not exist yet: redirection in a shell makes the target.
#[cfg(unix)]
#[test]
fn a_link_to_nothing_makes_its_target() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("inner")).unwrap();
    // A link to a link, each relative to its own folder.
    symlink("inner/second.json", folder.path().join("first.json")).unwrap();
    symlink("target.json", folder.path().join("inner/second.json")).unwrap();
    symlink("nowhere/target.json", folder.path().join("lost.json")).unwrap();
    symlink("circle.json", folder.path().join("circle.json")).unwrap();
    let write = |name: &str| {
        ridge(["why", &path(AOS), "-q", "-o", name])
            .within(&folder)
            .run()
    };
    write("first.json").fine();
    for link in ["first.json", "inner/second.json"] {
        assert!(folder.path().join(link).is_symlink(), "{link}");
    }
    assert!(folder.read("inner/target.json").starts_with('{'));
    let names = std::fs::read_dir(folder.path().join("inner")).unwrap();
    assert_eq!(names.count(), 2, "no temporary file is left");
    write("lost.json").code(4).says("its folder does not exist");
    write("circle.json").code(4).says("round in circles");
    for link in ["lost.json", "circle.json"] {
        assert!(folder.path().join(link).is_symlink(), "{link}");
    }
}

/// What reads only the first line must not see a panic or a failure.
#[test]
fn a_closed_pipe_is_fine() {
    for arguments in [
        &["export", AOS, "--instances"][..],
        &["export", AOS, "--instances", "--format", "json"],
        &["why", AOS, "--format", "json", "--quiet"],
    ] {
        let mut child = ridge(arguments.iter().copied())
            .into_command()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = String::new();
        // Small, so that the pipe is closed while there is more to come.
        let mut reader = BufReader::with_capacity(16, child.stdout.take().unwrap());
        reader.read_line(&mut first).unwrap();
        drop(reader);
        let status = child.wait().unwrap();
        let mut message = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut message)
            .unwrap();
        assert_eq!(
            (status.code(), message.as_str()),
            (Some(0), ""),
            "{arguments:?}"
        );
    }
}

#[test]
fn standard_input_is_a_dash() {
    for bytes in [report().to_vec(), zstd(report()), gzip(report())] {
        ridge(["why", "-"])
            .stdin(&bytes)
            .run()
            .fine()
            .shows("standard input\n")
            .shows("aos_slow");
    }
    ridge(["why", "--", "-#aos_fixed"])
        .stdin(report())
        .run()
        .fine()
        .shows("1  aos_fixed");
    ridge(["why", "-"])
        .run()
        .code(3)
        .says("cannot read standard input: the input is empty");
}

#[test]
fn packed_files_are_recognised_by_content() {
    let folder = Folder::with("plain.txt", report());
    folder.write("gzip.txt", gzip(report()));
    folder.write("zstd.txt", zstd(report()));
    let pages: Vec<String> = ["plain.txt", "gzip.txt", "zstd.txt"]
        .iter()
        .map(|name| {
            let run = ridge(["why", name]).within(&folder).run().fine();
            run.stdout.replace(name, "NAME")
        })
        .collect();
    assert!(pages[0].contains("aos_slow"));
    assert!(pages.iter().all(|page| *page == pages[0]));
    // Neither does it matter how a file comes into memory.
    let run = ridge(["why", "plain.txt", "--no-mmap"])
        .within(&folder)
        .run()
        .fine();
    assert_eq!(run.stdout.replace("plain.txt", "NAME"), pages[0]);
}

#[test]
fn one_kernel_has_an_address() {
    for address in [format!("{AOS}#aos_fixed"), format!("{AOS}#aos_fixed@1")] {
        let run = ridge(["why", &address]).run().fine().shows("1  aos_fixed");
        assert!(!run.stdout.contains("aos_slow"), "{}", run.transcript());
    }
    let run = ridge([
        "export",
        &format!("{AOS}#aos_slow"),
        "--metric",
        "sm__cycles_elapsed.max$",
    ])
    .run();
    assert_eq!(run.fine().stdout.lines().count(), 2);
    // Each input has its own address.
    let run = ridge([
        "why",
        &format!("{AOS}#aos_slow"),
        &format!("{VADD}#vadd_fixed"),
    ])
    .run()
    .fine();
    assert!(!run.stdout.contains("aos_fixed") && !run.stdout.contains("vadd_slow"));
    // A mistyped one among good ones is said, and is a fault of usage.
    ridge(["why", &format!("{AOS}#nobody"), VADD])
        .run()
        .code(2)
        .shows("vadd_slow")
        .says("holds no kernel \"nobody\"");
}

#[test]
fn a_file_name_may_hold_a_number_sign() {
    let folder = Folder::with("run#3.ncu-rep", report());
    ridge(["why", "run#3.ncu-rep"])
        .within(&folder)
        .run()
        .fine()
        .shows("1  aos_slow");
    ridge(["why", "run#3.ncu-rep#aos_fixed"])
        .within(&folder)
        .run()
        .fine()
        .shows("1  aos_fixed");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_name_need_not_be_unicode() {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.ncu-rep");
    let folder = Folder::with(name, report());
    let run = |arguments: &[&std::ffi::OsStr]| ridge(arguments).within(&folder).run();
    run(&["why".as_ref(), name])
        .fine()
        .shows("caf\u{fffd}.ncu-rep\n");
    run(&["why".as_ref(), name, "-q".as_ref(), "-ocaf.json".as_ref()]).fine();
    assert!(
        folder
            .read("caf.json")
            .contains("\"file\": \"caf\u{fffd}.ncu-rep\"")
    );
    run(&["export".as_ref(), name]).fine();
    let missing = std::ffi::OsStr::from_bytes(b"\xff#k");
    run(&["why".as_ref(), missing])
        .code(3)
        .says("cannot read \u{fffd}#k: there is no such file");
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_explained() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let file = folder.write("private.ncu-rep", report());
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::File::open(&file).is_ok() {
        // The superuser reads everything; there is nothing to see then.
        ridge(["why", "private.ncu-rep"])
            .within(&folder)
            .run()
            .fine();
        return;
    }
    ridge(["why", "private.ncu-rep"])
        .within(&folder)
        .run()
        .code(3)
        .says("permission denied")
        .says("sudo");
}
