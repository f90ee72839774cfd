//! A file system that is used for a while: filled with files of mixed sizes, and then changed over and over, at the
//! same level. All is drawn from a seed.
//!
//! Policy:
//!   1. files are made until they hold so many bytes. Sizes are whole blocks; each power of two between a block and the
//!      largest is as likely, so that most files are small and most bytes lie in large ones;
//!   2. what is there is written out before it is changed: else it would never have lain anywhere;
//!   3. a churn removes a file, empties another and writes it again half as long, appends to a third, and makes files
//!      until the level is reached again.

use alloc::vec::Vec;

use units::Prng;

use crate::op::{Access, Directory, Handle, Mode, Name, Op, PREPARING_CALL};

/// What sizes are multiples of: the block of most file systems, and the distance of what says where data belong.
pub(crate) const GRAIN: u32 = 4096;

/// In so many directories files lie. Chosen: enough that a file system that keeps directories apart does.
pub(crate) const DIRECTORIES: u16 = 16;

/// After so many churns all is written out. Guess: a file system places data when they are written out, so that with
/// none in between the last state would be placed as if nothing had been there before.
const WRITTEN_OUT: u32 = 10;

const HANDLE: Handle = Handle::new(0);

/// How a file system is filled and changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Aging {
    /// Bytes that files hold.
    pub level: u64,
    /// How often they are changed.
    pub churns: u32,
    /// Bytes of the largest file, at most.
    pub largest: u32,
    /// What everything is drawn from.
    pub seed: u64,
}

impl Aging {
    /// Bytes that all of it writes, which is found out by asking for every call.
    pub fn writes(&self) -> u64 {
        let mut churning = Churning::new(*self);
        core::iter::from_fn(|| churning.next()).map(|op| u64::from(op.length())).sum()
    }

    /// How many powers of two sizes lie between.
    fn sizes(&self) -> u32 {
        (self.largest / GRAIN).max(2).ilog2()
    }
}

/// The calls of it.
#[derive(Clone, Debug)]
pub struct Churning {
    aging: Aging,
    prng: Prng,
    /// Number and bytes of each.
    files: Vec<(u32, u32)>,
    /// Bytes of all.
    held: u64,
    made: u32,
    churned: u32,
    /// What the churn that is going on does next.
    stage: Stage,
    /// The file that is open is written from here to there, and closed.
    writing: Option<(u32, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Fill,
    Remove,
    Cut,
    Append,
}

impl Churning {
    pub(crate) fn new(aging: Aging) -> Churning {
        Churning {
            aging,
            prng: Prng::new(aging.seed),
            files: Vec::new(),
            held: 0,
            made: 0,
            churned: 0,
            stage: Stage::Fill,
            writing: None,
        }
    }

    pub(crate) fn next(&mut self) -> Option<Op> {
        if let Some((from, to)) = self.writing {
            if from == to {
                self.writing = None;
                return Some(Op::Close { handle: HANDLE });
            }
            let length = (to - from).min(PREPARING_CALL);
            self.writing = Some((from + length, to));
            return Some(Op::WriteAt { handle: HANDLE, length, offset: from.into() });
        }
        loop {
            match self.stage {
                Stage::Fill => {
                    // 1.
                    if let Some(bytes) = self.drawn() {
                        let number = self.made;
                        self.made += 1;
                        self.files.push((number, bytes));
                        return Some(self.written_anew(number, bytes));
                    }
                    if self.churned == self.aging.churns || self.files.is_empty() {
                        return None;
                    }
                    self.stage = Stage::Remove;
                    self.churned += 1;
                    // 2.
                    if self.churned % WRITTEN_OUT == 1 {
                        return Some(Op::Syncfs);
                    }
                }
                // 3.
                Stage::Remove => {
                    self.stage = Stage::Cut;
                    let index = self.any();
                    let (number, bytes) = self.files.swap_remove(index);
                    self.held -= u64::from(bytes);
                    return Some(Op::Unlink { name: name(number) });
                }
                Stage::Cut if self.files.is_empty() => self.stage = Stage::Fill,
                Stage::Cut => {
                    self.stage = Stage::Append;
                    let index = self.any();
                    let (number, before) = self.files[index];
                    let bytes = (before / 2).next_multiple_of(GRAIN);
                    self.files[index].1 = bytes;
                    self.held -= u64::from(before);
                    return Some(self.written_anew(number, bytes));
                }
                Stage::Append => {
                    self.stage = Stage::Fill;
                    let index = self.any();
                    let (number, before) = self.files[index];
                    let room = u32::MAX - before;
                    let Some(more) = self.drawn().filter(|more| *more <= room) else { continue };
                    self.files[index].1 = before + more;
                    self.held += u64::from(more);
                    self.writing = Some((before, before + more));
                    let (name, access, mode) = (name(number), Access::Write, Mode::default());
                    return Some(Op::Open { name, handle: HANDLE, access, mode });
                }
            }
        }
    }

    /// A file is made, or emptied, and then holds so much.
    fn written_anew(&mut self, number: u32, bytes: u32) -> Op {
        self.held += u64::from(bytes);
        self.writing = Some((0, bytes));
        Op::Create { name: name(number), handle: HANDLE, mode: Mode::default() }
    }

    /// One of the files.
    fn any(&mut self) -> usize {
        self.prng.below(self.files.len() as u64) as usize
    }

    /// A size that stays below the level; nothing where that is reached.
    fn drawn(&mut self) -> Option<u32> {
        let left = self.aging.level.saturating_sub(self.held) / u64::from(GRAIN);
        if left == 0 {
            return None;
        }
        let base = 1 << self.prng.below(self.aging.sizes().into());
        let blocks = (base + self.prng.below(base)).min(left);
        Some(blocks as u32 * GRAIN)
    }
}

fn name(number: u32) -> Name {
    Name { directory: Directory(1 + (number % u32::from(DIRECTORIES)) as u16), number }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use super::*;

    const AGING: Aging = Aging { level: 8 << 20, churns: 100, largest: 1 << 20, seed: 7 };

    /// What is there at the end, and how often files were made, emptied, appended to and removed.
    fn left(aging: Aging) -> (BTreeMap<Name, u64>, [u32; 4]) {
        let (mut files, mut deeds) = (BTreeMap::new(), [0; 4]);
        let mut open = None;
        let mut churning = Churning::new(aging);
        while let Some(op) = churning.next() {
            match op {
                Op::Create { name, .. } => {
                    deeds[usize::from(files.insert(name, 0).is_some())] += 1;
                    open = Some(name);
                }
                Op::Open { name, .. } => {
                    deeds[2] += 1;
                    open = Some(name);
                }
                Op::WriteAt { length, offset, .. } => {
                    let bytes = files.get_mut(&open.expect("open")).expect("it was made");
                    assert_eq!(offset, *bytes, "no holes, and nothing over again");
                    assert!(length <= PREPARING_CALL && length.is_multiple_of(GRAIN));
                    *bytes += u64::from(length);
                }
                Op::Close { .. } => open = None,
                Op::Unlink { name } => {
                    assert!(files.remove(&name).is_some());
                    deeds[3] += 1;
                }
                Op::Syncfs => assert_eq!(open, None),
                other => panic!("{other}"),
            }
        }
        (files, deeds)
    }

    #[test]
    fn the_level_is_reached_and_kept() {
        for (churns, level) in [(0, 8 << 20), (1, 8 << 20), (1000, 8 << 20), (5, 4096), (5, 0)] {
            let (files, _) = left(Aging { churns, level, ..AGING });
            assert_eq!(files.values().sum::<u64>(), level, "{churns} churns");
        }
    }

    #[test]
    fn a_churn_does_each_deed() {
        let (files, [made, emptied, appended, removed]) = left(AGING);
        assert_eq!((emptied, removed), (100, 100));
        assert!((80..=100).contains(&appended), "{appended}");
        assert_eq!(files.len() as u32, made - removed);
        let small = files.values().filter(|&&bytes| bytes <= 64 << 10).count();
        assert!(small * 3 > files.len(), "{small} of {}", files.len());
        assert!(files.values().all(|&bytes| bytes > 0));
        // Every churn writes at least what it takes away.
        let all = AGING.writes();
        assert!(all >= AGING.level + 100 * 2 * u64::from(GRAIN), "{all}");
    }

    #[test]
    fn a_seed_tells_everything() {
        assert_eq!(left(AGING), left(AGING));
        assert_ne!(left(AGING).0, left(Aging { seed: 8, ..AGING }).0);
    }
}
