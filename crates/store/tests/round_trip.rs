//! Any data that are stored are returned unchanged.

mod common;

use common::{begin, documents};
use proptest::prelude::*;
use stats::Document;
use store::{Ending, Execution, Progress, RunState, Store, StoreError};

fn ending(document: &Document, state: RunState) -> Ending<'_> {
    Ending {
        state,
        ended_unix_s: 2e9,
        executions: &[],
        cells: Some(&document.cells),
        info: &document.run,
        errors: &document.errors,
    }
}

proptest! {
    // Each case writes to a disk.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn documents_are_read_back_unchanged(document in documents(), planned in documents()) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store.sqlite");
        let mut store = Store::open(&path, None).expect("a store");
        let run = begin(&mut store, &planned.run, &planned.cells, "me");
        store.end(&run, "me", &ending(&document, RunState::Finished)).expect("it is stored");
        prop_assert_eq!(store.document(&run).expect("the run"), document.clone());
        drop(store);
        let store = Store::open_to_read(&path).expect("a store");
        prop_assert_eq!(store.document(&run).expect("the run"), document);
    }

    #[test]
    fn executions_are_read_back_in_the_order_they_ran(
        texts in proptest::collection::vec(any::<String>(), 1..8),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(&folder.path().join("store.sqlite"), None).expect("a store");
        let run = begin(&mut store, &common::info(), &[], "me");
        let all: Vec<Execution> = texts
            .into_iter()
            .enumerate()
            .map(|(index, performance)| Execution {
                // Two alternatives, whose order changes with each round.
                alternative: (index + index / 2) % 2,
                round: index as u32 / 2 + 1,
                position: index as u32 % 2 + 1,
                performance,
                trace: None,
            })
            .collect();
        for execution in &all {
            let executions = std::slice::from_ref(execution);
            let progress = Progress { executions, cells: &[], info: &common::info(), plan: "a plan" };
            store.save(&run, "me", &progress).expect("it is stored");
        }
        let left = store.left(&run).expect("the run");
        prop_assert_eq!(&left.executions, &all);
        prop_assert_eq!((left.plan.as_str(), left.command.len()), ("a plan", 3));
        let again = Progress { executions: &all[..1], cells: &[], info: &common::info(), plan: "a plan" };
        prop_assert!(matches!(store.save(&run, "me", &again), Err(StoreError::Taken(_))), "none is stored twice");
    }
}

#[test]
fn a_run_is_found_by_its_id_its_name_or_a_unique_prefix() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::open(&folder.path().join("store.sqlite"), None).expect("a store");
    assert!(matches!(store.find("last"), Err(StoreError::UnknownRun { .. })));
    let runs: Vec<String> = (0..40).map(|_| begin(&mut store, &common::info(), &[], "me")).collect();
    assert_eq!(store.list().expect("runs").into_iter().map(|run| run.id).collect::<Vec<_>>(), runs);
    assert_eq!(store.find("last").expect("a run"), runs[39]);
    for run in &runs {
        assert_eq!(store.find(run).expect("the run"), *run);
        let begins = |length: usize| runs.iter().filter(|other| other[..length] == run[..length]).count();
        for length in 1..=4 {
            let found = store.find(&run[..length]);
            match begins(length) {
                1 => assert_eq!(found.expect("the only one"), *run),
                several => {
                    assert!(matches!(found, Err(StoreError::Ambiguous { runs, .. }) if runs.len() == several));
                }
            }
        }
    }
    let nearly = format!("{}u{}", &runs[7][..1], &runs[7][2..]);
    let Err(StoreError::UnknownRun { near, .. }) = store.find(&nearly) else { panic!("{nearly} is no run") };
    assert!(near.contains(&runs[7]), "{nearly}: {near:?}");
    // A name goes before the beginning of an id.
    let typed = &runs[0][..1];
    let mut info = common::info();
    info.name = Some(typed.to_owned());
    let named = begin(&mut store, &info, &[], "me");
    assert_eq!(store.find(typed).expect("the named run"), named);
}

#[test]
fn only_the_holder_of_a_run_writes_to_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::open(&folder.path().join("store.sqlite"), None).expect("a store");
    let run = begin(&mut store, &common::info(), &[], "first");
    assert!(matches!(store.claim(&run, "nobody", "second"), Err(StoreError::Taken(_))));
    store.claim(&run, "first", "second").expect("it is given on");
    let progress = Progress { executions: &[], cells: &[], info: &common::info(), plan: "a plan" };
    assert!(matches!(store.save(&run, "first", &progress), Err(StoreError::Taken(_))));
    store.save(&run, "second", &progress).expect("it is stored");
    let document = store.document(&run).expect("the run");
    assert!(document.run.interrupted, "it has not ended");
    assert!(matches!(store.claim("none", "first", "second"), Err(StoreError::UnknownRun { .. })));
}
