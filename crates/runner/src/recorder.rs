//! Records the operations of a program, and times its units of work.

use stats::{INTERVAL, Latencies, MOST_INTERVALS, RateInterval};
use units::{Moment, Nanos};
use workload::{Op, OpKind, Reason, Recorder, Tally, Unit};

/// Counts like a [`Tally`]. Also records the duration of each unit of work, and the operations of each quarter of a
/// second.
pub struct Timed<C> {
    tally: Tally,
    /// One histogram for finished intervals, and one for the current interval: an operation is added to one of them
    /// only.
    latencies: Latencies,
    current: Latencies,
    intervals: Vec<RateInterval>,
    /// Bytes moved before the current interval.
    bytes: u64,
    unit: Unit,
    /// The kinds of which each operation is a unit: one bit for each kind.
    singles: u32,
    began: Option<Moment<C>>,
    /// The time after which no unit begins.
    within: Option<Nanos>,
    /// The end of the current interval; never, if no stream has begun.
    interval_end: Moment<C>,
    /// The end of the time given by `within`.
    ends: Moment<C>,
    /// The earlier of both: nothing needs to be checked before.
    next_check: Moment<C>,
    has_enough: bool,
}

/// The operations of a program, and the durations of its units of work.
#[derive(Clone, Debug)]
pub struct Records {
    /// The operations.
    pub tally: Tally,
    /// The duration of each unit.
    pub latencies: Latencies,
    /// The operations and bytes of each whole quarter of a second since the stream began.
    pub intervals: Vec<RateInterval>,
}

const NEVER: Nanos = Nanos(u64::MAX);

impl<C> Timed<C> {
    /// Makes a recorder for units of this kind.
    pub fn new(unit: Unit) -> Timed<C> {
        Timed {
            tally: Tally::default(),
            latencies: Latencies::default(),
            current: Latencies::default(),
            intervals: Vec::new(),
            bytes: 0,
            unit,
            singles: singles(unit),
            began: None,
            within: None,
            interval_end: Moment::from_zero(NEVER),
            ends: Moment::from_zero(NEVER),
            next_check: Moment::from_zero(NEVER),
            has_enough: false,
        }
    }

    /// Ends the program after the first unit that ends after this time, if a time is given.
    pub fn within(self, time: Option<Nanos>) -> Timed<C> {
        Timed { within: time, ..self }
    }

    /// All records of one stream, or of several at the same time, that ended at this moment.
    pub fn finish(mut self, ended: Moment<C>) -> Records {
        if ended >= self.interval_end {
            self.end_interval(ended);
        }
        self.latencies.add(&self.current);
        Records { tally: self.tally, latencies: self.latencies, intervals: self.intervals }
    }

    /// Handles the end of an interval, or of the whole time.
    #[cold]
    #[inline(never)]
    fn end_interval(&mut self, now: Moment<C>) {
        let moved = |tally: &Tally| tally.bytes_read + tally.bytes_written;
        while now >= self.interval_end {
            if self.intervals.len() == MOST_INTERVALS {
                self.interval_end = Moment::from_zero(NEVER);
                break;
            }
            self.intervals.push(RateInterval::from_latencies(&self.current, moved(&self.tally) - self.bytes));
            self.latencies.add(&self.current);
            self.current.clear();
            self.bytes = moved(&self.tally);
            self.interval_end = self.interval_end + INTERVAL;
        }
        self.next_check = self.interval_end.min(self.ends);
    }

    /// Records an operation that is not a unit of its own. Separate from `record`, which must be fast for single units.
    /// Takes the operation by value, so that single units need not be built in memory.
    #[inline(never)]
    fn record_part(&mut self, op: Op, issued: Moment<C>, returned: Moment<C>, outcome: Result<u32, Reason>) {
        let kind = op.kind();
        if self.began.is_none() && kind == self.unit.first {
            self.began = Some(issued);
        }
        if returned >= self.next_check {
            self.end_interval(returned);
        }
        Recorder::<C>::record(&mut self.tally, &op, issued, returned, outcome);
        if kind == self.unit.last
            && let Some(began) = self.began.take()
        {
            self.current.record(returned.since(began));
            self.has_enough = returned >= self.ends;
        }
    }
}

/// The kinds of which each operation is a unit: one bit for each kind.
fn singles(unit: Unit) -> u32 {
    const { assert!(OpKind::COUNT <= u32::BITS as usize) };
    let first = if unit.first == unit.last { Some(unit.first) } else { None };
    first.into_iter().chain(unit.also).fold(0, |bits, kind| bits | 1 << kind as u32)
}

impl<C> Recorder<C> for Timed<C> {
    const TIMED: bool = true;

    fn begin(&mut self, began: Moment<C>) {
        self.interval_end = began + INTERVAL;
        self.ends = self.within.map_or(self.ends, |time| began + time);
        self.next_check = self.interval_end.min(self.ends);
    }

    // Inlined into the loop of the world, where the kind of the operation is often known.
    #[inline(always)]
    fn record(&mut self, op: &Op, issued: Moment<C>, returned: Moment<C>, outcome: Result<u32, Reason>) {
        if self.singles & (1 << op.kind() as u32) == 0 {
            return self.record_part(*op, issued, returned, outcome);
        }
        if returned >= self.next_check {
            self.end_interval(returned);
            self.has_enough = returned >= self.ends;
        }
        Recorder::<C>::record(&mut self.tally, op, issued, returned, outcome);
        self.current.record(returned.since(issued));
    }

    #[inline]
    fn has_enough(&self) -> bool {
        self.has_enough
    }
}

#[cfg(test)]
mod tests {
    use units::Virtual;
    use workload::Handle;

    use super::*;

    const READ: Op = Op::Read { handle: Handle::new(0), length: 512 };

    fn moment_at(millis: u64) -> Moment<Virtual> {
        Moment::from_zero(Nanos::from_millis(1_000 + millis))
    }

    /// Records reads, each with its issue and its return.
    fn record_reads(recorder: &mut Timed<Virtual>, reads: &[(u64, u64)]) {
        for &(issued, returned) in reads {
            recorder.record(&READ, moment_at(issued), moment_at(returned), Ok(512));
        }
    }

    #[test]
    fn a_stall_leaves_intervals_without_completions() {
        let mut recorder = Timed::new(Unit::from_kind(OpKind::Read));
        // The first interval begins with the stream, not with its first unit, so that concurrent programs have the same
        // intervals.
        recorder.begin(moment_at(100));
        recorder.record(&Op::Syncfs, moment_at(100), moment_at(105), Ok(0));
        record_reads(&mut recorder, &[(105, 110), (110, 349), (349, 900), (900, 901)]);
        let records = recorder.finish(moment_at(901));
        let told: Vec<(u64, u64, Option<u64>)> =
            records.intervals.iter().map(|one| (one.ops, one.bytes, one.max)).collect();
        assert_eq!(told, [(2, 1024, Some(239_000_000)), (0, 0, None), (0, 0, None)]);
        assert_eq!((records.latencies.count(), records.latencies.longest()), (4, Some(551_000_000)));
    }

    #[test]
    fn a_recorder_has_enough_once_its_time_is_over() {
        let mut recorder = Timed::new(Unit::from_kind(OpKind::Read)).within(Some(Nanos::from_millis(300)));
        recorder.begin(moment_at(100));
        record_reads(&mut recorder, &[(105, 110), (110, 399)]);
        assert!(!recorder.has_enough());
        record_reads(&mut recorder, &[(399, 400)]);
        assert!(recorder.has_enough());
    }

    #[test]
    fn each_op_of_a_mix_is_a_unit() {
        let mut recorder: Timed<Virtual> = Timed::new(Unit::either(OpKind::Read, OpKind::Write));
        record_reads(&mut recorder, &[(0, 3)]);
        recorder.record(&Op::Write { handle: Handle::new(0), length: 512 }, moment_at(3), moment_at(10), Ok(512));
        let records = recorder.finish(moment_at(10));
        assert_eq!((records.latencies.count(), records.latencies.longest()), (2, Some(7_000_000)));
    }
}
