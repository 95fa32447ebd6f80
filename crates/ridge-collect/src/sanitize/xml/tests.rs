use std::io::Read;
use std::path::Path;

use super::super::{Tool, Verdict, groups, judge};
use super::*;

/// The file as it is, unpacked.
fn content(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    if path.extension().is_some_and(|extension| extension == "gz") {
        let mut out = Vec::new();
        flate2::read::GzDecoder::new(bytes.as_slice())
            .read_to_end(&mut out)
            .unwrap();
        return out;
    }
    bytes
}

fn fixtures() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/sanitizer");
    let mut found: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains(".xml"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, content(&path))
        })
        .collect();
    found.sort();
    found
}

#[test]
fn every_file_that_was_captured() {
    let lines: Vec<String> = fixtures()
        .iter()
        .map(|(name, bytes)| {
            let reading = read(bytes).unwrap();
            assert_eq!(reading.problem, None);
            let run = &reading.runs[0];
            let groups = groups(&reading.runs);
            let shown: Vec<String> = groups
                .iter()
                .map(|group| {
                    let place = group.first.place.clone().unwrap_or_default();
                    format!(
                        "{}x {} in {} at {}:{}",
                        group.count,
                        group.first.kind.name(),
                        group.first.kernel().unwrap_or("-"),
                        place.file.as_deref().unwrap_or("-"),
                        place.line.unwrap_or(0),
                    )
                })
                .collect();
            format!(
                "{name}: {} {} [{}]",
                run.tool.map_or("?", Tool::name),
                judge(run, None).verdict.name(),
                shown.join(", ")
            )
        })
        .collect();
    assert_eq!(lines.len(), 12);
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_record_has_all_that_was_written() {
    let files = fixtures();
    let of = |name: &str| {
        let (_, bytes) = files.iter().find(|(file, _)| file == name).unwrap();
        read(bytes).unwrap().runs.remove(0).records.remove(0)
    };
    let write = of("memcheck_w.xml.gz");
    assert_eq!(write.thread, Some([250, 0, 0]));
    assert_eq!(write.kernel(), Some("write_past_end"));
    let memory = write.memory.as_ref().unwrap();
    assert_eq!(memory.space.as_deref(), Some("global"));
    assert_eq!(
        (memory.bytes, memory.direction.as_deref()),
        (Some(4), Some("write"))
    );
    assert_eq!(write.host_site().unwrap().function.as_deref(), Some("main"));
    let race = of("racecheck_r.xml");
    assert_eq!(race.accesses[1].hazards, Some(256));
    assert_eq!(race.place.as_ref().unwrap().line, Some(7));
    assert_eq!(
        of("synccheck_s.xml.gz").text,
        "Barrier error: Divergent thread(s) in warp"
    );
    assert_eq!(of("memcheck_a.xml.gz").text, "Warp assert");
    assert!(of("memcheck_x.xml").text.contains("\"invalid argument\""));
}

#[test]
fn a_cut_file_gives_the_records_before_the_cut() {
    let files = fixtures();
    let (_, bytes) = files
        .iter()
        .find(|(name, _)| name == "memcheck_l.xml")
        .unwrap();
    let reading = read(&bytes[..4000]).unwrap();
    assert_eq!(reading.runs[0].records.len(), 2);
    assert!(matches!(reading.problem, Some(Error::CutOff { .. })));
    assert_eq!(judge(&reading.runs[0], None).verdict, Verdict::Faults);
    for (_, bytes) in &files {
        for end in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
            let _ = read(&bytes[..end]);
        }
        for at in (0..bytes.len()).step_by(bytes.len() / 60 + 1) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x11;
            let _ = read(&bytes);
        }
    }
}

fn problem(inner: &str) -> Error {
    let text =
        format!("<?xml version=\"1.0\"?><ComputeSanitizerOutput>{inner}</ComputeSanitizerOutput>");
    read(text.as_bytes()).unwrap().problem.unwrap()
}

#[test]
fn hostile_xml_is_refused() {
    let bomb = "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY a \"b\">]><ComputeSanitizerOutput/>";
    assert!(matches!(
        read(bomb.as_bytes()),
        Err(Error::DocumentType { offset: 21 })
    ));
    assert!(matches!(
        problem("<record><kind>&lol;</kind></record>"),
        Error::Entity { .. }
    ));
    assert!(matches!(
        problem("<record><kind>&#xD800;</kind></record>"),
        Error::Entity { .. }
    ));
    assert!(matches!(problem(&"<a>".repeat(40)), Error::TooDeep { .. }));
    assert!(matches!(
        problem(&"<a>".repeat(100_000)),
        Error::TooDeep { .. }
    ));
    let wide = format!("<record>{}</record>", "<x></x>".repeat(MOST_PARTS + 1));
    assert!(matches!(problem(&wide), Error::TooLarge { .. }));
    assert!(matches!(
        problem("<record></what></record>"),
        Error::Malformed { .. }
    ));
    assert!(matches!(
        problem("<record><1></1></record>"),
        Error::Malformed { .. }
    ));
    assert!(matches!(
        read(b"<html></html>"),
        Err(Error::OtherXml { .. })
    ));
    assert!(matches!(read(b"<!-- never"), Err(Error::CutOff { .. })));
}

#[test]
fn unknown_elements_are_kept_as_lines() {
    let text = "<ComputeSanitizerOutput><session><version>3</version></session><record><kind>New</kind>\
        <what><text>Something new</text><cluster>4 &lt; 5</cluster></what></record></ComputeSanitizerOutput>";
    let reading = read(text.as_bytes()).unwrap();
    let record = &reading.runs[0].records[0];
    assert_eq!(record.kind, FaultKind::Other);
    assert_eq!(record.more, ["cluster: 4 < 5"]);
    assert_eq!(judge(&reading.runs[0], None).verdict, Verdict::Faults);
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_fail(text in "[<>/a-c&;! \"=\\-\\[\\]]{0,60}") {
        let _ = read(text.as_bytes());
        let _ = read(format!("<ComputeSanitizerOutput><record>{text}").as_bytes());
    }
}
