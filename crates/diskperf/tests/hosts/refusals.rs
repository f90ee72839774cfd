//! Requests and hosts that are refused before anything is written, and errors of one host.

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use kernel::{Image, ImageSpec, PrivateMounts};
use testkit::loop_disk::{self, Mounted};
use testkit::skip;
use units::Bytes;

use crate::common;
use crate::ranks::{Hosts, MPICH, OPEN_MPI, READS, ended, hosts, with};

#[test]
fn hosts_that_cannot_measure_together_are_refused() {
    let hosts = hosts!(OPEN_MPI);
    let reads = with(&READS, &["--time", "300ms", "data"]);
    hosts.refuses(&hosts.run(2, "rank", &reads), &["two ranks run on host ", "hint: mpirun --map-by ppr:1:node"]);
    let mut alone = Command::new(&hosts.bridge);
    alone.env_remove("PMI_SIZE");
    let alone = ended(hosts.prepared(alone, &reads).spawn().expect("the bridge"));
    hosts.refuses(&alone, &["error: diskperf-mpi was not started by mpirun or srun"]);
    fs::create_dir(hosts.path("n0")).expect("a folder");
    let missing = hosts.run(2, "host", &with(&READS, &["--time", "300ms", "%h"]));
    hosts.refuses(&missing, &["error: host n1: ", "n1"]);
    fs::create_dir(hosts.path("n1")).expect("a folder");
    std::os::unix::fs::symlink("n0", hosts.path("n2")).expect("a link");
    let partly = hosts.run(3, "host", &with(&READS, &["--time", "300ms", "%h"]));
    hosts.refuses(&partly, &["%h is one directory on n0, n2, but another on n1"]);
    for words in
        [&["probe", "data"][..], &["run", "quick", "sim:flat"], &["io", "randread", "data", "--sustained", "1s"]]
    {
        hosts.refuses(&hosts.run(2, "host", words), &["does not work on several hosts"]);
    }
}

#[test]
fn hosts_with_other_storage_are_refused_with_the_difference() {
    let hosts = hosts!(OPEN_MPI);
    if let Some(missing) = loop_disk::missing_requirement(&["mkfs.ext4"]) {
        return skip!("{missing}");
    }
    let mounts = PrivateMounts::enter().expect("mounts of our own");
    let spec = ImageSpec {
        file_system: "ext4".to_owned(),
        bytes: Bytes::mib(64),
        directory: hosts.path("data"),
        block: None,
        mount_options: Vec::new(),
        mkfs_options: Vec::new(),
    };
    let image = Image::make(&spec, &mounts, |_| ControlFlow::Continue(())).expect("an image");
    fs::create_dir(hosts.path("n1")).expect("a folder");
    let _memory = Mounted::tmpfs(&hosts.path("n1"), "size=64m");
    std::os::unix::fs::symlink(image.path(), hosts.path("n0")).expect("a link");
    let ran = hosts.run(2, "host", &with(&READS, &["--time", "300ms", "%h"]));
    assert_eq!(ran.status, Some(2), "{}", ran.err);
    assert!(ran.err.contains("error: the hosts have different storage: %h is ext4"), "{}", ran.err);
    assert!(ran.err.contains(" on n0, but tmpfs in memory on n1"), "{}", ran.err);
    assert!(testkit::names_in(&hosts.path("n1")).is_empty() && !hosts.path("store").exists());
}

#[test]
fn an_error_of_one_host_alone_ends_the_run_with_its_words() {
    let hosts = hosts!(OPEN_MPI);
    let reads = with(&READS, &["--time", "300ms", "data"]);
    let on_host = |script: &str| {
        format!("[ $rank = 1 ] && {script}\nexec unshare --uts sh -c 'hostname n'$rank'; exec \"$@\"' sh \"$@\"")
    };
    hosts.script("without_program", &on_host("export DISKPERF_PROGRAM=/nowhere/diskperf"));
    let ran = hosts.run(2, "without_program", &reads);
    hosts
        .refuses(&ran, &["error: host n1: /nowhere/diskperf: No such file", "hint: put diskperf next to diskperf-mpi"]);
    // The program alone is limited: MPI needs more.
    for (name, limit) in [("small_stack", "ulimit -s 128"), ("small_files", "ulimit -f 2048")] {
        let program = format!("program_with_{name}");
        hosts.script(&program, &format!("{limit}\nexec '{}' \"$@\"", common::program().display()));
        hosts.script(name, &on_host(&format!("export DISKPERF_PROGRAM='{}'", hosts.path(&program).display())));
    }
    let ran = hosts.run(2, "small_stack", &reads);
    hosts.refuses_with(3, &ran, &["error: host n1: the stack is limited to 128 KiB", "hint: "]);
    assert!(!ran.err.contains("is gone"), "{}", ran.err);
    let elevated = hosts.path("elevated");
    testkit::copy_of_program(&common::program(), &elevated);
    std::os::unix::fs::chown(&elevated, None, Some(1)).expect("another group");
    fs::set_permissions(&elevated, fs::Permissions::from_mode(0o2755)).expect("setgid");
    hosts.script("with_elevated", &on_host(&format!("export DISKPERF_PROGRAM='{}'", elevated.display())));
    let ran = hosts.run(2, "with_elevated", &reads);
    hosts.refuses_with(3, &ran, &["error: host n1: diskperf must not be setuid", "hint: remove them"]);
    assert!(!ran.err.contains("is gone"), "{}", ran.err);
    // The other host writes its file, and this one may not.
    let ran = hosts.run(2, "small_files", &with(&reads, &["--rounds", "2", "--json"]));
    assert_eq!(ran.status, Some(1), "{}", ran.err);
    let document = common::document::document(&ran);
    let cell = &document["cells"][0];
    let reason = cell["reason"].as_str().expect("a reason");
    assert!(cell["measured"] == false && reason.contains("host n1: ") && reason.contains("large"), "{reason}");
    assert_eq!(testkit::names_in(&hosts.path("data")), [""; 0]);
}

#[test]
fn the_launcher_of_another_library_is_refused() {
    let hosts = hosts!(OPEN_MPI);
    if !testkit::has_tool(MPICH.launcher) {
        return skip!("{} is not installed", MPICH.launcher);
    }
    let other = Hosts { library: MPICH, ..hosts };
    let reads = with(&READS, &["--time", "300ms", "data"]);
    let ran = other.run(2, "host", &reads);
    other.refuses(&ran, &["error: the launcher started 2 ranks (PMI_SIZE), but this MPI library sees 1"]);
    assert_eq!(ran.err.matches("error: ").count(), 1, "{}", ran.err);
}
