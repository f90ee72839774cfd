//! Held-out errors: constants are fitted to some of the cells, settings are selected on the same cells, and the other
//! cells judge.

use std::fmt::Write;
use std::path::PathBuf;

use classic1983::fitting::{Cell, Machines};
use classic1983::published::FileSystem;
use stats::compare::replication::{Errors, Simulated, Summary};

use crate::log::{BLIND, line, sensitivity, worst};
use crate::loss::{cpu_error, rate_percent};
use crate::priors::{Other, Priors};
use crate::search::{Effort, PHASES, PHASES_SEARCHING, Search};

/// A name, and the predicate of the cells to fit. The other cells are held out.
type Split = (&'static str, fn(&Cell) -> bool);

/// The splits, in pairs that hold out each cell once. The first pair is the headline.
const SPLITS: [Split; 6] = [
    ("8K -> 4K", |cell| cell.file_system == FileSystem::Block8K),
    ("4K -> 8K", |cell| cell.file_system == FileSystem::Block4K),
    ("one drive -> two", |cell| cell.drives == 1),
    ("two drives -> one", |cell| cell.drives == 2),
    ("VAX-11/780 -> VAX-11/750", |cell| cell.machine.starts_with("vax780")),
    ("VAX-11/750 -> VAX-11/780", |cell| cell.machine.starts_with("vax750")),
];

/// Number of splits that are fitted unless one is named. The last two are left out: the cells of one VAX do not show
/// some constants of the other's controllers at all.
const ALL_WAYS: usize = 4;

/// Minimum gain of another value of a setting, as a share of the loss.
const GAIN: f64 = 0.003;

/// Steps of the first descent, after which settings are selected for the first time.
const FIRST_STEPS: usize = 3;

/// Fits some of the cells from the guesses, and returns the errors of the held-out cells: as text, and of the first
/// pair of splits as figures. `only` limits it to one split.
pub fn run(
    machines: &Machines,
    priors: &Priors,
    cells: &[Cell],
    effort: Effort,
    only: Option<usize>,
    journal: &dyn Fn(&str) -> PathBuf,
) -> Result<(String, Option<Summary>), String> {
    let (mut text, mut headline) = (String::new(), None);
    // The cells that judge since the last pair of halves, and their results.
    let mut judged: (Vec<Cell>, Vec<Simulated>) = Default::default();
    let wanted = |index: usize| only.map_or(index < ALL_WAYS, |only| only == index);
    for (index, (name, is_fitted)) in SPLITS.iter().enumerate().filter(|(index, _)| wanted(*index)) {
        let (fitted, held): (Vec<Cell>, Vec<Cell>) = cells.iter().partition(|cell| is_fitted(cell));
        let path = |stage: &str| journal(&format!("held-{index}-{stage}-{}", effort.seed));
        // Settings are selected twice: near the guesses, and near the constants that suit the selection.
        let near = Effort { steps: FIRST_STEPS, evaluations: effort.evaluations.min(1), rounds: 0, ..effort };
        let values = Search::new(machines, priors, &fitted, &path("near"))?.run(near, &priors.guesses());
        let (changed, first) = select(machines, priors, &fitted, &values)?;
        let values = Search::new(&changed, priors, &fitted, &path("first"))?.run(effort, &priors.guesses());
        let (changed, chosen) = select(machines, priors, &fitted, &values)?;
        let values = match chosen == first {
            true => values,
            false => Search::new(&changed, priors, &fitted, &path("last"))?.run(effort, &priors.guesses()),
        };
        let search = Search::new(&changed, priors, &fitted, &path("told"))?;
        let blind: Vec<&str> = sensitivity(&search, &values)
            .iter()
            .zip(&priors.constant)
            .filter(|(moved, _)| moved.changes().iter().all(|change| change.abs() < 100.0 * BLIND))
            .map(|(_, constant)| constant.field.as_str())
            .collect();
        let changes = priors.changes(&values);
        let _ = writeln!(text, "{name}");
        for (what, cells) in [("fitted", &fitted), ("held out", &held)] {
            let simulated = changed.simulate(cells, &changes, PHASES)?;
            let _ = write!(text, "{}", line(what, cells, &simulated, |_| true));
            if what == "held out" {
                judged.0.extend_from_slice(cells);
                judged.1.extend_from_slice(&simulated);
                let _ = writeln!(text, "  largest errors held out\n{}", worst(cells, &simulated, 6).trim_end());
            }
        }
        let or_none = |words: Vec<&str>| if words.is_empty() { "none".to_owned() } else { words.join("; ") };
        let _ = writeln!(text, "  settings that the fitted cells select otherwise: {}", or_none(chosen));
        let _ = writeln!(text, "  constants that the fitted cells cannot tell: {}\n", or_none(blind));
        eprint!("{text}");
        if index % 2 == 1 {
            let _ = writeln!(text, "{}", line("both ways, held out", &judged.0, &judged.1, |_| true));
            headline = headline.or_else(|| summary(&judged.0, &judged.1));
            judged = Default::default();
        }
    }
    Ok((text, headline))
}

fn summary(cells: &[Cell], simulated: &[Simulated]) -> Option<Summary> {
    let pairs = || cells.iter().zip(simulated);
    Some(Summary {
        rate: Errors::from_errors(pairs().map(|(cell, one)| rate_percent(cell, *one)))?,
        cpu: Errors::from_errors(pairs().filter_map(|(cell, one)| cpu_error(cell, *one)))?,
    })
}

/// Returns the figures that `diskperf paper` prints, one in each line (`golden/held-out.txt`).
pub fn figures(summary: &Summary) -> String {
    let lines = |kind: &str, errors: &Errors| {
        let Errors { cells, median, mean, largest, within_10, within_20 } = errors;
        format!(
            "{kind}-cells {cells}\n{kind}-median {median:.2}\n{kind}-mean {mean:.2}\n{kind}-largest {largest:.2}\n\
             {kind}-within_10 {within_10}\n{kind}-within_20 {within_20}\n"
        )
    };
    lines("rate", &summary.rate) + &lines("cpu", &summary.cpu)
}

/// Selects each setting by the loss of these cells, one after another. Returns the machines with the selection, and
/// the values that differ from the machines' own.
fn select<'a>(
    machines: &Machines,
    priors: &'a Priors,
    cells: &[Cell],
    values: &[f64],
) -> Result<(Machines, Vec<&'a str>), String> {
    let changes = priors.changes(values);
    let loss = |machines: &Machines| -> Result<f64, String> {
        Ok(crate::loss::loss(cells, &machines.simulate(cells, &changes, PHASES_SEARCHING)?))
    };
    let (mut selected, mut chosen, mut least) = (machines.clone(), Vec::new(), loss(machines)?);
    for setting in &priors.setting {
        let mut best: Option<&Other> = None;
        let before = selected.clone();
        for other in &setting.others {
            let changed = other.applied(&before)?;
            let loss = loss(&changed)?;
            if loss < least * (1.0 - GAIN) {
                (least, selected, best) = (loss, changed, Some(other));
            }
        }
        chosen.extend(best.map(|other| other.what.as_str()));
    }
    Ok((selected, chosen))
}
