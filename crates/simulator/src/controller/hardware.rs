//! The hardware that a controller uses: simulated time, processor, bus and drives.

use alloc::vec::Vec;

use units::{Moment, Nanos, Virtual};

use super::{Event, Signal, TimeAccount};
use crate::bus::Bus;
use crate::cpu::{Cause, Processor};
use crate::drive::{Activity, Drive};
use crate::engine::{self, Engine, Handler};

/// All of a computer except its controller and its operating system.
#[derive(Debug)]
pub(crate) struct Hardware {
    pub(crate) engine: Engine,
    pub(crate) processor: Processor<Handler>,
    pub(crate) bus: Bus,
    pub(crate) drives: Vec<Drive>,
    pub(crate) occupied: TimeAccount,
}

impl Hardware {
    pub(crate) fn now(&self) -> Moment<Virtual> {
        self.engine.now()
    }

    #[inline(always)]
    pub(super) fn schedule_after(&mut self, delay: Nanos, event: Event) {
        self.engine.calendar.schedule_after(delay, engine::Event::Controller(event));
    }

    #[inline(always)]
    pub(super) fn schedule_at(&mut self, moment: Moment<Virtual>, event: Event) {
        self.engine.calendar.schedule_at(moment, engine::Event::Controller(event));
    }

    /// Schedules the event, and takes it at once if it is the next one. Returns whether it was. If so, time has passed.
    #[inline]
    pub(super) fn happens_next(&mut self, delay: Nanos, event: Event) -> bool {
        let is_next = self.engine.calendar.happens_next(delay, engine::Event::Controller(event));
        if !is_next {
            self.schedule_after(delay, event);
        }
        is_next
    }

    pub(super) fn interrupt(&mut self, work: Nanos, signal: Signal) {
        self.processor.interrupt(&mut self.engine, work, Cause::Interrupt, Handler::Controller(signal));
    }

    /// Raises an interrupt when nothing is left to do in this event. Returns the signal if it has been served at once.
    pub(super) fn interrupt_served(&mut self, work: Nanos, signal: Signal) -> Option<Signal> {
        let handler = Handler::Controller(signal);
        self.processor.interrupt_served(&mut self.engine, work, Cause::Interrupt, handler).then_some(signal)
    }

    /// Notes that a transfer begins or ends on the bus. Transfers slow the processor down.
    pub(super) fn transfer(&mut self, begins: bool) {
        let now = self.now();
        self.bus.change(begins, now, &mut self.engine.timeline);
        self.processor.slow_down(&mut self.engine, self.bus.slow_down_permille());
    }

    /// Changes the activity of the drive from now on.
    #[inline(always)]
    pub(super) fn enter(&mut self, drive: u8, activity: Activity) {
        self.enter_then(drive, activity, []);
    }

    /// Changes the activity of the drive from now on, and plans the following ones with their beginnings, in order.
    /// They need no further event.
    #[inline(always)]
    pub(super) fn enter_then<const COUNT: usize>(
        &mut self,
        drive: u8,
        activity: Activity,
        plan: [(Moment<Virtual>, Activity); COUNT],
    ) {
        let now = self.now();
        self.occupied.account(&mut self.drives, now);
        self.drives[usize::from(drive)].enter_then(activity, plan, now, &mut self.engine.timeline);
    }

    /// Gives the data path to the drive, or takes it away.
    pub(super) fn pass_path(&mut self, drive: u8, gets: bool) {
        let now = self.now();
        let Hardware { engine, drives, occupied, .. } = self;
        occupied.pass(drive, gets, drives[usize::from(drive)].spent(now, &mut engine.timeline));
    }

    /// Plans a further activity of the drive from that moment on.
    #[inline]
    pub(super) fn then(&mut self, drive: u8, activity: Activity, from: Moment<Virtual>) {
        self.drives[usize::from(drive)].then(activity, from);
    }

    #[inline]
    pub(super) fn drive(&mut self, drive: u8) -> &mut Drive {
        &mut self.drives[usize::from(drive)]
    }
}
