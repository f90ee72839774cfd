//! What every part did when, for a person to look at. Kept only where it was asked for.

use alloc::vec::Vec;
use core::mem;

use units::{Moment, Virtual};

/// Who did something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Track {
    /// The processor.
    Cpu,
    /// The bus.
    Bus,
    /// A drive, by number: arm, platter and data path in turn.
    Drive(usize),
    /// What was asked of that drive and is not done yet.
    Queue(usize),
}

/// How many requests there are, in words that a mark can hold.
pub(crate) fn requests(count: u32) -> &'static str {
    const COUNTS: [&str; 17] =
        ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16 or more"];
    COUNTS[(count as usize).min(COUNTS.len() - 1)]
}

/// A part did this from then until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Who.
    pub track: Track,
    /// What.
    pub label: &'static str,
    /// From when on.
    pub began: Moment<Virtual>,
    /// Until when.
    pub ended: Moment<Virtual>,
}

/// What was done, in the order in which it ended.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    kept: Option<Kept>,
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

    /// From now on the part does this; what it did before has ended. Where it does nothing, nothing is noted.
    #[inline]
    pub(crate) fn enter(&mut self, track: Track, label: &'static str, something: bool, now: Moment<Virtual>) {
        if let Some(kept) = &mut self.kept {
            kept.enter(track, label, something, now);
        }
    }

    /// What was done since this was asked last.
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
