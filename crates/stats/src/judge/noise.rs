//! Background load: judges whether other work on the machine disturbed a measurement. The thresholds apply to two
//! windows of observations: one before the measurement, in which no program of ours ran, and one during it.
//!
//! On a busy machine all cells are noisy. This is reported once for the run. A cell gets a star only if it is more
//! disturbed than the others: see [`stand_out`].

use std::collections::BTreeMap;

use units::Nanos;

use crate::figures::summary::median;
use crate::judge::marks::{Mark, MarkCode};
use crate::results::cell::Environment;
use crate::results::document::Noise;

/// Observations of the machine in a window of time. `None` means not observed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Window {
    /// Length of the window.
    pub elapsed: Nanos,
    /// Processors of the machine.
    pub cpus: u32,
    /// Bytes that the devices under the programs moved, for any program.
    pub device_bytes: Option<u64>,
    /// The part of them that was for our programs; `None` if it is unknown.
    pub own_bytes: Option<u64>,
    /// CPU time of our programs.
    pub ran: Nanos,
    /// CPU time of all other processes, without kernel threads, interrupts and the FUSE servers of our programs. The
    /// kernel counts it by clock ticks, so it is inexact in a short window. A server that is not visible counts.
    pub others: Option<Nanos>,
    /// Time in which our programs were runnable but no processor was free.
    pub waited: Option<Nanos>,
    /// Time in which any task waited for a processor.
    pub cpu_pressure: Option<Nanos>,
    /// Time in which any task waited for a device.
    pub io_pressure: Option<Nanos>,
    /// CPU steal: time in which other virtual machines had our processors, summed over processors.
    pub steal: Option<Nanos>,
    /// The largest delay of many short sleeps.
    pub overslept: Option<Nanos>,
    /// Number of times that a process dropped the page cache of the machine (drop_caches).
    pub drops: Option<u64>,
    /// Bytes of other programs' files that were evicted from the page cache and read again.
    pub refaulted_bytes: Option<u64>,
}

impl Window {
    /// Adds two windows that do not overlap. A value that was not observed in one of them is `None` in the sum.
    pub fn and(&self, other: &Window) -> Window {
        fn both<T: std::ops::Add<Output = T>>(a: Option<T>, b: Option<T>) -> Option<T> {
            a.zip(b).map(|(a, b)| a + b)
        }
        Window {
            elapsed: self.elapsed + other.elapsed,
            cpus: self.cpus.max(other.cpus),
            device_bytes: both(self.device_bytes, other.device_bytes),
            own_bytes: both(self.own_bytes, other.own_bytes),
            ran: self.ran + other.ran,
            others: both(self.others, other.others),
            waited: both(self.waited, other.waited),
            cpu_pressure: both(self.cpu_pressure, other.cpu_pressure),
            io_pressure: both(self.io_pressure, other.io_pressure),
            steal: both(self.steal, other.steal),
            overslept: self.overslept.max(other.overslept),
            drops: both(self.drops, other.drops),
            refaulted_bytes: both(self.refaulted_bytes, other.refaulted_bytes),
        }
    }

    /// Adds all windows. Returns `None` if there are none.
    pub fn sum(windows: impl IntoIterator<Item = Window>) -> Option<Window> {
        windows.into_iter().reduce(|sum, window| sum.and(&window))
    }

    /// Returns the window with `own_bytes` filled in. If they are unknown, they are all bytes minus those that the
    /// window before lets expect of other programs. Windows of different kinds can only be added after this.
    pub fn settled(self, before: &Window) -> Window {
        let own = foreign_bytes(before, &self).zip(self.device_bytes).map(|(foreign, all)| all - foreign.min(all));
        Window { own_bytes: own, ..self }
    }

    /// Returns the part of `waited` that other programs can have caused: at most their CPU time.
    fn taken(&self, waited: Option<Nanos>) -> Option<Nanos> {
        waited.map(|waited| self.others.map_or(waited, |others| waited.min(others)))
    }
}

/// The kinds of disturbances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The devices worked for other programs.
    Device,
    /// Other programs used the processors.
    Others,
    /// Tasks waited for processors.
    CpuPressure,
    /// The programs waited for processors.
    Waiting,
    /// CPU steal: other virtual machines had the processors.
    Steal,
    /// Short sleeps took too long.
    Jitter,
    /// A task waited for devices before our programs ran.
    IoPressure,
    /// A process dropped the page cache.
    Drops,
    /// Memory was short.
    Memory,
}

/// Background load that was found in a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disturbance {
    /// The kind of disturbance.
    pub kind: Kind,
    /// The observed value, in the unit of its threshold.
    pub value: f64,
    /// The value from which it counts as a disturbance.
    pub threshold: f64,
}

impl Kind {
    /// True if the disturbance is a cause, not an effect of one.
    fn is_cause(self) -> bool {
        match self {
            Kind::Device | Kind::Others | Kind::Steal | Kind::Drops | Kind::Memory => true,
            Kind::CpuPressure | Kind::Waiting | Kind::Jitter | Kind::IoPressure => false,
        }
    }

    /// The name in a summary.
    const fn name(self) -> &'static str {
        match self {
            Kind::Device => "I/O of other programs",
            Kind::Others => "other programs on the CPU",
            Kind::CpuPressure => "CPU pressure",
            Kind::Waiting => "waiting for a processor",
            Kind::Steal => "CPU steal",
            Kind::Jitter => "late timers",
            Kind::IoPressure => "I/O pressure",
            Kind::Drops => "dropped caches",
            Kind::Memory => "pages read again",
        }
    }
}

impl Disturbance {
    /// Returns the value as a multiple of its threshold.
    pub fn weight(&self) -> f64 {
        self.value / self.threshold
    }

    /// Returns the disturbance as a mark.
    pub fn mark(&self) -> Mark {
        Mark { code: MarkCode::Noise, value: Some(self.value), text: self.text() }
    }

    /// Returns the value with its unit, for a summary. A dropped cache has no amount.
    fn amount(&self) -> Option<String> {
        match self.kind {
            Kind::Drops => None,
            Kind::Jitter => Some(format!("{:.0} ms", 1000.0 * self.value)),
            _ => Some(format!("{:.0} %", 100.0 * self.value)),
        }
    }

    /// Describes the disturbance in words.
    pub fn text(&self) -> String {
        let percent = 100.0 * self.value;
        match self.kind {
            Kind::Device => format!("the device moved {percent:.0} % more bytes than the test"),
            Kind::Others => format!("other programs took {percent:.0} % of the CPU"),
            Kind::CpuPressure => format!("CPU pressure {percent:.0} % of the time"),
            Kind::Waiting if self.value > 1.0 => {
                format!("the test waited for a processor for {:.1} times its CPU time", self.value)
            }
            Kind::Waiting => format!("the test waited for a processor for {percent:.0} % of its CPU time"),
            Kind::Steal => format!("CPU steal {percent:.0} %"),
            Kind::Jitter => format!("a sleep of 1 ms took {:.0} ms longer", 1000.0 * self.value),
            Kind::IoPressure => format!("I/O pressure {percent:.0} % of the time before"),
            Kind::Drops => "another program dropped the machine's caches".to_owned(),
            Kind::Memory => format!("pages read again after eviction: {percent:.0} % of the bytes read"),
        }
    }
}

// The thresholds. Unless stated otherwise, each is a share of the window. All are conventions of this project.

/// Share of our programs' bytes.
const DEVICE: f64 = 0.02;
/// Share of the time of all processors.
const OTHERS: f64 = 0.10;
/// In a shorter window, the clock ticks are too few to detect a tenth of the processors' time: at 100 Hz, 50 ticks on
/// two processors.
const OTHERS_NEED: Nanos = Nanos::from_millis(250);
const CPU_PRESSURE: f64 = 0.10;
/// Share of our programs' CPU time.
const WAITING: f64 = 0.02;
/// Share of the time of all processors.
const STEAL: f64 = 0.01;
/// Seconds.
const JITTER: f64 = 0.005;
/// Share of the window before.
const IO_PRESSURE: f64 = 0.01;
/// A count: one drop is a disturbance.
const DROPS: f64 = 1.0;
/// Share of our programs' bytes.
const MEMORY: f64 = 0.02;

/// Returns the disturbances of a measurement, the worst first. `before` is a window in which no program of ours ran.
pub fn disturbances(before: &Window, during: &Window) -> Vec<Disturbance> {
    let mut found: Vec<Disturbance> =
        checks(before, during).into_iter().flatten().filter(|check| check.value >= check.threshold).collect();
    found.sort_by(|a, b| b.weight().total_cmp(&a.weight()));
    found
}

/// Returns the environment that a figure may claim. It is `Quiet` only if the processors were observed, and the devices
/// were observed or the programs use none.
pub fn environment(before: &Window, during: &Window) -> Environment {
    let checks = checks(before, during);
    let seen = |kind: Kind| checks.iter().flatten().any(|check| check.kind == kind);
    let uses_no_device = during.device_bytes.is_none() && before.device_bytes.is_none();
    if checks.iter().flatten().any(|check| check.value >= check.threshold) {
        Environment::Noisy
    } else if (seen(Kind::Waiting) || seen(Kind::CpuPressure)) && (seen(Kind::Device) || uses_no_device) {
        Environment::Quiet
    } else {
        Environment::NotMeasured
    }
}

/// Computes every check that the observations allow.
///
/// A task that waits for a processor may wait for our own programs, or for kernel work on their behalf. So the waiting
/// time counts only up to the CPU time of other programs.
fn checks(before: &Window, during: &Window) -> [Option<Disturbance>; 9] {
    let check = |kind, value: Option<f64>, threshold| {
        value.filter(|value| value.is_finite()).map(|value| Disturbance { kind, value, threshold })
    };
    let own = during.own_bytes.or(during.device_bytes);
    let processors = Nanos(during.elapsed.0 * u64::from(during.cpus));
    let others = during.others.filter(|_| during.elapsed >= OTHERS_NEED);
    [
        check(Kind::Device, ratio(foreign_bytes(before, during), own), DEVICE),
        check(Kind::Others, share(others, processors), OTHERS),
        check(Kind::CpuPressure, share(during.taken(during.cpu_pressure), during.elapsed), CPU_PRESSURE),
        check(Kind::Waiting, share(during.taken(during.waited), during.ran), WAITING),
        check(Kind::Steal, share(during.steal, processors), STEAL),
        check(Kind::Jitter, during.overslept.or(before.overslept).map(Nanos::as_secs_f64), JITTER),
        check(Kind::IoPressure, share(before.io_pressure, before.elapsed), IO_PRESSURE),
        check(Kind::Drops, during.drops.map(|drops| drops as f64), DROPS),
        check(Kind::Memory, ratio(during.refaulted_bytes, own), MEMORY),
    ]
}

/// Returns the bytes that the devices moved for other programs during the measurement: all bytes minus our own. If our
/// own are unknown, the rate of the window before gives an estimate. `None` if neither is known.
pub fn foreign_bytes(before: &Window, during: &Window) -> Option<u64> {
    let device = during.device_bytes?;
    if let Some(own) = during.own_bytes {
        return Some(device.saturating_sub(own));
    }
    let rate = before.device_bytes? as f64 / before.elapsed.as_secs_f64();
    let expected = rate * during.elapsed.as_secs_f64();
    expected.is_finite().then(|| (expected as u64).min(device))
}

/// Returns `part` as a share of `whole`. If the whole is zero, the share is 0 without a part and 1 with one.
fn ratio(part: Option<u64>, whole: Option<u64>) -> Option<f64> {
    match (part?, whole?) {
        (0, 0) => Some(0.0),
        (_, 0) => Some(1.0),
        (part, whole) => Some(part as f64 / whole as f64),
    }
}

fn share(part: Option<Nanos>, whole: Nanos) -> Option<f64> {
    (whole > Nanos::ZERO).then(|| part.map(|part| part.0 as f64 / whole.0 as f64)).flatten()
}

/// Returns for each cell of a run whether it is disturbed more than twice as much as the median cell. `weights` are the
/// worst disturbances of the cells.
pub fn stand_out(weights: &[f64]) -> Vec<bool> {
    let usual = median(weights).unwrap_or(0.0).max(1.0);
    weights.iter().map(|weight| *weight > WORSE * usual).collect()
}

/// Factor over the median disturbance from which a cell stands out.
const WORSE: f64 = 2.0;

/// A round with its disturbances, the worst first.
pub type DisturbedRound = (u32, Vec<Disturbance>);

/// Summarises the disturbances of a run's rounds: the disturbed rounds, the main kind, and its worst figure. The main
/// kind is a cause found in at least half of the disturbed rounds; otherwise the kind found in most rounds; of equals,
/// the one with the largest weight. Returns `None` if no round was disturbed.
pub fn of_run(rounds: &[DisturbedRound]) -> Option<Noise> {
    let mut kinds: BTreeMap<Kind, Vec<(u32, Disturbance)>> = BTreeMap::new();
    for (round, found) in rounds {
        found.iter().for_each(|disturbance| kinds.entry(disturbance.kind).or_default().push((*round, *disturbance)));
    }
    let weight = |found: &[(u32, Disturbance)]| found.iter().map(|(_, one)| one.weight()).fold(0.0, f64::max);
    let disturbed: Vec<u32> = rounds.iter().filter(|(_, found)| !found.is_empty()).map(|(round, _)| *round).collect();
    let rank =
        |kind: Kind, found: &[(u32, Disturbance)]| (kind.is_cause() && 2 * found.len() >= disturbed.len(), found.len());
    let (kind, found) = kinds.iter().max_by(|(kind, found), (other, others)| {
        rank(**kind, found).cmp(&rank(**other, others)).then(weight(found).total_cmp(&weight(others)))
    })?;
    let worst = found.iter().map(|(_, one)| one).max_by(|a, b| a.value.total_cmp(&b.value))?;
    let most = worst.amount().map_or_else(String::new, |amount| format!(" (up to {amount})"));
    let text = format!("in {}, mostly {}{most}", named(&disturbed, rounds.len()), kind.name());
    Some(Noise { text, value: worst.value, kind: Some(kind.name().to_owned()), rounds: disturbed })
}

/// Does the same for a run on several hosts, and names those with the main kind. Each host has a name, and the
/// disturbances of its rounds.
pub fn of_run_on_hosts(hosts: &[(&str, Vec<DisturbedRound>)]) -> Option<Noise> {
    let mut rounds: BTreeMap<u32, Vec<Disturbance>> = BTreeMap::new();
    for (round, found) in hosts.iter().flat_map(|(_, rounds)| rounds) {
        rounds.entry(*round).or_default().extend(found);
    }
    let noise = of_run(&rounds.into_iter().collect::<Vec<_>>())?;
    let has_main = |rounds: &[DisturbedRound]| {
        let mut found = rounds.iter().flat_map(|(_, found)| found);
        found.any(|one| noise.kind.as_deref() == Some(one.kind.name()))
    };
    let named: Vec<&str> = hosts.iter().filter(|(_, rounds)| has_main(rounds)).map(|(name, _)| *name).collect();
    Some(Noise { text: format!("{} on {}", noise.text, named.join(", ")), ..noise })
}

/// The largest number of rounds that are listed by number. Five numbers are read at a glance; a choice.
const LISTED: usize = 5;

/// Prints `every round`, `round 2`, `rounds 2 and 4`, `60 of 77 rounds`.
fn named(rounds: &[u32], of: usize) -> String {
    match rounds {
        [one] => format!("round {one}"),
        all if all.len() == of => "every round".to_owned(),
        many if many.len() > LISTED => format!("{} of {of} rounds", many.len()),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(u32::to_string).collect();
            format!("rounds {} and {last}", first.join(", "))
        }
        [] => "no round".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = Nanos::from_secs(1);

    /// A window of one second on two processors, with all values observed and no disturbance.
    fn quiet() -> Window {
        Window {
            elapsed: SECOND,
            cpus: 2,
            device_bytes: Some(0),
            own_bytes: Some(0),
            ran: Nanos::from_millis(500),
            others: Some(Nanos::ZERO),
            waited: Some(Nanos::ZERO),
            cpu_pressure: Some(Nanos::ZERO),
            io_pressure: Some(Nanos::ZERO),
            steal: Some(Nanos::ZERO),
            overslept: Some(Nanos::from_micros(115)),
            drops: Some(0),
            refaulted_bytes: Some(0),
        }
    }

    /// A window of a measurement that moves 100 MB.
    fn measurement() -> Window {
        Window { device_bytes: Some(100_000_000), own_bytes: Some(100_000_000), ..quiet() }
    }

    fn kinds(before: &Window, during: &Window) -> Vec<Kind> {
        disturbances(before, during).iter().map(|disturbance| disturbance.kind).collect()
    }

    #[test]
    fn a_quiet_machine_is_quiet() {
        assert_eq!(kinds(&quiet(), &measurement()), []);
        assert_eq!(environment(&quiet(), &measurement()), Environment::Quiet);
    }

    #[test]
    fn each_threshold_is_its_own() {
        let some = |millis| Some(Nanos::from_millis(millis));
        // Other programs used the CPU, so that our own may have had to wait.
        let during = Window { others: some(199), ..measurement() };
        for (kind, below, above) in [
            (
                Kind::Device,
                Window { device_bytes: Some(101_900_000), ..during },
                Window { device_bytes: Some(102_000_000), ..during },
            ),
            (Kind::Others, during, Window { others: some(200), ..during }),
            (
                Kind::CpuPressure,
                Window { cpu_pressure: some(99), ..during },
                Window { cpu_pressure: some(100), ..during },
            ),
            (Kind::Waiting, Window { waited: some(9), ..during }, Window { waited: some(10), ..during }),
            (Kind::Steal, Window { steal: some(19), ..during }, Window { steal: some(20), ..during }),
            (Kind::Jitter, Window { overslept: some(4), ..during }, Window { overslept: some(5), ..during }),
            (Kind::Drops, during, Window { drops: Some(1), ..during }),
            (
                Kind::Memory,
                Window { refaulted_bytes: Some(1_900_000), ..during },
                Window { refaulted_bytes: Some(2_000_000), ..during },
            ),
        ] {
            assert_eq!(kinds(&quiet(), &below), [], "{kind:?}");
            assert_eq!(kinds(&quiet(), &above), [kind]);
            assert_eq!(environment(&quiet(), &above), Environment::Noisy);
        }
        let before = Window { io_pressure: some(10), ..quiet() };
        assert_eq!(kinds(&before, &during), [Kind::IoPressure]);
        // During the measurement, our own programs wait for I/O.
        assert_eq!(kinds(&quiet(), &Window { io_pressure: some(900), ..during }), []);
    }

    #[test]
    fn what_others_move_is_expected_where_it_cannot_be_told() {
        let before = Window { device_bytes: Some(5_000_000), elapsed: Nanos::from_secs(2), ..quiet() };
        let during = Window { own_bytes: None, ..measurement() };
        assert_eq!(foreign_bytes(&before, &during), Some(2_500_000));
        assert_eq!(kinds(&before, &during), [Kind::Device]);
        assert_eq!(foreign_bytes(&before, &Window { device_bytes: None, ..during }), None);
        assert_eq!(foreign_bytes(&Window::default(), &during), None);
    }

    #[test]
    fn the_worst_comes_first_and_says_its_figure() {
        let waited = Some(Nanos::from_millis(200));
        let during = Window { waited, others: waited.map(|waited| waited - Nanos(1)), drops: Some(1), ..measurement() };
        let found = disturbances(&quiet(), &during);
        assert_eq!(found[0].text(), "the test waited for a processor for 40 % of its CPU time");
        assert!((found[0].weight() - 20.0).abs() < 1e-6);
        assert_eq!(found[1].kind, Kind::Drops);
    }

    #[test]
    fn waiting_for_ourselves_is_no_noise() {
        let long = Some(Nanos::from_millis(500));
        let alone = Window { waited: long, cpu_pressure: long, ..measurement() };
        assert_eq!(kinds(&quiet(), &alone), []);
        assert_eq!(environment(&quiet(), &alone), Environment::Quiet);
        let unseen = Window { others: None, ..alone };
        assert_eq!(kinds(&quiet(), &unseen), [Kind::Waiting, Kind::CpuPressure]);
    }

    #[test]
    fn few_ticks_tell_nothing_of_others() {
        let short = Window { elapsed: Nanos::from_millis(100), others: Some(Nanos::from_millis(100)), ..measurement() };
        assert_eq!(kinds(&quiet(), &short), []);
    }

    #[test]
    fn windows_add_up_once_their_own_bytes_are_settled() {
        let before = Window { device_bytes: Some(1_000_000), ..quiet() };
        let writing = Window { own_bytes: None, ..measurement() };
        let sum = Window::sum([measurement(), writing.settled(&before)]).expect("a window");
        assert_eq!((sum.elapsed, sum.device_bytes), (Nanos::from_secs(2), Some(200_000_000)));
        assert_eq!(foreign_bytes(&quiet(), &sum), Some(1_000_000));
        assert_eq!(Window::sum([]), None);
        assert_eq!(measurement().and(&Window { drops: None, ..quiet() }).drops, None);
    }

    #[test]
    fn a_run_says_once_what_disturbed_most_of_its_rounds() {
        let others = |millis| disturbances(&quiet(), &Window { others: Some(Nanos::from_millis(millis)), ..quiet() });
        let drop = disturbances(&quiet(), &Window { drops: Some(100), ..quiet() });
        let noise = of_run(&[(1, drop), (2, others(760)), (3, Vec::new()), (4, others(400))]).expect("noise");
        assert_eq!(noise.text, "in rounds 1, 2 and 4, mostly other programs on the CPU (up to 38 %)");
        assert_eq!((noise.value, noise.rounds), (0.38, vec![1, 2, 4]));
        assert_eq!(noise.kind.as_deref(), Some("other programs on the CPU"));
        assert_eq!(
            (named(&[1, 2, 4, 5, 6], 7).as_str(), named(&[1, 2, 4, 5, 6, 7], 7).as_str()),
            ("rounds 1, 2, 4, 5 and 6", "6 of 7 rounds")
        );
        assert_eq!(of_run(&[(1, Vec::new())]), None);
        let all = of_run(&[(1, others(400)), (2, others(600))]).expect("noise");
        assert_eq!(all.text, "in every round, mostly other programs on the CPU (up to 30 %)");
        // The cause is reported, not its effect, unless the effect alone was found in most rounds.
        let waited = Some(Nanos::from_millis(400));
        let both = disturbances(&quiet(), &Window { others: waited, waited, ..quiet() });
        let effect = disturbances(&quiet(), &Window { others: Some(Nanos::from_millis(20)), waited, ..quiet() });
        let text = |rounds: &[(u32, Vec<Disturbance>)]| of_run(rounds).expect("noise").text;
        assert!(text(&[(1, both.clone()), (2, effect.clone())]).contains("mostly other programs"));
        assert!(text(&[(1, both), (2, effect.clone()), (3, effect)]).contains("mostly waiting for a processor"));
    }

    #[test]
    fn a_run_on_hosts_names_those_with_the_main_kind() {
        let steal = Disturbance { kind: Kind::Steal, value: 0.2, threshold: STEAL };
        let late = Disturbance { kind: Kind::Jitter, value: 0.006, threshold: JITTER };
        let hosts = [("a", vec![(1, vec![late]), (2, vec![])]), ("b", vec![(1, vec![steal]), (2, vec![steal])])];
        let noise = of_run_on_hosts(&hosts).expect("noise");
        assert_eq!(noise.text, "in every round, mostly CPU steal (up to 20 %) on b");
        assert_eq!(of_run_on_hosts(&[("a", vec![(1, vec![])])]), None);
    }

    #[test]
    fn what_was_not_seen_is_not_quiet() {
        assert_eq!(environment(&Window::default(), &Window::default()), Environment::NotMeasured);
        let blind = Window { waited: None, cpu_pressure: None, ..measurement() };
        assert_eq!(environment(&quiet(), &blind), Environment::NotMeasured);
        let in_memory = |window: Window| Window { device_bytes: None, own_bytes: None, ..window };
        assert_eq!(environment(&in_memory(quiet()), &in_memory(measurement())), Environment::Quiet);
    }

    #[test]
    fn only_what_is_worse_than_the_rest_stands_out() {
        assert_eq!(stand_out(&[20.0, 22.0, 19.0, 60.0]), [false, false, false, true]);
        assert_eq!(stand_out(&[0.0, 0.1, 1.5]), [false, false, false]);
        assert_eq!(stand_out(&[0.0, 0.0, 2.5]), [false, false, true]);
        assert_eq!(stand_out(&[]), [false; 0]);
    }
}
