//! Two queues, reads and writes, each upwards by cylinder: no write is served as long as a read waits.

use super::{Waiting, disksort};

/// Where the request goes: the one under way stays the first, then come reads, then writes.
pub(super) fn place<T>(waiting: &[Waiting<T>], new: &Waiting<T>) -> usize {
    let Some(rest) = waiting.get(1..) else { return 0 };
    let writes = 1 + rest.iter().position(|other| !other.reads).unwrap_or(rest.len());
    if new.reads {
        // Sorted behind the request under way, whatever that is.
        disksort::place(&waiting[..writes], new.cylinder).max(1)
    } else {
        writes + disksort::place(&waiting[writes..], new.cylinder)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::super::DriveQueue;
    use super::*;
    use crate::description::Queue;

    #[test]
    fn no_write_before_the_last_read() {
        let mut queue = DriveQueue::new(Queue::ReadsFirst);
        for (index, (cylinder, reads)) in
            [(5, false), (9, false), (7, true), (6, false), (20, true), (8, true)].into_iter().enumerate()
        {
            queue.insert(Waiting { cylinder, reads, request: index });
        }
        let order: Vec<usize> = core::iter::from_fn(|| queue.take_first()).collect();
        // The first write is under way; then the reads upwards, then the other writes.
        assert_eq!(order[..4], [0, 2, 5, 4]);
        assert_eq!(order.len(), 6);
    }
}
