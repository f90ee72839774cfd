//! Figures from publications, as cells, which the same code prints and interprets next to measured ones. The figures
//! are as printed, never corrected. An average has no single rounds.

mod lfs;
mod tlpi;

use stats::Cell;

/// The published figures of this preset's programs.
pub fn cells(preset: &str) -> Vec<Cell> {
    match preset {
        "lfs" => lfs::cells(),
        "tlpi" => tlpi::cells(),
        _ => Vec::new(),
    }
}
