//! Histograms in the format of HdrHistogram (hdrhistogram.org): V2, compressed, in base64. Its tools plot and merge
//! them.
//!
//! ```text
//!   compressed:  cookie, length, zlib(payload)
//!   payload:     cookie, length, offset, digits, lowest, highest, ratio, counts
//! ```
//!
//! A count is a number of variable length (ZigZag LEB128, at most 9 bytes). A negative one stands for a row of zeros.
//! The zlib data are stored, not deflated: the numbers are short already, and that needs no library. `decode` reads
//! only stored data.

use crate::figures::histogram::{BUCKETS, Histogram, LONGEST, longest_in};
use crate::results::latency::Latencies;

/// The cookies of version 2, with counts of 64 bits.
const PAYLOAD: u32 = 0x1c84_9313;
const COMPRESSED: u32 = 0x1c84_9314;

/// Bytes of the payload before the counts.
const HEAD: usize = 40;

/// The significant digits of the histogram, which are those of our own.
const DIGITS: u32 = 3;

/// The largest stored block of zlib data.
const BLOCK: usize = 0xffff;

/// The header of zlib data: a window of 32 KiB, the fastest level.
const ZLIB: [u8; 2] = [0x78, 0x01];

/// The 64 characters of base64.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Converts latencies to text.
pub fn encode(latencies: &Latencies) -> String {
    let mut counts = Vec::new();
    let mut next = 0;
    for (bucket, count) in latencies.times.buckets() {
        if bucket > next {
            put(&mut counts, -((bucket - next) as i64));
        }
        put(&mut counts, i64::try_from(count).unwrap_or(i64::MAX));
        next = bucket + 1;
    }
    let mut payload = Vec::with_capacity(HEAD + counts.len());
    for number in [PAYLOAD, counts.len() as u32, 0, DIGITS] {
        payload.extend(number.to_be_bytes());
    }
    payload.extend(1_u64.to_be_bytes());
    payload.extend(LONGEST.to_be_bytes());
    payload.extend(1.0_f64.to_be_bytes());
    payload.extend(counts);
    let zlib = stored(&payload);
    let mut bytes = COMPRESSED.to_be_bytes().to_vec();
    bytes.extend((zlib.len() as u32).to_be_bytes());
    bytes.extend(zlib);
    base64(&bytes)
}

/// Reads the text of [`encode`]; `None` if it is damaged. `longest` is the exact maximum.
pub fn decode(text: &str, longest: u64) -> Option<Latencies> {
    let bytes = unbase64(text)?;
    let (cookie, rest) = number(&bytes)?;
    let (length, rest) = number(rest)?;
    if cookie != COMPRESSED || rest.len() != length as usize {
        return None;
    }
    let payload = unstored(rest)?;
    let (cookie, rest) = number(&payload)?;
    let (length, _) = number(rest)?;
    let mut counts = payload.get(HEAD..)?;
    if cookie != PAYLOAD || counts.len() != length as usize {
        return None;
    }
    let mut times = Histogram::default();
    let mut bucket = 0_usize;
    while let Some(count) = take(&mut counts) {
        if count < 0 {
            bucket = bucket.checked_add(usize::try_from(count.unsigned_abs()).ok()?)?;
            continue;
        }
        if bucket >= BUCKETS {
            return None;
        }
        // The end of a bucket can exceed the maximum of all times.
        times.record_some(longest_in(bucket).min(longest), count.unsigned_abs());
        bucket += 1;
    }
    times.lengthen(longest);
    counts.is_empty().then_some(Latencies { times })
}

/// Appends a number as ZigZag LEB128 of at most nine bytes, the last of which has eight bits.
fn put(bytes: &mut Vec<u8>, number: i64) {
    let mut rest = ((number << 1) ^ (number >> 63)) as u64;
    for _ in 0..8 {
        if rest < 0x80 {
            bytes.push(rest as u8);
            return;
        }
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

/// Takes a number of [`put`]; `None` at the end, or if the bytes end inside of it.
fn take(bytes: &mut &[u8]) -> Option<i64> {
    let (mut rest, mut number) = (*bytes, 0_u64);
    for place in 0..9 {
        let (byte, others) = rest.split_first()?;
        rest = others;
        let has_more = place < 8 && byte & 0x80 != 0;
        number |= u64::from(if place < 8 { byte & 0x7f } else { *byte }) << (7 * place);
        if !has_more {
            break;
        }
    }
    *bytes = rest;
    Some((number >> 1) as i64 ^ -((number & 1) as i64))
}

fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (first, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_be_bytes(*first), rest))
}

/// The bytes as zlib data of stored blocks (RFC 1950, RFC 1951).
fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut zlib = ZLIB.to_vec();
    let last = bytes.len().div_ceil(BLOCK).saturating_sub(1);
    for (index, block) in bytes.chunks(BLOCK).enumerate() {
        let length = block.len() as u16;
        zlib.push(u8::from(index == last));
        zlib.extend(length.to_le_bytes());
        zlib.extend((!length).to_le_bytes());
        zlib.extend(block);
    }
    zlib.extend(adler(bytes).to_be_bytes());
    zlib
}

fn unstored(zlib: &[u8]) -> Option<Vec<u8>> {
    let mut rest = zlib.strip_prefix(&ZLIB)?;
    let mut bytes = Vec::new();
    loop {
        let (head, others) = rest.split_first_chunk::<5>()?;
        let length = u16::from_le_bytes([head[1], head[2]]);
        if head[0] > 1 || u16::from_le_bytes([head[3], head[4]]) != !length {
            return None;
        }
        bytes.extend(others.get(..usize::from(length))?);
        rest = &others[usize::from(length)..];
        if head[0] == 1 {
            let (sum, _) = number(rest)?;
            return (rest.len() == 4 && sum == adler(&bytes)).then_some(bytes);
        }
    }
}

/// The checksum of zlib data.
fn adler(bytes: &[u8]) -> u32 {
    let (one, two) = bytes.iter().fold((1_u32, 0_u32), |(one, two), byte| {
        let one = (one + u32::from(*byte)) % 65_521;
        (one, (two + one) % 65_521)
    });
    two << 16 | one
}

fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let group = part.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - part.len()));
        for place in 0..4 {
            let digit = group >> (18 - 6 * place) & 63;
            text.push(if place > part.len() { '=' } else { ALPHABET[digit as usize] as char });
        }
    }
    text
}

fn unbase64(text: &str) -> Option<Vec<u8>> {
    let text = text.as_bytes();
    let padding = text.iter().rev().take_while(|byte| **byte == b'=').count();
    if !text.len().is_multiple_of(4) || padding > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for part in text[..text.len() - padding].chunks(4) {
        let digit = |byte: &u8| ALPHABET.iter().position(|known| known == byte);
        let group = part.iter().try_fold(0_u32, |group, byte| Some(group << 6 | digit(byte)? as u32))?;
        let group = group << (6 * (4 - part.len()));
        bytes.extend(&group.to_be_bytes()[1..part.len()]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use units::Nanos;

    use super::*;

    fn record_all(times: &[u64]) -> Latencies {
        let mut latencies = Latencies::default();
        times.iter().for_each(|time| latencies.record(Nanos(*time)));
        latencies
    }

    /// The counts and the header that the description of the format gives for these times.
    #[test]
    fn the_payload_is_that_of_hdrhistogram() {
        let text = encode(&record_all(&[1, 1, 1000, 5_000_000]));
        assert!(text.starts_with("HISTF"), "{text}");
        let payload = unstored(&unbase64(&text).expect("base64")[8..]).expect("zlib");
        let counts: Vec<i64> = std::iter::successors(Some((0, &payload[HEAD..])), |(_, rest)| {
            let mut rest = *rest;
            Some((take(&mut rest)?, rest))
        })
        .skip(1)
        .map(|(count, _)| count)
        .collect();
        // 5,000,000 >> 12 is 1220, in the 13th row: 12 * 1024 + 1220 = 13508.
        assert_eq!(counts, [-1, 2, -998, 1, -(13_508 - 1001), 1]);
        assert_eq!(payload[..16], [0x1c, 0x84, 0x93, 0x13, 0, 0, 0, counts_bytes(&payload), 0, 0, 0, 0, 0, 0, 0, 3]);
        assert_eq!(payload[16..24], 1_u64.to_be_bytes());
        assert_eq!(payload[32..40], 1.0_f64.to_be_bytes());
    }

    fn counts_bytes(payload: &[u8]) -> u8 {
        (payload.len() - HEAD) as u8
    }

    #[test]
    fn damaged_text_is_refused() {
        let text = encode(&record_all(&[5, 6, 1_000_000]));
        assert!(decode(&text, 1_000_000).is_some());
        for damaged in ["", "====", "HISTF", &text[..text.len() - 4], &text.replace('H', "I"), &text.replace('A', "B")]
        {
            assert!(decode(damaged, 1_000_000).is_none(), "{damaged}");
        }
    }

    #[test]
    fn numbers_have_at_most_nine_bytes() {
        for number in [0, 1, -1, 63, 64, -64, -65, i64::MAX, i64::MIN] {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            assert!(bytes.len() <= 9);
            assert_eq!(take(&mut &bytes[..]), Some(number));
        }
    }

    proptest! {
        #[test]
        fn latencies_come_back(times in prop::collection::vec(prop_oneof![0u64..5_000, 0u64..LONGEST], 0..400)) {
            let latencies = record_all(&times);
            let back = decode(&encode(&latencies), latencies.longest().unwrap_or_default());
            prop_assert_eq!(back, Some(latencies));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[A-Za-z0-9+/=]{0,200}") {
            let _ = decode(&text, 5);
            let _ = decode(&format!("HISTFAAAAB{text}"), 5);
        }
    }
}
