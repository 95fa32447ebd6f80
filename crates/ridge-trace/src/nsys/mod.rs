//! Databases that `nsys export --type sqlite` wrote.
//!
//! Tables are there only if they have rows, and their columns differ from version to version: what a table has is looked
//! up, and only start, end and a name are required of it. SQLite itself reads the file, page by page and read-only; of
//! the tables that describe the machine and the capture, which hold names and the whole environment, nothing is read but
//! GPUs, the version, names of processes, and how graphs were traced.

mod enums;
mod table;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io::Cursor;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::Path;

use rusqlite::{Connection, MAIN_DB, OpenFlags};

use crate::error::{Error, Problem};
use crate::timeline::{
    AnnotationKind, Api, Builder, Copied, Correlation, Graph, Launch, Memory, NameId, NewCall,
    NewWork, ProcessId, SourceKind, StreamId, ThreadId, Timeline,
};
use enums::Enums;
use table::{Row, Table};

/// What every database begins with.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Whether an input is a database.
#[must_use]
pub fn is_database(input: &[u8]) -> bool {
    input.starts_with(MAGIC)
}

/// Reads a database that is in memory; it is copied for SQLite.
///
/// # Errors
/// When it is no database, or holds no activity.
pub fn read(input: &[u8]) -> Result<Timeline, Error> {
    let mut bytes = input.to_vec();
    // A file that was written with a log beside it says so; the log is not here, and what is here is complete.
    for version in bytes.iter_mut().skip(18).take(2) {
        *version = 1;
    }
    let length = bytes.len();
    let mut connection = Connection::open_in_memory().map_err(|error| no_database(&error))?;
    connection
        .deserialize_read_exact(MAIN_DB, Cursor::new(bytes), length, true)
        .map_err(|error| no_database(&error))?;
    read_from(&connection)
}

/// Reads a database from its file, page by page. The file is not changed, and no other is made beside it.
///
/// # Errors
/// When it cannot be opened, is no database, or holds no activity.
pub fn read_file(path: &Path) -> Result<Timeline, Error> {
    let Some(address) = address(path) else {
        return Err(Error::Database {
            reason: "its path is no text".to_owned(),
        });
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection =
        Connection::open_with_flags(address, flags).map_err(|error| no_database(&error))?;
    read_from(&connection)
}

/// The address of a file that nobody else writes to, so that SQLite takes no lock and looks for no log.
fn address(path: &Path) -> Option<String> {
    let mut address = "file:".to_owned();
    let path = path.to_str()?;
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_') {
            address.push(char::from(byte));
        } else {
            address.push('%');
            for half in [byte >> 4, byte & 15] {
                address.push(char::from_digit(u32::from(half), 16).unwrap_or('0'));
            }
        }
    }
    address.push_str("?immutable=1");
    Some(address)
}

fn no_database(error: &rusqlite::Error) -> Error {
    Error::Database {
        reason: error.to_string(),
    }
}

fn read_from(connection: &Connection) -> Result<Timeline, Error> {
    // Expressions in the schema of a stranger's database are not run.
    connection
        .execute_batch("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON;")
        .map_err(|error| no_database(&error))?;
    let known = table::names(connection).map_err(|error| no_database(&error))?;
    let mut reader = Reader {
        connection,
        known,
        builder: Builder::new(SourceKind::NsysSqlite),
        strings: HashMap::new(),
        names: HashMap::new(),
        enums: Enums::default(),
        is_about_graphs: false,
    };
    if !ACTIVITY.iter().any(|table| reader.known.contains(*table)) {
        return Err(Error::NoTables { expected: KERNEL });
    }
    reader.describe();
    reader.kernels();
    reader.copies();
    reader.memsets();
    reader.calls();
    reader.synchronisations();
    reader.graphs();
    reader.overheads();
    reader.ranges();
    Ok(reader.builder.finish())
}

const KERNEL: &str = "CUPTI_ACTIVITY_KIND_KERNEL";
const MEMCPY: &str = "CUPTI_ACTIVITY_KIND_MEMCPY";
const MEMSET: &str = "CUPTI_ACTIVITY_KIND_MEMSET";
const RUNTIME: &str = "CUPTI_ACTIVITY_KIND_RUNTIME";
const DRIVER: &str = "CUPTI_ACTIVITY_KIND_DRIVER";
const SYNC: &str = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
const GRAPH: &str = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
const OVERHEAD: &str = "CUPTI_ACTIVITY_KIND_OVERHEAD";
const PROFILER_OVERHEAD: &str = "PROFILER_OVERHEAD";
const NVTX: &str = "NVTX_EVENTS";

/// A database without any of them is no trace.
const ACTIVITY: &[&str] = &[KERNEL, MEMCPY, MEMSET, RUNTIME, DRIVER, SYNC, GRAPH, NVTX];

/// What every table of work has to have, and what it can have.
const WORK_REQUIRED: &[&str] = &["start", "end", "deviceId", "streamId"];
const WORK_OPTIONAL: &[&str] = &[
    "correlationId",
    "globalPid",
    "contextId",
    "graphId",
    "graphNodeId",
];

/// NVTX events that are ranges: pushed and popped, started and ended.
const RANGES: [i64; 2] = [59, 60];

struct Reader<'c> {
    connection: &'c Connection,
    known: std::collections::HashSet<String>,
    builder: Builder,
    strings: HashMap<i64, Box<str>>,
    /// Strings that are already names.
    names: HashMap<i64, NameId>,
    enums: Enums,
    is_about_graphs: bool,
}

impl Reader<'_> {
    /// Hands every row of a table to a function; a table that is not there has none.
    fn each(
        &mut self,
        name: &'static str,
        required: &[&'static str],
        optional: &[&'static str],
        mut take: impl FnMut(&mut Self, &Row<'_>),
    ) {
        if !self.known.contains(name) {
            return;
        }
        let connection = self.connection;
        let outcome = Table::open(connection, name, required, optional)
            .and_then(|mut table| table.each(|row| take(self, row)));
        if let Err(failure) = outcome {
            self.builder.completeness().problem(Problem {
                code: Problem::TABLE,
                offset: None,
                field: format!("table {name}"),
                reason: failure,
            });
        }
    }

    fn describe(&mut self) {
        self.each("StringIds", &["id", "value"], &[], |reader, row| {
            if let (Some(id), Some(text)) = (row.integer("id"), row.text("value")) {
                reader.strings.insert(id, text.into());
            }
        });
        for (table, kind) in enums::TABLES {
            self.each(table, &["id", "name"], &[], |reader, row| {
                if let (Some(id), Some(name)) = (row.integer("id"), row.text("name")) {
                    reader.enums.learn(*kind, id, &name);
                }
            });
        }
        self.each(
            "META_DATA_EXPORT",
            &["name", "value"],
            &[],
            |reader, row| {
                if row.text("name").as_deref() == Some("EXPORT_PRODUCT_VERSION")
                    && let Some(version) = row.text("value")
                {
                    reader.builder.set_tool_version(version);
                }
            },
        );
        self.each(
            "META_DATA_CAPTURE",
            &["name", "value"],
            &[],
            |reader, row| {
                if row.text("name").as_deref() == Some("CUDA_GRAPH_TRACE_OPTIONS:MODE") {
                    // Nodes one by one are 1 or a word with "node" in it, whatever the version.
                    let value = row.text("value").unwrap_or_default().to_ascii_lowercase();
                    reader.is_about_graphs = !value.contains("node");
                }
            },
        );
        let wanted = [
            "smCount",
            "totalMemory",
            "memoryBandwidth",
            "computeMajor",
            "computeMinor",
        ];
        self.each(
            "TARGET_INFO_GPU",
            &["id", "name"],
            &wanted,
            |reader, row| {
                let Some(number) = row.unsigned("id") else {
                    return;
                };
                let device = reader.builder.device(number);
                device.name = row.text("name");
                device.multiprocessors = row.small("smCount");
                device.memory_bytes = row.unsigned("totalMemory");
                device.memory_bytes_per_s = row
                    .unsigned("memoryBandwidth")
                    .filter(|rate| *rate > 0)
                    .map(to_f64);
                device.compute_capability =
                    row.small("computeMajor").zip(row.small("computeMinor"));
            },
        );
        self.each(
            "TARGET_INFO_SESSION_START_TIME",
            &["utcEpochNs"],
            &[],
            |reader, row| {
                if let Some(unix_ns) = row.integer("utcEpochNs") {
                    reader.builder.set_unix_ns_of_zero(i128::from(unix_ns));
                }
            },
        );
    }

    /// A name by its id; an id that is not in the table of strings is shown as such.
    fn name(&mut self, id: i64) -> NameId {
        if let Some(known) = self.names.get(&id) {
            return *known;
        }
        let name = match self.strings.get(&id) {
            Some(text) => self.builder.name(text),
            None => self.builder.name(&format!("name {id} (not in the file)")),
        };
        self.names.insert(id, name);
        name
    }

    /// The name of a function of the runtime or driver.
    fn function(&mut self, id: i64) -> NameId {
        match self.strings.get(&id) {
            Some(text) => self.builder.function(text),
            None => self.name(id),
        }
    }

    /// The process of a `globalPid` or `globalTid`.
    fn process(&mut self, global: i64) -> ProcessId {
        self.builder.process(process_number(global))
    }

    fn thread(&mut self, global: i64) -> ThreadId {
        let process = self.process(global);
        self.builder
            .thread(process, u64::try_from(global % 0x100_0000).unwrap_or(0))
    }

    fn stream(&mut self, row: &Row<'_>) -> Option<StreamId> {
        let device = row.unsigned("deviceId")?;
        let stream = row.unsigned("streamId")?;
        let process = row.integer("globalPid").map(|global| self.process(global));
        Some(
            self.builder
                .stream(process, device, row.unsigned("contextId"), stream),
        )
    }

    /// Start and end, which every table has; counts the row where they are none.
    fn times(&mut self, row: &Row<'_>) -> Option<(i64, i64)> {
        let times = row.integer("start").zip(row.integer("end"));
        self.builder.completeness().contradictory += u64::from(times.is_none());
        times
    }

    /// Hands every row of a table of work to a function, with what all work has. `own` are the optional columns of the table
    /// beside those of all.
    fn each_work(
        &mut self,
        name: &'static str,
        own: &[&'static str],
        mut take: impl FnMut(&mut Self, &Row<'_>, NewWork),
    ) {
        let optional = [WORK_OPTIONAL, own].concat();
        self.each(name, WORK_REQUIRED, &optional, |reader, row| {
            let Some((start_ns, end_ns)) = reader.times(row) else {
                return;
            };
            let Some(stream) = reader.stream(row) else {
                reader.builder.completeness().contradictory += 1;
                return;
            };
            let new = NewWork {
                start_ns,
                end_ns,
                stream,
                correlation: correlation(row),
                graph: graph(row),
            };
            take(reader, row, new);
        });
    }

    fn kernels(&mut self) {
        let own = [
            "demangledName",
            "shortName",
            "mangledName",
            "gridX",
            "gridY",
            "gridZ",
            "blockX",
            "blockY",
            "blockZ",
            "clusterX",
            "clusterY",
            "clusterZ",
            "registersPerThread",
            "staticSharedMemory",
            "dynamicSharedMemory",
            "localMemoryPerThread",
        ];
        self.each_work(KERNEL, &own, |reader, row, new| {
            let id = ["demangledName", "shortName", "mangledName"]
                .iter()
                .find_map(|column| row.integer(column));
            let name = match id {
                Some(id) => reader.name(id),
                None => reader.builder.name("kernel without a name"),
            };
            let triple = |x, y, z| Some([row.small(x)?, row.small(y)?, row.small(z)?]);
            let parts = (
                row.unsigned("staticSharedMemory"),
                row.unsigned("dynamicSharedMemory"),
            );
            let launch = reader.builder.launch(Launch {
                grid: triple("gridX", "gridY", "gridZ"),
                block: triple("blockX", "blockY", "blockZ"),
                // Kernels without clusters say 0.
                cluster: triple("clusterX", "clusterY", "clusterZ")
                    .filter(|sides| !sides.contains(&0)),
                registers: row.small("registersPerThread"),
                static_shared_bytes: parts.0,
                dynamic_shared_bytes: parts.1,
                shared_bytes: parts
                    .0
                    .zip(parts.1)
                    .map(|(fixed, more)| fixed.saturating_add(more)),
            });
            reader.builder.push_kernel(new, name, launch);
        });
    }

    fn copies(&mut self) {
        let own = ["bytes", "copyKind", "srcKind", "dstKind"];
        self.each_work(MEMCPY, &own, |reader, row, new| {
            let memory = |column| {
                row.integer(column)
                    .map_or(Memory::Unknown, |kind| reader.enums.memory(kind))
            };
            let copied = Copied {
                kind: reader.enums.copy(row.integer("copyKind")),
                from: memory("srcKind"),
                to: memory("dstKind"),
                bytes: row.unsigned("bytes"),
            };
            reader.builder.push_copy(new, copied);
        });
    }

    fn memsets(&mut self) {
        self.each_work(MEMSET, &["bytes"], |reader, row, new| {
            reader.builder.push_memset(new, row.unsigned("bytes"));
        });
    }

    fn calls(&mut self) {
        // Calls of the driver stand in the same table, or in one of their own.
        for table in [RUNTIME, DRIVER] {
            self.each(
                table,
                &["start", "end", "nameId"],
                &["correlationId", "globalTid"],
                |reader, row| {
                    let Some((start_ns, end_ns)) = reader.times(row) else {
                        return;
                    };
                    let name = reader.function(row.integer("nameId").unwrap_or(-1));
                    let api = if reader.builder.text(name).starts_with("cuda") {
                        Api::Runtime
                    } else {
                        Api::Driver
                    };
                    let thread = reader.thread(row.integer("globalTid").unwrap_or(0));
                    reader.builder.push_call(NewCall {
                        start_ns,
                        end_ns,
                        name,
                        api,
                        thread,
                        correlation: correlation(row),
                    });
                },
            );
        }
    }

    fn synchronisations(&mut self) {
        let optional = [
            "deviceId",
            "streamId",
            "contextId",
            "correlationId",
            "globalPid",
            "syncType",
        ];
        self.each(SYNC, &["start", "end"], &optional, |reader, row| {
            let Some((start_ns, end_ns)) = reader.times(row) else {
                return;
            };
            let kind = reader.enums.sync(row.integer("syncType"));
            // A wait for a whole context has no stream: its number is the largest there is.
            let has_stream = row
                .unsigned("streamId")
                .is_some_and(|stream| stream < u64::from(u32::MAX));
            let stream = if has_stream { reader.stream(row) } else { None };
            reader
                .builder
                .push_synchronisation(start_ns, end_ns, kind, stream, correlation(row));
        });
    }

    fn graphs(&mut self) {
        // The columns of this table are known from documentation only, so that device and stream may be missing.
        let optional = [WORK_OPTIONAL, &["deviceId", "streamId"]].concat();
        self.each(GRAPH, &["start", "end"], &optional, |reader, row| {
            let Some((start_ns, end_ns)) = reader.times(row) else {
                return;
            };
            let stream = reader.stream(row).unwrap_or_else(|| {
                let process = row
                    .integer("globalPid")
                    .map(|global| reader.process(global));
                let device = row.unsigned("deviceId").unwrap_or(0);
                reader
                    .builder
                    .stream(process, device, None, row.unsigned("streamId").unwrap_or(0))
            });
            reader.builder.push_graph(NewWork {
                start_ns,
                end_ns,
                stream,
                correlation: correlation(row),
                graph: graph(row),
            });
        });
        if self.is_about_graphs && self.known.contains(GRAPH) {
            self.builder.completeness().has_whole_graphs = true;
        }
    }

    fn overheads(&mut self) {
        for table in [OVERHEAD, PROFILER_OVERHEAD] {
            self.each(
                table,
                &["start", "end"],
                &["nameId", "overheadType"],
                |reader, row| {
                    let Some((start_ns, end_ns)) = reader.times(row) else {
                        return;
                    };
                    let name = match row.integer("nameId") {
                        Some(id) => reader.name(id),
                        None => reader.builder.name("overhead of the profiler"),
                    };
                    reader.builder.push_overhead(start_ns, end_ns, name);
                },
            );
        }
    }

    fn ranges(&mut self) {
        let optional = ["end", "text", "textId", "eventType", "globalTid"];
        self.each(NVTX, &["start"], &optional, |reader, row| {
            let is_range = row
                .integer("eventType")
                .is_none_or(|kind| RANGES.contains(&kind));
            // Marks have no end, and neither has a range that the end of the capture cut off.
            let Some((start_ns, end_ns)) = row
                .integer("start")
                .zip(row.integer("end"))
                .filter(|_| is_range)
            else {
                return;
            };
            let name = match (row.text("text"), row.integer("textId")) {
                (Some(text), _) => reader.builder.name(&text),
                (None, Some(id)) => reader.name(id),
                (None, None) => reader.builder.name("range without a name"),
            };
            let thread = row.integer("globalTid").map(|global| reader.thread(global));
            reader
                .builder
                .push_annotation(start_ns, end_ns, name, AnnotationKind::User, thread);
        });
    }
}

/// The number of a process in a `globalPid` or `globalTid`.
fn process_number(global: i64) -> u64 {
    u64::try_from(global / 0x100_0000 % 0x100_0000).unwrap_or(0)
}

fn correlation(row: &Row<'_>) -> Option<Correlation> {
    row.unsigned("correlationId").and_then(Correlation::new)
}

fn graph(row: &Row<'_>) -> Option<Graph> {
    let graph = row.small("graphId").and_then(NonZeroU32::new);
    let node = row.unsigned("graphNodeId").and_then(NonZeroU64::new);
    (graph.is_some() || node.is_some()).then_some(Graph { graph, node })
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a rate of a data sheet has few digits"
)]
fn to_f64(value: u64) -> f64 {
    value as f64
}
