//! Statements that both databases understand: parameters are `$1`, `$2` and so on, in the order in which they appear.

use crate::{Filter, Id, IdPrefix, Timestamp};

/// A value that a statement is given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Bytes(Vec<u8>),
}

/// A statement with its values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Statement {
    pub(crate) text: String,
    pub(crate) values: Vec<Value>,
}

/// The columns of a head, in the order in which both databases read them.
pub(crate) const HEAD: &str = "r.id, r.time_us, r.kind, r.name, r.host, r.gpu, r.gpu_uuid, r.driver, r.sm_clock_low_hz, \
     r.sm_clock_high_hz, r.commit_id, r.branch, r.is_dirty, r.command, r.labels, r.tool_version, r.schema_version";

impl Statement {
    fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            values: Vec::new(),
        }
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds a value, where a `?` stands in the text.
    fn bind(&mut self, text: &str, value: Value) {
        self.values.push(value);
        let place = format!("${}", self.values.len());
        self.push(&text.replacen('?', &place, 1));
    }

    fn id(&mut self, prefix: &IdPrefix) {
        if prefix.low() == prefix.high() {
            self.bind(" AND r.id = ?", Value::Bytes(prefix.low().to_vec()));
            return;
        }
        self.bind(" AND r.id >= ?", Value::Bytes(prefix.low().to_vec()));
        self.bind(" AND r.id <= ?", Value::Bytes(prefix.high().to_vec()));
    }

    /// What a filter says of the table of results, which is called `r`. Its limit is left out.
    fn conditions(&mut self, filter: &Filter) {
        self.push(" WHERE TRUE");
        if let Some(kind) = filter.kind {
            self.bind(" AND r.kind = ?", Value::Text(kind.name().to_owned()));
        }
        if let Some(prefix) = &filter.id {
            self.id(prefix);
        }
        if let Some(since) = filter.since {
            self.bind(" AND r.time_us >= ?", Value::Integer(since.micros()));
        }
        if let Some(before) = filter.before {
            self.bind(" AND r.time_us < ?", Value::Integer(before.micros()));
        }
        for (column, value) in [
            ("name", &filter.name),
            ("gpu", &filter.gpu),
            ("host", &filter.host),
            ("branch", &filter.branch),
        ] {
            // Few results have one commit: its index is to be used, and not that of names.
            let column = match column {
                "name" if filter.commit.is_some() => "r.name || ''".to_owned(),
                _ => format!("r.{column}"),
            };
            if let Some(value) = value {
                self.bind(&format!(" AND {column} = ?"), Value::Text(value.clone()));
            }
        }
        if let Some(commit) = &filter.commit {
            // A range, and no pattern: an index knows ranges. `g` is the letter behind the last hexadecimal digit.
            self.bind(" AND r.commit_id >= ?", Value::Text(commit.clone()));
            self.bind(" AND r.commit_id < ?", Value::Text(format!("{commit}g")));
        }
        if let Some(is_dirty) = filter.is_dirty {
            self.bind(" AND r.is_dirty = ?", Value::Integer(is_dirty.into()));
        }
        for (labels, word) in [
            (&filter.labels, "EXISTS"),
            (&filter.without_labels, "NOT EXISTS"),
        ] {
            for (name, value) in labels {
                self.push(&format!(
                    " AND {word} (SELECT 1 FROM label l WHERE l.result = r.number"
                ));
                self.bind(" AND l.name = ?", Value::Text(name.clone()));
                if let Some(value) = value {
                    self.bind(" AND l.value = ?", Value::Text(value.clone()));
                }
                self.push(")");
            }
        }
        if let Some(subject) = &filter.subject {
            self.bind(
                " AND EXISTS (SELECT 1 FROM point p JOIN series s ON s.number = p.series \
                 WHERE p.result = r.number AND s.subject = ?)",
                Value::Text(subject.clone()),
            );
        }
    }

    /// The table of results, and what a filter says of it. A label leads to its results, newest first, unless a name narrows
    /// them more: few results have a label, and looking at each result for it takes long.
    fn results(&mut self, filter: &Filter) {
        let mut rest = filter.clone();
        let leading =
            (rest.name.is_none() && !rest.labels.is_empty()).then(|| rest.labels.remove(0));
        match leading {
            None => {
                self.push(" FROM result r");
                self.conditions(&rest);
            }
            Some((name, value)) => {
                self.push(" FROM label first JOIN result r ON r.number = first.result");
                self.conditions(&rest);
                self.bind(" AND first.name = ?", Value::Text(name));
                if let Some(value) = value {
                    self.bind(" AND first.value = ?", Value::Text(value));
                }
            }
        }
    }

    /// Newest first. The time of a label is that of its result, and lies in the index that leads there.
    fn newest_first(&mut self, filter: &Filter) {
        let is_by_label = filter.name.is_none() && !filter.labels.is_empty();
        let table = if is_by_label { "first" } else { "r" };
        self.push(&format!(" ORDER BY {table}.time_us DESC, r.id"));
    }

    fn limit(&mut self, limit: Option<u64>) {
        if let Some(limit) = limit {
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            self.bind(" LIMIT ?", Value::Integer(limit));
        }
    }
}

/// Heads, newest first.
pub(crate) fn list(filter: &Filter) -> Statement {
    let mut statement = Statement::new(&format!("SELECT {HEAD}"));
    statement.results(filter);
    statement.newest_first(filter);
    statement.limit(filter.limit);
    statement
}

/// How many results there are.
pub(crate) fn count(filter: &Filter) -> Statement {
    let mut statement = Statement::new("SELECT COUNT(*) FROM (SELECT 1");
    statement.results(filter);
    statement.limit(filter.limit);
    statement.push(") chosen");
    statement
}

/// Whole results without their points, oldest first, behind one that was seen.
pub(crate) fn page(filter: &Filter, behind: Option<(Timestamp, Id)>, most: u64) -> Statement {
    let mut statement = Statement::new(&format!(
        "SELECT {HEAD}, r.number, d.packed FROM result r JOIN document d ON d.result = r.number"
    ));
    statement.conditions(filter);
    if let Some((time, id)) = behind {
        // Said twice, so that the index of times is used in both databases.
        statement.bind(" AND r.time_us >= ?", Value::Integer(time.micros()));
        statement.bind(" AND (r.time_us > ?", Value::Integer(time.micros()));
        statement.bind(" OR r.id > ?)", Value::Bytes(id.bytes().to_vec()));
    }
    statement.push(" ORDER BY r.time_us, r.id");
    statement.limit(Some(most));
    statement
}

/// The points of one result, in the order in which the document has them.
pub(crate) const POINTS_OF_RESULT: &str = "SELECT s.subject, s.metric, s.unit, p.value, p.low, p.high, p.samples \
     FROM point p JOIN series s ON s.number = p.series WHERE p.result = $1 ORDER BY p.place";

/// The points of many results, with the numbers of these, in the same order within each.
#[cfg(feature = "postgres")]
pub(crate) const POINTS_OF_RESULTS: &str = "SELECT s.subject, s.metric, s.unit, p.value, p.low, p.high, p.samples, p.result \
     FROM point p JOIN series s ON s.number = p.series WHERE p.result = ANY($1) ORDER BY p.result, p.place";

/// Whether a filter chooses results at all, or takes all of them.
fn is_open(filter: &Filter) -> bool {
    *filter
        == Filter {
            subject: filter.subject.clone(),
            gpu: filter.gpu.clone(),
            limit: filter.limit,
            ..Filter::default()
        }
}

/// Series with their number of points.
pub(crate) fn series(filter: &Filter) -> Statement {
    let mut statement = Statement::new(
        "SELECT s.subject, s.metric, s.unit, s.gpu, COUNT(*), MIN(p.time_us), MAX(p.time_us) \
         FROM series s JOIN point p ON p.series = s.number",
    );
    let mut filter = filter.clone();
    let (subject, gpu) = (filter.subject.take(), filter.gpu.clone());
    if is_open(&filter) {
        statement.push(" WHERE TRUE");
    } else {
        statement.push(" JOIN result r ON r.number = p.result");
        statement.conditions(&filter);
    }
    for (column, value) in [("subject", subject), ("gpu", gpu)] {
        if let Some(value) = value {
            statement.bind(&format!(" AND s.{column} = ?"), Value::Text(value));
        }
    }
    statement.push(" GROUP BY s.number, s.subject, s.metric, s.unit, s.gpu");
    statement.push(" ORDER BY s.subject, s.metric, s.unit, s.gpu NULLS FIRST");
    statement.limit(filter.limit);
    statement
}

/// The points of a series, newest first, so that a limit leaves the newest.
pub(crate) fn points(series: i64, filter: &Filter) -> Statement {
    let mut statement = Statement::new(
        "SELECT r.id, p.time_us, r.commit_id, r.branch, r.is_dirty, r.host, p.value, p.low, p.high, p.samples \
         FROM point p JOIN result r ON r.number = p.result",
    );
    let mut filter = filter.clone();
    // Times of points are those of their results, and their index is that of the series.
    let (since, before) = (filter.since.take(), filter.before.take());
    // The series says both.
    filter.subject = None;
    filter.gpu = None;
    statement.conditions(&filter);
    statement.bind(" AND p.series = ?", Value::Integer(series));
    if let Some(since) = since {
        statement.bind(" AND p.time_us >= ?", Value::Integer(since.micros()));
    }
    if let Some(before) = before {
        statement.bind(" AND p.time_us < ?", Value::Integer(before.micros()));
    }
    statement.push(" ORDER BY p.time_us DESC, r.id DESC");
    statement.limit(filter.limit);
    statement
}

/// Removes results. What belongs to them goes with them.
pub(crate) fn prune(filter: &Filter) -> Statement {
    let mut statement = Statement::new("DELETE FROM result WHERE number IN (SELECT r.number");
    statement.results(filter);
    if filter.limit.is_some() {
        statement.newest_first(filter);
        statement.limit(filter.limit);
    }
    statement.push(")");
    statement
}
