//! A new file that takes the name of a result file once it is complete.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;
use tempfile::Builder;

use super::{ACCESS_LIST, OutputFileFault, has_access_list, is_denied};
use crate::guard::{Found, judge};
use crate::observe::mount::through;

/// Attempts to take a free name if another file takes it first. Guess: enough for other runs that end at the same time.
const LOOKS: usize = 3;

/// Prefix of temporary files' names. The full name is shorter than the limit of every file system.
const PREFIX: &str = ".diskperf-output-";

/// A new file, and the old one that it replaces.
#[derive(Debug)]
pub(super) struct Replacement {
    temporary: Temporary,
    /// The owner and the permissions of the old file, if there is one.
    kept: Option<Metadata>,
}

impl Replacement {
    /// Creates a new file in the folder. `None` if the old file must be written in place.
    pub(super) fn begin(folder: &File, old: Option<&Found>) -> Result<Option<Replacement>, OutputFileFault> {
        let kept = old.map(Found::metadata).transpose()?;
        if old.is_some_and(has_access_list) {
            return Ok(None);
        }
        match Temporary::in_folder(folder, kept.is_some()) {
            Ok(temporary) => Ok(Some(Replacement { temporary, kept })),
            // 6
            Err(error) if kept.is_some() && is_denied(&error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The file to write to.
    pub(super) fn file(&self) -> &File {
        self.temporary.file()
    }

    /// Syncs the file and gives it its name. Returns false if the old file must be written in place; then nothing has
    /// changed.
    pub(super) fn end(self, folder: &File, name: &Path) -> Result<bool, OutputFileFault> {
        let Replacement { temporary, kept } = self;
        // 6
        let in_place = |error: io::Error| match kept.is_some() && is_denied(&error) {
            true => Ok(false),
            false => Err(error.into()),
        };
        let file = temporary.file().try_clone()?;
        if let Some(kept) = &kept
            && let Err(error) = keep_rights(&file, kept)
        {
            return in_place(error);
        }
        file.sync_all()?;
        let mut unnamed = Some((temporary, 0));
        while let Some((temporary, looks)) = unnamed {
            // 4: the name may have another file by now.
            let now = Found::in_folder(folder.as_fd(), name)?;
            if let Some(now) = &now {
                judge(now).map_err(OutputFileFault::Refused)?;
            }
            unnamed = match temporary.take_name(folder, name, now.is_none()) {
                Ok(None) => None,
                // A file took the name after this look. It has not been judged, so it must not be replaced yet.
                Ok(Some(_)) if looks + 1 == LOOKS => return Err(Errno::EXIST.into()),
                Ok(Some(temporary)) => Some((temporary, looks + 1)),
                Err(error) => return in_place(error),
            };
        }
        sync_folder(folder, &file)?;
        Ok(true)
    }
}

/// A new file that does not have its final name yet. It is removed on drop.
#[derive(Debug)]
pub(super) enum Temporary {
    /// Unnamed: the kernel also removes it if the process is killed.
    Unnamed(File),
    /// Under a temporary name, on file systems without unnamed files (O_TMPFILE).
    Named(tempfile::NamedTempFile<File>),
}

impl Temporary {
    /// Creates the file. If it replaces an old one, other users cannot open it: the old file's rights may be narrower
    /// than those of a new file.
    pub(super) fn in_folder(folder: &File, replaces: bool) -> io::Result<Temporary> {
        let rights = if replaces { 0o600 } else { 0o666 };
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        match rustix::fs::openat(folder, ".", flags, Mode::from_raw_mode(rights)) {
            Ok(file) => Ok(Temporary::Unnamed(file.into())),
            // Kernels before 3.11 mistake O_TMPFILE for O_DIRECTORY.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {
                let open = |path: &Path| File::options().write(true).create_new(true).mode(rights).open(path);
                Ok(Temporary::Named(Builder::new().prefix(PREFIX).make_in(through(folder), open)?))
            }
            Err(errno) => Err(errno.into()),
        }
    }

    pub(super) fn file(&self) -> &File {
        match self {
            Temporary::Unnamed(file) => file,
            Temporary::Named(named) => named.as_file(),
        }
    }

    /// Gives the file its name in the folder; `is_free` says that no file has the name now. Returns the temporary file
    /// if another file took the free name since; that file stays.
    fn take_name(self, folder: &File, name: &Path, is_free: bool) -> io::Result<Option<Temporary>> {
        let path = through(folder).join(name);
        let file = match self {
            Temporary::Named(named) if is_free => {
                return match named.persist_noclobber(path) {
                    Ok(_) => Ok(None),
                    Err(failed) if is_taken(&failed.error) => Ok(Some(Temporary::Named(failed.file))),
                    Err(failed) => Err(failed.error),
                };
            }
            Temporary::Named(named) => {
                return named.persist(path).map(|_| None).map_err(|failed| failed.error);
            }
            Temporary::Unnamed(file) => file,
        };
        let link = |to: &Path| rustix::fs::linkat(CWD, through(&file), CWD, to, AtFlags::SYMLINK_FOLLOW);
        if is_free {
            return match link(&path) {
                Err(Errno::EXIST) => Ok(Some(Temporary::Unnamed(file))),
                linked => Ok(linked.map(|()| None)?),
            };
        }
        // Linking fails if the name is taken, so the file gets a temporary name and is renamed over the old one.
        let named = Builder::new().prefix(PREFIX).make_in(through(folder), |path| Ok(link(path)?))?;
        named.into_temp_path().persist(path).map(|()| None).map_err(|failed| failed.error)
    }
}

fn is_taken(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::EXIST)
}

/// Gives a new file the owner and the permissions of the old one, which has no access list. The new file may have
/// inherited one from its folder.
pub(super) fn keep_rights(file: &File, old: &Metadata) -> io::Result<()> {
    match rustix::fs::fremovexattr(file, ACCESS_LIST) {
        Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP) => {}
        Err(errno) => return Err(errno.into()),
    }
    let new = file.metadata()?;
    let changed = |old: u32, new: u32| (old != new).then_some(old);
    let (user, group) = (changed(old.uid(), new.uid()), changed(old.gid(), new.gid()));
    if user.is_some() || group.is_some() {
        fchown(file, user, group)?;
    }
    file.set_permissions(PermissionsExt::from_mode(old.mode() & 0o777))
}

/// Makes a name durable. A folder that cannot be read cannot be synced: then its whole file system is synced.
fn sync_folder(folder: &File, file: &File) -> Result<(), OutputFileFault> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match rustix::fs::openat(folder, ".", flags, Mode::empty()).and_then(rustix::fs::fsync) {
        Err(Errno::ACCESS | Errno::INVAL) => Ok(rustix::fs::syncfs(file)?),
        synced => Ok(synced?),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_that_took_a_free_name_is_not_replaced() {
        let parent = tempfile::tempdir().expect("a folder");
        let folder = File::open(parent.path()).expect("it opens");
        let named = || {
            let open = |path: &Path| File::options().write(true).create_new(true).open(path);
            Temporary::Named(Builder::new().prefix(PREFIX).make_in(through(&folder), open).expect("a file"))
        };
        let unnamed = || Temporary::in_folder(&folder, false).expect("a file");
        let out = parent.path().join("out");
        for make in [&unnamed as &dyn Fn() -> Temporary, &named] {
            let temporary = make();
            std::fs::write(&out, "another").expect("a file");
            let mut written = temporary.file();
            written.write_all(b"results").expect("room");
            let back = temporary.take_name(&folder, Path::new("out"), true).expect("a folder like others");
            assert_eq!(crate::sys::read_limited::text(&out, units::Bytes(64)).expect("it is there"), "another");
            let replaced = back.expect("it has no name yet").take_name(&folder, Path::new("out"), false);
            assert!(replaced.expect("a folder like others").is_none());
            assert_eq!(crate::sys::read_limited::text(&out, units::Bytes(64)).expect("it is there"), "results");
            assert_eq!(std::fs::read_dir(parent.path()).expect("a folder").count(), 1);
        }
    }
}
