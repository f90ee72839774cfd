//! Runs a stream in every program of a world, and collects what the recorders have counted.

use stats::{Latencies, RateInterval};
use units::Moment;
use workload::{CachePadded, Recorder, Span, Stream, Tally, World};

use crate::recorder::Timed;

/// The tallies, the durations of all units of work, and the operations of each interval.
pub(crate) fn split<C>(recorders: Vec<Timed<C>>, spans: &[Span<C>]) -> (Vec<Tally>, Latencies, Vec<RateInterval>) {
    let mut all = Latencies::default();
    let (mut tallies, mut intervals) = (Vec::new(), Vec::new());
    let ended = spans.iter().map(|span| span.ended).max().unwrap_or(Moment::ZERO);
    for records in recorders.into_iter().map(|recorder| recorder.finish(ended)) {
        all.add(&records.latencies);
        tallies.push(records.tally);
        intervals.push(records.intervals);
    }
    (tallies, all, RateInterval::of_all(intervals))
}

/// The spans of a world's programs, and their recorders.
pub(crate) type Ran<W, R> = Result<(Vec<Span<<W as World>::Clock>>, Vec<R>), <W as World>::Fault>;

pub(crate) fn run_stream<W: World>(world: &mut W, stream: &Stream) -> Ran<W, Tally> {
    run_with(world, stream, Tally::default)
}

/// Runs the stream in every program of the world at the same time. Each program draws its own random numbers.
pub(crate) fn run_with<W, R>(world: &mut W, stream: &Stream, recorder: impl Fn() -> R) -> Ran<W, R>
where
    W: World,
    R: Recorder<W::Clock> + Send,
{
    let programs = 0..world.programs() as u32;
    let mut streams: Vec<CachePadded<Stream>> =
        programs.map(|program| CachePadded(stream.of_program(program))).collect();
    let mut recorders: Vec<CachePadded<R>> = streams.iter().map(|_| CachePadded(recorder())).collect();
    let spans = world.run(&mut streams, &mut recorders)?;
    Ok((spans, recorders.into_iter().map(|recorder| recorder.0).collect()))
}
