//! The findings of a probe as a device's file, for `predict` and the simulator.

use machines::{DeviceFile, Figure, MeasuredOn, Origin, Point};
use simulator::description::{GATE_PER_LATENCY, Gate};
use stats::probe::latency::Times;
use stats::probe::{Estimate, Measured, NotMeasured};
use units::Nanos;

use crate::error::CampaignError;

use super::findings::{Bucket, Direction, Findings, Scope};
use super::hidden;

/// How the probe computed the latencies, as words for the file.
const fn statistic(times: Times) -> &'static str {
    match times {
        Times::OfProgram => "diskperf probe, 20th percentile",
        Times::OfDevice => "diskperf probe, median in the block trace",
    }
}

/// How the probe computed the rates, as words for the file.
const LINE: &str = "diskperf probe, line through the last completions";

/// The origin of figures that need no statistic: they follow from the kind of probe.
const BY_DESIGN: &str = "diskperf probe";

/// The reason for a gate that no law can have, because a request alone is much quicker. The requests have a limit that
/// is not in the file.
pub(crate) const TOO_LONG: &str = "the time at queue depth 32 is more than twice the latency";

/// The reason for a bucket that limits reads, if a law with it for reads alone would not limit writes at all.
pub(crate) const UNCLEAR: &str = "it limits reads, and the limit of writes is not clear";

/// Thousandths of a request, and picoseconds in a nanosecond.
const THOUSANDTHS: f64 = 1000.0;

/// Makes the file of a device. A constant that is not measured is `n.m.` with its reason.
pub fn device_file(
    name: &str,
    findings: &Findings,
    measured_on: Option<MeasuredOn>,
) -> Result<DeviceFile, CampaignError> {
    let latencies = findings.reads.latency.iter().chain(&findings.writes.latency);
    if latencies.into_iter().all(|(_, latency)| latency.is_err()) {
        return Err(CampaignError::NoLaw(name.to_owned()));
    }
    let mut figures = Vec::new();
    let mut add = |key: &str, figure: Figure| figures.push((key.to_owned(), figure));
    add("capacity", Figure::number(findings.capacity, Origin::measured(BY_DESIGN, 1)));
    add("alignment", Figure::number(findings.alignment.into(), Origin::measured(BY_DESIGN, 1)));
    for (of, direction) in [("read", &findings.reads), ("write", &findings.writes)] {
        let table = table(direction, statistic(findings.latency_times));
        let is_known = matches!(table, Figure::Table { .. });
        add(&format!("{of}_latency"), table);
        if !is_known {
            add(&format!("{of}_gate"), unmeasured(direction.gate_request.and(direction.gate_byte).err()));
            continue;
        }
        // Each figure has its own reason: `predict` trusts some of them.
        for (inner, gate, factor) in
            [("request", direction.gate_request, 1.0), ("byte", direction.gate_byte, THOUSANDTHS)]
        {
            let gate = if is_too_long(direction) { hidden(TOO_LONG) } else { gate };
            add(&format!("{of}_gate.{inner}"), number(gate, factor, LINE));
        }
    }
    match findings.flush_base {
        Ok(_) => {
            add("flush.base", number(findings.flush_base, 1.0, statistic(findings.flush_times)));
            add("flush.drain", number(findings.flush_drain, 1.0, LINE));
        }
        Err(why) => add("flush", unmeasured(Some(why))),
    }
    match (findings.cache_size, findings.cache_drain) {
        (Ok(_), Ok(_)) => {
            add("write_cache.size", number(findings.cache_size, 1.0, LINE));
            add("write_cache.drain", number(findings.cache_drain, 1.0, LINE));
        }
        (size, drain) => add("write_cache", unmeasured(size.and(drain).err())),
    }
    for (of, bucket, factor) in [("requests", &findings.requests, THOUSANDTHS), ("bytes", &findings.bytes, 1.0)] {
        add_bucket(&mut add, of, bucket, factor);
    }
    Ok(DeviceFile::compose(name, measured_on, figures)?)
}

/// True if the gate is too long for one of the latencies, in the whole numbers of the file.
fn is_too_long(direction: &Direction) -> bool {
    let gate = Gate {
        request: Nanos(direction.gate_request.map_or(0, |gate| whole(gate.value))),
        byte_picos: direction.gate_byte.map_or(0, |gate| whole(gate.times(THOUSANDTHS).value)),
    };
    direction.latency.iter().any(|(bytes, latency)| {
        latency.is_ok_and(|latency| gate.spacing(*bytes).0 > GATE_PER_LATENCY.saturating_mul(whole(latency.value)))
    })
}

/// Adds a bucket. One with a rate and without a burst is in the file, too: `predict` needs its rate.
fn add_bucket(add: &mut impl FnMut(&str, Figure), of: &str, bucket: &Bucket, factor: f64) {
    let key = |inner: &str| format!("bucket.{of}.{inner}");
    if let Err(why) = bucket.rate {
        add(&format!("bucket.{of}"), unmeasured(Some(why)));
        return;
    }
    let limits = match bucket.scope {
        Scope::Reads => "reads",
        Scope::All => "all",
        Scope::Unclear => {
            add(&format!("bucket.{of}"), Figure::unmeasured(UNCLEAR));
            return;
        }
    };
    let word = |word: &str| Figure::Word { word: word.to_owned(), origin: Origin::inferred(BY_DESIGN) };
    add(&key("of"), word(of));
    add(&key("limits"), word(limits));
    add(&key("rate"), number(bucket.rate, factor, LINE));
    add(&key("burst"), number(bucket.burst, 1.0, LINE));
    if of == "requests" {
        add(&key("unit"), Figure::unmeasured("the sizes of the probe do not show it"));
        add(&key("counts"), word("requests"));
    }
}

/// The measured latencies. If none is measured, the reason of the first one.
fn table(direction: &Direction, statistic: &str) -> Figure {
    let nanos = |value: f64| Nanos(whole(value));
    let point = |(bytes, latency): &(u32, Measured)| {
        let Estimate { value, low, high, .. } = latency.ok()?;
        Some(Point { bytes: *bytes, time: nanos(value), range: Some((nanos(low), nanos(high))) })
    };
    let points: Vec<Point> = direction.latency.iter().filter_map(point).collect();
    let samples = direction.latency.iter().filter_map(|(_, latency)| latency.ok()).map(|latency| latency.samples).min();
    match samples {
        Some(samples) => Figure::Table { points, origin: Origin::measured(statistic, samples.into()) },
        None => match direction.latency.first() {
            Some((_, latency)) => unmeasured(latency.err()),
            None => Figure::unmeasured("not probed"),
        },
    }
}

/// A number in the units of the file.
fn number(measured: Measured, factor: f64, from: &str) -> Figure {
    match measured {
        Ok(estimate) => {
            let Estimate { value, low, high, samples } = estimate.times(factor);
            let [value, low, high] = [value, low, high].map(whole);
            Figure::Number { value, range: Some((low, high)), origin: Origin::measured(from, samples.into()) }
        }
        Err(why) => unmeasured(Some(why)),
    }
}

/// A number of the file. A negative one becomes zero.
fn whole(value: f64) -> u64 {
    value.round() as u64
}

fn unmeasured(why: Option<NotMeasured>) -> Figure {
    Figure::unmeasured(&why.map_or_else(|| "the latency is not measured".to_owned(), |why| why.to_string()))
}
