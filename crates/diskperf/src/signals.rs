//! Being told to stop: the signals set a flag that programs look at before every op.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::error::Error;

/// Whether the program was told to stop.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

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
        Arc::clone(&self.0)
    }

    /// Whether it was told to.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
