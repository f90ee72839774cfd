//! Q6: idle time of a drive around each read of a new map, with one queue and with two.

use machines::MachineFault;
use workload::programs::classic1983::Classic;

use super::{Answer, Question, gain, rate, row};
use crate::published::FileSystem::{self, Block4K, Block8K};
use crate::simulation::{FILE_BYTES, Figure, Setup, measure};
use crate::uncertainty::spread;

pub const QUESTION: Question = Question {
    id: "Q6",
    asks: "How long is a drive idle around every read of a new disk map, if all requests are in one queue and if \
           reads go first? (Section 6: one queue does all writes before the map is read, which idles the disk.)",
    experiment,
};

/// Machine, the component that orders its requests, and the order.
const CASES: [(&str, &str, &str); 6] = [
    ("vax780-sc780", "driver: one queue (disksort)", "controller.queue=disksort"),
    ("vax780-sc780", "driver: reads first", "controller.queue=reads-first"),
    ("vax780-uda50", "controller: order of arrival", "controller.order=fifo"),
    ("vax780-uda50", "controller: one queue", "controller.order=disksort"),
    ("vax780-uda50", "controller: reads first", "controller.order=reads-first"),
    ("vax750-uda50", "controller: reads first", "controller.order=reads-first"),
];

/// Number of new maps that a file of eight megabytes needs: the header of every cylinder group in which it has blocks.
/// Its first blocks are in one group. It moves to another group with each indirect block, and after every 256 blocks of
/// one (4.2BSD mkfs.c and ffs_alloc.c).
fn maps(file_system: FileSystem) -> u64 {
    let block = match file_system {
        Block8K => 8192,
        Block4K => 4096,
    };
    1 + (FILE_BYTES / block - 12).div_ceil(256)
}

/// Number of reads per file: one for each map, and more for maps that were evicted from the cache.
fn reads(figure: &Figure, drives: usize) -> f64 {
    figure.around_reads.0 as f64 / f64::from(figure.phases) / drives as f64
}

/// Formats `3.2 ms`.
fn idle(figure: &Figure) -> String {
    figure.idle_around_a_read().map_or_else(|| "n.m.".to_owned(), |ms| format!("{ms:.1} ms"))
}

fn experiment() -> Result<Answer, MachineFault> {
    let setup = |(machine, _, queue): (&'static str, &str, &str), file_system, drives| {
        Setup::new(machine, file_system, Classic::Write8192, drives).with(queue)
    };
    let columns = [(Block8K, 1), (Block4K, 1), (Block8K, 2)];
    let setups = CASES.iter().flat_map(|case| columns.map(|(file_system, drives)| setup(*case, file_system, drives)));
    let figures = measure(&setups.collect::<Vec<Setup>>())?;
    let mut rows = Vec::new();
    for ((machine, queue, _), figures) in CASES.iter().zip(figures.chunks(columns.len())) {
        let mut cells = row([machine, queue]);
        for (figure, (_, drives)) in figures.iter().zip(columns) {
            cells.push(rate(figure.rate()));
            cells.push(format!("{}, {:.0} times", idle(figure), reads(figure, drives)));
        }
        rows.push(cells);
    }
    let effect = spread(&[setup(CASES[2], Block8K, 1), setup(CASES[4], Block8K, 1)], |figures| {
        figures[1].rate() / figures[0].rate()
    })?;
    let change = gain(figures[0].rate(), figures[columns.len()].rate());
    Ok(Answer {
        headings: row(["machine", "order", "8K x1", "idle", "4K x1", "idle", "8K x2", "idle"]),
        rows,
        sentence: format!(
            "Serving reads first changes write_8192 on one drive by {change} on the SC780 and by {:+.1} % on the \
                UDA50. A \
             file of eight megabytes needs {} maps, in smaller blocks {}. Around each map read, a drive of the UDA50 \
             is idle for {} in order of arrival, for {} with reads first.",
            100.0 * (effect.value - 1.0),
            maps(Block8K),
            maps(Block4K),
            idle(&figures[2 * columns.len()]),
            idle(&figures[4 * columns.len()]),
        ),
        effect: ("write_8192 on the UDA50: reads first over order of arrival", effect),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four additional groups with blocks of 8 Kbytes, eight with blocks of 4.
    #[test]
    fn every_cylinder_group_has_a_map_that_is_read() {
        assert_eq!(FileSystem::ALL.map(maps), [5, 9]);
        for file_system in FileSystem::ALL {
            let setup = Setup::new("vax780-sc780", file_system, Classic::Write8192, 1);
            let figures = measure(&[setup]).expect("a machine");
            assert!(reads(&figures[0], 1) >= maps(file_system) as f64, "{:?}", figures[0].around_reads);
        }
    }
}
