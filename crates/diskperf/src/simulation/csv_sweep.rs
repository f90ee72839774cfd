//! A sweep in CSV, written in steps: neither its points nor its results need to fit into memory.
//!
//! Policy:
//!   1. every point of the whole sweep is checked before the first one is simulated, in every part;
//!   2. a step has as many points as take about two seconds. The lines do not depend on the steps;
//!   3. an interrupt drops the step and keeps the lines before it;
//!   4. the column names are in the first part, and the published figures at the end of the last one. So `cat` of all
//!      parts gives the bytes of the whole sweep.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::{Duration, Instant};

use campaign::events::Event;
use campaign::executions::Executions;
use campaign::results::{self, RunContext};
use campaign::signals::Stop;
use kernel::sys::name::Shown;
use machines::SweepPart;
use report::csv::{SweepLines, settings_of};
use stats::{Document, Problem, RunInfo, SCHEMA};
use units::{Exit, whole};

use super::request::Request;
use super::{cells_apart, draw, infos, perform_all};
use crate::cli::simulate::SimulateArguments;
use crate::documents::document::plain;
use crate::error::Error;
use crate::ui::output::{self, Steps};
use crate::ui::progress_display::Display;
use crate::ui::run_results::{MOST_FAILURES, print_failures};

/// The shortest and the longest step that keep their number of points. Chosen: an interrupt loses seconds, and starting
/// threads takes no notable part of the time.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(4);

/// The most simulations of a step with several points. Chosen: a machine, its results and their lines take about 50 KB
/// for each. With 10,000, a sweep of 100,000 points took 470 MB (`cargo bench --package overhead --bench sweeps`).
const MOST_RUNS: usize = 1_000;

/// The facts that are known once all points were checked.
struct Survey {
    /// The settings of all cells.
    settings: BTreeSet<String>,
    /// The simulations of the part.
    runs: u64,
    /// The most simulations of a point.
    most_runs: usize,
}

/// Writes the sweep, or the part of it that the arguments name.
pub fn print(request: &Request, arguments: &SimulateArguments) -> Result<Exit, Error> {
    arguments.output.check()?;
    let all = request.points.all();
    let part = arguments.part.unwrap_or(SweepPart::WHOLE);
    let points = part.points(all.len());
    let stop = Stop::on_signals()?;
    let mut out = Steps::begin(arguments.output.file.as_deref())?;
    // 1.
    let Some(Survey { settings, runs, most_runs }) = survey(request, arguments, &points, &stop)? else {
        output::remark("stopped before anything was simulated");
        return Ok(Exit::Interrupted);
    };
    let lines = SweepLines { settings };
    let mut is_read = !part.is_first() || out.add(&lines.names())?;
    let mut display = Display::new();
    let (mut ended, mut problems, mut failed) = (0, Vec::new(), 0);
    let (mut left, mut size) = (points.clone(), 1);
    while is_read && !left.is_empty() {
        let step = left.start..left.end.min(left.start + size);
        let (alternatives, targets) = request.lay_out(step.clone())?;
        let plan = request.plan(alternatives)?;
        let notify = &mut |event: Event| {
            if let Event::ProgramEnded { .. } = event {
                ended += 1;
                display.show_simulated(ended, runs);
            }
        };
        let began = Instant::now();
        let infos = infos(&targets)?;
        let (cells, new) = perform_all(&plan, (&targets, &infos), cells_apart, arguments.threads, &stop, notify);
        // 3.
        if stop.requested() {
            break;
        }
        failed += new.len();
        problems.extend(new.into_iter().take(MOST_FAILURES - problems.len()));
        is_read = out.add(&lines.rows(&plain(&of_cells(cells))))?;
        if let Some(path) = arguments.timeline.as_ref().filter(|_| step.start == points.start) {
            let title = draw(path, &plan, &targets, &stop)?;
            output::remark(&format!("wrote {}: timeline of {title}", path.shown()));
        }
        left.start = step.end;
        // 2.
        size = match began.elapsed() {
            short if short < SHORTEST => (2 * size).min(MOST_RUNS / most_runs.max(1)),
            long if long > LONGEST => size / 2,
            _ => size,
        };
        size = size.max(1);
    }
    display.show(&Event::Finished);
    // 4.
    if is_read && left.is_empty() && part.is_last() {
        out.add(&lines.rows(&plain(&of_cells((arguments.preset.published)()))))?;
    }
    out.end()?;
    if !is_read {
        return Ok(Exit::Done);
    }
    print_failures(&problems, failed - problems.len());
    Ok(told(&points, &left, all.len(), failed))
}

/// Checks all points; counts the simulations of this part. `None` if it was interrupted.
fn survey(
    request: &Request,
    arguments: &SimulateArguments,
    part: &Range<usize>,
    stop: &Stop,
) -> Result<Option<Survey>, Error> {
    let published = (arguments.preset.published)();
    let mut settings: BTreeSet<String> = published.iter().flat_map(settings_of).map(str::to_owned).collect();
    let (mut runs, mut most_runs) = (0, 0);
    for point in request.points.all() {
        if stop.requested() {
            return Ok(None);
        }
        let (alternatives, targets) = request.lay_out(point..point + 1)?;
        let plan = request.plan(alternatives)?;
        let context = RunContext { plan: &plan, targets: &targets, infos: &[], clock_floor: None, hosts: &[] };
        for alternative in &plan.alternatives {
            let cells = results::cells(context, alternative, &Executions::default());
            for setting in cells.iter().flat_map(settings_of) {
                if !settings.contains(setting) {
                    settings.insert(setting.to_owned());
                }
            }
        }
        let simulated = plan.alternatives.iter().filter(|alternative| alternative.row.omitted.is_none()).count();
        let own = simulated * plan.rounds as usize;
        most_runs = most_runs.max(own);
        runs += if part.contains(&point) { own as u64 } else { 0 };
    }
    Ok(Some(Survey { settings, runs, most_runs }))
}

/// A document that has only cells.
fn of_cells(cells: Vec<stats::Cell>) -> Document {
    let run = RunInfo { version: env!("CARGO_PKG_VERSION").to_owned(), ..RunInfo::default() };
    Document { schema: SCHEMA.to_owned(), run, cells, errors: Vec::<Problem>::new() }
}

/// Says which points were simulated, and returns the exit status.
fn told(points: &Range<usize>, left: &Range<usize>, all: usize, failed: usize) -> Exit {
    let number = |index: usize| whole(index as u64);
    let (done, of, all) = (number(left.start - points.start), number(points.len()), number(all));
    if !left.is_empty() {
        output::remark(&format!("interrupted after {done} of {of} points; their rows are complete"));
        return Exit::Interrupted;
    }
    output::remark(&match (points.is_empty(), of == all) {
        (true, _) => format!("this part has none of the {all} points"),
        (false, true) => format!("simulated {all} points"),
        (false, false) => format!("simulated points {} to {} of {all}", number(points.start + 1), number(points.end)),
    });
    if failed > 0 { Exit::Failed } else { Exit::Done }
}
