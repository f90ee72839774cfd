//! Reads of single sectors of a rotating disk, and the angles between them.

use units::Nanos;
use workload::{Served, TapeKind};

use super::session::{Player, Session, request};

/// Bytes of a sector.
pub(crate) const SECTOR: u32 = 512;

/// A read that took less did not wait for its sector: the drive's cache answered. The value is from the design: a
/// command and its transfer take less.
const CACHED: Nanos = Nanos::from_micros(400);

/// Reads sectors one after the other.
pub(crate) fn play<P: Player>(session: &mut Session<'_, P>, offsets: &[u64]) -> Result<Vec<Served>, P::Fault> {
    let tape = offsets.iter().map(|offset| request(TapeKind::Read, *offset, SECTOR)).collect();
    session.play(tape, 1, Nanos(u64::MAX))
}

/// True if the drive's cache answered.
pub(crate) fn is_cached(served: &Served) -> bool {
    served.completed.saturating_sub(served.issued) < CACHED
}

/// The angle, in turns, from a sector to another one that was read this long before it.
pub(crate) fn angle(before: f64, turn: f64) -> f64 {
    let turns = -before / turn;
    turns - turns.round()
}
