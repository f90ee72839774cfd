//! What a controller works with: time, processor, bus and drives.

use alloc::vec::Vec;

use units::{Moment, Nanos, Virtual};

use super::{Event, Occupied, Signal};
use crate::bus::Bus;
use crate::cpu::{Cause, Processor};
use crate::drive::{Activity, Drive};
use crate::engine::{self, Engine, Handler};

/// All of a computer but its controller and its system.
#[derive(Debug)]
pub(crate) struct Hardware {
    pub(crate) engine: Engine,
    pub(crate) processor: Processor<Handler>,
    pub(crate) bus: Bus,
    pub(crate) drives: Vec<Drive>,
    pub(crate) occupied: Occupied,
}

impl Hardware {
    pub(crate) fn now(&self) -> Moment<Virtual> {
        self.engine.now()
    }

    pub(super) fn after(&mut self, delay: Nanos, event: Event) {
        self.engine.calendar.after(delay, engine::Event::Controller(event));
    }

    pub(super) fn at(&mut self, moment: Moment<Virtual>, event: Event) {
        self.engine.calendar.at(moment, engine::Event::Controller(event));
    }

    /// The same as `after` and that event, where it is the next one; says whether it was.
    pub(super) fn happens_next(&mut self, delay: Nanos, event: Event) -> bool {
        self.engine.calendar.happens_next(delay, engine::Event::Controller(event))
    }

    pub(super) fn interrupt(&mut self, work: Nanos, signal: Signal) {
        self.processor.interrupt(&mut self.engine, work, Cause::Interrupt, Handler::Controller(signal));
    }

    /// A transfer begins or ends on the bus, which slows the processor down.
    pub(super) fn transfer(&mut self, begins: bool) {
        let now = self.now();
        self.bus.change(begins, now, &mut self.engine.timeline);
        self.processor.slow_down(&mut self.engine, self.bus.slow_down_permille());
    }

    /// From now on the drive does something else.
    pub(super) fn enter(&mut self, drive: u8, activity: Activity) {
        let now = self.now();
        self.occupied.account(&self.drives, now);
        self.drives[usize::from(drive)].enter(activity, now, &mut self.engine.timeline);
    }

    /// The drive gets the data path, or loses it.
    pub(super) fn pass_path(&mut self, drive: u8, gets: bool) {
        let now = self.now();
        let spent = self.drives[usize::from(drive)].spent(now, &mut self.engine.timeline);
        self.occupied.pass(drive, gets, spent);
    }

    /// What the drive will do next, without another word, from that moment on.
    pub(super) fn then(&mut self, drive: u8, activity: Activity, from: Moment<Virtual>) {
        self.drives[usize::from(drive)].then(activity, from);
    }

    pub(super) fn drive(&mut self, drive: u8) -> &mut Drive {
        &mut self.drives[usize::from(drive)]
    }
}
