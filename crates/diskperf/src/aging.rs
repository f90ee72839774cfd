//! A file system of our own that is filled and used before it is measured: what is asked for, how much room that leaves,
//! and doing it. What is measured on fresh file systems may rank otherwise on used ones.

use std::path::Path;
use std::time::Instant;

use clap::Args;
use kernel::place::Place;
use kernel::{Posix, Station, Workspace};
use stats::Aged;
use units::Bytes;
use workload::{Aging, Apart, OpKind, Program, Tally, World, programs};

use crate::deadline::since;
use crate::error::Error;
use crate::signals::Stop;
use crate::target::{Site, Target};

/// How full a file system is made that is only said to be used: as in the studies of aging, where more is rarely found.
const USUAL: u32 = 70;

/// How full one can be made, in percent: below, there is nothing to speak of; above, file systems behave as they never do
/// else. Chosen.
const FILLS: std::ops::RangeInclusive<u32> = 5..=90;

/// The most that a file system is changed: a day of it on a slow disk. Guess.
const MOST_CHURNS: u32 = 1_000_000;

/// The largest file is this part of the file system, within bounds: so it is always some thousand files. Chosen.
const PART: u64 = 1024;
const LARGEST: (u64, u64) = (256 << 10, 64 << 20);

/// What says how file systems of our own are used before they are measured.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct WearArguments {
    /// Fill image: and new: so far before the first round, as in 70%, with files of mixed sizes that nothing can compress.
    /// The programs run beside them. Once: where a preset makes file systems anew before each program, they are mounted
    /// anew instead.
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true, value_parser = parse_fill)]
    fill: Option<u32>,
    /// Change the files on image: and new: so often before the first round, at the level of --fill or 70%: each time one is
    /// removed, one emptied and written again half as long, one appended to, and others made until it is as full as
    /// before. The --seed says which. The time that this takes does not count.
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_CHURNS)))]
    age: Option<u32>,
}

impl WearArguments {
    /// What is asked for, where anything is.
    pub fn wear(self, seed: u64) -> Option<Wear> {
        Wear::of(self.fill, self.age, seed)
    }
}

/// How a file system is used before it is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wear {
    /// How full it is made, in percent.
    pub fill: u32,
    /// How often files are changed then.
    pub churns: u32,
    /// What both are drawn from.
    pub seed: u64,
}

/// Takes a share of a file system: `70%`.
pub fn parse_fill(text: &str) -> Result<u32, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).trim_end().parse().ok();
    let wrong = || format!("a file system is filled to {}% at least and to {}% at most", FILLS.start(), FILLS.end());
    percent.filter(|percent| FILLS.contains(percent)).ok_or_else(wrong)
}

impl Wear {
    /// What is asked for, where anything is.
    pub fn of(fill: Option<u32>, churns: Option<u32>, seed: u64) -> Option<Wear> {
        fill.or(churns)?;
        Some(Wear { fill: fill.unwrap_or(USUAL), churns: churns.unwrap_or(0), seed })
    }

    /// What of a file system of so many bytes is left.
    pub fn left(self, bytes: Bytes) -> Bytes {
        Bytes((u128::from(bytes.0) * u128::from(100 - self.fill) / 100) as u64)
    }

    /// How large a file system must be, at least, of which so much is left.
    pub fn with_room(self, left: u64) -> u64 {
        u64::try_from(u128::from(left) * 100 / u128::from(100 - self.fill)).unwrap_or(u64::MAX)
    }

    /// Refuses where so much is not left; of `bytes` bytes some may have been taken already.
    pub fn check(self, (bytes, left): (Bytes, Bytes), needed: Bytes) -> Result<(), Error> {
        if left >= needed {
            return Ok(());
        }
        let most = 100u64.saturating_sub((u128::from(needed.0) * 100).div_ceil(u128::from(bytes.0.max(1))) as u64);
        // What the file system takes for itself.
        let most = most.saturating_sub(5) as u32;
        Err(Error::TooFull {
            fill: self.fill,
            bytes,
            left,
            needed,
            most: Some(most).filter(|most| FILLS.contains(most)),
        })
    }

    /// Has the targets used so; refuses where one is nobody's to fill, or would have to be filled again and again.
    pub fn ask_of(self, targets: &mut [Target]) -> Result<(), Error> {
        for (index, target) in targets.iter().enumerate() {
            let why = match &target.site {
                Site::Image { .. } | Site::Volume(_) => None,
                Site::Directory { .. } => Some("it is somebody's, and a person's disk is never filled"),
                Site::File { .. } | Site::Device(_) => Some("no file system is made for it"),
                Site::Simulated(_) => Some("simulated file systems are as they were made"),
            };
            let is_shared = targets[..index].iter().any(|other| other.overwrites_the_same(target));
            let why = why
                .or(is_shared.then_some("its device has another file system in turn, and would be filled each time"));
            if let Some(why) = why {
                return Err(Error::NotAged { target: target.name.clone(), why });
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

    /// Fills the file system that is mounted there, and changes it; so much must be left for the programs. The files stay.
    pub fn apply(self, target: &Target, path: &Path, needed: Bytes, stop: &Stop) -> Result<Aged, Error> {
        let unreadable = |source| Error::Unreadable { path: path.to_owned(), source };
        let place = Place::under(path).map_err(unreadable)?;
        let level = self.level(place.total_bytes, place.used_bytes);
        let left = Bytes(place.free_bytes.saturating_sub(level));
        self.check((Bytes(place.total_bytes), left), needed)?;
        let aging = Aging { level, churns: self.churns, largest: largest(place.total_bytes), seed: self.seed };
        let Program { prepare, mut phases, largest_call, .. } = programs::aging::aging(aging);
        let (fill, age) = (self.fill, phases.remove(0));
        let changed = if self.churns > 0 { format!(" and changed {} times", self.churns) } else { String::new() };
        remark!("{target} is filled to {fill} %{changed}: {} are written to it, once", Bytes(age.amount));
        let began = Instant::now();
        let station = Station { workspace: Some(Workspace::inside(path)?), given: Vec::new() };
        let mut world = Posix::new(vec![station], largest_call, self.seed, stop.flag())?;
        let mut tally = Apart(Tally::default());
        for stream in [prepare, age.steps] {
            world.run(&mut [Apart(stream)], std::slice::from_mut(&mut tally))?;
            if let Some(failure) = tally.0.failure {
                return Err(Error::Op { path: path.to_owned(), failure });
            }
        }
        let (files, deleted) = (world.census(0)?.files, tally.0.count(OpKind::Unlink));
        world.stay();
        let aged = Aged {
            fill,
            churns: self.churns,
            seed: self.seed,
            files_made: files + deleted,
            files_deleted: deleted,
            written_bytes: tally.0.bytes_written,
            elapsed_s: since(began).as_secs_f64(),
        };
        remark!("{target}: {}", report::aged(&aged));
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
        assert!(matches!(refused(500), Error::TooFull { most: Some(45), .. }));
        assert!(matches!(refused(990), Error::TooFull { most: None, .. }));
    }
}
