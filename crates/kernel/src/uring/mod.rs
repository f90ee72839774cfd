//! The kernel through io_uring: one thread per program, several reads and writes at once.
//!
//! A ring lives as long as one run of a stream. It is made, and its memory is filled and registered, before the clock
//! begins; afterwards nothing of it holds a file. What is no read or write at a place of its own is a plain call, made
//! while nothing is under way.

mod setup;

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};

use io_uring::squeue::Flags;
use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode};
use rustix::io::Errno;
use units::{Bytes, Host, Moment, Nanos};
use workload::{HANDLES, Handle, Op, Overlap, Reason, Recorder, Step, Steps};

use crate::clocks::now;
use crate::data::{Draw, Pages};
use crate::fault::Fault;
use crate::posix::sleep_until;
use crate::process::{Process, reason, whole};

pub use setup::{Lack, MOST_BYTES, MOST_DEPTH, NoRing, no_ring};

/// Incompressible bytes that all writes together come from before they come again, as in the world of plain calls.
const VARIETY: u32 = 1 << 20;

/// Where memory begins and ends that calls work on.
const PAGE: usize = 4096;

/// A ring, with all that is under way in it.
pub(crate) struct Uring {
    ring: IoUring,
    memory: Memory,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// The descriptor that is registered for each handle; below zero, none.
    files: [RawFd; HANDLES],
    registers_files: bool,
    registers_memory: bool,
    overlap: Overlap,
    lacks: Vec<Lack>,
}

/// An op that is under way, or a place for one.
#[derive(Clone, Copy)]
struct Slot {
    op: Op,
    issued: Moment<Host>,
    /// Where its last write began in the slot's part of the data.
    at: u32,
}

/// What ops work on: for each slot, data to be written, of which a call begins anywhere in the first part, and room
/// for what is read.
struct Memory {
    pages: Pages,
    /// Where the pages begin, and how many bytes they are.
    base: *mut u8,
    bytes: usize,
    /// Bytes of a slot's first part in which a write may begin: a power of two, or zero.
    starts: u32,
    /// Bytes of its data, and of all of it.
    data: usize,
    slot: usize,
}

/// What comes next where it must wait until nothing is under way.
enum Held {
    Op(Op, Moment<Host>),
    Think(Nanos),
}

/// What became of an op that was to be issued.
enum Issued {
    Yes,
    /// It is none that can overlap with others.
    Alone,
    Refused(Reason),
}

impl Uring {
    /// A ring for what a stream has under way at once.
    pub(crate) fn new(overlap: Overlap, process: &Process) -> Result<Uring, Fault> {
        let (ring, is_plain) = setup::make(overlap.depth).map_err(Fault::Ring)?;
        let memory = Memory::new(overlap, process)?;
        let idle = Slot { op: Op::Syncfs, issued: Moment::ZERO, at: 0 };
        let mut uring = Uring {
            ring,
            memory,
            slots: vec![idle; overlap.depth as usize],
            free: (0..overlap.depth).rev().collect(),
            files: [-1; HANDLES],
            registers_files: false,
            registers_memory: false,
            overlap,
            lacks: if is_plain { vec![Lack::Plain] } else { Vec::new() },
        };
        uring.register();
        Ok(uring)
    }

    fn register(&mut self) {
        let whole = libc::iovec { iov_base: self.memory.base.cast(), iov_len: self.memory.bytes };
        // SAFETY: the memory is owned by `self` and neither moved nor freed before the ring, but where operations are
        // left under way, and then never (`drop`).
        let memory = unsafe { self.ring.submitter().register_buffers(&[whole]) };
        let files = self.ring.submitter().register_files(&self.files);
        self.registers_memory = memory.is_ok();
        self.registers_files = files.is_ok();
        for error in [memory.err(), files.err()].into_iter().flatten() {
            self.lacks.push(match error.raw_os_error() {
                Some(libc::ENOMEM) => Lack::LockedMemory,
                number => Lack::Registration(number.unwrap_or(libc::EIO)),
            });
        }
    }

    /// What it had to do without.
    pub(crate) fn lacks(&self) -> &[Lack] {
        &self.lacks
    }

    fn under_way(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Runs a stream: as much as may be is under way, until the stream ends or an op fails.
    pub(crate) fn run<S, R>(
        &mut self,
        process: &mut Process,
        stream: &mut S,
        recorder: &mut R,
        (began, stop): (Moment<Host>, &AtomicBool),
    ) -> Result<(), Fault>
    where
        S: Steps,
        R: Recorder<Host>,
    {
        let moment = || if R::TIMED { now() } else { began };
        let mut held = None;
        // The intended start of the next op.
        let mut due: Option<Moment<Host>> = None;
        let mut is_over = false;
        loop {
            if held.is_none() && !is_over && !self.free.is_empty() {
                let issued = if due.is_some() { now() } else { moment() };
                while due.is_none_or(|due| due <= issued) && held.is_none() && !is_over {
                    let Some(&slot) = self.free.last() else { break };
                    if stop.load(Ordering::Relaxed) {
                        interrupt(stream, recorder, issued);
                        is_over = true;
                        break;
                    }
                    match stream.next() {
                        Some(Step::Op(op)) => {
                            let issued = due.take().unwrap_or(issued);
                            match self.issue(process, slot, op, issued) {
                                Issued::Yes => {}
                                Issued::Alone => held = Some(Held::Op(op, issued)),
                                Issued::Refused(reason) => {
                                    recorder.record(&op, issued, moment(), Err(reason));
                                    is_over = true;
                                }
                            }
                        }
                        Some(Step::At(span)) => due = Some(began + span),
                        Some(Step::Think(span)) => held = Some(Held::Think(span)),
                        None => is_over = true,
                    }
                }
            }
            if self.under_way() == 0 {
                match held.take() {
                    Some(Held::Op(op, issued)) => {
                        self.forget(&op);
                        let outcome = process.execute(&op);
                        recorder.record(&op, issued, moment(), outcome);
                        is_over |= outcome.is_err();
                        if recorder.has_enough() {
                            stream.curtail();
                        }
                    }
                    Some(Held::Think(span)) => sleep_until(now() + span, stop),
                    None if is_over => return Ok(()),
                    None => due.into_iter().for_each(|due| sleep_until(due, stop)),
                }
                continue;
            }
            self.wait(due.filter(|_| held.is_none() && !is_over && !self.free.is_empty()))?;
            let returned = moment();
            let Uring { ring, slots, free, .. } = self;
            for completion in ring.completion() {
                let slot = completion.user_data() as u32;
                let Slot { op, issued, .. } = &slots[slot as usize];
                let outcome = outcome(op, completion.result());
                recorder.record(op, *issued, returned, outcome);
                free.push(slot);
                is_over |= outcome.is_err();
                if recorder.has_enough() {
                    stream.curtail();
                    due = None;
                }
            }
        }
    }

    /// Puts an op into the ring, to be issued with the next wait.
    #[inline(always)]
    fn issue(&mut self, process: &Process, slot: u32, op: Op, issued: Moment<Host>) -> Issued {
        let (handle, length, offset, writes) = match op {
            Op::ReadAt { handle, length, offset } => (handle, length, offset, false),
            Op::WriteAt { handle, length, offset } => (handle, length, offset, true),
            _ => return Issued::Alone,
        };
        if length > self.overlap.largest || (writes && !self.overlap.writes) {
            return Issued::Alone;
        }
        let (descriptor, identity) = match process.descriptor(handle) {
            Ok(known) => known,
            Err(reason) => return Issued::Refused(reason),
        };
        let place = &mut self.slots[slot as usize];
        (place.op, place.issued) = (op, issued);
        let memory = if writes {
            self.memory.data(slot, &mut place.at, length, identity, offset)
        } else {
            self.memory.room(slot, length)
        };
        let index = self.registered(handle, descriptor);
        let (file, flags) = index.map_or((Fd(descriptor), Flags::empty()), |index| (Fd(index), Flags::FIXED_FILE));
        let entry = match (writes, self.registers_memory) {
            (false, true) => opcode::ReadFixed::new(file, memory, length, 0).offset(offset).build(),
            (false, false) => opcode::Read::new(file, memory, length).offset(offset).build(),
            (true, true) => opcode::WriteFixed::new(file, memory, length, 0).offset(offset).build(),
            (true, false) => opcode::Write::new(file, memory, length).offset(offset).build(),
        };
        // SAFETY: the memory belongs to this slot, which is used again only after the completion; it outlives the op
        // (`drop`). The file is open: it is closed only while nothing is under way.
        let pushed = unsafe { self.ring.submission().push(&entry.flags(flags).user_data(u64::from(slot))) };
        pushed.expect("a ring has as many entries as slots");
        self.free.pop();
        Issued::Yes
    }

    /// The number under which the file of a handle is registered; nothing where it is not.
    #[inline]
    fn registered(&mut self, handle: Handle, descriptor: RawFd) -> Option<i32> {
        if !self.registers_files {
            return None;
        }
        let index = usize::from(handle.0) % HANDLES;
        if self.files[index] != descriptor {
            self.set_file(index, descriptor);
        }
        (self.files[index] == descriptor).then_some(index as i32)
    }

    #[cold]
    fn set_file(&mut self, index: usize, descriptor: RawFd) {
        let updated = self.ring.submitter().register_files_update(index as u32, &[descriptor]);
        self.files[index] = if updated.is_ok() { descriptor } else { -1 };
    }

    /// The op will change which file a handle is, so that its number may come to mean another one.
    fn forget(&mut self, op: &Op) {
        if let Op::Open { handle, .. } | Op::Create { handle, .. } | Op::Close { handle } = op {
            let index = usize::from(handle.0) % HANDLES;
            if self.files[index] >= 0 {
                self.set_file(index, -1);
            }
        }
    }

    /// Issues what is in the ring, and waits until something has returned, or until then.
    #[inline]
    fn wait(&mut self, until: Option<Moment<Host>>) -> Result<(), Fault> {
        let submitter = self.ring.submitter();
        let waited = match until {
            None => submitter.submit_and_wait(1),
            Some(until) => {
                let left = until.since_zero().saturating_sub(now().since_zero()).0;
                let left = Timespec::new().sec(left / 1_000_000_000).nsec((left % 1_000_000_000) as u32);
                submitter.submit_with_args(1, &SubmitArgs::new().timespec(&left))
            }
        };
        match waited {
            Ok(_) => Ok(()),
            // A signal, the time, or too much at once: what has returned is there all the same.
            Err(error) => match error.raw_os_error() {
                Some(libc::EINTR | libc::ETIME | libc::EAGAIN | libc::EBUSY) => Ok(()),
                number => Err(Fault::Ring(NoRing::Errno(number.unwrap_or(libc::EIO)))),
            },
        }
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        // The kernel lets go of a ring's files some time after the ring is gone, and a file system that has open files
        // cannot be unmounted.
        let _ = self.ring.submitter().unregister_files();
        if self.under_way() > 0 {
            // The world has failed, or a recorder panicked: the kernel may still write to this memory.
            std::mem::forget(std::mem::take(&mut self.memory.pages));
        }
    }
}

/// How a ring's memory is divided.
struct Layout {
    starts: u32,
    data: usize,
    slot: usize,
}

impl Layout {
    fn of(Overlap { depth, largest, writes }: Overlap) -> Layout {
        let room = (largest as usize).next_multiple_of(PAGE);
        let starts = if writes { (VARIETY / depth.max(1)).next_power_of_two() } else { 0 };
        let data = if writes { (starts as usize).next_multiple_of(PAGE) + room } else { 0 };
        Layout { starts, data, slot: data + room }
    }
}

/// Memory that a ring works on for so much under way.
pub fn ring_memory(overlap: Overlap) -> Bytes {
    Bytes(Layout::of(overlap).slot as u64 * u64::from(overlap.depth))
}

impl Memory {
    fn new(overlap: Overlap, process: &Process) -> Result<Memory, Fault> {
        let Layout { starts, data, slot } = Layout::of(overlap);
        let mut pages = Pages::zeroed(slot * overlap.depth as usize)?;
        if overlap.writes {
            process.fill(pages.bytes_mut());
        }
        let bytes = pages.bytes_mut();
        let (base, bytes) = (bytes.as_mut_ptr(), bytes.len());
        Ok(Memory { pages, base, bytes, starts, data, slot })
    }

    /// The next data of a slot, of which the kernel only reads, stamped for `offset` of the file `identity`.
    #[inline]
    fn data(&mut self, slot: u32, at: &mut u32, length: u32, identity: u64, offset: u64) -> *mut u8 {
        let (starts, bytes) = (self.starts, self.data);
        Draw::from(self.part(slot, 0, bytes), starts, at, length).next(identity, offset).as_ptr().cast_mut()
    }

    /// A slot's room for what is read.
    #[inline]
    fn room(&mut self, slot: u32, length: u32) -> *mut u8 {
        self.part(slot, self.data, length as usize).as_mut_ptr()
    }

    /// Bytes of a slot under which nothing is under way. Others are the kernel's meanwhile.
    #[inline]
    fn part(&mut self, slot: u32, from: usize, bytes: usize) -> &mut [u8] {
        let begin = slot as usize * self.slot + from;
        assert!(begin + bytes <= self.bytes, "a slot beyond the memory");
        // SAFETY: in bounds of the memory, as asserted. Of this slot nothing is under way, so that nobody else has these
        // bytes, and no reference to the rest is made.
        unsafe { std::slice::from_raw_parts_mut(self.base.add(begin), bytes) }
    }
}

/// What the kernel says of an op, in the words of both worlds.
#[inline]
fn outcome(op: &Op, result: i32) -> Result<u32, Reason> {
    let (Op::ReadAt { length, .. } | Op::WriteAt { length, .. }) = *op else { return Ok(0) };
    if result < 0 {
        return Err(reason(Errno::from_raw_os_error(-result)));
    }
    whole(result as usize, length)
}

/// Tells the recorder which op was not issued any more.
#[cold]
fn interrupt<S: Steps, R: Recorder<Host>>(stream: &mut S, recorder: &mut R, now: Moment<Host>) {
    let op = stream.find_map(|step| if let Step::Op(op) = step { Some(op) } else { None });
    op.iter().for_each(|op| recorder.record(op, now, now, Err(Reason::Interrupted)));
}
