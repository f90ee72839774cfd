//! Tests of the file system with one file: it keeps written data, and its faults work as described.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use tempfile::TempDir;
use testkit::fuse::{Bad, Fsync, Knobs, OneFile, Queue};
use testkit::loop_disk::LoopDisk;
use testkit::skip;
use testkit::token_bucket::{Limit, Throttle};
use testkit::write_cache::{Moment, WriteCache};
use units::Prng;

const BYTES: u64 = 1 << 20;

/// Creates a mount point and the file below the file system, in one folder.
fn ground() -> (TempDir, File) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::create_dir(folder.path().join("point")).expect("a folder");
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(folder.path().join("below"));
    let file = file.expect("a file");
    file.set_len(BYTES).expect("its bytes");
    (folder, file)
}

fn can_mount() -> bool {
    testkit::is_root() && Path::new("/dev/fuse").exists()
}

#[test]
fn written_data_are_readable_and_in_the_file_below() {
    if !can_mount() {
        return skip!("needs root and /dev/fuse");
    }
    let (folder, below) = ground();
    let fuse = OneFile::mount(&folder.path().join("point"), below, Knobs::default()).expect("a mount");
    let file = OpenOptions::new().read(true).write(true).open(fuse.file()).expect("the one file");
    assert_eq!(file.metadata().expect("attributes").len(), BYTES);
    file.write_all_at(&[7; 300_000], 5000).expect("a write");
    file.sync_all().expect("fsync");
    assert_eq!(fuse.fsyncs(), 1);
    let mut bytes = vec![0; 300_000];
    File::open(folder.path().join("below")).expect("below").read_exact_at(&mut bytes, 5000).expect("a read");
    assert!(bytes.iter().all(|byte| *byte == 7));
    let mut all = Vec::new();
    (&file).read_to_end(&mut all).expect("all of it");
    assert_eq!((all.len() as u64, all[4999], all[5000]), (BYTES, 0, 7));
    assert!(File::open(folder.path().join("point/other")).is_err());
}

#[test]
fn requests_take_random_times_one_after_the_other() {
    if !can_mount() {
        return skip!("needs root and /dev/fuse");
    }
    let (folder, below) = ground();
    let mut knobs = Knobs {
        service: Duration::from_millis(4),
        varying: Some(Prng::new(3)),
        queue: Queue::OneArm,
        ..Knobs::default()
    };
    let fuse = OneFile::mount(&folder.path().join("point"), below, knobs.clone()).expect("a mount");
    let file = OpenOptions::new().write(true).open(fuse.file()).expect("the one file");
    let began = Instant::now();
    (0..10).for_each(|index| file.write_all_at(&[7; 512], index * 4096).expect("a write"));
    let took = began.elapsed();
    let each: Vec<Duration> = (0..10).map(|_| knobs.next_service()).collect();
    assert!(took >= each.iter().sum(), "{took:?} of {each:?}");
    let [least, most] = [each.iter().min(), each.iter().max()].map(|end| *end.expect("ten"));
    assert!(Duration::from_millis(2) <= least && least < most && most <= Duration::from_millis(6), "{each:?}");
    // After a pause, a disk that reads ahead already has the next block. Other programs may use the CPU meanwhile, so
    // one success is enough.
    let least = Duration::from_millis(20);
    let is_ahead = |queue: Queue, attempts: u64| {
        fuse.turn(Knobs { queue, service: 2 * least, ..knobs.clone() });
        (0..attempts).any(|index| {
            thread::sleep(4 * least);
            let began = Instant::now();
            file.write_all_at(&[7; 512], index * 4096).expect("a write");
            began.elapsed() < least
        })
    };
    assert!(!is_ahead(Queue::OneArm, 3));
    assert!(is_ahead(Queue::ReadsAhead, 1000));
}

#[test]
fn a_throttled_disk_has_a_burst_and_then_its_rate() {
    if !can_mount() {
        return skip!("needs root and /dev/fuse");
    }
    let (folder, below) = ground();
    let fuse = OneFile::mount(&folder.path().join("point"), below, Knobs::default()).expect("a mount");
    let file = OpenOptions::new().read(true).write(true).open(fuse.file()).expect("the one file");
    let time_of = |throttle: Throttle, count: u64| {
        fuse.turn(Knobs { throttle: Some(throttle), ..Knobs::default() });
        let began = Instant::now();
        (0..count).for_each(|_| file.write_all_at(&[7; 65_536], 0).expect("a write"));
        began.elapsed()
    };
    // The burst alone would take 1,000 s at the sustained rate.
    let burst = Limit::new(1000 * 65_536, 65_536);
    assert!(time_of(Throttle::new(Some(burst), None), 1000) < Duration::from_secs(500));
    // 25 writes after the burst, at 100 per second.
    let small = Limit::new(20 * 65_536, 100 * 65_536);
    assert!(time_of(Throttle::new(Some(small), None), 45) >= Duration::from_millis(250));
    assert!(time_of(Throttle::new(None, Some(Limit::new(20, 100))), 45) >= Duration::from_millis(250));
    // The rate of the burst: 50 writes at 200 per second, less the two of 10 ms.
    let fast = Limit::new(1000, 1).fast(200);
    assert!(time_of(Throttle::new(None, Some(fast)), 50) >= Duration::from_millis(240));
}

#[test]
fn knobs_have_their_effect() {
    if !can_mount() {
        return skip!("needs root and /dev/fuse");
    }
    let (folder, below) = ground();
    let knobs = Knobs { fsync: Fsync::Fail, bad: Some((8192..8193, Bad::Fails(Errno::IO))), ..Knobs::default() };
    let fuse = OneFile::mount(&folder.path().join("point"), below, knobs).expect("a mount");
    let file = OpenOptions::new().read(true).write(true).open(fuse.file()).expect("the one file");
    assert!(file.sync_all().is_err());
    assert!(file.write_all_at(&[1; 4096], 8192).is_err());
    file.write_all_at(&[1; 4096], 4096).expect("a good place");
    let pause = Duration::from_millis(20);
    fuse.turn(Knobs { fsync: Fsync::Sleep(pause), ..Knobs::default() });
    let began = Instant::now();
    file.sync_all().expect("a slow fsync");
    assert!(began.elapsed() >= pause);
    file.write_all_at(&[1; 4096], 8192).expect("a good place now");
    fuse.turn(Knobs { fsync: Fsync::Early, service: pause, ..Knobs::default() });
    file.sync_all().expect("an early fsync");
    let began = Instant::now();
    file.write_all_at(&[1; 4096], 0).expect("a slow write");
    assert!(began.elapsed() >= pause);
    assert_eq!(fuse.fsyncs(), 3);
}

#[test]
fn bad_ranges_shorten_calls_and_a_pulled_cable_fails_all() {
    if !can_mount() {
        return skip!("needs root and /dev/fuse");
    }
    let (folder, below) = ground();
    let fuse = OneFile::mount(&folder.path().join("point"), below, Knobs::default()).expect("a mount");
    let open = |flags: i32| OpenOptions::new().read(true).write(true).custom_flags(flags).open(fuse.file());
    let file = open(libc::O_SYNC).expect("the one file");
    file.write_all_at(&[1; 65_536], 0).expect("a write");
    let turn = |bad: Bad| fuse.turn(Knobs { bad: Some((8192..8193, bad)), ..Knobs::default() });
    turn(Bad::Short);
    assert_eq!(file.write_at(&[2; 4096], 8192).expect("a part"), 2048);
    turn(Bad::Lost);
    assert_eq!(file.write_at(&[3; 4096], 8192).expect("as if"), 4096);
    let mut bytes = vec![0; 65_536];
    File::open(folder.path().join("below")).expect("below").read_exact_at(&mut bytes, 0).expect("a read");
    assert_eq!((bytes[8191], bytes[8192], bytes[8192 + 2047], bytes[8192 + 2048]), (1, 2, 2, 1));
    fuse.turn(Knobs { pulled_after: Some(fuse.fsyncs() + 1), ..Knobs::default() });
    file.sync_all().expect("the last one");
    assert!(file.sync_all().is_err() && file.write_all_at(&[1; 4096], 0).is_err());
}

#[test]
fn a_loop_device_passes_flushes_on() {
    if !can_mount() || !testkit::has_tool("losetup") {
        return skip!("needs root, /dev/fuse and losetup");
    }
    let (folder, below) = ground();
    let fuse = OneFile::mount(&folder.path().join("point"), below, Knobs::default()).expect("a mount");
    let disk = LoopDisk::attach(&fuse.file()).expect("a loop device");
    let before = fuse.fsyncs();
    let device = OpenOptions::new().write(true).open(disk.node()).expect("the device");
    device.write_all_at(&[3; 4096], 65_536).expect("a write");
    device.sync_all().expect("fsync");
    drop(device);
    assert!(fuse.fsyncs() > before, "{}", disk.attribute("queue/write_cache"));
    let mut bytes = [0; 4096];
    File::open(folder.path().join("below")).expect("below").read_exact_at(&mut bytes, 65_536).expect("a read");
    assert_eq!(bytes, [3; 4096]);
}

#[test]
fn unflushed_data_are_lost_with_the_power() {
    if !can_mount() || !testkit::has_tool("losetup") {
        return skip!("needs root, /dev/fuse and losetup");
    }
    let (folder, below) = ground();
    let fuse = OneFile::mount(&folder.path().join("point"), below, Knobs::default()).expect("a mount");
    let disk = LoopDisk::attach(&fuse.file()).expect("a loop device");
    fuse.put(WriteCache::new(Moment::NEVER, Box::new(|_| 0)));
    // Writes bypass the page cache and go to the device at once. No program flushes the device without a request.
    let direct = rustix::fs::OFlags::DIRECT.bits() as i32;
    let device = OpenOptions::new().read(true).write(true).custom_flags(direct).open(disk.node()).expect("the device");
    let write = |at: u64, byte: u8| device.write_all_at(&Block([byte; 4096]).0, at).expect("a write");
    let read = |file: &File, at: u64| {
        let mut block = Block([0; 4096]);
        file.read_exact_at(&mut block.0, at).expect("a read");
        block.0
    };
    write(65_536, 3);
    device.sync_all().expect("fsync");
    write(65_536, 4);
    write(0, 5);
    assert_eq!((fuse.power(), read(&device, 65_536)), ((false, 1), [4; 4096]));
    fuse.cut().expect("the power is cut");
    assert!(fuse.power().0);
    let below = File::open(folder.path().join("below")).expect("below");
    assert_eq!((read(&below, 65_536), read(&below, 0)), ([3; 4096], [0; 4096]));
}

/// A buffer aligned for I/O that bypasses the page cache.
#[repr(align(4096))]
struct Block([u8; 4096]);
