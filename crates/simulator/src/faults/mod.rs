//! Mistakes that can be planted in the model, to see that some check finds each. Only builds with the feature `faults`,
//! and this crate's own tests, can plant one; in all others `is_planted` is a constant no.

#[cfg(any(test, feature = "faults"))]
use core::sync::atomic::{AtomicU8, Ordering};

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A sector comes under the heads when the one after it should.
    RotationOffByASector,
    /// Who becomes ready last runs first.
    UnfairWakeUp,
    /// New blocks are not cleared.
    NoZeroFill,
    /// The elevator goes downwards.
    DisksortBackwards,
    /// All platters turn as the first one does.
    LockedSpindles,
    /// A drive that searches calls when its sector is under the heads.
    NoSearchLead,
    /// A call that nobody heard is remembered all the same.
    LostAttentionIgnored,
    /// Transfers do not slow the processor down.
    NoSlowDown,
    /// The block after the next one is read ahead.
    ReadAheadOfTwo,
    /// Interrupts are charged to nobody.
    InterruptsNotCharged,
    /// Indirect blocks are known without being read.
    IndirectBlocksNotRead,
    /// A UDA50 turns to the next request in no time.
    NoTurnaround,
    /// No sector ever comes too late.
    NoLateData,
    /// Blocks of a file lie one behind the other, whatever the rotational delay.
    NoRotationalDelay,
}

#[cfg(any(test, feature = "faults"))]
impl Fault {
    /// All of them, and what they are called.
    pub const NAMES: [(&str, Fault); 14] = [
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
        ("no-rotational-delay", Fault::NoRotationalDelay),
    ];

    /// The fault of that name.
    pub fn named(name: &str) -> Option<Fault> {
        Fault::NAMES.into_iter().find_map(|(known, fault)| (known == name).then_some(fault))
    }
}

/// What is planted: the fault's number and one, or zero. Tests run side by side, so that each thread has its own;
/// elsewhere it holds for the whole process.
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

/// Plants a fault in whatever is simulated from now on, instead of the one before.
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
