//! Does the ranking of the controllers depend on the approach?
//!
//! The direct approach reads and writes user files. The indirect approach, which DEC took and the paper did not
//! (section 3), draws accesses from a mix. The authors suspect two flaws of it. Random accesses show no locality,
//! unlike any real system. And only the UDA50 orders requests there, because VMS orders none (section 1).
//!
//! The rows show each effect separately: with and without locality, with one program at a time and several, and with
//! drivers that order requests or do not. The UDA50 orders requests in all rows, as section 2.1 says. The machines
//! under `machines/` were fitted to tests with sequential files, which give the UDA50 nothing to order.

use machines::{Machine, MachineFault};
use simulator::{Experiment, Outcome, ProgramTime};
use stats::compare::replication::{Approaches, Estimate, Ratio, Transactions};
use stats::figures::summary::mean_and_half_width;
use workload::Mix;
use workload::programs::classic1983::Classic;
use workload::programs::vaxmix::{SIMULATED_FILE, VaxMix};

use crate::columns::Column;
use crate::published::FileSystem;
use crate::simulation::{FILE_BYTES, Streams, Test, each, limit, outcomes};

/// An approach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Approach {
    /// The four programs of the paper, one after the other: the mean of their rates.
    Direct,
    /// Random accesses, uniformly distributed.
    Uniform,
    /// Random accesses with locality.
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
    /// Programs per drive.
    streams: usize,
    /// True if drivers order requests, as all drivers of 4.2BSD do except the UDA50's. False if none does, as under
    /// VMS.
    driver_orders: bool,
}

/// Programs per drive in the rows with several. A choice: enough to give something to order, and no more than the UDA50
/// takes from 4.2BSD at a time (eight, for two drives).
const STREAMS: usize = 4;

/// Bytes that all programs of a drive access together, as in the preset.
const BYTES: u64 = SIMULATED_FILE.0;

/// Accesses by all programs of a drive. A choice: with twice as many, as `simulate` uses, the rates of six seeds were
/// within 2 % of each other.
const ACCESSES: u64 = 1000;

/// Accesses before the clock starts, so that the cache contains dirty buffers as it does later. More than the number of
/// 8 Kbyte buffers in four megabytes of memory, even if all accesses are writes.
const BEFORE: u64 = 300;

/// Seed of the random accesses.
const SEED: u64 = 1983;

/// All rows of the table, in order.
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

/// Result of a row on one machine.
#[derive(Clone, Debug)]
struct Measured {
    /// The figure for each starting position of the platters.
    values: Vec<f64>,
    cpu_percent: f64,
    limited_by: &'static str,
}

impl Row {
    /// Loads the machine and replaces a part, unless `part` is empty.
    fn machine(&self, (name, part): (&str, &str)) -> Result<Machine, MachineFault> {
        let mut machine = Machine::load(name)?;
        if !part.is_empty() {
            machine.set(part)?;
        }
        if self.approach != Approach::Direct {
            if name.ends_with("uda50") {
                machine.set("controller.order=disksort")?;
            }
            if !self.driver_orders {
                machine.set("controller.queue=fifo")?;
            }
        }
        Ok(machine)
    }

    fn measure(&self, machine: (&str, &str), phases: u32) -> Result<Measured, MachineFault> {
        let machine = self.machine(machine)?;
        let run = |streams: &Streams, bytes: u64| -> Result<Vec<Outcome>, MachineFault> {
            let description = machine.describe(self.drives as u32, bytes * self.streams as u64)?;
            let experiment = streams.experiment(&description, FileSystem::Block8K);
            outcomes(Experiment { drives: self.drives, streams: self.streams, bytes, ..experiment }, phases)
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

    /// Formats `2 drives, 4 programs on each, as VMS`.
    fn label(&self) -> String {
        let streams = match (self.streams, self.drives) {
            (1, _) => String::new(),
            (streams, 1) => format!(", {streams} programs"),
            (streams, _) => format!(", {streams} programs on each"),
        };
        count(self.drives) + &streams + if self.driver_orders { "" } else { ", as VMS" }
    }
}

fn streams(mix: Mix, bytes: u64, accesses: u64, before: u64) -> Streams {
    let drawn = |accesses, seed| {
        let mut program = VaxMix { name: "mix", mix, bytes, accesses, seed }.program();
        (program.prepare, program.phases.remove(0).steps)
    };
    let (files, steps) = drawn(accesses, SEED);
    Streams { files, before: drawn(before, !SEED).1, steps }
}

/// Returns the mean of a figure over the tests, for each starting position, and the common bottleneck.
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

/// The two machines of the question.
const UDA: &str = "vax780-uda50";
const SC: &str = "vax780-sc780";

/// Returns the table and its conclusions about the UDA50 and the SC780, from `phases` starting positions of the
/// platters. The two are also compared with the same drives, because their drives differ more than the controllers:
/// RA81s seek for 28 ms, Eagles for 18 ms (sections 2.4 and 2.5).
pub fn approaches(phases: u32) -> Result<Approaches, MachineFault> {
    let columns: Vec<Column> = Column::all().filter(|column| ["T1", "T2"].contains(&column.table.id)).collect();
    let rows = rows();
    let machines: Vec<(&str, &str)> =
        columns.iter().map(|column| (column.machine, "")).chain([(UDA, "drive=eagle")]).collect();
    let keys: Vec<(Row, (&str, &str))> =
        rows.iter().flat_map(|row| machines.iter().map(move |machine| (*row, *machine))).collect();
    let figures = each(&keys, |(row, machine)| row.measure(*machine, phases));
    let figures = figures.into_iter().collect::<Result<Vec<Measured>, MachineFault>>()?;
    let mut cells = Vec::new();
    let mut ratios = Vec::new();
    for (row, figures) in rows.iter().zip(figures.chunks(machines.len())) {
        let intervals: Vec<Interval> = figures.iter().map(|figure| Interval::from_values(&figure.values)).collect();
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
        let of = |wanted: (&str, &str)| {
            let place = machines.iter().position(|machine| *machine == wanted).expect("both are in table 2");
            &figures[place].values
        };
        let ratio = |uda| Interval::of_ratio(of(uda), of((SC, "")));
        ratios.push((*row, [ratio((UDA, "")), ratio((UDA, "drive=eagle"))]));
    }
    let mut conclusions: Vec<String> = (0..DISKS.len()).map(|disks| conclusion(disks, &ratios)).collect();
    conclusions.push(reasons(&ratios));
    let ratios = ratios.iter().map(|(row, ratios)| Ratio {
        approach: row.approach.name().to_owned(),
        conditions: row.label(),
        as_sold: ratios[0].to_estimate(),
        same_drives: ratios[1].to_estimate(),
    });
    Ok(Approaches { phases, cells, ratios: ratios.collect(), conclusions })
}

/// The drives of the two machines, in the order of a row's ratios.
const DISKS: [&str; 2] =
    ["As they were sold, RA81s behind the UDA50 and Eagles behind the SC780", "With Eagles behind both"];

/// Formats `VAX 11/780`.
fn computer(column: Column) -> &'static str {
    column.table.title.rsplit(" - ").next().unwrap_or(column.table.title)
}

/// A mean with its confidence interval. A single value has an interval of width 0.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Interval {
    mean: f64,
    low: f64,
    high: f64,
}

impl Interval {
    fn from_values(values: &[f64]) -> Interval {
        let (mean, half) = mean_and_half_width(values);
        let half = half.unwrap_or(0.0);
        Interval { mean, low: mean - half, high: mean + half }
    }

    /// Returns the interval of the ratio, computed per starting position, so that common variation cancels.
    fn of_ratio(one: &[f64], other: &[f64]) -> Interval {
        Interval::from_values(&one.iter().zip(other).map(|(one, other)| one / other).collect::<Vec<f64>>())
    }

    fn to_estimate(self) -> Estimate {
        Estimate { value: self.mean, low: self.low, high: self.high }
    }
}

/// Ratio of the UDA50 to the SC780 for each row: with their own drives, and with the same drives.
type Ratios = [(Row, [Interval; 2])];

/// Returns whether the UDA50 is faster; `None` if the interval includes 1.
fn ahead(ratio: Interval) -> Option<bool> {
    match () {
        () if ratio.low > 1.0 => Some(true),
        () if ratio.high < 1.0 => Some(false),
        () => None,
    }
}

/// Returns a sentence that says whether the ranking of the two changes with the approach. Rows with the same number of
/// drives are compared.
fn conclusion(disks: usize, ratios: &Ratios) -> String {
    let mut direct = Vec::new();
    let (mut changed, mut open, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for (row, own) in ratios {
        let own = own[disks];
        if row.approach == Approach::Direct {
            direct.push((row.drives, own));
            continue;
        }
        let before = direct.iter().find(|(drives, _)| *drives == row.drives).and_then(|(_, before)| ahead(*before));
        let name = || format!("{}, {} ({:.2})", row.approach.name(), row.label(), own.mean);
        match ahead(own).zip(before) {
            Some((now, before)) if now != before => changed.push(name()),
            Some(_) => {}
            None => open.push(name()),
        }
        all.push(own.mean);
    }
    let directly: Vec<String> =
        direct.iter().map(|(drives, own)| format!("{:.2} on {}", own.mean, count(*drives))).collect();
    let (least, most) = (all.iter().copied().fold(f64::INFINITY, f64::min), all.iter().copied().fold(0.0, f64::max));
    let verdict = match (changed.len(), open.len()) {
        (0, 0) => format!(
            "the ranking of the two is the same in all {} rows, though the authors suspect that it is not.",
            all.len()
        ),
        (0, unsure) => {
            format!("the ranking of the two changes in no row, and cannot be told in {unsure}: {}.", open.join("; "))
        }
        (changes, _) => {
            format!(
                "the ranking of the two changes in {changes} of {} rows, as the authors suspect: {}.",
                all.len(),
                changed.join("; ")
            )
        }
    };
    format!(
        "{}: the ratio of the UDA50 to the SC780 is {} by the direct approach, and {least:.2} to {most:.2} by the \
            indirect \
         one; {verdict}",
        DISKS[disks],
        directly.join(" and "),
    )
}

/// Returns a sentence about the suspected causes, for the machines as they were sold. It has the mean change of the
/// ratio by locality, by several programs at once, and by drivers that do not order.
fn reasons(ratios: &Ratios) -> String {
    let mean = |changed: &dyn Fn(Row) -> Row| {
        let value = |wanted: Row| ratios.iter().find(|(row, _)| *row == wanted).map(|(_, own)| own[0].mean);
        let pairs = ratios.iter().filter(|(row, _)| row.approach != Approach::Direct && changed(*row) != *row);
        let changes = pairs.filter_map(|(row, own)| Some(value(changed(*row))? / own[0].mean));
        let changes: Vec<f64> = changes.collect();
        100.0 * (changes.iter().sum::<f64>() / changes.len() as f64 - 1.0)
    };
    let locality = mean(&|row| Row { approach: Approach::Local, ..row });
    let programs = mean(&|row| Row { streams: STREAMS, ..row });
    let unordered = mean(&|row| if row.streams == 1 { row } else { Row { driver_orders: false, ..row } });
    format!(
        "The ratio changes by {locality:+.0} % with locality, by {programs:+.0} % with {STREAMS} programs on a drive, \
            and by \
         {unordered:+.0} % if no driver orders requests, as under VMS (means of the rows, as they were sold)."
    )
}

/// Formats `1 drive`.
fn count(drives: usize) -> String {
    if drives == 1 { "1 drive".to_owned() } else { format!("{drives} drives") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{Figure, PHASES, Setup, measure};

    fn row(approach: Approach, streams: usize, driver_orders: bool) -> Row {
        Row { approach, drives: 1, streams, driver_orders }
    }

    /// The conclusion follows from the figures: same ranking, other ranking, or undecided.
    #[test]
    fn the_conclusion_follows_from_the_figures() {
        let say = |direct, uniform, local| {
            let ratios = [(Approach::Direct, direct), (Approach::Uniform, uniform), (Approach::Local, local)];
            let ratios = ratios.map(|(approach, mean)| {
                let own = Interval { mean, low: mean - 0.01, high: mean + 0.01 };
                (row(approach, 1, true), [own, own])
            });
            conclusion(0, &ratios)
        };
        assert!(say(0.6, 0.7, 0.8).contains("the same in all 2 rows"));
        assert!(say(1.5, 1.2, 1.1).contains("the same in all 2 rows"));
        let changed = say(0.6, 1.2, 0.8);
        assert!(
            changed.contains("changes in 1 of 2 rows, as the authors suspect: uniform, 1 drive (1.20)."),
            "{changed}"
        );
        assert!(changed.contains("0.60 on 1 drive") && changed.contains("0.80 to 1.20"), "{changed}");
        assert!(say(1.4, 0.9, 0.8).contains("changes in 2 of 2 rows"));
        assert!(say(0.6, 1.005, 0.8).contains("changes in no row, and cannot be told in 1: uniform"));
        assert!(say(1.0, 1.2, 0.8).contains("cannot be told in 2"));
    }

    #[test]
    fn each_reason_isolates_one_change() {
        let of = |mean| [Interval { mean, low: mean, high: mean }; 2];
        let ratios = [
            (row(Approach::Direct, 1, true), of(9.0)),
            (row(Approach::Uniform, 1, true), of(0.5)),
            (row(Approach::Uniform, STREAMS, true), of(0.6)),
            (row(Approach::Uniform, STREAMS, false), of(0.9)),
            (row(Approach::Local, 1, true), of(0.55)),
        ];
        let said = reasons(&ratios);
        assert!(said.contains("by +10 % with locality, by +20 % with 4 programs"), "{said}");
        assert!(said.contains("by +50 % if no driver orders requests"), "{said}");
    }

    /// The direct approach is the mean of the four rates that the tables print.
    #[test]
    fn the_direct_approach_matches_the_printed_tables() {
        let setups = Classic::ALL.map(|test| Setup::new(SC, FileSystem::Block8K, test, 1));
        let printed: f64 = measure(&setups).expect("a machine").iter().map(Figure::rate).sum();
        let own = row(Approach::Direct, 1, true).measure((SC, ""), PHASES).expect("a machine");
        let (mean, values) = (Interval::from_values(&own.values).mean, own.values.len());
        assert!((mean - printed / 4.0).abs() < 0.01 && values == PHASES as usize, "{mean} {printed}");
    }

    /// Programs on one drive access different blocks, and together are faster than one alone.
    #[test]
    fn several_programs_keep_a_drive_busier_than_one() {
        let mean = |streams, driver_orders| {
            let row = row(Approach::Uniform, streams, driver_orders);
            Interval::from_values(&row.measure((SC, ""), 2).expect("a machine").values).mean
        };
        let (one, several, unordered) = (mean(1, true), mean(STREAMS, true), mean(STREAMS, false));
        assert!(several > one && several > unordered, "{one} {several} {unordered}");
    }
}
