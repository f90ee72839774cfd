//! The private folder that a program stands in. Everything below it is ours; nothing outside is touched, also
//! where somebody puts another folder or a link in its place.
//! Every place that deletes something is listed in `xtask/src/tidy/places.rs`, with its reason.

use std::ffi::{CStr, CString, OsStr};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::errors::Fault;
use crate::leftovers::tag;
use crate::observe::mount::through;

/// How the folders' names begin.
pub(crate) const PREFIX: &str = ".diskperf-";

/// A folder of an unpredictable name that only its owner may enter, removed with all it holds when dropped.
#[derive(Debug)]
pub struct Workspace {
    path: PathBuf,
    /// The number of the folder in its file system.
    inode: u64,
}

impl Workspace {
    /// Makes one inside `parent`.
    pub fn inside(parent: &Path) -> Result<Workspace, Fault> {
        Workspace::with_prefix(parent, PREFIX)
    }

    /// The same, with a label in its name, by which [`crate::remove_left`] finds it if this process is killed.
    pub fn labelled(parent: &Path, label: &str) -> Result<Workspace, Fault> {
        Workspace::with_prefix(parent, &prefix(label))
    }

    fn with_prefix(parent: &Path, prefix: &str) -> Result<Workspace, Fault> {
        // A name that exists is refused.
        let private = fs::Permissions::from_mode(0o700);
        let made = tempfile::Builder::new().prefix(prefix).permissions(private).tempdir_in(parent);
        let folder = made.map_err(|source| Fault::Folder {
            action: "make a folder in",
            path: parent.to_owned(),
            source: plain(source),
        })?;
        let metadata = fs::symlink_metadata(folder.path()).map_err(|source| Fault::Folder {
            action: "look at",
            path: folder.path().to_owned(),
            source,
        })?;
        let workspace = Workspace { path: folder.keep(), inode: metadata.ino() };
        // Where the file system takes no tags it is not found by who looks for what was left, and no worse.
        let _ = tag::tag(workspace.open()?.as_fd());
        Ok(workspace)
    }

    /// The directory that it is in.
    pub(crate) fn parent(&self) -> &Path {
        self.path().parent().unwrap_or(Path::new("."))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens it; fails where it is not the folder any more that was made.
    pub(crate) fn open(&self) -> Result<OwnedFd, Fault> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fault = |errno: Errno| self.fault("open", self.path(), errno.into());
        let opened = rustix::fs::open(self.path(), flags, Mode::empty()).map_err(fault)?;
        let inode = rustix::fs::fstat(&opened).map_err(fault)?.st_ino;
        if inode == self.inode { Ok(opened) } else { Err(fault(Errno::STALE)) }
    }

    /// Takes the folder that is there now for ours: a file system that was mounted anew may number it otherwise.
    pub(crate) fn find_again(&mut self) -> Result<(), Fault> {
        let metadata =
            fs::symlink_metadata(self.path()).map_err(|source| self.fault("look at", self.path(), source))?;
        self.inode = metadata.ino();
        Ok(())
    }

    /// An empty file for reading and writing, whose name is gone already.
    pub(crate) fn scratch(&self) -> Result<File, Fault> {
        let path = self.path().join("scratch");
        let opened = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
        let file = opened.map_err(|source| self.fault("make a file in", self.path(), source))?;
        fs::remove_file(&path).map_err(|source| self.fault("remove", &path, source))?;
        Ok(file)
    }

    /// Every file below it. What else a command may leave there, a link, a pipe or a device, is none, and is not
    /// opened.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>, Fault> {
        let mut files = Vec::new();
        let mut folders = vec![self.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in entries(&folder)? {
                let kind = entry.file_type().map_err(|source| self.fault("look at", &entry.path(), source))?;
                match kind {
                    _ if kind.is_dir() => folders.push(entry.path()),
                    _ if kind.is_file() => files.push(entry.path()),
                    _ => {}
                }
            }
        }
        Ok(files)
    }

    /// Leaves it where it is, for who looks for what was left behind.
    pub fn leave(self) {
        std::mem::forget(self);
    }

    /// Removes all it holds.
    pub(crate) fn clear(&self) -> Result<(), Fault> {
        // Through the open folder: by its path it might be another one by now.
        let folder = self.open()?;
        empty(folder.as_fd()).map_err(|errno| self.fault("remove the content of", self.path(), errno.into()))
    }

    /// Removes it with all it holds; `open` is the folder itself, as whoever stood in it has it.
    pub(crate) fn remove(self, open: Option<OwnedFd>) -> Result<(), Fault> {
        let left = |source| Fault::Left { path: self.path.clone(), source };
        if self.is_there() {
            // There may be few more descriptors than this one, or no more.
            drop(open);
            let removed = remove(&self.path, |folder| self.is(folder));
            let has_none_left = |error: &io::Error| error.raw_os_error() == Some(libc::EMFILE);
            return match removed {
                Err(error) if has_none_left(&error) => fs::remove_dir_all(&self.path),
                removed => removed,
            }
            .map_err(left);
        }
        // What has taken its place is left alone.
        open.map_or(Ok(()), |open| self.remove_open(open.as_fd())).map_err(left)
    }

    /// Whether an open folder is this one.
    fn is(&self, folder: BorrowedFd) -> bool {
        rustix::fs::fstat(folder).is_ok_and(|now| now.st_ino == self.inode)
    }

    /// Whether its path still leads to it. Opens nothing.
    fn is_there(&self) -> bool {
        fs::symlink_metadata(self.path()).is_ok_and(|now| now.is_dir() && now.ino() == self.inode)
    }

    /// Removes it where only its being open leads to it: on a file system that was unmounted meanwhile, in a folder
    /// that was moved. One that was moved or renamed itself is somebody else's by now.
    fn remove_open(&self, open: BorrowedFd) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent = rustix::fs::openat(open, "..", flags, Mode::empty())?;
        let Some(name) = self.path().file_name() else { return Ok(()) };
        let named = rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW);
        if !named.is_ok_and(|named| named.st_ino == self.inode) {
            return Ok(());
        }
        empty(open)?;
        Ok(rustix::fs::unlinkat(&parent, name, AtFlags::REMOVEDIR)?)
    }

    fn fault(&self, action: &'static str, path: &Path, source: io::Error) -> Fault {
        Fault::Folder { action, path: PathBuf::from(path), source }
    }
}

/// What has taken its place is left alone.
impl Drop for Workspace {
    fn drop(&mut self) {
        // Nothing can be done where it fails; what is left is found by its tag.
        let _ = remove(&self.path, |folder| self.is(folder));
    }
}

/// Removes a folder with all it holds, where it is the right one, which is asked once it is open:
///   1. by descriptors from its parent on, so that what somebody puts in its place, or in that of a folder below, is
///      not followed;
///   2. what is mounted below it stays, and the folders that lead there.
pub(crate) fn remove(path: &Path, is_it: impl FnOnce(BorrowedFd) -> bool) -> io::Result<()> {
    let name = path.file_name().ok_or(Errno::INVAL)?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let parent = rustix::fs::open(parent, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    // 1
    let folder = open_in(parent.as_fd(), name)?;
    if !is_it(folder.as_fd()) {
        return Err(Errno::STALE.into());
    }
    empty(folder.as_fd())?;
    let (opened, named) = (rustix::fs::fstat(&folder)?, rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW)?);
    if (opened.st_dev, opened.st_ino) != (named.st_dev, named.st_ino) {
        return Err(Errno::STALE.into());
    }
    Ok(rustix::fs::unlinkat(&parent, name, AtFlags::REMOVEDIR)?)
}

/// Removes all that an open folder holds. However deep that is, it takes no more of the stack: only descriptors, of
/// which the kernel gives so many and no more.
fn empty(folder: BorrowedFd) -> Result<(), Errno> {
    // From the outermost on: a folder below that is open, and what is still in it, at the end what goes next.
    let mut levels: Vec<(Option<OwnedFd>, Vec<CString>)> = vec![(None, names_in(folder)?)];
    while let Some((open, names)) = levels.last_mut() {
        let here = open.as_ref().map_or(folder, |open| open.as_fd());
        let Some(name) = names.last() else {
            levels.pop();
            if let Some((open, names)) = levels.last_mut()
                && let Some(emptied) = names.pop()
            {
                let here = open.as_ref().map_or(folder, |open| open.as_fd());
                unlink_in(here, &emptied, AtFlags::REMOVEDIR)?;
            }
            continue;
        };
        match open_in(here, OsStr::from_bytes(name.to_bytes())) {
            Ok(below) => {
                let inside = names_in(below.as_fd())?;
                levels.push((Some(below), inside));
            }
            // No folder.
            Err(Errno::NOTDIR | Errno::LOOP) => {
                unlink_in(here, name, AtFlags::empty())?;
                names.pop();
            }
            Err(Errno::ACCESS) if unlock(here, name).is_ok() => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Removes a name, also from a folder whose owner may not write to it: a command can leave one behind.
fn unlink_in(folder: BorrowedFd, name: &CStr, flags: AtFlags) -> Result<(), Errno> {
    match rustix::fs::unlinkat(folder, name, flags) {
        Err(Errno::ACCESS) => {
            rustix::fs::fchmod(folder, Mode::RWXU)?;
            rustix::fs::unlinkat(folder, name, flags)
        }
        done => done,
    }
}

/// Gives its owner all rights to a folder in an open one; fails where they are there, so that it helps once.
fn unlock(folder: BorrowedFd, name: &CStr) -> Result<(), Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let locked = rustix::fs::openat(folder, name, flags, Mode::empty())?;
    if Mode::from_raw_mode(rustix::fs::fstat(&locked)?.st_mode).contains(Mode::RWXU) {
        return Err(Errno::ACCESS);
    }
    // A descriptor that is no more than a path takes no fchmod.
    rustix::fs::chmod(through(&locked), Mode::RWXU)
}

/// What an open folder holds, the last first.
fn names_in(folder: BorrowedFd) -> Result<Vec<CString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        names.push(entry?.file_name().to_owned());
    }
    names.retain(|name| ![c".", c".."].contains(&name.as_c_str()));
    names.reverse();
    Ok(names)
}

/// Opens a folder in an open one, where it is no link and nothing is mounted on it.
fn open_in(folder: BorrowedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // 2
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS;
    match rustix::fs::openat2(folder, name, flags, Mode::empty(), within) {
        // Before Linux 5.6, and in sandboxes. What is mounted from the same device is not seen then.
        Err(Errno::NOSYS | Errno::PERM) => {
            let opened = rustix::fs::openat(folder, name, flags, Mode::empty())?;
            let is_same = rustix::fs::fstat(&opened)?.st_dev == rustix::fs::fstat(folder)?.st_dev;
            if is_same { Ok(opened) } else { Err(Errno::XDEV) }
        }
        opened => opened,
    }
}

pub(crate) fn prefix(label: &str) -> String {
    format!("{PREFIX}{label}-")
}

pub(crate) fn entries(folder: &Path) -> Result<Vec<fs::DirEntry>, Fault> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect);
    entries.map_err(|source| Fault::Folder { action: "list", path: folder.to_owned(), source })
}

/// The kernel's own words: tempfile adds a path that the message names already.
fn plain(error: io::Error) -> io::Error {
    match error
        .get_ref()
        .and_then(|inner| std::error::Error::source(inner))
        .and_then(|inner| inner.downcast_ref::<io::Error>())
    {
        Some(inner) => inner.raw_os_error().map_or_else(|| inner.kind().into(), io::Error::from_raw_os_error),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::geteuid;

    use super::*;
    use crate::leftovers::scan::remove_left;
    use crate::leftovers::tag::is_of_this_user;

    #[test]
    fn what_takes_its_place_is_left_alone() {
        for is_link in [true, false] {
            let parent = tempfile::tempdir().expect("a folder");
            let others = parent.path().join("others");
            fs::create_dir(&others).and_then(|()| fs::write(others.join("mine"), "mine")).expect("a folder of others");
            let ours = Workspace::inside(parent.path()).expect("a folder");
            assert_eq!(ours.path().metadata().expect("it is there").mode() & 0o777, 0o700);
            let path = ours.path().to_owned();
            fs::rename(&path, parent.path().join("moved")).expect("moved away");
            let placed = if is_link { std::os::unix::fs::symlink(&others, &path) } else { fs::rename(&others, &path) };
            placed.expect("something else in its place");
            assert!(ours.clear().is_err() && ours.open().is_err());
            drop(ours);
            assert_eq!(names(&path), ["mine"]);
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = entries(folder).expect("names");
        entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn links_are_removed_and_not_followed() {
        let parent = tempfile::tempdir().expect("a folder");
        let others = parent.path().join("others");
        fs::create_dir(&others).and_then(|()| fs::write(others.join("mine"), "mine")).expect("a folder of others");
        let ours = Workspace::inside(parent.path()).expect("a folder");
        fs::create_dir_all(ours.path().join("d0/d1")).expect("folders");
        fs::write(ours.path().join("d0/d1/f0"), "ours").expect("a file");
        for place in ["link", "d0/link"] {
            std::os::unix::fs::symlink(&others, ours.path().join(place)).expect("a link");
        }
        ours.clear().expect("cleared");
        assert_eq!(names(ours.path()), [""; 0]);
        let path = ours.path().to_owned();
        drop(ours);
        assert!(!path.exists());
        assert_eq!(names(&others), ["mine"]);
    }

    #[test]
    fn however_deep_folders_lie_in_each_other_the_stack_suffices() {
        let parent = tempfile::tempdir().expect("a folder");
        let ours = Workspace::inside(parent.path()).expect("a folder");
        fs::create_dir_all(ours.path().join("d/".repeat(400))).expect("folders");
        let small = std::thread::Builder::new().stack_size(64 << 10);
        let cleared = small.spawn(move || ours.clear().map(|()| names(ours.path()))).expect("a thread").join();
        assert_eq!(cleared.expect("it ends").expect("cleared"), [""; 0]);
    }

    #[test]
    fn a_folder_of_another_user_stays_whatever_it_is_called() {
        if !geteuid().is_root() {
            return testkit::skip!("only root can give a folder away");
        }
        let parent = tempfile::tempdir().expect("a folder");
        let path = parent.path().join(".diskperf-run1-abc");
        fs::create_dir_all(path.join("below")).expect("a folder");
        std::os::unix::fs::chown(&path, Some(12345), None).expect("given away");
        remove_left(parent.path(), "run1").expect("nothing is ours");
        assert!(path.join("below").is_dir());
        assert!(remove(&path, is_of_this_user).is_err() && path.join("below").is_dir());
    }

    #[test]
    fn what_its_owner_may_not_write_to_is_removed_too() {
        let parent = tempfile::tempdir().expect("a folder");
        let ours = Workspace::inside(parent.path()).expect("a folder");
        for rights in [0o555, 0o000] {
            let locked = ours.path().join(format!("{rights:o}"));
            fs::create_dir_all(locked.join("below")).expect("folders");
            fs::write(locked.join("below/file"), "").expect("a file");
            for folder in [locked.join("below"), locked] {
                fs::set_permissions(folder, fs::Permissions::from_mode(rights)).expect("locked");
            }
        }
        ours.clear().expect("cleared");
        assert_eq!(names(ours.path()), [""; 0]);
    }
}
