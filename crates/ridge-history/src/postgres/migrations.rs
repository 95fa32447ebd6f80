//! Versions of the tables, and what leads from each to the next. They are those of the file, with the types of PostgreSQL.

use ::postgres::Client;

/// The version that this version of ridge writes.
pub(super) const VERSION: i64 = STEPS.len() as i64;

/// What leads from a version to the next. Steps are never changed, only added.
const STEPS: &[&str] = &[include_str!("migrations/1.sql")];

/// Whether there are tables of a history. A question to a table, and no `to_regclass`: that remembers what was not there before
/// the lock was had.
const EXISTS: &str = "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = 'ridge' AND tablename = 'version')";

/// Whether the tables of a history have been made.
pub(super) fn is_there(client: &mut Client) -> Result<bool, ::postgres::Error> {
    client.query_one(EXISTS, &[])?.try_get(0)
}

/// Brings the tables up to this version; the version that they have. Nothing is written where they have it.
pub(super) fn run(client: &mut Client) -> Result<i64, ::postgres::Error> {
    let version = "SELECT number FROM ridge.version";
    if is_there(client)? {
        let found: i64 = client.query_one(version, &[])?.try_get(0)?;
        if found >= VERSION {
            return Ok(found);
        }
    }
    let mut transaction = client.transaction()?;
    // Two machines that come first at the same time make the tables once.
    transaction.execute("SELECT pg_advisory_xact_lock(1380205385)", &[])?;
    if !transaction.query_one(EXISTS, &[])?.try_get::<_, bool>(0)? {
        transaction.batch_execute(
            "CREATE SCHEMA IF NOT EXISTS ridge; \
             CREATE TABLE ridge.version (number BIGINT NOT NULL); \
             INSERT INTO ridge.version VALUES (0)",
        )?;
    }
    let found: i64 = transaction.query_one(version, &[])?.try_get(0)?;
    for step in STEPS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        transaction.batch_execute(step)?;
    }
    if found < VERSION {
        transaction.execute("UPDATE ridge.version SET number = $1", &[&VERSION])?;
    }
    transaction.commit()?;
    Ok(found.max(VERSION))
}
