//! A disk simple enough to check by hand: an access anywhere but behind the last one costs one seek, and
//! bytes pass at one rate.

use units::Nanos;

use crate::namespace::{FileId, Transfer};

/// Ten milliseconds to reach another place. Invented: a round number of a drive of the eighties.
const SEEK: Nanos = Nanos::from_millis(10);

/// One microsecond a byte: 1,000,000 bytes a second. Invented, likewise.
const NANOS_PER_BYTE: u64 = 1_000;

/// Where the arm stands: behind the last byte moved.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    arm: (FileId, u64),
}

impl Disk {
    /// Moves the bytes, and says how long that takes.
    pub(crate) fn serve(&mut self, transfer: Transfer) -> Nanos {
        let start = (transfer.file, transfer.offset);
        let seek = if start == self.arm { Nanos::ZERO } else { SEEK };
        self.arm = (transfer.file, transfer.offset + u64::from(transfer.bytes));
        seek + Nanos(u64::from(transfer.bytes) * NANOS_PER_BYTE)
    }
}
