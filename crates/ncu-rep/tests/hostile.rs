//! Reports that are damaged, cut off or made to harm: what is there is read, what is not is said, and nothing panics.
//! How much memory they may take is in `memory.rs`.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "tests"
)]

use std::io::Write;
use std::path::PathBuf;

use ncu_rep::{Error, Report, Value, default_limit, unpack};

#[path = "../../../fuzz/src/bodies.rs"]
pub mod bodies;
pub mod support;

use support::{block, capture, fixture, frame, kernel, message, number, report, sized, varint};

const SMALL: &str = "reports/small/triton.ncu-rep.zst";
const LARGE: &str = "reports/vadd.ncu-rep.zst";

/// Problems of a report and of all its parts.
fn problems(bytes: &[u8]) -> Vec<Error> {
    let mut list = Vec::new();
    bodies::walk(&Report::parse(bytes).unwrap(), &mut |error| {
        list.push(error)
    });
    list
}

fn codes(bytes: &[u8]) -> Vec<&'static str> {
    problems(bytes).iter().map(Error::code).collect()
}

/// The fixtures, and with `RIDGE_CORPUS` every report in that folder.
#[test]
fn real_reports_give_no_problem() {
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/reports");
    let mut folders = vec![fixtures];
    folders.extend(std::env::var_os("RIDGE_CORPUS").map(PathBuf::from));
    let mut count = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().contains(".ncu-rep") {
                let packed = std::fs::read(&path).unwrap();
                let unpacked = unpack(&packed, default_limit(packed.len() as u64));
                assert_eq!(unpacked.problem, None, "{}", path.display());
                assert_eq!(problems(&unpacked.bytes), [], "{}", path.display());
                count += 1;
            }
        }
    }
    assert!(count >= 2);
}

/// Cuts a report at a place and checks what is left of it.
fn check_cut(whole: &[u8], frame: &support::Frame, cut: usize) {
    let Ok(report) = Report::parse(&whole[..cut]) else {
        assert!(cut < 4, "{cut}");
        return;
    };
    let kept = frame.results.iter().filter(|end| **end <= cut).count();
    assert_eq!(report.len(), kept, "{cut}");
    // At the end of a block nothing tells that another one should follow.
    let is_silent = frame.blocks.contains(&cut);
    assert_eq!(report.problems().is_empty(), is_silent, "{cut}");
    let [.., last] = report.problems() else {
        return;
    };
    assert!(last.is_truncated(), "{cut}: {last}");
    assert!(last.offset().is_some_and(|offset| offset <= cut as u64));
    assert!(!last.field().is_empty());
}

#[test]
fn a_cut_leaves_what_stands_before_it() {
    let whole = fixture(SMALL);
    let frame = frame(&whole);
    assert!(frame.results.len() >= 2 && frame.blocks.len() >= 5);
    for cut in 0..whole.len() {
        check_cut(&whole, &frame, cut);
        if cut % 16 == 4 {
            let found = problems(&whole[..cut]);
            assert!(found.iter().all(Error::is_truncated), "{cut}: {found:?}");
        }
    }
    // What is left of a result that is whole is the same as before.
    let cut = frame.results[0] + 1;
    let (before, after) = (
        Report::parse(&whole).unwrap(),
        Report::parse(&whole[..cut]).unwrap(),
    );
    let values = |report: &Report<'_>| {
        let metrics = report.profile(0).unwrap().metrics().value;
        let values = metrics
            .iter()
            .map(|metric| (metric.name.to_owned(), metric.number()));
        values.collect::<Vec<_>>()
    };
    assert_eq!(values(&before), values(&after));
}

#[test]
fn a_cut_of_a_large_report_is_found_at_any_place() {
    let whole = fixture(LARGE);
    let frame = frame(&whole);
    let mut random = Random(7);
    let near = frame
        .sizes
        .iter()
        .flat_map(|at| at.saturating_sub(2)..at + 8);
    for cut in near.chain((0..500).map(|_| random.below(whole.len()))) {
        check_cut(&whole, &frame, cut.min(whole.len() - 1));
    }
}

#[test]
fn a_cubin_that_is_cut_is_not_taken_for_a_whole_one() {
    let whole = fixture("cubin/triton_gemm_small.cubin.zst");
    let found = |bytes: &[u8]| {
        let mut count = 0;
        bodies::walk_cubin(bytes, &mut |_| count += 1);
        count
    };
    assert_eq!(found(&whole), 0);
    // The table of sections stands near the end; behind it is nothing that is read.
    let table = u64::from_le_bytes(whole[40..48].try_into().unwrap()) as usize;
    let count = usize::from(whole[60]);
    for cut in 0..table + 64 * count {
        assert!(found(&whole[..cut]) > 0, "{cut}");
    }
}

#[test]
fn other_inputs_are_named() {
    let qdrep = [&b"NVRPT\0\x01\0"[..], &[0; 64]].concat();
    let zstd = zstd::encode_all(&b"x"[..], 1).unwrap();
    let nested = unpack(&zstd::encode_all(&zstd[..], 1).unwrap(), 100)
        .bytes
        .into_owned();
    let elf = fixture("cubin/triton_gemm_small.cubin.zst");
    for (input, code, word) in [
        (&b""[..], "NCU0001", "empty"),
        (b"N", "NCU0002", ""),
        (b"NVR", "NCU0002", ""),
        (b"\"ID\",\"Process ID\"\n", "NCU0002", "csv"),
        (b"{}", "NCU0002", "JSON"),
        (&qdrep, "NCU0002", "Nsight Systems"),
        (&elf, "NCU0002", "ELF"),
        (b"SQLite format 3\0more", "NCU0002", "SQLite"),
        (&nested, "NCU0002", "once more"),
        (&[0; 100], "NCU0002", ""),
    ] {
        let error = Report::parse(input).unwrap_err();
        assert_eq!(error.code(), code);
        assert!(
            error.is_other_format() && error.reason().contains(word),
            "{error}"
        );
    }
}

#[test]
fn a_report_without_blocks_is_cut() {
    for input in [&b"NVR\0"[..], &report([])] {
        let list = problems(input);
        assert!(
            matches!(&list[..], [error] if error.is_truncated()),
            "{list:?}"
        );
    }
}

#[test]
fn zeros_at_the_end_are_not_passed_over() {
    let whole = support::everything();
    let count = Report::parse(&whole).unwrap().len();
    for zeros in 1..20 {
        let padded = [&whole[..], &vec![0; zeros]].concat();
        assert_eq!(Report::parse(&padded).unwrap().len(), count);
        assert!(!problems(&padded).is_empty(), "{zeros}");
    }
    // They are one problem, and no reason to give up.
    let split = report([&[0; 4000][..], &block(number(2, 1), sized([]))].concat());
    assert_eq!(codes(&split), ["NCU0005"]);
    assert_eq!(Report::parse(&split).unwrap().len(), 1);
}

/// A block behind the damaged one, to see that it is reached.
fn with_neighbour(damaged: &[u8]) -> Vec<u8> {
    let good = block(number(2, 1), sized(message(5, "good")));
    report([damaged, &good].concat())
}

#[test]
fn damage_inside_a_block_leaves_its_neighbours() {
    let entry = sized([]);
    for (header, payload, code) in [
        // More results than there are; as many as there can be.
        (number(2, 2), entry.clone(), "NCU0012"),
        (number(2, 1 << 63), entry.clone(), "NCU0012"),
        // Fewer than there are.
        (number(2, 0), entry.clone(), "NCU0016"),
        // An entry that runs out of the payload is no sign that the file is cut.
        (
            number(2, 1),
            [&9_u32.to_le_bytes()[..], b"short"].concat(),
            "NCU0004",
        ),
        (number(2, 1), u32::MAX.to_le_bytes().to_vec(), "NCU0004"),
        (number(2, 1), vec![1, 0], "NCU0004"),
        // A source, and details, that break off.
        (number(1, 1), sized(&message(4, "code")[..3]), "NCU0004"),
        (message(3, [0xff]), vec![], "NCU0005"),
        (message(3, [0x1a, 0x7f, 1]), vec![], "NCU0004"),
        (message(4, [0x0a, 0x7f, 1]), vec![], "NCU0004"),
        (message(6, [0x12, 0x7f, 1]), vec![], "NCU0004"),
    ] {
        let input = with_neighbour(&block(&header, &payload));
        assert_eq!(codes(&input), [code], "{header:?}");
        let report = Report::parse(&input).unwrap();
        let error = &report.problems()[0];
        assert!(!error.is_truncated() && error.offset().is_some() && !error.field().is_empty());
        let last = report.profile(report.len() - 1).unwrap().header().value;
        assert_eq!(last.mangled_name.as_deref(), Some("good"));
    }
}

#[test]
fn a_damaged_header_hides_the_rest_only_with_the_size() {
    let good = block(number(2, 1), sized([]));
    // The size of the payload stands before the damage.
    let after = [number(2, 1), number(5, 4), vec![0xff]].concat();
    let input = report([&sized(after)[..], &[0; 4], &good].concat());
    assert_eq!(codes(&input), ["NCU0005"]);
    assert_eq!(Report::parse(&input).unwrap().len(), 2);
    // It does not: what stands before the damage is there.
    let table = message(4, message(1, "name"));
    let details = message(3, message(11, "ncu app"));
    let before = [table, details, vec![0xff]].concat();
    let input = report([&good[..], &sized(before), &good].concat());
    assert_eq!(codes(&input), ["NCU0005"]);
    let report = Report::parse(&input).unwrap();
    assert_eq!(
        (report.len(), report.session().command_line.as_deref()),
        (1, Some("ncu app"))
    );
    assert!(report.problems()[0].field().starts_with("block 1"));
}

#[test]
fn no_metric_gets_the_name_of_another() {
    // The first table breaks off: where the strings of the second belong is not known.
    for broken in [&[0x0a, 0x7f, 1][..], &number(1, 5)] {
        let table = [&message(1, "first")[..], broken].concat();
        let metric = |name| message(13, [number(1, name), message(2, number(5, 1))].concat());
        let result = sized([metric(0), metric(1), metric(2)].concat());
        let blocks = [
            block(message(4, table), []),
            block(
                [message(4, message(1, "second")), number(2, 1)].concat(),
                result,
            ),
        ];
        let input = report(blocks.concat());
        let report = Report::parse(&input).unwrap();
        assert_eq!(report.problems().len(), 1);
        let metrics = report.profile(0).unwrap().metrics();
        let names: Vec<_> = metrics.value.iter().map(|metric| metric.name).collect();
        assert_eq!(names, ["first"]);
        assert_eq!(
            metrics.problems.iter().map(Error::code).collect::<Vec<_>>(),
            ["NCU0007"; 2]
        );
    }
}

#[test]
fn the_end_of_the_input_is_told_after_any_number_of_other_problems() {
    let mut input = report(support::each(200, |_| block(number(2, 2), sized([]))));
    input.push(9);
    let report = Report::parse(&input).unwrap();
    assert!(report.problems().last().unwrap().is_truncated());
    assert!(report.problems().len() < 110);
}

#[test]
fn text_that_is_none_is_replaced_and_told() {
    let table = [message(1, b"a\xff"), message(1, b"\x80")].concat();
    let result = sized(message(
        13,
        [number(1, 0), message(2, number(5, 1))].concat(),
    ));
    let input = report(block([message(4, table), number(2, 1)].concat(), result));
    assert_eq!(codes(&input), ["NCU0006"]);
    let report = Report::parse(&input).unwrap();
    assert!(report.problems()[0].is_remark());
    assert_eq!(
        report
            .profile(0)
            .unwrap()
            .metrics()
            .value
            .integer("a\u{fffd}"),
        Some(1)
    );
}

#[test]
fn the_first_of_equal_names_and_of_equal_metrics_counts() {
    let table = ["a", "a", "b"].map(|name| message(1, name)).concat();
    let metric =
        |name, value| message(13, [number(1, name), message(2, number(5, value))].concat());
    let values = |table: &[u8], result: &[u8]| {
        let header = [message(4, table), number(2, 1)].concat();
        let input = report(block(header, sized(result)));
        let report = Report::parse(&input).unwrap();
        let metrics = report.profile(0).unwrap().metrics().value;
        assert!(metrics.get("c").is_none());
        (metrics.len(), metrics.integer("a"), metrics.integer("b"))
    };
    // Not in the order of names.
    let result = [metric(2, 20), metric(0, 1), metric(2, 21), metric(0, 2)].concat();
    assert_eq!(values(&table, &result), (4, Some(1), Some(20)));
    // An appended report repeats its table, and its results use the second copy.
    let result = [metric(4, 9), metric(5, 8)].concat();
    assert_eq!(values(&table.repeat(2), &result), (2, Some(9), Some(8)));
}

#[test]
fn an_instance_of_a_wrong_type_does_not_end_the_list() {
    let instance = message(3, message(2, number(5, 8)));
    let metric = [number(3, 1), instance].concat();
    let header = [message(4, message(1, "a")), number(2, 1)].concat();
    let input = report(block(header, sized(message(13, metric))));
    let report = Report::parse(&input).unwrap();
    let metrics = report.profile(0).unwrap().metrics().value;
    let values: Vec<_> = metrics.get("a").unwrap().instances().collect();
    assert_eq!(values.len(), 1);
    assert_eq!(values[0].as_ref().unwrap().value, Some(Value::U64(8)));
}

#[test]
fn a_damaged_part_keeps_what_stands_before_the_damage() {
    let broken = [0x0a, 0x7f, 1];
    let rule = [
        &message(1, "Rule")[..],
        &message(5, message(4, "mark")),
        &broken,
    ]
    .concat();
    let stack = [&message(1, message(4, "main"))[..], &broken].concat();
    let nvtx = [&message(1, message(2, "domain"))[..], &broken].concat();
    let fields = [
        message(19, rule),
        message(28, stack),
        message(21, nvtx),
        message(5, "k"),
    ];
    let input = kernel(fields.concat());
    assert_eq!(codes(&input), ["NCU0004"; 3]);
    let report = Report::parse(&input).unwrap();
    let profile = report.profile(0).unwrap();
    let rules = profile.rules().value;
    assert_eq!((&*rules[0].id, rules[0].markers.len()), ("Rule", 1));
    assert_eq!(profile.cpu_stack().value.unwrap().frames.len(), 1);
    assert_eq!(profile.nvtx().value.unwrap().domains.len(), 1);
    // A source is kept if it is known which one it is.
    let damaged = [&number(1, 7)[..], &message(3, "ptx"), &broken].concat();
    let input = support::source(damaged);
    assert_eq!(codes(&input), ["NCU0004"; 2]);
    let report = Report::parse(&input).unwrap();
    let source = report
        .source(report.sources().next().unwrap())
        .unwrap()
        .value;
    assert_eq!(source.intermediate.as_deref(), Some("ptx"));
}

#[test]
fn numbers_of_a_table_that_break_off_are_told() {
    let column = message(2, message(5, [0; 12]));
    let input = kernel(message(19, message(3, message(1, message(12, column)))));
    assert_eq!(codes(&input), ["NCU0005"]);
}

#[test]
fn more_than_a_part_may_hold_is_left_out_and_told() {
    let input = kernel(support::each(100_000, |_| message(19, [])));
    assert_eq!(codes(&input), ["NCU0015"]);
    let report = Report::parse(&input).unwrap();
    let rules = report.profile(0).unwrap().rules().value;
    assert!((1000..100_000).contains(&rules.len()));
    // The command line would be read wrongly without its end.
    let line = format!(
        "ncu --metrics {} --cache-control none app",
        "a,".repeat(100_000)
    );
    let input = capture(message(11, line));
    assert_eq!(codes(&input), ["NCU0015"]);
    let report = Report::parse(&input).unwrap();
    assert_eq!(report.session().collection, Default::default());
}

#[test]
fn extreme_numbers_are_kept_or_refused() {
    for value in [u64::MAX, 1 << 63, 1 << 32, u64::from(u32::MAX)] {
        let dim = [number(1, value), number(2, value), number(3, value)].concat();
        let content: Vec<u8> = (1..40).flat_map(|field| number(field, value)).collect();
        let lengths: Vec<u8> = [varint(13 << 3 | 2), varint(value)].concat();
        for content in [content, message(10, dim), lengths] {
            let results = [2, 7, 8, 9].map(|field| {
                let input = report(block(number(field, 1), sized(&content)));
                problems(&input).len()
            });
            assert!(results.iter().all(|count| *count < 20));
        }
        for header in [number(1, value), number(5, value), number(6, value)] {
            problems(&report(sized(header)));
        }
    }
    let input = report(u32::MAX.to_le_bytes());
    assert!(problems(&input)[0].is_truncated());
}

#[test]
fn everything_is_read() {
    let input = support::everything();
    assert_eq!(problems(&input), []);
    let report = Report::parse(&input).unwrap();
    assert_eq!((report.len(), report.sources().count()), (4, 2));
    for profile in report.profiles() {
        assert_eq!(profile.metrics().value.len(), 4);
        let rules = profile.rules().value;
        let columns = &rules[0].items[0].table.as_ref().unwrap().columns;
        assert!(columns.iter().all(|column| column.values.len() == 2));
        let nvtx = profile.nvtx().value.unwrap();
        assert_eq!(nvtx.threads[0].stack[0].name, "named");
        assert_eq!(nvtx.ranges[0].name, "range");
        for stack in [profile.cpu_stack(), profile.python_stack()] {
            assert_eq!(stack.value.unwrap().frames.len(), 2);
        }
    }
}

// Compressed streams.

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

#[test]
fn a_cut_stream_is_cut_and_keeps_its_beginning() {
    let whole = fixture(LARGE)[..1 << 20].to_vec();
    for packed in [zstd::encode_all(&whole[..], 1).unwrap(), gzip(&whole)] {
        let mut longest = 0;
        for cut in (4..100).chain((100..packed.len()).step_by(99)) {
            let unpacked = unpack(&packed[..cut], 1 << 30);
            let problem = unpacked.problem.unwrap();
            assert_eq!(problem.code(), "NCU0009");
            assert!(problem.is_truncated(), "{cut}: {problem}");
            assert!(whole.starts_with(&unpacked.bytes));
            assert!(unpacked.bytes.len() >= longest);
            longest = unpacked.bytes.len();
        }
        assert!(longest > whole.len() / 2);
    }
}

#[test]
fn what_stands_around_a_stream_is_told_or_passed_over() {
    let skippable = [&[0x5a, 0x2a, 0x4d, 0x18][..], &sized(b"note")].concat();
    let (first, second) = (
        zstd::encode_all(&b"ab"[..], 1).unwrap(),
        zstd::encode_all(&b"cd"[..], 1).unwrap(),
    );
    for (input, content, is_whole) in [
        ([&first[..], &second].concat(), &b"abcd"[..], true),
        (
            [&skippable[..], &first, &skippable, &second, &skippable].concat(),
            b"abcd",
            true,
        ),
        ([&first[..], b"garbage"].concat(), b"ab", false),
        ([&first[..], &skippable[..6]].concat(), b"ab", false),
        ([gzip(b"ab"), gzip(b"cd")].concat(), b"abcd", true),
        ([&gzip(b"ab")[..], b"garbage"].concat(), b"ab", false),
        (skippable.repeat(100_000), b"", true),
        (
            zstd::encode_all(&b""[..], 1).unwrap().repeat(100_000),
            b"",
            true,
        ),
        (gzip(b"").repeat(100_000), b"", true),
    ] {
        let unpacked = unpack(&input, 1 << 20);
        assert_eq!(
            (&*unpacked.bytes, unpacked.problem.is_none()),
            (content, is_whole)
        );
    }
}

#[test]
fn bombs_stop_at_the_limit() {
    let zeros = vec![0; 8 << 20];
    for packed in [zstd::encode_all(&zeros[..], 3).unwrap(), gzip(&zeros)] {
        for limit in [0, 1, 1 << 20, 8 << 20] {
            let unpacked = unpack(&packed, limit);
            assert_eq!(unpacked.bytes.len() as u64, limit);
            assert_eq!(unpacked.problem.is_some(), limit < 8 << 20);
            assert!(
                unpacked
                    .problem
                    .is_none_or(|problem| problem.code() == "NCU0010")
            );
        }
    }
}

#[test]
fn a_window_of_gigabytes_is_refused() {
    // Frame header: no content size, window descriptor with the largest exponent; then one empty last block.
    let input = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xff, 1, 0, 0];
    let unpacked = unpack(&input, 1 << 30);
    assert_eq!(unpacked.bytes.len(), 0);
    assert_eq!(unpacked.problem.unwrap().code(), "NCU0009");
}

#[test]
fn damaged_streams_never_panic() {
    let whole = fixture(SMALL);
    let mut random = Random(3);
    for packed in [zstd::encode_all(&whole[..], 1).unwrap(), gzip(&whole)] {
        for _ in 0..500 {
            let mut bytes = packed.clone();
            mutate(&mut bytes, &[], &mut random);
            let unpacked = unpack(&bytes, 1 << 20);
            assert!(unpacked.bytes.len() <= 1 << 20);
        }
    }
}

// Random damage.

/// A small generator of pseudo-random numbers (xorshift64, Marsaglia 2003), so that a failure repeats.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// Damages one place; `sizes` are the places of sizes of the frame.
fn mutate(bytes: &mut Vec<u8>, sizes: &[usize], random: &mut Random) {
    // Half of the changes near the start, where the headers are.
    let span = match random.below(2) {
        0 => bytes.len(),
        _ => bytes.len().min(4096),
    };
    let at = random.below(span);
    let rest = bytes.len() - at;
    match random.below(9) {
        0 | 1 => bytes[at] ^= 1 << random.below(8),
        2 => bytes[at] = random.next() as u8,
        3 => bytes[at] = [0, 0x7f, 0x80, 0xff][random.below(4)],
        4 => {
            // A number of many digits, or without an end.
            let digits = [&[0xff; 9][..], &[1]].concat();
            let count = rest.min(digits.len());
            bytes[at..at + count].copy_from_slice(&digits[..count]);
        }
        5 => {
            // A piece from elsewhere, in place of what is here.
            let from = random.below(bytes.len());
            let count = random.below(64).min(rest).min(bytes.len() - from);
            bytes.copy_within(from..from + count, at);
        }
        6 => {
            // A piece from elsewhere, or one that is missing.
            let from = random.below(bytes.len());
            let count = random.below(256).min(bytes.len() - from);
            let piece = bytes[from..from + count].to_vec();
            let gone = at + random.below(256).min(rest);
            bytes.splice(at..gone, piece);
        }
        7 if !sizes.is_empty() => {
            let at = sizes[random.below(sizes.len())];
            if let Some(size) = bytes.get_mut(at..at + 4) {
                let old = u32::from_le_bytes(size.try_into().unwrap());
                let new = [
                    0,
                    1,
                    old.wrapping_sub(1),
                    old.wrapping_add(1),
                    old.wrapping_mul(2),
                    1 << 31,
                    u32::MAX,
                    random.next() as u32,
                ];
                size.copy_from_slice(&new[random.below(8)].to_le_bytes());
            }
        }
        _ => bytes.truncate(at),
    }
    if bytes.is_empty() {
        bytes.push(0);
    }
}

#[test]
fn damaged_reports_never_panic() {
    let everything = support::everything();
    let whole = fixture(SMALL);
    let sizes = frame(&whole).sizes;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut survivors = 0;
    for step in 0..20_000 {
        let (mut bytes, sizes) = match step % 2 {
            0 => (whole.clone(), &sizes[..]),
            _ => (everything.clone(), &[][..]),
        };
        for _ in 0..=random.below(4) {
            mutate(&mut bytes, sizes, &mut random);
        }
        if let Ok(report) = Report::parse(&bytes) {
            survivors += usize::from(!report.is_empty());
            bodies::walk(&report, &mut |error| {
                assert!(!error.field().is_empty(), "{error}");
            });
        }
    }
    // Most damage is small: something is still there.
    assert!(survivors > 10_000, "{survivors}");
}

#[test]
fn damaged_cubins_never_panic() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for name in ["triton_gemm_small", "triton_softmax"] {
        let whole = fixture(&format!("cubin/{name}.cubin.zst"));
        for _ in 0..5000 {
            let mut bytes = whole.clone();
            for _ in 0..=random.below(4) {
                mutate(&mut bytes, &[], &mut random);
            }
            bodies::walk_cubin(&bytes, &mut |_| {});
        }
    }
}
