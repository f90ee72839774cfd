//! A session with one device: builds tapes, plays them, and watches how long the probe waited for a CPU.

use stats::probe::{MOST_CPU_WAIT, Measured, NotMeasured};
use units::{Nanos, Prng};
use workload::{Served, Tape, TapeKind, TapePlayer, TapeRequest};

use super::Settings;

/// A device that can be probed.
pub trait Player: TapePlayer {
    /// Time for which the probe was ready to run, but waited for a CPU. `None` if it is not known.
    fn cpu_wait(&self) -> Option<Nanos>;
}

impl Player for kernel::TapeFile {
    fn cpu_wait(&self) -> Option<Nanos> {
        kernel::cpu_wait()
    }
}

impl Player for simulator::LawDevice {
    fn cpu_wait(&self) -> Option<Nanos> {
        Some(Nanos::ZERO)
    }
}

impl Player for simulator::RawDrive {
    fn cpu_wait(&self) -> Option<Nanos> {
        Some(Nanos::ZERO)
    }
}

/// A step of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Requests of all sizes, one at a time.
    Latency,
    /// Reads of the same sectors.
    Rotation,
    /// Sectors of neighbouring tracks.
    Tracks,
    /// Seeks of several lengths.
    Seeks,
    /// Requests of this many bytes, at depth.
    Depth(TapeKind, u32),
    /// The same again after a short rest.
    Refill,
    /// Pairs of reads.
    Stripes,
    /// Writes with a flush.
    Flush,
    /// Writes until a cache is full.
    WriteCache,
}

/// A session with a device.
pub(crate) struct Session<'a, P: Player> {
    pub(crate) player: &'a mut P,
    pub(crate) settings: Settings,
    pub(crate) chance: Prng,
    notify: &'a mut dyn FnMut(Step),
    /// Time of the tapes of this step, and the part for which the probe waited for a CPU.
    played: Nanos,
    waited: Option<Nanos>,
}

impl<'a, P: Player> Session<'a, P> {
    pub(crate) fn new(player: &'a mut P, settings: Settings, notify: &'a mut dyn FnMut(Step)) -> Session<'a, P> {
        let chance = Prng::new(settings.seed);
        Session { player, settings, chance, notify, played: Nanos::ZERO, waited: Some(Nanos::ZERO) }
    }

    /// Begins a step.
    pub(crate) fn begin(&mut self, step: Step) {
        (self.notify)(step);
        (self.played, self.waited) = (Nanos::ZERO, Some(Nanos::ZERO));
    }

    /// Returns the estimate, unless the probe waited for a CPU too long during this step. Without the kernel's count,
    /// the estimate stands.
    pub(crate) fn undisturbed(&self, measured: Measured) -> Measured {
        let percent = self.waited.map_or(0.0, |waited| 100.0 * waited.0 as f64 / self.played.0.max(1) as f64);
        if percent > MOST_CPU_WAIT { measured.and(Err(NotMeasured::CpuWait(percent))) } else { measured }
    }

    /// Plays a tape.
    pub(crate) fn play(
        &mut self,
        requests: Vec<TapeRequest>,
        depth: u32,
        limit: Nanos,
    ) -> Result<Vec<Served>, P::Fault> {
        let before = self.player.cpu_wait();
        let served = self.player.play(&Tape { requests, depth, limit })?;
        let waited = before.zip(self.player.cpu_wait()).map(|(before, after)| after.saturating_sub(before));
        self.waited = self.waited.zip(waited).map(|(sum, waited)| sum.saturating_add(waited));
        let end = served.iter().map(|served| served.completed).max().unwrap_or(Nanos::ZERO);
        self.played = self.played.saturating_add(end);
        Ok(served)
    }

    /// Lets the device rest.
    pub(crate) fn rest(&mut self, time: Nanos) -> Result<(), P::Fault> {
        self.player.rest(time)
    }

    /// A random offset of a request, a multiple of its size.
    pub(crate) fn offset(&mut self, bytes: u32) -> u64 {
        let places = self.player.capacity() / u64::from(bytes);
        self.chance.below(places.max(1)) * u64::from(bytes)
    }

    /// Requests of one size at random places.
    pub(crate) fn anywhere(&mut self, kind: TapeKind, bytes: u32, count: usize) -> Vec<TapeRequest> {
        (0..count).map(|_| request(kind, self.offset(bytes), bytes)).collect()
    }

    /// True if the device takes requests of this size.
    pub(crate) fn takes(&self, bytes: u32) -> bool {
        u64::from(bytes) <= self.player.capacity() && bytes.is_multiple_of(self.player.alignment().max(1))
    }
}

/// A request without a pause.
pub(crate) fn request(kind: TapeKind, offset: u64, bytes: u32) -> TapeRequest {
    TapeRequest { kind, offset, bytes, pause: Nanos::ZERO }
}

/// A flush after a pause.
pub(crate) fn flush(pause: Nanos) -> TapeRequest {
    TapeRequest { kind: TapeKind::Flush, offset: 0, bytes: 0, pause }
}
