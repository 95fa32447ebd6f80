//! A store on a PostgreSQL server, for machines that share one.

mod migrations;
mod mode;
mod tls;

use std::collections::HashMap;
use std::time::Duration;

use ::postgres::config::{Host, SslMode};
use ::postgres::error::SqlState;
use ::postgres::types::ToSql;
use ::postgres::{Client, Config, Row};

use crate::address::{is_address, normal};
use crate::rows::{self, HeadRow};
use crate::sql::{self, Statement, Value};
use crate::{
    Error, Filter, Head, Id, Inserted, Observation, Packed, Point, Record, Revision, Series,
    SeriesKey, Store, Timestamp,
};
use tls::{Proof, Tls};

/// How long one waits for an answer to the first word. A server that is not there mostly says so at once.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long data may stay without acknowledgement before the connection counts as lost.
const LOST_AFTER: Duration = Duration::from_secs(30);

/// A store on a PostgreSQL server: tables in the schema `ridge` of a database.
pub struct PostgresStore {
    config: Config,
    tls: Tls,
    client: Client,
    place: String,
    /// The version of the tables, where it is later than this one's.
    newer: Option<i64>,
}

impl std::fmt::Debug for PostgresStore {
    /// Without the configuration, which holds the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresStore")
            .field("place", &self.place)
            .field("newer", &self.newer)
            .finish_non_exhaustive()
    }
}

/// The address without its password and options: what may be shown.
///
/// # Errors
/// When it is no address.
pub fn shown_address(address: &str) -> Result<String, Error> {
    config_of(address, None).map(|(_, _, place)| place)
}

impl PostgresStore {
    /// Connects to a server by its address, `postgres://USER@HOST:PORT/DATABASE`, and makes the tables where there are none.
    /// The password of the address goes before the other one.
    ///
    /// The connection is encrypted as the `sslmode` of the address says, and where it says nothing if the server can. With
    /// `sslmode=verify-full` the server has to show by a certificate who it is.
    ///
    /// # Errors
    /// When the address is none, the server cannot be reached, is not the one that it should be, or does not let the user in.
    pub fn open(address: &str, password: Option<&str>) -> Result<Self, Error> {
        let mut store = Self::connected(address, password)?;
        store.prepare()?;
        Ok(store)
    }

    /// Connects to a server that has a history, and makes nothing there.
    ///
    /// # Errors
    /// As [`PostgresStore::open`], and when there is no history yet.
    pub fn open_existing(address: &str, password: Option<&str>) -> Result<Self, Error> {
        let mut store = Self::connected(address, password)?;
        let is_there = migrations::is_there(&mut store.client);
        if !is_there.map_err(|error| of_database(&store.place, &error))? {
            return Err(Error::Empty { place: store.place });
        }
        store.prepare()?;
        Ok(store)
    }

    fn connected(address: &str, password: Option<&str>) -> Result<Self, Error> {
        let (config, proof, place) = config_of(address, password)?;
        let tls = Tls::new(&proof).map_err(|reason| Error::Encryption {
            place: place.clone(),
            reason,
        })?;
        let client = connect(&config, &tls, &place)?;
        Ok(Self {
            config,
            tls,
            client,
            place,
            newer: None,
        })
    }

    fn prepare(&mut self) -> Result<(), Error> {
        let found =
            migrations::run(&mut self.client).map_err(|error| of_database(&self.place, &error))?;
        self.newer = (found > migrations::VERSION).then_some(found);
        Ok(())
    }

    /// The connection; a new one where the last was lost.
    fn client(&mut self) -> Result<&mut Client, Error> {
        if self.client.is_closed() {
            self.client = connect(&self.config, &self.tls, &self.place)?;
            self.prepare()?;
        }
        Ok(&mut self.client)
    }

    fn read(&mut self, statement: &Statement) -> Result<Vec<Row>, Error> {
        let values: Vec<&(dyn ToSql + Sync)> = statement
            .values
            .iter()
            .map(|value| match value {
                Value::Text(text) => text as &(dyn ToSql + Sync),
                Value::Integer(number) => number,
                Value::Bytes(bytes) => bytes,
            })
            .collect();
        let rows = self.client()?.query(&statement.text, &values);
        rows.map_err(|error| of_database(&self.place, &error))
    }

    fn head(&self, row: &Row) -> Result<Head, Error> {
        head_row(row)
            .map_err(|error| error.to_string())
            .and_then(HeadRow::head)
            .map_err(|reason| Error::Damaged {
                place: self.place.clone(),
                reason,
            })
    }

    /// Turns rows into values.
    fn each<T>(
        &self,
        rows: &[Row],
        value: impl Fn(&Row) -> Result<T, ::postgres::Error>,
    ) -> Result<Vec<T>, Error> {
        rows.iter()
            .map(value)
            .collect::<Result<_, _>>()
            .map_err(|error| Error::Damaged {
                place: self.place.clone(),
                reason: words(&error),
            })
    }

    fn refuse(&self) -> Result<(), Error> {
        self.refuses_writes().map_or(Ok(()), Err)
    }
}

impl Store for PostgresStore {
    fn place(&self) -> &str {
        &self.place
    }

    fn refuses_writes(&self) -> Option<Error> {
        self.newer.map(|found| Error::Newer {
            place: self.place.clone(),
            found,
            known: migrations::VERSION,
        })
    }

    fn insert(&mut self, records: &[Record]) -> Result<Inserted, Error> {
        self.refuse()?;
        let inserted = insert(self.client()?, records);
        inserted.map_err(|error| of_database(&self.place, &error))
    }

    fn list(&mut self, filter: &Filter) -> Result<Vec<Head>, Error> {
        let rows = self.read(&sql::list(filter))?;
        rows.iter().map(|row| self.head(row)).collect()
    }

    fn count(&mut self, filter: &Filter) -> Result<u64, Error> {
        let rows = self.read(&sql::count(filter))?;
        let counts = self.each(&rows, |row| row.try_get::<_, i64>(0))?;
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
        let rows = self.read(&sql::series(filter))?;
        self.each(&rows, |row| {
            Ok(Series {
                key: SeriesKey {
                    subject: row.try_get(0)?,
                    metric: row.try_get(1)?,
                    unit: row.try_get(2)?,
                    gpu: row.try_get(3)?,
                },
                points: rows::unsigned(row.try_get(4)?),
                first: Timestamp::from_micros(row.try_get(5)?),
                last: Timestamp::from_micros(row.try_get(6)?),
            })
        })
    }

    fn points(&mut self, series: &SeriesKey, filter: &Filter) -> Result<Vec<Observation>, Error> {
        let rows = self.read(&Statement {
            text: "SELECT number FROM series WHERE hash = $1".to_owned(),
            values: vec![Value::Bytes(rows::series_hash(series))],
        })?;
        let numbers = self.each(&rows, |row| row.try_get::<_, i64>(0))?;
        let Some(number) = numbers.first() else {
            return Ok(Vec::new());
        };
        let rows = self.read(&sql::points(*number, filter))?;
        let mut points = self.each(&rows, |row| {
            Ok(Observation {
                result: Id::from_bytes(row.try_get(0)?).unwrap_or(Id::of_parts([])),
                time: Timestamp::from_micros(row.try_get(1)?),
                revision: Revision {
                    commit: row.try_get(2)?,
                    branch: row.try_get(3)?,
                    is_dirty: row.try_get::<_, Option<i64>>(4)?.map(|dirty| dirty != 0),
                },
                host: row.try_get(5)?,
                value: row.try_get(6)?,
                low: row.try_get(7)?,
                high: row.try_get(8)?,
                samples: rows::samples(row.try_get(9)?),
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
        let rows = self.read(&sql::page(filter, behind, most))?;
        let numbers = self.each(&rows, |row| row.try_get::<_, i64>(17))?;
        // The points of all of them in one question.
        let points = self.client()?.query(sql::POINTS_OF_RESULTS, &[&numbers]);
        let points = points.map_err(|error| of_database(&self.place, &error))?;
        let points = self.each(&points, |row| {
            let point = Point {
                subject: row.try_get(0)?,
                metric: row.try_get(1)?,
                unit: row.try_get(2)?,
                value: row.try_get(3)?,
                low: row.try_get(4)?,
                high: row.try_get(5)?,
                samples: rows::samples(row.try_get(6)?),
            };
            Ok((row.try_get::<_, i64>(7)?, point))
        })?;
        let mut of_result: HashMap<i64, Vec<Point>> = HashMap::new();
        for (number, point) in points {
            of_result.entry(number).or_default().push(point);
        }
        let packed = self.each(&rows, |row| row.try_get::<_, Vec<u8>>(18))?;
        rows.iter()
            .zip(packed)
            .zip(numbers)
            .map(|((row, packed), number)| {
                Ok(Record {
                    head: self.head(row)?,
                    document: Packed::stored(packed),
                    points: of_result.remove(&number).unwrap_or_default(),
                })
            })
            .collect()
    }

    fn prune(&mut self, filter: &Filter) -> Result<u64, Error> {
        self.refuse()?;
        let statement = sql::prune(filter);
        let removed = prune(self.client()?, &statement);
        removed.map_err(|error| of_database(&self.place, &error))
    }
}

/// Who removes series has the lock alone; who adds points to them shares it.
const SHARED: &str = "SELECT pg_advisory_xact_lock_shared(1380205384)";
const ALONE: &str = "SELECT pg_advisory_xact_lock(1380205384)";

fn prune(client: &mut Client, statement: &Statement) -> Result<u64, ::postgres::Error> {
    let mut transaction = client.transaction()?;
    transaction.execute(ALONE, &[])?;
    let values: Vec<&(dyn ToSql + Sync)> = statement
        .values
        .iter()
        .map(|value| match value {
            Value::Text(text) => text as &(dyn ToSql + Sync),
            Value::Integer(number) => number,
            Value::Bytes(bytes) => bytes,
        })
        .collect();
    let removed = transaction.execute(&statement.text, &values)?;
    transaction.execute(
        "DELETE FROM series s WHERE NOT EXISTS (SELECT 1 FROM point p WHERE p.series = s.number)",
        &[],
    )?;
    transaction.commit()?;
    Ok(removed)
}

/// Columns of rows that go to the server as arrays: one statement for a whole batch, whatever its size.
#[derive(Default)]
struct Results<'r> {
    id: Vec<&'r [u8]>,
    time: Vec<i64>,
    kind: Vec<&'r str>,
    name: Vec<&'r str>,
    host: Vec<Option<&'r str>>,
    gpu: Vec<Option<&'r str>>,
    uuid: Vec<Option<&'r str>>,
    driver: Vec<Option<&'r str>>,
    low: Vec<Option<f64>>,
    high: Vec<Option<f64>>,
    commit: Vec<Option<&'r str>>,
    branch: Vec<Option<&'r str>>,
    is_dirty: Vec<Option<i64>>,
    command: Vec<Option<&'r str>>,
    labels: Vec<String>,
    tool_version: Vec<Option<&'r str>>,
    schema_version: Vec<i64>,
}

#[derive(Default)]
struct Labelled<'r> {
    name: Vec<&'r str>,
    value: Vec<&'r str>,
    time: Vec<i64>,
    result: Vec<i64>,
}

#[derive(Default)]
struct SeriesRows<'r> {
    hash: Vec<Vec<u8>>,
    subject: Vec<&'r str>,
    metric: Vec<&'r str>,
    unit: Vec<&'r str>,
    gpu: Vec<Option<&'r str>>,
}

#[derive(Default)]
struct Points {
    series: Vec<i64>,
    time: Vec<i64>,
    result: Vec<i64>,
    place: Vec<i64>,
    value: Vec<f64>,
    low: Vec<Option<f64>>,
    high: Vec<Option<f64>>,
    samples: Vec<Option<i64>>,
}

fn insert(client: &mut Client, records: &[Record]) -> Result<Inserted, ::postgres::Error> {
    // Two writers with the same results wait for each other in the same order, and so never for ever.
    let mut sorted: Vec<&Record> = records.iter().collect();
    sorted.sort_by_key(|record| record.head.id);
    sorted.dedup_by_key(|record| record.head.id);
    let mut transaction = client.transaction()?;
    transaction.execute(SHARED, &[])?;
    let mut of = Results::default();
    for record in &sorted {
        let head = &record.head;
        let (gpu, uuid) = rows::gpu(head);
        let (low, high) = rows::clock(head);
        of.id.push(head.id.bytes());
        of.time.push(head.time.micros());
        of.kind.push(head.kind.name());
        of.name.push(&head.name);
        of.host.push(head.host.as_deref());
        of.gpu.push(gpu);
        of.uuid.push(uuid);
        of.driver.push(head.driver.as_deref());
        of.low.push(low);
        of.high.push(high);
        of.commit.push(head.revision.commit.as_deref());
        of.branch.push(head.revision.branch.as_deref());
        of.is_dirty.push(head.revision.is_dirty.map(i64::from));
        of.command.push(head.command.as_deref());
        of.labels.push(rows::labels_to_text(&head.labels));
        of.tool_version.push(head.tool_version.as_deref());
        of.schema_version.push(i64::from(head.schema_version));
    }
    let added = transaction.query(
        "INSERT INTO result (id, time_us, kind, name, host, gpu, gpu_uuid, driver, sm_clock_low_hz, sm_clock_high_hz, \
         commit_id, branch, is_dirty, command, labels, tool_version, schema_version) \
         SELECT * FROM UNNEST($1::bytea[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], \
         $8::text[], $9::float8[], $10::float8[], $11::text[], $12::text[], $13::bigint[], $14::text[], $15::text[], \
         $16::text[], $17::bigint[]) ON CONFLICT (id) DO NOTHING RETURNING id, number",
        &[
            &of.id, &of.time, &of.kind, &of.name, &of.host, &of.gpu, &of.uuid, &of.driver, &of.low, &of.high,
            &of.commit, &of.branch, &of.is_dirty, &of.command, &of.labels, &of.tool_version, &of.schema_version,
        ],
    )?;
    let mut numbers: HashMap<Vec<u8>, i64> = HashMap::with_capacity(added.len());
    for row in &added {
        numbers.insert(row.try_get(0)?, row.try_get(1)?);
    }
    let new: Vec<(&Record, i64)> = sorted
        .into_iter()
        .filter_map(|record| {
            let number = numbers.get(record.head.id.bytes().as_slice())?;
            Some((record, *number))
        })
        .collect();
    insert_parts(&mut transaction, &new)?;
    transaction.commit()?;
    let count = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
    Ok(Inserted {
        added: count(new.len()),
        known: count(records.len() - new.len()),
    })
}

/// Stores what belongs to results that are new.
fn insert_parts(
    transaction: &mut ::postgres::Transaction<'_>,
    new: &[(&Record, i64)],
) -> Result<(), ::postgres::Error> {
    let results: Vec<i64> = new.iter().map(|(_, number)| *number).collect();
    let packed: Vec<&[u8]> = new
        .iter()
        .map(|(record, _)| record.document.bytes())
        .collect();
    transaction.execute(
        "INSERT INTO document (result, packed) SELECT * FROM UNNEST($1::bigint[], $2::bytea[])",
        &[&results, &packed],
    )?;
    let mut labels = Labelled::default();
    let mut series: Vec<(Vec<u8>, &Point, Option<&str>)> = Vec::new();
    for (record, number) in new {
        for (name, value) in record.head.labels.iter() {
            labels.name.push(name);
            labels.value.push(value);
            labels.time.push(record.head.time.micros());
            labels.result.push(*number);
        }
        let (gpu, _) = rows::gpu(&record.head);
        series.extend(record.points.iter().map(|point| {
            let hash = rows::series_hash_of(&point.subject, &point.metric, &point.unit, gpu);
            (hash, point, gpu)
        }));
    }
    transaction.execute(
        "INSERT INTO label (name, value, time_us, result) \
         SELECT * FROM UNNEST($1::text[], $2::text[], $3::bigint[], $4::bigint[])",
        &[&labels.name, &labels.value, &labels.time, &labels.result],
    )?;
    let hashes: Vec<Vec<u8>> = series.iter().map(|(hash, _, _)| hash.clone()).collect();
    series.sort_by(|(one, ..), (other, ..)| one.cmp(other));
    series.dedup_by(|(one, ..), (other, ..)| one == other);
    let mut of = SeriesRows::default();
    for (hash, point, gpu) in series {
        of.hash.push(hash);
        of.subject.push(&point.subject);
        of.metric.push(&point.metric);
        of.unit.push(&point.unit);
        of.gpu.push(gpu);
    }
    let select = "SELECT hash, number FROM series WHERE hash = ANY($1)";
    let mut known = transaction.query(select, &[&of.hash])?;
    if known.len() < of.hash.len() {
        transaction.execute(
            "INSERT INTO series (hash, subject, metric, unit, gpu) \
             SELECT * FROM UNNEST($1::bytea[], $2::text[], $3::text[], $4::text[], $5::text[]) \
             ON CONFLICT (hash) DO NOTHING",
            &[&of.hash, &of.subject, &of.metric, &of.unit, &of.gpu],
        )?;
        known = transaction.query(select, &[&of.hash])?;
    }
    let mut series_numbers: HashMap<Vec<u8>, i64> = HashMap::with_capacity(known.len());
    for row in &known {
        series_numbers.insert(row.try_get(0)?, row.try_get(1)?);
    }
    let mut points = Points::default();
    let mut hashes = hashes.iter();
    for (record, number) in new {
        for (place, point) in record.points.iter().enumerate() {
            let series = hashes.next().and_then(|hash| series_numbers.get(hash));
            // A series that is not there now has been inserted above; the key of the table says so if not.
            points.series.push(series.copied().unwrap_or(-1));
            points.time.push(record.head.time.micros());
            points.result.push(*number);
            points.place.push(i64::try_from(place).unwrap_or(i64::MAX));
            points.value.push(point.value);
            points.low.push(point.low);
            points.high.push(point.high);
            points.samples.push(point.samples.map(rows::signed));
        }
    }
    transaction.execute(
        "INSERT INTO point (series, time_us, result, place, value, low, high, samples) \
         SELECT * FROM UNNEST($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::float8[], $6::float8[], \
         $7::float8[], $8::bigint[])",
        &[
            &points.series, &points.time, &points.result, &points.place, &points.value, &points.low, &points.high,
            &points.samples,
        ],
    )?;
    Ok(())
}

fn head_row(row: &Row) -> Result<HeadRow, ::postgres::Error> {
    Ok(HeadRow {
        id: row.try_get(0)?,
        time_us: row.try_get(1)?,
        kind: row.try_get(2)?,
        name: row.try_get(3)?,
        host: row.try_get(4)?,
        gpu: row.try_get(5)?,
        gpu_uuid: row.try_get(6)?,
        driver: row.try_get(7)?,
        sm_clock_low_hz: row.try_get(8)?,
        sm_clock_high_hz: row.try_get(9)?,
        commit: row.try_get(10)?,
        branch: row.try_get(11)?,
        is_dirty: row.try_get(12)?,
        command: row.try_get(13)?,
        labels: row.try_get(14)?,
        tool_version: row.try_get(15)?,
        schema_version: row.try_get(16)?,
    })
}

/// The settings of a connection, how the server shows who it is, and the address as it is shown.
fn config_of(address: &str, password: Option<&str>) -> Result<(Config, Proof, String), Error> {
    if !is_address(address) {
        return Err(Error::Address(
            "expected postgres://USER@HOST:PORT/DATABASE".to_owned(),
        ));
    }
    let address = normal(address);
    // The client takes the first one for the end of the password, and would show the rest of it as the host.
    if address.contains("://") && address.matches('@').count() > 1 {
        return Err(Error::Address(
            "it has more than one @; within a user, a password or an option it is written %40"
                .to_owned(),
        ));
    }
    let (address, proof) =
        mode::taken(&address).map_err(|reason| Error::Address(reason.to_owned()))?;
    // What the client says may quote a part of the address that it takes for an option, and that is one of the password.
    let mut config: Config = address.parse().map_err(|_: ::postgres::Error| {
        Error::Address(
            "the client of PostgreSQL does not take it; a :, /, ?, #, @ or % within a user or a password is written as \
             % with two digits, such as %2F"
                .to_owned(),
        )
    })?;
    if config.get_user().is_none() {
        return Err(Error::Address(
            "it names no user; expected postgres://USER@HOST:PORT/DATABASE".to_owned(),
        ));
    }
    if config.get_hosts().is_empty() {
        return Err(Error::Address(
            "it names no host; expected postgres://USER@HOST:PORT/DATABASE".to_owned(),
        ));
    }
    if let (None, Some(password)) = (config.get_password(), password) {
        config.password(password);
    }
    if config.get_application_name().is_none() {
        config.application_name("ridge");
    }
    config.connect_timeout(CONNECT_TIMEOUT);
    config.tcp_user_timeout(LOST_AFTER);
    let hosts: Vec<String> = config
        .get_hosts()
        .iter()
        .enumerate()
        .map(|(place, host)| {
            let host = match host {
                Host::Tcp(name) if name.contains(':') => format!("[{name}]"),
                Host::Tcp(name) => name.clone(),
                #[cfg(unix)]
                Host::Unix(path) => path.display().to_string(),
            };
            let ports = config.get_ports();
            match ports.get(place).or_else(|| ports.first()) {
                Some(port) => format!("{host}:{port}"),
                None => host,
            }
        })
        .collect();
    let user = config.get_user().unwrap_or_default();
    let database = config.get_dbname().unwrap_or(user);
    let place = format!("postgres://{user}@{}/{database}", hosts.join(","));
    Ok((config, proof, place))
}

fn connect(config: &Config, tls: &Tls, place: &str) -> Result<Client, Error> {
    let mut client = match config.connect(tls.clone()) {
        // Where nobody asked for encryption, what a server cannot do well is done without.
        Err(error) if is_of_tls(&error) && config.get_ssl_mode() == SslMode::Prefer => config
            .clone()
            .ssl_mode(SslMode::Disable)
            .connect(tls.clone()),
        other => other,
    }
    .map_err(|error| of_database(place, &error))?;
    client
        .batch_execute("SET search_path TO ridge; SET client_min_messages TO warning")
        .map_err(|error| of_database(place, &error))?;
    Ok(client)
}

/// How the client begins what it says of TLS; it has no other sign of it.
const OF_TLS: &str = "error performing TLS handshake";

fn is_of_tls(error: &::postgres::Error) -> bool {
    error.as_db_error().is_none() && error.to_string().starts_with(OF_TLS)
}

fn of_database(place: &str, error: &::postgres::Error) -> Error {
    let place = place.to_owned();
    let reason = words(error);
    if is_of_tls(error) {
        let said = || reason.trim_start_matches(OF_TLS).trim_start_matches(": ");
        let reason = std::error::Error::source(error)
            .and_then(tls::words)
            .unwrap_or_else(|| said().to_owned());
        return Error::Encryption { place, reason };
    }
    let Some(state) = error.code() else {
        // Without an answer of the server it is the way to it that is broken.
        return Error::Connection { place, reason };
    };
    match *state {
        SqlState::INSUFFICIENT_PRIVILEGE => Error::Refused { place, reason },
        SqlState::READ_ONLY_SQL_TRANSACTION => Error::ReadOnly { place, reason },
        SqlState::DISK_FULL => Error::Full { place, reason },
        // Statements are those of this program: what they name is missing.
        SqlState::UNDEFINED_TABLE | SqlState::UNDEFINED_COLUMN => Error::Damaged { place, reason },
        SqlState::INVALID_CATALOG_NAME => Error::Refused { place, reason },
        _ => match state.code().get(..2) {
            // Invalid authorization.
            Some("28") => Error::Refused { place, reason },
            // Broken connections, and servers that end or have no room for one more.
            Some("08" | "57" | "53") => Error::Connection { place, reason },
            Some("XX") => Error::Damaged { place, reason },
            _ => Error::Query { place, reason },
        },
    }
}

/// What the server or the client says, on one line.
fn words(error: &::postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        let hint = said
            .hint()
            .map_or_else(String::new, |hint| format!(" ({hint})"));
        return format!("{}{hint}", said.message());
    }
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_without_secrets() {
        for (address, shown) in [
            (
                "postgres://ci:s3cret@db.example:5433/perf",
                "postgres://ci@db.example:5433/perf",
            ),
            (
                "postgresql://ci@db.example/perf?password=s3cret",
                "postgres://ci@db.example:5432/perf",
            ),
            (
                "postgres://ci@[::1]:5432/perf",
                "postgres://ci@[::1]:5432/perf",
            ),
            (
                "postgres://ci:s3cret@db.example",
                "postgres://ci@db.example:5432/ci",
            ),
            (
                "  POSTGRESQL://ci:s3%40cret@db.example/Perf ",
                "postgres://ci@db.example:5432/Perf",
            ),
            (
                "host=db.example port=5433 user=ci password='s3 cret' dbname=perf",
                "postgres://ci@db.example:5433/perf",
            ),
        ] {
            assert_eq!(shown_address(address).unwrap(), shown);
        }
        for wrong in [
            "",
            "mysql://a@b/c",
            "postgres://",
            "postgres://db.example/perf",
            "postgres://ci@/perf",
            "postgres://ci:s3cret@db.example:port/perf",
            "postgres://ci@db/perf?s3cret=1",
            "postgres://ci:s3@cret@db/perf",
            "postgres://ci:s3cret@x@db/perf",
            "postgres://ci:x@s3cret?a=b@db/perf",
            "postgres://ci:x@db/perf?s3cret",
            "user=ci password=s3cret",
            "host=db password=s3cret",
            "host=db user=ci s3cret",
        ] {
            let error = shown_address(wrong).unwrap_err();
            assert_eq!(error.code(), "HIS0011", "{wrong}");
            assert!(
                !error.to_string().contains("s3cret") && !error.to_string().contains("cret@"),
                "{error}"
            );
        }
    }
}
