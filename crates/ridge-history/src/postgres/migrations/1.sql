-- Texts sort by their bytes, as in SQLite, so that ranges of commits are ranges of an index.
-- A result. Times are microseconds since 1970 in UTC, clocks hertz.
CREATE TABLE result (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- SHA-256 of the content.
    id BYTEA NOT NULL UNIQUE,
    time_us BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    host TEXT COLLATE "C",
    gpu TEXT COLLATE "C",
    gpu_uuid TEXT COLLATE "C",
    driver TEXT COLLATE "C",
    sm_clock_low_hz DOUBLE PRECISION,
    sm_clock_high_hz DOUBLE PRECISION,
    commit_id TEXT COLLATE "C",
    branch TEXT COLLATE "C",
    is_dirty BIGINT,
    command TEXT COLLATE "C",
    -- A JSON object, as the table of labels has them.
    labels TEXT COLLATE "C" NOT NULL,
    tool_version TEXT COLLATE "C",
    schema_version BIGINT NOT NULL
);
CREATE INDEX result_by_time ON result (time_us, id);
CREATE INDEX result_by_name ON result (name, time_us);
CREATE INDEX result_by_name_and_branch ON result (name, branch, time_us);
CREATE INDEX result_by_branch ON result (branch, time_us);
CREATE INDEX result_by_commit ON result (commit_id, time_us);

-- The whole answer of the command: JSON, packed with zstd. Apart from the result, so that lists read no documents.
CREATE TABLE document (
    result BIGINT PRIMARY KEY REFERENCES result (number) ON DELETE CASCADE,
    packed BYTEA NOT NULL
);

-- With the time of the result, so that the newest with a label is the last of its range.
CREATE TABLE label (
    name TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    time_us BIGINT NOT NULL,
    result BIGINT NOT NULL REFERENCES result (number) ON DELETE CASCADE,
    PRIMARY KEY (name, value, time_us, result)
);
-- For labels of any value.
CREATE INDEX label_by_name ON label (name, time_us);
CREATE INDEX label_by_result ON label (result);

-- What points belong to. The hash stands for the other four, which are too long for an index in places.
CREATE TABLE series (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hash BYTEA NOT NULL UNIQUE,
    subject TEXT COLLATE "C" NOT NULL,
    metric TEXT COLLATE "C" NOT NULL,
    unit TEXT COLLATE "C" NOT NULL,
    gpu TEXT COLLATE "C"
);
CREATE INDEX series_by_subject ON series (subject);

-- In the order of series and time, so that a series lies in one piece.
CREATE TABLE point (
    series BIGINT NOT NULL REFERENCES series (number),
    time_us BIGINT NOT NULL,
    result BIGINT NOT NULL REFERENCES result (number) ON DELETE CASCADE,
    -- Its place among the points of its result.
    place BIGINT NOT NULL,
    value DOUBLE PRECISION NOT NULL,
    low DOUBLE PRECISION,
    high DOUBLE PRECISION,
    samples BIGINT,
    PRIMARY KEY (series, time_us, result)
);
CREATE INDEX point_by_result ON point (result, place);
