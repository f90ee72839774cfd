//! Files that a user names for writing, while another program changes their names. diskperf writes the file that it
//! judged, or nothing.

use std::env;
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use kernel::guard::{Found, Given, Refusal, judge};
use kernel::sys::read_limited;
use kernel::{Links, OutputFile, OutputFileFault, Posix, Wait};
use rustix::fs::OFlags;
use testkit::loop_disk::Disk;
use testkit::need_disk;
use units::Bytes;
use workload::{Handle, Mode, Name, Op, Reason, Stream, Tally, World};

/// Bytes of a call, and of the whole file.
const BYTES: u32 = 4096;

/// Number of writes while the name changes. The issue that led to this test found one write to a device in 100 to 150
/// tries. `DISKPERF_RACES` sets another number.
const TRIES: usize = 2000;

/// Creates or truncates the given file, and writes one block.
fn write(given: Given) -> Result<(), Reason> {
    let mut world = Posix::on_given(vec![given], BYTES, Arc::default()).expect("a world");
    let handle = Handle::new(0);
    let ops = vec![
        Op::Create { name: Name::given(0), handle, mode: Mode::default() },
        Op::Write { handle, length: BYTES },
        Op::Close { handle },
    ];
    let mut tally = Tally::default();
    world.run(&mut [Stream::from_ops(ops)], slice::from_mut(&mut tally)).expect("it runs");
    tally.failure.map_or(Ok(()), |failure| Err(failure.reason))
}

/// A disk full of a pattern. No test may change it.
struct Decoy {
    disk: Disk,
    before: Vec<u8>,
}

impl Decoy {
    fn new() -> Decoy {
        let before: Vec<u8> = (0..1 << 20).map(|at: u32| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        Decoy { disk: Disk::holding(before.len() as u64, &[(0, &before)]), before }
    }

    /// Fails if a byte of the file or of the device has changed.
    fn assert_unchanged(&self) {
        assert_eq!(self.changed_bytes(), 0, "bytes of the decoy have changed");
    }

    /// Returns the number of changed bytes, in the file and in the device together.
    fn changed_bytes(&self) -> usize {
        let mut changed = 0;
        for path in [self.disk.file.as_path(), self.disk.node()] {
            let mut now = vec![0; self.before.len()];
            let file = File::open(path).expect("it can be read");
            rustix::fs::fsync(&file).expect("durable");
            file.read_exact_at(&mut now, 0).expect("all of it");
            assert_eq!(file.metadata().expect("its kind").file_type().is_file(), path == self.disk.file);
            changed += now.iter().zip(&self.before).filter(|(now, before)| now != before).count();
        }
        assert_eq!(fs::metadata(&self.disk.file).expect("the file").len(), self.before.len() as u64);
        changed
    }

    /// Returns a path in the folder of the disk's file.
    fn path(&self, name: &str) -> PathBuf {
        self.disk.folder.path().join(name)
    }

    /// Gives the name to something that leads to the disk: a link to the device, a link to the file, the file itself.
    fn place(&self, way: usize, name: &Path) {
        let beside = self.path("beside");
        match way % 3 {
            0 => symlink(self.disk.node(), &beside),
            1 => symlink(&self.disk.file, &beside),
            _ => fs::hard_link(&self.disk.file, &beside),
        }
        .expect("another name");
        replace(&beside, name);
    }
}

/// Stops a thread on drop, also if the test fails.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Renames a file, also if both names are of the same file: rename(2) then keeps both.
fn replace(from: &Path, to: &Path) {
    fs::rename(from, to).expect("renamed");
    if fs::symlink_metadata(from).is_ok() {
        rustix::fs::unlink(from).expect("a name less");
    }
}

#[test]
fn descriptors_of_devices_and_of_shown_files_are_refused() {
    need_disk!();
    let decoy = Decoy::new();
    let name = decoy.path("name");
    for way in 0..3 {
        decoy.place(way, &name);
        let found = Found::follow(&name).expect("it can be looked at").expect("it is there");
        match judge(&found) {
            Err(Refusal::BlockDevice) => assert_eq!(way, 0),
            Err(Refusal::Shown(device)) => assert!(way > 0 && device == decoy.disk.name(), "{device}"),
            other => panic!("{way}: {other:?}"),
        }
    }
}

#[test]
fn a_device_that_takes_the_name_of_a_checked_file_is_not_written() {
    need_disk!();
    let decoy = Decoy::new();
    let (name, kept) = (decoy.path("name"), decoy.path("kept"));
    for way in 0..3 {
        fs::write(&kept, "a regular file").expect("a file");
        fs::hard_link(&kept, decoy.path("beside")).expect("a second name");
        replace(&decoy.path("beside"), &name);
        let found = Found::follow(&name).expect("it can be looked at").expect("it is there");
        judge(&found).expect("a regular file");
        decoy.place(way, &name);
        write(Given::Write(found)).expect("the file that was judged is written");
        assert_eq!(fs::metadata(&kept).expect("the file").len(), u64::from(BYTES));
        decoy.assert_unchanged();
    }
}

#[test]
fn a_device_that_takes_a_free_name_is_not_written() {
    need_disk!();
    let decoy = Decoy::new();
    let name = decoy.path("name");
    for way in 0..3 {
        assert!(Found::follow(&name).expect("it can be looked at").is_none());
        decoy.place(way, &name);
        assert_eq!(write(Given::Create(name.clone())), Err(Reason::Exists));
        rustix::fs::unlink(&name).expect("the name is free again");
        decoy.assert_unchanged();
    }
}

/// The last check is after the results are on the disk, before they get the name. Here only that check can see the
/// decoy.
#[test]
fn results_do_not_replace_devices_or_shown_files() {
    need_disk!();
    let decoy = Decoy::new();
    let (name, old) = (decoy.path("name"), decoy.path("old"));
    for is_there in [false, true] {
        for way in 0..3 {
            if is_there {
                fs::write(&old, "old results").expect("a file");
                replace(&old, &name);
            }
            let output = OutputFile::resolve(&name, Links::Followed).expect("a place for results");
            decoy.place(way, &name);
            match output.write(b"results", &|_| false) {
                Err(OutputFileFault::Refused(Refusal::Link)) => assert!(way < 2),
                Err(OutputFileFault::Refused(Refusal::Shown(device))) => {
                    assert!(way == 2 && device == decoy.disk.name())
                }
                other => panic!("{way}: {other:?}"),
            }
            let leads = fs::canonicalize(&name).expect("the name");
            assert_eq!(
                leads,
                if way == 0 {
                    decoy.disk.node()
                } else if way == 1 {
                    &decoy.disk.file
                } else {
                    &name
                }
            );
            decoy.assert_unchanged();
            rustix::fs::unlink(&name).expect("the name is free again");
            assert_eq!(testkit::names_in(decoy.disk.folder.path()), ["disk"]);
        }
    }
}

/// Descriptors that this process opened itself, such as a database, have numbers too. They are closed on exec.
#[test]
fn results_are_not_written_to_our_own_descriptors() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    fs::write(&path, "text").expect("a file");
    let file = File::options().write(true).open(&path).expect("the file");
    let number = PathBuf::from(format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file)));
    assert!(matches!(OutputFile::resolve(&number, Links::Followed), Err(OutputFileFault::NotOpen)));
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).expect("as if it had been given");
    OutputFile::resolve(&number, Links::Followed).and_then(|given| given.write(b"TE", &|_| false)).expect("written");
    assert_eq!(fs::read_to_string(path).expect("the file"), "TExt");
}

#[test]
fn a_full_pipe_has_a_reader_and_a_fifo_that_is_not_open_has_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fifo");
    let (kind, rights) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR);
    rustix::fs::mknodat(rustix::fs::CWD, &path, kind, rights, 0).expect("a FIFO");
    let fifo = OutputFile::resolve(&path, Links::Followed).expect("a stream");
    let ended = fifo.write(b"results", &|wait| wait == Wait::ForReader);
    assert!(matches!(ended, Err(OutputFileFault::NoReader)), "{ended:?}");
    let (_reader, writer) = std::io::pipe().expect("a pipe");
    // More than a pipe holds: 16 pages of up to 64 KiB.
    let ended = kernel::stream(writer.as_fd(), &b"x".repeat(4 << 20), &|wait| wait == Wait::ForRoom);
    assert!(matches!(ended, Err(OutputFileFault::NoReader)), "{ended:?}");
}

#[test]
fn a_named_fifo_is_read_once_it_has_a_writer() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fifo");
    let (kind, rights) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR);
    rustix::fs::mknodat(rustix::fs::CWD, &path, kind, rights, 0).expect("a FIFO");
    for text in ["text", ""] {
        let all = || read_limited::open_named(&path).and_then(|fifo| read_limited::bytes(fifo, Bytes(100)));
        let read = thread::scope(|scope| {
            let reader = scope.spawn(all);
            // A reader that does not wait is at the end by then.
            thread::sleep(Duration::from_millis(100));
            let (access, none) = (OFlags::WRONLY | OFlags::NONBLOCK, rustix::fs::Mode::empty());
            while !reader.is_finished() {
                // Fails until the reader has opened it.
                if let Ok(fifo) = rustix::fs::open(&path, access, none) {
                    rustix::io::write(&fifo, text.as_bytes()).expect("written");
                    break;
                }
                thread::sleep(Duration::from_millis(10));
            }
            reader.join().expect("it ends")
        });
        assert_eq!(read.expect("a read").as_deref(), Some(text.as_bytes()));
    }
}

#[test]
fn a_read_only_file_is_not_written_by_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    fs::write(&path, "text").expect("a file");
    assert_eq!(write(Given::Read(path.clone())), Err(Reason::Denied));
    assert_eq!(fs::read_to_string(path).expect("the file"), "text");
}

#[test]
fn races_between_check_and_write_do_not_change_the_decoy() {
    need_disk!();
    let decoy = Decoy::new();
    let (name, regular) = (decoy.path("name"), decoy.path("regular"));
    fs::write(&regular, "regular").expect("a file");
    let tries = env::var("DISKPERF_RACES").map_or(TRIES, |number| number.parse().expect("a number of tries"));
    let ended = AtomicBool::new(false);
    let (mut written, mut refused) = (0, 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut way = 0;
            while !ended.load(Ordering::Relaxed) {
                fs::hard_link(&regular, decoy.path("beside")).expect("a second name");
                replace(&decoy.path("beside"), &name);
                decoy.place(way, &name);
                if way % 4 == 3 {
                    rustix::fs::unlink(&name).expect("the name is free");
                }
                way += 1;
            }
        });
        let _ending = Ending(&ended);
        for _ in 0..tries {
            let given = match Found::follow(&name).expect("it can be looked at") {
                Some(found) => judge(&found).is_ok().then_some(Given::Write(found)),
                None => Some(Given::Create(name.clone())),
            };
            match given.map(write) {
                Some(Ok(())) => written += 1,
                Some(Err(Reason::Exists)) | None => refused += 1,
                Some(Err(other)) => panic!("{other:?}"),
            }
        }
    });
    let decoy_bytes = decoy.changed_bytes();
    println!(
        "{{\"race\": \"name of a file\", \"tries\": {tries}, \"written\": {written}, \"refused\": {refused}, \
         \"decoy_bytes\": {decoy_bytes}}}"
    );
    assert_eq!(decoy_bytes, 0, "bytes of the decoy have changed");
    assert_eq!(written + refused, tries);
}
