//! Reports made by hand: an encoder of its own, and one report that has every field of all four kinds of results.
//!
//! Field numbers are written down from the description of the format, not taken from the readers under test.
#![expect(
    dead_code,
    unreachable_pub,
    reason = "shared by tests, of which not every one uses everything"
)]

pub mod compare;

use std::path::{Path, PathBuf};

/// A message under construction.
#[derive(Clone, Debug, Default)]
pub struct Message(pub Vec<u8>);

pub fn message() -> Message {
    Message::default()
}

pub fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

impl Message {
    fn tag(mut self, number: u32, wire_type: u64) -> Self {
        self.0.extend(varint(u64::from(number) << 3 | wire_type));
        self
    }

    pub fn number(self, number: u32, value: u64) -> Self {
        let mut out = self.tag(number, 0);
        out.0.extend(varint(value));
        out
    }

    pub fn bytes(self, number: u32, bytes: &[u8]) -> Self {
        let mut out = self.tag(number, 2);
        out.0.extend(varint(bytes.len() as u64));
        out.0.extend(bytes);
        out
    }

    pub fn text(self, number: u32, text: impl AsRef<str>) -> Self {
        self.bytes(number, text.as_ref().as_bytes())
    }

    pub fn part(self, number: u32, part: Message) -> Self {
        self.bytes(number, &part.0)
    }

    pub fn parts(self, number: u32, parts: impl IntoIterator<Item = Message>) -> Self {
        parts
            .into_iter()
            .fold(self, |out, part| out.part(number, part))
    }

    pub fn double(self, number: u32, value: f64) -> Self {
        let mut out = self.tag(number, 1);
        out.0.extend(value.to_le_bytes());
        out
    }

    pub fn float(self, number: u32, value: f32) -> Self {
        let mut out = self.tag(number, 5);
        out.0.extend(value.to_le_bytes());
        out
    }
}

/// One kind of payload entry, in the order in which they stand in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Source,
    Kernel,
    Range,
    CommandList,
    Graph,
}

/// A block: fields of its header beside counts and sizes, and its entries in the order of [`Kind`].
#[derive(Clone, Debug, Default)]
pub struct Block {
    pub header: Message,
    pub entries: Vec<(Kind, Message)>,
}

fn sized(bytes: &[u8]) -> Vec<u8> {
    let mut out = (bytes.len() as u32).to_le_bytes().to_vec();
    out.extend(bytes);
    out
}

/// A whole file.
pub fn file(blocks: &[Block]) -> Vec<u8> {
    let mut out = b"NVR\0".to_vec();
    out.extend(sized(&message().number(1, 7).0));
    for block in blocks {
        let mut header = block.header.clone();
        let count = |kind| block.entries.iter().filter(|entry| entry.0 == kind).count() as u64;
        for (number, kind) in [
            (1, Kind::Source),
            (2, Kind::Kernel),
            (7, Kind::Range),
            (8, Kind::CommandList),
            (9, Kind::Graph),
        ] {
            header = header.number(number, count(kind));
        }
        let payload: Vec<u8> = block
            .entries
            .iter()
            .flat_map(|(_, message)| sized(&message.0))
            .collect();
        header = header.number(5, payload.len() as u64);
        out.extend(sized(&header.0));
        out.extend(payload);
    }
    out
}

/// All texts in a report, found without knowing what they are: every length-delimited value that is printable, at any
/// depth, in every message of the file.
pub fn texts(file: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = &file[4..];
    let take = |rest: &mut &[u8]| {
        let (size, after) = rest.split_first_chunk::<4>().unwrap();
        let (message, after) = after.split_at(u32::from_le_bytes(*size) as usize);
        *rest = after;
        message.to_vec()
    };
    // A payload is a row of sized messages too, so that the file is one row of them.
    while !rest.is_empty() {
        let message = take(&mut rest);
        assert!(texts_of(&message, &mut found), "not a message");
    }
    found
}

/// Reads bytes as a message; says no, and finds nothing, if they are none.
fn texts_of(bytes: &[u8], found: &mut Vec<String>) -> bool {
    let before = found.len();
    let mut rest = bytes;
    let varint = |rest: &mut &[u8]| -> Option<u64> {
        let mut value = 0;
        for shift in 0..10 {
            let (byte, after) = rest.split_first()?;
            *rest = after;
            value |= u64::from(byte & 0x7f) << (7 * shift).min(63);
            if *byte < 0x80 {
                return Some(value);
            }
        }
        None
    };
    let mut field = |rest: &mut &[u8]| -> Option<()> {
        let tag = varint(rest)?;
        let size = match tag & 7 {
            0 => {
                varint(rest)?;
                0
            }
            1 => 8,
            2 => varint(rest)? as usize,
            5 => 4,
            _ => return None,
        };
        let (value, after) = rest.split_at_checked(size)?;
        *rest = after;
        if tag & 7 == 2 && tag >> 3 > 0 {
            let is_text = std::str::from_utf8(value).is_ok_and(|text| {
                !text.is_empty() && text.chars().all(|c| !c.is_control() || c.is_whitespace())
            });
            if is_text {
                found.push(String::from_utf8_lossy(value).into_owned());
            }
            texts_of(value, found);
        }
        (tag >> 3 > 0).then_some(())
    };
    while !rest.is_empty() {
        if field(&mut rest).is_none() {
            found.truncate(before);
            return false;
        }
    }
    true
}

/// Field numbers of one kind of result; zero where it does not have the field.
pub struct Numbers {
    pub comment: u32,
    pub metrics: u32,
    pub created: u32,
    pub source: u32,
    pub api: u32,
    pub sections: u32,
    pub section_comments: u32,
    pub rules: u32,
    pub unsupported: u32,
    pub nvtx: u32,
    pub context: u32,
    pub stream: u32,
    pub clock: u32,
    pub context_name: u32,
    pub stream_name: u32,
    pub cpu_stack: u32,
    pub green: u32,
    pub python_stack: u32,
    pub partitions: [u32; 2],
    pub driver: u32,
}

pub const KERNEL: Numbers = Numbers {
    comment: 12,
    metrics: 13,
    created: 14,
    source: 15,
    api: 16,
    sections: 17,
    section_comments: 18,
    rules: 19,
    unsupported: 20,
    nvtx: 21,
    context: 22,
    stream: 23,
    clock: 25,
    context_name: 26,
    stream_name: 27,
    cpu_stack: 28,
    green: 30,
    python_stack: 32,
    partitions: [33, 34],
    driver: 35,
};

pub const RANGE: Numbers = Numbers {
    comment: 3,
    metrics: 4,
    created: 5,
    source: 15,
    api: 6,
    sections: 7,
    section_comments: 8,
    rules: 20,
    unsupported: 9,
    nvtx: 10,
    context: 11,
    stream: 0,
    clock: 12,
    context_name: 13,
    stream_name: 0,
    cpu_stack: 14,
    green: 16,
    python_stack: 17,
    partitions: [18, 19],
    driver: 21,
};

pub const COMMAND_LIST: Numbers = Numbers {
    comment: 3,
    metrics: 4,
    created: 5,
    source: 17,
    api: 6,
    sections: 7,
    section_comments: 8,
    rules: 21,
    unsupported: 9,
    nvtx: 10,
    context: 11,
    stream: 12,
    clock: 13,
    context_name: 14,
    stream_name: 15,
    cpu_stack: 16,
    green: 0,
    python_stack: 22,
    partitions: [23, 24],
    driver: 25,
};

pub const GRAPH: Numbers = Numbers {
    comment: 3,
    metrics: 4,
    created: 5,
    source: 17,
    api: 6,
    sections: 7,
    section_comments: 8,
    rules: 22,
    unsupported: 9,
    nvtx: 10,
    context: 11,
    stream: 12,
    clock: 13,
    context_name: 14,
    stream_name: 15,
    cpu_stack: 16,
    green: 18,
    python_stack: 19,
    partitions: [20, 21],
    driver: 23,
};

pub fn numbers(kind: Kind) -> &'static Numbers {
    match kind {
        Kind::Kernel => &KERNEL,
        Kind::Range => &RANGE,
        Kind::CommandList => &COMMAND_LIST,
        Kind::Graph => &GRAPH,
        Kind::Source => panic!("a source is no result"),
    }
}

/// Metrics of the string table, in the order of their numbers.
pub const METRICS: [&str; 10] = [
    "gpu__time_duration.sum",
    "launch__kernel_name",
    "smsp__pcsamp_sample_buffer_full",
    "sass__inst_executed_per_opcode",
    "TPC.TriageCompute.sm__inst_executed_realtime.avg.per_cycle_active",
    "numa__cpu_affinity",
    "device__attribute_pci_bus_id",
    "launch__func_cache_config",
    "breakdown:sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "future__text",
];

/// Nanoseconds since 1970 at which the made-up series starts.
pub const START: u64 = 1_795_995_651_123_456_789;
/// Numbers that identify a machine, a process or a time; each is long enough to be looked for in bytes.
pub const PRIVATE_NUMBERS: [u64; 12] = [
    7_654_321,
    1_795_995_160,
    8_111_222,
    8_111_333,
    8_111_444,
    8_111_555,
    94_293_794_730_672,
    94_293_794_736_512,
    9_222_111,
    7_654_322,
    START,
    START + 1_000,
];

/// Makes a report in which each text says which field it is in.
pub struct Maker<'m> {
    /// Turns the name of a field into its text.
    pub text: &'m dyn Fn(&str) -> String,
    /// Whether texts that a redaction recognises (identifiers of rules, names of metrics) are recognisable.
    pub is_plausible: bool,
}

impl Maker<'_> {
    fn text(&self, label: &str) -> String {
        (self.text)(label)
    }

    /// A text that is checked as a whole before anything in its message is kept.
    fn known(&self, label: &str, plausible: &str) -> String {
        match self.is_plausible {
            true => plausible.to_owned(),
            false => self.text(label),
        }
    }

    fn system(&self, side: &str) -> Message {
        let text = |label: &str| self.text(&format!("{side} {label}"));
        message()
            .text(1, text("os"))
            .text(2, text("build"))
            .text(3, text("processor"))
            .text(4, text("architecture"))
            .text(5, text("name"))
            .number(6, 2)
            .part(7, message().text(1, text("address 4")).number(2, 1))
            .part(7, message().text(1, text("address 6")).number(2, 2))
    }

    fn value(&self, label: &str) -> Message {
        message().text(1, self.text(label))
    }

    /// The parts of the capture details, as different blocks carry them.
    pub fn capture(&self) -> [Message; 3] {
        let attribute = |name: &str, value| message().text(1, name).part(2, value);
        let device = message()
            .number(1, 3)
            .text(2, self.known("device name", "NVIDIA H200"))
            .part(
                3,
                attribute(
                    "device__attribute_multiprocessor_count",
                    message().number(5, 132),
                ),
            )
            .part(
                3,
                attribute(
                    "device__attribute_pci_bus_id",
                    message().number(5, 9_222_111),
                ),
            )
            .part(
                3,
                attribute("device__attribute_display_name", self.value("display name")),
            )
            .part(
                3,
                message()
                    .text(1, self.text("attribute name"))
                    .part(2, self.value("attribute value")),
            );
        let settings = message()
            .number(1, 1)
            .part(
                5,
                message()
                    .text(1, self.text("filter kernel"))
                    .number(2, 1)
                    .text(3, self.text("filter id"))
                    .number(4, 5)
                    .text(7, self.text("filter nvtx")),
            )
            .part(
                6,
                message().number(1, 1).text(2, self.text("extra metrics")),
            )
            .text(7, self.known("enabled section", "SpeedOfLight"))
            .number(8, 1);
        [
            message()
                .number(1, 7_654_321)
                .number(2, 1_795_995_160)
                .part(3, self.system("host")),
            message().part(4, self.system("target")).part(
                5,
                message()
                    .text(1, self.text("property key"))
                    .text(2, self.text("property value")),
            ),
            message()
                .part(6, device)
                .text(7, self.text("session comment"))
                .part(
                    8,
                    message()
                        .text(1, "Nsight Compute Target")
                        .text(2, "2025.3.1.0 (build 36398880) (public-release)"),
                )
                .part(
                    8,
                    message()
                        .text(1, self.text("version provider"))
                        .text(2, self.text("version text")),
                )
                .part(
                    9,
                    message()
                        .text(1, self.text("executable path"))
                        .text(2, self.text("executable directory"))
                        .text(3, self.text("executable arguments"))
                        .text(4, self.text("environment 1"))
                        .text(4, self.text("environment 2")),
                )
                .part(10, settings)
                .text(
                    11,
                    format!(
                        "{}/ncu --set full --clock-control none -o {} --section {} --metrics gpu__time_duration.sum,{} {} --password {}",
                        self.text("profiler"),
                        self.text("output"),
                        self.text("section"),
                        self.text("metric"),
                        self.text("program"),
                        self.text("argument"),
                    ),
                ),
        ]
    }

    /// A source, and a second entry of the same reference as lazy loading makes it.
    pub fn sources(&self) -> [Message; 2] {
        let symbol = |name: String, address: u64, index: u64| {
            message().text(1, name).number(2, address).number(3, index)
        };
        [
            message()
                .number(1, 77)
                .text(2, self.text("source text"))
                .text(3, self.text("ptx"))
                .bytes(4, self.text("cubin").as_bytes())
                .number(5, 9)
                .number(6, 9 << 16 | 1)
                .number(7, 4)
                .part(
                    8,
                    message()
                        .part(
                            1,
                            message()
                                .text(1, self.text("file path"))
                                .text(2, self.text("file content")),
                        )
                        .part(1, message().text(1, self.text("missing file"))),
                )
                .part(
                    9,
                    message()
                        .part(1, symbol(self.text("kernel mangled"), 0x7f00_0000_1000, 11))
                        .part(1, symbol(self.text("other function"), 0x7f00_0000_2000, 12))
                        .part(2, symbol(self.text("data object"), 0x7f00_0000_3000, 13)),
                ),
            message().number(1, 77).part(
                9,
                message().part(1, symbol(self.text("late function"), 0x7f00_0000_4000, 14)),
            ),
        ]
    }

    fn metrics(&self, kernel: &str) -> Vec<Message> {
        let key = |value: u64| message().number(5, value);
        let instance = |key: Message, value: Message| message().part(1, key).part(2, value);
        vec![
            message().number(1, 0).part(2, message().double(3, 1234.5)),
            message()
                .number(1, 1)
                .part(2, message().text(1, ""))
                .part(3, instance(key(0), message().text(1, kernel))),
            message()
                .number(1, 2)
                .part(2, message().number(5, 30))
                .part(3, instance(key(0x7f00_0000_1010), message().number(5, 10)))
                .part(3, instance(key(0x7f00_0000_1020), message().number(4, 20)))
                .part(3, message().part(1, key(0x7f00_0000_1030))),
            message()
                .number(1, 3)
                .part(2, message().double(3, f64::NAN))
                .part(
                    3,
                    instance(message().text(1, "LDG.E"), message().double(3, 8.0)),
                )
                .part(3, instance(self.value("opcode"), message().float(2, 0.5))),
            message()
                .number(1, 4)
                .part(2, message().double(3, 2.0))
                .part(3, instance(key(0), message().double(3, 0.0)))
                .part(3, instance(key(START), message().double(3, 1.0)))
                .part(3, instance(key(START + 1_000), message().double(3, 3.0)))
                .number(4, 1),
            message()
                .number(1, 5)
                .part(2, message().number(5, 1))
                .part(3, instance(key(0), self.value("numa"))),
            message()
                .number(1, 6)
                .part(2, message().number(5, 9_222_111)),
            message()
                .number(1, 7)
                .part(2, message().text(1, "CachePreferShared")),
            message().number(1, 8).part(
                2,
                message().text(1, "gpu__time_duration.sum,sm__unknown.avg"),
            ),
            message().number(1, 9).part(2, self.value("future text")),
            // Not available: no value, and an empty one.
            message().number(1, 2),
            message().number(1, 2).part(2, message()),
        ]
    }

    fn rule(&self, kind: &str) -> Message {
        let text = |label: &str| self.text(&format!("{kind} {label}"));
        let column = |name: String, kind: u64| message().text(1, name).number(2, kind).number(3, 2);
        let packed = |values: [f64; 2]| {
            let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            message().bytes(5, &bytes)
        };
        let opcodes = column("Opcode".to_owned(), 3)
            .text(4, "FADD")
            .text(4, text("table opcode"));
        let mut numbers = column(text("column name"), 1);
        numbers.0.extend(packed([20_000_000.0, 5.0]).0);
        numbers = numbers.text(7, text("column configuration"));
        let table = message()
            .text(1, text("table configuration"))
            .part(
                2,
                column("Location".to_owned(), 3)
                    .text(4, text("cell 1"))
                    .text(4, text("cell 2")),
            )
            .part(2, opcodes)
            .part(2, numbers)
            .part(2, column("Size".to_owned(), 2).number(6, 5).number(6, 6))
            .part(2, column("Size".to_owned(), 2).bytes(6, &[7, 0x80, 1]));
        let item = message()
            .part(
                1,
                message()
                    .text(1, text("message"))
                    .number(2, 4)
                    .number(3, 1)
                    .text(
                        4,
                        self.known(&format!("{kind} title"), "Long Scoreboard Stalls"),
                    ),
            )
            .part(
                8,
                message()
                    .number(1, 1)
                    .text(
                        2,
                        self.known(&format!("{kind} focus metric"), "gpu__time_duration.sum"),
                    )
                    .double(3, 7.5)
                    .number(4, 2)
                    .text(5, text("advice")),
            )
            .part(10, message().number(1, 2).double(2, 56.25))
            .part(12, table);
        let charts = message()
            .text(2, text("chart 2"))
            .text(3, text("chart 3"))
            .text(4, text("chart 4"))
            .text(5, text("chart 5"))
            .part(6, message().text(1, text("proposal")))
            .text(7, text("chart 7"))
            .part(
                9,
                message()
                    .text(1, text("source metrics"))
                    .part(
                        3,
                        message().text(1, self.known(&format!("{kind} source metric"), METRICS[2])),
                    )
                    .part(3, message().text(1, text("other source metric"))),
            )
            .text(11, text("suffix table"));
        message()
            .text(1, self.known(&format!("{kind} rule id"), "SOLBottleneck"))
            .text(2, self.known(&format!("{kind} rule name"), "Bottleneck"))
            .part(3, message().part(1, item).part(1, charts))
            .text(
                4,
                self.known(&format!("{kind} rule section"), "SpeedOfLight"),
            )
            .part(
                5,
                message()
                    .number(1, 1)
                    .number(2, 42)
                    .text(4, text("mark of a line"))
                    .number(5, 2)
                    .text(6, text("marked file")),
            )
            .part(
                5,
                message()
                    .number(3, 0x7f00_0000_1010)
                    .text(4, text("mark of an instruction")),
            )
    }

    fn nvtx(&self, kind: &str) -> Message {
        let text = |label: &str| self.text(&format!("{kind} nvtx {label}"));
        let attributes = |text: Message| {
            message()
                .number(1, 3)
                .number(2, 21)
                .part(3, message().number(1, 1).number(2, 0xff00_ff00))
                .part(4, message().number(1, 2).number(2, 9))
                .part(5, text)
        };
        message()
            .part(
                1,
                message()
                    .number(1, 1)
                    .text(2, text("domain"))
                    .part(3, message().number(1, 500).text(2, text("registered")))
                    .part(4, message().text(1, text("table"))),
            )
            .part(1, message().number(1, 0).text(2, ""))
            .part(
                2,
                message().number(1, 8_111_222).part(
                    2,
                    message()
                        .number(1, 1)
                        .part(
                            3,
                            message().text(1, text("outer")).number(3, 5).number(4, 6),
                        )
                        .part(
                            3,
                            message().part(
                                2,
                                attributes(message().number(1, 1).text(2, text("message"))),
                            ),
                        )
                        .part(
                            3,
                            message().part(2, attributes(message().number(1, 3).number(3, 500))),
                        ),
                ),
            )
            .part(
                3,
                message().number(1, 0).part(
                    3,
                    message()
                        .number(1, 9)
                        .text(2, text("start"))
                        .part(3, attributes(message()))
                        .number(4, 7)
                        .number(5, 8_111_222),
                ),
            )
            .number(4, 0)
            .number(5, 1)
    }

    fn stack(&self, kind: &str, language: &str, number: u64) -> Message {
        let text = |label: &str| self.text(&format!("{kind} {language} {label}"));
        message()
            .part(
                1,
                message()
                    .text(1, text("module"))
                    .number(2, 94_293_794_730_672)
                    .text(3, text("file"))
                    .text(4, text("function"))
                    .number(5, 17),
            )
            .part(1, message().text(4, text("caller")))
            .number(2, number)
    }

    /// A result with every field that its kind has.
    pub fn result(&self, kind: Kind) -> Message {
        let numbers = numbers(kind);
        let name = match kind {
            Kind::Kernel => "kernel",
            Kind::Range => "range",
            Kind::CommandList => "list",
            Kind::Graph => "graph",
            Kind::Source => panic!("a source is no result"),
        };
        let text = |label: &str| self.text(&format!("{name} {label}"));
        let thread = 8_111_222 + 111 * (kind as u64 - 1);
        let triple = |x, y, z| message().number(1, x).number(2, y).number(3, z);
        let mut out = message().number(1, thread).number(2, 40 + kind as u64);
        match kind {
            Kind::Kernel => {
                out = out
                    .number(3, 94_293_794_730_672)
                    .number(4, 94_293_794_736_512)
                    .text(5, text("mangled"))
                    .text(6, text("function"))
                    .text(7, text("demangled"))
                    .number(8, 3)
                    .part(9, triple(0, 0, 0))
                    .part(10, triple(100, 2, 1))
                    .part(11, triple(256, 1, 1))
                    .part(15, message().number(1, 77))
                    .part(24, message().number(1, 1).number(2, 2))
                    .number(29, 2)
                    .text(31, text("display name"));
            }
            Kind::Range => out = out.number(15, 77).number(15, 78),
            Kind::CommandList => {
                out = out
                    .number(17, 77)
                    .number(17, 78)
                    .text(18, text("display name"))
                    .number(19, 3)
                    .part(
                        20,
                        message().part(1, triple(5, 1, 1)).part(2, triple(64, 1, 1)),
                    )
                    .part(
                        20,
                        message()
                            .part(1, triple(6, 1, 1))
                            .part(2, triple(128, 1, 1)),
                    );
            }
            Kind::Graph => out = out.number(17, 77).number(17, 78),
            Kind::Source => {}
        }
        let section = message()
            .text(1, self.known(&format!("{name} section id"), "SpeedOfLight"))
            .text(
                2,
                self.known(
                    &format!("{name} section title"),
                    "GPU Speed Of Light Throughput",
                ),
            )
            .number(3, 10)
            .part(4, message().text(1, text("section header")))
            .part(5, message().text(1, text("section body")))
            .text(7, text("section description"));
        let optional = |out: Message, number: u32, add: &dyn Fn(Message) -> Message| match number {
            0 => out,
            _ => add(out),
        };
        let n = numbers;
        out = out
            .text(n.comment, text("comment"))
            .parts(n.metrics, self.metrics(&text("function")))
            .number(n.created, 1_795_995_160)
            .number(n.api, 0)
            .part(n.sections, section)
            .part(
                n.section_comments,
                message()
                    .part(1, message().text(1, text("commented section")))
                    .text(2, text("section comment name"))
                    .text(3, text("section comment text")),
            )
            .part(n.rules, self.rule(name))
            .number(n.unsupported, 1)
            .part(n.nvtx, self.nvtx(name))
            .number(n.context, 51)
            .part(n.clock, message().number(1, 1).number(2, 0))
            .text(n.context_name, text("context name"))
            .part(n.cpu_stack, self.stack(name, "native", 1))
            .part(n.python_stack, self.stack(name, "python", 2))
            .bytes(n.partitions[0], text("partition 1").as_bytes())
            .bytes(n.partitions[1], text("partition 2").as_bytes())
            .float(n.driver, 580.159)
            .text(9_999, text("unknown field"));
        out = optional(out, n.stream, &|out| out.number(n.stream, 52));
        out = optional(out, n.stream_name, &|out| {
            out.text(n.stream_name, text("stream name"))
        });
        optional(out, n.green, &|out| out.number(n.green, 1))
    }

    /// A report with all of it, spread over blocks as the profiler does.
    pub fn report(&self) -> Vec<u8> {
        let [first, second, third] = self.capture();
        let process = |number: u64, label: &str| {
            message()
                .number(1, number)
                .text(2, self.text(&format!("{label} host")))
                .text(3, self.text(&format!("{label} executable")))
        };
        let strings = |names: &[&str]| {
            names
                .iter()
                .fold(message(), |table, name| table.text(1, name))
        };
        let [source, late_source] = self.sources();
        // The table runs on: the first part has six names, the second the rest.
        let (early, late) = METRICS.split_at(6);
        let late = strings(late).text(1, self.text("string"));
        file(&[
            Block {
                header: message().part(3, first),
                entries: Vec::new(),
            },
            Block {
                header: message()
                    .part(4, strings(early))
                    .part(6, process(7_654_321, "first")),
                entries: vec![
                    (Kind::Source, source),
                    (Kind::Source, late_source),
                    (Kind::Kernel, self.result(Kind::Kernel)),
                    (Kind::Range, self.result(Kind::Range)),
                ],
            },
            Block {
                header: message()
                    .part(3, second)
                    .part(3, third)
                    .part(4, late)
                    .part(6, process(7_654_322, "second"))
                    .text(300, self.text("unknown header field")),
                entries: vec![
                    (Kind::CommandList, self.result(Kind::CommandList)),
                    (Kind::Graph, self.result(Kind::Graph)),
                ],
            },
        ])
    }
}

/// The workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// An unpacked report.
pub fn load(path: &Path) -> Vec<u8> {
    let packed = std::fs::read(path).unwrap();
    let unpacked = ncu_rep::unpack(&packed, ncu_rep::default_limit(packed.len() as u64));
    assert!(unpacked.problem.is_none(), "{}", path.display());
    unpacked.bytes.into_owned()
}

/// The committed report.
pub fn fixture() -> Vec<u8> {
    load(&root().join("fixtures/reports/vadd.ncu-rep.zst"))
}

/// The reports of the corpus, which is looked for in `RIDGE_CORPUS`, then in `../shared/corpus`; none without it.
pub fn corpus() -> Vec<PathBuf> {
    let named = std::env::var_os("RIDGE_CORPUS").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| root().join("../shared/corpus"));
    let mut reports: Vec<PathBuf> = ["pairs", "reports"]
        .iter()
        .filter_map(|name| std::fs::read_dir(folder.join(name)).ok())
        .flatten()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains(".ncu-rep"))
        .collect();
    reports.sort();
    reports
}

/// Random numbers that are the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}
