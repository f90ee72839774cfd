-- Block traces of executions, checks of predictions, and the laws of devices.
--
-- `fnv` is the FNV-1a of the data before it, as in schema 1.

CREATE TABLE traces (
    run          TEXT NOT NULL REFERENCES runs (id),
    alternative  INTEGER NOT NULL,
    round        INTEGER NOT NULL,
    -- 1: the round does not count.
    discarded    INTEGER NOT NULL CHECK (discarded IN (0, 1)),
    program      TEXT NOT NULL,
    target       TEXT NOT NULL,
    -- The device and the counts of its requests; all 0 without a trace.
    device       TEXT NOT NULL,
    requests     INTEGER NOT NULL,
    bytes        INTEGER NOT NULL,
    others       INTEGER NOT NULL,
    -- Nanoseconds: the execution, and its waiting for a processor, if that is known.
    elapsed      INTEGER NOT NULL,
    ready        INTEGER,
    -- The reason, if there is no trace.
    missing      TEXT,
    trace        BLOB,
    fnv          INTEGER,
    PRIMARY KEY (run, alternative, round)
) STRICT;

CREATE TABLE checks (
    id               INTEGER PRIMARY KEY,
    -- The run that was predicted from, and the run that was measured.
    run              TEXT NOT NULL,
    measured_run     TEXT NOT NULL,
    made_unix_s      REAL NOT NULL,
    -- The check, in the program's own words.
    data             TEXT NOT NULL,
    fnv              INTEGER NOT NULL
) STRICT;

CREATE TABLE laws (
    -- The machine and the device that were measured.
    host         TEXT NOT NULL,
    device       TEXT NOT NULL,
    made_unix_s  REAL NOT NULL,
    -- The text of the file.
    data         TEXT NOT NULL,
    fnv          INTEGER NOT NULL,
    PRIMARY KEY (host, device)
) STRICT, WITHOUT ROWID;
