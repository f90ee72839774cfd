//! The times of raw requests show the constants of drives.

use super::*;
use crate::description::samples::{early_massbus, ide, massbus, uda};

const KINDS: [TapeKind; 3] = [TapeKind::Read, TapeKind::Write, TapeKind::Flush];

/// A drive whose driver always takes the same time.
fn steady(description: &Description) -> RawDrive {
    let mut description = description.clone();
    description.kernel.jitter_permille = 0;
    description.drive.speed_deviation_ppm = 0;
    RawDrive::new(&description, Chance::default()).expect("a machine")
}

fn request(kind: TapeKind, sector: u64, sectors: u32, pause: u64) -> TapeRequest {
    TapeRequest { kind, offset: sector * 512, bytes: sectors * 512, pause: Nanos(pause) }
}

fn play(drive: &mut RawDrive, requests: Vec<TapeRequest>, depth: u32) -> Vec<Served> {
    let count = requests.len();
    let served = drive.play(&Tape { requests, depth, limit: Nanos(u64::MAX) }).expect("a tape of the drive");
    assert_eq!(served.len(), count);
    assert!(served.iter().all(|times| times.issued <= times.completed));
    served
}

/// The same sector always comes back after whole turns.
#[test]
fn the_rotation_comes_back() {
    for (description, turn) in [(massbus(), 15_147_690.0), (early_massbus(), 15_147_690.0)] {
        let mut drive = steady(&description);
        let reads = (0..50).map(|step| request(TapeKind::Read, 48_000, 1, 1_000_003 * step * step)).collect();
        let served = play(&mut drive, reads, 1);
        for times in &served {
            let turns = times.completed.0.abs_diff(served[0].completed.0) as f64 / turn;
            assert!((turns - (turns + 0.5).floor()).abs() < 1e-3, "{turns}");
        }
    }
}

/// Sector `n` comes `n` 48ths of a turn later.
#[test]
fn the_sectors_of_a_track_come_back() {
    let mut drive = steady(&massbus());
    let reads = (0..48).map(|sector| request(TapeKind::Read, 48_000 + sector, 1, 3_000_000)).collect();
    let served = play(&mut drive, reads, 1);
    for (sector, times) in served.iter().enumerate() {
        let turns = (times.completed.0 - served[0].completed.0) as f64 / 15_147_690.0 - sector as f64 / 48.0;
        assert!((turns - (turns + 0.5).floor()).abs() < 1e-3, "{sector}: {turns}");
    }
}

#[test]
fn longer_seeks_take_longer() {
    let mut least = Vec::new();
    for distance in [1, 50, 250, 800] {
        let mut drive = steady(&massbus());
        let there = |step: u64| request(TapeKind::Read, (step % 2 * distance) * 960 + step * 7 % 48, 1, 1_234_567);
        let served = play(&mut drive, (0..200).map(there).collect(), 1);
        least.push(served.iter().skip(1).map(|times| times.completed.0 - times.issued.0).min());
    }
    assert!(least.is_sorted() && least[0] < least[3], "{least:?}");
}

/// Every controller performs every kind of request at every depth, the same each time.
#[test]
fn tapes_end_on_every_machine() {
    for description in [massbus(), early_massbus(), uda(), ide()] {
        for depth in [1, 4, 32] {
            let requests: Vec<TapeRequest> = (0..120_u64)
                .map(|step| {
                    let kind = KINDS[step as usize % 3];
                    let sectors = if kind == TapeKind::Flush { 0 } else { 1 + step as u32 * 37 % 2000 };
                    request(kind, step * 7919 % 60_000, sectors, step % 5 * 100_000)
                })
                .collect();
            let run = || {
                let mut drive = RawDrive::new(&description, Chance::default()).expect("a machine");
                drive.rest(Nanos::from_millis(7)).expect("nothing to do");
                let served = play(&mut drive, requests.clone(), depth);
                (served, play(&mut drive, requests[..9].to_vec(), depth))
            };
            let (served, again) = run();
            assert_eq!(again.len(), 9);
            assert_eq!(run(), (served.clone(), again), "{}", description.name);
            for (index, times) in served.iter().enumerate().filter(|(index, _)| index % 3 == 2) {
                assert!(served[..index].iter().all(|before| before.completed <= times.completed), "a flush waits");
            }
            let most = served.iter().map(|times| {
                served.iter().filter(|other| other.issued <= times.issued && other.completed > times.issued).count()
            });
            assert!(most.max().is_some_and(|most| most <= depth as usize), "{}", description.name);
        }
    }
}

#[test]
fn the_limit_ends_a_tape() {
    let mut drive = steady(&massbus());
    let requests = vec![request(TapeKind::Read, 0, 1, 0); 100];
    let served = drive.play(&Tape { requests, depth: 1, limit: Nanos::from_millis(200) }).expect("a tape");
    assert!(served.len() > 5 && served.len() < 20, "{}", served.len());
    assert!(served.iter().all(|times| times.issued <= Nanos::from_millis(200)));
}

#[test]
fn requests_outside_of_the_drive_are_refused() {
    let mut drive = steady(&massbus());
    let end = drive.capacity() / 512;
    for request in [request(TapeKind::Read, end, 1, 0), TapeRequest { bytes: 100, ..request(TapeKind::Read, 0, 1, 0) }]
    {
        let tape = Tape { requests: vec![request], depth: 1, limit: Nanos(u64::MAX) };
        assert_eq!(drive.play(&tape).expect_err("no such sectors").field, "tape");
    }
    play(&mut drive, vec![request(TapeKind::Write, end - 2000, 2000, 0)], 1);
}
