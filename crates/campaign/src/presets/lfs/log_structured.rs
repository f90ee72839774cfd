//! Question c of the lab, answered by simulation: the lab's phases on one computer of 1990 with a fast and with a
//! log-structured file system, and random writes to disks that are more and more full.

use std::fmt::Write as _;
use std::sync::OnceLock;

use machines::Machine;
use simulator::description::{Description, FileSystem};
use simulator::{Chance, Computer};
use workload::programs::lfs::{LargeFile, SmallFiles};
use workload::{Cache, Layout, Program, Stream, Tally, World};

/// The computer of the answer, and its two file systems.
const MACHINE: &str = "sun4-wren4";

/// A smaller disk for the random writes: 84 MB, so that the cleaner soon has work.
const SMALLER_DISK: &str = "drive.cylinders=400";

/// The small benchmark: a tenth of the lab's files, in a tenth of its directories.
fn small_files() -> SmallFiles {
    SmallFiles { layout: Layout::Consecutive(10), ..SmallFiles::new(1000, 1024) }
}

/// Bytes of the large file: a sixteenth of the lab's.
const LARGE: u64 = 8 << 20;

/// Percent of the disk that the file of the random writes takes.
const FILLED: [u64; 3] = [25, 50, 75];

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct LogStructured {
    /// Phases with the rate of the log in multiples of the rate of the fast file system.
    pub gains: Vec<(String, f64)>,
    /// Percent of the disk in use, random writes per second with the fast file system and with the log, and KiB that
    /// the log moves per KiB written.
    pub random_writes: Vec<(u64, f64, f64, f64)>,
}

/// The answer in words; it is computed once.
pub fn answer() -> &'static str {
    static ANSWER: OnceLock<String> = OnceLock::new();
    ANSWER.get_or_init(|| match simulate() {
        Ok(answer) => answer.sentences().join(". "),
        Err(reason) => format!("n.m.: {reason}"),
    })
}

/// Simulates both file systems. Fails with the reason if the computer cannot be built.
pub fn simulate() -> Result<LogStructured, String> {
    let describe = |setting: Option<&str>, bytes| {
        let mut machine = Machine::load(MACHINE).map_err(|fault| fault.to_string())?;
        if let Some(setting) = setting {
            machine.set(setting).map_err(|fault| fault.to_string())?;
        }
        machine.describe(1, bytes).map_err(|fault| fault.to_string())
    };
    let whole = describe(None, LARGE)?;
    let programs =
        [("small-file ", small_files().program()), ("", LargeFile { seed: 1, ..LargeFile::new(LARGE) }.program())];
    let mut gains = Vec::new();
    for (prefix, program) in &programs {
        let times = |index: usize| phases(&whole, &whole.file_systems[index], program);
        let (fast, log) = (times(0)?, times(1)?);
        let ratios = program
            .phases
            .iter()
            .zip(fast.iter().zip(&log))
            .map(|(phase, (fast, log))| (format!("{prefix}{}", phase.name), fast / log));
        gains.extend(ratios);
    }
    let smaller = describe(Some(SMALLER_DISK), 0)?;
    let random_writes = FILLED.into_iter().map(|percent| overwrite(&smaller, percent)).collect::<Result<_, _>>()?;
    Ok(LogStructured { gains, random_writes })
}

/// Runs steps, and returns the seconds.
fn run(computer: &mut Computer, steps: &Stream) -> Result<f64, String> {
    let mut tallies = [Tally::default()];
    let Ok(spans) = computer.run(&mut [steps.clone()], &mut tallies);
    match tallies[0].failure {
        Some(failure) => Err(failure.reason.to_string()),
        None => Ok(spans[0].elapsed().0 as f64 / 1e9),
    }
}

fn computer(description: &Description, file_system: &FileSystem) -> Result<Computer, String> {
    Computer::new(description, file_system, 1, Chance::default()).map_err(|invalid| invalid.to_string())
}

/// Seconds of each phase until its data are durable. Each begins with a cold cache.
fn phases(description: &Description, file_system: &FileSystem, program: &Program) -> Result<Vec<f64>, String> {
    let mut computer = computer(description, file_system)?;
    run(&mut computer, &program.prepare)?;
    let mut times = Vec::new();
    for phase in &program.phases {
        let Ok(_) = computer.set_cache_state(Cache::Cold);
        times.push(run(&mut computer, &phase.steps)? + run(&mut computer, &phase.durable)?);
    }
    Ok(times)
}

/// Writes all blocks of a large file in random order, three times, and measures the last.
fn overwrite(description: &Description, percent: u64) -> Result<(u64, f64, f64, f64), String> {
    let bytes = description.drive.bytes() / 100 * percent / (1 << 20) * (1 << 20);
    let program = LargeFile { seed: 1, ..LargeFile::new(bytes) }.program();
    let random = program.phases.iter().find(|phase| phase.name == "write random").ok_or("no random writes")?;
    let rate = |file_system: &FileSystem| -> Result<(f64, f64), String> {
        let mut computer = computer(description, file_system)?;
        let files = program.prepare.clone().chain(program.phases[0].steps.clone());
        computer.prepare(0, files).map_err(|reason| reason.to_string())?;
        let mut seconds = 0.0;
        let mut before = 0;
        for _ in 0..3 {
            before = moved(&mut computer);
            seconds = run(&mut computer, &random.steps)? + run(&mut computer, &random.durable)?;
        }
        let moved = (moved(&mut computer) - before) as f64 / bytes as f64;
        Ok((bytes as f64 / 4096.0 / seconds, moved))
    };
    let (fast, log) = (rate(&description.file_systems[0])?, rate(&description.file_systems[1])?);
    Ok((percent, fast.0, log.0, log.1))
}

/// Bytes that the drives have moved.
fn moved(computer: &mut Computer) -> u64 {
    computer.device_bytes().map_or(0, |bytes| bytes.read + bytes.written)
}

impl LogStructured {
    /// One sentence for each half of the answer.
    pub fn sentences(&self) -> Vec<String> {
        let digits = |value: f64| stats::digits::significant(value, 2);
        let gains: Vec<String> =
            self.gains.iter().map(|(phase, ratio)| format!("{phase} {}", digits(*ratio))).collect();
        let mut writes = String::new();
        for (index, (percent, fast, log, moved)) in self.random_writes.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            let (times, moved) = (digits(log / fast), digits(*moved));
            write!(writes, "{separator}{percent} % full {times} times, {moved} KiB moved per KiB").expect("a string");
        }
        vec![
            format!(
                "simulated {MACHINE}, rate of a log in multiples of the fast file system: {}. Writes gain, because the \
                 log turns them into sequential ones and no call waits for an inode or a directory; reads in the order \
                 of the writes do not; a sequential read after random writes loses, because the log has the order of \
                 the writes",
                gains.join(", ")
            ),
            format!(
                "random writes on a disk in use for long: {writes}. The cleaner takes the gain back as the disk fills: \
                 it reads and copies the live blocks of each segment"
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_gains_on_writes_and_the_cleaner_takes_it_back() {
        let answer = simulate().expect("an answer");
        let gain = |name: &str| answer.gains.iter().find(|(phase, _)| phase == name).expect("a phase").1;
        // "Almost ten times" as fast (Rosenblum & Ousterhout 1992, figure 8).
        assert!((8.0..12.0).contains(&gain("small-file creat")), "{answer:?}");
        assert!(gain("write random") > 2.0, "{answer:?}");
        assert!(gain("read sequential again") < 1.0);
        let ratios: Vec<f64> = answer.random_writes.iter().map(|(_, fast, log, _)| log / fast).collect();
        assert!(ratios[2] < ratios[0] / 2.0, "{ratios:?}");
    }

    /// 10,000 files of 1 KiB, as in the paper: SunOS keeps the drive busy 85 % of the time and creates about 15 files
    /// per second (1.2 % of 1.3 MB/s). Sprite keeps it busy 17 %, and creates almost ten times as many files.
    #[test]
    fn a_log_uses_less_of_the_drive_to_create_files() {
        let description = Machine::load(MACHINE).expect("a machine").describe(1, LARGE).expect("a computer");
        let program = SmallFiles::new(10_000, 1024).program();
        let create = |file_system| {
            let mut computer = computer(&description, file_system).expect("a computer");
            run(&mut computer, &program.prepare).expect("files");
            let Ok(()) = computer.watch();
            let seconds = run(&mut computer, &program.phases[0].steps).expect("files");
            let Ok(counters) = computer.counters();
            (100.0 * counters.layers[0].used.busy.0 as f64 / 1e9 / seconds, 10_000.0 / seconds)
        };
        let (fast, log) = (create(&description.file_systems[0]), create(&description.file_systems[1]));
        assert!((fast.0 - 85.0).abs() < 5.0 && (log.0 - 17.0).abs() < 5.0, "busy: {} % and {} %", fast.0, log.0);
        assert!((8.0..12.0).contains(&(log.1 / fast.1)), "files per second: {} and {}", fast.1, log.1);
        assert!((14.0..18.0).contains(&fast.1), "files per second: {}", fast.1);
    }
}
