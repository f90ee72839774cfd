//! Tests of the folder that lies: it is a folder like any other, and each lie works as described.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::time::ClockId;
use tempfile::TempDir;
use testkit::fuse::Fsync;
use testkit::loop_disk::Disk;
use testkit::lying_folder::{Counts, KernelCache, Lies, LyingFolder, MountAppearance, ServerMemory};
use testkit::{names_in, need_disk, skip};

/// A page, aligned for I/O that bypasses the page cache.
#[repr(align(4096))]
struct Block([u8; 4096]);

/// A folder with the folders `point` and `below`.
fn ground() -> TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    ["point", "below"].iter().for_each(|name| fs::create_dir(folder.path().join(name)).expect("a folder"));
    folder
}

fn served(ground: &TempDir, lies: Lies) -> LyingFolder {
    let [at, below] = ["point", "below"].map(|name| ground.path().join(name));
    LyingFolder::mount(&at, &below, MountAppearance::Fuse, lies).expect("a mount")
}

fn below(ground: &TempDir, name: &str) -> PathBuf {
    ground.path().join("below").join(name)
}

fn can_mount() -> bool {
    testkit::is_root() && Path::new("/dev/fuse").exists()
}

/// Opens a file for reads and writes that bypass the kernel's page cache.
fn direct(path: &Path) -> File {
    let flag = rustix::fs::OFlags::DIRECT.bits() as i32;
    OpenOptions::new().read(true).write(true).custom_flags(flag).open(path).expect("a file")
}

/// Reads the first block of a file from its server.
fn first(path: &Path) -> [u8; 4096] {
    let mut block = Block([9; 4096]);
    direct(path).read_exact_at(&mut block.0, 0).expect("a read");
    block.0
}

/// Returns the processor time of this process.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[test]
fn files_and_folders_pass_through() {
    if !can_mount() {
        return skip!("needs root and /dev/fuse");
    }
    let ground = ground();
    let lying = served(&ground, Lies::default());
    fs::create_dir(lying.path("folder")).expect("mkdir");
    fs::write(lying.path("a"), [7; 300_000]).expect("a file");
    assert_eq!(fs::read(below(&ground, "a")).expect("below"), [7; 300_000]);
    assert_eq!(fs::read(lying.path("a")).expect("a read"), [7; 300_000]);
    let file = OpenOptions::new().write(true).open(lying.path("a")).expect("a file");
    file.set_len(5000).expect("a length");
    file.sync_all().expect("fsync");
    fs::write(lying.path("folder/b"), "old").expect("a file");
    fs::rename(lying.path("a"), lying.path("folder/b")).expect("rename");
    assert_eq!(fs::metadata(lying.path("folder/b")).expect("attributes").len(), 5000);
    assert_eq!(names_in(&ground.path().join("below")), ["folder"]);
    // The open file is the same one under its new name, and without a name.
    file.write_all_at(&[8; 10], 4990).expect("a write");
    assert_eq!(fs::read(below(&ground, "folder/b")).expect("below")[4990..], [8; 10]);
    fs::remove_file(lying.path("folder/b")).expect("unlink");
    file.write_all_at(&[8; 10], 0).expect("a write to a deleted file");
    assert!(fs::metadata(lying.path("folder/b")).is_err() && file.metadata().expect("attributes").len() == 5000);
    let names: Vec<String> = (1000..2000).map(|number| format!("a file with a long name, number {number}")).collect();
    names.iter().for_each(|name| fs::write(lying.path("folder").join(name), name).expect("a file"));
    assert_eq!(names_in(&lying.path("folder")), names);
    fs::remove_dir_all(lying.path("folder")).expect("all of it");
    assert_eq!(names_in(&ground.path().join("below")), Vec::<String>::new());
    let [above, under] = ["point", "below"].map(|name| rustix::fs::statfs(ground.path().join(name)).expect("statfs"));
    assert_eq!((above.f_blocks, above.f_bsize), (under.f_blocks, under.f_bsize));
}

#[test]
fn a_lying_fsync_does_not_reach_the_folder_below() {
    if !can_mount() {
        return skip!("needs root and /dev/fuse");
    }
    // A second server serves the folder below the lying one. It is honest, and counts fsync calls.
    let [upper, lower] = [ground(), ground()];
    let honest = served(&lower, Lies::default());
    let at = upper.path().join("point");
    let lying = LyingFolder::mount(&at, &honest.path(""), MountAppearance::Fuse, Lies::default()).expect("a mount");
    let file = File::create(lying.path("a")).expect("a file");
    let sync = |fsync: Fsync| {
        lying.turn(Lies { fsync, ..Lies::default() });
        let before = honest.counts().fsyncs;
        (file.sync_all().is_ok(), honest.counts().fsyncs - before)
    };
    assert_eq!(sync(Fsync::Honest), (true, 1));
    assert_eq!(sync(Fsync::Early), (true, 0));
    assert_eq!(sync(Fsync::Fail), (false, 0));
    lying.turn(Lies { fsync: Fsync::Early, ..Lies::default() });
    File::open(lying.path("")).expect("the folder").sync_all().expect("fsync of a folder");
    assert_eq!(lying.counts(), Counts { reads: 0, writes: 0, fsyncs: 4 });
    assert_eq!(honest.counts().fsyncs, 1);
}

#[test]
fn a_server_with_a_page_cache_answers_from_its_memory() {
    if !can_mount() {
        return skip!("needs root and /dev/fuse");
    }
    let ground = ground();
    let lies = Lies { memory: ServerMemory::Copies, ..Lies::default() };
    let lying = served(&ground, lies);
    for name in ["read", "written"] {
        fs::write(below(&ground, name), [1; 8192]).expect("a file");
    }
    assert_eq!(first(&lying.path("read")), [1; 4096]);
    direct(&lying.path("written")).write_all_at(&Block([2; 4096]).0, 0).expect("a write");
    assert_eq!(fs::read(below(&ground, "written")).expect("below")[..4096], [2; 4096]);
    // The server does not see that the files below it change.
    for (name, byte) in [("read", 1), ("written", 2)] {
        OpenOptions::new()
            .write(true)
            .open(below(&ground, name))
            .expect("below")
            .write_all_at(&[3; 8192], 0)
            .expect("3");
        assert_eq!(first(&lying.path(name)), [byte; 4096]);
    }
    lying.turn(Lies::default());
    assert_eq!((first(&lying.path("read")), first(&lying.path("written"))), ([3; 4096], [3; 4096]));
    // A truncated file loses the data beyond its new end, also in the memory of the server.
    lying.turn(lies);
    assert_eq!(fs::read(lying.path("read")).expect("a read"), [3; 8192]);
    let file = OpenOptions::new().write(true).open(lying.path("read")).expect("a file");
    file.set_len(1000).expect("a length");
    file.set_len(4096).expect("a length");
    assert_eq!(first(&lying.path("read"))[999..1001], [3, 0]);
}

#[test]
fn a_server_may_keep_the_only_copy_of_written_data() {
    if !can_mount() {
        return skip!("needs root and /dev/fuse");
    }
    let ground = ground();
    let lying = served(&ground, Lies { memory: ServerMemory::Writes, ..Lies::default() });
    fs::write(lying.path("a"), [5; 300_000]).expect("a file");
    File::open(lying.path("a")).expect("a file").sync_all().expect("fsync");
    assert_eq!(first(&lying.path("a")), [5; 4096]);
    let [seen, stored] = [lying.path("a"), below(&ground, "a")].map(|path| fs::metadata(path).expect("attributes"));
    assert_eq!((seen.len(), stored.len(), stored.blocks()), (300_000, 300_000, 0));
    assert!(seen.blocks() * 512 >= 300_000, "it reports a hole");
    assert_eq!(fs::read(below(&ground, "a")).expect("below"), [0; 300_000]);
    lying.turn(Lies::default());
    assert_eq!(first(&lying.path("a")), [0; 4096], "the server has crashed");
}

#[test]
fn a_server_chooses_the_use_of_the_page_cache() {
    if !can_mount() {
        return skip!("needs root and /dev/fuse");
    }
    let ground = ground();
    let lying = served(&ground, Lies::default());
    // Two reads of one open file, and one read after it was opened again.
    for (cache, requests) in [(KernelCache::PerOpen, 2), (KernelCache::Kept, 1), (KernelCache::Bypassed, 3)] {
        let name = format!("{cache:?}");
        fs::write(below(&ground, &name), [1; 4096]).expect("a file");
        lying.turn(Lies { cache, ..Lies::default() });
        let before = lying.counts().reads;
        for times in [2, 1] {
            let file = File::open(lying.path(&name)).expect("a file");
            (0..times).for_each(|_| file.read_exact_at(&mut [0; 4096], 0).expect("a read"));
        }
        assert_eq!(lying.counts().reads - before, requests, "{name}");
    }
}

#[test]
fn a_slow_server_uses_processor_time() {
    if !can_mount() {
        return skip!("needs root and /dev/fuse");
    }
    let ground = ground();
    let lying = served(&ground, Lies::default());
    fs::write(lying.path("a"), [1; 4096]).expect("a file");
    let file = direct(&lying.path("a"));
    let burn = Duration::from_millis(20);
    lying.turn(Lies { burn, ..Lies::default() });
    let before = processor_time();
    (0..100).for_each(|_| file.read_exact_at(&mut Block([0; 4096]).0, 0).expect("a read"));
    // The other tests of this file use less than that.
    assert!(processor_time() - before >= 100 * burn);
}

#[test]
fn a_mount_may_look_like_a_local_file_system() {
    if !can_mount() {
        return skip!("needs root and /dev/fuse");
    }
    let ground = ground();
    let [at, below] = ["point", "below"].map(|name| ground.path().join(name));
    let lying =
        LyingFolder::mount(&at, &below, MountAppearance::Named("ext4", "/dev/sda1"), Lies::default()).expect("a mount");
    let mounts = testkit::mounts("thread-self").expect("this thread");
    let line = mounts.lines().find(|line| line.contains(at.to_str().expect("a plain path"))).expect("the mount");
    assert!(line.contains(" - fuse.ext4 /dev/sda1 "), "{line}");
    fs::write(lying.path("a"), "1").expect("a file");
    assert_eq!(names_in(&below), ["a"]);
    // FUSE_SUPER_MAGIC: the server has no influence on that.
    assert_eq!(rustix::fs::statfs(&at).expect("statfs").f_type as u64, 0x6573_5546);
}

#[test]
fn files_may_have_the_number_of_a_device_that_is_not_used() {
    need_disk!();
    if !can_mount() {
        return skip!("needs root and /dev/fuse");
    }
    let ground = ground();
    let disk = Disk::new(testkit::fuse::APART);
    let [at, below] = ["point", "below"].map(|name| ground.path().join(name));
    let lying =
        LyingFolder::mount(&at, &below, MountAppearance::Device(disk.node()), Lies::default()).expect("a mount");
    fs::write(lying.path("a"), [1; 100_000]).expect("a file");
    File::open(lying.path("a")).expect("a file").sync_all().expect("fsync");
    let device = fs::metadata(lying.path("a")).expect("attributes").dev();
    let number = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
    assert_eq!(number, disk.device.number());
    assert_eq!(fs::read(&disk.file).expect("the disk").iter().filter(|byte| **byte != 0).count(), 0);
    assert_eq!(fs::read(below.join("a")).expect("below"), [1; 100_000]);
}
