//! Figures from publications, as cells, which the same code prints and interprets next to measured ones. The figures
//! are as printed, never corrected. An average has no single rounds.

mod lab;
mod tlpi;

use stats::Cell;

/// The published figures of this preset's programs.
pub fn cells(preset: &str) -> Vec<Cell> {
    match preset {
        "lfs" => lab::cells(),
        "tlpi" => tlpi::cells(),
        _ => Vec::new(),
    }
}
