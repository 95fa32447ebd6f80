//! A store in one file, by SQLite.

mod header;
mod migrations;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, Value as SqlValue, ValueRef};
use rusqlite::{
    Connection, OpenFlags, OptionalExtension, Row, ToSql, Transaction, TransactionBehavior,
};

use self::header::Found;
use crate::rows::{self, HeadRow};
use crate::sql::{self, Statement, Value};
use crate::{
    Error, Filter, Head, Id, Inserted, Observation, Packed, Point, Record, Revision, Series,
    SeriesKey, Store, Timestamp,
};

/// How long one waits for another writer. Batches take well below a second.
const WAIT: Duration = Duration::from_secs(20);
/// "RDGH", by which a file is known as a history.
const APPLICATION_ID: i64 = 0x5244_4748;

/// A store in one file.
///
/// The file is in WAL mode: readers and one writer work at the same time, and what a transaction has committed survives the
/// end of the process at any moment. Beside it lie `FILE-wal` and `FILE-shm` while it is in use.
#[derive(Debug)]
pub struct SqliteStore {
    connection: Connection,
    place: String,
    access: Access,
}

/// What may be done.
#[derive(Debug)]
enum Access {
    Write,
    /// A later version made it.
    Newer(i64),
    /// The file or its folder cannot be written to.
    ReadOnly(String),
}

impl SqliteStore {
    /// Opens a file and brings it up to this version; makes it, and its folder, where there is none. Where it cannot be
    /// written to, it is opened for reading.
    ///
    /// # Errors
    /// When it cannot be opened, or is something else.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let place = path.display().to_string();
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            std::fs::create_dir_all(folder).map_err(|error| Error::Open {
                place: place.clone(),
                reason: error.to_string(),
            })?;
        }
        header::look(path, &place)?;
        Self::with_flags(path, place, OpenFlags::SQLITE_OPEN_CREATE)
    }

    /// Opens a file that is there, and changes nothing of it: an empty file is no history.
    ///
    /// # Errors
    /// When it is not there, holds nothing, cannot be opened, or is something else.
    pub fn open_existing(path: &Path) -> Result<Self, Error> {
        let place = existing(path)?;
        Self::with_flags(path, place, OpenFlags::empty())
    }

    /// Opens a file that is there for reading alone.
    ///
    /// # Errors
    /// As [`SqliteStore::open_existing`].
    pub fn open_read_only(path: &Path) -> Result<Self, Error> {
        let place = existing(path)?;
        let mut store = Self {
            connection: read_only(path, &place)?,
            place,
            access: Access::ReadOnly("it is opened for reading alone".to_owned()),
        };
        store.check_existing()?;
        Ok(store)
    }

    /// Sets how long one waits for another writer, which is 20 seconds otherwise.
    ///
    /// # Errors
    /// When SQLite refuses it.
    pub fn set_patience(&mut self, patience: Duration) -> Result<(), Error> {
        self.connection
            .busy_timeout(patience)
            .map_err(|error| of_read(&self.place, &error))
    }

    /// Opens a file to be written to; makes the history in it with the flag for that.
    fn with_flags(path: &Path, place: String, more: OpenFlags) -> Result<Self, Error> {
        let opened = |error: rusqlite::Error| of_open(&place, &error);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
        let connection = Connection::open_with_flags(path, flags).map_err(opened)?;
        connection.busy_timeout(WAIT).map_err(opened)?;
        let mut store = Self {
            connection,
            place,
            access: Access::Write,
        };
        if let Err(error) = store.prepare(more.contains(OpenFlags::SQLITE_OPEN_CREATE)) {
            // A file on a medium without the right to write is read as it is.
            let (Error::ReadOnly { reason, .. } | Error::Open { reason, .. }) = error else {
                return Err(error);
            };
            store.connection = read_only(path, &store.place)?;
            store.check_existing()?;
            store.access = Access::ReadOnly(reason);
        }
        Ok(store)
    }

    /// Checks what the file is. To be made, it is brought up to this version.
    fn prepare(&mut self, is_made: bool) -> Result<(), Error> {
        // Who closes a database last brings its log into its file. That is not to happen to one of another program.
        let leave_log = |connection: &Connection, is_left: bool| {
            connection
                .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_left)
                .map(drop)
        };
        let failed = |error: rusqlite::Error| of_write(&self.place, &error);
        leave_log(&self.connection, true).map_err(failed)?;
        if is_made {
            self.check()?;
        } else {
            self.check_existing()?;
        }
        let failed = |error: rusqlite::Error| of_write(&self.place, &error);
        leave_log(&self.connection, false).map_err(failed)?;
        if matches!(self.access, Access::Newer(_)) {
            return Ok(());
        }
        // The mode is a property of the file, which is set when it is made.
        let mode: String = if is_made {
            self.switch_to_wal()
        } else {
            self.connection
                .pragma_query_value(None, "journal_mode", |row| row.get(0))
        }
        .map_err(failed)?;
        // With FULL, a commit is on the disk when it returns, also when the machine loses power.
        let settings = if mode == "wal" {
            "PRAGMA synchronous = FULL;"
        } else {
            // A file system without shared memory, such as NFS, has no WAL: the rollback journal is as safe.
            "PRAGMA synchronous = EXTRA;"
        };
        self.connection
            .execute_batch(settings)
            .and_then(|()| {
                // Batches touch the same pages of indices again and again: brought into the file after 32 MiB of log, and not
                // after 4, each is written there less often.
                self.connection.execute_batch(
                    "PRAGMA foreign_keys = ON; PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 8192;",
                )
            })
            .map_err(failed)?;
        migrations::run(&mut self.connection).map_err(|error| of_write(&self.place, &error))
    }

    /// Asks for the write-ahead log. SQLite does not wait by itself while another process looks at the file.
    fn switch_to_wal(&self) -> rusqlite::Result<String> {
        const TRIES: u32 = 100;
        const PAUSE: Duration = Duration::from_millis(20);
        let mut tries = 0;
        loop {
            let mode =
                self.connection
                    .pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0));
            tries += 1;
            match mode {
                Err(error)
                    if tries < TRIES
                        && error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) =>
                {
                    std::thread::sleep(PAUSE);
                }
                other => return other,
            }
        }
    }

    /// Whether the file is a history with something in it, and of which version.
    fn check_existing(&mut self) -> Result<(), Error> {
        if self.check()? == 0 {
            return Err(Error::Empty {
                place: self.place.clone(),
            });
        }
        Ok(())
    }

    /// Whether the file is a history, or will be one, and of which version; 0 has no tables yet.
    fn check(&mut self) -> Result<i64, Error> {
        let failed = |error: rusqlite::Error| of_open(&self.place, &error);
        // All of it at one moment: another process may be making the store just now.
        let moment = self.connection.unchecked_transaction().map_err(failed)?;
        let number = |name: &str| moment.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let application = number("application_id").map_err(failed)?;
        let version = number("user_version").map_err(failed)?;
        let count = |what: &str| {
            moment.query_row(
                &format!("SELECT COUNT(*) FROM sqlite_schema{what}"),
                [],
                |row| row.get::<_, i64>(0),
            )
        };
        let tables = count("").map_err(failed)?;
        let mut missing = Vec::new();
        for name in migrations::TABLES {
            let is_there = format!(" WHERE type = 'table' AND name = '{name}'");
            if count(&is_there).map_err(failed)? == 0 {
                missing.push(name);
            }
        }
        drop(moment);
        if application != APPLICATION_ID && (application != 0 || tables > 0 || version != 0) {
            return Err(Error::Foreign {
                place: self.place.clone(),
                what: "a database of another program".to_owned(),
            });
        }
        let damaged = |reason: String| Error::Damaged {
            place: self.place.clone(),
            reason,
        };
        if version < 0 || (version == 0 && tables > 0) {
            return Err(damaged(format!("it says that it has version {version}")));
        }
        if version > migrations::VERSION {
            self.access = Access::Newer(version);
        } else if version > 0 && !missing.is_empty() {
            return Err(damaged(format!("it has no table {}", missing.join(", "))));
        }
        Ok(version)
    }

    /// The transaction of a writer: it waits for other writers when it begins, and not when it ends.
    fn begin(&mut self) -> Result<Transaction<'_>, Error> {
        let place = &self.place;
        self.connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| of_write(place, &error))
    }

    fn read<T>(
        &self,
        statement: &Statement,
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Error> {
        let failed = |error: rusqlite::Error| of_read(&self.place, &error);
        let mut prepared = self.connection.prepare(&statement.text).map_err(failed)?;
        prepared
            .query_map(rusqlite::params_from_iter(&statement.values), row)
            .map_err(failed)?
            .collect::<Result<_, _>>()
            .map_err(failed)
    }

    fn head(&self, row: HeadRow) -> Result<Head, Error> {
        row.head().map_err(|reason| Error::Damaged {
            place: self.place.clone(),
            reason,
        })
    }
}

impl Store for SqliteStore {
    fn place(&self) -> &str {
        &self.place
    }

    fn refuses_writes(&self) -> Option<Error> {
        match &self.access {
            Access::Write => None,
            Access::Newer(found) => Some(Error::Newer {
                place: self.place.clone(),
                found: *found,
                known: migrations::VERSION,
            }),
            Access::ReadOnly(reason) => Some(Error::ReadOnly {
                place: self.place.clone(),
                reason: reason.clone(),
            }),
        }
    }

    fn insert(&mut self, records: &[Record]) -> Result<Inserted, Error> {
        if let Some(error) = self.refuses_writes() {
            return Err(error);
        }
        let place = self.place.clone();
        let transaction = self.begin()?;
        let inserted = insert(&transaction, records)
            .and_then(|inserted| transaction.commit().map(|()| inserted));
        inserted.map_err(|error| of_write(&place, &error))
    }

    fn list(&mut self, filter: &Filter) -> Result<Vec<Head>, Error> {
        self.read(&sql::list(filter), head_row)?
            .into_iter()
            .map(|row| self.head(row))
            .collect()
    }

    fn count(&mut self, filter: &Filter) -> Result<u64, Error> {
        let counts = self.read(&sql::count(filter), |row| row.get::<_, i64>(0))?;
        Ok(counts.first().map_or(0, |count| rows::unsigned(*count)))
    }

    fn get(&mut self, id: Id) -> Result<Option<Record>, Error> {
        let filter = Filter {
            id: Some(id.into()),
            ..Filter::default()
        };
        Ok(self.page(&filter, None, 1)?.pop())
    }

    fn series(&mut self, filter: &Filter) -> Result<Vec<Series>, Error> {
        self.read(&sql::series(filter), |row| {
            Ok(Series {
                key: SeriesKey {
                    subject: row.get(0)?,
                    metric: row.get(1)?,
                    unit: row.get(2)?,
                    gpu: row.get(3)?,
                },
                points: rows::unsigned(row.get(4)?),
                first: Timestamp::from_micros(row.get(5)?),
                last: Timestamp::from_micros(row.get(6)?),
            })
        })
    }

    fn points(&mut self, series: &SeriesKey, filter: &Filter) -> Result<Vec<Observation>, Error> {
        let number = self
            .connection
            .query_row(
                "SELECT number FROM series WHERE hash = ?1",
                [rows::series_hash(series)],
                |row| row.get(0),
            )
            .optional()
            .map_err(|error| of_read(&self.place, &error))?;
        let Some(number) = number else {
            return Ok(Vec::new());
        };
        let mut points = self.read(&sql::points(number, filter), |row| {
            let id: Vec<u8> = row.get(0)?;
            Ok(Observation {
                result: Id::from_bytes(&id).unwrap_or(Id::of_parts([])),
                time: Timestamp::from_micros(row.get(1)?),
                revision: Revision {
                    commit: row.get(2)?,
                    branch: row.get(3)?,
                    is_dirty: row.get::<_, Option<i64>>(4)?.map(|dirty| dirty != 0),
                },
                host: row.get(5)?,
                value: row.get(6)?,
                low: row.get(7)?,
                high: row.get(8)?,
                samples: rows::samples(row.get(9)?),
            })
        })?;
        points.reverse();
        Ok(points)
    }

    fn page(
        &mut self,
        filter: &Filter,
        behind: Option<(Timestamp, Id)>,
        most: u64,
    ) -> Result<Vec<Record>, Error> {
        let found = self.read(&sql::page(filter, behind, most), |row| {
            Ok((head_row(row)?, row.get::<_, i64>(17)?, row.get(18)?))
        })?;
        let failed = |error: rusqlite::Error| of_read(&self.place, &error);
        // Prepared once for all results of the page.
        let mut points = self
            .connection
            .prepare(sql::POINTS_OF_RESULT)
            .map_err(failed)?;
        let mut records = Vec::with_capacity(found.len());
        for (head, number, packed) in found {
            records.push(Record {
                head: self.head(head)?,
                document: Packed::stored(packed),
                points: points
                    .query_map([number], point)
                    .and_then(Iterator::collect)
                    .map_err(failed)?,
            });
        }
        Ok(records)
    }

    fn prune(&mut self, filter: &Filter) -> Result<u64, Error> {
        if let Some(error) = self.refuses_writes() {
            return Err(error);
        }
        let statement = sql::prune(filter);
        let place = self.place.clone();
        let transaction = self.begin()?;
        let removed = transaction
            .execute(
                &statement.text,
                rusqlite::params_from_iter(&statement.values),
            )
            .and_then(|removed| {
                transaction.execute(
                    "DELETE FROM series WHERE NOT EXISTS (SELECT 1 FROM point p WHERE p.series = series.number)",
                    [],
                )?;
                transaction.commit()?;
                Ok(removed)
            })
            .map_err(|error| of_write(&place, &error))?;
        Ok(u64::try_from(removed).unwrap_or(u64::MAX))
    }
}

fn insert(transaction: &Transaction<'_>, records: &[Record]) -> rusqlite::Result<Inserted> {
    let mut inserted = Inserted::default();
    let mut result = transaction.prepare(
        "INSERT INTO result (id, time_us, kind, name, host, gpu, gpu_uuid, driver, sm_clock_low_hz, sm_clock_high_hz, \
         commit_id, branch, is_dirty, command, labels, tool_version, schema_version) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17) \
         ON CONFLICT (id) DO NOTHING",
    )?;
    let mut document =
        transaction.prepare("INSERT INTO document (result, packed) VALUES (?1, ?2)")?;
    let mut label = transaction
        .prepare("INSERT INTO label (name, value, time_us, result) VALUES (?1, ?2, ?3, ?4)")?;
    let mut known_series = transaction.prepare("SELECT number FROM series WHERE hash = ?1")?;
    let mut new_series = transaction.prepare(
        "INSERT INTO series (hash, subject, metric, unit, gpu) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let mut point = transaction.prepare(
        "INSERT INTO point (series, time_us, result, place, value, low, high, samples) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    // Results of a batch have most of their series in common.
    let mut seen: HashMap<Vec<u8>, i64> = HashMap::new();
    for record in records {
        let head = &record.head;
        let (gpu, uuid) = rows::gpu(head);
        let (low, high) = rows::clock(head);
        let labels = rows::labels_to_text(&head.labels);
        let time = head.time.micros();
        let added = result.execute(rusqlite::params![
            head.id.bytes(),
            time,
            head.kind.name(),
            head.name,
            head.host,
            gpu,
            uuid,
            head.driver,
            low,
            high,
            head.revision.commit,
            head.revision.branch,
            head.revision.is_dirty.map(i64::from),
            head.command,
            labels,
            head.tool_version,
            i64::from(head.schema_version),
        ])?;
        if added == 0 {
            inserted.known += 1;
            continue;
        }
        inserted.added += 1;
        let number = transaction.last_insert_rowid();
        document.execute(rusqlite::params![number, record.document.bytes()])?;
        for (name, value) in head.labels.iter() {
            label.execute(rusqlite::params![name, value, time, number])?;
        }
        for (place, of) in record.points.iter().enumerate() {
            let hash = rows::series_hash_of(&of.subject, &of.metric, &of.unit, gpu);
            let series = match seen.get(&hash) {
                Some(series) => *series,
                None => {
                    let known: Option<i64> = known_series
                        .query_row([&hash], |row| row.get(0))
                        .optional()?;
                    let series = match known {
                        Some(series) => series,
                        None => {
                            new_series.execute(rusqlite::params![
                                hash, of.subject, of.metric, of.unit, gpu
                            ])?;
                            transaction.last_insert_rowid()
                        }
                    };
                    seen.insert(hash, series);
                    series
                }
            };
            point.execute(rusqlite::params![
                series,
                time,
                number,
                i64::try_from(place).unwrap_or(i64::MAX),
                of.value,
                of.low,
                of.high,
                of.samples.map(rows::signed),
            ])?;
        }
    }
    Ok(inserted)
}

fn point(row: &Row<'_>) -> rusqlite::Result<Point> {
    Ok(Point {
        subject: row.get(0)?,
        metric: row.get(1)?,
        unit: row.get(2)?,
        value: row.get(3)?,
        low: row.get(4)?,
        high: row.get(5)?,
        samples: rows::samples(row.get(6)?),
    })
}

fn head_row(row: &Row<'_>) -> rusqlite::Result<HeadRow> {
    Ok(HeadRow {
        id: row.get(0)?,
        time_us: row.get(1)?,
        kind: row.get(2)?,
        name: row.get(3)?,
        host: row.get(4)?,
        gpu: row.get(5)?,
        gpu_uuid: row.get(6)?,
        driver: row.get(7)?,
        sm_clock_low_hz: row.get(8)?,
        sm_clock_high_hz: row.get(9)?,
        commit: row.get(10)?,
        branch: row.get(11)?,
        is_dirty: row.get(12)?,
        command: row.get(13)?,
        labels: row.get(14)?,
        tool_version: row.get(15)?,
        schema_version: row.get(16)?,
    })
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Self::Integer(number) => ToSqlOutput::Owned(SqlValue::Integer(*number)),
            Self::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}

/// The name of a file that is there and holds something.
fn existing(path: &Path) -> Result<String, Error> {
    let place = path.display().to_string();
    match header::look(path, &place)? {
        Found::Database => Ok(place),
        Found::Empty => Err(Error::Empty { place }),
        Found::Nothing => Err(Error::Missing { place }),
    }
}

/// Opens a file that cannot be written to. A WAL needs its shared memory written, so that a file nobody writes to is said
/// not to change.
fn read_only(path: &Path, place: &str) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let plain = Connection::open_with_flags(path, flags).and_then(|connection| {
        connection.query_row("SELECT COUNT(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(connection)
    });
    plain
        .or_else(|_| {
            Connection::open_with_flags(immutable(path), flags | OpenFlags::SQLITE_OPEN_URI)
        })
        .map_err(|error| of_open(place, &error))
}

/// The address of a file that does not change.
fn immutable(path: &Path) -> PathBuf {
    use std::fmt::Write;
    let mut address = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        let is_plain = byte.is_ascii_alphanumeric() || b"/.-_~".contains(byte);
        // Writing to a text does not fail.
        let _ = if is_plain {
            write!(address, "{}", char::from(*byte))
        } else {
            write!(address, "%{byte:02X}")
        };
    }
    address.push_str("?immutable=1");
    address.into()
}

fn of_open(place: &str, error: &rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => Error::Foreign {
            place: place.to_owned(),
            what: "no SQLite database".to_owned(),
        },
        Some(rusqlite::ErrorCode::CannotOpen | rusqlite::ErrorCode::PermissionDenied) => {
            Error::Open {
                place: place.to_owned(),
                reason: "it cannot be opened; see whether it is a file that you may read and write"
                    .to_owned(),
            }
        }
        _ => of_read(place, error),
    }
}

fn of_read(place: &str, error: &rusqlite::Error) -> Error {
    let place = place.to_owned();
    let reason = words(error);
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
            Error::Busy { place }
        }
        Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase) => {
            Error::Damaged { place, reason }
        }
        _ => match error {
            rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::Utf8Error(..)
            // Statements are those of this program: what they name is missing.
            | rusqlite::Error::SqlInputError { .. }
            | rusqlite::Error::IntegralValueOutOfRange(..) => Error::Damaged { place, reason },
            _ => Error::Query { place, reason },
        },
    }
}

fn of_write(place: &str, error: &rusqlite::Error) -> Error {
    let said = words(error);
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull) => Error::Full {
            place: place.to_owned(),
            reason: "no space is left on the disk".to_owned(),
        },
        // A limit of a file's size, a quota, or a disk that fails.
        Some(rusqlite::ErrorCode::SystemIoFailure) => Error::Full {
            place: place.to_owned(),
            reason: format!("the disk is full, a limit is reached, or the disk fails ({said})"),
        },
        Some(
            rusqlite::ErrorCode::ReadOnly
            | rusqlite::ErrorCode::CannotOpen
            | rusqlite::ErrorCode::PermissionDenied,
        ) => Error::ReadOnly {
            place: place.to_owned(),
            reason: "you may not write to the file or its folder".to_owned(),
        },
        _ => of_read(place, error),
    }
}

/// What SQLite says, without what the client adds.
fn words(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(code, Some(message)) => {
            format!("{message} (code {})", code.extended_code)
        }
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        rusqlite::Error::Utf8Error(..) => "a text in it is no UTF-8".to_owned(),
        other => other.to_string(),
    }
}
