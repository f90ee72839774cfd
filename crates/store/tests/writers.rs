//! Several processes that write at the same time, and one that is killed while it writes.

mod common;

use std::env;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use common::{begin, info};
use store::{Execution, Progress, Store, StoreError};

/// The environment variable with the path of the child's store.
const STORE: &str = "STORE_OF_THE_CHILD";

fn execution(round: u32) -> Execution {
    Execution {
        alternative: 0,
        round,
        position: 1,
        performance: format!("round {round} {}", "x".repeat(3000)),
        trace: None,
    }
}

fn save(store: &mut Store, run: &str, round: u32) {
    let (executions, info) = ([execution(round)], info());
    let progress = Progress { executions: &executions, cells: &[], info: &info, plan: "a plan" };
    store.save(run, "me", &progress).expect("it is stored");
}

#[test]
fn several_writers_create_and_share_one_store() {
    // In memory: on a slow disk, one writer may hold the lock for longer than the others wait.
    let folder = testkit::folder_in_memory();
    let path = folder.path().join("store.sqlite");
    let write = || {
        let mut store = Store::open(&path, None).expect("a store");
        let run = begin(&mut store, &info(), &[], "me");
        (1..=25).for_each(|round| save(&mut store, &run, round));
        run
    };
    let mut runs: Vec<String> = thread::scope(|scope| {
        let writers: Vec<_> = (0..4).map(|_| scope.spawn(write)).collect();
        writers.into_iter().map(|writer| writer.join().expect("it ends well")).collect()
    });
    let store = Store::open_to_read(&path).expect("a store");
    let mut listed: Vec<String> = store.list().expect("runs").into_iter().map(|run| run.id).collect();
    for run in &runs {
        let rounds: Vec<u32> = store.left(run).expect("the run").executions.iter().map(|run| run.round).collect();
        assert_eq!(rounds, (1..=25).collect::<Vec<_>>());
    }
    runs.sort_unstable();
    listed.sort_unstable();
    assert_eq!(runs, listed);
    drop(store);
    assert_eq!(testkit::names_in(folder.path()), ["store.sqlite"]);
}

#[test]
fn runs_are_deleted_together_or_not_at_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.sqlite");
    let mut store = Store::open(&path, None).expect("a store");
    let runs = [(); 3].map(|()| begin(&mut store, &info(), &[], "me"));
    runs.iter().for_each(|run| save(&mut store, run, 1));
    let doomed = |store: &Store| [&runs[0], &runs[1]].map(|run| store.doomed(run).expect("the run"));
    let judged = doomed(&store);
    store.claim(&runs[1], "me", "another").expect("it is gone on with");
    let refused = store.delete(&judged);
    assert!(matches!(refused, Err(StoreError::Taken(ref run)) if *run == runs[1]), "{refused:?}");
    let ids = |store: &Store| store.list().expect("runs").into_iter().map(|run| run.id).collect::<Vec<_>>();
    assert_eq!(ids(&store), runs);
    assert_eq!(store.left(&runs[0]).expect("the run").executions, [execution(1)]);
    assert_eq!(store.holders().expect("those who measure"), ["me", "another", "me"]);
    store.delete(&doomed(&store)).expect("nobody has it any more");
    store.shrink().expect("nobody else has the store");
    assert_eq!(ids(&store), runs[2..]);
    assert_eq!(store.left(&runs[2]).expect("the run").executions, [execution(1)]);
    drop(store);
    assert_eq!(ids(&Store::open(&path, None).expect("it is a store, and whole")), runs[2..]);
}

/// The child process of the next test: writes until it is killed, and prints what it has stored.
#[test]
#[ignore = "runs in a process of its own"]
fn child_writes_until_killed() {
    let path = env::var_os(STORE).expect("a store");
    println!("begins");
    let mut store = Store::open(Path::new(&path), None).expect("a store");
    let run = begin(&mut store, &info(), &[], "me");
    println!("run {run}");
    for round in 1.. {
        save(&mut store, &run, round);
        println!("saved {round}");
    }
}

#[test]
fn a_killed_writer_loses_no_stored_data() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.sqlite");
    let mut saved = 0;
    for attempt in 0..20 {
        let mut child = Command::new(env::current_exe().expect("our path"))
            .args(["--ignored", "--exact", "--nocapture", "child_writes_until_killed"])
            .env(STORE, &path)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the child starts");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
        let mut lines = lines.skip_while(|line| !line.ends_with("begins"));
        lines.next().expect("the child begins");
        // Some children are killed while they create the store, some up to a hundred commits later. A short delay after
        // the last line varies the point of the kill.
        let mut said: Vec<String> = lines.by_ref().take(attempt * 5).collect();
        thread::sleep(Duration::from_micros(attempt as u64 * 100));
        child.kill().expect("it is killed");
        child.wait().expect("its end");
        said.extend(lines);
        let Some(run) = said.first().and_then(|line| line.strip_prefix("run ")) else { continue };
        let store = Store::open(&path, None).expect("the store is whole");
        let executions = store.left(run).expect("the run is there").executions;
        let (told, stored) = (said.len() - 1, executions.len());
        assert!(stored == told || stored == told + 1, "{told} were told, {stored} are stored");
        let whole: Vec<Execution> = (1..=stored as u32).map(execution).collect();
        assert!(executions == whole, "none is lost, doubled or changed");
        saved += told;
    }
    assert!(saved > 20, "{saved} were saved before the kill");
    assert_eq!(testkit::names_in(folder.path()), ["store.sqlite"]);
}
