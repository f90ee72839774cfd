//! Two queues, reads and writes, each upwards by cylinder. Writes wait until no read is waiting.

use super::{Waiting, disksort};

/// Returns the index for the request: the one in progress stays first, then come reads, then writes.
pub(super) fn place<T>(waiting: &[Waiting<T>], new: &Waiting<T>) -> usize {
    let Some(rest) = waiting.get(1..) else { return 0 };
    let writes = 1 + rest.iter().position(|other| !other.reads).unwrap_or(rest.len());
    if new.reads {
        // Reads are sorted after the request in progress, whatever it is.
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
    fn writes_come_after_the_last_read() {
        let mut queue = DriveQueue::new(Queue::ReadsFirst);
        for (index, (cylinder, reads)) in
            [(5, false), (9, false), (7, true), (6, false), (20, true), (8, true)].into_iter().enumerate()
        {
            queue.insert(Waiting { cylinder, reads, request: index });
        }
        let order: Vec<usize> = core::iter::from_fn(|| queue.take_first()).collect();
        // The first write is in progress; then come the reads upwards, then the other writes.
        assert_eq!(order[..4], [0, 2, 5, 4]);
        assert_eq!(order.len(), 6);
    }
}
