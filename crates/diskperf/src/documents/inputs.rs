//! Files that the output of a command must not replace: the files that it reads, and results databases.
//!
//! Policy:
//!   1. an output file is not a file that the command reads: device and inode are compared;
//!   2. it is not the command's results database, nor a file that SQLite keeps next to one. These files may not exist
//!      yet, so their paths are compared, too;
//!   3. it is not another results database.
//!
//! A command learns the names of its files one after another. So each new name is compared with all others, whichever
//! comes first. An output file is compared again when it is written.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{self, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use campaign::targets::{TargetArgument, TargetKind};
use kernel::PathFault;

/// Maximum number of links to follow, the kernel's limit for loops (linux/namei.h, MAXSYMLINKS).
const LINKS: usize = 40;

/// The ends of the names of a database's files (SQLite's documentation, "Temporary Files Used By SQLite").
const OF_A_DATABASE: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// The names so far.
static NAMES: Mutex<Names> = Mutex::new(Names::none());

/// Refuses to read a file that is the output file.
pub fn will_read(path: &Path) -> Result<(), PathFault> {
    add(path, |names| &mut names.read)
}

/// Refuses to read a machine file that is the output file. The name of a machine of diskperf's own is not a file.
pub fn will_read_machine(name: &str) -> Result<(), PathFault> {
    if machines::is_path(name) { will_read(Path::new(name)) } else { Ok(()) }
}

/// Refuses a target that is the output file, or a machine that is described in it.
pub fn will_measure(target: &TargetArgument) -> Result<(), PathFault> {
    match &target.kind {
        TargetKind::Directory(path) | TargetKind::File(path) => will_read(path),
        TargetKind::Simulated(machine) => will_read_machine(machine.split(',').next().unwrap_or_default()),
        TargetKind::Image(_) | TargetKind::Volume(_) => Ok(()),
    }
}

/// Refuses a results database that is the output file. It may be created afterwards.
pub fn will_store(path: &Path) -> Result<(), PathFault> {
    add(path, |names| &mut names.databases)
}

/// Adds a name, and compares it with those of the output files.
fn add(path: &Path, list: fn(&mut Names) -> &mut Vec<Name>) -> Result<(), PathFault> {
    let Some(name) = Name::of(path) else { return Ok(()) };
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    list(&mut names).push(name);
    names.written.iter().try_for_each(|written| names.check(written))
}

/// Refuses an output file that is one of these files, or another results database.
pub fn will_write(path: &Path) -> Result<(), PathFault> {
    let Some(name) = Name::of(path) else { return Ok(()) };
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    names.check(&name)?;
    names.written.push(name);
    // 3. A database that this process has open was refused above, so it is not opened here: closing any descriptor of a
    // file releases all locks of the process on that file.
    let mut databases = OF_A_DATABASE.iter().filter_map(|end| without_end(path, end));
    if databases.any(|one| store::is_store(&one)) {
        Err(PathFault::WouldOverwriteDatabase(path.to_owned()))
    } else {
        Ok(())
    }
}

/// The path of the database to which a file with this end belongs.
fn without_end(path: &Path, end: &str) -> Option<PathBuf> {
    let name = path.as_os_str().as_bytes().strip_suffix(end.as_bytes())?;
    Some(OsStr::from_bytes(name).into())
}

/// A path as the user typed it, and its absolute form.
#[derive(Debug)]
struct Name {
    typed: PathBuf,
    absolute: PathBuf,
}

impl Name {
    /// The absolute form is kept, because the working folder may change. `None` for standard input and output.
    fn of(path: &Path) -> Option<Name> {
        let absolute = path::absolute(path).ok().filter(|_| path != Path::new("-"))?;
        Some(Name { typed: path.to_owned(), absolute })
    }
}

/// The names of a command's files.
#[derive(Debug)]
struct Names {
    read: Vec<Name>,
    databases: Vec<Name>,
    written: Vec<Name>,
}

impl Names {
    const fn none() -> Names {
        Names { read: Vec::new(), databases: Vec::new(), written: Vec::new() }
    }

    fn check(&self, written: &Name) -> Result<(), PathFault> {
        let (file, path) = (identity(&written.absolute), resolved(&written.absolute));
        let is = |other: &Path| file.is_some() && file == identity(other);
        // 1
        if self.read.iter().any(|read| is(&read.absolute)) {
            return Err(PathFault::WouldOverwriteInput(written.typed.clone()));
        }
        // 2
        let is_of = |database: &Name| {
            let at = resolved(&database.absolute);
            let files = at.iter().flat_map(|at| OF_A_DATABASE.map(|end| with_end(at, end)));
            files.into_iter().any(|one| path.as_ref() == Some(&one) || is(&one))
        };
        match self.databases.iter().any(is_of) {
            true => Err(PathFault::WouldOverwriteDatabase(written.typed.clone())),
            false => Ok(()),
        }
    }
}

/// The device and inode of a regular file.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let file = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((file.dev(), file.ino()))
}

/// The path that a file has or would get, without links. `None` if its folder does not exist.
fn resolved(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let folder = fs::canonicalize(path.parent()?).ok()?;
        let at = folder.join(path.file_name()?);
        match fs::read_link(&at) {
            Ok(to) => path = folder.join(to),
            Err(_) => return Some(at),
        }
    }
    None
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn an_output_is_neither_an_input_nor_part_of_a_database() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("in"), "").expect("a file");
        fs::hard_link(path("in"), path("also")).expect("a link");
        symlink("new.db", path("link")).expect("a link");
        symlink(folder.path(), path("folder")).expect("a link");
        let name = |name: &str| Name { typed: name.into(), absolute: path(name) };
        let check = |written: &str| {
            let names = Names { read: vec![name("in")], databases: vec![name("folder/new.db")], written: Vec::new() };
            names.check(&name(written))
        };
        for written in ["in", "also", "folder/in"] {
            assert!(matches!(check(written), Err(PathFault::WouldOverwriteInput(_))), "{written}");
        }
        for written in ["new.db", "link", "folder/link", "new.db-wal", "./new.db-shm", "new.db-journal"] {
            assert!(matches!(check(written), Err(PathFault::WouldOverwriteDatabase(_))), "{written}");
        }
        let without = |end| without_end(Path::new("a/new.db-wal"), end).map(|path| path.display().to_string());
        assert_eq!([without("-wal"), without("-shm")], [Some("a/new.db".to_owned()), None]);
        for written in ["out", "folder/out", "none/out", "new.db-x", "/dev/null", "folder"] {
            check(written).expect(written);
        }
    }
}
