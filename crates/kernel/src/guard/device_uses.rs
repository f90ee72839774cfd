//! The block devices of a machine and their uses, from /sys and /proc: stacks of devices, mounts in all visible mount
//! namespaces, swap, exports. Nothing is judged here.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use procfs::process::MountInfo;
use rustix::fs::MemfdFlags;

use super::exports::{Exporter, exports};
use super::trusted_file_systems;
use super::writers::{self, Writers};
use crate::observe::block_device::{Device, Number, number_in};
use crate::observe::block_stack::{self, folders};
use crate::observe::mapped_table::{self, Extent};
use crate::observe::mount;
use crate::provision::loop_device::{self, Backing, Shown, Window};
use crate::sys::name::{Shown as _, original};
use crate::sys::read_limited;

/// The block devices of a machine, and their uses.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    /// All block devices, disks and partitions.
    pub(crate) blocks: Vec<Block>,
    /// All visible mounts of devices; `None` if not even our own can be read.
    pub(crate) mounts: Option<Vec<Mount>>,
    /// The devices that are used as swap.
    pub(crate) swaps: Vec<Number>,
    /// UUID and members of each btrfs that is in use.
    pub(crate) btrfs: Vec<(String, Vec<Number>)>,
    /// Type and device name of each file system that the kernel has in use, whether mounted or not.
    pub(crate) alive: Vec<(String, String)>,
    /// Devices that are the external journal of an ext4 in use, by name.
    pub(crate) journals: Vec<String>,
    /// Devices that the kernel exports to guests or other machines.
    pub(crate) exports: Vec<(Number, Exporter)>,
    /// Other processes that have devices, or the files of loop devices, open for writing.
    pub(crate) writers: Writers,
}

/// A block device, and its relation to others.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) name: String,
    pub(crate) number: Number,
    /// The disk that it is a partition of.
    pub(crate) disk: Option<Number>,
    /// Its sectors on that disk.
    pub(crate) sectors: Option<Range<u64>>,
    /// The devices that it is made of: its slaves in /sys.
    pub(crate) slaves: Vec<Number>,
    /// The names of the devices that are made of it: its holders in /sys.
    pub(crate) holders: Vec<String>,
    /// Name, or model and serial number: all paths to one disk have the same, and no other disk has it.
    pub(crate) identity: Option<String>,
    pub(crate) bytes: Option<u64>,
    /// The folder in /sys of the hardware device that drives it: two paths to one disk have two.
    pub(crate) driven_by: Option<PathBuf>,
    /// The sectors of devices below that a mapped device shows; none for other devices. `None` if that cannot be read.
    pub(crate) maps: Option<Vec<Extent>>,
    /// The name that a mapped device was given.
    pub(crate) called: Option<String>,
    /// The file or device behind a loop device.
    pub(crate) backing: Option<Backing>,
    /// The path of that file; if the file was deleted, the folder that it was in.
    pub(crate) file: Option<PathBuf>,
    /// Current size of the file of that name, in bytes, if this machine alone has the file. The device may still have
    /// the old size.
    pub(crate) file_bytes: Option<u64>,
    /// The part of its file that a loop device shows.
    pub(crate) window: Window,
    /// The file system of a loop device's file, if inode numbers do not identify a file there.
    pub(crate) unseen: Option<String>,
    /// True for a loop device that this process has attached to a file of its own.
    pub(crate) is_own: bool,
    /// True for a loop device whose backing is unknown: any file or device may be behind it.
    pub(crate) is_unknown: bool,
}

impl Block {
    /// Returns the device behind a loop device. `None` if a file is behind it.
    pub(crate) fn device_behind(&self) -> Option<Number> {
        match self.backing {
            Some(Backing::Device(number)) => Some(number),
            _ => None,
        }
    }
}

/// A mount of a device.
#[derive(Debug)]
pub(crate) struct Mount {
    /// The device number of the mounted files.
    pub(crate) number: Option<Number>,
    /// The device that was mounted.
    pub(crate) source: Option<Number>,
    /// A second device that it needs: the log of an xfs.
    pub(crate) log: Option<Number>,
    pub(crate) at: PathBuf,
    pub(crate) file_system: String,
    /// True if it is mounted only in another mount namespace.
    pub(crate) is_elsewhere: bool,
}

/// The sources of facts about a machine: its own /sys and /proc, or recorded ones.
pub(crate) struct Sources<'a> {
    pub(crate) sys: &'a Path,
    pub(crate) proc: &'a Path,
    /// Returns the number of the block device at a path.
    pub(crate) number_of: &'a dyn Fn(&Path) -> Option<Number>,
    /// Returns the file or device behind a loop device.
    pub(crate) backing: &'a dyn Fn(&Device) -> Option<Shown>,
    /// Returns the sectors that a mapped device shows.
    pub(crate) maps: &'a dyn Fn(Number) -> Option<Vec<Extent>>,
    /// Returns the device number (`st_dev`) of a file or folder.
    pub(crate) device_of: &'a dyn Fn(&Path) -> Option<u64>,
    /// Returns the size of the file behind a loop device, in bytes. Only root can see which file that is.
    pub(crate) file_bytes: &'a dyn Fn(&Path, Option<&Backing>) -> Option<u64>,
    /// The device number of files that are only in memory and in no folder.
    pub(crate) of_memory: Option<u64>,
    /// Returns true if this process has attached the loop device.
    pub(crate) is_own: &'a dyn Fn(Number) -> bool,
    /// Returns the processes that have devices or one of these files open for writing.
    pub(crate) writers: &'a dyn Fn(&[Backing]) -> Writers,
}

impl Machine {
    /// This machine.
    pub(crate) fn this() -> Machine {
        Machine::with_own_sources(Machine::from_sources)
    }

    fn with_own_sources(see: impl Fn(&Sources) -> Machine) -> Machine {
        see(&Sources {
            sys: Path::new("/sys"),
            proc: Path::new("/proc"),
            number_of: &mount::block_number,
            backing: &loop_device::attached_to,
            maps: &mapped_table::extents,
            device_of: &|path| Some(path.metadata().ok()?.dev()),
            file_bytes: &file_bytes,
            of_memory: of_memory(),
            is_own: &loop_device::is_own,
            writers: &|files| writers::writers(Path::new("/proc"), files),
        })
    }

    /// Returns the loop devices of this machine and the file systems that their files are on, and nothing else.
    pub(crate) fn of_loops() -> Machine {
        Machine::with_own_sources(|sources| {
            let all = folders(&sources.sys.join("class/block"));
            // The programs of 1983 ask this, and must start fast.
            if !all.iter().any(|folder| folder.join("loop/backing_file").exists()) {
                return Machine::default();
            }
            let mount_namespaces = mount_namespaces(sources).unwrap_or_default();
            Machine {
                blocks: with_hosts(blocks(sources), sources, &mount_namespaces, &alive(sources.sys)),
                ..Machine::default()
            }
        })
    }

    pub(crate) fn from_sources(sources: &Sources) -> Machine {
        let (mount_namespaces, alive) = (mount_namespaces(sources), alive(sources.sys));
        let blocks = with_hosts(blocks(sources), sources, mount_namespaces.as_deref().unwrap_or_default(), &alive);
        let files: Vec<Backing> = blocks.iter().filter_map(|block| block.backing.clone()).collect();
        let mounts = mount_namespaces.map(|mount_namespaces| {
            mount_namespaces.into_iter().flat_map(|namespace| mounts_in(sources, namespace)).collect()
        });
        Machine {
            mounts,
            swaps: swaps(sources),
            btrfs: btrfs(sources.sys),
            alive,
            journals: folders(&sources.proc.join("fs/jbd2")).iter().filter_map(|folder| name(folder)).collect(),
            exports: exports(sources.sys, |path| device_at(sources, path)),
            writers: (sources.writers)(&files),
            blocks,
        }
    }
}

/// Returns the size of a file on a local file system. Others are not asked: the server of a network file system may be
/// gone.
fn file_bytes(path: &Path, backing: Option<&Backing>) -> Option<u64> {
    let file_system = mount::file_system_at(path)?;
    let tells_files = trusted_file_systems::tells_files(&file_system);
    if !trusted_file_systems::is_local(&file_system) {
        return None;
    }
    let metadata = path.metadata().ok().filter(fs::Metadata::is_file)?;
    let is_it = |backing: &Backing| Backing::File { device: metadata.dev(), inode: metadata.ino() } == *backing;
    (!tells_files || backing.is_none_or(is_it)).then(|| metadata.size())
}

/// Returns the device number of the kernel's own tmpfs, which contains the files of memfd_create(2). No list of mounts
/// shows it.
fn of_memory() -> Option<u64> {
    let file = rustix::fs::memfd_create("diskperf", MemfdFlags::CLOEXEC).ok()?;
    Some(rustix::fs::fstat(file).ok()?.st_dev)
}

/// Fills in the current sizes of loop devices' files, and the file systems on which inode numbers do not identify them.
fn with_hosts(
    mut blocks: Vec<Block>,
    sources: &Sources,
    mount_namespaces: &[MountNamespace],
    alive: &[(String, String)],
) -> Vec<Block> {
    let hosts = Hosts { sources, mount_namespaces, alive };
    let unseen: Vec<Option<String>> = blocks.iter().map(|block| hosts.unseen(block, &blocks)).collect();
    for (block, unseen) in blocks.iter_mut().zip(unseen) {
        if let Some(file) = &block.file {
            block.file_bytes = (sources.file_bytes)(file, block.backing.as_ref());
        }
        block.unseen = unseen;
    }
    blocks
}

/// The visible file systems, and their names.
struct Hosts<'a> {
    sources: &'a Sources<'a>,
    mount_namespaces: &'a [MountNamespace],
    alive: &'a [(String, String)],
}

impl Hosts<'_> {
    /// Returns the file system of a loop device's file, if inode numbers do not identify a file there. The file system
    /// is one of these:
    ///   1. the one that has the device number in a list of mounts, of any namespace;
    ///   2. the kernel's own memory, which is tmpfs;
    ///   3. that of a device which is in use without a visible mount;
    ///   4. btrfs, whose subvolumes have device numbers of their own: the file's name must lead there;
    ///   5. an unknown one, which may be any.
    ///
    /// Only root may ask the device. For other users, the name must lead to a file on an ordinary file system.
    fn unseen(&self, block: &Block, blocks: &[Block]) -> Option<String> {
        let device = match block.backing {
            Some(Backing::File { device, .. }) => device,
            Some(Backing::Unreachable) => return Some(trusted_file_systems::UNKNOWN.to_owned()),
            Some(Backing::Device(_)) | None => {
                return block.is_unknown.then(|| self.unseen_by_name(block)).flatten();
            }
        };
        let number = (rustix::fs::major(device), rustix::fs::minor(device));
        let all = self.mount_namespaces.iter().flat_map(|namespace| &namespace.mounts);
        let mounted: BTreeSet<&str> = all
            .filter(|mount| parse_number(&mount.majmin) == Some(number))
            .map(|mount| mount.fs_type.as_str())
            .collect();
        // 1.
        if let Some(odd) = mounted.iter().find(|name| !trusted_file_systems::tells_files(name)) {
            return Some((*odd).to_owned());
        }
        let is_alive = || {
            let on = blocks.iter().find(|one| one.number == number);
            let known = self.alive.iter().filter(|(_, name)| on.is_some_and(|on| on.name == *name));
            known.into_iter().any(|(file_system, _)| trusted_file_systems::tells_files(file_system))
        };
        // 2., 3., 4.
        let is_told = !mounted.is_empty()
            || self.sources.of_memory == Some(device)
            || is_alive()
            || self.is_on_btrfs(block, device);
        // 5.
        (!is_told).then(|| trusted_file_systems::UNKNOWN.to_owned())
    }

    fn unseen_by_name(&self, block: &Block) -> Option<String> {
        let unknown = || Some(trusted_file_systems::UNKNOWN.to_owned());
        let (Some(file), Some(namespace)) = (&block.file, self.mount_namespaces.first()) else { return unknown() };
        match namespace.mount_of(file).map(|mount| mount.fs_type.as_str()) {
            Some(name) if !trusted_file_systems::tells_files(name) => Some(name.to_owned()),
            Some(_) if (self.sources.file_bytes)(file, None).is_some() => None,
            _ => unknown(),
        }
    }

    fn is_on_btrfs(&self, block: &Block, device: u64) -> bool {
        let Some(file) = &block.file else { return false };
        self.mount_namespaces.iter().any(|namespace| {
            // Other file systems are not asked: their server may be gone.
            namespace.mount_of(file).is_some_and(|mount| mount.fs_type == "btrfs") && {
                let below = file.strip_prefix("/").unwrap_or(file);
                (self.sources.device_of)(&namespace.root.join(below)) == Some(device)
            }
        })
    }
}

fn blocks(sources: &Sources) -> Vec<Block> {
    let all = folders(&sources.sys.join("class/block"));
    let block = |folder: PathBuf| {
        let number = number_in(&folder)?;
        let device = Device::in_sys(sources.sys, number.0, number.1)?;
        let is_partition = device.is_partition();
        let shown = device.is_file().then(|| (sources.backing)(&device)).flatten();
        let numbers = |below: &str| folders(&device.sys.join(below)).iter().filter_map(|one| number_in(one)).collect();
        let called = read_limited::of_the_kernel(device.sys.join("dm/name")).ok().map(|name| name.trim().to_owned());
        Some(Block {
            number,
            // The folder of a partition is in that of its disk.
            disk: is_partition.then(|| device.sys.canonicalize().ok()?.parent().and_then(number_in)).flatten(),
            sectors: device.sectors(),
            identity: device.identity(),
            bytes: device.bytes(),
            driven_by: device.sys.join("device").canonicalize().ok(),
            slaves: numbers("slaves"),
            holders: folders(&device.sys.join("holders")).iter().filter_map(|one| name(one)).collect(),
            maps: if called.is_some() { (sources.maps)(number) } else { Some(Vec::new()) },
            called,
            // Checked again: a loop device that was detached since has no backing.
            is_unknown: shown.is_none() && device.is_file(),
            window: shown.as_ref().map(|shown| shown.window).unwrap_or_default(),
            backing: shown.map(|shown| shown.backing),
            file_bytes: None,
            file: block_stack::backing_file(&device),
            unseen: None,
            is_own: (sources.is_own)(number),
            name: device.name,
        })
    };
    all.into_iter().filter_map(block).collect()
}

/// The mounts of one mount namespace.
struct MountNamespace {
    mounts: Vec<MountInfo>,
    /// The path of its root directory, seen from here.
    root: PathBuf,
    is_elsewhere: bool,
}

impl MountNamespace {
    /// Returns the mount that a path is on: the last one at the deepest mount point.
    fn mount_of(&self, path: &Path) -> Option<&MountInfo> {
        let around = self.mounts.iter().filter(|mount| path.starts_with(&mount.mount_point));
        around.max_by_key(|mount| mount.mount_point.components().count())
    }
}

/// Returns the mount namespaces of all visible threads, ours first; `None` if not even ours can be read.
fn mount_namespaces(sources: &Sources) -> Option<Vec<MountNamespace>> {
    let own = sources.proc.join("thread-self");
    let mut seen = BTreeSet::new();
    seen.extend(fs::read_link(own.join("ns/mnt")).ok());
    let mounts = mount::mounts_in(&mount::mount_lines(&own).ok()?)?;
    let mut mount_namespaces = vec![MountNamespace { mounts, root: PathBuf::from("/"), is_elsewhere: false }];
    let is_number = |folder: &PathBuf| name(folder).is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    for process in folders(sources.proc).into_iter().filter(is_number) {
        for thread in folders(&process.join("task")) {
            // The thread may have ended since, or belong to another user.
            let Ok(link) = fs::read_link(thread.join("ns/mnt")) else { continue };
            if !seen.contains(&link)
                && let Ok(lines) = mount::mount_lines(&thread)
            {
                seen.insert(link);
                // A list that cannot be parsed may contain any device.
                let mounts = mount::mounts_in(&lines)?;
                mount_namespaces.push(MountNamespace { mounts, root: thread.join("root"), is_elsewhere: true });
            }
        }
    }
    Some(mount_namespaces)
}

/// Returns the mounts of devices in a namespace.
fn mounts_in(sources: &Sources, namespace: MountNamespace) -> Vec<Mount> {
    let MountNamespace { mounts, is_elsewhere, .. } = namespace;
    let device = |path: &str| device_at(sources, path);
    let mount = |info: MountInfo| {
        let log = info.super_options.get("logdev").and_then(|path| device(path.as_deref()?));
        let source = info.mount_source.as_deref().and_then(device);
        // Major number 0 is not a device: file systems without one, and btrfs.
        let number = parse_number(&info.majmin).filter(|(major, _)| *major != 0);
        let (at, file_system) = (info.mount_point, info.fs_type);
        (number.or(source).is_some()).then_some(Mount { number, source, log, at, file_system, is_elsewhere })
    };
    mounts.into_iter().filter_map(mount).collect()
}

/// Returns the devices in `/proc/swaps`: each line begins with a path.
fn swaps(sources: &Sources) -> Vec<Number> {
    let text = read_limited::of_the_kernel(sources.proc.join("swaps")).unwrap_or_default();
    let paths = text.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    paths.filter_map(|path| device_at(sources, path)).collect()
}

/// Looks up a path under /dev only. Other paths may mean something else in another namespace, or block.
fn device_at(sources: &Sources, path: &str) -> Option<Number> {
    path.starts_with("/dev/").then(|| (sources.number_of)(Path::new(&original(path)))).flatten()
}

/// Returns each btrfs in use: `/sys/fs/btrfs/UUID/devices/` has a link for each member while it is in use.
fn btrfs(sys: &Path) -> Vec<(String, Vec<Number>)> {
    let systems = folders(&sys.join("fs/btrfs")).into_iter();
    let members = |system: PathBuf| {
        let numbers = folders(&system.join("devices")).iter().filter_map(|member| number_in(member)).collect();
        Some((name(&system)?, numbers))
    };
    systems.filter_map(members).collect()
}

/// Returns each file system in use: ext4, xfs, f2fs and others have a folder `/sys/fs/TYPE/DEVICE` for it.
fn alive(sys: &Path) -> Vec<(String, String)> {
    let types = folders(&sys.join("fs")).into_iter();
    let of_type = |folder: PathBuf| {
        let file_system = name(&folder).unwrap_or_default();
        folders(&folder).into_iter().filter_map(move |one| Some((file_system.clone(), name(&one)?)))
    };
    types.flat_map(of_type).collect()
}

/// Returns the device name of a folder. /sys writes `!` for a slash in the name.
fn name(folder: &Path) -> Option<String> {
    Some(folder.file_name()?.shown().replace('!', "/"))
}

fn parse_number(text: &str) -> Option<Number> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
