//! Made-up comparisons for tests.

use stats::{Choice, Comparison, TargetVerdict, Verdict};

/// A comparison of two targets with this verdict on the second, and this interval around the ratio.
pub fn comparison(program: &str, [first, second]: [&str; 2], verdict: Verdict, ends: [f64; 3]) -> Comparison {
    let more_rounds = (verdict == Verdict::Undecided).then_some(34);
    let (verdict, faster) = TargetVerdict::from_verdict(verdict, [first, second]);
    Comparison {
        program: program.to_owned(),
        first: first.to_owned(),
        second: second.to_owned(),
        pairs: 8,
        ratio: Some(ends[1]),
        low: Some(ends[0]),
        high: Some(ends[2]),
        confidence: 0.95,
        verdict,
        faster,
        matters: ends[0] > 1.05 || ends[2] < 0.95,
        more_rounds,
        why: None,
        marks: Vec::new(),
    }
}

/// A comparison of ext4 with xfs.
pub fn pair(verdict: Verdict, ends: [f64; 3]) -> Comparison {
    comparison("commit", ["ext4", "xfs"], verdict, ends)
}

/// A choice of these comparisons.
pub fn choice(comparisons: Vec<Comparison>) -> Choice {
    Choice { margin: 0.05, decided: true, round_s: Some(10.0), comparisons, ..Choice::default() }
}
