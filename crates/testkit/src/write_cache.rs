//! The write cache of a disk whose power is cut: some or all of the data written since the last flush are lost.
//!
//! Policy:
//!   1. a write is complete when it is in the cache, and is read back from there;
//!   2. a flush writes everything in the cache to the disk, as a real disk promises;
//!   3. the power is cut at a flush, counted from the first, which then has no effect, or a number of requests later.
//!      For each sector in the cache, the disk then has any one of its contents since the last completed flush: a disk
//!      writes sectors in any order, each completely;
//!   4. after that the cache works as before, but nothing reaches the disk any more. Programs that still run above it
//!      are to be ended, and their results do not count.

use std::collections::BTreeMap;
use std::fmt;

/// The smallest sector of a disk, in bytes, which it writes completely or not at all. Larger blocks can be torn.
pub(crate) const SECTOR: usize = 512;

/// The bytes of a sector.
type Sector = [u8; SECTOR];

/// Chooses the content of a sector that the disk holds after a power cut. Its argument is the number of contents, the
/// oldest first; it returns the index of one.
pub type Fate = Box<dyn FnMut(usize) -> usize + Send>;

/// The time of a power cut: at a flush, counted from 1, or a number of writes and flushes later.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The number of the flush, from 1.
    pub flush: u64,
    /// The number of requests after that flush.
    pub later: u64,
}

impl Moment {
    /// A time that never comes.
    pub const NEVER: Moment = Moment { flush: u64::MAX, later: 0 };
}

/// A write cache that follows the policy of this module.
pub struct WriteCache {
    /// The contents written to each sector since the last flush, the oldest first.
    sectors: BTreeMap<u64, Vec<Sector>>,
    flushes: u64,
    cut_at: Moment,
    heeds_flushes: bool,
    is_cut: bool,
    fate: Fate,
    /// The newest contents of the sectors that lost them when the power was cut.
    dropped: Vec<Sector>,
}

/// The sectors to write to the disk below, with their numbers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Settled(pub(crate) Vec<(u64, Sector)>);

impl WriteCache {
    /// An empty cache whose power is cut at this time.
    pub fn new(cut_at: Moment, fate: Fate) -> WriteCache {
        let sectors = BTreeMap::new();
        WriteCache { sectors, flushes: 0, cut_at, heeds_flushes: true, is_cut: false, fate, dropped: Vec::new() }
    }

    /// Makes the cache answer flushes without any effect.
    pub fn deaf(self) -> WriteCache {
        WriteCache { heeds_flushes: false, ..self }
    }

    /// Returns the number of flushes so far.
    pub fn flushes(&self) -> u64 {
        self.flushes
    }

    /// True if the power was cut.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Writes bytes at an offset; both are whole sectors.
    pub(crate) fn write(&mut self, at: u64, bytes: &[u8]) -> Settled {
        for (number, sector) in (at / SECTOR as u64..).zip(bytes.chunks_exact(SECTOR)) {
            // 1
            self.sectors.entry(number).or_default().push(sector.try_into().expect("a sector"));
        }
        self.count()
    }

    /// Flushes the cache.
    pub(crate) fn flush(&mut self) -> Settled {
        self.flushes += 1;
        let settled = self.count();
        if self.is_cut || !self.heeds_flushes {
            return settled;
        }
        // 2
        let sectors = std::mem::take(&mut self.sectors);
        Settled(sectors.into_iter().filter_map(|(number, versions)| Some((number, *versions.last()?))).collect())
    }

    /// Overlays the cached sectors on bytes that were read from the disk at this offset; both are whole sectors.
    pub(crate) fn overlay(&self, at: u64, bytes: &mut [u8]) {
        for (number, sector) in (at / SECTOR as u64..).zip(bytes.chunks_exact_mut(SECTOR)) {
            if let Some(newest) = self.sectors.get(&number).and_then(|versions| versions.last()) {
                sector.copy_from_slice(newest);
            }
        }
    }

    /// Cuts the power, unless it was cut before.
    pub(crate) fn cut(&mut self) -> Settled {
        // 4
        if std::mem::replace(&mut self.is_cut, true) {
            return Settled::default();
        }
        // 3. The content before the first cached version is already on the disk, so it needs no write.
        let lasting = self.sectors.iter().filter_map(|(number, versions)| {
            let lasts = (self.fate)(versions.len() + 1);
            self.dropped.extend(versions.last().filter(|_| lasts < versions.len()));
            Some((*number, versions[lasts.checked_sub(1)?]))
        });
        Settled(lasting.collect())
    }

    /// Returns the newest contents of the sectors that lost them when the power was cut.
    pub(crate) fn dropped(&self) -> &[Sector] {
        &self.dropped
    }

    fn count(&mut self) -> Settled {
        if self.flushes < self.cut_at.flush {
            return Settled::default();
        }
        match self.cut_at.later.checked_sub(1) {
            Some(later) => {
                self.cut_at.later = later;
                Settled::default()
            }
            None => self.cut(),
        }
    }
}

impl fmt::Debug for WriteCache {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let WriteCache { sectors, flushes, cut_at, .. } = self;
        write!(out, "WriteCache: {} sectors, {flushes} flushes, cut at {cut_at:?}", sectors.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: u64 = 7 * SECTOR as u64;

    fn sector(byte: u8) -> Sector {
        [byte; SECTOR]
    }

    fn newest(versions: usize) -> usize {
        versions - 1
    }

    #[test]
    fn a_flush_writes_the_newest_version_to_the_disk() {
        let mut cache = WriteCache::new(Moment::NEVER, Box::new(newest));
        assert_eq!(cache.write(AT, &[sector(1), sector(2)].concat()), Settled::default());
        assert_eq!(cache.write(AT, &sector(3)), Settled::default());
        let mut read = [sector(9), sector(9), sector(9)].concat();
        cache.overlay(AT - SECTOR as u64, &mut read);
        assert_eq!(read, [sector(9), sector(3), sector(2)].concat());
        assert_eq!(cache.flush(), Settled(vec![(7, sector(3)), (8, sector(2))]));
        assert_eq!(cache.flush(), Settled::default());
        assert_eq!(cache.flushes(), 2);
    }

    #[test]
    fn a_power_cut_leaves_any_version_since_the_last_flush() {
        for (fate, there) in [
            (Box::new(|_: usize| 0_usize) as Fate, vec![]),
            (Box::new(|versions: usize| usize::from(versions > 2)), vec![(7, sector(2))]),
            (Box::new(newest), vec![(7, sector(3)), (8, sector(4))]),
        ] {
            let mut cache = WriteCache::new(Moment { flush: 2, later: 2 }, fate);
            cache.flush();
            cache.write(AT, &sector(1));
            // This flush is complete; the power is cut two requests later.
            cache.flush();
            cache.write(AT, &[sector(2), sector(4)].concat());
            assert!(!cache.is_cut());
            // The write at which the power is cut is not flushed either.
            let newest_last = there.len() == 2;
            assert_eq!(cache.write(AT, &sector(3)), Settled(there));
            assert!(cache.is_cut());
            assert_eq!(cache.dropped().is_empty(), newest_last);
            assert!(newest_last || cache.dropped().contains(&sector(3)));
            assert_eq!((cache.flush(), cache.cut()), (Settled::default(), Settled::default()));
            let mut read = sector(9);
            cache.overlay(AT, &mut read);
            assert_eq!(read, sector(3), "whoever still runs is told nothing");
        }
    }

    #[test]
    fn a_flush_during_a_power_cut_does_nothing() {
        let mut cache = WriteCache::new(Moment { flush: 1, later: 0 }, Box::new(newest));
        assert_eq!(cache.write(AT, &sector(1)), Settled::default());
        assert_eq!(cache.flush(), Settled(vec![(7, sector(1))]), "it lasts by its fate");
        assert!(cache.is_cut());
        assert_eq!(cache.write(AT, &sector(2)), Settled::default());
    }

    #[test]
    fn a_cache_that_ignores_flushes_loses_everything() {
        let mut cache = WriteCache::new(Moment::NEVER, Box::new(|_| 0)).deaf();
        cache.write(AT, &sector(1));
        assert_eq!((cache.flush(), cache.cut()), (Settled::default(), Settled::default()));
    }
}
