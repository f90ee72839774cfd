//! What a person is asked before anything is written: whether a place is meant where a benchmark is rarely wanted,
//! and whether a device is meant that holds something.

use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use clap::Args;
use kernel::guard::{GuardFault, Inspected, Leave};
use kernel::name::Shown;
use kernel::place::Place;
use report::plain;

use crate::error::Error;
use crate::target::{Site, Target};

/// File systems whose files are elsewhere: others wait for them, and pay for them. The last five are a host's, as its
/// virtual machines see them.
const NETWORK: [&str; 20] = [
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "coda",
    "gfs2",
    "glusterfs",
    "gpfs",
    "lustre",
    "nfs",
    "nfs4",
    "ocfs2",
    "orangefs",
    "smb3",
    "smbfs",
    "9p",
    "prl_fs",
    "vboxsf",
    "virtiofs",
    "vmhgfs",
];

/// How file systems are called that a program keeps, after which that program is. Most are of the network (sshfs, s3fs,
/// rclone, ceph-fuse); these are not.
const OF_PROGRAMS: &str = "fuse.";
const OF_PROGRAMS_HERE: [&str; 7] =
    ["bindfs", "encfs", "fuse-overlayfs", "gocryptfs", "mergerfs", "ntfs-3g", "unionfs"];

/// What can be said beforehand to a question about a place.
#[derive(Clone, Debug, Default, Args)]
pub struct YesArguments {
    /// Write also where a benchmark is rarely meant: in / and /boot themselves, and on a file system of the network.
    #[arg(long)]
    pub yes: bool,
}

/// What can be said beforehand to all questions.
#[derive(Clone, Debug, Default, Args)]
pub struct ConsentArguments {
    #[command(flatten)]
    pub place: YesArguments,
    /// Let go what the devices hold that new: names, and those that --write overwrites. What is in use is refused all the
    /// same.
    #[arg(long)]
    destroy_data: bool,
    /// Which device is meant, with --destroy-data: its model and serial number as `lsblk -o NAME,MODEL,SERIAL` shows
    /// them, and its size where it has no serial number or is a partition. Once for each device; asked for on a terminal
    /// where it is left out.
    #[arg(long, value_name = "WORDS", requires = "destroy_data")]
    confirm: Vec<String>,
}

/// Asks what has to be asked of these targets, and notes what was said:
///   1. a directory where a benchmark is rarely meant, also of an image: --yes, or yes on a terminal;
///   2. a device that must not be overwritten: refused, whatever is said;
///   3. a device that holds something: --destroy-data, and what is printed on it, given or typed. What was given is
///      used up by the device it names: another of the same words is not meant by it;
///   4. a device all of which is overwritten: the same, also where it seems to hold nothing;
///   5. a device that seems to hold nothing, if it is named all the same, after all others: its data may go too, so that
///      nothing must be read to know that there are none.
///
/// With --dry-run no question is asked, but 2. holds, and a missing --destroy-data is an error. `was_used`: an earlier
/// process of the run has overwritten the devices, so the old consent does not cover a file system made there since.
pub fn ask(said: &ConsentArguments, targets: &mut [Target], is_plan: bool, was_used: bool) -> Result<(), Error> {
    let mut given = said.confirm.clone();
    for target in targets.iter_mut() {
        match &mut target.site {
            // 1.
            Site::Directory { path, place } if !is_plan => ask_place(&said.place, path, place)?,
            Site::Image { image, host } if !is_plan => ask_place(&said.place, image.directory(), host)?,
            // 2. and 3.
            Site::Volume(volume) => {
                let is_new = was_used && volume.inspected.holds_known();
                if !said.destroy_data || is_new || !volume.inspected.asks() {
                    volume.inspected.check(&Leave::None)?;
                } else if !is_plan {
                    volume.leave = Leave::Destroy(confirmation(&mut given, &volume.inspected)?);
                }
            }
            // 2. and 4.
            Site::Device(device) => {
                let Some(overwriting) = &mut device.overwriting else { continue };
                let inspected = &overwriting.inspected;
                if !said.destroy_data || !inspected.asks() {
                    inspected.check(&Leave::None)?;
                }
                if !said.destroy_data {
                    let (device, identity) = (inspected.described(), inspected.identity());
                    return Err(Error::NotToBeOverwritten { device, identity });
                }
                if !is_plan {
                    overwriting.leave = Leave::Destroy(confirmation(&mut given, inspected)?);
                }
            }
            _ => {}
        }
    }
    // 5.
    for target in targets.iter_mut().filter(|_| !is_plan) {
        if let Site::Volume(volume) = &mut target.site
            && volume.leave == Leave::None
            && let Some(index) = given.iter().position(|words| volume.inspected.confirm(words).is_ok())
        {
            volume.leave = Leave::Destroy(given.remove(index));
        }
    }
    Ok(())
}

/// Asks whether this directory is meant.
pub fn ask_place(said: &YesArguments, path: &Path, place: &Place) -> Result<(), Error> {
    let Some(why) = rarely_meant(path, place.file_system.as_deref()).filter(|_| !said.yes) else { return Ok(()) };
    if agrees(&format!("{} {why}; write there? [y/N] ", path.shown())) {
        return Ok(());
    }
    Err(Error::RarelyMeant { path: path.to_owned(), why })
}

/// Whether a person says yes to a question; nobody there is no yes.
pub fn agrees(question: &str) -> bool {
    typed(question).is_some_and(|answer| matches!(answer.as_str(), "y" | "yes"))
}

/// Whether a person can be asked.
pub fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Why a benchmark is rarely meant there.
fn rarely_meant(path: &Path, file_system: Option<&str>) -> Option<&'static str> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    // The same folder may be mounted elsewhere too, under any name.
    if is_same(&path, Path::new("/")) {
        return Some("is the root of all files");
    }
    let is_boot = |folder: &Path| ["/boot", "/efi"].iter().any(|boot| is_same(folder, Path::new(boot)));
    if path.ancestors().any(is_boot) {
        return Some("is what this machine starts from");
    }
    let file_system = file_system?;
    if NETWORK.contains(&file_system) {
        return Some("lies on another machine");
    }
    let program = file_system.strip_prefix(OF_PROGRAMS).filter(|program| !OF_PROGRAMS_HERE.contains(program));
    program.map(|_| "is kept by a program, which may have it on another machine")
}

/// Whether both paths are one folder: by name, or by its numbers.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let numbers = |path: &Path| path.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()));
    one == other || numbers(one).is_some_and(|found| Some(found) == numbers(other))
}

/// What names the device: of the words that were given and are not used up those that do, else what is typed.
pub fn confirmation(given: &mut Vec<String>, inspected: &Inspected) -> Result<String, Error> {
    if let Some(index) = given.iter().position(|words| inspected.confirm(words).is_ok()) {
        return Ok(given.remove(index));
    }
    let not_confirmed = |typed: String| GuardFault::NotConfirmed {
        device: inspected.described(),
        typed,
        what: inspected.identity_is(),
    };
    if let Some(words) = given.first() {
        return Err(not_confirmed(words.clone()).into());
    }
    let holds: Vec<String> = inspected.reasons().iter().map(ToString::to_string).collect();
    let (device, what) = (inspected.described(), inspected.identity_is());
    let holds = if holds.is_empty() { "all of it is overwritten".to_owned() } else { holds.join("; ") };
    let typed = typed(&format!("{device}: {holds}. Type its {what} to destroy that: "));
    let typed = typed.ok_or_else(|| not_confirmed(String::new()))?;
    inspected.confirm(&typed)?;
    Ok(typed)
}

/// A line that a person types; nothing where nobody can.
fn typed(question: &str) -> Option<String> {
    if !can_ask() {
        return None;
    }
    let mut error = io::stderr();
    write!(error, "{}", plain::line(question)).and_then(|()| error.flush()).ok()?;
    let mut line = String::new();
    io::stdin().read_line(&mut line).ok()?;
    Some(line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_where_a_benchmark_is_rarely_meant_are_known() {
        for (path, file_system, asks) in [
            ("/", "ext4", true),
            ("/.", "ext4", true),
            ("/boot", "ext4", true),
            ("/boot/efi", "vfat", true),
            ("/bootless", "ext4", false),
            ("/home", "ext4", false),
            ("/home", "nfs4", true),
            ("/home", "fuse.sshfs", true),
            ("/home", "fuse.rclone", true),
            ("/home", "fuse.mergerfs", false),
            ("/home", "virtiofs", true),
            ("/home", "9p", true),
            ("/home", "fuse", false),
            ("/home", "fuseblk", false),
        ] {
            assert_eq!(rarely_meant(Path::new(path), Some(file_system)).is_some(), asks, "{path} {file_system}");
        }
        assert_eq!(rarely_meant(Path::new("/home"), None), None);
    }
}
