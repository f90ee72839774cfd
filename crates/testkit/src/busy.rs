//! Work on a busy machine: threads that use CPU time until the work ends.

use std::hint;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Ends the threads when it is dropped.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` while this many threads use CPU time. They end with it, even if it panics.
pub fn while_busy<T>(threads: usize, work: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        // The scope waits for the threads, also after a panic.
        let _end = End(&over);
        for _ in 0..threads {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    hint::spin_loop();
                }
            });
        }
        work()
    })
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    use super::*;

    #[test]
    fn the_threads_end_with_the_work_and_with_its_panic() {
        assert_eq!(while_busy(2, || 7), 7);
        let panics = || while_busy(2, || resume_unwind(Box::new("a panic")));
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    }
}
