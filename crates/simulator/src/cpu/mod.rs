//! The processor: one process at a time, interrupts before processes, processes in the order in which they became
//! ready. Transfers in progress slow everything down.
//!
//! An interrupt is charged to the process that it interrupts, or to no process if the processor was idle. 4.2BSD does
//! the same: its clock only sees the current process.

mod cause;
mod slowdown;
mod work;

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

pub use cause::Cause;
use units::{Moment, Nanos, Virtual};
use work::Work;

use crate::description;
use crate::engine::Engine;
use crate::faults::{self, Fault};
use crate::timeline::Track;

/// Number of a process.
pub(crate) type Process = usize;

/// The processor and its run queue. `H` identifies the work to do after an interrupt was served.
#[derive(Debug)]
pub(crate) struct Processor<H> {
    code_permille: u64,
    copy_permille: u64,
    jitter_permille: u32,
    /// Length of a critical section, on this processor.
    critical: Nanos,
    switch: Nanos,
    wakeup: Nanos,
    mode: Mode<H>,
    /// The process on the processor; it stays current while an interrupt is served.
    current: Option<Process>,
    /// The process that was current last.
    last: Option<Process>,
    interrupts: VecDeque<Interrupt<H>>,
    /// True while interrupts wait for the end of the current process's critical section.
    held_off: bool,
    ready: VecDeque<Process>,
    processes: Vec<Work>,
    slow_down_permille: u32,
    since: Moment<Virtual>,
    /// When the current slowdown began to hold, and the work done since then. Keeping the sum avoids repeated rounding.
    priced: (Moment<Virtual>, Nanos),
    /// Idle time, and busy time apart from that of the processes since they were admitted.
    spent: CpuSpent,
}

/// Current work of the processor. Its tag is a byte of its own, which is cheaper to look at than a value that no field
/// can have.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
enum Mode<H> {
    Idle,
    Process(Process),
    Interrupt(Interrupt<H>),
}

#[derive(Clone, Copy, Debug)]
struct Interrupt<H> {
    left: Nanos,
    cause: Cause,
    handler: H,
}

/// Processor time charged to a process, and the time it waited for the processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Charged {
    pub(crate) running: [Nanos; Cause::COUNT],
    pub(crate) interrupted: Nanos,
    pub(crate) ready: Nanos,
}

/// Processor time by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuSpent {
    /// Busy time by cause, in the order of [`Cause::ALL`].
    pub busy: [Nanos; Cause::COUNT],
    /// Idle time.
    pub idle: Nanos,
}

/// Work that has ended on the processor.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Completed<H> {
    Interrupt(H),
    Process(Process),
    /// A critical section, for whose end interrupts waited.
    Section,
}

impl<H: Copy> Processor<H> {
    pub(crate) fn new(cpu: &description::Cpu, kernel: &description::Kernel, processes: usize) -> Processor<H> {
        let scaled = |span: Nanos| Nanos(span.0 * u64::from(cpu.code_permille) / 1000);
        Processor {
            code_permille: cpu.code_permille.into(),
            copy_permille: cpu.copy_permille.into(),
            jitter_permille: kernel.jitter_permille,
            critical: scaled(kernel.critical_section),
            switch: scaled(kernel.context_switch),
            wakeup: scaled(kernel.wakeup),
            mode: Mode::Idle,
            current: None,
            last: None,
            interrupts: VecDeque::with_capacity(16),
            held_off: false,
            ready: VecDeque::with_capacity(processes),
            processes: vec![Work::NONE; processes],
            slow_down_permille: 0,
            since: Moment::ZERO,
            priced: (Moment::ZERO, Nanos::ZERO),
            spent: CpuSpent::default(),
        }
    }

    pub(crate) fn is_at_work(&self) -> bool {
        !matches!(self.mode, Mode::Idle)
    }

    /// True while a process copies or clears memory.
    pub(crate) fn moves_memory(&self) -> bool {
        matches!(self.mode, Mode::Process(process) if self.processes[process].cause.moves_memory())
    }

    /// True if another process waits for the processor.
    pub(crate) fn is_wanted(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Raises an interrupt. `work` is its time on a VAX-11/780; `handler` is returned once it was served.
    pub(crate) fn interrupt(&mut self, engine: &mut Engine, work: Nanos, cause: Cause, handler: H) {
        let left = self.priced(engine, work, cause);
        let interrupt = Interrupt { left, cause, handler };
        if self.serves_at_once(engine) {
            self.account(engine.now());
            self.serve(engine, interrupt);
            if engine.timeline.is_kept() {
                self.show(engine);
            }
        } else {
            self.interrupts.push_back(interrupt);
            self.dispatch(engine);
        }
    }

    /// Raises an interrupt like `interrupt`. Returns true if it has been served, because no other event comes before
    /// its end. Then its handler and `dispatch` must follow. Equivalent to `interrupt`, the next event and
    /// `completed`.
    pub(crate) fn interrupt_served(&mut self, engine: &mut Engine, work: Nanos, cause: Cause, handler: H) -> bool {
        if engine.timeline.is_kept() || !self.serves_at_once(engine) {
            self.interrupt(engine, work, cause, handler);
            return false;
        }
        let left = self.priced(engine, work, cause);
        let is_served = self.serve_through(engine, Interrupt { left, cause, handler });
        if is_served {
            self.mode = Mode::Idle;
        }
        is_served
    }

    /// True if an interrupt that is raised now is served at once.
    #[inline]
    fn serves_at_once(&mut self, engine: &mut Engine) -> bool {
        self.interrupts.is_empty()
            && match self.mode {
                Mode::Interrupt(_) => false,
                Mode::Process(process) => !self.holds_off(engine, process),
                Mode::Idle => self.current.is_none(),
            }
    }

    /// Gives the current process work that takes `work` on a VAX-11/780. If `may_begin` is true and no interrupt waits,
    /// the process begins it at once; otherwise at the next `dispatch`. Returns true if it has also completed it: no
    /// other event comes first. Equivalent to `dispatch`, and then to the next event and `completed`.
    #[inline(always)]
    pub(crate) fn spend(
        &mut self,
        engine: &mut Engine,
        process: Process,
        (cause, work): (Cause, Nanos),
        may_begin: bool,
    ) -> bool {
        let left = self.priced(engine, work, cause);
        debug_assert!(self.current == Some(process) && !self.is_at_work() && !self.held_off, "it has the processor");
        let own = &mut self.processes[process];
        debug_assert!(own.left + own.switch == Nanos::ZERO && self.since == engine.now(), "work before is complete");
        let begins = may_begin && self.interrupts.is_empty() && !engine.timeline.is_kept();
        (own.cause, own.begun) = (cause, begins);
        if begins {
            let duration = slowdown::duration(left, self.slow_down_permille);
            if engine.calendar.movable_happens_next(duration) {
                self.since = engine.now();
                own.charged.running[cause as usize] += left;
                own.charged.running[Cause::Slowed as usize] += duration - left;
                return true;
            }
            self.mode = Mode::Process(process);
            self.priced = (engine.now(), Nanos::ZERO);
            engine.calendar.put_off(duration);
        }
        own.left = left;
        false
    }

    /// Takes the current process off the processor: it sleeps, or has ended.
    pub(crate) fn leave(&mut self, process: Process) {
        debug_assert_eq!(self.current, Some(process), "who is not on the processor cannot leave it");
        self.current = None;
    }

    /// Puts the current process at the end of the run queue.
    pub(crate) fn give_way(&mut self, engine: &Engine, process: Process) {
        self.leave(process);
        self.queue(engine, process);
    }

    /// Makes a sleeping process ready.
    pub(crate) fn wake(&mut self, engine: &Engine, process: Process) {
        self.processes[process].switch += self.wakeup;
        self.queue(engine, process);
    }

    /// Makes a new process ready.
    pub(crate) fn admit(&mut self, engine: &Engine, process: Process) {
        let before = core::mem::replace(&mut self.processes[process], Work::NONE);
        add(&mut self.spent.busy, &before.charged.running);
        self.queue(engine, process);
    }

    fn queue(&mut self, engine: &Engine, process: Process) {
        self.processes[process].ready_since = Some(engine.now());
        if faults::is_planted(Fault::UnfairWakeUp) {
            self.ready.push_front(process);
        } else {
            self.ready.push_back(process);
        }
    }

    /// Sets the slowdown by transfers, in thousandths.
    pub(crate) fn slow_down(&mut self, engine: &mut Engine, permille: u32) {
        if permille == self.slow_down_permille {
            return;
        }
        self.account(engine.now());
        self.slow_down_permille = permille;
        self.reprice(engine);
    }

    /// Ends the current interrupt or process work. The processor then idles until `dispatch`.
    #[inline(always)]
    pub(crate) fn completed(&mut self, engine: &Engine) -> Completed<H> {
        if self.held_off {
            return self.completed_while_interrupts_wait(engine);
        }
        // All remaining work is done now. So the done work need not be computed before it is charged.
        let now = engine.now();
        let time = now.since(self.since);
        let done = if cfg!(debug_assertions) { self.done(now, time) } else { time };
        self.since = now;
        match core::mem::replace(&mut self.mode, Mode::Idle) {
            Mode::Interrupt(Interrupt { left, cause, handler }) => {
                debug_assert_eq!(done, left, "an interrupt that was not served");
                self.charge_interrupt(cause, left, time);
                Completed::Interrupt(handler)
            }
            Mode::Process(process) => {
                let work = &mut self.processes[process];
                debug_assert_eq!(done, work.left + work.switch, "work that was not done");
                work.complete(time);
                Completed::Process(process)
            }
            Mode::Idle => unreachable!("nothing ran"),
        }
    }

    /// Ends the current interrupt, work or critical section while interrupts wait for a section's end.
    #[inline(never)]
    fn completed_while_interrupts_wait(&mut self, engine: &Engine) -> Completed<H> {
        self.account(engine.now());
        match core::mem::replace(&mut self.mode, Mode::Idle) {
            Mode::Interrupt(interrupt) => {
                assert!(interrupt.left == Nanos::ZERO, "an interrupt that was not served");
                Completed::Interrupt(interrupt.handler)
            }
            Mode::Process(process) => {
                let work = &mut self.processes[process];
                if work.left + work.switch == Nanos::ZERO {
                    self.held_off = false;
                    return Completed::Process(process);
                }
                (self.held_off, work.begun) = (false, false);
                Completed::Section
            }
            Mode::Idle => unreachable!("nothing ran"),
        }
    }

    /// Chooses what the processor executes next.
    ///   1. An interrupt in service is served to its end, and a critical section is executed to its end.
    ///   2. Then the next pending interrupt.
    ///   3. Then the current process.
    ///   4. Then the process that has been ready for longest.
    #[inline]
    pub(crate) fn dispatch(&mut self, engine: &mut Engine) {
        self.dispatch_through(engine, false);
    }

    /// Does the same as `dispatch`. If `may_end` is true, returns a process whose work has ended, because no other
    /// event comes before its end. Equivalent to `dispatch`, the next event and `completed`.
    #[inline]
    pub(crate) fn dispatch_through(&mut self, engine: &mut Engine, may_end: bool) -> Option<Process> {
        // 1; also nothing changes if the current process stays, or the processor stays idle
        let stays = match self.mode {
            Mode::Interrupt(_) => true,
            Mode::Process(process) => self.interrupts.is_empty() || self.holds_off(engine, process),
            Mode::Idle => self.interrupts.is_empty() && self.current.is_none() && self.ready.is_empty(),
        };
        let ended = if stays { None } else { self.turn(engine, may_end && !engine.timeline.is_kept()) };
        if engine.timeline.is_kept() {
            self.show(engine);
        }
        ended
    }

    /// Returns whether the process is in a critical section. If so, its end is the next event of the processor.
    #[inline(never)]
    fn holds_off(&mut self, engine: &mut Engine, process: Process) -> bool {
        if self.held_off {
            return true;
        }
        self.account(engine.now());
        self.held_off = self.section_left(process).is_some();
        if self.held_off {
            self.reprice(engine);
        }
        self.held_off
    }

    /// Returns the work that is left of the process's critical section; `None` if it is in none.
    ///
    /// 4.2BSD raises the processor priority while it changes data that interrupts change, too: the run queue, the lists
    /// of buffers, and the queue of a drive. A piece of such work ends with a critical section. A shorter piece is one.
    fn section_left(&self, process: Process) -> Option<Nanos> {
        let work = &self.processes[process];
        let left = if work.switch > Nanos::ZERO {
            work.switch
        } else if work.cause.has_critical_section() {
            work.left
        } else {
            return None;
        };
        (work.begun && left > Nanos::ZERO && left <= self.critical && !faults::is_planted(Fault::NoCriticalSections))
            .then_some(left)
    }

    /// Context switch (steps 2 to 4 of `dispatch`). Outlined, because most dispatches change nothing.
    #[inline(never)]
    fn turn(&mut self, engine: &mut Engine, may_end: bool) -> Option<Process> {
        self.account(engine.now());
        self.held_off = false;
        if !self.interrupts.is_empty() {
            // An interrupt that was served within a critical section, such as the clock's, does not end the section.
            self.held_off = self.current.is_some_and(|current| self.section_left(current).is_some());
            // 2
            if !self.held_off
                && let Some(interrupt) = self.interrupts.pop_front()
            {
                self.serve(engine, interrupt);
                return None;
            }
        }
        let process = if let Some(current) = self.current {
            // 3
            current
        } else if let Some(next) = self.ready.pop_front() {
            // 4
            if self.last != Some(next) {
                self.processes[next].switch += self.switch;
            }
            let work = &mut self.processes[next];
            if let Some(since) = work.ready_since.take() {
                work.charged.ready += engine.now().since(since);
            }
            (self.current, self.last) = (Some(next), Some(next));
            next
        } else {
            self.mode = Mode::Idle;
            self.reprice(engine);
            return None;
        };
        self.run(engine, process, may_end)
    }

    /// Lets a process begin or continue its work, up to the end of its critical section if interrupts wait for it.
    /// Returns the process if its work has ended, because no other event comes before.
    #[inline]
    fn run(&mut self, engine: &mut Engine, process: Process, may_end: bool) -> Option<Process> {
        self.processes[process].begun = true;
        let section = if self.held_off { self.section_left(process) } else { None };
        let work = &mut self.processes[process];
        let time = slowdown::duration(section.unwrap_or(work.left + work.switch), self.slow_down_permille);
        if may_end && !self.held_off && engine.calendar.movable_happens_next(time) {
            self.since = engine.now();
            work.complete(time);
            return Some(process);
        }
        self.mode = Mode::Process(process);
        self.priced = (engine.now(), Nanos::ZERO);
        engine.calendar.put_off(time);
        None
    }

    /// Begins to serve an interrupt. No interrupt is held off then.
    #[inline]
    fn serve(&mut self, engine: &mut Engine, interrupt: Interrupt<H>) {
        self.held_off = false;
        self.mode = Mode::Interrupt(interrupt);
        self.schedule_end(engine, interrupt.left);
    }

    /// Serves an interrupt at once, if no other event comes first; otherwise schedules its end. Its handler must have
    /// nothing to do. Equivalent to `interrupt`, the next event, `completed` and `dispatch`.
    pub(crate) fn serves_through(&mut self, engine: &mut Engine, work: Nanos, cause: Cause, handler: H) {
        if matches!(self.mode, Mode::Interrupt(_)) || engine.timeline.is_kept() {
            return self.interrupt(engine, work, cause, handler);
        }
        let left = self.priced(engine, work, cause);
        // Without a slowdown, the current work ends that much later, and nothing else changes.
        if self.slow_down_permille == 0 && engine.calendar.delay_movable(left) {
            self.since = self.since + left;
            self.charge_interrupt(cause, left, left);
        } else if self.serve_through(engine, Interrupt { left, cause, handler }) {
            self.reprice(engine);
        }
    }

    /// Begins to serve an interrupt, and serves it to its end if no other event comes first. Returns whether it did.
    #[inline]
    fn serve_through(&mut self, engine: &mut Engine, interrupt: Interrupt<H>) -> bool {
        let Interrupt { left, cause, .. } = interrupt;
        self.account(engine.now());
        // The current work is delayed in any case.
        engine.calendar.take_back();
        let duration = slowdown::duration(left, self.slow_down_permille);
        if engine.calendar.movable_happens_next(duration) {
            self.since = engine.now();
            self.charge_interrupt(cause, left, duration);
            return true;
        }
        self.mode = Mode::Interrupt(interrupt);
        self.priced = (engine.now(), Nanos::ZERO);
        engine.calendar.put_off(duration);
        false
    }

    #[cold]
    fn show(&self, engine: &mut Engine) {
        let (label, something) = match &self.mode {
            Mode::Idle => ("idle", false),
            Mode::Process(process) => (self.processes[*process].cause.name(), true),
            Mode::Interrupt(interrupt) => (interrupt.cause.name(), true),
        };
        let now = engine.now();
        engine.timeline.enter(Track::Cpu, label, something, now);
    }

    /// Returns the time charged to a process until now.
    pub(crate) fn charged(&mut self, engine: &Engine, process: Process) -> Charged {
        self.account(engine.now());
        self.processes[process].charged
    }

    /// Returns the processor time by cause until now.
    pub(crate) fn spent(&mut self, engine: &Engine) -> CpuSpent {
        self.account(engine.now());
        let mut spent = self.spent;
        self.processes.iter().for_each(|work| add(&mut spent.busy, &work.charged.running));
        spent
    }

    /// Scales `work` to this processor, with random jitter.
    #[inline]
    fn priced(&mut self, engine: &mut Engine, work: Nanos, cause: Cause) -> Nanos {
        let permille = if cause.moves_memory() { self.copy_permille } else { self.code_permille };
        engine.jittered(Nanos(work.0 * permille / 1000), self.jitter_permille)
    }

    /// Schedules the end of the current work, at the current slowdown.
    fn reprice(&mut self, engine: &mut Engine) {
        let left = match &self.mode {
            Mode::Idle => {
                self.priced = (engine.now(), Nanos::ZERO);
                return engine.calendar.take_back();
            }
            Mode::Process(process) => {
                let work = &self.processes[*process];
                let section = if self.held_off { self.section_left(*process) } else { None };
                section.unwrap_or(work.left + work.switch)
            }
            Mode::Interrupt(interrupt) => interrupt.left,
        };
        self.schedule_end(engine, left);
    }

    /// Schedules the end of the current work, of which `left` is left.
    #[inline]
    fn schedule_end(&mut self, engine: &mut Engine, left: Nanos) {
        self.priced = (engine.now(), Nanos::ZERO);
        engine.calendar.put_off(slowdown::duration(left, self.slow_down_permille));
    }

    /// Charges the time that has passed; every nanosecond goes to one cause.
    #[inline]
    fn account(&mut self, now: Moment<Virtual>) {
        if now == self.since {
            return;
        }
        let time = now.since(self.since);
        self.since = now;
        match self.mode {
            Mode::Idle => self.spent.idle += time,
            _ => self.charge(now, time),
        }
    }

    /// Charges the time to what ran. Outlined, because usually no time has passed.
    #[inline(never)]
    fn charge(&mut self, now: Moment<Virtual>, time: Nanos) {
        let done = self.done(now, time);
        match &mut self.mode {
            Mode::Idle => {}
            Mode::Interrupt(interrupt) => {
                let done = done.min(interrupt.left);
                interrupt.left = interrupt.left - done;
                let cause = interrupt.cause;
                self.charge_interrupt(cause, done, time);
            }
            Mode::Process(process) => self.processes[*process].charge(done, time),
        }
    }

    /// Returns how much work was done in the time that has passed until now.
    #[inline]
    fn done(&mut self, now: Moment<Virtual>, time: Nanos) -> Nanos {
        // Without a slowdown, all of the time is work.
        if self.slow_down_permille == 0 {
            return time;
        }
        let since_priced = slowdown::done(now.since(self.priced.0), self.slow_down_permille);
        since_priced - core::mem::replace(&mut self.priced.1, since_priced)
    }

    /// Charges the time of an interrupt, of which `done` was not slowed down, to the processor and the current process.
    #[inline]
    fn charge_interrupt(&mut self, cause: Cause, done: Nanos, time: Nanos) {
        self.spent.busy[cause as usize] += done;
        self.spent.busy[Cause::Slowed as usize] += time - done;
        if let Some(current) = self.current {
            let charged = &mut self.processes[current].charged;
            if faults::is_planted(Fault::InterruptsNotCharged) {
                charged.ready += time;
            } else {
                charged.interrupted += time;
            }
        }
    }
}

/// Adds times by cause.
fn add(sum: &mut [Nanos; Cause::COUNT], times: &[Nanos; Cause::COUNT]) {
    sum.iter_mut().zip(times).for_each(|(sum, time)| *sum += *time);
}
