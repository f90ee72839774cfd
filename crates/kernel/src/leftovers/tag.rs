//! The tag of a folder or image that a diskperf process made. It proves whose leftover that is.
//!
//! The tag is an extended attribute with the file's inode number, the machine and the process. A copy next to the
//! original has another inode number, so the copied tag does not fit it. A copy on another file system, or made after
//! the original was removed, may have the same number.

use std::os::fd::BorrowedFd;
use std::path::Path;

use rustix::fs::XattrFlags;
use rustix::io::Errno;
use rustix::process::geteuid;
use units::Bytes;

use crate::observe::host::Host;
use crate::sys::process_identity::ProcessIdentity;
use crate::sys::read_limited;

/// The name of the attribute.
pub(crate) const ATTRIBUTE: &str = "user.diskperf";

/// The first word of a tag: the version of its format.
const FORMAT: &str = "2";

/// File with the machine's unique ID (machine-id(5)): host names are not unique, `localhost` above all.
const MACHINE_ID: &str = "/etc/machine-id";

/// Maximum size of that file; it is one line of 32 digits.
const MACHINE_ID_BYTES: Bytes = Bytes(64);

/// Maximum size of a tag in bytes. A host name has at most 64 characters.
const LONGEST: usize = 512;

/// Owner of a leftover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A process that has ended.
    Ended,
    /// The process with this PID. It still runs or, in another container, may run.
    Process(i32),
    /// A process of the machine with this host name.
    Machine(String),
    /// Another user, by user ID: any user can give their own file our name and a tag.
    User(u32),
}

/// Tags a file or folder that this process has made and holds open. Fails if the file system takes no tags.
pub(crate) fn tag(made: BorrowedFd) -> Result<(), Errno> {
    let inode = rustix::fs::fstat(made)?.st_ino;
    let text = text(inode, &Machine::this(), &ProcessIdentity::this());
    rustix::fs::fsetxattr(made, ATTRIBUTE, text.as_bytes(), XattrFlags::empty())
}

/// Returns the inode number of an open file, the PID of the process that made it, and its owner; `None` if it has no
/// tag that fits it.
pub(crate) fn judge(opened: BorrowedFd) -> Option<(u64, i32, Owner)> {
    let stat = rustix::fs::fstat(opened).ok()?;
    let (machine, process) = parse(&read(opened)?, stat.st_ino)?;
    let owner = match machine {
        _ if !is_of_this_user(opened) => Owner::User(stat.st_uid),
        machine if machine != Machine::this() => Owner::Machine(machine.name),
        _ if process.lives() => Owner::Process(process.pid),
        _ => Owner::Ended,
    };
    Some((stat.st_ino, process.pid, owner))
}

/// Returns true if an open file belongs to this process's effective user.
pub(crate) fn is_of_this_user(open: BorrowedFd) -> bool {
    rustix::fs::fstat(open).is_ok_and(|stat| stat.st_uid == geteuid().as_raw())
}

pub(crate) fn read(opened: BorrowedFd) -> Option<String> {
    let mut text = vec![0; LONGEST];
    let length = rustix::fs::fgetxattr(opened, ATTRIBUTE, &mut text[..]).ok()?;
    text.truncate(length);
    String::from_utf8(text).ok()
}

/// A machine, distinct from others with the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    pub(crate) name: String,
    /// The machine ID; `-` if it has none.
    pub(crate) id: String,
}

impl Machine {
    pub(crate) fn this() -> Machine {
        let id = read_limited::text(Path::new(MACHINE_ID), MACHINE_ID_BYTES).unwrap_or_default();
        let is_plain = !id.trim().is_empty() && id.trim().chars().all(|character| character.is_ascii_alphanumeric());
        Machine { name: Host::this().name, id: if is_plain { id.trim().to_owned() } else { "-".to_owned() } }
    }
}

pub(crate) fn text(inode: u64, machine: &Machine, process: &ProcessIdentity) -> String {
    format!("{FORMAT} {inode} {} {} {process}", machine.name, machine.id)
}

/// Returns the machine and the process in a tag, if the tag has this inode number.
pub(crate) fn parse(text: &str, inode: u64) -> Option<(Machine, ProcessIdentity)> {
    let [format, number, name, id, process] = text.splitn(5, ' ').collect::<Vec<_>>()[..] else { return None };
    let is_it = format == FORMAT && number.parse() == Ok(inode);
    let machine = Machine { name: name.to_owned(), id: id.to_owned() };
    Some((machine, process.parse().ok()?)).filter(|_| is_it)
}
