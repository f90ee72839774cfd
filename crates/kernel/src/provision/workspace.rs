//! The private folder in which a program runs. Everything below it is ours. Nothing outside is touched, even if
//! another folder or a link takes its place.
//! Every place that deletes something is listed in `xtask/src/tidy/restricted_actions.rs`, with its reason.

use std::ffi::{CStr, CString, OsStr};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RawDir, ResolveFlags, SeekFrom, StatxAttributes, StatxFlags};
use rustix::io::Errno;

use crate::errors::{CREATE_FOLDER, Fault};
use crate::leftovers::tag;
use crate::observe::mount::{Place, through, upper_path};

/// Prefix of the folder names.
pub(crate) const PREFIX: &str = ".diskperf-";

/// A folder with an unpredictable name that only its owner may enter. When dropped, it is removed with all its
/// contents.
#[derive(Debug)]
pub struct Workspace {
    path: PathBuf,
    /// The inode number of the folder.
    inode: u64,
}

impl Workspace {
    /// Creates one inside `parent`.
    pub fn inside(parent: &Path) -> Result<Workspace, Fault> {
        Workspace::with_prefix(parent, PREFIX)
    }

    /// As [`Workspace::inside`], with a label in its name, by which [`crate::remove_left`] finds it if this process
    /// is killed.
    pub fn labelled(parent: &Path, label: &str) -> Result<Workspace, Fault> {
        Workspace::with_prefix(parent, &prefix(label))
    }

    fn with_prefix(parent: &Path, prefix: &str) -> Result<Workspace, Fault> {
        // Its removal would fail.
        let stat = rustix::fs::statx(CWD, parent, AtFlags::empty(), StatxFlags::empty());
        if stat.is_ok_and(|stat| stat.stx_attributes.contains(StatxAttributes::APPEND)) {
            return Err(Fault::AppendOnly(parent.to_owned()));
        }
        // A name that exists is refused. Unlike `make_in`, `tempdir_in` hides the kernel's error number.
        let private = |path: &Path| fs::DirBuilder::new().mode(0o700).create(path);
        let made = tempfile::Builder::new().prefix(prefix).disable_cleanup(true).make_in(parent, private);
        let made = made.map_err(|source| Fault::Folder { action: CREATE_FOLDER, path: parent.to_owned(), source })?;
        let path = made.path().to_owned();
        let metadata = fs::symlink_metadata(&path).map_err(|source| {
            // The error is reported, and the empty folder cannot be used.
            let _ = fs::remove_dir(&path);
            Fault::Folder { action: "look at", path: path.clone(), source }
        })?;
        let workspace = Workspace { path, inode: metadata.ino() };
        // Some file systems do not store tags. Then a later search for leftovers does not find the folder, but
        // nothing else is lost.
        let _ = tag::tag(workspace.open()?.as_fd());
        Ok(workspace)
    }

    /// The directory that contains it.
    pub(crate) fn parent(&self) -> &Path {
        self.path().parent().unwrap_or(Path::new("."))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the folder. Fails if the path leads to another folder now.
    pub(crate) fn open(&self) -> Result<OwnedFd, Fault> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fault = |errno: Errno| self.fault("open", self.path(), errno.into());
        let opened = rustix::fs::open(self.path(), flags, Mode::empty()).map_err(fault)?;
        let inode = rustix::fs::fstat(&opened).map_err(fault)?.st_ino;
        if inode == self.inode { Ok(opened) } else { Err(fault(Errno::STALE)) }
    }

    /// Accepts the folder that is at the path now as ours: after a remount, its inode number may be different.
    pub(crate) fn find_again(&mut self) -> Result<(), Fault> {
        let metadata =
            fs::symlink_metadata(self.path()).map_err(|source| self.fault("look at", self.path(), source))?;
        self.inode = metadata.ino();
        Ok(())
    }

    /// Inspects the storage of the folder. On an overlay, that is the storage of its upper layer, if a new file of this
    /// folder appears there.
    pub fn place(&self) -> io::Result<Place> {
        let place = Place::under(self.path())?;
        match upper_path(self.path()).filter(|upper| self.appears_in(upper)) {
            Some(upper) => Ok(place.with_storage_of(Place::under(&upper)?)),
            None => Ok(place),
        }
    }

    /// True if a file that is made and removed in this folder appears and vanishes in the other one, too.
    fn appears_in(&self, other: &Path) -> bool {
        let name = "marker";
        let (path, appears) = (self.path().join(name), || other.join(name).symlink_metadata().is_ok());
        let was_there = appears();
        let is_made = OpenOptions::new().write(true).create_new(true).open(&path).is_ok();
        let is_there = appears();
        is_made && fs::remove_file(&path).is_ok() && !was_there && is_there && !appears()
    }

    /// Returns an empty file for reading and writing, whose name is already removed.
    pub(crate) fn scratch(&self) -> Result<File, Fault> {
        let path = self.path().join("scratch");
        let opened = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
        let file = opened.map_err(|source| self.fault("create a file in", self.path(), source))?;
        fs::remove_file(&path).map_err(|source| self.fault("remove", &path, source))?;
        Ok(file)
    }

    /// Keeps the folder, for a later search for leftovers.
    pub fn leave(self) {
        std::mem::forget(self);
    }

    /// Removes all contents of the folder.
    pub(crate) fn clear(&self) -> Result<(), Fault> {
        // Uses the open folder, because its path may lead to another folder now.
        let folder = self.open()?;
        empty(folder.as_fd()).map_err(|errno| self.fault("remove the content of", self.path(), errno.into()))
    }

    /// Removes the folder with all its contents. `open` is a descriptor of the folder, from the program that ran in
    /// it.
    pub(crate) fn remove(self, open: Option<OwnedFd>) -> Result<(), Fault> {
        let left = |source| Fault::Left { path: self.path.clone(), source };
        if self.is_there() {
            // Frees this descriptor, because the process may be close to its limit.
            drop(open);
            return self.remove_named().map_err(left);
        }
        // Another folder at its path is left alone.
        open.map_or(Ok(()), |open| self.remove_open(open.as_fd())).map_err(left)
    }

    /// Removes the folder at its path with all its contents, if it is this one.
    fn remove_named(&self) -> io::Result<()> {
        let has_none_left = |error: &io::Error| error.raw_os_error() == Some(libc::EMFILE);
        match remove(&self.path, |folder| self.is(folder)) {
            // An empty folder can be removed without a descriptor.
            Err(error) if has_none_left(&error) && self.is_there() => fs::remove_dir(&self.path).map_err(|_| error),
            removed => removed,
        }
    }

    /// True if an open folder is this one.
    fn is(&self, folder: BorrowedFd) -> bool {
        rustix::fs::fstat(folder).is_ok_and(|now| now.st_ino == self.inode)
    }

    /// True if its path still leads to it. Opens nothing.
    fn is_there(&self) -> bool {
        fs::symlink_metadata(self.path()).is_ok_and(|now| now.is_dir() && now.ino() == self.inode)
    }

    /// Removes a folder that only its open descriptor leads to: its file system was unmounted, or a parent folder was
    /// moved. If the folder itself was moved or renamed, it is left alone.
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

/// Returns every regular file below the folder of a program. A command may also leave links, pipes or devices there;
/// those are skipped and not opened.
pub(crate) fn files_below(folder: &Path) -> Result<Vec<PathBuf>, Fault> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in entries(&folder)? {
            let path = entry.path();
            let kind = entry.file_type();
            let kind = kind.map_err(|source| Fault::Folder { action: "look at", path: path.clone(), source })?;
            match kind {
                _ if kind.is_dir() => folders.push(path),
                _ if kind.is_file() => files.push(path),
                _ => {}
            }
        }
    }
    Ok(files)
}

/// Another folder at its path is left alone.
impl Drop for Workspace {
    fn drop(&mut self) {
        // An error cannot be handled here. A later search finds the leftovers by their tag.
        let _ = self.remove_named();
    }
}

/// Removes a folder with all its contents, if `is_it` accepts it once it is open.
///   1. It opens each folder through the descriptor of its parent. So it never follows what another program puts in the
///      place of this folder or of one below.
///   2. Mounts below the folder stay, and so do the folders that lead to them.
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

/// Removes all contents of an open folder. Deep nesting needs no stack, only descriptors, whose number the kernel
/// limits.
fn empty(folder: BorrowedFd) -> Result<(), Errno> {
    // The open levels, from the outermost on. Each has the open folder (`None` for `folder` itself) and its remaining
    // names, the next one last.
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
            // Not a folder.
            Err(Errno::NOTDIR | Errno::LOOP) => {
                unlink_in(here, name, AtFlags::empty())?;
                names.pop();
            }
            // Without a free descriptor, the kernel does not say what it is. It refuses to unlink a folder.
            Err(Errno::MFILE) if unlink_in(here, name, AtFlags::empty()).is_ok() => {
                names.pop();
            }
            Err(Errno::ACCESS) if unlock(here, name).is_ok() => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Bytes of folder entries that are read at once. Chosen: as much as the C library reads.
const ENTRIES: usize = 32 << 10;

/// Removes a name, even from a folder that its owner may not write to: a command can leave one behind.
fn unlink_in(folder: BorrowedFd, name: &CStr, flags: AtFlags) -> Result<(), Errno> {
    match rustix::fs::unlinkat(folder, name, flags) {
        Err(Errno::ACCESS) => {
            rustix::fs::fchmod(folder, Mode::RWXU)?;
            rustix::fs::unlinkat(folder, name, flags)
        }
        done => done,
    }
}

/// Gives the owner all rights to a subfolder. Fails if they are already set, so that the caller retries only once.
fn unlock(folder: BorrowedFd, name: &CStr) -> Result<(), Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let locked = rustix::fs::openat(folder, name, flags, Mode::empty())?;
    if Mode::from_raw_mode(rustix::fs::fstat(&locked)?.st_mode).contains(Mode::RWXU) {
        return Err(Errno::ACCESS);
    }
    // A descriptor opened with O_PATH does not support fchmod.
    rustix::fs::chmod(through(&locked), Mode::RWXU)
}

/// The names in an open folder, in reverse order. Needs no other descriptor.
fn names_in(folder: BorrowedFd) -> Result<Vec<CString>, Errno> {
    // Another part of the program may have read it. Folders of some FUSE servers cannot seek.
    match rustix::fs::seek(folder, SeekFrom::Start(0)) {
        Ok(_) | Err(Errno::SPIPE) => {}
        Err(errno) => return Err(errno),
    }
    let mut names = Vec::new();
    let mut memory = Vec::with_capacity(ENTRIES);
    let mut entries = RawDir::new(folder, memory.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        names.push(entry?.file_name().to_owned());
    }
    names.retain(|name| ![c".", c".."].contains(&name.as_c_str()));
    names.reverse();
    Ok(names)
}

/// Opens a subfolder. Fails if it is a link or a mount point.
fn open_in(folder: BorrowedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // 2
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS;
    match rustix::fs::openat2(folder, name, flags, Mode::empty(), within) {
        // Kernels before 5.6 and some sandboxes do not have this call. Then a mount of the same device is not noticed.
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use rustix::process::geteuid;

    use super::*;
    use crate::leftovers::scan::remove_left;
    use crate::leftovers::tag::is_of_this_user;

    #[test]
    fn a_folder_that_replaces_the_workspace_is_left_alone() {
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

    #[test]
    fn errors_of_creation_have_the_error_number_of_the_kernel() {
        let parent = tempfile::tempdir().expect("a folder");
        let file = parent.path().join("file");
        fs::write(&file, "").expect("a file");
        for (place, number) in [(file, libc::ENOTDIR), (parent.path().join("none"), libc::ENOENT)] {
            let fault = Workspace::inside(&place).expect_err("there is no folder");
            let Fault::Folder { source, path, .. } = &fault else { panic!("{fault:?}") };
            assert_eq!((source.raw_os_error(), path), (Some(number), &place));
            assert!(!fault.to_string().contains("at path"), "{fault}");
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
    fn deeply_nested_folders_do_not_overflow_the_stack() {
        let parent = tempfile::tempdir().expect("a folder");
        let ours = Workspace::inside(parent.path()).expect("a folder");
        fs::create_dir_all(ours.path().join("d/".repeat(400))).expect("folders");
        let small = std::thread::Builder::new().stack_size(64 << 10);
        let cleared = small.spawn(move || ours.clear().map(|()| names(ours.path()))).expect("a thread").join();
        assert_eq!(cleared.expect("it ends").expect("cleared"), [""; 0]);
    }

    #[test]
    fn append_only_folders_are_refused_before_anything_is_created() {
        let parent = tempfile::tempdir().expect("a folder");
        let attribute = |change: &str| {
            let chattr = testkit::tool("chattr")?;
            let ended = testkit::run(&chattr, parent.path(), &[change, "."]);
            (ended.status == Some(0)).then_some(())
        };
        if attribute("+a").is_none() {
            return testkit::skip!("the folder for temporary files cannot be made append-only");
        }
        let outcome = Workspace::inside(parent.path());
        let found = names(parent.path());
        attribute("-a").expect("it is an ordinary folder again");
        assert!(matches!(&outcome, Err(Fault::AppendOnly(path)) if path == parent.path()), "{outcome:?}");
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn folders_of_other_users_are_not_removed() {
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
    fn folders_without_write_permission_are_removed() {
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
