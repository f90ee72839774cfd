//! Records the operations of a program, and times them by kind and by unit of work.

use stats::{INTERVAL, Latencies, MOST_INTERVALS, OperationKind, RateInterval, coarse};
use units::{Moment, Nanos};
use workload::{Op, OpKind, Reason, Recorder, Tally, Unit};

use crate::live::{Live, LiveStream};

/// Histograms by kind of operation. Those of kinds that do not occur take no memory.
type ByKind = [Latencies; OperationKind::COUNT];

/// Counts like a [`Tally`]. Also records the duration of each unit of work, of each read, write, fsync and fdatasync,
/// and the operations of each quarter of a second.
pub struct Timed<C> {
    tally: Tally,
    /// Histograms for finished intervals, and for the current interval: an operation is added to one of them only.
    finished: ByKind,
    current: ByKind,
    /// Scratch memory: all units of an interval together, if they are of several kinds.
    units: Latencies,
    intervals: Vec<RateInterval>,
    /// The latencies of each interval, with few digits.
    heat: Vec<Vec<(u64, u64)>>,
    /// Bytes moved before the current interval.
    bytes: u64,
    unit: Unit,
    /// The kinds of op that are a unit of work by themselves: one bit for each kind.
    singles: u32,
    /// True for each histogram that contains units of work.
    has_units: [bool; OperationKind::COUNT],
    began: Option<Moment<C>>,
    /// The time after which no unit begins.
    within: Option<Nanos>,
    /// The end of the current interval; never, if no stream has begun.
    interval_end: Moment<C>,
    /// The end of the time given by `within`.
    ends: Moment<C>,
    /// The earlier of these two moments. Before it, `record` has nothing to check.
    next_check: Moment<C>,
    has_enough: bool,
    /// The figures for another thread, and this stream in them once it has begun.
    live: Option<&'static Live>,
    stream: Option<LiveStream>,
}

/// The operations of a program, and the durations of its units of work.
#[derive(Clone, Debug)]
pub struct Records {
    /// The operations.
    pub tally: Tally,
    /// The durations, by unit and by kind.
    pub times: Durations,
    /// The operations and bytes of each whole quarter of a second since the stream began.
    pub intervals: Vec<RateInterval>,
    /// The latencies of each of these intervals, with few digits.
    pub heat: Vec<Vec<(u64, u64)>>,
}

/// The durations of operations.
#[derive(Clone, Debug, Default)]
pub struct Durations {
    by_kind: ByKind,
    has_units: [bool; OperationKind::COUNT],
}

impl Durations {
    /// The duration of each unit.
    pub fn units(&self) -> Latencies {
        let mut all = Latencies::default();
        self.kinds().filter(|(_, is_unit, _)| *is_unit).for_each(|(.., latencies)| all.add(latencies));
        all
    }

    /// The kinds that occurred, each with true if it is a unit of work, and with its durations.
    pub fn kinds(&self) -> impl Iterator<Item = (OperationKind, bool, &Latencies)> {
        let all = OperationKind::ALL.into_iter().zip(self.has_units).zip(&self.by_kind);
        all.map(|((kind, is_unit), latencies)| (kind, is_unit, latencies)).filter(|(.., all)| all.count() > 0)
    }

    /// Adds the durations of another program with the same units.
    pub fn add(&mut self, other: &Durations) {
        for (mine, theirs) in self.by_kind.iter_mut().zip(&other.by_kind) {
            mine.add(theirs);
        }
        self.has_units = other.has_units;
    }
}

const NEVER: Nanos = Nanos(u64::MAX);

impl<C> Timed<C> {
    /// Makes a recorder for units of this kind.
    pub fn new(unit: Unit) -> Timed<C> {
        let singles = singles(unit);
        let mut has_units = [false; OperationKind::COUNT];
        for kind in OpKind::ALL.into_iter().filter(|kind| singles & 1 << *kind as u32 != 0) {
            has_units[OperationKind::of(kind) as usize] = true;
        }
        if unit.first != unit.last {
            has_units[OperationKind::Unit as usize] = true;
        }
        let kinds = has_units.iter().filter(|has_units| **has_units).count();
        // Allocate the histograms of frequent operations before the clock starts.
        let by_kind = || has_units.map(|has_units| if has_units { Latencies::ready() } else { Latencies::default() });
        Timed {
            tally: Tally::default(),
            finished: by_kind(),
            current: by_kind(),
            units: if kinds > 1 { Latencies::ready() } else { Latencies::default() },
            intervals: Vec::new(),
            heat: Vec::new(),
            bytes: 0,
            unit,
            singles,
            has_units,
            began: None,
            within: None,
            interval_end: Moment::from_zero(NEVER),
            ends: Moment::from_zero(NEVER),
            next_check: Moment::from_zero(NEVER),
            has_enough: false,
            live: None,
            stream: None,
        }
    }

    /// Ends the program after the first unit that ends after this time, if a time is given.
    pub fn within(self, time: Option<Nanos>) -> Timed<C> {
        Timed { within: time, ..self }
    }

    /// Adds each finished interval to these figures, if they are given, and ends the program when they say so.
    pub fn telling(self, live: Option<&'static Live>) -> Timed<C> {
        Timed { live, ..self }
    }

    /// All records of one stream, or of several at the same time, that ended at this moment.
    pub fn finish(mut self, ended: Moment<C>) -> Records {
        if ended >= self.interval_end {
            self.end_interval(ended);
        }
        self.finish_current();
        let times = Durations { by_kind: self.finished, has_units: self.has_units };
        Records { tally: self.tally, times, intervals: self.intervals, heat: self.heat }
    }

    /// Moves the current times to the finished ones.
    fn finish_current(&mut self) {
        for (finished, current) in self.finished.iter_mut().zip(&mut self.current) {
            finished.add(current);
            current.clear();
        }
    }

    /// Handles the end of an interval, or of the whole time.
    #[cold]
    #[inline(never)]
    fn end_interval(&mut self, now: Moment<C>) {
        let moved = |tally: &Tally| tally.bytes_read + tally.bytes_written;
        while now >= self.interval_end {
            if self.intervals.len() == MOST_INTERVALS && self.stream.is_none() {
                self.interval_end = Moment::from_zero(NEVER);
                break;
            }
            let mut of_units = self.current.iter().zip(self.has_units).filter(|(_, has_units)| *has_units);
            let units = match (of_units.next(), of_units.next()) {
                (Some((only, _)), None) => only,
                _ => {
                    self.units.clear();
                    let of_units = self.current.iter().zip(self.has_units).filter(|(_, has_units)| *has_units);
                    of_units.for_each(|(current, _)| self.units.add(current));
                    &self.units
                }
            };
            let bytes = moved(&self.tally) - self.bytes;
            if let Some(stream) = &self.stream {
                stream.add(units, bytes);
            }
            if self.intervals.len() < MOST_INTERVALS {
                self.intervals.push(RateInterval::from_latencies(units, bytes));
                self.heat.push(coarse(units));
            }
            self.finish_current();
            self.bytes = moved(&self.tally);
            self.interval_end = self.interval_end + INTERVAL;
        }
        if self.stream.as_ref().is_some_and(LiveStream::has_enough) {
            self.ends = self.ends.min(now);
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
        // If the histogram of this kind contains units of work, leave out calls that are not units.
        let part = OperationKind::of(kind);
        if part != OperationKind::Unit && !self.has_units[part as usize] {
            self.current[part as usize].record(returned.since(issued));
        }
        if kind == self.unit.last
            && let Some(began) = self.began.take()
        {
            self.current[OperationKind::Unit as usize].record(returned.since(began));
            self.has_enough = returned >= self.ends;
        }
    }
}

/// The kinds of op that are a unit of work by themselves: one bit for each kind.
fn singles(unit: Unit) -> u32 {
    const { assert!(OpKind::COUNT <= u32::BITS as usize) };
    let first = if unit.first == unit.last { Some(unit.first) } else { None };
    first.into_iter().chain(unit.also).fold(0, |bits, kind| bits | 1 << kind as u32)
}

impl<C> Recorder<C> for Timed<C> {
    const TIMED: bool = true;

    fn begin(&mut self, began: Moment<C>) {
        self.stream = self.live.map(Live::begin);
        self.interval_end = began + INTERVAL;
        self.ends = self.within.map_or(self.ends, |time| began + time);
        self.next_check = self.interval_end.min(self.ends);
    }

    // Inlined into the world's loop, where the compiler often knows the kind of op.
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
        self.current[OperationKind::of(op.kind()) as usize].record(returned.since(issued));
    }

    #[inline]
    fn has_enough(&self) -> bool {
        self.has_enough
    }

    fn ends_pauses(&self) -> bool {
        self.stream.as_ref().is_some_and(LiveStream::has_enough)
    }
}

#[cfg(test)]
mod tests {
    use units::Virtual;
    use workload::Handle;

    use super::*;

    const QUARTER: std::time::Duration = std::time::Duration::from_millis(250);

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
        assert_eq!((records.times.units().count(), records.times.units().longest()), (4, Some(551_000_000)));
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
    fn a_recorder_tells_its_intervals_and_ends_when_it_is_told() {
        let live: &'static Live = Box::leak(Box::default());
        let before = live.snapshot();
        let unit = Unit::from_kind(OpKind::Read);
        let mut recorder: Timed<Virtual> = Timed::new(unit).within(Some(NEVER)).telling(Some(live));
        recorder.begin(Moment::from_zero(Nanos::ZERO));
        let at = |millis| Moment::from_zero(Nanos::from_millis(millis));
        for millis in [100, 200] {
            recorder.record(&READ, at(millis - 1), at(millis), Ok(512));
        }
        assert_eq!(live.snapshot().since(&before, QUARTER), None);
        recorder.record(&READ, at(249), at(250), Ok(512));
        let told = live.snapshot().since(&before, QUARTER).expect("an interval");
        assert_eq!((told.per_second, told.bytes_per_second), (8.0, 4096.0));
        live.enough().store(true, std::sync::atomic::Ordering::Relaxed);
        recorder.record(&READ, at(400), at(499), Ok(512));
        assert!(!recorder.has_enough());
        recorder.record(&READ, at(499), at(500), Ok(512));
        assert!(recorder.has_enough());
        assert_eq!(recorder.finish(at(500)).times.units().count(), 5);
        assert!(!live.snapshot().runs());
    }

    #[test]
    fn each_op_of_a_mix_is_a_unit() {
        let mut recorder: Timed<Virtual> = Timed::new(Unit::either(OpKind::Read, OpKind::Write));
        record_reads(&mut recorder, &[(0, 3)]);
        recorder.record(&Op::Write { handle: Handle::new(0), length: 512 }, moment_at(3), moment_at(10), Ok(512));
        let records = recorder.finish(moment_at(10));
        assert_eq!((records.times.units().count(), records.times.units().longest()), (2, Some(7_000_000)));
        assert_eq!(kinds(&records), [(OperationKind::Read, true, 3_000_000), (OperationKind::Write, true, 7_000_000)]);
    }

    /// The kinds of records, each with its longest duration.
    fn kinds(records: &Records) -> Vec<(OperationKind, bool, u64)> {
        let all = records.times.kinds();
        all.map(|(kind, is_unit, latencies)| (kind, is_unit, latencies.longest().expect("times"))).collect()
    }

    #[test]
    fn syncs_and_the_calls_of_a_unit_are_timed_apart() {
        let handle = Handle::new(0);
        let write = Op::Write { handle, length: 512 };
        let mut recorder: Timed<Virtual> = Timed::new(Unit::from(OpKind::Write, OpKind::Fdatasync));
        recorder.begin(moment_at(0));
        recorder.record(&write, moment_at(0), moment_at(2), Ok(512));
        recorder.record(&Op::Fdatasync { handle }, moment_at(2), moment_at(300), Ok(0));
        let records = recorder.finish(moment_at(300));
        let millis = [(OperationKind::Write, false, 2), (OperationKind::Fdatasync, false, 298)];
        let expected = millis.into_iter().chain([(OperationKind::Unit, true, 300)]);
        let expected: Vec<_> = expected.map(|(kind, is_unit, ms)| (kind, is_unit, ms * 1_000_000)).collect();
        assert_eq!(kinds(&records), expected);
        // The unit ended in the second interval, which was not over.
        assert_eq!((records.heat.clone(), records.times.units().count()), (vec![vec![]], 1));

        let mut recorder: Timed<Virtual> = Timed::new(Unit::from_kind(OpKind::Write));
        recorder.begin(moment_at(0));
        recorder.record(&write, moment_at(0), moment_at(2), Ok(512));
        recorder.record(&Op::Fsync { handle }, moment_at(2), moment_at(9), Ok(0));
        let records = recorder.finish(moment_at(251));
        assert_eq!(
            kinds(&records),
            [(OperationKind::Write, true, 2_000_000), (OperationKind::Fsync, false, 7_000_000)]
        );
        assert_eq!((records.heat.len(), records.heat[0].len(), records.times.units().count()), (1, 1, 1));
    }
}
