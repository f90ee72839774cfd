//! The work of a process on the processor.

use units::{Moment, Nanos, Virtual};

use super::{Cause, Charged};

/// Remaining work of a process on the processor, and the time charged to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    /// Remaining time for the context switch and wakeup, which come first.
    pub(super) switch: Nanos,
    pub(super) left: Nanos,
    /// The cause of its last work, or of its context switch if it had none yet.
    pub(super) cause: Cause,
    /// True once the process has begun this work, or gone on with it after an interrupt.
    pub(super) begun: bool,
    pub(super) ready_since: Option<Moment<Virtual>>,
    pub(super) charged: Charged,
}

impl Work {
    /// No work, and nothing charged.
    pub(super) const NONE: Work = Work {
        switch: Nanos::ZERO,
        left: Nanos::ZERO,
        cause: Cause::Switch,
        begun: false,
        ready_since: None,
        charged: Charged { running: [Nanos::ZERO; Cause::COUNT], interrupted: Nanos::ZERO, ready: Nanos::ZERO },
    };

    /// Charges the time in which all that was left was done.
    #[inline]
    pub(super) fn complete(&mut self, time: Nanos) {
        let running = &mut self.charged.running;
        running[self.cause as usize] += self.left;
        if self.left < time {
            running[Cause::Switch as usize] += self.switch;
            running[Cause::Slowed as usize] += time - self.switch - self.left;
        }
        (self.switch, self.left) = (Nanos::ZERO, Nanos::ZERO);
    }

    /// Takes done work off what is left, and charges the time that it took. The context switch comes first.
    #[inline]
    pub(super) fn charge(&mut self, done: Nanos, time: Nanos) {
        let switched = done.min(self.switch);
        let worked = (done - switched).min(self.left);
        self.switch = self.switch - switched;
        self.left = self.left - worked;
        let running = &mut self.charged.running;
        running[self.cause as usize] += worked;
        // Usually there is no context switch and no slowdown.
        if worked < time {
            running[Cause::Switch as usize] += switched;
            running[Cause::Slowed as usize] += time - switched - worked;
        }
    }
}
