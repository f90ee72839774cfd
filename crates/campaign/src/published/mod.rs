//! Figures from publications, as cells: they stand beside the measured ones, and the same code prints them
//! and reads conclusions from them. As printed, never corrected. An average comes without its rounds.

mod lab;
mod tlpi;

use stats::Cell;

/// What was published of the programs of this preset.
pub fn cells(preset: &str) -> Vec<Cell> {
    match preset {
        "lfs" => lab::cells(),
        "tlpi" => tlpi::cells(),
        _ => Vec::new(),
    }
}
