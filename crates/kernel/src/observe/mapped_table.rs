//! The sectors of other devices that a mapped device shows. They are in the table of the mapped device, which only the
//! device mapper reports (linux/dm-ioctl.h). /sys names the devices below, but not the sectors.

use std::fs::File;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use super::block_device::Number;
use crate::sys::read_limited;

/// `DM_TABLE_STATUS` for the size of the header.
const TABLE_STATUS: u64 = 0xC138_FD0C;

/// Bytes of `struct dm_ioctl`, before the targets.
const HEADER: usize = 312;

/// Bytes of `struct dm_target_spec`, before the parameters of a target.
const TARGET: usize = 40;

/// Flags: report tables instead of states; do not flush; wipe the kernel's copy, because the table of an encrypted
/// device contains its key.
const FLAGS: u32 = 1 << 4 | 1 << 11 | 1 << 15;

/// The kernel's flag for an answer that is longer than the buffer.
const IS_FULL: u32 = 1 << 8;

/// Sizes of the buffer in bytes. The second is used if the answer does not fit into the first. A target has about 100
/// bytes.
const BUFFERS: [usize; 2] = [16 << 10, 1 << 20];

/// Sectors of a device below.
pub(crate) type Extent = (Number, Range<u64>);

/// Returns the sectors that a mapped device shows of the devices below. Targets whose sectors belong to one volume
/// alone, such as thin volumes, have none. An unknown target may show all sectors of its devices. `None` if the table
/// cannot be read.
pub(crate) fn extents(number: Number) -> Option<Vec<Extent>> {
    let control = read_limited::open(Path::new("/dev/mapper/control")).ok()?;
    control.metadata().ok().filter(|metadata| metadata.file_type().is_char_device())?;
    BUFFERS.into_iter().find_map(|bytes| ask(&control, number, bytes))
}

fn ask(control: &File, (major, minor): Number, bytes: usize) -> Option<Vec<Extent>> {
    let mut buffer = vec![0_u8; bytes];
    let device = u64::from(minor & 0xFF | major << 8 | (minor & !0xFF) << 12);
    for (at, value) in [(0, 4), (12, u32::try_from(bytes).ok()?), (16, HEADER as u32), (28, FLAGS)] {
        buffer[at..at + 4].copy_from_slice(&value.to_ne_bytes());
    }
    buffer[40..48].copy_from_slice(&device.to_ne_bytes());
    // SAFETY: the kernel reads and writes at most as many bytes as the header says, which is the length of the buffer.
    // The buffer is exclusively ours, and the descriptor is open during the call.
    let answer = unsafe { libc::ioctl(control.as_raw_fd(), TABLE_STATUS as _, buffer.as_mut_ptr()) };
    let extents = (answer == 0).then(|| parse(&buffer)).flatten();
    // The answer may contain a key.
    buffer.fill(0);
    extents
}

/// Parses the answer: a header, and for each target a description and its parameters as text.
fn parse(answer: &[u8]) -> Option<Vec<Extent>> {
    let word = |at: usize| Some(u32::from_ne_bytes(answer.get(at..at + 4)?.try_into().ok()?));
    let long = |at: usize| Some(u64::from_ne_bytes(answer.get(at..at + 8)?.try_into().ok()?));
    let text =
        |bytes: &[u8]| String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned();
    if word(28)? & IS_FULL != 0 {
        return None;
    }
    let start = word(16)? as usize;
    let mut at = start;
    let mut extents = Vec::new();
    for _ in 0..word(20)? {
        let kind = text(answer.get(at + 24..at + TARGET)?);
        let parameters = text(answer.get(at + TARGET..)?);
        extents.extend(shown(&kind, long(at + 8)?, &parameters));
        at = start.checked_add(word(at + 20)? as usize)?;
    }
    Some(extents)
}

/// The sectors that a target shows, from its parameters (Documentation/admin-guide/device-mapper). If these do not say
/// which sectors of a device, all of them.
fn shown(kind: &str, length: u64, parameters: &str) -> Vec<Extent> {
    let words: Vec<&str> = parameters.split_whitespace().collect();
    let device = |word: &str| -> Option<Number> {
        let (major, minor) = word.split_once(':')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    };
    let extent = |at: usize, length: u64| {
        let start: u64 = words.get(at + 1)?.parse().ok()?;
        Some((device(words.get(at)?)?, start..start.checked_add(length)?))
    };
    match kind {
        "linear" | "flakey" => extent(0, length).into_iter().collect(),
        // Up to three devices: for reads, for writes and for flushes.
        "delay" => (0..words.len()).step_by(3).filter_map(|at| extent(at, length)).collect(),
        "crypt" => extent(3, length).into_iter().collect(),
        "striped" => {
            let stripes = words.first().and_then(|word| word.parse::<usize>().ok()).filter(|stripes| *stripes > 0);
            let stripes = stripes.unwrap_or_default().min(words.len());
            (0..stripes).filter_map(|stripe| extent(2 + 2 * stripe, length / stripes as u64)).collect()
        }
        "mirror" => (0..words.len()).filter_map(|at| extent(at, length)).collect(),
        // No device, or sectors that belong to one volume alone.
        "error" | "zero" | "thin" | "thin-pool" | "vdo" | "snapshot" | "snapshot-origin" | "snapshot-merge" => {
            Vec::new()
        }
        // As multipath, raid and cache: all sectors of each device.
        _ => words.iter().filter_map(|word| Some((device(word)?, 0..u64::MAX))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_that_show_sectors_have_extents() {
        assert_eq!(shown("linear", 8, "8:16 100"), [((8, 16), 100..108)]);
        assert_eq!(shown("delay", 8, "8:16 0 5"), [((8, 16), 0..8)]);
        let three: [Extent; 3] = [((8, 16), 0..8), ((8, 32), 4..12), ((8, 48), 0..8)];
        assert_eq!(shown("delay", 8, "8:16 0 5 8:32 4 5 8:48 0 5"), three);
        assert_eq!(shown("crypt", 8, "aes-xts-plain64 00ff 0 253:3 4096 1 allow_discards"), [((253, 3), 4096..4104)]);
        assert_eq!(shown("striped", 20, "2 128 8:0 10 8:16 30"), [((8, 0), 10..20), ((8, 16), 30..40)]);
        let mirror = "core 2 1024 nosync 2 8:16 0 8:32 64 1 handle_errors";
        assert_eq!(shown("mirror", 8, mirror), [((8, 16), 0..8), ((8, 32), 64..72)]);
        let all = |minor| -> Extent { ((8, minor), 0..u64::MAX) };
        for (kind, parameters) in [
            ("multipath", "1 queue_if_no_path 0 2 1 service-time 0 1 2 8:16 1 1 service-time 0 1 2 8:32 1 1"),
            ("raid", "raid1 3 0 region_size 1024 2 - 8:16 - 8:32"),
            ("integrity", "8:16 0 28 J 2 journal_sectors:1024 block_size:512 8:32"),
            ("writecache", "s 8:16 8:32 4096 0"),
            ("verity", "1 8:16 8:32 4096 4096 262144 1 sha256 00ff 00ff"),
            ("a-target-to-come", "x 8:16 0 8:32"),
        ] {
            assert_eq!(shown(kind, 8, parameters), [all(16), all(32)], "{kind}");
        }
        for (kind, parameters) in [
            ("thin", "253:8 2"),
            ("thin-pool", "253:2 253:3 128 0"),
            ("snapshot", "253:2 253:3 P 8"),
            ("snapshot-origin", "253:2"),
            ("snapshot-merge", "253:2 253:3 P 8"),
            ("error", ""),
            ("linear", "x 1"),
            ("striped", "0"),
            ("linear", "8:0 -1"),
        ] {
            assert_eq!(shown(kind, 8, parameters), [], "{kind}");
        }
    }

    /// An answer as the kernel lays it out.
    fn answer(targets: &[(&str, u64, &str)], flags: u32) -> Vec<u8> {
        let mut bytes = vec![0; HEADER];
        for (at, value) in [(16, HEADER as u32), (20, targets.len() as u32), (28, flags)] {
            bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        }
        for (kind, length, parameters) in targets {
            let end = (bytes.len() + TARGET + parameters.len() + 1).next_multiple_of(8);
            bytes.extend(0_u64.to_ne_bytes());
            bytes.extend(length.to_ne_bytes());
            bytes.extend(0_u32.to_ne_bytes());
            bytes.extend(((end - HEADER) as u32).to_ne_bytes());
            bytes.extend(kind.bytes().chain([0; 16]).take(16));
            bytes.extend(parameters.bytes());
            bytes.resize(end, 0);
        }
        bytes
    }

    #[test]
    fn answers_have_all_targets() {
        let targets = [("linear", 8, "8:16 0"), ("error", 4, ""), ("linear", 16, "8:32 64")];
        assert_eq!(parse(&answer(&targets, 0)), Some(vec![((8, 16), 0..8), ((8, 32), 64..80)]));
        assert_eq!(parse(&answer(&targets, IS_FULL)), None);
        assert_eq!(parse(&answer(&[], 0)), Some(Vec::new()));
        let whole = answer(&targets, 0);
        assert!((0..whole.len()).all(|length| parse(&whole[..length]).is_none_or(|known| known.len() <= 2)));
    }
}
