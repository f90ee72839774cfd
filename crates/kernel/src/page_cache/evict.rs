//! Which step to take next to have files out of memory, apart from taking it.

use workload::Residency;

/// How often the kernel is advised to forget the files. The first time does it, unless somebody holds their
/// pages; who still does after the third time will not let go for us.
pub(crate) const ADVICES: u32 = 3;

/// By what means files may be removed from memory, beyond advice about files of our own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Means {
    /// Advice about files that the user gave.
    pub given: bool,
    /// Dropping the caches of the whole machine, which slows down everybody.
    pub drop_caches: bool,
}

/// What may be done, and what was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ladder {
    pub(crate) advised: u32,
    pub(crate) may_remount: bool,
    pub(crate) remounted: bool,
    pub(crate) may_drop: bool,
    pub(crate) dropped: bool,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Have all data written, advise the kernel to forget the files, and look.
    Advise,
    /// Unmount and mount the file system, and look if anything was left.
    Remount,
    /// Have everything written, drop the caches of the machine, and look if anything was left.
    DropCaches,
    /// Nothing more can be done, or needs to be.
    Settle,
}

/// Chooses the next step; `left` is what was last seen in memory, nothing where that is not known.
///   1. Advice, while anything is left, three times at most.
///   2. A remount where it is allowed, and then
///   3. dropping caches where it is: both also when nothing is left, for names and directories are in
///      memory too. They come last because looking at a file brings its name back.
pub(crate) fn next_step(ladder: &Ladder, left: Option<Residency>) -> Step {
    let is_gone = left.is_some_and(|left| left.pages == 0);
    // 1, and once where nothing can be seen.
    let advices = if left.is_none() { 1 } else { ADVICES };
    if !is_gone && ladder.advised < advices {
        return Step::Advise;
    }
    // 2
    if ladder.may_remount && !ladder.remounted {
        return Step::Remount;
    }
    // 3
    if ladder.may_drop && !ladder.dropped {
        return Step::DropCaches;
    }
    Step::Settle
}

#[cfg(test)]
mod tests {
    use super::*;

    const GONE: Option<Residency> = Some(Residency { pages: 0, of: 64 });
    const LEFT: Option<Residency> = Some(Residency { pages: 3, of: 64 });

    /// The steps taken where `left` is seen after every one.
    fn climb(mut ladder: Ladder, left: Option<Residency>) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut seen = None;
        loop {
            let step = next_step(&ladder, seen);
            match step {
                Step::Advise => ladder.advised += 1,
                Step::Remount => ladder.remounted = true,
                Step::DropCaches => ladder.dropped = true,
                Step::Settle => return steps,
            }
            seen = left;
            steps.push(step);
        }
    }

    #[test]
    fn one_advice_is_enough_where_it_works() {
        assert_eq!(climb(Ladder::default(), GONE), [Step::Advise]);
    }

    #[test]
    fn what_stays_is_advised_three_times() {
        assert_eq!(climb(Ladder::default(), LEFT), [Step::Advise; 3]);
    }

    #[test]
    fn where_nothing_is_seen_one_advice_must_do() {
        assert_eq!(climb(Ladder::default(), None), [Step::Advise]);
    }

    #[test]
    fn stronger_means_come_last_and_only_when_allowed() {
        let allowed = Ladder { may_remount: true, may_drop: true, ..Ladder::default() };
        assert_eq!(climb(allowed, GONE), [Step::Advise, Step::Remount, Step::DropCaches]);
        let drop = Ladder { may_drop: true, ..Ladder::default() };
        assert_eq!(climb(drop, LEFT), [Step::Advise, Step::Advise, Step::Advise, Step::DropCaches]);
    }
}
