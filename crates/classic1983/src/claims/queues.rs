//! Claims about queues: who orders requests, and whether reads go first.

use machines::MachineFault;
use workload::programs::classic1983::Classic::Write8192;

use super::lab::Lab;
use super::{Claim, SC780, UDA780, Verdict, arrow, claim, is_new, raises, rate};
use crate::published::Case;
use crate::published::FileSystem::Block8K;
use crate::simulation::{Figure, Setup};
use crate::uncertainty::SAME;

/// Two queues: reads are served first.
const READS_FIRST: &str = "controller.queue=reads-first";

pub(super) fn reads_go_first(lab: &Lab) -> Result<Claim, MachineFault> {
    // For the tests that both read and write: which queue order is closer to the measurements?
    let cells: Vec<Case> = Case::all().filter(|case| is_new(case.test)).collect();
    let setup = |case: &Case| Setup::of_case(SC780, *case);
    let one = lab.measure(&cells.iter().map(setup).collect::<Vec<Setup>>())?;
    let two = lab.measure(&cells.iter().map(|cell| setup(cell).with(READS_FIRST)).collect::<Vec<Setup>>())?;
    let error = |figures: &[Figure]| {
        let errors =
            cells.iter().zip(figures).map(|(case, figure)| 100.0 * (figure.rate() / rate(SC780, *case) - 1.0).abs());
        errors.sum::<f64>() / cells.len() as f64
    };
    let differ = one.iter().zip(&two).filter(|(one, two)| (two.rate() / one.rate() - 1.0).abs() > SAME).count();
    let (error_one, error_two) = (error(&one), error(&two));
    Ok(claim(
        6,
        "UNIX has separate queues for reads and writes, and serves reads first.",
        "the distributed system has one queue (4.2BSD ufs_disksubr.c 6.1)".to_owned(),
        format!(
            "new files on the SC780: two queues change {differ} of {} cells; the mean error is {error_one:.1} % with \
                one queue and \
             {error_two:.1} % with two",
            cells.len()
        ),
        match error_two - error_one {
            _ if differ == 0 => Verdict::CannotTell,
            farther if farther > 100.0 * SAME => Verdict::Disagrees,
            farther if farther < -100.0 * SAME => Verdict::Agrees,
            _ => Verdict::CannotTell,
        },
    ))
}

pub(super) fn reads_first_helps_writers(lab: &Lab) -> Result<Claim, MachineFault> {
    let (one, two) = lab.both(&Setup::new(SC780, Block8K, Write8192, 1), &[READS_FIRST])?;
    Ok(claim(
        6,
        "Serving reads first helps with large new files: maps are read while blocks are written.",
        String::new(),
        format!("write_8192 on one drive of the SC780, one queue -> two: {}", arrow(one.rate(), two.rate())),
        raises(one.rate(), two.rate()),
    ))
}

pub(super) fn one_queue_idles_the_disk(lab: &Lab) -> Result<Claim, MachineFault> {
    let (own, first) = lab.both(&Setup::new(UDA780, Block8K, Write8192, 1), &["controller.order=reads-first"])?;
    let [idle, idle_first] = [&own, &first].map(|figure| figure.idle_around_a_read().unwrap_or(f64::NAN));
    Ok(claim(
        6,
        "The single queue of the UDA50 does all writes before it reads a map, so the disk is idle.",
        String::new(),
        format!(
            "write_8192, its queue -> reads first: {}; idle per map read {idle:.1} -> {idle_first:.1} ms",
            arrow(own.rate(), first.rate()),
        ),
        raises(idle_first, idle),
    ))
}
