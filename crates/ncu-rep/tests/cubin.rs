//! Cubins: real ones against what the profiler says about the same kernels, made-up and damaged ones against reason.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    reason = "tests"
)]

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ncu_rep::csv;
use ncu_rep::cubin::{Cubin, LineTable, Location, fatbin, ptxas, sass};
use ncu_rep::{Report, default_limit, unpack};

const KERNELS: &str = "/home/user/ridgepoint/kernels/clinic.cu";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn load(path: &Path) -> Vec<u8> {
    let packed = std::fs::read(path).unwrap();
    let unpacked = unpack(&packed, default_limit(packed.len() as u64));
    assert!(unpacked.problem.is_none());
    unpacked.bytes.into_owned()
}

fn fixture(name: &str) -> Vec<u8> {
    load(&fixtures().join("cubin").join(format!("{name}.cubin.zst")))
}

/// File, line, and the calls around it as (function, line).
type Place<'t> = (&'t str, u32, Vec<(&'t str, u32)>);

fn place<'t>(lines: &'t LineTable, function: &str, offset: u64) -> Option<Place<'t>> {
    lines.locate(function, offset).map(flat)
}

fn flat(place: Location<'_>) -> Place<'_> {
    (
        place.file,
        place.line,
        place
            .inlined()
            .map(|call| (call.function, call.line))
            .collect(),
    )
}

#[test]
fn real_cubins_are_read_without_a_problem() {
    for (name, count) in [
        ("pairs", 70),
        ("triton_softmax", 1),
        ("triton_gemm", 1),
        ("triton_gemm_small", 1),
    ] {
        // A cubin inside a report starts at any address.
        let mut bytes = vec![0];
        bytes.extend(fixture(name));
        let cubin = Cubin::parse(&bytes[1..]).unwrap();
        let lines = cubin.lines();
        assert_eq!(
            (cubin.problems(), lines.problems()),
            (&[][..], &[][..]),
            "{name}"
        );
        assert_eq!(cubin.functions().len(), count, "{name}");
        for function in cubin.functions() {
            assert!(
                function.has_lines && lines.covers(&function.name),
                "{}",
                function.name
            );
            for offset in (0..function.code.len() as u64).step_by(16) {
                assert!(
                    lines.locate(&function.name, offset).is_some(),
                    "{} + {offset:#x}",
                    function.name
                );
            }
            assert!(
                lines
                    .locate(&function.name, function.code.len() as u64)
                    .is_none()
            );
        }
    }
}

/// Launch metrics of the corpus reports: registers, bytes of static shared memory.
#[test]
fn registers_and_shared_memory_agree_with_launch_metrics() {
    let bytes = fixture("pairs");
    let cubin = Cubin::parse(&bytes).unwrap();
    for (name, registers, shared) in [
        ("_Z12barrier_slowPKfPfii", 16, 4096),
        ("_Z13barrier_fixedPKfPfii", 34, 0),
        ("_Z10gemm_fixedPKfS0_Pfi", 114, 8192),
        ("_Z18bankconflict_fixedPKfPfi", 22, 4224),
        ("_Z12tensor_fixedPK6__halfS1_Pfi", 69, 13824),
        ("_Z10spill_slowPKfPfi", 32, 0),
    ] {
        let function = cubin.function(name).unwrap();
        // The driver gives at least 16 registers, and keeps 1024 bytes of shared memory for itself.
        assert_eq!(function.registers.unwrap().max(16), registers, "{name}");
        assert!(function.symbol.is_some(), "{name}");
        assert_eq!(function.shared_bytes, Some(shared + 1024), "{name}");
    }
    // The only kernel of these that accesses local memory when it runs.
    assert_eq!(
        cubin.function("_Z10spill_slowPKfPfi").unwrap().frame_bytes,
        Some(640)
    );
    assert_eq!(
        cubin.function("_Z11spill_fixedPKfPfi").unwrap().frame_bytes,
        Some(0)
    );
    assert!(cubin.function("_Z10spill_slow").is_none());
}

#[test]
fn inlined_code_comes_with_its_calls() {
    let bytes = fixture("pairs");
    let cubin = Cubin::parse(&bytes).unwrap();
    let lines = cubin.lines();
    // `transpose_tile<0>` is inlined into the kernel, from line 35 of the source.
    let tile = "_Z14transpose_tileILi0EEvPKfPfi";
    let kernel = "_Z17bankconflict_slowPKfPfi";
    let code = cubin.function(kernel).unwrap().code.len() as u64;
    let places: Vec<_> = (0..code)
        .step_by(16)
        .filter_map(|offset| lines.locate(kernel, offset))
        .collect();
    let inside: Vec<_> = places
        .iter()
        .filter(|place| place.inlined().next().is_some())
        .collect();
    assert!(!inside.is_empty());
    for place in inside {
        assert!((30..=34).contains(&place.line), "{place:?}");
        assert_eq!(flat(*place).2, [(tile, 35)]);
    }
    // Where the call itself is the place, the line inside is beside it.
    let call = places.iter().find(|place| place.inner().is_some()).unwrap();
    assert_eq!((call.file, call.line), (KERNELS, 35));
    let inner = call.inner().unwrap();
    assert_eq!((inner.file, flat(inner).2), (KERNELS, vec![(tile, 35)]));
    assert!(inner.inner().is_none() && inner != *call);
}

/// The profiler marks an instruction and the line it belongs to. Reads the reports of the fixtures, and of the folders
/// named in `RIDGE_CORPUS` (separated by colons).
#[test]
fn lines_agree_with_the_marks_of_the_profiler() {
    let corpus = std::env::var("RIDGE_CORPUS").unwrap_or_default();
    let folders = corpus
        .split(':')
        .filter(|folder| !folder.is_empty())
        .map(PathBuf::from);
    let (mut instructions, mut pairs, mut facts) = (0, 0, 0);
    for folder in folders.chain([fixtures().join("reports")]) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if !path.to_string_lossy().contains(".ncu-rep") {
                continue;
            }
            let bytes = load(&path);
            let report = Report::parse(&bytes).unwrap();
            for profile in report.profiles() {
                let header = profile.header().value;
                let (Some(name), [reference, ..]) = (&header.mangled_name, &header.sources[..])
                else {
                    continue;
                };
                let Some(source) = report.source(*reference) else {
                    continue;
                };
                let Some(cubin) = source.value.cubin else {
                    continue;
                };
                let cubin = Cubin::parse(cubin).unwrap();
                let lines = cubin.lines();
                let base = source
                    .value
                    .functions
                    .iter()
                    .find(|f| f.symbol == *name)
                    .unwrap()
                    .address;

                let metrics = profile.metrics().value;
                let function = cubin.function(name).unwrap();
                let least = u64::from(function.registers.unwrap().max(16));
                assert_eq!(
                    metrics.integer("launch__registers_per_thread"),
                    Some(least),
                    "{name}"
                );
                let shared = function.shared_bytes.unwrap()
                    - metrics
                        .integer("launch__shared_mem_per_block_driver")
                        .unwrap();
                assert_eq!(
                    metrics.integer("launch__shared_mem_per_block_static"),
                    Some(shared),
                    "{name}"
                );
                assert_eq!(function.static_shared_bytes, shared, "{name}");
                assert_eq!(
                    metrics.integer("launch__barrier_count"),
                    Some(u64::from(function.barriers)),
                    "{name}"
                );
                assert_eq!(
                    metrics.integer("device__attribute_compute_capability_major"),
                    Some(u64::from(cubin.capability().0)),
                    "{name}"
                );
                let threads = metrics.integer("launch__block_size").unwrap();
                if let Some(most) = function.max_threads {
                    assert!(threads <= u64::from(most[0] * most[1] * most[2]), "{name}");
                }
                assert!(function.is_kernel, "{name}");
                facts += 1;

                let counts = metrics
                    .get("inst_executed")
                    .map(|metric| metric.by_number().unwrap());
                for (address, _) in counts.unwrap_or_default() {
                    assert!(
                        lines.locate(name, address - base).is_some(),
                        "{name} {address:#x}"
                    );
                    instructions += 1;
                }
                for rule in profile.rules().value {
                    // Only this rule puts the line of an instruction right behind the instruction.
                    if rule.id != "CPIStall" {
                        continue;
                    }
                    for pair in rule.markers.windows(2) {
                        let (Some(address), Some(line)) = (pair[0].address, pair[1].line) else {
                            continue;
                        };
                        let place = lines.locate(name, address - base).unwrap();
                        assert_eq!(
                            Some(place.file),
                            pair[1].file.as_deref(),
                            "{name} {address:#x}"
                        );
                        assert_eq!(u64::from(place.line), line, "{name} {address:#x}");
                        pairs += 1;
                    }
                }
            }
        }
    }
    assert!(instructions > 0 && pairs > 0 && facts > 0);
}

// Made-up cubins.

/// A section: name, type, bytes, link, info.
type Section<'s> = (&'s str, u32, Vec<u8>, u32, u32);

const TEXT: u32 = 1;
const SYMBOLS: u32 = 2;
const STRINGS: u32 = 3;
const RELA: u32 = 4;
const REL: u32 = 9;

fn elf(sections: &[Section<'_>]) -> Vec<u8> {
    let mut names = vec![0];
    let mut headers = vec![0; 64];
    let mut body = vec![0; 64];
    let table = sections.len() + 1;
    let mut sections = sections.to_vec();
    sections.push((".shstrtab", STRINGS, Vec::new(), 0, 0));
    for (name, kind, bytes, link, info) in sections {
        let start = names.len() as u32;
        names.extend(name.bytes().chain([0]));
        let bytes = if name == ".shstrtab" {
            names.clone()
        } else {
            bytes
        };
        let mut header = Vec::new();
        header.extend(start.to_le_bytes());
        header.extend(kind.to_le_bytes());
        for value in [0, 0, body.len() as u64, bytes.len() as u64] {
            header.extend(value.to_le_bytes());
        }
        header.extend(link.to_le_bytes());
        header.extend(info.to_le_bytes());
        header.extend([0; 16]);
        headers.extend(header);
        body.extend(bytes);
    }
    let place = body.len() as u64;
    body[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\x33");
    body[16..20].copy_from_slice(&[2, 0, 190, 0]);
    body[40..48].copy_from_slice(&place.to_le_bytes());
    body[58..64].copy_from_slice(&[64, 0, (table + 1) as u8, 0, table as u8, 0]);
    body.extend(headers);
    body
}

fn uleb(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 0x7f {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn address() -> Vec<u8> {
    [&[0, 9, 2][..], &[0; 8]].concat()
}

/// A row at `advance` bytes further on, at a line that is `step` more.
fn row(advance: u64, step: u8) -> Vec<u8> {
    [&[2][..], &uleb(advance), &[3, step, 1]].concat()
}

fn inlined(number: u64, name: u64) -> Vec<u8> {
    let operands = [&[0x90][..], &uleb(number), &uleb(name)].concat();
    [&[0][..], &uleb(operands.len() as u64), &operands].concat()
}

fn end(advance: u64) -> Vec<u8> {
    [&[2][..], &uleb(advance), &[0, 1, 1]].concat()
}

/// A line program of DWARF 2, with one directory and two files.
fn program(code: &[Vec<u8>]) -> Vec<u8> {
    let tables = [
        &[1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1][..],
        b"/src\0\0",
        b"a.cu\0\x01\0\0",
        b"/abs/b.h\0\x01\0\0\0",
    ]
    .concat();
    let body = [
        &2_u16.to_le_bytes()[..],
        &(tables.len() as u32).to_le_bytes(),
        &tables,
        &code.concat(),
    ]
    .concat();
    [&(body.len() as u32).to_le_bytes()[..], &body].concat()
}

/// A cubin with kernels `k` and `m` of 256 bytes; each address of the program belongs to the next of `targets`:
/// symbol 1 is `k`, symbol 2 is `m`, symbol 3 lies in `m` at 0x80.
fn cubin(debug_line: &[u8], targets: &[u32], kind: u32) -> Vec<u8> {
    let mut symbols = vec![0; 24];
    for (section, value) in [(1_u8, 0_u64), (2, 0), (2, 0x80)] {
        symbols.extend([1, 0, 0, 0, 0x12, 0, section, 0]);
        symbols.extend(value.to_le_bytes());
        symbols.extend([0; 8]);
    }
    let mut relocations = Vec::new();
    let places = debug_line
        .windows(11)
        .enumerate()
        .filter(|(_, window)| window == &address());
    for ((place, _), symbol) in places.zip(targets) {
        relocations.extend((place as u64 + 3).to_le_bytes());
        relocations.extend(2_u32.to_le_bytes());
        relocations.extend(symbol.to_le_bytes());
        if kind == RELA {
            relocations.extend([0; 8]);
        }
    }
    elf(&[
        (".text.k", TEXT, vec![0; 256], 0, 0),
        (".text.m", TEXT, vec![0; 256], 0, 0),
        (".strtab", STRINGS, b"\0x\0".to_vec(), 0, 0),
        (".symtab", SYMBOLS, symbols, 3, 0),
        (".debug_line", TEXT, debug_line.to_vec(), 0, 0),
        (
            ".debug_str",
            TEXT,
            b"outer\0inner\0bad\xff\0".to_vec(),
            0,
            0,
        ),
        (".rela.debug_line", kind, relocations, 4, 5),
    ])
}

#[test]
fn each_kernel_gets_the_rows_of_its_relocation() {
    let first = program(&[
        address(),
        row(0, 4),
        row(32, 1),
        end(0x40),
        address(),
        row(0, 8),
        end(0x10),
    ]);
    let second = program(&[address(), vec![4, 2], row(0, 2), row(0, 6), end(0x20)]);
    for kind in [RELA, REL] {
        let bytes = cubin(&[&first[..], &[0; 4], &second].concat(), &[2, 3, 1], kind);
        let cubin = Cubin::parse(&bytes).unwrap();
        let lines = cubin.lines();
        assert_eq!(lines.problems(), []);
        assert_eq!(place(&lines, "m", 0), Some(("/src/a.cu", 5, vec![])));
        assert_eq!(place(&lines, "m", 0x1f), Some(("/src/a.cu", 5, vec![])));
        assert_eq!(place(&lines, "m", 0x20), Some(("/src/a.cu", 6, vec![])));
        // Between two sequences nothing is known.
        assert_eq!(place(&lines, "m", 0x60), None);
        assert_eq!(place(&lines, "m", 0x80), Some(("/src/a.cu", 9, vec![])));
        assert_eq!(place(&lines, "m", 0x90), None);
        // The first of two rows with one address; a path that is absolute stays as it is.
        assert_eq!(place(&lines, "k", 0), Some(("/abs/b.h", 3, vec![])));
        assert_eq!(place(&lines, "k", u64::MAX), None);
        assert_eq!(place(&lines, "nobody", 0), None);
    }
}

#[test]
fn sequences_that_touch_do_not_hide_each_other() {
    let bytes = cubin(
        &program(&[
            address(),
            row(0, 4),
            end(0x80),
            address(),
            row(0, 8),
            // A row at the end of a sequence covers nothing.
            row(0x10, 1),
            end(0),
        ]),
        &[2, 3],
        RELA,
    );
    let lines = Cubin::parse(&bytes).unwrap().lines();
    assert_eq!(place(&lines, "m", 0x7f).unwrap().1, 5);
    assert_eq!(place(&lines, "m", 0x80).unwrap().1, 9);
    assert_eq!(place(&lines, "m", 0x90), None);
}

#[test]
fn calls_inside_calls_are_listed_outward() {
    let code = [
        address(),
        row(0, 9),
        inlined(1, 0),
        row(16, 10),
        inlined(2, 6),
        row(16, 10),
        inlined(1, 12),
        row(16, 10),
        inlined(0, 0),
        row(16, 10),
        end(16),
    ];
    let bytes = cubin(&program(&code), &[1], RELA);
    let lines = Cubin::parse(&bytes).unwrap().lines();
    assert_eq!(lines.problems(), []);
    assert_eq!(place(&lines, "k", 0).unwrap().2, []);
    assert_eq!(
        place(&lines, "k", 16),
        Some(("/src/a.cu", 20, vec![("outer", 10)]))
    );
    assert_eq!(
        place(&lines, "k", 32),
        Some(("/src/a.cu", 30, vec![("inner", 20), ("outer", 10)]))
    );
    assert_eq!(
        place(&lines, "k", 48),
        Some(("/src/a.cu", 40, vec![("bad\u{fffd}", 10)]))
    );
    assert_eq!(place(&lines, "k", 64), Some(("/src/a.cu", 50, vec![])));
}

#[test]
fn impossible_calls_leave_the_line_and_are_reported() {
    // The row itself, a row far away, a name far away, a name without an end.
    for (number, name) in [(2, 0), (u64::MAX, 0), (1, 1 << 40), (1, 15)] {
        let code = [
            address(),
            row(0, 9),
            inlined(number, name),
            row(16, 10),
            end(16),
        ];
        let bytes = cubin(&program(&code), &[1], RELA);
        let lines = Cubin::parse(&bytes).unwrap().lines();
        let expected = if name == 15 {
            vec![("\u{fffd}", 10)]
        } else {
            vec![]
        };
        assert_eq!(place(&lines, "k", 16), Some(("/src/a.cu", 20, expected)));
        assert_eq!(lines.problems().is_empty(), name == 15, "{number} {name}");
    }
}

#[test]
fn the_depth_of_calls_is_bounded() {
    let mut code = vec![address(), row(0, 9)];
    for number in 1..200 {
        code.push(inlined(number, 0));
        code.push(row(1, 0));
    }
    code.push(end(1));
    let bytes = cubin(&program(&code), &[1], RELA);
    let lines = Cubin::parse(&bytes).unwrap().lines();
    assert_eq!(place(&lines, "k", 64).unwrap().2.len(), 64);
    assert!((0..200).all(|offset| place(&lines, "k", offset).unwrap().2.len() <= 64));
    assert_eq!(lines.problems()[0].code(), "NCU0011");
}

#[test]
fn an_address_without_a_relocation_belongs_to_no_function() {
    let bytes = cubin(&program(&[address(), row(0, 4), end(32)]), &[], RELA);
    let cubin = Cubin::parse(&bytes).unwrap();
    assert!(!cubin.has_lines() && !cubin.functions()[0].has_lines);
    let lines = cubin.lines();
    assert!(lines.is_empty() && !lines.covers("k"));
    assert_eq!(lines.problems().len(), 1);
    assert_eq!(place(&lines, "k", 0), None);
}

#[test]
fn hostile_programs_end_in_a_problem_or_an_unknown_line() {
    let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
    let least_signed = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f];
    for (code, known) in [
        // Lines that wrap or are beyond any file.
        ([&[3][..], &least_signed, &[1]].concat(), false),
        ([&[3, 0x7e, 1][..]].concat(), false),
        // An address that wraps.
        ([&[2][..], &most, &[2], &most, &[1]].concat(), false),
        // A file that is not there.
        (vec![4, 9, 1], false),
        (vec![4, 2, 1], true),
    ] {
        let bytes = cubin(&program(&[address(), code.clone(), end(16)]), &[1], RELA);
        let lines = Cubin::parse(&bytes).unwrap().lines();
        assert_eq!(lines.locate("k", 0).is_some(), known, "{code:x?}");
    }
    // No end, and programs that are shorter or longer than they say.
    let whole = program(&[address(), row(0, 4), end(32)]);
    let open = program(&[address(), row(0, 4)]);
    for bad in [
        &open[..],
        &whole[..whole.len() - 1],
        &[1, 0, 0, 0, 2],
        &[0xff; 9],
        &[4, 0, 0, 0, 9, 9, 9, 9],
    ] {
        let bytes = cubin(bad, &[1], RELA);
        let lines = Cubin::parse(&bytes).unwrap().lines();
        assert!(lines.is_empty() && !lines.problems().is_empty(), "{bad:x?}");
    }
    // A damaged program does not hide the next one.
    let bytes = cubin(
        &[&[4, 0, 0, 0, 9, 9, 9, 9], &whole[..]].concat(),
        &[1],
        RELA,
    );
    let lines = Cubin::parse(&bytes).unwrap().lines();
    assert_eq!(
        (lines.problems().len(), place(&lines, "k", 0).unwrap().1),
        (1, 5)
    );
}

#[test]
fn other_files_are_refused_with_a_reason() {
    let good = cubin(&[], &[], RELA);
    assert!(Cubin::parse(&good).unwrap().lines().is_empty());
    let mut other = good.clone();
    other[18] = 62;
    for bytes in [&[][..], b"\x7fELF", &good[..100], &other] {
        assert_eq!(Cubin::parse(bytes).unwrap_err().code(), "NCU0013");
    }
}

/// A small generator of pseudo-random numbers (xorshift64, Marsaglia 2003), so that a failure repeats.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

fn exercise(bytes: &[u8]) -> usize {
    let Ok(cubin) = Cubin::parse(bytes) else {
        return 0;
    };
    let lines = cubin.lines();
    let mut known = 0;
    for function in cubin.functions() {
        for offset in [0, 16, 0x100, function.code.len() as u64] {
            if let Some(place) = lines.locate(&function.name, offset) {
                known += 1;
                assert!(place.line > 0 && place.inlined().count() <= 64);
                assert!(
                    place
                        .inner()
                        .is_none_or(|inner| inner.inlined().count() <= 64)
                );
            }
        }
    }
    known
}

#[test]
fn damaged_cubins_never_panic() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut survivors = 0;
    for name in ["triton_gemm_small", "triton_softmax", "pairs"] {
        let good = fixture(name);
        let mut bytes = good.clone();
        // Places where a change matters: both ends with the headers, and the sections that are read.
        let cubin = Cubin::parse(&good).unwrap();
        let line_name = b".debug_line\0";
        assert!(
            good.windows(line_name.len())
                .any(|window| window == line_name)
        );
        let read = good.len()
            - cubin
                .functions()
                .iter()
                .map(|f| f.code.len())
                .sum::<usize>();
        for step in 0..4000 {
            let mut undo = HashMap::new();
            for _ in 0..=random.below(4) {
                let span = good.len().min(read);
                let at = match step % 3 {
                    0 => random.below(span.min(64 << 10)),
                    1 => good.len() - 1 - random.below(span.min(24 << 10)),
                    _ => random.below(good.len()),
                };
                undo.entry(at).or_insert(bytes[at]);
                bytes[at] = match random.below(3) {
                    0 => bytes[at] ^ (1 << random.below(8)),
                    1 => [0, 0xff, 0x7f, 0x80][random.below(4)],
                    _ => random.below(256) as u8,
                };
            }
            survivors += exercise(&bytes).min(1);
            for (at, byte) in undo {
                bytes[at] = byte;
            }
        }
        for _ in 0..500 {
            exercise(&good[..random.below(good.len())]);
        }
    }
    // Most damage is small: lines are still there.
    assert!(survivors > 4000, "{survivors}");
}

/// Function, offset and text of each instruction of a listing.
fn listing(text: &str) -> Vec<(&str, u64, &str)> {
    sass::instructions(text)
        .map(|i| (i.function, i.offset, i.text))
        .collect()
}

fn text(path: &str) -> String {
    String::from_utf8(load(&fixtures().join(path))).unwrap()
}

/// One cubin as four listings of CUDA 13.0: `nvdisasm -c`, with lines, with encodings, and `cuobjdump -sass`.
#[test]
fn disassembly_of_a_real_cubin() {
    let bytes = fixture("small");
    let cubin = Cubin::parse(&bytes).unwrap();
    let plain = text("sass/nvdisasm_c.txt.zst");
    let plain = listing(&plain);
    // Every instruction of the code, in order, and nothing else.
    let mut expected = Vec::new();
    for (name, first) in [
        ("_Z9transposePKfPfi", "LDC R1, c[0x0][0x28]"),
        ("_Z6stridePKfPfi", "LDC R1, c[0x0][0x28]"),
        ("_Z4copyPKfPfi", "LDC R1, c[0x0][0x28]"),
    ] {
        let code = cubin.function(name).unwrap().code;
        expected.extend(
            (0..code.len() as u64)
                .step_by(16)
                .map(|offset| (name, offset)),
        );
        let found = plain
            .iter()
            .find(|(function, offset, _)| (*function, *offset) == (name, 0));
        assert_eq!(found.unwrap().2, first);
    }
    assert_eq!(expected.len(), 104);
    let places = |list: &[(&str, u64, &str)]| -> Vec<(String, u64)> {
        list.iter().map(|i| (i.0.to_owned(), i.1)).collect()
    };
    let expected: Vec<(String, u64)> = expected
        .into_iter()
        .map(|(name, offset)| (name.to_owned(), offset))
        .collect();
    assert_eq!(places(&plain), expected);
    for name in ["nvdisasm_g", "nvdisasm_hex"] {
        assert_eq!(
            listing(&text(&format!("sass/{name}.txt.zst"))),
            plain,
            "{name}"
        );
    }
    // `cuobjdump` names targets by offset and not by label.
    let dump = text("sass/cuobjdump.txt.zst");
    let dump = listing(&dump);
    assert_eq!(places(&dump), expected);
    let differ: Vec<_> = plain
        .iter()
        .zip(&dump)
        .filter(|(this, that)| this.2 != that.2)
        .map(|(this, that)| (this.2, that.2))
        .collect();
    assert_eq!(
        differ,
        [
            ("BRA `(.L_x_0)", "BRA 0x1e0"),
            ("BRA `(.L_x_1)", "BRA 0x150"),
            ("BRA `(.L_x_2)", "BRA 0x120")
        ]
    );
    // The profiler prints the same text, without the flags of operands and with addresses as targets.
    let export = load(&fixtures().join("csv/small/source_sass.csv.zst"));
    let export = csv::read(&export).unwrap();
    let code = &export.kernels[0].code;
    assert_eq!(code.len(), 40);
    for (theirs, ours) in code.iter().zip(&plain) {
        assert_eq!(theirs.address - code[0].address, ours.1);
        if !ours.2.starts_with("BRA") {
            assert_eq!(&*theirs.text, ours.2.replace(".reuse", ""));
        }
    }
}

/// The page with lines and instructions against the line table of the same code.
#[test]
fn lines_of_an_export_are_those_of_the_cubin() {
    let mut instructions = 0;
    let mut inlined = 0;
    let mut own = 0;
    for (export, report) in [
        ("source_both", "full"),
        ("launches_both", "launches"),
        ("graph_both", "graph_source"),
    ] {
        let export = load(&fixtures().join(format!("csv/small/{export}.csv.zst")));
        let export = csv::read(&export).unwrap();
        let bytes = load(&fixtures().join(format!("reports/small/{report}.ncu-rep.zst")));
        let report = Report::parse(&bytes).unwrap();
        let source = report
            .source(report.sources().next().unwrap())
            .unwrap()
            .value;
        let cubin = Cubin::parse(source.cubin.unwrap()).unwrap();
        let lines = cubin.lines();
        for kernel in &export.kernels {
            let start = kernel.code[0].address;
            let function = source
                .functions
                .iter()
                .find(|f| f.address == start)
                .unwrap();
            for instruction in &kernel.code {
                let place = lines
                    .locate(&function.symbol, instruction.address - start)
                    .unwrap();
                // Its own line or, for files that the page leaves out, that of a call.
                let mut chain = vec![(place.file, place.line)];
                chain.extend(place.inlined().map(|call| (call.file, call.line)));
                // Where a call and what it calls share an instruction, the page lists both.
                if let Some(inner) = place.inner() {
                    chain.push((inner.file, inner.line));
                    chain.extend(inner.inlined().map(|call| (call.file, call.line)));
                }
                assert!(!instruction.lines.is_empty(), "{}", instruction.text);
                for line in &instruction.lines {
                    assert!(
                        chain
                            .iter()
                            .any(|(f, l)| **f == *line.file && u64::from(*l) == line.line),
                        "{}: {:?} of {chain:?}",
                        instruction.text,
                        instruction.lines
                    );
                }
                instructions += 1;
                inlined += usize::from(chain.len() > 1);
                own +=
                    usize::from(instruction.lines.iter().any(|line| {
                        (&*line.file, line.line) == (place.file, u64::from(place.line))
                    }));
            }
        }
    }
    assert_eq!((instructions, inlined, own), (400, 16, 400));
}

/// Cubins of a fat binary by capability.
fn unpacked_fatbin(name: &str) -> Vec<((u32, u32), Vec<u8>)> {
    let bytes = std::fs::read(fixtures().join("cubin").join(name)).unwrap();
    let (images, problems) = fatbin::images(&bytes).unwrap();
    assert_eq!(problems, []);
    images
        .iter()
        .filter(|image| image.kind == fatbin::Kind::Cubin)
        .map(|image| (image.capability, image.unpack().unwrap().into_owned()))
        .collect()
}

/// Registers, barriers and shared memory as `ptxas -v` of the same compiler prints them.
#[test]
fn fat_binaries_hold_what_the_compiler_printed() {
    let log = std::fs::read_to_string(fixtures().join("cubin/occupancy_sm_90.txt")).unwrap();
    let printed = ptxas::read(&log);
    assert_eq!(printed.len(), 4);
    let images = unpacked_fatbin("occupancy.fatbin");
    assert_eq!(
        images
            .iter()
            .map(|(capability, _)| *capability)
            .collect::<Vec<_>>(),
        [(8, 0), (9, 0)]
    );
    for (capability, bytes) in &images {
        let cubin = Cubin::parse(bytes).unwrap();
        assert_eq!(
            (cubin.capability(), cubin.problems()),
            (*capability, &[][..])
        );
        assert_eq!(cubin.functions().len(), 4);
    }
    let cubin = Cubin::parse(&images[1].1).unwrap();
    for usage in &printed {
        let function = cubin.function(usage.name).unwrap();
        assert_eq!(function.registers, Some(usage.registers), "{}", usage.name);
        assert_eq!(Some(function.barriers), usage.barriers, "{}", usage.name);
        assert_eq!(
            function.static_shared_bytes,
            u64::from(usage.shared_bytes),
            "{}",
            usage.name
        );
        assert_eq!(function.frame_bytes, usage.stack_bytes, "{}", usage.name);
        assert_eq!(usage.capability, Some((9, 0)));
    }
    let bounds = |name| cubin.function(name).unwrap().max_threads;
    assert_eq!(bounds("polynomial"), Some([128, 1, 1]));
    assert_eq!(bounds("tile_sum"), None);
}

/// The compiler's own count of static shared memory: before 9.0 nothing is reserved in the section.
#[test]
fn lz4_images_and_older_capabilities_are_read() {
    let images = unpacked_fatbin("occupancy_lz4.fatbin");
    assert_eq!((images.len(), images[0].0), (1, (8, 6)));
    let cubin = Cubin::parse(&images[0].1).unwrap();
    let tile_sum = cubin.function("tile_sum").unwrap();
    assert_eq!(
        (
            tile_sum.registers,
            tile_sum.static_shared_bytes,
            tile_sum.barriers
        ),
        (Some(23), 8192, 1)
    );
}

/// Triton's cubins are of an older ABI: barriers in the flags of the section, the capability in the first byte.
#[test]
fn cubins_of_an_older_abi_tell_the_same() {
    let bytes = fixture("triton_gemm");
    let cubin = Cubin::parse(&bytes).unwrap();
    let function = cubin.function("mm_k").unwrap();
    assert_eq!(cubin.capability(), (9, 0));
    assert_eq!(
        (function.barriers, function.required_threads),
        (1, Some([256, 1, 1]))
    );
    assert_eq!(function.static_shared_bytes, 0);
}

#[test]
fn damaged_fat_binaries_give_what_is_whole() {
    let bytes = std::fs::read(fixtures().join("cubin/occupancy.fatbin")).unwrap();
    for cut in (0..bytes.len()).step_by(61) {
        let Ok((images, problems)) = fatbin::images(&bytes[..cut]) else {
            continue;
        };
        assert!(!problems.is_empty(), "cut at {cut}");
        for image in images {
            if let Ok(content) = image.unpack() {
                let _ = Cubin::parse(&content);
            }
        }
    }
    // An image that announces gigabytes takes none.
    let mut huge = bytes.clone();
    huge[16 + 56..16 + 64].copy_from_slice(&u64::MAX.to_le_bytes());
    let (images, _) = fatbin::images(&huge).unwrap();
    assert!(images[0].unpack().is_err());
    assert!(images[1].unpack().is_ok());
    assert!(fatbin::images(b"nothing").is_err());
}
