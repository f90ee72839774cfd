//! A disk that can be checked by hand. An access that does not continue the last one costs one seek, and bytes pass at
//! a fixed rate.

use units::Nanos;

use crate::namespace::{FileId, Transfer};

/// Seek time: ten milliseconds. Invented: a round number for a drive of the eighties.
const SEEK: Nanos = Nanos::from_millis(10);

/// Transfer time: one microsecond per byte, or 1,000,000 bytes per second. Also invented.
const NANOS_PER_BYTE: u64 = 1_000;

/// State of the disk: the arm is after the last byte moved.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    arm: (FileId, u64),
}

impl Disk {
    /// Performs the transfer, and returns how long it takes.
    pub(crate) fn serve(&mut self, transfer: Transfer) -> Nanos {
        let start = (transfer.file, transfer.offset);
        let seek = if start == self.arm { Nanos::ZERO } else { SEEK };
        self.arm = (transfer.file, transfer.offset + u64::from(transfer.bytes));
        seek + Nanos(u64::from(transfer.bytes) * NANOS_PER_BYTE)
    }
}
