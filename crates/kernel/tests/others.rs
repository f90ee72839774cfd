//! A program that reads the files of another host. Two worlds in one directory stand in for two hosts.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kernel::{Posix, Station, Workspace};
use workload::{Access, FolderForOthers, Handle, Mode, Name, Op, Reason, Stream, Tally, World};

const HANDLE: Handle = Handle::new(0);
const NAME: Name = Name::root(0);
const BYTES: u32 = 64 * 1024;

/// Runs a stream, and fails if an op fails.
fn run(world: &mut Posix, stream: Stream) {
    let mut tally = Tally::default();
    world.run(&mut [stream], std::slice::from_mut(&mut tally)).expect("a run");
    assert_eq!(tally.failure, None);
}

/// A host whose program has this seed, after it wrote a file of its own.
fn host(directory: &Path, seed: u64) -> Posix {
    let station = Station { workspace: Some(Workspace::inside(directory).expect("a folder")), given: Vec::new() };
    let mut world = Posix::new(vec![station], BYTES, seed, Arc::default()).expect("a world");
    let create = Op::Create { name: NAME, handle: HANDLE, mode: Mode::default() };
    run(&mut world, Stream::from_ops(vec![create, Op::Write { handle: HANDLE, length: BYTES }]));
    world
}

/// The file of a host.
fn file(directory: &Path, folders: &[FolderForOthers]) -> PathBuf {
    directory.join(&folders[0].name).join("f0")
}

fn open(world: &mut Posix) {
    let open = Op::Open { name: NAME, handle: HANDLE, access: Access::Read, mode: Mode::default() };
    run(world, Stream::from_ops(vec![open, Op::Read { handle: HANDLE, length: BYTES }]));
}

fn altered(world: &mut Posix) -> Option<Reason> {
    world.verify_contents(0, &[BYTES]).expect("readable").map(|failure| failure.reason)
}

#[test]
fn a_program_reads_the_file_of_the_other_host_until_it_clears_its_own_folder() {
    let directory = tempfile::tempdir().expect("a directory");
    let (mut this, mut other) = (host(directory.path(), 1), host(directory.path(), 2 << 32));
    let (own, others) = (this.folders_for_others(), other.folders_for_others());
    let (own_file, others_file) = (file(directory.path(), &own), file(directory.path(), &others));
    open(&mut this);
    assert!(this.has_open(HANDLE, &own_file) && !this.has_open(HANDLE, &others_file));
    this.read_others(&others).expect("a folder");
    open(&mut this);
    assert!(this.has_open(HANDLE, &others_file) && !this.has_open(HANDLE, &own_file));
    assert_eq!(altered(&mut this), None, "the file has the data of the other host");
    assert_eq!(this.tree_counts(0).expect("a list").files, 1);
    this.clear().expect("a folder");
    assert!(!own_file.exists() && others_file.exists());
    assert_eq!(altered(&mut other), None);
    let create = Op::Create { name: NAME, handle: HANDLE, mode: Mode::default() };
    run(&mut this, Stream::from_ops(vec![create]));
    assert!(this.has_open(HANDLE, &own_file));
}

#[test]
fn a_file_with_its_own_data_is_not_that_of_the_other_host() {
    let directory = tempfile::tempdir().expect("a directory");
    let (mut this, mut other) = (host(directory.path(), 1), host(directory.path(), 2 << 32));
    let (own, others) = (this.folders_for_others(), other.folders_for_others());
    fs::copy(file(directory.path(), &own), file(directory.path(), &others)).expect("a copy");
    this.read_others(&others).expect("a folder");
    assert_eq!((altered(&mut this), altered(&mut other)), (Some(Reason::Altered), Some(Reason::Altered)));
}

#[test]
fn only_a_folder_next_to_its_own_is_opened() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut this = host(directory.path(), 1);
    fs::create_dir(directory.path().join("real")).expect("a folder");
    std::os::unix::fs::symlink("real", directory.path().join("link")).expect("a link");
    for name in ["..", "../x", "real/..", "", ".", "link", "missing"] {
        let folder = FolderForOthers { name: name.to_owned(), seed: 2 };
        assert!(this.read_others(&[folder]).is_err(), "{name:?}");
    }
}
