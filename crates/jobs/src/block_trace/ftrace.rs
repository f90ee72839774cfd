//! Lines of ftrace: the file `trace` of a tracefs instance, with the events of the block layer
//! (include/trace/events/block.h).

use workload::TapeKind;

use super::{EventStage, Line, TraceEvent, bytes_of};
use crate::blktrace::parse::LAST_SECTOR;

/// The name of the format.
pub(super) const NAME: &str = "ftrace text";

/// The comment with the number of events in the buffer, and the number of those that the kernel wrote there.
const COUNTS: &str = "entries-in-buffer/entries-written:";

/// The error of a trace whose counts differ.
const OVERWRITTEN: &str = "the kernel wrote more events than its buffer held, and overwrote the oldest";

/// The events, each with its stage.
const EVENTS: [(&str, EventStage); 3] = [
    (": block_bio_queue: ", EventStage::Queued),
    (": block_rq_issue: ", EventStage::Issued),
    (": block_rq_complete: ", EventStage::Completed),
];

/// True if a trace of this format can begin with this line.
pub(super) fn is_first(text: &str) -> bool {
    text.starts_with("# tracer:") || event(text).is_some()
}

/// Parses a line, as in `dd-7 [001] ..... 12.000345: block_rq_issue: 7,0 WS 4096 () 8 + 8 none,0,0 [dd]`.
pub(super) fn line(text: &str) -> Result<Line<'_>, &'static str> {
    if let Some(comment) = text.strip_prefix('#') {
        return if is_overwritten(comment) { Err(OVERWRITTEN) } else { Ok(Line::Skipped) };
    }
    if text.starts_with("CPU:") && text.contains("LOST") {
        return Err("the kernel lost events here");
    }
    let Some((before, stage, fields)) = event(text) else {
        return Err("it has no event of a block device");
    };
    let at = before.rsplit(' ').next().and_then(time).ok_or("it has no time, as in 12.000345")?;
    let mut words = fields.split(' ');
    let (Some(device), Some(flags)) = (words.next(), words.next()) else { return Err("it ends too early") };
    if !is_device(device) {
        return Err("it does not name a device, as in 8,0");
    }
    // Requests, unlike bios, have a number of bytes and the words of a SCSI command, in parentheses, before the sector.
    let rest = if stage == EventStage::Queued {
        fields.splitn(3, ' ').nth(2)
    } else {
        fields.split_once('(').and_then(|(_, rest)| rest.split_once(") ")).map(|(_, rest)| rest)
    };
    let mut place = rest.ok_or("it ends too early")?.split(' ');
    let sector = place.next().and_then(|sector| sector.parse::<u64>().ok()).ok_or("it has no sector")?;
    if place.next() != Some("+") {
        return Err("it has no size after the sector");
    }
    let sectors = place.next().and_then(|sectors| sectors.parse::<u32>().ok()).ok_or("it has no size after the +")?;
    if !fields.ends_with(']') {
        return Err("it ends too early");
    }
    let kind = kind(flags, sector, sectors);
    // A flush has no sector: the kernel prints -1 or 0.
    let (sector, sectors) = match kind {
        Some(TapeKind::Read | TapeKind::Write) => (sector, sectors),
        _ => (0, 0),
    };
    if sector > LAST_SECTOR {
        return Err("the sector number is too large");
    }
    bytes_of(sectors).ok_or("the request size is too large")?;
    Ok(Line::Event(device, TraceEvent { at, stage, kind, sector, sectors }))
}

/// True if the comment has counts that differ, as in ` entries-in-buffer/entries-written: 40/90   #P:2`.
fn is_overwritten(comment: &str) -> bool {
    let counts = comment.trim_start().strip_prefix(COUNTS).and_then(|rest| rest.split_whitespace().next());
    counts.and_then(|counts| counts.split_once('/')).is_some_and(|(held, written)| held != written)
}

/// The text before the event, its stage and its fields. The name of a process is too short to contain an event.
fn event(text: &str) -> Option<(&str, EventStage, &str)> {
    EVENTS.iter().find_map(|(name, stage)| text.split_once(name).map(|(before, fields)| (before, *stage, fields)))
}

/// The kind of a request, from its flags (`blk_fill_rwbs`): an optional F for a flush before it, then the operation. A
/// request that is written between two flushes is complete twice, the second time with its sector and no size.
fn kind(flags: &str, sector: u64, sectors: u32) -> Option<TapeKind> {
    let operation = if flags.len() > 1 { flags.strip_prefix('F').unwrap_or(flags) } else { flags };
    match operation.bytes().next()? {
        b'F' => Some(TapeKind::Flush),
        b'R' | b'W' if sectors == 0 => {
            (flags.starts_with('F') && [0, u64::MAX].contains(&sector)).then_some(TapeKind::Flush)
        }
        b'R' => Some(TapeKind::Read),
        b'W' => Some(TapeKind::Write),
        _ => None,
    }
}

fn is_device(text: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once(',').is_some_and(|(major, minor)| is_number(major) && is_number(minor))
}

/// Parses seconds with a fraction of one to nine digits into nanoseconds. `trace_clock` mono has six.
fn time(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once('.')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(seconds) || !is_number(fraction) || fraction.len() > 9 {
        return None;
    }
    let nanos = fraction.parse::<u64>().ok()? * 10_u64.pow(9 - fraction.len() as u32);
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(nanos)
}
