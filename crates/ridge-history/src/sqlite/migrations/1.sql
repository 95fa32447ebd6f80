-- A result. Times are microseconds since 1970 in UTC, clocks hertz.
CREATE TABLE result (
    number INTEGER PRIMARY KEY,
    -- SHA-256 of the content.
    id BLOB NOT NULL UNIQUE,
    time_us INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    host TEXT,
    gpu TEXT,
    gpu_uuid TEXT,
    driver TEXT,
    sm_clock_low_hz REAL,
    sm_clock_high_hz REAL,
    commit_id TEXT,
    branch TEXT,
    is_dirty INTEGER,
    command TEXT,
    -- A JSON object, as the table of labels has them.
    labels TEXT NOT NULL,
    tool_version TEXT,
    schema_version INTEGER NOT NULL
) STRICT;
CREATE INDEX result_by_time ON result (time_us, id);
CREATE INDEX result_by_name ON result (name, time_us);
CREATE INDEX result_by_name_and_branch ON result (name, branch, time_us);
CREATE INDEX result_by_branch ON result (branch, time_us);
CREATE INDEX result_by_commit ON result (commit_id, time_us);

-- The whole answer of the command: JSON, packed with zstd. Apart from the result, so that lists read no documents.
CREATE TABLE document (
    result INTEGER PRIMARY KEY REFERENCES result (number) ON DELETE CASCADE,
    packed BLOB NOT NULL
) STRICT;

-- With the time of the result, so that the newest with a label is the last of its range.
CREATE TABLE label (
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    time_us INTEGER NOT NULL,
    result INTEGER NOT NULL REFERENCES result (number) ON DELETE CASCADE,
    PRIMARY KEY (name, value, time_us, result)
) STRICT, WITHOUT ROWID;
-- For labels of any value.
CREATE INDEX label_by_name ON label (name, time_us);
CREATE INDEX label_by_result ON label (result);

-- What points belong to. The hash stands for the other four, which are too long for an index in places.
CREATE TABLE series (
    number INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    subject TEXT NOT NULL,
    metric TEXT NOT NULL,
    unit TEXT NOT NULL,
    gpu TEXT
) STRICT;
CREATE INDEX series_by_subject ON series (subject);

-- In the order of series and time, so that a series lies in one piece.
CREATE TABLE point (
    series INTEGER NOT NULL REFERENCES series (number),
    time_us INTEGER NOT NULL,
    result INTEGER NOT NULL REFERENCES result (number) ON DELETE CASCADE,
    -- Its place among the points of its result.
    place INTEGER NOT NULL,
    value REAL NOT NULL,
    low REAL,
    high REAL,
    samples INTEGER,
    PRIMARY KEY (series, time_us, result)
) STRICT, WITHOUT ROWID;
CREATE INDEX point_by_result ON point (result, place);
