//! Folders and named images that a diskperf process left behind in a directory. Found by their tag (`tag.rs`), and
//! never by their name alone.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::errors::Fault;
use crate::guard::{open_files, shown_by};
pub use crate::leftovers::tag::Owner;
use crate::leftovers::tag::{self, Machine, judge, read};
use crate::provision::workspace::{self, PREFIX};

/// Prefix and suffix of the names of kept images.
const IMAGE: (&str, &str) = ("diskperf-", ".img");

/// The kind of a leftover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A private folder of a run.
    Folder,
    /// An image that `--keep` gave a name.
    Image,
}

/// A leftover in a directory: a file or folder with a tag of ours.
#[derive(Clone, Debug)]
pub struct Leftover {
    /// Its path.
    pub path: PathBuf,
    /// Its kind.
    pub kind: Kind,
    /// PID of the process that made it.
    pub pid: i32,
    /// Its owner.
    pub owner: Owner,
    inode: u64,
}

/// The files and folders of a directory whose names are like ours.
#[derive(Debug, Default)]
pub struct Scan {
    /// Those with a tag of ours. The process that made them may still run.
    pub leftovers: Vec<Leftover>,
    /// Those without a tag of ours: no readable tag, or the tag of another file.
    pub untagged: Vec<Untagged>,
}

/// A file or folder with a name like ours and no tag of ours. Its file system stores no tags, it is a copy, or another
/// program made it.
#[derive(Clone, Debug)]
pub struct Untagged {
    /// Its path.
    pub path: PathBuf,
    /// The kind that its name indicates.
    pub kind: Kind,
    /// Device and inode number.
    identity: (u64, u64),
}

impl Untagged {
    /// Returns the file or folder at this path, if its name is like ours and it has no tag.
    pub fn inspect(path: &Path) -> Option<Untagged> {
        let kind = kind_of(path.file_name()?)?;
        let opened = open(path, kind);
        let has_tag = opened.as_ref().is_some_and(|opened| judge(opened.as_fd()).is_some());
        // A file that cannot be opened is listed too, but never removed.
        let identity = opened.and_then(|opened| identity(opened.as_fd())).unwrap_or_default();
        (!has_tag).then(|| Untagged { path: path.to_owned(), kind, identity })
    }

    /// Returns the reason to keep it: it belongs to another user, or a program uses it. A run on a file system without
    /// tags has its folder open.
    pub fn obstacle(&self) -> Option<String> {
        let Some(opened) = open(&self.path, self.kind) else { return Some("it cannot be opened".to_owned()) };
        if !tag::is_of_this_user(opened.as_fd()) {
            return Some("it belongs to another user".to_owned());
        }
        if let Some(pid) = user_of(&self.path) {
            return Some(format!("process {pid} uses it"));
        }
        let by = (self.kind == Kind::Image).then(|| shown_by(&self.path).into_iter().next())??;
        Some(format!("it is the backing file of {by}"))
    }

    /// Removes it if it is still the same file. You have seen its path and agreed.
    pub fn remove(&self) -> io::Result<()> {
        if let Some(obstacle) = self.obstacle() {
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, obstacle));
        }
        let is_it = |opened: BorrowedFd| identity(opened) == Some(self.identity) && judge(opened).is_none();
        match self.kind {
            Kind::Folder => workspace::remove(&self.path, is_it),
            Kind::Image => unlink_image(&self.path, is_it),
        }
    }
}

fn identity(opened: BorrowedFd) -> Option<(u64, u64)> {
    rustix::fs::fstat(opened).ok().map(|stat| (stat.st_dev, stat.st_ino))
}

/// Returns another process that has a folder, or a file below it, open or as its working or root directory. Only
/// processes that this user can see are found.
fn user_of(path: &Path) -> Option<i32> {
    let (path, proc) = (path.canonicalize().ok()?, Path::new("/proc"));
    open_files::others(proc).into_iter().find(|pid| {
        let folder = proc.join(pid.to_string());
        let open = open_files::descriptors(proc, *pid).all.into_iter().map(|descriptor| descriptor.link);
        let mut links = ["cwd", "root"].map(|name| folder.join(name)).into_iter().chain(open);
        links.any(|link| fs::read_link(link).is_ok_and(|target| target.starts_with(&path)))
    })
}

/// Removes the name of an image. `is_it` first checks the open file.
fn unlink_image(path: &Path, is_it: impl FnOnce(BorrowedFd) -> bool) -> io::Result<()> {
    let parent = path.parent().unwrap_or(Path::new("."));
    let parent = rustix::fs::open(parent, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let name = path.file_name().unwrap_or_default();
    let stat = rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let named = Some((stat.st_dev, stat.st_ino));
    let is_it = open(path, Kind::Image).is_some_and(|image| identity(image.as_fd()) == named && is_it(image.as_fd()));
    if !is_it {
        return Err(Errno::STALE.into());
    }
    Ok(rustix::fs::unlinkat(&parent, name, AtFlags::empty())?)
}

/// Finds the leftovers in a directory, sorted by path.
pub fn find(directory: &Path) -> io::Result<Scan> {
    let mut scan = Scan::default();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let (path, kind) = (directory.join(entry.file_name()), entry.file_type()?);
        let expected = if kind.is_dir() { Kind::Folder } else { Kind::Image };
        if (kind.is_dir() || kind.is_file()) && kind_of(&entry.file_name()) == Some(expected) {
            match inspect(&path, expected) {
                Some(left) => scan.leftovers.push(left),
                None => scan.untagged.extend(Untagged::inspect(&path)),
            }
        }
    }
    scan.leftovers.sort_by(|a, b| a.path.cmp(&b.path));
    scan.untagged.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(scan)
}

/// Returns the leftover at this path, if it has a tag of ours.
pub fn find_leftover(path: &Path) -> Option<Leftover> {
    inspect(path, kind_of(path.file_name()?)?)
}

/// Returns true if the folder at this path has a tag of this machine that was written since the last boot.
pub fn is_of_this_boot(path: &Path) -> bool {
    let tagged = open(path, Kind::Folder).and_then(|opened| {
        let inode = rustix::fs::fstat(&opened).ok()?.st_ino;
        tag::parse(&read(opened.as_fd())?, inode)
    });
    tagged.is_some_and(|(machine, owner)| machine == Machine::this() && owner.is_of_this_boot())
}

/// Returns true if the folder at this path has any tag: its own, or one that was copied with it.
pub(crate) fn has_any_tag(path: &Path) -> bool {
    open(path, Kind::Folder).is_some_and(|opened| read(opened.as_fd()).is_some())
}

/// Removes a folder with our tag. Fails if its process may still run.
pub fn remove_folder(path: &Path) -> io::Result<()> {
    let left = inspect(path, Kind::Folder).filter(|left| left.owner == Owner::Ended);
    left.ok_or_else(|| io::Error::other("it has no tag of a diskperf process that has ended"))?.remove()
}

/// Result of removing the folders with a run's label.
#[derive(Debug, Default)]
pub struct Swept {
    /// Removed folders.
    pub removed: Vec<PathBuf>,
    /// Kept folders: no tag proves that they belong to the run.
    pub kept: Vec<PathBuf>,
}

/// Removes the folders with this label in `parent` that a killed process of this user left. A copy of such a folder has
/// the same name, and perhaps the same tag, so only a tag that fits the folder's inode decides. A process that is
/// killed before it writes the tag leaves an empty folder; removing that loses nothing.
pub fn remove_left(parent: &Path, label: &str) -> Result<Swept, Fault> {
    let (prefix, mut swept) = (workspace::prefix(label), Swept::default());
    for entry in workspace::entries(parent)? {
        // A file, a link, or a folder of another user is not ours, whatever its name.
        let has_name = entry.file_name().as_bytes().starts_with(prefix.as_bytes());
        let is_ours = |metadata: fs::Metadata| metadata.is_dir() && metadata.uid() == geteuid().as_raw();
        if !has_name || !entry.metadata().is_ok_and(is_ours) {
            continue;
        }
        let path = entry.path();
        let is_removed = match find_leftover(&path) {
            Some(left) if left.owner == Owner::Ended => {
                let fault = |source| Fault::Folder { action: "remove", path: path.clone(), source };
                left.remove().map(|()| true).map_err(fault)?
            }
            Some(_) => false,
            None => !has_any_tag(&path) && fs::remove_dir(&path).is_ok(),
        };
        if is_removed { swept.removed.push(path) } else { swept.kept.push(path) }
    }
    Ok(swept)
}

impl Leftover {
    /// Removes it if it is still the same file and its process has ended. An image that a loop device shows stays.
    pub fn remove(&self) -> io::Result<()> {
        match self.kind {
            Kind::Folder => workspace::remove(&self.path, |folder| self.may_go(folder)),
            Kind::Image => {
                if let Some(device) = shown_by(&self.path).into_iter().next() {
                    let why = format!("it is the backing file of {device}");
                    return Err(io::Error::new(io::ErrorKind::ResourceBusy, why));
                }
                unlink_image(&self.path, |image| self.may_go(image))
            }
        }
    }

    /// Returns true if the open file is still the one that was found, and its process has ended. You may have taken
    /// hours to agree.
    fn may_go(&self, opened: BorrowedFd) -> bool {
        judge(opened).is_some_and(|(inode, _, owner)| inode == self.inode && owner == Owner::Ended)
    }
}

/// Returns the kind of leftover that has such a name.
pub fn kind_of(name: &OsStr) -> Option<Kind> {
    let name = name.as_bytes();
    if name.starts_with(PREFIX.as_bytes()) {
        return Some(Kind::Folder);
    }
    let is_image = name.starts_with(IMAGE.0.as_bytes()) && name.ends_with(IMAGE.1.as_bytes());
    is_image.then_some(Kind::Image)
}

fn inspect(path: &Path, kind: Kind) -> Option<Leftover> {
    let (inode, pid, owner) = judge(open(path, kind)?.as_fd())?;
    Some(Leftover { path: path.to_owned(), kind, pid, owner, inode })
}

/// Opens a file or folder of this kind; never a link or a pipe.
fn open(path: &Path, kind: Kind) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let opened = match kind {
        Kind::Folder => rustix::fs::open(path, flags | OFlags::DIRECTORY, Mode::empty()).ok()?,
        Kind::Image => {
            let is_file = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
            is_file.then(|| rustix::fs::open(path, flags, Mode::empty()).ok())??
        }
    };
    let mode = FileType::from_raw_mode(rustix::fs::fstat(&opened).ok()?.st_mode);
    let expected = if kind == Kind::Folder { FileType::Directory } else { FileType::RegularFile };
    (mode == expected).then_some(opened)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::XattrFlags;

    use super::*;
    use crate::leftovers::tag::{ATTRIBUTE, text};
    use crate::provision::workspace::Workspace;
    use crate::sys::process_identity::ProcessIdentity;

    /// A process that has ended.
    fn dead() -> ProcessIdentity {
        let mut child = ProcessIdentity::this().to_string();
        // The same PID with another start time.
        let started = child.split(' ').nth(1).expect("when it started").to_owned();
        child = child.replacen(&started, &format!("{started}7"), 1);
        child.parse().expect("a process")
    }

    fn retag(path: &Path, inode: u64, machine: &Machine, owner: &ProcessIdentity) {
        let text = text(inode, machine, owner);
        rustix::fs::setxattr(path, ATTRIBUTE, text.as_bytes(), XattrFlags::empty()).expect("a tag");
    }

    fn inode(path: &Path) -> u64 {
        std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).expect("it is there"))
    }

    #[test]
    fn only_tagged_leftovers_are_found_and_unheld_ones_removable() {
        let parent = tempfile::tempdir().expect("a folder");
        let path = |name: &str| parent.path().join(name);
        let living = Workspace::inside(parent.path()).expect("a folder");
        if read(living.open().expect("open").as_fd()).is_none() {
            return testkit::skip!("{} takes no extended attributes", parent.path().display());
        }
        for folder in
            [".diskperf-dead", ".diskperf-plain", ".diskperf-copied", ".diskperf-away", ".diskperf-clone", "other"]
        {
            fs::create_dir_all(path(folder).join("below")).expect("a folder");
        }
        for image in ["diskperf-ext4.img", "diskperf-mine.img"] {
            fs::write(path(image), "image").expect("a file");
        }
        let (host, dead) = (Machine::this(), dead());
        let elsewhere = Machine { name: "elsewhere".to_owned(), ..host.clone() };
        // Another machine with the same name.
        let clone = Machine { id: "0123456789abcdef".to_owned(), ..host.clone() };
        retag(&path(".diskperf-dead"), inode(&path(".diskperf-dead")), &host, &dead);
        retag(&path(".diskperf-copied"), inode(&path(".diskperf-dead")), &host, &dead);
        retag(&path(".diskperf-away"), inode(&path(".diskperf-away")), &elsewhere, &dead);
        retag(&path(".diskperf-clone"), inode(&path(".diskperf-clone")), &clone, &dead);
        retag(&path("other"), inode(&path("other")), &host, &dead);
        retag(&path("diskperf-ext4.img"), inode(&path("diskperf-ext4.img")), &host, &dead);
        symlink(".diskperf-dead", path(".diskperf-link")).expect("a link");
        let Scan { leftovers: found, untagged } = find(parent.path()).expect("a list");
        let untagged: Vec<PathBuf> = untagged.into_iter().map(|untagged| untagged.path).collect();
        assert_eq!(untagged, [".diskperf-copied", ".diskperf-plain", "diskperf-mine.img"].map(path));
        let mut held: Vec<(String, Kind, Owner)> = found
            .iter()
            .map(|left| {
                let name = left.path.file_name().expect("a name").to_string_lossy().into_owned();
                (name, left.kind, left.owner.clone())
            })
            .collect();
        let own = living.path().file_name().expect("a name").to_string_lossy().into_owned();
        let mut expected = vec![
            (".diskperf-away".to_owned(), Kind::Folder, Owner::Machine("elsewhere".to_owned())),
            (".diskperf-clone".to_owned(), Kind::Folder, Owner::Machine(host.name.clone())),
            (".diskperf-dead".to_owned(), Kind::Folder, Owner::Ended),
            (own, Kind::Folder, Owner::Process(std::process::id() as i32)),
            ("diskperf-ext4.img".to_owned(), Kind::Image, Owner::Ended),
        ];
        held.sort_by(|a, b| a.0.cmp(&b.0));
        expected.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(held, expected);
        found.iter().filter(|left| left.owner == Owner::Ended).for_each(|left| left.remove().expect("it goes"));
        assert!(!path(".diskperf-dead").exists() && !path("diskperf-ext4.img").exists());
        for stays in [".diskperf-plain/below", ".diskperf-copied/below", ".diskperf-away/below", "diskperf-mine.img"] {
            assert!(path(stays).exists(), "{stays}");
        }
        assert!(remove_folder(&path(".diskperf-plain")).is_err() && remove_folder(living.path()).is_err());
        assert!(living.path().exists());
    }

    #[test]
    fn a_folder_of_a_killed_run_needs_a_matching_tag_to_be_removed() {
        let parent = tempfile::tempdir().expect("a folder");
        let path = |name: &str| parent.path().join(name);
        if rustix::fs::setxattr(parent.path(), "user.test", b"1", XattrFlags::empty()).is_err() {
            return testkit::skip!("{} takes no extended attributes", parent.path().display());
        }
        let (host, dead) = (Machine::this(), dead());
        let ours = [".diskperf-run1-abc", ".diskperf-run1-def", ".diskperf-run1-empty"];
        let others = [
            ".diskperf-run1-copied",
            ".diskperf-run1-living",
            ".diskperf-run1-plain",
            ".diskperf-run12-abc",
            ".diskperf-abc",
            "run1",
        ];
        for folder in ours.iter().chain(&others) {
            fs::create_dir(path(folder)).expect("a folder");
            if !folder.ends_with("empty") {
                fs::write(path(folder).join("file"), "data").expect("a file");
            }
            if !folder.ends_with("plain") && !folder.ends_with("empty") {
                retag(&path(folder), inode(&path(folder)), &host, &dead);
            }
        }
        retag(&path(others[0]), inode(&path(ours[0])), &host, &dead);
        retag(&path(others[1]), inode(&path(others[1])), &host, &ProcessIdentity::this());
        fs::write(path(".diskperf-run1-file"), "").expect("a file");
        symlink("run1", path(".diskperf-run1-link")).expect("a link");
        let mut swept = remove_left(parent.path(), "run1").expect("they are removed");
        swept.removed.sort();
        swept.kept.sort();
        assert_eq!(
            (swept.removed, swept.kept),
            (ours.map(path).to_vec(), others[..3].iter().map(|one| path(one)).collect())
        );
        assert!(ours.iter().all(|folder| !path(folder).exists()));
        assert!(others.iter().all(|folder| path(folder).join("file").exists()));
        assert!(path(".diskperf-run1-file").is_file() && path(".diskperf-run1-link").is_symlink());
    }

    #[test]
    fn leftovers_of_other_users_or_held_again_stay() {
        if !rustix::process::geteuid().is_root() {
            return testkit::skip!("only root can give a folder away");
        }
        let parent = tempfile::tempdir().expect("a folder");
        if rustix::fs::setxattr(parent.path(), "user.test", b"1", XattrFlags::empty()).is_err() {
            return testkit::skip!("{} takes no extended attributes", parent.path().display());
        }
        let (host, dead) = (Machine::this(), dead());
        for (name, kind) in [(".diskperf-x", Kind::Folder), ("diskperf-x.img", Kind::Image)] {
            let path = parent.path().join(name);
            if kind == Kind::Folder { fs::create_dir(&path) } else { fs::write(&path, "") }.expect("it is made");
            retag(&path, inode(&path), &host, &dead);
            let left = find_leftover(&path).expect("it has our tag");
            assert_eq!(left.owner, Owner::Ended);
            // Another process takes it while the user is being asked.
            retag(&path, inode(&path), &host, &ProcessIdentity::this());
            assert!(left.remove().is_err() && path.exists(), "{name} is held again");
            rustix::fs::removexattr(&path, ATTRIBUTE).expect("no tag");
            assert!(left.remove().is_err() && path.exists(), "{name} has no tag any more");
            retag(&path, inode(&path), &host, &dead);
            std::os::unix::fs::chown(&path, Some(12345), None).expect("given away");
            assert!(left.remove().is_err() && path.exists(), "{name} is another user's now");
            assert_eq!(find_leftover(&path).expect("it has our tag").owner, Owner::User(12345));
            std::os::unix::fs::chown(&path, Some(0), None).expect("given back");
            left.remove().expect("it goes");
            assert!(!path.exists());
        }
    }

    #[test]
    fn a_folder_that_replaced_the_leftover_stays() {
        let parent = tempfile::tempdir().expect("a folder");
        let path = parent.path().join(".diskperf-x");
        fs::create_dir(&path).expect("a folder");
        let inode = inode(&path);
        let left = Leftover { path: path.clone(), kind: Kind::Folder, pid: 1, owner: Owner::Ended, inode };
        fs::rename(&path, parent.path().join("moved")).expect("moved away");
        fs::create_dir(&path).and_then(|()| fs::write(path.join("mine"), "mine")).expect("another");
        assert!(left.remove().is_err());
        assert_eq!(fs::read(path.join("mine")).expect("it is there"), b"mine");
        let image = Leftover { kind: Kind::Image, ..left };
        assert!(image.remove().is_err() && path.exists(), "a folder is no image");
    }
}
