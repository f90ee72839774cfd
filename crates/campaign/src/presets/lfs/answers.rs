//! Answers the lab's four questions from the cells: the file system compared with the raw device, the limiting phase,
//! the effect of a log-structured file system, and the bytes on the device when the calls returned.

use stats::{Cell, Io, Provenance};
use units::Bytes;

use super::log_structured;

/// A device that moved less than this share of a program's bytes did not serve all of them: the page cache did.
const SERVED: f64 = 0.95;

/// One sentence per question and target.
pub fn answers(cells: &[Cell]) -> Vec<String> {
    let ours = |cell: &&Cell| cell.provenance != Provenance::Published;
    let mut targets: Vec<&str> = Vec::new();
    for cell in cells.iter().filter(ours) {
        if !targets.contains(&cell.target.as_str()) {
            targets.push(&cell.target);
        }
    }
    let several = targets.len() > 1;
    let on = |target: &str| -> Vec<String> {
        let here = Here(cells.iter().filter(ours).filter(|cell| cell.target == target).collect());
        let name = if several { format!(", {target}") } else { String::new() };
        vec![
            format!("(a) file system over raw{name}: {}", here.over_raw()),
            format!("(b) limiting phase{name}: {}", here.limiting()),
            format!("(c) effect of a log-structured file system{name}: {}", log_structured::answer()),
            format!("(d) on the device when the calls returned{name}: {}", here.on_the_device()),
        ]
    };
    targets.iter().flat_map(|target| on(target)).collect()
}

/// The cells of one target.
struct Here<'a>(Vec<&'a Cell>);

impl<'a> Here<'a> {
    fn phases(&self, program: &'a str) -> impl Iterator<Item = &'a Cell> {
        self.0.iter().copied().filter(move |cell| cell.program == program)
    }

    fn files(&self) -> impl Iterator<Item = &'a Cell> {
        self.phases("smallfb").chain(self.phases("largefb"))
    }

    /// The rate of every phase in bytes, in percent of the raw device's read rate.
    fn over_raw(&self) -> String {
        let Some(raw) = self.phases("bw -b").next() else { return "n.m.: the raw device was not read".to_owned() };
        let Some(rate) = &raw.rate else {
            return format!("n.m.: {}", raw.reason.as_deref().unwrap_or("the raw device was not read"));
        };
        let latency = self.phases("bw -l").next().map_or_else(|| "n.m.".to_owned(), latency);
        let phases: Vec<String> =
            self.files().map(|cell| format!("{} {}", name(cell), share(cell, rate.per_second))).collect();
        format!("of {} {} raw (one read: {latency}): {}", digits(rate.value), rate.unit, phases.join(", "))
    }

    /// The slowest phase of each benchmark, with its time per file or call.
    fn limiting(&self) -> String {
        let slowest = |program: &'a str| {
            let rated = |cell: &'a Cell| Some((cell, cell.rate.as_ref()?.per_second));
            let rates: Option<Vec<(&Cell, f64)>> = self.phases(program).map(rated).collect();
            let slowest = rates?.into_iter().min_by(|(_, one), (_, other)| one.total_cmp(other));
            slowest.filter(|(_, rate)| *rate > 0.0)
        };
        let small =
            slowest("smallfb").map(|(cell, rate)| format!("{}, {} msec per file", cell.phase, digits(1e3 / rate)));
        let large = slowest("largefb").map(|(cell, rate)| {
            let call = cell.number("buffer_bytes").unwrap_or(1);
            format!("{}, {} msec per {call} bytes", cell.phase, digits(1e3 * call as f64 / rate))
        });
        let or_not = |text: Option<String>| text.unwrap_or_else(|| "n.m.".to_owned());
        format!("smallfb: {}; largefb: {}", or_not(small), or_not(large))
    }

    /// The share of each phase's written bytes that was on the device when the last call returned, and when everything
    /// was durable. The shares are upper bounds, because the counters include other programs.
    fn on_the_device(&self) -> String {
        let writing: Vec<&Cell> = self.files().filter(|cell| !cell.phase.starts_with("read")).collect();
        if writing.iter().all(|cell| cell.io.is_none()) {
            return "n.m.: the device's counters are not visible".to_owned();
        }
        let phases: Vec<String> = writing.iter().map(|cell| format!("{} {}", name(cell), written(cell))).collect();
        format!("at most, including other programs: {}", phases.join(", "))
    }
}

/// `small-file creat`, `write random`: the names of the large file's phases need no prefix.
fn name(cell: &Cell) -> String {
    if cell.program == "smallfb" { format!("small-file {}", cell.phase) } else { cell.phase.clone() }
}

fn latency(cell: &Cell) -> String {
    let Some(rate) = &cell.rate else { return "n.m.".to_owned() };
    let of = cell.number("buffer_bytes").map_or_else(String::new, |bytes| format!(" of {}", Bytes(bytes)));
    format!("{} msec{of}", digits(1e3 / rate.per_second))
}

/// The rate of a phase in percent of the raw rate. If the device moved too few bytes, the page cache served the phase.
/// Then the text also has the share of the bytes that the device moved.
fn share(cell: &Cell, raw: f64) -> String {
    let bytes_per_second = cell.rate.as_ref().map(|rate| match cell.program.as_str() {
        "smallfb" => rate.per_second * cell.number("file_bytes").unwrap_or(0) as f64,
        _ => rate.per_second,
    });
    let Some(bytes_per_second) = bytes_per_second else { return "n.m.".to_owned() };
    if cell.phase == "delete" {
        return "n.m. (it moves no bytes)".to_owned();
    }
    let percent = 100.0 * bytes_per_second / raw;
    let reads = cell.phase.starts_with("read");
    let moved = cell.io.as_ref().and_then(|io| {
        let device = if reads { io.device_read } else { io.device_written };
        io.program_bytes.filter(|bytes| *bytes > 0).map(|bytes| device as f64 / bytes as f64)
    });
    let note = match moved {
        Some(moved) if moved < SERVED && (reads || percent > 100.0) => {
            format!(" (memory served it: the device moved {} % of it)", digits(100.0 * moved))
        }
        Some(_) if percent > 100.0 => {
            " (more than raw, and the device moved it: bw waits for each of its calls)".to_owned()
        }
        None if percent > 100.0 => " (more than raw: memory served it)".to_owned(),
        _ => String::new(),
    };
    format!("{} %{note}", digits(percent))
}

/// The bytes written when the calls returned, and when everything was durable.
fn written(cell: &Cell) -> String {
    let Some(Io { program_bytes, device_written, device_written_at_return, .. }) = cell.io else {
        return "n.m.".to_owned();
    };
    let Some(program_bytes) = program_bytes.filter(|bytes| *bytes > 0) else {
        return format!("{} ({} when durable)", Bytes(device_written_at_return), Bytes(device_written));
    };
    let percent = |bytes: u64| 100.0 * bytes as f64 / program_bytes as f64;
    let at_return = percent(device_written_at_return).min(100.0);
    format!("{} % ({} % when durable)", digits(at_return), digits(percent(device_written)))
}

/// Three significant digits.
fn digits(value: f64) -> String {
    stats::digits::significant(value, 3)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use stats::figures::summary;
    use stats::{ClockKind, ParameterValue, Rate, RateBase, State};

    use super::*;

    const MIB: f64 = 1_048_576.0;

    /// A measured cell with this number of bytes, files or reads per second.
    fn cell(program: &str, phase: &str, per_second: f64, parameters: &[(&str, u64)]) -> Cell {
        let (base, size, unit) = match program {
            "smallfb" => (RateBase::Files, 1.0, "files/sec"),
            "bw -l" => (RateBase::Ops, 1.0, "reads/sec"),
            _ => (RateBase::Bytes, MIB, "MB/sec"),
        };
        let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), ParameterValue::Number(*value)));
        Cell {
            parameters: parameters.collect::<BTreeMap<_, _>>(),
            measured: true,
            rate: Some(Rate {
                per_second,
                base,
                value: per_second / size,
                unit: unit.to_owned(),
                low: None,
                high: None,
                confidence: summary::CONFIDENCE,
                rounds: 1,
                range: None,
            }),
            state: State::unknown(ClockKind::Durable),
            ..Cell::named(Provenance::Measured, "lfs", program, phase, ".")
        }
    }

    fn io(program_bytes: u64, device_read: u64, at_return: u64, device_written: u64) -> Option<Io> {
        Some(Io {
            program_bytes: Some(program_bytes),
            device_read,
            device_written,
            device_written_at_return: at_return,
            flushes: 0,
        })
    }

    /// The lab's own figures on a device of 10 MB/sec, with invented device counters.
    fn lab() -> Vec<Cell> {
        let small = |phase, rate| cell("smallfb", phase, rate, &[("files", 1000), ("file_bytes", 1024)]);
        let large = |phase, rate| cell("largefb", phase, rate, &[("file_bytes", 8 << 20), ("buffer_bytes", 4096)]);
        vec![
            cell("bw -b", "read", 10.0 * MIB, &[]),
            cell("bw -l", "read", 80.0, &[("buffer_bytes", 512)]),
            Cell { io: io(1_024_000, 0, 51_200, 4_096_000), ..small("creat", 200.0) },
            Cell { io: io(1_024_000, 4_096_000, 0, 0), ..small("read", 1500.0) },
            Cell { io: io(0, 0, 0, 65_536), ..small("delete", 40_000.0) },
            Cell { io: io(1000, 0, 1500, 2000), ..large("write sequential", 12.0 * MIB) },
            Cell { io: io(1000, 100, 0, 0), ..large("read sequential", 14.0 * MIB) },
            Cell { io: io(1000, 0, 0, 1000), ..large("write random", 0.4 * MIB) },
            Cell { io: io(1000, 1000, 0, 0), ..large("read random", 2.0 * MIB) },
            large("read sequential again", 15.0 * MIB),
        ]
    }

    #[test]
    fn the_four_answers_are_computed() {
        let expected = [
            "(a) file system over raw: of 10.0 MB/sec raw (one read: 12.5 msec of 512 B): \
             small-file creat 1.95 %, small-file read 14.6 %, small-file delete n.m. (it moves no bytes), \
             write sequential 120 % (more than raw, and the device moved it: bw waits for each of its calls), \
             read sequential 140 % (memory served it: the device moved 10.0 % of it), write random 4.00 %, \
             read random 20.0 %, read sequential again 150 % (more than raw: memory served it)",
            "(b) limiting phase: smallfb: creat, 5.00 msec per file; largefb: write random, 9.77 msec per 4096 bytes",
            "(d) on the device when the calls returned: at most, including other programs: \
             small-file creat 5.00 % (400 % when durable), small-file delete 0 B (64 KiB when durable), \
             write sequential 100 % (200 % when durable), write random 0 % (100 % when durable)",
        ];
        let mut answers = answers(&lab());
        let simulated = answers.remove(2);
        assert_eq!(answers, expected);
        assert!(
            simulated.starts_with("(c) effect of a log-structured file system: simulated sun4-wren4"),
            "{simulated}"
        );
    }

    #[test]
    fn unmeasured_cells_give_no_answer() {
        let unmeasured = |cell: Cell| Cell {
            measured: false,
            reason: Some("nobody may read it".to_owned()),
            rate: None,
            io: None,
            ..cell
        };
        let mut cells = lab();
        cells[0] = unmeasured(cells[0].clone());
        assert_eq!(answers(&cells)[0], "(a) file system over raw: n.m.: nobody may read it");

        let mut cells = lab();
        cells[3] = unmeasured(cells[3].clone());
        assert!(answers(&cells)[0].contains("small-file read n.m.,"));
        assert!(answers(&cells)[1].contains("smallfb: n.m.; largefb: write random"));

        let cells: Vec<Cell> = lab().into_iter().map(unmeasured).collect();
        let answers = answers(&cells);
        assert_eq!(answers[1], "(b) limiting phase: smallfb: n.m.; largefb: n.m.");
        let unseen = "n.m.: the device's counters are not visible";
        assert_eq!(answers[3], format!("(d) on the device when the calls returned: {unseen}"));
    }

    #[test]
    fn answers_are_per_target_and_not_for_published_figures() {
        let here = lab();
        let there = lab().into_iter().map(|cell| Cell { target: "sim:flat".to_owned(), ..cell });
        let mut cells: Vec<Cell> = here.into_iter().chain(there).collect();
        cells.extend(crate::published::lfs::cells());
        let answers = answers(&cells);
        assert_eq!(answers.len(), 8);
        assert!(answers[0].starts_with("(a) file system over raw, .: of"));
        assert!(answers[4].starts_with("(a) file system over raw, sim:flat: of"));
    }
}
