//! Prepares the choice of sizes: finds the limits, and runs the trials that measure the cost of each row.
//! `size_choice` decides.

use kernel::free_on;
use runner::execution::{ExecutionResult, PhaseResult};
use units::{Bytes, Nanos};
use workload::Program;

use crate::fit::cost::{self, Cost, Sample};
use crate::fit::limits::{Item, Limits};
use crate::fit::omission::leave_out;
use crate::fit::size_choice::{Fitted, fit};
use crate::fit::sizes::{SizeKind, Sizes};
use crate::plan::{self, Alternative, Row};
use crate::targets::{Site, Target};

/// Maximum bytes that a run writes to a target, unless the user sets another limit.
pub const WRITTEN: Bytes = Bytes(16 << 30);

/// The files occupy at most this part of a directory's free space: a nearly full disk is slower, and the space belongs
/// to the user.
const PART_OF_FREE: u64 = 10;

/// Files in an image without a given size occupy at most this: the image is twice as large, and is written in full
/// before the first round.
const IN_IMAGE: Bytes = Bytes::mib(512);

/// The share of the time that the forecast may fill. Trials are short, so the forecast misses some of the time. Guess:
/// when the forecast filled 0.85 of 60 s, a disk of 20 MiB/s took 50 s.
const FILLED: f64 = 0.9;

/// After this number of seconds, the rows of a target get no larger trials: the user waits for a first figure. Guess.
const IN_ALL: f64 = 3.5;

/// If a run may write fewer bytes than these, only the first trial runs, or all but the last. The first trial writes
/// about 2 MiB, all but the last 60 MiB, and all trials 400 MiB.
const LITTLE: [u64; 2] = [256 << 20, 2 << 30];

/// A trial runs if the one before took no longer than this, in seconds of its own work. Each is four to eight times as
/// large. Together they take a few seconds on a disk of 20 MiB/s, and one on a fast one.
const QUICK: [f64; 3] = [0.5, 0.3, 0.25];

/// The same for the two smallest trials of a large file, if their phase was too short for a sustained rate. On a busy
/// machine, a disk of 20 MiB/s needed 0.4 s to prepare 2 MiB, and had credit to read them in 2 ms. The limit is twice
/// that time.
const SAYS_LITTLE: f64 = 0.8;

/// The user's requests, and the defaults of the preset.
#[derive(Clone, Copy, Debug)]
pub struct Wishes {
    /// The requested size of large files; if given, the bytes written have no default limit.
    pub large: Option<u64>,
    /// The requested limit of the bytes written.
    pub max_write: Option<Bytes>,
    /// True if results need no floor.
    pub no_floor: bool,
    /// The requested time.
    pub budget: Option<Nanos>,
    /// The default time of the preset.
    pub usual: Nanos,
    /// The number of rounds.
    pub rounds: u32,
    /// The minimum number of rounds, for lack of time or bytes.
    pub fewest_rounds: u32,
}

/// The limits for the rows on these targets. Rows on simulated targets alone are not fitted.
pub fn limits(wishes: &Wishes, targets: &[Target]) -> Limits {
    if targets.iter().all(Target::is_simulated) {
        let large = wishes.large.unwrap_or(Sizes::SIMULATED.large);
        let sizes = Sizes { large, spots: Sizes::spots_beside(large), ..Sizes::SIMULATED };
        return Limits::given(sizes, wishes.rounds);
    }
    let is_written = |target: &Target| !matches!(target.site, Site::Device(_) | Site::File { .. });
    // A simulated target has the same limit, because its figures are compared with real ones.
    let usual = Some(WRITTEN).filter(|_| wishes.large.is_none());
    let written = wishes.max_write.or(usual).filter(|_| targets.iter().any(is_written)).map(|bytes| bytes.0);
    let room = targets.iter().filter_map(room).min().unwrap_or(u64::MAX);
    let mut smallest = Sizes::SMALLEST;
    let room = room.min(written.map_or(u64::MAX, |written| written / u64::from(wishes.rounds.max(1))));
    let mut largest = largest(room, targets.iter().filter_map(most_files).min().unwrap_or(u64::MAX));
    if wishes.no_floor {
        largest = largest.min(&Sizes::WITHOUT_FLOOR);
    }
    if let Some(large) = wishes.large {
        let given = |sizes| Sizes { large, spots: Sizes::spots_beside(large), ..sizes };
        (largest, smallest) = (given(largest), given(smallest));
    }
    let time = Some(wishes.budget.unwrap_or(wishes.usual));
    let fewest_rounds = wishes.fewest_rounds.min(wishes.rounds);
    Limits { time, written, largest, smallest, has_floor: !wishes.no_floor, rounds: wishes.rounds, fewest_rounds }
}

/// The largest sizes at which one execution needs at most `room` bytes and `files` files. They are never below the
/// smallest sizes. If even those do not fit, an error reports it.
fn largest(room: u64, files: u64) -> Sizes {
    let fitting = SizeKind::ALL.into_iter().fold(Sizes::LARGEST, |sizes, kind| {
        let most = room / kind.unit_bytes();
        let most = power_of_two(if kind == SizeKind::Files { most.min(files) } else { most });
        if most < kind.amount(&sizes) {
            kind.with_amount(&sizes, most.max(kind.amount(&Sizes::SMALLEST)))
        } else {
            sizes
        }
    });
    Sizes { random: Sizes::LARGEST.random, ..fitting }
}

/// The bytes that files may occupy on a target; `None` if it needs none, or if the free space of a directory is not
/// known. Then only the bytes written limit the sizes.
fn room(target: &Target) -> Option<u64> {
    match &target.site {
        Site::Directory { place, .. } => free_on(place).map(|free| free / PART_OF_FREE),
        // A third: on a small image, the file system needs much for its log and tables.
        Site::Image { image, host } => Some(match image.size {
            Some(size) => usable_bytes(target, size.0) / 3,
            None => free_on(host).map_or(IN_IMAGE.0, |free| IN_IMAGE.0.min(free / PART_OF_FREE)),
        }),
        Site::Volume(volume) => Some(usable_bytes(target, volume.inspected.bytes()) / 3),
        Site::Device(_) | Site::File { .. } | Site::Simulated { .. } => None,
    }
}

/// The small files that may exist on a target at one time: each takes a block and an inode. `None` if it needs none, or
/// if neither the room nor the number of files is known.
fn most_files(target: &Target) -> Option<u64> {
    let room = room(target);
    let inodes = match &target.site {
        Site::Directory { place, .. } => place.free_files.map(|files| files / PART_OF_FREE),
        _ => room.map(|room| room / BYTES_PER_FILE),
    };
    [room.map(|room| room / target.block_bytes()), inodes].into_iter().flatten().min()
}

/// A new file system has room for one file in this number of bytes: mkfs.ext4 makes an inode for every 16 KiB
/// (`inode_ratio` in mke2fs.conf).
const BYTES_PER_FILE: u64 = 16 << 10;

/// The part of a file system of `bytes` bytes that aging leaves free.
fn usable_bytes(target: &Target, bytes: u64) -> u64 {
    target.aging.map_or(bytes, |aging| aging.room(Bytes(bytes)).0)
}

fn power_of_two(most: u64) -> u64 {
    most.checked_ilog2().map_or(0, |log| 1 << log)
}

/// The costs of the rows of each target, as far as known.
pub type Costs = Vec<Vec<Cost>>;

/// The rows of the plan, for `fit`. Targets that run at the same time share the machine: at worst, each waits for the
/// others. Bytes written are counted on the first writable target, because all have the same rows. `weight` tells the
/// weight of a program.
fn items(
    alternatives: &[Alternative],
    targets: &[Target],
    (costs, has_ceiling): (&Costs, bool),
    sizes: &Sizes,
    weight: &dyn Fn(&Program) -> f64,
) -> Vec<Item> {
    let written_to = targets.iter().position(|target| target.refuses_writes().is_none());
    let mut next = vec![0; targets.len() + 1];
    let items = alternatives.iter().map(|Alternative { targets: busy, row }| {
        // The rows of each single target are in the same order, and so are the rows of all targets together.
        let list = if let [target] = busy[..] { target } else { targets.len() };
        let index = next[list];
        next[list] += 1;
        let size_kind = row.size_kind.unwrap_or(SizeKind::Large);
        let known = |target: &usize| costs.get(*target)?.get(index).copied();
        let quicker = |one: f64, other: f64| if one > 0.0 { one.min(other) } else { other };
        let sum = busy.iter().filter_map(known).fold(Cost::default(), |sum, cost| Cost {
            fixed: sum.fixed + cost.fixed,
            each: sum.each + cost.each,
            operation: sum.operation.max(cost.operation),
            pace: quicker(sum.pace, cost.pace),
            lasted: sum.lasted.max(cost.lasted),
            is_bound: sum.is_bound || cost.is_bound,
        });
        let writes = match written_to {
            Some(target) if busy.contains(&target) => plan::writes(&row.program) / size_kind.amount(sizes).max(1),
            _ => 0,
        };
        Item {
            size_kind,
            cost: sum,
            writes,
            test: if list == targets.len() { alternatives.len() + index } else { index },
            weight: weight(&row.program),
            results: row.program.phases.len(),
            omitted: row.omitted.is_some(),
            // As in `runner::execution`.
            has_ceiling: has_ceiling && row.program.phases.len() == 1,
        }
    });
    items.collect()
}

/// The alternatives at the largest sizes that fit, and the result of fitting. `rows` makes alternatives of a size.
pub fn fitted<E>(
    (limits, has_ceiling): (&Limits, bool),
    targets: &[Target],
    costs: &Costs,
    weight: &dyn Fn(&Program) -> f64,
    rows: &dyn Fn(Sizes) -> Result<Vec<Alternative>, E>,
) -> Result<(Vec<Alternative>, Fitted), E> {
    let fitted = fit(&items(&rows(limits.largest)?, targets, (costs, has_ceiling), &limits.largest, weight), limits);
    let mut alternatives = rows(fitted.sizes)?;
    leave_out(&mut alternatives, &fitted);
    Ok((alternatives, fitted))
}

/// The sizes of the trials, the smallest first. If few bytes may be written, the larger ones are missing.
pub fn trials(limits: &Limits) -> Vec<Sizes> {
    let written = limits.written.unwrap_or(u64::MAX);
    let count = match written {
        little if little < LITTLE[0] => 1,
        little if little < LITTLE[1] => Sizes::TRIALS.len() - 1,
        _ => Sizes::TRIALS.len(),
    };
    Sizes::TRIALS.into_iter().take(count).map(|sizes| sizes.min(&limits.largest)).collect()
}

/// Bytes that the trials of these rows write.
pub fn tried<'a>(rows: impl Iterator<Item = &'a Row>) -> u64 {
    rows.filter(|row| row.omitted.is_none()).map(|row| plan::writes(&row.program)).sum()
}

/// True if a row is to be tried at this size, after these trials and this time of all trials on its target:
///   1. its first trial;
///   2. a larger one if the one before was quick, and the user does not wait for long. A trial without a sustained rate
///      says little about the others, so it may have taken longer;
///   3. the second one of small files, even later: no other row tells their cost. On a disk with 100 operations per
///      second, the forecast from one trial was 40 % too long.
pub fn is_tried(row: &Row, sizes: &Sizes, before: &[Sample], elapsed: Nanos) -> bool {
    let Some(size_kind) = row.size_kind.filter(|_| row.is_tried && row.omitted.is_none()) else { return false };
    // 1
    let Some(last) = before.last() else { return true };
    // 2 and 3
    let says_little = size_kind == SizeKind::Large && before.len() < QUICK.len() && last.phase < cost::SUSTAINED;
    let is_quick = QUICK.get(before.len() - 1).is_some_and(|quick| last.work <= *quick)
        || (says_little && last.work <= SAYS_LITTLE);
    let is_own = before.len() == 1 && size_kind == SizeKind::Files;
    is_quick && last.amount < size_kind.amount(sizes) && (is_own || elapsed.as_secs_f64() <= IN_ALL)
}

/// The trial of a row at this size, on the slowest host.
pub fn slowest_sample(row: &Row, sizes: &Sizes, result: &ExecutionResult) -> Option<Sample> {
    let of_all: Option<Vec<Sample>> =
        std::iter::once(result).chain(&result.hosts).map(|result| sample(row, sizes, result)).collect();
    of_all?.into_iter().max_by(|one, other| one.work.total_cmp(&other.work))
}

/// The trial of a row at this size; `None` if it did not reach its end.
fn sample(row: &Row, sizes: &Sizes, result: &ExecutionResult) -> Option<Sample> {
    let size_kind = row.size_kind?;
    let first = result.phases.first().filter(|_| result.stopped.is_none())?;
    let durable = |phase: &PhaseResult| phase.durable().unwrap_or(phase.returned());
    let work = result.prepared_in + result.phases.iter().map(durable).sum();
    // The processor limits small calls. A sync at the end of a short trial would hide that.
    let lasted =
        |phase: &PhaseResult| if size_kind == SizeKind::SmallCalls { phase.returned() } else { durable(phase) };
    let (timed, operations) = match size_kind.is_timed() {
        true => (first.returned().as_secs_f64(), row.program.phases[0].unit.done(&first.tally())),
        false => (0.0, 0),
    };
    Some(Sample {
        amount: size_kind.amount(sizes),
        all: result.lasted.as_secs_f64(),
        work: work.as_secs_f64(),
        phase: middle(result.phases.iter().map(lasted).collect()).as_secs_f64(),
        timed,
        operations,
    })
}

/// The middle of these times; of two the shorter one.
fn middle(mut times: Vec<Nanos>) -> Nanos {
    times.sort_unstable();
    times.get(times.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

/// The cost of every row of a target, from its trials.
pub fn complete(rows: &[&Row], sizes: &Sizes, costs: &[Option<Cost>]) -> Vec<Cost> {
    let rows = rows.iter().zip(costs).map(|(row, cost)| {
        let size_kind = row.size_kind.unwrap_or(SizeKind::Large);
        let reads = row.program.phases.iter().any(|phase| phase.unit.first.reads() && !size_kind.is_timed());
        let moved = plan::writes(&row.program) / size_kind.amount(sizes).max(1) + u64::from(reads);
        (size_kind, moved.max(1), *cost)
    });
    cost::complete(&rows.collect::<Vec<_>>())
}

/// The limits that remain after the trials.
pub fn left(limits: &Limits, spent: Nanos) -> Limits {
    let left = |time: Nanos| Nanos((time.saturating_sub(spent).0 as f64 * FILLED) as u64);
    Limits { time: limits.time.map(left), ..*limits }
}

/// The time limit that is just long enough for a forecast of this duration.
pub fn with_room(filled: Nanos) -> Nanos {
    Nanos((filled.0 as f64 / FILLED) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::targets::TargetArgument;

    fn targets(typed: &[&str]) -> Vec<Target> {
        let target = |typed: &&str| {
            let Ok(argument) = typed.parse::<TargetArgument>();
            Target::resolve(&argument).expect("a target")
        };
        typed.iter().map(target).collect()
    }

    #[test]
    fn only_real_targets_are_fitted_to_the_budget() {
        let time = Nanos::from_secs(300);
        let wishes = Wishes {
            large: None,
            max_write: None,
            no_floor: false,
            budget: Some(time),
            usual: time,
            rounds: 10,
            fewest_rounds: 6,
        };
        let simulated = limits(&wishes, &targets(&["sim:flat", "sim:vax780-sc780"]));
        assert_eq!((simulated.time, simulated.written, simulated.largest), (None, None, Sizes::SIMULATED));
        let large = limits(&Wishes { large: Some(1 << 16), ..wishes }, &targets(&["sim:flat"]));
        assert_eq!((large.largest.large, large.largest.files), (1 << 16, Sizes::SIMULATED.files));
        let mixed = limits(&wishes, &targets(&["sim:flat", "."]));
        assert_eq!(mixed.time, Some(time));
        assert_eq!((mixed.written, mixed.fewest_rounds), (Some(WRITTEN.0), 6));
    }

    #[test]
    fn larger_trials_follow_quick_ones() {
        let program = workload::programs::tlpi::copy(1 << 16, 64, workload::programs::tlpi::Sync::None);
        let row = Row::new(program, crate::presets::MIB_PER_SECOND).going_by(SizeKind::Large);
        let sample = |amount, work| Sample { amount, all: work, work, phase: work, timed: 0.0, operations: 0 };
        let [first, second, ..] = Sizes::TRIALS;
        let soon = Nanos::from_millis(100);
        let is_tried = |row: &Row, before: &[Sample], elapsed| super::is_tried(row, &second, before, elapsed);
        assert!(super::is_tried(&row, &first, &[], Nanos::from_secs(100)), "each row is to be tried once");
        assert!(is_tried(&row, &[sample(first.large, QUICK[0])], soon));
        assert!(!is_tried(&row, &[sample(first.large, QUICK[0] + 0.1)], soon));
        assert!(!is_tried(&row, &[sample(first.large, 0.0)], Nanos::from_secs(4)));
        assert!(!is_tried(&row, &[sample(second.large, 0.0)], soon), "the same size again");
        // Other rows tell the cost of bytes, but not that of files.
        let late = Nanos::from_secs(10);
        for (kind, is_late) in [(SizeKind::Files, true), (SizeKind::Large, false), (SizeKind::SmallCalls, false)] {
            let row = row.clone().going_by(kind);
            let once = [sample(kind.amount(&first), QUICK[0])];
            assert_eq!(is_tried(&row, &once, late), is_late, "{kind:?}");
            assert!(!is_tried(&row, &[sample(kind.amount(&first), QUICK[0] + 0.1)], late), "{kind:?}");
            let third = Sizes::TRIALS[2];
            let twice = [once[0], sample(kind.amount(&second), 0.0)];
            assert!(!super::is_tried(&row, &third, &twice, late), "{kind:?}");
        }
        // The phase was too short for a sustained rate.
        let slow = |work, phase| Sample { phase, ..sample(first.large, work) };
        for (work, phase, is_larger) in
            [(SAYS_LITTLE, 0.0, true), (SAYS_LITTLE + 0.1, 0.0, false), (SAYS_LITTLE, cost::SUSTAINED, false)]
        {
            assert_eq!(is_tried(&row, &[slow(work, phase)], soon), is_larger, "{work} {phase}");
            assert!(!is_tried(&row, &[slow(work, phase)], late), "{work} {phase}");
        }
        let left_out = Row { omitted: Some("no room".to_owned()), ..row.clone() };
        assert!(!is_tried(&left_out, &[], soon) && !is_tried(&row.untried(), &[], soon));
    }

    #[test]
    fn the_user_sets_the_bytes_written() {
        let time = Nanos::from_secs(60);
        let wishes = Wishes {
            large: None,
            max_write: Some(Bytes::mib(100)),
            no_floor: false,
            budget: None,
            usual: time,
            rounds: 5,
            fewest_rounds: 5,
        };
        let here = targets(&["."]);
        let few = limits(&wishes, &here);
        assert_eq!((few.written, few.largest.large), (Some(100 << 20), 16 << 20));
        assert_eq!(trials(&few), [Sizes::TRIALS[0]]);
        // A given size has no limit of its own.
        let given = Wishes { large: Some(1 << 20), ..wishes };
        assert_eq!(limits(&given, &here).written, Some(100 << 20));
        let lifted = limits(&Wishes { max_write: None, ..given }, &here);
        assert_eq!((lifted.written, lifted.largest.large, lifted.largest.spots), (None, 1 << 20, 1 << 18));
        assert!(lifted.is_given(SizeKind::Large) && lifted.is_given(SizeKind::Spots));
        assert!(!lifted.is_given(SizeKind::Files));
        let small = limits(&Wishes { no_floor: true, ..wishes }, &here);
        assert!(!small.has_floor && small.largest.random == Sizes::WITHOUT_FLOOR.random, "{small:?}");
    }

    #[test]
    fn a_directory_has_room_for_the_blocks_of_small_files() {
        let directory = |free_bytes, block_bytes, free_files| {
            let mut here = targets(&["."]).remove(0);
            if let Site::Directory { place, .. } = &mut here.site {
                place.file_system = Some("exfat".to_owned());
                (place.free_bytes, place.block_bytes, place.free_files) = (free_bytes, block_bytes, free_files);
            }
            (room(&here), most_files(&here))
        };
        assert_eq!(directory(Some(10 << 30), 128 << 10, None), (Some(1 << 30), Some(8192)));
        assert_eq!(directory(Some(10 << 30), 4096, Some(1000)), (Some(1 << 30), Some(100)));
        assert_eq!(directory(Some(0), 4096, None), (Some(0), Some(0)));
        // A file system that reports no size.
        assert_eq!(directory(None, 4096, None), (None, None));
        assert_eq!(directory(None, 4096, Some(1000)), (None, Some(100)));
    }

    #[test]
    fn files_have_room_in_what_is_free() {
        assert_eq!(largest(u64::MAX, u64::MAX), Sizes::LARGEST);
        let small = largest(1 << 30, 1 << 20);
        assert_eq!((small.large, small.copied, small.files), (1 << 30, 512 << 20, 1 << 18));
        assert_eq!(largest(1 << 30, 1000), Sizes { files: 512, ..small });
        assert_eq!(largest(0, 0), Sizes { random: Sizes::LARGEST.random, ..Sizes::SMALLEST });
        // An ext4 of 64 MiB has 16,384 inodes or fewer, and one of the default size 65,536.
        let files = |image: &str| targets(&[image]).iter().find_map(most_files);
        assert_eq!(files("image:ext4,size=64MiB"), Some((64 << 20) / 3 / BYTES_PER_FILE));
        assert!(files("image:ext4").is_some_and(|files| files <= 32_768));
    }
}
