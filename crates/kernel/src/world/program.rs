//! A program on the real kernel: its process state, its folder, and its files and devices.

use std::ffi::{CString, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::errors::Fault;
use crate::guard::Given;
use crate::observe::block_device::Device;
use crate::observe::mount::{self, Place};
use crate::page_cache::CacheProbe;
use crate::provision::workspace::{self, Workspace};
use crate::world::process::{GivenDevice, Process};

/// The folder and the given files of a program.
#[derive(Debug, Default)]
pub struct Station {
    /// Its private folder. `None` for a program that only works on given paths.
    pub workspace: Option<Workspace>,
    /// The files that its given names refer to. They are only read; [`crate::Posix::overwrite`] allows writing to a
    /// device.
    pub given: Vec<PathBuf>,
}

/// Unmounts the file system below a program, and mounts it again in the same place.
pub type Remount = Box<dyn FnMut() -> io::Result<()> + Send>;

pub(crate) struct Program {
    pub(crate) process: Process,
    pub(crate) workspace: Option<Workspace>,
    pub(crate) given: Vec<PathBuf>,
    /// All devices below its folder, each with the number of devices above it.
    pub(crate) devices: Vec<(Device, u32)>,
    /// The way to probe the page cache for the files in its folder; `None` until tested.
    pub(crate) probe: Option<CacheProbe>,
    /// True if their unwritten pages are visible; `None` until tested.
    pub(crate) sees_unwritten: Option<bool>,
    pub(crate) remount: Option<Remount>,
    /// The parent directory of the folder that it has left, until it gets a new one.
    left: Option<PathBuf>,
    /// The folder of another host that it reads now.
    visited: Option<Visited>,
}

/// A folder in which a program of another host wrote files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Visited {
    pub(crate) path: PathBuf,
    /// The seed of that program, by which its data are recognized.
    pub(crate) seed: u64,
}

impl Program {
    pub(crate) fn from_station(
        station: Station,
        ring_bytes: u32,
        largest_call: u32,
        seed: u64,
    ) -> Result<Program, Fault> {
        let Station { workspace, given } = station;
        let given = given.into_iter().map(Given::Read).collect();
        Program::with_files(workspace, given, ring_bytes, largest_call, seed)
    }

    /// As `from_station`, but the given files may be writable.
    pub(crate) fn with_files(
        workspace: Option<Workspace>,
        given: Vec<Given>,
        ring_bytes: u32,
        largest_call: u32,
        seed: u64,
    ) -> Result<Program, Fault> {
        let paths: Vec<PathBuf> = given.iter().map(Given::path).collect();
        let named = paths
            .iter()
            .zip(given)
            .map(|(path, given)| {
                let path = CString::new(path.as_os_str().as_bytes()).map_err(|_| Fault::Path(path.clone()))?;
                Ok((path, given))
            })
            .collect::<Result<_, Fault>>()?;
        let root = workspace.as_ref().map(Workspace::open).transpose()?;
        let process = Process::new(root, named, ring_bytes, largest_call, seed)?;
        let devices = workspace.as_ref().map(devices_under).unwrap_or_default();
        Ok(Program {
            process,
            workspace,
            given: paths,
            devices,
            probe: None,
            sees_unwritten: None,
            remount: None,
            left: None,
            visited: None,
        })
    }

    /// Closes its files, and works in a folder of another host: the one of this name next to its own.
    pub(crate) fn visit(&mut self, name: &str, seed: u64) -> Result<(), Fault> {
        let Some(workspace) = &self.workspace else { return Ok(()) };
        let path = workspace.parent().join(name);
        let fault = |source| Fault::Folder { action: "open", path: path.clone(), source };
        // A name alone: nothing outside of the directory is opened.
        if Path::new(name).file_name() != Some(OsStr::new(name)) {
            return Err(fault(io::ErrorKind::InvalidInput.into()));
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&path, flags, Mode::empty()).map_err(|errno| fault(errno.into()))?;
        self.process.close_all();
        self.process.enter(opened);
        self.visited = Some(Visited { path, seed });
        Ok(())
    }

    /// The folder in which it works, and the seed of the data there. `None` if it only works on given paths.
    pub(crate) fn working_folder(&self) -> Option<(&Path, u64)> {
        match &self.visited {
            Some(Visited { path, seed }) => Some((path, *seed)),
            None => Some((self.workspace.as_ref()?.path(), self.process.seed())),
        }
    }

    /// Every regular file below that folder.
    pub(crate) fn working_files(&self) -> Result<Vec<PathBuf>, Fault> {
        self.working_folder().map_or(Ok(Vec::new()), |(folder, _)| workspace::files_below(folder))
    }

    /// The devices directly below its folder.
    pub(crate) fn tops(&self) -> impl Iterator<Item = &Device> {
        self.devices.iter().filter(|(_, depth)| *depth == 0).map(|(device, _)| device)
    }

    /// Watches the device below the first given path, if the program has no folder.
    pub(crate) fn look_behind_given(&mut self) {
        if let (None, Some(path)) = (&self.workspace, self.given.first()) {
            let device = mount::block_number(path).and_then(|(major, minor)| Device::numbered(major, minor));
            self.devices = match device {
                Some(device) => mount::devices_under(&device),
                None => Place::under(path).map(|place| place.devices()).unwrap_or_default(),
            };
        }
        if self.given.iter().any(|path| mount::block_number(path).is_some()) {
            self.process.give_device(GivenDevice::OnlyRead);
        }
    }

    /// Closes and removes its folder, so that the file system can be unmounted or made again.
    pub(crate) fn leave(&mut self) {
        self.process.leave();
        if let Some(workspace) = self.workspace.take() {
            self.left = Some(workspace.parent().to_owned());
        }
    }

    /// Creates a new folder if the program has left one.
    pub(crate) fn come_back(&mut self) -> Result<(), Fault> {
        let Some(parent) = &self.left else { return Ok(()) };
        let workspace = Workspace::inside(parent)?;
        self.process.enter(workspace.open()?);
        self.devices = devices_under(&workspace);
        self.workspace = Some(workspace);
        self.left = None;
        Ok(())
    }

    /// Closes its files, empties its folder, and reopens the folder if it is not open. That is the case if an earlier
    /// remount failed, or if it worked in that of another host.
    pub(crate) fn clear(&mut self) -> Result<(), Fault> {
        self.process.close_all();
        if self.visited.take().is_some() {
            self.process.leave();
        }
        let Some(workspace) = &self.workspace else { return Ok(()) };
        workspace.clear()?;
        if !self.process.stands() {
            self.process.enter(workspace.open()?);
        }
        Ok(())
    }

    /// Removes its folder with all contents. If the path no longer leads to it, the open descriptor does, for
    /// instance on a file system that was unmounted while in use.
    pub(crate) fn finish(&mut self) -> Result<(), Fault> {
        let root = self.process.give_up_root().filter(|_| self.visited.is_none());
        self.workspace.take().map_or(Ok(()), |workspace| workspace.remove(root))
    }

    /// Leaves its folder and keeps it with all contents.
    pub(crate) fn stay(&mut self) {
        self.process.leave();
        self.workspace.take().into_iter().for_each(Workspace::leave);
    }

    /// Remounts the file system, if that is possible. Closes the program's files first.
    pub(crate) fn remount(&mut self) -> Result<(), Fault> {
        let Some(remount) = &mut self.remount else { return Ok(()) };
        self.process.leave();
        remount().map_err(Fault::Remount)?;
        if let Some(workspace) = &mut self.workspace {
            workspace.find_again()?;
            self.process.enter(workspace.open()?);
            // An image may be attached to another loop device after a remount.
            self.devices = devices_under(workspace);
        }
        Ok(())
    }
}

/// Ignores errors; [`Program::finish`] reports them.
impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

fn devices_under(workspace: &Workspace) -> Vec<(Device, u32)> {
    workspace.place().map(|place| place.devices()).unwrap_or_default()
}
