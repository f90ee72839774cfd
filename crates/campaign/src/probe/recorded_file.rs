//! A device or file whose requests the kernel records while they are played one at a time.
//!
//! Policy:
//!   1. the times of such requests are those of the device, from issue to completion. A program also waits for the way
//!      to the device and back, and for its own waking; a block trace has that in its pauses, so a prediction would
//!      count it twice;
//!   2. the recording must have every request of the tape in order, and none may be longer than the program waited for
//!      it. Otherwise, or without the rights to record, the times from then on are those of the program.

use std::io::BufReader;

use jobs::block_trace;
use kernel::TapeFile;
use kernel::observe::block_recorder::{BlockRecorder, recorded_device};
use stats::probe::latency::{OF_DEVICE, OF_PROGRAM};
use units::Nanos;
use workload::{Served, Tape, TapeKind, TapePlayer, TapeRequest, TracedRequest};

use super::session::Player;

/// The name of a recording in errors.
const NAME: &str = "the recording";

/// A device or file, and the recorder of its requests.
pub struct RecordedFile {
    file: TapeFile,
    recorder: Option<BlockRecorder>,
}

impl RecordedFile {
    /// Records the requests of the device below the path, if that is possible here.
    pub(super) fn new(file: TapeFile, path: &std::path::Path) -> RecordedFile {
        let recorder = recorded_device(path).and_then(|device| BlockRecorder::new(&device).ok());
        RecordedFile { file, recorder }
    }
}

impl TapePlayer for RecordedFile {
    type Fault = <TapeFile as TapePlayer>::Fault;

    fn capacity(&self) -> u64 {
        self.file.capacity()
    }

    fn alignment(&self) -> u32 {
        self.file.alignment()
    }

    fn play(&mut self, tape: &Tape) -> Result<Vec<Served>, Self::Fault> {
        let recorder = self.recorder.as_mut().filter(|_| tape.depth <= 1);
        let Some(recorder) = recorder else { return self.file.play(tape) };
        let is_started = recorder.start().is_ok();
        let served = self.file.play(tape);
        recorder.stop();
        let served = served?;
        // 2
        match recorded(recorder, tape, &served).filter(|_| is_started) {
            Some(times) => Ok(times),
            None => {
                self.recorder = None;
                Ok(served)
            }
        }
    }

    fn rest(&mut self, time: Nanos) -> Result<(), Self::Fault> {
        self.file.rest(time)
    }
}

impl Player for RecordedFile {
    fn cpu_wait(&self) -> Option<Nanos> {
        kernel::cpu_wait()
    }

    fn share(&self) -> f64 {
        if self.recorder.is_some() { OF_DEVICE } else { OF_PROGRAM }
    }
}

fn recorded(recorder: &mut BlockRecorder, tape: &Tape, served: &[Served]) -> Option<Vec<Served>> {
    let recording = recorder.take().ok()?;
    let read = block_trace::read(NAME, BufReader::new(recording.events), Some(recording.span)).ok()?.ok()?;
    times_of_device(&tape.requests, served, &read.trace.requests)
}

/// The times of the requests in the recording (2). The device may have divided a request into several. Requests of
/// others are left out.
fn times_of_device(tape: &[TapeRequest], served: &[Served], trace: &[TracedRequest]) -> Option<Vec<Served>> {
    let mut rest = trace.iter();
    let mut find = |(request, by_program): (&TapeRequest, &Served)| {
        let mut first = rest.find(|one| one.kind == request.kind && one.bytes <= request.bytes)?;
        let (issued, mut completed, mut bytes) = (first.issued, first.completed, first.bytes);
        while request.kind != TapeKind::Flush && bytes < request.bytes {
            first = rest.find(|one| one.kind == request.kind)?;
            bytes = bytes.checked_add(first.bytes)?;
            completed = completed.max(first.completed);
        }
        let is_shorter = completed.saturating_sub(issued) <= by_program.completed.saturating_sub(by_program.issued);
        (bytes == request.bytes && is_shorter).then_some(Served { issued, completed })
    };
    tape.iter().zip(served).map(&mut find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICRO: u64 = 1000;

    fn traced(kind: TapeKind, issued: u64, took: u64, bytes: u32) -> TracedRequest {
        let issued = Nanos(issued * MICRO);
        TracedRequest { issued, completed: Nanos(issued.0 + took * MICRO), kind, offset: 0, bytes, bios: 1 }
    }

    /// A read of 1 MiB, a write of 4 KiB and a flush, each of 100 us for the program.
    fn times(trace: &[TracedRequest]) -> Option<Vec<u64>> {
        let request = |kind, bytes| TapeRequest { kind, offset: 0, bytes, pause: Nanos::ZERO };
        let tape = [request(TapeKind::Read, 1 << 20), request(TapeKind::Write, 4096), request(TapeKind::Flush, 0)];
        let served = [0, 200, 400].map(|micros| {
            let issued = Nanos(micros * MICRO);
            Served { issued, completed: Nanos(issued.0 + 100 * MICRO) }
        });
        let times = times_of_device(&tape, &served, trace)?;
        Some(times.iter().map(|one| one.completed.saturating_sub(one.issued).0 / MICRO).collect())
    }

    #[test]
    fn requests_of_others_are_left_out_and_parts_are_joined() {
        let parts = [traced(TapeKind::Read, 1010, 40, 1 << 19), traced(TapeKind::Read, 1015, 60, 1 << 19)];
        let own = [traced(TapeKind::Write, 1210, 70, 4096), traced(TapeKind::Flush, 1410, 30, 0)];
        let other = traced(TapeKind::Write, 1020, 90, 1 << 20);
        assert_eq!(times(&[parts[0], parts[1], own[0], own[1]]), Some(vec![65, 70, 30]));
        assert_eq!(times(&[other, parts[0], other, parts[1], other, own[0], own[1]]), Some(vec![65, 70, 30]));
    }

    #[test]
    fn recordings_that_do_not_fit_the_tape_are_not_used() {
        let read = traced(TapeKind::Read, 1010, 60, 1 << 20);
        let (write, flush) = (traced(TapeKind::Write, 1210, 70, 4096), traced(TapeKind::Flush, 1410, 30, 0));
        assert_eq!(times(&[read, write, flush]), Some(vec![60, 70, 30]));
        assert_eq!(times(&[read, write]), None);
        assert_eq!(times(&[traced(TapeKind::Read, 1010, 60, 1 << 19), write, flush]), None);
        // Longer than the program waited: it is another one.
        assert_eq!(times(&[read, traced(TapeKind::Write, 1210, 101, 4096), flush]), None);
    }
}
