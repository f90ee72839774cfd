//! Samples the processes of a running command and their threads. A process that lives only between two samples is
//! missed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Pid;
use units::Nanos;

use crate::sys::read_limited;
use crate::sys::schedstat::{self, ThreadTimes};

/// The minimum interval between two samples.
const LOOK: Duration = Duration::from_millis(40);

/// The interval between two samples is at least this multiple of the duration of a sample, some 20 us per thread. The
/// samples are charged to the command, so they take at most a hundredth of a processor.
const OF_LOOK: u32 = 100;

/// The threads of a process and of all its descendants.
#[derive(Debug, Default)]
pub(super) struct ProcessTree {
    threads: BTreeMap<String, ThreadTimes>,
    /// The moment of the next sample; `None` before the first.
    next: Option<Instant>,
}

impl ProcessTree {
    /// Samples a process and its descendants, unless the last sample was a moment ago.
    pub(super) fn look_if_due(&mut self, pid: Pid) {
        let began = Instant::now();
        if self.next.is_none_or(|next| began >= next) {
            self.look(pid);
            self.next = Some(Instant::now() + pause_after(began.elapsed()));
        }
    }

    /// Samples a process and its descendants. A descendant whose parent has ended is not found.
    pub(super) fn look(&mut self, pid: Pid) {
        self.look_in(Path::new("/proc"), pid.as_raw_nonzero().get());
    }

    fn look_in(&mut self, proc: &Path, pid: i32) {
        let mut coming = vec![pid.to_string()];
        while let Some(pid) = coming.pop() {
            for thread in threads(&proc.join(pid)) {
                if let (Some(id), Some(times)) = (thread.file_name(), schedstat::read(&thread)) {
                    self.threads.insert(id.to_string_lossy().into_owned(), times);
                }
                let children = read_limited::of_the_kernel(thread.join("children")).unwrap_or_default();
                coming.extend(children.split_whitespace().map(str::to_owned));
            }
        }
    }

    /// True if more than one thread was seen.
    pub(super) fn has_several(&self) -> bool {
        self.threads.len() > 1
    }

    /// The CPU time of the busiest thread. `None` if none was seen.
    pub(super) fn busiest(&self) -> Option<Nanos> {
        self.threads.values().map(|times| times.ran).max()
    }

    /// The time in which the only thread waited for a processor. `None` if there were several.
    pub(super) fn waited(&self) -> Option<Nanos> {
        let mut all = self.threads.values();
        all.next().filter(|_| all.next().is_none()).map(|times| times.waited)
    }
}

/// The time until the next sample, after a sample that took this long.
fn pause_after(look: Duration) -> Duration {
    LOOK.max(look * OF_LOOK)
}

/// The folders of the threads of a process.
fn threads(process: &Path) -> Vec<PathBuf> {
    fs::read_dir(process.join("task")).into_iter().flatten().flatten().map(|thread| thread.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded_machine::Recorded;

    #[test]
    fn threads_of_descendants_are_found() {
        let recorded = Recorded::new();
        let write = |path: &str, text: &str| recorded.write(&format!("proc/{path}"), text);
        write("7/task/7/schedstat", "100 20 3\n");
        write("7/task/7/children", "8 \n");
        let mut tree = ProcessTree::default();
        tree.look_in(&recorded.proc(), 7);
        assert!(!tree.has_several());
        assert_eq!((tree.busiest(), tree.waited()), (Some(Nanos(100)), Some(Nanos(20))));

        write("8/task/8/schedstat", "150 0 1\n");
        write("8/task/9/schedstat", "400 0 1\n");
        write("8/task/9/children", "10\n");
        write("10/task/10/schedstat", "90 0 1\n");
        tree.look_in(&recorded.proc(), 7);
        assert!(tree.has_several());
        assert_eq!((tree.busiest(), tree.waited(), tree.threads.len()), (Some(Nanos(400)), None, 4));
    }

    #[test]
    fn a_look_takes_at_most_a_hundredth_of_the_time() {
        assert_eq!(pause_after(Duration::from_micros(240)), LOOK);
        assert_eq!(pause_after(Duration::from_millis(10)), Duration::from_secs(1));
    }

    #[test]
    fn a_missing_process_is_unknown() {
        let mut tree = ProcessTree::default();
        tree.look_in(Recorded::new().sys(), 7);
        assert_eq!((tree.has_several(), tree.busiest(), tree.waited()), (false, None, None));
    }
}
