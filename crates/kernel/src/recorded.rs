//! For unit tests: a recorded /sys and /proc, in a folder that is gone with it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::observe::block_device::Device;

/// What a machine shows of its devices.
pub(crate) struct Recorded {
    root: PathBuf,
    _folder: Box<dyn AsRef<Path> + Send + Sync>,
}

impl Recorded {
    pub(crate) fn new() -> Recorded {
        let folder = tempfile::tempdir().expect("a scratch folder");
        Recorded { root: folder.path().to_owned(), _folder: Box::new(folder) }
    }

    /// Its /sys.
    pub(crate) fn sys(&self) -> &Path {
        &self.root
    }

    /// Its /proc.
    pub(crate) fn proc(&self) -> PathBuf {
        self.root.join("proc")
    }

    /// A device whose folder is `devices/PLACE`, with these files in it besides the usual ones.
    pub(crate) fn add(&self, place: &str, number: &str, files: &[(&str, &str)]) -> Device {
        let folder = format!("devices/{place}");
        let name = place.rsplit('/').next().expect("a name");
        self.write(&format!("{folder}/dev"), number);
        self.write(&format!("{folder}/uevent"), &format!("DEVNAME={name}\n"));
        for (file, text) in files {
            self.write(&format!("{folder}/{file}"), text);
        }
        self.link(place, &format!("dev/block/{number}"));
        self.link(place, &format!("class/block/{name}"));
        let (major, minor) = number.split_once(':').expect("a number");
        Device::in_sys(self.sys(), major.parse().expect("a number"), minor.parse().expect("a number"))
            .expect("the device")
    }

    /// A link to the folder of the device at that place.
    pub(crate) fn link(&self, place: &str, from: &str) {
        let link = self.made(from);
        symlink(self.root.join("devices").join(place), link).expect("a link");
    }

    /// The one lies on the other: a holder of it, which has it for a slave.
    pub(crate) fn stack(&self, above: &str, below: &str) {
        let name = |place: &str| place.rsplit('/').next().expect("a name").to_owned();
        self.link(below, &format!("devices/{above}/slaves/{}", name(below)));
        self.link(above, &format!("devices/{below}/holders/{}", name(above)));
    }

    /// What a thread has mounted, in lines of mountinfo, and in which namespace.
    pub(crate) fn mounts(&self, thread: &str, namespace: &str, lines: &[&str]) {
        self.write(&format!("proc/{thread}/mountinfo"), &(lines.join("\n") + "\n"));
        symlink(namespace, self.made(&format!("proc/{thread}/ns/mnt"))).expect("a link");
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        fs::write(self.made(file), text).expect("a file");
    }

    /// The path of something whose folder is there.
    fn made(&self, file: &str) -> PathBuf {
        let path = self.root.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        path
    }
}
