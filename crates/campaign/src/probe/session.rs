//! A session with one device: builds tapes, plays them, and watches how long the probe waited for a CPU.

use stats::probe::latency::Times;
use stats::probe::{MOST_CPU_WAIT, Measured, NotMeasured};
use units::{Nanos, Prng};
use workload::{Served, Tape, TapeKind, TapePlayer, TapeRequest};

use super::Settings;

/// A device that can be probed.
pub trait Player: TapePlayer {
    /// Time for which the probe was ready to run, but waited for a CPU. `None` if it is not known.
    fn cpu_wait(&self) -> Option<Nanos>;

    /// Begins to record the requests in the kernel, if that is possible.
    fn record(&mut self) {}

    /// The device's own times of the requests of a tape of depth 1 that was played after `record`, from issue to
    /// completion. `None` for a request that was not recorded.
    fn recorded(&mut self, _tape: &Tape, served: &[Served]) -> Vec<Option<Served>> {
        vec![None; served.len()]
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

/// A request with its times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recorded {
    pub(crate) request: TapeRequest,
    /// The time for which the program waited.
    of_program: Served,
    /// The time of the device alone, if the kernel recorded the request.
    of_device: Option<Served>,
}

impl Recorded {
    /// The times from this source.
    pub(crate) fn served(&self, times: Times) -> Option<Served> {
        match times {
            Times::OfProgram => Some(self.of_program),
            Times::OfDevice => self.of_device,
        }
    }
}

/// A session with a device.
pub(crate) struct Session<'a, P: Player> {
    pub(crate) player: &'a mut P,
    pub(crate) settings: Settings,
    pub(crate) chance: Prng,
    notify: &'a mut dyn FnMut(Step),
    /// Time of this step with requests in flight, and the time for which the probe waited for a CPU. Pauses do not
    /// count: they would hide a wait that is long for a request.
    in_flight: Nanos,
    waited: Option<Nanos>,
}

impl<'a, P: Player> Session<'a, P> {
    pub(crate) fn new(player: &'a mut P, settings: Settings, notify: &'a mut dyn FnMut(Step)) -> Session<'a, P> {
        let chance = Prng::new(settings.seed);
        Session { player, settings, chance, notify, in_flight: Nanos::ZERO, waited: Some(Nanos::ZERO) }
    }

    /// Begins a step.
    pub(crate) fn begin(&mut self, step: Step) {
        (self.notify)(step);
        (self.in_flight, self.waited) = (Nanos::ZERO, Some(Nanos::ZERO));
    }

    /// Returns the estimate, unless the probe waited for a CPU too long during this step. Without the kernel's count,
    /// the estimate counts.
    pub(crate) fn undisturbed(&self, measured: Measured) -> Measured {
        let percent = self.waited.map_or(0.0, |waited| 100.0 * waited.0 as f64 / self.in_flight.0.max(1) as f64);
        if percent > MOST_CPU_WAIT { measured.and(Err(NotMeasured::CpuWait(percent))) } else { measured }
    }

    /// Plays a tape.
    pub(crate) fn play(
        &mut self,
        requests: Vec<TapeRequest>,
        depth: u32,
        limit: Nanos,
    ) -> Result<Vec<Served>, P::Fault> {
        self.play_tape(&Tape { requests, depth, limit })
    }

    /// Plays requests one at a time, and also records them.
    pub(crate) fn play_recorded(&mut self, requests: Vec<TapeRequest>) -> Result<Vec<Recorded>, P::Fault> {
        let tape = Tape { requests, depth: 1, limit: Nanos(u64::MAX) };
        self.player.record();
        let served = self.play_tape(&tape)?;
        let of_device = self.player.recorded(&tape, &served);
        let each = tape.requests.into_iter().zip(served).zip(of_device);
        Ok(each.map(|((request, of_program), of_device)| Recorded { request, of_program, of_device }).collect())
    }

    fn play_tape(&mut self, tape: &Tape) -> Result<Vec<Served>, P::Fault> {
        let before = self.player.cpu_wait();
        let served = self.player.play(tape)?;
        let waited = before.zip(self.player.cpu_wait()).map(|(before, after)| after.saturating_sub(before));
        self.waited = self.waited.zip(waited).map(|(sum, waited)| sum.saturating_add(waited));
        self.in_flight = self.in_flight.saturating_add(in_flight(&served));
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

/// The time with at least one request in flight. The requests are in the order of their issue.
fn in_flight(served: &[Served]) -> Nanos {
    let (mut sum, mut seen) = (Nanos::ZERO, Nanos::ZERO);
    for times in served {
        sum = sum.saturating_add(times.completed.saturating_sub(times.issued.max(seen)));
        seen = seen.max(times.completed);
    }
    sum
}

/// A request without a pause.
pub(crate) fn request(kind: TapeKind, offset: u64, bytes: u32) -> TapeRequest {
    TapeRequest { kind, offset, bytes, pause: Nanos::ZERO }
}

/// A flush after a pause.
pub(crate) fn flush(pause: Nanos) -> TapeRequest {
    TapeRequest { kind: TapeKind::Flush, offset: 0, bytes: 0, pause }
}

#[cfg(test)]
mod tests {
    use stats::probe::Estimate;

    use super::*;

    /// A player of reads of 100 us that waits for a CPU for 20 us each time.
    struct Busy(Nanos);

    impl TapePlayer for Busy {
        type Fault = core::convert::Infallible;

        fn capacity(&self) -> u64 {
            1 << 30
        }

        fn alignment(&self) -> u32 {
            512
        }

        fn play(&mut self, tape: &Tape) -> Result<Vec<Served>, Self::Fault> {
            let mut now = Nanos::ZERO;
            let one = |request: &TapeRequest| {
                let issued = now + request.pause;
                now = issued + Nanos::from_micros(100);
                Served { issued, completed: now }
            };
            self.0 += Nanos::from_micros(20 * tape.requests.len() as u64);
            Ok(tape.requests.iter().map(one).collect())
        }

        fn rest(&mut self, _: Nanos) -> Result<(), Self::Fault> {
            Ok(())
        }
    }

    impl Player for Busy {
        fn cpu_wait(&self) -> Option<Nanos> {
            Some(self.0)
        }
    }

    #[test]
    fn pauses_do_not_hide_waits_for_a_cpu() {
        let (mut player, mut notify) = (Busy(Nanos::ZERO), |_| {});
        let settings = Settings { writes: false, ..Settings::SIMULATED };
        let mut session = Session::new(&mut player, settings, &mut notify);
        session.begin(Step::Latency);
        let pause = Nanos::from_millis(10);
        let tape = (0..20).map(|_| TapeRequest { pause, ..request(TapeKind::Read, 0, 4096) }).collect();
        let Ok(served) = session.play(tape, 1, Nanos(u64::MAX));
        assert_eq!(in_flight(&served), Nanos::from_millis(2));
        let measured = Ok(Estimate { value: 1.0, low: 1.0, high: 1.0, samples: 20 });
        assert!(matches!(session.undisturbed(measured), Err(NotMeasured::CpuWait(percent)) if percent == 20.0));
    }

    #[test]
    fn requests_in_flight_together_count_once() {
        let at = |issued: u64, completed: u64| Served { issued: Nanos(issued), completed: Nanos(completed) };
        assert_eq!(in_flight(&[at(0, 10), at(2, 8), at(5, 12), at(20, 21)]), Nanos(13));
        assert_eq!(in_flight(&[]), Nanos::ZERO);
    }
}
