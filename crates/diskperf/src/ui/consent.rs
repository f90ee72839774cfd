//! Questions before anything is written: whether a benchmark is meant to run in a place such as `/`, and whether the
//! data on a device may be overwritten.

use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use campaign::request::consent::Consent;
use campaign::targets::{Site, Target};
use clap::Args;
use kernel::ReplacedVolume;
use kernel::guard::{GuardFault, Inspected, Permission, Reason};
use kernel::observe::mount::Place;
use kernel::sys::name::Shown;
use report::sanitize;

use crate::error::{ConsentError, Doubt, Error};

/// Network file systems: their files are on other machines, which other people use too. The last five are file systems
/// of a host, as its virtual machines see them.
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

/// The type of a FUSE file system begins with this, followed by its program. Most are network file systems (sshfs,
/// s3fs, rclone, ceph-fuse); those below are not.
const OF_PROGRAMS: &str = "fuse.";
const OF_PROGRAMS_HERE: [&str; 7] =
    ["bindfs", "encfs", "fuse-overlayfs", "gocryptfs", "mergerfs", "ntfs-3g", "unionfs"];

/// Options that answer the question about a place.
#[derive(Clone, Debug, Default, Args)]
pub struct YesArguments {
    /// Write to /, /boot and network file systems without asking.
    #[arg(long)]
    pub yes: bool,
}

/// Options that answer all questions.
#[derive(Clone, Debug, Default, Args)]
pub struct ConsentArguments {
    #[command(flatten)]
    place: YesArguments,
    /// Allow overwriting existing data on the devices named by new: or --write. Devices in use are still refused.
    #[arg(long)]
    destroy_data: bool,
    /// Confirm the device that --destroy-data may overwrite: its model and serial number as `lsblk -o
    /// NAME,MODEL,SERIAL` shows them, and its size if it has no serial number or is a partition. Repeat it for each
    /// device. On a terminal, diskperf asks if it is missing.
    #[arg(long, value_name = "WORDS", requires = "destroy_data")]
    confirm: Vec<String>,
}

impl ConsentArguments {
    /// The consent that the options give.
    pub fn consent(&self) -> Consent {
        Consent { yes: self.place.yes, destroy_data: self.destroy_data, confirm: self.confirm.clone() }
    }
}

/// Doubts about the devices of a resumed run, because of its earlier process. `--destroy-data` of the stored command
/// covers the data that the devices held when the run began, not data that others have written since.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    /// The run is resumed. Its earlier process may have erased the devices before it stored anything else.
    pub is_resumed: bool,
    /// The run began before the machine was restarted: its notes about the devices are gone.
    pub is_restarted: bool,
    /// Devices that no longer have the file system that the notes name.
    pub replaced: Vec<ReplacedVolume>,
}

impl Earlier {
    /// The reason why the consent that the run was given may not cover the data on the device of this target:
    ///   1. the device does not hold the file system that the notes name;
    ///   2. the notes are gone;
    ///   3. the device holds more than the run leaves there. A run erases all signatures first. At its end, it erases
    ///      its file system and the beginning of the device.
    fn doubt(&self, site: &Site) -> Option<Doubt> {
        let inspected = overwritten(site)?;
        let replaced = self.replaced.iter().find(|replaced| replaced.node == inspected.node());
        match replaced {
            // 1.
            Some(ReplacedVolume { is_unfinished: true, .. }) => Some(Doubt::Unfinished),
            Some(_) => Some(Doubt::Replaced),
            // 2.
            None if self.is_restarted => Some(Doubt::Restarted),
            // 3.
            None => {
                let has_file_system = matches!(site, Site::Volume(_));
                let holds_more = inspected.holds_known() || (has_file_system && !inspected.is_erased());
                (self.is_resumed && holds_more).then_some(Doubt::Later)
            }
        }
    }

    /// The reason why the consent of the stored command cannot lift this refusal.
    pub fn doubt_of(&self, refused: &GuardFault, targets: &[Target]) -> Option<Doubt> {
        let GuardFault::Refused { device, reasons, .. } = refused else { return None };
        let is_it = |site: &&Site| overwritten(site).is_some_and(|inspected| inspected.described() == *device);
        let site = targets.iter().map(|target| &target.site).find(is_it)?;
        if reasons.iter().all(Reason::can_be_lifted) { self.doubt(site) } else { None }
    }
}

/// The device that is overwritten.
fn overwritten(site: &Site) -> Option<&Inspected> {
    match site {
        Site::Volume(volume) => Some(&volume.inspected),
        Site::Device(device) => device.overwriting.as_ref().map(|overwriting| &overwriting.inspected),
        Site::Directory { .. } | Site::Image { .. } | Site::File { .. } | Site::Simulated(_) => None,
    }
}

/// Asks about these targets, and records the answers:
///   1. a directory where diskperf asks before it writes, also that of an image: --yes, or yes on a terminal;
///   2. a device that must not be overwritten: refused, whatever the options say;
///   3. a device that holds data: --destroy-data, and its model and serial number, given or typed. Each --confirm
///      counts for one device only, also if another device has the same words;
///   4. a device that is overwritten completely: the same, also if it seems to hold nothing;
///   5. a device that seems to hold nothing, if a --confirm is left that names it, after all others: its data may be
///      overwritten too, so that it need not be read completely first.
///
/// With --dry-run no question is asked, but 2. holds, and a missing --destroy-data is an error. The consent of a run
/// that is resumed does not cover a device that others may have written to since (`earlier`): it must be blank.
pub fn ask(said: &Consent, targets: &mut [Target], is_plan: bool, earlier: &Earlier) -> Result<(), Error> {
    let mut given = said.confirm.clone();
    for target in targets.iter_mut() {
        let is_new = earlier.doubt(&target.site).is_some();
        match &mut target.site {
            // 1.
            Site::Directory { path, place } if !is_plan => ask_place(said.yes, path, place)?,
            Site::Image { image, host } if !is_plan => ask_place(said.yes, image.directory(), host)?,
            // 2. and 3.
            Site::Volume(volume) => {
                if !said.destroy_data || is_new || !volume.inspected.needs_permission() {
                    volume.inspected.check(&Permission::None)?;
                } else if !is_plan {
                    volume.permission = Permission::Destroy(confirmation(&mut given, &volume.inspected)?);
                }
            }
            // 2. and 4.
            Site::Device(device) => {
                let Some(overwriting) = &mut device.overwriting else { continue };
                let inspected = &overwriting.inspected;
                if !said.destroy_data || is_new || !inspected.needs_permission() {
                    inspected.check(&Permission::None)?;
                }
                if !said.destroy_data {
                    let (device, identity) = (inspected.described(), inspected.identity());
                    return Err(ConsentError::NotToBeOverwritten { device, identity }.into());
                }
                if !is_plan {
                    overwriting.permission = Permission::Destroy(confirmation(&mut given, inspected)?);
                }
            }
            _ => {}
        }
    }
    // 5.
    for target in targets.iter_mut().filter(|_| !is_plan) {
        let is_new = earlier.doubt(&target.site).is_some();
        if let Site::Volume(volume) = &mut target.site
            && volume.permission == Permission::None
            && !is_new
            && let Some(index) = given.iter().position(|words| volume.inspected.confirm(words).is_ok())
        {
            volume.permission = Permission::Destroy(given.remove(index));
        }
    }
    Ok(())
}

/// Asks whether to write to this directory, if a benchmark is rarely meant to run there, unless the answer is given.
pub fn ask_place(is_agreed: bool, path: &Path, place: &Place) -> Result<(), Error> {
    let Some(why) = rarely_meant(path, place.file_system.as_deref()).filter(|_| !is_agreed) else { return Ok(()) };
    if agrees(&format!("{} {why}; write there? [y/N] ", path.shown())) {
        return Ok(());
    }
    Err(ConsentError::RarelyMeant { path: path.to_owned(), why }.into())
}

/// Returns whether the user answers yes. Without a terminal the answer is no.
pub fn agrees(question: &str) -> bool {
    typed(question).is_some_and(|answer| matches!(answer.as_str(), "y" | "yes"))
}

/// True if there is a terminal to ask on.
pub fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// The reason why diskperf asks before it writes there.
fn rarely_meant(path: &Path, file_system: Option<&str>) -> Option<&'static str> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    // The same folder may be mounted elsewhere too, under any name.
    if is_same(&path, Path::new("/")) {
        return Some("is the root directory");
    }
    let is_boot = |folder: &Path| ["/boot", "/efi"].iter().any(|boot| is_same(folder, Path::new(boot)));
    if path.ancestors().any(is_boot) {
        return Some("holds the boot files of this machine");
    }
    let file_system = file_system?;
    if NETWORK.contains(&file_system) {
        return Some("is on a network file system");
    }
    let program = file_system.strip_prefix(OF_PROGRAMS).filter(|program| !OF_PROGRAMS_HERE.contains(program));
    program.map(|_| "is on a FUSE file system, which may be on another machine")
}

/// True if both paths are the same folder: by name, or by device and inode number.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let numbers = |path: &Path| path.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()));
    one == other || numbers(one).is_some_and(|found| Some(found) == numbers(other))
}

/// The words that confirm the device: those of `given` that name it, which are removed there, otherwise those that the
/// user types.
pub fn confirmation(given: &mut Vec<String>, inspected: &Inspected) -> Result<String, Error> {
    if let Some(index) = given.iter().position(|words| inspected.confirm(words).is_ok()) {
        return Ok(given.remove(index));
    }
    let not_confirmed = |typed: String| GuardFault::NotConfirmed {
        device: inspected.described(),
        typed,
        what: inspected.identity_kind(),
    };
    if let Some(words) = given.first() {
        return Err(not_confirmed(words.clone()).into());
    }
    let holds: Vec<String> = inspected.reasons().iter().map(ToString::to_string).collect();
    let (device, what) = (inspected.described(), inspected.identity_kind());
    let holds = if holds.is_empty() { "all of it will be overwritten".to_owned() } else { holds.join("; ") };
    let typed = typed(&format!("{device}: {holds}. Type its {what} to destroy that: "));
    let typed = typed.ok_or_else(|| not_confirmed(String::new()))?;
    inspected.confirm(&typed)?;
    Ok(typed)
}

/// A line that the user types; `None` without a terminal.
fn typed(question: &str) -> Option<String> {
    if !can_ask() {
        return None;
    }
    let mut error = io::stderr();
    write!(error, "{}", sanitize::line(question)).and_then(|()| error.flush()).ok()?;
    let mut line = String::new();
    io::stdin().read_line(&mut line).ok()?;
    Some(line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_folders_and_network_file_systems_need_consent() {
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
