//! Lists of buffers in order of reuse. A buffer is in at most one list, and can be removed from any position.

use alloc::vec::Vec;

use super::BufferId;

/// A list of buffers that wait for reuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Buffers to be reused first (the AGE list of 4.2BSD).
    Aged,
    /// All other buffers, least recently used first (the LRU list of 4.2BSD).
    Recent,
}

/// Both lists. Each is a ring of buffers with a sentinel that is its beginning and its end. A buffer that is in no list
/// is a ring of its own.
#[derive(Debug)]
pub(super) struct Lines {
    links: Vec<Link>,
    buffers: u16,
}

/// The neighbours of a buffer in its ring.
#[derive(Clone, Copy, Debug)]
struct Link {
    next: u16,
    before: u16,
}

impl Lines {
    /// Number of sentinels: one per list.
    pub(super) const MARKS: u16 = 2;

    /// Creates empty lists for `buffers` buffers; no buffer is in a list.
    pub(super) fn new(buffers: u16) -> Lines {
        let alone = |id| Link { next: id, before: id };
        Lines { links: (0..buffers + Lines::MARKS).map(alone).collect(), buffers }
    }

    fn mark(&self, line: Line) -> u16 {
        self.buffers + line as u16
    }

    /// The first buffer of a list.
    pub(super) fn first(&self, line: Line) -> Option<BufferId> {
        let first = self.links[usize::from(self.mark(line))].next;
        (first < self.buffers).then_some(first)
    }

    /// Appends a buffer that is in no list.
    pub(super) fn push_last(&mut self, line: Line, id: BufferId) {
        let mark = self.mark(line);
        let last = core::mem::replace(&mut self.links[usize::from(mark)].before, id);
        self.links[usize::from(last)].next = id;
        self.links[usize::from(id)] = Link { next: mark, before: last };
    }

    /// Prepends a buffer that is in no list.
    pub(super) fn push_first(&mut self, line: Line, id: BufferId) {
        let mark = self.mark(line);
        let first = core::mem::replace(&mut self.links[usize::from(mark)].next, id);
        self.links[usize::from(first)].before = id;
        self.links[usize::from(id)] = Link { next: first, before: mark };
    }

    /// Removes the buffer from its list, if it is in one, and appends it to a list.
    pub(super) fn move_last(&mut self, line: Line, id: BufferId) {
        self.unlink(id);
        self.push_last(line, id);
    }

    /// Removes the buffer from its list, if it is in one.
    pub(super) fn take_off(&mut self, id: BufferId) {
        self.unlink(id);
        self.links[usize::from(id)] = Link { next: id, before: id };
    }

    /// Connects the neighbours of the buffer. Its own link is then to be replaced.
    fn unlink(&mut self, id: BufferId) {
        let Link { next, before } = self.links[usize::from(id)];
        self.links[usize::from(before)].next = next;
        self.links[usize::from(next)].before = before;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn emptied(mut lines: Lines, line: Line) -> Vec<BufferId> {
        core::iter::from_fn(|| lines.first(line).inspect(|&id| lines.take_off(id))).collect()
    }

    #[test]
    fn buffers_are_removed_anywhere_and_inserted_at_both_ends() {
        let mut lines = Lines::new(5);
        (0..4).for_each(|id| lines.push_last(Line::Recent, id));
        lines.push_last(Line::Aged, 4);
        for (id, last) in [(2, true), (3, false), (0, true)] {
            lines.take_off(id);
            lines.take_off(id);
            if last { lines.push_last(Line::Recent, id) } else { lines.push_first(Line::Recent, id) }
        }
        assert_eq!(lines.first(Line::Aged), Some(4));
        assert_eq!(emptied(lines, Line::Recent), [3, 1, 2, 0]);
    }

    #[test]
    fn an_empty_list_has_no_first_buffer() {
        let mut lines = Lines::new(1);
        lines.push_first(Line::Aged, 0);
        lines.take_off(0);
        assert_eq!((lines.first(Line::Aged), lines.first(Line::Recent)), (None, None));
    }
}
