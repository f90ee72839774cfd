//! Addresses on a drive.

/// Consecutive sectors of the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) sector: u32,
    pub(crate) sectors: u16,
}
