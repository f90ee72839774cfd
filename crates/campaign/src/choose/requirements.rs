//! Requirements on the results, as in `read>=200MiB/s,commit.p99<=5ms`. They do not depend on which target is faster.

use report::unit;
use serde::{Deserialize, Serialize};
use stats::compare::target_comparison::Row;
use stats::digits::significant;
use stats::figures::rate::beside_ratio;
use stats::inference::ratio_test::MARGIN;
use stats::judge::floor::P99_OPERATIONS;
use stats::{Cell, Latency, Need, OperationKind, Rate, RateBase};
use units::{Bytes, Nanos, whole};

use super::matching::{TestOperation, keys, with_operation};

/// A requirement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// The requirement, as typed.
    pub typed: String,
    /// The word for its programs.
    pub program: String,
    /// The required figure.
    #[serde(rename = "what")]
    pub figure: RequiredFigure,
}

/// The required figure of a program.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum RequiredFigure {
    /// Minimum number of bytes per second.
    BytesPerSecond(f64),
    /// Minimum number of files per second.
    FilesPerSecond(f64),
    /// Minimum number of units of work per second: reads or commits; for sequential tests, calls.
    UnitsPerSecond(f64),
    /// Maximum time of this number of operations in a thousand; 1000 means all of them.
    Within(u32, Nanos),
}

/// Percentiles that a cell has, in thousandths.
pub const PERCENTILES: [(&str, u32); 5] = [("p50", 500), ("p90", 900), ("p99", 990), ("p999", 999), ("max", 1000)];

/// Parses requirements, separated by commas.
pub fn parse_conditions(text: &str) -> Result<Vec<Condition>, String> {
    text.split(',').map(|typed| condition(typed.trim())).collect()
}

fn condition(typed: &str) -> Result<Condition, String> {
    let form = || format!("{typed:?} is not of the form read>=200MiB/s or commit.p99<=5ms");
    let (name, at_least, value) = match (typed.split_once(">="), typed.split_once("<=")) {
        (Some((name, value)), None) => (name.trim(), true, value.trim()),
        (None, Some((name, value))) => (name.trim(), false, value.trim()),
        _ => return Err(form()),
    };
    let percentile = name.rsplit_once('.').and_then(|(name, word)| {
        let (_, part) = PERCENTILES.iter().find(|(percentile, _)| *percentile == word)?;
        Some((name, *part))
    });
    let (program, figure) = match (percentile, at_least) {
        (Some((program, part)), false) => {
            let time = value.parse::<Nanos>().map_err(|error| format!("{typed}: {error}"))?;
            (program, RequiredFigure::Within(part, time))
        }
        (None, true) => {
            (name, rate(value).ok_or_else(|| format!("{value:?} is not a rate such as 200MiB/s or 500/s"))?)
        }
        (Some(_), true) => return Err(format!("{typed}: a time has an upper limit: write <=")),
        (None, false) if name.contains('.') || value.parse::<Nanos>().is_ok() => {
            let known = PERCENTILES.map(|(percentile, _)| percentile).join(", ");
            return Err(format!("{typed}: name a percentile of the latency ({known}), as in commit.p99<=5ms"));
        }
        (None, false) => return Err(format!("{typed}: a rate has a lower limit: write >=")),
    };
    if program.is_empty() {
        Err(form())
    } else {
        Ok(Condition { typed: typed.to_owned(), program: program.to_owned(), figure })
    }
}

/// Parses `200MiB/s`, `200 MB/s`, `500/s`, `500ops/s` or `500 files/sec`.
fn rate(text: &str) -> Option<RequiredFigure> {
    let amount = text.strip_suffix("/s").or_else(|| text.strip_suffix("/sec"))?.trim();
    let end = amount.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(amount.len());
    let (number, unit) = amount.split_at(end);
    let number = number.parse::<f64>().ok().filter(|number| *number > 0.0)?;
    Some(match unit.trim() {
        "files" => RequiredFigure::FilesPerSecond(number),
        "" | "ops" | "commits" | "reads" | "calls" => RequiredFigure::UnitsPerSecond(number),
        _ => RequiredFigure::BytesPerSecond(amount.parse::<Bytes>().ok()?.0 as f64),
    })
}

impl Condition {
    /// True if a program that counts this can meet the requirement at all.
    pub fn can_be_asked(&self, base: RateBase) -> bool {
        !matches!(self.figure, RequiredFigure::FilesPerSecond(_)) || base == RateBase::Files
    }

    /// True if a kind of operation can meet the requirement at all: it has a time, and a number per second.
    pub fn can_be_asked_of_operations(&self) -> bool {
        matches!(self.figure, RequiredFigure::Within(..) | RequiredFigure::UnitsPerSecond(_))
    }

    /// Judges each target: it must meet the requirement in all rows that the word matches. `operations` are those of
    /// the plan: a test without any result may have the operation, and the requirement is then not known to be met.
    pub fn judge(&self, rows: &[Row], names: &[&str], operations: &[TestOperation]) -> Vec<Need> {
        let has_operation = |row: usize, kind| {
            let Row { key: (program, phase, _), cells } = &rows[row];
            let mut measured = cells.iter().flatten().filter(|cell| cell.measured).peekable();
            let is_planned = || operations.contains(&((*program, *phase), kind));
            match measured.peek() {
                Some(_) => measured.any(|cell| cell.operation(kind).is_some()),
                None => is_planned(),
            }
        };
        let (meant, kind) = with_operation(&self.program, &keys(rows), has_operation);
        let of_target = |(place, name): (usize, &&str)| {
            let figures: Vec<Figure> =
                meant.iter().filter_map(|row| self.met(rows[*row].cells[place]?, kind)).collect();
            let met = match figures.len() {
                0 => None,
                _ if figures.iter().any(|figure| figure.met == Some(false)) => Some(false),
                _ if figures.iter().any(|figure| figure.met.is_none()) || figures.len() < meant.len() => None,
                _ => Some(true),
            };
            // The figure that decides; of several, the worst. Without any, a test has no result.
            let decides = |figure: &&Figure| figure.met == met;
            let worst = figures
                .iter()
                .max_by(|one, other| decides(one).cmp(&decides(other)).then(one.of_limit.total_cmp(&other.of_limit)));
            let measured = worst.map(|figure| figure.words.clone());
            Need { condition: self.typed.clone(), target: (*name).to_owned(), measured, met }
        };
        names.iter().enumerate().map(of_target).collect()
    }

    /// The measured figure, and whether it meets the requirement. Returns `None` if nothing was measured.
    fn met(&self, cell: &Cell, kind: Option<OperationKind>) -> Option<Figure> {
        let warning = cell.undeciding().next();
        let figure = self.met_as_labelled(cell, kind)?;
        let Figure { words, met, .. } = &figure;
        // The rate may be that of a cache, but the requirement is for the disk.
        Some(match warning {
            Some(code) => Figure { words: format!("{words}, warning {}", code.name()), met: None, ..figure },
            // A hidden cache makes a rate higher: a rate that is too low even so is too low.
            None if cell.is_unverified() => {
                Figure { words: format!("{words}, unverified"), met: met.filter(|is_met| !is_met), ..figure }
            }
            None => figure,
        })
    }

    /// The figure and its verdict, without regard to warnings: of the units of work, or of a kind of operation.
    fn met_as_labelled(&self, cell: &Cell, kind: Option<OperationKind>) -> Option<Figure> {
        let operation = kind.map(|kind| cell.operation(kind).ok_or(kind));
        let least = match self.figure {
            RequiredFigure::Within(part, time) => {
                let latency = match operation {
                    Some(operation) => operation.ok()?.latency_ns?,
                    None => cell.latency_ns?,
                };
                let at = |part| match part {
                    500 => Some(latency.p50),
                    900 => latency.p90,
                    990 => latency.p99,
                    999 => latency.p999,
                    _ => Some(latency.max),
                };
                let (nanos, limit) = (at(part)?, time.0);
                // Some operations may have used burst credits that came back. Without them, the percentile is higher,
                // but not higher than the next one. A share of them within the margin of comparisons does not matter.
                let of_credits = 1.0 - (-cell.rest_excess(|_| true)).exp();
                let next = PERCENTILES.iter().map(|(_, other)| *other).find(|other| *other > part).unwrap_or(part);
                let is_short = |part| at(part).is_some_and(|nanos| nanos <= limit);
                let is_sustained = of_credits <= MARGIN || (of_credits <= OF_CREDITS && is_short(next));
                let met = match nanos <= limit {
                    true => (is_sustained && !is_late(cell)).then_some(true),
                    false => Some(false),
                };
                let of_limit = nanos as f64 / limit as f64;
                return Some(Figure { words: timed(nanos, part, &latency, cell), met, of_limit });
            }
            RequiredFigure::BytesPerSecond(least)
            | RequiredFigure::UnitsPerSecond(least)
            | RequiredFigure::FilesPerSecond(least) => least,
        };
        if let Some(operation) = operation {
            let rate = operation.ok()?.rate.as_ref()?;
            let RequiredFigure::UnitsPerSecond(least) = self.figure else { return None };
            return Some(Figure {
                words: format!("{} ops/s", significant(rate.per_second, 3)),
                met: decided(cell, rate, 1.0, least),
                of_limit: least / rate.per_second,
            });
        }
        // The figure of the table below, of all kept rounds: an outlier widens its interval.
        let rate = beside_ratio(cell, cell.rate.as_ref()?, |_| true)?;
        // The rounds have both bytes and units of work, so each rate can be converted into the other.
        let (bytes, ops) = cell.kept().fold((0, 0), |(bytes, ops), round| (bytes + round.bytes, ops + round.ops));
        let bytes_each = (ops > 0 && bytes > 0).then(|| bytes as f64 / ops as f64);
        let scale = match (self.figure, rate.base) {
            (RequiredFigure::BytesPerSecond(_), RateBase::Files | RateBase::Ops) => bytes_each?,
            (RequiredFigure::UnitsPerSecond(_), RateBase::Bytes) => 1.0 / bytes_each?,
            (RequiredFigure::FilesPerSecond(_), RateBase::Bytes | RateBase::Ops) => return None,
            _ => 1.0,
        };
        let met = decided(cell, &rate, scale, least);
        let words = match self.figure {
            RequiredFigure::BytesPerSecond(_) => {
                format!("{} MiB/s", significant(rate.per_second * scale / f64::from(1 << 20), 3))
            }
            _ if rate.base == RateBase::Bytes => format!("{} calls/s", significant(rate.per_second * scale, 3)),
            _ => format!("{} {}", significant(rate.value, 3), unit(&rate.unit)),
        };
        Some(Figure { words, met, of_limit: least / (rate.per_second * scale) })
    }
}

/// A measured figure under a requirement.
struct Figure {
    /// The figure in words.
    words: String,
    /// Whether it meets the requirement; `None` if the interval does not decide that.
    met: Option<bool>,
    /// A time divided by its limit, or the limit of a rate divided by the rate. The worst figure has the largest
    /// quotient.
    of_limit: f64,
}

/// Returns true if the rate of a cell is at least this; `None` if its interval does not decide that. Burst credits that
/// came back while the target rested may have raised the rate, so the lower end is lower by that.
fn decided(cell: &Cell, rate: &Rate, scale: f64, least: f64) -> Option<bool> {
    let sustained = scale / cell.rest_excess(|_| true).exp();
    // A single round has no interval, and is no answer.
    rate.low.zip(rate.high).and_then(|(low, high)| match (low * sustained >= least, high * scale < least) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    })
}

/// The largest share of operations that may have used burst credits, if the others are known from the next percentile:
/// if four fifths had short latencies, the median of the others is the 90th percentile of all. For the other
/// percentiles, nine tenths would be possible.
const OF_CREDITS: f64 = 0.8;

/// True if operations of an open loop are missing: more were due within the time than were done. The rest were so late
/// that they never ran. With random starts (`poisson`), the number that is due varies: its standard deviation is its
/// square root, and three deviations fewer prove nothing.
fn is_late(cell: &Cell) -> bool {
    let (Some(rate), Some(millis)) = (cell.number("rate"), cell.number("within_ms")) else { return false };
    let (rounds, done) = cell.kept().fold((0, 0), |(rounds, done), round| (rounds + 1, done + round.ops));
    let due = rate as f64 * millis as f64 / 1000.0 * f64::from(rounds);
    let scatter = if cell.word("arrivals") == Some("poisson") { 3.0 * due.sqrt() } else { 0.0 };
    // Each round, and each of its programs, may end one operation earlier.
    let programs = cell.number("jobs").unwrap_or(1).max(1) as f64;
    (done as f64) < due - scatter - programs * f64::from(rounds)
}

/// A latency in words. A 99th percentile of few operations is given with their number.
fn timed(nanos: u64, part: u32, latency: &Latency, cell: &Cell) -> String {
    let is_rare = part == 990 && latency.count < P99_OPERATIONS && !cell.is_simulated();
    let of = if is_rare { format!(" of {} operations", whole(latency.count)) } else { String::new() };
    format!("{}{of}", Nanos(nanos))
}

#[cfg(test)]
mod tests {
    use stats::figures::rate::{self, Average};
    use stats::figures::summary::RateUnit;
    use stats::judge::floor::{Quantity, Shortfall};
    use stats::{ClockKind, LatencyKind, OperationFigures, Provenance, Round};

    use super::*;

    /// A cell of this rate in operations per second, with this half of its interval.
    fn cell(per_second: f64, half: Option<f64>) -> Cell {
        let rate = Rate {
            per_second,
            base: RateBase::Ops,
            value: per_second,
            unit: "ops/sec".to_owned(),
            low: half.map(|half| per_second - half),
            high: half.map(|half| per_second + half),
            confidence: 0.95,
            rounds: 6,
            range: None,
        };
        Cell {
            rate: Some(rate),
            measured: true,
            ..Cell::named(Provenance::Measured, "quick", "randread", "randread", "a")
        }
    }

    impl Condition {
        /// The figure in words, and whether it meets the requirement.
        fn told(&self, cell: &Cell) -> Option<(String, Option<bool>)> {
            self.met(cell, None).map(|figure| (figure.words, figure.met))
        }
    }

    fn met(typed: &str, cell: &Cell) -> Option<bool> {
        parse_conditions(typed).expect("a condition")[0].told(cell).and_then(|(_, met)| met)
    }

    #[test]
    fn a_rate_is_known_only_with_an_interval_and_enough_data() {
        assert_eq!(met("randread>=3000/s", &cell(4000.0, Some(100.0))), Some(true));
        assert_eq!(met("randread>=3000/s", &cell(2000.0, Some(100.0))), Some(false));
        assert_eq!(met("randread>=3000/s", &cell(3000.0, Some(100.0))), None);
        assert_eq!(met("randread>=3000/s", &cell(4000.0, None)), None);
        let below_floor = Some(Shortfall { quantity: Quantity::Time, is: 1, least: 2 });
        for per_second in [2000.0, 4000.0] {
            let lacking = Cell { below_floor, ..cell(per_second, Some(100.0)) };
            assert_eq!(met("randread>=3000/s", &lacking), None);
        }
    }

    /// A target with 100 operations per second does 110 in a second after a rest of 0.1 s.
    #[test]
    fn credits_of_a_rest_do_not_meet_a_requirement() {
        let rested = |rested_s| {
            let rounds = vec![Round { ops: 110, returned_s: 1.0, rested_s, ..Round::default() }; 6];
            Cell { rounds, ..cell(110.0, Some(1.0)) }
        };
        let met = |typed, rested_s| met(typed, &rested(rested_s));
        assert_eq!((met("randread>=105/s", None), met("randread>=105/s", Some(0.1))), (Some(true), None));
        assert_eq!((met("randread>=95/s", Some(0.1)), met("randread>=115/s", Some(0.1))), (Some(true), Some(false)));
    }

    /// Four rounds of five reach 6,000 operations per second. The table of a choice prints the geometric mean, 9,870.
    #[test]
    fn an_outlier_leaves_a_requirement_open() {
        let round = |ops: &u64| Round { ops: *ops, returned_s: 1.0, ..Round::default() };
        let rounds: Vec<Round> = [50_171, 6707, 6373, 6725, 6500].iter().map(round).collect();
        let of = (RateBase::Ops, ClockKind::Returned);
        let rate = rate::rate(&rounds, false, of, RateUnit { name: "ops/sec", size: 1.0 }, Average::Trimmed);
        assert!(rate.as_ref().and_then(|rate| rate.low).is_some_and(|low| low > 6000.0), "{rate:?}");
        let cell = Cell { rate, rounds, ..cell(1.0, None) };
        assert_eq!((met("randread>=6000/s", &cell), met("randread>=3000/s", &cell)), (None, Some(true)));
        let said = parse_conditions("randread>=6000/s").expect("a condition")[0].told(&cell).expect("a figure").0;
        assert_eq!(said, "9,870 ops/s");
    }

    #[test]
    fn a_rare_percentile_is_given_with_its_operations() {
        let latency = |count| Latency {
            count,
            p50: 1000,
            p90: Some(2000),
            p99: Some(3000),
            p999: None,
            max: 4000,
            kind: LatencyKind::Service,
        };
        let said = |typed: &str, count| {
            let timed = Cell { latency_ns: Some(latency(count)), ..cell(1.0, None) };
            parse_conditions(typed).expect("a condition")[0].told(&timed).expect("a figure")
        };
        assert_eq!(said("randread.p99<=5us", 3210), ("3.00 us of 3,210 operations".to_owned(), Some(true)));
        assert_eq!(said("randread.p99<=2us", 10_000), ("3.00 us".to_owned(), Some(false)));
        assert_eq!(said("randread.p90<=5us", 3210).0, "2.00 us");
    }

    /// A round of 5 s with 100 operations per second. The device stalled at its end, and nine never ran.
    #[test]
    fn missing_late_operations_leave_a_latency_open() {
        let latency = Latency {
            count: 491,
            p50: 1000,
            p90: None,
            p99: Some(2000),
            p999: None,
            max: 8_000_000_000,
            kind: LatencyKind::Response,
        };
        let met = |typed: &str, ops, rested_s| {
            let round = Round { ops, returned_s: 5.0, rested_s, ..Round::default() };
            let mut cell = Cell { latency_ns: Some(latency), rounds: vec![round], ..cell(1.0, None) };
            for (name, number) in [("rate", 100), ("within_ms", 5000)] {
                cell.parameters.insert(name.to_owned(), stats::ParameterValue::Number(number));
            }
            met(typed, &cell)
        };
        let short = "randread.p99<=5us";
        assert_eq!([500, 499, 491].map(|ops| met(short, ops, None)), [Some(true), Some(true), None]);
        assert_eq!(met("randread.p99<=1us", 491, None), Some(false));
        // Credits came back in a rest of a second, and the 99.9th percentile is not known.
        assert_eq!(met(short, 500, Some(1.0)), None);
        assert_eq!(met("randread.p50<=5us", 500, Some(1.0)), None);
        assert_eq!(met("randread.p99<=9s", 500, Some(0.1)), Some(true), "a rest of 2 % of the round");
        assert_eq!([1.0, 60.0].map(|rest| met("randread.max<=9s", 500, Some(rest))), [Some(true), None]);
    }

    #[test]
    fn a_kind_of_operation_has_requirements_of_its_own() {
        let rate = cell(100.0, Some(1.0)).rate;
        let of = |p50| Latency {
            count: 20_000,
            p50,
            p90: None,
            p99: Some(3 * p50),
            p999: None,
            max: 9 * p50,
            kind: LatencyKind::Service,
        };
        let fsync =
            OperationFigures { operation: OperationKind::Fsync, count: 20_000, rate, latency_ns: Some(of(1_000_000)) };
        let both = Cell { operations: vec![fsync], latency_ns: Some(of(1000)), ..cell(4000.0, Some(100.0)) };
        let bare = cell(4000.0, Some(100.0));
        let row = |cell| Row { key: ("randread", "randread", 0), cells: vec![Some(cell)] };
        let met = |typed: &str, cell| {
            let needs = parse_conditions(typed).expect("a condition")[0].judge(&[row(cell)], &["a"], &[]);
            (needs[0].measured.clone(), needs[0].met)
        };
        assert_eq!(met("fsync.p99<=5ms", &both), (Some("3.00 ms".to_owned()), Some(true)));
        assert_eq!(met("randread.fsync.p99<=2ms", &both), (Some("3.00 ms".to_owned()), Some(false)));
        assert_eq!(met("randread.p99<=5us", &both), (Some("3.00 us".to_owned()), Some(true)));
        assert_eq!(met("fsync>=50/s", &both), (Some("100 ops/s".to_owned()), Some(true)));
        assert_eq!(met("fsync.p99<=5ms", &bare), (None, None));
        // A second test has no result.
        let failed = Cell::named(Provenance::Measured, "job", "data", "data", "a");
        let rows = [row(&both), Row { key: ("data", "data", 0), cells: vec![Some(&failed)] }];
        let met = |typed: &str, kind| {
            let planned = [(("data", "data"), kind)];
            parse_conditions(typed).expect("a condition")[0].judge(&rows, &["a"], &planned)[0].met
        };
        let [fsync, read] = [OperationKind::Fsync, OperationKind::Read];
        assert_eq!((met("fsync.p99<=5ms", fsync), met("fsync.p99<=2ms", fsync)), (None, Some(false)));
        assert_eq!(met("fsync.p99<=5ms", read), Some(true), "the other test only reads");
        let asked = |typed: &str| parse_conditions(typed).expect("a condition")[0].can_be_asked_of_operations();
        assert_eq!(
            ["read>=5MiB/s", "fsync>=5files/s", "fsync>=5/s", "fsync.max<=1s"].map(asked),
            [false, false, true, true]
        );
    }

    /// The word `read` means three tests.
    #[test]
    fn of_several_tests_the_worst_figure_decides() {
        let bytes = |mib: f64, half: Option<f64>| {
            let one = cell(mib * f64::from(1 << 20), half.map(|half| half * f64::from(1 << 20)));
            Cell { rate: one.rate.clone().map(|rate| Rate { base: RateBase::Bytes, ..rate }), ..one }
        };
        let latency = Latency {
            count: 20_000,
            p50: 1000,
            p90: None,
            p99: Some(3000),
            p999: None,
            max: 9000,
            kind: LatencyKind::Service,
        };
        let timed = |p99| {
            let latency_ns = Some(Latency { p99: Some(p99), ..latency });
            Cell { latency_ns, ..cell(1.0, None) }
        };
        let judged = |typed: &str, cells: [&Cell; 3]| {
            let keys = ["read_1", "read_2", "read_3"];
            let row = |(key, cell)| Row { key: (key, key, 0), cells: vec![Some(cell)] };
            let rows: Vec<Row> = keys.into_iter().zip(cells).map(row).collect();
            let need = parse_conditions(typed).expect("a condition")[0].judge(&rows, &["a"], &[]).remove(0);
            (need.measured.expect("a figure"), need.met)
        };
        let sure = Some(1.0);
        for (rates, said, met) in [
            ([(300.0, sure), (200.0, sure), (250.0, sure)], "200 MiB/s", Some(true)),
            ([(90.0, sure), (300.0, sure), (50.0, sure)], "50.0 MiB/s", Some(false)),
            // A rate that is surely too low decides, although another one may be lower.
            ([(90.0, sure), (60.0, None), (300.0, sure)], "90.0 MiB/s", Some(false)),
            ([(101.0, Some(9.0)), (99.0, Some(9.0)), (300.0, sure)], "99.0 MiB/s", None),
        ] {
            let [one, two, three] = rates.map(|(mib, half)| bytes(mib, half));
            let judged = judged("read>=100MiB/s", [&one, &two, &three]);
            assert_eq!(judged, (said.to_owned(), met), "{rates:?}");
        }
        let [one, two, three] = [6000, 9000, 2000].map(timed);
        assert_eq!(judged("read.p99<=5us", [&one, &two, &three]), ("9.00 us".to_owned(), Some(false)));
        assert_eq!(judged("read.p99<=10us", [&one, &two, &three]), ("9.00 us".to_owned(), Some(true)));
    }

    #[test]
    fn rates_need_minima_and_times_maxima() {
        let conditions = parse_conditions("read>=200MiB/s, commit.p99<=5ms,commit>=500/s,smallfb>=9files/s");
        let conditions = conditions.expect("conditions");
        let figures: Vec<(&str, RequiredFigure)> =
            conditions.iter().map(|one| (one.program.as_str(), one.figure)).collect();
        let expected = [
            ("read", RequiredFigure::BytesPerSecond(200.0 * f64::from(1 << 20))),
            ("commit", RequiredFigure::Within(990, Nanos::from_millis(5))),
            ("commit", RequiredFigure::UnitsPerSecond(500.0)),
            ("smallfb", RequiredFigure::FilesPerSecond(9.0)),
        ];
        assert_eq!(figures, expected);
        let asked = |base: RateBase| conditions.iter().map(|one| one.can_be_asked(base)).collect::<Vec<bool>>();
        assert_eq!((asked(RateBase::Bytes), asked(RateBase::Files)), (vec![true, true, true, false], vec![true; 4]));
        for refused in [
            "read",
            "read>=",
            "read>=5",
            "read<=200MiB/s",
            "commit.p99>=5ms",
            "commit.p99<=5",
            ">=5/s",
            "read>=-1/s",
            "",
        ] {
            assert!(parse_conditions(refused).is_err(), "{refused}");
        }
        for (refused, said) in [
            ("commit.p98<=1ms", "p50, p90, p99, p999, max"),
            ("commit<=1ms", "p50, p90, p99, p999, max"),
            ("read<=200MiB/s", "write >="),
            ("commit.p99>=5ms", "write <="),
        ] {
            assert!(parse_conditions(refused).is_err_and(|why| why.contains(said)), "{refused}");
        }
    }

    /// A hidden cache makes a result faster. So an unverified result can only be too slow.
    #[test]
    fn an_unverified_result_never_meets_a_requirement() {
        let rate = stats::Rate {
            per_second: 100.0,
            base: RateBase::Ops,
            value: 100.0,
            unit: "ops/sec".to_owned(),
            low: Some(90.0),
            high: Some(110.0),
            confidence: 0.95,
            rounds: 5,
            range: None,
        };
        let cell = |unverified: Option<&str>| {
            let mut cell = Cell::named(stats::Provenance::Measured, "quick", "commit", "commit", "a");
            cell.rate = Some(rate.clone());
            cell.state.unverified = unverified.map(str::to_owned);
            cell
        };
        let met =
            |typed: &str, cell: &Cell| parse_conditions(typed).expect("a condition")[0].told(cell).expect("a rate");
        for (typed, verified, unverified) in [
            ("commit>=50/s", Some(true), None),
            ("commit>=100/s", None, None),
            ("commit>=200/s", Some(false), Some(false)),
        ] {
            assert_eq!(met(typed, &cell(None)).1, verified, "{typed}");
            let (measured, is_met) = met(typed, &cell(Some("no device")));
            assert_eq!((measured.as_str(), is_met), ("100 ops/s, unverified", unverified), "{typed}");
        }
    }
}
