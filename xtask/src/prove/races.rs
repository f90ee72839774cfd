//! Checks that diskperf never writes to a decoy if a name changes in a tight loop between a target and the decoy. There
//! are 2,000 tries each for a link to a device, for a device node, and for the name of a file.

use serde_json::Value;

use super::{Experiment, Figure};

/// Tries per race, as in the command.
const TRIES: u64 = 2000;

pub const EXPERIMENT: Experiment = Experiment {
    name: "races",
    command: &[
        "cargo",
        "--config",
        "env.DISKPERF_RACES=\"2000\"",
        "test",
        "--quiet",
        "--workspace",
        "--test",
        "races",
        "--test",
        "user_files",
        "--",
        "--nocapture",
    ],
    figures: 3,
    judge,
};

/// The line of a race. A race without a refusal never met the decoy; a race without a write refused everything.
fn judge(line: &Value) -> Option<Figure> {
    let race = line["race"].as_str()?;
    let [tries, written, refused, bytes] = ["tries", "written", "refused", "decoy_bytes"].map(|key| line[key].as_u64());
    let (tries, written, refused, bytes) = (tries?, written?, refused?, bytes?);
    Some(Figure {
        what: format!("writes to a name that changes in a tight loop: {race}, {tries} tries"),
        asked: "of 2,000 tries some written, some refused; 0 bytes of the decoy changed".to_owned(),
        measured: format!("{written} written, {refused} refused, {bytes} bytes changed"),
        reached: tries >= TRIES && written > 0 && refused > 0 && written + refused == tries && bytes == 0,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_byte_may_change_and_both_outcomes_must_occur() {
        let reached = |written: u64, refused: u64, bytes: u64| {
            let line = json!({"race": "device node", "tries": written + refused, "written": written,
                "refused": refused, "decoy_bytes": bytes});
            judge(&line).expect("a figure").reached
        };
        assert!(reached(900, 1100, 0) && !reached(900, 1100, 1));
        assert!(!reached(2000, 0, 0) && !reached(0, 2000, 0) && !reached(1, 99, 0));
        assert_eq!(judge(&json!({"tries": 2000})), None);
    }
}
