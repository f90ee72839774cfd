//! [`CachePadded`]: cache-line padding for data that concurrent programs write. Two processors that write to one cache
//! line wait for each other (false sharing).

use units::Moment;

use crate::failure::Reason;
use crate::op::{Op, PositionedIo};
use crate::recorder::Recorder;
use crate::step::{Issue, Step, Steps};

/// Pads a value to cache lines of its own. A line has 64 or 128 bytes. With lines of 64 bytes, many processors fetch
/// two at once (Intel 64 and IA-32 Architectures Optimization Reference Manual, spatial prefetcher).
#[derive(Clone, Debug, Default)]
#[repr(align(128))]
pub struct CachePadded<T>(pub T);

impl<S: Steps> Iterator for CachePadded<S> {
    type Item = Step;

    #[inline(always)]
    fn next(&mut self) -> Option<Step> {
        self.0.next()
    }
}

impl<S: Steps> Steps for CachePadded<S> {
    fn issue(&self) -> Issue {
        self.0.issue()
    }

    fn is_paced(&self) -> bool {
        self.0.is_paced()
    }

    fn pauses(&self) -> bool {
        self.0.pauses()
    }

    #[inline(always)]
    fn take_repeats(&mut self, op: &Op) -> u64 {
        self.0.take_repeats(op)
    }

    #[inline(always)]
    fn next_positioned(&mut self) -> Option<PositionedIo> {
        self.0.next_positioned()
    }

    fn curtail(&mut self) {
        self.0.curtail();
    }
}

impl<C, R: Recorder<C>> Recorder<C> for CachePadded<R> {
    const TIMED: bool = R::TIMED;

    fn begin(&mut self, began: Moment<C>) {
        self.0.begin(began);
    }

    #[inline(always)]
    fn record(&mut self, op: &Op, issued: Moment<C>, returned: Moment<C>, outcome: Result<u32, Reason>) {
        self.0.record(op, issued, returned, outcome);
    }

    #[inline(always)]
    fn has_enough(&self) -> bool {
        self.0.has_enough()
    }

    fn ends_pauses(&self) -> bool {
        self.0.ends_pauses()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::Tally;

    #[test]
    fn neighbours_do_not_share_a_cache_line() {
        let both = [CachePadded(Tally::default()), CachePadded(Tally::default())];
        let ends = (&raw const both[0]).addr() + size_of::<Tally>();
        let begins = (&raw const both[1]).addr();
        assert!(begins.is_multiple_of(128) && ends <= begins);
    }
}
