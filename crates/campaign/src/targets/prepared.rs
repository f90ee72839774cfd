//! What a target stands on while it is measured: the directory, or the file system that is made for it, and the
//! queue that is tuned.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernel::guard::{GuardFault, Leave};
use kernel::observe::mount::Place;
use kernel::observe::temperature::Heat;
use kernel::provision::queue_tuning::{Tuned, Tuning};
use kernel::{Image, ImageSpec, PathFault, PrivateMounts, RawDevice, Remount, Station, Vacated, Volume, Workspace};
use stats::{ImageInfo, TargetInfo};
use units::Bytes;

use crate::error::CampaignError;
use crate::events::Event;
use crate::plan::Before;
use crate::signals::Stop;
use crate::targets::precondition::condition;
use crate::targets::scan::Reading;
use crate::targets::scratch_fs::Made;
use crate::targets::{Site, Target, VolumeArgument};

/// Mounts or makes a file system anew. No program may stand on it.
pub type Renewal = Box<dyn FnMut() -> Result<(), CampaignError> + Send>;

/// What a target stands on. Dropped, it is as before: the image is gone, the device holds nothing.
pub struct Ground {
    site: Site,
    made: Option<Arc<Mutex<Made>>>,
    /// The device that programs write to, where it was cleared for that.
    raw: Option<Arc<RawDevice>>,
    tuning: Option<Tuning>,
    info: TargetInfo,
    /// What the names of private folders hold, so that they are found if this process is killed.
    label: Option<String>,
}

impl Ground {
    /// Makes what has to be made, and tries what has to be tuned, once. The programs need so many bytes; what
    /// conditions a device follows from the seed, or is zero. Another target of this run may have left its device to
    /// this one.
    pub fn prepare(
        (target, vacated): (&Target, Option<Vacated>),
        needed: u64,
        data: (u64, bool),
        label: Option<&str>,
        stop: &Stop,
        notify: &mut dyn FnMut(Event),
    ) -> Result<Ground, CampaignError> {
        let mut made = match &target.site {
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
            let raw = RawDevice::over(&overwriting.inspected, &overwriting.leave)?;
            if let Some(times) = overwriting.conditioning {
                conditioned = Some(condition(&raw, (&target.name, times), data, stop, notify)?);
            }
            Ok(Arc::new(raw))
        });
        let raw = raw.transpose()?;
        let tuning = plan_tuning(target, made.as_ref(), label)?;
        if let Some(tuning) = &tuning {
            tuning.apply().and_then(Tuned::restore)?;
        }
        let aged = match (target.wear, &mut made) {
            (Some(wear), Some(made)) => {
                let needed = Bytes(needed.saturating_add(needed / 20));
                let aged = wear.apply((target, made.path()), needed, stop, notify)?;
                // Some hold blocks in reserve for files that may grow, until they are mounted anew: xfs a tenth of
                // them.
                made.remount()?;
                Some(aged)
            }
            _ => None,
        };
        let info = TargetInfo { conditioned, aged, ..info(target, made.as_ref())? };
        let made = made.map(|made| Arc::new(Mutex::new(made)));
        Ok(Ground { site: target.site.clone(), made, raw, tuning, info, label: label.map(str::to_owned) })
    }

    /// Takes away what was made on a device, for another target that stands on it in turn. Nothing may stand on it any
    /// more. What is to be said about it stays.
    pub fn vacate(&mut self) -> Result<Option<Vacated>, CampaignError> {
        Ok(self.made.take().map_or(Ok(None), |made| unshared(made).vacate())?)
    }

    /// Makes on its device again what was taken away for others, of which one has left it.
    pub fn occupy(
        &mut self,
        (target, vacated): (&Target, Option<Vacated>),
        needed: u64,
        stop: &Stop,
    ) -> Result<(), CampaignError> {
        let Site::Volume(volume) = &self.site else { return Ok(()) };
        if self.made.is_some() {
            return Ok(());
        }
        let label = self.label.as_deref();
        let made = match vacated {
            Some(vacated) => make_on_vacated(volume, vacated, needed, label)?,
            None => make_on_device((&target.name, label), &looked_at_again(volume, None)?, needed, stop, &mut |_| {})?,
        };
        self.tuning = plan_tuning(target, Some(&made), label)?;
        self.made = Some(Arc::new(Mutex::new(made)));
        Ok(())
    }

    /// A place for one program.
    pub fn station(&self) -> Result<Station, CampaignError> {
        let inside = |path: &Path| match &self.label {
            Some(label) => Workspace::labelled(path, label),
            None => Workspace::inside(path),
        };
        let mut station = Station::default();
        match (&self.site, &self.made) {
            (_, Some(made)) => station.workspace = Some(inside(locked(made).path())?),
            (Site::Directory { path, .. }, _) => station.workspace = Some(inside(path)?),
            (Site::File { path, .. }, _) => station.given.push(path.clone()),
            (Site::Device(device), _) => station.given.push(device.path.clone()),
            (Site::Image { .. } | Site::Volume(_) | Site::Simulated(_), None) => {}
        }
        Ok(station)
    }

    /// The device that programs write to, where it was cleared for that.
    pub fn raw(&self) -> Option<Arc<RawDevice>> {
        self.raw.clone()
    }

    /// How its file system is mounted anew, where that is ours.
    pub fn remount(&self) -> Option<Remount> {
        let made = Arc::clone(self.made.as_ref()?);
        Some(Box::new(move || locked(&made).remount().map_err(io::Error::other)))
    }

    /// What is done to its file system before every execution, where that is ours.
    pub fn renewal(&self, before: Before) -> Option<Renewal> {
        let made = Arc::clone(self.made.as_ref()?);
        match before {
            Before::Nothing => None,
            Before::Mount => Some(Box::new(move || Ok(locked(&made).remount()?))),
            Before::Make => Some(Box::new(move || Ok(locked(&made).fresh()?))),
        }
    }

    /// The renewal before every execution, in words, if a preset asks for one.
    pub fn before_each(&self, before: Before) -> Option<String> {
        let words = match (before, &self.site) {
            (Before::Mount, Site::Image { .. } | Site::Volume(_)) => "remounted before each test",
            (Before::Make, Site::Image { .. } | Site::Volume(_)) => "re-created (mkfs) before each test",
            // Others may use this file system: it cannot be remounted.
            (Before::Mount, Site::Directory { .. }) => "files dropped from the page cache instead of a remount",
            _ => return None,
        };
        Some(words.to_owned())
    }

    /// The device of what was made for it.
    pub fn node(&self) -> Option<PathBuf> {
        self.made.as_ref().map(|made| locked(made).device().node())
    }

    /// How its queue is tuned, where it is.
    pub fn tuning(&self) -> Option<&Tuning> {
        self.tuning.as_ref()
    }

    /// What is to be said about it.
    pub fn info(&self) -> &TargetInfo {
        &self.info
    }

    /// Leaves what was made behind, under a name, where something was. Nothing may stand on it any more.
    pub fn keep(self, target: &Target) -> Result<Option<PathBuf>, CampaignError> {
        let Some(made) = self.into_made() else { return Ok(None) };
        Ok(Some(made.keep(&kept_name(target))?))
    }

    /// Takes away what was made, and says where that failed. Nothing may stand on it any more.
    pub fn finish(self) -> Result<(), CampaignError> {
        Ok(self.into_made().map_or(Ok(()), Made::finish)?)
    }

    fn into_made(self) -> Option<Made> {
        self.made.map(unshared)
    }
}

fn unshared(made: Arc<Mutex<Made>>) -> Made {
    let made = Arc::into_inner(made).expect("whoever made it anew or mounted it anew is gone");
    made.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The device of a target that another of this run, or an earlier process of it, had before. It must be the same
/// device, and blank. `held` is the device if this process holds it already.
pub fn looked_at_again(volume: &VolumeArgument, held: Option<&Vacated>) -> Result<VolumeArgument, CampaignError> {
    let node = volume.inspected.node();
    let inspected = held.map_or_else(|| kernel::guard::inspect(&node), Vacated::inspect)?;
    if inspected.identity() != volume.inspected.identity() {
        return Err(GuardFault::Changed(node, "another device has its name").into());
    }
    Ok(VolumeArgument { spec: volume.spec.clone(), inspected, leave: Leave::None })
}

/// A panic elsewhere leaves a file system as good as any other.
fn locked(made: &Mutex<Made>) -> MutexGuard<'_, Made> {
    made.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes an image in which so many bytes have room.
fn make(spec: &ImageSpec, needed: u64, stop: &Stop, progress: &mut dyn FnMut(u64, u64)) -> Result<Made, CampaignError> {
    let of = spec.file_bytes().0;
    let image = Image::make(spec, &PrivateMounts::enter()?, |bytes| {
        progress(bytes, of);
        if stop.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    let free = look(image.path())?.free_bytes;
    let needed = needed.saturating_add(needed / 20);
    if free < needed {
        return Err(CampaignError::SmallImage { size: Bytes(free), needed: Bytes(needed) });
    }
    Ok(Made::Image(Box::new(image)))
}

/// Makes a file system with room for `needed` bytes on a device. Without --destroy-data the device is read first, which
/// may take hours. The label is that of its note.
fn make_on_device(
    (target, label): (&str, Option<&str>),
    argument: &VolumeArgument,
    needed: u64,
    stop: &Stop,
    notify: &mut dyn FnMut(Event),
) -> Result<Made, CampaignError> {
    let VolumeArgument { spec, inspected, leave } = argument;
    let mut reading = Reading::of(inspected);
    let mut told = |bytes, of| {
        reading.goes_on(target, bytes, of, notify);
        if stop.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let volume = Volume::make(spec, inspected, leave, (&PrivateMounts::enter()?, label), &mut told)?;
    with_room(volume, needed)
}

/// The same on a device that another target of this run has left.
fn make_on_vacated(
    argument: &VolumeArgument,
    vacated: Vacated,
    needed: u64,
    label: Option<&str>,
) -> Result<Made, CampaignError> {
    with_room(Volume::make_on(&argument.spec, vacated, (&PrivateMounts::enter()?, label))?, needed)
}

fn with_room(volume: Volume, needed: u64) -> Result<Made, CampaignError> {
    let free = look(volume.path())?.free_bytes;
    let needed = needed.saturating_add(needed / 20);
    if free < needed {
        return Err(PathFault::NoRoom { path: volume.device().node(), free: Bytes(free), needed: Bytes(needed) }.into());
    }
    Ok(Made::Volume(Box::new(volume)))
}

fn plan_tuning(target: &Target, made: Option<&Made>, label: Option<&str>) -> Result<Option<Tuning>, CampaignError> {
    if target.tuning.is_empty() {
        return Ok(None);
    }
    match made.map(Made::device).or_else(|| target.device()) {
        Some(device) => Ok(Some(Tuning::plan(device, &target.tuning)?.labelled(label))),
        None => {
            let why = "no device with settings is visible".to_owned();
            Err(CampaignError::BadTuning { typed: target.typed.clone(), why })
        }
    }
}

/// `41 °C (limit 70 °C)`.
fn heat_in_words(heat: Heat) -> String {
    let limit = heat.limit.map_or_else(String::new, |limit| format!(" (limit {limit} °C)"));
    format!("{} °C{limit}", heat.celsius)
}

fn look(path: &Path) -> Result<Place, PathFault> {
    Place::under(path).map_err(|source| PathFault::Unreadable { path: path.to_owned(), source })
}

/// `diskperf-NAME` for a target that was given a name, else `diskperf-FSTYPE`.
fn kept_name(target: &Target) -> String {
    match &target.site {
        Site::Image { image, .. } if target.name == target.typed => format!("diskperf-{}", image.file_system()),
        _ => format!("diskperf-{}", target.name),
    }
}

/// What is to be said about a target, before anything was made for it or afterwards.
pub fn info(target: &Target, made: Option<&Made>) -> Result<TargetInfo, CampaignError> {
    let ground = made.map(|made| look(made.path())).transpose()?;
    let place = ground.as_ref().or(target.place());
    let device = place.and_then(|place| place.device.as_ref()).or_else(|| target.device());
    let image = made.and_then(Made::image).map(|image| -> Result<ImageInfo, CampaignError> {
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
        write_cache: device.and_then(|device| device.write_cache()),
        device_bytes: device.and_then(|device| device.bytes()).or_else(|| Some(target.simulated()?.drive()?.1)),
        in_memory: place.and_then(|place| place.in_memory.clone()),
        nested_in: place.and_then(|place| place.nested_in.clone()),
        fill_percent: place.map(|place| place.fill_percent()),
        image: image.transpose()?,
        heat: device.and_then(Heat::of).map(heat_in_words),
        conditioned: None,
        aged: None,
        tuning: Some(target.tuned()).filter(|tuned| !tuned.is_empty()),
        before_each: None,
    })
}
