//! `diskperf run PRESET [TARGET]...`: plans, runs, shows.

use std::ffi::OsString;
use std::mem;
use std::time::Instant;

use campaign::choose::{self, StopRule};
use campaign::error::CampaignError;
use campaign::events::Event;
use campaign::executions::Executions;
use campaign::fit::omission::fit_rows;
use campaign::fit::time_budget::{make_fit, planned_deadline, record_omissions};
use campaign::fit::unit_costs::UnitCosts;
use campaign::judge;
use campaign::peers::Peers;
use campaign::plan::{Alternative, Plan};
use campaign::presets;
use campaign::recording;
use campaign::request::resolved::{Resolved, Tests};
use campaign::request::{Workload, planning};
use campaign::results::{self, RunContext, all_cells};
use campaign::rounds::Why;
use campaign::rounds::deadline::{Clock, Deadline, since};
use campaign::rounds::first_load::{FirstLoad, load_first};
use campaign::rounds::plan_rounds::Rounds;
use campaign::signals::Stop;
use campaign::sums;
use campaign::targets::memory_limit::limit_memory;
use campaign::targets::same_directory::mark_same_directories;
use campaign::targets::whole_devices;
use campaign::targets::{Target, are_simulated, names};
use campaign::worlds::{self, AnyWorld, Worlds};
use kernel::PrivateMounts;
use kernel::sys::name::Shown;
use runner::execution::PhaseResult;
use runner::live::Live;
use runner::overhead;
use stats::inference::ratio_test::LEAST_PAIRS;
use stats::{Document, HostInfo, TargetInfo};
use units::{Exit, Nanos};
use workload::Phase;

use crate::documents::inputs;
use crate::error::{ArgumentError, Error};
use crate::leftovers;
use crate::session::{self, Call, Results, Resumed, Session, document};
use crate::ui::announcement::announce;
use crate::ui::consent;
use crate::ui::event_sentences;
use crate::ui::hosts;
use crate::ui::output;
use crate::ui::output_format::{OutputArguments, RunFormat};
use crate::ui::progress_display::Display;
use crate::ui::run_results::print_results;

/// Runs the command. With `--format json`, it prints one document in every case, also after an error.
pub fn run(resolved: &Resolved, call: &Call) -> Result<Exit, Error> {
    go(resolved, call, None)
}

/// Reports why nothing is run, before anything is planned.
pub fn refuse(shown: &OutputArguments<RunFormat>, words: &[OsString], error: Error) -> Result<Exit, Error> {
    shown.check()?;
    print_results(shown, &session::of_nothing(words, session::problem(&error)), Err(error))
}

/// Continues a stored run.
pub fn resume(resolved: &Resolved, call: &Call, resumed: Resumed) -> Result<Exit, Error> {
    go(resolved, call, Some(resumed))
}

/// Runs and stores without printing results, for a command that needs the figures. Returns the document also after an
/// error.
pub fn measured(resolved: &Resolved, call: &Call) -> (Document, Result<(), Error>) {
    let (document, ended) = perform(resolved, call, None);
    (document, ended.map(drop))
}

fn go(resolved: &Resolved, call: &Call, resumed: Option<Resumed>) -> Result<Exit, Error> {
    let shown = OutputArguments::stored(&call.output);
    let checked = shown.check().and_then(|()| refuse_output(resolved, call, resumed.is_some()));
    if let Err(error) = checked {
        resumed.into_iter().for_each(|resumed| resumed.abandon(&mut event_sentences::say));
        return Err(error);
    }
    match perform(resolved, call, resumed) {
        (_, Ok(false)) => Ok(Exit::Done),
        (document, ended) => print_results(&shown, &document, ended.map(drop)),
    }
}

/// Refuses an output file that is a target or the database of a new run, before anything is measured.
fn refuse_output(resolved: &Resolved, call: &Call, is_resumed: bool) -> Result<(), Error> {
    resolved.request.targets.iter().try_for_each(inputs::will_measure)?;
    // The database of a resumed run is open.
    if is_resumed { Ok(()) } else { Ok(call.store.refuse_output()?) }
}

/// Runs, and stores the run. Returns its document, and whether anything was to be measured.
fn perform(resolved: &Resolved, call: &Call, resumed: Option<Resumed>) -> (Document, Result<bool, Error>) {
    let mut session = Session::new(resolved, call);
    let mut plan = None;
    let mut targets = Vec::new();
    let mut results = Results::default();
    let ended = carry_out(&mut session, resumed, &mut plan, &mut targets, &mut results);
    let has_measured = !matches!(ended, Ok(None));
    let ended = ended.map(drop).map_err(|error| session.on_resuming(error, &targets));
    let mut document = document(session.info(plan.as_ref(), &targets, &results), results, &ended);
    let kept = session.end(&mut document, &ended);
    (document, ended.and(kept).map(|()| has_measured))
}

/// Plans and measures. `None` if only the plan was asked for.
fn carry_out(
    session: &mut Session,
    resumed: Option<Resumed>,
    planned: &mut Option<Plan>,
    targets: &mut Vec<Target>,
    results: &mut Results,
) -> Result<Option<()>, Error> {
    let (resolved, is_dry) = (session.resolved, session.call.dry_run);
    let request = &resolved.request;
    let goal = request.schedule.goal();
    let (mut display, noted) = (Display::new(), session.remarks.clone());
    let is_endless = request.workload.is_endless();
    let is_shown = session.call.live && display.is_seen();
    // Once per process, and shared with the thread that shows it.
    let live: Option<&'static Live> = (is_shown || is_endless).then(|| &*Box::leak(Box::default()));
    if let (Some(live), true) = (live, is_shown) {
        display.show_live(live, is_endless);
    }
    let notify = &mut |event: Event| {
        event_sentences::recorded(&event).into_iter().for_each(|remark| noted.add(remark));
        display.show(&event);
    };
    // A comparison may be of one device with different file systems, because the device gets a new one for each test.
    let resolve = if goal.is_some() { Target::resolve_in_turns } else { Target::resolve_all };
    let resumed = match resumed {
        None => {
            session.peers = Peers::connect()?;
            None
        }
        Some(mut resumed) => {
            session.peers = mem::take(&mut resumed.peers);
            Some(resumed)
        }
    };
    match (resolve(&session.peers.on_this_host(request)), resumed) {
        (Ok(resolved), resumed) => {
            *targets = resolved;
            resumed.map_or(Ok(()), |resumed| session.claim(resumed, targets, notify))?;
        }
        (Err(error), resumed) => {
            resumed.into_iter().for_each(|resumed| resumed.abandon(notify));
            let error = whole_devices::for_preset(error, request.workload.preset());
            return Err(match &resolved.tests {
                Tests::Job(job) => presets::job::at_targets(job, error),
                _ => error,
            }
            .into());
        }
    }
    for warning in resolved.tests.warnings() {
        notify(Event::WorkloadLimited(warning));
    }
    whole_devices::check(&request.workload, targets)?;
    if let Some(aging) = request.environment.aging {
        aging.ask_of(targets)?;
    }
    session.keep_conditioned(targets);
    let is_made = targets.iter().any(Target::is_made);
    if request.keep && !is_made {
        return Err(ArgumentError::NothingToKeep.into());
    }
    consent::ask(&request.consent, targets, is_dry, &session.earlier)?;
    if is_made && !is_dry {
        // On the first thread, before other threads start.
        PrivateMounts::enter()?;
    }
    // Before files are planned for a size that does not fit.
    if let Some(size) = request.size {
        targets.iter().try_for_each(|target| target.check_room(size.0))?;
    }
    let mut plan = planning::plan(resolved, targets)?;
    plan.options.live = live;
    // After Ctrl-C, the user wants the result and no further measurement.
    plan.options.ceiling &= !is_endless;
    for (index, target) in targets.iter().enumerate() {
        target.check_room(plan.space(index))?;
    }
    // Hosts are compared before anything is written.
    session.peers.check(request, targets, &plan)?;
    let label = session.writer.as_ref().map(|writer| writer.run().to_owned());
    let warnings = session.peers.assign((resolved, targets), (is_dry, label.as_deref()), &mut plan)?;
    warnings.iter().for_each(|warning| notify(Event::WorkloadLimited(warning)));
    let hosts = session.peers.infos();
    hosts::announce(&hosts);
    if goal.is_some_and(|goal| goal.in_stages) {
        choose::announcement(targets).iter().for_each(|line| output::remark(line));
    }
    announce(&plan, targets, (request.keep, request.sustained));
    let started = Instant::now();
    if is_dry {
        return dry_run(&mut plan, targets, notify).map(|()| None);
    }
    let stop = match plan.options.live.filter(|_| is_endless) {
        Some(live) => Stop::on_signals_ending(live)?,
        None => Stop::on_signals()?,
    };
    session.peers.compare_targets(targets, &mut plan)?;
    // Before the run limits its memory: the check is about the machine, not about the limit that was asked for.
    worlds::check_memory(&plan, targets)?;
    session.keep(&plan, targets)?;
    if request.record && session.writer.is_none() {
        return Err(ArgumentError::RecordsNowhere.into());
    }
    let label = session.label().map(str::to_owned);
    session.peers.label(label.as_deref())?;
    leftovers::restore_queues(notify);
    let _limit = limit_memory(&mut plan, targets, notify);
    let clock = || since(started);
    let ended = measure(session, &mut plan, targets, (&stop, &clock), results, notify);
    // After an error before the first cell, there is nothing to show but the error.
    if ended.is_ok() || !results.cells.is_empty() || session.writer.is_some() {
        *planned = Some(plan);
    }
    ended.map(Some)
}

/// Prints the tests in order, and those that would be left out. Writes nothing. Simulated machines run the trials all
/// the same; for directories, the unit costs are guessed.
fn dry_run(plan: &mut Plan, targets: &[Target], notify: &mut dyn FnMut(Event)) -> Result<(), Error> {
    if let Some(trials) = plan.trials() {
        let price = |(index, target): (usize, &Target)| {
            if !target.is_simulated() {
                return Ok(Some(UnitCosts::GUESSED));
            }
            let mut world = AnyWorld::open(plan, &[index], targets, &[], &Stop::default())?;
            Ok(trials.unit_costs(|program| world.time(program, &target.name, notify)))
        };
        let unit_costs = targets.iter().enumerate().map(price).collect::<Result<Option<Vec<UnitCosts>>, Error>>()?;
        forecast(plan, unit_costs, notify);
        if !targets.iter().all(Target::is_simulated) {
            output::remark("(a guess: --dry-run does not measure the storage)");
        }
    }
    for index in plan.order(1) {
        output::print_line(&format!("{} on {}", plan.name(index), names(&plan.alternatives[index].targets, targets)))?;
    }
    for (index, Alternative { targets: busy, row }) in plan.alternatives.iter().enumerate() {
        if let Some(reason) = &row.omitted {
            output::print_line(&format!("n.m. {} on {}: {reason}", plan.name(index), names(busy, targets)))?;
        }
    }
    Ok(())
}

/// Makes the plan fit its budget, and reports how long it takes, if that is known.
fn forecast(plan: &mut Plan, unit_costs: Option<Vec<UnitCosts>>, notify: &mut dyn FnMut(Event)) {
    if let Some(fitted) = unit_costs.and_then(|unit_costs| fit_rows(plan, &unit_costs)) {
        notify(Event::Fitted { fitted: &fitted, plan });
    }
}

/// Runs every round of the plan, and makes the cells of all finished executions, also if something ended the run early.
fn measure(
    session: &mut Session,
    plan: &mut Plan,
    targets: &[Target],
    (stop, clock): (&Stop, Clock),
    results: &mut Results,
    notify: &mut dyn FnMut(Event),
) -> Result<(), Error> {
    let resolved = session.resolved;
    let request = &resolved.request;
    let vacated = mem::take(&mut session.vacated);
    let hosts = session.peers.infos();
    let mut worlds = match Worlds::prepare(plan, targets, (session.label(), vacated), stop, notify) {
        // Any error may come from Ctrl-C, which reaches mkfs too.
        Err(_) if stop.requested() => {
            results.interrupted = true;
            return Ok(());
        }
        worlds => worlds?,
    };
    session.peers.prepared()?;
    results.targets = worlds.infos(plan);
    mark_same_directories(targets, &mut results.targets);
    session.conditioned_before(&mut results.targets);
    let decided = session.decided()?;
    let deadline = match &decided {
        Some(decided) => {
            session.decide_again(decided, plan, targets)?;
            planned_deadline(plan, started(results))
        }
        None => {
            let worlds = (&mut worlds, &mut session.peers);
            let moments = (stop, clock, started(results));
            unless_stopped(stop, || fit(resolved, plan, targets, worlds, moments, notify))?
        }
    };
    let goal = request.schedule.goal();
    let rounds = request.schedule.asked_rounds();
    if goal.is_some() {
        notify(Event::Comparing(&results.targets));
    }
    let stop_rule = goal.map(|goal| StopRule::new(goal, (plan, rounds), (targets, &results.targets)));
    let clock_floor = unless_stopped(stop, || clock_floor(plan, targets, &mut worlds, stop))?;
    let executions = session.load(plan)?;
    let first = match request.sustained {
        Some(time) => {
            let worlds = (&mut worlds, &mut session.peers);
            load_first(time, (plan, targets), worlds, (stop, clock), &mut results.targets, notify)?
        }
        None => FirstLoad { written: vec![0; targets.len()], ..FirstLoad::default() },
    };
    let deadline = deadline.map(|deadline: Deadline| deadline.delayed(first.spent));
    let context = RunContext { plan, targets, infos: &results.targets, clock_floor, hosts: &hosts };
    if decided.is_none() && !stop.requested() {
        let (info, cells) = (session.info(Some(plan), targets, results), all_cells(context, &executions));
        session.writer.iter_mut().for_each(|writer| writer.decide(plan, info.clone(), cells.clone(), notify));
    }
    notify(Event::Started(plan));
    let holds_load = request.sustained.is_some();
    let rounds = Rounds { context, stop_rule: stop_rule.as_ref(), stop, clock, deadline, holds_load, first };
    let outcome = rounds.run((&mut worlds, &mut session.peers), &mut session.writer, executions, notify)?;
    // Told to end before the test began.
    let is_unmeasured = plan.options.live.is_some_and(Live::has_enough)
        && outcome.executions.iter().all(|executions| executions.last_finished().is_none());
    let ran = outcome.executions.iter().map(Executions::rounds).max().unwrap_or(0);
    let fault = session.peers.fault(|| format!(" in round {} of {}", (ran + 1).min(plan.rounds), plan.rounds));
    let interrupted = stop.requested() && !stop.is_late() && fault.is_none() || is_unmeasured;
    if let (Some(limits), false) = (plan.limits(), interrupted) {
        record_omissions(plan, &limits, &outcome.executions);
    }
    if outcome.why == Why::AllWritten {
        notify(Event::AllWritten);
    }
    let is_over = outcome.why == Why::TimeOver || stop.is_late();
    if is_over && stop_rule.is_none() && ran < plan.rounds {
        notify(Event::RoundsLeftOut { ran, planned: plan.rounds });
    }
    results.interrupted = interrupted;
    conclude_rounds((plan, targets, &hosts), &outcome.executions, clock_floor, results);
    let preset = request.workload.preset();
    results.cells.extend((preset.published)());
    results.findings = (preset.findings)(&results.cells);
    if let Some(writer) = &session.writer {
        results.findings.extend(recording::infos(&writer.traces()?).iter().map(recording::sentence));
    }
    if stop_rule.is_some() || plan.schedule.is_until_enough() && outcome.why == Why::Steady {
        plan.rounds = ran;
    }
    if let Some(stop_rule) = stop_rule {
        let mut choice = stop_rule.choice(&results.cells, outcome.mean_round);
        if matches!(request.workload, Workload::Command(_)) {
            choice.remarks.extend(results.findings.iter().cloned());
        }
        results.choice = Some(Box::new(choice));
    }
    // After the choice, because the sums of a group have nothing that its loads do not have.
    let sums = sums::sums(plan, &outcome.executions, &results.cells);
    results.findings.extend(sums.iter().filter_map(sums::sentence));
    results.cells.extend(sums);
    notify(Event::Finished);
    let left = fault.map_or_else(|| session.peers.finish(), Err);
    let ended = if request.keep { keep(worlds, targets, &mut results.targets, notify) } else { worlds.finish() };
    left?;
    too_short(plan, outcome.why)?;
    Ok(ended?)
}

/// The moment when the run's time begins: aging the file systems does not count.
fn started(results: &Results) -> Nanos {
    let aged = results.targets.iter().filter_map(|info| info.aged.as_ref()).map(|aged| aged.elapsed_s);
    Nanos((aged.sum::<f64>() * 1e9) as u64)
}

/// Performs a step that may make file systems, unless the run was told to stop. Returns `None` if it was.
fn unless_stopped<T, E>(stop: &Stop, step: impl FnOnce() -> Result<Option<T>, E>) -> Result<Option<T>, E> {
    if stop.requested() {
        return Ok(None);
    }
    match step() {
        // Any error may come from Ctrl-C, which reaches mkfs too. The end of the time does not.
        Err(_) if stop.requested() && !stop.is_late() => Ok(None),
        done => done,
    }
}

/// Runs trials, and makes the plan fit into its time. Returns the deadline, if the run has one.
fn fit(
    resolved: &Resolved,
    plan: &mut Plan,
    targets: &[Target],
    (worlds, peers): (&mut Worlds, &mut Peers),
    (stop, clock, started): (&Stop, Clock, Nanos),
    notify: &mut dyn FnMut(Event),
) -> Result<Option<Deadline>, Error> {
    if let Some(trials) = plan.trials() {
        let price = |index: usize| {
            let world = worlds.open(plan, &[index], targets, stop)?;
            Ok(trials.unit_costs(|program| world.time(program, &targets[index].name, notify)))
        };
        let unit_costs = (0..targets.len()).map(price).collect::<Result<Option<Vec<UnitCosts>>, Error>>()?;
        forecast(plan, unit_costs, notify);
    }
    match plan.limits() {
        Some(limits) => {
            let worlds = (worlds, peers);
            make_fit(resolved, plan, targets, worlds, (stop, clock, started), &limits, notify).map_err(Error::from)
        }
        None => Ok(None),
    }
}

/// The error of a comparison whose budget is too short.
fn too_short(plan: &Plan, why: Why) -> Result<(), Error> {
    match (why, plan.budget) {
        (Why::TooShort { needs }, Some(budget)) => {
            Err(CampaignError::ShortBudget { budget, needs, pairs: LEAST_PAIRS }.into())
        }
        _ => Ok(()),
    }
}

/// Adds the cells, the failures, and the noise and calibration of the machine.
fn conclude_rounds(
    (plan, targets, hosts): (&Plan, &[Target], &[HostInfo]),
    executions: &[Executions],
    clock_floor: Option<Nanos>,
    results: &mut Results,
) {
    let context = RunContext { plan, targets, infos: &results.targets, clock_floor, hosts };
    let of_all = plan.alternatives.iter().zip(executions);
    results
        .problems
        .extend(of_all.filter_map(|(alternative, executions)| results::problem(targets, alternative, executions)));
    let mut cells = all_cells(context, executions);
    results.noise = judge::machine::noise(plan, targets, (executions, hosts), &mut cells);
    judge::machine::order(&mut cells);
    cells.iter_mut().for_each(|cell| cell.marks.sort_by_key(|mark| mark.code));
    results.calibration = clock_floor.map(|clock_floor| {
        overhead::calibration(clock_floor, plan.options.timed, real_phases(plan, targets, executions))
    });
    results.cells = cells;
}

/// The phases on real targets, each with its executions that count.
fn real_phases<'a>(
    plan: &'a Plan,
    targets: &'a [Target],
    executions: &'a [Executions],
) -> impl Iterator<Item = (&'a Phase, Vec<&'a PhaseResult>)> {
    let is_real = |alternative: &Alternative| !are_simulated(&alternative.targets, targets);
    let real = plan.alternatives.iter().zip(executions).filter(move |(alternative, _)| is_real(alternative));
    real.flat_map(|(alternative, executions)| {
        let phases = alternative.row.program.phases.iter().enumerate();
        phases.map(move |(index, phase)| {
            (phase, executions.kept().filter_map(|(_, run)| run.phases.get(index)).collect())
        })
    })
}

/// The clock floor of a real target: the time of an empty stream. `None` if there is no real target.
fn clock_floor(
    plan: &Plan,
    targets: &[Target],
    worlds: &mut Worlds,
    stop: &Stop,
) -> Result<Option<Nanos>, CampaignError> {
    let is_real = |alternative: &&Alternative| !are_simulated(&alternative.targets, targets);
    match plan.alternatives.iter().find(is_real) {
        Some(alternative) => worlds.open(plan, &alternative.targets, targets, stop)?.clock_floor(),
        None => Ok(None),
    }
}

/// Gives the images their names, keeps the file systems on devices, and reports both.
fn keep(
    worlds: Worlds,
    targets: &[Target],
    infos: &mut [TargetInfo],
    notify: &mut dyn FnMut(Event),
) -> Result<(), CampaignError> {
    let (mut ended, kept) = worlds.keep(targets);
    for ((kept, target), info) in kept.into_iter().zip(targets).zip(infos) {
        match kept {
            Ok(Some(path)) => {
                notify(Event::Kept { target: &target.name, path: &path, is_image: info.image.is_some() });
                info.image.iter_mut().for_each(|image| image.kept_as = Some(path.shown().to_string()));
            }
            Ok(None) => {}
            Err(error) => ended = ended.and(Err(error)),
        }
    }
    ended
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ctrl_c_hides_the_error_of_mkfs_and_makes_no_further_file_system() {
        let stop = Stop::default();
        assert_eq!(unless_stopped(&stop, || Err::<Option<()>, _>("no mkfs")), Err("no mkfs"));
        let killed = || {
            stop.request();
            Err::<Option<()>, _>("signal 2 ended mkfs")
        };
        assert_eq!(unless_stopped(&stop, killed), Ok(None));
        let further = || -> Result<Option<()>, &str> { panic!("it makes another file system") };
        assert_eq!(unless_stopped(&stop, further), Ok(None));
    }
}
