-- Block traces of executions, checks of predictions, and the laws of devices.
--
-- `fnv` is the FNV-1a checksum of the data in the column before it, as in schema 1.

CREATE TABLE traces (
    run          TEXT NOT NULL REFERENCES runs (id),
    alternative  INTEGER NOT NULL,
    round        INTEGER NOT NULL,
    -- 1 if the round does not count.
    discarded    INTEGER NOT NULL CHECK (discarded IN (0, 1)),
    program      TEXT NOT NULL,
    target       TEXT NOT NULL,
    -- The device, and the counts of its requests. Without a trace, the name is empty and the counts are 0.
    device       TEXT NOT NULL,
    requests     INTEGER NOT NULL,
    bytes        INTEGER NOT NULL,
    others       INTEGER NOT NULL,
    -- Nanoseconds: the time of the execution, and the part in which it waited for a processor, if known.
    elapsed      INTEGER NOT NULL,
    ready        INTEGER,
    -- The reason for which there is no trace. NULL if there is a trace.
    missing      TEXT,
    trace        BLOB,
    fnv          INTEGER,
    PRIMARY KEY (run, alternative, round)
) STRICT;

CREATE TABLE checks (
    id               INTEGER PRIMARY KEY,
    -- The run from which the prediction was computed, and the run that was measured to check it.
    run              TEXT NOT NULL,
    measured_run     TEXT NOT NULL,
    made_unix_s      REAL NOT NULL,
    -- The check, as an opaque text of the program.
    data             TEXT NOT NULL,
    fnv              INTEGER NOT NULL
) STRICT;

CREATE TABLE laws (
    -- The name of the machine, and of its device that was measured.
    host         TEXT NOT NULL,
    device       TEXT NOT NULL,
    made_unix_s  REAL NOT NULL,
    -- The text of the device's file.
    data         TEXT NOT NULL,
    fnv          INTEGER NOT NULL,
    PRIMARY KEY (host, device)
) STRICT, WITHOUT ROWID;
