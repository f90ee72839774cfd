//! Files that are not stores, or are damaged, cause an error of the right kind and stay unchanged.

mod common;

use std::fs;
use std::path::Path;
use std::time::Duration;

use common::{begin, documents};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rusqlite::Connection;
use stats::Document;
use store::{Ending, RunState, Store, StoreError};

/// Opens the file for writing and for reading. Both must fail with the same message and leave all files unchanged.
fn refused(path: &Path) -> StoreError {
    let folder = path.parent().expect("a folder");
    let before = (testkit::names_in(folder), path.is_file().then(|| fs::read(path).expect("its bytes")));
    let error = Store::open(path, None).expect_err("it is no store");
    let reading = Store::open_to_read(path).expect_err("it is no store");
    assert_eq!(error.to_string(), reading.to_string());
    let after = (testkit::names_in(folder), path.is_file().then(|| fs::read(path).expect("its bytes")));
    assert!(before == after, "{error}: something was touched");
    error
}

#[test]
fn files_that_are_not_databases_are_foreign() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.sqlite");
    for (bytes, words) in
        [(Vec::new(), "empty"), (b"a letter".to_vec(), "not an SQLite"), (vec![0; 8192], "not an SQLite database")]
    {
        fs::write(&path, bytes).expect("a file");
        let error = refused(&path);
        assert!(matches!(error, StoreError::Foreign { .. }) && error.to_string().contains(words), "{error}");
    }
    // Not the temporary folder itself: other programs use the one above it.
    let below = folder.path().join("folder");
    fs::create_dir(&below).expect("a folder");
    assert!(matches!(refused(&below), StoreError::Foreign { .. }));
}

#[test]
fn the_database_of_another_program_is_foreign() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.sqlite");
    let other = Connection::open(&path).expect("a database");
    other.execute_batch("CREATE TABLE runs (id TEXT); PRAGMA user_version = 1;").expect("a table");
    drop(other);
    let error = refused(&path);
    assert!(matches!(error, StoreError::Foreign { .. }) && error.to_string().contains("another program"), "{error}");
}

#[test]
fn a_newer_store_is_refused_unchanged() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.sqlite");
    drop(Store::open(&path, None).expect("a store"));
    let newer = Connection::open(&path).expect("a database");
    newer.pragma_update(None, "user_version", 99).expect("a version");
    drop(newer);
    let error = refused(&path);
    assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error}");
}

#[test]
fn a_missing_store_is_created_only_for_writing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.sqlite");
    assert!(matches!(Store::open_to_read(&path), Err(StoreError::Missing(_))));
    assert!(matches!(Store::open(&folder.path().join("no/store.sqlite"), None), Err(StoreError::NoFolder(_))));
    assert_eq!(testkit::names_in(folder.path()), [""; 0]);
}

#[test]
fn a_lock_of_another_process_is_named_as_the_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.sqlite");
    let mut store = Store::open(&path, None).expect("a store");
    let other = Connection::open(&path).expect("a database");
    other.busy_timeout(Duration::ZERO).expect("no patience");
    other.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    let run = store::NewRun {
        command: &[],
        folder: Path::new("/"),
        request: None,
        plan: "",
        info: &common::info(),
        cells: &[],
        holder: "",
    };
    let error = store.begin(&run).expect_err("it is locked");
    assert!(matches!(error, StoreError::Locked(_)), "{error}");
    assert_eq!(Store::open_to_read(&path).and_then(|store| store.list()).map_err(|e| e.to_string()), Ok(Vec::new()));
    other.execute_batch("COMMIT").expect("no lock");
    store.begin(&run).expect("it is free again");
}

fn any_document() -> Document {
    let mut runner = TestRunner::deterministic();
    let big = documents().prop_filter("some cells", |document| document.cells.len() == 2);
    big.new_tree(&mut runner).expect("a document").current()
}

/// Damaged bits are detected, or are in unused bytes.
#[test]
fn damage_to_a_store_never_changes_results_unnoticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.sqlite");
    let document = any_document();
    let mut store = Store::open(&path, None).expect("a store");
    let run = begin(&mut store, &document.run, &document.cells, "me");
    let ending = Ending {
        state: RunState::Finished,
        ended_unix_s: 2e9,
        executions: &[],
        cells: Some(&document.cells),
        info: &document.run,
        errors: &document.errors,
    };
    store.end(&run, "me", &ending).expect("it is stored");
    drop(store);
    let whole = fs::read(&path).expect("its bytes");
    let mut corrupt = 0;
    // Every 37th byte: 37 is a prime, so all parts of a page are hit.
    for at in (0..whole.len()).step_by(37) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x11;
        fs::write(&path, bytes).expect("the damaged file");
        match Store::open_to_read(&path).and_then(|store| store.document(&run)) {
            Ok(told) => assert!(told == document, "byte {at} changed the story"),
            Err(StoreError::Corrupt { .. }) => corrupt += 1,
            Err(StoreError::Foreign { .. } | StoreError::Newer { .. }) if at < 100 => {}
            // The name of the run, or of a table.
            Err(StoreError::UnknownRun { .. } | StoreError::Sql { .. } | StoreError::ReadOnly(_)) => {}
            Err(error) => panic!("byte {at}: {error:?}"),
        }
    }
    assert!(corrupt > 100, "{corrupt} of the damages were noticed");
}
