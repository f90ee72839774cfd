//! Runs the tasks of the system in addition to the programs. A task is a process without a stream.

use super::Computer;
use super::watchdog::PER_BLOCK;
use crate::cpu::Process;
use crate::description::Kernel;
use crate::engine::{Engine, Event};
use crate::faults::{self, Fault};
use crate::tasks::{Deed, Task, Update};

/// Returns the tasks of a system, and schedules the first wakeup of each, at a random moment of its period.
pub(super) fn tasks(kernel: &Kernel, drives: usize, programs: usize, engine: &mut Engine) -> Option<Task> {
    if kernel.update.0 == 0 || faults::is_planted(Fault::NoUpdate) {
        return None;
    }
    let first = units::Nanos(engine.prng.below(kernel.update.0));
    engine.calendar.schedule_after(first, Event::Awake(programs as u8));
    Some(Task::Update(Update::new(kernel.update, drives)))
}

impl Computer {
    /// Continues a task whose work on the processor has ended, until it needs the processor again or sleeps.
    pub(super) fn go_on_task(&mut self, process: Process) {
        let index = process - self.namespaces.len();
        loop {
            if !self.procs[process].in_call {
                match self.tasks[index].next() {
                    Deed::Sleep(span) => return self.sleep_until(process, self.now() + span),
                    Deed::Call { drive, request } => {
                        self.watchdog.grant(PER_BLOCK * (1 + self.cache.unwritten() as u64));
                        let proc = &mut self.procs[process];
                        proc.drive = drive;
                        proc.plan.begin(request);
                        proc.in_call = true;
                    }
                }
            }
            if self.proceed(process, false).is_none() {
                return;
            }
            self.procs[process].in_call = false;
        }
    }
}
