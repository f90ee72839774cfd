//! A process with a small memory limit keeps little page cache, and the limit leaves nothing behind. Alone in its file,
//! because the limit applies to the whole process.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use kernel::{LimitError, MemoryLimit};

#[test]
fn a_file_larger_than_the_limit_does_not_stay_cached() {
    let before = fs::read_to_string("/proc/self/cgroup").expect("the groups of this process");
    let limit = match MemoryLimit::new(16 << 20) {
        Ok(limit) => limit,
        Err(error @ (LimitError::NoController | LimitError::Refused { .. })) => return testkit::skip!("{error}"),
        Err(error) => panic!("{error}"),
    };
    let inside = fs::read_to_string("/proc/self/cgroup").expect("the groups of this process");
    assert_ne!(inside, before);

    let folder = tempfile::tempdir_in(".").expect("a scratch folder on a disk");
    let mut file = fs::File::create(folder.path().join("file")).expect("a file");
    let block = vec![7u8; 1 << 20];
    for _ in 0..64 {
        file.write_all(&block).expect("room for 64 MiB");
    }
    file.sync_all().expect("a sync");
    let group: PathBuf = own_group();
    let used = ["memory.usage_in_bytes", "memory.current"]
        .iter()
        .find_map(|name| fs::read_to_string(group.join(name)).ok())
        .and_then(|text| text.trim().parse::<u64>().ok())
        .expect("the group's use");
    assert!(used <= 16 << 20, "{used} bytes in a memory of 16 MiB");

    drop(limit);
    assert_eq!(fs::read_to_string("/proc/self/cgroup").expect("the groups of this process"), before);
    assert!(!group.exists());
}

/// Folder of the control group that this process is in now, found by the name that `MemoryLimit` gives it.
fn own_group() -> PathBuf {
    let name = format!("diskperf-{}", std::process::id());
    let text = fs::read_to_string("/proc/self/cgroup").expect("the groups of this process");
    let line = text.lines().find(|line| line.ends_with(&name)).expect("our group");
    let path = line.rsplit(':').next().expect("a path").trim_start_matches('/');
    ["/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"]
        .iter()
        .map(|mount| PathBuf::from(mount).join(path))
        .find(|group| group.is_dir())
        .expect("our group is mounted somewhere")
}
