//! Devices that share sectors of a device below them: partitions, mapped devices, and loop devices on a device.

use super::super::ambiguous_files::SECTOR;
use super::super::device_uses::{Block, Machine};
use super::is_twin;
use crate::observe::block_device::Number;
use crate::observe::mapped_table::Extent;

/// Returns true if both show sectors of one device, and
///   1. have sectors in common;
///   2. or it is not known which sectors one of them shows.
pub(super) fn overlap(one: &Block, other: &Block, machine: &Machine) -> bool {
    if one.number == other.number {
        return false;
    }
    // 2.
    if one.maps.is_none() || other.maps.is_none() {
        return one.slaves.iter().any(|below| other.slaves.contains(below) || other.disk == Some(*below))
            || one.disk.is_some_and(|disk| other.slaves.contains(&disk));
    }
    // 1.
    let others = extents(other);
    extents(one).iter().any(|(below, a)| {
        others.iter().any(|(same, b)| is_one_disk(*below, *same, machine) && a.start < b.end && b.start < a.end)
    })
}

/// The sectors of devices below that a device shows one to one.
fn extents(block: &Block) -> Vec<Extent> {
    let of_partition = block.disk.into_iter().zip(block.sectors.clone());
    of_partition.chain(block.maps.iter().flatten().cloned()).chain(of_loop(block)).collect()
}

/// The sectors of the device behind a loop device. If its size is unknown, all sectors up to the end.
fn of_loop(block: &Block) -> Option<Extent> {
    let below = block.device_behind()?;
    let start = block.window.offset;
    let end = block.bytes.map_or(u64::MAX, |bytes| start.saturating_add(bytes));
    Some((below, start / SECTOR..end.div_ceil(SECTOR)))
}

fn is_one_disk(one: Number, other: Number, machine: &Machine) -> bool {
    let find = |number: Number| machine.blocks.iter().find(|block| block.number == number);
    one == other || find(one).zip(find(other)).is_some_and(|(one, other)| is_twin(one, other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provision::loop_device::{Backing, Window};

    const DISK: Number = (8, 0);

    fn mapped(minor: u32, maps: Option<Vec<Extent>>) -> Block {
        Block { number: (253, minor), slaves: vec![DISK], maps, ..Block::default() }
    }

    /// `dmsetup create` takes sectors of a disk that another mapped device shows, even if that is mounted.
    #[test]
    fn mapped_devices_on_the_same_sectors_overlap() {
        let machine = Machine::default();
        let one = mapped(0, Some(vec![(DISK, 0..100)]));
        for (sectors, expected) in [(0..100, true), (99..200, true), (100..200, false)] {
            let other = mapped(1, Some(vec![((8, 16), 0..100), (DISK, sectors.clone())]));
            assert_eq!(overlap(&one, &other, &machine), expected, "{sectors:?}");
            assert_eq!(overlap(&other, &one, &machine), expected, "{sectors:?}");
        }
        assert!(!overlap(&one, &one, &machine), "itself");
        let thin = mapped(2, Some(Vec::new()));
        assert!(!overlap(&one, &thin, &machine), "it shows no sectors one to one");
    }

    #[test]
    fn mapped_devices_overlap_partitions_of_their_disk() {
        let machine = Machine::default();
        let partition = Block {
            number: (8, 1),
            disk: Some(DISK),
            sectors: Some(50..60),
            maps: Some(Vec::new()),
            ..Block::default()
        };
        assert!(overlap(&mapped(0, Some(vec![(DISK, 0..51)])), &partition, &machine));
        assert!(!overlap(&mapped(0, Some(vec![(DISK, 0..50)])), &partition, &machine));
        assert!(overlap(&partition, &mapped(0, None), &machine));
    }

    /// Without `losetup --offset`, a loop device on a disk shows all of its partitions.
    #[test]
    fn loop_devices_overlap_partitions_of_their_disk() {
        let machine = Machine::default();
        let mapped_there = mapped(0, Some(vec![(DISK, 50..60)]));
        let partition =
            Block { number: (8, 1), disk: Some(DISK), sectors: Some(50..60), ..mapped(1, Some(Vec::new())) };
        for (offset, bytes, expected) in [
            (0, Some(100 * SECTOR), true),
            (0, None, true),
            (0, Some(50 * SECTOR), false),
            (0, Some(50 * SECTOR + 1), true),
            (59 * SECTOR, Some(SECTOR), true),
            (60 * SECTOR, Some(SECTOR), false),
        ] {
            let window = Window { offset, limit: None };
            let (number, backing, maps) = ((7, 3), Some(Backing::Device(DISK)), Some(Vec::new()));
            let shown = Block { number, backing, maps, bytes, window, ..Block::default() };
            for other in [&partition, &mapped_there] {
                assert_eq!(overlap(&shown, other, &machine), expected, "{offset} {bytes:?}");
                assert_eq!(overlap(other, &shown, &machine), expected, "{offset} {bytes:?}");
            }
        }
    }

    #[test]
    fn unknown_tables_may_overlap_anything_on_the_same_device() {
        let machine = Machine::default();
        let (known, unknown) = (mapped(0, Some(vec![(DISK, 0..1)])), mapped(1, None));
        assert!(overlap(&known, &unknown, &machine) && overlap(&unknown, &known, &machine));
        let elsewhere = Block { slaves: vec![(8, 16)], ..mapped(2, None) };
        assert!(!overlap(&elsewhere, &known, &machine));
    }
}
