//! Signatures on a device: the magic numbers that file systems, partition tables, volume managers and swap write at
//! known places, so that other programs recognise them.
//!
//! Places and numbers are from the formats' own definitions: the headers of Linux (`include/uapi/linux`, `fs/*`), the
//! UEFI specification for GPT, LUKS and LVM2 on-disk formats. If a format has copies, every copy is found, so that
//! erasing leaves none.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A signature that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// `ext4`, `GPT`, `LUKS`, ...
    pub format: &'static str,
    /// The label that was given to the file system.
    pub label: Option<String>,
    /// True for a partition table or disk label, which divides the device instead of filling it.
    pub is_table: bool,
    /// The UUID of the file system.
    pub(crate) uuid: Option<[u8; 16]>,
    /// Offset of the magic number on the device.
    pub(crate) at: u64,
    /// Length of the magic number, in bytes.
    pub(crate) length: usize,
}

/// An offset on a device, from its start or from its end.
#[derive(Clone, Copy)]
enum Side {
    Start(u64),
    End(u64),
}

use Side::{End, Start};

const KIB: u64 = 1 << 10;

/// Magic numbers that identify a format by themselves, and their places.
const MAGICS: &[(&str, Side, &[u8])] = &[
    ("xfs", Start(0), b"XFSB"),
    ("xfs log", Start(0), &[0xFE, 0xED, 0xBA, 0xBE]),
    ("btrfs", Start(64 * KIB + 0x40), b"_BHRfS_M"),
    ("btrfs", Start(64 * KIB * KIB + 0x40), b"_BHRfS_M"),
    ("btrfs", Start(256 * KIB * KIB * KIB + 0x40), b"_BHRfS_M"),
    ("bcachefs", Start(4 * KIB + 24), &BCACHEFS),
    ("bcache", Start(4 * KIB + 24), &BCACHE),
    ("f2fs", Start(KIB), &[0x10, 0x20, 0xF5, 0xF2]),
    ("f2fs", Start(5 * KIB), &[0x10, 0x20, 0xF5, 0xF2]),
    ("nilfs2", Start(KIB + 6), &[0x34, 0x34]),
    ("jfs", Start(32 * KIB), b"JFS1"),
    ("reiserfs", Start(8 * KIB + 0x34), b"ReIsEr"),
    ("reiserfs", Start(64 * KIB + 0x34), b"ReIsEr"),
    ("gfs2", Start(64 * KIB), &[0x01, 0x16, 0x19, 0x70]),
    ("ocfs2", Start(KIB), b"OCFSV2"),
    ("ocfs2", Start(2 * KIB), b"OCFSV2"),
    ("ocfs2", Start(4 * KIB), b"OCFSV2"),
    ("ocfs2", Start(8 * KIB), b"OCFSV2"),
    ("minix", Start(KIB + 16), &[0x7F, 0x13]),
    ("minix", Start(KIB + 16), &[0x8F, 0x13]),
    ("minix", Start(KIB + 16), &[0x68, 0x24]),
    ("minix", Start(KIB + 16), &[0x78, 0x24]),
    ("minix", Start(KIB + 24), &[0x5A, 0x4D]),
    ("hfs", Start(KIB), b"BD"),
    ("hfs+", Start(KIB), b"H+"),
    ("hfs+", Start(KIB), b"HX"),
    ("apfs", Start(32), b"NXSB"),
    ("squashfs", Start(0), b"hsqs"),
    ("cramfs", Start(0), &[0x45, 0x3D, 0xCD, 0x28]),
    ("cramfs", Start(0), &[0x28, 0xCD, 0x3D, 0x45]),
    ("romfs", Start(0), b"-rom1fs-"),
    // UFS superblocks of BSD, in either byte order.
    ("ufs1", Start(8 * KIB + 0x55C), &[0x54, 0x19, 0x01, 0x00]),
    ("ufs1", Start(8 * KIB + 0x55C), &[0x00, 0x01, 0x19, 0x54]),
    ("ufs2", Start(64 * KIB + 0x55C), &[0x19, 0x01, 0x54, 0x19]),
    ("ufs2", Start(64 * KIB + 0x55C), &[0x19, 0x54, 0x01, 0x19]),
    ("erofs", Start(KIB), &[0xE2, 0xE1, 0xF5, 0xE0]),
    ("iso9660", Start(32 * KIB + 1), b"CD001"),
    ("udf", Start(32 * KIB + 1), b"BEA01"),
    ("udf", Start(34 * KIB + 1), b"NSR0"),
    ("udf", Start(36 * KIB + 1), b"NSR0"),
    ("vfat", Start(0x36), b"FAT12   "),
    ("vfat", Start(0x36), b"FAT16   "),
    ("vfat", Start(0x52), b"FAT32   "),
    ("exfat", Start(3), b"EXFAT   "),
    ("ntfs", Start(3), b"NTFS    "),
    ("refs", Start(3), b"ReFS\0\0\0\0"),
    ("BitLocker", Start(3), b"-FVE-FS-"),
    // The last ten bytes of a page, for each page size.
    ("swap", Start(4 * KIB - 10), b"SWAPSPACE2"),
    ("swap", Start(8 * KIB - 10), b"SWAPSPACE2"),
    ("swap", Start(16 * KIB - 10), b"SWAPSPACE2"),
    ("swap", Start(64 * KIB - 10), b"SWAPSPACE2"),
    ("swap", Start(4 * KIB - 10), b"SWAP-SPACE"),
    ("hibernated system", Start(4 * KIB - 10), b"S1SUSPEND"),
    ("LUKS", Start(0), b"LUKS\xba\xbe"),
    // The second header of LUKS2, at each place that it may have.
    ("LUKS", Start(16 * KIB), b"SKUL\xba\xbe"),
    ("LUKS", Start(32 * KIB), b"SKUL\xba\xbe"),
    ("LUKS", Start(64 * KIB), b"SKUL\xba\xbe"),
    ("LUKS", Start(128 * KIB), b"SKUL\xba\xbe"),
    ("LUKS", Start(256 * KIB), b"SKUL\xba\xbe"),
    ("LUKS", Start(512 * KIB), b"SKUL\xba\xbe"),
    ("LUKS", Start(KIB * KIB), b"SKUL\xba\xbe"),
    ("LUKS", Start(2 * KIB * KIB), b"SKUL\xba\xbe"),
    ("LUKS", Start(4 * KIB * KIB), b"SKUL\xba\xbe"),
    // The label of a physical volume is in one of the first four sectors.
    ("LVM", Start(0), b"LABELONE"),
    ("LVM", Start(512), b"LABELONE"),
    ("LVM", Start(1024), b"LABELONE"),
    ("LVM", Start(1536), b"LABELONE"),
    ("md RAID", Start(0), &MD),
    ("md RAID", Start(4 * KIB), &MD),
    ("Stratis", Start(516), b"!Stra0tis\x86\xff\x02^\x41rh"),
    ("VDO", Start(0), b"dmvdo001"),
    ("Ceph", Start(0), b"bluestore block device"),
    ("Oracle ASM", Start(32), b"ORCLDISK"),
    ("VMFS", Start(KIB * KIB), &[0x0D, 0xD0, 0x01, 0xC0]),
    ("Intel RAID", End(KIB), b"Intel Raid ISM Cfg Sig. "),
    ("DDF RAID", End(512), &[0xDE, 0x11, 0xDE, 0x11]),
];

/// Partition tables and disk labels. GPT is in the second sector and in the last, for each sector size.
const TABLES: &[(&str, Side, &[u8])] = &[
    ("GPT", Start(512), b"EFI PART"),
    ("GPT", Start(4 * KIB), b"EFI PART"),
    ("GPT", End(512), b"EFI PART"),
    ("GPT", End(4 * KIB), b"EFI PART"),
    ("MBR partition table or boot sector", Start(510), &[0x55, 0xAA]),
    ("BSD disk label", Start(0), &[0x57, 0x45, 0x56, 0x82]),
    ("BSD disk label", Start(512), &[0x57, 0x45, 0x56, 0x82]),
    ("Apple partition map", Start(512), b"PM\0\0"),
    ("SGI disk label", Start(0), &[0x0B, 0xE5, 0xA9, 0x41]),
    ("Sun disk label", Start(508), &[0xDA, 0xBE]),
];

const BCACHE: [u8; 16] =
    [0xC6, 0x85, 0x73, 0xF6, 0x4E, 0x1A, 0x45, 0xCA, 0x82, 0x65, 0xF5, 0x7F, 0x48, 0xBA, 0x6D, 0x81];
const BCACHEFS: [u8; 16] =
    [0xC6, 0x85, 0x73, 0xF6, 0x66, 0xCE, 0x90, 0xA9, 0xD9, 0x6A, 0x60, 0xCF, 0x80, 0x3D, 0xF7, 0xEF];
const MD: [u8; 4] = 0xA92B_4EFC_u32.to_le_bytes();
/// The first word of a ZFS uberblock, in either byte order.
const UBERBLOCKS: [[u8; 8]; 2] = [0x00BA_B10C_u64.to_le_bytes(), 0x00BA_B10C_u64.to_be_bytes()];

/// Format of data without a known signature: data of a database, of an unknown format, of a cipher without a header.
const UNKNOWN: &str = "data of no known format";

/// Length of the beginning of a device that is searched for data of no known format, and erased: almost all formats of
/// [`MAGICS`] begin there, and reading it takes no time. Zeros there do not prove that the device holds nothing.
const BEGINNING: u64 = 128 * KIB;

/// Number of samples that are read to find data quickly, and the bytes of each. Guess: a hard disk does 32 seeks in a
/// third of a second. Zeros in the samples prove nothing.
const SAMPLES: u64 = 32;
const SAMPLE: u64 = 4 * KIB;

impl Signature {
    /// Returns true for data of no known format.
    pub(crate) fn is_unknown(&self) -> bool {
        self.format == UNKNOWN
    }
}

/// A readable device.
pub(crate) trait Bytes {
    /// Returns its size in bytes.
    fn bytes(&self) -> u64;
    /// Fills the buffer from offset `at`. The range is within the device.
    fn read(&self, at: u64, buffer: &mut [u8]) -> io::Result<()>;
}

/// A device or file with its size in bytes.
pub(crate) struct OfFile<'a>(pub(crate) &'a File, pub(crate) u64);

impl Bytes for OfFile<'_> {
    fn bytes(&self) -> u64 {
        self.1
    }

    fn read(&self, at: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(buffer, at)
    }
}

/// Finds all signatures, sorted by offset. Returns an error if a place cannot be read: its content is then unknown.
pub(crate) fn find(device: &dyn Bytes) -> io::Result<Vec<Signature>> {
    let mut found = Vec::new();
    for (is_table, magics) in [(false, MAGICS), (true, TABLES)] {
        for &(format, from, magic) in magics {
            if let Some(at) = place(device, from)
                && piece(device, at, magic.len())?.as_deref() == Some(magic)
            {
                found.push(Signature { format, label: None, is_table, uuid: None, at, length: magic.len() });
            }
        }
    }
    found.extend(ext(device)?);
    md_at_the_end(device, &mut found)?;
    drbd(device, &mut found)?;
    zfs(device, &mut found)?;
    if found.is_empty() {
        found.extend(unknown(device)?);
    }
    for signature in &mut found {
        describe(device, signature)?;
    }
    found.sort_by_key(|signature| (signature.at, signature.format));
    found.dedup();
    Ok(found)
}

/// Returns true if both looks found the same signatures. Data of no known format are ignored: a file system without a
/// known signature may write them at any time.
pub(crate) fn are_same(before: &[Signature], now: &[Signature]) -> bool {
    let known = |found: &[Signature]| found.iter().filter(|one| one.format != UNKNOWN).cloned().collect::<Vec<_>>();
    known(before) == known(now)
}

fn place(device: &dyn Bytes, from: Side) -> Option<u64> {
    match from {
        Start(at) => Some(at),
        End(before) => device.bytes().checked_sub(before),
    }
}

/// Reads `length` bytes at `at`; `None` if they are not all within the device.
fn piece(device: &dyn Bytes, at: u64, length: usize) -> io::Result<Option<Vec<u8>>> {
    if at.checked_add(length as u64).is_none_or(|end| end > device.bytes()) {
        return Ok(None);
    }
    let mut buffer = vec![0; length];
    device.read(at, &mut buffer)?;
    Ok(Some(buffer))
}

/// Finds the superblock of ext2, ext3 or ext4 at 1024 (fs/ext4/ext4.h): its magic number at 0x38, its features at 0x5C
/// and 0x60.
fn ext(device: &dyn Bytes) -> io::Result<Option<Signature>> {
    const HAS_JOURNAL: u32 = 4;
    const JOURNAL_DEVICE: u32 = 8;
    // extents, 64bit, flex_bg.
    const EXT4: u32 = 0x40 | 0x80 | 0x200;
    let Some(block) = piece(device, KIB, 0x88)?.filter(|block| block[0x38..0x3A] == [0x53, 0xEF]) else {
        return Ok(None);
    };
    let word = |at: usize| u32::from_le_bytes(block[at..at + 4].try_into().expect("four bytes"));
    let format = match (word(0x5C), word(0x60)) {
        (_, incompatible) if incompatible & JOURNAL_DEVICE != 0 => "ext4 journal",
        (_, incompatible) if incompatible & EXT4 != 0 => "ext4",
        (compatible, _) if compatible & HAS_JOURNAL != 0 => "ext3",
        _ => "ext2",
    };
    Ok(Some(Signature { format, label: None, is_table: false, uuid: None, at: KIB + 0x38, length: 2 }))
}

/// Finds md superblocks of versions 0.90 and 1.0, at the end: 64 KiB before the last multiple of 64 KiB, and 8 KiB
/// before the end on a multiple of 4 KiB (drivers/md/md.c).
fn md_at_the_end(device: &dyn Bytes, found: &mut Vec<Signature>) -> io::Result<()> {
    let bytes = device.bytes();
    let old = (bytes / (64 * KIB) * (64 * KIB)).checked_sub(64 * KIB);
    let new = bytes.checked_sub(8 * KIB).map(|at| at / (4 * KIB) * (4 * KIB));
    for at in [old, new].into_iter().flatten() {
        let reversed = MD.iter().rev().copied().collect::<Vec<u8>>();
        if let Some(four) = piece(device, at, MD.len())?
            && (four == MD || four == reversed)
        {
            found.push(Signature { format: "md RAID", label: None, is_table: false, uuid: None, at, length: 4 });
        }
    }
    Ok(())
}

/// Finds the metadata of DRBD in the last whole 4 KiB (drbd_meta_data.h of drbd-utils): versions 8 and 9 have the magic
/// number at different offsets.
fn drbd(device: &dyn Bytes, found: &mut Vec<Signature>) -> io::Result<()> {
    const LOWEST: u32 = 0x8374_026B;
    let Some(block) = (device.bytes() / (4 * KIB) * (4 * KIB)).checked_sub(4 * KIB) else { return Ok(()) };
    for at in [block + 60, block + 20] {
        let word = piece(device, at, 4)?.and_then(|four| four.try_into().ok()).map(u32::from_be_bytes);
        if word.is_some_and(|word| (LOWEST..=LOWEST + 2).contains(&word)) {
            found.push(Signature { format: "DRBD", label: None, is_table: false, uuid: None, at, length: 4 });
        }
    }
    Ok(())
}

/// Returns the whole beginning of the device as one signature, if any byte there is not zero.
fn unknown(device: &dyn Bytes) -> io::Result<Option<Signature>> {
    let length = device.bytes().min(BEGINNING) as usize;
    let is_used = piece(device, 0, length)?.is_some_and(|bytes| bytes.iter().any(|&byte| byte != 0));
    Ok(is_used.then(|| Signature::of_unknown(0, length)))
}

/// Finds data of no known format at one of a few places, spread over the device up to its end.
pub(crate) fn sample(device: &dyn Bytes) -> io::Result<Option<Signature>> {
    let last = device.bytes().saturating_sub(SAMPLE);
    for index in 0..SAMPLES {
        let at = (u128::from(last) * u128::from(index) / u128::from(SAMPLES - 1)) as u64;
        let length = SAMPLE.min(device.bytes() - at) as usize;
        if piece(device, at, length)?.is_some_and(|bytes| bytes.iter().any(|&byte| byte != 0)) {
            return Ok(Some(Signature::of_unknown(at, length)));
        }
    }
    Ok(None)
}

impl Signature {
    /// Returns the signature of data of no known format at this place.
    pub(crate) fn of_unknown(at: u64, length: usize) -> Signature {
        Signature { format: UNKNOWN, label: None, is_table: false, uuid: None, at, length }
    }
}

/// Finds the uberblocks of ZFS. It has four labels of 256 KiB, two at each end; the second half of each is a ring of
/// uberblocks of 1 KiB or more.
fn zfs(device: &dyn Bytes, found: &mut Vec<Signature>) -> io::Result<()> {
    const LABEL: u64 = 256 * KIB;
    let end = device.bytes() / LABEL * LABEL;
    for label in [Some(0), Some(LABEL), end.checked_sub(2 * LABEL), end.checked_sub(LABEL)].into_iter().flatten() {
        let Some(ring) = piece(device, label + LABEL / 2, LABEL as usize / 2)? else { continue };
        for (index, slot) in ring.chunks_exact(KIB as usize).enumerate() {
            if UBERBLOCKS.iter().any(|magic| slot[..8] == *magic) {
                let at = label + LABEL / 2 + index as u64 * KIB;
                found.push(Signature { format: "zfs", label: None, is_table: false, uuid: None, at, length: 8 });
            }
        }
    }
    Ok(())
}

/// Reads the UUID and the label of a file system. The table gives their offsets and the length of the label, in bytes.
fn describe(device: &dyn Bytes, signature: &mut Signature) -> io::Result<()> {
    let (uuid, label, length): (u64, u64, usize) = match signature.format {
        "ext2" | "ext3" | "ext4" | "ext4 journal" => (KIB + 0x68, KIB + 0x78, 16),
        "xfs" => (32, 108, 12),
        "btrfs" if signature.at < KIB * KIB => (64 * KIB + 0x20, 64 * KIB + 0x12B, 256),
        "f2fs" if signature.at == KIB => (KIB + 0x6C, u64::MAX, 0),
        "swap" => (KIB + 12, KIB + 28, 16),
        // Before the magic number are a serial number of four bytes and a label of eleven. The UUID is these and one
        // byte of the magic number.
        "vfat" => (signature.at - 15, u64::MAX, 0),
        _ => return Ok(()),
    };
    signature.uuid = piece(device, uuid, 16)?.and_then(|bytes| bytes.try_into().ok());
    signature.label = piece(device, label, length)?.and_then(|bytes| {
        let text = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
        let text: String = String::from_utf8_lossy(text).chars().filter(|c| !c.is_control()).collect();
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use testkit::fuzz::{Subject, fuzz};

    use super::*;

    /// A device in memory.
    struct InMemory(Vec<u8>);

    impl Bytes for InMemory {
        fn bytes(&self) -> u64 {
            self.0.len() as u64
        }

        fn read(&self, at: u64, buffer: &mut [u8]) -> io::Result<()> {
            buffer.copy_from_slice(&self.0[at as usize..at as usize + buffer.len()]);
            Ok(())
        }
    }

    fn formats(device: &InMemory) -> Vec<&'static str> {
        let mut formats: Vec<_> = find(device).expect("readable").iter().map(|one| one.format).collect();
        formats.dedup();
        formats
    }

    #[test]
    fn every_format_is_found_at_each_of_its_offsets() {
        let bytes = 8 << 20;
        for &(format, from, magic) in MAGICS.iter().chain(TABLES) {
            let mut device = InMemory(vec![0; bytes]);
            assert_eq!(formats(&device), [""; 0]);
            let at = place(&device, from).expect("there") as usize;
            if at + magic.len() <= bytes {
                device.0[at..at + magic.len()].copy_from_slice(magic);
                assert_eq!(formats(&device), [format], "at {at}");
            }
        }
    }

    #[test]
    fn signatures_at_the_end_are_found_on_devices_of_any_size() {
        for bytes in [1 << 20, (1 << 20) + 512, (1 << 20) + 70_000 / 512 * 512] {
            let mut old = InMemory(vec![0; bytes]);
            old.0[(bytes & !0xFFFF) - 0x1_0000..][..4].copy_from_slice(&MD);
            assert_eq!(formats(&old), ["md RAID"]);
            let mut new = InMemory(vec![0; bytes]);
            new.0[(bytes - 8192) & !0xFFF..][..4].copy_from_slice(&MD);
            assert_eq!(formats(&new), ["md RAID"]);
            let mut pool = InMemory(vec![0; bytes]);
            pool.0[(bytes & !0x3_FFFF) - 0x4_0000 + 0x2_0000 + 3 * 1024..][..8].copy_from_slice(&UBERBLOCKS[0]);
            assert_eq!(formats(&pool), ["zfs"]);
            for at in [20, 60] {
                let mut mirror = InMemory(vec![0; bytes]);
                mirror.0[(bytes & !0xFFF) - 4096 + at..][..4].copy_from_slice(&[0x83, 0x74, 0x02, 0x6B]);
                assert_eq!(formats(&mirror), ["DRBD"]);
            }
        }
    }

    #[test]
    fn data_of_unknown_format_are_found_and_erased() {
        for (bytes, at) in [(1 << 20, 0), (1 << 20, 131_071), (512, 511), (1, 0)] {
            let mut device = InMemory(vec![0; bytes]);
            device.0[at] = 1;
            assert_eq!(formats(&device), ["data of no known format"], "{at} of {bytes}");
        }
        // A known format is reported by its name, and its other data remain after its magic number is erased.
        let mut device = InMemory(vec![0; 1 << 20]);
        device.0[0x400..0x500].fill(7);
        device.0[0x438..0x43A].copy_from_slice(&[0x53, 0xEF]);
        let mut rounds = Vec::new();
        while let Some(Signature { format, at, length, .. }) = find(&device).expect("readable").pop() {
            device.0[at as usize..][..length].fill(0);
            rounds.push(format);
        }
        assert_eq!(rounds.len(), 2, "{rounds:?}");
        assert!(device.0.iter().all(|&byte| byte == 0));
    }

    #[test]
    fn ext_versions_are_recognized_by_their_features() {
        for (compatible, incompatible, format) in
            [(0, 2, "ext2"), (4, 2, "ext3"), (4, 0x42, "ext4"), (0, 8, "ext4 journal")]
        {
            let mut device = InMemory(vec![0; 1 << 20]);
            device.0[0x438..0x43A].copy_from_slice(&[0x53, 0xEF]);
            device.0[0x45C] = compatible;
            device.0[0x460] = incompatible;
            device.0[0x478..0x47D].copy_from_slice(b"home\n");
            let found = find(&device).expect("readable");
            assert_eq!((found[0].format, found[0].label.as_deref()), (format, Some("home")));
        }
    }

    #[test]
    fn a_file_system_is_recognized_by_all_its_signatures() {
        let mut device = InMemory(vec![0; 1 << 20]);
        device.0[0x27..0x2B].copy_from_slice(&[1, 2, 3, 4]);
        device.0[0x36..0x3E].copy_from_slice(b"FAT16   ");
        device.0[510..512].copy_from_slice(&[0x55, 0xAA]);
        let made = find(&device).expect("readable");
        assert_eq!(made.len(), 2);
        let is_same_after = |at: usize, bytes: &[u8]| {
            let mut used = InMemory(device.0.clone());
            used.0[at..at + bytes.len()].copy_from_slice(bytes);
            are_same(&made, &find(&used).expect("readable"))
        };
        assert!(is_same_after(0x25, &[1]) && is_same_after(4096, b"a file"), "it is used");
        assert!(!is_same_after(0x27, &[4, 3, 2, 1]), "another of its kind");
        assert!(!is_same_after(0x438, &[0x53, 0xEF]), "another besides");
        assert!(!is_same_after(0x36, &[0; 8]), "it is gone");
        let mut unheard_of = InMemory(vec![0; 1 << 20]);
        let made = find(&unheard_of).expect("readable");
        unheard_of.0[0] = 1;
        assert!(are_same(&made, &find(&unheard_of).expect("readable")), "it has no known format");
    }

    /// Signatures are within the device, are the same on a second look, and disappear once they are erased.
    #[test]
    fn fuzz_devices() {
        let of = |pieces: &[(usize, &[u8])]| {
            let end = pieces.iter().map(|(at, piece)| at + piece.len()).max().unwrap_or(0);
            let mut bytes = vec![0; end + 600];
            pieces.iter().for_each(|(at, piece)| bytes[*at..at + piece.len()].copy_from_slice(piece));
            bytes
        };
        let examples = [
            of(&[(0x438, &[0x53, 0xEF]), (0x45C, &[4]), (0x460, &[0x42]), (0x478, b"photos\n")]),
            of(&[(0, b"XFSB"), (32, &[7; 16]), (108, b"data")]),
            of(&[(0x10040, b"_BHRfS_M"), (0x1012B, b"pool")]),
            of(&[(3, b"NTFS    "), (510, &[0x55, 0xAA])]),
            of(&[(0x36, b"FAT16   "), (510, &[0x55, 0xAA])]),
            of(&[(512, b"EFI PART"), (510, &[0x55, 0xAA])]),
            of(&[(4096 - 10, b"SWAPSPACE2"), (1036, &[9; 16]), (1052, b"s")]),
            of(&[(4096, &MD), (536, b"LVM2 001")]),
            vec![1],
            Vec::new(),
        ];
        let read = |input: &[u8]| {
            let mut device = InMemory(input.to_owned());
            let found = find(&device).expect("readable");
            for Signature { at, length, label, .. } in &found {
                assert!(at + *length as u64 <= device.bytes() && *length > 0);
                assert!(!label.as_deref().unwrap_or_default().contains(char::is_control));
            }
            assert!(are_same(&found, &find(&device).expect("readable")));
            for round in 0.. {
                let found = find(&device).expect("readable");
                let Some(Signature { at, length, .. }) = found.first() else { break };
                device.0[*at as usize..][..*length].fill(0);
                assert!(round < 200, "what is erased comes back");
            }
            found.iter().map(|one| one.format).collect::<Vec<_>>().join(" ")
        };
        fuzz(
            &Subject::new("devices", examples, read)
                .fast()
                .with_words(&["XFSB", "EFI PART", "_BHRfS_M", "LABELONE", "\u{1}"]),
        );
    }

    #[test]
    fn tiny_devices_hold_nothing() {
        for bytes in [0, 1, 511, 512, 1024, 4096] {
            assert_eq!(formats(&InMemory(vec![0; bytes])), [""; 0]);
            assert_eq!(sample(&InMemory(vec![0; bytes])).expect("readable"), None);
        }
    }

    #[test]
    fn samples_cover_the_whole_device() {
        for at in [0, 5000, (1 << 20) - 1] {
            let mut device = InMemory(vec![0; 1 << 20]);
            device.0[at..].fill(1);
            let found = sample(&device).expect("readable").expect("it is found");
            assert_eq!(found.format, UNKNOWN);
            assert!(found.at + SAMPLE > at as u64 && found.at <= (1 << 20) - SAMPLE, "{found:?}");
        }
        let mut between = InMemory(vec![0; 1 << 20]);
        between.0[SAMPLE as usize] = 1;
        assert_eq!(sample(&between).expect("readable"), None, "a sample proves nothing");
    }
}
