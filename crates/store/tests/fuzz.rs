//! Random changes to the file of a store. Any file causes an error or a correct result; data that were not stored are
//! never returned.

mod common;

use std::fs;

use common::begin;
use stats::Document;
use store::{Ending, RunState, Store};
use testkit::fuzz::{Subject, fuzz};

#[test]
fn fuzz_stores() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.sqlite");
    let document: Document = serde_json::from_str(include_str!("../../../docs/quick.json")).expect("a document");
    let mut store = Store::open(&path, None).expect("a store");
    let cells = &document.cells[..2];
    let run = begin(&mut store, &document.run, cells, "me");
    let ending = Ending {
        state: RunState::Finished,
        ended_unix_s: 2e9,
        executions: &[],
        cells: Some(cells),
        info: &document.run,
        errors: &[],
    };
    store.end(&run, "me", &ending).expect("it is stored");
    begin(&mut store, &document.run, &cells[..1], "somebody");
    let stored = store.document(&run).expect("the run");
    // Dropping the store moves everything into one file.
    drop(store);
    let example = fs::read(&path).expect("its bytes");
    let read = move |input: &[u8]| {
        fs::write(&path, input).expect("a file");
        let said = read_all(&Store::open_to_read(&path), &run, &stored);
        // Files that SQLite created next to the store belong to this input only.
        for name in testkit::names_in(folder.path()) {
            fs::rename(folder.path().join(name), &path).expect("it gives way");
        }
        said
    };
    fuzz(&Subject::new("stores", [example], read).with_words(&[
        "runs",
        "cells",
        "CREATE TABLE",
        "{}",
        "null",
        "finished",
    ]));
}

/// Reads everything that can be read. A run that is returned must equal the stored run.
fn read_all(store: &Result<Store, store::StoreError>, run: &str, stored: &Document) -> String {
    let store = match store {
        Ok(store) => store,
        Err(error) => return bounded(&error.to_string()),
    };
    let listed = store.list().map_or_else(|error| bounded(&error.to_string()), |runs| format!("{} runs", runs.len()));
    let found = store.find("last").map_or_else(|error| bounded(&error.to_string()), |_| "a last one".to_owned());
    let document = match store.document(run) {
        Ok(document) => {
            assert_eq!(document.cells, stored.cells);
            assert_eq!(document.run.host, stored.run.host);
            "the run".to_owned()
        }
        Err(error) => bounded(&error.to_string()),
    };
    let left = store.left(run).map_or_else(|error| bounded(&error.to_string()), |left| format!("{:?}", left.state));
    format!("{listed}; {found}; {document}; {left}")
}

fn bounded(said: &str) -> String {
    assert!(said.len() < 100_000, "{} bytes are said", said.len());
    said.to_owned()
}
