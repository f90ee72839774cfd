//! Timeline: the activities of all parts, for display. Recorded only on request.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem;

use units::{Moment, Virtual};

/// The part that an activity belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Track {
    /// The processor.
    Cpu,
    /// The bus.
    Bus,
    /// A drive, by number: its arm, platter and data transfer.
    Drive(usize),
    /// The requests of that drive that are not complete yet.
    Queue(usize),
}

/// The number of requests as a static label.
pub(crate) fn requests(count: u32) -> &'static str {
    const COUNTS: [&str; 17] =
        ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16 or more"];
    COUNTS[(count as usize).min(COUNTS.len() - 1)]
}

/// An activity of a part, from its beginning to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The part.
    pub track: Track,
    /// The activity.
    pub label: &'static str,
    /// When it began.
    pub began: Moment<Virtual>,
    /// When it ended.
    pub ended: Moment<Virtual>,
}

/// Recorded activities, in the order in which they ended.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    /// Boxed, because it is then cheapest to check whether a timeline is recorded.
    kept: Option<Box<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    marks: Vec<Mark>,
    open: Vec<(Track, &'static str, Moment<Virtual>)>,
}

impl Timeline {
    pub(crate) fn keep(&mut self) {
        self.kept.get_or_insert_default();
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// Begins an activity of the part, and ends its previous one. If `something` is false, the part is idle from now
    /// on.
    #[inline]
    pub(crate) fn enter(&mut self, track: Track, label: &'static str, something: bool, now: Moment<Virtual>) {
        if let Some(kept) = &mut self.kept {
            kept.enter(track, label, something, now);
        }
    }

    /// Returns the activities that ended since the last call.
    pub(crate) fn take(&mut self) -> Vec<Mark> {
        self.kept.as_mut().map_or_else(Vec::new, |kept| mem::take(&mut kept.marks))
    }
}

impl Kept {
    #[cold]
    fn enter(&mut self, track: Track, label: &'static str, something: bool, now: Moment<Virtual>) {
        if let Some(index) = self.open.iter().position(|(open, ..)| *open == track) {
            if something && self.open[index].1 == label {
                return;
            }
            let (_, label, began) = self.open.swap_remove(index);
            if began < now {
                self.marks.push(Mark { track, label, began, ended: now });
            }
        }
        if something {
            self.open.push((track, label, now));
        }
    }
}
