//! Faults that can be planted in the model, to prove that a check finds each of them. Only builds with the feature
//! `faults`, and this crate's own tests, can plant one. In all others `is_planted` is constantly false.

#[cfg(any(test, feature = "faults"))]
use core::sync::atomic::{AtomicU8, Ordering};

/// A fault of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A sector is reached one sector time late.
    RotationOffByASector,
    /// The process that became ready last runs first.
    UnfairWakeUp,
    /// New blocks are not cleared.
    NoZeroFill,
    /// The elevator goes downwards.
    DisksortBackwards,
    /// All platters turn at the speed of the first one.
    LockedSpindles,
    /// A searching drive raises its attention only when its sector is under the heads.
    NoSearchLead,
    /// An attention lost while the data path was busy stays pending.
    LostAttentionIgnored,
    /// Transfers do not slow the processor down.
    NoSlowDown,
    /// Read-ahead reads the block after the next one.
    ReadAheadOfTwo,
    /// Interrupts are not charged to any process.
    InterruptsNotCharged,
    /// Indirect blocks are known without being read.
    IndirectBlocksNotRead,
    /// A UDA50 has no turnaround time.
    NoTurnaround,
    /// The bus is never granted too late.
    NoLateData,
    /// The driver lets even a single drive search.
    SingleDriveSearches,
    /// Interrupts are served within critical sections.
    NoCriticalSections,
    /// Copying memory makes bus grants no later than other work does.
    AnyWorkIsRival,
    /// A polled attention is lost as soon as its sector has passed.
    AttentionNotKept,
    /// A serial microcode works on several commands at once.
    ParallelMicrocode,
    /// Blocks of a file are adjacent, without interleave, whatever the rotational delay.
    NoRotationalDelay,
    /// Directories are searched without comparing entries.
    DirectoriesNotSearched,
    /// New and truncated inodes stay in memory.
    InodesNotWritten,
    /// Changed directories stay in memory.
    DirectoriesNotWritten,
    /// Blocks are freed without time.
    FreeingTakesNoTime,
    /// The update daemon never wakes up.
    NoUpdate,
    /// All directories are in one group.
    NoDirpref,
    /// Requests of every size take the time of the smallest.
    OneLatency,
    /// The gate has no spacing per request.
    NoRequestGate,
    /// The gate has no spacing per byte.
    NoByteGate,
    /// Buckets of requests are never empty.
    NoRequestBucket,
    /// Buckets of bytes are never empty.
    NoByteBucket,
    /// A bucket gains no tokens while it rests.
    NoRefill,
    /// A bucket of bios counts requests.
    BiosNotCounted,
    /// A large request costs one token, whatever the unit.
    AnySizeIsOneRequest,
    /// A flush with nothing to drain takes no time.
    NoFlushBase,
    /// A flush does not wait for the data written before it.
    NothingDrained,
    /// Writes never wait for room in the cache.
    EndlessWriteCache,
}

#[cfg(any(test, feature = "faults"))]
impl Fault {
    /// All faults with their names.
    pub const NAMES: [(&str, Fault); 36] = [
        ("rotation-off-by-a-sector", Fault::RotationOffByASector),
        ("unfair-wake-up", Fault::UnfairWakeUp),
        ("no-zero-fill", Fault::NoZeroFill),
        ("disksort-backwards", Fault::DisksortBackwards),
        ("locked-spindles", Fault::LockedSpindles),
        ("no-search-lead", Fault::NoSearchLead),
        ("lost-attention-ignored", Fault::LostAttentionIgnored),
        ("no-slow-down", Fault::NoSlowDown),
        ("read-ahead-of-two", Fault::ReadAheadOfTwo),
        ("interrupts-not-charged", Fault::InterruptsNotCharged),
        ("indirect-blocks-not-read", Fault::IndirectBlocksNotRead),
        ("no-turnaround", Fault::NoTurnaround),
        ("no-late-data", Fault::NoLateData),
        ("single-drive-searches", Fault::SingleDriveSearches),
        ("no-critical-sections", Fault::NoCriticalSections),
        ("any-work-is-rival", Fault::AnyWorkIsRival),
        ("attention-not-kept", Fault::AttentionNotKept),
        ("parallel-microcode", Fault::ParallelMicrocode),
        ("no-rotational-delay", Fault::NoRotationalDelay),
        ("directories-not-searched", Fault::DirectoriesNotSearched),
        ("inodes-not-written", Fault::InodesNotWritten),
        ("directories-not-written", Fault::DirectoriesNotWritten),
        ("freeing-takes-no-time", Fault::FreeingTakesNoTime),
        ("no-update", Fault::NoUpdate),
        ("no-dirpref", Fault::NoDirpref),
        ("one-latency", Fault::OneLatency),
        ("no-request-gate", Fault::NoRequestGate),
        ("no-byte-gate", Fault::NoByteGate),
        ("no-request-bucket", Fault::NoRequestBucket),
        ("no-byte-bucket", Fault::NoByteBucket),
        ("no-refill", Fault::NoRefill),
        ("bios-not-counted", Fault::BiosNotCounted),
        ("any-size-is-one-request", Fault::AnySizeIsOneRequest),
        ("no-flush-base", Fault::NoFlushBase),
        ("nothing-drained", Fault::NothingDrained),
        ("endless-write-cache", Fault::EndlessWriteCache),
    ];

    /// Returns the fault with that name.
    pub fn named(name: &str) -> Option<Fault> {
        Fault::NAMES.into_iter().find_map(|(known, fault)| (known == name).then_some(fault))
    }
}

/// Accesses the planted fault: its number plus one, or zero. Tests run in parallel threads, so each thread has its own.
/// Elsewhere it applies to the whole process.
#[cfg(any(test, feature = "faults"))]
fn planted<T>(look: impl FnOnce(&AtomicU8) -> T) -> T {
    #[cfg(test)]
    {
        std::thread_local!(static PLANTED: AtomicU8 = const { AtomicU8::new(0) });
        PLANTED.with(look)
    }
    #[cfg(not(test))]
    {
        static PLANTED: AtomicU8 = AtomicU8::new(0);
        look(&PLANTED)
    }
}

/// Plants a fault, or none, for all simulations from now on. It replaces the previous one.
#[cfg(any(test, feature = "faults"))]
pub fn plant(fault: Option<Fault>) {
    planted(|number| number.store(fault.map_or(0, |fault| fault as u8 + 1), Ordering::Relaxed));
}

#[cfg(any(test, feature = "faults"))]
pub(crate) fn is_planted(fault: Fault) -> bool {
    planted(|number| number.load(Ordering::Relaxed) == fault as u8 + 1)
}

#[cfg(not(any(test, feature = "faults")))]
pub(crate) const fn is_planted(_: Fault) -> bool {
    false
}

#[cfg(test)]
mod tests;
