//! The minimum that a phase must have read from the device, if its stream may access a block twice. The second access
//! rightly hits the page cache. Streams are deterministic, so the minimum is found by drawing the places again.

use alloc::vec::Vec;

use crate::op::{Directory, Op};
use crate::step::{Step, Steps};
use crate::stream::Stream;

/// The smallest page size on Linux, in bytes: the finest unit in which accesses are tracked.
const PAGE: u64 = 4096;

/// The maximum number of parts of a file that are tracked: 2^27 bits, 16 MiB of memory, the pages of 512 GiB. A part of
/// a larger file is several pages, and each part counts as one page.
const MOST_PARTS: u64 = 1 << 27;

/// The maximum number of accesses that are drawn again, for all programs together. A round until Ctrl-C can have a
/// thousand times more. Chosen: uniformly random blocks of 4 KiB access every page of 16 GiB (n pages need n ln n
/// accesses, which are 6.4e7).
const MOST_DRAWS: u64 = 100_000_000;

/// The minimum number of bytes that a device must have read for programs that share this stream, if nothing of their
/// file was cached. `done` is the number of body reads and writes of each program. The sum has one page for each part
/// of the file whose first access was a read. `None` if no part is accessed twice, so that every read must have come
/// from the device.
///
/// Draws no more accesses once every part was accessed, and at most `MOST_DRAWS`. The sum of fewer accesses is a
/// minimum, too. Called outside any clock.
pub fn first_reads(stream: &Stream, done: impl ExactSizeIterator<Item = u64>) -> Option<u64> {
    first_reads_within(stream, done, MOST_DRAWS)
}

/// As [`first_reads`], with at most `most` accesses. Each program has the same share of them.
fn first_reads_within(stream: &Stream, done: impl ExactSizeIterator<Item = u64>, most: u64) -> Option<u64> {
    let mut touched = Touched::new(stream.touches_again()?);
    let share = most / (done.len() as u64).max(1);
    let mut bytes = 0;
    for (index, done) in (0..).zip(done) {
        // Programs with files of their own share no page.
        if !is_given(stream) {
            touched.clear();
        }
        // All steps, because schedules of reads and of writes decide which op is a read.
        let mut steps = stream.of_program(index);
        let mut left = done.min(share);
        while left > 0
            && touched.untouched > 0
            && let Some(step) = steps.next_positioned().map(|io| Step::Op(io.into())).or_else(|| steps.next())
        {
            let (offset, length, is_read) = match step {
                Step::Op(Op::ReadAt { offset, length, .. }) => (offset, length, true),
                Step::Op(Op::WriteAt { offset, length, .. }) => (offset, length, false),
                _ => continue,
            };
            left -= 1;
            let new = touched.touch(offset, length);
            bytes += if is_read { new * PAGE } else { 0 };
        }
    }
    Some(bytes)
}

/// Returns whether the user named the file: then all programs use the same one.
fn is_given(stream: &Stream) -> bool {
    stream.opening().iter().any(|op| matches!(op, Op::Open { name, .. } if name.directory == Directory::GIVEN))
}

/// A bitmap of the parts of a file that were accessed.
struct Touched {
    words: Vec<u64>,
    /// The bytes of a part.
    part: u64,
    parts: u64,
    /// The number of parts that were not accessed.
    untouched: u64,
}

impl Touched {
    fn new(bytes: u64) -> Touched {
        let mut part = PAGE;
        while bytes / part >= MOST_PARTS {
            part *= 2;
        }
        let parts = bytes.div_ceil(part);
        Touched { words: alloc::vec![0; parts.div_ceil(64) as usize], part, parts, untouched: parts }
    }

    fn clear(&mut self) {
        self.words.fill(0);
        self.untouched = self.parts;
    }

    /// The number of parts in this range that were not accessed before. Marks them.
    fn touch(&mut self, offset: u64, length: u32) -> u64 {
        let (first, last) = (offset / self.part, (offset + u64::from(length.max(1)) - 1) / self.part);
        let mut new = 0;
        for part in first..=last {
            let (word, bit) = ((part / 64) as usize, 1 << (part % 64));
            if let Some(word) = self.words.get_mut(word) {
                new += u64::from(*word & bit == 0);
                *word |= bit;
            }
        }
        self.untouched = self.untouched.saturating_sub(new);
        new
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;
    use alloc::vec;

    use proptest::prelude::*;

    use super::*;
    use crate::access::mix::Mix;
    use crate::access::order::{Drawing, Order};
    use crate::access::pattern::{AccessPattern, Accesses};
    use crate::access::schedule::{Arrivals, Pace};
    use crate::op::{Access, Handle, Mode, Name};
    use crate::stream_body::Body;

    const FILE: Handle = Handle::new(0);

    fn stream(name: Name, body: impl Into<Body>) -> Stream {
        let open = Op::Open { name, handle: FILE, access: Access::ReadWrite, mode: Mode::default() };
        Stream::open(vec![open], body.into())
    }

    fn on_own_file(body: impl Into<Body>) -> Stream {
        stream(Name::root(0), body)
    }

    fn accesses(order: Order, block: u32, write: bool, bytes: u64) -> Accesses {
        AccessPattern::new(order, block, write).accesses(FILE, bytes, u64::MAX, 7)
    }

    const UNIFORM: Order = Order::Drawn(Drawing::Replacement);

    fn of_one(stream: &Stream, done: u64) -> Option<u64> {
        first_reads(stream, [done].into_iter())
    }

    #[test]
    fn touching_each_block_once_reads_all_of_them_first() {
        let reads = |order| on_own_file(accesses(order, 4096, false, 100 * PAGE));
        for stream in [
            reads(Order::Shuffled),
            reads(Order::Around(7)),
            reads(Order::Sequential),
            reads(Order::Strided { blocks: 3 }),
            on_own_file(Body::Calls { call: Op::Read { handle: FILE, length: 4096 }, left: 9 }),
            Stream::empty(),
        ] {
            assert_eq!(of_one(&stream, 50), None, "{stream:?}");
        }
        assert!(of_one(&reads(UNIFORM), 50).is_some());
    }

    #[test]
    fn a_page_counts_if_a_read_touched_it_first() {
        // One block, over and over.
        let one = |write| accesses(UNIFORM, 8192, write, 8192);
        assert_eq!(of_one(&on_own_file(one(false)), 100), Some(8192));
        assert_eq!(of_one(&on_own_file(one(true)), 100), Some(0));
        assert_eq!(of_one(&on_own_file(one(false)), 0), Some(0));
        // A read of a block smaller than a page reads the whole page.
        let small = accesses(UNIFORM, 512, false, PAGE);
        assert_eq!(of_one(&on_own_file(small), 1_000), Some(4096));
    }

    #[test]
    fn programs_share_pages_if_they_share_a_file() {
        let places = || accesses(UNIFORM, 4096, false, 8 * PAGE);
        let all = |stream: Stream| first_reads(&stream.shared_by(3), [1_000; 3].into_iter());
        assert_eq!(all(on_own_file(places())), Some(3 * 8 * 4096));
        assert_eq!(all(stream(Name::given(0), places())), Some(8 * 4096));
    }

    #[test]
    fn very_large_files_are_tracked_by_groups_of_pages() {
        let bytes = MOST_PARTS * PAGE * 3;
        let touched = Touched::new(bytes);
        assert_eq!((touched.part, touched.words.len() as u64 * 64 <= MOST_PARTS), (4 * PAGE, true));
        let stream = on_own_file(accesses(UNIFORM, 4096, false, bytes));
        let read = of_one(&stream, 100).expect("a bound");
        assert!((90 * PAGE..=100 * PAGE).contains(&read), "{read}");
    }

    #[test]
    fn no_access_is_drawn_after_every_part_was_accessed() {
        // Drawing all of these accesses would take centuries. The last page has no whole block.
        let all = |name| stream(name, accesses(UNIFORM, 8192, false, 9 * PAGE)).independent();
        let read = |stream: Stream| first_reads_within(&stream, [u64::MAX; 2].into_iter(), u64::MAX);
        assert_eq!(read(all(Name::root(0))), Some(2 * 8 * PAGE));
        assert_eq!(read(all(Name::given(0))), Some(8 * PAGE));
    }

    #[test]
    fn programs_share_the_accesses_that_are_drawn_again() {
        let stream = on_own_file(accesses(UNIFORM, 4096, false, 10_000 * PAGE)).independent();
        let of_two = |done: u64, most| first_reads_within(&stream, [done; 2].into_iter(), most);
        assert_eq!(of_two(1_000, 100), of_two(50, u64::MAX));
        assert!(of_two(1_000, 100) < of_two(1_000, 2_000));
    }

    proptest! {
        /// A model cache that never evicts, and sees every step.
        #[test]
        fn first_reads_match_a_model_cache(
            pages in 2u64..300, done in 0u64..400, reads in 0u16..=1000, seed: u64, kind in 0usize..5,
        ) {
            let bytes = pages * PAGE;
            let drawn = |order| AccessPattern { reads, ..AccessPattern::new(order, 4096, false) };
            let pattern = match kind {
                0 => drawn(UNIFORM),
                1 => drawn(Order::Drawn(Drawing::Zipf { thousandths: 990 })),
                2 => drawn(Order::Drawn(Drawing::Permutation)),
                3 => Mix::local().pattern(),
                _ => drawn(Order::Drawn(Drawing::Zipf { thousandths: 1_200 })),
            };
            let all = pattern.accesses(FILE, bytes, 1_000, seed);
            let mut stream = on_own_file(all).synced(Op::Fsync { handle: FILE }, 3);
            if kind == 4 {
                let pace = |rate| Pace::new(rate, Arrivals::Poisson, 1, seed);
                stream = stream.paced_apart(pace(1 + u32::from(reads)), pace(1_001 - u32::from(reads)));
            }
            let mut cache: BTreeMap<u64, bool> = BTreeMap::new();
            let places = stream.clone().filter_map(|step| match step {
                Step::Op(Op::ReadAt { offset, length, .. }) => Some((offset, length, true)),
                Step::Op(Op::WriteAt { offset, length, .. }) => Some((offset, length, false)),
                _ => None,
            });
            for (offset, length, is_read) in places.take(done as usize) {
                for page in offset / PAGE..=(offset + u64::from(length) - 1) / PAGE {
                    cache.entry(page).or_insert(is_read);
                }
            }
            let read = cache.values().filter(|&&is_read| is_read).count() as u64;
            prop_assert_eq!(of_one(&stream, done), Some(read * PAGE));
        }
    }
}
