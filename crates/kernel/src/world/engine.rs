//! The engine of a stream: set up before the clock starts, on the thread that runs the stream, and then run.

use std::num::NonZeroU64;
use std::sync::atomic::AtomicBool;

use units::{Host, Moment, Nanos};
use workload::{CpuTime, Issue, Recorder, Span, Steps};

use crate::errors::Fault;
use crate::observe::counters::ready_time;
use crate::sys::clocks::{cpu_between, now, thread_cpu, worker_cpu};
use crate::world::mmap_engine::MmapEngine;
use crate::world::process::Process;
use crate::world::sync_engine::{NullEngine, SyscallEngine, run_one};
use crate::world::uring::{Degradation, Uring};

/// The time of a program's run, and the limitations of its ring.
type Ran = Result<(Span<Host>, Vec<Degradation>), Fault>;

/// The engine, set up before a stream's clock starts, on the thread that runs it.
pub(super) enum Ready {
    Sync,
    Mapped,
    Ring {
        ring: Box<Uring>,
        /// The CPU time of the kernel's threads for this thread, before the clock starts.
        workers_before: Option<Nanos>,
    },
    Null,
}

impl Ready {
    pub(super) fn new<S: Steps>(stream: &S, process: &Process, is_alone: bool) -> Result<Ready, Fault> {
        Ok(match stream.issue() {
            Issue::Sync => Ready::Sync,
            Issue::Mapped => Ready::Mapped,
            Issue::Async(overlap) => {
                let ring = Box::new(Uring::new(overlap, process)?);
                Ready::Ring { ring, workers_before: worker_cpu(is_alone) }
            }
            Issue::Null => Ready::Null,
        })
    }

    /// Runs the stream, and then ends the processes that its command left running, so that their CPU time is known. The
    /// time that they waited for a processor is known only if the command had one thread.
    pub(super) fn run_all<S, R>(
        self,
        process: &mut Process,
        stream: &mut S,
        recorder: &mut R,
        started: (Option<Moment<Host>>, &AtomicBool),
        waited: Waited,
    ) -> Ran
    where
        S: Steps,
        R: Recorder<Host>,
    {
        let ran = self.run(process, stream, recorder, started, waited);
        let Some(commands) = process.commands() else { return ran };
        match commands.end() {
            None => ran,
            Some(cpu) => ran.map(|(span, degradations)| (with_command(span, cpu, commands.waited()), degradations)),
        }
    }

    fn run<S, R>(
        self,
        process: &mut Process,
        stream: &mut S,
        recorder: &mut R,
        (started, stop): (Option<Moment<Host>>, &AtomicBool),
        waited: Waited,
    ) -> Ran
    where
        S: Steps,
        R: Recorder<Host>,
    {
        let _wakes = (stream.is_paced() || stream.pauses()).then(Punctual::new);
        match self {
            Ready::Sync => {
                Ok((waited.until(run_one(&mut SyscallEngine(process), stream, recorder, (started, stop))), Vec::new()))
            }
            Ready::Mapped => {
                let mut mapped = MmapEngine::new(process);
                Ok((waited.until(run_one(&mut mapped, stream, recorder, (started, stop))), Vec::new()))
            }
            Ready::Null => Ok((waited.until(run_one(&mut NullEngine, stream, recorder, (started, stop))), Vec::new())),
            Ready::Ring { mut ring, workers_before } => {
                let cpu_before = thread_cpu();
                let began = started.unwrap_or_else(now);
                recorder.begin(began);
                let ran = ring.run(process, stream, recorder, (began, stop));
                let ended = now();
                let mut cpu = cpu_between(cpu_before, thread_cpu());
                ran?;
                let workers = worker_cpu(started.is_none()).zip(workers_before);
                // A polling thread already polls before the clock starts.
                let most = if ring.is_polled() { ended.since(began) } else { Nanos(u64::MAX) };
                let workers = workers.map(|(after, before)| after.saturating_sub(before).min(most));
                cpu.total += workers.unwrap_or_default();
                let mut degradations = ring.degradations().to_vec();
                match workers {
                    None => degradations.push(Degradation::UnseenWorkers),
                    Some(Nanos::ZERO) => {}
                    // Not a limitation, because the user asked for a polling thread.
                    Some(_) if ring.is_polled() => {}
                    Some(_) => degradations.push(Degradation::Workers),
                }
                Ok((waited.until(Span { began, ended, cpu, ready: None }), degradations))
            }
        }
    }
}

/// Adds the CPU time of a command, and its waiting for a processor, to the program's.
fn with_command(span: Span<Host>, command: CpuTime, waited: Option<Nanos>) -> Span<Host> {
    let cpu = CpuTime { total: span.cpu.total + command.total, user: span.cpu.user + command.user };
    Span { cpu, ready: span.ready.zip(waited).map(|(own, command)| own + command), ..span }
}

/// Sets the timer slack of the calling thread to the minimum while this value lives. Otherwise the kernel may wake the
/// thread 50 us late (prctl(2), PR_SET_TIMERSLACK), and every response time would include the delay.
struct Punctual(Option<NonZeroU64>);

impl Punctual {
    fn new() -> Punctual {
        let before = rustix::thread::current_timer_slack().ok().and_then(NonZeroU64::new);
        // If this is not allowed, wake-ups are late.
        let _ = rustix::thread::set_current_timer_slack(Some(NonZeroU64::MIN));
        Punctual(before)
    }
}

impl Drop for Punctual {
    fn drop(&mut self) {
        let _ = rustix::thread::set_current_timer_slack(self.0);
    }
}

/// The time that the calling thread had waited for a processor before its program started; `None` if the counters are
/// not read. It is read outside the program's clock. Without counters, the program makes only its own system calls.
pub(super) struct Waited(Option<Nanos>);

impl Waited {
    // Not inlined: it would take registers of the loop, at a cost of two instructions per op.
    #[inline(never)]
    pub(super) fn so_far(is_watched: bool) -> Waited {
        Waited(if is_watched { ready_time() } else { None })
    }

    /// Adds to the span the time that the thread waited for a processor meanwhile.
    #[inline(never)]
    fn until(self, span: Span<Host>) -> Span<Host> {
        let ready = self.0.and_then(|before| Some(ready_time()?.saturating_sub(before)));
        Span { ready, ..span }
    }
}
