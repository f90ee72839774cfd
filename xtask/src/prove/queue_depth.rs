//! Compares rates at queue depth with the best of two fio settings, and of `t/io_uring` if it is on the machine.

use serde_json::Value;

use super::{Experiment, Figure};

/// The minimum ratio of our rate to the best one: on a disk, and on a device in memory. On the latter, the CPU time of
/// the programs limits the rate.
const ON_DISK: f64 = 0.98;
const IN_MEMORY: f64 = 0.97;

pub const EXPERIMENT: Experiment = Experiment {
    name: "depth-beside-fio",
    command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "depth", "--", "disk"],
    figures: 4,
    judge: |line| compare(line, ON_DISK),
};

/// The same on a device in memory, with one job on one processor and with two jobs on all processors.
pub const MEMORY: Experiment = Experiment {
    name: "depth-in-memory",
    command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "depth", "--", "memory"],
    figures: 6,
    judge: |line| compare(line, IN_MEMORY),
};

fn compare(line: &Value, least: f64) -> Option<Figure> {
    let load = line["depth_beside_fio"].as_str()?;
    let (ratio, control) = (line["ratio"].as_f64()?, line["control"].as_f64()?);
    let (turns, is_decided) = (line["turns"].as_u64()?, line["is_decided"].as_bool()?);
    let (best, rate) = (line["best"].as_str()?, line["best_rate"].as_f64()?);
    let cpu = |program: &str| line["cpu_ns"][program].as_f64().map_or("n.m.".to_owned(), |cpu| format!("{cpu:.0}"));
    let small = line["t_io_uring"].as_f64().map_or("absent".to_owned(), |rate| format!("{rate:.0}/s"));
    let measured = format!(
        "{ratio:.3}; fio / fio {control:.3}, {turns} turns, best is {best} with {rate:.0}/s; t/io_uring {small}; CPU \
         of an operation {} ns, fio {} ns",
        cpu("ours"),
        cpu("fio")
    );
    Some(Figure {
        what: format!("rate beside the best of fio: {load}"),
        asked: format!("at least {least}, fio / fio within 1 %"),
        measured: if is_decided { measured } else { format!("not decided: {measured}") },
        reached: is_decided && ratio >= least,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_ratio_counts_only_if_fio_repeats_itself() {
        let figure = |ratio: f64, is_decided: bool| {
            let line = json!({
                "depth_beside_fio": "randread", "ratio": ratio, "control": 1.004, "is_decided": is_decided, "turns": 9,
                "best": "t/io_uring", "best_rate": 1000.0, "cpu_ns": {"ours": 900.4, "fio": null}, "t_io_uring": 1000.0,
            });
            (EXPERIMENT.judge)(&line).zip((MEMORY.judge)(&line)).expect("a figure")
        };
        let [disk, memory] = [|both: (Figure, Figure)| both.0, |both: (Figure, Figure)| both.1];
        assert!(disk(figure(0.98, true)).reached && !disk(figure(0.979, true)).reached);
        assert!(memory(figure(0.97, true)).reached && !memory(figure(0.969, true)).reached);
        assert!(!disk(figure(1.1, false)).reached && !memory(figure(1.1, false)).reached);
        let measured = disk(figure(1.1, false)).measured;
        assert!(
            measured.starts_with("not decided: 1.100; fio / fio 1.004") && measured.contains("900 ns, fio n.m. ns")
        );
        assert_eq!(compare(&json!({"depth_beside_fio": "randread", "ratio": 1.0}), 0.9), None);
    }
}
