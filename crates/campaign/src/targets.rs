//! Targets: parses their arguments on the command line, and checks that they exist.

mod absolute_paths;
pub mod aging;
pub mod aging_spec;
pub mod blank_scan;
mod device;
mod keys;
pub mod memory_limit;
pub mod precondition;
pub mod prepared_target;
pub mod same_directory;
pub mod scratch_fs;
mod simulated;
pub mod whole_devices;

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use kernel::guard::Permission;
use kernel::observe::block_device::Device;
use kernel::observe::block_source::Storage;
use kernel::observe::mount::{LEAST_BLOCK, Place, direct_alignment, is_under_dev, may_write, takes_direct};
use kernel::provision::queue_tuning::Setting;
use kernel::sys::name::{Shown, original};
use kernel::{ImageFault, PathFault, free_on};
use serde::{Deserialize, Serialize};
use units::Bytes;

use crate::error::CampaignError;

pub use aging_spec::AgingSpec;
pub use device::{Conditioning, DeviceArgument, LEAST_DEVICE, Overwriting};
pub use keys::{ImageArgument, VolumeArgument};
pub use simulated::{Described, Simulated};

/// Begins the queue settings at the end of a target argument.
const TUNE: &str = ",tune=";

/// A target argument as it was typed: `PATH`, `DEVICE`, `image:FSTYPE`, `new:FSTYPE@DEVICE`, `file:PATH`,
/// `sim:MACHINE`. An optional `name=` precedes it, and an optional `,tune=` follows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct TargetArgument {
    /// The name in tables: the given one, or else the whole argument.
    pub name: String,
    /// The whole argument, as the text of its bytes (`units::name`). All names of a target have this form.
    pub typed: String,
    /// The kind of target, with the rest of the argument unchecked.
    pub kind: TargetKind,
    /// The queue settings behind `,tune=`, if any. An image has them among its keys instead.
    tune: Option<String>,
}

/// The kinds of targets, as the argument tells them apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// A directory, in which a private subfolder is made and removed. Or a block device.
    Directory(PathBuf),
    /// A new file system on an image: its type and its keys.
    Image(String),
    /// A new file system on a device: its type, its keys and the device.
    Volume(String),
    /// An existing file, which is only read.
    File(PathBuf),
    /// A simulated machine: its name and its keys.
    Simulated(String),
}

/// Reads the stored form.
impl From<String> for TargetArgument {
    fn from(typed: String) -> TargetArgument {
        let Ok(argument) = typed.parse();
        argument
    }
}

impl From<TargetArgument> for String {
    fn from(argument: TargetArgument) -> String {
        argument.typed
    }
}

/// Reads an argument of the command line.
impl From<OsString> for TargetArgument {
    fn from(typed: OsString) -> TargetArgument {
        let Ok(argument) = typed.shown().parse();
        argument
    }
}

impl FromStr for TargetArgument {
    type Err = std::convert::Infallible;

    /// A name consists of letters, digits, `-` and `_` before the first `=`. Anything else belongs to the path.
    fn from_str(typed: &str) -> Result<TargetArgument, Self::Err> {
        let is_name =
            |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        let named = typed.split_once('=').filter(|(name, rest)| is_name(name) && !rest.is_empty());
        let (name, rest) = named.map_or((typed, typed), |(name, rest)| (name, rest));
        let (rest, tune) = match rest.rsplit_once(TUNE) {
            // For these targets, `,tune=` may be one of the keys.
            Some((rest, _)) if rest.starts_with("image:") || rest.starts_with("new:") && !rest.contains('@') => {
                (named.map_or(typed, |(_, rest)| rest), None)
            }
            Some((rest, tune)) => (rest, Some(tune.to_owned())),
            _ => (rest, None),
        };
        let kind = match rest.split_once(':') {
            Some(("image", image)) => TargetKind::Image(image.to_owned()),
            Some(("new", volume)) => TargetKind::Volume(volume.to_owned()),
            Some(("file", path)) => TargetKind::File(original(path).into()),
            Some(("sim", machine)) => TargetKind::Simulated(machine.to_owned()),
            _ => TargetKind::Directory(original(rest).into()),
        };
        Ok(TargetArgument { name: name.to_owned(), typed: typed.to_owned(), kind, tune })
    }
}

impl TargetArgument {
    /// The argument on the host of this name: `%h` in it is that name. Its own name stays.
    pub fn on_host(&self, host: &str) -> TargetArgument {
        let here: TargetArgument = self.typed.replace("%h", host).into();
        TargetArgument { name: self.name.clone(), ..here }
    }
}

#[cfg(test)]
impl TargetArgument {
    /// Parses the argument as far as possible without touching files, and returns the outcome as text.
    pub fn fuzzed(&self) -> String {
        let typed = &self.typed;
        let tuned = self.tune.as_ref().map(|tune| keys::tuning(tune, typed));
        if let Some(Ok(tuning)) = &tuned {
            assert!(tuning.iter().all(|setting| !setting.attribute.is_empty() && !setting.value.is_empty()));
        }
        let said = |outcome: Result<String, CampaignError>| {
            outcome.unwrap_or_else(|error| format!("{error} {:?}", error.hint()))
        };
        let said = match &self.kind {
            TargetKind::Image(text) => said(keys::image(text, typed).map(|(image, _)| {
                assert!(image.spec(1 << 20).bytes.0 > 0);
                image.spec(0).check().map_or_else(|fault| fault.to_string(), |()| "an image".to_owned())
            })),
            TargetKind::Volume(text) => said(keys::volume(text, typed).map(|(spec, device, _)| {
                assert!(!device.as_os_str().is_empty());
                spec.check().map_or_else(|fault| fault.to_string(), |()| "a volume".to_owned())
            })),
            TargetKind::Simulated(machine) if machine.contains('/') => "a file of a machine".to_owned(),
            TargetKind::Simulated(machine) => said(
                Simulated::read(machine).and_then(|machine| machine.check(2, 1 << 20)).map(|()| "a machine".to_owned()),
            ),
            TargetKind::File(_) => "a file".to_owned(),
            TargetKind::Directory(_) => "a directory".to_owned(),
        };
        format!("{said} {}", tuned.map_or_else(String::new, |tuned| tuned.is_ok().to_string()))
    }
}

/// A target that was checked and exists.
#[derive(Clone, Debug)]
pub struct Target {
    /// The name in tables.
    pub name: String,
    /// The whole argument, as typed.
    pub typed: String,
    /// The kind of the target, and what was found there.
    pub site: Site,
    /// Settings of its device's queue while it is measured.
    pub tuning: Vec<Setting>,
    /// The aging of its file system before the first round, if requested.
    pub aging: Option<AgingSpec>,
}

/// The place of a target.
#[derive(Clone, Debug)]
pub enum Site {
    /// A directory of the real kernel.
    #[expect(missing_docs, reason = "the fields are named after what they hold")]
    Directory { path: PathBuf, place: Place },
    /// An image that will be created; `host` describes the file system of its directory.
    #[expect(missing_docs, reason = "the fields are named after what they hold")]
    Image { image: Box<ImageArgument>, host: Place },
    /// A device, on which a file system will be created.
    Volume(Box<VolumeArgument>),
    /// A device without a file system of ours: it is only read, or overwritten completely.
    Device(Box<DeviceArgument>),
    /// One file, which is only read.
    #[expect(missing_docs, reason = "the fields are named after what they hold")]
    File { path: PathBuf, place: Place, bytes: u64 },
    /// A simulated machine.
    Simulated(Simulated),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Target {
    /// Checks that the target exists, is of the right kind, and can be written. Changes nothing.
    pub fn resolve(argument: &TargetArgument) -> Result<Target, CampaignError> {
        let target = Target::resolve_to_read(argument)?;
        if let Site::Directory { path, .. } = &target.site {
            writable(path)?;
        }
        Ok(target)
    }

    /// Resolves a target that is only read: a directory may be read-only.
    pub fn resolve_to_read(argument: &TargetArgument) -> Result<Target, CampaignError> {
        let typed = &argument.typed;
        let mut tuning = argument.tune.as_ref().map_or_else(|| Ok(Vec::new()), |tune| keys::tuning(tune, typed))?;
        let site = match &argument.kind {
            TargetKind::Directory(path) if is_block_device(path) => Site::Device(Box::new(DeviceArgument::open(path)?)),
            TargetKind::Directory(path) => Site::Directory { path: path.clone(), place: directory(path, typed)? },
            TargetKind::Image(text) => {
                let (image, settings) = keys::image(text, typed)?;
                tuning = settings;
                image.spec(0).check()?;
                let host = directory(image.directory(), "")?;
                Site::Image { image: Box::new(image), host }
            }
            TargetKind::Volume(text) => {
                let (spec, device, settings) = keys::volume(text, typed)?;
                match (settings.is_empty(), tuning.is_empty()) {
                    (false, false) => {
                        let why = "tune is given twice".to_owned();
                        return Err(CampaignError::BadTuning { typed: typed.clone(), why });
                    }
                    (false, true) => tuning = settings,
                    (true, _) => {}
                }
                spec.check()?;
                let inspected = kernel::guard::inspect(&device)?;
                Site::Volume(Box::new(VolumeArgument { spec, inspected, permission: Permission::None }))
            }
            TargetKind::File(path) => {
                let (place, bytes) = file(path)?;
                Site::File { path: path.clone(), place, bytes }
            }
            TargetKind::Simulated(machine) => {
                if !tuning.is_empty() {
                    let why = "a simulated machine has no queue to tune".to_owned();
                    return Err(CampaignError::BadTuning { typed: typed.clone(), why });
                }
                let simulated = Simulated::read(machine)?;
                simulated.check(1, 0)?;
                Site::Simulated(simulated)
            }
        };
        Ok(Target { name: argument.name.clone(), typed: typed.clone(), site, tuning, aging: None })
    }

    /// Resolves all arguments. Returns an error if two have the same name or overwrite the same device.
    pub fn resolve_all(arguments: &[TargetArgument]) -> Result<Vec<Target>, CampaignError> {
        let targets = Target::resolve_in_turns(arguments)?;
        for (index, target) in targets.iter().enumerate() {
            if let Some(other) = targets[..index].iter().find(|other| other.overwrites_the_same(target)) {
                let (first, second) = (other.name.clone(), target.name.clone());
                return Err(CampaignError::SameDevice { first, second });
            }
        }
        Ok(targets)
    }

    /// Resolves all arguments. Returns an error if two have the same name. Targets that overwrite the same device take
    /// turns on it.
    pub fn resolve_in_turns(arguments: &[TargetArgument]) -> Result<Vec<Target>, CampaignError> {
        let targets: Vec<Target> = arguments.iter().map(Target::resolve).collect::<Result<_, _>>()?;
        for (index, target) in targets.iter().enumerate() {
            if targets[..index].iter().any(|other| other.name == target.name) {
                return Err(CampaignError::SameName(target.name.clone()));
            }
        }
        Ok(targets)
    }

    /// True if both targets are new file systems on the same device.
    pub fn overwrites_the_same(&self, other: &Target) -> bool {
        match (&self.site, &other.site) {
            (Site::Volume(one), Site::Volume(other)) => one.inspected.node() == other.inspected.node(),
            _ => false,
        }
    }

    /// True if the target is a new file system on this device.
    pub fn is_made_on(&self, node: &Path) -> bool {
        matches!(&self.site, Site::Volume(volume) if volume.inspected.node() == node)
    }

    /// True if these targets can be measured at the same time: all on the real kernel, or all on one simulated machine.
    /// A file is measured alone, because the operations depend on its contents.
    pub fn share_a_world<'a>(targets: impl IntoIterator<Item = &'a Target>) -> bool {
        let mut targets = targets.into_iter();
        let Some(first) = targets.next() else { return true };
        targets.all(|target| match (&first.site, &target.site) {
            (Site::Simulated(one), Site::Simulated(other)) => one.is_same(other),
            (Site::Simulated(_) | Site::File { .. }, _) | (_, Site::Simulated(_) | Site::File { .. }) => false,
            _ => true,
        })
    }

    /// Returns why the target cannot be written; `None` if it can.
    pub fn refuses_writes(&self) -> Option<String> {
        match &self.site {
            Site::File { path, .. } => Some(format!("{} is only read", path.shown())),
            Site::Device(_) | Site::Directory { .. } | Site::Image { .. } | Site::Volume(_) | Site::Simulated(_) => {
                None
            }
        }
    }

    /// Returns why direct I/O is impossible here; `None` if it is possible or not known yet. Makes and removes an
    /// unnamed file.
    pub fn refuses_direct(&self) -> Option<String> {
        match &self.site {
            Site::Directory { place, .. } if matches!(place.file_system.as_deref(), Some("tmpfs" | "ramfs")) => {
                Some(IN_MEMORY_ONLY.to_owned())
            }
            Site::Directory { path, place } if !takes_direct(path) => Some(takes_no_direct(place)),
            Site::File { path, place, .. } => match Storage::inspect(path) {
                Ok(Some(storage)) if storage.in_memory => Some(IN_MEMORY_ONLY.to_owned()),
                Ok(Some(storage)) if !storage.direct => Some(takes_no_direct(place)),
                _ => None,
            },
            Site::Device(_) | Site::Directory { .. } | Site::Image { .. } | Site::Volume(_) | Site::Simulated(_) => {
                None
            }
        }
    }

    /// Blocks of direct I/O must be a multiple of this number of bytes. `None` if the kernel does not tell. Makes and
    /// removes an unnamed file.
    pub fn direct_alignment(&self) -> Option<u32> {
        match &self.site {
            Site::Directory { path, .. } => direct_alignment(path),
            Site::File { path, .. } => Storage::inspect(path)
                .ok()
                .flatten()
                .filter(|storage| storage.direct)
                .map(|storage| storage.block_bytes),
            Site::Device(device) => Some(device.storage.block_bytes),
            Site::Image { .. } | Site::Volume(_) | Site::Simulated(_) => None,
        }
    }

    /// True for a simulated machine.
    pub fn is_simulated(&self) -> bool {
        self.simulated().is_some()
    }

    /// The simulated machine, if the target is one.
    pub fn simulated(&self) -> Option<&Simulated> {
        match &self.site {
            Site::Simulated(simulated) => Some(simulated),
            _ => None,
        }
    }

    /// The file system type, if it is known before anything is created.
    pub fn file_system(&self) -> Option<String> {
        match &self.site {
            Site::Image { image, .. } => Some(image.file_system().to_owned()),
            Site::Volume(volume) => Some(volume.spec.file_system.clone()),
            Site::Simulated(simulated) => simulated.file_system(),
            _ => self.place()?.file_system.clone(),
        }
    }

    /// The queue settings, in the form of the argument.
    pub fn tuned(&self) -> String {
        let settings = self.tuning.iter().map(|Setting { attribute, value }| format!("{attribute}:{value}"));
        settings.collect::<Vec<_>>().join("+")
    }

    /// True if diskperf creates a file system for the target.
    pub fn is_made(&self) -> bool {
        matches!(self.site, Site::Image { .. } | Site::Volume(_))
    }

    /// The mounted file system of the path; `None` if nothing is mounted there yet.
    pub fn place(&self) -> Option<&Place> {
        match &self.site {
            Site::Directory { place, .. } | Site::File { place, .. } => Some(place),
            Site::Device(_) | Site::Image { .. } | Site::Volume(_) | Site::Simulated(_) => None,
        }
    }

    /// The device of the target; `None` if it is not known before anything is created.
    pub fn device(&self) -> Option<&Device> {
        match &self.site {
            Site::Device(device) => device.device(),
            _ => self.place()?.device.as_ref(),
        }
    }

    /// The fewest bytes that a file with data takes on the target, as far as known before anything is created.
    pub fn block_bytes(&self) -> u64 {
        let block = match &self.site {
            Site::Image { image, .. } => image.spec(0).block,
            Site::Volume(volume) => volume.spec.block,
            _ => self.place().map(|place| Bytes(place.block_bytes)),
        };
        block.map_or(LEAST_BLOCK, |block| block.0.max(LEAST_BLOCK))
    }

    /// Returns an error if the programs do not fit. They use `needed` bytes, and a twentieth is added for the metadata
    /// of the file system.
    pub fn check_room(&self, needed: u64) -> Result<(), CampaignError> {
        let programs = Bytes(needed.saturating_add(needed / 20));
        let (path, place, needed) = match &self.site {
            Site::Directory { path, place } => (path.as_path(), place, programs),
            Site::Image { image, host } => match image.size {
                Some(size) if size < programs => return Err(CampaignError::SmallImage { size, needed: programs }),
                Some(size) => {
                    self.check_wear(size, programs)?;
                    (image.directory(), host, image.spec(needed).file_bytes())
                }
                _ => (image.directory(), host, image.spec(needed).file_bytes()),
            },
            Site::Volume(volume) => {
                let (device, size) = (volume.inspected.node(), Bytes(volume.inspected.bytes()));
                let is_small = size < programs;
                let small = || CampaignError::SmallDevice { device, size, needed: programs };
                return if is_small { Err(small()) } else { self.check_wear(size, programs) };
            }
            Site::Simulated(simulated) => return simulated.check(1, needed),
            Site::Device(device) => return device.check_size(LEAST_DEVICE),
            Site::File { .. } => return Ok(()),
        };
        // Without a known free space, nothing is checked.
        let Some(free) = free_on(place).map(Bytes).filter(|free| *free < needed) else { return Ok(()) };
        let path = path.to_owned();
        match self.site {
            Site::Image { .. } => Err(ImageFault::NoRoom { directory: path, free, needed }.into()),
            _ => Err(PathFault::NoRoom { path, free, needed }.into()),
        }
    }
}

/// True if all targets with these indices are simulated machines.
pub fn are_simulated(busy: &[usize], targets: &[Target]) -> bool {
    busy.iter().all(|&index| targets[index].is_simulated())
}

/// The names of these targets, joined with `+`.
pub fn names(busy: &[usize], targets: &[Target]) -> String {
    let mut names: Vec<&str> = busy.iter().map(|&target| targets[target].name.as_str()).collect();
    names.dedup();
    names.join("+")
}

impl Target {
    /// Returns an error if a file system of `bytes` bytes, filled as requested, leaves less than `needed`.
    fn check_wear(&self, bytes: Bytes, needed: Bytes) -> Result<(), CampaignError> {
        self.aging.map_or(Ok(()), |aging| aging.check((bytes, aging.room(bytes)), needed))
    }
}

const IN_MEMORY_ONLY: &str = "a file system in memory cannot bypass the page cache";

fn takes_no_direct(place: &Place) -> String {
    format!("{} does not support O_DIRECT", place.file_system.as_deref().unwrap_or("this file system"))
}

/// True if the path is a block device.
pub fn is_block_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_block_device())
}

/// Returns an error if no private folder can be made in the directory.
fn writable(path: &Path) -> Result<(), CampaignError> {
    let fault = |source| kernel::Fault::Folder { action: "create a folder in", path: path.to_owned(), source };
    Ok(may_write(path).map_err(fault)?)
}

fn directory(path: &Path, typed: &str) -> Result<Place, CampaignError> {
    if path.as_os_str().is_empty() {
        return Err(CampaignError::NoPath);
    }
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(missing(path, typed)),
        Err(source) => return Err(PathFault::Unreadable { path: path.to_owned(), source }.into()),
    };
    if !metadata.is_dir() {
        return Err(PathFault::NotADirectory(path.to_owned()).into());
    }
    Ok(place(path)?)
}

/// Checks that the path is a readable regular file. Returns its mounted file system and its size in bytes.
fn file(path: &Path) -> Result<(Place, u64), PathFault> {
    let unreadable = |source| PathFault::Unreadable { path: path.to_owned(), source };
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(PathFault::Missing(path.to_owned())),
        Err(source) => return Err(unreadable(source)),
    };
    if metadata.is_dir() {
        return Err(PathFault::IsADirectory(path.to_owned()));
    }
    if !metadata.is_file() {
        return Err(PathFault::NotAFile(path.to_owned()));
    }
    fs::File::open(path).map_err(unreadable)?;
    Ok((place(path)?, metadata.len()))
}

fn place(path: &Path) -> Result<Place, PathFault> {
    Place::under(path).map_err(|source| PathFault::Unreadable { path: path.to_owned(), source })
}

fn missing(path: &Path, typed: &str) -> CampaignError {
    // For `image:ext4` at the place of a path, "does not exist" would be the wrong message.
    let scheme = typed.split_once(':').map(|(scheme, _)| scheme);
    let is_scheme = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase());
    if scheme.is_some_and(is_scheme) {
        return CampaignError::UnknownTarget(typed.to_owned());
    }
    let path = path.to_owned();
    if is_under_dev(&path) { PathFault::MissingDevice(path).into() } else { PathFault::Missing(path).into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> TargetArgument {
        let Ok(argument) = text.parse();
        argument
    }

    #[test]
    fn a_target_may_have_a_name_prefix() {
        assert_eq!(typed("a=/mnt/x").name, "a");
        assert_eq!(typed("a=/mnt/x").kind, TargetKind::Directory("/mnt/x".into()));
        assert_eq!(typed("old=sim:flat").kind, TargetKind::Simulated("flat".to_owned()));
        assert_eq!(typed(".").name, ".");
    }

    #[test]
    fn a_scheme_ends_at_the_first_colon() {
        assert_eq!(typed("b=image:xfs,block=8192").kind, TargetKind::Image("xfs,block=8192".to_owned()));
        assert_eq!(typed("image:ext4,size=64MiB").name, "image:ext4,size=64MiB");
        assert_eq!(typed("file:/a=b").kind, TargetKind::File("/a=b".into()));
        assert_eq!(typed("/mnt/image:ext4").kind, TargetKind::Directory("/mnt/image:ext4".into()));
    }

    #[test]
    fn a_queue_may_be_tuned_under_any_target() {
        let tuned = typed("a=/mnt/x,tune=scheduler:none");
        assert_eq!(
            (tuned.kind, tuned.tune.as_deref()),
            (TargetKind::Directory("/mnt/x".into()), Some("scheduler:none"))
        );
        assert_eq!(typed("file:/x,tune=a:b").kind, TargetKind::File("/x".into()));
        assert_eq!(typed("image:xfs,tune=a:b,size=1GiB").kind, TargetKind::Image("xfs,tune=a:b,size=1GiB".to_owned()));
        let refused = |text: &str| Target::resolve(&typed(text)).expect_err(text).to_string();
        let twice = typed("v=new:ext4,tune=a:b@/dev/x,tune=c:d");
        assert_eq!(twice.tune.as_deref(), Some("c:d"));
        assert_eq!(twice.kind, TargetKind::Volume("ext4,tune=a:b@/dev/x".to_owned()));
        let inside = typed("new:ext4,tune=a:b@/dev/x");
        assert_eq!((inside.kind, inside.tune), (TargetKind::Volume("ext4,tune=a:b@/dev/x".to_owned()), None));
        assert!(refused("sim:flat,tune=scheduler:none").contains("no queue"));
        assert!(refused(".,tune=scheduler").contains("not attribute:value"));
    }

    #[test]
    fn file_targets_must_be_readable_files() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let path = scratch.path().join("data");
        fs::write(&path, "data").expect("a file");
        let resolve = |path: &Path| Target::resolve(&typed(&format!("file:{}", path.shown())));
        assert!(matches!(resolve(&path).expect("a target").site, Site::File { .. }));
        assert!(matches!(resolve(scratch.path()), Err(CampaignError::Path(PathFault::IsADirectory(_)))));
        assert!(matches!(resolve(&scratch.path().join("none")), Err(CampaignError::Path(PathFault::Missing(_)))));
        assert!(matches!(resolve(Path::new("/dev/null")), Err(CampaignError::Path(PathFault::NotAFile(_)))));
    }

    #[test]
    fn an_equals_sign_in_a_path_is_part_of_it() {
        assert_eq!(typed("./a=b").kind, TargetKind::Directory("./a=b".into()));
        assert_eq!(typed("=x").kind, TargetKind::Directory("=x".into()));
    }
}
