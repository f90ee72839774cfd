//! Files of devices: read, written, set.

use proptest::prelude::*;
use simulator::description::{Counts, Flush, Gate, Limits, Tokens, WriteCache};
use testkit::fuzz::{Subject, fuzz};

use super::*;

/// A file with every form of figure.
const DISK: &str = include_str!("tests/disk.toml");

fn disk() -> DeviceFile {
    DeviceFile::read(DISK, "disk.toml").unwrap_or_else(|fault| panic!("{fault}"))
}

/// The message about the file in which this line is replaced.
fn fault(line: &str, instead: &str) -> String {
    assert!(DISK.contains(line), "{line}");
    let text = DISK.replacen(line, instead, 1);
    DeviceFile::read(&text, "disk.toml").expect_err("an invalid file").to_string()
}

#[test]
fn a_file_gives_its_law() {
    let file = disk();
    let law = file.law();
    assert_eq!((law.name.as_str(), law.capacity_bytes, law.alignment_bytes), ("a \"disk\"", 10 << 30, 512));
    let points = |table: &Option<simulator::description::LatencyTable>| -> Vec<(u32, u64)> {
        table.as_ref().expect("a table").points.iter().map(|point| (point.bytes, point.time.0)).collect()
    };
    assert_eq!(points(&law.read_latency), [(4096, 1_094_500), (16_384, 1_156_000)]);
    assert_eq!(points(&law.write_latency), [(4096, 900_000)]);
    assert_eq!(law.read_gate, Some(Gate { request: Nanos(62_500), byte_picos: 4990 }));
    assert_eq!(law.write_gate, Some(Gate { request: Nanos(70_000), byte_picos: 0 }));
    assert_eq!(law.flush, Some(Flush { base: Nanos(5_055_000), drain_bytes_per_second: None }));
    assert_eq!(law.write_cache, Some(WriteCache { bytes: 190 << 20, drain_bytes_per_second: 400_000_000 }));
    let [requests, throughput] = law.buckets.as_slice() else { panic!("{:?}", law.buckets) };
    assert_eq!((requests.limits, throughput.limits), (Limits::Reads, Limits::All));
    assert_eq!(requests.tokens, Tokens::Requests { unit_bytes: 256 << 10, counts: Counts::Bios });
    assert_eq!((requests.milli_tokens_per_second, requests.burst_tokens), (1_500_250, 3999));
    assert_eq!((throughput.milli_tokens_per_second, throughput.burst_tokens), ((125 << 20) * 1000, 13 << 20));
    let unmeasured: Vec<_> = file.unmeasured().collect();
    assert_eq!(unmeasured, [("write_gate.byte", "not saturated"), ("flush.drain", "too noisy")]);
}

#[test]
fn faults_name_key_and_line() {
    let capacity = "capacity = { value = 10, unit = \"GiB\", source = \"inferred\", from = \"its size\" }\n";
    assert_eq!(fault(capacity, ""), "disk.toml:1: capacity is missing");
    assert_eq!(fault("kind = \"law\"\n", ""), "disk.toml:1: kind is missing");
    let kind = fault("kind = \"law\"", "kind = \"disk\"");
    assert_eq!(kind, "disk.toml:1: kind is \"disk\": requests can be replayed only on a device of the kind \"law\"");
    let drain = "drain = { value = 400, unit = \"MB/s\", source = \"measured\", from = \"probe 7c1e\", samples = 3 }\n";
    assert_eq!(fault(drain, ""), "disk.toml:16: write_cache.drain is missing");
    assert_eq!(
        fault("drain = { value = 400", "drian = { value = 400"),
        "disk.toml:18: write_cache.drian is not a field here"
    );
    assert_eq!(
        fault("samples = 40 }\nread_gate", "}\nread_gate"),
        "disk.toml:8: write_latency: is measured, but samples is missing"
    );
    assert_eq!(
        fault("low = 62, high = 63", "low = 63, high = 64"),
        "disk.toml:9: read_gate.request: is not between its low and its high"
    );
    assert_eq!(
        fault("value = [1094.5, 1156]", "value = [1094.5]"),
        "disk.toml:7: read_latency: its lists do not have the same length"
    );
    assert_eq!(fault(", reason = \"too noisy\"", ""), "disk.toml:10: flush.drain: is n.m. without a reason");
    assert_eq!(fault("unit = \"GiB\"", "unit = \"gib\""), "disk.toml:5: capacity cannot have the unit gib");
    assert_eq!(
        fault("value = \"bios\"", "value = \"bio\""),
        "disk.toml:26: bucket.requests.counts: \"bio\" is not one of the choices"
    );
}

#[test]
fn contradictions_are_found() {
    let slow = fault("value = 62.5, unit = \"us\"", "value = 62.5, unit = \"ms\"");
    assert_eq!(slow, "disk.toml:9: read_gate: 62.5 ms per request of 4096 bytes, but one alone takes 1.09 ms");
    let slow = fault("value = 70, unit = \"us\"", "value = 70, unit = \"ms\"");
    assert!(slow.starts_with("disk.toml:12: write_gate: "), "{slow}");
    let unsorted = fault("at = [4096, 16384]", "at = [16384, 4096]");
    assert_eq!(unsorted, "disk.toml:7: read_latency: size 4096 is not larger than 16384");
    let drains = fault(
        "value = \"n.m.\", reason = \"too noisy\"",
        "value = 1, unit = \"MB/s\", source = \"fitted\", from = \"x\"",
    );
    assert!(drains.starts_with("disk.toml:18: write_cache.drain: 400000000 bytes/s contradict"), "{drains}");
    let rate = fault("value = 1500.25", "value = 0");
    assert!(rate.starts_with("disk.toml:23: bucket.requests.rate: 0 is not within"), "{rate}");
    let two = fault("[write_cache]\n", "[write_cache]\nvalue = \"none\"\n");
    assert!(two.starts_with("disk.toml:"), "{two}");
}

#[test]
fn mechanisms_can_be_none_or_unmeasured() {
    let whole = DISK.find("[bucket.requests]").expect("buckets");
    let none = "bucket = { value = \"none\", source = \"inferred\", from = \"x\" }\n";
    let file = DeviceFile::read(&DISK[..whole].replace("capacity", &format!("{none}capacity")), "disk.toml");
    assert_eq!(file.expect("a device without buckets").law().buckets, []);
    let burst = DISK.lines().find(|line| line.starts_with("burst")).expect("a burst");
    let text = DISK.replacen(burst, "burst = { value = \"n.m.\", reason = \"never full\" }", 1);
    let file = DeviceFile::read(&text, "disk.toml").expect("a device with an unknown burst");
    let buckets = |law: &DeviceLaw| -> Vec<(String, u64)> {
        law.buckets.iter().map(|bucket| (bucket.name.clone(), bucket.burst_tokens)).collect()
    };
    assert_eq!(buckets(file.law()), [("throughput".to_owned(), 13 << 20)]);
    assert_eq!(buckets(&file.without_credit())[0], ("requests".to_owned(), 1));
    assert!(file.unmeasured().any(|figure| figure == ("bucket.requests.burst", "never full")));
    let flush = DISK.lines().find(|line| line.starts_with("flush")).expect("a flush");
    let text = DISK.replace(flush, "flush = { value = \"n.m.\", reason = \"reads only\" }");
    let file = DeviceFile::read(&text, "disk.toml").expect("a device without a known flush");
    assert_eq!(file.law().flush, None);
    let text = DISK.replace(flush, "flush = { value = \"none\", source = \"inferred\", from = \"no cache\" }");
    let file = DeviceFile::read(&text, "disk.toml").expect("a device without flushes");
    assert_eq!(file.law().flush, Some(Flush { base: Nanos::ZERO, drain_bytes_per_second: None }));
}

#[test]
fn a_file_is_written_as_it_was_read() {
    for file in DeviceFile::names().into_iter().map(DeviceFile::load).chain([Ok(disk())]) {
        let file = file.unwrap_or_else(|fault| panic!("{fault}"));
        let text = file.to_toml();
        let again = DeviceFile::read(&text, "again.toml").unwrap_or_else(|fault| panic!("{fault}\n{text}"));
        assert_eq!(again, file, "{text}");
    }
}

proptest! {
    /// Any figures of a possible device are the same after they were written and read.
    #[test]
    fn written_figures_come_back(
        times in proptest::collection::btree_map(1..u32::MAX, 1..3_000_000_000_u64, 1..9),
        number in 1..(1_u64 << 50),
        spread in 0..100_u64,
        text in "[a-z\"\\\\\u{1}\n é]{1,9}x",
        samples in proptest::option::of(0..1_000_000_u64),
    ) {
        let source = if samples.is_some() { Source::Measured } else { Source::Fitted };
        let origin = Origin { source, from: text.clone(), samples };
        let point = |(&bytes, &time): (&u32, &u64)| Point {
            bytes,
            time: Nanos(time),
            range: Some((Nanos(time.saturating_sub(spread)), Nanos(time + spread))),
        };
        let points: Vec<Point> = times.iter().map(point).collect();
        let range = Some((number.saturating_sub(spread), number + spread));
        let figures = [
            ("capacity", Figure::number(number * 512, origin.clone())),
            ("alignment", Figure::number(512, origin.clone())),
            ("read_latency", Figure::Table { points: points.clone(), origin: origin.clone() }),
            ("write_latency", Figure::unmeasured(&text)),
            ("read_gate", Figure::None { origin: origin.clone() }),
            ("write_gate", Figure::unmeasured(&text)),
            ("flush.base", Figure::number(number % 3_600_000_000_000, origin.clone())),
            ("flush.drain", Figure::Number { value: number, range, origin: origin.clone() }),
            ("write_cache", Figure::unmeasured(&text)),
            ("bucket.a-b.of", Figure::Word { word: "requests".to_owned(), origin: origin.clone() }),
            ("bucket.a-b.limits", Figure::Word { word: "writes".to_owned(), origin: origin.clone() }),
            ("bucket.a-b.rate", Figure::Number { value: number, range, origin: origin.clone() }),
            ("bucket.a-b.burst", Figure::number(number, origin.clone())),
            ("bucket.a-b.unit", Figure::unmeasured(&text)),
            ("bucket.a-b.counts", Figure::Word { word: "bios".to_owned(), origin: origin.clone() }),
        ];
        let figures = figures.map(|(key, figure)| (key.to_owned(), figure));
        let on = MeasuredOn { host: text.clone(), date: text.clone(), target: text.clone() };
        let file = DeviceFile::compose(&text, Some(on), figures).expect("a possible device");
        let written = file.to_toml();
        let again = DeviceFile::read(&written, "again.toml").unwrap_or_else(|fault| panic!("{fault}\n{written}"));
        prop_assert_eq!(again, file);
    }
}

#[test]
fn settings_change_what_the_law_has() {
    let set = |settings: &[&str]| {
        let mut file = disk();
        settings.iter().for_each(|setting| file.set(setting).unwrap_or_else(|fault| panic!("{fault}")));
        file
    };
    let times = |file: &DeviceFile| -> Vec<u64> {
        file.law().read_latency.iter().flat_map(|table| table.points.iter().map(|point| point.time.0)).collect()
    };
    assert_eq!(times(&set(&["read_latency=x0.5"])), [547_250, 578_000]);
    assert_eq!(times(&set(&["read_latency=2ms"])), [2_000_000; 2]);
    assert_eq!(set(&["write_cache=none"]).law().write_cache, None);
    assert_eq!(set(&["write_cache.size=64MiB"]).law().write_cache.map(|cache| cache.bytes), Some(64 << 20));
    assert_eq!(set(&["bucket.requests.rate=x2"]).law().buckets[0].milli_tokens_per_second, 3_000_500);
    assert_eq!(set(&["bucket.requests=none"]).law().buckets.len(), 1);
    assert_eq!(set(&["bucket=none"]).law().buckets.len(), 0);
    assert_eq!(set(&["flush.base=1ms"]).law().flush.map(|flush| flush.base), Some(Nanos(1_000_000)));
    let gate = Gate { request: Nanos(31_250), byte_picos: 2495 };
    assert_eq!(set(&["read_gate=x0.5"]).law().read_gate, Some(gate));
    // The changed device can be written, and says where the number comes from.
    let text = set(&["read_latency=x0.5"]).to_toml();
    assert!(text.contains("source = \"inferred\", from = \"read_latency=x0.5\""), "{text}");
    DeviceFile::read(&text, "set.toml").expect("a device");
}

#[test]
fn settings_of_what_the_law_lacks_are_refused() {
    let refused = |setting: &str| disk().set(setting).expect_err("an impossible setting").to_string();
    assert_eq!(refused("flush.drain=x2"), "flush.drain=x2: flush.drain is n.m.: too noisy");
    assert_eq!(refused("write_gate=x2"), "write_gate=x2: write_gate.byte is n.m.: not saturated");
    assert_eq!(refused("read_ahead=1MiB"), "read_ahead=1MiB: read_ahead is not a field here");
    assert_eq!(refused("read_latency"), "read_latency: is not KEY=VALUE");
    assert!(refused("read_latency=none").contains("only a mechanism can be none"));
    assert!(refused("flush=x2").contains("set one of them"));
    assert!(refused("read_latency=x0").contains("is not a factor"));
    assert!(refused("flush.base=5").contains("has no unit"));
    assert!(refused("flush.base=5MiB").contains("cannot have the unit"));
    assert!(refused("read_gate.request=1s").contains("read_gate"));
    let mut file = disk();
    file.set("write_cache=none").expect("a mechanism");
    assert!(file.set("write_cache.size=x2").expect_err("no cache").to_string().contains("no such mechanism"));
}

#[test]
fn every_shipped_device_has_a_law() {
    for name in DeviceFile::names() {
        let file = DeviceFile::load(name).unwrap_or_else(|fault| panic!("{fault}"));
        assert!(file.law().read_latency.is_some() && !file.law().buckets.is_empty(), "{name}");
        assert_eq!(file.measured_on, None);
    }
    let fault = DeviceFile::load("ebs-gp4").expect_err("no such device");
    assert_eq!(fault.to_string(), "there is no device ebs-gp4");
    assert!(fault.hint().is_some_and(|hint| hint.starts_with("did you mean ebs-gp")));
}

#[test]
fn hints_describe_a_usable_file() {
    let hint = |line: &str, instead: &str| {
        assert!(DISK.contains(line), "{line}");
        let fault = DeviceFile::read(&DISK.replacen(line, instead, 1), "disk.toml").expect_err("an invalid file");
        fault.hint().expect("a hint")
    };
    for kind in ["Law", "uda", "disk"] {
        let hint = hint("kind = \"law\"", &format!("kind = \"{kind}\""));
        assert!(hint.starts_with("write kind = \"law\", or let `diskperf probe"), "{hint}");
    }
    let line = |key: &str| DISK.lines().find(|line| line.starts_with(key)).expect("a line");
    let of_capacity = hint(line("capacity = "), "");
    assert!(of_capacity.contains("capacity = { value = 100, unit = \"GiB\""), "{of_capacity}");
    let of_alignment = hint(line("alignment = "), "");
    assert!(of_alignment.contains("alignment = { value = 512, unit = \"bytes\""), "{of_alignment}");
    // Written into the file as it is, the line of the hint is accepted.
    for (key, hint) in [("capacity = ", of_capacity), ("alignment = ", of_alignment)] {
        let written = hint.trim_start_matches("write ");
        DeviceFile::read(&DISK.replacen(line(key), written, 1), "disk.toml").unwrap_or_else(|fault| panic!("{fault}"));
    }
}

/// Faults name their place. A valid file is written and read again as it was.
#[test]
fn fuzz_device_files() {
    let mut examples = vec![DISK];
    examples.extend(builtin::DEVICES.iter().take(2).map(|file| file.text));
    let read = |input: &[u8]| match DeviceFile::read(&String::from_utf8_lossy(input), "fuzzed.toml") {
        Ok(file) => {
            let again = DeviceFile::read(&file.to_toml(), "again.toml").unwrap_or_else(|fault| panic!("{fault}"));
            assert_eq!(again, file);
            "right".to_owned()
        }
        Err(fault) => {
            let said = fault.to_string();
            assert!(said.starts_with("fuzzed.toml:"), "{said}");
            format!("{said} {:?}", fault.hint())
        }
    };
    let words =
        &["value = ", "unit = ", "\"n.m.\"", "\"none\"", "samples = ", "low = ", "at = [", "]", "{", "}", "0", "\n"];
    fuzz(&Subject::new("files of devices", examples, read).fast().with_words(words));
}
