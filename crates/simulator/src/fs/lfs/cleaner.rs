//! The cleaner: it chooses segments, and sorts their live blocks.
//!
//! Greedy takes the segments with the fewest live bytes. Cost-benefit takes those with the largest ratio of benefit to
//! cost, `(1 - u) * age / (1 + u)`, in which `u` is the share of live bytes (Rosenblum & Ousterhout 1992, section 3.5).

use alloc::vec::Vec;

use super::entry::{Age, Entry};
use super::log::Log;
use super::segment::Segment;
use super::usage::{State, Use};
use crate::description::CleanerPolicy;

/// Scale of the priorities, so that an integer keeps their order.
const SCALE: u128 = 1 << 32;

/// Chooses up to `most` segments to clean, best first, whose live blocks fit into `room` bytes. A segment without dead
/// bytes is never chosen. Returns none if there is no such segment.
pub(super) fn choose(log: &Log, policy: CleanerPolicy, most: u32, room: u64) -> Vec<Segment> {
    let whole = log.layout.segment_bytes();
    let head = log.head();
    let mut candidates: Vec<(u128, Segment, u32)> = Vec::new();
    for (segment, of) in log.usage.segments() {
        if of.state == State::InUse && Some(segment) != head && u64::from(of.live_bytes) < whole {
            candidates.push((priority(log, policy, of), segment, of.live_bytes));
        }
    }
    // Segments of equal priority are sorted by their numbers.
    candidates.sort_unstable_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
    let mut left = room;
    let fitting = candidates.into_iter().map_while(|(_, segment, live)| {
        left = left.checked_sub(live.into())?;
        Some(segment)
    });
    fitting.take(most as usize).collect()
}

fn priority(log: &Log, policy: CleanerPolicy, of: Use) -> u128 {
    let whole = u128::from(log.layout.segment_bytes());
    let (live, dead) = (u128::from(of.live_bytes), whole - u128::from(of.live_bytes));
    match policy {
        CleanerPolicy::Greedy => dead,
        // To clean a segment without live blocks costs neither a read nor a write.
        CleanerPolicy::CostBenefit { .. } if of.live_bytes == 0 => u128::MAX,
        CleanerPolicy::CostBenefit { age_limit_permille } => {
            let blocks = u64::from(log.layout.segments) * u64::from(log.layout.blocks_per_segment());
            let limit: Age = blocks * u64::from(age_limit_permille) / 1000;
            let age = (log.clock - of.youngest).min(limit) + 1;
            dead * SCALE * u128::from(age) / (whole + live)
        }
    }
}

/// Sorts live entries by age, oldest first. So blocks that will probably die together come into the same segments.
pub(super) fn sort_by_age(entries: &mut [Entry]) {
    entries.sort_by_key(|entry| entry.modified);
}
