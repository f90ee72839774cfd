//! The engine of a stream: made before the clock begins, on the thread that runs the stream, and run.

use std::num::NonZeroU64;
use std::sync::atomic::AtomicBool;

use units::{Host, Moment, Nanos};
use workload::{CpuTime, Issue, Recorder, Span, Steps};

use crate::errors::Fault;
use crate::observe::counters::ready_time;
use crate::sys::clocks::{cpu_between, now, thread_cpu, worker_cpu};
use crate::world::command::Commands;
use crate::world::mmap_engine::Mapped;
use crate::world::process::Process;
use crate::world::sync_engine::{Calls, Nowhere, run_one};
use crate::world::uring::{Lack, Uring};

/// When a program ran, and what its ring had to do without.
type Ran = Result<(Span<Host>, Vec<Lack>), Fault>;

/// What is made before a stream's clock begins, on the thread that runs it.
pub(super) enum Ready {
    Calls,
    Mapped,
    Ring(Box<Uring>),
    Nowhere,
}

impl Ready {
    pub(super) fn new<S: Steps>(stream: &S, process: &Process) -> Result<Ready, Fault> {
        Ok(match stream.issue() {
            Issue::InTurn => Ready::Calls,
            Issue::Mapped => Ready::Mapped,
            Issue::Overlapping(overlap) => Ready::Ring(Box::new(Uring::new(overlap, process)?)),
            Issue::Nowhere => Ready::Nowhere,
        })
    }

    /// Runs the stream, and ends what a command of it left running. What that took of the CPU is known then, and not
    /// how long it waited for one.
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
        match process.commands().and_then(Commands::end) {
            None => ran,
            Some(cpu) => ran.map(|(span, lacks)| (with_commands(span, cpu), lacks)),
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
            Ready::Calls => {
                Ok((waited.until(run_one(&mut Calls(process), stream, recorder, (started, stop))), Vec::new()))
            }
            Ready::Mapped => {
                let mut mapped = Mapped::new(process);
                Ok((waited.until(run_one(&mut mapped, stream, recorder, (started, stop))), Vec::new()))
            }
            Ready::Nowhere => Ok((waited.until(run_one(&mut Nowhere, stream, recorder, (started, stop))), Vec::new())),
            Ready::Ring(mut ring) => {
                let workers_before = worker_cpu(started.is_none());
                let cpu_before = thread_cpu();
                let began = started.unwrap_or_else(now);
                recorder.begin(began);
                let ran = ring.run(process, stream, recorder, (began, stop));
                let ended = now();
                let mut cpu = cpu_between(cpu_before, thread_cpu());
                ran?;
                let workers = worker_cpu(started.is_none()).zip(workers_before);
                let workers = workers.map(|(after, before)| after.saturating_sub(before));
                cpu.total += workers.unwrap_or_default();
                let mut lacks = ring.lacks().to_vec();
                match workers {
                    None => lacks.push(Lack::UnseenWorkers),
                    Some(Nanos::ZERO) => {}
                    // A thread that polls was asked for.
                    Some(_) if ring.is_polled() => {}
                    Some(_) => lacks.push(Lack::Workers),
                }
                Ok((waited.until(Span { began, ended, cpu, ready: None }), lacks))
            }
        }
    }
}

/// A program's time with that of the commands that it ran.
fn with_commands(span: Span<Host>, commands: CpuTime) -> Span<Host> {
    let cpu = CpuTime { total: span.cpu.total + commands.total, user: span.cpu.user + commands.user };
    Span { cpu, ready: None, ..span }
}

/// Has the calling thread woken when it is time, while this lives. The kernel may else let it sleep 50 us longer
/// (prctl(2), PR_SET_TIMERSLACK), which every response time would contain.
struct Punctual(Option<NonZeroU64>);

impl Punctual {
    fn new() -> Punctual {
        let before = rustix::thread::current_timer_slack().ok().and_then(NonZeroU64::new);
        // Where that is not allowed, it is late.
        let _ = rustix::thread::set_current_timer_slack(Some(NonZeroU64::MIN));
        Punctual(before)
    }
}

impl Drop for Punctual {
    fn drop(&mut self) {
        let _ = rustix::thread::set_current_timer_slack(self.0);
    }
}

/// Time that the calling thread had waited for a processor before its program began; none if the counters are not read.
/// It is read outside the program's clock. Without counters, the program makes only its own calls.
pub(super) struct Waited(Option<Nanos>);

impl Waited {
    // Kept apart from the loop, whose registers it would take: two instructions per op.
    #[inline(never)]
    pub(super) fn so_far(is_watched: bool) -> Waited {
        Waited(if is_watched { ready_time() } else { None })
    }

    /// Adds to what the program did how long it waited meanwhile.
    #[inline(never)]
    fn until(self, span: Span<Host>) -> Span<Host> {
        let ready = self.0.and_then(|before| Some(ready_time()?.saturating_sub(before)));
        Span { ready, ..span }
    }
}
