//! Streams: the steps of a program, produced one at a time as the world pulls them.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use units::Nanos;

use crate::access::pacing::{Pacing, Think};
use crate::access::schedule::Pace;
use crate::op::{Op, OpKind, PositionedIo};
use crate::step::{Issue, Step, Steps};
use crate::stream_body::Body;

/// A stream of steps: a few opening ops, a long body, a few closing ops. A phase keeps its stream, and every round runs
/// a clone, which starts from the beginning.
#[derive(Clone, Debug)]
pub struct Stream {
    opening: vec::IntoIter<Op>,
    body: Body,
    closing: vec::IntoIter<Op>,
    issue: Issue,
    pacing: Option<Box<Pacing>>,
    /// The syncs between the writes of the body. Each sync is part of the unit of the write before it.
    syncs: Option<Box<Syncs>>,
    /// The number of writes before the next sync. Without syncs, a number larger than that of any stream's writes.
    until_sync: u64,
    programs: Programs,
    /// The time to wait before the first op.
    delay: Option<Nanos>,
    /// True if the next accesses may start at once: the body has begun, has no pacing, and no sync is due.
    is_ready: bool,
    /// The opening and the body that follow when the body has ended, if the stream starts over.
    again: Option<Box<(vec::IntoIter<Op>, Body)>>,
}

/// Syncs between the writes of the body.
#[derive(Clone, Debug)]
struct Syncs {
    /// The op of each sync.
    sync: Op,
    /// The number of writes from one sync to the next.
    every: u32,
}

/// The differences between the programs that run one stream at the same time.
#[derive(Clone, Copy, Debug)]
enum Programs {
    /// All run the same steps.
    Same,
    /// Each program draws its own accesses and has its own schedule.
    Independent,
    /// This number of programs share a schedule. Each draws its own accesses and starts its part of the schedule.
    Sharing(u32),
}

/// The salt for the random places of a warm-up. Neither rounds nor other programs change exactly these bits of a seed.
const WARM_UP: u64 = 1 << 31;

impl Stream {
    /// A stream without steps.
    pub fn empty() -> Stream {
        Stream::from_ops(Vec::new())
    }

    /// A stream of these ops only.
    pub fn from_ops(ops: Vec<Op>) -> Stream {
        Stream::open(ops, Body::Empty)
    }

    /// A stream of these ops, followed by the body.
    pub fn open(opening: Vec<Op>, body: Body) -> Stream {
        let closing = Vec::new().into_iter();
        let (issue, programs) = (Issue::Sync, Programs::Same);
        let opening = opening.into_iter();
        Stream {
            opening,
            body,
            closing,
            issue,
            pacing: None,
            syncs: None,
            until_sync: u64::MAX,
            programs,
            delay: None,
            is_ready: false,
            again: None,
        }
    }

    /// Sets the way in which the ops are issued.
    pub fn issued(self, issue: Issue) -> Stream {
        Stream { issue, ..self }
    }

    /// Starts the ops of the body at the times of this schedule.
    pub fn paced(mut self, pace: Pace) -> Stream {
        self.pacing.get_or_insert_default().pace = Some(pace);
        self
    }

    /// Starts the reads and writes of the body at random places at the times of these schedules. They decide whether an
    /// op is a read or a write.
    pub fn paced_apart(self, reads: Pace, writes: Pace) -> Stream {
        let mut stream = self.paced(reads);
        stream.pacing.get_or_insert_default().writes = Some(writes);
        stream
    }

    /// Pauses for `span` between bursts of the body: `burst` units of `ops` ops each.
    pub fn thinking(mut self, span: Nanos, ops: u32, burst: u32) -> Stream {
        self.pacing.get_or_insert_default().think = Some(Think::new(span, ops, burst));
        self
    }

    /// Inserts this sync after every `every` writes of the body: an fsync or fdatasync of their file.
    pub fn synced(self, sync: Op, every: u32) -> Stream {
        Stream { syncs: Some(Box::new(Syncs { sync, every })), until_sync: every.into(), ..self }
    }

    /// The kind of the syncs that are mixed into the body.
    pub(crate) fn sync_kind(&self) -> Option<OpKind> {
        self.syncs.as_ref().map(|syncs| syncs.sync.kind())
    }

    /// Lets `jobs` programs run the stream at the same time (see [`Stream::of_program`]).
    pub fn shared_by(self, jobs: u32) -> Stream {
        Stream { programs: if jobs > 1 { Programs::Sharing(jobs) } else { Programs::Same }, ..self }
    }

    /// Lets each of several programs draw its own accesses and have its own schedule (see [`Stream::of_program`]).
    pub fn independent(self) -> Stream {
        Stream { programs: Programs::Independent, ..self }
    }

    /// The time that the schedule gives to this number of units of one program. `None` without a schedule.
    pub fn scheduled(&self, units: u64) -> Option<Nanos> {
        // Each program that shares a schedule has a part of its starts.
        let jobs = if let Programs::Sharing(jobs) = self.programs { u64::from(jobs) } else { 1 };
        let pacing = self.pacing.as_ref()?;
        Some(pacing.pace.as_ref()?.span(pacing.writes.as_ref(), units.saturating_mul(jobs)))
    }

    /// The pauses between this number of units of one program.
    pub fn paused(&self, units: u64) -> Nanos {
        self.pacing.as_ref().map_or(Nanos::ZERO, |pacing| pacing.paused(units))
    }

    /// The stream of program `index`. By default, all programs run the same steps. After `shared_by` or `independent`,
    /// each program draws its own accesses. It then starts its share of the schedule (`shared_by`) or all of it
    /// (`independent`).
    pub fn of_program(&self, index: u32) -> Stream {
        let mut stream = self.clone();
        if matches!(self.programs, Programs::Same) {
            return stream;
        }
        // The upper half, so that no program draws the numbers of another round.
        let salt = u64::from(index) << 32;
        if let Body::Accesses(accesses) = &mut stream.body
            && index > 0
        {
            accesses.reseed(salt, true);
        }
        for pace in stream.pacing.iter_mut().flat_map(|pacing| pacing.paces()) {
            pace.reseed(salt);
            if let Programs::Sharing(jobs) = self.programs {
                pace.share(index % jobs, jobs);
            }
        }
        stream
    }

    /// The stream as it runs before a measurement, for this time. Its random places differ from those of the
    /// measurement. At the end of the file it starts over, until it is curtailed or its schedule ends.
    pub fn warming(&self, time: Nanos) -> Stream {
        let mut stream = self.clone();
        if let Body::Accesses(accesses) = &mut stream.body {
            accesses.reseed(WARM_UP, true);
        }
        stream.ends_at(time);
        assert!(!stream.opening.as_slice().is_empty(), "a stream that opens a file");
        // A body without ops would start over forever.
        let has_ops = stream.body.clone().next().is_some();
        stream.again = has_ops.then(|| Box::new((stream.opening.clone(), stream.body.clone())));
        stream
    }

    /// The step after the end of the body: the first one of a stream that starts over, or else a closing op. A stream
    /// that was curtailed, or whose schedule has ended, has `Body::Empty` and does not start over.
    #[cold]
    fn end(&mut self) -> Option<Step> {
        if let Some(again) = &self.again
            && !matches!(self.body, Body::Empty)
        {
            (self.opening, self.body) = (**again).clone();
            self.is_ready = false;
            return self.open_next();
        }
        self.closing.next().map(Step::Op)
    }

    /// Ends the body at this time, if the stream has a schedule.
    pub(crate) fn ends_at(&mut self, end: Nanos) {
        self.pacing.iter_mut().for_each(|pacing| pacing.ends = Some(end));
    }

    /// Begins this time after the start of the stream. Only a stream with opening ops can wait.
    pub(crate) fn starting_at(mut self, delay: Nanos) -> Stream {
        assert!(!self.opening.as_slice().is_empty(), "a stream that opens a file");
        self.delay = (delay > Nanos::ZERO).then_some(delay);
        self.pacing.iter_mut().for_each(|pacing| pacing.delay = delay);
        self
    }

    /// The steps before the body.
    #[cold]
    fn open_next(&mut self) -> Option<Step> {
        self.delay.take().map(Step::At).or_else(|| self.opening.next().map(Step::Op))
    }

    /// Adds closing ops.
    pub fn then(mut self, closing: Vec<Op>) -> Stream {
        self.closing = closing.into_iter();
        self
    }

    /// Advances randomly drawn places to those of a later round.
    pub(crate) fn skip_rounds(&mut self, rounds: u32) {
        if let Body::Accesses(accesses) = &mut self.body {
            (0..rounds).for_each(|_| accesses.reseed(0, false));
        }
        let paces = self.pacing.iter_mut().flat_map(|pacing| pacing.paces());
        paces.for_each(|pace| pace.reseed(u64::from(rounds)));
    }

    /// Draws random places that no program draws in any round, at most this number.
    pub(crate) fn elsewhere(mut self, most: u64) -> Stream {
        if let Body::Accesses(accesses) = &mut self.body {
            accesses.move_elsewhere(most);
        }
        self
    }

    /// Replaces the opening ops.
    pub(crate) fn opened_by(self, opening: Vec<Op>) -> Stream {
        Stream { opening: opening.into_iter(), ..self }
    }

    /// Returns whether a schedule, pauses or syncs are mixed into the body.
    pub(crate) fn has_pacing(&self) -> bool {
        self.pacing.is_some() || self.syncs.is_some()
    }

    /// Returns whether the body reads or writes a file from its beginning on.
    pub(crate) fn is_sequential(&self) -> bool {
        self.body.is_sequential()
    }

    /// The length, in bytes, of the write calls on a file, except for the last one. `None` if the body does not
    /// generate the data that it writes (as a copy does not), or writes each file in one call.
    pub fn cuts(&self) -> Option<u32> {
        self.body.cuts()
    }

    /// The opening ops.
    pub fn opening(&self) -> &[Op] {
        self.opening.as_slice()
    }

    /// The bytes that the body may reach in its file, if it may access some of them more than once; otherwise `None`.
    pub(crate) fn touches_again(&self) -> Option<u64> {
        self.body.touches_again()
    }

    /// The extent of the places in bytes, if the body accesses random places of a file; otherwise `None`.
    pub fn span(&self) -> Option<u64> {
        self.body.span()
    }

    /// Counts writes of the body, of which at most the last one makes a sync due.
    #[inline(always)]
    fn count_writes(&mut self, writes: u64) {
        self.until_sync -= writes;
        if self.until_sync == 0 {
            self.is_ready = false;
        }
    }

    /// Returns whether no step is left.
    pub fn is_empty(&self) -> bool {
        self.clone().next().is_none()
    }
}

impl Iterator for Stream {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if !self.opening.as_slice().is_empty() {
            return self.open_next();
        }
        self.is_ready = self.pacing.is_none();
        if self.until_sync == 0
            && let Some(syncs) = &self.syncs
        {
            self.until_sync = syncs.every.into();
            return Some(Step::Op(syncs.sync));
        }
        let step = match &mut self.pacing {
            Some(pacing) => pacing.next(&mut self.body),
            None => self.body.next().map(Step::Op),
        };
        if let Some(Step::Op(op)) = &step
            && matches!(op.kind(), OpKind::Write | OpKind::WriteAt)
        {
            self.count_writes(1);
        }
        step.or_else(|| self.end())
    }
}

impl Steps for Stream {
    fn issue(&self) -> Issue {
        self.issue
    }

    fn is_paced(&self) -> bool {
        self.pacing.as_ref().is_some_and(|pacing| pacing.pace.is_some())
    }

    fn pauses(&self) -> bool {
        self.delay.is_some() || self.pacing.as_ref().is_some_and(|pacing| pacing.think.is_some())
    }

    #[inline]
    fn take_repeats(&mut self, op: &Op) -> u64 {
        let is_due = self.opening.as_slice().is_empty() && self.pacing.is_none();
        match &mut self.body {
            Body::Calls { call, left } if call == op && is_due => {
                let is_write = matches!(op.kind(), OpKind::Write | OpKind::WriteAt);
                let taken = if is_write { (*left).min(self.until_sync) } else { *left };
                *left -= taken;
                self.count_writes(if is_write { taken } else { 0 });
                taken
            }
            _ => 0,
        }
    }

    // Called in the world's measured loop.
    #[inline(always)]
    fn next_positioned(&mut self) -> Option<PositionedIo> {
        match &mut self.body {
            Body::Accesses(accesses) if self.is_ready => {
                let io = accesses.next()?;
                if io.write {
                    self.count_writes(1);
                }
                Some(io)
            }
            _ => None,
        }
    }

    #[cold]
    fn curtail(&mut self) {
        self.body = Body::Empty;
        self.pacing = None;
        (self.syncs, self.until_sync) = (None, u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::mix::Mix;
    use crate::access::pattern::AccessPattern;
    use crate::access::schedule::Arrivals;
    use crate::op::{Access, Handle, Mode, Name};

    #[test]
    fn ops_taken_at_once_are_the_next_ones() {
        let call = Op::Read { handle: Handle::new(0), length: 8192 };
        let opening =
            Op::Open { name: Name::root(0), handle: Handle::new(0), access: Access::Read, mode: Mode::default() };
        // The opening ends with the same call as the body has. It must not be counted twice.
        let stream = Stream::open(vec![opening, call], Body::Calls { call, left: 3 }).then(vec![call]);
        let one_by_one: Vec<Step> = stream.clone().collect();
        let mut taken = Vec::new();
        let mut rest = stream;
        while let Some(step) = rest.next() {
            let Step::Op(op) = step else { panic!("not an op") };
            let times = 1 + rest.take_repeats(&op);
            taken.extend((0..times).map(|_| step));
        }
        assert_eq!(taken, one_by_one);
        assert_eq!(taken.len(), 6);
    }

    #[test]
    fn places_taken_at_once_are_the_next_ones() {
        let end = Op::Close { handle: Handle::new(0) };
        for reads in [1000, 500] {
            let pattern = AccessPattern { reads, ..AccessPattern::uniform(512, false) };
            let accesses = pattern.accesses(Handle::new(0), 1 << 40, 50, 7);
            let stream = Stream::open(vec![end], accesses.into()).then(vec![end]);
            let one_by_one: Vec<Step> = stream.clone().collect();
            let mut rest = stream.clone();
            let (mut taken, mut at_once) = (Vec::new(), 0);
            loop {
                let next = rest.next_positioned().map(|io| Step::Op(io.into()));
                at_once += usize::from(next.is_some());
                let Some(step) = next.or_else(|| rest.next()) else { break };
                taken.push(step);
            }
            assert_eq!((taken, at_once), (one_by_one, 49));
            // `next_positioned` must not return a place that has an intended start.
            let mut paced = stream.paced(Pace::new(1_000, Arrivals::Constant, 1, 1));
            (0..4).for_each(|_| {
                paced.next();
                assert_eq!(paced.next_positioned(), None);
            });
        }
    }

    #[test]
    fn a_curtailed_stream_still_performs_its_closing() {
        let call = Op::Read { handle: Handle::new(0), length: 8192 };
        let end = Op::Close { handle: Handle::new(0) };
        let mut stream = Stream::open(Vec::new(), Body::Calls { call, left: 3 }).then(vec![end]);
        assert_eq!(stream.next(), Some(Step::Op(call)));
        stream.curtail();
        assert_eq!((stream.next(), stream.next()), (Some(Step::Op(end)), None));
    }

    #[test]
    fn taking_a_different_op_takes_nothing() {
        let call = Op::Read { handle: Handle::new(0), length: 8192 };
        let mut stream = Stream::open(Vec::new(), Body::Calls { call, left: 3 });
        assert_eq!(stream.take_repeats(&Op::Read { handle: Handle::new(1), length: 8192 }), 0);
        assert_eq!((stream.take_repeats(&call), stream.next()), (3, None));
    }

    #[test]
    fn pauses_are_between_units_and_syncs_after_n_writes() {
        let (handle, span) = (Handle::new(0), Nanos::from_millis(1));
        let write = Op::Write { handle, length: 512 };
        let (think, write, sync) = (Step::Think(span), Step::Op(write), Step::Op(Op::Fsync { handle }));
        let calls = |left| Body::Calls { call: Op::Write { handle, length: 512 }, left };
        let thinking = Stream::open(Vec::new(), calls(4)).thinking(span, 2, 1);
        assert!(thinking.pauses() && !thinking.is_paced());
        assert_eq!((thinking.paused(2), thinking.paused(0), thinking.scheduled(2)), (span, Nanos::ZERO, None));
        assert_eq!(thinking.collect::<Vec<Step>>(), [write, write, think, write, write]);
        let both = Stream::open(Vec::new(), calls(3)).thinking(span, 1, 1).synced(Op::Fsync { handle }, 2);
        assert_eq!(both.collect::<Vec<Step>>(), [write, think, write, sync, think, write]);
        let bursts = Stream::open(Vec::new(), calls(5)).thinking(span, 1, 2);
        assert_eq!([0, 2, 3, 5].map(|units| bursts.paused(units).0 / span.0), [0, 0, 1, 2]);
        assert_eq!(bursts.collect::<Vec<Step>>(), [write, write, think, write, write, think, write]);
        let reads = Body::Calls { call: Op::Read { handle, length: 512 }, left: 3 };
        assert_eq!(Stream::open(Vec::new(), reads).synced(Op::Fsync { handle }, 1).count(), 3);
    }

    #[test]
    fn only_programs_sharing_a_stream_differ() {
        let accesses = AccessPattern::uniform(512, false).accesses(Handle::new(0), 1 << 49, 20, 7);
        let one = Stream::open(Vec::new(), accesses.into());
        let steps = |stream: &Stream, index| stream.of_program(index).collect::<Vec<Step>>();
        assert_eq!(steps(&one, 0), steps(&one, 1));
        let shared = one.clone().shared_by(2);
        assert_eq!(steps(&shared, 0), steps(&one, 0));
        assert!(steps(&shared, 1).iter().all(|step| !steps(&shared, 0).contains(step)));
    }

    #[test]
    fn a_schedule_ends_with_its_time() {
        let call = Op::Read { handle: Handle::new(0), length: 8192 };
        let end = Op::Close { handle: Handle::new(0) };
        let at = |millis| Step::At(Nanos::from_millis(millis));
        let steps = |rate, jobs, index| {
            let body = Body::Calls { call, left: 1000 };
            let stream = Stream::open(Vec::new(), body).then(vec![end]).shared_by(jobs);
            let mut stream = stream.paced(Pace::new(rate, Arrivals::Constant, 1, 1));
            stream.ends_at(Nanos::from_millis(300));
            stream.of_program(index).collect::<Vec<Step>>()
        };
        let (call, end) = (Step::Op(call), Step::Op(end));
        // The fourth op was due at the end of the time.
        assert_eq!(steps(10, 1, 0), [at(0), call, at(100), call, at(200), call, at(300), end]);
        assert_eq!(steps(10, 4, 1), [at(100), call, at(300), end]);
        assert_eq!(steps(10, 4, 3), [at(300), end]);
    }

    #[test]
    fn programs_and_rounds_of_a_mix_draw_different_accesses() {
        let accesses = Mix::default().pattern().accesses(Handle::new(0), 1 << 30, 50, 7);
        let stream = Stream::open(Vec::new(), accesses.into()).independent();
        let mut all: Vec<Vec<Step>> = Vec::new();
        for round in 0..3 {
            for index in 0..3 {
                let mut stream = stream.clone();
                stream.skip_rounds(round);
                let steps: Vec<Step> = stream.of_program(index).collect();
                assert!(!all.contains(&steps), "program {index} in round {round}");
                all.push(steps);
            }
        }
    }

    #[test]
    fn a_shared_schedule_gives_each_program_a_part_of_its_starts() {
        let call = Op::Read { handle: Handle::new(0), length: 1 };
        let paced =
            Stream::open(Vec::new(), Body::Calls { call, left: 8 }).paced(Pace::new(1_000, Arrivals::Constant, 1, 1));
        assert_eq!((paced.scheduled(8), paced.paused(8)), (Some(Nanos::from_millis(8)), Nanos::ZERO));
        assert_eq!(paced.shared_by(4).scheduled(2), Some(Nanos::from_millis(8)));
    }

    /// Reads and writes that start within a second, for the programs of a stream with a rate of each.
    fn counts_of_two_rates(arrivals: Arrivals, jobs: u32) -> (usize, usize) {
        let pattern = AccessPattern { reads: 500, ..AccessPattern::uniform(512, false) };
        let accesses = pattern.accesses(Handle::new(0), 1 << 40, u64::MAX, 7);
        let pace = |rate, seed| Pace::new(rate, arrivals, 1, seed);
        let mut stream = Stream::open(Vec::new(), accesses.into()).shared_by(jobs);
        stream = stream.paced_apart(pace(1000, 1), pace(100, 2));
        stream.ends_at(Nanos::from_secs(1));
        let steps: Vec<Step> = (0..jobs).flat_map(|index| stream.of_program(index)).collect();
        let count = |kind| steps.iter().filter(|step| matches!(step, Step::Op(op) if op.kind() == kind)).count();
        (count(OpKind::ReadAt), count(OpKind::WriteAt))
    }

    #[test]
    fn reads_and_writes_have_a_schedule_each() {
        // The mix itself has as many reads as writes.
        for jobs in [1, 4] {
            assert_eq!(counts_of_two_rates(Arrivals::Constant, jobs), (1000, 100));
            let (reads, writes) = counts_of_two_rates(Arrivals::Poisson, jobs);
            assert!((850..1150).contains(&reads) && (50..150).contains(&writes), "{reads} {writes}");
        }
    }

    #[test]
    fn starts_of_two_schedules_are_in_order() {
        let pattern = AccessPattern { reads: 500, ..AccessPattern::uniform(512, false) };
        let accesses = pattern.accesses(Handle::new(0), 1 << 40, 6, 7);
        let pace = |rate| Pace::new(rate, Arrivals::Constant, 1, 1);
        let stream = Stream::open(Vec::new(), accesses.into())
            .paced_apart(pace(1000), pace(400))
            .synced(Op::Fsync { handle: Handle::new(0) }, 2);
        // The intervals are rounded down.
        assert_eq!(stream.scheduled(1400), Some(Nanos(999_999_999)));
        let shown: Vec<(u64, char)> = stream
            .scan(0, |due, step| {
                Some(match step {
                    Step::At(at) => {
                        *due = at.0 / 100_000;
                        None
                    }
                    Step::Op(Op::ReadAt { .. }) => Some((*due, 'r')),
                    Step::Op(Op::WriteAt { .. }) => Some((*due, 'w')),
                    _ => Some((*due, 's')),
                })
            })
            .flatten()
            .collect();
        // In tenths of a millisecond: reads each 1 ms, writes each 2.5 ms, a sync after two writes.
        assert_eq!(shown, [(0, 'r'), (0, 'w'), (10, 'r'), (20, 'r'), (25, 'w'), (25, 's'), (30, 'r')]);
    }

    #[test]
    fn only_the_body_of_a_paced_stream_has_start_times() {
        let call = Op::Read { handle: Handle::new(0), length: 8192 };
        let end = Op::Close { handle: Handle::new(0) };
        let stream = Stream::open(vec![end], Body::Calls { call, left: 2 }).then(vec![end]);
        let mut stream = stream.paced(Pace::new(1_000, Arrivals::Constant, 1, 1));
        assert_eq!(stream.clone().take_repeats(&call), 0);
        let at = |millis| Step::At(Nanos::from_millis(millis));
        let steps: Vec<Step> = stream.clone().collect();
        assert_eq!(steps, [Step::Op(end), at(0), Step::Op(call), at(1), Step::Op(call), Step::Op(end)]);
        // After `curtail`, ops that were due later do not start.
        let begun: Vec<Step> = stream.by_ref().take(4).collect();
        assert_eq!(begun.last(), Some(&at(1)));
        stream.curtail();
        assert_eq!(stream.collect::<Vec<Step>>(), [Step::Op(end)]);
    }
}
