//! Lines of `blkparse`. Mixes read them with the same parser.

use workload::TapeKind;

use super::{EventStage, Line, TraceEvent};
use crate::blktrace::parse::{self, Kind, Stage};

/// The name of the format.
pub(super) const NAME: &str = "blkparse text";

/// True if a trace of this format can begin with this line.
pub(super) fn is_first(text: &str) -> bool {
    parse::line(text).is_ok()
}

/// True if a line of the sums says that events are missing, as in `Skips: 12 forward (5,100 -   0.4%)`.
pub(super) fn has_gaps(text: &str) -> bool {
    let count = text.strip_prefix("Skips: ").and_then(|rest| rest.split(' ').next());
    count.is_some_and(|count| count != "0")
}

/// Parses a line, as in `8,0 1 1 0.000000000 697 D R 223490 + 8 [kjournald]`.
pub(super) fn line(text: &str) -> Result<Line<'_>, &'static str> {
    let (device, stage, kind, at) = match parse::line(text)? {
        parse::Line::Skipped => return Ok(Line::Skipped),
        parse::Line::Sums => return Ok(Line::Sums),
        parse::Line::Event(device, stage, kind, at) => (device, stage, kind, at),
    };
    let stage = match stage {
        Stage::Queued => EventStage::Queued,
        Stage::Issued => EventStage::Issued,
        Stage::Completed => EventStage::Completed,
    };
    let (kind, sector, sectors) = match kind {
        Kind::Access(request) => {
            let kind = if request.reads { TapeKind::Read } else { TapeKind::Write };
            (Some(kind), request.sector, request.sectors)
        }
        Kind::Flush => (Some(TapeKind::Flush), 0, 0),
        Kind::Other => (None, 0, 0),
    };
    Ok(Line::Event(device, TraceEvent { at, stage, kind, sector, sectors }))
}
