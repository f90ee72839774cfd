//! Opening a store: nothing is touched before it is known to be ours, whole, and of a schema that we know.
//!
//! Policy:
//!   1. a store that is not there is made: unnamed, in full, then linked to its name, so that nobody ever sees
//!      half of one, not even after `kill -9`. Only its owner may read it, and in the usual place this is so of one
//!      that was there already;
//!   2. the file's first bytes say whether it is a store, before SQLite opens it;
//!   3. who wants to write is told at once where that cannot be;
//!   4. SQLite looks whether the file is whole;
//!   5. a newer schema is left alone; an older one is copied beside, then migrated;
//!   6. a commit is on the device when it returns (WAL, synchronous = FULL).

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, MAIN_DB, OpenFlags};
use rusqlite_migration::M;
use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags};

use crate::error::{READ, StoreError};
use crate::place::Owner;
use crate::schema::{APPLICATION_ID, STEPS, migrations};

/// For so long we wait for another process. Ours hold a store for milliseconds; a person at a shell of SQLite
/// may hold it for hours. A guess between the two.
const PATIENCE: Duration = Duration::from_secs(5);

/// So often a migration is tried that another process may be at, and this long after another.
const MIGRATION: (u32, Duration) = (20, Duration::from_millis(100));

/// The header of a database (SQLite's file format, 1.3): so many bytes, this at the beginning, the user's version
/// at 60, the application's number at 68, both with the most significant byte first.
const HEADER: usize = 100;
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
const VERSION_AT: usize = 60;
const APPLICATION_AT: usize = 68;

/// A store, open.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
}

impl Store {
    /// Opens the store for writing, and makes it where there is none. What is made belongs to the owner, where
    /// there is one.
    pub fn open(path: &Path, owner: Option<Owner>) -> Result<Store, StoreError> {
        Store::open_as(path, owner, STEPS)
    }

    /// Makes the folder that a store is to lie in, and those above it, and sees to it that nobody but its owner can
    /// enter it or read what of a store is there already: restored from a copy, both may have wider rights.
    ///
    /// Under sudo all of this is done in folders that a user may change meanwhile. So what was made is given away only
    /// where it is seen through the folder it was made in, no link is followed to it, and rights are changed only of
    /// what belongs to that user.
    pub fn make_folder(path: &Path, owner: Option<Owner>) -> Result<(), StoreError> {
        let Some(folder) = path.parent() else { return Ok(()) };
        let mut missing: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
        let there = missing.last().map_or(Some(folder), |missing| missing.parent()).unwrap_or(Path::new("/"));
        let mut open = File::open(there).map_err(|source| StoreError::io("look into", there, source))?;
        while let Some(folder) = missing.pop() {
            open = made_in(&open, folder, owner).map_err(|source| StoreError::io("make", folder, source))?;
        }
        narrow(&open, 0o700, owner).map_err(|source| StoreError::io("close to others", folder, source))?;
        for suffix in ["", "-wal", "-shm"] {
            let path = with_suffix(path, suffix);
            let name = path.file_name().unwrap_or_default();
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            // What is not there, or is a link, or may not be read, is looked at when the store is opened.
            let Ok(file) = rustix::fs::openat(&open, name, flags, Mode::empty()) else { continue };
            narrow(&file.into(), 0o600, owner).map_err(|source| StoreError::io("close to others", &path, source))?;
        }
        Ok(())
    }

    /// Opens a store that is there, only to read it: it may lie where nothing can be written.
    pub fn open_to_read(path: &Path) -> Result<Store, StoreError> {
        let path = absolute(path)?;
        check_header(&path, STEPS)?;
        if check_writable(&path).is_ok() {
            return Store::open(&path, None);
        }
        let left = with_suffix(&path, "-wal").metadata().is_ok_and(|left| left.len() > 0);
        // Nobody writes where nobody can. SQLite would want to make its files of shared memory all the same.
        let immutable = if left { "" } else { "?immutable=1" };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let uri = format!("file:{}{immutable}", percent_encoded(&path));
        let opened = Connection::open_with_flags(uri, flags);
        let store = Store { connection: opened.map_err(|error| StoreError::sql(&path, error))?, path };
        store.check()?;
        match store.schema()? == STEPS.len() as i64 {
            true => Ok(store),
            false => Err(StoreError::ReadOnly(store.path)),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn open_as(path: &Path, owner: Option<Owner>, steps: &[M]) -> Result<Store, StoreError> {
        let path = absolute(path)?;
        // 1
        if !path.try_exists().map_err(|source| StoreError::io(READ, &path, source))? {
            make(&path, owner, steps)?;
        }
        // 2
        check_header(&path, steps)?;
        // 3
        check_writable(&path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(&path, flags);
        let mut store = Store { connection: opened.map_err(|error| StoreError::sql(&path, error))?, path };
        // 4
        store.check()?;
        // 5
        store.migrate(owner, steps)?;
        // 6
        store.set("journal_mode", "WAL")?;
        store.set("synchronous", "FULL")?;
        store.set("foreign_keys", "ON")?;
        Ok(store)
    }

    /// That every page of it is what it should be.
    fn check(&self) -> Result<(), StoreError> {
        self.connection.busy_timeout(PATIENCE).map_err(|error| self.fault(error))?;
        let said: String = self
            .connection
            .pragma_query_value(None, "integrity_check", |row| row.get(0))
            .map_err(|error| self.fault(error))?;
        if said == "ok" { Ok(()) } else { Err(StoreError::Corrupt { path: self.path.clone(), what: said }) }
    }

    fn schema(&self) -> Result<i64, StoreError> {
        self.connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(|error| self.fault(error))
    }

    /// Brings the schema up to date, after a copy. Where that fails, another process may just have done it.
    fn migrate(&mut self, owner: Option<Owner>, steps: &[M]) -> Result<(), StoreError> {
        let known = steps.len() as i64;
        let (tries, pause) = MIGRATION;
        for attempt in 1.. {
            let found = self.schema()?;
            if found > known {
                return Err(StoreError::Newer { path: self.path.clone(), found, known });
            }
            if found == known {
                return Ok(());
            }
            self.back_up(found, owner)?;
            match migrations(steps).to_latest(&mut self.connection) {
                Ok(()) => {}
                Err(_) if attempt < tries => thread::sleep(pause),
                Err(rusqlite_migration::Error::RusqliteError { err, .. }) => return Err(self.fault(err)),
                Err(error) => return Err(StoreError::Corrupt { path: self.path.clone(), what: error.to_string() }),
            }
        }
        Ok(())
    }

    /// Copies the store beside itself: `store.sqlite.schema-1`. An earlier copy of that schema gives way once the
    /// new one is whole.
    fn back_up(&self, schema: i64, owner: Option<Owner>) -> Result<(), StoreError> {
        let backup = with_suffix(&self.path, &format!(".schema-{schema}"));
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        let made = tempfile::Builder::new().prefix(".diskperf-store-").tempfile_in(folder);
        let file = made.map_err(|source| StoreError::io("copy the store to", &backup, source))?;
        self.connection.backup(MAIN_DB, file.path(), None).map_err(|error| self.fault(error))?;
        // Another process may have migrated it in between: its own copy of the old schema stays.
        if self.schema()? != schema {
            return Ok(());
        }
        let kept = || {
            give(file.as_file(), owner)?;
            file.as_file().sync_all()?;
            file.persist(&backup)?;
            File::open(folder)?.sync_all()
        };
        kept().map_err(|source| StoreError::io("copy the store to", &backup, source))
    }

    pub(crate) fn set(&self, name: &str, value: &str) -> Result<(), StoreError> {
        self.connection.pragma_update_and_check(None, name, value, |_| Ok(())).or_else(|error| match error {
            // Most say nothing when they are set.
            rusqlite::Error::QueryReturnedNoRows => Ok(()),
            error => Err(self.fault(error)),
        })
    }

    pub(crate) fn fault(&self, error: rusqlite::Error) -> StoreError {
        StoreError::sql(&self.path, error)
    }
}

/// Makes an empty store. Another process may have made it meanwhile, which is as good.
fn make(path: &Path, owner: Option<Owner>, steps: &[M]) -> Result<(), StoreError> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    if !folder.is_dir() {
        return Err(StoreError::NoFolder(folder.to_owned()));
    }
    let image = empty(steps).map_err(|error| StoreError::sql(path, error))?;
    let filled = |file: &mut File| {
        file.write_all(&image)?;
        give(file, owner)?;
        file.sync_all()
    };
    let made = || {
        match File::options().write(true).mode(0o600).custom_flags(OFlags::TMPFILE.bits() as i32).open(folder) {
            Ok(mut file) => {
                filled(&mut file)?;
                let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
                rustix::fs::linkat(CWD, unnamed, CWD, path, AtFlags::SYMLINK_FOLLOW)?;
            }
            // Not every file system has unnamed files; one that is not linked goes with its name.
            Err(error) if is_unsupported(&error) => {
                let mut file = tempfile::Builder::new().prefix(".diskperf-store-").tempfile_in(folder)?;
                filled(file.as_file_mut())?;
                file.persist_noclobber(path)?;
            }
            Err(error) => return Err(error),
        }
        File::open(folder)?.sync_all()
    };
    match made() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map_err(|source| StoreError::io("make", path, source)),
    }
}

/// Whether the file system has no unnamed files. Kernels before 3.11 take the flag for that of a directory.
fn is_unsupported(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(rustix::io::Errno::from_raw_os_error);
    matches!(errno, Some(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::ISDIR | rustix::io::Errno::INVAL))
}

/// The bytes of an empty store.
fn empty(steps: &[M]) -> rusqlite::Result<Vec<u8>> {
    let mut connection = Connection::open_in_memory()?;
    migrations(steps).to_latest(&mut connection).map_err(|error| match error {
        rusqlite_migration::Error::RusqliteError { err, .. } => err,
        error => rusqlite::Error::ToSqlConversionFailure(Box::new(error)),
    })?;
    Ok(connection.serialize(MAIN_DB)?.to_vec())
}

/// A folder in one that is open: made, or there already.
fn made_in(folder: &File, path: &Path, owner: Option<Owner>) -> io::Result<File> {
    let name = path.file_name().unwrap_or_default();
    let is_made = match rustix::fs::mkdirat(folder, name, Mode::RWXU) {
        Err(rustix::io::Errno::EXIST) => false,
        made => made.map(|()| true)?,
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = File::from(rustix::fs::openat(folder, name, flags, Mode::empty())?);
    if is_made {
        give(&made, owner)?;
    }
    Ok(made)
}

/// Takes rights from others, of what belongs to whom the store belongs to.
fn narrow(file: &File, rights: u32, owner: Option<Owner>) -> io::Result<()> {
    let metadata = file.metadata()?;
    let whose = owner.map_or(rustix::process::geteuid().as_raw(), |owner| owner.user);
    let is_wider = metadata.mode() & 0o777 & !rights != 0;
    if is_wider && metadata.uid() == whose {
        file.set_permissions(Permissions::from_mode(metadata.mode() & rights))?;
    }
    Ok(())
}

fn give(file: &File, owner: Option<Owner>) -> io::Result<()> {
    match owner {
        Some(Owner { user, group }) => fchown(file, Some(user), Some(group)),
        None => Ok(()),
    }
}

/// That the file is a store of a schema that is known, as far as its first bytes tell.
fn check_header(path: &Path, steps: &[M]) -> Result<(), StoreError> {
    let foreign = |what: &str| Err(StoreError::Foreign { path: path.to_owned(), what: what.to_owned() });
    let file = match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => return foreign("it is not a regular file"),
        Ok(_) => File::open(path),
        Err(error) => Err(error),
    };
    let mut header = Vec::with_capacity(HEADER);
    // Closed before SQLite opens it: to close any descriptor of a file gives up all locks that the process has
    // on it.
    match file.and_then(|file| file.take(HEADER as u64).read_to_end(&mut header)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(StoreError::Missing(path.to_owned())),
        read => read.map_err(|source| StoreError::io(READ, path, source))?,
    };
    if header.is_empty() {
        return foreign("it is empty");
    }
    if header.len() < HEADER || !header.starts_with(MAGIC) {
        return foreign("it is not an SQLite database");
    }
    let number = |at: usize| u32::from_be_bytes(header[at..at + 4].try_into().expect("four bytes"));
    if number(APPLICATION_AT) != APPLICATION_ID {
        return foreign("it is a database of another program");
    }
    let (found, known) = (i64::from(number(VERSION_AT)), steps.len() as i64);
    if found > known { Err(StoreError::Newer { path: path.to_owned(), found, known }) } else { Ok(()) }
}

/// That the store, and the files that SQLite puts beside it, can be written.
fn check_writable(path: &Path) -> Result<(), StoreError> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let may = rustix::fs::accessat(CWD, path, Access::READ_OK | Access::WRITE_OK, AtFlags::EACCESS)
        .and_then(|()| rustix::fs::accessat(CWD, folder, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS));
    may.map_err(|_| StoreError::ReadOnly(path.to_owned()))
}

fn absolute(path: &Path) -> Result<PathBuf, StoreError> {
    std::path::absolute(path).map_err(|source| StoreError::io(READ, path, source))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The path as a URI has it.
fn percent_encoded(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let bytes = path.as_os_str().as_bytes().iter();
    bytes.map(|&byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;
    use crate::write::{NewRun, Progress};

    fn info() -> stats::RunInfo {
        serde_json::from_str(include_str!("../tests/common/run.json")).expect("what was run")
    }

    /// A store with one run in it.
    fn with_a_run(path: &Path) -> (Store, String) {
        let mut store = Store::open(path, None).expect("a store");
        let run = NewRun {
            command: &[],
            folder: Path::new("/"),
            request: None,
            plan: "",
            info: &info(),
            cells: &[],
            holder: "me",
        };
        let run = store.begin(&run).expect("room for a run");
        (store, run)
    }

    #[test]
    fn an_older_schema_is_copied_and_then_migrated() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store.sqlite");
        let (old, run) = with_a_run(&path);
        let document = old.document(&run).expect("the run");
        drop(old);
        let steps = [STEPS, &[M::up("ALTER TABLE runs ADD COLUMN note TEXT")]].concat();
        let new = Store::open_as(&path, None, &steps).expect("it is migrated");
        assert_eq!((new.schema().expect("a schema"), new.document(&run).expect("the run")), (3, document.clone()));
        let backup = folder.path().join("store.sqlite.schema-2");
        assert_eq!(backup.metadata().expect("a copy").permissions().mode() & 0o777, 0o600);
        let backup = Store::open(&backup, None).expect("the copy is a store");
        assert_eq!((backup.schema().expect("a schema"), backup.document(&run).expect("the run")), (2, document));
        drop((new, backup));
        assert!(matches!(Store::open(&path, None), Err(StoreError::Newer { found: 3, known: 2, .. })));
    }

    #[test]
    fn a_step_that_fails_changes_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store.sqlite");
        let (store, run) = with_a_run(&path);
        drop(store);
        let steps = [STEPS, &[M::up("CREATE TABLE more (a); DROP TABLE no_such_table;")]].concat();
        assert!(Store::open_as(&path, None, &steps).is_err());
        let store = Store::open(&path, None).expect("it is as before");
        assert_eq!(store.find("last").expect("the run"), run);
    }

    #[test]
    fn without_room_nothing_is_lost() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut store, run) = with_a_run(&folder.path().join("store.sqlite"));
        let pages: i64 = store.connection.pragma_query_value(None, "page_count", |row| row.get(0)).expect("pages");
        store.connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).expect("a limit");
        let document = store.document(&run).expect("the run");
        let long = stats::RunInfo { findings: vec!["x".repeat(1 << 20)], ..info() };
        let progress = Progress { executions: &[], cells: &[], info: &long, plan: "" };
        let full = store.save(&run, "me", &progress);
        assert!(matches!(full, Err(StoreError::Full(_))), "{full:?}");
        assert_eq!(store.document(&run).expect("the run"), document);
        store.save(&run, "me", &Progress { info: &info(), ..progress }).expect("what has room is saved");
    }

    #[test]
    fn what_is_made_can_be_read_by_its_owner_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a/b/store.sqlite");
        assert!(matches!(Store::open(&path, None), Err(StoreError::NoFolder(_))));
        // Only root may give things away.
        let owner = testkit::is_root().then_some(Owner { user: 54321, group: 54322 });
        Store::make_folder(&path, owner).expect("folders");
        let store = Store::open(&path, owner).expect("a store");
        let run = NewRun {
            command: &[],
            folder: Path::new("/"),
            request: None,
            plan: "",
            info: &info(),
            cells: &[],
            holder: "",
        };
        Store::begin(&mut { store }, &run).expect("room for a run");
        let mut store = Store::open(&path, owner).expect("a store");
        store.begin(&run).expect("room for another");
        for (name, mode) in [("a", 0o700), ("a/b", 0o700), ("a/b/store.sqlite", 0o600), ("a/b/store.sqlite-wal", 0o600)]
        {
            let metadata = folder.path().join(name).metadata().expect(name);
            assert_eq!(metadata.mode() & 0o777, mode, "{name}");
            if owner.is_some() {
                assert_eq!((metadata.uid(), metadata.gid()), (54321, 54322), "{name}");
            }
        }
        drop(store);
        assert_eq!(testkit::names_in(path.parent().expect("a folder")), ["store.sqlite"]);
    }
}
