//! The file of a store, changed at random: whatever it is, it is told, and nothing of it is believed that was not
//! stored.

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
    // All of it in one file.
    drop(store);
    let example = fs::read(&path).expect("its bytes");
    let read = move |input: &[u8]| {
        fs::write(&path, input).expect("a file");
        let said = look(&Store::open_to_read(&path), &run, &stored);
        // What SQLite puts beside it is of that input only.
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

/// What can be had of it. A run that is had is one that was stored: no letter of it is another.
fn look(store: &Result<Store, store::StoreError>, run: &str, stored: &Document) -> String {
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
