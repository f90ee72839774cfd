//! Records one load of a group. The last calls of its stream open its file again and make the file durable. These calls
//! are not operations of the load: their returns end the load's clocks.

use units::{Moment, Nanos};
use workload::{Failure, Op, OpKind, Reason, Recorder, Span, Tally};

use crate::recorder::{Records, Timed};

/// A recorder of a load that begins `start` after its stream.
pub(crate) struct LoadRecorder<C> {
    timed: Timed<C>,
    start: Nanos,
    began: Moment<C>,
    has_opened: bool,
    returned: Option<Moment<C>>,
    data_durable: Option<Moment<C>>,
    durable: Option<Moment<C>>,
    /// The failure of a call that makes the file durable.
    failure: Option<Failure>,
}

/// The times of a load, from its own start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clocks {
    /// Until the last call returned.
    pub(crate) returned: Nanos,
    /// Until the data were durable, if a call made them durable.
    pub(crate) data_durable: Option<Nanos>,
    /// Until data and metadata were durable, if anything was changed.
    pub(crate) durable: Option<Nanos>,
}

impl<C> LoadRecorder<C> {
    pub(crate) fn new(timed: Timed<C>, start: Nanos) -> LoadRecorder<C> {
        let began = Moment::ZERO;
        LoadRecorder {
            timed,
            start,
            began,
            has_opened: false,
            returned: None,
            data_durable: None,
            durable: None,
            failure: None,
        }
    }

    /// The moment when its last operation returned.
    pub(crate) fn returned(&self, span: &Span<C>) -> Moment<C> {
        self.returned.unwrap_or(span.ended)
    }

    /// The clocks of a load that ran in this span.
    pub(crate) fn clocks(&self, span: &Span<C>) -> Clocks {
        // A stream that is interrupted before its load begins ends earlier.
        let since = |moment: Moment<C>| moment.since_zero().saturating_sub(self.began.since_zero());
        Clocks {
            returned: since(self.returned(span)),
            data_durable: self.data_durable.map(since),
            durable: self.durable.map(since),
        }
    }

    /// The operations of the load. All programs of the load had returned at this moment.
    pub(crate) fn finish(self, returned: Moment<C>) -> Records {
        let records = self.timed.finish(returned);
        let failure = records.tally.failure.or(self.failure);
        Records { tally: Tally { failure, ..records.tally }, ..records }
    }

    /// Records a call after the last operation. The load ended when its file had been opened again, not at the intended
    /// start of that open: that may be earlier than the end of operations in flight.
    #[cold]
    #[inline(never)]
    fn close(&mut self, op: Op, returned: Moment<C>, outcome: Result<u32, Reason>) {
        match (outcome, op.kind()) {
            (Err(reason), _) => self.failure = self.failure.or(Some(Failure { op, reason })),
            (Ok(_), OpKind::Open) => self.returned = Some(returned),
            (Ok(_), OpKind::Fdatasync) => self.data_durable = Some(returned),
            (Ok(_), _) => self.durable = Some(returned),
        }
    }
}

impl<C> Recorder<C> for LoadRecorder<C> {
    const TIMED: bool = true;

    fn begin(&mut self, began: Moment<C>) {
        self.began = began + self.start;
        self.timed.begin(self.began);
    }

    // Inlined, because the compiler often knows the kind of op in the world's loop. It then drops the branches for the
    // calls that end the load.
    #[inline(always)]
    fn record(&mut self, op: &Op, issued: Moment<C>, returned: Moment<C>, outcome: Result<u32, Reason>) {
        match op.kind() {
            OpKind::Open if self.has_opened => return self.close(*op, returned, outcome),
            OpKind::Open | OpKind::Create => self.has_opened = true,
            OpKind::Fdatasync | OpKind::Fsync | OpKind::FsyncDirectory if self.returned.is_some() => {
                return self.close(*op, returned, outcome);
            }
            _ => {}
        }
        self.timed.record(op, issued, returned, outcome);
    }

    #[inline]
    fn has_enough(&self) -> bool {
        self.timed.has_enough()
    }

    fn ends_pauses(&self) -> bool {
        Recorder::<C>::ends_pauses(&self.timed)
    }
}

#[cfg(test)]
mod tests {
    use workload::{CpuTime, Directory, Handle, Mode, Name, Unit};

    use super::*;

    #[test]
    fn syncs_after_the_last_operation_end_the_clocks_and_are_not_counted() {
        let at = |nanos| Moment::<()>::from_zero(Nanos(nanos));
        let handle = Handle::new(0);
        let create = Op::Create { name: Name::root(0), handle, mode: Mode::default() };
        let write = Op::WriteAt { handle, length: 8, offset: 0 };
        let sync = Op::Fdatasync { handle };
        let again = Op::Open { name: Name::root(0), handle, access: workload::Access::Read, mode: Mode::default() };
        let directory = Op::FsyncDirectory { directory: Directory::ROOT };
        let mut load = LoadRecorder::new(Timed::new(Unit::from_kind(OpKind::WriteAt)), Nanos(100));
        load.begin(at(1_000));
        for (op, issued, returned) in [
            (create, 1_100, 1_110),
            (write, 1_110, 1_120),
            // A sync of the load itself.
            (sync, 1_120, 1_150),
            (write, 1_150, 1_160),
            (again, 1_161, 1_162),
            (sync, 1_162, 1_200),
            (Op::Fsync { handle }, 1_200, 1_210),
            (directory, 1_210, 1_230),
        ] {
            load.record(&op, at(issued), at(returned), Ok(op.length()));
        }
        let span = Span { began: at(1_000), ended: at(1_231), cpu: CpuTime::default(), ready: None };
        let expected = Clocks { returned: Nanos(62), data_durable: Some(Nanos(100)), durable: Some(Nanos(130)) };
        assert_eq!(load.clocks(&span), expected);
        let returned = load.returned(&span);
        let Records { tally, times, .. } = load.finish(returned);
        assert_eq!((tally.bytes_written, tally.count(OpKind::WriteAt), tally.count(OpKind::Fdatasync)), (16, 2, 1));
        assert_eq!((tally.count(OpKind::Fsync), tally.count(OpKind::Open)), (0, 0));
        assert_eq!(times.kinds().map(|(.., all)| all.count()).collect::<Vec<_>>(), [2, 1]);
    }

    #[test]
    fn a_load_without_syncs_ends_with_its_stream() {
        let at = |nanos| Moment::<()>::from_zero(Nanos(nanos));
        let mut load = LoadRecorder::new(Timed::new(Unit::from_kind(OpKind::ReadAt)), Nanos::ZERO);
        load.begin(at(10));
        let span = Span { began: at(10), ended: at(30), cpu: CpuTime::default(), ready: None };
        let expected = Clocks { returned: Nanos(20), data_durable: None, durable: None };
        assert_eq!(load.clocks(&span), expected);
        // The file cannot be made durable.
        let handle = Handle::new(0);
        let open = Op::Open { name: Name::root(0), handle, access: workload::Access::Read, mode: Mode::default() };
        load.record(&open, at(10), at(11), Ok(0));
        load.record(&open, at(12), at(13), Ok(0));
        load.record(&Op::Fsync { handle }, at(13), at(14), Err(Reason::Interrupted));
        assert!(load.finish(at(14)).tally.failure.is_some());
    }
}
