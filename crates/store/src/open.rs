//! Opens a store. A file is not changed before it is known to be a store, undamaged, and of a known schema.
//!
//! Policy:
//!   1. a missing store is created as a complete unnamed file, then linked to its name. So no process ever sees a part
//!      of it, not even after `kill -9`. Only its owner may read it; in the default folder this also applies to a store
//!      that existed before;
//!   2. the first bytes of the file tell whether it is a store, before SQLite opens it;
//!   3. opening for writing fails at once if the store is not writable;
//!   4. SQLite checks that the file is undamaged;
//!   5. a newer schema is left unchanged; an older one is copied to a file next to it, then migrated;
//!   6. a commit is on the device when it returns (WAL, synchronous = FULL);
//!   7. each change overwrites what it replaces or deletes with zeros (`secure_delete`). If only deletions did that,
//!      parts of a deleted run could remain in pages where the run replaced them before.

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

use crate::default_path::Owner;
use crate::error::{READ, StoreError};
use crate::schema::{APPLICATION_ID, STEPS, migrations};

/// The longest wait for another process. diskperf locks a store for milliseconds; a user at an SQLite shell may lock it
/// for hours. A guess between the two.
const PATIENCE: Duration = Duration::from_secs(5);

/// Attempts of a migration that another process may be performing, and the pause between them.
const MIGRATION: (u32, Duration) = (20, Duration::from_millis(100));

/// The header of a database (SQLite's file format, 1.3): its length in bytes, its first bytes, the offset of the user
/// version, and the offset of the application ID. Both numbers are big-endian.
const HEADER: usize = 100;
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
const VERSION_AT: usize = 60;
const APPLICATION_AT: usize = 68;

/// The offset of the two bytes that say how the file is written and read, and their value for a write-ahead log. A new
/// store has that value, so that no process has to change it: if two do that at once, one gets `SQLITE_BUSY`.
const MODES_AT: usize = 18;
const WAL: u8 = 2;

/// An open store.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
}

impl Store {
    /// Opens the store for writing, and creates it if it does not exist. A created store is given to `owner`, if there
    /// is one.
    pub fn open(path: &Path, owner: Option<Owner>) -> Result<Store, StoreError> {
        Store::open_as(path, owner, STEPS)
    }

    /// Creates the folder of a store and those above it. Only the owner may enter the folder and read an existing store
    /// in it: after a restore from a copy, both may have wider permissions.
    ///
    /// Under sudo, the folders belong to a user who may change them meanwhile. So a created folder is given to its
    /// owner only through the descriptor of the folder in which it was created, without following links. Permissions
    /// are changed only on files of that user.
    pub fn make_folder(path: &Path, owner: Option<Owner>) -> Result<(), StoreError> {
        let Some(folder) = path.parent() else { return Ok(()) };
        let mut missing: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
        let there = missing.last().map_or(Some(folder), |missing| missing.parent()).unwrap_or(Path::new("/"));
        let mut open = File::open(there).map_err(|source| match missing.last() {
            Some(first) => StoreError::folder(first, source),
            None => StoreError::io("open", there, source),
        })?;
        while let Some(folder) = missing.pop() {
            open = made_in(&open, folder, owner).map_err(|source| StoreError::folder(folder, source))?;
        }
        narrow(&open, 0o700, owner).map_err(|source| StoreError::io("restrict access to", folder, source))?;
        for suffix in ["", "-wal", "-shm"] {
            let path = with_suffix(path, suffix);
            let name = path.file_name().unwrap_or_default();
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            // A missing file, a link, or an unreadable file is handled when the store is opened.
            let Ok(file) = rustix::fs::openat(&open, name, flags, Mode::empty()) else { continue };
            narrow(&file.into(), 0o600, owner).map_err(|source| StoreError::io("restrict access to", &path, source))?;
        }
        Ok(())
    }

    /// Opens an existing store for reading only. Its folder may be read-only.
    pub fn open_to_read(path: &Path) -> Result<Store, StoreError> {
        let path = absolute(path)?;
        check_header(&path, STEPS)?;
        if check_writable(&path).is_ok() {
            return Store::open(&path, None);
        }
        let left = with_suffix(&path, "-wal").metadata().is_ok_and(|left| left.len() > 0);
        // No process can write here, so the file cannot change. Without `immutable`, SQLite would try to create its
        // shared-memory files.
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

    /// Returns the path of the file.
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
        // 7
        store.set("secure_delete", "ON")?;
        Ok(store)
    }

    /// Fails if any page of the file is damaged.
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

    /// Migrates the schema, after a copy of the store. An attempt that fails is repeated, because another process may
    /// have just migrated it.
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

    /// Copies the store to a file next to it: `store.sqlite.schema-1`. The copy replaces an earlier copy of that schema
    /// only when it is complete.
    fn back_up(&self, schema: i64, owner: Option<Owner>) -> Result<(), StoreError> {
        let backup = with_suffix(&self.path, &format!(".schema-{schema}"));
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        let made = tempfile::Builder::new().prefix(".diskperf-store-").tempfile_in(folder);
        let file = made.map_err(|source| StoreError::io("copy the results database to", &backup, source))?;
        self.connection.backup(MAIN_DB, file.path(), None).map_err(|error| self.fault(error))?;
        // Another process may have migrated the store meanwhile: then its own copy of the old schema stays.
        if self.schema()? != schema {
            return Ok(());
        }
        let kept = || {
            give(file.as_file(), owner)?;
            file.as_file().sync_all()?;
            file.persist(&backup)?;
            File::open(folder)?.sync_all()
        };
        kept().map_err(|source| StoreError::io("copy the results database to", &backup, source))
    }

    pub(crate) fn set(&self, name: &str, value: &str) -> Result<(), StoreError> {
        self.connection.pragma_update_and_check(None, name, value, |_| Ok(())).or_else(|error| match error {
            // Most pragmas return no row when they are set.
            rusqlite::Error::QueryReturnedNoRows => Ok(()),
            error => Err(self.fault(error)),
        })
    }

    pub(crate) fn fault(&self, error: rusqlite::Error) -> StoreError {
        StoreError::sql(&self.path, error)
    }
}

/// Creates an empty store. If another process has created it meanwhile, that store is used.
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
            // Some file systems do not support unnamed files. There, a temporary file is deleted by its name if it is
            // not linked.
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
        made => made.map_err(|source| StoreError::io("create", path, source)),
    }
}

/// True if the error means that the file system does not support unnamed files. Kernels before 3.11 take the flag for
/// `O_DIRECTORY`.
fn is_unsupported(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(rustix::io::Errno::from_raw_os_error);
    matches!(errno, Some(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::ISDIR | rustix::io::Errno::INVAL))
}

/// Returns the bytes of an empty store.
fn empty(steps: &[M]) -> rusqlite::Result<Vec<u8>> {
    let mut connection = Connection::open_in_memory()?;
    migrations(steps).to_latest(&mut connection).map_err(|error| match error {
        rusqlite_migration::Error::RusqliteError { err, .. } => err,
        error => rusqlite::Error::ToSqlConversionFailure(Box::new(error)),
    })?;
    let mut image = connection.serialize(MAIN_DB)?.to_vec();
    image[MODES_AT..][..2].copy_from_slice(&[WAL; 2]);
    Ok(image)
}

/// Creates a folder in an open one, and opens it. An existing folder is opened as it is.
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

/// Removes the permissions of others from a file, if it belongs to the owner of the store.
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

/// True if the file is a results database of any schema. Only regular files are read, and opening never blocks. Do not
/// call this for a database that this process has open: closing any descriptor of a file releases all locks of the
/// process on that file.
pub fn is_store(path: &Path) -> bool {
    if !fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    let mut header = [0; HEADER];
    let mut read = || {
        // Another file may have the name by now.
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
        let mut file = File::options().read(true).custom_flags(flags).open(path)?;
        if file.metadata()?.is_file() { file.read_exact(&mut header) } else { Err(io::ErrorKind::InvalidInput.into()) }
    };
    read().is_ok() && header.starts_with(MAGIC) && number_at(&header, APPLICATION_AT) == APPLICATION_ID
}

/// Fails if the first bytes show that the file is not a store of a known schema.
fn check_header(path: &Path, steps: &[M]) -> Result<(), StoreError> {
    let foreign = |what: &str| Err(StoreError::Foreign { path: path.to_owned(), what: what.to_owned() });
    let file = match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => return foreign("it is not a regular file"),
        Ok(_) => File::open(path),
        Err(error) => Err(error),
    };
    let mut header = Vec::with_capacity(HEADER);
    // The file is closed before SQLite opens it: closing any descriptor of a file releases all locks of the process on
    // that file.
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
    let number = |at| number_at(&header, at);
    if number(APPLICATION_AT) != APPLICATION_ID {
        return foreign("it is a database of another program");
    }
    let (found, known) = (i64::from(number(VERSION_AT)), steps.len() as i64);
    if found > known { Err(StoreError::Newer { path: path.to_owned(), found, known }) } else { Ok(()) }
}

/// A number of the header.
fn number_at(header: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(header[at..at + 4].try_into().expect("four bytes"))
}

/// Fails if the store, or the files that SQLite creates next to it, cannot be written.
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

/// Percent-encodes a path for a URI.
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

    /// A store with one run.
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
        assert_eq!((new.schema().expect("a schema"), new.document(&run).expect("the run")), (4, document.clone()));
        let backup = folder.path().join("store.sqlite.schema-3");
        assert_eq!(backup.metadata().expect("a copy").permissions().mode() & 0o777, 0o600);
        let backup = Store::open(&backup, None).expect("the copy is a store");
        assert_eq!((backup.schema().expect("a schema"), backup.document(&run).expect("the run")), (3, document));
        drop((new, backup));
        assert!(matches!(Store::open(&path, None), Err(StoreError::Newer { found: 4, known: 3, .. })));
    }

    #[test]
    fn stores_are_known_by_their_header() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        drop(Store::open(&path("store"), None).expect("a store"));
        let other = Connection::open(path("other")).expect("a database");
        other.execute_batch("CREATE TABLE a (b)").expect("a table");
        fs::write(path("short"), MAGIC).expect("a file");
        rustix::fs::mknodat(CWD, path("fifo"), rustix::fs::FileType::Fifo, Mode::RUSR, 0).expect("a FIFO");
        std::os::unix::fs::symlink("store", path("link")).expect("a link");
        for (name, is_one) in
            [("store", true), ("link", true), ("other", false), ("short", false), ("fifo", false), (".", false)]
        {
            assert_eq!(is_store(&path(name)), is_one, "{name}");
        }
        assert!(!is_store(&path("none")) && !is_store(Path::new("/dev/zero")));
    }

    #[test]
    fn failed_migration_steps_change_nothing() {
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
    fn a_full_disk_loses_no_stored_data() {
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
    fn new_databases_are_readable_by_their_owner_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a/b/store.sqlite");
        assert!(matches!(Store::open(&path, None), Err(StoreError::NoFolder(_))));
        // Only root may change the owner of files.
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

    #[test]
    fn programs_that_open_a_new_store_at_once_all_succeed() {
        // In memory: on a slow disk, one writer may hold the lock for longer than the others wait.
        let folder = testkit::folder_in_memory();
        for number in 0..100 {
            let path = folder.path().join(number.to_string());
            let open = || Store::open(&path, None).map(drop);
            thread::scope(|scope| {
                let opened: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
                for one in opened {
                    one.join().expect("it ends").expect("a store");
                }
            });
        }
    }
}
