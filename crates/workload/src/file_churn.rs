//! Aging of a file system: it is filled with files of mixed sizes, and then changed over and over at the same level.
//! Everything is drawn from a seed.
//!
//! Policy:
//!   1. files are created until they hold `level` bytes. Sizes are whole blocks. Each power of two between a block and
//!      the largest size is equally likely, so most files are small and most bytes are in large files;
//!   2. the files are synced before they are changed. Otherwise the file system would not have allocated them;
//!   3. a churn removes a file, rewrites another at half its length, appends to a third, and creates files until the
//!      level is reached again.

use alloc::vec::Vec;

use units::Prng;

use crate::op::{Access, Directory, Handle, Mode, Name, Op, PREPARING_CALL};

/// All sizes are multiples of this, in bytes: the block size of most file systems, and the spacing of the stamps by
/// which written data are verified.
pub(crate) const GRAIN: u32 = 4096;

/// The number of directories that hold the files. Chosen: enough for a file system that spreads directories to do so.
pub(crate) const DIRECTORIES: u16 = 16;

/// The number of churns from one sync to the next. Guess. A file system allocates blocks at writeback. Without syncs in
/// between, the last state would be allocated as if the earlier files had never existed.
const WRITTEN_OUT: u32 = 10;

const HANDLE: Handle = Handle::new(0);

/// The parameters of filling and changing a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Aging {
    /// Bytes that files hold.
    pub level: u64,
    /// The number of churns.
    pub churns: u32,
    /// The maximum size of a file, in bytes.
    pub largest: u32,
    /// The seed for all random choices.
    pub seed: u64,
}

impl Aging {
    /// The bytes that all of its calls write. Counted by generating every call.
    pub fn writes(&self) -> u64 {
        let mut churn = FileChurn::new(*self);
        core::iter::from_fn(|| churn.next()).map(|op| u64::from(op.length())).sum()
    }

    /// The number of powers of two between a block and the largest size.
    fn sizes(&self) -> u32 {
        (self.largest / GRAIN).max(2).ilog2()
    }
}

/// An iterator over the calls of an [`Aging`].
#[derive(Clone, Debug)]
pub struct FileChurn {
    aging: Aging,
    prng: Prng,
    /// Number and size of each file.
    files: Vec<(u32, u32)>,
    /// The sum of the sizes, in bytes.
    held: u64,
    made: u32,
    churned: u32,
    /// The next action of the current churn.
    stage: Stage,
    /// The range of the open file that is still to be written, from the first offset to the second. Then the file is
    /// closed.
    writing: Option<(u32, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Fill,
    Remove,
    Cut,
    Append,
}

impl FileChurn {
    pub(crate) fn new(aging: Aging) -> FileChurn {
        FileChurn {
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

    /// Creates or empties a file, which is then to be written with this many bytes.
    fn written_anew(&mut self, number: u32, bytes: u32) -> Op {
        self.held += u64::from(bytes);
        self.writing = Some((0, bytes));
        Op::Create { name: name(number), handle: HANDLE, mode: Mode::default() }
    }

    /// The index of a random file.
    fn any(&mut self) -> usize {
        self.prng.below(self.files.len() as u64) as usize
    }

    /// A random size that does not exceed the level. `None` if the level is reached.
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

    /// The files at the end, and the number of files created, emptied, appended to and removed.
    fn final_files(aging: Aging) -> (BTreeMap<Name, u64>, [u32; 4]) {
        let (mut files, mut deeds) = (BTreeMap::new(), [0; 4]);
        let mut open = None;
        let mut churn = FileChurn::new(aging);
        while let Some(op) = churn.next() {
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
            let (files, _) = final_files(Aging { churns, level, ..AGING });
            assert_eq!(files.values().sum::<u64>(), level, "{churns} churns");
        }
    }

    #[test]
    fn a_churn_performs_every_kind_of_action() {
        let (files, [made, emptied, appended, removed]) = final_files(AGING);
        assert_eq!((emptied, removed), (100, 100));
        assert!((80..=100).contains(&appended), "{appended}");
        assert_eq!(files.len() as u32, made - removed);
        let small = files.values().filter(|&&bytes| bytes <= 64 << 10).count();
        assert!(small * 3 > files.len(), "{small} of {}", files.len());
        assert!(files.values().all(|&bytes| bytes > 0));
        // Every churn writes at least as many bytes as it removes.
        let all = AGING.writes();
        assert!(all >= AGING.level + 100 * 2 * u64::from(GRAIN), "{all}");
    }

    #[test]
    fn churning_depends_only_on_the_seed() {
        assert_eq!(final_files(AGING), final_files(AGING));
        assert_ne!(final_files(AGING).0, final_files(Aging { seed: 8, ..AGING }).0);
    }
}
