//! The barrier from which programs start at the same time, each on its own thread.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use units::{Host, Moment};

use crate::sys::clocks::now;

/// Waits for a fixed number of threads.
#[derive(Debug)]
pub(crate) struct StartLine {
    of: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    there: usize,
    /// The time when the last thread arrived; then all start.
    began: Option<Moment<Host>>,
    is_called_off: bool,
}

impl StartLine {
    /// Creates a barrier for `of` threads.
    pub(crate) fn new(of: usize) -> StartLine {
        StartLine { of, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits until all threads have arrived, and returns the time of the last arrival. Returns `None` if the start
    /// was called off. A thread that wakes up late, because no processor was free, has still started with the others.
    pub(crate) fn wait(&self) -> Option<Moment<Host>> {
        let mut state = self.state();
        state.there += 1;
        if state.there == self.of {
            state.began = Some(now());
            self.changed.notify_all();
        }
        let waits = |state: &mut State| state.there < self.of && !state.is_called_off;
        let state = self.changed.wait_while(state, waits).unwrap_or_else(PoisonError::into_inner);
        state.began.filter(|_| !state.is_called_off)
    }

    /// Releases the waiting threads without a start, because one thread cannot come.
    pub(crate) fn call_off(&self) {
        self.state().is_called_off = true;
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn all_threads_start_or_none() {
        for missing in [0, 1] {
            let line = StartLine::new(3 + missing);
            let started = thread::scope(|scope| {
                let waiting: Vec<_> = (0..3).map(|_| scope.spawn(|| line.wait())).collect();
                if missing > 0 {
                    line.call_off();
                }
                waiting.into_iter().map(|one| one.join().expect("it waits well")).collect::<Vec<_>>()
            });
            assert!(started.iter().all(|began| began.is_some() == (missing == 0) && *began == started[0]));
        }
    }
}
