//! The stored form of a block trace: the version, the elapsed time and the requests, as numbers of variable length
//! (LEB128). A request takes about 12 bytes.
//!
//! ```text
//!   version, elapsed, count, then per request: since the issue before, duration, kind and bios, offset, bytes
//! ```

use units::Nanos;
use workload::{BlockTrace, TapeKind, TracedRequest};

/// The version of the form.
const VERSION: u64 = 1;

/// The kinds, by their number in the form.
const KINDS: [TapeKind; 3] = [TapeKind::Read, TapeKind::Write, TapeKind::Flush];

/// The bits of a byte that belong to the number.
const BITS: u32 = 7;

/// Bytes that a request takes at least: one for each of its five numbers.
const LEAST: usize = 5;

/// Converts a trace to its stored form.
pub fn encode_trace(trace: &BlockTrace) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(trace.requests.len() * 12 + 16);
    let mut put = |number: u64| {
        let mut rest = number;
        while rest >= 1 << BITS {
            bytes.push((rest as u8) | 1 << BITS);
            rest >>= BITS;
        }
        bytes.push(rest as u8);
    };
    put(VERSION);
    put(trace.elapsed.0);
    put(trace.requests.len() as u64);
    let mut before = Nanos::ZERO;
    for request in &trace.requests {
        let kind = KINDS.iter().position(|kind| *kind == request.kind).unwrap_or(0) as u64;
        put(request.issued.saturating_sub(before).0);
        put(request.completed.saturating_sub(request.issued).0);
        put(u64::from(request.bios) * KINDS.len() as u64 + kind);
        put(request.offset);
        put(u64::from(request.bytes));
        before = request.issued;
    }
    bytes
}

/// Reads the stored form; `None` if it is damaged or of another version.
pub fn decode_trace(bytes: &[u8]) -> Option<BlockTrace> {
    let mut rest = bytes;
    let mut next = || -> Option<u64> {
        let mut number = 0;
        for place in 0..u64::BITS.div_ceil(BITS) {
            let (byte, others) = rest.split_first()?;
            rest = others;
            number |= u64::from(byte & !(1 << BITS)).checked_shl(place * BITS)?;
            if byte >> BITS == 0 {
                return Some(number);
            }
        }
        None
    };
    if next()? != VERSION {
        return None;
    }
    let elapsed = Nanos(next()?);
    let count = usize::try_from(next()?).ok().filter(|count| *count <= bytes.len() / LEAST)?;
    let mut requests = Vec::with_capacity(count);
    let mut before = 0_u64;
    for _ in 0..count {
        let issued = before.checked_add(next()?)?;
        let completed = issued.checked_add(next()?)?;
        let word = next()?;
        let kind = KINDS[(word % KINDS.len() as u64) as usize];
        let bios = u16::try_from(word / KINDS.len() as u64).ok()?;
        let (offset, bytes) = (next()?, u32::try_from(next()?).ok()?);
        requests.push(TracedRequest { issued: Nanos(issued), completed: Nanos(completed), kind, offset, bytes, bios });
        before = issued;
    }
    rest.is_empty().then_some(BlockTrace { requests, elapsed })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace() -> BlockTrace {
        let request = |issued, completed, kind, offset, bytes, bios| TracedRequest {
            issued: Nanos(issued),
            completed: Nanos(completed),
            kind,
            offset,
            bytes,
            bios,
        };
        let requests = vec![
            request(0, 1_000_000, TapeKind::Read, u64::MAX >> 1, 4096, 1),
            request(500, 400_000, TapeKind::Write, 512, u32::MAX, u16::MAX),
            request(500, 500, TapeKind::Flush, 0, 0, 0),
        ];
        BlockTrace { requests, elapsed: Nanos(u64::MAX) }
    }

    #[test]
    fn traces_are_read_back_unchanged() {
        for trace in [trace(), BlockTrace::default()] {
            assert_eq!(decode_trace(&encode_trace(&trace)), Some(trace));
        }
    }

    #[test]
    fn damaged_traces_are_noticed() {
        let whole = encode_trace(&trace());
        for length in 0..whole.len() {
            assert_eq!(decode_trace(&whole[..length]), None, "{length}");
        }
        assert_eq!(decode_trace(&[&whole[..], &[0]].concat()), None);
        assert_eq!(decode_trace(&[2, 0, 0]), None, "another version");
        assert_eq!(decode_trace(&[1, 0, 255, 255, 255, 255, 15]), None, "more requests than bytes");
    }
}
