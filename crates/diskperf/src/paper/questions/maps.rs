//! Q6: what a drive does around every read of a new map, under one queue and under two.

use simulator::Activity;
use workload::programs::mckusick::Classic;

use super::super::certainty::spread;
use super::super::laboratory::{FILE_BYTES, Figure, Setup, measure};
use super::{Answer, Question, gain, rate, row};
use crate::machines::MachineFault;

pub const QUESTION: Question = Question {
    id: "Q6",
    asks: "How long is a drive idle around every read of a new disk map, where all requests stand in one queue and where \
           reads go first? (Section 6: one queue does all writes before the map is read, which idles the disk.)",
    experiment,
};

/// A machine, who orders its requests, and by which order.
const CASES: [(&str, &str, &str); 6] = [
    ("vax780-sc780", "driver: one queue (disksort)", "controller.queue=disksort"),
    ("vax780-sc780", "driver: reads first", "controller.queue=reads-first"),
    ("vax780-uda50", "controller: as they came", "controller.order=fifo"),
    ("vax780-uda50", "controller: one queue", "controller.order=disksort"),
    ("vax780-uda50", "controller: reads first", "controller.order=reads-first"),
    ("vax750-uda50", "controller: reads first", "controller.order=reads-first"),
];

/// New maps that a file of eight megabytes needs: one for the first indirect block, and one for every 256 blocks of it
/// (4.2BSD mkfs.c and ffs_alloc.c).
fn maps(half: usize) -> u64 {
    let block = [8192, 4096][half];
    (FILE_BYTES / block - 12).div_ceil(256)
}

/// Milliseconds in which a drive did nothing, for every new map.
fn idle_ms(figure: &Figure, half: usize) -> f64 {
    let idle = figure.drives[Activity::Idle as usize] as f64;
    idle / 1e6 / maps(half) as f64 / f64::from(super::super::laboratory::PHASES)
}

fn experiment() -> Result<Answer, MachineFault> {
    let setup = |(machine, _, queue): (&'static str, &str, &str), half, drives| {
        Setup::of(machine, half, Classic::Write8192, drives).with(queue)
    };
    let columns = [(0, 1), (1, 1), (0, 2)];
    let setups = CASES.iter().flat_map(|case| columns.map(|(half, drives)| setup(*case, half, drives)));
    let figures = measure(&setups.collect::<Vec<Setup>>())?;
    let mut rows = Vec::new();
    for ((machine, queue, _), figures) in CASES.iter().zip(figures.chunks(columns.len())) {
        let mut cells = row([machine, queue]);
        for (figure, (half, _)) in figures.iter().zip(columns) {
            cells.push(rate(figure.rate()));
            cells.push(format!("{} ms", report::significant(idle_ms(figure, half), 2)));
        }
        rows.push(cells);
    }
    let effect =
        spread(&[setup(CASES[2], 0, 1), setup(CASES[4], 0, 1)], |figures| figures[1].rate() / figures[0].rate())?;
    let change = gain(figures[0].rate(), figures[columns.len()].rate());
    Ok(Answer {
        headings: row(["machine", "order", "8K x1", "idle per map", "4K x1", "idle per map", "8K x2", "idle per map"]),
        rows,
        sentence: format!(
            "Reads first change what one drive writes by {change} on the SC780 and by {:+.1} % on the UDA50: a file of \
             eight megabytes needs {} new maps only.",
            100.0 * (effect.value - 1.0),
            maps(0)
        ),
        effect: ("write_8192 on the UDA50: reads first over as they came", effect),
    })
}
