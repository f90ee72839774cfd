//! Deleting runs: all that are named or none, and then the space that they took.
//!
//! Policy:
//!   1. one transaction: after a crash either all of them are there or none is;
//!   2. what is freed is overwritten with zeros (`secure_delete`): nothing of a run that is gone can be read in the
//!      file;
//!   3. the file is made smaller (`VACUUM`, then the log is emptied) in a step of its own, which needs the store for
//!      itself and room for a copy. Where it fails the runs are gone all the same, and later runs use the space.

use rusqlite::params;

use crate::RunState;
use crate::error::StoreError;
use crate::open::Store;

/// A run that may be deleted, as it was when that was decided. Of one that is damaged this can be read too.
#[derive(Clone, Debug, PartialEq)]
pub struct Doomed {
    /// How it is called.
    pub id: String,
    /// How far it came.
    pub state: RunState,
    /// The process that measures, or did, in its own words.
    pub holder: String,
    /// What it ran.
    pub preset: Option<String>,
}

impl Store {
    /// What decides whether a run may be deleted.
    pub fn doomed(&self, run: &str) -> Result<Doomed, StoreError> {
        let sql = "SELECT state, holder, preset FROM runs WHERE id = ?1";
        let (state, holder, preset): (String, _, _) =
            self.row(run, sql, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(Doomed { id: run.to_owned(), state: self.state(run, &state)?, holder, preset })
    }

    /// Deletes these runs, if none has got another holder meanwhile.
    pub fn delete(&mut self, runs: &[Doomed]) -> Result<(), StoreError> {
        // 2
        self.set("secure_delete", "ON")?;
        // 1
        self.change(|change| {
            for run in runs {
                change.check_holder(&run.id, &run.holder)?;
                for sql in [
                    "DELETE FROM executions WHERE run = ?1",
                    "DELETE FROM cells WHERE run = ?1",
                    "DELETE FROM runs WHERE id = ?1",
                ] {
                    change.execute(sql, params![run.id])?;
                }
            }
            Ok(())
        })?;
        // From the log into the file, as far as no other process reads the store: its last one does the rest.
        self.checkpoint("PASSIVE")
    }

    /// The processes that measure runs, or did when they were killed, in their own words.
    pub fn holders(&self) -> Result<Vec<String>, StoreError> {
        self.rows("SELECT holder FROM runs WHERE state = ?1", [RunState::Running.name()], |row| row.get(0))
    }

    /// Gives the space of deleted runs back to the file system.
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
