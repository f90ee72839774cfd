//! For unit tests: a recorded /sys and /proc in a temporary folder, which is removed on drop.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::observe::block_device::Device;

/// A recorded machine.
pub(crate) struct Recorded {
    root: PathBuf,
    _folder: Box<dyn AsRef<Path> + Send + Sync>,
}

impl Recorded {
    pub(crate) fn new() -> Recorded {
        let folder = tempfile::tempdir().expect("a scratch folder");
        Recorded { root: folder.path().to_owned(), _folder: Box::new(folder) }
    }

    /// Its /sys. Devices are in `devices`, next to `proc`.
    pub(crate) fn sys(&self) -> &Path {
        &self.root
    }

    /// Its /proc.
    pub(crate) fn proc(&self) -> PathBuf {
        self.root.join("proc")
    }

    /// Adds the device `devices/PLACE` with this `major:minor` number. Its folder has these files besides `dev` and
    /// `uevent`.
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

    /// Makes a symbolic link at `from` to the folder of the device at `place`.
    pub(crate) fn link(&self, place: &str, from: &str) {
        let link = self.made(from);
        symlink(self.root.join("devices").join(place), link).expect("a link");
    }

    /// Builds one device on the other: `above` gets `below` as a slave, and `below` gets `above` as a holder.
    pub(crate) fn stack(&self, above: &str, below: &str) {
        let name = |place: &str| place.rsplit('/').next().expect("a name").to_owned();
        self.link(below, &format!("devices/{above}/slaves/{}", name(below)));
        self.link(above, &format!("devices/{below}/holders/{}", name(above)));
    }

    /// Records the mounts of a thread, as lines of mountinfo, and its mount namespace.
    pub(crate) fn mounts(&self, thread: &str, namespace: &str, lines: &[&str]) {
        self.write(&format!("proc/{thread}/mountinfo"), &(lines.join("\n") + "\n"));
        symlink(namespace, self.made(&format!("proc/{thread}/ns/mnt"))).expect("a link");
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        fs::write(self.made(file), text).expect("a file");
    }

    /// Returns the path of a file and creates the folder that it is in.
    fn made(&self, file: &str) -> PathBuf {
        let path = self.root.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        path
    }
}
