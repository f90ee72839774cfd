//! Writes runs: at their start, after each execution, at their end, and when another process resumes them. Each write
//! is one transaction, on the device when it returns.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior, params};
use stats::{Cell, Problem, RunInfo};

use crate::checksummed_json::ChecksummedJson;
use crate::error::StoreError;
use crate::new_trace::NewTrace;
use crate::open::Store;
use crate::{RunState, run_id};

/// The data of a run before its first round.
#[derive(Clone, Copy, Debug)]
pub struct NewRun<'a> {
    /// The command, one element per argument.
    pub command: &'a [OsString],
    /// The working directory of the command.
    pub folder: &'a Path,
    /// The request, as an opaque text of the caller; `None` if the run cannot be resumed.
    pub request: Option<&'a str>,
    /// The plan so far, as an opaque text of the caller.
    pub plan: &'a str,
    /// The description of the run: what is run, where and how.
    pub info: &'a RunInfo,
    /// All planned cells, none of them measured.
    pub cells: &'a [Cell],
    /// The process that measures the run, as an opaque text of the caller.
    pub holder: &'a str,
}

/// One execution of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// The index of the alternative in the plan.
    pub alternative: usize,
    /// The number of the round, from 1.
    pub round: u32,
    /// The position in the order of the round, from 1.
    pub position: u32,
    /// The result of the execution, as an opaque text of the caller.
    pub performance: String,
    /// The recorded requests, if they were recorded. They stay when the run is finished.
    pub trace: Option<NewTrace>,
}

/// The changes of a run since the last save.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The executions finished since.
    pub executions: &'a [Execution],
    /// The cells that they changed, with their indexes in the document.
    pub cells: &'a [(usize, Cell)],
    /// The description of the run so far.
    pub info: &'a RunInfo,
    /// The plan so far, as an opaque text of the caller.
    pub plan: &'a str,
}

/// The end of a run, or of the part of it that one process ran.
#[derive(Clone, Copy, Debug)]
pub struct Ending<'a> {
    /// The state of the run.
    pub state: RunState,
    /// The time of the end, in seconds since 1970.
    pub ended_unix_s: f64,
    /// The executions that are not saved yet.
    pub executions: &'a [Execution],
    /// All cells; `None` keeps the stored ones, if the run did not compute any.
    pub cells: Option<&'a [Cell]>,
    /// The description of the run.
    pub info: &'a RunInfo,
    /// The errors of the run.
    pub errors: &'a [Problem],
}

/// The most identifiers drawn before the random source is considered broken. A guess: with a thousand runs on one day,
/// one identifier in 810 is in use.
const DRAWS: u32 = 20;

impl Store {
    /// Stores a new run and returns its identifier.
    pub fn begin(&mut self, run: &NewRun) -> Result<String, StoreError> {
        let path = self.path.clone();
        let draw = || {
            run_id::draw(run.info.started_unix_s)
                .map_err(|source| StoreError::io("get a random run id for", &path, source))
        };
        self.change(|change| {
            let mut name = draw()?;
            for _ in 0..DRAWS {
                if !change.has("SELECT 1 FROM runs WHERE id = ?1", &name)? {
                    break;
                }
                name = draw()?;
            }
            let (info, errors) =
                (ChecksummedJson::serialize(run.info), ChecksummedJson::serialize::<[Problem; 0]>(&[]));
            let request = run.request.map(|request| ChecksummedJson::from_text(request.to_owned()));
            change.execute(
                "INSERT INTO runs (id, state, holder, started_unix_s, preset, command, folder, plan, info, info_fnv, \
                 errors, errors_fnv, cells, request, request_fnv) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
                params![
                    name,
                    RunState::Running.name(),
                    run.holder,
                    run.info.started_unix_s,
                    run.info.preset,
                    joined(run.command),
                    run.folder.as_os_str().as_bytes(),
                    run.plan,
                    info.text,
                    info.fnv,
                    errors.text,
                    errors.fnv,
                    run.cells.len() as i64,
                    request.as_ref().map(|request| &request.text),
                    request.as_ref().map(|request| request.fnv),
                ],
            )?;
            for (ordinal, cell) in run.cells.iter().enumerate() {
                change.put_cell(&name, ordinal, cell)?;
            }
            Ok(name)
        })
    }

    /// Stores the progress of a run. Refuses if another process has resumed the run, so that `holder` is no longer its
    /// holder.
    pub fn save(&mut self, run: &str, holder: &str, progress: &Progress) -> Result<(), StoreError> {
        self.change(|change| {
            change.check_holder(run, holder)?;
            change.put_executions(run, progress.executions)?;
            for (ordinal, cell) in progress.cells {
                change.put_cell(run, *ordinal, cell)?;
            }
            let info = ChecksummedJson::serialize(progress.info);
            change.execute(
                "UPDATE runs SET info = ?2, info_fnv = ?3, plan = ?4 WHERE id = ?1",
                params![run, info.text, info.fnv, progress.plan],
            )
        })
    }

    /// Stores the end of a run with all its cells, which may differ from the planned ones.
    pub fn end(&mut self, run: &str, holder: &str, ending: &Ending) -> Result<(), StoreError> {
        self.change(|change| {
            change.check_holder(run, holder)?;
            change.put_executions(run, ending.executions)?;
            // A finished run keeps its rounds in its cells, so its executions are not needed any more.
            if ending.state == RunState::Finished {
                change.execute("DELETE FROM executions WHERE run = ?1", params![run])?;
            }
            if let Some(cells) = ending.cells {
                change.execute("DELETE FROM cells WHERE run = ?1", params![run])?;
                for (ordinal, cell) in cells.iter().enumerate() {
                    change.put_cell(run, ordinal, cell)?;
                }
            }
            let info = ChecksummedJson::serialize(ending.info);
            let errors = ChecksummedJson::serialize(&ending.errors);
            change.execute(
                "UPDATE runs SET state = ?2, ended_unix_s = ?3, info = ?4, info_fnv = ?5, errors = ?6, \
                 errors_fnv = ?7, cells = coalesce(?8, cells) WHERE id = ?1",
                params![
                    run,
                    ending.state.name(),
                    ending.ended_unix_s,
                    info.text,
                    info.fnv,
                    errors.text,
                    errors.fnv,
                    ending.cells.map(|cells| cells.len() as i64)
                ],
            )
        })
    }

    /// Makes `holder` the holder of a run, if `before` still is.
    pub fn claim(&mut self, run: &str, before: &str, holder: &str) -> Result<(), StoreError> {
        self.change(|change| {
            change.check_holder(run, before)?;
            let none = ChecksummedJson::serialize::<[Problem; 0]>(&[]);
            change.execute(
                "UPDATE runs SET holder = ?2, state = ?3, ended_unix_s = NULL, errors = ?4, errors_fnv = ?5 \
                 WHERE id = ?1",
                params![run, holder, RunState::Running.name(), none.text, none.fnv],
            )
        })
    }

    /// Runs a transaction: all changes of `what` are committed, or none.
    pub(crate) fn change<T>(&mut self, what: impl FnOnce(&Change) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let path = &self.path;
        let fault = |error| StoreError::sql(path, error);
        // The lock is taken first: a transaction that begins with a read could fail later because another process has
        // written meanwhile.
        let transaction = begin(&mut self.connection).map_err(fault)?;
        let change = Change { transaction, path };
        let done = what(&change)?;
        change.transaction.commit().map_err(fault)?;
        Ok(done)
    }
}

fn begin(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

/// A transaction. It is rolled back if it is dropped before the commit.
pub(crate) struct Change<'a> {
    transaction: Transaction<'a>,
    path: &'a Path,
}

impl Change<'_> {
    pub(crate) fn execute(&self, sql: &str, values: impl rusqlite::Params) -> Result<(), StoreError> {
        self.transaction.execute(sql, values).map(drop).map_err(|error| StoreError::sql(self.path, error))
    }

    fn has(&self, sql: &str, value: &str) -> Result<bool, StoreError> {
        let mut rows = self.transaction.prepare(sql).map_err(|error| StoreError::sql(self.path, error))?;
        rows.exists([value]).map_err(|error| StoreError::sql(self.path, error))
    }

    pub(crate) fn check_holder(&self, run: &str, holder: &str) -> Result<(), StoreError> {
        let sql = "SELECT holder FROM runs WHERE id = ?1";
        let found = self.transaction.query_row(sql, [run], |row| row.get::<_, String>(0));
        match found {
            Ok(found) if found == holder => Ok(()),
            Ok(_) => Err(StoreError::Taken(run.to_owned())),
            Err(rusqlite::Error::QueryReturnedNoRows) => {
                Err(StoreError::UnknownRun { typed: run.to_owned(), near: Vec::new() })
            }
            Err(error) => Err(StoreError::sql(self.path, error)),
        }
    }

    /// Fails if an execution is already stored: another process did it.
    fn put_executions(&self, run: &str, executions: &[Execution]) -> Result<(), StoreError> {
        for execution in executions {
            let json = ChecksummedJson::from_text(execution.performance.clone());
            let put = self.transaction.execute(
                "INSERT INTO executions (run, alternative, round, position, performance, fnv) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![run, execution.alternative as i64, execution.round, execution.position, json.text, json.fnv],
            );
            put.map_err(|error| match error.sqlite_error_code() {
                Some(ErrorCode::ConstraintViolation) => StoreError::Taken(run.to_owned()),
                _ => StoreError::sql(self.path, error),
            })?;
            if let Some(trace) = &execution.trace {
                self.put_trace(run, (execution.alternative, execution.round), trace)?;
            }
        }
        Ok(())
    }

    fn put_cell(&self, run: &str, ordinal: usize, cell: &Cell) -> Result<(), StoreError> {
        let json = ChecksummedJson::serialize(cell);
        self.execute(
            "INSERT INTO cells (run, ordinal, preset, program, phase, target, parameters, measured, per_second, cell, \
             fnv) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT (run, ordinal) DO UPDATE SET \
             preset = excluded.preset, program = excluded.program, phase = excluded.phase, target = excluded.target, \
             parameters = excluded.parameters, measured = excluded.measured, per_second = excluded.per_second, \
             cell = excluded.cell, fnv = excluded.fnv",
            params![
                run,
                ordinal as i64,
                cell.preset,
                cell.program,
                cell.phase,
                cell.target,
                serde_json::to_string(&cell.parameters).expect("plain data"),
                cell.measured,
                cell.rate.as_ref().map(|rate| rate.per_second),
                json.text,
                json.fnv,
            ],
        )
    }
}

/// Joins words, each with a zero byte after it. A word cannot contain one.
pub(crate) fn joined(words: &[OsString]) -> Vec<u8> {
    words.iter().flat_map(|word| word.as_bytes().iter().copied().chain([0])).collect()
}

/// Splits the joined words.
pub(crate) fn split(bytes: &[u8]) -> Vec<OsString> {
    let mut words: Vec<OsString> = bytes.split(|byte| *byte == 0).map(|word| OsStr::from_bytes(word).into()).collect();
    // Only an empty rest follows the last zero byte.
    words.pop();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_words_are_read_back_byte_by_byte() {
        for words in [&[][..], &[""], &["diskperf", "", "a b"], &["\u{e9}"]] {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            assert_eq!(split(&joined(&words)), words);
        }
        let odd = vec![OsString::from(OsStr::from_bytes(b"\xff\x01"))];
        assert_eq!(split(&joined(&odd)), odd);
    }
}
