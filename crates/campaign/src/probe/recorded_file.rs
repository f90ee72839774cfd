//! A device or file whose requests the kernel records while they are played one at a time.
//!
//! Policy:
//!   1. the recorded device is the target's own disk. The disk below a device mapper would not show the mapper's time;
//!   2. a request of the program corresponds to the recorded requests of the same direction that were issued and
//!      completed while the program waited. There may be several, because the device may divide a request. If their
//!      bytes do not add up to those of the program, another program made requests at the same time, and this request
//!      does not count;
//!   3. if a recording fails, there are no further ones.

use std::io::BufReader;
use std::path::Path;

use jobs::block_trace;
use kernel::observe::block_recorder::{BlockRecorder, NotRecorded};
use kernel::{TapeFile, cpu_wait};
use stats::probe::latency::TRACE_RESOLUTION;
use units::Nanos;
use workload::{Served, Tape, TapeKind, TapePlayer, TapeRequest, TracedRequest};

use super::session::Player;

/// The name of a recording in errors.
const NAME: &str = "the block trace";

/// A device or file, and the recorder of its requests.
pub struct RecordedFile {
    file: TapeFile,
    recorder: Result<BlockRecorder, NotRecorded>,
}

impl RecordedFile {
    /// Prepares to record the requests of the device at the path, or of the device below the folder or file.
    pub(super) fn new(file: TapeFile, path: &Path) -> RecordedFile {
        // 1
        RecordedFile { file, recorder: BlockRecorder::of_path(path) }
    }

    /// The reason why requests are not recorded, or no longer recorded.
    pub fn not_recorded(&self) -> Option<&NotRecorded> {
        self.recorder.as_ref().err()
    }

    /// The recorded requests, and the time from the start of the recording to that of the tape.
    fn take(&mut self) -> Result<Option<(Vec<TracedRequest>, Nanos)>, NotRecorded> {
        let Ok(recorder) = &mut self.recorder else { return Ok(None) };
        recorder.stop();
        let recording = recorder.take()?;
        let later = self.file.began().saturating_sub(recording.span.0);
        let read = block_trace::read(NAME, BufReader::new(recording.events), Some(recording.span));
        let read = read.map_err(NotRecorded::NoTracer)?.map_err(|error| NotRecorded::Damaged(error.to_string()))?;
        Ok(Some((read.trace.requests, later)))
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
        self.file.play(tape)
    }

    fn rest(&mut self, time: Nanos) -> Result<(), Self::Fault> {
        self.file.rest(time)
    }
}

impl Player for RecordedFile {
    fn cpu_wait(&self) -> Option<Nanos> {
        cpu_wait()
    }

    fn record(&mut self) {
        // 3
        if let Ok(recorder) = &mut self.recorder
            && let Err(why) = recorder.start()
        {
            self.recorder = Err(why);
        }
    }

    fn recorded(&mut self, tape: &Tape, served: &[Served]) -> Vec<Option<Served>> {
        match self.take() {
            Ok(Some((trace, later))) => times_of_device(&tape.requests, served, &trace, later),
            Ok(None) => vec![None; served.len()],
            // 3
            Err(why) => {
                self.recorder = Err(why);
                vec![None; served.len()]
            }
        }
    }
}

/// The times of the requests in the trace (2). The tape began `later` than the trace.
fn times_of_device(
    tape: &[TapeRequest],
    served: &[Served],
    trace: &[TracedRequest],
    later: Nanos,
) -> Vec<Option<Served>> {
    let mut rest = trace;
    let mut of_device = |(request, of_program): (&TapeRequest, &Served)| {
        let from = (of_program.issued + later).saturating_sub(TRACE_RESOLUTION);
        let until = of_program.completed + later + TRACE_RESOLUTION;
        rest = &rest[rest.iter().take_while(|one| one.issued < from).count()..];
        let during = rest.iter().take_while(|one| one.issued <= until).filter(|one| one.kind == request.kind);
        let parts: Vec<&TracedRequest> = during.collect();
        let (issued, completed) = (parts.first()?.issued, parts.iter().map(|one| one.completed).max()?);
        let bytes: u64 = parts.iter().map(|one| u64::from(one.bytes)).sum();
        let is_it = match request.kind {
            TapeKind::Flush => parts.len() == 1,
            TapeKind::Read | TapeKind::Write => bytes == u64::from(request.bytes),
        };
        (is_it && completed <= until).then_some(Served { issued, completed })
    };
    tape.iter().zip(served).map(&mut of_device).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICRO: u64 = 1000;

    /// The trace begins this much earlier than the tape.
    const LATER: u64 = 1000;

    fn traced(kind: TapeKind, issued: u64, took: u64, bytes: u32) -> TracedRequest {
        let issued = Nanos((LATER + issued) * MICRO);
        TracedRequest { issued, completed: Nanos(issued.0 + took * MICRO), kind, offset: 0, bytes, bios: 1 }
    }

    /// The device's microseconds of a read of 1 MiB, a write of 4 KiB and a flush, each of 100 us for the program.
    fn times(trace: &[TracedRequest]) -> [Option<u64>; 3] {
        let request = |kind, bytes| TapeRequest { kind, offset: 0, bytes, pause: Nanos::ZERO };
        let tape = [request(TapeKind::Read, 1 << 20), request(TapeKind::Write, 4096), request(TapeKind::Flush, 0)];
        let served = [0, 200, 400].map(|micros| {
            let issued = Nanos(micros * MICRO);
            Served { issued, completed: Nanos(issued.0 + 100 * MICRO) }
        });
        let times = times_of_device(&tape, &served, trace, Nanos(LATER * MICRO));
        let micros = |one: &Option<Served>| one.map(|one| one.completed.saturating_sub(one.issued).0 / MICRO);
        [micros(&times[0]), micros(&times[1]), micros(&times[2])]
    }

    #[test]
    fn parts_are_joined_and_other_directions_do_not_matter() {
        let parts = [traced(TapeKind::Read, 10, 40, 1 << 19), traced(TapeKind::Read, 15, 60, 1 << 19)];
        let (write, flush) = (traced(TapeKind::Write, 210, 70, 4096), traced(TapeKind::Flush, 410, 30, 0));
        assert_eq!(times(&[parts[0], parts[1], write, flush]), [Some(65), Some(70), Some(30)]);
        let other = traced(TapeKind::Write, 12, 300, 1 << 16);
        assert_eq!(times(&[parts[0], other, parts[1], write, flush]), [Some(65), Some(70), Some(30)]);
        let between = traced(TapeKind::Write, 150, 20, 4096);
        assert_eq!(times(&[parts[0], parts[1], between, write, flush]), [Some(65), Some(70), Some(30)]);
    }

    #[test]
    fn requests_that_cannot_be_told_from_others_do_not_count() {
        let read = traced(TapeKind::Read, 10, 60, 1 << 20);
        let (write, flush) = (traced(TapeKind::Write, 210, 70, 4096), traced(TapeKind::Flush, 410, 30, 0));
        assert_eq!(times(&[]), [None; 3]);
        assert_eq!(times(&[read, flush]), [Some(60), None, Some(30)]);
        // Another program reads, writes and flushes at the same time.
        let others = [traced(TapeKind::Read, 20, 9, 4096), traced(TapeKind::Write, 220, 9, 512), flush];
        assert_eq!(times(&[read, others[0], write, others[1], others[2], flush]), [None; 3]);
        // A part of it.
        assert_eq!(times(&[traced(TapeKind::Read, 10, 60, 1 << 19), write]), [None, Some(70), None]);
        // It ended after the program had its data.
        assert_eq!(times(&[read, traced(TapeKind::Write, 210, 92, 4096), flush]), [Some(60), None, Some(30)]);
    }
}
