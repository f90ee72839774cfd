//! Signals: those that stop a command set a flag, which tests check before each operation. SIGCONT after SIGSTOP or
//! Ctrl-Z sets another flag.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use kernel::{Wait, message};
use runner::live::Live;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use units::Nanos;

/// The time after which the handlers of signals that came together have run. Chosen: far more than a handler needs.
const HANDLED: Duration = Duration::from_millis(50);

/// The error if signals cannot be handled.
#[derive(Debug, thiserror::Error)]
#[error("cannot prepare for signals: {}", message(.0))]
pub struct SignalFault(io::Error);

/// Set by the signals that stop a command, if the command handles them, and cleared when results are delivered. It is
/// not the flag of a [`Stop`]: a timer sets that one too. Only a signal may end the delivery of results.
static TOLD: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// True if such a signal came before results were delivered.
static TOLD_BEFORE: AtomicBool = AtomicBool::new(false);

/// Notes that the delivery of results begins. The signal that ended the measurement does not cut them off.
pub fn begin_delivery() {
    if TOLD.swap(false, Ordering::Relaxed) {
        TOLD_BEFORE.store(true, Ordering::Relaxed);
    }
}

/// True if a signal ends this wait of a delivery: one that came since the delivery began. If a FIFO has no reader, an
/// earlier signal does so too: `timeout` sends only one, and there may never be a reader. A command without handlers is
/// ended by the signal itself.
pub fn told_to_stop(wait: Wait) -> bool {
    TOLD.load(Ordering::Relaxed) || wait == Wait::ForReader && TOLD_BEFORE.load(Ordering::Relaxed)
}

/// Makes a write beyond the largest allowed file size (`ulimit -f`) return an error instead of ending this process.
/// Programs that it starts are ended as usual.
pub fn outlive_file_limit() -> Result<(), SignalFault> {
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map(drop).map_err(SignalFault)
}

/// Stops a run that takes too long. Dropping it cancels the timer.
#[derive(Debug)]
pub struct Timer(Sender<Option<Nanos>>);

impl Timer {
    /// Restarts the timer with this time. `None` pauses it until the next call.
    pub fn set(&self, time: Option<Nanos>) {
        // Without a receiver, the timer has fired already.
        let _ = self.0.send(time);
    }
}

/// The flags that signals and timers set.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    flag: Arc<AtomicBool>,
    is_late: Arc<AtomicBool>,
    held: Arc<AtomicBool>,
}

impl Stop {
    /// Registers the signal handlers:
    ///   1. Ctrl-C, SIGTERM and SIGHUP stop the command, unless the parent process ignored them: `nohup` does so, and
    ///      shells do for background commands of a script;
    ///   2. a second Ctrl-C ends the process at once, as it would without a handler. SIGTERM and SIGHUP may come twice
    ///      for one request: `timeout` signals the program and its group; both a closing terminal and its shell hang
    ///      up;
    ///   3. SIGCONT, after SIGSTOP or Ctrl-Z, is recorded.
    pub fn on_signals() -> Result<Stop, SignalFault> {
        let stop = Stop::default();
        stop.register(&stop.flags())?;
        // 3. The last one: tests wait for it before they send any of them.
        signal_hook::flag::register(SIGCONT, stop.held()).map_err(SignalFault)?;
        Ok(stop)
    }

    /// Does the same for a test that has no time limit: the first signal ends the test, and its result counts. Before
    /// anything is measured, it stops the command. A SIGCONT right after it is ignored: `timeout` sends both.
    pub fn on_signals_ending(live: &'static Live) -> Result<Stop, SignalFault> {
        let stop = Stop::default();
        let enough = live.enough();
        stop.register(&[Arc::clone(&enough), Arc::clone(&TOLD)])?;
        let mut signals = Signals::new(ending().chain([SIGCONT])).map_err(SignalFault)?;
        let (flag, held) = (stop.flag(), stop.held());
        let wait = move || {
            for signal in signals.forever() {
                if signal != SIGCONT {
                    flag.fetch_or(!live.has_begun(), Ordering::Relaxed);
                    continue;
                }
                // The handler of a signal that came just before may run later than that of SIGCONT.
                thread::sleep(HANDLED);
                held.fetch_or(!enough.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        };
        thread::Builder::new().spawn(wait).map_err(SignalFault)?;
        Ok(stop)
    }

    /// The flags for the handlers of [`Stop::on_signals`]. A second Ctrl-C finds the first one set, so only signals set
    /// it, and nothing clears it. Each call makes another one: the handlers of an earlier command in this process run
    /// first.
    fn flags(&self) -> [Arc<AtomicBool>; 3] {
        [Arc::default(), Arc::clone(&TOLD), self.flag()]
    }

    /// Registers handlers that set these flags. A second Ctrl-C finds the first of them set.
    fn register(&self, flags: &[Arc<AtomicBool>]) -> Result<(), SignalFault> {
        // 1.
        for signal in ending() {
            // 2.
            if signal == SIGINT {
                signal_hook::flag::register_conditional_default(signal, Arc::clone(&flags[0])).map_err(SignalFault)?;
            }
            for flag in flags {
                signal_hook::flag::register(signal, Arc::clone(flag)).map_err(SignalFault)?;
            }
        }
        Ok(())
    }

    /// The flag that stops the command, for a world to check.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }

    /// The flag that SIGCONT sets.
    pub fn held(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.held)
    }

    /// Stops the command, as a signal does.
    pub fn request(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// True if the command shall stop.
    pub fn requested(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// True if it stops because a timer expired, and not because of a signal.
    pub fn is_late(&self) -> bool {
        self.is_late.load(Ordering::Relaxed)
    }

    /// Stops the command after this time, unless the timer is dropped before.
    pub fn start_timer(&self, time: Nanos) -> Result<Timer, kernel::Fault> {
        let (sender, receiver) = mpsc::channel::<Option<Nanos>>();
        let stop = self.clone();
        let wait = move || {
            if is_over(&receiver, Some(time)) && !stop.requested() {
                stop.is_late.store(true, Ordering::Relaxed);
                stop.flag.store(true, Ordering::Relaxed);
            }
        };
        let spawned = thread::Builder::new().spawn(wait);
        spawned.map_err(kernel::Fault::Thread)?;
        Ok(Timer(sender))
    }
}

/// The signals that end a command: those that the parent process has not ignored.
fn ending() -> impl Iterator<Item = i32> {
    let ignored = kernel::ignored_signals();
    [SIGINT, SIGTERM, SIGHUP].into_iter().filter(move |signal| ignored >> (signal - 1) & 1 == 0)
}

/// Waits until the time is over; each message replaces the time. Without a time, waits for a message. Returns false if
/// the sender is dropped first.
fn is_over(receiver: &Receiver<Option<Nanos>>, mut time: Option<Nanos>) -> bool {
    loop {
        let received = match time {
            Some(Nanos(time)) => receiver.recv_timeout(Duration::from_nanos(time)),
            None => receiver.recv().map_err(RecvTimeoutError::from),
        };
        match received {
            Ok(set) => time = set,
            Err(ended) => return ended == RecvTimeoutError::Timeout,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expired_timer_stops_the_run_as_late() {
        let stop = Stop::default();
        let _timer = stop.start_timer(Nanos::ZERO).expect("a thread");
        while !stop.requested() {
            thread::yield_now();
        }
        assert!(stop.is_late());
    }

    #[test]
    fn only_signals_make_a_ctrl_c_the_second_one() {
        let stop = Stop::default();
        let first = stop.flags();
        stop.request();
        TOLD.store(true, Ordering::Relaxed);
        assert!(first[1..].iter().all(|flag| flag.load(Ordering::Relaxed)));
        assert!(!first[0].load(Ordering::Relaxed), "after a time limit, the first Ctrl-C would end the process");
        first[0].store(true, Ordering::Relaxed);
        assert!(!stop.flags()[0].load(Ordering::Relaxed), "an earlier handler would set it for the same Ctrl-C");
        // The signal that ended the measurement, and one that comes during the delivery.
        begin_delivery();
        assert_eq!([Wait::ForReader, Wait::ForRoom].map(told_to_stop), [true, false]);
        TOLD.store(true, Ordering::Relaxed);
        assert_eq!([Wait::ForReader, Wait::ForRoom].map(told_to_stop), [true, true]);
    }

    #[test]
    fn a_held_timer_expires_only_after_it_is_set_again() {
        let hour = Some(Nanos::from_secs(3600));
        let (sender, receiver) = mpsc::channel();
        [None, hour, Some(Nanos::ZERO)].into_iter().for_each(|time| sender.send(time).expect("a receiver"));
        assert!(is_over(&receiver, hour));
        // The sender is dropped after the time would have ended, if the message did not hold it.
        sender.send(None).expect("a receiver");
        let dropped = thread::spawn(move || {
            thread::sleep(Duration::from_millis(50));
            drop(sender);
        });
        assert!(!is_over(&receiver, Some(Nanos::from_millis(1))));
        dropped.join().expect("it ends");
    }
}
