//! The kernel through io_uring: one thread per program, several reads and writes in flight.
//!
//! A ring lives as long as one run of a stream. It is set up, and its memory is filled and registered, before the
//! clock starts. Afterwards it holds no file open. Any op other than a read or write at a place is a plain system
//! call, made while no op is in flight.

mod memory;
mod setup;
mod slots;

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use io_uring::squeue::{Entry, Flags, SubmissionQueue};
use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, Submitter, opcode};
use rustix::io::Errno;
use units::{Host, Moment, Nanos};
use workload::{HANDLES, Handle, Op, Overlap, PositionedIo, Reason, Recorder, Step, Steps};

use crate::errno::{self, reason};
use crate::errors::Fault;
use crate::sys::clocks::now;
use crate::world::process::Process;
use crate::world::sync_engine::{failed, sleep_until};

use memory::Memory;
pub use memory::ring_memory;
pub(crate) use setup::ring;
pub use setup::{Degradation, MOST_BYTES, MOST_DEPTH, NoRing, no_ring};
use slots::FreeSlots;

/// A ring, with all ops in flight.
pub(crate) struct Uring {
    ring: IoUring,
    work: Work,
    degradations: Vec<Degradation>,
    /// Number of consecutive times that the kernel temporarily refused submissions.
    refused: u32,
}

/// Maximum number of consecutive temporary refusals (EAGAIN, EBUSY), a millisecond apart: a second or more. Chosen:
/// longer than the kernel needs to free memory, shorter than a user waits after asking to stop.
const MOST_REFUSED: u32 = 1000;

/// The maximum number of completions that are handled after a wait before their slots are filled and submitted again. A
/// device that returns a whole queue at once, as virtio disks do, would otherwise be idle until all of it were handled
/// and submitted again. Measured on a virtio disk at depth 32, in five turns of two seconds, and compared with the rate
/// of fio: batches of 8 reached 0.97 of it, batches of 4 and 1 reached 1.00. In a shorter queue, a batch is a quarter
/// of the queue, so that the device keeps the rest to work on.
const FIRST_BATCH: usize = 4;

/// A queue whose largest operation has at least this many bytes is handled and replaced one operation at a time. The
/// kernel holds back entries that are submitted together until it has prepared all of them, and merges adjacent ones,
/// so a sequential queue gets shorter. Measured on a virtio disk with sequential calls of 128 KiB at depth 8, in six
/// turns of two seconds, and compared with the rate of fio: one at a time reached 0.99 of it, batches from 2 to 8
/// reached 0.93. For 4 KiB, one at a time costs 2.4 times the instructions, and gains 0 to 3 %.
const LARGE: u32 = 128 << 10;

/// Each following batch is twice as large, up to this limit: completions that are there already need no wait, and each
/// submission costs instructions. Operations count as issued when the batch before them was taken from the ring. The
/// limit keeps the error of that time small: handling 32 completions takes about 1 us. Chosen.
const LARGEST_BATCH: usize = 32;

/// The ops in flight, and their resources.
struct Work {
    memory: Memory,
    slots: Vec<Slot>,
    free: FreeSlots,
    /// The registered descriptor of each handle. Negative if there is none.
    files: [RawFd; HANDLES],
    /// The file of the last entries. `None` once a handle changes its file.
    known: Option<FileRef>,
    registers_files: bool,
    registers_memory: bool,
    overlap: Overlap,
}

/// A read or write in flight, or a free slot for one.
#[derive(Clone, Copy)]
struct Slot {
    io: PositionedIo,
    issued: Moment<Host>,
    /// The offset in the slot's data at which its last write ended.
    at: u32,
}

/// The next step, if it must wait until no op is in flight.
enum Deferred {
    /// An op, and its intended start if it has one. Otherwise it starts with its call, after the wait for other ops.
    Op(Op, Option<Moment<Host>>),
    Think(Nanos),
}

/// The reason why a read or write was not issued.
enum NotIssued {
    /// It cannot overlap with others.
    Alone,
    Refused(Reason),
}

/// An open file in the form that ring entries use.
#[derive(Clone, Copy)]
struct FileRef {
    handle: Handle,
    /// Its descriptor, or its index among the registered files.
    number: i32,
    flags: Flags,
    identity: u64,
}

impl Uring {
    /// Sets up a ring for the queue depth of a stream.
    pub(crate) fn new(overlap: Overlap, process: &Process) -> Result<Uring, Fault> {
        let (ring, is_plain) = setup::make(overlap.depth, overlap.polled).map_err(Fault::Ring)?;
        let memory = Memory::new(overlap, process)?;
        let nothing = PositionedIo { handle: Handle::new(0), length: 0, offset: 0, write: false };
        let work = Work {
            memory,
            slots: vec![Slot { io: nothing, issued: Moment::ZERO, at: 0 }; overlap.depth as usize],
            free: FreeSlots::all(overlap.depth),
            files: [-1; HANDLES],
            known: None,
            registers_files: false,
            registers_memory: false,
            overlap,
        };
        let mut uring = Uring {
            ring,
            work,
            degradations: if is_plain { vec![Degradation::Plain] } else { Vec::new() },
            refused: 0,
        };
        uring.register();
        Ok(uring)
    }

    fn register(&mut self) {
        let whole = libc::iovec { iov_base: self.work.memory.base.cast(), iov_len: self.work.memory.bytes };
        // SAFETY: the memory is owned by `self` and neither moved nor freed before the ring. If ops are still in
        // flight at the end, it is never freed (`drop`).
        let memory = unsafe { self.ring.submitter().register_buffers(&[whole]) };
        let files = self.ring.submitter().register_files(&self.work.files);
        self.work.registers_memory = memory.is_ok();
        self.work.registers_files = files.is_ok();
        for error in [memory.err(), files.err()].into_iter().flatten() {
            self.degradations.push(match error.raw_os_error() {
                Some(libc::ENOMEM) => Degradation::LockedMemory,
                number => Degradation::Registration(number.unwrap_or(libc::EIO)),
            });
        }
    }

    /// True if a kernel thread polls for new entries.
    pub(crate) fn is_polled(&self) -> bool {
        self.work.overlap.polled
    }

    /// The limitations of this ring.
    pub(crate) fn degradations(&self) -> &[Degradation] {
        &self.degradations
    }

    /// Runs a stream at its full queue depth, until it ends or an op fails.
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
        // When the last completions were taken from the ring. The operations that replace them count as issued at that
        // moment, so that the clock is read once for both.
        let mut taken: Option<Moment<Host>> = None;
        let mut is_over = false;
        let depth = self.work.slots.len();
        let (first_batch, largest_batch) = match self.work.overlap.largest {
            LARGE.. => (1, 1),
            _ => ((depth / 4).clamp(1, FIRST_BATCH), LARGEST_BATCH),
        };
        let mut batch = first_batch;
        loop {
            if held.is_none() && !is_over && !self.work.free.is_empty() {
                let issued = if due.is_some() { now() } else { taken.take().unwrap_or_else(moment) };
                if stop.load(Ordering::Relaxed) {
                    interrupt(stream, recorder, issued);
                    is_over = true;
                }
                let mut refused: Option<(PositionedIo, Moment<Host>, NotIssued)> = None;
                if due.is_none() && !is_over {
                    refused = match self.work.registers_memory {
                        true => self.issue_all::<S, true>(process, stream, issued),
                        false => self.issue_all::<S, false>(process, stream, issued),
                    };
                }
                while due.is_none_or(|due| due <= issued) && held.is_none() && refused.is_none() && !is_over {
                    if self.work.free.is_empty() {
                        break;
                    }
                    match stream.next() {
                        Some(Step::Op(op)) => {
                            let intended = due.take();
                            let issued = intended.unwrap_or(issued);
                            match positioned_io(&op) {
                                Some(io) => match self.issue(process, io, issued) {
                                    Err(NotIssued::Alone) => held = Some(Deferred::Op(op, intended)),
                                    Err(why) => refused = Some((io, issued, why)),
                                    Ok(()) => {}
                                },
                                None => held = Some(Deferred::Op(op, intended)),
                            }
                        }
                        Some(Step::At(span)) => due = Some(began + span),
                        Some(Step::Think(span)) => held = Some(Deferred::Think(span)),
                        None => is_over = true,
                    }
                }
                match refused {
                    Some((io, _, NotIssued::Alone)) => held = Some(Deferred::Op(io.into(), None)),
                    Some((io, issued, NotIssued::Refused(reason))) => {
                        failed(recorder, io.into(), (issued, moment()), reason);
                        is_over = true;
                    }
                    None => {}
                }
            }
            if self.work.in_flight() == 0 {
                taken = None;
                let mut is_ended = false;
                match held.take() {
                    Some(Deferred::Op(op, issued)) => {
                        self.forget(&op);
                        let issued = issued.unwrap_or_else(moment);
                        let outcome = process.execute(&op);
                        recorder.record(&op, issued, moment(), outcome);
                        is_over |= outcome.is_err();
                        if recorder.has_enough() {
                            stream.curtail();
                        }
                    }
                    Some(Deferred::Think(span)) => is_ended = !sleep_until(now() + span, stop, recorder),
                    None if is_over => return Ok(()),
                    None => is_ended = due.is_some_and(|due| !sleep_until(due, stop, recorder)),
                }
                if is_ended {
                    stream.curtail();
                    due = None;
                }
                continue;
            }
            let has_waited = self.enter(due.filter(|_| held.is_none() && !is_over && !self.work.free.is_empty()))?;
            batch = match has_waited {
                // Nothing can be submitted before all operations in flight have returned.
                _ if is_over || held.is_some() => depth,
                true => first_batch,
                false => (2 * batch).min(largest_batch),
            };
            let returned = moment();
            taken = Some(returned);
            if self.reap(recorder, returned, batch) {
                // A step that was held back is dropped.
                is_over = true;
                held = None;
            }
            if recorder.has_enough() {
                stream.curtail();
                due = None;
            }
        }
    }

    /// Puts ops of the stream into the ring until no slot is free. Returns the op that was not issued, and the
    /// reason.
    #[inline(never)]
    fn issue_all<S: Steps, const REGISTERED: bool>(
        &mut self,
        process: &Process,
        stream: &mut S,
        issued: Moment<Host>,
    ) -> Option<(PositionedIo, Moment<Host>, NotIssued)> {
        let work = &mut self.work;
        // `issue` finds the file of the first op.
        let mut target = work.known?;
        let mut queue = self.ring.submission();
        while let Some(slot) = work.free.first() {
            let io = stream.next_positioned()?;
            if io.handle != target.handle {
                drop(queue);
                target = match work.target(process, &self.ring.submitter(), io.handle) {
                    Ok(target) => target,
                    Err(reason) => return Some((io, issued, NotIssued::Refused(reason))),
                };
                queue = self.ring.submission();
            }
            match work.entry::<REGISTERED>(slot, io, target, issued) {
                Some(entry) => work.push(&mut queue, &entry),
                None => return Some((io, issued, NotIssued::Alone)),
            }
        }
        None
    }

    /// Puts one read or write into the ring.
    fn issue(&mut self, process: &Process, io: PositionedIo, issued: Moment<Host>) -> Result<(), NotIssued> {
        let work = &mut self.work;
        let target = work.target(process, &self.ring.submitter(), io.handle).map_err(NotIssued::Refused)?;
        let mut queue = self.ring.submission();
        let slot = work.free.first().expect("room for it");
        let entry = match work.registers_memory {
            true => work.entry::<true>(slot, io, target, issued),
            false => work.entry::<false>(slot, io, target, issued),
        };
        let entry = entry.ok_or(NotIssued::Alone)?;
        work.push(&mut queue, &entry);
        Ok(())
    }

    /// Passes up to `batch` completions to the recorder, and returns whether an operation failed.
    #[inline(never)]
    fn reap<R: Recorder<Host>>(&mut self, recorder: &mut R, returned: Moment<Host>, batch: usize) -> bool {
        let work = &mut self.work;
        let mut has_failed = false;
        for completion in self.ring.completion().take(batch) {
            let slot = completion.user_data() as u32;
            work.free.give_back(slot);
            // By reference: the recorder seldom needs the offset and the handle.
            let Slot { io, issued, .. } = &work.slots[slot as usize];
            if u32::try_from(completion.result()) != Ok(io.length) {
                let reason = work.refusal(completion.result(), *io);
                failed(recorder, (*io).into(), (*issued, returned), reason);
                has_failed = true;
            } else if io.write {
                // Branch on read or write, so that the compiler specialises both cases.
                let op = Op::from(PositionedIo { write: true, ..*io });
                recorder.record(&op, *issued, returned, Ok(io.length));
            } else {
                let op = Op::from(PositionedIo { write: false, ..*io });
                recorder.record(&op, *issued, returned, Ok(io.length));
            }
        }
        has_failed
    }

    /// Forgets the file of a handle before the op changes it: the same descriptor number may then belong to another
    /// file.
    fn forget(&mut self, op: &Op) {
        if let Op::Open { handle, .. } | Op::Create { handle, .. } | Op::Close { handle } = op {
            self.work.known = None;
            let index = handle.index();
            if self.work.files[index] >= 0 {
                self.work.set_file(&self.ring.submitter(), index, -1);
            }
        }
    }

    /// Submits the new entries. If the ring has no completion yet, waits for one, at most until `until`. Returns
    /// whether it waited.
    #[inline(always)]
    fn enter(&mut self, until: Option<Moment<Host>>) -> Result<bool, Fault> {
        let is_waiting = self.ring.completion().is_empty();
        let submitter = self.ring.submitter();
        let entered = match until {
            Some(until) if is_waiting => {
                let left = until.since_zero().saturating_sub(now().since_zero()).0;
                let left = Timespec::new().sec(left / 1_000_000_000).nsec((left % 1_000_000_000) as u32);
                submitter.submit_with_args(1, &SubmitArgs::new().timespec(&left))
            }
            _ => submitter.submit_and_wait(usize::from(is_waiting)),
        };
        match entered {
            Ok(_) => {
                self.refused = 0;
                Ok(is_waiting)
            }
            // A signal, the timeout, or too many entries at once: completed ops are in the ring nevertheless.
            Err(error) => match error.raw_os_error() {
                Some(libc::EINTR | libc::ETIME) => Ok(is_waiting),
                Some(libc::EAGAIN | libc::EBUSY) if self.refused < MOST_REFUSED => {
                    self.refused += 1;
                    thread::sleep(Duration::from_millis(1));
                    Ok(is_waiting)
                }
                _ => Err(Fault::Issue(error)),
            },
        }
    }
}

/// Sets up a ring for 32 blocks of 4 KiB in flight, as a database uses, and drops it again. Returns its limitations
/// here, or the reason why there is none.
pub(crate) fn trial() -> Result<Vec<Degradation>, String> {
    let overlap = Overlap { depth: 32, largest: 4096, writes: false, polled: false };
    let process = Process::new(None, Vec::new(), 0, overlap.largest, 0);
    match process.and_then(|process| Uring::new(overlap, &process)) {
        Ok(ring) => Ok(ring.degradations.clone()),
        Err(Fault::Ring(why)) => Err(why.to_string()),
        Err(fault) => Err(fault.to_string()),
    }
}

impl Work {
    fn in_flight(&self) -> usize {
        self.slots.len() - self.free.count() as usize
    }

    /// The file of a handle, which is known from now on; registers it if possible.
    #[inline(never)]
    fn target(&mut self, process: &Process, submitter: &Submitter<'_>, handle: Handle) -> Result<FileRef, Reason> {
        let (descriptor, identity) = process.descriptor(handle)?;
        let index = handle.index();
        if self.registers_files && self.files[index] != descriptor {
            self.set_file(submitter, index, descriptor);
        }
        let is_registered = self.registers_files && self.files[index] == descriptor;
        let (number, flags) =
            if is_registered { (index as i32, Flags::FIXED_FILE) } else { (descriptor, Flags::empty()) };
        Ok(*self.known.insert(FileRef { handle, number, flags, identity }))
    }

    /// The reason for a result other than the op's length. That of a kernel error is refined by the registered file.
    #[cold]
    #[inline(never)]
    fn refusal(&self, result: i32, io: PositionedIo) -> Reason {
        match u32::try_from(result) {
            Ok(moved) => Reason::Short(moved),
            Err(_) => errno::of_ring(reason(Errno::from_raw_os_error(-result)), self.files[io.handle.index()], io),
        }
    }

    fn set_file(&mut self, submitter: &Submitter<'_>, index: usize, descriptor: RawFd) {
        let updated = submitter.register_files_update(index as u32, &[descriptor]);
        self.files[index] = if updated.is_ok() { descriptor } else { -1 };
    }

    /// The ring entry for a read or write in a free slot. Returns `None` if the op cannot overlap with others.
    #[inline(always)]
    fn entry<const REGISTERED: bool>(
        &mut self,
        slot: u32,
        io: PositionedIo,
        target: FileRef,
        issued: Moment<Host>,
    ) -> Option<Entry> {
        let PositionedIo { length, offset, write, .. } = io;
        if length > self.overlap.largest || (write && !self.overlap.writes) {
            return None;
        }
        let here = &mut self.slots[slot as usize];
        (here.io, here.issued) = (io, issued);
        // The flags tell whether the number is a descriptor or an index.
        let file = Fd(target.number);
        let entry = if write {
            let memory = self.memory.data(slot, &mut here.at, length, target.identity, offset);
            match REGISTERED {
                true => opcode::WriteFixed::new(file, memory, length, 0).offset(offset).build(),
                false => opcode::Write::new(file, memory, length).offset(offset).build(),
            }
        } else {
            let memory = self.memory.room(slot, length);
            match REGISTERED {
                true => opcode::ReadFixed::new(file, memory, length, 0).offset(offset).build(),
                false => opcode::Read::new(file, memory, length).offset(offset).build(),
            }
        };
        Some(entry.flags(target.flags).user_data(u64::from(slot)))
    }

    /// Puts the entry into the ring; it is submitted with the next wait.
    #[inline(always)]
    fn push(&mut self, queue: &mut SubmissionQueue<'_>, entry: &Entry) {
        // SAFETY: the memory belongs to this slot, which is reused only after the completion; it outlives the op
        // (`drop`). The file is open: it is closed only while no op is in flight.
        let pushed = unsafe { queue.push(entry) };
        pushed.expect("a ring has as many entries as slots");
        self.free.take_first();
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        // The kernel releases a ring's files some time after the ring is gone, and a file system with open files
        // cannot be unmounted.
        let _ = self.ring.submitter().unregister_files();
        if self.work.in_flight() > 0 {
            // The world has failed or a recorder has panicked. The memory is leaked, because the kernel may still write
            // to it.
            std::mem::forget(std::mem::take(&mut self.work.memory.pages));
        }
    }
}

/// The place of a read or write at an offset. `None` for other ops.
fn positioned_io(op: &Op) -> Option<PositionedIo> {
    match *op {
        Op::ReadAt { handle, length, offset } => Some(PositionedIo { handle, length, offset, write: false }),
        Op::WriteAt { handle, length, offset } => Some(PositionedIo { handle, length, offset, write: true }),
        _ => None,
    }
}

/// Records the next op of the stream as interrupted, because it will not be issued.
#[cold]
fn interrupt<S: Steps, R: Recorder<Host>>(stream: &mut S, recorder: &mut R, now: Moment<Host>) {
    let op = stream.find_map(|step| if let Step::Op(op) = step { Some(op) } else { None });
    op.iter().for_each(|op| recorder.record(op, now, now, Err(Reason::Interrupted)));
}
