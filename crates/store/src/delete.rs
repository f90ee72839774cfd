//! Deletes runs: all named runs or none, and then frees their space.
//!
//! Policy:
//!   1. one transaction: after a crash, either all of the runs exist or none does;
//!   2. freed pages are overwritten with zeros (policy 7 of `open`). Copies of parts of a run can remain: SQLite moves
//!      rows to other pages, and does not overwrite the gaps of pages that stay in use;
//!   3. the file is made smaller (`VACUUM`, then the log is emptied) in a separate step, which needs the store
//!      exclusively and room for a copy. After it, the file contains nothing of a deleted run. If this step fails, the
//!      runs are deleted all the same, and later runs use the space.

use rusqlite::params;

use crate::RunState;
use crate::error::StoreError;
use crate::open::Store;

/// A run to be deleted, in the state in which that was decided. It can be read even if the run is damaged.
#[derive(Clone, Debug, PartialEq)]
pub struct Doomed {
    /// The identifier of the run.
    pub id: String,
    /// The state of the run.
    pub state: RunState,
    /// The process that measures the run, or did, as an opaque text of the caller.
    pub holder: String,
    /// The preset of the run.
    pub preset: Option<String>,
}

impl Store {
    /// Returns the data that decide whether a run may be deleted.
    pub fn doomed(&self, run: &str) -> Result<Doomed, StoreError> {
        let sql = "SELECT state, holder, preset FROM runs WHERE id = ?1";
        let (state, holder, preset): (String, _, _) =
            self.row(run, sql, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(Doomed { id: run.to_owned(), state: self.state(run, &state)?, holder, preset })
    }

    /// Deletes these runs. Refuses if another process has become the holder of any of them.
    pub fn delete(&mut self, runs: &[Doomed]) -> Result<(), StoreError> {
        // 1
        self.change(|change| {
            for run in runs {
                change.check_holder(&run.id, &run.holder)?;
                for sql in [
                    "DELETE FROM executions WHERE run = ?1",
                    "DELETE FROM cells WHERE run = ?1",
                    "DELETE FROM traces WHERE run = ?1",
                    "DELETE FROM checks WHERE run = ?1 OR measured_run = ?1",
                    "DELETE FROM runs WHERE id = ?1",
                ] {
                    change.execute(sql, params![run.id])?;
                }
            }
            Ok(())
        })?;
        // Moves the changes from the log into the file, unless another process reads the store; the last process to
        // close the store then does it.
        self.checkpoint("PASSIVE")
    }

    /// Returns the processes that measure runs, or did when they were killed, as opaque texts of the callers.
    pub fn holders(&self) -> Result<Vec<String>, StoreError> {
        self.rows("SELECT holder FROM runs WHERE state = ?1", [RunState::Running.name()], |row| row.get(0))
    }

    /// Returns the space of deleted runs to the file system.
    pub fn shrink(&mut self) -> Result<(), StoreError> {
        // 3
        self.connection.execute_batch("VACUUM").map_err(|error| self.fault(error))?;
        self.checkpoint("TRUNCATE")
    }

    fn checkpoint(&self, how: &str) -> Result<(), StoreError> {
        let done = self.connection.query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |_| Ok(()));
        done.map_err(|error| self.fault(error))
    }
}
