//! Being told to stop: the signals set a flag that programs look at before every op. And being held still, which sets
//! another.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use units::Nanos;

use crate::error::Error;

/// Set by the signals that stop a command, in a command that listens to them. Not the flag of a [`Stop`]: a timer sets
/// that one too, and results that then wait for the reader of a FIFO must still end by a signal, and by nothing else.
static TOLD: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Whether a signal told this process to stop. A command that does not listen is ended by the signal itself.
pub fn told_to_stop() -> bool {
    TOLD.load(Ordering::Relaxed)
}

/// Makes a file that would be larger than allowed (`ulimit -f`) an error of that call, and not the end of this process. Of
/// the programs that it starts, it is the end as before.
pub fn outlive_file_limit() -> Result<(), Error> {
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map(drop).map_err(Error::Signals)
}

/// Stops a run that takes too long; dropped, it does not.
#[derive(Debug)]
pub struct Timer(#[expect(dead_code, reason = "dropping it is what ends the wait")] Sender<()>);

/// Whether the program was told to stop.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    flag: Arc<AtomicBool>,
    is_late: Arc<AtomicBool>,
    held: Arc<AtomicBool>,
}

impl Stop {
    /// Listens from here on:
    ///   1. Ctrl-C, SIGTERM and SIGHUP stop it, but for those that whoever started it had ignored: `nohup` does so, and
    ///      shells do for what a script runs in the background;
    ///   2. a second Ctrl-C ends it at once, as it would have without us. The others are sent twice by those who mean
    ///      one: `timeout` sends to the program and to its group, a terminal that closes and its shell both hang up;
    ///   3. whoever holds it still (SIGSTOP, Ctrl-Z) lets it go on by SIGCONT, and that is noted.
    pub fn on_signals() -> Result<Stop, Error> {
        let stop = Stop::default();
        let ignored = kernel::ignored_signals();
        let is_ignored = |signal: i32| ignored >> (signal - 1) & 1 == 1;
        // 1.
        for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal)) {
            // 2.
            if signal == SIGINT {
                signal_hook::flag::register_conditional_default(signal, stop.flag()).map_err(Error::Signals)?;
            }
            signal_hook::flag::register(signal, stop.flag()).map_err(Error::Signals)?;
            signal_hook::flag::register(signal, Arc::clone(&TOLD)).map_err(Error::Signals)?;
        }
        // 3. The last one: tests wait for it before they send any of them.
        signal_hook::flag::register(SIGCONT, stop.held()).map_err(Error::Signals)?;
        Ok(stop)
    }

    /// The flag itself, for a world to look at.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }

    /// The flag that is set when this process goes on after it was held still.
    pub fn held(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.held)
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
    pub fn after(&self, time: Nanos) -> Result<Timer, Error> {
        let (cancel, cancelled) = mpsc::channel::<()>();
        let stop = self.clone();
        let wait = move || {
            if cancelled.recv_timeout(Duration::from_nanos(time.0)) == Err(RecvTimeoutError::Timeout)
                && !stop.requested()
            {
                stop.is_late.store(true, Ordering::Relaxed);
                stop.flag.store(true, Ordering::Relaxed);
            }
        };
        let spawned = thread::Builder::new().spawn(wait);
        spawned.map_err(|source| Error::World(kernel::Fault::Thread(source)))?;
        Ok(Timer(cancel))
    }
}
