//! Lines of the block traces of Microsoft Research Cambridge (Narayanan et al., Write Off-Loading, FAST 2008), as SNIA
//! publishes them: Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime.
//!
//! Times are in ticks of 100 ns; offsets and sizes are in bytes. The trace does not show merged bios, so each request
//! counts as one. It has no flushes.

use workload::TapeKind;

use super::{EventStage, Line, TraceEvent};
use crate::blktrace::parse::SECTOR;

/// The name of the format.
pub(super) const NAME: &str = "MSR CSV";

/// Number of fields.
const FIELDS: usize = 7;

/// Nanoseconds per tick.
const TICK: u64 = 100;

/// The longest response of a request in ticks: an hour. A longer one is another number. Chosen.
const LONGEST_RESPONSE: u64 = 36_000_000_000;

/// True if a trace of this format can begin with this line.
pub(super) fn is_first(text: &str) -> bool {
    text.split(',').count() == FIELDS
}

/// Parses a line, as in `128166372003061629,usr,0,Read,7014609920,24576,41286`.
pub(super) fn line(text: &str) -> Result<Line<'_>, &'static str> {
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    let [at, _, _, kind, offset, size, response] = fields[..] else {
        return Err("it has not seven fields with commas between them");
    };
    if at.eq_ignore_ascii_case("timestamp") {
        return Ok(Line::Skipped);
    }
    let number = |text: &str| text.parse::<u64>().ok();
    let at = number(at).ok_or("it has no time")?;
    let response = number(response).filter(|ticks| *ticks <= LONGEST_RESPONSE).ok_or("it has no response time")?;
    let kind = match kind {
        "Read" => TapeKind::Read,
        "Write" => TapeKind::Write,
        _ => return Err("its type is neither Read nor Write"),
    };
    let offset = number(offset).ok_or("it has no offset")?;
    let size = number(size).ok_or("it has no size")?;
    let sectors = u32::try_from(size.div_ceil(SECTOR)).ok().filter(|sectors| *sectors > 0).ok_or("it has no size")?;
    super::bytes_of(sectors).ok_or("the request size is too large")?;
    // Times of the trace are since 1601; nanoseconds since then fit into 64 bits until 2185.
    let issued = at.checked_mul(TICK).ok_or("it has no time")?;
    let completed = issued.checked_add(response * TICK).ok_or("it has no response time")?;
    let event =
        TraceEvent { at: issued, stage: EventStage::Issued, kind: Some(kind), sector: offset / SECTOR, sectors };
    // The device is the host and the disk: one part of the line, from the first comma to the third.
    let device = text.split_once(',').map_or("", |(_, rest)| rest);
    let end = device.match_indices(',').nth(1).map_or(device.len(), |(end, _)| end);
    Ok(Line::Request(&device[..end], event, completed))
}
