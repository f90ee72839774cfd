//! Whether anything else was at work on the machine: thresholds over what was seen in two windows, one in
//! which nothing of ours ran and the one of the measurement.
//!
//! On a busy machine every cell is noisy. That is said once, for the run; a cell is starred where it is
//! worse than the rest: see [`stand_out`].

use units::Nanos;

use crate::cell::Environment;
use crate::summary::median;

/// What was seen of the machine in a window of time. Nothing is what was not seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Window {
    /// How long it was.
    pub elapsed: Nanos,
    /// Processors of the machine.
    pub cpus: u32,
    /// Bytes that the devices under the programs moved, for everybody.
    pub device_bytes: Option<u64>,
    /// Of those, what they moved for the programs; nothing where that cannot be told.
    pub own_bytes: Option<u64>,
    /// CPU time of the programs.
    pub ran: Nanos,
    /// Time in which they could have run, and no processor was free.
    pub waited: Option<Nanos>,
    /// Time in which some task waited for a processor.
    pub cpu_pressure: Option<Nanos>,
    /// Time in which some task waited for a device.
    pub io_pressure: Option<Nanos>,
    /// Time that another virtual machine had a processor, summed over processors.
    pub steal: Option<Nanos>,
    /// By how much the longest of many short sleeps was too long.
    pub overslept: Option<Nanos>,
    /// How often somebody dropped the caches of the machine.
    pub drops: Option<u64>,
    /// Bytes of files that were pushed out of memory and wanted again.
    pub refaulted_bytes: Option<u64>,
}

/// What a disturbance is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The devices worked for others.
    Device,
    /// Tasks waited for processors.
    CpuPressure,
    /// The programs waited for processors.
    Waiting,
    /// Another virtual machine had the processors.
    Steal,
    /// Short sleeps took too long.
    Jitter,
    /// Somebody waited for devices before anything of ours ran.
    IoPressure,
    /// Somebody dropped the caches.
    Drops,
    /// Memory was short.
    Memory,
}

/// Something that was at work besides the measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disturbance {
    /// What.
    pub kind: Kind,
    /// How much of it, in the measure of its threshold.
    pub value: f64,
    /// From where on it disturbs.
    pub threshold: f64,
}

impl Disturbance {
    /// How many times over its threshold.
    pub fn weight(&self) -> f64 {
        self.value / self.threshold
    }

    /// In words.
    pub fn text(&self) -> String {
        let percent = 100.0 * self.value;
        match self.kind {
            Kind::Device => format!("the device moved {percent:.0} % more than was moved for the program"),
            Kind::CpuPressure => format!("tasks waited for a processor {percent:.0} % of the time"),
            Kind::Waiting => format!("the program waited for a processor {percent:.0} % of the time it ran"),
            Kind::Steal => format!("other virtual machines took {percent:.0} % of the CPU"),
            Kind::Jitter => format!("a sleep of a millisecond took {:.0} ms longer", 1000.0 * self.value),
            Kind::IoPressure => format!("somebody waited for a device {percent:.0} % of the time before"),
            Kind::Drops => "somebody dropped the machine's caches".to_owned(),
            Kind::Memory => format!("{percent:.0} % as much as was read had to come back to memory"),
        }
    }
}

// The thresholds, each a share of the window where nothing else is said. All are conventions of this project.

/// Of the programs' own bytes.
const DEVICE: f64 = 0.02;
const CPU_PRESSURE: f64 = 0.10;
/// Of the programs' own CPU time.
const WAITING: f64 = 0.02;
/// Of all processors' time.
const STEAL: f64 = 0.01;
/// In seconds.
const JITTER: f64 = 0.005;
/// In the window before.
const IO_PRESSURE: f64 = 0.01;
/// Once is too often.
const DROPS: f64 = 1.0;
/// Of the programs' own bytes.
const MEMORY: f64 = 0.02;

/// What disturbed a measurement, the worst first. `before` is a window in which nothing of ours ran.
pub fn disturbances(before: &Window, during: &Window) -> Vec<Disturbance> {
    let mut found: Vec<Disturbance> =
        checks(before, during).into_iter().flatten().filter(|check| check.value >= check.threshold).collect();
    found.sort_by(|a, b| b.weight().total_cmp(&a.weight()));
    found
}

/// What a figure may claim about its environment: quiet only where the processors and the devices were both
/// seen, or where the programs use no device.
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

/// Every check that can be made.
fn checks(before: &Window, during: &Window) -> [Option<Disturbance>; 8] {
    let check = |kind, value: Option<f64>, threshold| {
        value.filter(|value| value.is_finite()).map(|value| Disturbance { kind, value, threshold })
    };
    let own = during.own_bytes.or(during.device_bytes);
    [
        check(Kind::Device, ratio(foreign_bytes(before, during), own), DEVICE),
        check(Kind::CpuPressure, share(during.cpu_pressure, during.elapsed), CPU_PRESSURE),
        check(Kind::Waiting, share(during.waited, during.ran), WAITING),
        check(Kind::Steal, share(during.steal, Nanos(during.elapsed.0 * u64::from(during.cpus))), STEAL),
        check(Kind::Jitter, during.overslept.or(before.overslept).map(Nanos::as_secs_f64), JITTER),
        check(Kind::IoPressure, share(before.io_pressure, before.elapsed), IO_PRESSURE),
        check(Kind::Drops, during.drops.map(|drops| drops as f64), DROPS),
        check(Kind::Memory, ratio(during.refaulted_bytes, own), MEMORY),
    ]
}

/// Bytes that the devices moved for others during the measurement: what they moved and not for the programs.
/// Where that cannot be told, as much as before in the same time.
pub fn foreign_bytes(before: &Window, during: &Window) -> Option<u64> {
    let device = during.device_bytes?;
    if let Some(own) = during.own_bytes {
        return Some(device.saturating_sub(own));
    }
    let rate = before.device_bytes? as f64 / before.elapsed.as_secs_f64();
    let expected = rate * during.elapsed.as_secs_f64();
    expected.is_finite().then(|| (expected as u64).min(device))
}

/// A part of the whole. None of nothing is nothing at all, and some of nothing is all of it.
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

/// Which of a run's cells are disturbed more than the rest: by more than twice the median of all. `weights`
/// are the cells' worst disturbances.
pub fn stand_out(weights: &[f64]) -> Vec<bool> {
    let usual = median(weights).unwrap_or(0.0).max(1.0);
    weights.iter().map(|weight| *weight > WORSE * usual).collect()
}

/// A cell stands out where it has twice the usual disturbance.
const WORSE: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = Nanos::from_secs(1);

    /// A window of a second on two processors in which everything is seen and nothing happens.
    fn quiet() -> Window {
        Window {
            elapsed: SECOND,
            cpus: 2,
            device_bytes: Some(0),
            own_bytes: Some(0),
            ran: Nanos::from_millis(500),
            waited: Some(Nanos::ZERO),
            cpu_pressure: Some(Nanos::ZERO),
            io_pressure: Some(Nanos::ZERO),
            steal: Some(Nanos::ZERO),
            overslept: Some(Nanos::from_micros(115)),
            drops: Some(0),
            refaulted_bytes: Some(0),
        }
    }

    /// A measurement that moves 100 MB.
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
        let during = measurement();
        for (kind, below, above) in [
            (
                Kind::Device,
                Window { device_bytes: Some(101_900_000), ..during },
                Window { device_bytes: Some(102_000_000), ..during },
            ),
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
        // During the measurement it is our own waiting.
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
        let during = Window { waited: Some(Nanos::from_millis(200)), drops: Some(1), ..measurement() };
        let found = disturbances(&quiet(), &during);
        assert_eq!(found[0].text(), "the program waited for a processor 40 % of the time it ran");
        assert_eq!((found[0].weight(), found[1].kind), (20.0, Kind::Drops));
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
