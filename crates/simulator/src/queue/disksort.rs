//! The elevator of 4.2BSD (`disksort`), which goes one way: upwards by cylinder from the request under way, then
//! from the lowest cylinder again. Within a cylinder, as they came.

use super::Waiting;

/// Where a request on that cylinder goes.
///   1. Less than two wait: behind them.
///   2. At or above the cylinder under way: into the first list, before the first higher cylinder. Mostly that is
///      behind the last: files are read and written upwards, and only what lies below the first is in the second list.
///   3. Below: into the second list, which begins where cylinders go down; the same there.
pub(super) fn place<T>(waiting: &[Waiting<T>], cylinder: u32) -> usize {
    // 1, and the end that 2 mostly comes to
    let [first, .., last] = waiting else { return waiting.len() };
    if last.cylinder >= first.cylinder && cylinder >= last.cylinder {
        return waiting.len();
    }
    let second = waiting.windows(2).position(|pair| pair[1].cylinder < pair[0].cylinder).map(|last| last + 1);
    let (begin, end) = if cylinder >= first.cylinder {
        // 2: the first stays where it is
        (1, second.unwrap_or(waiting.len()))
    } else {
        // 3
        (second.unwrap_or(waiting.len()), waiting.len())
    };
    let higher = waiting[begin..end].iter().position(|other| other.cylinder > cylinder);
    higher.map_or(end, |offset| begin + offset)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::super::DriveQueue;
    use super::*;
    use crate::description::Queue;

    fn order(cylinders: &[u32]) -> Vec<(u32, usize)> {
        let mut queue = DriveQueue::new(Queue::Disksort);
        for (index, &cylinder) in cylinders.iter().enumerate() {
            queue.insert(Waiting { cylinder, reads: true, request: index });
        }
        queue.waiting.iter().map(|waiting| (waiting.cylinder, waiting.request)).collect()
    }

    #[test]
    fn upwards_from_the_one_under_way_then_from_the_lowest() {
        let cylinders: Vec<u32> =
            order(&[50, 10, 70, 60, 5, 50, 90]).into_iter().map(|(cylinder, _)| cylinder).collect();
        assert_eq!(cylinders, [50, 50, 60, 70, 90, 5, 10]);
    }

    #[test]
    fn as_they_came_within_a_cylinder() {
        assert_eq!(order(&[7, 9, 9, 3, 9, 3]), [(7, 0), (9, 1), (9, 2), (9, 4), (3, 3), (3, 5)]);
    }

    proptest! {
        #[test]
        fn two_rising_lists_whatever_comes(cylinders in prop::collection::vec(0u32..40, 1..60)) {
            let order = order(&cylinders);
            prop_assert_eq!(order.len(), cylinders.len());
            prop_assert_eq!(order[0].1, 0);
            let falls = order.windows(2).filter(|pair| pair[1].0 < pair[0].0).count();
            prop_assert!(falls <= 1, "{:?}", order);
            // What lies above the first is in the first list, what lies below in the second.
            let second = order.windows(2).position(|pair| pair[1].0 < pair[0].0).map_or(order.len(), |last| last + 1);
            prop_assert!(order[..second].iter().all(|(cylinder, _)| *cylinder >= order[0].0));
            prop_assert!(order[second..].iter().all(|(cylinder, _)| *cylinder < order[0].0));
            for pair in order.windows(2) {
                prop_assert!(pair[0].0 != pair[1].0 || pair[0].1 < pair[1].1);
            }
        }
    }
}
