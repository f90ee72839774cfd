//! The state of the page cache on the real kernel: diskperf reaches the wanted state, and never claims a state that it
//! cannot see.

mod common;

use std::fs::{self, File};
use std::io;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::{BYTES, in_mounts_of_its_own, run, tool, world_in};
use kernel::guard::Given;
use kernel::{EvictionMethods, Posix};
use testkit::lying_folder::{KernelCache, Lies, LyingFolder, MountAppearance};
use testkit::skip;
use workload::programs::classic1983::Classic;
use workload::{Cache, CacheState, Directory, Name, Op, Residency, Stream, Unproven, World};

/// Number of pages of the file.
fn pages() -> u64 {
    BYTES / rustix::param::page_size() as u64
}

/// A world with one file of `BYTES` bytes that was just written and may still be dirty.
fn world_with_a_file(parent: &Path) -> Posix {
    let mut world = world_in(parent);
    run(&mut world, Classic::Write8192.steps(Name::root(0), BYTES));
    world
}

/// Returns the reason why the temporary folder cannot have a cold file, if so.
fn no_cold_files_in(parent: &Path) -> Option<Unproven> {
    match world_with_a_file(parent).set_cache_state(Cache::Cold).expect("a state") {
        CacheState::Unknown(why @ (Unproven::NeverEvicts | Unproven::Blind)) => Some(why),
        _ => None,
    }
}

/// Returns the only file in `folder`, which contains one workspace.
fn only_file_below(folder: &Path) -> PathBuf {
    let workspace = fs::read_dir(folder).expect("a list").next().expect("a workspace").expect("an entry");
    workspace.path().join("f0")
}

#[test]
fn a_cold_or_dropped_file_comes_from_the_device() {
    let parent = std::env::temp_dir();
    if let Some(why) = no_cold_files_in(&parent) {
        return skip!("in the temporary folder, {why}");
    }
    let mut world = world_with_a_file(&parent);
    let proofs = [(Cache::Cold, CacheState::Cold), (Cache::Dropped, CacheState::Unknown(Unproven::NotAsked))];
    for (wanted, proven) in proofs {
        assert_eq!(world.set_cache_state(Cache::Warm).expect("a state"), CacheState::Warm);
        assert_eq!(world.set_cache_state(wanted).expect("a state"), proven);
        let Some(before) = world.device_bytes() else { return skip!("the device of temporary files is hidden") };
        run(&mut world, Classic::Read8192.steps(Name::root(0), BYTES));
        let read = world.device_bytes().expect("the device").since(&before).read;
        // Other programs may read too, so more bytes may come from the device, but not fewer.
        assert!(read >= BYTES / 100 * 95, "{wanted:?}: {read} of {BYTES} bytes came from the device");
    }
}

#[test]
fn a_warm_file_is_warm_until_it_is_evicted() {
    let parent = std::env::temp_dir();
    if let Some(why) = no_cold_files_in(&parent) {
        return skip!("in the temporary folder, {why}");
    }
    let mut world = world_with_a_file(&parent);
    assert_eq!(world.set_cache_state(Cache::Warm).expect("a state"), CacheState::Warm);
    assert_eq!(world.set_cache_state(Cache::Cold).expect("a state"), CacheState::Cold);
    assert_eq!(world.set_cache_state(Cache::Warm).expect("a state"), CacheState::Warm);
}

#[test]
fn cache_states_that_were_not_requested_are_unknown() {
    let mut world = world_with_a_file(&std::env::temp_dir());
    assert_eq!(world.set_cache_state(Cache::AsIs).expect("a state"), CacheState::Unknown(Unproven::NotAsked));
    let mut world = world_in(&std::env::temp_dir());
    for wanted in [Cache::Cold, Cache::Warm] {
        assert_eq!(world.set_cache_state(wanted).expect("a state"), CacheState::Unknown(Unproven::NoFiles));
    }
}

#[test]
fn all_of_many_files_are_evicted() {
    let parent = std::env::temp_dir();
    if let Some(why) = no_cold_files_in(&parent) {
        return skip!("in the temporary folder, {why}");
    }
    let mut world = world_in(&parent);
    let program = workload::programs::lfs::SmallFiles::new(500, 5000).program();
    run(&mut world, program.prepare.clone());
    run(&mut world, program.phases[0].steps.clone());
    assert_eq!(world.set_cache_state(Cache::Cold).expect("a state"), CacheState::Cold);
    assert_eq!(world.set_cache_state(Cache::Warm).expect("a state"), CacheState::Warm);
    assert_eq!(world.tree_counts(0).expect("tree counts").files, 500);
}

#[test]
fn files_on_tmpfs_are_never_cold() {
    let parent = Path::new("/dev/shm");
    if !testkit::is_in_memory(parent) {
        return skip!("no tmpfs where most systems have one");
    }
    let mut world = world_with_a_file(parent);
    assert_eq!(world.set_cache_state(Cache::Cold).expect("a state"), CacheState::Unknown(Unproven::NeverEvicts));
    assert_eq!(world.set_cache_state(Cache::Warm).expect("a state"), CacheState::Warm);
    assert_eq!(world.unwritten().expect("pages"), None);
}

#[test]
fn pages_locked_by_another_process_are_not_cold() {
    let parent = tempfile::tempdir().expect("a scratch folder");
    if let Some(why) = no_cold_files_in(parent.path()) {
        return skip!("in the temporary folder, {why}");
    }
    let mut world = world_with_a_file(parent.path());
    assert_eq!(world.set_cache_state(Cache::Cold).expect("a state"), CacheState::Cold);
    let locked = 16 * rustix::param::page_size();
    let Some(holder) = Holder::lock(&only_file_below(parent.path()), locked) else {
        return skip!("another process may lock no memory");
    };
    match world.set_cache_state(Cache::Cold).expect("a state") {
        // A large folio is locked as a whole, so more pages than the locked ones may stay.
        CacheState::Unknown(Unproven::Partly(Residency { pages: left, of })) => {
            assert!(left >= 16 && of == pages(), "{left} of {of}");
        }
        other => panic!("{other:?}"),
    }
    drop(holder);
    assert_eq!(world.set_cache_state(Cache::Cold).expect("a state"), CacheState::Cold);
}

#[test]
fn a_given_file_is_evicted_only_if_allowed() {
    let parent = tempfile::tempdir().expect("a scratch folder");
    if let Some(why) = no_cold_files_in(parent.path()) {
        return skip!("in the temporary folder, {why}");
    }
    let path = parent.path().join("given");
    let mut file = File::create(&path).expect("a file");
    file.write_all(&vec![1; BYTES as usize]).expect("room");
    let mut world = Posix::on_given(vec![Given::Read(path)], 8192, Arc::default()).expect("a world");
    assert_eq!(world.set_cache_state(Cache::Cold).expect("a state"), CacheState::Unknown(Unproven::NotOurs));
    world.allow(EvictionMethods { given: true, drop_caches: false }).expect("no rights needed");
    assert_eq!(world.set_cache_state(Cache::Cold).expect("a state"), CacheState::Cold);
    assert_eq!(world.set_cache_state(Cache::Warm).expect("a state"), CacheState::Warm);
}

#[test]
fn dirty_pages_are_counted() {
    let parent = std::env::temp_dir();
    let mut world = world_in(&parent);
    // Another program's sync may come in between, so this is tried several times.
    let mut most = 0;
    for _ in 0..5 {
        run(&mut world, Classic::Write8192.steps(Name::root(0), BYTES));
        let Some(seen) = world.unwritten().expect("pages") else {
            return skip!("dirty pages cannot be seen in the temporary folder");
        };
        assert_eq!(seen.of, pages());
        most = most.max(seen.pages);
    }
    assert!(most > 0, "nothing was ever dirty");
    run(&mut world, Stream::from_ops(vec![Op::FsyncDirectory { directory: Directory::ROOT }, Op::Syncfs]));
    assert_eq!(world.unwritten().expect("pages"), Some(Residency { pages: 0, of: pages() }));
}

#[test]
fn waiting_for_quiet_ends() {
    let mut world = world_with_a_file(&std::env::temp_dir());
    for _ in 0..2 {
        let quiescence = world.quiesce().expect("quiescence");
        assert!(quiescence.unwritten.is_some());
        assert!(quiescence.waited.0 > 0);
    }
    assert!(world.unwritten().expect("pages").is_none_or(|left| left.pages == 0));
}

/// On overlayfs, cachestat returns 0 for a warm file.
#[test]
fn mincore_is_used_on_overlayfs() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let done = in_mounts_of_its_own(|| {
        let part = |name: &str| folder.path().join(name);
        for name in ["lower", "upper", "work", "merged"] {
            fs::create_dir(part(name)).expect("a folder");
        }
        let dir = |name: &str| part(name).display().to_string();
        let options = format!("lowerdir={},upperdir={},workdir={}", dir("lower"), dir("upper"), dir("work"));
        if !tool("mount", &["-t", "overlay", "-o", &options, "overlay", &dir("merged")]) {
            return skip!("no overlay can be mounted in the temporary folder");
        }
        let mut world = world_with_a_file(&part("merged"));
        assert_eq!(world.set_cache_state(Cache::Warm).expect("a state"), CacheState::Warm);
        assert_eq!(world.set_cache_state(Cache::Cold).expect("a state"), CacheState::Cold);
        assert_eq!(world.unwritten().expect("pages"), None);
    });
    if let Err(reason) = done {
        skip!("no mounts of its own: {reason}");
    }
}

#[test]
fn pages_that_an_open_drops_are_not_warm() {
    if !testkit::is_root() || !Path::new("/dev/fuse").exists() {
        return skip!("needs root and /dev/fuse");
    }
    for (cache, is_warm) in [(KernelCache::Kept, true), (KernelCache::PerOpen, false)] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let [point, below] = ["point", "below"].map(|name| folder.path().join(name));
        [&point, &below].into_iter().for_each(|path| fs::create_dir(path).expect("a folder"));
        let done = in_mounts_of_its_own(|| {
            let lies = Lies { cache, ..Lies::default() };
            let served = LyingFolder::mount(&point, &below, MountAppearance::Fuse, lies).expect("a mount");
            let mut world = world_with_a_file(&served.path(""));
            match world.set_cache_state(Cache::Warm).expect("a state") {
                CacheState::Warm => assert!(is_warm),
                CacheState::Unknown(Unproven::Partly(_)) => assert!(!is_warm),
                other => panic!("{other:?}"),
            }
        });
        if let Err(reason) = done {
            return skip!("no mounts of its own: {reason}");
        }
    }
}

#[test]
fn a_remount_follows_fadvise_and_programs_continue() {
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
        let mut world = world_with_a_file(Path::new(&point));
        let mounted_at = point.clone();
        world.remount_by(
            0,
            Box::new(move || {
                // The child process of another test may have copies of our descriptors for a moment.
                let is_unmounted = testkit::becomes_true(|| tool("umount", &[&mounted_at]));
                let again = is_unmounted && tool("mount", &["-o", "loop", &image, &mounted_at]);
                if again { Ok(()) } else { Err(io::ErrorKind::Other.into()) }
            }),
        );
        assert_eq!(world.set_cache_state(Cache::Cold).expect("a state"), CacheState::Cold);
        assert_eq!(run(&mut world, Classic::Read8192.steps(Name::root(0), BYTES)).bytes_read, BYTES);
        drop(world);
        testkit::run_tool_when_free("umount", &[&point]);
    });
    if let Err(reason) = done {
        skip!("no mounts of its own: {reason}");
    }
}

/// A process that keeps the beginning of a file locked in memory. It is killed on drop.
struct Holder(libc::pid_t);

impl Holder {
    fn lock(path: &Path, bytes: usize) -> Option<Holder> {
        let file = File::open(path).expect("the file");
        let (mut ready, tell) = io::pipe().expect("a pipe");
        // SAFETY: the child makes only system calls. They need no lock that another thread of the parent may have held.
        let child = unsafe { libc::fork() };
        assert!(child >= 0, "no process: {}", io::Error::last_os_error());
        if child == 0 {
            // SAFETY: a new mapping at an address of the kernel's choice; `tell` stays open, the byte is readable. The
            // child uses none of the descriptors that it closes.
            unsafe {
                let (access, shared) = (libc::PROT_READ, libc::MAP_SHARED);
                let mapping = libc::mmap(std::ptr::null_mut(), bytes, access, shared, file.as_raw_fd(), 0);
                let is_locked = mapping != libc::MAP_FAILED && libc::mlock(mapping, bytes) == 0;
                // The files of other tests must not stay open here: their file systems could not be unmounted.
                let kept = tell.as_raw_fd().unsigned_abs();
                libc::close_range(kept + 1, u32::MAX, 0);
                if kept > 0 {
                    libc::close_range(0, kept - 1, 0);
                }
                // The child must not outlive a test that is killed.
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                libc::write(tell.as_raw_fd(), [u8::from(is_locked)].as_ptr().cast(), 1);
                libc::pause();
                libc::_exit(0);
            }
        }
        drop(tell);
        let holder = Holder(child);
        let mut answer = [0];
        io::Read::read_exact(&mut ready, &mut answer).expect("an answer");
        (answer == [1]).then_some(holder)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // SAFETY: our own child, which was not waited for yet.
        unsafe {
            libc::kill(self.0, libc::SIGKILL);
            libc::waitpid(self.0, std::ptr::null_mut(), 0);
        }
    }
}
