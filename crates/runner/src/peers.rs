//! The start of an execution on several hosts at the same moment. On one host, the execution starts at once.

use serde::{Deserialize, Serialize};
use units::Nanos;
use workload::{Failure, FolderForOthers, Op, Reason, Span, Tally};

/// A start that all hosts agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// The moment on the monotonic clock of this host, since the zero of that clock.
    pub moment: Nanos,
    /// The largest possible error of that moment: the clocks of two hosts are compared by messages.
    pub uncertainty: Nanos,
}

/// The result of an agreement on a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreed {
    /// This host is alone: it starts when it is ready.
    Alone,
    /// All hosts start at one moment.
    At(Start),
    /// A host cannot go on, so this execution ends.
    Left,
}

/// Hosts that perform the same executions at the same time.
pub trait Peers {
    /// Waits until all hosts are here. Returns false if one of them cannot go on; then this execution ends here.
    fn meet(&mut self) -> bool;

    /// True if each host reads the files that the next one wrote.
    fn reads_others(&self) -> bool {
        false
    }

    /// Waits until all hosts are here, and exchanges the folders of their programs. Returns those of the next host;
    /// `None` if a host cannot go on.
    fn next_folders(&mut self, own: Vec<FolderForOthers>) -> Option<Vec<FolderForOthers>> {
        Some(own)
    }

    /// Waits until all hosts are here, and agrees with them on a moment that is some milliseconds away.
    fn agree_on_start(&mut self) -> Agreed;

    /// Waits for the moment of the start.
    fn wait_for(&self, start: Start);
}

/// No other hosts.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Peers for Alone {
    fn meet(&mut self) -> bool {
        true
    }

    fn agree_on_start(&mut self) -> Agreed {
        Agreed::Alone
    }

    fn wait_for(&self, _: Start) {}
}

/// The start of a phase on one of several hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostStart {
    /// Time from the agreed moment to the first operation.
    pub late: Nanos,
    /// The largest possible error of `late`, because clocks differ.
    pub uncertainty: Nanos,
}

impl HostStart {
    /// The start of a phase whose first program began at this moment of the monotonic clock.
    pub fn new(start: Start, began: Nanos) -> HostStart {
        HostStart { late: began.saturating_sub(start.moment), uncertainty: start.uncertainty }
    }
}

/// The start of these programs, if several hosts agreed on one.
pub(crate) fn host_start<C>(agreed: Agreed, spans: &[Span<C>]) -> Option<HostStart> {
    let Agreed::At(start) = agreed else { return None };
    let began = spans.iter().map(|span| span.began.since_zero()).min()?;
    Some(HostStart::new(start, began))
}

/// The tally of programs that do not run, because another host cannot go on.
pub(crate) fn left() -> Vec<Tally> {
    vec![Tally { failure: Some(told_to_end()), ..Tally::default() }]
}

/// The failure of a program that was told to end before it ran.
pub(crate) fn told_to_end() -> Failure {
    Failure { op: Op::Syncfs, reason: Reason::Interrupted }
}
