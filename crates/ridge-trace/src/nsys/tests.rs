//! Databases made with SQL, with the columns of several versions.

use rusqlite::Connection;

use super::*;
use crate::timeline::{CopyKind, SyncKind, WorkKind};

/// Two processes with one GPU each, whose correlations collide, and a kernel whose call was before the capture.
const WHOLE: &str = "
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1,'gemm_v2'),(2,'cudaLaunchKernel_v7000'),(3,'cudaMemcpyAsync_v3020'),(4,'step'),(5,'Lazy loading');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
 contextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,
 shortName INTEGER NOT NULL, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,
 registersPerThread INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, graphNodeId INTEGER,
 clusterX INTEGER, clusterY INTEGER, clusterZ INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
 (2000,3000,0,1,7,90,0x1000064000000,1,1,10,1,1,256,1,1,32,1024,2048,NULL,2,1,1),
 (2500,3500,1,1,7,90,0x1000065000000,1,1,10,1,1,256,1,1,32,0,0,77,0,0,0),
 (4000,4100,0,1,7,89,0x1000064000000,1,1,10,1,1,256,1,1,32,0,0,NULL,NULL,NULL,NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER,
 globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (5000,6000,0,8,91,0x1000064000000,65536,1,0,2);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, bytes INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (6500,6600,0,8,4);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
 (1000,1500,0x1000064000064,90,2),(1100,1600,0x1000065000065,90,2),(4900,6100,0x1000064000064,91,3);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, globalPid INTEGER, syncType INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (7000,7100,0,7,0x1000064000000,3),(7200,7300,0,4294967295,0x1000064000000,4);
CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD (start INTEGER, end INTEGER, overheadType INTEGER, nameId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES (100,200,7,5);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER, globalTid INTEGER);
INSERT INTO NVTX_EVENTS VALUES (0,9000,59,NULL,4,0x1000064000064),(10,NULL,34,'mark',NULL,0x1000064000064),(5,8,60,'own',NULL,0x1000064000064);
CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, smCount INTEGER, totalMemory INTEGER, memoryBandwidth INTEGER, computeMajor INTEGER, computeMinor INTEGER);
INSERT INTO TARGET_INFO_GPU VALUES (0,'NVIDIA H100',132,85899345920,3350000000000,9,0);
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION','2026.2.1.210');
";

fn database(sql: &str) -> Vec<u8> {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(sql).unwrap();
    connection.serialize(MAIN_DB).unwrap().to_vec()
}

#[test]
fn a_whole_database() {
    let timeline = read(&database(WHOLE)).unwrap();
    assert_eq!(timeline.tool_version.as_deref(), Some("2026.2.1.210"));
    assert_eq!(timeline.work.len(), 5);
    let first = &timeline.work[0];
    let WorkKind::Kernel { launch } = first.kind else {
        panic!("{first:?}")
    };
    let launch = timeline.launch(launch);
    assert_eq!(
        (launch.cluster, launch.shared_bytes),
        (Some([2, 1, 1]), Some(3072))
    );
    assert_eq!(timeline.name(first.name), "gemm_v2");
    // The second kernel is of the other process, although the number is the same.
    let calls: Vec<Option<i64>> = timeline
        .work
        .iter()
        .map(|work| timeline.call_of(work).map(|call| call.start_ns))
        .collect();
    assert_eq!(calls, [Some(1000), Some(1100), None, Some(4900), None]);
    assert_eq!(timeline.completeness.unmatched, 2);
    assert_eq!(timeline.work[1].node.map(NonZeroU64::get), Some(77));
    let copied = timeline.work[3].copied().unwrap();
    assert_eq!(
        (copied.kind, copied.from, copied.to),
        (CopyKind::HostToDevice, Memory::Pageable, Memory::Device)
    );
    assert_eq!(timeline.name(timeline.calls[2].name), "cudaMemcpyAsync");
    let syncs: Vec<(SyncKind, bool)> = timeline
        .synchronisations
        .iter()
        .map(|sync| (sync.kind, sync.stream.is_some()))
        .collect();
    assert_eq!(
        syncs,
        [(SyncKind::Stream, true), (SyncKind::Context, false)]
    );
    let ranges: Vec<&str> = timeline
        .annotations
        .iter()
        .map(|range| timeline.name(range.name))
        .collect();
    assert_eq!(ranges, ["step", "own"]);
    assert_eq!(timeline.devices[0].compute_capability, Some((9, 0)));
    assert_eq!(timeline.devices[0].memory_bytes_per_s, Some(3.35e12));
    assert_eq!(
        timeline
            .processes
            .iter()
            .map(|process| process.number)
            .collect::<Vec<_>>(),
        [0x64, 0x65]
    );
    assert!(
        timeline.completeness.problems.is_empty(),
        "{:?}",
        timeline.completeness
    );
}

/// Reduced files have a dozen columns, and names by one column only.
#[test]
fn columns_may_be_missing() {
    let timeline = read(&database(
        "CREATE TABLE StringIds (id INTEGER, value TEXT); INSERT INTO StringIds VALUES (1,'k');
         CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, shortName INTEGER, tensorSizeMinusOneElements INTEGER);
         INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,0,7,1,0),(3,4,0,7,9,0),(NULL,4,0,7,1,0),(9,4,0,7,1,0);",
    ))
    .unwrap();
    let names: Vec<&str> = timeline
        .work
        .iter()
        .map(|work| timeline.name(work.name))
        .collect();
    assert_eq!(names, ["k", "name 9 (not in the file)"]);
    assert_eq!(timeline.completeness.contradictory, 2);
    let WorkKind::Kernel { launch } = timeline.work[0].kind else {
        panic!()
    };
    assert_eq!(*timeline.launch(launch), Launch::default());
}

#[test]
fn a_table_without_what_is_needed_is_said() {
    let timeline = read(&database(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, deviceId INTEGER, streamId INTEGER);
         CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER);
         INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (1,2,0,7);",
    ))
    .unwrap();
    assert_eq!(timeline.work.len(), 1);
    assert_eq!(
        timeline.completeness.problems[0].to_string(),
        "table CUPTI_ACTIVITY_KIND_KERNEL: it has no column end"
    );
}

/// Without nodes, the kernels of a graph are in the file as one interval.
#[test]
fn graphs_as_a_whole() {
    let timeline = read(&database(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, graphId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER);
         INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1,900,0,3,7,5,0x1000064000000);",
    ))
    .unwrap();
    assert_eq!(timeline.work[0].kind, WorkKind::Graph);
    assert_eq!(timeline.work[0].graph.map(NonZeroU32::get), Some(3));
    assert!(timeline.completeness.has_whole_graphs);
}

#[test]
fn other_databases_and_no_databases_are_errors() {
    let other = read(&database("CREATE TABLE a (b);")).unwrap_err();
    assert_eq!(other.code(), "TRC0004");
    // A view can be any query, however long it takes.
    let view = read(&database(
        "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 AS start, 2 AS end;",
    ));
    assert_eq!(view.unwrap_err().code(), "TRC0004");
    for input in [&b""[..], b"SQLite format 3\0", &[0; 5000]] {
        assert_eq!(read(input).unwrap_err().code(), "TRC0003", "{input:?}");
    }
}

/// Damage never panics, and whatever is read is said to be a part.
#[test]
fn damaged_databases() {
    let whole = database(WHOLE);
    for length in (0..whole.len()).step_by(509) {
        let _ = read(&whole[..length]);
    }
    for at in (0..whole.len()).step_by(97) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x5a;
        let _ = read(&damaged);
    }
}

#[test]
fn a_file_is_read_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a file?mode=rwc%20#.sqlite");
    std::fs::write(&path, database(WHOLE)).unwrap();
    let timeline = read_file(&path).unwrap();
    assert_eq!(timeline.work.len(), 5);
    assert_eq!(std::fs::read(&path).unwrap(), database(WHOLE));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(
        read_file(&folder.path().join("none")).unwrap_err().code(),
        "TRC0003"
    );
}

/// What each table has to have; other columns may be missing one by one, as from version to version they are.
const NEEDED: &[(&str, &[&str])] = &[
    ("StringIds", &["id", "value"]),
    (
        "CUPTI_ACTIVITY_KIND_KERNEL",
        &["start", "end", "deviceId", "streamId"],
    ),
    (
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        &["start", "end", "deviceId", "streamId"],
    ),
    (
        "CUPTI_ACTIVITY_KIND_MEMSET",
        &["start", "end", "deviceId", "streamId"],
    ),
    ("CUPTI_ACTIVITY_KIND_RUNTIME", &["start", "end", "nameId"]),
    ("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", &["start", "end"]),
    ("CUPTI_ACTIVITY_KIND_OVERHEAD", &["start", "end"]),
    ("NVTX_EVENTS", &["start"]),
    ("TARGET_INFO_GPU", &["id", "name"]),
    ("META_DATA_EXPORT", &["name", "value"]),
];

fn columns(table: &str) -> Vec<String> {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(WHOLE).unwrap();
    let mut statement = connection
        .prepare("SELECT name FROM pragma_table_info(?1)")
        .unwrap();
    let names = statement.query_map([table], |row| row.get(0)).unwrap();
    names.collect::<Result<_, _>>().unwrap()
}

#[test]
fn each_column_may_be_missing() {
    let whole = read(&database(WHOLE)).unwrap();
    for (table, needed) in NEEDED {
        let columns = columns(table);
        assert!(columns.len() >= needed.len(), "{table}");
        for column in columns {
            // The key of a table cannot be dropped.
            if (*table, column.as_str()) == ("StringIds", "id") {
                continue;
            }
            let part = read(&database(&format!(
                "{WHOLE} ALTER TABLE {table} DROP COLUMN \"{column}\";"
            )));
            let part = part.unwrap();
            let problems = &part.completeness.problems;
            if needed.contains(&column.as_str()) {
                assert_eq!(problems.len(), 1, "{table}.{column}");
                assert_eq!(
                    problems[0].to_string(),
                    format!("table {table}: it has no column {column}")
                );
            } else {
                assert!(problems.is_empty(), "{table}.{column}: {problems:?}");
                assert_eq!(part.work.len(), whole.work.len(), "{table}.{column}");
                assert_eq!(part.calls.len(), whole.calls.len(), "{table}.{column}");
                let waits = part.synchronisations.len();
                assert_eq!(waits, whole.synchronisations.len(), "{table}.{column}");
            }
        }
    }
}

#[test]
fn each_table_may_be_missing() {
    for (table, _) in NEEDED {
        let part = read(&database(&format!("{WHOLE} DROP TABLE {table};"))).unwrap();
        let problems = &part.completeness.problems;
        assert!(problems.is_empty(), "{table}: {problems:?}");
    }
}

/// The numbers of kinds are what the file says they are; without the tables, what they are in all files that were seen.
#[test]
fn enums_are_those_of_the_file() {
    const COPY: &str = "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);
         INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1,2,0,7,2,2,0);";
    let copied = |sql: &str| *read(&database(sql)).unwrap().work[0].copied().unwrap();
    let usual = copied(COPY);
    assert_eq!(
        (usual.kind, usual.from, usual.to),
        (CopyKind::DeviceToHost, Memory::Device, Memory::Pageable)
    );
    let other = copied(&format!(
        "{COPY} CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER, name TEXT, label TEXT);
         INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (2,'CUDA_MEMCPY_KIND_HTOD','Host-to-Device');"
    ));
    assert_eq!(other.kind, CopyKind::HostToDevice);
}

/// Calls of the driver can have a table of their own.
#[test]
fn calls_of_the_driver_can_stand_apart() {
    let timeline = read(&database(&format!(
        "{WHOLE} CREATE TABLE CUPTI_ACTIVITY_KIND_DRIVER (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
         INSERT INTO StringIds VALUES (9,'cuLaunchKernelEx');
         INSERT INTO CUPTI_ACTIVITY_KIND_DRIVER VALUES (3800,3850,0x1000064000064,89,9);"
    )))
    .unwrap();
    // The kernel whose call was not in the file has it now.
    assert_eq!(timeline.completeness.unmatched, 1);
    let call = timeline.call_of(&timeline.work[2]).unwrap();
    assert_eq!(timeline.name(call.name), "cuLaunchKernelEx");
    assert_eq!(call.api, Api::Driver);
}
