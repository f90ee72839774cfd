//! Runs a stream in every program of a world, and collects what the recorders have counted.

use stats::{HeatMap, INTERVAL, RateInterval};
use units::Moment;
use workload::{CachePadded, Recorder, Span, Stream, Tally, World};

use crate::recorder::{Durations, Records, Timed};

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

/// Finishes and adds up the records of programs that ran the same stream.
pub(crate) fn split<C>(recorders: Vec<Timed<C>>, spans: &[Span<C>]) -> Split {
    let ended = spans.iter().map(|span| span.ended).max().unwrap_or(Moment::ZERO);
    merged(recorders.into_iter().map(|recorder| recorder.finish(ended)))
}

/// Adds up the records of programs that ran at the same time.
pub(crate) fn merged(all: impl Iterator<Item = Records>) -> Split {
    let mut times = Durations::default();
    let (mut tallies, mut intervals, mut heat) = (Vec::new(), Vec::new(), Vec::new());
    for records in all {
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
    run_each(world, programs.map(|program| stream.of_program(program)).collect(), |_| recorder())
}

/// Runs these streams at the same time, one in each program of the world.
pub(crate) fn run_each<W, R>(world: &mut W, streams: Vec<Stream>, recorder: impl Fn(usize) -> R) -> Ran<W, R>
where
    W: World,
    R: Recorder<W::Clock> + Send,
{
    let mut streams: Vec<CachePadded<Stream>> = streams.into_iter().map(CachePadded).collect();
    let mut recorders: Vec<CachePadded<R>> = (0..streams.len()).map(|index| CachePadded(recorder(index))).collect();
    let spans = world.run(&mut streams, &mut recorders)?;
    Ok((spans, recorders.into_iter().map(|recorder| recorder.0).collect()))
}
