//! A program whose calls for durability do nothing and answer well, as `systemd-nspawn --suppress-sync=yes` has
//! them for the containers in which packages are built.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::path::Path;
use std::thread;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};

use crate::{Ended, run};

/// The calls that wait for durability.
const SYNCS: [libc::c_long; 4] = [libc::SYS_fsync, libc::SYS_fdatasync, libc::SYS_syncfs, libc::SYS_sync];

/// Runs a program to its end without them.
pub fn run_without(program: &Path, folder: &Path, arguments: &[&str]) -> Ended {
    thread::scope(|scope| {
        // The filter holds for this thread, and for what it starts.
        let running = scope.spawn(|| {
            seccompiler::apply_filter(&filter()).expect("a filter of system calls");
            run(program, folder, arguments)
        });
        running.join().expect("the program can be started")
    })
}

fn filter() -> BpfProgram {
    let rules: BTreeMap<i64, _> = SYNCS.into_iter().map(|call| (call, Vec::new())).collect();
    let architecture = TargetArch::try_from(ARCH).expect("an architecture that filters are known for");
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(0), architecture);
    filter.and_then(BpfProgram::try_from).expect("a filter")
}
