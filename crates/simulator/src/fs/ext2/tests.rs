//! The allocation of files and directories, counted by hand.

use super::*;
use crate::cache::Cache;
use crate::description::samples::{eagle, ext2, kernel};
use crate::fs::Host;
use crate::fs::plan::{NameCall, NameWork};

const ROOT: FileId = 100;

fn empty() -> Ext2 {
    Ext2::new(&eagle(), &ext2())
}

fn name(ext2: &mut Ext2, work: NameWork, directory: FileId, file: FileId, releases: bool) {
    let (kernel, mut cache) = (kernel(), Cache::new(64));
    let mut host = Host { kernel: &kernel, cache: &mut cache, drive: 0, held: 0 };
    let call = NameCall { work, root: ROOT, directory, file, releases };
    ext2.prepare_name(call, &mut host).expect("room");
}

#[test]
fn directories_are_spread_and_files_stay_with_them() {
    let mut ext2 = empty();
    for directory in 1..=3 {
        name(&mut ext2, NameWork::MakeDirectory, ROOT, directory, false);
        name(&mut ext2, NameWork::Create, directory, 10 + directory, false);
        ext2.prepare_write(10 + directory, 0, 1024).expect("room");
    }
    let group = |file: FileId| ext2.files[&file].inode / ext2.layout.inodes_per_group;
    let groups = [1, 2, 3].map(group);
    assert!(groups[0] != groups[1] && groups[1] != groups[2] && groups[0] != groups[2], "{groups:?}");
    assert_eq!([11, 12, 13].map(group), groups);
    assert_eq!([11, 12, 13].map(|file| ext2.layout.group(ext2.files[&file].pages[0].first)), groups);
}

#[test]
fn small_files_of_a_directory_follow_each_other() {
    let mut ext2 = empty();
    name(&mut ext2, NameWork::MakeDirectory, ROOT, 1, false);
    let blocks = [11, 12, 13].map(|file| {
        name(&mut ext2, NameWork::Create, 1, file, false);
        ext2.prepare_write(file, 0, 1024).expect("room");
        ext2.files[&file].pages[0]
    });
    assert_eq!(blocks.map(|page| page.first - blocks[0].first), [0, 1, 2]);
    assert!(blocks.iter().all(|page| page.count == 1));
}

/// Twelve blocks, an indirect block, 256 blocks, two indirect blocks, and so on.
#[test]
fn indirect_blocks_are_between_the_blocks_that_they_point_to() {
    let mut ext2 = empty();
    ext2.prepare_write(1, 0, 300 * 1024).expect("room");
    let first = |page: usize| ext2.files[&1].pages[page].first - ext2.files[&1].pages[0].first;
    assert_eq!([2, 3, 66, 67].map(first), [8, 13, 265, 271]);
    assert_eq!(ext2.extents(1).count(), 75 + 3);
}

#[test]
fn a_page_that_grows_stays_in_place_if_it_can() {
    let mut ext2 = empty();
    ext2.prepare_write(1, 0, 1024).expect("room");
    let first = ext2.files[&1].pages[0].first;
    ext2.prepare_write(1, 1024, 1024).expect("room");
    assert_eq!(ext2.files[&1].pages[0], Page { first, count: 2 });
    ext2.prepare_write(2, 0, 1024).expect("room");
    ext2.prepare_write(1, 2048, 2048).expect("room");
    assert_eq!(ext2.files[&1].pages[0], Page { first: first + 3, count: 4 });
}

#[test]
fn removed_files_and_directories_free_everything() {
    let mut ext2 = empty();
    name(&mut ext2, NameWork::Create, ROOT, 1, false);
    let free = |ext2: &Ext2| ext2.groups.iter().map(|group| (group.free_blocks(), group.free_inodes())).collect();
    let before: Vec<_> = free(&ext2);
    name(&mut ext2, NameWork::MakeDirectory, ROOT, 2, false);
    name(&mut ext2, NameWork::Create, 2, 3, false);
    ext2.prepare_write(3, 0, 300 * 1024).expect("room");
    assert_ne!(free(&ext2), before);
    name(&mut ext2, NameWork::Unlink, 2, 3, true);
    name(&mut ext2, NameWork::RemoveDirectory, ROOT, 2, true);
    assert_eq!(free(&ext2), before);
}

#[test]
fn a_full_file_system_is_told() {
    let mut ext2 = empty();
    let bytes = (eagle().bytes() / 4096 * 4096).min(u64::from(u32::MAX - 4095)) as u32;
    assert_eq!(ext2.prepare_write(1, 0, bytes), Err(Full));
}
