//! The kernel through plain system calls: one thread per program, one call at a time.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use units::{Host, Nanos};
use workload::{
    Allocation, Cache, CacheState, Counters, DeviceBytes, Dirtiness, Failure, FolderForOthers, Handle, MachineSettings,
    Quiescence, Recorder, Residency, Span, Steps, TreeCounts, World,
};

use crate::errors::Fault;
use crate::guard::{Found, Given};
use crate::observe::block_device::Device;
use crate::observe::block_recorder::{BlockRecorder, NotRecorded, Recording};
use crate::observe::counters::{Served, Snapshot, Source};
use crate::page_cache::{self, EvictionMethods, Patience, extents};
use crate::provision::raw_device::RawDevice;
use crate::provision::workspace::Workspace;
use crate::sys::clocks::now;
use crate::sys::payload::RING_BYTES;
use crate::world::barrier::StartLine;
use crate::world::command::{Command, Commands, Leftovers};
use crate::world::engine::{Ready, Waited};
use crate::world::process::GivenDevice;
use crate::world::program::{Program, Remount, Station};
use crate::world::sync_engine::NAP;
use crate::world::uring::Degradation;
use crate::world::verify_payload;

/// The real kernel, with programs that run on it.
pub struct Posix {
    programs: Vec<Program>,
    stop: Arc<AtomicBool>,
    /// Set from outside when this process continues after a suspension (SIGSTOP).
    held: Arc<AtomicBool>,
    watched_since: Option<(Snapshot, Served)>,
    source: Source,
    /// Unwritten pages of the whole machine when this was created.
    waiting_at_first: Option<u64>,
    looks_behind: bool,
    methods: EvictionMethods,
    patience: Patience,
    /// True if it does not wait for an idle machine.
    is_hurried: bool,
    /// The limitations of rings, each once, and the number of those already reported.
    degradations: (Vec<Degradation>, usize),
    /// Commands already reported as leaving processes behind.
    reported_leftovers: Vec<u8>,
    /// The recorder of requests, if they are recorded; the error of its last start.
    recorder: Option<Result<BlockRecorder, NotRecorded>>,
    /// The time for which the devices rest before a watched phase.
    rest: Nanos,
}

impl Posix {
    /// Creates one program per station. Once `stop` is set, programs end early, as interrupted.
    pub fn new(stations: Vec<Station>, largest_call: u32, seed: u64, stop: Arc<AtomicBool>) -> Result<Posix, Fault> {
        // Different seeds, so that no two programs write the same data.
        let at = |(index, station)| Program::from_station(station, RING_BYTES, largest_call, seed ^ index);
        let mut world = Posix::from_programs((0..).zip(stations).map(at).collect::<Result<_, Fault>>()?, stop);
        world.programs.iter_mut().for_each(Program::look_behind_given);
        world.waiting_at_first = world.source.dirtiness().map(|dirtiness| dirtiness.pages);
        Ok(world)
    }

    /// Creates one program without a folder, which works on the user's files with one buffer of the size of its
    /// calls. No device is watched: finding it takes longer than such a program runs.
    pub fn on_given(given: Vec<Given>, largest_call: u32, stop: Arc<AtomicBool>) -> Result<Posix, Fault> {
        Ok(Posix::from_programs(vec![Program::with_files(None, given, 0, largest_call, 0)?], stop))
    }

    /// True if a name leads to the file that the first program has open under the handle. Links are not followed.
    pub fn has_open(&self, handle: Handle, name: &Path) -> bool {
        let found = Found::named(name).ok().flatten();
        self.programs.first().zip(found).is_some_and(|(program, found)| program.process.has_open(handle, &found))
    }

    fn from_programs(programs: Vec<Program>, stop: Arc<AtomicBool>) -> Posix {
        Posix {
            programs,
            stop,
            held: Arc::default(),
            watched_since: None,
            waiting_at_first: None,
            looks_behind: false,
            source: Source::default(),
            methods: EvictionMethods::default(),
            patience: Patience::default(),
            is_hurried: false,
            degradations: (Vec::new(), 0),
            reported_leftovers: Vec::new(),
            recorder: None,
            rest: Nanos::ZERO,
        }
    }

    /// Sets the allowed eviction methods from now on. Returns an error if one cannot be used here.
    pub fn allow(&mut self, methods: EvictionMethods) -> Result<(), Fault> {
        page_cache::check(methods)?;
        self.methods = methods;
        Ok(())
    }

    /// Sets the flag that tells whether this process was suspended.
    pub fn heed_holding(&mut self, held: Arc<AtomicBool>) {
        self.held = held;
    }

    /// From now on, all programs write zeros, which file systems can compress. The exception is 16 bytes in 4096, the
    /// stamps, which tell where the data belong.
    pub fn write_zeros(&mut self) {
        self.programs.iter_mut().for_each(|program| program.process.write_zeros());
    }

    /// Gives every program these commands of the user to run. No two programs may run a command at the same time,
    /// because a leftover process does not show which command left it.
    pub fn give_commands(&mut self, commands: &Arc<[Command]>) {
        for program in &mut self.programs {
            program.process.give_commands(Commands::new(Arc::clone(commands), Arc::clone(&self.stop)));
        }
    }

    /// The end of the last command's standard error. `None` if it is empty.
    pub fn stderr_tail(&mut self) -> Option<String> {
        self.programs.iter_mut().find_map(|program| program.process.commands()?.stderr_tail())
    }

    /// The leftover processes of commands since the last query. Commands whose leftovers were ended are reported only
    /// once.
    pub fn take_leftovers(&mut self) -> Leftovers {
        let mut all = Leftovers::default();
        for commands in self.programs.iter_mut().filter_map(|program| program.process.commands()) {
            let left = commands.take_leftovers();
            all.unending = all.unending.or(left.unending);
            all.ended.extend(left.ended);
        }
        all.ended.retain(|command, _| !self.reported_leftovers.contains(command));
        self.reported_leftovers.extend(all.ended.keys());
        all
    }

    /// From now on, records the requests of the device below the programs: from `watch` until the counters are read.
    pub fn record_requests(&mut self) {
        self.recorder = Some(Err(NotRecorded::NotStarted));
    }

    /// The requests of the last phase; `None` if they were not to be recorded.
    pub fn take_recording(&mut self) -> Option<Result<Recording, NotRecorded>> {
        match self.recorder.as_mut()? {
            Ok(recorder) => Some(recorder.take()),
            Err(_) => self.recorder.replace(Err(NotRecorded::NotStarted)).and_then(Result::err).map(Err),
        }
    }

    /// From now on, the devices rest for this time before each watched phase.
    pub fn rest_before_phases(&mut self, time: Nanos) {
        self.rest = time;
    }

    /// Lets the devices rest. A signal to stop ends the rest.
    fn rest(&self) {
        let began = now();
        while now().since(began) < self.rest && !self.stop.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_nanos(NAP.0));
        }
    }

    /// Starts to record. Makes a new recorder if the device has changed, for example after a remount.
    fn start_recording(&mut self) {
        let Some(known) = self.recorder.take() else { return };
        let mut tops: Vec<&Device> = self.programs.iter().flat_map(Program::tops).collect();
        tops.dedup();
        let recorder = match (&tops[..], known) {
            ([], _) => Err(NotRecorded::NoDevice),
            ([top], Ok(recorder)) if recorder.is_of(top) => Ok(recorder),
            ([top], _) => BlockRecorder::new(top),
            ([top, ..], _) => Err(NotRecorded::Several(top.name.clone())),
        };
        self.recorder = Some(recorder.and_then(|mut recorder| recorder.start().map(|()| recorder)));
    }

    /// From now on, reports the allocation of files (data or holes); the files are opened once more for that.
    pub fn look_behind_files(&mut self) {
        self.looks_behind = true;
    }

    /// Sets the longest wait for an idle machine before a phase. The default is two seconds.
    pub fn wait_for_calm(&mut self, at_most: Nanos) {
        self.patience = Patience::up_to(at_most);
    }

    /// Does not wait for an idle machine before a phase, or waits again.
    pub fn hurry(&mut self, is_hurried: bool) {
        self.is_hurried = is_hurried;
    }

    /// The limitations of io_uring that were not reported before.
    pub fn take_degradations(&mut self) -> Vec<Degradation> {
        let (degradations, reported) = &mut self.degradations;
        let new = degradations[*reported..].to_vec();
        *reported = degradations.len();
        new
    }

    /// Sets how the file system under program `index` is remounted. A remount then happens whenever a phase wants
    /// cold files: it also evicts dentries and inodes.
    pub fn remount_by(&mut self, index: usize, remount: Remount) {
        self.programs[index].remount = Some(remount);
    }

    /// Lets program `index` write to its given device. Without this permission, the device is only read.
    pub fn overwrite(&mut self, index: usize, raw: Arc<RawDevice>) {
        self.programs[index].process.give_device(GivenDevice::Cleared(raw));
    }

    /// Makes every program leave its folder, which is removed. Then the file systems below are no longer in use. Call
    /// `come_back` afterwards.
    pub fn leave(&mut self) {
        self.programs.iter_mut().for_each(Program::leave);
    }

    /// Gives a new folder to every program that has left its own.
    pub fn come_back(&mut self) -> Result<(), Fault> {
        self.programs.iter_mut().try_for_each(Program::come_back)
    }

    /// Ends the world, and keeps the files of the programs.
    pub fn stay(mut self) {
        self.programs.iter_mut().for_each(Program::stay);
    }

    /// Removes the programs' folders. Returns the first error.
    pub fn finish(mut self) -> Result<(), Fault> {
        self.programs.iter_mut().map(Program::finish).fold(Ok(()), Result::and)
    }

    /// The folders of the programs.
    fn folders(&self) -> Vec<&Path> {
        self.programs.iter().filter_map(|program| program.workspace.as_ref()).map(Workspace::path).collect()
    }

    /// All devices under any program, each once.
    fn devices(&self) -> Vec<(Device, u32)> {
        let mut all: Vec<(Device, u32)> =
            self.programs.iter().flat_map(|program| program.devices.iter().cloned()).collect();
        // Devices of one depth stay in the order of their programs, whatever their numbers.
        all.sort_by_key(|(_, depth)| *depth);
        let mut seen: Vec<Device> = Vec::new();
        all.retain(|(device, _)| {
            let is_new = !seen.contains(device);
            seen.push(device.clone());
            is_new
        });
        all
    }
}

impl World for Posix {
    type Clock = Host;
    type Fault = Fault;

    fn programs(&self) -> usize {
        self.programs.len()
    }

    fn run<S, R>(&mut self, streams: &mut [S], recorders: &mut [R]) -> Result<Vec<Span<Host>>, Fault>
    where
        S: Steps + Send,
        R: Recorder<Host> + Send,
    {
        assert!(streams.len() == recorders.len() && streams.len() <= self.programs.len(), "one of each per program");
        let stop = &*self.stop;
        let is_watched = self.watched_since.is_some();
        let ran: Vec<(Span<Host>, Vec<Degradation>)> = if let ([stream], [recorder]) = (&mut *streams, &mut *recorders)
        {
            let process = &mut self.programs[0].process;
            let ready = Ready::new(stream, process, true)?;
            vec![ready.run_all(process, stream, recorder, (None, stop), Waited::so_far(is_watched))?]
        } else {
            let line = &StartLine::new(streams.len());
            thread::scope(|scope| {
                let programs = self.programs.iter_mut().zip(streams).zip(recorders);
                let workers = programs.map(|((program, stream), recorder)| {
                    let process = &mut program.process;
                    // `None` if another thread called off the start; that thread returns the reason.
                    let work = move || match Ready::new(stream, process, false) {
                        Ok(ready) => {
                            let waited = Waited::so_far(is_watched);
                            let started = line.wait()?;
                            Some(ready.run_all(process, stream, recorder, (Some(started), stop), waited))
                        }
                        Err(fault) => {
                            line.call_off();
                            Some(Err(fault))
                        }
                    };
                    thread::Builder::new().spawn_scoped(scope, work).map_err(|error| {
                        line.call_off();
                        Fault::Thread(error)
                    })
                });
                let workers = workers.collect::<Result<Vec<_>, Fault>>()?;
                let ran = workers.into_iter().filter_map(|worker| worker.join().expect("a program's thread panicked"));
                ran.collect::<Result<Vec<_>, Fault>>()
            })?
        };
        let (spans, degradations): (Vec<_>, Vec<_>) = ran.into_iter().unzip();
        for degradation in degradations.into_iter().flatten() {
            if !self.degradations.0.contains(&degradation) {
                self.degradations.0.push(degradation);
            }
        }
        Ok(spans)
    }

    fn set_cache_state(&mut self, wanted: Cache) -> Result<CacheState, Fault> {
        let stop = &*self.stop;
        page_cache::set_cache_state(&mut self.programs, wanted, self.methods, &|| stop.load(Ordering::Relaxed))
    }

    fn quiesce(&mut self) -> Result<Quiescence, Fault> {
        let stop = &*self.stop;
        let moved = || moved(&self.programs);
        let devices = self.devices();
        let look = || Snapshot::brief(&self.source, &devices);
        let mut none = Patience::up_to(Nanos::ZERO);
        let patience = if self.is_hurried { &mut none } else { &mut self.patience };
        Ok(page_cache::quiesce(&self.programs, &moved, &look, patience, &|| stop.load(Ordering::Relaxed)))
    }

    fn unwritten(&mut self) -> Result<Option<Residency>, Fault> {
        page_cache::unwritten(&mut self.programs)
    }

    fn allocation(&mut self) -> Result<Option<Allocation>, Fault> {
        if self.looks_behind { extents::allocation(&self.programs) } else { Ok(None) }
    }

    fn device_bytes(&mut self) -> Option<DeviceBytes> {
        moved(&self.programs)
    }

    fn dirtiness(&mut self) -> Option<Dirtiness> {
        let now = self.source.dirtiness()?;
        Some(Dirtiness { at_first: self.waiting_at_first.unwrap_or(now.pages), ..now })
    }

    fn watch(&mut self) -> Result<(), Fault> {
        self.rest();
        let devices = self.devices();
        let known = self.watched_since.take().map(|(_, served)| served).unwrap_or_default();
        let served = known.or_find(&self.folders(), &devices);
        self.watched_since = Some((Snapshot::before(&self.source, &devices, &served), served));
        self.start_recording();
        Ok(())
    }

    fn counters(&mut self) -> Result<Counters, Fault> {
        if let Some(Ok(recorder)) = &mut self.recorder {
            recorder.stop();
        }
        let Some((before, served)) = &self.watched_since else { return Ok(Counters::default()) };
        let seen = Snapshot::after(&self.source, &self.devices(), served).since(before, served);
        // If only some of the programs have visible devices, the counters do not cover what all programs wrote.
        let stand_on_devices = self.programs.iter().all(|program| program.tops().next().is_some());
        let commands = self.programs.iter_mut().filter_map(|program| program.process.commands());
        let commands: Vec<(bool, Option<Nanos>)> =
            commands.map(|commands| (commands.were_several(), commands.busiest())).collect();
        Ok(Counters {
            device: seen.device.filter(|_| stand_on_devices),
            several: commands.iter().any(|(several, _)| *several),
            busiest_process: commands.iter().filter_map(|(_, busiest)| *busiest).max(),
            ..seen
        })
    }

    fn settings(&mut self) -> MachineSettings {
        self.source.settings(&self.devices(), &self.folders())
    }

    fn optimal_io_bytes(&mut self) -> Option<u64> {
        self.devices().iter().filter_map(|(device, _)| device.optimal_io_bytes()).max()
    }

    fn was_suspended(&mut self) -> bool {
        self.held.swap(false, Ordering::Relaxed)
    }

    fn verify_contents(&mut self, index: usize, cuts: &[u32]) -> Result<Option<Failure>, Fault> {
        match self.programs[index].working_folder() {
            Some((folder, seed)) if verify_payload::is_stamped(cuts) => verify_payload::verify_contents(folder, seed),
            _ => Ok(None),
        }
    }

    fn folders_for_others(&mut self) -> Vec<FolderForOthers> {
        let folder = |program: &Program| {
            let name = program.workspace.as_ref()?.path().file_name()?;
            Some(FolderForOthers { name: name.to_str()?.to_owned(), seed: program.process.seed() })
        };
        self.programs.iter().filter_map(folder).collect()
    }

    fn read_others(&mut self, folders: &[FolderForOthers]) -> Result<(), Fault> {
        // A program without such a folder would read its own files.
        assert_eq!(self.programs.len(), folders.len(), "one folder per program");
        self.programs.iter_mut().zip(folders).try_for_each(|(program, folder)| program.visit(&folder.name, folder.seed))
    }

    fn tree_counts(&mut self, index: usize) -> Result<TreeCounts, Fault> {
        let mut tree_counts = TreeCounts::default();
        let Some((folder, _)) = self.programs[index].working_folder() else { return Ok(tree_counts) };
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let fault = |source| Fault::Folder { action: "list", path: folder.clone(), source };
            for entry in std::fs::read_dir(&folder).map_err(fault)? {
                let entry = entry.map_err(fault)?;
                let metadata = entry.metadata().map_err(fault)?;
                if metadata.is_dir() {
                    tree_counts.directories += 1;
                    folders.push(entry.path());
                } else {
                    tree_counts.files += 1;
                    tree_counts.bytes += metadata.len();
                }
            }
        }
        Ok(tree_counts)
    }

    fn clear(&mut self) -> Result<(), Fault> {
        self.programs.iter_mut().try_for_each(Program::clear)
    }
}

/// Bytes and flushes of the devices directly below the programs, each counted once. Returns `None` if a program has
/// no visible device.
fn moved(programs: &[Program]) -> Option<DeviceBytes> {
    let mut devices: Vec<&Device> = Vec::new();
    for program in programs {
        let mut tops = program.tops().peekable();
        tops.peek()?;
        devices.extend(tops);
    }
    devices.sort_unstable_by_key(|device| &device.name);
    devices.dedup();
    let mut sum = DeviceBytes::default();
    for device in devices {
        let counters = device.counters()?;
        sum.read += counters.read;
        sum.written += counters.written;
        sum.flushes += counters.flushes;
    }
    Some(sum)
}
