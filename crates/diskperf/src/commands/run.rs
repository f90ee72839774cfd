//! `diskperf run PRESET [TARGET]...`: plans, runs, shows.

use std::ffi::OsString;
use std::time::Instant;

use kernel::tuning::restore_left;
use kernel::{MemoryLimit, PrivateMounts};
use stats::{Calibration, Cell, Noise, Problem, TargetInfo};
use units::{Bytes, Nanos};

use super::conclusion::conclude;
use super::session::{Resumed, Session, document};
use crate::budget::{Cost, Limits, Sizes};
use crate::calibrate;
use crate::cells::{self, History, Scene};
use crate::cli::{Data, RunArguments};
use crate::consent;
use crate::deadline::{Deadline, mean, since};
use crate::display::Display;
use crate::error::Error;
use crate::events::Event;
use crate::exit::Exit;
use crate::forecast::{Forecast, Prices, about};
use crate::judge;
use crate::keeper::Keeper;
use crate::output;
use crate::plan::{Alternative, Plan, Row};
use crate::presets::{Preset, Settings};
use crate::published;
use crate::runner::Broken;
use crate::signals::Stop;
use crate::sizing::{self, Costs, Wishes};
use crate::target::{Site, Target, VolumeArgument};
use crate::worlds::{self, AnyWorld, Worlds};

/// What a run left in hand.
#[derive(Debug, Default)]
pub struct Results {
    /// The targets as they were measured; empty where it did not come to that.
    pub targets: Vec<TargetInfo>,
    /// The figures.
    pub cells: Vec<Cell>,
    /// What went wrong.
    pub problems: Vec<Problem>,
    /// What follows from the figures.
    pub findings: Vec<String>,
    /// What measuring itself costs here.
    pub calibration: Option<Calibration>,
    /// What else was at work.
    pub noise: Option<Noise>,
    /// Whether it was told to stop.
    pub interrupted: bool,
}

/// Runs the command. With `--format json` one document is printed in every case, also after an error.
pub fn run(arguments: &RunArguments, words: &[OsString]) -> Result<Exit, Error> {
    go(arguments, words, None)
}

/// Goes on with a run that an earlier command of these words began.
pub fn go_on(arguments: &RunArguments, words: &[OsString], resumed: Resumed) -> Result<Exit, Error> {
    go(arguments, words, Some(resumed))
}

fn go(arguments: &RunArguments, words: &[OsString], resumed: Option<Resumed>) -> Result<Exit, Error> {
    arguments.output.check()?;
    let mut session = Session::new(arguments, words);
    let mut plan = None;
    let mut targets = Vec::new();
    let mut results = Results::default();
    let ended = carry_out(&mut session, resumed, &mut plan, &mut targets, &mut results);
    if matches!(ended, Ok(None)) {
        return Ok(Exit::Done);
    }
    let ended = ended.map(|_| ());
    let mut document = document(session.info(plan.as_ref(), &targets, &results), results, &ended);
    let kept = session.end(&mut document);
    conclude(&arguments.output, &document, ended.and(kept))
}

/// The cells of all alternatives, in order.
pub fn all_cells(scene: Scene, histories: &[History]) -> Vec<Cell> {
    let all = scene.plan.alternatives.iter().zip(histories);
    all.flat_map(|(alternative, history)| cells::cells(scene, alternative, history)).collect()
}

/// Plans and measures; `None` where only the plan was asked for.
fn carry_out(
    session: &mut Session,
    resumed: Option<Resumed>,
    planned: &mut Option<Plan>,
    targets: &mut Vec<Target>,
    results: &mut Results,
) -> Result<Option<()>, Error> {
    let arguments = session.arguments;
    match (Target::resolve_all(&arguments.targets()), resumed) {
        (Ok(resolved), resumed) => {
            *targets = resolved;
            resumed.map_or(Ok(()), |resumed| session.claim(resumed, targets))?;
        }
        (Err(error), resumed) => {
            resumed.into_iter().for_each(Resumed::abandon);
            return Err(error);
        }
    }
    let is_made = targets.iter().any(Target::is_made);
    if arguments.keep && !is_made {
        return Err(Error::NothingToKeep);
    }
    consent::ask(&arguments.consent, targets, arguments.dry_run)?;
    if is_made && !arguments.dry_run {
        // On the first thread, before there is any other.
        PrivateMounts::enter()?;
    }
    // Before anything is laid out for a size that cannot be had.
    if let Some(size) = arguments.size {
        targets.iter().try_for_each(|target| target.check_room(size.0))?;
    }
    let mut plan = plan(arguments, targets)?;
    for (index, target) in targets.iter().enumerate() {
        target.check_room(plan.space(index))?;
    }
    announce(&plan, targets, arguments.keep);
    let started = Instant::now();
    if arguments.dry_run {
        return dry_run(&mut plan, targets).map(|()| None);
    }
    let stop = Stop::on_signals()?;
    // Before the run limits itself: what it takes then is what was asked for.
    worlds::check_memory(&plan, targets)?;
    session.keep(&plan, targets)?;
    restore();
    let _limit = limit_memory(&mut plan, targets);
    let mut display = Display::new();
    let ended = measure(session, &mut plan, targets, (&stop, started), results, &mut |event| display.show(&event));
    // An error before the first cell leaves nothing to show but itself.
    if ended.is_ok() || !results.cells.is_empty() || session.keeper.is_some() {
        *planned = Some(plan);
    }
    ended.map(Some)
}

fn plan(arguments: &RunArguments, targets: &[Target]) -> Result<Plan, Error> {
    let preset = arguments.preset();
    let mut plan = Plan {
        preset: preset.name,
        rounds: arguments.rounds.unwrap_or(preset.rounds),
        discard_first: preset.discard_first,
        promised: preset.rounds - u32::from(preset.discard_first),
        must_agree: preset.must_agree,
        memory: memory(arguments, targets),
        before: preset.before,
        how: preset.how,
        means: arguments.means(),
        seed: arguments.seed(),
        zeros: arguments.data == Data::Zeros,
        budget: arguments.budget,
        limits: None,
        phases: None,
        sizes: None,
        tried: 0,
        alternatives: Vec::new(),
    };
    let Some(usual) = preset.budget else {
        plan.alternatives = alternatives(arguments, targets, Sizes::LARGEST)?;
        return Ok(plan);
    };
    let large = |size| settings(arguments, targets, Sizes::LARGEST).size_in_calls(size, 8192);
    let large = arguments.size.map(large).transpose()?;
    let wishes = Wishes { large, budget: arguments.budget, usual, rounds: plan.rounds };
    let mut limits = sizing::limits(&wishes, targets);
    // Trials write too. The same rows run on every target.
    for sizes in sizing::trials(&limits) {
        let all = alternatives(arguments, targets, sizes)?;
        let tried = |target| sizing::tried(all.iter().filter(|row| row.targets == [target]).map(|row| &row.row));
        plan.tried += (0..targets.len()).map(tried).max().unwrap_or(0);
    }
    limits.written = limits.written.map(|written| written.saturating_sub(plan.tried));
    // What it costs is not known yet, only what it writes.
    let untimed = Limits { time: None, ..limits };
    let rows = |sizes| alternatives(arguments, targets, sizes);
    let (fitting, fitted) = sizing::fitted(&untimed, targets, &Vec::new(), &rows)?;
    plan.alternatives = fitting;
    plan.limits = Some(Limits { largest: fitted.sizes, ..limits });
    Ok(plan)
}

fn settings(arguments: &RunArguments, targets: &[Target], sizes: Sizes) -> Settings {
    arguments.settings(memory(arguments, targets), sizes)
}

/// How much memory the run may have; a simulated machine has a memory of its own.
fn memory(arguments: &RunArguments, targets: &[Target]) -> Option<Bytes> {
    arguments.memory().filter(|_| targets.iter().any(|target| !target.is_simulated()))
}

/// Every row of the preset on each target, and where that was asked for on all at once.
pub fn alternatives(arguments: &RunArguments, targets: &[Target], sizes: Sizes) -> Result<Vec<Alternative>, Error> {
    let preset = arguments.preset();
    let settings = settings(arguments, targets, sizes);
    let all_rows = |site| match &arguments.job {
        Some(job) => job.rows(&settings, site),
        None => (preset.rows)(&settings, site),
    };
    let mut alternatives = Vec::new();
    for (target, site) in targets.iter().enumerate() {
        let mut rows = only(all_rows(site)?, &arguments.only, preset)?;
        if let Some(reason) = site.refuses_writes() {
            rows.iter_mut().filter(|row| row.writes()).for_each(|row| row.omitted = Some(reason.clone()));
        }
        if let (Site::File { path, .. }, true) = (&site.site, rows.iter().all(Row::writes)) {
            return Err(Error::OnlyRead { path: path.clone(), preset: preset.name });
        }
        for row in &mut rows {
            row.omitted = row.omitted.take().or_else(|| site.simulated()?.lacks(&row.program));
        }
        if let Some(cache) = arguments.cache() {
            // A device is left alone: to have it in memory would be to read all of it.
            let files = rows.iter_mut().filter(|row| row.raw.is_none());
            files.flat_map(|row| &mut row.program.phases).for_each(|phase| phase.cache = cache);
        }
        alternatives.extend(rows.into_iter().map(|row| Alternative::on(&[target], row)));
    }
    if arguments.together(targets) {
        let all: Vec<usize> = (0..targets.len()).collect();
        let alone = alternatives.iter().filter(|alternative| alternative.row.raw.is_none());
        let mut together: Vec<Row> = Vec::new();
        for Alternative { targets, row } in alone {
            // What one of them cannot do, all cannot do at once.
            match together.iter_mut().find(|other| targets[0] != 0 && other.label() == row.label()) {
                Some(other) => other.omitted = other.omitted.take().or_else(|| row.omitted.clone()),
                None => together.push(row.clone()),
            }
        }
        alternatives.extend(together.into_iter().map(|row| Alternative::on(&all, row)));
    }
    Ok(alternatives)
}

/// The rows of the programs that were asked for; all, where none was.
fn only(rows: Vec<Row>, programs: &[String], preset: &Preset) -> Result<Vec<Row>, Error> {
    if let Some(typed) = programs.iter().find(|program| rows.iter().all(|row| row.program.name != **program)) {
        let mut there: Vec<&'static str> = rows.iter().map(|row| row.program.name).collect();
        there.dedup();
        return Err(Error::UnknownProgram { name: typed.clone(), preset: preset.name, known: there });
    }
    let is_wanted = |row: &Row| programs.is_empty() || programs.iter().any(|program| program == row.program.name);
    Ok(rows.into_iter().filter(is_wanted).collect())
}

/// Makes the memory of this process as small as planned; says so where it cannot be, and then plans
/// without. A simulated machine has a memory of its own.
fn limit_memory(plan: &mut Plan, targets: &[Target]) -> Option<MemoryLimit> {
    let bytes = plan.memory.take().filter(|_| targets.iter().any(|target| !target.is_simulated()))?;
    match MemoryLimit::new(bytes.0) {
        Ok(limit) => {
            plan.memory = Some(bytes);
            Some(limit)
        }
        Err(error) => {
            remark!("memory is not limited to {bytes}: {error}");
            None
        }
    }
}

/// Says what will be written, before it is.
fn announce(plan: &Plan, targets: &[Target], keep: bool) {
    let time = plan.limits.and_then(|limits| limits.time);
    let time = time.map_or_else(String::new, |time| format!(", in up to {}", about(time)));
    for (index, target) in targets.iter().enumerate() {
        let (writes, space) = (plan.writes_in_words(index), Bytes(plan.space(index)));
        match &target.site {
            Site::Directory { path, .. } => {
                let path = path.display();
                remark!("writes {writes} in {path}, at most {space} at a time{time}; Ctrl-C leaves nothing behind");
            }
            Site::Image { image, host } => {
                let (size, directory) = (image.spec(space.0).file_bytes(), image.directory().display());
                let host = host.file_system.as_deref().map_or_else(String::new, |host| format!(" ({host})"));
                let file_system = image.file_system();
                let after = if keep { "afterwards it gets a name" } else { "nothing is left behind" };
                remark!(
                    "writes an image of {size} in {directory}{host}, then {writes} to {file_system} on it{time}; {after}"
                );
            }
            Site::Volume(volume) => {
                let VolumeArgument { spec, inspected, .. } = &**volume;
                let (device, file_system) = (inspected.described(), &spec.file_system);
                let line = spec.mkfs_line().unwrap_or_default();
                let holds: Vec<String> = inspected.reasons().iter().map(ToString::to_string).collect();
                if !holds.is_empty() {
                    remark!("destroys what is on {device}: {}", holds.join("; "));
                }
                let after = if keep { "the file system stays there" } else { "its signature is erased afterwards" };
                remark!("makes {file_system} on {device} ({line}), then writes {writes} to it{time}; {after}");
            }
            Site::File { path, .. } => remark!("reads {}", path.display()),
            Site::Simulated(_) => {}
        }
    }
}

/// Restores what an earlier run that was killed has left changed, and says so.
fn restore() {
    // Who tunes is told where notes cannot be had.
    for left in restore_left(|_| true).unwrap_or_default() {
        match left.outcome {
            Ok(()) => remark!("restored the queue of {}, which process {} had left tuned", left.disk, left.pid),
            Err(fault) => remark!("process {} had left {} tuned: {fault}", left.pid, left.disk),
        }
    }
}

/// Says what would be run, in which order, and what would be left out. Nothing is written: simulated
/// machines are tried all the same, of directories the prices are guessed.
fn dry_run(plan: &mut Plan, targets: &[Target]) -> Result<(), Error> {
    if let Some(trials) = plan.trials() {
        let price = |(index, target): (usize, &Target)| {
            if !target.is_simulated() {
                return Ok(Some(Prices::GUESSED));
            }
            let mut world = AnyWorld::open(plan, &[index], targets, &[], &Stop::default())?;
            Ok(trials.prices(|program| world.time(program)))
        };
        let prices = targets.iter().enumerate().map(price).collect::<Result<Option<Vec<Prices>>, Error>>()?;
        forecast(plan, prices);
        if !targets.iter().all(Target::is_simulated) {
            remark!("(a guess: --dry-run writes nothing and so times nothing)");
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

/// Makes the plan fit its budget, and says how long it takes; silent where nobody can tell.
fn forecast(plan: &mut Plan, prices: Option<Vec<Prices>>) {
    if let Some(forecast) = prices.and_then(|prices| Forecast::of(plan, &prices)) {
        forecast.thin(plan);
        forecast.announcement(plan).lines().for_each(output::remark);
    }
}

/// Runs every round of the plan, and makes the cells of what was run, also where something ended it early.
fn measure(
    session: &mut Session,
    plan: &mut Plan,
    targets: &[Target],
    (stop, started): (&Stop, Instant),
    results: &mut Results,
    notify: &mut dyn FnMut(Event),
) -> Result<(), Error> {
    let mut worlds = match Worlds::prepare(plan, targets, session.label(), stop, notify) {
        // Whatever failed: Ctrl-C reaches mkfs too.
        Err(_) if stop.requested() => {
            results.interrupted = true;
            return Ok(());
        }
        worlds => worlds?,
    };
    results.targets = worlds.infos(plan);
    let decided = session.decided()?;
    if let Some(decided) = &decided {
        session.decide_again(decided, plan, targets)?;
    } else if let Some(trials) = plan.trials() {
        let price = |index: usize| {
            let world = worlds.open(plan, &[index], targets, stop)?;
            Ok(trials.prices(|program| world.time(program)))
        };
        let prices = (0..targets.len()).map(price).collect::<Result<Option<Vec<Prices>>, Error>>()?;
        forecast(plan, prices);
    }
    let deadline = match plan.limits {
        // The rest of a run has all of the time to itself.
        Some(limits) if decided.is_some() => limits.time.map(|time| Deadline::new(started, time)),
        Some(limits) => make_fit(session.arguments, plan, targets, &mut worlds, (stop, started), &limits)?,
        None => None,
    };
    let nothing = nothing(plan, targets, &mut worlds, stop)?;
    let _timer = deadline.map(|deadline| stop.after(deadline.left())).transpose()?;
    let mut histories = vec![History::default(); plan.alternatives.len()];
    let scene = Scene { plan, targets, infos: &results.targets, nothing };
    session.load(plan, &mut histories)?;
    if decided.is_none() && !stop.requested() {
        let (info, cells) = (session.info(Some(plan), targets, results), all_cells(scene, &histories));
        session.keeper.iter_mut().for_each(|keeper| keeper.decide(plan, info.clone(), cells.clone()));
    }
    notify(Event::Started(plan));
    let keeper = &mut session.keeper;
    run_rounds(scene, &mut worlds, (stop, deadline), &mut histories, keeper, notify);
    let interrupted = stop.requested() && !stop.is_late();
    if let (Some(limits), false) = (plan.limits, interrupted) {
        say_what_was_left_out(plan, &limits, &histories);
    }
    let scene = Scene { plan, targets, infos: &results.targets, nothing };
    for (alternative, history) in plan.alternatives.iter().zip(&histories) {
        results.problems.extend(cells::problem(targets, alternative, history));
    }
    results.cells = all_cells(scene, &histories);
    results.noise = judge::machine::noise(plan, targets, &histories, &mut results.cells);
    judge::machine::order(&mut results.cells);
    results.cells.iter_mut().for_each(|cell| cell.marks.sort_by_key(|mark| mark.code));
    results.calibration = nothing.map(|nothing| calibrate::calibration(nothing, plan, targets, &histories));
    results.cells.extend(published::cells(plan.preset));
    results.interrupted = interrupted;
    results.findings = (session.arguments.preset().findings)(&results.cells);
    notify(Event::Finished);
    if session.arguments.keep { keep(worlds, targets, &mut results.targets) } else { worlds.finish() }
}

/// What the clock shows where nothing is done on a real target; nothing where there is none.
fn nothing(plan: &Plan, targets: &[Target], worlds: &mut Worlds, stop: &Stop) -> Result<Option<Nanos>, Error> {
    let is_real = |alternative: &&Alternative| alternative.targets.iter().all(|&index| !targets[index].is_simulated());
    match plan.alternatives.iter().find(is_real) {
        Some(alternative) => worlds.open(plan, &alternative.targets, targets, stop)?.nothing(),
        None => Ok(None),
    }
}

/// Gives the images their names, leaves file systems on devices, and says which.
fn keep(worlds: Worlds, targets: &[Target], infos: &mut [TargetInfo]) -> Result<(), Error> {
    let (mut ended, kept) = worlds.keep(targets);
    for ((kept, target), info) in kept.into_iter().zip(targets).zip(infos) {
        match (kept, &mut info.image) {
            (Ok(Some(path)), Some(image)) => {
                remark!("kept the image of {target} as {}", path.display());
                image.kept_as = Some(path.display().to_string());
            }
            (Ok(Some(path)), None) => remark!("kept the file system of {target} on {}", path.display()),
            (Ok(None), _) => {}
            (Err(error), _) => ended = ended.and(Err(error)),
        }
    }
    ended
}

/// Runs the rounds. What fails voids its own cells: on other targets, and with other programs, it goes on, and ends
/// where nothing is left that could be measured.
fn run_rounds(
    scene: Scene,
    worlds: &mut Worlds,
    (stop, deadline): (&Stop, Option<Deadline>),
    histories: &mut [History],
    keeper: &mut Option<Keeper>,
    notify: &mut dyn FnMut(Event),
) {
    let Scene { plan, targets, .. } = scene;
    let began = Instant::now();
    let all = all_cells(scene, histories);
    let mut lasted = vec![Nanos::ZERO; histories.len()];
    // Rounds of this process: what an earlier one did of a resumed run took none of this one's time.
    let mut ran = 0;
    for round in 1..=plan.rounds {
        let affords = match deadline {
            Some(deadline) => ran == 0 || deadline.holds(mean(began, ran)),
            None => affords(plan, ran, began),
        };
        let mut those = plan.alternatives.iter().zip(&*histories);
        let is_over =
            those.all(|(alternative, history)| alternative.row.omitted.is_some() || history.failure().is_some());
        if !affords || is_over {
            break;
        }
        notify(Event::RoundStarted { round, rounds: plan.rounds });
        let mut has_run = false;
        for (position, index) in plan.order(round).into_iter().enumerate() {
            if stop.requested() {
                return;
            }
            // A failed program would fail again, and its cell is void already.
            let is_void = histories[index].failure().is_some();
            // By an earlier process, before it was interrupted.
            let is_done = histories[index].has(round);
            // A device may be slower than it was in the trial.
            let is_late = deadline.is_some_and(|deadline| !deadline.holds(lasted[index]));
            if is_void || is_done || is_late {
                notify(Event::ProgramEnded { index });
                continue;
            }
            let Alternative { targets: busy, row } = &plan.alternatives[index];
            notify(Event::ProgramStarted { index, program: row.program.name, target: &names(busy, targets) });
            let program = row.program.in_round(round);
            let performed = match &row.raw {
                Some(raw) => {
                    let world = AnyWorld::on_device(plan, &program, &worlds.node(raw, busy[0]), stop);
                    world.map_err(Broken::from).and_then(|mut world| world.perform(&program, plan.how))
                }
                None => {
                    let world = worlds.open(plan, busy, targets, stop).map_err(Broken::from);
                    world.and_then(|world| world.perform(&program, plan.how))
                }
            };
            match performed {
                Ok(performance) => {
                    lasted[index] = performance.lasted;
                    let performance = if stop.requested() { performance.broken_off() } else { performance };
                    histories[index].add(plan, round, position as u32 + 1, performance);
                }
                // Whatever failed: Ctrl-C reaches mkfs too. A run that is late was told nothing by anybody.
                Err(_) if stop.requested() && !stop.is_late() => return,
                Err(broken) => histories[index].break_off(&broken),
            }
            has_run = true;
            if let Some(keeper) = keeper {
                let cells = cells::cells(scene, &plan.alternatives[index], &histories[index]);
                keeper.keep(index, &histories[index], plan.first_cell(index), cells);
            }
            notify(Event::ProgramEnded { index });
            if round == 1 {
                let cells = cells::cells(scene, &plan.alternatives[index], &histories[index]);
                notify(Event::FirstFigures { cells: &cells, all: &all });
            }
        }
        ran += u32::from(has_run);
    }
}

/// The names of the targets that are busy.
fn names(busy: &[usize], targets: &[Target]) -> String {
    let mut names: Vec<&str> = busy.iter().map(|&target| targets[target].name.as_str()).collect();
    names.dedup();
    names.join("+")
}

/// Whether the budget, if there is one, probably holds another round: as long as the mean of so many before.
fn affords(plan: &Plan, ran: u32, began: Instant) -> bool {
    let (Some(budget), false) = (plan.budget, ran == 0) else { return true };
    since(began) + mean(began, ran) <= budget
}

/// Finds out what the rows cost here, and makes them as large as fits; says when the run is to end.
fn make_fit(
    arguments: &RunArguments,
    plan: &mut Plan,
    targets: &[Target],
    worlds: &mut Worlds,
    (stop, started): (&Stop, Instant),
    limits: &Limits,
) -> Result<Option<Deadline>, Error> {
    let Some(time) = limits.time else { return Ok(None) };
    let trials = sizing::trials(limits).into_iter();
    let trials = trials.map(|sizes| Ok((sizes, alternatives(arguments, targets, sizes)?)));
    let trials: Vec<(Sizes, Vec<Alternative>)> = trials.collect::<Result<_, Error>>()?;
    let mut tried: Vec<(Vec<&Row>, Vec<Option<Cost>>)> = vec![Default::default(); targets.len()];
    let smallest = trials[0].0;
    let began = Instant::now();
    for (index, alternative) in plan.alternatives.iter().enumerate() {
        let [target] = alternative.targets[..] else { continue };
        let is_run = alternative.row.omitted.is_none() && !stop.requested();
        let cost = if is_run {
            let world = worlds.open(plan, &alternative.targets, targets, stop)?;
            let rows: Vec<(Sizes, &Row)> = trials.iter().map(|(sizes, all)| (*sizes, &all[index].row)).collect();
            // What fails now fails again when it is measured, and is told then.
            sizing::price(&rows, began, |row| world.perform(&row.program, plan.how).ok())
        } else {
            None
        };
        tried[target].0.push(&trials[0].1[index].row);
        tried[target].1.push(cost);
    }
    let costs: Costs = tried.iter().map(|(rows, costs)| sizing::complete(rows, &smallest, costs)).collect();
    if stop.requested() {
        return Ok(None);
    }
    let left = sizing::left(limits, since(started));
    let rows = |sizes| alternatives(arguments, targets, sizes);
    let (mut fitting, fitted) = sizing::fitted(&left, targets, &costs, &rows)?;
    for (new, old) in fitting.iter_mut().zip(&mut plan.alternatives) {
        new.row.omitted = old.row.omitted.take().or(new.row.omitted.take());
    }
    plan.alternatives = fitting;
    plan.sizes = Some(fitted.sizes);
    remark!("{}", sizing::announcement(plan, &fitted));
    Ok(Some(Deadline::new(started, time)))
}

/// A row that was never run because the time was over says so.
fn say_what_was_left_out(plan: &mut Plan, limits: &Limits, histories: &[History]) {
    let Some(time) = limits.time else { return };
    for (alternative, history) in plan.alternatives.iter_mut().zip(histories) {
        if history.is_empty() && alternative.row.omitted.is_none() {
            alternative.row.omitted = Some(format!("the {} were over before it came to its turn", about(time)));
        }
    }
}
