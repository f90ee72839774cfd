//! Runs a stream in every program of a world, and collects what the recorders have counted.

use stats::{HeatMap, INTERVAL, RateInterval};
use units::Moment;
use workload::{CachePadded, Recorder, Span, Stream, Tally, World};

use crate::recorder::{Durations, Timed};

/// The records of programs that ran at the same time.
pub(crate) struct Split {
    /// The tally of each program.
    pub(crate) tallies: Vec<Tally>,
    /// The durations of all operations.
    pub(crate) times: Durations,
    /// The operations of each interval.
    pub(crate) intervals: Vec<RateInterval>,
    /// The latencies over time.
    pub(crate) heat_map: HeatMap,
}

/// Adds up the records of programs that ran at the same time.
pub(crate) fn split<C>(recorders: Vec<Timed<C>>, spans: &[Span<C>]) -> Split {
    let mut times = Durations::default();
    let (mut tallies, mut intervals, mut heat) = (Vec::new(), Vec::new(), Vec::new());
    let ended = spans.iter().map(|span| span.ended).max().unwrap_or(Moment::ZERO);
    for records in recorders.into_iter().map(|recorder| recorder.finish(ended)) {
        times.add(&records.times);
        tallies.push(records.tally);
        intervals.push(records.intervals);
        heat.push(records.heat);
    }
    let heat_map = HeatMap::of_programs(&heat, INTERVAL);
    Split { tallies, times, intervals: RateInterval::of_all(intervals), heat_map }
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
