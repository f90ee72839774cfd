//! The line that programs start from at once, each on a thread of its own.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use units::{Host, Moment};

use crate::sys::clocks::now;

/// Waits for so many threads.
#[derive(Debug)]
pub(crate) struct StartLine {
    of: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    there: usize,
    /// When the last came: then all start.
    began: Option<Moment<Host>>,
    is_called_off: bool,
}

impl StartLine {
    /// For so many.
    pub(crate) fn new(of: usize) -> StartLine {
        StartLine { of, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits until all are there, and says since when they are; nothing where one will never be. Who is told late, as
    /// no processor was free, has started with the others all the same.
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

    /// Sends home who waits: one could not come.
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
    fn all_start_or_none_does() {
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
