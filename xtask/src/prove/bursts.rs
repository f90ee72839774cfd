//! Verdicts of `choose` on disks with burst credits. The benchmark stores each finished pair, so it continues after an
//! interruption.

use serde_json::Value;

use super::{Experiment, Figure};

pub const EXPERIMENT: Experiment = Experiment {
    name: "choose-between-disks-with-bursts",
    command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "bursts"],
    figures: 1,
    judge,
};

fn judge(line: &Value) -> Option<Figure> {
    let count = |name: &str| line[name].as_u64();
    let (all, right, wrong, open) = (count("bursts")?, count("right")?, count("wrong")?, count("not_decided")?);
    Some(Figure {
        what: format!("`choose` between two disks with burst credits, {all} pairs from a seed, two minutes each"),
        asked: "the sustained ratio inside the interval, or same, in 16 of 20; none wrong".to_owned(),
        measured: format!("{right} right, {wrong} wrong, {open} not decided"),
        reached: all >= 20 && right * 20 >= all * 16 && wrong == 0,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sixteen_of_twenty_must_be_right_and_none_wrong() {
        let reached = |right: u64, wrong: u64, open: u64| {
            let all = right + wrong + open;
            judge(&json!({"bursts": all, "right": right, "wrong": wrong, "not_decided": open}))
                .expect("a figure")
                .reached
        };
        assert!(reached(16, 0, 4) && reached(20, 0, 0));
        assert!(!reached(15, 0, 5) && !reached(19, 1, 0) && !reached(10, 0, 0));
        assert_eq!(judge(&json!({"pair": 1, "judged": "right"})), None);
    }
}
