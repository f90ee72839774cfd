//! What a machine does with its block devices, gathered from /sys and /proc: what lies on what, what is mounted
//! in any mount namespace that can be seen, what is swapped to. Nothing is judged here.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use procfs::process::MountInfo;

use crate::bounded;
use crate::devices::Device;
use crate::loops::{self, Backing};
use crate::place;
use crate::stack::{folders, number_in};

/// The number of a device: major, minor.
pub(crate) type Number = (u32, u32);

/// The block devices of a machine, and who uses them.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    /// All block devices, disks and partitions.
    pub(crate) blocks: Vec<Block>,
    /// All mounts of devices that can be seen; nothing where not even our own can.
    pub(crate) mounts: Option<Vec<Mount>>,
    /// The devices that are swapped to.
    pub(crate) swaps: Vec<Number>,
    /// The members of each btrfs that is in use.
    pub(crate) btrfs: Vec<(String, Vec<Number>)>,
    /// File systems that the kernel has in use, by the name of their device, whether mounted anywhere or not.
    pub(crate) alive: Vec<(String, String)>,
    /// Devices that are the external journal of an ext4 in use, by name.
    pub(crate) journals: Vec<String>,
}

/// A block device, and what it has to do with others.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) name: String,
    pub(crate) number: Number,
    /// The disk that it is a partition of.
    pub(crate) disk: Option<Number>,
    /// Which sectors of that one it has.
    pub(crate) sectors: Option<Range<u64>>,
    /// The devices that it is made of.
    pub(crate) slaves: Vec<Number>,
    /// The names of the devices that are made of it.
    pub(crate) holders: Vec<String>,
    /// What tells the disk from others, however many ways lead to it.
    pub(crate) identity: Option<String>,
    pub(crate) bytes: Option<u64>,
    /// What drives it: that of two ways to one disk are two.
    pub(crate) driven_by: Option<PathBuf>,
    /// What a mapped device is called by who made it.
    pub(crate) called: Option<String>,
    /// What a loop device lies on.
    pub(crate) backing: Option<Backing>,
    /// Whether it lies on something that cannot be told, and so may lie on anything.
    pub(crate) is_unknown: bool,
}

/// Something of a device that is mounted.
#[derive(Debug)]
pub(crate) struct Mount {
    /// The device that the mounted files name as theirs.
    pub(crate) number: Option<Number>,
    /// The device that was mounted.
    pub(crate) source: Option<Number>,
    /// A second device that it needs: the log of an xfs.
    pub(crate) log: Option<Number>,
    pub(crate) at: PathBuf,
    pub(crate) file_system: String,
    /// Whether it is mounted for other processes only.
    pub(crate) is_elsewhere: bool,
}

/// What a machine is looked at through: its own /sys and /proc, or recorded ones.
pub(crate) struct Eyes<'a> {
    pub(crate) sys: &'a Path,
    pub(crate) proc: &'a Path,
    /// The number of the block device at a path.
    pub(crate) number_of: &'a dyn Fn(&Path) -> Option<Number>,
    /// What a loop device lies on.
    pub(crate) backing: &'a dyn Fn(&Device) -> Option<Backing>,
}

impl Machine {
    /// This machine.
    pub(crate) fn this() -> Machine {
        Machine::seen_by(&Eyes {
            sys: Path::new("/sys"),
            proc: Path::new("/proc"),
            number_of: &place::block_number,
            backing: &loops::attached_to,
        })
    }

    pub(crate) fn seen_by(eyes: &Eyes) -> Machine {
        Machine {
            blocks: blocks(eyes),
            mounts: mounts(eyes),
            swaps: swaps(eyes),
            btrfs: btrfs(eyes.sys),
            alive: alive(eyes.sys),
            journals: folders(&eyes.proc.join("fs/jbd2")).iter().filter_map(|folder| name(folder)).collect(),
        }
    }
}

fn blocks(eyes: &Eyes) -> Vec<Block> {
    let all = folders(&eyes.sys.join("class/block"));
    let block = |folder: PathBuf| {
        let number = number_in(&folder)?;
        let device = Device::in_sys(eyes.sys, number.0, number.1)?;
        let is_partition = device.is_partition();
        let backing = device.is_file().then(|| (eyes.backing)(&device)).flatten();
        let numbers = |below: &str| folders(&device.sys.join(below)).iter().filter_map(|one| number_in(one)).collect();
        Some(Block {
            number,
            // The folder of a partition lies in that of its disk.
            disk: is_partition.then(|| device.sys.canonicalize().ok()?.parent().and_then(number_in)).flatten(),
            sectors: device.sectors(),
            identity: device.identity(),
            bytes: device.bytes(),
            driven_by: device.sys.join("device").canonicalize().ok(),
            slaves: numbers("slaves"),
            holders: folders(&device.sys.join("holders")).iter().filter_map(|one| name(one)).collect(),
            called: bounded::of_the_kernel(device.sys.join("dm/name")).ok().map(|name| name.trim().to_owned()),
            // Looked at once more: one that was detached meanwhile lies on nothing.
            is_unknown: backing.is_none() && device.is_file(),
            backing,
            name: device.name,
        })
    };
    all.into_iter().filter_map(block).collect()
}

/// What is mounted in the mount namespace of any thread that can be seen, our own first.
fn mounts(eyes: &Eyes) -> Option<Vec<Mount>> {
    let own = eyes.proc.join("thread-self");
    let mut seen = BTreeSet::new();
    seen.extend(fs::read_link(own.join("ns/mnt")).ok());
    let mut mounts: Vec<Mount> = mounts_in(eyes, &place::mount_lines(&own).ok()?, false)?;
    let is_number = |folder: &PathBuf| name(folder).is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    for process in folders(eyes.proc).into_iter().filter(is_number) {
        for thread in folders(&process.join("task")) {
            // A thread may have ended meanwhile, or be none of our business.
            let Ok(namespace) = fs::read_link(thread.join("ns/mnt")) else { continue };
            if !seen.contains(&namespace)
                && let Ok(lines) = place::mount_lines(&thread)
            {
                seen.insert(namespace);
                // What cannot be understood may be of any device.
                mounts.extend(mounts_in(eyes, &lines, true)?);
            }
        }
    }
    Some(mounts)
}

fn mounts_in(eyes: &Eyes, lines: &str, is_elsewhere: bool) -> Option<Vec<Mount>> {
    let infos = place::mounts_in(lines)?;
    let device = |path: &str| device_at(eyes, path);
    let mount = |info: MountInfo| {
        let log = info.super_options.get("logdev").and_then(|path| device(path.as_deref()?));
        let source = info.mount_source.as_deref().and_then(device);
        // Numbers of major 0 are nobody's: file systems without a device, and btrfs.
        let number = parse_number(&info.majmin).filter(|(major, _)| *major != 0);
        let (at, file_system) = (info.mount_point, info.fs_type);
        (number.or(source).is_some()).then_some(Mount { number, source, log, at, file_system, is_elsewhere })
    };
    Some(infos.into_iter().filter_map(mount).collect())
}

/// The devices in `/proc/swaps`: each line begins with a path.
fn swaps(eyes: &Eyes) -> Vec<Number> {
    let text = bounded::of_the_kernel(eyes.proc.join("swaps")).unwrap_or_default();
    let paths = text.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    paths.filter_map(|path| device_at(eyes, path)).collect()
}

/// Looks under /dev only: elsewhere a path of another namespace may mean something else, or hang.
fn device_at(eyes: &Eyes, path: &str) -> Option<Number> {
    path.starts_with("/dev/").then(|| (eyes.number_of)(Path::new(path))).flatten()
}

/// `/sys/fs/btrfs/UUID/devices/` has a link for each member, as long as the file system is in use.
fn btrfs(sys: &Path) -> Vec<(String, Vec<Number>)> {
    let systems = folders(&sys.join("fs/btrfs")).into_iter();
    let members = |system: PathBuf| {
        let numbers = folders(&system.join("devices")).iter().filter_map(|member| number_in(member)).collect();
        Some((name(&system)?, numbers))
    };
    systems.filter_map(members).collect()
}

/// ext4, xfs, f2fs and others have a folder `/sys/fs/TYPE/DEVICE` for each that is in use.
fn alive(sys: &Path) -> Vec<(String, String)> {
    let types = folders(&sys.join("fs")).into_iter();
    let of_type = |folder: PathBuf| {
        let file_system = name(&folder).unwrap_or_default();
        folders(&folder).into_iter().filter_map(move |one| Some((file_system.clone(), name(&one)?)))
    };
    types.flat_map(of_type).collect()
}

/// What a folder tells of. A name of a device under /dev may have a slash in it, for which there is a `!`.
fn name(folder: &Path) -> Option<String> {
    Some(folder.file_name()?.to_str()?.replace('!', "/"))
}

fn parse_number(text: &str) -> Option<Number> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
