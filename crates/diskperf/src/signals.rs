//! Being told to stop: the signals set a flag that programs look at before every op.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use units::Nanos;

use crate::error::Error;

/// Stops a run that takes too long; dropped, it does not.
#[derive(Debug)]
pub struct Timer(#[expect(dead_code, reason = "dropping it is what ends the wait")] Sender<()>);

/// Whether the program was told to stop.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    flag: Arc<AtomicBool>,
    is_late: Arc<AtomicBool>,
}

impl Stop {
    /// Listens to Ctrl-C, SIGTERM and SIGHUP from here on. A second one ends the program at once, as it
    /// would have without us.
    pub fn on_signals() -> Result<Stop, Error> {
        let stop = Stop::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register_conditional_default(signal, stop.flag()).map_err(Error::Signals)?;
            signal_hook::flag::register(signal, stop.flag()).map_err(Error::Signals)?;
        }
        Ok(stop)
    }

    /// The flag itself, for a world to look at.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }

    /// Whether it was told to.
    pub fn requested(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// Whether it was its own time that ran out, and nobody told it to.
    pub fn is_late(&self) -> bool {
        self.is_late.load(Ordering::Relaxed)
    }

    /// Stops as if told to once so much time is over, unless the timer is dropped before.
    pub fn after(&self, time: Nanos) -> Timer {
        let (cancel, cancelled) = mpsc::channel::<()>();
        let stop = self.clone();
        thread::spawn(move || {
            if cancelled.recv_timeout(Duration::from_nanos(time.0)) == Err(RecvTimeoutError::Timeout)
                && !stop.requested()
            {
                stop.is_late.store(true, Ordering::Relaxed);
                stop.flag.store(true, Ordering::Relaxed);
            }
        });
        Timer(cancel)
    }
}
