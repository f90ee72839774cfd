//! The kernel's counters, read before and after a run, show what the run did.

mod common;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;

use common::{BYTES, in_mounts_of_its_own, run, tool, world_in};
use kernel::Posix;
use testkit::{run_tool_when_free, skip};
use workload::programs::classic1983::Classic;
use workload::programs::tlpi;
use workload::{Cache, CacheState, Counters, Directory, Name, Op, Stream, World};

/// Runs a stream and returns the change of the counters.
fn counters(world: &mut Posix, stream: Stream) -> Counters {
    world.watch().expect("counters");
    run(world, stream);
    world.counters().expect("counters")
}

fn write() -> Stream {
    Classic::Write8192.steps(Name::root(0), BYTES)
}

fn read() -> Stream {
    Classic::Read8192.steps(Name::root(0), BYTES)
}

fn sync() -> Stream {
    Stream::from_ops(vec![Op::FsyncDirectory { directory: Directory::ROOT }, Op::Syncfs])
}

#[test]
fn a_cold_read_is_counted_at_every_level() {
    let mut world = world_in(&std::env::temp_dir());
    run(&mut world, write());
    if world.set_cache_state(Cache::Cold).expect("a state") != CacheState::Cold {
        return skip!("no cold file in the temporary folder");
    }
    let seen = counters(&mut world, read());
    // Other tests of this process may add to the counters, but never subtract.
    let accounts = seen.accounts.expect("the accounts of this process");
    assert!(accounts.called_read >= BYTES && accounts.fetched >= BYTES, "{accounts:?}");
    let Some(device) = seen.device else { return skip!("the device under the temporary folder is hidden") };
    assert!(device.read >= BYTES / 100 * 95, "{device:?}");
    let lowest = seen.lowest().next().expect("the device that was read");
    assert!(lowest.used.moved.read >= BYTES / 100 * 95 && lowest.used.reads > 0, "{lowest:?}");
}

#[test]
fn a_sync_is_counted_as_write_and_flush() {
    let mut world = world_in(&std::env::temp_dir());
    world.watch().expect("counters");
    run(&mut world, write());
    run(&mut world, sync());
    let seen = world.counters().expect("counters");
    assert!(seen.accounts.expect("the accounts of this process").called_written >= BYTES);
    let Some(device) = seen.device else { return skip!("the device under the temporary folder is hidden") };
    assert!(device.written >= BYTES / 100 * 95, "{device:?}");
}

#[test]
fn run_queue_wait_is_known_once_it_is_watched() {
    let mut world = world_in(&std::env::temp_dir());
    let mut tally = workload::Tally::default();
    let mut ready = |world: &mut Posix| {
        let spans = world.run(&mut [write()], std::slice::from_mut(&mut tally)).expect("a run");
        spans[0].ready
    };
    assert_eq!(ready(&mut world), None);
    world.watch().expect("counters");
    let waited = ready(&mut world);
    if !Path::new("/proc/thread-self/schedstat").exists() {
        return skip!("this kernel does not account for waiting");
    }
    assert!(waited.is_some());
}

#[test]
fn available_machine_counters_are_read() {
    let mut world = world_in(&std::env::temp_dir());
    let seen = counters(&mut world, write());
    assert!(seen.machine.is_some() && seen.steal.is_some());
    assert_eq!(seen.pressure.io.is_some(), fs::read_to_string("/proc/pressure/io").is_ok());
    assert!(seen.memory.drops.is_some());
    let dirtiness = world.dirtiness().expect("dirty pages and thresholds");
    assert!(dirtiness.free_run > 0);
}

#[test]
fn counters_of_an_image_include_the_disk_below_it() {
    if !testkit::has_tool("mkfs.ext4") {
        return skip!("no mkfs.ext4");
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let done = in_mounts_of_its_own(|| {
        let (image, point) = (folder.path().join("image"), folder.path().join("point"));
        fs::create_dir(&point).expect("a folder");
        File::create(&image).and_then(|file| file.set_len(64 << 20)).expect("an image");
        let (image, point) = (image.display().to_string(), point.display().to_string());
        if !tool("mkfs.ext4", &["-q", &image]) || !tool("mount", &["-o", "loop", &image, &point]) {
            return skip!("no image can be mounted");
        }
        let mut world = world_in(Path::new(&point));
        world.watch().expect("counters");
        run(&mut world, write());
        run(&mut world, sync());
        let seen = world.counters().expect("counters");
        let depths: Vec<u32> = seen.layers.iter().map(|layer| layer.depth).collect();
        let top = &seen.layers[0];
        assert!(top.name.starts_with("loop") && top.used.moved.flushes > 0, "{top:?}");
        assert_eq!(seen.device, Some(top.used.moved));
        drop(world);
        run_tool_when_free("umount", &[&point]);
        // The disk below is visible only if the folder's own disk is.
        let disks = world_in(folder.path()).device_bytes().map_or(0, |_| 1);
        assert!(depths.len() > disks, "{depths:?}");
    });
    if let Err(reason) = done {
        skip!("no mounts of its own: {reason}");
    }
}

/// A CPU quota for one thread, in version 1 of control groups.
struct Share(PathBuf);

impl Share {
    /// Limits the calling thread to 8 % of one CPU. Even on a busy machine, it would get more without the limit.
    fn small() -> io::Result<Share> {
        let group = Path::new("/sys/fs/cgroup/cpu").join(format!("diskperf-test-{}", std::process::id()));
        fs::create_dir(&group)?;
        let share = Share(group);
        fs::write(share.0.join("cpu.cfs_period_us"), "100000")?;
        fs::write(share.0.join("cpu.cfs_quota_us"), "8000")?;
        fs::write(share.0.join("tasks"), rustix::thread::gettid().to_string())?;
        Ok(share)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let back = fs::write("/sys/fs/cgroup/cpu/tasks", rustix::thread::gettid().to_string());
        let removed = fs::remove_dir(&self.0);
        assert!(thread::panicking() || (back.is_ok() && removed.is_ok()), "{back:?}, {removed:?}");
    }
}

#[test]
fn an_exhausted_cpu_quota_is_counted() {
    let share = match Share::small() {
        Ok(share) => share,
        Err(error) => return skip!("no share of the CPU can be set: {error}"),
    };
    let mut world = world_in(&std::env::temp_dir());
    run(&mut world, write());
    // Half a million calls: enough to use up the quota of several periods on any machine.
    let copy = tlpi::copy_steps(Name::root(0), Name::root(1), 16, BYTES, tlpi::Sync::None);
    let seen = counters(&mut world, copy);
    drop(share);
    assert!(seen.quota.cpu.expect("the share's account").0 > 0, "{:?}", seen.quota);
}
