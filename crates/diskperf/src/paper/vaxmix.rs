//! Does the ranking of the controllers depend on the approach? The direct one reads and writes user files; the indirect one,
//! which DEC took and the paper did not (section 3), draws accesses from a mix. The authors suspect two things of it: that
//! places drawn at random show no locality, as no real system does; and that requests are ordered by the UDA50 there and by
//! nobody else, as VMS orders none (section 1).
//!
//! So that each can be seen by itself there are rows with and without locality, with one program at a time and several, and
//! with drivers that order and that do not. The UDA50 orders in all of them, as section 2.1 says; files in order, by which
//! the machines under `machines/` were fitted, give it nothing to order.

use simulator::{Outcome, ProgramTime};
use stats::replication::{Approaches, Ratio, Transactions};
use stats::summary::mean_and_half_width;
use workload::Mix;
use workload::programs::mckusick::Classic;
use workload::programs::vaxmix::VaxMix;

use super::columns::Column;
use super::laboratory::{FILE_BYTES, Streams, Test, each, limit, outcomes};
use crate::machines::{Machine, MachineFault};

/// By which approach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Approach {
    /// The four programs of the paper, one after the other: the mean of their rates.
    Direct,
    /// Accesses at uniform places.
    Uniform,
    /// Accesses with locality.
    Local,
}

impl Approach {
    fn name(self) -> &'static str {
        match self {
            Approach::Direct => "direct",
            Approach::Uniform => "uniform",
            Approach::Local => "local",
        }
    }

    fn mix(self) -> Option<Mix> {
        match self {
            Approach::Direct => None,
            Approach::Uniform => Some(Mix::default()),
            Approach::Local => Some(Mix::local()),
        }
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    approach: Approach,
    drives: usize,
    /// Programs on each drive.
    streams: usize,
    /// Whether drivers order, as those of 4.2BSD do but for the UDA50's, or none does, as under VMS.
    driver_orders: bool,
}

/// Programs at once on a drive, where several are. Ours: enough that there is something to order, and no more than the
/// UDA50 takes from 4.2BSD at a time (eight, for two drives).
const STREAMS: usize = 4;

/// Bytes that are accessed of each drive, by all of its programs: those of the preset.
const BYTES: u64 = crate::presets::VAXMIX_BYTES.0;

/// Accesses of all programs of a drive. Ours: the mean of so many differs by 2 % at most from that of ten times as many.
const ACCESSES: u64 = 1000;

/// Accesses before the clock starts, so that buffers hold what is still to be written as they do later: more than there are
/// buffers of eight Kbytes in four megabytes of memory, also of writes alone.
const BEFORE: u64 = 300;

/// The seed of what is drawn.
const SEED: u64 = 1983;

/// All rows of the table, in their order.
fn rows() -> Vec<Row> {
    let row = |approach, drives, streams, driver_orders| Row { approach, drives, streams, driver_orders };
    let mut rows: Vec<Row> = [1, 2].map(|drives| row(Approach::Direct, drives, 1, true)).into();
    for approach in [Approach::Uniform, Approach::Local] {
        for (streams, driver_orders) in [(1, true), (STREAMS, true), (STREAMS, false)] {
            rows.extend([1, 2].map(|drives| row(approach, drives, streams, driver_orders)));
        }
    }
    rows
}

/// What comes of a row on one machine.
#[derive(Clone, Debug)]
struct Measured {
    /// The figure, for each way in which the platters stand.
    values: Vec<f64>,
    cpu_percent: f64,
    limited_by: &'static str,
}

impl Row {
    fn machine(&self, name: &str) -> Result<Machine, MachineFault> {
        let mut machine = Machine::load(name)?;
        if self.approach != Approach::Direct {
            if is_uda(name) {
                machine.set("controller.order=disksort")?;
            }
            if !self.driver_orders {
                machine.set("controller.queue=fifo")?;
            }
        }
        Ok(machine)
    }

    fn measure(&self, name: &str, phases: u32) -> Result<Measured, MachineFault> {
        let machine = self.machine(name)?;
        let run = |streams: &Streams, bytes: u64| -> Result<Vec<Outcome>, MachineFault> {
            let description = machine.describe(self.drives as u32, bytes * self.streams as u64)?;
            outcomes((&description, 0), (self.drives, self.streams), streams, bytes, phases)
                .map_err(|invalid| machine.impossible(&invalid, None))
        };
        let Some(mix) = self.approach.mix() else {
            let tests = Classic::ALL.into_iter().map(|classic| run(&Test::Classic(classic).streams(), FILE_BYTES));
            let tests = tests.collect::<Result<Vec<_>, _>>()?;
            return Ok(measured(&tests, |outcome| outcome.milli_kbytes_per_second() as f64 / 1000.0));
        };
        let (bytes, accesses) = (BYTES / self.streams as u64, ACCESSES / self.streams as u64);
        let outcomes = run(&streams(mix, bytes, accesses, BEFORE / self.streams as u64), bytes)?;
        let per_second = |program: &ProgramTime| accesses as f64 / program.elapsed.as_secs_f64();
        Ok(measured(&[outcomes], |outcome| outcome.programs.iter().map(per_second).sum()))
    }

    /// `2 drives, 4 programs on each, as VMS`
    fn label(&self) -> String {
        let drives = if self.drives == 1 { "1 drive".to_owned() } else { format!("{} drives", self.drives) };
        let streams = match (self.streams, self.drives) {
            (1, _) => String::new(),
            (streams, 1) => format!(", {streams} programs"),
            (streams, _) => format!(", {streams} programs on each"),
        };
        drives + &streams + if self.driver_orders { "" } else { ", as VMS" }
    }
}

fn is_uda(machine: &str) -> bool {
    machine.ends_with("uda50")
}

fn streams(mix: Mix, bytes: u64, accesses: u64, before: u64) -> Streams {
    let drawn = |accesses, seed| {
        let mut program = VaxMix { name: "mix", mix, bytes, accesses, seed }.program();
        (program.prepare, program.phases.remove(0).steps)
    };
    let (files, steps) = drawn(accesses, SEED);
    Streams { files, before: drawn(before, !SEED).1, steps }
}

/// The mean over tests of a figure, way by way, and what limited them all together.
fn measured(tests: &[Vec<Outcome>], figure: impl Fn(&Outcome) -> f64) -> Measured {
    let phases = tests.first().map_or(0, Vec::len);
    let count = tests.len() as f64;
    let values = (0..phases).map(|phase| tests.iter().map(|test| figure(&test[phase])).sum::<f64>() / count);
    let mut time = ProgramTime::default();
    let all = || tests.iter().flatten();
    all().flat_map(|outcome| &outcome.programs).for_each(|program| time.add(program));
    let cpu: f64 = all().map(|outcome| outcome.cpu_permille() as f64 / 10.0).sum();
    Measured { values: values.collect(), cpu_percent: cpu / (count * phases as f64), limited_by: limit(&time) }
}

/// The table, and what it says of the two controllers that all is about, over so many ways in which the platters stand.
pub fn approaches(phases: u32) -> Result<Approaches, MachineFault> {
    let columns: Vec<Column> = Column::all().filter(|column| ["T1", "T2"].contains(&column.table.id)).collect();
    let rows = rows();
    let keys: Vec<(Row, Column)> =
        rows.iter().flat_map(|row| columns.iter().map(move |column| (*row, *column))).collect();
    let figures = each(&keys, |(row, column)| row.measure(column.machine, phases));
    let figures = figures.into_iter().collect::<Result<Vec<Measured>, MachineFault>>()?;
    let mut cells = Vec::new();
    let mut ratios = Vec::new();
    for (row, figures) in rows.iter().zip(figures.chunks(columns.len())) {
        let intervals: Vec<Interval> = figures.iter().map(|figure| Interval::of(&figure.values)).collect();
        for (index, column) in columns.iter().enumerate() {
            let own = intervals[index];
            let rivals = columns.iter().zip(&intervals).filter(|(other, _)| other.table.id == column.table.id);
            cells.push(Transactions {
                approach: row.approach.name().to_owned(),
                computer: computer(*column).to_owned(),
                configuration: column.configuration().to_owned(),
                conditions: row.label(),
                drives: row.drives as u32,
                programs: (row.drives * row.streams) as u32,
                driver_orders: row.driver_orders,
                per_second: own.mean,
                unit: if row.approach == Approach::Direct { "Kbytes" } else { "transactions" }.to_owned(),
                low: own.low,
                high: own.high,
                rank: 1 + rivals.filter(|(_, other)| other.low > own.high).count() as u32,
                cpu_percent: figures[index].cpu_percent,
                limited_by: figures[index].limited_by.to_owned(),
            });
        }
        ratios.push(ratio(*row, &columns, figures));
    }
    let conclusions = [1, 2].map(|drives| conclusion(drives, &ratios)).into();
    Ok(Approaches { phases, cells, ratios, conclusions })
}

/// `VAX 11/780`
fn computer(column: Column) -> &'static str {
    column.table.title.rsplit(" - ").next().unwrap_or(column.table.title)
}

/// A mean and its interval; without a width where there is one value only.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Interval {
    mean: f64,
    low: f64,
    high: f64,
}

impl Interval {
    fn of(values: &[f64]) -> Interval {
        let (mean, half) = mean_and_half_width(values);
        let half = half.unwrap_or(0.0);
        Interval { mean, low: mean - half, high: mean + half }
    }
}

/// What the UDA50 gives of what the SC780 gives, both on the 11/780: way by way, so that its interval holds what both vary.
fn ratio(row: Row, columns: &[Column], figures: &[Measured]) -> Ratio {
    let of = |machine: &str| {
        let place = columns.iter().position(|column| column.machine == machine).expect("both are columns of table 2");
        &figures[place].values
    };
    let pairs = of("vax780-uda50").iter().zip(of("vax780-sc780"));
    let Interval { mean, low, high } = Interval::of(&pairs.map(|(uda, sc)| uda / sc).collect::<Vec<f64>>());
    let (approach, conditions) = (row.approach.name().to_owned(), row.label());
    Ratio { approach, conditions, drives: row.drives as u32, value: mean, low, high }
}

/// Which of the two is ahead: the UDA50, the SC780, or neither for certain.
fn ahead(ratio: &Ratio) -> Option<bool> {
    match () {
        () if ratio.low > 1.0 => Some(true),
        () if ratio.high < 1.0 => Some(false),
        () => None,
    }
}

/// Whether the ranking of the UDA50 and the SC780 on so many drives changes with the approach: in a sentence made of these
/// figures.
fn conclusion(drives: u32, ratios: &[Ratio]) -> String {
    let own = || ratios.iter().filter(|ratio| ratio.drives == drives);
    let (direct, indirect): (Vec<&Ratio>, Vec<&Ratio>) =
        own().partition(|ratio| ratio.approach == Approach::Direct.name());
    let [direct] = direct[..] else { return String::new() };
    let changed = |ratio: &&&Ratio| ahead(ratio).zip(ahead(direct)).is_some_and(|(now, before)| now != before);
    let open = |ratio: &&&Ratio| ahead(ratio).is_none() || ahead(direct).is_none();
    let names = |ratios: Vec<&&Ratio>| {
        let names = ratios.iter().map(|ratio| format!("{}, {} ({:.2})", ratio.approach, ratio.conditions, ratio.value));
        names.collect::<Vec<String>>().join("; ")
    };
    let changes: Vec<&&Ratio> = indirect.iter().filter(changed).collect();
    let unsure: Vec<&&Ratio> = indirect.iter().filter(open).collect();
    let values = || indirect.iter().map(|ratio| ratio.value);
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let verdict = match (changes.len(), unsure.len()) {
        (0, 0) => {
            format!("The ranking is the same in all {} rows: it does not depend on the approach.", indirect.len())
        }
        (0, _) => format!("The ranking changes in no row, and cannot be told in {}: {}.", unsure.len(), names(unsure)),
        (count, _) => format!(
            "The ranking changes in {count} of {} rows, as the authors suspect: {}.",
            indirect.len(),
            names(changes)
        ),
    };
    format!(
        "{drives} drive{}: the UDA50 with RA81s gives {:.2} ({:.2} to {:.2}) of what the SC780 with Eagles gives on the \
         11/780 by the direct approach, and {least:.2} to {most:.2} of it by the indirect one. {verdict}",
        if drives == 1 { "" } else { "s" },
        direct.value,
        direct.low,
        direct.high,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(approach: Approach, value: f64) -> Ratio {
        let (low, high) = (value - 0.01, value + 0.01);
        let conditions = "1 drive".to_owned();
        Ratio { approach: approach.name().to_owned(), conditions, drives: 1, value, low, high }
    }

    /// What is concluded follows from the figures: the same, another, or nothing for certain.
    #[test]
    fn the_sentence_goes_by_the_figures() {
        let say = |direct, uniform, local| {
            let ratios = [(Approach::Direct, direct), (Approach::Uniform, uniform), (Approach::Local, local)];
            conclusion(1, &ratios.map(|(approach, value)| ratio(approach, value)))
        };
        assert!(say(0.6, 0.7, 0.8).contains("the same in all 2 rows"));
        assert!(say(1.5, 1.2, 1.1).contains("the same in all 2 rows"));
        let changed = say(0.6, 1.2, 0.8);
        assert!(changed.contains("changes in 1 of 2 rows") && changed.contains("uniform, 1 drive (1.20)"), "{changed}");
        assert!(say(1.4, 0.9, 0.8).contains("changes in 2 of 2 rows"));
        assert!(say(0.6, 1.005, 0.8).contains("changes in no row, and cannot be told in 1: uniform"));
        assert!(say(1.0, 1.2, 0.8).contains("cannot be told in 2"));
    }

    /// Programs on one drive draw places of their own, and together bring more than one alone.
    #[test]
    fn several_programs_keep_a_drive_busier_than_one() {
        let row = |streams, driver_orders| Row { approach: Approach::Uniform, drives: 1, streams, driver_orders };
        let mean = |row: Row| Interval::of(&row.measure("vax780-sc780", 2).expect("a machine").values).mean;
        let (one, several, unordered) = (mean(row(1, true)), mean(row(4, true)), mean(row(4, false)));
        assert!(several > one && several > unordered, "{one} {several} {unordered}");
    }
}
