use super::super::{Verdict, judge, outcome};
use super::*;

const CAPTURED: &[u8] = include_bytes!("../../../../../fixtures/sanitizer/captured.txt");

fn captured() -> Vec<Run> {
    read(CAPTURED).unwrap().runs
}

fn one(text: &str) -> Run {
    let reading = read(format!("========= COMPUTE-SANITIZER\n{text}").as_bytes()).unwrap();
    assert_eq!(reading.problem, None);
    reading.runs.into_iter().next().unwrap()
}

#[test]
fn every_case_that_was_captured() {
    let lines: Vec<String> = captured()
        .iter()
        .map(|run| {
            let first = run.records.first();
            format!(
                "{} {} records, first {} in {} at {}, errors {:?}, {}",
                run.tool.map_or("?", Tool::name),
                run.records.len(),
                first.map_or("-", |record| record.kind.name()),
                first.and_then(Record::kernel).unwrap_or("-"),
                first.and_then(|record| record.place.as_ref()).map_or_else(
                    String::new,
                    |place| format!(
                        "{}:{}",
                        place.file.as_deref().unwrap_or("-"),
                        place.line.unwrap_or(0)
                    )
                ),
                run.summary.errors,
                judge(run, None).verdict.name(),
            )
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
    let all = captured();
    let verdicts = all.iter().map(|run| judge(run, None).verdict);
    assert_eq!(outcome(verdicts), super::super::Outcome::Faults);
}

#[test]
fn a_record_has_all_that_was_printed() {
    let runs = captured();
    let first = &runs[0].records[0];
    insta::assert_debug_snapshot!(first);
    // The last one of that case is cut off after its host frame.
    let last = runs[0].records.last().unwrap();
    assert_eq!(last.thread, Some([254, 0, 0]));
    assert_eq!(last.host_site().unwrap().function.as_deref(), Some("main"));
}

#[test]
fn a_race_has_its_accesses_and_hazards() {
    let runs = captured();
    let race = &runs[2].records[0];
    assert_eq!(runs[2].tool, Some(Tool::Racecheck));
    assert_eq!(race.accesses.len(), 2);
    assert_eq!(race.accesses[1].direction, "read");
    assert_eq!(race.accesses[1].hazards, Some(256));
    assert_eq!(race.accesses[1].place.offset, Some(0xa0));
    let hazard = one(
        "========= WARNING: (Warp Level Programming) Potential RAW hazard detected at __shared__ 0x8 in block (1,0,0) :\n\
         =========     Write Thread (0,0,0) at 0xd0 in race.cu:18:k(int*)\n\
         =========     Read Thread (2,0,0) at 0xe0 in race.cu:27:k(int*)\n\
         =========     Current Value : 0, Incoming Value : 1\n",
    );
    let hazard = &hazard.records[0];
    assert_eq!(hazard.kind, FaultKind::Race);
    assert_eq!(hazard.severity, Severity::Warning);
    assert_eq!(hazard.block, Some([1, 0, 0]));
    assert_eq!(hazard.place.as_ref().unwrap().line, Some(18));
    assert_eq!(hazard.accesses[1].thread, Some([2, 0, 0]));
    assert_eq!(hazard.more, ["Current Value : 0, Incoming Value : 1"]);
}

/// Lines of the vendor's guide and of published logs, of versions that were not run here.
#[test]
fn forms_of_other_versions() {
    let run = one("========= Invalid __local__ write of size 8 bytes\n\
         =========     at 0x160 in demo.cu:6:unaligned_kernel(void)\n\
         =========     by thread (0,0,0) in block (2,0,0)\n\
         =========     Address 0x7f6510c00001 is misaligned\n\
         ========= Invalid __global__ atomic of size 4 bytes\n\
         =========     at k(int *)+0x10\n\
         =========         in other.cu:9\n\
         =========     Address 0x10 is out of bounds\n\
         =========     and is 1,016 bytes before the nearest allocation at 0x7f00 of size 1,024 bytes\n\
         ========= Malloc/Free error encountered : Double free\n\
         ========= Unused __global__ memory in allocation 0x7f00 of size 400 bytes\n\
         ========= ERROR SUMMARY: 104 errors\n\
         ========= ERROR SUMMARY: 100 errors were not printed. Use --print-limit option to adjust the number of printed errors\n");
    let kinds: Vec<&str> = run
        .records
        .iter()
        .map(|record| record.kind.name())
        .collect();
    assert_eq!(
        kinds,
        ["misaligned", "out-of-bounds", "heap", "unused-memory"]
    );
    let place = run.records[1].place.as_ref().unwrap();
    assert_eq!(
        (place.file.as_deref(), place.line),
        (Some("other.cu"), Some(9))
    );
    let nearest = run.records[1].memory.as_ref().unwrap().nearest.as_ref();
    assert_eq!(nearest.unwrap().side, Side::Before);
    assert_eq!(nearest.unwrap().distance_bytes, Some(1016));
    assert_eq!(run.summary.errors, Some(104));
    assert_eq!(run.summary.not_printed, Some(100));
}

#[test]
fn silence_is_not_called_clean() {
    let verdict = |text: &str| judge(&one(text), None);
    assert_eq!(verdict("").verdict, Verdict::Inconclusive);
    assert_eq!(
        verdict("========= ERROR SUMMARY: 0 errors\n").verdict,
        Verdict::Clean
    );
    for line in [
        "Internal Sanitizer Error: The Sanitizer encountered an error",
        "Error: Target application terminated before first instrumented API call",
        "Error: process didn't terminate successfully",
    ] {
        let judged = verdict(&format!("========= {line}\n"));
        assert_eq!(judged.verdict, Verdict::Inconclusive, "{line}");
        let judged = verdict(&format!(
            "========= {line}\n========= ERROR SUMMARY: 0 errors\n"
        ));
        assert_ne!(judged.verdict, Verdict::Faults, "{line}");
    }
    let judged = verdict("========= ERROR SUMMARY: 3 errors\n");
    assert_eq!(
        judged.verdict,
        Verdict::Faults,
        "counted, although not understood"
    );
    let headless = read(b"========= ERROR SUMMARY: 0 errors\n").unwrap();
    assert_eq!(
        judge(&headless.runs[0], None).verdict,
        Verdict::Inconclusive
    );
}

#[test]
fn warnings_and_noise_alone_decide_nothing() {
    let warning = one(
        "========= Warning: Race reported between Write access at k+0x1 in a.cu:1\n\
         =========     and Read access at k+0x2 in a.cu:2 [4 hazards]\n\
         ========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)\n",
    );
    assert_eq!(warning.summary.warnings, Some(1));
    assert_eq!(judge(&warning, None).verdict, Verdict::Inconclusive);
    let probe = one(
        "========= Program hit cudaErrorInvalidDevice (error 101) due to \"invalid device ordinal\" on CUDA API call to cudaDeviceCanAccessPeer.\n\
         =========     Saved host backtrace up to driver entry point at error\n\
         =========         Host Frame: ncclInit [0x1] in /usr/lib/libnccl.so.2\n\
         ========= ERROR SUMMARY: 1 error\n",
    );
    assert_eq!(judge(&probe, None).verdict, Verdict::Inconclusive);
}

#[test]
fn a_log_may_have_something_before_each_line() {
    let text = b"12:00 ========= COMPUTE-SANITIZER\n12:01 ========= Leaked 8 bytes at 0x10\n12:02 app: ========== done\n\
        12:02 ========= ERROR SUMMARY: 1 error\r\n";
    let runs = read(text).unwrap().runs;
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].records.len(), 1);
    assert_eq!(runs[0].summary.errors, Some(1));
    // Where the tool writes at the start of lines, a line of the program that looks alike is the program's.
    let run = one("result ========= Leaked 8 bytes at 0x10\n========= ERROR SUMMARY: 0 errors\n");
    assert!(run.records.is_empty());
}

#[test]
fn what_is_not_of_the_tool_is_refused() {
    assert_eq!(
        read(b"hello\n==========\n").unwrap_err(),
        Error::NotSanitizer
    );
    assert_eq!(read(b"\x01\0\0\0SAVE").unwrap_err(), Error::Binary);
    assert_eq!(super::super::read(b" \n").unwrap_err(), Error::Empty);
}

#[test]
fn damage_does_no_harm() {
    for end in (0..CAPTURED.len()).step_by(97) {
        let _ = read(&CAPTURED[..end]);
    }
    for at in (0..CAPTURED.len()).step_by(113) {
        let mut bytes = CAPTURED.to_vec();
        bytes[at] ^= 0x55;
        let runs = read(&bytes).unwrap().runs;
        assert!(runs.len() >= 11);
    }
}

proptest::proptest! {
    #[test]
    fn no_line_makes_it_fail(lines in proptest::collection::vec(".{0,80}", 0..20)) {
        let text: String = lines.iter().map(|line| format!("========= {line}\n")).collect();
        let run = read(format!("========= COMPUTE-SANITIZER\n{text}").as_bytes());
        proptest::prop_assert!(run.is_ok());
    }

    #[test]
    fn a_place_that_is_written_is_read(
        function in "[a-zA-Z_][a-zA-Z0-9_:<>(), *]{0,40}",
        file in "[a-z/][a-z0-9_./ -]{0,30}\\.cu",
        number in 1..1_000_000_u32,
        offset in 0..u64::from(u32::MAX),
    ) {
        let place = place(&format!("{function}+{offset:#x} in {file}:{number}"));
        proptest::prop_assert_eq!(place.function.as_deref(), Some(function.trim()));
        proptest::prop_assert_eq!(place.file.as_deref(), Some(&*file));
        proptest::prop_assert_eq!((place.line, place.offset), (Some(number), Some(offset)));
    }
}

/// Programs that fail, crash or never use CUDA, as the tool tells of them.
#[test]
fn endings_are_told_apart() {
    use super::super::{End, Reason};
    let text = include_str!("../../../../../fixtures/sanitizer/endings.txt");
    let of = |case: &str, end: End| {
        let (_, rest) = text.split_once(case).unwrap();
        let (_, body) = rest.split_once('\n').unwrap();
        let body = body.split("###").next().unwrap();
        let run = read(body.as_bytes()).unwrap().runs.remove(0);
        (judge(&run, Some(&end)), run)
    };
    let (judged, _) = of("memcheck ./own 3", End::Code(3));
    assert_eq!(judged.verdict, Verdict::TargetFailed);
    assert_eq!(judged.reasons, [Reason::TargetFailed]);
    let (judged, _) = of("memcheck ./own s", End::Signal(11));
    assert_eq!(judged.verdict, Verdict::TargetFailed);
    assert_eq!(judged.reasons, [Reason::TargetCrashed]);
    // 255 is the tool's own code; the program returned 0 and 5.
    for case in ["memcheck ./own n", "memcheck ./own N", "memcheck /bin/true"] {
        let (judged, run) = of(case, End::Code(255));
        assert_eq!(judged.verdict, Verdict::Inconclusive, "{case}");
        assert_eq!(judged.reasons, [Reason::NoCuda]);
        assert_eq!(run.notices[0].kind, NoticeKind::NoCuda);
    }
    let (judged, run) = of("--print-limit 3 ./faults m", End::Code(1));
    assert_eq!(judged.verdict, Verdict::Faults);
    assert_eq!(run.summary.errors, Some(33));
    assert_eq!(run.summary.not_printed, Some(30));
    assert_eq!(run.records.len(), 3);
}
