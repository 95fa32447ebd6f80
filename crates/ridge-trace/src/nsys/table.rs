//! A table of which it is not known what columns it has.

use std::collections::HashSet;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Statement};

/// The names of all tables; views, which can be any query, are left out.
pub(super) fn names(connection: &Connection) -> rusqlite::Result<HashSet<String>> {
    let mut statement =
        connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    let names = statement.query_map([], |row| row.get::<_, String>(0))?;
    names.collect()
}

/// The columns of a table that are wanted and there.
pub(super) struct Table<'c> {
    statement: Statement<'c>,
    columns: Vec<&'static str>,
}

impl<'c> Table<'c> {
    /// Looks up what columns a table has and selects those that are wanted.
    pub(super) fn open(
        connection: &'c Connection,
        table: &'static str,
        required: &[&'static str],
        optional: &[&'static str],
    ) -> Result<Self, String> {
        let failed = |error: rusqlite::Error| error.to_string();
        let mut statement = connection
            .prepare("SELECT name FROM pragma_table_info(?1)")
            .map_err(failed)?;
        let present: HashSet<String> = statement
            .query_map([table], |row| row.get::<_, String>(0))
            .and_then(Iterator::collect)
            .map_err(failed)?;
        if let Some(missing) = required.iter().find(|column| !present.contains(**column)) {
            return Err(format!("it has no column {missing}"));
        }
        let wanted = required.iter().chain(optional);
        let columns: Vec<&'static str> = wanted
            .copied()
            .filter(|column| present.contains(*column))
            .collect();
        let list: Vec<String> = columns
            .iter()
            .map(|column| format!("\"{column}\""))
            .collect();
        let query = format!("SELECT {} FROM \"{table}\"", list.join(", "));
        Ok(Self {
            statement: connection.prepare(&query).map_err(failed)?,
            columns,
        })
    }

    /// Hands every row to a function, as far as they can be read.
    pub(super) fn each(&mut self, mut take: impl FnMut(&Row<'_>)) -> Result<(), String> {
        let failed =
            |error: rusqlite::Error, count: u64| format!("row {count} cannot be read: {error}");
        let mut count = 0;
        let mut rows = self.statement.query([]).map_err(|error| failed(error, 0))?;
        while let Some(row) = rows.next().map_err(|error| failed(error, count))? {
            take(&Row {
                row,
                columns: &self.columns,
            });
            count += 1;
        }
        Ok(())
    }
}

/// A row; a column that the table lacks is absent.
pub(super) struct Row<'r> {
    row: &'r rusqlite::Row<'r>,
    columns: &'r [&'static str],
}

impl Row<'_> {
    fn value(&self, column: &str) -> Option<ValueRef<'_>> {
        let place = self.columns.iter().position(|known| *known == column)?;
        self.row.get_ref(place).ok()
    }

    pub(super) fn integer(&self, column: &str) -> Option<i64> {
        match self.value(column)? {
            ValueRef::Integer(value) => Some(value),
            _ => None,
        }
    }

    /// A number that is not negative.
    pub(super) fn unsigned(&self, column: &str) -> Option<u64> {
        self.integer(column)
            .and_then(|value| u64::try_from(value).ok())
    }

    pub(super) fn small(&self, column: &str) -> Option<u32> {
        self.integer(column)
            .and_then(|value| u32::try_from(value).ok())
    }

    pub(super) fn text(&self, column: &str) -> Option<String> {
        match self.value(column)? {
            ValueRef::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
            ValueRef::Integer(value) => Some(value.to_string()),
            _ => None,
        }
    }
}
