//! The elevator of 4.2BSD (`disksort`). It goes in one direction: upwards by cylinder from the request in progress,
//! then again from the lowest cylinder. Requests of one cylinder keep their order of arrival.

use super::Waiting;

/// Returns the index at which to insert a request for that cylinder.
///   1. Fewer than two requests are waiting: at the end.
///   2. At or above the cylinder in progress: into the first list, before the first higher cylinder. Usually this is
///      the end: files are read and written upwards, and the second list has only cylinders below the first request.
///   3. Below: into the second list, which begins where cylinders decrease; also before the first higher cylinder.
pub(super) fn place<T>(waiting: &[Waiting<T>], cylinder: u32) -> usize {
    // 1, and the end, which is the usual result of 2
    let [first, .., last] = waiting else { return waiting.len() };
    if last.cylinder >= first.cylinder && cylinder >= last.cylinder {
        return waiting.len();
    }
    let second = waiting.windows(2).position(|pair| pair[1].cylinder < pair[0].cylinder).map(|last| last + 1);
    let (begin, end) = if cylinder >= first.cylinder {
        // 2: the first request keeps its place
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
        queue.waiting().iter().map(|waiting| (waiting.cylinder, waiting.request)).collect()
    }

    #[test]
    fn requests_ascend_from_the_current_one_then_from_the_lowest() {
        let cylinders: Vec<u32> =
            order(&[50, 10, 70, 60, 5, 50, 90]).into_iter().map(|(cylinder, _)| cylinder).collect();
        assert_eq!(cylinders, [50, 50, 60, 70, 90, 5, 10]);
    }

    #[test]
    fn requests_within_a_cylinder_keep_their_order() {
        assert_eq!(order(&[7, 9, 9, 3, 9, 3]), [(7, 0), (9, 1), (9, 2), (9, 4), (3, 3), (3, 5)]);
    }

    proptest! {
        #[test]
        fn any_requests_form_two_ascending_lists(cylinders in prop::collection::vec(0u32..40, 1..60)) {
            let order = order(&cylinders);
            prop_assert_eq!(order.len(), cylinders.len());
            prop_assert_eq!(order[0].1, 0);
            let falls = order.windows(2).filter(|pair| pair[1].0 < pair[0].0).count();
            prop_assert!(falls <= 1, "{:?}", order);
            // The first list has the cylinders at or above the first request, the second list those below.
            let second = order.windows(2).position(|pair| pair[1].0 < pair[0].0).map_or(order.len(), |last| last + 1);
            prop_assert!(order[..second].iter().all(|(cylinder, _)| *cylinder >= order[0].0));
            prop_assert!(order[second..].iter().all(|(cylinder, _)| *cylinder < order[0].0));
            for pair in order.windows(2) {
                prop_assert!(pair[0].0 != pair[1].0 || pair[0].1 < pair[1].1);
            }
        }
    }
}
