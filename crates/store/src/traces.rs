//! Block traces, checks of predictions, and laws of devices.

use rusqlite::{Params, params};
use serde::de::DeserializeOwned;
use units::{Nanos, fnv1a};
use workload::BlockTrace;

use crate::checksummed_json::ChecksummedJson;
use crate::error::StoreError;
use crate::new_trace::NewTrace;
use crate::open::Store;
use crate::trace_blob::decode_trace;
use crate::write::Change;

/// A stored trace, without its requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceRow {
    /// The index of the alternative in the plan.
    pub alternative: u64,
    /// The number of the round, from 1.
    pub round: u32,
    /// True if the round does not count.
    pub discarded: bool,
    /// The name of the test.
    pub program: String,
    /// The name of the target.
    pub target: String,
    /// The name of the device; empty without a trace.
    pub device: String,
    /// Number of requests.
    pub requests: u64,
    /// Bytes that they read and wrote.
    pub bytes: u64,
    /// Discards and other commands, which are not in the trace.
    pub others: u64,
    /// Time from the start of the program until it and its writes had ended.
    pub elapsed: Nanos,
    /// Time in which the program waited for a processor, if known.
    pub ready: Option<Nanos>,
    /// The reason, if there is no trace.
    pub missing: Option<String>,
}

impl Store {
    /// The traces of a run, in the order of their rounds.
    pub fn traces(&self, run: &str) -> Result<Vec<TraceRow>, StoreError> {
        let sql = "SELECT alternative, round, discarded, program, target, device, requests, bytes, others, elapsed, \
                   ready, missing FROM traces WHERE run = ?1 ORDER BY alternative, round";
        self.rows(sql, [run], |row| {
            let nanos = |column| row.get::<_, i64>(column).map(|nanos| Nanos(nanos.cast_unsigned()));
            Ok(TraceRow {
                alternative: row.get(0)?,
                round: row.get(1)?,
                discarded: row.get(2)?,
                program: row.get(3)?,
                target: row.get(4)?,
                device: row.get(5)?,
                requests: row.get(6)?,
                bytes: row.get(7)?,
                others: row.get(8)?,
                elapsed: nanos(9)?,
                ready: row.get::<_, Option<i64>>(10)?.map(|nanos| Nanos(nanos.cast_unsigned())),
                missing: row.get(11)?,
            })
        })
    }

    /// The requests of one execution.
    pub fn trace(&self, run: &str, row: &TraceRow) -> Result<BlockTrace, StoreError> {
        let sql = "SELECT trace, fnv FROM traces WHERE run = ?1 AND alternative = ?2 AND round = ?3";
        let mut found = self.rows(sql, params![run, row.alternative, row.round], |row| {
            Ok((row.get::<_, Option<Vec<u8>>>(0)?.unwrap_or_default(), row.get::<_, Option<i64>>(1)?))
        })?;
        let (bytes, fnv) = found.pop().unwrap_or_default();
        let is_whole = fnv == Some(checksum(&bytes));
        let trace = if is_whole { decode_trace(&bytes) } else { None };
        trace.ok_or_else(|| self.corrupt(run, "a block trace", "it is damaged"))
    }

    /// Stores a check: the run that was predicted from, the run that was measured, the time in seconds since 1970, and
    /// the check, as an opaque text of the caller.
    pub fn add_check(&mut self, (run, measured): (&str, &str), made: f64, data: &str) -> Result<(), StoreError> {
        let json = ChecksummedJson::from_text(data.to_owned());
        self.change(|change| {
            change.execute(
                "INSERT INTO checks (run, measured_run, made_unix_s, data, fnv) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![run, measured, made, json.text, json.fnv],
            )
        })
    }

    /// All checks, the oldest first.
    pub fn checks<T: DeserializeOwned>(&self) -> Result<Vec<T>, StoreError> {
        self.chosen_checks("SELECT run, data, fnv FROM checks ORDER BY id", [])
    }

    /// The checks of predictions from a run, and those that it measured, the oldest first.
    pub fn checks_of<T: DeserializeOwned>(&self, run: &str) -> Result<Vec<T>, StoreError> {
        self.chosen_checks("SELECT run, data, fnv FROM checks WHERE run = ?1 OR measured_run = ?1 ORDER BY id", [run])
    }

    fn chosen_checks<T: DeserializeOwned>(&self, sql: &str, parameters: impl Params) -> Result<Vec<T>, StoreError> {
        let rows = self.rows(sql, parameters, |row| {
            Ok((row.get::<_, String>(0)?, ChecksummedJson { text: row.get(1)?, fnv: row.get(2)? }))
        })?;
        let parse =
            |(run, json): (String, ChecksummedJson)| json.parse().map_err(|what| self.corrupt(&run, "a check", &what));
        rows.into_iter().map(parse).collect()
    }

    /// Stores the law of a device, as the text of its file. It replaces an earlier law of the same device.
    pub fn put_law(&mut self, (host, device): (&str, &str), made: f64, text: &str) -> Result<(), StoreError> {
        let json = ChecksummedJson::from_text(text.to_owned());
        self.change(|change| {
            change.execute(
                "INSERT OR REPLACE INTO laws (host, device, made_unix_s, data, fnv) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![host, device, made, json.text, json.fnv],
            )
        })
    }

    /// The stored law of a device, as the text of its file.
    pub fn law(&self, host: &str, device: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT data, fnv FROM laws WHERE host = ?1 AND device = ?2";
        let mut rows =
            self.rows(sql, [host, device], |row| Ok(ChecksummedJson { text: row.get(0)?, fnv: row.get(1)? }))?;
        let Some(json) = rows.pop() else { return Ok(None) };
        json.verified_text().map(Some).map_err(|what| self.corrupt(device, "the law", &what))
    }
}

impl Change<'_> {
    /// Stores the trace of an execution. It replaces one that is there.
    pub(crate) fn put_trace(
        &self,
        run: &str,
        (alternative, round): (usize, u32),
        trace: &NewTrace,
    ) -> Result<(), StoreError> {
        let nanos = |nanos: Nanos| nanos.0.cast_signed();
        let bytes = trace.trace.as_ref().ok();
        self.execute(
            "INSERT OR REPLACE INTO traces (run, alternative, round, discarded, program, target, device, requests, \
             bytes, others, elapsed, ready, missing, trace, fnv) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            params![
                run,
                alternative as i64,
                round,
                trace.discarded,
                trace.program,
                trace.target,
                trace.device,
                trace.requests.cast_signed(),
                trace.bytes.cast_signed(),
                trace.others.cast_signed(),
                nanos(trace.elapsed),
                trace.ready.map(nanos),
                trace.trace.as_ref().err(),
                bytes,
                bytes.map(|bytes| checksum(bytes)),
            ],
        )
    }
}

fn checksum(bytes: &[u8]) -> i64 {
    fnv1a(bytes.iter().copied()).cast_signed()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use stats::RunInfo;
    use workload::{TapeKind, TracedRequest};

    use super::*;
    use crate::write::{Execution, NewRun, Progress};

    fn info() -> RunInfo {
        serde_json::from_str(include_str!("../tests/common/run.json")).expect("a run")
    }

    fn new_trace(trace: Result<Vec<u8>, String>) -> NewTrace {
        NewTrace {
            discarded: false,
            program: "tar".to_owned(),
            target: "/t".to_owned(),
            device: "vda".to_owned(),
            requests: 1,
            bytes: 4096,
            others: 0,
            elapsed: Nanos(2000),
            ready: None,
            trace,
        }
    }

    #[test]
    fn traces_are_stored_with_their_execution_and_deleted_with_their_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(&folder.path().join("store.sqlite"), None).expect("a store");
        let info = info();
        let new = NewRun {
            command: &[],
            folder: Path::new("/"),
            request: None,
            plan: "",
            info: &info,
            cells: &[],
            holder: "me",
        };
        let run = store.begin(&new).expect("room");
        let request = TracedRequest {
            issued: Nanos(5),
            completed: Nanos(1005),
            kind: TapeKind::Write,
            offset: 4096,
            bytes: 4096,
            bios: 1,
        };
        let trace = BlockTrace { requests: vec![request], elapsed: Nanos(2000) };
        let execution = |round, trace| Execution {
            alternative: 0,
            round,
            position: 1,
            performance: "{}".to_owned(),
            trace: Some(new_trace(trace)),
        };
        let executions = [execution(1, Ok(crate::encode_trace(&trace))), execution(2, Err("no tracefs".to_owned()))];
        let progress = Progress { executions: &executions, cells: &[], info: &info, plan: "" };
        store.save(&run, "me", &progress).expect("room");
        let rows = store.traces(&run).expect("rows");
        assert_eq!((rows.len(), rows[0].missing.as_deref(), rows[1].missing.as_deref()), (2, None, Some("no tracefs")));
        assert_eq!(store.trace(&run, &rows[0]).expect("whole"), trace);
        assert!(matches!(store.trace(&run, &rows[1]), Err(StoreError::Corrupt { .. })));
        store.connection.execute("UPDATE traces SET fnv = fnv + 1 WHERE round = 1", []).expect("SQL");
        assert!(matches!(store.trace(&run, &rows[0]), Err(StoreError::Corrupt { .. })));
        store.add_check((&run, "other"), 1.0, "[1]").expect("room");
        assert_eq!(store.checks::<Vec<u8>>().expect("checks"), [[1]]);
        let doomed = store.doomed(&run).expect("the run");
        store.delete(&[doomed]).expect("deleted");
        assert_eq!(store.traces(&run).expect("none"), []);
        assert!(store.checks::<Vec<u8>>().expect("none").is_empty());
    }

    #[test]
    fn the_last_law_of_a_device_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(&folder.path().join("store.sqlite"), None).expect("a store");
        assert_eq!(store.law("here", "vda").expect("none"), None);
        store.put_law(("here", "vda"), 1.0, "old").expect("room");
        store.put_law(("here", "vda"), 2.0, "new").expect("room");
        store.put_law(("there", "vda"), 2.0, "other").expect("room");
        assert_eq!(store.law("here", "vda").expect("a law").as_deref(), Some("new"));
    }
}
