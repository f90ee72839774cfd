//! Programs and kernel threads that serve the I/O of our programs: FUSE servers, loop devices, encryption, btrfs.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use procfs::process::MountInfo;
use units::Nanos;
use workload::Server;

use crate::observe::block_device::Device;
use crate::observe::block_stack::named_file;
use crate::observe::mount::{is_served, mount_of};
use crate::sys::read_limited;
use crate::sys::schedstat::{self, ThreadTimes};

/// The parts of the stack below our programs that others may serve.
#[derive(Debug, Default)]
pub(crate) struct Served {
    devices: Vec<(Device, u32)>,
    has_btrfs: bool,
    /// The processes of FUSE servers, and the number of devices above their file systems.
    fuse: Vec<(FuseServer, u32)>,
    /// True if a FUSE file system has no visible server.
    has_hidden: bool,
    /// The folders, and the files of loop devices, in which the search looked, with the numbers of their file systems.
    places: Vec<(PathBuf, Option<u64>)>,
}

/// The process of a FUSE server.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FuseServer {
    process: PathBuf,
    name: String,
}

/// A mounted FUSE file system.
#[derive(Clone, Copy, Debug)]
struct FuseMount {
    /// The number of its connection.
    number: u64,
    /// The user who mounted it, if the mount table shows that.
    owner: Option<u32>,
}

/// An open FUSE connection of a process.
#[derive(Clone, Debug)]
struct Connection {
    server: FuseServer,
    /// The user of the process.
    user: u32,
    /// The number of the connection, if the kernel shows it (`fdinfo`).
    number: Option<u64>,
}

/// The times of the threads of each FUSE server at one moment.
#[derive(Debug, Default)]
pub(crate) struct ServerTimes(Vec<BTreeMap<PathBuf, ThreadTimes>>);

impl Served {
    /// Returns these servers if the folders, the devices and the server processes are still the same. Otherwise
    /// searches again, which reads all descriptors of all processes.
    pub(crate) fn or_find(self, folders: &[&Path], devices: &[(Device, u32)]) -> Served {
        let lives = |(server, _): &(FuseServer, u32)| server.process.exists();
        let is_same = self.devices == devices && self.places == numbered_places(folders, devices);
        if is_same && self.fuse.iter().all(lives) { self } else { Served::find(folders, devices) }
    }

    /// Finds the servers of programs with these folders and devices.
    pub(crate) fn find(folders: &[&Path], devices: &[(Device, u32)]) -> Served {
        let on_folders = folders.iter().map(|folder| (folder.to_path_buf(), 0));
        let on_files = devices.iter().filter_map(|(device, depth)| Some((named_file(device)?, depth + 1)));
        let places: Vec<(PathBuf, u32, MountInfo)> = on_folders
            .chain(on_files)
            .filter_map(|(path, depth)| {
                let path = path.canonicalize().ok()?;
                let mount = mount_of(&path)?;
                Some((path, depth, mount))
            })
            .collect();
        let has_btrfs = places.iter().any(|(.., mount)| mount.fs_type == "btrfs");
        let mounts: Vec<(FuseMount, u32)> = places
            .iter()
            .filter(|(.., mount)| is_served(&mount.fs_type))
            .filter_map(|(path, depth, mount)| {
                let number = connection(path.metadata().ok()?.dev());
                Some((FuseMount { number, owner: owner(mount) }, *depth))
            })
            .collect();
        let numbered = numbered_places(folders, devices);
        let mut served = Served { devices: devices.to_vec(), has_btrfs, places: numbered, ..Served::default() };
        if !mounts.is_empty() {
            served.add_servers(&mounts, &connections(Path::new("/proc")));
        }
        served
    }

    /// Adds the servers of these mounts, each once.
    fn add_servers(&mut self, mounts: &[(FuseMount, u32)], all: &[Connection]) {
        for (mount, depth) in mounts {
            let found = serving(all, *mount);
            self.has_hidden |= found.is_none();
            let is_new = |server: &FuseServer| self.fuse.iter().all(|(known, _)| known != server);
            if let Some(server) = found.filter(is_new) {
                self.fuse.push((server, *depth));
            }
        }
    }

    /// Reads the times of the FUSE servers.
    pub(crate) fn times(&self) -> ServerTimes {
        ServerTimes(self.fuse.iter().map(|(server, _)| thread_times(&server.process)).collect())
    }

    /// The FUSE servers that worked between two readings, and the kernel threads that serve a part of our stack, even
    /// if they did not work. `None` if some servers, or the kernel threads, are not visible.
    pub(crate) fn since(
        &self,
        (now, before): (&ServerTimes, &ServerTimes),
        workers: Option<&[(&str, ThreadTimes)]>,
    ) -> Option<Vec<Server>> {
        if self.has_hidden {
            return None;
        }
        let mut servers: BTreeMap<String, Server> = BTreeMap::new();
        let mut add = |name: String, below: u32, is_kernel: bool, times: ThreadTimes| {
            let none = Nanos::ZERO;
            let new = || Server { name: name.clone(), cpu: none, busiest: none, waited: none, below, is_kernel };
            let server = servers.entry(name.clone()).or_insert_with(new);
            server.cpu += times.ran;
            server.busiest = server.busiest.max(times.ran);
            server.waited += times.waited;
        };
        for (index, (server, below)) in self.fuse.iter().enumerate() {
            let (Some(now), Some(before)) = (now.0.get(index), before.0.get(index)) else { continue };
            for (thread, times) in now {
                let earlier = before.get(thread).copied().unwrap_or_default();
                add(format!("FUSE server {}", server.name), *below, false, times.since(earlier));
            }
        }
        for served in self.by_kernel() {
            add(served.words.clone(), served.below, true, ThreadTimes::default());
            for (name, times) in workers? {
                if served.is_served_by(queue_of(name)) {
                    add(served.words.clone(), served.below, true, *times);
                } else if is_worker(name) {
                    // This worker may have served the part before its last work, so its wait counts.
                    add(served.words.clone(), served.below, true, ThreadTimes { ran: Nanos::ZERO, ..*times });
                }
            }
        }
        let had_work = |server: &Server| server.cpu + server.waited > Nanos::ZERO || server.is_kernel;
        Some(servers.into_values().filter(had_work).collect())
    }

    /// The parts of our stack that kernel threads serve.
    fn by_kernel(&self) -> Vec<ByKernel> {
        let device = |(device, depth): &(Device, u32)| {
            let (part, words) = if device.name.starts_with("loop") {
                (Part::Loop(device.name.clone()), format!("kernel threads of {}", device.name))
            } else if is_encrypted(device) {
                (Part::Encryption(device.number()?.to_owned()), format!("encryption of {}", device.name))
            } else {
                return None;
            };
            Some(ByKernel { part, words, below: depth + 1 })
        };
        let words = "kernel threads of btrfs (compression, checksums)".to_owned();
        let btrfs = self.has_btrfs.then_some(ByKernel { part: Part::Btrfs, words, below: 0 });
        self.devices.iter().filter_map(device).chain(btrfs).collect()
    }
}

/// The folders and the files of loop devices, each with the number of its file system.
fn numbered_places(folders: &[&Path], devices: &[(Device, u32)]) -> Vec<(PathBuf, Option<u64>)> {
    let on_files = devices.iter().filter_map(|(device, _)| named_file(device));
    let all = folders.iter().map(|folder| folder.to_path_buf()).chain(on_files);
    all.map(|path| (path.clone(), path.metadata().ok().map(|metadata| metadata.dev()))).collect()
}

/// A part of a stack that kernel threads serve.
struct ByKernel {
    part: Part,
    /// A description of the threads.
    words: String,
    /// Devices at this depth or deeper are below the threads.
    below: u32,
}

enum Part {
    /// The name of a loop device.
    Loop(String),
    /// The number of an encrypted device.
    Encryption(String),
    Btrfs,
}

impl ByKernel {
    /// Returns whether this part is served by a work queue, or by a thread, with this name.
    fn is_served_by(&self, queue: &str) -> bool {
        let begins = |text: &str, starts: &[&str]| starts.iter().any(|start| text.starts_with(start));
        match &self.part {
            Part::Loop(name) => queue == name,
            Part::Encryption(number) => {
                begins(queue, &["kcryptd", "dmcrypt_write"]) && queue.split(['/', '-', '_']).any(|part| part == number)
            }
            Part::Btrfs => {
                let kind = queue.strip_prefix("btrfs-");
                kind.is_some_and(|kind| begins(kind, &["delalloc", "compressed", "endio", "worker", "rmw"]))
            }
        }
    }
}

/// True if a device encrypts (dm-crypt).
fn is_encrypted(device: &Device) -> bool {
    read_limited::of_the_kernel(device.sys.join("dm/uuid")).is_ok_and(|uuid| uuid.starts_with("CRYPT-"))
}

/// Returns the work queue that a kernel thread serves now or served last. A worker's name is
/// `kworker/POOL:NUMBER-QUEUE`, with `+` instead of `-` while it works (`wq_worker_comm`). Other threads have one task
/// and are named after it.
fn queue_of(name: &str) -> &str {
    let worker = name.strip_prefix(WORKER).and_then(|worker| worker.split_once(['-', '+']));
    worker.map_or(name, |(_, queue)| queue)
}

/// True for a thread that serves one work queue after another.
fn is_worker(name: &str) -> bool {
    name.starts_with(WORKER)
}

/// The beginning of the names of such threads.
const WORKER: &str = "kworker/";

/// The number of the FUSE connection of a file system with this device number: the kernel's own form of the number
/// (`MKDEV`), which `fdinfo` shows.
fn connection(device: u64) -> u64 {
    (u64::from(rustix::fs::major(device)) << 20) | u64::from(rustix::fs::minor(device))
}

/// The user who mounted a FUSE file system.
fn owner(mount: &MountInfo) -> Option<u32> {
    mount.super_options.get("user_id")?.as_ref()?.parse().ok()
}

/// The open FUSE connections of all processes.
fn connections(proc: &Path) -> Vec<Connection> {
    let mut all = Vec::new();
    for process in fs::read_dir(proc).into_iter().flatten().flatten() {
        let is_process =
            process.file_name().to_str().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
        if !is_process {
            continue;
        }
        let path = process.path();
        let Ok(metadata) = path.metadata() else { continue };
        // The descriptors of other users' processes cannot be read.
        for file in fs::read_dir(path.join("fd")).into_iter().flatten().flatten() {
            if fs::read_link(file.path()).ok().is_none_or(|target| target != Path::new("/dev/fuse")) {
                continue;
            }
            let info = read_limited::of_the_kernel(path.join("fdinfo").join(file.file_name())).unwrap_or_default();
            let number = info.lines().find_map(|line| line.strip_prefix("fuse_connection:")?.trim().parse().ok());
            let name = read_limited::of_the_kernel(path.join("comm")).unwrap_or_default();
            let server = FuseServer { process: path.clone(), name: name.trim().to_owned() };
            all.push(Connection { server, user: metadata.uid(), number });
        }
    }
    all
}

/// The process that serves a mount. If the kernel does not show the numbers of connections, the process must be the
/// only one with a connection, and must belong to root or to the user who mounted the file system. Other users'
/// processes are hidden from a user, so a lone visible process may serve something else.
fn serving(all: &[Connection], mount: FuseMount) -> Option<FuseServer> {
    let has_numbers = all.iter().any(|connection| connection.number.is_some());
    let may_serve = |connection: &&Connection| !has_numbers || connection.number == Some(mount.number);
    let mut found = all.iter().filter(may_serve);
    let first = found.next()?;
    // A second process may be a child that inherited the connection, or serve another file system.
    let is_alone = found.all(|other| other.server == first.server);
    let is_of_owner = first.user == 0 || Some(first.user) == mount.owner;
    (is_alone && (has_numbers || is_of_owner)).then(|| first.server.clone())
}

/// The times of each thread of a process.
fn thread_times(process: &Path) -> BTreeMap<PathBuf, ThreadTimes> {
    let threads = fs::read_dir(process.join("task")).into_iter().flatten().flatten().map(|thread| thread.path());
    threads.filter_map(|thread| Some((thread.clone(), schedstat::read(&thread)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded_machine::Recorded;

    fn ms(millis: u64) -> Nanos {
        Nanos::from_millis(millis)
    }

    /// The times of a thread that waited for a processor half as long as it computed.
    fn ran(millis: u64) -> ThreadTimes {
        ThreadTimes { ran: ms(millis), waited: ms(millis / 2) }
    }

    #[test]
    fn workers_are_named_after_their_last_queue() {
        for (name, queue) in [
            ("kworker/u8:11-events_unbound", "events_unbound"),
            ("kworker/u9:0+loop3", "loop3"),
            ("kworker/u4:2-kcryptd-253:0-1", "kcryptd-253:0-1"),
            ("kworker/R-loop3", "loop3"),
            ("kworker/1:0", "kworker/1:0"),
            ("dmcrypt_write/253:0", "dmcrypt_write/253:0"),
        ] {
            assert_eq!(queue_of(name), queue);
        }
    }

    #[test]
    fn only_kernel_threads_of_our_stack_serve_us() {
        let recorded = Recorded::new();
        let devices = [
            (recorded.add("virtual/dm-0", "253:0", &[("dm/uuid", "CRYPT-LUKS2-1\n")]), 0),
            (recorded.add("virtual/loop3", "7:3", &[]), 1),
        ];
        let served = Served { devices: devices.to_vec(), ..Served::default() };
        let workers = [
            ("kworker/u8:1-loop3", ran(10)),
            ("kworker/u8:2+loop3", ran(6)),
            ("kworker/u8:3-loop33", ran(18)),
            ("kworker/u8:4-kcryptd-253:0-1", ran(14)),
            ("dmcrypt_write/253:0", ran(2)),
            ("dmcrypt_write/253:1", ran(18)),
            ("kworker/u8:5-btrfs-delalloc", ran(18)),
            ("kworker/u8:6-writeback", ran(18)),
        ];
        let times = ServerTimes::default();
        let server = |name: &str, [cpu, busiest, waited]: [u64; 3], below| Server {
            name: name.to_owned(),
            cpu: ms(cpu),
            busiest: ms(busiest),
            waited: ms(waited),
            below,
            is_kernel: true,
        };
        // Any worker may have served a part before its last work, so the waits of all workers (42 ms) count.
        let expected =
            vec![server("encryption of dm-0", [16, 14, 43], 1), server("kernel threads of loop3", [16, 10, 42], 2)];
        assert_eq!(served.since((&times, &times), Some(&workers)), Some(expected));
        assert_eq!(served.since((&times, &times), None), None);
        // A worker's name shows only its last queue, so earlier work may be hidden. The threads are listed with times
        // of zero.
        let idle = vec![server("encryption of dm-0", [0, 0, 0], 1), server("kernel threads of loop3", [0, 0, 0], 2)];
        assert_eq!(served.since((&times, &times), Some(&[])), Some(idle));
        let btrfs = Served { has_btrfs: true, ..Served::default() };
        let found = btrfs.since((&times, &times), Some(&workers)).expect("visible threads");
        assert_eq!(found, [server("kernel threads of btrfs (compression, checksums)", [18, 18, 42], 0)]);
    }

    fn connection(name: &str, user: u32, number: Option<u64>) -> Connection {
        let server = FuseServer { process: PathBuf::from(name), name: name.to_owned() };
        Connection { server, user, number }
    }

    /// The name of the server of a mount with this number and owner.
    fn server_of(all: &[Connection], number: u64, owner: Option<u32>) -> Option<String> {
        serving(all, FuseMount { number, owner }).map(|server| server.name)
    }

    #[test]
    fn a_fuse_server_is_found_by_its_connection() {
        let known = [
            connection("a", 7, Some(40)),
            connection("b", 7, Some(41)),
            connection("b", 7, Some(41)),
            connection("c", 0, None),
        ];
        assert_eq!(server_of(&known, 41, Some(0)).as_deref(), Some("b"));
        assert_eq!(server_of(&known, 42, Some(7)), None);
        assert_eq!(server_of(&[connection("a", 7, Some(41)), connection("b", 7, Some(41))], 41, Some(7)), None);
    }

    #[test]
    fn without_numbers_only_a_lone_server_of_root_or_of_the_mounts_owner_is_known() {
        let lone = |user| [connection("a", user, None)];
        assert_eq!(server_of(&lone(7), 41, Some(7)).as_deref(), Some("a"));
        assert_eq!(server_of(&lone(0), 41, Some(7)).as_deref(), Some("a"));
        assert_eq!(server_of(&lone(7), 41, Some(0)), None, "the server of root is hidden");
        assert_eq!(server_of(&lone(7), 41, None), None);
        assert_eq!(server_of(&[connection("a", 0, None), connection("b", 0, None)], 41, Some(0)), None);
        assert_eq!(server_of(&[], 41, Some(0)), None);
    }

    #[test]
    fn a_server_of_several_mounts_counts_once() {
        let mount = |number| (FuseMount { number, owner: None }, 0);
        let all = [connection("a", 7, Some(40)), connection("b", 7, Some(41))];
        let mut served = Served::default();
        served.add_servers(&[mount(40), mount(41), mount(40)], &all);
        let names: Vec<&str> = served.fuse.iter().map(|(server, _)| server.name.as_str()).collect();
        assert_eq!((names, served.has_hidden), (vec!["a", "b"], false));
        served.add_servers(&[mount(42)], &all);
        assert!(served.has_hidden);
    }

    #[test]
    fn known_servers_are_not_searched_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let folders = [folder.path()];
        let found = Served::find(&folders, &[]);
        let server = FuseServer { process: PathBuf::from("/proc/self"), name: "self".to_owned() };
        let found = Served { fuse: vec![(server, 0)], ..found };
        assert_eq!(found.or_find(&folders, &[]).fuse.len(), 1, "the same folders and a living server");
        let ended = FuseServer { process: folder.path().join("ended"), name: "ended".to_owned() };
        let found = Served { fuse: vec![(ended, 0)], ..Served::find(&folders, &[]) };
        assert_eq!(found.or_find(&folders, &[]).fuse, []);
        let other = Served { has_hidden: true, ..Served::find(&folders, &[]) };
        assert!(!other.or_find(&[Path::new("/")], &[]).has_hidden, "another folder");
    }

    #[test]
    fn the_busiest_thread_of_a_fuse_server_is_known() {
        let server = FuseServer { process: PathBuf::from("/proc/7"), name: "slow".to_owned() };
        let served = Served { fuse: vec![(server, 1)], ..Served::default() };
        let times = |all: &[(&str, u64)]| {
            ServerTimes(vec![all.iter().map(|(thread, time)| (PathBuf::from(thread), ran(*time))).collect()])
        };
        let (before, now) = (times(&[("1", 100), ("2", 50)]), times(&[("1", 110), ("2", 90), ("3", 4)]));
        let expected = Server {
            name: "FUSE server slow".to_owned(),
            cpu: ms(54),
            busiest: ms(40),
            waited: ms(27),
            below: 1,
            is_kernel: false,
        };
        assert_eq!(served.since((&now, &before), Some(&[])), Some(vec![expected]));
        let hidden = Served { has_hidden: true, ..Served::default() };
        assert_eq!(hidden.since((&now, &before), Some(&[])), None);
    }
}
