//! Dirty blocks in the order in which they became dirty. The oldest are written first, in that order: nothing sorts
//! them (see `controller.queue` for an order within the driver).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::cache::{BlockKey, State};
use crate::description;
use crate::fs::Host;
use crate::fs::extent::Extent;
use crate::fs::step::Step;

/// The dirty blocks of a file system.
#[derive(Clone, Debug)]
pub(super) struct WriteBack {
    most: usize,
    requests: usize,
    /// Blocks that became dirty. Some were written or freed meanwhile.
    dirty: VecDeque<Extent>,
    /// Maps, indirect blocks and inodes that a write has changed. A sync writes them.
    recorded: VecDeque<Extent>,
    /// Blocks whose write was started, and may be in progress.
    started: VecDeque<Extent>,
}

impl WriteBack {
    pub(super) fn new(settings: &description::Ext2) -> WriteBack {
        WriteBack {
            most: settings.dirty_blocks as usize,
            requests: settings.requests as usize,
            dirty: VecDeque::new(),
            recorded: VecDeque::new(),
            started: VecDeque::new(),
        }
    }

    /// Notes that a block is about to become dirty.
    pub(super) fn add(&mut self, host: &Host, extent: Extent) {
        if !is_dirty(host, extent) {
            self.dirty.push_back(extent);
        }
    }

    /// Notes that a map, an indirect block or an inode is about to become dirty because of a write.
    pub(super) fn record(&mut self, host: &Host, extent: Extent) {
        if !is_dirty(host, extent) {
            self.recorded.push_back(extent);
        }
    }

    /// Forgets all blocks.
    pub(super) fn clear(&mut self) {
        self.dirty.clear();
        self.recorded.clear();
        self.started.clear();
    }

    /// Writes the oldest blocks if too many are dirty.
    pub(super) fn keep_below_limit(&mut self, steps: &mut Vec<Step>) {
        while self.dirty.len() > self.most {
            self.write_oldest(steps);
        }
    }

    /// Writes all blocks.
    pub(super) fn write_all(&mut self, steps: &mut Vec<Step>) {
        self.dirty.append(&mut self.recorded);
        while !self.dirty.is_empty() {
            self.write_oldest(steps);
        }
    }

    /// Starts to write the oldest block. Waits for an earlier one if too many are in progress.
    fn write_oldest(&mut self, steps: &mut Vec<Step>) {
        let Some(oldest) = self.dirty.pop_front() else { return };
        if self.started.len() == self.requests
            && let Some(earlier) = self.started.pop_front()
        {
            steps.push(Step::AwaitWrite(earlier));
        }
        steps.push(Step::WriteBack(oldest));
        self.started.push_back(oldest);
    }
}

fn is_dirty(host: &Host, extent: Extent) -> bool {
    let buffer = host.cache.find(BlockKey::new(host.drive, extent.sector));
    buffer.is_some_and(|buffer| host.cache.state(buffer) == State::Dirty)
}
