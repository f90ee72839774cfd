//! Probes of a disk with zones, heads, skews and a cache. The simulated disks of 1983 have none of them.

use std::convert::Infallible;
use std::ops::Range;

use stats::probe::Measured;
use units::{Nanos, Prng};
use workload::{Served, Tape, TapePlayer};

use super::super::session::Player;
use super::super::{Findings, Settings, probe, rows};
use super::SECTOR;

/// A disk like that of the design's prototype. Times are in nanoseconds.
struct ZonedDisk {
    turn: f64,
    heads: u64,
    /// Cylinders and sectors per track of each zone.
    zones: Vec<(u64, u64)>,
    /// Shares of a turn.
    track_skew: f64,
    cylinder_skew: f64,
    /// Sectors that the drive reads ahead, and the number of such segments. No segments: no cache.
    read_ahead: u64,
    segments: usize,
    /// Sectors that a second cache answers always, in percent of the capacity.
    always_cached: Range<u64>,
    /// The largest delay of a completion.
    noise: u64,
    chance: Prng,
    cached: Vec<(u64, u64)>,
    cylinder: u64,
    head: u64,
    now: f64,
}

/// The time of a command, of its transfer from the cache, and of a head switch.
const COMMAND: f64 = 120e3;
const TRANSFER: f64 = 2e3;
const HEAD_SWITCH: f64 = 700e3;

fn seek_time(cylinders: u64) -> f64 {
    let distance = cylinders as f64;
    match cylinders {
        0 => 0.0,
        1..5000 => 800e3 + 45e3 * distance.sqrt(),
        _ => 800e3 + 45e3 * 5000f64.sqrt() + 130.0 * (distance - 5000.0),
    }
}

impl ZonedDisk {
    fn new(zones: &[(u64, u64)], segments: usize, noise: u64) -> ZonedDisk {
        ZonedDisk {
            turn: 60e9 / 7193.0,
            heads: 4,
            zones: zones.to_vec(),
            track_skew: 0.11,
            cylinder_skew: 0.16,
            read_ahead: 1024,
            segments,
            always_cached: 0..0,
            noise,
            chance: Prng::new(5),
            cached: Vec::new(),
            cylinder: 0,
            head: 0,
            now: 0.0,
        }
    }

    /// Cylinder, head, and angle in turns of a sector; and the sectors per track.
    fn place(&self, sector: u64) -> (u64, u64, f64, u64) {
        let (mut before, mut left) = (0, sector);
        for (index, &(cylinders, sectors)) in self.zones.iter().enumerate() {
            let of_zone = cylinders * sectors * self.heads;
            if left < of_zone || index + 1 == self.zones.len() {
                let (track, on_track) = (left / sectors, left % sectors);
                let (cylinder, head) = (track / self.heads, track % self.heads);
                let skews = [self.track_skew, self.cylinder_skew].map(|skew| (skew * sectors as f64) as u64);
                let skew = cylinder * (skews[0] * (self.heads - 1) + skews[1]) + head * skews[0];
                return (before + cylinder, head, ((on_track + skew) % sectors) as f64 / sectors as f64, sectors);
            }
            left -= of_zone;
            before += cylinders;
        }
        unreachable!("a disk has zones")
    }

    fn serve(&mut self, sector: u64) {
        self.now += COMMAND;
        let percent = sector * 100 * u64::from(SECTOR) / self.capacity();
        if self.cached.iter().any(|(from, to)| (*from..*to).contains(&sector)) || self.always_cached.contains(&percent)
        {
            self.now += TRANSFER;
            return;
        }
        let (cylinder, head, angle, sectors) = self.place(sector);
        let switch = if head == self.head { 0.0 } else { HEAD_SWITCH };
        self.now += seek_time(cylinder.abs_diff(self.cylinder)).max(switch);
        (self.cylinder, self.head) = (cylinder, head);
        let turned = (self.now / self.turn).fract();
        self.now += ((angle - turned).rem_euclid(1.0) + 1.0 / sectors as f64) * self.turn;
        if self.noise > 0 {
            self.now += self.chance.below(self.noise) as f64;
        }
        if self.segments > 0 {
            self.cached.push((sector, sector + self.read_ahead));
            let old = self.cached.len().saturating_sub(self.segments);
            self.cached.drain(..old);
        }
    }
}

impl TapePlayer for ZonedDisk {
    type Fault = Infallible;

    fn capacity(&self) -> u64 {
        self.zones.iter().map(|(cylinders, sectors)| cylinders * sectors * self.heads).sum::<u64>() * u64::from(SECTOR)
    }

    fn alignment(&self) -> u32 {
        SECTOR
    }

    fn play(&mut self, tape: &Tape) -> Result<Vec<Served>, Infallible> {
        let began = self.now;
        let mut one = |request: &workload::TapeRequest| {
            self.now += request.pause.0 as f64;
            let issued = Nanos((self.now - began) as u64);
            self.serve(request.offset / u64::from(SECTOR));
            Served { issued, completed: Nanos((self.now - began) as u64) }
        };
        Ok(tape.requests.iter().map(&mut one).collect())
    }

    fn rest(&mut self, time: Nanos) -> Result<(), Infallible> {
        self.now += time.0 as f64;
        Ok(())
    }
}

impl Player for ZonedDisk {
    fn cpu_wait(&self) -> Option<Nanos> {
        Some(Nanos::ZERO)
    }
}

fn near(name: &str, measured: Measured, right: f64, error: f64) {
    if let Ok(found) = measured {
        assert!((found.value / right - 1.0).abs() <= error, "{name} is {found:?}, not {right}");
    }
}

/// Probes the disk, and checks that its turn and its zones are right or not measured.
fn zones_probed(disk: &mut ZonedDisk) -> Findings {
    let settings = Settings { writes: false, rest: Nanos::ZERO, ..Settings::REAL };
    let Ok(findings) = probe(disk, settings, &mut |_| {});
    let rotating = findings.rotating.clone().expect("it rotates");
    near("the turn", rotating.turn, disk.turn, 1e-4);
    let (mut begin, mut begins) = (0, Vec::new());
    for (cylinders, sectors) in &disk.zones {
        begins.push((begin * u64::from(SECTOR), *sectors));
        begin += cylinders * sectors * disk.heads;
    }
    for zone in &rotating.zones {
        let Ok(sectors) = zone.sectors else { continue };
        let (begin, right) = begins
            .iter()
            .min_by_key(|(_, right)| (*right as f64 - sectors.value).abs() as u64)
            .copied()
            .expect("zones");
        near("sectors per track", zone.sectors, right as f64, 0.007);
        if let Ok(found) = zone.begin {
            assert!(found.low <= begin as f64 && begin as f64 <= found.high, "zone of {right} at {begin}: {found:?}");
        }
    }
    findings
}

/// Probes the disk, and checks that each constant is right or not measured. Returns also the seconds that it took.
fn probed(mut disk: ZonedDisk) -> (Findings, f64) {
    let findings = zones_probed(&mut disk);
    let rotating = findings.rotating.clone().expect("it rotates");
    let sectors = disk.zones[0].1 as f64;
    near("track skew", rotating.order.track_skew, (disk.track_skew * sectors).floor(), 0.01);
    near("cylinder skew", rotating.order.cylinder_skew, (disk.cylinder_skew * sectors).floor(), 0.01);
    near("heads", rotating.order.heads, disk.heads as f64, 0.0);
    for (percent, seek) in &rotating.seeks {
        let all = disk.capacity() / u64::from(SECTOR);
        let distance = all * u64::from(*percent) / 100;
        let from = (all - distance - 1) / 2;
        let cylinders = disk.place(from + distance).0 - disk.place(from).0;
        near(&format!("seek over {percent} %"), *seek, seek_time(cylinders), 0.03);
    }
    (findings, disk.now / 1e9)
}

/// The zones of the prototype.
const THREE: [(u64, u64); 3] = [(20_000, 1800), (20_000, 1500), (20_000, 1100)];

#[test]
fn zones_heads_and_skews_come_back() {
    let (findings, seconds) = probed(ZonedDisk::new(&THREE, 0, 0));
    let rotating = findings.rotating.expect("it rotates");
    let sectors: Vec<f64> = rotating.zones.iter().map(|zone| zone.sectors.expect("sectors").value).collect();
    assert_eq!(sectors, [1800.0, 1500.0, 1100.0]);
    assert!(rotating.zones.iter().all(|zone| zone.begin.is_ok()), "{:?}", rotating.zones);
    assert_eq!(rotating.order.heads.map(|heads| heads.value), Ok(4.0));
    assert!(rotating.order.track_skew.is_ok() && rotating.order.cylinder_skew.is_ok(), "{:?}", rotating.order);
    assert!(rotating.seeks.iter().all(|(_, seek)| seek.is_ok()), "{:?}", rotating.seeks);
    assert!(seconds < 60.0, "{seconds}");
}

#[test]
fn an_edge_that_is_not_measured_is_not_forgotten() {
    let sectors = |findings: &Findings| -> Vec<Option<f64>> {
        let zones = &findings.rotating.as_ref().expect("it rotates").zones;
        zones.iter().map(|zone| zone.sectors.ok().map(|sectors| sectors.value)).collect()
    };
    let begins = |findings: &Findings| -> Vec<bool> {
        findings.rotating.iter().flat_map(|rotating| &rotating.zones).map(|zone| zone.begin.is_ok()).collect()
    };
    let (first, _) = probed(ZonedDisk { always_cached: 0..2, ..ZonedDisk::new(&THREE, 0, 0) });
    assert_eq!(sectors(&first), [Some(1800.0), Some(1500.0), Some(1100.0)]);
    assert_eq!(begins(&first), [false, true, true]);
    let (last, _) = probed(ZonedDisk { always_cached: 98..100, ..ZonedDisk::new(&THREE, 0, 0) });
    assert_eq!(sectors(&last), [Some(1800.0), Some(1500.0), Some(1100.0), None]);
    assert_eq!(begins(&last), [true, true, true, false]);
    // The table of a disk with a single known zone shows that its begin is not known.
    let (one, _) = probed(ZonedDisk { always_cached: 0..2, ..ZonedDisk::new(&[(60_000, 1500)], 0, 0) });
    assert_eq!((sectors(&one), begins(&one)), (vec![Some(1500.0)], vec![false]));
    let start = rows(&one).into_iter().find(|row| row.constant == "start of zone 1").expect("a row");
    assert!(start.estimate.is_none(), "{start:?}");
}

#[test]
fn zones_of_a_small_disk_begin_within_their_brackets() {
    let mut found = 0;
    for cylinders in [9, 12, 20, 50, 120, 400, 1000] {
        for share in [20, 30, 45, 60, 70] {
            let outer = cylinders * share / 100;
            let zones = [(outer, 1800), (cylinders - outer, 1500)];
            let findings = zones_probed(&mut ZonedDisk { heads: 20, ..ZonedDisk::new(&zones, 0, 0) });
            let zones = findings.rotating.expect("it rotates").zones;
            found += zones.iter().skip(1).filter(|zone| zone.begin.is_ok()).count();
        }
    }
    assert!(found > 10, "{found}");
}

#[test]
fn a_cache_hides_constants_and_falsifies_none() {
    for segments in [1, 8, 32] {
        for noise in [0, 20_000] {
            let (findings, seconds) = probed(ZonedDisk::new(&THREE, segments, noise));
            let rotating = findings.rotating.expect("it rotates");
            assert!(rotating.turn.is_ok() && seconds < 60.0, "{segments}, {noise}: {seconds}");
        }
    }
}

#[test]
fn more_zones_than_time_are_not_measured() {
    let zones: Vec<(u64, u64)> = (0..24).map(|zone| (2500, 1800 - 30 * zone)).collect();
    let (findings, seconds) = probed(ZonedDisk::new(&zones, 8, 5_000));
    let rotating = findings.rotating.expect("it rotates");
    assert!(rotating.zones.iter().any(|zone| zone.begin.is_err()), "{:?}", rotating.zones);
    assert!(seconds < 60.0, "{seconds}");
}
