//! One processor for a measurement: for this program, the programs that it starts, the journals of loop devices, and
//! the kernel's workers.
//!
//! A request to a loop device waits for a worker. On several processors, the scheduler decides whether that worker runs
//! on the processor of the program, or on another one, which first has to wake up. The latter takes several times as
//! long, and the choice changes while a program runs. On one processor, the worker never waits for another processor.

use std::fs;
use std::process::{Child, Command, Stdio};

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The processors of the kernel's unbound workers, as a mask.
const WORKERS: &str = "/sys/devices/virtual/workqueue/cpumask";

/// While this exists, all run on one processor. Threads that this program had before keep their processors.
#[derive(Debug)]
pub struct OneProcessor {
    /// Restores the mask of the workers at the end of its input, so that it also does so if this program is killed.
    restorer: Child,
    before: CpuSet,
}

impl OneProcessor {
    /// Moves all to the first processor of this thread. Needs root, and setsid.
    pub fn enter() -> OneProcessor {
        let before = sched_getaffinity(None).expect("the processors of this thread");
        let first = (0..CpuSet::MAX_CPU).find(|&cpu| before.is_set(cpu)).expect("a processor");
        let mut one = CpuSet::new();
        one.set(first);
        let mask_before = fs::read_to_string(WORKERS).expect("the processors of workers");
        let mut restore = Command::new("setsid");
        restore.args(["sh", "-c", "cat; echo \"$1\" > \"$2\"", "restore", mask_before.trim(), WORKERS]);
        let restorer = restore.stdin(Stdio::piped()).spawn().expect("setsid can be started");
        let made = OneProcessor { restorer, before };
        fs::write(WORKERS, mask(first)).expect("another mask");
        for thread in journals() {
            // A journal that has ended needs no processor.
            let _ = sched_setaffinity(Some(thread), &one);
        }
        sched_setaffinity(None, &one).expect("one processor");
        made
    }
}

impl Drop for OneProcessor {
    fn drop(&mut self) {
        drop(self.restorer.stdin.take());
        self.restorer.wait().expect("the workers have their processors again");
        sched_setaffinity(None, &self.before).expect("the processors of before");
    }
}

/// The mask with this processor: words of 32 bits in hexadecimal, the highest first.
fn mask(processor: usize) -> String {
    format!("{:x}{}", 1_u32 << (processor % 32), ",00000000".repeat(processor / 32))
}

/// The threads that commit the journals of ext4 on loop devices. They stay on the processor until their file system is
/// unmounted.
fn journals() -> Vec<Pid> {
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let is_journal = |entry: &fs::DirEntry| {
        fs::read_to_string(entry.path().join("comm")).is_ok_and(|name| name.starts_with("jbd2/loop"))
    };
    let number = |entry: fs::DirEntry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?);
    processes.filter(is_journal).filter_map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_have_one_bit() {
        assert_eq!([0, 5, 31].map(mask), ["1", "20", "80000000"]);
        assert_eq!([32, 69].map(mask), ["1,00000000", "20,00000000,00000000"]);
    }
}
