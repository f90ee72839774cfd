//! Probes of simulated devices: each constant comes back, or is not measured. It is never wrong.

use core::convert::Infallible;

use machines::Machine;
use simulator::description::{
    Bucket as LawBucket, Counts, DeviceLaw, Flush, Gate, Latency, LatencyTable, Limits, Tokens, WriteCache,
};
use simulator::{Chance, LawDevice, RawDrive};
use stats::probe::{BELOW_LIMIT, Estimate, Measured, NotMeasured};
use units::Nanos;
use workload::{Served, Tape, TapePlayer, TapeRequest};

use super::{Findings, Player, Scope, Settings, TOO_LONG, UNCLEAR, device_file, hidden, probe};

/// A device that answers after 100 us, and later after a pause or after another request. 80 us are the latency of the
/// device alone.
#[derive(Debug)]
pub(super) struct Drowsy {
    after_pause: Nanos,
    after_request: Nanos,
    is_recorded: bool,
}

impl Drowsy {
    /// One that wakes up slowly, one that is busy after a request, one without either, and one that is recorded.
    pub(super) fn all() -> [Drowsy; 4] {
        let more = Nanos::from_micros(90);
        [
            (more, Nanos::ZERO, false),
            (Nanos::ZERO, more, false),
            (Nanos::ZERO, Nanos::ZERO, false),
            (more, Nanos::ZERO, true),
        ]
        .map(|(after_pause, after_request, is_recorded)| Drowsy { after_pause, after_request, is_recorded })
    }

    /// The device's own latency, if it is recorded.
    pub(super) fn own(&self) -> Option<f64> {
        self.is_recorded.then_some(80_000.0)
    }
}

impl TapePlayer for Drowsy {
    type Fault = Infallible;

    fn capacity(&self) -> u64 {
        1 << 30
    }

    fn alignment(&self) -> u32 {
        512
    }

    fn play(&mut self, tape: &Tape) -> Result<Vec<Served>, Infallible> {
        let mut now = Nanos::ZERO;
        let one = |request: &TapeRequest| {
            let issued = now + request.pause;
            let more = if request.pause > Nanos::ZERO { self.after_pause } else { self.after_request };
            now = issued + Nanos::from_micros(100) + more;
            Served { issued, completed: now }
        };
        Ok(tape.requests.iter().map(one).collect())
    }

    fn rest(&mut self, _: Nanos) -> Result<(), Infallible> {
        Ok(())
    }
}

impl Player for Drowsy {
    fn cpu_wait(&self) -> Option<Nanos> {
        Some(Nanos::ZERO)
    }

    fn recorded(&mut self, _: &Tape, served: &[Served]) -> Vec<Option<Served>> {
        let twenty = Nanos::from_micros(20);
        let of_device = |one: &Served| Served { completed: one.completed.saturating_sub(twenty), ..*one };
        served.iter().map(|one| self.is_recorded.then(|| of_device(one))).collect()
    }
}

/// The largest error, as a share.
const ERROR: f64 = 0.01;

fn table(base: u64, per_byte: f64) -> LatencyTable {
    let point = |bytes: u32| Latency { bytes, time: Nanos(base + (per_byte * f64::from(bytes)) as u64) };
    LatencyTable { points: [4096, 65_536, 1 << 20].map(point).to_vec() }
}

/// A device with latencies only.
fn plain() -> DeviceLaw {
    DeviceLaw {
        name: "plain".to_owned(),
        capacity_bytes: 1 << 30,
        alignment_bytes: 512,
        read_latency: Some(table(700_000, 4.0)),
        write_latency: Some(table(900_000, 3.0)),
        read_gate: None,
        write_gate: None,
        buckets: Vec::new(),
        flush: None,
        write_cache: None,
    }
}

fn bucket(name: &str, tokens: Tokens, rate: u64, burst_tokens: u64) -> LawBucket {
    let milli_tokens_per_second = 1000 * rate;
    LawBucket { name: name.to_owned(), limits: Limits::All, tokens, milli_tokens_per_second, burst_tokens }
}

const REQUESTS: Tokens = Tokens::Requests { unit_bytes: 0, counts: Counts::Requests };

fn probed(law: &DeviceLaw) -> Findings {
    let settings = Settings { writes: law.write_latency.is_some(), ..Settings::SIMULATED };
    let Ok(findings) = probe(&mut LawDevice::new(law), settings, &mut |_| {});
    check(law, &findings);
    findings
}

/// A measured constant must be that of the law. A law without it must not seem to have it.
fn same(name: &str, measured: Measured, of_law: Option<f64>) {
    if let Ok(found) = measured {
        let of_law = of_law.unwrap_or_else(|| panic!("{name} is {found:?}, and the law has none"));
        assert!((found.value / of_law - 1.0).abs() < ERROR, "{name} is {found:?}, and {of_law} in the law");
        assert!(found.low <= found.value && found.value <= found.high, "{name}: {found:?}");
    }
}

/// Compares all constants with those of the law.
fn check(law: &DeviceLaw, findings: &Findings) {
    for (name, table, direction, gate) in [
        ("read", &law.read_latency, &findings.reads, law.read_gate),
        ("write", &law.write_latency, &findings.writes, law.write_gate),
    ] {
        if let Some(table) = table {
            for (bytes, measured) in &direction.latency {
                let one = DeviceLaw { buckets: Vec::new(), write_cache: None, ..law.clone() };
                let kind = if name == "read" { workload::TapeKind::Read } else { workload::TapeKind::Write };
                let time = LawDevice::new(&one).serve(Nanos::ZERO, kind, 0, *bytes, 1);
                same(&format!("{name} latency of {bytes}"), *measured, Some(time.0 as f64));
            }
            assert!(!table.points.is_empty());
        }
        same(&format!("{name} gate"), direction.gate_request, gate.map(|gate| gate.request.0 as f64));
        same(&format!("{name} gate byte"), direction.gate_byte, gate.map(|gate| gate.byte_picos as f64 / 1000.0));
    }
    let bucket = |is_bytes: bool| law.buckets.iter().find(|bucket| (bucket.tokens == Tokens::Bytes) == is_bytes);
    for (name, found, of_law) in
        [("requests", findings.requests, bucket(false)), ("bytes", findings.bytes, bucket(true))]
    {
        let rate = of_law.map(|bucket| bucket.milli_tokens_per_second as f64 / 1000.0);
        same(&format!("rate of {name}"), found.rate, rate);
        same(&format!("refill of {name}"), found.refill, rate);
        same(&format!("burst of {name}"), found.burst, of_law.map(|bucket| bucket.burst_tokens as f64));
    }
    let drain = law.flush.and_then(|flush| flush.drain_bytes_per_second);
    let own = law.write_cache.map(|cache| cache.drain_bytes_per_second);
    // A flush of a law without a drain waits for the drain of its cache.
    let flush_drain = drain.or(own.filter(|_| law.flush.is_some()));
    same("flush base", findings.flush_base, law.flush.map(|flush| flush.base.0 as f64));
    same("flush drain", findings.flush_drain, flush_drain.map(|rate| rate as f64));
    same("cache size", findings.cache_size, law.write_cache.map(|cache| cache.bytes as f64));
    same("cache drain", findings.cache_drain, own.map(|rate| rate as f64));
    assert!(findings.page.is_err() && findings.channels.is_err() && findings.rotating.is_none());
}

#[test]
fn latencies_of_a_plain_device_come_back() {
    let findings = probed(&plain());
    assert!(findings.reads.latency.iter().chain(&findings.writes.latency).all(|(_, latency)| latency.is_ok()));
    assert!(findings.reads.gate_request.is_err() && findings.requests.rate.is_err());
}

#[test]
fn gates_come_back() {
    let gate = Gate { request: Nanos(62_500), byte_picos: 3_500 };
    let findings = probed(&DeviceLaw { read_gate: Some(gate), write_gate: Some(gate), ..plain() });
    assert!(findings.reads.gate_request.is_ok() && findings.reads.gate_byte.is_ok(), "{findings:?}");
    assert!(findings.writes.gate_request.is_ok() && findings.writes.gate_byte.is_ok(), "{findings:?}");
}

#[test]
fn a_bucket_with_an_unclear_limit_of_writes_is_not_in_the_file() {
    let of_reads = LawBucket { limits: Limits::Reads, ..bucket("requests", REQUESTS, 1500, 3999) };
    let of_writes = LawBucket { limits: Limits::Writes, ..bucket("writes", REQUESTS, 500, 1000) };
    let findings = probed(&DeviceLaw { buckets: vec![of_reads, of_writes], ..plain() });
    assert_eq!((findings.requests.rate.is_ok(), findings.requests.scope), (true, Scope::Unclear));
    let file = device_file("two", &findings, None).expect("a law");
    assert!(file.law().buckets.is_empty(), "{:?}", file.law());
    assert!(file.unmeasured().any(|figure| figure == ("bucket.requests", UNCLEAR)));
}

/// The unmeasured figures of the file of these findings.
fn unmeasured(findings: &Findings, key: &str) -> Vec<(String, String)> {
    let file = device_file("one", findings, None).unwrap_or_else(|error| panic!("{error}"));
    let of_key = file.unmeasured().filter(|(known, _)| known.starts_with(key));
    of_key.map(|(key, why)| (key.to_owned(), why.to_owned())).collect()
}

#[test]
fn unmeasured_gates_have_their_own_reasons_in_the_file() {
    let mut findings = probed(&plain());
    let (request, byte) = ("another limit hides a part of the gate", BELOW_LIMIT);
    (findings.reads.gate_request, findings.reads.gate_byte) = (hidden(request), hidden(byte));
    let both = [("read_gate.request", request), ("read_gate.byte", byte)];
    assert_eq!(unmeasured(&findings, "read_gate"), both.map(|(key, why)| (key.to_owned(), why.to_owned())));
    // A law has no gate that is longer than twice the latency.
    let exactly = |value| Ok(Estimate { value, low: value, high: value, samples: 99 });
    findings.reads.gate_request = exactly(2e6);
    let too_long = ["read_gate.request", "read_gate.byte"].map(|key| (key.to_owned(), TOO_LONG.to_owned()));
    assert_eq!(unmeasured(&findings, "read_gate"), too_long);
    // 201 ns and 100 ns in the file.
    findings.reads.gate_request = exactly(200.6);
    findings.reads.latency.iter_mut().for_each(|(_, latency)| *latency = exactly(100.4));
    assert_eq!(unmeasured(&findings, "read_gate"), too_long);
}

#[test]
fn a_rate_limit_without_credit_is_a_bucket_of_one_request() {
    let findings = probed(&DeviceLaw { buckets: vec![bucket("requests", REQUESTS, 500, 1)], ..plain() });
    assert_eq!((findings.requests.burst.is_ok(), findings.requests.scope), (true, Scope::All), "{findings:?}");
    let file = device_file("capped", &findings, None).expect("a law");
    let buckets: Vec<_> = file.law().buckets.iter().map(|one| (one.limits, one.burst_tokens)).collect();
    assert_eq!(buckets, [(Limits::All, 1)]);
}

#[test]
fn a_bucket_with_an_unknown_burst_keeps_its_rate_in_the_file() {
    let mut findings = probed(&DeviceLaw { buckets: vec![bucket("requests", REQUESTS, 1500, 3999)], ..plain() });
    findings.requests.burst = Err(NotMeasured::Hidden("perhaps not full"));
    let file = device_file("one", &findings, None).expect("a law");
    assert!(file.law().buckets.is_empty(), "{:?}", file.law());
    let empty = file.without_credit().buckets;
    assert!(empty.len() == 1 && empty[0].burst_tokens == 1, "{empty:?}");
    assert!(empty[0].milli_tokens_per_second.abs_diff(1_500_000) < 15_000, "{empty:?}");
    assert!(file.unmeasured().any(|figure| figure == ("bucket.requests.burst", "perhaps not full")));
}

#[test]
fn buckets_come_back() {
    let buckets =
        vec![bucket("requests", REQUESTS, 1500, 3999), bucket("bytes", Tokens::Bytes, 120_000_000, 150_000_000)];
    let findings = probed(&DeviceLaw { buckets: buckets.clone(), ..plain() });
    assert!(findings.requests.rate.is_ok() && findings.requests.burst.is_ok(), "{findings:?}");
    assert!(findings.bytes.rate.is_ok() && findings.bytes.burst.is_ok(), "{findings:?}");
    let refill = findings.requests.refill.expect("it fills").value;
    assert!((refill / 1500.0 - 1.0).abs() < ERROR, "{refill}");
    assert_eq!((findings.requests.scope, findings.bytes.scope), (Scope::All, Scope::All));
    // The burst is more than half of all requests.
    let findings = probed(&DeviceLaw { buckets: vec![bucket("requests", REQUESTS, 1500, 9000)], ..plain() });
    assert_eq!((findings.requests.rate.is_ok(), findings.requests.scope), (true, Scope::All));
    for one in buckets {
        probed(&DeviceLaw { buckets: vec![one], ..plain() });
    }
}

#[test]
fn small_and_huge_buckets_are_not_measured_wrongly() {
    for burst in [1, 2, 5, 16, 40, 300, 5_400_000] {
        for rate in [100, 3000, 20_000] {
            let law = DeviceLaw { buckets: vec![bucket("requests", REQUESTS, rate, burst)], ..plain() };
            // A bucket of one token may be a gate.
            if burst > 1 {
                probed(&law);
            }
        }
    }
    for burst in [2_000_000, 40_000_000] {
        let buckets =
            vec![bucket("bytes", Tokens::Bytes, 125_000_000, burst), bucket("requests", REQUESTS, 3000, 3000)];
        probed(&DeviceLaw { buckets, ..plain() });
    }
}

/// Probes with the rests of a real device, after a tape of small reads that may have emptied a bucket.
fn probed_in_use(law: &DeviceLaw, reads: u64) -> Findings {
    let settings = Settings { writes: true, ..Settings::REAL };
    let mut device = LawDevice::new(law);
    let read = |index: u64| super::session::request(workload::TapeKind::Read, index % 1000 * 4096, 4096);
    let tape = workload::Tape { requests: (0..reads).map(read).collect(), depth: 32, limit: Nanos(u64::MAX) };
    let Ok(_) = workload::TapePlayer::play(&mut device, &tape);
    let Ok(findings) = probe(&mut device, settings, &mut |_| {});
    check(law, &findings);
    findings
}

#[test]
fn a_bucket_that_fills_for_longer_than_the_probe_rests_is_not_measured_wrongly() {
    for (rate, seconds) in [(100, 3), (100, 20), (1000, 4), (1000, 1800)] {
        let (burst, bytes) = (seconds * rate, rate * 100_000);
        for bucket in
            [bucket("requests", REQUESTS, rate, burst), bucket("bytes", Tokens::Bytes, bytes, seconds * bytes)]
        {
            for reads in [0, burst.min(20_000)] {
                probed_in_use(&DeviceLaw { buckets: vec![bucket.clone()], ..plain() }, reads);
            }
        }
    }
    // The rest is long enough for these.
    let law = DeviceLaw { buckets: vec![bucket("requests", REQUESTS, 500, 600)], ..plain() };
    assert!(probed_in_use(&law, 0).requests.burst.is_ok());
    let law = DeviceLaw { buckets: vec![bucket("requests", REQUESTS, 500, 2000)], ..plain() };
    assert!(probed_in_use(&law, 2000).requests.burst.is_ok());
    // This one gains 5,000 tokens in 10 s.
    let law = DeviceLaw { buckets: vec![bucket("requests", REQUESTS, 500, 20_000)], ..plain() };
    let of_20_000 = probed_in_use(&law, 20_000).requests;
    assert!(of_20_000.rate.is_ok() && of_20_000.burst.is_err(), "{of_20_000:?}");
}

#[test]
fn a_write_cache_and_its_flush_come_back() {
    let flush = Flush { base: Nanos(5_055_000), drain_bytes_per_second: Some(100_000_000) };
    let write_cache = WriteCache { bytes: 190 << 20, drain_bytes_per_second: 100_000_000 };
    let law = DeviceLaw { flush: Some(flush), write_cache: Some(write_cache), ..plain() };
    let findings = probed(&law);
    assert!(findings.flush_base.is_ok() && findings.flush_drain.is_ok(), "{findings:?}");
    assert!(findings.cache_size.is_ok() && findings.cache_drain.is_ok(), "{findings:?}");
    probed(&DeviceLaw { flush: Some(flush), ..plain() });
    probed(&DeviceLaw { flush: Some(Flush { drain_bytes_per_second: None, ..flush }), ..plain() });
    probed(&DeviceLaw { write_cache: Some(write_cache), ..plain() });
}

/// The seek time of a data sheet over a distance in cylinders: `a + b √d + c d` through its three times.
fn seek(drive: &simulator::description::Drive, distance: f64) -> f64 {
    let [least, average, most] = [drive.seek_least, drive.seek_average, drive.seek_most].map(|time| time.0 as f64);
    let (third, all) = (f64::from(drive.cylinders / 3), f64::from(drive.cylinders - 1));
    let over = |distance: f64| (distance.sqrt() - 1.0, distance - 1.0);
    let ((root_third, line_third), (root_all, line_all)) = (over(third), over(all));
    let determinant = root_third * line_all - root_all * line_third;
    let root = ((average - least) * line_all - (most - least) * line_third) / determinant;
    let line = (root_third * (most - least) - root_all * (average - least)) / determinant;
    least + root * over(distance).0 + line * over(distance).1
}

#[test]
fn the_disks_of_all_machines_come_back() {
    let mut machines = Vec::new();
    for machine in Machine::all() {
        let mut description = machine.describe(1, 0).expect("a machine");
        description.kernel.jitter_permille = 0;
        let drive = description.drive.clone();
        let mut raw = RawDrive::new(&description, Chance::default()).expect("a drive");
        let settings = Settings { writes: false, ..Settings::SIMULATED };
        let findings = probe(&mut raw, settings, &mut |_| {}).expect("tapes fit");
        let name = &machine.name;
        let Some(rotating) = &findings.rotating else {
            machines.push((name.clone(), false, 0, 0));
            continue;
        };
        let turn = 60e12 / f64::from(drive.milli_rpm);
        same(&format!("{name}: turn"), rotating.turn, Some(turn));
        for zone in &rotating.zones {
            let right = f64::from(drive.sectors_per_track);
            same(&format!("{name}: sectors"), zone.sectors, Some(right));
        }
        if let Ok(skew) = rotating.order.track_skew {
            assert_eq!(skew.value, f64::from(drive.track_skew_sectors), "{name}: {skew:?}");
        }
        // Its tracks all have the same skew.
        assert!(rotating.order.heads.is_err(), "{name}: {:?}", rotating.order);
        for (percent, found) in &rotating.seeks {
            if let Ok(found) = found {
                let right = seek(&drive, f64::from(drive.cylinders * percent / 100));
                assert!((found.value / right - 1.0).abs() < 0.03, "{name}: {percent} % is {found:?}, not {right}");
            }
        }
        let zones = rotating.zones.iter().filter(|zone| zone.sectors.is_ok()).count();
        let seeks = rotating.seeks.iter().filter(|(_, seek)| seek.is_ok()).count();
        machines.push((name.clone(), rotating.turn.is_ok(), zones, seeks));
    }
    let is_known =
        |name: &str| machines.iter().any(|(machine, turn, zones, _)| machine == name && *turn && *zones == 1);
    let has_seeks = |name: &str| machines.iter().any(|(machine, .., seeks)| machine == name && *seeks == 4);
    assert!(has_seeks("vax780-sc780"), "{machines:?}");
    // Tables D1 and D2 of 1983: the Eagle and the RA81.
    assert!(is_known("vax780-sc780") && is_known("vax750-uda50"), "{machines:?}");
}
