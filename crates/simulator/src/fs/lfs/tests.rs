//! The published results of Sprite LFS: the closed form of uniform access, the locality paradox of greedy, the gain of
//! cost-benefit, the costs of production file systems. Then recovery, and file systems without space.

use std::collections::BTreeMap;

use proptest::prelude::*;
use units::Prng;

use workload::Reason;

use super::*;
use crate::cache::{BlockKey, Cache, Victim};
use crate::description::samples::{eagle, kernel};
use crate::description::{CleanerPolicy, Drive, Lfs as Settings};
use crate::fs::{Host, NameCall, NameWork, Plan, Request, Step};

const BLOCK: u32 = 4096;
const PER_SEGMENT: u32 = 256;

fn settings() -> Settings {
    Settings {
        name: "LFS".into(),
        block_bytes: BLOCK,
        fragment_bytes: BLOCK,
        segment_bytes: PER_SEGMENT * BLOCK,
        cleaner: CleanerPolicy::CostBenefit { age_limit_permille: 1000 },
        age_sort: true,
        clean_below: 4,
        clean_until: 8,
        batch: 8,
        checkpoint_bytes: 10 << 20,
        reserve_permille: 100,
        read_cluster: 8,
        names: crate::description::Names::Timed,
    }
}

/// A drive with room for that many segments.
fn drive(segments: u32) -> Drive {
    let cylinders = (segments * PER_SEGMENT * 8 + 32).div_ceil(960);
    Drive { cylinders: cylinders.max(32), first_sector: 0, ..eagle() }
}

/// The simulator of the paper's section 3.5: files of one block, no inodes, no time.
struct Model {
    log: Log,
    places: Vec<Address>,
    policy: CleanerPolicy,
    batch: u32,
    sorts: bool,
    new: u64,
    read: u64,
    moved: u64,
    cleaned: u64,
}

/// The hot files: their percentage of all files, and their percentage of the writes.
#[derive(Clone, Copy)]
struct Hot {
    files: u64,
    writes: u64,
}

const UNIFORM: Option<Hot> = None;
const HOT_AND_COLD: Option<Hot> = Some(Hot { files: 10, writes: 90 });
const GREEDY: CleanerPolicy = CleanerPolicy::Greedy;
const COST_BENEFIT: CleanerPolicy = CleanerPolicy::CostBenefit { age_limit_permille: 1000 };

impl Model {
    /// Fills `percent` of the segments that the cleaner does not need itself.
    fn filled(segments: u32, percent: u64, policy: CleanerPolicy, batch: u32, sorts: bool) -> Model {
        let layout = Layout::from_drive(&drive(segments), &settings());
        let room = u64::from((layout.segments - batch - 2) * PER_SEGMENT);
        let log = Log::new(layout);
        let mut model = Model { log, places: Vec::new(), policy, batch, sorts, new: 0, read: 0, moved: 0, cleaned: 0 };
        for file in 0..room * percent / 100 {
            model.places.push(NOWHERE);
            model.overwrite(file);
        }
        model
    }

    fn overwrite(&mut self, file: u64) {
        self.new += 1;
        self.log.clock += 1;
        self.append(Content::Data { file, block: 0 }, self.log.clock);
        let clean = |more: u32| u64::from((self.batch + more) * PER_SEGMENT);
        if self.log.free_blocks() <= clean(1) {
            let until = clean(3);
            while self.log.free_blocks() <= until {
                self.clean();
            }
        }
    }

    fn append(&mut self, content: Content, modified: Age) {
        let Content::Data { file, .. } = content else { return };
        let address = self.log.take_block().expect("the cleaner keeps room");
        self.log.add(address, content, BLOCK, modified);
        let before = core::mem::replace(&mut self.places[file as usize], address);
        if before != NOWHERE {
            self.log.kill(before, BLOCK);
        }
    }

    fn clean(&mut self) {
        self.log.write(|_, _| {});
        let segments = cleaner::choose(&self.log, self.policy, self.batch, self.log.free_blocks() * u64::from(BLOCK));
        assert!(!segments.is_empty(), "the cleaner finds a segment");
        let mut live = Vec::new();
        for &segment in &segments {
            let is_live = |file: FileId, address| self.places[file as usize] == address;
            let here =
                |entry: &&Entry| matches!(entry.content, Content::Data { file, .. } if is_live(file, entry.address));
            let before = live.len();
            live.extend(self.log.summary(segment).iter().filter(here).copied());
            self.read += if live.len() > before { u64::from(PER_SEGMENT) } else { 0 };
        }
        self.moved += live.len() as u64;
        self.cleaned += segments.len() as u64;
        if self.sorts {
            cleaner::sort_by_age(&mut live);
        }
        live.iter().for_each(|entry| self.append(entry.content, entry.modified));
        segments.iter().for_each(|&segment| self.log.usage.free(segment));
    }

    /// Overwrites files until the cost is stable, then measures. The number of writes is in multiples of the files.
    fn run(mut self, hot: Option<Hot>, (settle, measure): (u64, u64)) -> Model {
        let files = self.places.len() as u64;
        let mut prng = Prng::new(1992);
        for step in 0..files * (settle + measure) {
            if step == files * settle {
                (self.new, self.read, self.moved, self.cleaned) = (0, 0, 0, 0);
            }
            let file = match hot {
                None => prng.below(files),
                Some(Hot { files: share, writes }) => {
                    let hot = files * share / 100;
                    if prng.below(100) < writes { prng.below(hot) } else { hot + prng.below(files - hot) }
                }
            };
            self.overwrite(file);
        }
        self
    }

    /// Blocks read and written per block of new data.
    fn cost(&self) -> f64 {
        (self.new + self.read + self.moved) as f64 / self.new as f64
    }

    /// Mean utilisation of the segments that were cleaned.
    fn utilisation(&self) -> f64 {
        self.moved as f64 / (self.cleaned * u64::from(PER_SEGMENT)) as f64
    }
}

/// Uniform access in a disk filled to `U`: segments are cleaned at the `u` with `U = (1 - u) / -ln u`.
#[test]
fn uniform_access_costs_what_the_closed_form_says() {
    for (percent, utilisation) in [(75, 0.5462), (50, 0.2032), (20, 0.0070)] {
        let model = Model::filled(2000, percent, GREEDY, 1, false).run(UNIFORM, (4, 3));
        let (u, cost) = (model.utilisation(), model.cost());
        assert!((u - utilisation).abs() < 0.01, "{percent} %: u {u} instead of {utilisation}");
        // Below that, many segments are empty and need not be read.
        if percent > 20 {
            let wanted = 2.0 / (1.0 - utilisation);
            assert!((cost / wanted - 1.0).abs() < 0.01, "{percent} %: cost {cost} instead of {wanted}");
        } else {
            assert!(cost < 2.0 / (1.0 - utilisation), "{percent} %: {cost}");
        }
    }
}

/// The disk is 75 % full. Greedy takes one segment at a time: locality raises its cost. Cost-benefit takes batches of
/// 12 segments and sorts them by age: locality lowers its cost. With equal batches, it still costs about a third less.
#[test]
fn locality_hurts_greedy_one_segment_at_a_time_and_helps_cost_benefit_in_batches() {
    let uniform = Model::filled(1000, 75, GREEDY, 1, false).run(UNIFORM, (4, 4)).cost();
    let greedy = Model::filled(1200, 75, GREEDY, 1, true).run(HOT_AND_COLD, (8, 5)).cost();
    let best = Model::filled(1200, 75, COST_BENEFIT, 12, true).run(HOT_AND_COLD, (8, 5));
    let gain = 1.0 - best.cost() / greedy;
    assert!((4.4 * 0.99..4.6).contains(&uniform), "{uniform}");
    assert!(greedy > uniform * 1.1, "the paradox: {greedy} against {uniform}");
    assert!(gain >= 0.40, "{gain}");
    let batches = Model::filled(1200, 75, GREEDY, 12, true).run(HOT_AND_COLD, (8, 5)).cost();
    assert!(best.cost() < 0.75 * batches, "{batches}");
}

/// Table II of the paper: a share of the cleaned segments was empty, and the others were used to `u`. The formula of
/// the write cost yields the paper's costs from these two. The test checks the formula, not how the cleaner chooses.
#[test]
fn formula_of_the_write_cost_yields_table_ii() {
    for (name, empty, utilisation, published) in [("/user6", 69, 0.133, 1.4), ("/swap2", 66, 0.535, 1.6)] {
        let mut model = Model::filled(400, 50, GREEDY, 1, false);
        (model.new, model.read, model.moved) = (0, 0, 0);
        // Files die until the first hundred segments are as in the table.
        let left = (f64::from(PER_SEGMENT) * utilisation) as u64;
        for segment in 0..100u64 {
            let first = segment * u64::from(PER_SEGMENT);
            let live = if segment < empty { 0 } else { left };
            for file in first..first + u64::from(PER_SEGMENT) - live {
                let address = core::mem::replace(&mut model.places[file as usize], NOWHERE);
                model.log.kill(address, BLOCK);
            }
        }
        (0..100).for_each(|_| model.clean());
        // All that was freed is written with new data.
        model.new = 100 * u64::from(PER_SEGMENT) - model.moved;
        assert!((model.cost() / published - 1.0).abs() < 0.15, "{name}: {}", model.cost());
    }
}

/// A small file system: segments of 16 blocks on a disk of 786 Kbytes.
fn small() -> Lfs {
    let drive = Drive { heads: 1, cylinders: 40, first_sector: 0, ..eagle() };
    let settings = Settings {
        fragment_bytes: 512,
        segment_bytes: 16 * BLOCK,
        clean_below: 4,
        clean_until: 5,
        batch: 3,
        checkpoint_bytes: 16 * u64::from(BLOCK),
        reserve_permille: 0,
        ..settings()
    };
    Lfs::new(&drive, &settings)
}

/// Writes a block as a call does, without time.
fn put(lfs: &mut Lfs, file: FileId, block: u32) -> Result<(), Full> {
    put_bytes(lfs, file, block, BLOCK)
}

/// Writes the first bytes of a block as a call does, without time.
fn put_bytes(lfs: &mut Lfs, file: FileId, block: u32, bytes: u32) -> Result<(), Full> {
    if lfs.log.has_whole_segment() {
        lfs.write()?;
    }
    lfs.keep_up()?;
    lfs.append_data(file, block, bytes).map(drop)
}

/// The content of each block of the disk, and the files that a perfect recovery finds, after entries were written.
#[derive(Default)]
struct Disk {
    content: BTreeMap<Address, Entry>,
    files: BTreeMap<FileId, BTreeMap<u32, Age>>,
    pending: BTreeMap<FileId, BTreeMap<u32, Age>>,
}

impl Disk {
    fn write(&mut self, entry: &Entry) {
        // Several inodes share a block; the others replace what was there.
        self.content.insert(entry.address, *entry);
        match entry.content {
            Content::Data { file, block } => {
                self.pending.entry(file).or_default().insert(block, entry.modified);
            }
            Content::Inode { file } => {
                let blocks = self.pending.remove(&file).unwrap_or_default();
                self.files.entry(file).or_default().extend(blocks);
            }
            Content::Removed { file } => {
                self.files.remove(&file);
                self.pending.remove(&file);
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A crash after any entry of the log: recovery finds the blocks of every file as its last inode in the log has
    /// them, although segments were cleaned and written again.
    #[test]
    fn recovery_after_a_crash_at_any_moment_is_exact(
        ops in prop::collection::vec((0u32..100, 0u64..4, 0u32..30), 1..400), crash in any::<prop::sample::Index>(),
    ) {
        let mut lfs = small();
        for (op, file, block) in ops {
            match op {
                0..=88 => drop(put_bytes(&mut lfs, file, block, 1 + op * 46)),
                89..=93 => lfs.free(file),
                94..=97 => prop_assert!(lfs.write().is_ok()),
                98 => prop_assert!(lfs.checkpoint().is_ok()),
                _ => drop(lfs.clean()),
            }
        }
        let (history, checkpoints) = (&lfs.journal.history, &lfs.journal.checkpoints);
        if history.is_empty() {
            return Ok(());
        }
        let crash = crash.index(history.len());
        let mut disk = Disk::default();
        history[..crash].iter().for_each(|entry| disk.write(entry));
        let last = checkpoints.iter().rfind(|(at, _)| *at <= crash);
        let (at, mut recovered) = last.cloned().unwrap_or_default();
        recovered.roll_forward(&history[at..crash]);
        let mut found: BTreeMap<FileId, BTreeMap<u32, Age>> = BTreeMap::new();
        for (file, block, address) in recovered.blocks() {
            let there = disk.content[&address];
            prop_assert_eq!(there.content, Content::Data { file, block }, "another block was written there");
            found.entry(file).or_default().insert(block, there.modified);
        }
        disk.files.retain(|_, blocks| !blocks.is_empty());
        prop_assert_eq!(found, disk.files);
    }
}

#[test]
fn a_small_file_takes_the_fragments_that_it_needs() {
    let mut lfs = small();
    let mut put = |file, bytes| {
        let (before, after) = lfs.append_data(file, 0, bytes).expect("room");
        (before == after, lfs.place(file, 0).map(|extent| extent.sectors), lfs.log.usage.live_bytes())
    };
    assert_eq!(put(1, 1024), (false, Some(2), 1024));
    assert_eq!(put(2, 100), (false, Some(1), 1536));
    // The last block of the log grows in place, another one moves.
    assert_eq!(put(2, 1000), (true, Some(2), 2048));
    assert_eq!(put(1, 2000), (false, Some(4), 3072));
    assert_eq!(put(1, 500), (true, Some(4), 3072));
    assert_eq!(put(1, BLOCK), (true, Some(8), 1024 + u64::from(BLOCK)));
    // It has room for a fragment less than a block: a block begins the next segment.
    let left = lfs.log.layout.per_segment - lfs.log.take(1).expect("room") - 1;
    lfs.log.take(left - 7).expect("room");
    assert_eq!(lfs.log.take_block(), Ok(lfs.log.layout.per_segment));
    lfs.write().expect("room");
    [1, 2].into_iter().for_each(|file| lfs.free(file));
    assert_eq!(lfs.log.usage.live_bytes(), 0);
}

#[test]
fn a_full_file_system_refuses_new_blocks_and_keeps_the_old() {
    let mut lfs = small();
    let mut blocks = 0;
    while put(&mut lfs, 1, blocks).is_ok() {
        blocks += 1;
        assert!(blocks < 1000, "the disk has 240 blocks");
    }
    let whole = lfs.capacity() / u64::from(BLOCK);
    // With 16 blocks in a segment, a good part is summaries, inodes and checkpoints.
    assert!(u64::from(blocks) > whole * 7 / 10 && u64::from(blocks) <= whole, "{blocks} of {whole}");
    // At 100 % no call hangs: each overwrite succeeds or is refused.
    let mut prng = Prng::new(1);
    let refused = (0..2000).filter(|_| put(&mut lfs, 1, prng.below(blocks.into()) as u32).is_err()).count();
    assert!((0..blocks).all(|block| lfs.place(1, block).is_some()));
    // Space comes back when files are deleted.
    lfs.free(1);
    let later = (0..blocks / 2).filter(|&block| put(&mut lfs, 2, block).is_err()).count();
    assert_eq!(later, 0, "{refused} of 2000 were refused before");
}

#[test]
fn a_cleaner_without_a_segment_to_clean_says_so() {
    let mut lfs = small();
    // All segments are taken, and every block of a file is live.
    let mut block = 0;
    while lfs.log.usage.clean() > 1 {
        lfs.log.clock += 1;
        lfs.move_data(1, block, lfs.log.layout.per_block, lfs.log.clock).expect("room");
        block += 1;
    }
    assert_eq!(lfs.clean(), Err(Full));
}

/// Performs a call on a name, without time.
fn call(lfs: &mut Lfs, cache: &mut Cache, work: NameWork, file: FileId) -> Result<u32, Reason> {
    let releases = matches!(work, NameWork::Unlink | NameWork::RemoveDirectory);
    let mut plan = Plan::default();
    plan.begin(Request::Name(NameCall { work, root: 100, directory: 100, file, releases }));
    let mut host = Host { kernel: &kernel(), cache, drive: 0, held: 0 };
    loop {
        if let Step::Return(outcome) = lfs.next(&mut plan, &mut host) {
            return outcome;
        }
    }
}

#[test]
fn a_full_log_refuses_new_names_only() {
    let (mut lfs, mut cache) = (small(), Cache::new(64));
    assert_eq!(call(&mut lfs, &mut cache, NameWork::Create, 1), Ok(0));
    let mut block = 0;
    while lfs.log.usage.clean() > 1 {
        lfs.log.clock += 1;
        lfs.move_data(1, block, lfs.log.layout.per_block, lfs.log.clock).expect("room");
        block += 1;
    }
    assert_eq!(call(&mut lfs, &mut cache, NameWork::Create, 2), Err(Reason::NoSpace));
    assert_eq!(call(&mut lfs, &mut cache, NameWork::Open, 1), Ok(0));
    assert_eq!(call(&mut lfs, &mut cache, NameWork::Close, 1), Ok(0));
    assert_eq!(call(&mut lfs, &mut cache, NameWork::Unlink, 1), Ok(0));
    assert_eq!(lfs.place(1, 0), None, "its blocks are free");
    assert_eq!(call(&mut lfs, &mut cache, NameWork::Create, 3), Ok(0));
}

#[test]
fn blocks_moved_before_an_error_are_found_in_the_cache() {
    let (mut lfs, mut cache) = (small(), Cache::new(64));
    while lfs.log.take_block().is_ok() {}
    lfs.moves.push((3, 5));
    let key = |lfs: &Lfs, address| BlockKey::new(0, lfs.log.layout.block(address).sector);
    let Victim::Free(buffer) = cache.victim() else { panic!("a free buffer") };
    cache.give(buffer, key(&lfs, 3), 8);
    assert_eq!(lfs.make_room(&mut Host { kernel: &kernel(), cache: &mut cache, drive: 0, held: 0 }), Err(Full));
    assert_eq!(cache.find(key(&lfs, 5)), Some(buffer));
    assert!(lfs.moves.is_empty());
}

#[test]
fn a_full_log_keeps_the_list_of_changes() {
    let mut lfs = small();
    lfs.append_data(1, 20, BLOCK).expect("room");
    while lfs.log.take_block().is_ok() {}
    assert_eq!(lfs.complete(), Err(Full));
    assert!(lfs.changed_indirect.contains(&(1, 0)) && lfs.changed_inodes.contains(&1));
    lfs.changed_indirect.clear();
    assert_eq!(lfs.complete(), Err(Full));
    assert!(lfs.changed_inodes.contains(&1));
}

#[test]
fn small_partitions_are_refused() {
    let refusal = |change: fn(&mut Settings), cylinders| {
        let mut settings = settings();
        change(&mut settings);
        let drive = Drive { cylinders, ..drive(1) };
        let drive = Drive { heads: 1, ..drive };
        settings.check(&drive).err().map(|invalid| (invalid.field, invalid.what.into_owned()))
    };
    let (field, what) = refusal(|_| {}, 32).expect("too small");
    assert_eq!(field, "file_system.segment_bytes");
    assert!(what.contains("too small for a segment"), "{what}");
    let (_, what) = refusal(|_| {}, 100).expect("too few");
    assert!(what.contains("none to clean"), "{what}");
    let (field, _) = refusal(|settings| settings.clean_below = 2, 2000).expect("too few");
    assert_eq!(field, "file_system.clean_below");
    let (field, what) = refusal(
        |settings| {
            (settings.block_bytes, settings.fragment_bytes, settings.segment_bytes) = (512, 512, 4096);
        },
        2000,
    )
    .expect("a usage table that is too large");
    assert_eq!(field, "file_system.segment_bytes");
    assert!(what.contains("checkpoint"), "{what}");
    assert_eq!(refusal(|_| {}, 2000), None);
}
