//! The worlds of a run: one for each set of targets that are measured at the same time, opened when first needed.

use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use kernel::provision::queue_tuning::{Tuned, Tuning};
use kernel::{Leftovers, Posix, Station, Vacated};
use runner::execution::{
    self, ClaimedClock, ExecutionResult, MeasureOptions, PhaseResult, ProgramFailure, WorldFailure,
};
use simulator::{Chance, Machine};
use stats::TargetInfo;
use units::Nanos;
use workload::programs::command::MEASURED;
use workload::{Failure, Op, Program, Reason};

use crate::error::CampaignError;
use crate::events::Event;
use crate::fit::unit_costs::Trial;
use crate::peers::order::is_stop;
use crate::peers::{Peers, Standing};
use crate::plan::{Alternative, Before, Plan, Raw};
use crate::probe;
use crate::recording;
use crate::rounds::deadline::since;
use crate::signals::Stop;
use crate::targets::prepared_target::{PreparedTarget, Renewal};
use crate::targets::{Target, are_simulated};

/// Longest wait for idle devices before each phase, in runs that must fit into a time and in runs until a steady rate.
const BRIEFLY: Nanos = Nanos::from_millis(300);

/// Rest of the devices before an execution for predictions. `probe` rests as long before it uses up a bucket, so the
/// same buckets are full.
const REST: Nanos = probe::Settings::REAL.rest;

/// Attempts at a program that a signal suspends each time. A cause that suspends it so often, such as a limiter of CPU
/// time, will suspend it again. Guess.
const HELD_AT_MOST: u32 = 10;

/// A world of either kind.
pub enum AnyWorld {
    /// Directories of the real kernel. The tunings of their queues are applied while a program runs. The renewals of
    /// their file systems are made before each program.
    Real(Box<Posix>, Vec<Tuning>, Vec<Renewal>),
    /// Programs on one simulated machine.
    Simulated(Box<Machine>),
}

/// The path at which a target's file system was kept; `None` if none was made for the target.
pub type Kept = Result<Option<PathBuf>, CampaignError>;

/// All worlds of a run, each with the indices of its targets, and the prepared state of every target.
pub struct Worlds {
    // Before the targets, because fields are dropped in order: programs leave a target before it is removed.
    worlds: Vec<(Vec<usize>, AnyWorld)>,
    prepared_targets: Vec<PreparedTarget>,
}

impl Worlds {
    /// Prepares the targets, and opens the worlds of the plan. The label becomes part of the names of
    /// private folders. `left` are devices that this process already holds for targets.
    pub fn prepare(
        plan: &Plan,
        targets: &[Target],
        (label, mut left): (Option<&str>, Vec<Vacated>),
        stop: &Stop,
        notify: &mut dyn FnMut(Event),
    ) -> Result<Worlds, CampaignError> {
        let mut worlds = Worlds { worlds: Vec::new(), prepared_targets: Vec::new() };
        let data = (plan.seed, plan.zeros);
        for (index, target) in targets.iter().enumerate() {
            let held = left.extract_if(.., |vacated| target.is_made_on(&vacated.node())).next();
            let vacated = worlds.vacate_for(index, targets)?.or(held);
            let prepared = PreparedTarget::prepare((target, vacated), plan.space(index), data, label, stop, notify)?;
            worlds.prepared_targets.push(prepared);
        }
        for alternative in &plan.alternatives {
            worlds.open(plan, &alternative.targets, targets, stop)?;
        }
        Ok(worlds)
    }

    /// The description of each target, with its renewal before every execution.
    pub fn infos(&self, plan: &Plan) -> Vec<TargetInfo> {
        let info = |prepared: &PreparedTarget| TargetInfo {
            before_each: prepared.before_each(plan.before),
            ..prepared.info().clone()
        };
        self.prepared_targets.iter().map(info).collect()
    }

    /// The device node for `raw` under a target.
    pub fn node(&self, raw: &Raw, target: usize) -> PathBuf {
        match raw {
            Raw::Node(node) => node.clone(),
            Raw::OfImage => self.prepared_targets[target].node().expect("an image was made for the target"),
        }
    }

    /// Returns the world for these targets. Opens it, and prepares its targets again, if needed.
    pub fn open(
        &mut self,
        plan: &Plan,
        busy: &[usize],
        targets: &[Target],
        stop: &Stop,
    ) -> Result<&mut AnyWorld, CampaignError> {
        for &index in busy {
            let vacated = self.vacate_for(index, targets)?;
            self.prepared_targets[index].occupy((&targets[index], vacated), plan.space(index), stop)?;
        }
        let known = self.worlds.iter().position(|(those, _)| those == busy);
        let index = match known {
            Some(index) => index,
            None => {
                self.worlds.push((busy.to_vec(), AnyWorld::open(plan, busy, targets, &self.prepared_targets, stop)?));
                self.worlds.len() - 1
            }
        };
        Ok(&mut self.worlds[index].1)
    }

    /// Makes the other targets leave the device that this one overwrites. Returns the device if one of them was on it.
    fn vacate_for(&mut self, index: usize, targets: &[Target]) -> Result<Option<Vacated>, CampaignError> {
        let mut vacated = None;
        let is_rival = |other: &usize| *other != index && targets[*other].overwrites_the_same(&targets[index]);
        let rivals: Vec<usize> = (0..self.prepared_targets.len()).filter(is_rival).collect();
        for &rival in &rivals {
            let (leaving, staying) =
                mem::take(&mut self.worlds).into_iter().partition(|(busy, _)| busy.contains(&rival));
            self.worlds = staying;
            leave(leaving)?;
            vacated = self.prepared_targets[rival].vacate()?.or(vacated);
        }
        Ok(vacated)
    }

    /// Removes everything that was made for the targets. Returns the first error.
    pub fn finish(self) -> Result<(), CampaignError> {
        let left = leave(self.worlds);
        self.prepared_targets.into_iter().map(PreparedTarget::finish).fold(left, Result::and)
    }

    /// Keeps the file systems that were made. Returns whether all programs could leave, and for each target the path of
    /// its file system. An error for one target does not affect the others.
    pub fn keep(self, targets: &[Target]) -> (Result<(), CampaignError>, Vec<Kept>) {
        let left = leave(self.worlds);
        let kept = self.prepared_targets.into_iter().zip(targets).map(|(prepared, target)| prepared.keep(target));
        (left, kept.collect())
    }
}

/// Closes the worlds. Returns the first error, for example if a private folder could not be removed.
fn leave(worlds: Vec<(Vec<usize>, AnyWorld)>) -> Result<(), CampaignError> {
    let left = worlds.into_iter().map(|(_, world)| match world {
        AnyWorld::Real(world, ..) => Ok(world.finish()?),
        AnyWorld::Simulated(_) => Ok(()),
    });
    left.fold(Ok(()), Result::and)
}

/// Returns an error if memory is too small for the programs of all worlds.
pub fn check_memory(plan: &Plan, targets: &[Target]) -> Result<(), CampaignError> {
    let is_real = |alternative: &&Alternative| !are_simulated(&alternative.targets, targets);
    let alternatives = plan.alternatives.iter().filter(is_real);
    // An io_uring ring exists as long as its program runs.
    let rings = alternatives.clone().map(Alternative::ring_memory).max().unwrap_or_default();
    let mut real: Vec<&Vec<usize>> = alternatives.map(|alternative| &alternative.targets).collect();
    real.sort_unstable();
    real.dedup();
    let programs: Vec<usize> = real.into_iter().flatten().copied().collect();
    let largest_call = programs.iter().map(|&index| plan.largest_call(index)).max().unwrap_or(0);
    match programs.len() {
        0 => Ok(()),
        count => Ok(kernel::check_memory(count, largest_call, rings)?),
    }
}

impl AnyWorld {
    /// Opens the world for these targets. Real targets must be prepared. Returns an error if the targets
    /// cannot be measured at the same time: real and simulated ones, or different machines.
    pub fn open(
        plan: &Plan,
        busy: &[usize],
        targets: &[Target],
        prepared_targets: &[PreparedTarget],
        stop: &Stop,
    ) -> Result<AnyWorld, CampaignError> {
        // Several programs on a target have a private folder each, but the target is checked, tuned and renewed once.
        let mut different = busy.to_vec();
        different.dedup();
        if !Target::share_a_world(different.iter().map(|&index| &targets[index])) {
            return Err(CampaignError::NotAtOnce);
        }
        if let Some(simulated) = busy.first().and_then(|&index| targets[index].simulated()) {
            let largest = busy.iter().map(|&index| plan.space(index)).max().unwrap_or(0);
            let chance = Chance { seed: plan.seed, ..Chance::default() };
            let mut machine = simulated.open(busy.len(), largest, chance)?;
            machine.heed(stop.flag());
            return Ok(AnyWorld::Simulated(Box::new(machine)));
        }
        let stations = busy.iter().map(|&index| prepared_targets[index].station());
        let stations = stations.collect::<Result<Vec<Station>, CampaignError>>()?;
        let largest_call = busy.iter().map(|&index| plan.largest_call(index)).max().unwrap_or(0);
        let mut world = Posix::new(stations, largest_call, plan.seed, stop.flag())?;
        world.allow(plan.methods)?;
        world.heed_holding(stop.held());
        // These runs wait only briefly. A device that is idle for long between rounds does its garbage collection
        // meanwhile, and never reaches a steady state.
        if plan.limits().is_some() || plan.schedule.is_until_steady() {
            world.wait_for_calm(BRIEFLY);
        }
        world.look_behind_files();
        if plan.zeros {
            world.write_zeros();
        }
        if !plan.commands.is_empty() {
            world.give_commands(&plan.commands);
        }
        if plan.records {
            world.record_requests();
        }
        if plan.rests {
            world.rest_before_phases(REST);
        }
        for (program, &index) in busy.iter().enumerate() {
            if let Some(raw) = prepared_targets[index].raw() {
                world.overwrite(program, raw);
            }
            // The image cannot be unmounted while programs of another world use it too.
            let is_alone = plan.is_always_alone(index) || plan.before != Before::Nothing;
            if let Some(remount) = prepared_targets[index].remount().filter(|_| is_alone) {
                world.remount_by(program, remount);
            }
        }
        let tunings = different.iter().filter_map(|&index| prepared_targets[index].tuning().cloned()).collect();
        let renewals: Vec<Renewal> =
            different.iter().filter_map(|&index| prepared_targets[index].renewal(plan.before)).collect();
        if !renewals.is_empty() {
            world.leave();
        }
        Ok(AnyWorld::Real(Box::new(world), tunings, renewals))
    }

    /// Opens the world of one program that reads a device. It is not the world of the target: that one brings the
    /// target's files into a cache state, and devices are left alone.
    pub fn on_device(plan: &Plan, program: &Program, device: &Path, stop: &Stop) -> Result<AnyWorld, CampaignError> {
        let station = Station { workspace: None, given: vec![device.to_owned()] };
        let mut world = Posix::new(vec![station], program.largest_call, plan.seed, stop.flag())?;
        world.heed_holding(stop.held());
        Ok(AnyWorld::Real(Box::new(world), Vec::new(), Vec::new()))
    }

    /// From now on, waits for an idle machine before a phase, or not: a load only uses up credits.
    pub fn hurry(&mut self, is_hurried: bool) {
        if let AnyWorld::Real(world, ..) = self {
            world.hurry(is_hurried);
        }
    }

    /// Runs the program once, and again if a signal suspended it, because then the time is wrong. Events contain the
    /// name of the target.
    pub fn perform(
        &mut self,
        program: &Program,
        options: MeasureOptions,
        target: &str,
        peers: &mut Peers,
        notify: &mut dyn FnMut(Event),
    ) -> Result<ExecutionResult, WorldFailure<Box<CampaignError>>> {
        for _ in 0..HELD_AT_MOST {
            let began = Instant::now();
            let performed = self.perform_once(program, options, target, peers, notify);
            let is_repeated = peers.leave(standing(&performed));
            let result = performed?;
            if !is_repeated {
                return Ok(ExecutionResult { lasted: since(began), ..result });
            }
            notify(Event::Repeated { target, program: program.name });
        }
        Err(CampaignError::Held.into())
    }

    fn perform_once(
        &mut self,
        program: &Program,
        options: MeasureOptions,
        target: &str,
        peers: &mut Peers,
        notify: &mut dyn FnMut(Event),
    ) -> Result<ExecutionResult, WorldFailure<Box<CampaignError>>> {
        match self {
            AnyWorld::Real(world, tunings, renewals) => {
                // No program uses the file system now: a world with renewals leaves it after each program.
                renewals.iter_mut().try_for_each(|renew| renew())?;
                // Only while the program runs: other targets may share the device and need other settings.
                let tune = || Ok(tunings.iter().map(Tuning::apply).collect::<Result<Vec<Tuned>, _>>()?);
                let tuned: Result<Vec<Tuned>, CampaignError> =
                    world.come_back().map_err(CampaignError::from).and_then(|()| tune());
                let done = tuned.map(|tuned| {
                    let performed = execution::perform_with_peers(&mut **world, program, options, peers);
                    (performed, tuned.into_iter().map(Tuned::restore).fold(Ok(()), Result::and))
                });
                let name = program.name;
                world
                    .take_degradations()
                    .iter()
                    .for_each(|lack| notify(Event::IoUringLimited { target, program: name, lack }));
                let leftovers = world.take_leftovers();
                report_processes(&leftovers, (target, name), notify);
                let stderr = world.stderr_tail();
                let recording = world.take_recording();
                // Also after a failure, because a private folder would prevent the next renewal.
                if !renewals.is_empty() {
                    world.leave();
                }
                let (performed, restored) = done?;
                let result = performed.map_err(|WorldFailure { phase, fault }| WorldFailure {
                    phase,
                    fault: Box::new(CampaignError::from(fault)),
                })?;
                let phase = execution::last_phase(program);
                restored.map_err(|fault| WorldFailure { phase, fault: Box::new(CampaignError::from(fault)) })?;
                let stopped = result.stopped.or_else(|| stopped_by(leftovers.unending?.0, phase));
                let has_ended = stopped.is_none() && !result.was_suspended;
                let recorded = recording.filter(|_| has_ended).map(|one| Arc::new(recording::read(one, &result)));
                let output = stderr.filter(|_| result.stopped.is_some());
                Ok(ExecutionResult { output, stopped, recorded, ..result })
            }
            AnyWorld::Simulated(world) => {
                // A simulated machine is its own description.
                let options = MeasureOptions { ceiling: false, ..options };
                let Ok(result) = execution::perform(&mut **world, program, options);
                Ok(result)
            }
        }
    }

    /// Clock floor: the elapsed time that the clock shows for an empty stream. `None` for a simulated machine, whose
    /// clock is exact.
    pub fn clock_floor(&mut self) -> Result<Option<Nanos>, CampaignError> {
        match self {
            AnyWorld::Real(world, ..) => Ok(Some(execution::clock_floor(&mut **world)?)),
            AnyWorld::Simulated(_) => Ok(None),
        }
    }

    /// Runs the program and returns its wall-clock time; `None` if it did not reach its end. For a simulated program,
    /// this is the time that the simulation takes.
    pub fn time(&mut self, program: &Program, target: &str, notify: &mut dyn FnMut(Event)) -> Option<Trial> {
        // A program that fails here fails again when it is measured. That failure is reported.
        let result = self
            .perform(
                program,
                MeasureOptions { claim: ClaimedClock::Returned, timed: false, ceiling: false, live: None },
                target,
                &mut Peers::Alone,
                notify,
            )
            .ok()?;
        let all = result.lasted;
        let finished = result.phases.first().filter(|_| result.stopped.is_none());
        let calls = |phase: &PhaseResult| match self {
            AnyWorld::Real(..) => phase.returned(),
            AnyWorld::Simulated(_) => all,
        };
        finished.map(calls).map(|calls| Trial { all, calls })
    }
}

/// The standing of this host after an attempt. Only a program that was suspended is repeated: another failure would
/// happen again.
fn standing(performed: &Result<ExecutionResult, WorldFailure<Box<CampaignError>>>) -> Standing {
    let Ok(result) = performed else { return Standing::Failed };
    match result.stopped.map(|stopped| stopped.failure.reason) {
        None | Some(Reason::Signal) if result.was_suspended => Standing::Suspended,
        None => Standing::Fine,
        Some(reason) if is_stop(reason) => Standing::Stopped,
        Some(_) => Standing::Failed,
    }
}

/// Reports processes that commands left running. Those that were ended are reported once per command.
fn report_processes(leftovers: &Leftovers, (target, program): (&str, &str), notify: &mut dyn FnMut(Event)) {
    for (&command, &count) in &leftovers.ended {
        notify(Event::ProcessesEnded { target, program, command, count });
    }
    if let Some((command, count)) = leftovers.unending {
        notify(Event::ProcessesLeft { target, program, command, count });
    }
}

/// A round in which leftover processes are still running is void. If the prepare command left them, the failure belongs
/// to no phase.
fn stopped_by(command: u8, phase: Option<usize>) -> Option<ProgramFailure> {
    let failure = Failure { op: Op::Run { command }, reason: Reason::Unkillable };
    Some(ProgramFailure { program: 0, phase: phase.filter(|_| command == MEASURED), failure })
}
