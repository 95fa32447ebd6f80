//! Makes reports and cubins that no profiler would write.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::indexing_slicing,
    missing_docs,
    clippy::unwrap_used,
    reason = "tests"
)]

use std::path::Path;

pub mod exports;

pub fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let packed = std::fs::read(folder.join(name)).unwrap();
    let unpacked = ncu_rep::unpack(&packed, ncu_rep::default_limit(packed.len() as u64));
    assert!(unpacked.problem.is_none());
    unpacked.bytes.into_owned()
}

// Wire format.

pub fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 0x7f {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

pub fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

pub fn message(field: u64, content: impl AsRef<[u8]>) -> Vec<u8> {
    let content = content.as_ref();
    let head = [varint(field << 3 | 2), varint(content.len() as u64)].concat();
    [&head[..], content].concat()
}

pub fn sized(content: impl AsRef<[u8]>) -> Vec<u8> {
    let content = content.as_ref();
    [&(content.len() as u32).to_le_bytes()[..], content].concat()
}

/// The numbers that a message stores, by field; a second reader, so that the first is not its own measure.
fn numbers(mut bytes: &[u8]) -> Vec<(u64, u64)> {
    fn take(bytes: &mut &[u8]) -> u64 {
        let end = bytes.iter().position(|byte| *byte < 0x80).unwrap();
        let (head, rest) = bytes.split_at(end + 1);
        *bytes = rest;
        let digits = head.iter().rev();
        digits.fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f))
    }
    let mut list = Vec::new();
    while !bytes.is_empty() {
        let tag = take(&mut bytes);
        let value = take(&mut bytes);
        match tag & 7 {
            0 => list.push((tag >> 3, value)),
            2 => bytes = &bytes[value as usize..],
            _ => unreachable!("block headers hold numbers and messages"),
        }
    }
    list
}

/// Where the sizes of the frame stand, where blocks end, and where results end.
#[derive(Default)]
pub struct Frame {
    pub sizes: Vec<usize>,
    pub blocks: Vec<usize>,
    pub results: Vec<usize>,
}

pub fn frame(bytes: &[u8]) -> Frame {
    let size = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let mut frame = Frame::default();
    frame.sizes.push(4);
    let mut at = 8 + size(4);
    while at < bytes.len() {
        frame.sizes.push(at);
        let payload = at + 4 + size(at);
        let header = numbers(&bytes[at + 4..payload]);
        let get = |field| {
            let found = header.iter().find(|(number, _)| *number == field);
            found.map_or(0, |(_, value)| *value as usize)
        };
        at = payload;
        let sources = get(1);
        for entry in 0..sources + get(2) + get(9) {
            frame.sizes.push(at);
            at += 4 + size(at);
            if entry >= sources {
                frame.results.push(at);
            }
        }
        assert_eq!(at, payload + get(5));
        frame.blocks.push(at);
    }
    frame
}

/// One after the other what a function makes of each number.
pub fn each(count: u64, make: impl FnMut(u64) -> Vec<u8>) -> Vec<u8> {
    (0..count).flat_map(make).collect()
}

// Reports.

pub fn report(blocks: impl AsRef<[u8]>) -> Vec<u8> {
    [b"NVR\0", &sized(number(1, 7))[..], blocks.as_ref()].concat()
}

/// A block with a header, to which the size of the payload is added.
pub fn block(header: impl AsRef<[u8]>, payload: impl AsRef<[u8]>) -> Vec<u8> {
    let payload = payload.as_ref();
    let size = number(5, payload.len() as u64);
    [&sized([header.as_ref(), &size].concat())[..], payload].concat()
}

/// A report of one block that holds one kernel.
pub fn kernel(content: impl AsRef<[u8]>) -> Vec<u8> {
    report(block(number(2, 1), sized(content)))
}

/// A report of one block that holds one source.
pub fn source(content: impl AsRef<[u8]>) -> Vec<u8> {
    report(block(number(1, 1), sized(content)))
}

pub fn capture(content: impl AsRef<[u8]>) -> Vec<u8> {
    report(block(message(3, content), []))
}

/// Made-up inputs of about so many parts each. What they have in common: small in the file, and not so elsewhere.
pub type Shape = (&'static str, fn(u64) -> Vec<u8>);

pub const REPORTS: &[Shape] = &[
    ("results", |n| {
        report(block(number(2, n), each(n, |_| sized([]))))
    }),
    ("blocks", |n| {
        report(each(n, |_| block(number(2, 1), sized([]))))
    }),
    ("blocks of ten results", |n| {
        report(each(n / 10, |_| {
            block(number(2, 10), each(10, |_| sized([])))
        }))
    }),
    ("blocks without content", |n| {
        report(each(n, |_| sized(number(5, 0))))
    }),
    ("zeros", |n| report(vec![0; n as usize])),
    ("counts", |n| {
        let counts = [1, 2, 7, 8, 9].map(|field| number(field, 1 << 63));
        report(each(n, |_| block(counts.concat(), sized([]))))
    }),
    ("processes", |n| {
        report(each(n, |i| {
            let process = message(6, number(1, i));
            block([number(2, 1), process].concat(), sized([]))
        }))
    }),
    ("parts of capture details", |n| {
        report(block(each(n, |i| message(3, number(2, i))), []))
    }),
    ("blocks with capture details", |n| {
        report(each(n, |i| block(message(3, number(2, i)), [])))
    }),
    ("empty parts", |n| {
        report(block(each(n, |_| message(3, [])), []))
    }),
    ("devices", |n| {
        capture(each(n, |i| message(6, number(1, i))))
    }),
    ("equal devices", |n| capture(each(n, |_| message(6, [])))),
    ("versions", |n| {
        capture(each(n, |i| message(8, message(1, i.to_le_bytes()))))
    }),
    ("attributes", |n| {
        let attribute = [message(1, []), message(2, number(5, 1))].concat();
        capture(message(6, each(n, |_| message(3, &attribute))))
    }),
    ("addresses", |n| {
        capture(message(3, each(n, |_| message(7, message(1, "1")))))
    }),
    ("environment", |n| {
        capture(message(9, each(n, |_| message(4, "1"))))
    }),
    ("sections that were asked for", |n| {
        capture(message(10, each(n, |i| message(7, i.to_string()))))
    }),
    ("command line with a list", |n| {
        let list = "a,".repeat(n as usize);
        capture(message(11, format!("ncu --metrics {list}")))
    }),
    ("command line with options", |n| {
        capture(message(11, "--set=a ".repeat(n as usize)))
    }),
    ("empty strings", |n| {
        report(block(message(4, each(n, |_| message(1, []))), []))
    }),
    ("strings", |n| {
        let table = each(n, |i| message(1, format!("{i:x}")));
        report(block(message(4, table), []))
    }),
    ("tables of strings", |n| {
        report(each(n, |i| {
            block(message(4, message(1, i.to_string())), [])
        }))
    }),
    ("strings that are not text", |n| {
        report(block(message(4, each(n, |_| message(1, [0x80]))), []))
    }),
    ("a string that is not text", |n| {
        let text = vec![0x80; n as usize];
        report(block(message(4, message(1, text)), []))
    }),
    ("sources", |n| {
        let sources = each(n, |i| sized(number(1, i)));
        report(block(number(1, n), sources))
    }),
    ("parts of a source", |n| {
        report(block(number(1, n), each(n, |_| sized([]))))
    }),
    ("files", |n| {
        let file = |i: u64| message(1, message(1, i.to_string()));
        source(message(8, each(n, file)))
    }),
    ("relocations", |n| {
        let entry = |i: u64| message(1, number(2, i));
        source(message(9, each(n, entry)))
    }),
    ("results and strings", |n| {
        let table = each(n, |i| message(1, format!("{i:x}")));
        let result = sized(message(13, number(1, n - 1)));
        let header = [number(2, n), message(4, table)].concat();
        report(block(header, each(n, |_| result.clone())))
    }),
    ("empty metrics", |n| {
        let table = message(4, message(1, "a"));
        let result = sized(each(n, |_| message(13, [])));
        report(block([number(2, 1), table].concat(), result))
    }),
    ("metrics without a name", |n| {
        kernel(each(n, |_| message(13, [])))
    }),
    ("metrics", |n| {
        let table = each(n, |i| message(1, format!("{i:x}")));
        let metric = |i| {
            message(
                13,
                [number(1, n - 1 - i), message(2, number(5, i))].concat(),
            )
        };
        let header = [number(2, 1), message(4, table)].concat();
        report(block(header, sized(each(n, metric))))
    }),
    ("instances", |n| {
        let table = message(4, message(1, "a"));
        let value = message(1, number(5, 1));
        let instance = message(3, [&value[..], &message(2, number(5, 1))].concat());
        let metric = message(13, each(n, |_| instance.clone()));
        report(block([number(2, 1), table].concat(), sized(metric)))
    }),
    ("rules", |n| kernel(each(n, |_| message(19, [])))),
    ("items", |n| {
        let items = each(n, |_| message(1, []));
        kernel(message(19, message(3, items)))
    }),
    ("marks", |n| {
        kernel(message(19, each(n, |_| message(5, []))))
    }),
    ("columns", |n| {
        let table = message(12, each(n, |_| message(2, [])));
        kernel(message(19, message(3, message(1, table))))
    }),
    ("cells", |n| {
        let column = message(2, message(6, vec![1; n as usize]));
        kernel(message(19, message(3, message(1, message(12, column)))))
    }),
    ("sections", |n| kernel(each(n, |_| message(17, [])))),
    ("domains", |n| {
        kernel(message(21, each(n, |_| message(1, []))))
    }),
    ("threads", |n| {
        kernel(message(21, each(n, |_| message(2, []))))
    }),
    ("ranges", |n| {
        let ranges = each(n, |_| message(3, []));
        kernel(message(21, message(2, message(2, ranges))))
    }),
    ("registered strings", |n| {
        let strings = each(n, |i| message(3, [number(1, i), message(2, "")].concat()));
        kernel(message(21, message(1, strings)))
    }),
    ("a registered string", |n| {
        let text = vec![0x80; n as usize];
        let string = [number(1, 1), message(2, text)].concat();
        let named = message(3, message(3, message(5, number(3, 1))));
        let ranges = message(3, each(n / 10, |_| named.clone()));
        kernel(message(
            21,
            [message(1, message(3, string)), ranges].concat(),
        ))
    }),
    ("frames", |n| {
        kernel(message(28, each(n, |_| message(1, []))))
    }),
    ("references", |n| {
        kernel(message(15, each(n, |_| number(1, 0))))
    }),
    ("launches", |n| {
        let launch = message(20, [message(1, []), message(2, [])].concat());
        let lists = sized(each(n, |_| launch.clone()));
        report(block(number(8, 1), lists))
    }),
    ("depth", |n| kernel(deep(n))),
    ("broken metrics", |n| {
        kernel(each(n, |_| message(13, [0xff])))
    }),
    ("broken results", |n| {
        report(block(number(2, n), each(n, |_| sized([0xff]))))
    }),
];

/// A report with every kind of result and of content, each once or a few times.
pub fn everything() -> Vec<u8> {
    let text = |field: u64, value: &str| message(field, value);
    let float =
        |field: u64, value: f64| [&varint(field << 3 | 1)[..], &value.to_le_bytes()].concat();
    let value = |content: Vec<u8>| message(2, content);
    let dim = [number(1, 4), number(2, 3), number(3, 2)].concat();
    let metric = |name, content: Vec<u8>| [number(1, name), content].concat();
    let instance =
        |key: Vec<u8>, value: Vec<u8>| message(3, [message(1, key), message(2, value)].concat());
    let metrics = [
        metric(0, value(float(3, 1.5))),
        metric(
            1,
            [
                value(number(5, 7)),
                instance(number(5, 0x10), float(3, 2.0)),
            ]
            .concat(),
        ),
        metric(
            2,
            [
                value(text(1, "list")),
                instance(text(1, "FFMA"), number(4, 3)),
            ]
            .concat(),
        ),
        metric(
            3,
            [number(4, 1), value(vec![0x15, 0, 0, 0x80, 0x3f])].concat(),
        ),
    ];
    let rule = [
        text(1, "Rule"),
        text(2, "A rule"),
        message(
            3,
            message(
                1,
                [
                    message(
                        1,
                        [
                            text(1, "text"),
                            number(2, 4),
                            number(3, 1),
                            text(4, "title"),
                        ]
                        .concat(),
                    ),
                    message(6, text(1, "Other")),
                    message(
                        8,
                        [
                            number(1, 1),
                            text(2, "a"),
                            float(3, 0.5),
                            number(4, 2),
                            text(5, "do"),
                        ]
                        .concat(),
                    ),
                    message(10, [number(1, 2), float(2, 12.5)].concat()),
                    message(
                        12,
                        [
                            message(2, [text(1, "c"), text(4, "x"), text(4, "y")].concat()),
                            message(2, [text(1, "d"), message(5, [0; 16])].concat()),
                            message(2, [text(1, "e"), message(6, [1, 0x80, 1])].concat()),
                        ]
                        .concat(),
                    ),
                ]
                .concat(),
            ),
        ),
        text(4, "Section"),
        message(5, [number(1, 0), number(3, 0x10), text(4, "mark")].concat()),
        message(
            5,
            [
                number(1, 1),
                number(2, 9),
                text(4, "mark"),
                text(6, "/a.cu"),
            ]
            .concat(),
        ),
    ]
    .concat();
    let attributes = [
        number(2, 5),
        message(3, number(2, 0xff00)),
        message(5, number(3, 77)),
    ]
    .concat();
    let nvtx = [
        message(
            1,
            [
                number(1, 1),
                text(2, "domain"),
                message(3, [number(1, 77), text(2, "named")].concat()),
            ]
            .concat(),
        ),
        message(
            2,
            [
                number(1, 42),
                message(
                    2,
                    [
                        number(1, 1),
                        message(3, message(2, attributes)),
                        message(3, text(1, "inner")),
                    ]
                    .concat(),
                ),
            ]
            .concat(),
        ),
        message(
            3,
            [
                number(1, 1),
                message(3, [number(1, 5), text(2, "range"), number(5, 42)].concat()),
            ]
            .concat(),
        ),
    ]
    .concat();
    let frame = [
        text(1, "/lib"),
        number(2, 0x1234),
        text(3, "/a.c"),
        text(4, "main"),
        number(5, 3),
    ]
    .concat();
    let stack = [message(1, &frame), message(1, frame), number(2, 1)].concat();
    let section = [text(1, "SpeedOfLight"), text(2, "Speed")].concat();
    let body = |fields: [u64; 7]| {
        let [metric, sections, rules, nvtx_field, clock, cpu, python] = fields;
        let list = metrics
            .iter()
            .flat_map(|content| message(metric, content))
            .collect();
        [
            list,
            message(sections, &section),
            message(rules, &rule),
            message(nvtx_field, &nvtx),
            message(clock, [number(1, 1), number(2, 1)].concat()),
            message(cpu, &stack),
            message(python, &stack),
        ]
        .concat()
    };
    let kernel = [
        number(1, 42),
        text(5, "_Z1kPf"),
        text(6, "k"),
        text(7, "k(float*)"),
        message(10, &dim),
        message(11, &dim),
        body([13, 17, 19, 21, 25, 28, 32]),
        message(15, number(1, 1)),
        number(29, 2),
    ]
    .concat();
    let range = [
        body([4, 7, 20, 10, 12, 14, 17]),
        number(15, 1),
        number(15, 2),
    ]
    .concat();
    let launch = message(20, [message(1, &dim), message(2, &dim)].concat());
    let list = [body([4, 7, 21, 10, 13, 16, 22]), text(18, "name"), launch].concat();
    let graph = [body([4, 7, 22, 10, 13, 16, 19]), message(17, number(1, 1))].concat();
    let part = |reference| {
        let file = message(1, [text(1, "/a.cu"), text(2, "code")].concat());
        let moved = |field| {
            message(
                field,
                [text(1, "_Z1kPf"), number(2, 0x1000), number(3, 1)].concat(),
            )
        };
        [
            number(1, reference),
            text(2, "source"),
            text(3, "ptx"),
            message(4, fixture("cubin/triton_gemm_small.cubin.zst")),
            number(5, 90),
            number(6, 9 << 16),
            message(8, file),
            message(9, [moved(1), moved(2)].concat()),
        ]
        .concat()
    };
    let system = [
        text(1, "Linux"),
        text(5, "host"),
        message(7, text(1, "::1")),
    ]
    .concat();
    let attribute = [text(1, "device__attribute_x"), message(2, number(5, 3))].concat();
    let details = [
        number(1, 9),
        number(2, 1_700_000_000),
        message(3, &system),
        message(4, system),
        message(
            6,
            [number(1, 0), text(2, "GPU"), message(3, attribute)].concat(),
        ),
        message(8, [text(1, "CUDA Version"), text(2, "13.0")].concat()),
        message(9, [text(1, "/bin/a"), text(4, "A=1")].concat()),
        message(10, [text(7, "Occupancy"), text(7, "Other")].concat()),
        text(11, "ncu --set full --section A --metrics a,b ./a"),
    ]
    .concat();
    let process = message(
        6,
        [number(1, 9), text(2, "host"), text(3, "/bin/a")].concat(),
    );
    let table: Vec<u8> = ["a.sum", "b", "c", "d"]
        .iter()
        .flat_map(|name| text(1, name))
        .collect();
    let counts =
        [(1, 2), (2, 1), (7, 1), (8, 1), (9, 1)].map(|(field, count)| number(field, count));
    let header = [counts.concat(), process, message(4, table)].concat();
    let entries = [part(1), part(2), kernel, range, list, graph].map(sized);
    report(
        [
            block(message(3, details), []),
            block(header, entries.concat()),
        ]
        .concat(),
    )
}

/// Messages inside each other, so that any field of any message holds one.
fn deep(depth: u64) -> Vec<u8> {
    let fields = [13, 3, 1, 19, 2, 21, 17, 28, 15];
    let mut reversed: Vec<u8> = Vec::new();
    for level in 0..depth {
        let tag = varint(fields[(level % 9) as usize] << 3 | 2);
        let head = [tag, varint(reversed.len() as u64)].concat();
        reversed.extend(head.iter().rev());
    }
    reversed.reverse();
    reversed
}

// Cubins.

/// A section: name, type, bytes, link, info.
pub type Section = (String, u32, Vec<u8>, u32, u32);

pub fn section(name: &str, kind: u32, bytes: Vec<u8>, link: u32, info: u32) -> Section {
    (name.to_owned(), kind, bytes, link, info)
}

pub fn elf(mut sections: Vec<Section>) -> Vec<u8> {
    let mut names = vec![0];
    let mut headers = vec![0; 64];
    let mut body = vec![0; 64];
    let table = sections.len() as u32 + 1;
    sections.push(section(".shstrtab", 3, Vec::new(), 0, 0));
    for (name, kind, bytes, link, info) in sections {
        let start = names.len() as u32;
        names.extend(name.bytes().chain([0]));
        let bytes = if name == ".shstrtab" {
            names.clone()
        } else {
            bytes
        };
        headers.extend([start, kind].map(u32::to_le_bytes).concat());
        let place = [0, 0, body.len() as u64, bytes.len() as u64];
        headers.extend(place.map(u64::to_le_bytes).concat());
        headers.extend([link, info].map(u32::to_le_bytes).concat());
        headers.extend([0; 16]);
        body.extend(bytes);
    }
    // Counts beyond 16 bits stand in the first header.
    headers[32..40].copy_from_slice(&u64::from(table + 1).to_le_bytes());
    headers[40..44].copy_from_slice(&table.to_le_bytes());
    let place = body.len() as u64;
    body[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\x33");
    body[16..20].copy_from_slice(&[2, 0, 190, 0]);
    body[40..48].copy_from_slice(&place.to_le_bytes());
    body[58..64].copy_from_slice(&[64, 0, 0, 0, 0xff, 0xff]);
    body.extend(headers);
    body
}

/// A line program of DWARF 2 with a list of files.
pub fn program(files: &[u8], code: &[u8]) -> Vec<u8> {
    let tables = [
        &[1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1][..],
        b"/src\0\0",
        files,
        &[0],
    ]
    .concat();
    let head = [&2_u16.to_le_bytes()[..], &sized(tables)].concat();
    sized([&head[..], code].concat())
}

/// A cubin with one kernel, whose line programs all start at its beginning.
pub fn cubin(debug_line: Vec<u8>, debug_str: Vec<u8>, starts: &[u64]) -> Vec<u8> {
    let mut symbols = vec![0; 24];
    symbols.extend([1, 0, 0, 0, 0x12, 0, 1, 0]);
    symbols.extend([0; 16]);
    let relocation = |start: &u64| [start + 3, 1 << 32 | 2, 0].map(u64::to_le_bytes).concat();
    let relocations = starts.iter().flat_map(relocation).collect();
    elf(vec![
        section(".text.k", 1, vec![0; 1 << 16], 0, 0),
        section(".strtab", 3, b"\0x\0".to_vec(), 0, 0),
        section(".symtab", 2, symbols, 2, 0),
        section(".debug_line", 1, debug_line, 0, 0),
        section(".debug_str", 1, debug_str, 0, 0),
        section(".rela.debug_line", 4, relocations, 3, 4),
    ])
}

const ADDRESS: [u8; 11] = [0, 9, 2, 0, 0, 0, 0, 0, 0, 0, 0];
const END: [u8; 3] = [0, 1, 1];

/// A cubin of one program with one sequence.
fn lines(files: &[u8], debug_str: Vec<u8>, code: Vec<u8>) -> Vec<u8> {
    let code = [&ADDRESS[..], &code, &END].concat();
    let program = program(files, &code);
    let start = program.len() - code.len();
    cubin(program, debug_str, &[start as u64])
}

pub const CUBINS: &[Shape] = &[
    ("functions", |n| {
        let function = |i| section(&format!(".text.{i}"), 1, Vec::new(), 0, 0);
        elf((0..n / 64).map(function).collect())
    }),
    ("sections without a name", |n| {
        let mut bytes = elf(vec![section("", 1, Vec::new(), 0, 0); (n / 64) as usize]);
        let start = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
        for header in bytes[start + 64..].chunks_exact_mut(64) {
            header[..4].fill(0xff);
        }
        bytes
    }),
    ("sections that share a name", |n| {
        // All names end in the same bytes.
        let name = format!(".text.{}", "a".repeat(n as usize / 2));
        let empty = || section("", 1, Vec::new(), 0, 0);
        let sections = [section(&name, 1, Vec::new(), 0, 0)].into_iter();
        let count = n / 128;
        let mut bytes = elf(sections.chain((0..count).map(|_| empty())).collect());
        let start = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
        for header in bytes[start + 64..][..64 * count as usize].chunks_exact_mut(64) {
            header[..4].copy_from_slice(&1_u32.to_le_bytes());
        }
        bytes
    }),
    ("rows", |n| {
        lines(b"a\0\0\0\0", vec![], vec![0x20; n as usize])
    }),
    ("rows without a file", |n| {
        lines(b"", vec![], vec![0x20; n as usize])
    }),
    ("sequences", |n| {
        let one = [&ADDRESS[..], &[0x20], &END].concat();
        let whole = program(b"a\0\0\0\0", &one.repeat(n as usize));
        let start = (whole.len() - one.len() * n as usize) as u64;
        let starts: Vec<_> = (0..n).map(|i| start + i * one.len() as u64).collect();
        cubin(whole, vec![], &starts)
    }),
    ("programs", |n| {
        let one = program(b"a\0\0\0\0", &[]);
        cubin(one.repeat(n as usize), vec![], &[])
    }),
    ("empty programs", |n| {
        cubin(vec![0; n as usize * 4], vec![], &[])
    }),
    ("files", |n| {
        let files: Vec<u8> = each(n / 20, |i| {
            [i.to_string().as_bytes(), &[0, 1, 0, 0]].concat()
        });
        lines(
            &files,
            vec![],
            each(n, |i| [&[4][..], &varint(i), &[0x20]].concat()),
        )
    }),
    ("files of the program", |n| {
        let define = |i: u64| {
            let entry = [&[3][..], i.to_string().as_bytes(), &[0, 1, 0, 0]].concat();
            [&[0][..], &varint(entry.len() as u64), &entry].concat()
        };
        lines(b"a\0\0\0\0", vec![], each(n, define))
    }),
    ("lists of version 5", |n| {
        // A file for each byte, as many as a header may hold and far more announced.
        let head = [&[1, 1, 1, 0xfb, 14, 1][..], &[1, 1, 0x0b, 0, 1, 1, 0x0b]].concat();
        let entries = vec![0; n as usize / 2];
        let tables = [&head[..], &varint(u64::MAX), &entries].concat();
        let body = [&[5, 0, 8, 0][..], &sized(tables)].concat();
        let one = sized(body);
        cubin([one, vec![0; 8 * n as usize]].concat(), vec![], &[])
    }),
    ("calls", |n| {
        let call = |i: u64| {
            let operands = [&[0x90, 1][..], &varint(i % n)].concat();
            [&[0][..], &varint(operands.len() as u64), &operands, &[0x20]].concat()
        };
        let names = each(n / 4, |i| {
            [&format!("{i:x}").into_bytes()[..], &[0]].concat()
        });
        lines(b"a\0\0\0\0", names, [&[0x20][..], &each(n, call)].concat())
    }),
    ("names that share bytes", |n| {
        let call = |i: u64| {
            let operands = [&[0x90, 1][..], &varint(i % n)].concat();
            [&[0][..], &varint(operands.len() as u64), &operands, &[0x20]].concat()
        };
        let name = [&vec![b'a'; n as usize][..], &[0]].concat();
        lines(b"a\0\0\0\0", name, [&[0x20][..], &each(n, call)].concat())
    }),
    ("a deep chain of calls", |n| {
        let call = |i: u64| {
            let operands = [&[0x90][..], &varint(i + 1), &[0]].concat();
            [&[0][..], &varint(operands.len() as u64), &operands, &[0x20]].concat()
        };
        lines(
            b"a\0\0\0\0",
            b"f\0".to_vec(),
            [&[0x20][..], &each(n, call)].concat(),
        )
    }),
    ("relocations", |n| {
        let starts: Vec<_> = (0..n).rev().collect();
        cubin(vec![0; 64], vec![], &starts)
    }),
    ("attributes", |n| {
        let attributes = each(n, |_| vec![4, 0x2f, 8, 0, 1, 0, 0, 0, 9, 0, 0, 0]);
        elf(vec![section(".nv.info", 1, attributes, 0, 0)])
    }),
];
