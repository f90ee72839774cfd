//! The synchronous engines: the measured loop for one call at a time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use units::{Host, Moment, Nanos};
use workload::{Handle, Op, PositionedIo, Reason, Recorder, Span, Step, Steps};

use crate::sys::clocks::{cpu_between, now, thread_cpu};
use crate::world::process::Process;

/// Executes the ops of a program, one after the other.
pub(crate) trait SyncEngine {
    fn repeat<R: Recorder<Host>>(&mut self, times: u64, op: Op, sink: &mut OpSink<R>) -> LoopControl;

    /// Reads at this place.
    fn read_at(&mut self, io: PositionedIo) -> Result<u32, Reason>;

    /// Writes at this place.
    fn write_at(&mut self, io: PositionedIo) -> Result<u32, Reason>;
}

/// Executes ops by system calls.
pub(crate) struct SyscallEngine<'a>(pub(crate) &'a mut Process);

impl SyncEngine for SyscallEngine<'_> {
    #[inline(always)]
    fn repeat<R: Recorder<Host>>(&mut self, times: u64, op: Op, sink: &mut OpSink<R>) -> LoopControl {
        // Rebuilds the op, so that the compiler knows its kind inside the loop, where the recorder inspects it.
        match op {
            Op::Read { handle, length } => {
                repeat(times, &Op::Read { handle, length }, self.0.reading(handle, length), sink)
            }
            Op::Write { handle, length } => write(times, self.0, (handle, length), sink),
            _ => repeat(times, &op, Ok(|| self.0.execute(&op)), sink),
        }
    }

    #[inline(always)]
    fn read_at(&mut self, io: PositionedIo) -> Result<u32, Reason> {
        self.0.read_at(io.handle, io.length, io.offset)
    }

    #[inline(always)]
    fn write_at(&mut self, io: PositionedIo) -> Result<u32, Reason> {
        self.0.write_at(io.handle, io.length, io.offset)
    }
}

/// Writes `times` times. Not inlined: writing needs all registers.
#[inline(never)]
fn write<R: Recorder<Host>>(
    times: u64,
    process: &mut Process,
    (handle, length): (Handle, u32),
    sink: &mut OpSink<R>,
) -> LoopControl {
    repeat(times, &Op::Write { handle, length }, process.writing(handle, length), sink)
}

/// Completes every op at once, without doing it.
pub(crate) struct NullEngine;

impl SyncEngine for NullEngine {
    #[inline(always)]
    fn repeat<R: Recorder<Host>>(&mut self, times: u64, op: Op, sink: &mut OpSink<R>) -> LoopControl {
        let bytes = op.length();
        repeat(times, &op, Ok(|| Ok(bytes)), sink)
    }

    #[inline(always)]
    fn read_at(&mut self, io: PositionedIo) -> Result<u32, Reason> {
        Ok(io.length)
    }

    #[inline(always)]
    fn write_at(&mut self, io: PositionedIo) -> Result<u32, Reason> {
        Ok(io.length)
    }
}

/// Runs a program that started at `started`, or starts now. All work per op is in `repeat` and `repeat_positioned`. Not
/// inlined, so that the io_uring engine does not take its registers.
#[inline(never)]
pub(crate) fn run_one<D, S, R>(
    engine: &mut D,
    stream: &mut S,
    recorder: &mut R,
    (started, stop): (Option<Moment<Host>>, &AtomicBool),
) -> Span<Host>
where
    D: SyncEngine,
    S: Steps,
    R: Recorder<Host>,
{
    let cpu_before = thread_cpu();
    let began = started.unwrap_or_else(now);
    recorder.begin(began);
    let mut due = None;
    loop {
        let control = if let Some(io) = stream.next_positioned() {
            repeat_positioned(engine, io, stream, recorder, (began, stop))
        } else {
            let op = match stream.next() {
                Some(Step::Op(op)) => op,
                Some(Step::Think(span)) => {
                    if !sleep_until(now() + span, stop, recorder) {
                        stream.curtail();
                    }
                    continue;
                }
                Some(Step::At(span)) => {
                    due = Some(began + span);
                    if !sleep_until(began + span, stop, recorder) {
                        stream.curtail();
                        due = None;
                    }
                    continue;
                }
                None => break,
            };
            match due.take() {
                Some(due) => on_time(engine, op, recorder, due, (began, stop)),
                None => {
                    let times = 1 + stream.take_repeats(&op);
                    engine.repeat(times, op, &mut OpSink { recorder: &mut *recorder, began, stop })
                }
            }
        };
        match control {
            LoopControl::On => {}
            LoopControl::Enough => stream.curtail(),
            LoopControl::Failed => break,
        }
    }
    let ended = now();
    Span { began, ended, cpu: cpu_between(cpu_before, thread_cpu()), ready: None }
}

/// Reads and writes at this place and the following ones. Not inlined, so that the loop has all registers.
#[inline(never)]
fn repeat_positioned<D, S, R>(
    engine: &mut D,
    io: PositionedIo,
    stream: &mut S,
    recorder: &mut R,
    (began, stop): (Moment<Host>, &AtomicBool),
) -> LoopControl
where
    D: SyncEngine,
    S: Steps,
    R: Recorder<Host>,
{
    let mut sink = OpSink { recorder, began, stop };
    // Separate variables, because the compiler keeps the argument in memory.
    let PositionedIo { mut handle, mut length, mut offset, mut write } = io;
    loop {
        let engine = &mut *engine;
        // Branch on read or write, so that the compiler specialises both cases.
        let control = if write {
            let io = PositionedIo { handle, length, offset, write: true };
            repeat(1, &Op::from(io), Ok(move || engine.write_at(io)), &mut sink)
        } else {
            let io = PositionedIo { handle, length, offset, write: false };
            repeat(1, &Op::from(io), Ok(move || engine.read_at(io)), &mut sink)
        };
        let LoopControl::On = control else { return control };
        let Some(next) = stream.next_positioned() else { return LoopControl::On };
        PositionedIo { handle, length, offset, write } = next;
    }
}

/// Executes an op that had to start at `due`. Not inlined: it would take registers of the loop.
#[inline(never)]
fn on_time<D, R>(
    engine: &mut D,
    op: Op,
    recorder: &mut R,
    due: Moment<Host>,
    (began, stop): (Moment<Host>, &AtomicBool),
) -> LoopControl
where
    D: SyncEngine,
    R: Recorder<Host>,
{
    engine.repeat(1, op, &mut OpSink { recorder: &mut Late { recorder, due }, began, stop })
}

/// Reports the intended start of an op as its start. For an op that was cancelled before that, reports the time of
/// the cancellation.
struct Late<'a, R> {
    recorder: &'a mut R,
    due: Moment<Host>,
}

impl<R: Recorder<Host>> Recorder<Host> for Late<'_, R> {
    const TIMED: bool = R::TIMED;

    fn record(&mut self, op: &Op, _: Moment<Host>, returned: Moment<Host>, outcome: Result<u32, Reason>) {
        self.recorder.record(op, self.due.min(returned), returned, outcome);
    }

    fn has_enough(&self) -> bool {
        self.recorder.has_enough()
    }
}

/// The recorder that receives the outcome of each call, the start of the program, and the flag that stops it.
pub(crate) struct OpSink<'a, R> {
    recorder: &'a mut R,
    began: Moment<Host>,
    stop: &'a AtomicBool,
}

/// The continuation of a program after a call: go on, end the stream early, or stop because of a failure.
pub(crate) enum LoopControl {
    On,
    Enough,
    Failed,
}

/// The measured loop: repeats the same call `times` times, up to the first failure. Reads the clock per op only if
/// the recorder needs it. The call and the recorder are inlined here.
#[inline(always)]
pub(crate) fn repeat<R: Recorder<Host>>(
    times: u64,
    op: &Op,
    call: Result<impl FnMut() -> Result<u32, Reason>, Reason>,
    sink: &mut OpSink<R>,
) -> LoopControl {
    let began = sink.began;
    let moment = || if R::TIMED { now() } else { began };
    let mut call = match call {
        Ok(call) => call,
        Err(reason) => {
            sink.recorder.record(op, moment(), moment(), Err(reason));
            return LoopControl::Failed;
        }
    };
    for _ in 0..times {
        let issued = moment();
        let outcome = if sink.stop.load(Ordering::Relaxed) { Err(Reason::Interrupted) } else { call() };
        match outcome {
            Ok(moved) => sink.recorder.record(op, issued, moment(), Ok(moved)),
            Err(reason) => {
                failed(sink.recorder, *op, (issued, moment()), reason);
                return LoopControl::Failed;
            }
        }
        if sink.recorder.has_enough() {
            return LoopControl::Enough;
        }
    }
    LoopControl::On
}

/// Records a failed op. Not inlined, because ops rarely fail.
#[cold]
#[inline(never)]
pub(crate) fn failed<R: Recorder<Host>>(
    recorder: &mut R,
    op: Op,
    (issued, returned): (Moment<Host>, Moment<Host>),
    reason: Reason,
) {
    recorder.record(&op, issued, returned, Err(reason));
}

/// Interval of checks of the stop flag during a sleep; a delay of 50 ms is imperceptible.
pub(crate) const NAP: Nanos = Nanos::from_millis(50);

/// Sleeps until `moment`, or until `stop` is set. Returns false if the recorder ends the pause.
pub(crate) fn sleep_until(moment: Moment<Host>, stop: &AtomicBool, recorder: &impl Recorder<Host>) -> bool {
    loop {
        let left = moment.since_zero().saturating_sub(now().since_zero());
        if left == Nanos::ZERO || stop.load(Ordering::Relaxed) {
            return true;
        }
        if recorder.ends_pauses() {
            return false;
        }
        thread::sleep(Duration::from_nanos(left.min(NAP).0));
    }
}
