//! Reads runs: a list of them, one run by its name, its document, and the data to resume it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rusqlite::{Params, Row};
use stats::{Cell, Document, Problem, RunInfo, SCHEMA};

use crate::checksummed_json::ChecksummedJson;
use crate::error::StoreError;
use crate::open::Store;
use crate::write::{Execution, split};
use crate::{RunState, run_id};

/// A run in the list of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// The identifier of the run.
    pub id: String,
    /// The state of the run.
    pub state: RunState,
    /// The process that measures the run, or did, as an opaque text of the caller.
    pub holder: String,
    /// The end of the run, in seconds since 1970; `None` if the run did not store it.
    pub ended_unix_s: Option<f64>,
    /// The description of the run: what was run, where and how.
    pub info: RunInfo,
    /// The number of cells.
    pub cells: u64,
    /// The number of measured cells.
    pub measured: u64,
}

/// A cell with the description of its run.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCell {
    /// The identifier of the run.
    pub run: String,
    /// The working directory of its command.
    pub folder: PathBuf,
    /// The description of the run: what was run, where and how.
    pub info: RunInfo,
    /// The cell.
    pub cell: Cell,
}

/// The data to resume a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Left {
    /// The state of the run.
    pub state: RunState,
    /// The process that measured the run, as an opaque text of the caller.
    pub holder: String,
    /// The command, one element per argument.
    pub command: Vec<OsString>,
    /// The working directory of the command.
    pub folder: PathBuf,
    /// The request, as an opaque text of the caller; `None` if the run was stored without it.
    pub request: Option<String>,
    /// The plan, as an opaque text of the caller.
    pub plan: String,
    /// The description of the run so far: what was run, where and how.
    pub info: RunInfo,
    /// The finished executions, in order.
    pub executions: Vec<Execution>,
}

/// The word that selects the run that began last.
pub const LAST: &str = "last";

impl Store {
    /// Returns all runs, in the order in which they began.
    pub fn list(&self) -> Result<Vec<Listed>, StoreError> {
        let sql = "SELECT id, state, holder, ended_unix_s, info, info_fnv, \
                   (SELECT count(*) FROM cells WHERE run = id), \
                   (SELECT count(*) FROM cells WHERE run = id AND measured = 1) \
                   FROM runs ORDER BY started_unix_s, rowid";
        let rows = self.rows(sql, [], |row| {
            let (id, state): (String, String) = (row.get(0)?, row.get(1)?);
            let (holder, ended_unix_s) = (row.get(2)?, row.get(3)?);
            let counts: (u64, u64) = (row.get(6)?, row.get(7)?);
            Ok((id, state, holder, ended_unix_s, json_at(row, 4)?, counts))
        })?;
        let listed = rows.into_iter().map(|(id, state, holder, ended_unix_s, info, (cells, measured))| {
            let state = self.state(&id, &state)?;
            let info = self.opened(&id, "description", info)?;
            Ok(Listed { id, state, holder, ended_unix_s, info, cells, measured })
        });
        listed.collect()
    }

    /// Returns the identifier of a run. `typed` is an identifier, a name, a unique beginning of an identifier, or
    /// `last`. The latest run of a name counts, also if an identifier begins with that name.
    pub fn find(&self, typed: &str) -> Result<String, StoreError> {
        let names: Vec<String> =
            self.rows("SELECT id FROM runs ORDER BY started_unix_s, rowid", [], |row| row.get(0))?;
        if typed == LAST {
            return names.last().cloned().ok_or_else(|| unknown(typed, &names));
        }
        if let Some(name) = names.iter().find(|name| *name == typed) {
            return Ok(name.clone());
        }
        // A damaged description that is not JSON has no name.
        let named = "SELECT id FROM runs WHERE json_valid(info) AND json_extract(info, '$.name') = ?1 \
                     ORDER BY started_unix_s, rowid";
        let named: Option<String> = self.rows(named, [typed], |row| row.get(0))?.pop();
        if let Some(run) = named {
            return Ok(run);
        }
        let mut begins: Vec<String> = names.iter().filter(|name| name.starts_with(typed)).cloned().collect();
        match begins.len() {
            1 if !typed.is_empty() => Ok(begins.remove(0)),
            0 | 1 => Err(unknown(typed, &names)),
            _ => Err(StoreError::Ambiguous { typed: typed.to_owned(), runs: begins }),
        }
    }

    /// Returns the document of a run. A run that has not ended is marked as interrupted.
    pub fn document(&self, run: &str) -> Result<Document, StoreError> {
        let sql = "SELECT state, info, info_fnv, errors, errors_fnv, cells FROM runs WHERE id = ?1";
        let (state, info, errors, count): (String, ChecksummedJson, ChecksummedJson, usize) =
            self.row(run, sql, |row| Ok((row.get(0)?, json_at(row, 1)?, json_at(row, 3)?, row.get(5)?)))?;
        let mut info: RunInfo = self.opened(run, "description", info)?;
        // A document that was stored as a whole already has its checks.
        if info.checks.is_empty() {
            info.checks = self.checks_of(run)?;
        }
        info.interrupted |= matches!(self.state(run, &state)?, RunState::Running | RunState::Interrupted);
        let errors: Vec<Problem> = self.opened(run, "errors", errors)?;
        let cells =
            self.rows("SELECT cell, fnv FROM cells WHERE run = ?1 ORDER BY ordinal", [run], |row| json_at(row, 0))?;
        let cells: Vec<Cell> =
            cells.into_iter().map(|cell| self.opened(run, "a cell", cell)).collect::<Result<_, StoreError>>()?;
        if cells.len() != count {
            return Err(self.corrupt(run, "its cells", &format!("{} of {count} are there", cells.len())));
        }
        Ok(Document { schema: SCHEMA.to_owned(), run: info, cells, errors })
    }

    /// Returns every program and phase of which any run has a cell.
    pub fn programs(&self) -> Result<Vec<(String, String)>, StoreError> {
        let sql = "SELECT DISTINCT program, phase FROM cells ORDER BY program, phase";
        self.rows(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Returns the cells of a program's phase in all runs, in the order in which the runs began.
    pub fn cells(&self, program: &str, phase: &str) -> Result<Vec<StoredCell>, StoreError> {
        let sql = "SELECT runs.id, runs.folder, runs.info, runs.info_fnv, cells.cell, cells.fnv \
                   FROM cells JOIN runs ON runs.id = cells.run WHERE cells.program = ?1 AND cells.phase = ?2 \
                   ORDER BY runs.started_unix_s, runs.rowid, cells.ordinal";
        let rows = self.rows(sql, [program, phase], |row| {
            let (run, folder): (String, Vec<u8>) = (row.get(0)?, row.get(1)?);
            Ok((run, folder, json_at(row, 2)?, json_at(row, 4)?))
        })?;
        let cells = rows.into_iter().map(|(run, folder, info, cell)| {
            let info = self.opened(&run, "description", info)?;
            let cell = self.opened(&run, "a cell", cell)?;
            Ok(StoredCell { run, folder: PathBuf::from(OsStr::from_bytes(&folder)), info, cell })
        });
        cells.collect()
    }

    /// Returns the data to resume a run.
    pub fn left(&self, run: &str) -> Result<Left, StoreError> {
        let sql = "SELECT state, holder, command, folder, plan, info, info_fnv, request, request_fnv FROM runs \
                   WHERE id = ?1";
        let (state, holder, command, folder, plan, info, request) = self.row(run, sql, |row| {
            let state: String = row.get(0)?;
            let (command, folder): (Vec<u8>, Vec<u8>) = (row.get(2)?, row.get(3)?);
            Ok((state, row.get(1)?, command, folder, row.get(4)?, json_at(row, 5)?, optional_json(row, 7)?))
        })?;
        let request = request.map(ChecksummedJson::verified_text).transpose();
        let sql = "SELECT alternative, round, position, performance, fnv FROM executions WHERE run = ?1 \
                   ORDER BY round, position";
        let rows = self.rows(sql, [run], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, json_at(row, 3)?)))?;
        let executions = rows.into_iter().map(|(alternative, round, position, performance)| {
            let performance = performance.verified_text().map_err(|what| self.corrupt(run, "an execution", &what))?;
            Ok(Execution { alternative, round, position, performance, trace: None })
        });
        Ok(Left {
            state: self.state(run, &state)?,
            holder,
            command: split(&command),
            folder: PathBuf::from(OsStr::from_bytes(&folder)),
            request: request.map_err(|what| self.corrupt(run, "the request", &what))?,
            plan,
            info: self.opened(run, "description", info)?,
            executions: executions.collect::<Result<_, StoreError>>()?,
        })
    }

    pub(crate) fn state(&self, run: &str, name: &str) -> Result<RunState, StoreError> {
        RunState::named(name).ok_or_else(|| self.corrupt(run, "its state", name))
    }

    fn opened<T: serde::de::DeserializeOwned>(
        &self,
        run: &str,
        part: &str,
        json: ChecksummedJson,
    ) -> Result<T, StoreError> {
        json.parse().map_err(|what| self.corrupt(run, part, &what))
    }

    pub(crate) fn corrupt(&self, run: &str, part: &str, what: &str) -> StoreError {
        StoreError::Corrupt { path: self.path.clone(), what: format!("{part} of run {run}: {what}") }
    }

    pub(crate) fn row<T>(
        &self,
        run: &str,
        sql: &str,
        read: impl FnMut(&Row) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let mut rows = self.rows(sql, [run], read)?;
        rows.pop().ok_or_else(|| unknown(run, &[]))
    }

    pub(crate) fn rows<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let read = || self.connection.prepare(sql)?.query_map(values, read)?.collect::<rusqlite::Result<Vec<T>>>();
        read().map_err(|error| self.fault(error))
    }
}

fn json_at(row: &Row, column: usize) -> rusqlite::Result<ChecksummedJson> {
    Ok(ChecksummedJson { text: row.get(column)?, fnv: row.get(column + 1)? })
}

/// Reads a text and its checksum from two columns that may be NULL.
fn optional_json(row: &Row, column: usize) -> rusqlite::Result<Option<ChecksummedJson>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| Ok(ChecksummedJson { text, fnv: row.get(column + 1)? })).transpose()
}

fn unknown(typed: &str, names: &[String]) -> StoreError {
    StoreError::UnknownRun { typed: typed.to_owned(), near: run_id::near(typed, names) }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rusqlite::params;

    use super::*;
    use crate::schema::STEPS;
    use crate::write::NewRun;

    fn info() -> RunInfo {
        serde_json::from_str(include_str!("../tests/common/run.json")).expect("a run")
    }

    #[test]
    fn runs_of_the_first_schema_have_no_request() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store.sqlite");
        let old = Store::open_as(&path, None, &STEPS[..1]).expect("a store");
        let (info, errors) = (ChecksummedJson::serialize(&info()), ChecksummedJson::serialize::<[Problem; 0]>(&[]));
        let sql = "INSERT INTO runs (id, state, holder, started_unix_s, command, folder, plan, info, info_fnv, errors, \
                   errors_fnv, cells) VALUES ('old', 'interrupted', 'me', 1.0, x'', x'2f', '', ?1, ?2, ?3, ?4, 0)";
        let values = params![info.text, info.fnv, errors.text, errors.fnv];
        assert_eq!(old.connection.execute(sql, values).expect("SQL"), 1);
        drop(old);
        let left = Store::open(&path, None).and_then(|store| store.left("old")).expect("the run");
        assert_eq!((left.state, left.request), (RunState::Interrupted, None));
    }

    #[test]
    fn requests_are_read_back_unchanged() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(&folder.path().join("store.sqlite"), None).expect("a store");
        let request = Some("{\"size\":8192}");
        let (folder, info) = (Path::new("/"), &info());
        let new = NewRun { command: &[], folder, request, plan: "", info, cells: &[], holder: "me" };
        let run = store.begin(&new).expect("room for a run");
        assert_eq!(store.left(&run).expect("the run").request.as_deref(), request);
        let sql = "UPDATE runs SET request = replace(request, '8', '9')";
        assert_eq!(store.connection.execute(sql, []).expect("SQL"), 1);
        assert!(matches!(store.left(&run), Err(StoreError::Corrupt { .. })));
    }
}
