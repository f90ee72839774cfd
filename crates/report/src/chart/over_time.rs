//! The rate in each quarter of a second, round after round, a line for each target; and the events of that time at
//! their positions.
//!
//! Policy:
//!   1. all rounds are drawn with the same width, that of the longest: the same time in a round has the same position
//!      in each, so that targets can be compared;
//!   2. if a preset continues until a rate is steady, the earlier rounds are drawn too, on a shaded background;
//!   3. programs that ended too early to show anything have no chart: those with fewer than [`LEAST_INTERVALS`]
//!      quarters of a second;
//!   4. of the others, those with warnings about their rate over time come before those that merely took long;
//!   5. in many rounds the lines of several targets would cover each other: each target then has a small chart, with
//!      the axes and the colours of the one chart.

use std::collections::{BTreeMap, BTreeSet};

use stats::digits::significant;
use stats::figures::rate::RUNS;
use stats::figures::summary::rate_of;
use stats::{Cell, ClockKind, Document, INTERVAL, MarkCode, Provenance, RateBase, Round};

use super::cell_text::{self, Names};
use super::frame::{AXIS, Frame, LEFT, LINE, NARROW_GROUND, x_axis, y_axis};
use super::labels::Anchor;
use super::labels::{self, fitted};
use super::scale::{self, Scale};
use super::svg::{Along, Path, Shape, Svg};
use super::thinning::thinned;
use super::{Chart, NARROW, Subject};
use crate::cell_names::{CellNames, grouped};
use crate::presentation::Layout;
use crate::rate_format::{in_unit_of, time_each};

/// The most charts of a document, so that the page stays small.
const MOST_CHARTS: usize = 6;
/// The most small charts, each of one target. Those of the first program do not count.
const MOST_SMALL: usize = 12;
/// With more rounds than this, each target gets its own chart.
const MANY_ROUNDS: usize = 8;
/// The most points of a line: more than half of a phone's pixels for it.
const MOST_POINTS: usize = 120;
/// The most lines of a chart: the number of colours.
const MOST_LINES: usize = 6;
/// The fewest quarters of a second that show anything: two windows of `level`.
const LEAST_INTERVALS: usize = 4;
/// The most rounds that are drawn separately, with a line between them, marks and tooltips.
const MOST_TIPS: usize = 60;
/// The height of the plot area, in pixels.
const GROUND: f64 = 120.0;
/// From the name of the unit to the uppermost label of the axis, in pixels.
const UNDER_UNIT: f64 = 8.0;
/// The height of a row of marks above the plot area, in pixels.
const MARKS: f64 = 14.0;

/// A warning about a target: the rounds that it concerns, each with its text, or one text for all rounds.
#[derive(Default)]
struct Happening {
    rounds: BTreeMap<u32, String>,
    throughout: String,
}

/// Warnings by kind and target.
type Happened<'a> = BTreeMap<(MarkCode, &'a str), Happening>;

/// The same program on all targets.
struct Program<'a> {
    name: String,
    cells: Vec<&'a Cell>,
    has_all_rounds: bool,
}

/// Returns a chart for each program that took long enough.
pub(super) fn charts(document: &Document, layout: Layout) -> Vec<Chart> {
    let names = Names::from_document(document, false);
    let is_drawn = |cell: &&Cell| !cell.together && cell.rate.is_some() && cell.provenance != Provenance::Published;
    // 2.
    let has_all_rounds = layout == Layout::Device;
    let cell_names = CellNames::from_cells(&document.cells);
    let drawn = grouped(document.cells.iter().filter(is_drawn).map(|cell| (cell_names.name(cell), cell)));
    let mut programs: Vec<Program> =
        drawn.into_iter().map(|(name, cells)| Program { name, cells, has_all_rounds }).collect();
    // 3.
    programs.retain(|program| program.longest() >= LEAST_INTERVALS);
    // 4.
    let mut order: Vec<usize> = (0..programs.len()).collect();
    order.sort_by_cached_key(|place| {
        let program = &programs[*place];
        let is_marked = program.cells.iter().flat_map(|cell| &cell.marks).any(|mark| is_of_time(mark.code));
        (std::cmp::Reverse((is_marked, program.longest())), *place)
    });
    order.truncate(MOST_CHARTS);
    // 5.
    let mut small = 0;
    order.retain(|place| {
        let own = if programs[*place].is_split() { programs[*place].cells().len() } else { 0 };
        let fits = small == 0 || small + own <= MOST_SMALL;
        small += if fits { own } else { 0 };
        fits
    });
    order.sort_unstable();
    order.into_iter().flat_map(|place| programs[place].charts(&names)).collect()
}

/// True if the warning is about a rate over time.
fn is_of_time(code: MarkCode) -> bool {
    matches!(code, MarkCode::Step | MarkCode::Unsteady | MarkCode::Throttle)
}

/// Returns the shape of a warning, the same in all charts.
fn shape(code: MarkCode) -> Shape {
    match code {
        MarkCode::Step => Shape::Diamond,
        MarkCode::Throttle => Shape::Square,
        MarkCode::Noise => Shape::Up,
        _ => Shape::Circle { hollow: true },
    }
}

impl Program<'_> {
    /// The number of quarters of a second of the longest round.
    fn longest(&self) -> usize {
        self.cells.iter().flat_map(|cell| self.rounds(cell)).map(|round| round.intervals.len()).max().unwrap_or(0)
    }

    fn rounds<'a>(&self, cell: &'a Cell) -> impl Iterator<Item = &'a Round> + use<'a> {
        let has_all = self.has_all_rounds;
        cell.rounds.iter().filter(move |round| has_all || !round.discarded)
    }

    /// The results that are drawn: at most [`MOST_LINES`].
    fn cells(&self) -> &[&Cell] {
        &self.cells[..self.cells.len().min(MOST_LINES)]
    }

    /// The positions of all rounds of all results along the axis.
    fn slots(&self) -> Slots {
        let rounds = self.cells().iter().flat_map(|cell| self.rounds(cell));
        let numbers: BTreeSet<u32> = rounds.map(|round| round.round).collect();
        Slots { numbers: numbers.into_iter().collect(), longest: self.longest() }
    }

    /// 5. True if each target has its own chart.
    fn is_split(&self) -> bool {
        self.cells().len() > 1 && self.slots().numbers.len() > MANY_ROUNDS
    }

    /// Returns one chart, or one for each target.
    fn charts(&self, names: &Names) -> Vec<Chart> {
        let (cells, slots) = (self.cells(), self.slots());
        let lines = cells.iter().flat_map(|cell| self.line(cell, &slots)).flatten();
        let scale = Scale::round(lines.map(|(_, value)| value), 4);
        if !self.is_split() {
            return vec![self.chart(cells, &slots, &scale, (&self.name, names))];
        }
        let alone = |cell: &&Cell| {
            let title = format!("{} on {}", self.name, cell.target);
            Chart { series: Vec::new(), ..self.chart(&[cell], &slots, &scale, (&title, names)) }
        };
        cells.iter().map(alone).collect()
    }

    /// Returns the chart of some targets, under this title.
    fn chart(&self, cells: &[&Cell], slots: &Slots, scale: &Scale, (title, names): (&str, &Names)) -> Chart {
        let happened = self.happened(cells);
        let mut rows: BTreeMap<MarkCode, BTreeMap<u32, Vec<String>>> = BTreeMap::new();
        for ((code, target), happening) in &happened {
            for (round, text) in &happening.rounds {
                let tip = format!("{} in round {round} of {target}: {text}", code.name());
                rows.entry(*code).or_default().entry(*round).or_default().push(tip);
            }
        }
        let unit = cells[0].rate.as_ref().map_or("", |rate| rate.unit.as_str());
        let top = LINE + MARKS * rows.len() as f64 + UNDER_UNIT;
        let foot = top + GROUND;

        let mut svg = Svg::default();
        svg.text("tick", Along::Pixels(-LEFT), 11.0, Anchor::Start, &fitted(unit, NARROW));
        self.shade(&mut svg, slots, top, foot);
        let ticks = scale.ticks(4).into_iter().map(|tick| (scale.share(tick), scale::number(tick)));
        y_axis(&mut svg, ticks, top, foot);
        slots.axis(&mut svg, top, foot);
        for (row, (code, rounds)) in rows.iter().enumerate() {
            let y = LINE + MARKS * (row as f64 + 0.5);
            for (round, tips) in rounds.iter().take(MOST_TIPS) {
                let tip = tips.join("; ");
                let at = self.place(cells, *code, *round, slots);
                svg.upright("happened", at, y, foot);
                svg.shape("event", shape(*code), Along::Share(at), y, &tip);
            }
        }
        for cell in cells {
            let line = self.line(cell, slots);
            svg.open_series(&names.class(&cell.target), &names.series(&cell.target), "");
            let curve = line.iter().fold(Path::default(), |path, segment| curve(path, segment, scale));
            let points = line.iter().fold(Path::default(), |path, segment| point(path, segment, scale));
            svg.stretched(top, GROUND, &[("line", curve), ("points", points)]);
            svg.close("g");
        }
        self.tips(&mut svg, cells, slots, top);
        svg.text("tick", Along::Share(1.0), foot + AXIS + 10.0, Anchor::End, &slots.title());
        let mut y = foot + AXIS + LINE + 4.0;
        let note = |svg: &mut Svg, left: f64, y: f64, words: &str| {
            svg.text("label", Along::Pixels(left - LEFT), y + 12.0, Anchor::Start, words);
        };
        if self.rounds_discarded().next().is_some() {
            note(&mut svg, 0.0, y, "shaded: not yet steady, not counted");
            y += LINE;
        }
        // If data had to be durable, further seconds passed that no quarter of a second shows.
        if cells.iter().any(|cell| cell.state.clock != ClockKind::Returned) {
            for line in labels::lines(FLUSHED, NARROW) {
                note(&mut svg, 0.0, y, &line);
                y += LINE;
            }
        }
        for caption in captions(&happened) {
            let is_row = rows.contains_key(&caption.0);
            if is_row {
                svg.shape("event", shape(caption.0), Along::Pixels(6.0 - LEFT), y + 8.0, "");
            }
            let left = if is_row { 16.0 } else { 0.0 };
            for line in labels::lines(&caption.1, NARROW - 20.0) {
                note(&mut svg, left, y, &line);
                y += LINE;
            }
        }
        let figures: Vec<String> = cells.iter().map(|cell| self.describe_rates(cell)).collect();
        let frame = Frame {
            subject: Subject::OverTime,
            title: format!("{title}: {unit} in each quarter of a second"),
            series: names.all(),
            told: cell_text::describe_figures("Lines over the rounds", &figures),
        };
        frame.upright(svg, y + 4.0)
    }

    /// Returns the points of each round in the unit of the rate, thinned together. With very many rounds, it returns
    /// one line with a point for each round.
    fn line(&self, cell: &Cell, slots: &Slots) -> Vec<Vec<(f64, f64)>> {
        let rounds = self.rounds(cell).count().max(1);
        if rounds > MOST_POINTS / 2 {
            let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len().max(1) as f64;
            let middle = slots.longest as f64 / 2.0;
            let of_round = |round: &Round| (slots.share(round.round, middle), mean(series(cell, round)));
            let means: Vec<(f64, f64)> = self.rounds(cell).map(of_round).collect();
            return vec![thinned(&means, MOST_POINTS)];
        }
        let of_round = |round: &Round| {
            let points = series(cell, round).into_iter().enumerate();
            let points: Vec<(f64, f64)> =
                points.map(|(index, value)| (slots.share(round.round, index as f64 + 0.5), value)).collect();
            thinned(&points, (MOST_POINTS / rounds).max(2))
        };
        self.rounds(cell).map(of_round).collect()
    }

    /// Returns the warnings, and the drawn rounds that they concern.
    fn happened<'a>(&self, cells: &[&'a Cell]) -> Happened<'a> {
        let mut happened = Happened::new();
        for cell in cells {
            for mark in cell.marks.iter().filter(|mark| mark.code != MarkCode::Nested) {
                happened.entry((mark.code, &cell.target)).or_default().throughout.clone_from(&mark.text);
            }
            for round in self.rounds(cell) {
                for mark in round.marks.iter().filter(|mark| mark.code != MarkCode::Nested) {
                    let happening = happened.entry((mark.code, &cell.target)).or_default();
                    happening.rounds.insert(round.round, mark.text.clone());
                }
            }
            if let Some((round, _)) = Self::step(cell) {
                let happening = happened.entry((MarkCode::Step, &cell.target)).or_default();
                let text = happening.throughout.clone();
                happening.rounds.entry(round).or_insert(text);
            }
        }
        happened
    }

    /// Returns where the rate reached its last level, if the cell has that warning: the round, and the quarter of a
    /// second in it.
    fn step(cell: &Cell) -> Option<(u32, usize)> {
        cell.marks.iter().find(|mark| mark.code == MarkCode::Step)?;
        let last = cell.regimes.last()?;
        Some((last.first_round, (last.from_s / INTERVAL.as_secs_f64()) as usize))
    }

    /// Returns the position of a mark: the time in the round if it is known, or else the middle of the round.
    fn place(&self, cells: &[&Cell], code: MarkCode, round: u32, slots: &Slots) -> f64 {
        let step = || cells.iter().filter_map(|cell| Self::step(cell)).find(|(of, _)| *of == round);
        let at = if code == MarkCode::Step { step().map(|(_, index)| index as f64) } else { None };
        slots.share(round, at.unwrap_or(slots.longest as f64 / 2.0))
    }

    /// Returns the rounds that do not count.
    fn rounds_discarded(&self) -> impl Iterator<Item = u32> {
        let rounds = self.cells.iter().flat_map(|cell| self.rounds(cell)).filter(|round| round.discarded);
        rounds.map(|round| round.round).collect::<BTreeSet<u32>>().into_iter()
    }

    fn shade(&self, svg: &mut Svg, slots: &Slots, top: f64, foot: f64) {
        for round in self.rounds_discarded().take(MOST_TIPS) {
            let (from, to) = slots.ground(round);
            svg.rect("band", from, to, top, foot - top, "");
        }
    }

    /// Draws the tooltips of the rounds: the rate of each target.
    fn tips(&self, svg: &mut Svg, cells: &[&Cell], slots: &Slots, top: f64) {
        for number in slots.numbers.iter().take(MOST_TIPS) {
            let of_cell = |cell: &&Cell| {
                let round = self.rounds(cell).find(|round| round.round == *number)?;
                let rate = cell.rate.as_ref()?;
                let per_second = rate_of(cell, round, rate.base)?;
                let figure = match rate.unit.as_str() {
                    RUNS => format!("{}/run", time_each(per_second, 3)),
                    unit => format!("{} {unit}", significant(in_unit_of(rate, per_second), 3)),
                };
                Some(format!("{} {figure}", cell.target))
            };
            let figures: Vec<String> = cells.iter().filter_map(of_cell).collect();
            let tip = format!("round {number}: {}", figures.join(", "));
            let (from, to) = slots.ground(*number);
            svg.rect("hit", from, to, top, GROUND, &tip);
        }
    }

    /// `ext4 704 MiB/s in 5 rounds, between 620 and 800 in a quarter of a second`
    fn describe_rates(&self, cell: &Cell) -> String {
        let quarters: Vec<f64> = self.rounds(cell).flat_map(|round| series(cell, round)).collect();
        let (low, high) = quarters.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), &x| (low.min(x), high.max(x)));
        let digits = |value| significant(value, 3);
        let rounds = self.rounds(cell).count();
        let between = if quarters.is_empty() {
            String::new()
        } else {
            format!(", between {} and {} in a quarter of a second", digits(low), digits(high))
        };
        let s = if rounds == 1 { "" } else { "s" };
        format!("{} {} in {rounds} round{s}{between}", cell.target, cell_text::describe_rate(cell))
    }
}

/// Returns the amount per second in each quarter of a second of a round, in the unit of the rate. A copy transfers
/// every byte more often than its rate counts it (to the program and back), so its amounts are divided by that factor.
fn series(cell: &Cell, round: &Round) -> Vec<f64> {
    let Some(rate) = &cell.rate else { return Vec::new() };
    let moved: u64 = round.intervals.iter().map(|interval| interval.bytes).fold(0, u64::saturating_add);
    let times = match rate.base {
        RateBase::Bytes if round.bytes > 0 => moved.div_ceil(round.bytes).max(1) as f64,
        _ => 1.0,
    };
    let per_second = |interval| amount(cell, interval) as f64 / times / INTERVAL.as_secs_f64();
    round.intervals.iter().map(|interval| in_unit_of(rate, per_second(interval))).collect()
}

fn amount(cell: &Cell, interval: &stats::RateInterval) -> u64 {
    match cell.rate.as_ref().map(|rate| rate.base) {
        Some(RateBase::Bytes) | None => interval.bytes,
        Some(RateBase::Files | RateBase::Ops) => interval.ops,
    }
}

/// Adds a line through the points of a round.
fn curve(path: Path, points: &[(f64, f64)], scale: &Scale) -> Path {
    match points {
        [] | [_] => path,
        [(x, value), rest @ ..] => {
            rest.iter().fold(path.to(*x, high(*value, scale)), |path, (x, value)| path.line(*x, high(*value, scale)))
        }
    }
}

/// Adds a dot if a round has only one point.
fn point(path: Path, points: &[(f64, f64)], scale: &Scale) -> Path {
    match points {
        [(x, value)] => path.dot(*x, high(*value, scale)),
        _ => path,
    }
}

fn high(value: f64, scale: &Scale) -> f64 {
    GROUND * (1.0 - scale.share(value))
}

/// The most rounds that are listed with a warning.
const MOST_NUMBERS: usize = 8;

/// The note below charts of programs whose data had to be durable.
const FLUSHED: &str =
    "full quarters of a second until the last call returned; the rate also includes the time after it (flush)";

/// Returns the warnings in words with their reasons: `noise in round 1 of xfs: other virtual machines took 24 %`. If
/// the reasons of several rounds differ, the first one is printed.
fn captions(happened: &Happened) -> Vec<(MarkCode, String)> {
    let caption = |((code, target), happening): (&(MarkCode, &str), &Happening)| {
        let rounds = &happening.rounds;
        let mut numbers: Vec<String> = rounds.keys().take(MOST_NUMBERS).map(u32::to_string).collect();
        if rounds.len() > MOST_NUMBERS {
            numbers.push(format!("{} more", rounds.len() - MOST_NUMBERS));
        }
        let when = match &numbers[..] {
            [] => format!("* {}", code.name()),
            [one] => format!("{} in round {one}", code.name()),
            [most @ .., last] => format!("{} in rounds {} and {last}", code.name(), most.join(", ")),
        };
        let text = match rounds.first_key_value() {
            None => format!("{when} of {target}: {}", happening.throughout),
            Some((_, text)) if rounds.values().all(|other| other == text) => format!("{when} of {target}: {text}"),
            Some((first, text)) => format!("{when} of {target}, in round {first}: {text}"),
        };
        (*code, text)
    };
    happened.iter().map(caption).collect()
}

/// The positions of the rounds along the axis.
struct Slots {
    /// The numbers of the rounds, in order; at least one.
    numbers: Vec<u32>,
    /// The number of quarters of a second of the longest round.
    longest: usize,
}

/// The width of a round's number on the axis, in pixels.
const WIDTH_OF_NUMBER: f64 = 24.0;

/// The share of a round's width that stays empty, so that rounds are visibly separate.
const FREE: f64 = 0.08;

impl Slots {
    /// Returns the position of a time in a round, as a share of the width. `quarters` are quarters of a second from the
    /// start of the round.
    fn share(&self, round: u32, quarters: f64) -> f64 {
        let place = self.numbers.binary_search(&round).unwrap_or(0) as f64;
        let free = if self.numbers.len() == 1 { 0.0 } else { FREE };
        let within = free / 2.0 + (1.0 - free) * quarters / self.longest.max(1) as f64;
        (place + within) / self.numbers.len() as f64
    }

    /// Returns the two ends of a round, as shares of the width.
    fn ground(&self, round: u32) -> (f64, f64) {
        let place = self.numbers.binary_search(&round).unwrap_or(0) as f64;
        let count = self.numbers.len() as f64;
        (place / count, (place + 1.0) / count)
    }

    fn seconds(&self) -> f64 {
        self.longest as f64 * INTERVAL.as_secs_f64()
    }

    fn axis(&self, svg: &mut Svg, top: f64, foot: f64) {
        if let [_] = &self.numbers[..] {
            let scale = Scale::Linear(self.seconds());
            let labels = scale.ticks(4).into_iter().map(|tick| (scale.share(tick), scale::number(tick)));
            x_axis(svg, labels, NARROW_GROUND, top, foot);
            return;
        }
        let between = if self.numbers.len() > MOST_TIPS { 0..0 } else { 1..self.numbers.len() };
        for place in between {
            svg.upright("grid", place as f64 / self.numbers.len() as f64, top, foot);
        }
        let middle = self.longest as f64 / 2.0;
        let every = (self.numbers.len() as f64 * WIDTH_OF_NUMBER / NARROW_GROUND).ceil().max(1.0) as usize;
        let labels = self.numbers.iter().step_by(every);
        let labels = labels.map(|number| (self.share(*number, middle), number.to_string()));
        for label in labels::apart(labels, NARROW_GROUND) {
            svg.label(&label, foot + 15.0);
        }
        svg.level("axis", 0.0, 1.0, foot);
    }

    fn title(&self) -> String {
        let quarters = self.longest;
        if self.numbers.len() == 1 { "seconds".to_owned() } else { format!("rounds, of {quarters} quarters at most") }
    }
}
