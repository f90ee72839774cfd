//! Devices that share sectors of a device below them: partitions, and mapped devices.

use std::ops::Range;

use super::super::device_uses::{Block, Machine};
use super::is_twin;
use crate::observe::block_device::Number;

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
fn extents(block: &Block) -> Vec<(Number, Range<u64>)> {
    let of_partition = block.disk.into_iter().zip(block.sectors.clone());
    of_partition.chain(block.maps.iter().flatten().cloned()).collect()
}

fn is_one_disk(one: Number, other: Number, machine: &Machine) -> bool {
    let find = |number: Number| machine.blocks.iter().find(|block| block.number == number);
    one == other || find(one).zip(find(other)).is_some_and(|(one, other)| is_twin(one, other))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISK: Number = (8, 0);

    fn mapped(minor: u32, maps: Option<Vec<(Number, Range<u64>)>>) -> Block {
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

    #[test]
    fn unknown_tables_may_overlap_anything_on_the_same_device() {
        let machine = Machine::default();
        let (known, unknown) = (mapped(0, Some(vec![(DISK, 0..1)])), mapped(1, None));
        assert!(overlap(&known, &unknown, &machine) && overlap(&unknown, &known, &machine));
        let elsewhere = Block { slaves: vec![(8, 16)], ..mapped(2, None) };
        assert!(!overlap(&elsewhere, &known, &machine));
    }
}
