//! Versions of the file, and what leads from each to the next. `docs/design/history.md` describes the tables.

use rusqlite::{Connection, TransactionBehavior};

use super::APPLICATION_ID;

/// The version that this version of ridge writes.
pub(super) const VERSION: i64 = STEPS.len() as i64;

/// What leads from a version to the next. Steps are never changed, only added: files of every past version exist.
const STEPS: &[&str] = &[include_str!("migrations/1.sql")];

/// The tables that every version has.
pub(super) const TABLES: [&str; 5] = ["result", "document", "label", "series", "point"];

/// Brings a database up to this version. Another process may do the same at the same time.
pub(super) fn run(connection: &mut Connection) -> rusqlite::Result<()> {
    let version = |connection: &Connection| {
        connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))
    };
    if version(connection)? == VERSION {
        return Ok(());
    }
    // One transaction for all steps: a process that ends in between leaves the version that was there.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    let done = usize::try_from(found).unwrap_or(0);
    for step in STEPS.iter().skip(done) {
        transaction.execute_batch(step)?;
    }
    if found < VERSION {
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    transaction.commit()
}
