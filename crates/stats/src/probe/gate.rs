//! The gate: the least time between requests at any queue depth. It is a time per request, or the time per byte times
//! the size, if that is longer.

use super::estimate::{Estimate, Measured, NotMeasured, WIDEST};
use super::knee::Limit;

/// The larger of the two times must be longer than the other one by this factor, so that the size shows only the
/// larger. Chosen.
const CLEAR: f64 = 1.05;

/// The largest error of the middle size, as a share. Chosen: a sum of both times differs by more.
const FORM: f64 = 0.05;

/// The limit of one size at depth.
#[derive(Clone, Copy, Debug)]
pub struct AtSize {
    /// Bytes of a request.
    pub bytes: u32,
    /// The limit, in requests per second.
    pub limit: Limit,
}

/// A gate.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    /// Nanoseconds per request.
    pub request: Measured,
    /// Nanoseconds per byte.
    pub byte: Measured,
}

/// Computes the gate from three sizes, the smallest first:
///   1. the smallest size has the time per request, the largest the time per byte;
///   2. neither counts if the other one explains it;
///   3. the middle size must agree with the longer of the two. If it does not, the limit has another form.
pub fn gate(small: &AtSize, middle: &AtSize, large: &AtSize) -> Gate {
    let each = |size: &AtSize| size.limit.gate.map(|rate| rate.reciprocal().times(1e9));
    // 1
    let request = each(small);
    let byte = each(large).map(|time| time.times(1.0 / f64::from(large.bytes)));
    let (Ok(per_request), Ok(per_byte)) = (request, byte) else {
        // Without the other one, it is not certain that a size shows only its own time.
        let alone = |own: Measured, other: Measured| match (own, other) {
            (Ok(_), Err(_)) => Err(NotMeasured::Hidden("another limit hides a part of the gate")),
            (own, _) => own,
        };
        // If small requests are quick, the time per request does not matter for the largest size.
        let is_free = large.limit.gate.is_ok_and(|rate| small.limit.quickest > CLEAR * CLEAR * rate.value);
        return Gate { request: alone(request, byte), byte: if is_free { byte } else { alone(byte, request) } };
    };
    // 2
    let hidden = |why| Err(NotMeasured::Hidden(why));
    let own = |estimate: Estimate, is_own: bool, why| if is_own { estimate.checked(WIDEST) } else { hidden(why) };
    let of_small = per_byte.value * f64::from(small.bytes);
    let of_large = per_byte.value * f64::from(large.bytes);
    let request = own(per_request, per_request.value > CLEAR * of_small, "the time per byte is longer at 4 KiB");
    let byte = own(per_byte, of_large > CLEAR * per_request.value, "the time per request is longer at 1 MiB");
    // 3
    if let (Ok(request), Ok(byte), Ok(found)) = (request, byte, each(middle)) {
        let expected = request.value.max(byte.value * f64::from(middle.bytes));
        if (found.value / expected - 1.0).abs() > FORM {
            let other = hidden("the sizes have no common time per request and per byte");
            return Gate { request: other, byte: other };
        }
    }
    Gate { request, byte }
}

#[cfg(test)]
mod tests {
    use super::super::knee::limit;
    use super::*;

    /// The limit that these times between requests show, at depth 32.
    fn at(bytes: u32, interval: f64, latency: f64) -> AtSize {
        let ends: Vec<u64> = (0..2000).map(|index| (latency + interval * f64::from(index)) as u64).collect();
        AtSize { bytes, limit: limit(&ends, latency, 32) }
    }

    fn gates(interval: impl Fn(f64) -> f64) -> Gate {
        let of = |bytes: u32| at(bytes, interval(f64::from(bytes)), 200_000.0 + 7.0 * f64::from(bytes));
        gate(&of(4096), &of(131_072), &of(1 << 20))
    }

    #[test]
    fn both_times_come_back() {
        let found = gates(|bytes| f64::max(62_500.0, 4.99 * bytes));
        assert!((found.request.expect("a gate").value / 62_500.0 - 1.0).abs() < 1e-3);
        assert!((found.byte.expect("a gate").value / 4.99 - 1.0).abs() < 1e-3);
    }

    #[test]
    fn a_gate_of_another_form_is_not_measured() {
        let found = gates(|bytes| 62_500.0 + 0.3 * bytes);
        assert!(found.request.is_err() && found.byte.is_err(), "{found:?}");
    }

    #[test]
    fn one_time_alone_is_found() {
        let found = gates(|bytes| 50.0 * bytes);
        assert!(found.request.is_err());
        assert!((found.byte.expect("a gate").value / 50.0 - 1.0).abs() < 1e-3);
        let found = gates(|_| 700_000.0);
        assert!(found.byte.is_err());
    }
}
