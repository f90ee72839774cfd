-- Runs, their results so far, and the executions from which the results are computed.
--
-- Times are seconds since 1970. `fnv` is the FNV-1a checksum of the text in the column before it: SQLite checks the
-- structure of its pages, not their content.

-- "dprf": distinguishes a results database from the databases of other programs.
PRAGMA application_id = 0x64707266;

CREATE TABLE runs (
    id              TEXT NOT NULL PRIMARY KEY,
    state           TEXT NOT NULL CHECK (state IN ('running', 'finished', 'interrupted', 'failed')),
    -- The process that measures the run. If it was killed, it is still named here.
    holder          TEXT NOT NULL,
    started_unix_s  REAL NOT NULL,
    ended_unix_s    REAL,
    preset          TEXT,
    -- The words of the command, each with a zero byte after it, and the working directory of the command.
    command         BLOB NOT NULL,
    folder          BLOB NOT NULL,
    -- The plan so far, as an opaque text of the program. `resume` needs it.
    plan            TEXT NOT NULL,
    -- The fields `run` and `errors` of the document, each with its checksum.
    info            TEXT NOT NULL,
    info_fnv        INTEGER NOT NULL,
    errors          TEXT NOT NULL,
    errors_fnv      INTEGER NOT NULL,
    -- The number of cells, so that a missing cell is detected.
    cells           INTEGER NOT NULL
) STRICT;

CREATE INDEX runs_by_start ON runs (started_unix_s);

CREATE TABLE cells (
    run         TEXT NOT NULL REFERENCES runs (id),
    -- The position of the cell in the document.
    ordinal     INTEGER NOT NULL,
    -- The key of the cell: these five columns together are unique in a run.
    preset      TEXT NOT NULL,
    program     TEXT NOT NULL,
    phase       TEXT NOT NULL,
    target      TEXT NOT NULL,
    parameters  TEXT NOT NULL,
    measured    INTEGER NOT NULL CHECK (measured IN (0, 1)),
    per_second  REAL,
    -- The whole cell as JSON.
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
    -- The result of the execution, as an opaque text of the program. `resume` computes cells from it.
    performance  TEXT NOT NULL,
    fnv          INTEGER NOT NULL,
    PRIMARY KEY (run, alternative, round)
) STRICT, WITHOUT ROWID;
