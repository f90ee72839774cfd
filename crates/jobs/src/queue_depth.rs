//! The engine and the queue depth of a workload, within the limits of the machine.

use units::Bytes;
use workload::Overlap;
use workload::programs::load::{Pattern, Queue};

use crate::error::{JobError, LoadError};
use crate::load_spec::LoadSpec;
use crate::load_words::{Engine, name};

/// Properties of a machine that limit workloads.
#[derive(Clone, Debug)]
pub struct Host {
    /// The reason why io_uring cannot be used; `None` if it can.
    pub no_ring: Option<String>,
    /// The number of processors.
    pub processors: usize,
    /// The limits of io_uring.
    pub limits: RingLimits,
}

/// Limits of io_uring.
#[derive(Clone, Copy, Debug)]
pub struct RingLimits {
    /// The maximum queue depth.
    pub depth: u32,
    /// The maximum memory for buffers.
    pub bytes: Bytes,
    /// Computes the memory for a ring's buffers.
    pub needed: fn(Overlap) -> Bytes,
}

impl RingLimits {
    /// A machine that can run every workload within these limits.
    pub(crate) fn on_any_machine(self) -> Host {
        Host { no_ring: None, processors: usize::MAX, limits: self }
    }
}

impl LoadSpec {
    /// The engine and the queue depth, with a warning if they do not work as the keys say:
    ///   1. refuse a depth above 1 with plain calls or commits, and more memory than a ring can have;
    ///   2. use the requested engine, or refuse it if it is io_uring and this machine has none;
    ///   3. with auto, use io_uring for depths above 1; without io_uring, use depth 1 and warn.
    pub(crate) fn queue(&self, pattern: Pattern, block: u32, host: &Host) -> Result<(Queue, Option<String>), JobError> {
        let engine = self.engine.unwrap_or_default();
        // 1
        let depth = self.depth(engine, pattern, host.limits)?;
        let overlap = Overlap { depth, largest: block, writes: pattern.writes(), polled: false };
        self.check_ring_memory(overlap, host.limits)?;
        if engine == Engine::Mmap {
            self.check_mapping(pattern)?;
        }
        match (engine, &host.no_ring) {
            // 2
            (Engine::Posix, _) => Ok((Queue::Sync, None)),
            (Engine::Mmap, _) => Ok((Queue::Mapped, None)),
            (Engine::Null, _) => Ok((Queue::Null, None)),
            (Engine::Uring | Engine::Sqpoll, Some(why)) => Err(JobError::NoRing(why.clone())),
            (Engine::Uring, None) => Ok((Queue::Deep(depth), None)),
            (Engine::Sqpoll, None) => Ok((Queue::Polled(depth), self.check_polling(host.processors)?)),
            // 3
            (Engine::Auto, _) if depth == 1 => Ok((Queue::Sync, None)),
            (Engine::Auto, None) => Ok((Queue::Deep(depth), None)),
            (Engine::Auto, Some(why)) => {
                Ok((Queue::Sync, Some(format!("{why}; using plain calls, with one operation in flight"))))
            }
        }
    }

    /// The queue depth, if the engine and the pattern support it.
    fn depth(&self, engine: Engine, pattern: Pattern, limits: RingLimits) -> Result<u32, LoadError> {
        let depth = self.iodepth.unwrap_or(1);
        let bad = |why: &str, hint: &str| Err(LoadError::new("iodepth", depth, why, hint));
        // A polled ring needs two entries for each operation.
        let most = if engine == Engine::Sqpoll { limits.depth / 2 } else { limits.depth };
        if !(1..=most).contains(&depth) {
            return bad(&format!("it must be from 1 to {most}"), "1 means one operation at a time");
        }
        if pattern == Pattern::Commit && depth > 1 {
            return bad("commit writes one record at a time", "leave out --iodepth");
        }
        if pattern == Pattern::Commit && matches!(engine, Engine::Uring | Engine::Sqpoll) {
            let why = "commit writes one record at a time, with plain calls";
            return Err(LoadError::new("engine", name(engine), why, "leave out --engine"));
        }
        if depth > 1 && matches!(engine, Engine::Posix | Engine::Mmap | Engine::Null) {
            let why = format!("--engine {} has one operation in flight", name(engine));
            return bad(&why, "leave out --engine, or use --engine uring");
        }
        Ok(depth)
    }

    /// Refuses buffers that are larger than a ring can have.
    fn check_ring_memory(&self, overlap: Overlap, limits: RingLimits) -> Result<(), LoadError> {
        let uses_ring = overlap.depth > 1 || matches!(self.engine, Some(Engine::Uring | Engine::Sqpoll));
        if !uses_ring || (limits.needed)(overlap) <= limits.bytes {
            return Ok(());
        }
        let (block, most) = (Bytes(overlap.largest.into()), limits.bytes);
        let why = format!("the buffers for this depth and blocks of {block} need more than the {most} of a ring");
        Err(LoadError::new("iodepth", overlap.depth, why, "use a smaller --iodepth or a smaller --bs"))
    }

    /// Refuses a polling thread on a single processor, and warns if there are too few processors for all threads.
    fn check_polling(&self, processors: usize) -> Result<Option<String>, LoadError> {
        let jobs = self.jobs.unwrap_or(1) as usize;
        if processors < 2 {
            let why = "the polling thread needs a processor of its own, and this machine has one";
            return Err(LoadError::new("engine", "sqpoll", why, "use --engine uring"));
        }
        let are_few = jobs.saturating_mul(2) > processors;
        Ok(are_few.then(|| {
            format!(
                "{jobs} polling threads and {jobs} jobs share {processors} processors; a polling thread without a \
                 processor of its own slows down its job"
            )
        }))
    }

    /// Refuses options that mapped memory cannot have.
    fn check_mapping(&self, pattern: Pattern) -> Result<(), LoadError> {
        let bad = |why: &str, hint: &str| Err(LoadError::new("engine", "mmap", why, hint));
        if self.direct {
            return bad("mmap maps the page cache, which --direct bypasses", "leave out --direct");
        }
        if self.sync.is_some() {
            let why = "a copy to mapped memory does not wait, even with --sync";
            return bad(why, "use --fsync N, or leave out --engine");
        }
        if pattern == Pattern::Commit || (pattern == Pattern::Write && self.stride.is_none()) {
            return bad("the pattern starts without a file to map", "use randwrite, or write with --stride");
        }
        Ok(())
    }
}

/// A machine for tests: io_uring and 64 processors.
#[cfg(test)]
pub(crate) fn sample() -> Host {
    // Writes need extra buffers, as in the kernel's world.
    let needed = |Overlap { depth, largest, writes, .. }: Overlap| {
        Bytes(u64::from(depth) * u64::from(largest) * if writes { 2 } else { 1 })
    };
    Host { no_ring: None, processors: 64, limits: RingLimits { depth: 32_768, bytes: Bytes(1 << 30), needed } }
}
