//! Chapter 13 of Kerrisk, *The Linux Programming Interface*, 2010. A file is copied through buffers of 14 sizes,
//! without a sync and with an fsync (table 13-1). Another is written with and without synchronous writes (table 13-3).
//! The findings follow the book's own reading of its tables: the cost of a call, the speed of copying in the CPU, and
//! the rate of the disk.

use report::glossary::Entry;
use report::{Layout, Presentation};
use runner::execution::{ClaimedClock, MeasureOptions};
use stats::digits::significant;
use stats::figures::execution_times::ExecutionTimes;
use stats::inference::buffer_regression::{self, DiskRate, SweepRow};
use stats::{Cell, Provenance};
use units::{Bytes, Nanos};
use workload::programs::tlpi::{self, COPY_BUFFERS, COPY_BYTES, Sync, WRITE_BUFFERS, WRITE_BYTES};

use super::{Preset, Settings, Sizing, groups};
use crate::error::CampaignError;
use crate::fit::unit_costs::Work;
use crate::plan::{Before, Row};
use crate::published::tlpi::{self as published, MB_PER_SECOND};
use crate::request::schedule::Schedule;
use crate::targets::Target;

/// The book's times are those that a shell reports for the program, until its last call returned. The fsync and the
/// synchronous writes are calls of the program, inside that time. The rounds also have the time until everything is
/// durable.
pub const PRESET: Preset = Preset {
    name: "tlpi",
    about: "Tables 13-1 and 13-3 of Kerrisk, The Linux Programming Interface, 2010: 100 million bytes copied through \
            buffers of 1 byte to 64 KiB, with and without fsync. Also 1 million bytes written, plain, with O_SYNC and \
            with O_DSYNC. Its 20 rounds take hours: see --rounds, --size and --budget",
    schedule: Schedule::fixed(20),
    together: false,
    memory: None,
    sizing: Sizing::Thin,
    before: Before::Mount,
    options: MeasureOptions { claim: ClaimedClock::Returned, timed: false, ceiling: false, live: None },
    rows: Some(rows),
    published: published::cells,
    findings,
    presentation: Presentation { layout: Layout::Tlpi, groups: &[groups::COPYING, groups::WRITING] },
    entry: Some(Entry {
        word: "tlpi",
        also: &[],
        brief: "the buffer sizes of Kerrisk, The Linux Programming Interface, 2010",
        says: "Tables 13-1 and 13-3: 100 million bytes copied through buffers from one byte on, and written with and \
               without O_SYNC. It computes the cost of a call and of a byte.",
        when: "Before it starts, it prints how long it will take; one-byte buffers take long.",
        advice: "--budget 5min leaves out the slowest rows, as n.m.",
    }),
};

/// The copied file is this many times as large as the written one, as in the book.
const WRITE_PART: u64 = COPY_BYTES / WRITE_BYTES;

/// The largest file of ext4 with its usual block size, and larger than any of the buffers needs.
const LARGEST: Bytes = Bytes(16 << 40);

fn rows(settings: &Settings, _: &Target) -> Result<Vec<Row>, CampaignError> {
    let size = settings.size.unwrap_or(Bytes(COPY_BYTES));
    if size > LARGEST {
        return Err(CampaignError::LargeSize { size, most: LARGEST });
    }
    let copies = [Sync::None, Sync::Fsync].map(|sync| COPY_BUFFERS.map(|buffer| copy(size.0, buffer, sync)));
    let written = (size.0 / WRITE_PART).max(1);
    let writes =
        [Sync::None, Sync::Osync, Sync::Dsync].map(|sync| WRITE_BUFFERS.map(|buffer| write(written, buffer, sync)));
    Ok(copies.into_iter().flatten().chain(writes.into_iter().flatten()).collect())
}

fn copy(bytes: u64, buffer: u32, sync: Sync) -> Row {
    let work = Work { calls: 2 * (bytes / u64::from(buffer) + 1), bytes, sync_writes: 0 };
    Row::new(tlpi::copy(bytes, buffer, sync), MB_PER_SECOND).doing(work)
}

fn write(bytes: u64, buffer: u32, sync: Sync) -> Row {
    let calls = bytes.div_ceil(u64::from(buffer));
    let sync_writes = if matches!(sync, Sync::Osync | Sync::Dsync) { calls } else { 0 };
    Row::new(tlpi::write(bytes, buffer, sync), MB_PER_SECOND).doing(Work { calls, bytes, sync_writes })
}

/// A few sentences for each target, including the book's own machine.
fn findings(cells: &[Cell]) -> Vec<String> {
    let mut targets: Vec<&str> = Vec::new();
    for cell in cells {
        if !targets.contains(&cell.target.as_str()) {
            targets.push(&cell.target);
        }
    }
    let about = |target: &str| {
        let here: Vec<&Cell> = cells.iter().filter(|cell| cell.target == target).collect();
        let sentences = [copying(&here), disk(&here), waiting(&here)];
        sentences.into_iter().flatten().map(|sentence| format!("{target}: {sentence}")).collect::<Vec<String>>()
    };
    targets.into_iter().flat_map(about).collect()
}

/// The rows of table 13-1 without a sync. `seconds` selects the CPU time.
fn sweep(cells: &[&Cell], seconds: fn(&ExecutionTimes) -> Option<f64>) -> Vec<SweepRow> {
    let plain = cells.iter().filter(|cell| cell.program == "copy" && cell.word("sync") == Some("none"));
    plain.filter_map(|cell| sweep_row(cell, seconds)).collect()
}

fn sweep_row(cell: &Cell, seconds: fn(&ExecutionTimes) -> Option<f64>) -> Option<SweepRow> {
    let execution = ExecutionTimes::from_cell(cell)?;
    let file_bytes = cell.number("file_bytes")?;
    let executions = cell.kept().count() as f64;
    let disk_bytes = match cell.provenance {
        // The book's file system was remounted, so the disk read the whole file.
        Provenance::Published => Some(file_bytes as f64),
        Provenance::Measured | Provenance::Simulated => {
            cell.io.as_ref().map(|io| (io.device_read + io.device_written_at_return) as f64 / executions)
        }
    };
    Some(SweepRow {
        buffer_bytes: cell.number("buffer_bytes")?,
        file_bytes,
        elapsed_s: execution.elapsed_s,
        cpu_s: seconds(&execution)?,
        disk_bytes,
    })
}

/// A sentence about the cost of a call, and the speed of copying in the CPU.
fn copying(cells: &[&Cell]) -> Option<String> {
    let rows = sweep(cells, |execution| execution.cpu_s);
    if rows.is_empty() {
        return None;
    }
    let Some(cost) = buffer_regression::copy_cost(&rows) else {
        return Some(format!("cost of a call n.m.: {} rows of copy do not determine it", rows.len()));
    };
    let kernel = buffer_regression::copy_cost(&sweep(cells, |execution| execution.system_s));
    let kernel = kernel.map_or_else(String::new, |kernel| format!(", {} of it in the kernel", span(kernel.pair_s)));
    let (buffer, miss) = cost.worst;
    Some(format!(
        "a read+write pair costs {} of CPU{kernel}; copying {} (in and out, each byte twice) \
         (fitted to {} rows, worst row off by {:.0} %, at {buffer} bytes)",
        span(cost.pair_s),
        rate(cost.bytes_per_s()),
        cost.rows,
        100.0 * miss,
    ))
}

/// A sentence about the rate of the disk.
fn disk(cells: &[&Cell]) -> Option<String> {
    Some(match buffer_regression::disk_rate(&sweep(cells, |execution| execution.cpu_s))? {
        DiskRate::Waited(bytes_per_s) => {
            format!(
                "the disk gave {} (buffers of {} bytes and more)",
                rate(bytes_per_s),
                buffer_regression::LARGE_BUFFER
            )
        }
        DiskRate::NeverWaited(share) => {
            format!("disk rate n.m.: the copy never waited for the disk (CPU {:.0} % of elapsed)", 100.0 * share)
        }
        DiskRate::NotForTheDisk(share) => format!(
            "disk rate n.m.: the copy waited, but the disk moved only {} % of the bytes meanwhile",
            significant(100.0 * share, 2)
        ),
        DiskRate::Unseen => {
            "disk rate n.m.: the copy waited, but diskperf cannot see the counters of the disk here".to_owned()
        }
    })
}

/// A sentence about the cost of synchronous writes, for the smallest buffer of table 13-3 that was measured in all
/// three ways.
fn waiting(cells: &[&Cell]) -> Option<String> {
    let write = |buffer: u32, sync: Sync| {
        let is_it = |cell: &&&Cell| {
            cell.program == "write"
                && cell.number("buffer_bytes") == Some(u64::from(buffer))
                && cell.word("sync") == Some(sync.name())
        };
        let cell = cells.iter().find(is_it)?;
        let calls = cell.number("file_bytes")?.div_ceil(u64::from(buffer));
        Some(span(ExecutionTimes::from_cell(cell)?.elapsed_s / calls as f64))
    };
    let all = |&buffer: &u32| {
        let (none, osync, dsync) =
            (write(buffer, Sync::None)?, write(buffer, Sync::Osync)?, write(buffer, Sync::Dsync)?);
        let s = if buffer == 1 { "" } else { "s" };
        Some(format!("a write of {buffer} byte{s} takes {none}, with O_DSYNC {dsync}, with O_SYNC {osync}"))
    };
    WRITE_BUFFERS.iter().find_map(all)
}

fn span(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9).round() as u64)
}

fn rate(bytes_per_s: f64) -> String {
    let (unit, size) = if bytes_per_s < 1e9 { ("MB/s", 1e6) } else { ("GB/s", 1e9) };
    format!("{} {unit}", significant(bytes_per_s / size, 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_table_gives_the_conclusions_of_the_book() {
        let findings = findings(&published::cells());
        assert_eq!(
            findings,
            [
                "TLPI 2010 (ext2, Linux 2.6.30): a read+write pair costs 1.16 us of CPU, 1.07 us of it in the kernel; \
                 copying 265 MB/s (in and out, each byte twice) (fitted to 14 rows, worst row off by 53 %, at 256 \
                 bytes)",
                "TLPI 2010 (ext2, Linux 2.6.30): the disk gave 48.8 MB/s (buffers of 4096 bytes and more)",
            ]
        );
    }

    #[test]
    fn no_findings_without_measured_cells() {
        assert_eq!(findings(&[]), Vec::<String>::new());
    }
}
