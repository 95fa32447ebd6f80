//! Makes CSV exports of many sizes. Their rows are as short as the profiler's can be, where a row costs most.

use super::Shape;

const LAUNCH: &str = "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\"";

fn launch(id: u64) -> String {
    format!(
        "\"{id}\",\"17\",\"python3\",\"127.0.0.1\",\"add(float *, int)\",\"1\",\"7\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"0\",\"9.0\""
    )
}

/// Launches with so many metrics each, all of the same digits.
fn raw(bytes: u64, metrics: usize, cell: &str) -> Vec<u8> {
    let mut text = LAUNCH.to_owned();
    for metric in 0..metrics {
        text.extend([format!(",\"sm__inst_executed_{metric}.sum\"")]);
    }
    text.push('\n');
    text.push_str(&",".repeat(10 + metrics));
    text.push('\n');
    let cells = format!(",{cell}").repeat(metrics);
    let row = launch(0).len() + cells.len();
    for id in 0..bytes / row as u64 {
        text.push_str(&launch(id));
        text.push_str(&cells);
        text.push('\n');
    }
    text.into_bytes()
}

/// Each launch with a few rows of metrics, each row with the names of its launch, and messages of rules.
fn details(bytes: u64) -> Vec<u8> {
    let mut text = format!(
        "{LAUNCH},\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\",\"Rule Type\",\"Rule Description\"\n"
    );
    for id in 0..bytes / 1200 {
        let launch = launch(id);
        for (label, unit, value) in [
            ("Duration", "us", "12.35"),
            ("SM Frequency", "Ghz", "1.59"),
            ("Memory Throughput", "%", "7"),
            ("DRAM Throughput", "%", "3.5"),
        ] {
            text.extend([format!(
                "{launch},\"GPU Speed Of Light Throughput\",\"{label}\",\"{unit}\",\"{value}\",,,\n"
            )]);
        }
        text.extend([format!(
            "{launch},\"GPU Speed Of Light Throughput\",,,,\"SOLBottleneck\",\"OPT\",\"Look at what launch {id} waits for.\"\n"
        )]);
    }
    text.into_bytes()
}

/// One kernel of very many instructions.
fn source(bytes: u64, columns: usize, cell: &str) -> Vec<u8> {
    let mut text = "\"Kernel Name\",\"add(float *, int)\"\n\"#\",\"Address\",\"Source\"".to_owned();
    for column in 0..columns {
        text.extend([format!(",\"Counter {column}\"")]);
    }
    text.push('\n');
    let cells = format!(",{cell}").repeat(columns);
    for row in 0..bytes / (48 + cells.len() as u64) {
        let address = 0x7f00_0000_0000_u64 + 16 * row;
        text.extend([format!(
            "\"{row}\",\"0x{address:x}\",\"IADD3 R{}, R4, R5, RZ\"{cells}\n",
            row % 200
        )]);
    }
    text.into_bytes()
}

/// The same with lines: each instruction stands under the line it belongs to and under that of a call.
fn lines(bytes: u64) -> Vec<u8> {
    let titles = "\"Line No\",\"Source\",\"Address\",\"Source\",\"# Samples\",\"Instructions Executed\",\"Thread Instructions Executed\",\"L2 Theoretical Sectors Global\"\n";
    let mut text =
        format!("\"File Path\",\"/src/add.cu\"\n\"Function Name\",\"add(float *, int)\"\n{titles}");
    for line in 0..bytes / 230 {
        let address = 0x7f00_0000_0000_u64 + 16 * (line / 2 * 2 + (line + 1) % 2);
        text.extend([format!(
            "\"{line}\",\"    sum += x[i];\",\"\",\"\",\"3\",\"4096\",\"131072\",\"0\"\n"
        )]);
        for address in [address, address ^ 16] {
            text.extend([format!(
                ",,\"0x{address:x}\",\"IADD3 R3, R4, R5, RZ\",\"3\",\"4096\",\"131072\",\"0\"\n"
            )]);
        }
    }
    text.into_bytes()
}

/// Exports of about so many bytes.
pub const EXPORTS: &[Shape] = &[
    ("raw page of no metrics", |bytes| raw(bytes, 0, "")),
    ("raw page of five metrics", |bytes| {
        raw(bytes, 5, "\"1,234.50\"")
    }),
    ("raw page of many metrics", |bytes| {
        raw(bytes, 1000, "\"1,234.50\"")
    }),
    ("raw page of digits", |bytes| raw(bytes, 1000, "0")),
    ("raw page of fractions", |bytes| raw(bytes, 1000, "0.5")),
    ("raw page of words", |bytes| {
        raw(bytes, 1000, "\"PolicySpread\"")
    }),
    ("details page", details),
    ("source page", |bytes| source(bytes, 30, "\"0\"")),
    ("source page of digits", |bytes| source(bytes, 30, "0")),
    ("source page of nothing else", |bytes| source(bytes, 0, "")),
    ("source page with lines", lines),
];
