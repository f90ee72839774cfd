//! The layout according to 4.2BSD's arithmetic, counted by hand.

use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::cache::Cache;
use crate::description::Names;
use crate::description::samples::{eagle, ffs, kernel, ra81};
use crate::fs::{Host, NameCall, NameWork};

const FILE: FileId = 1;

/// The folder of a program.
const ROOT: FileId = 1 << 63;

/// Allocates a file of `blocks` whole blocks on an empty file system.
fn laid_out(drive: &description::Drive, block_bytes: u32, delay_ms: u64, blocks: u32) -> Ffs {
    let mut ffs = Ffs::new(drive, &ffs(block_bytes, delay_ms));
    for block in 0..blocks {
        ffs.allocate(FILE, block, block_bytes).expect("room");
    }
    ffs
}

fn sectors(ffs: &Ffs, blocks: core::ops::Range<u32>) -> Vec<u32> {
    blocks.map(|block| ffs.place(FILE, block).expect("a block").sector).collect()
}

/// Distances in sectors from one block to the next.
fn strides(ffs: &Ffs, blocks: core::ops::Range<u32>) -> Vec<i64> {
    sectors(ffs, blocks).windows(2).map(|pair| i64::from(pair[1]) - i64::from(pair[0])).collect()
}

/// Roundup(rotdelay x turns x sectors / 2, one block): one block of 8 KB is skipped for 2 ms and for 4 ms; one or two
/// blocks of 4 KB.
#[test]
fn blocks_are_a_rotational_delay_apart() {
    for drive in [eagle(), ra81()] {
        for (block_bytes, delay, stride) in [(8192, 2, 32), (8192, 4, 32), (4096, 2, 16), (4096, 4, 24), (8192, 0, 16)]
        {
            // Beyond the first blocks of a group, which surround its header and its inodes.
            let ffs = laid_out(&drive, block_bytes, delay, 250);
            assert_eq!(strides(&ffs, 60..250), [stride; 189], "{} {block_bytes} {delay}", drive.name);
        }
    }
}

/// The file moves at block 12, which needs the first indirect block, and then after every 256 blocks.
#[test]
fn a_large_file_moves_to_another_group() {
    for (block_bytes, expected) in
        [(8192, [12, 268, 524, 780].as_slice()), (4096, &[12, 268, 524, 780, 1036, 1292, 1548, 1804])]
    {
        let blocks = (8 << 20) / block_bytes;
        let ffs = laid_out(&eagle(), block_bytes, 4, blocks);
        let group = |block: u32| ffs.layout.group((ffs.place(FILE, block).expect("a block").sector - 391 * 960) / 2);
        let moves: Vec<u32> = (1..blocks).filter(|&block| group(block) != group(block - 1)).collect();
        assert_eq!(moves, expected);
        // The file moves to the next group each time.
        let groups: Vec<u32> = [0].iter().chain(expected).map(|&block| group(block)).collect();
        assert_eq!(groups, (1..=expected.len() as u32 + 1).collect::<Vec<u32>>());
    }
}

#[test]
fn indirect_blocks_are_allocated_before_their_blocks() {
    let mut ffs = Ffs::new(&eagle(), &ffs(4096, 2));
    let mut made = Vec::new();
    for block in 0..2048 {
        let mut new = ffs.allocate(FILE, block, 4096).expect("room").new_indirect;
        let mut count = 0;
        while let Some(extent) = new.take_first() {
            assert_eq!(extent.sectors, 8);
            assert_eq!(extent.sector / 15360, ffs.place(FILE, block).expect("a block").sector / 15360);
            count += 1;
        }
        if count > 0 {
            made.push((block, count));
        }
    }
    assert_eq!(made, [(12, 1), (12 + 1024, 2)]);
    assert_eq!(ffs.indirect(FILE, 11), Places::NONE);
    assert_eq!(ffs.indirect(FILE, 12), ffs.indirect(FILE, 1035));
    assert_ne!(ffs.indirect(FILE, 1035), ffs.indirect(FILE, 1036));
}

/// 16 cylinders of 960 sectors. Headers are 24 fragments after a start that moves by a track from group to group.
#[test]
fn groups_have_the_layout_of_newfs() {
    let layout = Layout::from_drive(&eagle(), &ffs(8192, 4));
    assert_eq!((layout.groups, layout.fragments_per_group), (28, 7680));
    assert_eq!(layout.reserved(0), 0..24 + 8 + 256);
    assert_eq!(layout.reserved(1), 24 + 16..24 + 24 + 8 + 256);
    assert_eq!(layout.header(1).sector, 391 * 960 + 2 * (7680 + 24 + 24));
    // 20 heads: the starts repeat after 32 groups.
    assert_eq!(layout.header(2).sector - layout.header(1).sector, 2 * (7680 + 24));
}

#[test]
fn a_small_file_takes_fragments_and_grows_in_place() {
    let mut ffs = Ffs::new(&eagle(), &ffs(8192, 4));
    ffs.allocate(1, 0, 700).expect("room");
    ffs.allocate(2, 0, 2500).expect("room");
    let place = |ffs: &Ffs, file| ffs.place(file, 0).expect("a block");
    let (first, second) = (place(&ffs, 1), place(&ffs, 2));
    assert_eq!((first.sectors, second.sectors), (2, 6));
    // Both in one block.
    assert_eq!(second.sector, first.sector + 2);
    // The second file has free fragments after it; the first has not.
    ffs.allocate(2, 0, 4096).expect("room");
    assert_eq!(place(&ffs, 2), Extent { sectors: 8, ..second });
    ffs.allocate(1, 0, 2048).expect("room");
    assert_ne!(place(&ffs, 1).sector, first.sector);
    // The next file takes the fragments that the first one freed.
    ffs.allocate(3, 0, 10).expect("room");
    assert_eq!(place(&ffs, 3), first);
}

#[test]
fn a_full_file_system_returns_an_error() {
    let drive = description::Drive { cylinders: 32, first_sector: 0, ..eagle() };
    let mut ffs = Ffs::new(&drive, &ffs(8192, 4));
    let taken = (0..).take_while(|&block| ffs.allocate(FILE, block, 8192).is_ok()).count();
    // Two groups of 960 blocks, minus the headers, minus the indirect block.
    assert_eq!(taken, 2 * 960 - 36 - 34 - 1);
    ffs.free(FILE);
    assert!(ffs.allocate(FILE, 0, 8192).is_ok());
}

proptest! {
    /// Whatever files are created, grown and deleted, no two share a fragment, and all is free again in the end.
    #[test]
    fn no_fragment_is_allocated_twice(
        ops in prop::collection::vec((0u64..4, 0u32..20, 1u32..=8, prop::bool::weighted(0.1)), 1..200),
    ) {
        let mut ffs = Ffs::new(&eagle(), &ffs(8192, 4));
        let empty: Vec<u32> = ffs.groups.iter().map(Group::free_blocks).collect();
        for (file, block, fragments, remove) in ops {
            if remove {
                ffs.free(file);
            } else if !ffs.holds(file, block, fragments * 1024) {
                ffs.allocate(file, block, fragments * 1024).expect("room");
            }
            let mut taken: Vec<(u32, u32)> = (0..4).filter_map(|file| ffs.files.get(file)).flat_map(Inode::extents)
                .map(|(fragment, count)| (fragment, fragment + if count == 0 { 8 } else { count })).collect();
            taken.sort_unstable();
            prop_assert!(taken.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{:?}", taken);
        }
        for file in 0..4 {
            ffs.free(file);
        }
        prop_assert_eq!(ffs.groups.iter().map(Group::free_blocks).collect::<Vec<u32>>(), empty);
    }

    /// Whatever files and directories are made and removed, all inodes and blocks are free again in the end.
    #[test]
    fn removed_names_free_their_inodes_and_blocks(
        ops in prop::collection::vec((1u64..4, 10u64..90, prop::bool::weighted(0.4)), 1..200),
    ) {
        let (kernel, mut cache) = (kernel(), Cache::new(16));
        let mut host = Host { kernel: &kernel, cache: &mut cache, drive: 0, held: 0 };
        let mut ffs = Ffs::new(&eagle(), &description::Ffs { names: Names::Timed, ..ffs(8192, 4) });
        let mut call = |ffs: &mut Ffs, work, directory, file, releases| {
            ffs.prepare_name(NameCall { work, root: ROOT, directory, file, releases }, &mut host).expect("room");
        };
        call(&mut ffs, NameWork::Open, ROOT, FILE, false);
        let counts = |ffs: &Ffs| -> (Vec<u32>, Vec<(u32, u32)>) {
            let names = ffs.names.as_ref().expect("names");
            (ffs.groups.iter().map(Group::free_blocks).collect(), names.table.counts().collect())
        };
        let empty = counts(&ffs);
        (1..4).for_each(|directory| call(&mut ffs, NameWork::MakeDirectory, ROOT, directory, false));
        let mut made: Vec<(FileId, FileId)> = Vec::new();
        for (directory, file, remove) in ops {
            let entry = (directory, directory * 1000 + file);
            match made.iter().position(|known| *known == entry) {
                Some(place) if remove => {
                    made.swap_remove(place);
                    call(&mut ffs, NameWork::Unlink, entry.0, entry.1, true);
                }
                known => {
                    call(&mut ffs, NameWork::Create, entry.0, entry.1, known.is_some());
                    ffs.allocate(entry.1, 0, 1000).expect("room");
                    made.extend(known.is_none().then_some(entry));
                }
            }
        }
        for (directory, file) in made {
            call(&mut ffs, NameWork::Unlink, directory, file, true);
        }
        (1..4).for_each(|directory| call(&mut ffs, NameWork::RemoveDirectory, ROOT, directory, false));
        prop_assert_eq!(counts(&ffs), empty);
    }
}

/// An inode for each megabyte: one block of them in each group.
#[test]
fn a_file_system_without_inodes_returns_an_error() {
    let (kernel, mut cache) = (kernel(), Cache::new(16));
    let mut host = Host { kernel: &kernel, cache: &mut cache, drive: 0, held: 0 };
    let few = description::Ffs { names: Names::Timed, bytes_per_inode: 1 << 20, ..ffs(8192, 4) };
    let drive = description::Drive { cylinders: 32, first_sector: 0, ..eagle() };
    let mut ffs = Ffs::new(&drive, &few);
    let mut create = |file| {
        let call = NameCall { work: NameWork::Create, root: ROOT, directory: ROOT, file, releases: false };
        ffs.prepare_name(call, &mut host)
    };
    let made = (1..1000).take_while(|&file| create(file).is_ok()).count();
    // A block of inodes in each of two groups, without the reserved ones and the folder of the program.
    assert_eq!(made, 2 * 64 - 4 - 1);
    assert_eq!(create(2000), Err(Full));
}
