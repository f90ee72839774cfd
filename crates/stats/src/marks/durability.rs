//! Whether what was said to be durable was.

use super::{Mark, MarkCode};

/// The share of the files' pages that may be in memory only when durability is claimed. A convention of this
/// project: other programs may touch a page of metadata meanwhile.
const DIRTY: f64 = 0.01;

/// What is wrong where so many of so many pages were in memory only when the clock stopped.
pub fn dirty(unwritten: u64, of: u64) -> Option<Mark> {
    let share = unwritten as f64 / of as f64;
    (of > 0 && share > DIRTY).then(|| Mark {
        code: MarkCode::Dirty,
        value: Some(share),
        text: format!("{:.0} % of the data were in memory only when the clock stopped", 100.0 * share),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundredth_may_be_unwritten() {
        assert_eq!(dirty(0, 0), None);
        assert_eq!(dirty(10, 1000), None);
        assert_eq!(dirty(11, 1000).map(|mark| mark.code), Some(MarkCode::Dirty));
    }
}
