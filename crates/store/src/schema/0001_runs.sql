-- Runs, what they have measured so far, and the executions that it was computed from.
--
-- Times are seconds since 1970. `fnv` is the FNV-1a of the text beside it: SQLite checks its own pages, not
-- what stands in them.

-- "dprf": tells a store from the databases of other programs.
PRAGMA application_id = 0x64707266;

CREATE TABLE runs (
    id              TEXT NOT NULL PRIMARY KEY,
    state           TEXT NOT NULL CHECK (state IN ('running', 'finished', 'interrupted', 'failed')),
    -- The process that measures; it may be gone without having said so.
    holder          TEXT NOT NULL,
    started_unix_s  REAL NOT NULL,
    ended_unix_s    REAL,
    preset          TEXT,
    -- The words of the command, each ended by a zero byte, and the folder that it was given in.
    command         BLOB NOT NULL,
    folder          BLOB NOT NULL,
    -- What was decided before the first round, in the program's own words: to go on with it.
    plan            TEXT NOT NULL,
    -- The document's `run`, and its `errors`.
    info            TEXT NOT NULL,
    info_fnv        INTEGER NOT NULL,
    errors          TEXT NOT NULL,
    errors_fnv      INTEGER NOT NULL,
    -- How many cells it has, so that none can be missing unnoticed.
    cells           INTEGER NOT NULL
) STRICT;

CREATE INDEX runs_by_start ON runs (started_unix_s);

CREATE TABLE cells (
    run         TEXT NOT NULL REFERENCES runs (id),
    -- Its place in the document.
    ordinal     INTEGER NOT NULL,
    -- Its key, unique in a run.
    preset      TEXT NOT NULL,
    program     TEXT NOT NULL,
    phase       TEXT NOT NULL,
    target      TEXT NOT NULL,
    parameters  TEXT NOT NULL,
    measured    INTEGER NOT NULL CHECK (measured IN (0, 1)),
    per_second  REAL,
    -- All of it.
    cell        TEXT NOT NULL,
    fnv         INTEGER NOT NULL,
    PRIMARY KEY (run, ordinal),
    UNIQUE (run, preset, program, phase, target, parameters)
) STRICT, WITHOUT ROWID;

CREATE TABLE executions (
    run          TEXT NOT NULL REFERENCES runs (id),
    alternative  INTEGER NOT NULL,
    round        INTEGER NOT NULL,
    position     INTEGER NOT NULL,
    -- What happened, in the program's own words: cells are computed from it when the run goes on.
    performance  TEXT NOT NULL,
    fnv          INTEGER NOT NULL,
    PRIMARY KEY (run, alternative, round)
) STRICT, WITHOUT ROWID;
