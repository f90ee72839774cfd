//! The target of a probe: a device or a file that is only read, a file of our own, or a simulation.

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use kernel::observe::block_source::Storage;
use kernel::observe::mount::{Place, is_under_dev};
use kernel::sys::name::Shown;
use kernel::{PathFault, TapeFile, never_written};
use units::Bytes;

use super::recorded_file::RecordedFile;
use crate::error::CampaignError;
use crate::signals::Stop;
use crate::targets::{DeviceArgument, Site, Target, TargetArgument, TargetKind};

/// Bytes of a file of our own. Chosen: more than most write caches, and written within seconds.
const FILE: u64 = Bytes::mib(256).0;

/// The smallest file of our own: it must hold requests of 1 MiB at queue depth 32.
const LEAST_FILE: Bytes = Bytes::mib(64);

/// At most one byte of this many may be in a hole of a file that is read. Chosen: requests are at random places, and a
/// hundredth of them changes a percentile or a rate by less than its bracket.
const BYTES_PER_HOLE: u64 = 100;

/// At most this share of the free space becomes the file.
const SHARE_OF_FREE: u64 = 10;

/// A target that was checked.
#[derive(Clone, Debug)]
pub enum ProbeTarget {
    /// A block device or an existing file, which is only read.
    Read {
        /// The path, as typed.
        path: PathBuf,
        /// Its size, and how it can be read.
        storage: Storage,
    },
    /// A directory, in which a file of our own is written.
    Write {
        /// The directory.
        directory: PathBuf,
        /// Its file system.
        place: Place,
        /// Bytes of the file.
        bytes: u64,
    },
    /// A simulated machine or device, by name.
    Simulated(String),
}

impl ProbeTarget {
    /// Checks that the target exists and can be probed. Changes nothing.
    pub fn resolve(argument: &TargetArgument) -> Result<ProbeTarget, CampaignError> {
        match &argument.kind {
            TargetKind::Simulated(name) => Ok(ProbeTarget::Simulated(name.clone())),
            TargetKind::Image(_) | TargetKind::Volume(_) => Err(CampaignError::NotProbed(argument.typed.clone())),
            TargetKind::File(path) => only_read(path),
            TargetKind::Directory(path) if path.is_file() => only_read(path),
            TargetKind::Directory(path) if is_something_else(path) => Err(PathFault::NotStorage(path.clone()).into()),
            TargetKind::Directory(path) => match file_to_create(path) {
                Some(directory) => {
                    let Ok(parent) = directory.shown().parse::<TargetArgument>();
                    in_directory(&parent, &argument.typed)
                }
                None => in_directory(argument, &argument.typed),
            },
        }
    }

    /// Opens a device or file for reading only.
    pub fn open(path: &Path, storage: &Storage, stop: &Stop) -> Result<RecordedFile, CampaignError> {
        Ok(RecordedFile::new(TapeFile::to_read(path, storage, stop.flag())?, path))
    }

    /// Creates a file of our own.
    pub fn create(
        directory: &Path,
        bytes: u64,
        stop: &Stop,
        progress: &mut dyn FnMut(u64),
    ) -> Result<RecordedFile, CampaignError> {
        Ok(RecordedFile::new(TapeFile::create(directory, bytes, stop.flag(), progress)?, directory))
    }
}

/// The directory of a file that does not exist yet. A missing name under /dev is a typing error.
fn file_to_create(path: &Path) -> Option<PathBuf> {
    let parent = path.parent().map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent })?;
    (path.symlink_metadata().is_err() && parent.is_dir() && !is_under_dev(path)).then(|| parent.to_owned())
}

/// True for a pipe, a socket or a character device.
fn is_something_else(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| !found.is_dir() && !found.is_file() && !found.file_type().is_block_device())
}

fn only_read(path: &Path) -> Result<ProbeTarget, CampaignError> {
    let unreadable = |source| PathFault::Unreadable { path: path.to_owned(), source };
    let storage = Storage::inspect(path).map_err(unreadable)?.ok_or_else(|| PathFault::NotStorage(path.to_owned()))?;
    let most_holes = storage.bytes / BYTES_PER_HOLE;
    let target = readable(path.to_owned(), storage)?;
    // A file system that does not show holes is trusted.
    match never_written(path) {
        Ok(holes) if holes > most_holes => {
            Err(CampaignError::HolesToProbe { path: path.to_owned(), holes: Bytes(holes) })
        }
        _ => Ok(target),
    }
}

fn readable(path: PathBuf, storage: Storage) -> Result<ProbeTarget, CampaignError> {
    let size = Bytes(storage.bytes);
    if size < LEAST_FILE {
        return Err(CampaignError::SmallToProbe { path, size, needed: LEAST_FILE });
    }
    if storage.in_memory {
        return Err(CampaignError::MemoryToProbe(path));
    }
    Ok(ProbeTarget::Read { path, storage })
}

fn in_directory(argument: &TargetArgument, typed: &str) -> Result<ProbeTarget, CampaignError> {
    let target = Target::resolve(argument)?;
    if !target.tuning.is_empty() {
        return Err(CampaignError::NotProbed(typed.to_owned()));
    }
    match target.site {
        Site::Device(device) => {
            let DeviceArgument { path, storage, .. } = *device;
            readable(path, storage)
        }
        Site::Directory { path, place } => {
            let free = place.free_bytes.unwrap_or(u64::MAX);
            let bytes = size_of_file(free);
            if bytes < LEAST_FILE.0 {
                let (free, needed) = (Bytes(free), Bytes(LEAST_FILE.0 * SHARE_OF_FREE));
                return Err(CampaignError::FullToProbe { path, free, needed });
            }
            if place.in_memory.is_some() {
                return Err(CampaignError::MemoryToProbe(path));
            }
            Ok(ProbeTarget::Write { directory: path, place, bytes })
        }
        _ => Err(CampaignError::NotProbed(typed.to_owned())),
    }
}

/// Bytes of the file for this much free space.
fn size_of_file(free: u64) -> u64 {
    FILE.min(free / SHARE_OF_FREE) / Bytes::mib(1).0 * Bytes::mib(1).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_at_most_a_tenth_of_the_free_space() {
        assert_eq!(size_of_file(1 << 40), FILE);
        assert_eq!(size_of_file(1_000_000_000), Bytes::mib(95).0);
        assert_eq!(size_of_file(0), 0);
    }

    #[test]
    fn files_in_memory_and_files_with_holes_are_refused() {
        let storage =
            |in_memory| Storage { bytes: LEAST_FILE.0, block_bytes: 512, direct: true, in_memory, device: None };
        let in_memory = readable(PathBuf::from("file"), storage(true));
        assert!(matches!(in_memory, Err(CampaignError::MemoryToProbe(_))), "{in_memory:?}");
        assert!(readable(PathBuf::from("file"), storage(false)).is_ok());
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("file");
        std::fs::write(&path, vec![1; LEAST_FILE.0 as usize]).expect("a file");
        // The scratch folder may be on tmpfs.
        let is_refused = |path: &Path| matches!(only_read(path), Err(CampaignError::HolesToProbe { .. }));
        let is_memory = matches!(only_read(&path), Err(CampaignError::MemoryToProbe(_)));
        assert!(!is_refused(&path));
        let file = std::fs::File::options().write(true).open(&path).expect("the file");
        file.set_len(LEAST_FILE.0 * 2).expect("a hole");
        assert_ne!(is_refused(&path), is_memory);
    }

    #[test]
    fn a_target_that_cannot_be_probed_has_a_hint() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let small = folder.path().join("small");
        std::fs::write(&small, [0; 4096]).expect("a file");
        let typed = [
            "image:ext4".to_owned(),
            "/dev/null".to_owned(),
            "/dev/none-such".to_owned(),
            "/none/such/place".to_owned(),
            small.shown().into_owned(),
        ];
        for typed in typed {
            let Ok(argument) = typed.parse::<TargetArgument>();
            let error = ProbeTarget::resolve(&argument).expect_err(&typed);
            assert!(error.hint().is_some(), "{typed}: {error}");
        }
    }
}
