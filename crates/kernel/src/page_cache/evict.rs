//! Chooses the next step of evicting files from memory. Its caller carries the step out.

use workload::Residency;

/// Maximum number of times that the kernel is advised to evict a file. The first advice works unless another program
/// holds the pages. A program that still holds them after the third will not release them for us.
pub(crate) const ADVICES: u32 = 3;

/// The eviction methods that are allowed beyond advice about our own files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EvictionMethods {
    /// Advice about files that you named.
    pub given: bool,
    /// Dropping the caches of the whole machine, which slows down all programs.
    pub drop_caches: bool,
}

/// The allowed steps, and the steps that were taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EvictionState {
    pub(crate) advised: u32,
    pub(crate) may_remount: bool,
    pub(crate) remounted: bool,
    pub(crate) may_drop: bool,
    pub(crate) dropped: bool,
}

/// The next step of an eviction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Write back all data, advise the kernel to evict the files, and probe them.
    Advise,
    /// Unmount and mount the file system, and probe again if pages were left.
    Remount,
    /// Write back everything, drop the caches of the machine, and probe again if pages were left.
    DropCaches,
    /// Stop: no step is left, or none is needed.
    Settle,
}

/// Chooses the next step. `left` is the residency last seen, `None` if it is not known.
///   1. Advice, while pages are left, at most three times.
///   2. A remount if it is allowed.
///   3. Dropping caches if it is allowed.
///
/// Steps 2 and 3 are also taken if no pages are left, because dentries and inodes are in memory too. They come last
/// because probing a file brings its dentry back.
pub(crate) fn next_step(state: &EvictionState, left: Option<Residency>) -> Step {
    let is_gone = left.is_some_and(|left| left.pages == 0);
    // 1; only once if residency is not visible.
    let advices = if left.is_none() { 1 } else { ADVICES };
    if !is_gone && state.advised < advices {
        return Step::Advise;
    }
    // 2
    if state.may_remount && !state.remounted {
        return Step::Remount;
    }
    // 3
    if state.may_drop && !state.dropped {
        return Step::DropCaches;
    }
    Step::Settle
}

#[cfg(test)]
mod tests {
    use super::*;

    const GONE: Option<Residency> = Some(Residency { pages: 0, of: 64 });
    const LEFT: Option<Residency> = Some(Residency { pages: 3, of: 64 });

    /// The steps that are taken if `left` is seen after every one.
    fn climb(mut state: EvictionState, left: Option<Residency>) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut seen = None;
        loop {
            let step = next_step(&state, seen);
            match step {
                Step::Advise => state.advised += 1,
                Step::Remount => state.remounted = true,
                Step::DropCaches => state.dropped = true,
                Step::Settle => return steps,
            }
            seen = left;
            steps.push(step);
        }
    }

    #[test]
    fn one_fadvise_is_enough_if_it_works() {
        assert_eq!(climb(EvictionState::default(), GONE), [Step::Advise]);
    }

    #[test]
    fn remaining_pages_are_advised_three_times() {
        assert_eq!(climb(EvictionState::default(), LEFT), [Step::Advise; 3]);
    }

    #[test]
    fn one_fadvise_must_suffice_if_pages_are_invisible() {
        assert_eq!(climb(EvictionState::default(), None), [Step::Advise]);
    }

    #[test]
    fn stronger_methods_come_last_and_only_if_allowed() {
        let allowed = EvictionState { may_remount: true, may_drop: true, ..EvictionState::default() };
        assert_eq!(climb(allowed, GONE), [Step::Advise, Step::Remount, Step::DropCaches]);
        let drop = EvictionState { may_drop: true, ..EvictionState::default() };
        assert_eq!(climb(drop, LEFT), [Step::Advise, Step::Advise, Step::Advise, Step::DropCaches]);
    }
}
