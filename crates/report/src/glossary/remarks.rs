//! Remarks: events of a run that its figures do not show. They are below the table, and in run.remarks of the JSON.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "workload_limited",
        also: &["no io_uring", "plain calls"],
        brief: "this machine cannot run the workload as it is written",
        says: "A workload with a queue depth above 1 ran with plain calls at queue depth 1, because io_uring is not \
               available here: its rate is not the rate of a deep queue. Or polling threads shared processors.",
        when: "io and job files with a queue depth above 1 or --engine sqpoll.",
        advice: "sysctl kernel.io_uring_disabled=0; in a sandbox, allow io_uring_setup. --engine uring refuses to run \
                 without it.",
    },
    Entry {
        word: "io_uring_limited",
        also: &["registered buffers", "kernel workers"],
        brief: "io_uring worked without one of its features",
        says: "io_uring worked without registered files or buffers, or handed operations to kernel workers. An \
               operation then costs more CPU time.",
        when: "Workloads with a queue depth above 1.",
        advice: "The remark names the reason. ulimit -l unlimited allows registered buffers.",
    },
    Entry {
        word: "repeated",
        also: &["signal", "SIGSTOP", "paused"],
        brief: "an execution was repeated",
        says: "A signal (SIGSTOP, SIGTSTP) paused the run during an execution. diskperf discarded its time and \
               repeated it.",
        when: "A signal paused the run.",
        advice: "Do not suspend a run.",
    },
    Entry {
        word: "processes_left",
        also: &["left running"],
        brief: "a command left processes running",
        says: "A command ended and processes that it had started went on. diskperf ended them outside the measurement, \
               or could not because they run as another user.",
        when: "Tests of a command of your own.",
        advice: "Let the command wait for its processes: their work is not part of its time.",
    },
    Entry {
        word: "memory_not_limited",
        also: &["memory limit"],
        brief: "the memory of the run could not be limited",
        says: "The preset or --cache limits the memory of the run, so that files do not fit into the page cache. That \
               was not possible here.",
        when: "Runs with --cache, and classic1983 without --size.",
        advice: "Run as root on a system whose control groups limit memory.",
    },
    Entry {
        word: "queue_not_restored",
        also: &["left tuned"],
        brief: "a disk still has queue settings of a killed run",
        says: "A run with tune= was killed, and diskperf could not restore the queue settings of its disk. If this \
               run measured that disk, it did so with those settings.",
        when: "After a run with tune= was killed.",
        advice: "Run diskperf clean as root, or restart the machine.",
    },
    Entry {
        word: "left_out",
        also: &["time over"],
        brief: "rounds were left out because the time was over",
        says: "The run ended before all planned rounds, because --budget or the time of the preset was over. Fewer \
               rounds give wider intervals. Or the last rounds left out one test, because it takes too long.",
        when: "Runs with --budget, quick and choose.",
        advice: "Give the run more time with --budget.",
    },
];
