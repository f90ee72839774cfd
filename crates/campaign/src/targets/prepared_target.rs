//! A target while it is measured: the directory, or the file system that was created for it, and the
//! tuned queue.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernel::guard::{GuardFault, Permission};
use kernel::observe::mount::Place;
use kernel::observe::queue_settings::queue_settings;
use kernel::observe::temperature::Temperature;
use kernel::provision::queue_tuning::{Tuned, Tuning};
use kernel::{Image, ImageSpec, PathFault, PrivateMounts, RawDevice, Remount, Station, Vacated, Volume, Workspace};
use stats::{ImageInfo, TargetInfo};
use units::Bytes;

use crate::error::CampaignError;
use crate::events::Event;
use crate::plan::Before;
use crate::signals::Stop;
use crate::targets::blank_scan::BlankScan;
use crate::targets::precondition::condition;
use crate::targets::scratch_fs::ScratchFs;
use crate::targets::{Site, Target, VolumeArgument};

/// Remounts or re-creates a file system. No program may use it.
pub type Renewal = Box<dyn FnMut() -> Result<(), CampaignError> + Send>;

/// Preparations for a target. Dropping them restores the former state: images are removed, devices are erased.
pub struct PreparedTarget {
    site: Site,
    scratch_fs: Option<Arc<Mutex<ScratchFs>>>,
    /// The device that programs overwrite, if the guard allowed that.
    raw: Option<Arc<RawDevice>>,
    tuning: Option<Tuning>,
    info: TargetInfo,
    /// Part of the names of private folders, so that they can be found if this process is killed.
    label: Option<String>,
}

impl PreparedTarget {
    /// Creates what the target needs, and tries the queue settings once. The programs need `needed` bytes. The data
    /// that condition a device follow from the seed, or are zeros. `vacated` is the device if another target of this
    /// run has left it.
    pub fn prepare(
        (target, vacated): (&Target, Option<Vacated>),
        needed: u64,
        data: (u64, bool),
        label: Option<&str>,
        stop: &Stop,
        notify: &mut dyn FnMut(Event),
    ) -> Result<PreparedTarget, CampaignError> {
        let mut scratch_fs = match &target.site {
            Site::Image { image, .. } => Some(make(&image.spec(needed), needed, stop, &mut |bytes, of| {
                notify(Event::ImageWritten { target: &target.name, bytes, of });
            })?),
            Site::Volume(volume) => Some(match vacated {
                Some(vacated) => make_on_vacated(volume, vacated, needed, label)?,
                None => make_on_device((&target.name, label), volume, needed, stop, notify)?,
            }),
            _ => None,
        };
        let mut conditioned = None;
        let overwriting = match &target.site {
            Site::Device(device) => device.overwriting.as_ref(),
            _ => None,
        };
        let raw = overwriting.map(|overwriting| -> Result<Arc<RawDevice>, CampaignError> {
            let raw = RawDevice::claim(&overwriting.inspected, &overwriting.permission)?;
            if let Some(times) = overwriting.conditioning {
                conditioned = Some(condition(&raw, (&target.name, times), data, stop, notify)?);
            }
            Ok(Arc::new(raw))
        });
        let raw = raw.transpose()?;
        let tuning = plan_tuning(target, scratch_fs.as_ref(), label)?;
        if let Some(tuning) = &tuning {
            tuning.apply().and_then(Tuned::restore)?;
        }
        let aged = match (target.aging, &mut scratch_fs) {
            (Some(aging), Some(scratch_fs)) => {
                let needed = Bytes(needed.saturating_add(needed / 20));
                let aged = aging.apply((target, scratch_fs.path()), needed, stop, notify)?;
                // Some file systems reserve blocks for growing files until they are remounted: xfs a tenth of them.
                scratch_fs.remount()?;
                Some(aged)
            }
            _ => None,
        };
        let overlay = overlay_place(target, label)?;
        let info = TargetInfo { conditioned, aged, ..info_of(target, scratch_fs.as_ref(), overlay)? };
        let scratch_fs = scratch_fs.map(|scratch_fs| Arc::new(Mutex::new(scratch_fs)));
        Ok(PreparedTarget { site: target.site.clone(), scratch_fs, raw, tuning, info, label: label.map(str::to_owned) })
    }

    /// Removes the file system from its device, so that another target can use the device. No program may use it any
    /// more. The description of the target stays.
    pub fn vacate(&mut self) -> Result<Option<Vacated>, CampaignError> {
        Ok(self.scratch_fs.take().map_or(Ok(None), |scratch_fs| unshared(scratch_fs).vacate())?)
    }

    /// Creates the file system again after [`PreparedTarget::vacate`]. `vacated` is the device if another target has
    /// just left it.
    pub fn occupy(
        &mut self,
        (target, vacated): (&Target, Option<Vacated>),
        needed: u64,
        stop: &Stop,
    ) -> Result<(), CampaignError> {
        let Site::Volume(volume) = &self.site else { return Ok(()) };
        if self.scratch_fs.is_some() {
            return Ok(());
        }
        let label = self.label.as_deref();
        let scratch_fs = match vacated {
            Some(vacated) => make_on_vacated(volume, vacated, needed, label)?,
            None => make_on_device((&target.name, label), &looked_at_again(volume, None)?, needed, stop, &mut |_| {})?,
        };
        self.tuning = plan_tuning(target, Some(&scratch_fs), label)?;
        self.scratch_fs = Some(Arc::new(Mutex::new(scratch_fs)));
        Ok(())
    }

    /// The private folder or the given file for one program.
    pub fn station(&self) -> Result<Station, CampaignError> {
        let inside = |path: &Path| workspace(path, self.label.as_deref());
        let mut station = Station::default();
        match (&self.site, &self.scratch_fs) {
            (_, Some(scratch_fs)) => station.workspace = Some(inside(locked(scratch_fs).path())?),
            (Site::Directory { path, .. }, _) => station.workspace = Some(inside(path)?),
            (Site::File { path, .. }, _) => station.given.push(path.clone()),
            (Site::Device(device), _) => station.given.push(device.path.clone()),
            (Site::Image { .. } | Site::Volume(_) | Site::Simulated(_), None) => {}
        }
        Ok(station)
    }

    /// The device that programs overwrite, if the guard allowed that.
    pub fn raw(&self) -> Option<Arc<RawDevice>> {
        self.raw.clone()
    }

    /// Remounts the file system; `None` if diskperf did not create it.
    pub fn remount(&self) -> Option<Remount> {
        let scratch_fs = Arc::clone(self.scratch_fs.as_ref()?);
        Some(Box::new(move || locked(&scratch_fs).remount().map_err(io::Error::other)))
    }

    /// The renewal before every execution; `None` if diskperf did not create the file system.
    pub fn renewal(&self, before: Before) -> Option<Renewal> {
        let scratch_fs = Arc::clone(self.scratch_fs.as_ref()?);
        match before {
            Before::Nothing => None,
            Before::Mount => Some(Box::new(move || Ok(locked(&scratch_fs).remount()?))),
            Before::Make => Some(Box::new(move || Ok(locked(&scratch_fs).fresh()?))),
        }
    }

    /// The renewal before every execution, in words; `None` if the preset asks for none.
    pub fn before_each(&self, before: Before) -> Option<String> {
        let words = match (before, &self.site) {
            (Before::Mount, Site::Image { .. } | Site::Volume(_)) => "remounted before each test",
            (Before::Make, Site::Image { .. } | Site::Volume(_)) => "re-created (mkfs) before each test",
            // Other programs may use this file system: it cannot be remounted.
            (Before::Mount, Site::Directory { .. }) => "files dropped from the page cache instead of a remount",
            _ => return None,
        };
        Some(words.to_owned())
    }

    /// The device node of the file system that was created for the target.
    pub fn node(&self) -> Option<PathBuf> {
        self.scratch_fs.as_ref().map(|scratch_fs| locked(scratch_fs).device().node())
    }

    /// The queue settings, if there are any.
    pub fn tuning(&self) -> Option<&Tuning> {
        self.tuning.as_ref()
    }

    /// The description of the target for the document.
    pub fn info(&self) -> &TargetInfo {
        &self.info
    }

    /// Keeps the file system that was created, and returns its path. No program may use it any more.
    pub fn keep(self, target: &Target) -> Result<Option<PathBuf>, CampaignError> {
        let Some(scratch_fs) = self.into_scratch_fs() else { return Ok(None) };
        Ok(Some(scratch_fs.keep(&kept_name(target))?))
    }

    /// Removes what was created, and returns the error if that fails. No program may use it any more.
    pub fn finish(self) -> Result<(), CampaignError> {
        Ok(self.into_scratch_fs().map_or(Ok(()), ScratchFs::finish)?)
    }

    fn into_scratch_fs(self) -> Option<ScratchFs> {
        self.scratch_fs.map(unshared)
    }
}

fn unshared(scratch_fs: Arc<Mutex<ScratchFs>>) -> ScratchFs {
    let scratch_fs = Arc::into_inner(scratch_fs).expect("no remount is using the file system");
    scratch_fs.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The device of a target that another target of this run, or an earlier process of the run, has used. Returns an error
/// if it is not the same device. `held` is the device if this process holds it already.
pub fn looked_at_again(volume: &VolumeArgument, held: Option<&Vacated>) -> Result<VolumeArgument, CampaignError> {
    let node = volume.inspected.node();
    let inspected = held.map_or_else(|| kernel::guard::inspect(&node), Vacated::inspect)?;
    if inspected.identity() != volume.inspected.identity() {
        return Err(GuardFault::Changed(node, "its name now belongs to another device").into());
    }
    Ok(VolumeArgument { spec: volume.spec.clone(), inspected, permission: Permission::None })
}

/// Ignores a poisoned lock: a panic elsewhere does not damage the file system.
fn locked(scratch_fs: &Mutex<ScratchFs>) -> MutexGuard<'_, ScratchFs> {
    scratch_fs.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates an image with room for `needed` bytes.
fn make(
    spec: &ImageSpec,
    needed: u64,
    stop: &Stop,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<ScratchFs, CampaignError> {
    let of = spec.file_bytes().0;
    let image = Image::make(spec, &PrivateMounts::enter()?, |bytes| {
        progress(bytes, of);
        if stop.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    let free = find_place(image.path())?.free_bytes;
    let needed = needed.saturating_add(needed / 20);
    if let Some(free) = free.filter(|free| *free < needed) {
        return Err(CampaignError::SmallImage { size: Bytes(free), needed: Bytes(needed) });
    }
    Ok(ScratchFs::Image(Box::new(image)))
}

/// Creates a file system with room for `needed` bytes on a device. Without --destroy-data the whole device is read
/// first, which may take hours. The label is stored in the recovery note.
fn make_on_device(
    (target, label): (&str, Option<&str>),
    argument: &VolumeArgument,
    needed: u64,
    stop: &Stop,
    notify: &mut dyn FnMut(Event),
) -> Result<ScratchFs, CampaignError> {
    let VolumeArgument { spec, inspected, permission } = argument;
    let mut scan = BlankScan::new(inspected);
    let mut progress = |bytes, of| {
        scan.report_progress(target, bytes, of, notify);
        if stop.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let volume = Volume::make(spec, inspected, permission, (&PrivateMounts::enter()?, label), &mut progress)?;
    with_room(volume, needed)
}

/// Creates a file system with room for `needed` bytes on a device that another target of this run has left.
fn make_on_vacated(
    argument: &VolumeArgument,
    vacated: Vacated,
    needed: u64,
    label: Option<&str>,
) -> Result<ScratchFs, CampaignError> {
    with_room(Volume::make_on(&argument.spec, vacated, (&PrivateMounts::enter()?, label))?, needed)
}

fn with_room(volume: Volume, needed: u64) -> Result<ScratchFs, CampaignError> {
    let free = find_place(volume.path())?.free_bytes;
    let needed = needed.saturating_add(needed / 20);
    if let Some(free) = free.filter(|free| *free < needed) {
        return Err(PathFault::NoRoom { path: volume.device().node(), free: Bytes(free), needed: Bytes(needed) }.into());
    }
    Ok(ScratchFs::Volume(Box::new(volume)))
}

fn plan_tuning(
    target: &Target,
    scratch_fs: Option<&ScratchFs>,
    label: Option<&str>,
) -> Result<Option<Tuning>, CampaignError> {
    if target.tuning.is_empty() {
        return Ok(None);
    }
    match scratch_fs.map(ScratchFs::device).or_else(|| target.device()) {
        Some(device) => Ok(Some(Tuning::plan(device, &target.tuning)?.labelled(label))),
        None => {
            let why = "no device with settings is visible".to_owned();
            Err(CampaignError::BadTuning { typed: target.typed.clone(), why })
        }
    }
}

/// Formats as `41 °C (limit 70 °C)`.
fn heat_in_words(heat: Temperature) -> String {
    let limit = heat.limit.map_or_else(String::new, |limit| format!(" (limit {limit} °C)"));
    format!("{} °C{limit}", heat.celsius)
}

fn find_place(path: &Path) -> Result<Place, PathFault> {
    Place::under(path).map_err(|source| PathFault::Unreadable { path: path.to_owned(), source })
}

/// `diskperf-NAME` for a target with a given name, else `diskperf-FSTYPE`.
fn kept_name(target: &Target) -> String {
    match &target.site {
        Site::Image { image, .. } if target.name == target.typed => format!("diskperf-{}", image.file_system()),
        _ => format!("diskperf-{}", target.name),
    }
}

/// A private folder inside the folder, with the label in its name.
fn workspace(path: &Path, label: Option<&str>) -> Result<Workspace, kernel::Fault> {
    match label {
        Some(label) => Workspace::labelled(path, label),
        None => Workspace::inside(path),
    }
}

/// The file system of a directory on an overlay, with its storage, which only a new file shows. `None` for other
/// targets.
fn overlay_place(target: &Target, label: Option<&str>) -> Result<Option<Place>, CampaignError> {
    match &target.site {
        Site::Directory { path, place } if place.file_system.as_deref() == Some("overlay") => {
            let place = workspace(path, label)?.place();
            Ok(Some(place.map_err(|source| PathFault::Unreadable { path: path.clone(), source })?))
        }
        _ => Ok(None),
    }
}

/// The description of a target for the document, before anything is created.
pub fn info(target: &Target) -> Result<TargetInfo, CampaignError> {
    info_of(target, None, None)
}

/// The description of a target. `scratch_fs` is the file system that was created for it. `place` is that of a directory
/// on an overlay.
fn info_of(target: &Target, scratch_fs: Option<&ScratchFs>, place: Option<Place>) -> Result<TargetInfo, CampaignError> {
    let place = scratch_fs.map(|scratch_fs| find_place(scratch_fs.path())).transpose()?.or(place);
    let place = place.as_ref().or(target.place());
    let device = place.and_then(|place| place.device.as_ref()).or_else(|| target.device());
    let image = scratch_fs.and_then(ScratchFs::image).map(|image| -> Result<ImageInfo, CampaignError> {
        Ok(ImageInfo {
            bytes: image.bytes().0,
            block_bytes: image.block()?.0,
            direct_io: image.is_direct(),
            host_file_system: image.host().file_system.clone(),
            host_device: image.host().device.as_ref().map(|device| device.name.clone()),
            kept_as: None,
        })
    });
    Ok(TargetInfo {
        name: target.name.clone(),
        argument: target.typed.clone(),
        file_system: place.and_then(|place| place.file_system.clone()).or_else(|| target.simulated()?.file_system()),
        mount_options: place.map(|place| place.mount_options.clone()).unwrap_or_default(),
        device: device.map(|device| device.name.clone()).or_else(|| Some(target.simulated()?.drive()?.0)),
        model: device.and_then(|device| device.model()),
        scheduler: device.and_then(|device| device.scheduler()),
        queue: device.map(queue_settings).unwrap_or_default(),
        same_as: None,
        write_cache: device.and_then(|device| device.write_cache()),
        device_bytes: device.and_then(|device| device.bytes()).or_else(|| Some(target.simulated()?.drive()?.1)),
        in_memory: place.and_then(|place| place.in_memory.clone()),
        nested_in: place.and_then(|place| place.nested_in.clone()),
        fill_percent: place.map(|place| place.fill_percent()),
        image: image.transpose()?,
        heat: device.and_then(Temperature::read).map(heat_in_words),
        conditioned: None,
        aged: None,
        loaded: None,
        tuning: Some(target.tuned()).filter(|tuned| !tuned.is_empty()),
        before_each: None,
    })
}
