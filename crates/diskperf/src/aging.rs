//! Aging: a file system of our own is filled and changed before the first round. Used file systems may rank differently from
//! new ones.

use std::path::Path;
use std::time::Instant;

use clap::Args;
use kernel::place::Place;
use kernel::{PathFault, Posix, Station, Workspace};
use serde::{Deserialize, Serialize};
use stats::Aged;
use units::Bytes;
use workload::{Aging, Apart, OpKind, Program, Tally, World, programs};

use crate::campaign_error::CampaignError;
use crate::events::Event;
use crate::rounds::deadline::since;
use crate::signals::Stop;
use crate::target::{Site, Target};

/// The default level of --age without --fill, in percent: studies of aging rarely find more.
const USUAL: u32 = 70;

/// The levels allowed, in percent. Chosen: less has no effect, and fuller file systems behave in ways of their own.
const FILLS: std::ops::RangeInclusive<u32> = 5..=90;

/// The most changes: a day on a slow disk. Guess.
const MOST_CHURNS: u32 = 1_000_000;

/// The largest file is this part of the file system, within bounds, so that there are always some thousand files. Chosen.
const PART: u64 = 1024;
const LARGEST: (u64, u64) = (256 << 10, 64 << 20);

/// The options of aging.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct WearArguments {
    /// Fill the file systems of image: and new: to this level before the first round, as in 70%, with incompressible files of
    /// mixed sizes [default: not filled]. The files stay during the tests. Presets that would re-create the file system
    /// before each test remount it instead.
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true, value_parser = parse_fill)]
    fill: Option<u32>,
    /// Age the file systems of image: and new: by N changes before the first round, filled to --fill or 70% [default: 0]. Each
    /// change removes a file, rewrites one at half its size, appends to one, and adds files up to the same level. --seed
    /// chooses the files. The time of aging does not count against --budget.
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_CHURNS)))]
    age: Option<u32>,
}

impl WearArguments {
    /// The aging that is asked for, if any.
    pub fn wear(self, seed: u64) -> Option<Wear> {
        Wear::of(self.fill, self.age, seed)
    }
}

/// How a file system is aged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wear {
    /// The level it is filled to, in percent.
    pub fill: u32,
    /// The number of changes.
    pub churns: u32,
    /// The seed of both.
    pub seed: u64,
}

/// Reads the value of --fill, as in `70%`.
pub fn parse_fill(text: &str) -> Result<u32, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).trim_end().parse().ok();
    let wrong = || format!("the level must be from {}% to {}%", FILLS.start(), FILLS.end());
    percent.filter(|percent| FILLS.contains(percent)).ok_or_else(wrong)
}

impl Wear {
    /// The aging that is asked for, if any.
    pub fn of(fill: Option<u32>, churns: Option<u32>, seed: u64) -> Option<Wear> {
        fill.or(churns)?;
        Some(Wear { fill: fill.unwrap_or(USUAL), churns: churns.unwrap_or(0), seed })
    }

    /// The bytes of a file system that are left for the tests.
    pub fn left(self, bytes: Bytes) -> Bytes {
        Bytes((u128::from(bytes.0) * u128::from(100 - self.fill) / 100) as u64)
    }

    /// The least size of a file system that leaves this many bytes for the tests.
    pub fn with_room(self, left: u64) -> u64 {
        u64::try_from(u128::from(left) * 100 / u128::from(100 - self.fill)).unwrap_or(u64::MAX)
    }

    /// Refuses if fewer than `needed` bytes are left of a file system of `bytes` bytes.
    pub fn check(self, (bytes, left): (Bytes, Bytes), needed: Bytes) -> Result<(), CampaignError> {
        if left >= needed {
            return Ok(());
        }
        let most = 100u64.saturating_sub((u128::from(needed.0) * 100).div_ceil(u128::from(bytes.0.max(1))) as u64);
        // A reserve for the file system's own metadata.
        let most = most.saturating_sub(5) as u32;
        Err(CampaignError::TooFull {
            fill: self.fill,
            bytes,
            left,
            needed,
            most: Some(most).filter(|most| FILLS.contains(most)),
        })
    }

    /// Ages all targets; refuses if one is not a file system of our own, or would have to be filled again and again.
    pub fn ask_of(self, targets: &mut [Target]) -> Result<(), CampaignError> {
        for (index, target) in targets.iter().enumerate() {
            let why = match &target.site {
                Site::Image { .. } | Site::Volume(_) => None,
                Site::Directory { .. } => Some("diskperf never fills a directory of yours, only image: and new:"),
                Site::File { .. } | Site::Device(_) => {
                    Some("diskperf does not create a file system for it, as for image: and new:")
                }
                Site::Simulated(_) => Some("simulated file systems do not age"),
            };
            let is_shared = targets[..index].iter().any(|other| other.overwrites_the_same(target));
            let why = why.or(is_shared.then_some(
                "it takes turns with another target on its device, and would be filled again in every round",
            ));
            if let Some(why) = why {
                return Err(CampaignError::NotAged { target: target.name.clone(), why });
            }
        }
        for target in targets {
            target.wear = Some(self);
            if let Site::Image { image, .. } = &mut target.site {
                image.wear = Some(self);
            }
        }
        Ok(())
    }

    /// Fills and changes the mounted file system. `needed` bytes must be left for the tests. The files stay.
    pub fn apply(
        self,
        (target, path): (&Target, &Path),
        needed: Bytes,
        stop: &Stop,
        notify: &mut dyn FnMut(Event),
    ) -> Result<Aged, CampaignError> {
        let unreadable = |source| PathFault::Unreadable { path: path.to_owned(), source };
        let place = Place::under(path).map_err(unreadable)?;
        let level = self.level(place.total_bytes, place.used_bytes);
        let left = Bytes(place.free_bytes.saturating_sub(level));
        self.check((Bytes(place.total_bytes), left), needed)?;
        let aging = Aging { level, churns: self.churns, largest: largest(place.total_bytes), seed: self.seed };
        let Program { prepare, mut phases, largest_call, .. } = programs::aging::aging(aging);
        let age = phases.remove(0);
        let Wear { fill, churns, .. } = self;
        notify(Event::Aging { target: &target.name, fill, churns, bytes: Bytes(age.amount) });
        let began = Instant::now();
        let station = Station { workspace: Some(Workspace::inside(path)?), given: Vec::new() };
        let mut world = Posix::new(vec![station], largest_call, self.seed, stop.flag())?;
        let mut tally = Apart(Tally::default());
        for stream in [prepare, age.steps] {
            world.run(&mut [Apart(stream)], std::slice::from_mut(&mut tally))?;
            if let Some(failure) = tally.0.failure {
                return Err(CampaignError::Op { path: path.to_owned(), failure });
            }
        }
        let (files, deleted) = (world.census(0)?.files, tally.0.count(OpKind::Unlink));
        world.stay();
        let aged = Aged {
            fill: self.fill,
            churns: self.churns,
            seed: self.seed,
            files_made: files + deleted,
            files_deleted: deleted,
            written_bytes: tally.0.bytes_written,
            elapsed_s: since(began).as_secs_f64(),
        };
        notify(Event::Aged { target: &target.name, aged: &aged });
        Ok(aged)
    }

    /// Bytes of files that fill a file system so far, of which so much is taken.
    fn level(self, bytes: u64, used: u64) -> u64 {
        bytes.saturating_sub(self.left(Bytes(bytes)).0).saturating_sub(used)
    }
}

/// The largest file of a file system of so many bytes.
fn largest(bytes: u64) -> u32 {
    (bytes / PART).clamp(LARGEST.0, LARGEST.1) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEAR: Wear = Wear { fill: 70, churns: 10, seed: 7 };

    #[test]
    fn a_share_is_percent() {
        assert_eq!((parse_fill("70%"), parse_fill("5"), parse_fill("90 %")), (Ok(70), Ok(5), Ok(90)));
        for refused in ["", "4%", "91%", "-7", "0.7", "70 GiB"] {
            assert!(parse_fill(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn what_is_only_used_is_filled_too() {
        assert_eq!(Wear::of(None, None, 7), None);
        assert_eq!(Wear::of(None, Some(10), 7), Some(WEAR));
        assert_eq!(Wear::of(Some(30), None, 7), Some(Wear { fill: 30, churns: 0, seed: 7 }));
    }

    #[test]
    fn programs_get_the_room_that_is_left() {
        assert_eq!(WEAR.left(Bytes(1000)), Bytes(300));
        assert_eq!(WEAR.left(Bytes(WEAR.with_room(300 << 20))), Bytes(300 << 20));
        assert_eq!(WEAR.with_room(u64::MAX), u64::MAX);
        // What mkfs took is part of the level.
        assert_eq!((WEAR.level(1000, 50), WEAR.level(1000, 800)), (650, 0));
        assert!(WEAR.check((Bytes(1000), Bytes(300)), Bytes(300)).is_ok());
        let refused = |needed| WEAR.check((Bytes(1000), Bytes(300)), Bytes(needed)).expect_err("too full");
        assert!(matches!(refused(500), CampaignError::TooFull { most: Some(45), .. }));
        assert!(matches!(refused(990), CampaignError::TooFull { most: None, .. }));
    }
}
