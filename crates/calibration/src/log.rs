//! The log of a fit: its constants and their sensitivity, the errors by group, and the skill against a baseline.

use std::fmt::Write;

use classic1983::fitting::Cell;
use stats::compare::replication::{Errors, Simulated};

use crate::baseline;
use crate::loss::{cpu_error, loss, mean, rate_percent};
use crate::priors::{Constant, Priors};
use crate::search::{Effort, MOVE, PHASES, Search};

/// Prefix of the lines that record the written values.
pub const MARK: &str = "wrote ";

/// If moving a constant by 5 % changes the loss by less than this share, the cells do not determine the constant.
pub const BLIND: f64 = 0.001;

/// Rounding of printed rates, in Kbytes: rates that differ by no more may be equal.
const ROUNDING: f64 = 10.0;

/// The loss at the best value of a constant, at 5 % less, and at 5 % more.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    best: f64,
    less: f64,
    more: f64,
}

impl Moved {
    /// Returns the changes of the loss in percent.
    pub fn changes(self) -> [f64; 2] {
        [self.less, self.more].map(|loss| 100.0 * (loss / self.best - 1.0))
    }
}

/// Returns the sensitivity of the loss to each constant.
pub fn sensitivity(search: &Search, values: &[f64]) -> Vec<Moved> {
    let best = search.loss(values, PHASES);
    let moved = |index: usize, factor: f64| search.loss(&search.moved(values, index, factor), PHASES);
    let one = |index: usize| Moved { best, less: moved(index, 1.0 - MOVE), more: moved(index, 1.0 + MOVE) };
    (0..values.len()).map(one).collect()
}

/// A fit and its results.
pub struct Log<'a> {
    /// The guesses and bounds.
    pub priors: &'a Priors,
    /// The judging cells.
    pub cells: &'a [Cell],
    /// The fitted constants.
    pub values: &'a [f64],
    /// The cells as simulated with these constants.
    pub simulated: &'a [Simulated],
    /// Sensitivity to each constant.
    pub sensitivity: Vec<Moved>,
    /// Effort of the search.
    pub effort: Effort,
    /// True if the search started from the constants in `machines/`.
    pub from_machines: bool,
}

impl Log<'_> {
    /// Returns the complete log.
    pub fn text(&self) -> String {
        let constants = self.priors.constant.len() + self.priors.setting.len();
        let mut text = format!(
            "{} constants and {} settings, for {} rates and {} CPU shares; loss {:.5}\n\n",
            self.priors.constant.len(),
            self.priors.setting.len(),
            self.cells.len(),
            self.cells.iter().filter(|cell| cell.cpu_percent.is_some()).count(),
            loss(self.cells, self.simulated),
        );
        text += &self.constants();
        text += "\nsettings of columns\n";
        for setting in &self.priors.setting {
            let others: Vec<&str> = setting.others.iter().map(|other| other.what.as_str()).collect();
            let _ = writeln!(text, "  {} (not {}): {}", setting.what, others.join(" or "), setting.why);
        }
        text += "\nerrors by group\n";
        text += &groups(self.cells, self.simulated);
        text += "\nlargest errors\n";
        text += &worst(self.cells, self.simulated, 12);
        text += &self.skill(constants);
        text += "\n";
        for change in self.priors.changes(self.values) {
            let _ = writeln!(text, "{MARK}{} {} {}", change.file, change.field, change.value);
        }
        text
    }

    fn constants(&self) -> String {
        let mut text = format!(
            "{:<31}{:>8} {:>8} {:<9}{:>16}  {}\n",
            "constant", "guess", "fitted", "unit", "loss at -5 +5 %", "what it is"
        );
        for ((constant, value), moved) in self.priors.constant.iter().zip(self.values).zip(&self.sensitivity) {
            let Constant { field, guess, unit, means, .. } = constant;
            let [less, more] = moved.changes();
            let _ = writeln!(text, "{field:<31}{guess:>8} {value:>8} {unit:<9}{less:>+7.1} {more:>+7.1} %  {means}");
            let _ = writeln!(text, "{:<31}{:>8}-{} because {}", "", constant.least, constant.most, constant.why);
        }
        text
    }

    /// Compares the errors with the additive baseline, and counts pairs of cells in the right order.
    fn skill(&self, constants: usize) -> String {
        let errors = || self.cells.iter().zip(self.simulated).map(|(cell, one)| rate_percent(cell, *one));
        let own = mean(errors().map(f64::abs));
        let (declared, chosen) = (baseline::declared(self.cells, constants), baseline::chosen(self.cells, constants));
        let (kept, pairs) = order(self.cells, self.simulated);
        format!(
            "\nskill: mean error {own:.2} %; of an additive table with {constants} numbers {declared:.2} %: {:.2} of \
             it; where its interactions may be chosen by the cells {chosen:.2} %: {:.2} of it\n\
             order: {kept} of {pairs} pairs within a table that differ by more than rounding ({:.1} %)\n",
            own / declared,
            own / chosen,
            100.0 * kept as f64 / pairs as f64,
        )
    }
}

/// Counts pairs within a table whose printed rates differ by more than rounding. Returns those in the right order, and
/// all.
fn order(cells: &[Cell], simulated: &[Simulated]) -> (usize, usize) {
    let all: Vec<(&Cell, &Simulated)> = cells.iter().zip(simulated).collect();
    let (mut kept, mut pairs) = (0, 0);
    for (index, (first, of_first)) in all.iter().enumerate() {
        for (second, of_second) in all[index + 1..].iter().filter(|(second, _)| second.table == first.table) {
            let printed = first.kbytes_per_sec - second.kbytes_per_sec;
            if printed.abs() > ROUNDING {
                pairs += 1;
                kept += usize::from((of_first.kbytes_per_sec > of_second.kbytes_per_sec) == (printed > 0.0));
            }
        }
    }
    (kept, pairs)
}

/// Headings of [`line()`], after the name.
pub const HEADINGS: &str = "cells   rate: median mean largest      CPU: median mean largest";

/// Formats one line per column and number of drives, and one for all cells.
pub fn groups(cells: &[Cell], simulated: &[Simulated]) -> String {
    let mut names: Vec<(&str, usize)> = Vec::new();
    for cell in cells.iter().filter(|cell| cell.drives == 1).chain(cells) {
        if !names.contains(&(cell.machine, cell.drives)) {
            names.push((cell.machine, cell.drives));
        }
    }
    names.sort_unstable();
    let mut text = format!("  {:<44}{HEADINGS}\n", "");
    for (machine, drives) in names {
        let of = |cell: &&Cell| cell.machine == machine && cell.drives == drives;
        text += &line(&format!("{machine}, {drives}"), cells, simulated, of);
    }
    let is_early = |cell: &&Cell| cell.machine.starts_with("vax780-sc780-");
    text += &line("SC780's earlier stages, by their settings", cells, simulated, is_early);
    text + &line("all", cells, simulated, |_| true)
}

/// Formats the errors of some of the cells.
pub fn line(name: &str, cells: &[Cell], simulated: &[Simulated], of: impl Fn(&&Cell) -> bool) -> String {
    let pairs = || cells.iter().zip(simulated).filter(|(cell, _)| of(cell));
    let Some(rate) = Errors::from_errors(pairs().map(|(cell, one)| rate_percent(cell, *one))) else {
        return String::new();
    };
    let cpu = Errors::from_errors(pairs().filter_map(|(cell, one)| cpu_error(cell, *one)));
    let cpu = cpu.map_or("n.m.".to_owned(), |cpu| {
        format!("{:>10.1} {:>6.1} {:>6.1} points of {}", cpu.median, cpu.mean, cpu.largest, cpu.cells)
    });
    format!(
        "  {name:<44}{:>5} {:>10.1} {:>6.1} {:>6.1} %, {:>2} within 10, {:>2} within 20   {cpu}\n",
        rate.cells, rate.median, rate.mean, rate.largest, rate.within_10, rate.within_20
    )
}

/// Formats the `count` cells with the largest errors.
pub fn worst(cells: &[Cell], simulated: &[Simulated], count: usize) -> String {
    let mut all: Vec<(&Cell, &Simulated)> = cells.iter().zip(simulated).collect();
    all.sort_by(|a, b| rate_percent(b.0, *b.1).abs().total_cmp(&rate_percent(a.0, *a.1).abs()));
    let line = |(cell, one): &(&Cell, &Simulated)| {
        format!(
            "  {:<34}{} {:<12} {} {:>5.0} -> {:>5.0} {:>+6.1} %\n",
            cell.machine,
            cell.file_system.name(),
            cell.test.name(),
            cell.drives,
            cell.kbytes_per_sec,
            one.kbytes_per_sec,
            rate_percent(cell, **one)
        )
    };
    all.iter().take(count).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(cells: &[Cell]) -> Vec<Simulated> {
        let one = |cell: &Cell| Simulated {
            kbytes_per_sec: cell.kbytes_per_sec,
            cpu_percent: cell.cpu_percent.unwrap_or_default(),
        };
        cells.iter().map(one).collect()
    }

    #[test]
    fn printed_figures_keep_every_rank_and_have_no_errors() {
        let cells = Cell::all();
        let (kept, pairs) = order(&cells, &printed(&cells));
        assert!(kept == pairs && pairs > 700, "{kept} of {pairs}");
        let text = groups(&cells, &printed(&cells));
        assert!(text.lines().count() == 3 + 13 && text.ends_with("points of 73\n"), "{text}");
        let mut turned = printed(&cells);
        turned[0].kbytes_per_sec *= 2.0;
        assert!(order(&cells, &turned).0 < pairs);
        assert!(worst(&cells, &turned, 1).contains("+100.0 %"));
    }
}
