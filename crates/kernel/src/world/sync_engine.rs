//! One call after the other: the loop that everything is measured in.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use units::{Host, Moment, Nanos};
use workload::{Handle, Op, Place, Reason, Recorder, Span, Step, Steps};

use crate::sys::clocks::{cpu_between, now, thread_cpu};
use crate::world::process::Process;

/// Who does the ops of a program, one after the other.
pub(crate) trait Doer {
    fn repeat<R: Recorder<Host>>(&mut self, times: u64, op: Op, listener: &mut Listener<R>) -> Flow;

    /// Reads at this place.
    fn read_at(&mut self, place: Place) -> Result<u32, Reason>;

    /// Writes there.
    fn write_at(&mut self, place: Place) -> Result<u32, Reason>;
}

/// By system calls.
pub(crate) struct Calls<'a>(pub(crate) &'a mut Process);

impl Doer for Calls<'_> {
    #[inline(always)]
    fn repeat<R: Recorder<Host>>(&mut self, times: u64, op: Op, listener: &mut Listener<R>) -> Flow {
        // Said once more which op it is, so that the compiler knows in the loop what a recorder asks of it.
        match op {
            Op::Read { handle, length } => {
                repeat(times, &Op::Read { handle, length }, self.0.reading(handle, length), listener)
            }
            Op::Write { handle, length } => write(times, self.0, (handle, length), listener),
            _ => repeat(times, &op, Ok(|| self.0.execute(&op)), listener),
        }
    }

    #[inline(always)]
    fn read_at(&mut self, place: Place) -> Result<u32, Reason> {
        self.0.read_at(place.handle, place.length, place.offset)
    }

    #[inline(always)]
    fn write_at(&mut self, place: Place) -> Result<u32, Reason> {
        self.0.write_at(place.handle, place.length, place.offset)
    }
}

/// Writes so many times. Kept apart: what writing works with takes all registers that there are.
#[inline(never)]
fn write<R: Recorder<Host>>(
    times: u64,
    process: &mut Process,
    (handle, length): (Handle, u32),
    listener: &mut Listener<R>,
) -> Flow {
    repeat(times, &Op::Write { handle, length }, process.writing(handle, length), listener)
}

/// Nobody: each op is done at once.
pub(crate) struct Nowhere;

impl Doer for Nowhere {
    #[inline(always)]
    fn repeat<R: Recorder<Host>>(&mut self, times: u64, op: Op, listener: &mut Listener<R>) -> Flow {
        let bytes = op.length();
        repeat(times, &op, Ok(|| Ok(bytes)), listener)
    }

    #[inline(always)]
    fn read_at(&mut self, place: Place) -> Result<u32, Reason> {
        Ok(place.length)
    }

    #[inline(always)]
    fn write_at(&mut self, place: Place) -> Result<u32, Reason> {
        Ok(place.length)
    }
}

/// Runs a program, which has started then, or starts now. Everything that is done for every op is in `repeat` and
/// `at_places`. Kept apart from what a ring does, whose registers it would take.
#[inline(never)]
pub(crate) fn run_one<D, S, R>(
    doer: &mut D,
    stream: &mut S,
    recorder: &mut R,
    (started, stop): (Option<Moment<Host>>, &AtomicBool),
) -> Span<Host>
where
    D: Doer,
    S: Steps,
    R: Recorder<Host>,
{
    let cpu_before = thread_cpu();
    let began = started.unwrap_or_else(now);
    recorder.begin(began);
    let mut due = None;
    loop {
        let flow = if let Some(place) = stream.place() {
            at_places(doer, place, stream, recorder, (began, stop))
        } else {
            let op = match stream.next() {
                Some(Step::Op(op)) => op,
                Some(Step::Think(span)) => {
                    sleep_until(now() + span, stop);
                    continue;
                }
                Some(Step::At(span)) => {
                    due = Some(began + span);
                    sleep_until(began + span, stop);
                    continue;
                }
                None => break,
            };
            match due.take() {
                Some(due) => on_time(doer, op, recorder, due, (began, stop)),
                None => {
                    let times = 1 + stream.again(&op);
                    doer.repeat(times, op, &mut Listener { recorder: &mut *recorder, began, stop })
                }
            }
        };
        match flow {
            Flow::On => {}
            Flow::Enough => stream.curtail(),
            Flow::Failed => break,
        }
    }
    let ended = now();
    Span { began, ended, cpu: cpu_between(cpu_before, thread_cpu()), ready: None }
}

/// Reads and writes at this place and at those that follow it. A loop of its own, with all registers.
#[inline(never)]
fn at_places<D, S, R>(
    doer: &mut D,
    mut place: Place,
    stream: &mut S,
    recorder: &mut R,
    (began, stop): (Moment<Host>, &AtomicBool),
) -> Flow
where
    D: Doer,
    S: Steps,
    R: Recorder<Host>,
{
    let mut listener = Listener { recorder, began, stop };
    loop {
        let (doer, here) = (&mut *doer, place);
        // Which of both it is, is said to the compiler.
        let flow = if place.write {
            let op = Op::from(Place { write: true, ..place });
            repeat(1, &op, Ok(move || doer.write_at(here)), &mut listener)
        } else {
            let op = Op::from(Place { write: false, ..place });
            repeat(1, &op, Ok(move || doer.read_at(here)), &mut listener)
        };
        let Flow::On = flow else { return flow };
        match stream.place() {
            Some(next) => place = next,
            None => return Flow::On,
        }
    }
}

/// Does an op that was to be issued then. Kept apart from the loop, whose registers it would take.
#[inline(never)]
fn on_time<D, R>(
    doer: &mut D,
    op: Op,
    recorder: &mut R,
    due: Moment<Host>,
    (began, stop): (Moment<Host>, &AtomicBool),
) -> Flow
where
    D: Doer,
    R: Recorder<Host>,
{
    doer.repeat(1, op, &mut Listener { recorder: &mut Late { recorder, due }, began, stop })
}

/// Tells a recorder that an op was issued when it was to be; of one that was called off before then, when it was.
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

/// Who hears of a call.
pub(crate) struct Listener<'a, R> {
    recorder: &'a mut R,
    began: Moment<Host>,
    stop: &'a AtomicBool,
}

/// How a program goes on after a call.
pub(crate) enum Flow {
    On,
    Enough,
    Failed,
}

/// The loop that everything is measured in: the same call so many times, up to the first that fails. A
/// clock is read per op only where the recorder wants it; the call and the recorder are inlined here.
#[inline(always)]
pub(crate) fn repeat<R: Recorder<Host>>(
    times: u64,
    op: &Op,
    call: Result<impl FnMut() -> Result<u32, Reason>, Reason>,
    listener: &mut Listener<R>,
) -> Flow {
    let began = listener.began;
    let moment = || if R::TIMED { now() } else { began };
    let mut call = match call {
        Ok(call) => call,
        Err(reason) => {
            listener.recorder.record(op, moment(), moment(), Err(reason));
            return Flow::Failed;
        }
    };
    for _ in 0..times {
        let issued = moment();
        let outcome = if listener.stop.load(Ordering::Relaxed) { Err(Reason::Interrupted) } else { call() };
        match outcome {
            Ok(moved) => listener.recorder.record(op, issued, moment(), Ok(moved)),
            Err(reason) => {
                failed(listener.recorder, *op, (issued, moment()), reason);
                return Flow::Failed;
            }
        }
        if listener.recorder.has_enough() {
            return Flow::Enough;
        }
    }
    Flow::On
}

/// Tells a recorder of an op that failed; apart from the loop, where no op does.
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

/// Sleeps for so long at a time, and then looks whether it is to stop: nobody notices so much.
const NAP: Nanos = Nanos::from_millis(50);

/// Sleeps until then, unless it is told to stop.
pub(crate) fn sleep_until(moment: Moment<Host>, stop: &AtomicBool) {
    loop {
        let left = moment.since_zero().saturating_sub(now().since_zero());
        if left == Nanos::ZERO || stop.load(Ordering::Relaxed) {
            return;
        }
        thread::sleep(Duration::from_nanos(left.min(NAP).0));
    }
}
