//! A program on the real kernel: what runs its ops, where it stands, and what belongs to it.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::errors::Fault;
use crate::guard::Given;
use crate::observe::block_device::Device;
use crate::observe::block_source::Storage;
use crate::observe::block_stack;
use crate::observe::mount::{self, Place};
use crate::page_cache::Sight;
use crate::provision::workspace::Workspace;
use crate::world::process::{GivenDevice, Process};

/// Where a program stands and what it was given.
#[derive(Debug, Default)]
pub struct Station {
    /// Its folder; none for a program that only works on given paths.
    pub workspace: Option<Workspace>,
    /// The files that its given names stand for. They are only read; a device that is to be written is given by
    /// [`crate::Posix::overwrite`].
    pub given: Vec<PathBuf>,
}

/// Unmounts the file system that a program stands on, and mounts it again in the same place.
pub type Remount = Box<dyn FnMut() -> io::Result<()> + Send>;

pub(crate) struct Program {
    pub(crate) process: Process,
    pub(crate) workspace: Option<Workspace>,
    pub(crate) given: Vec<PathBuf>,
    /// Every device under its folder, each with the number of those above it.
    pub(crate) devices: Vec<(Device, u32)>,
    /// What can be seen in memory of the files in its folder, once that was tried.
    pub(crate) sight: Option<Sight>,
    /// Whether it can be seen of them what is not yet on the device, once that was tried.
    pub(crate) sees_unwritten: Option<bool>,
    pub(crate) remount: Option<Remount>,
    /// The directory that its folder was in, while it has left it.
    left: Option<PathBuf>,
}

impl Program {
    pub(crate) fn at(station: Station, ring_bytes: u32, largest_call: u32, seed: u64) -> Result<Program, Fault> {
        let Station { workspace, given } = station;
        let given = given.into_iter().map(Given::Read).collect();
        Program::on(workspace, given, ring_bytes, largest_call, seed)
    }

    /// The same with files that may be written.
    pub(crate) fn on(
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
            sight: None,
            sees_unwritten: None,
            remount: None,
            left: None,
        })
    }

    /// The devices directly under its folder.
    pub(crate) fn tops(&self) -> impl Iterator<Item = &Device> {
        self.devices.iter().filter(|(_, depth)| *depth == 0).map(|(device, _)| device)
    }

    /// Watches the device behind the first given path, where the program stands in no folder of ours.
    pub(crate) fn look_behind_given(&mut self) {
        if let (None, Some(path)) = (&self.workspace, self.given.first()) {
            let device = Storage::at(path).ok().flatten().and_then(|storage| storage.device);
            self.devices = device.map(|device| block_stack::under(&device)).unwrap_or_default();
        }
        if self.given.iter().any(|path| mount::block_number(path).is_some()) {
            self.process.give_device(GivenDevice::OnlyRead);
        }
    }

    /// Leaves its folder, which is removed, so that the file system can be unmounted or made anew.
    pub(crate) fn leave(&mut self) {
        self.process.leave();
        if let Some(workspace) = self.workspace.take() {
            self.left = Some(workspace.parent().to_owned());
        }
    }

    /// Has a new folder where it has left one.
    pub(crate) fn come_back(&mut self) -> Result<(), Fault> {
        let Some(parent) = &self.left else { return Ok(()) };
        let workspace = Workspace::inside(parent)?;
        self.process.enter(workspace.open()?);
        self.devices = devices_under(&workspace);
        self.workspace = Some(workspace);
        self.left = None;
        Ok(())
    }

    /// Closes its files, removes what it left in its folder, and stands in that, also where it could not be mounted
    /// anew before.
    pub(crate) fn clear(&mut self) -> Result<(), Fault> {
        self.process.close_all();
        let Some(workspace) = &self.workspace else { return Ok(()) };
        workspace.clear()?;
        if !self.process.stands() {
            self.process.enter(workspace.open()?);
        }
        Ok(())
    }

    /// Removes its folder with all it holds. Where a path does not lead there any more, as on a file system that was
    /// unmounted while it was in use, it is found through its being open.
    pub(crate) fn finish(&mut self) -> Result<(), Fault> {
        let root = self.process.give_up_root();
        self.workspace.take().map_or(Ok(()), |workspace| workspace.remove(root))
    }

    /// Leaves its folder with all it holds, which stays.
    pub(crate) fn stay(&mut self) {
        self.process.leave();
        self.workspace.take().into_iter().for_each(Workspace::leave);
    }

    /// Has the file system mounted anew, where that is possible. The program's files are closed before.
    pub(crate) fn remount(&mut self) -> Result<(), Fault> {
        let Some(remount) = &mut self.remount else { return Ok(()) };
        self.process.leave();
        remount().map_err(Fault::Remount)?;
        if let Some(workspace) = &mut self.workspace {
            workspace.find_again()?;
            self.process.enter(workspace.open()?);
            // An image may come back on another loop device.
            self.devices = devices_under(workspace);
        }
        Ok(())
    }
}

/// Whoever wants to know what is left calls [`Program::finish`].
impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

fn devices_under(workspace: &Workspace) -> Vec<(Device, u32)> {
    let place = Place::under(workspace.path()).ok();
    place.and_then(|place| place.device).map(|device| block_stack::under(&device)).unwrap_or_default()
}
