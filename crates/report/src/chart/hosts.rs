//! The rates of several hosts that measured together: a small chart for each result, with a bar for each host. The
//! slowest hosts come first, because all hosts wait for them.

use stats::figures::rate::RUNS;
use stats::{Cell, Document, HostFigures, Rate};

use super::bars::{self, Bar, Group};
use super::cell_text::{self, Drawn};
use super::frame::Frame;
use super::{Chart, Subject, scale};
use crate::cell_names::CellNames;
use crate::display_names;
use crate::rate_format::{in_unit_of, part_of};

/// The most hosts in a chart, so that charts side by side have similar heights. The table has all hosts.
const MOST_HOSTS: usize = 8;

/// Returns a chart for each result with several hosts.
pub(super) fn charts(document: &Document) -> Vec<Chart> {
    let names = CellNames::from_cells(&document.cells);
    document.cells.iter().filter_map(|cell| chart(cell, &names.name_on(cell, &document.run))).collect()
}

fn chart(cell: &Cell, name: &str) -> Option<Chart> {
    let rate = cell.rate.as_ref()?;
    let mut hosts: Vec<&HostFigures> = cell.hosts.iter().collect();
    // A host without a rate comes first.
    hosts.sort_by(|one, other| one.per_second.unwrap_or(0.0).total_cmp(&other.per_second.unwrap_or(0.0)));
    hosts.iter().find_map(|host| value(host, rate))?;
    let groups: Vec<Group> = hosts.iter().take(MOST_HOSTS).map(|host| group(host, rate)).collect();
    let figures: Vec<String> = groups.iter().map(|group| format!("{} {}", group.heading, group.bars[0].said)).collect();
    let is_time = rate.unit == RUNS;
    let (svg, height) = bars::draw(&groups, if is_time { scale::seconds } else { scale::number });
    let title = if is_time {
        format!("{name}, time of a run")
    } else {
        format!("{name}, in {}", display_names::unit(&rate.unit))
    };
    let slowest = match hosts.len().saturating_sub(MOST_HOSTS) {
        0 => String::new(),
        more => format!(" (the slowest {MOST_HOSTS}; {more} more in the table)"),
    };
    let frame = Frame {
        subject: Subject::Hosts,
        title: title + &slowest,
        series: Vec::new(),
        told: cell_text::describe_figures(&format!("{name}, the slowest host first"), &figures),
    };
    Some(frame.rows(svg, height))
}

/// The rate of a host, in the unit of the result's rate; of runs of a command, the seconds of a run.
fn value(host: &HostFigures, rate: &Rate) -> Option<f64> {
    let per_second = host.per_second?;
    let seconds = (per_second > 0.0).then(|| 1.0 / per_second);
    if rate.unit == RUNS { seconds } else { Some(in_unit_of(rate, per_second)) }
}

/// A host under its name: its rate, also as a share of the median of all hosts.
fn group(host: &HostFigures, rate: &Rate) -> Group {
    let share = host.of_median.map_or_else(String::new, |share| format!(", {share:.2} of the median"));
    let figure = host.per_second.map(|per_second| part_of(rate, per_second) + &share);
    let said = figure.unwrap_or_else(|| "n.m.".to_owned());
    let warnings = if host.warnings.is_empty() { String::new() } else { format!("; {}", host.warnings.join(", ")) };
    let bar = Bar {
        class: cell_text::class(0),
        series: String::new(),
        label: String::new(),
        tip: format!("{}: {said}{warnings}", host.name),
        said,
        drawn: Drawn { value: value(host, rate), ..Drawn::default() },
    };
    Group { heading: host.name.clone(), bars: vec![bar] }
}
