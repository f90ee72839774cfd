//! Executions that end early: a failed ceiling does not fail its phase, and a phase can be told to end. Also the files
//! of warm-ups, which are removed.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use diskperf_runner::ceiling::CeilingResult;
use diskperf_runner::execution::{ClaimedClock, MeasureOptions, perform};
use diskperf_runner::live::Live;
use units::{Moment, Nanos};
use workload::programs::load::{Load, Pattern};
use workload::programs::small_io;
use workload::{
    Cache, CacheState, Counters, CpuTime, DeviceBytes, Dirtiness, Name, Op, Program, Quiescence, Reason, Recorder,
    Residency, Sizes, Span, Step, Steps, TreeCounts, World,
};

/// The calls of a world that may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    SetCacheState,
    Watch,
    Run,
    Counters,
}

/// A world in which each run takes a second. From the first successful `counters` on, one kind of call fails.
struct Failing {
    call: Call,
    now: Moment<()>,
    is_measured: bool,
    programs: usize,
    /// The files, each with the index of its program.
    files: BTreeSet<(usize, Name)>,
    /// The number of files at each successful `watch`, directly before the measured streams begin.
    files_at_watch: Vec<usize>,
}

impl Failing {
    fn new(call: Call, programs: usize) -> Failing {
        let (files, files_at_watch) = (BTreeSet::new(), Vec::new());
        Failing { call, now: Moment::ZERO, is_measured: false, programs, files, files_at_watch }
    }

    fn check(&self, call: Call) -> Result<(), String> {
        if self.is_measured && self.call == call { Err(format!("{call:?} failed")) } else { Ok(()) }
    }
}

impl World for Failing {
    type Clock = ();
    type Fault = String;

    fn programs(&self) -> usize {
        self.programs
    }

    fn run<S, R>(&mut self, streams: &mut [S], recorders: &mut [R]) -> Result<Vec<Span<()>>, String>
    where
        S: Steps + Send,
        R: Recorder<()> + Send,
    {
        self.check(Call::Run)?;
        let began = self.now;
        self.now = began + Nanos::from_secs(1);
        for (program, (stream, recorder)) in streams.iter_mut().zip(recorders).enumerate() {
            recorder.begin(began);
            while let Some(step) = stream.next() {
                let Step::Op(op) = step else { continue };
                match op {
                    Op::Create { name, .. } => {
                        self.files.insert((program, name));
                    }
                    Op::Unlink { name } => {
                        self.files.remove(&(program, name));
                    }
                    _ => {}
                }
                let bytes = if let Op::Write { length, .. } = op { length } else { 0 };
                recorder.record(&op, began, self.now, Ok(bytes));
                if recorder.has_enough() {
                    stream.curtail();
                }
            }
        }
        let span = |_| Span { began, ended: self.now, cpu: CpuTime::default(), ready: None };
        Ok((0..streams.len()).map(span).collect())
    }

    fn set_cache_state(&mut self, _: Cache) -> Result<CacheState, String> {
        self.check(Call::SetCacheState)?;
        Ok(CacheState::Cold)
    }

    fn quiesce(&mut self) -> Result<Quiescence, String> {
        Ok(Quiescence::default())
    }

    fn unwritten(&mut self) -> Result<Option<Residency>, String> {
        Ok(None)
    }

    fn device_bytes(&mut self) -> Option<DeviceBytes> {
        None
    }

    fn dirtiness(&mut self) -> Option<Dirtiness> {
        None
    }

    fn watch(&mut self) -> Result<(), String> {
        self.check(Call::Watch)?;
        self.files_at_watch.push(self.files.len());
        Ok(())
    }

    fn counters(&mut self) -> Result<Counters, String> {
        self.check(Call::Counters)?;
        self.is_measured = true;
        Ok(Counters { device: Some(DeviceBytes::default()), ..Counters::default() })
    }

    fn tree_counts(&mut self, _: usize) -> Result<TreeCounts, String> {
        Ok(TreeCounts::default())
    }

    fn clear(&mut self) -> Result<(), String> {
        self.files.clear();
        Ok(())
    }
}

#[test]
fn a_fault_in_the_ceiling_does_not_void_the_phase() {
    let options = MeasureOptions { claim: ClaimedClock::Returned, timed: false, ceiling: true, live: None };
    for call in [Call::SetCacheState, Call::Watch, Call::Run, Call::Counters] {
        let mut world = Failing::new(call, 1);
        let result = perform(&mut world, &small_io::commit(1000, 4096), options).expect("a measured phase");
        let [phase] = &result.phases[..] else { panic!("one phase: {result:?}") };
        assert_eq!(phase.ceiling, Some(CeilingResult::NotMeasured(format!("{call:?} failed"))));
        assert_eq!(phase.tally().bytes_written, 4096 * 1000);
    }
}

#[test]
fn a_phase_that_is_told_to_end_before_it_begins_is_interrupted() {
    let live: &'static Live = Box::leak(Box::default());
    let options = MeasureOptions { claim: ClaimedClock::Returned, timed: true, ceiling: false, live: Some(live) };
    let mut world = Failing::new(Call::Watch, 1);
    let program = small_io::commit(1000, 4096);
    let result = perform(&mut world, &program, options).expect("an execution");
    assert_eq!((result.phases.len(), result.stopped.is_none()), (1, true));
    live.enough().store(true, Ordering::Relaxed);
    let result = perform(&mut world, &program, options).expect("an execution");
    assert_eq!(result.phases.len(), 0);
    assert_eq!(result.stopped.map(|stopped| stopped.failure.reason), Some(Reason::Interrupted));
}

#[test]
fn a_workload_that_creates_its_file_begins_without_that_of_its_warm_up() {
    let options = MeasureOptions { claim: ClaimedClock::Durable, timed: true, ceiling: false, live: None };
    let second = Nanos::from_secs(1);
    let program = |pattern| {
        let load = Load::new(pattern, Sizes::all(4096), second);
        Load { warmup: Some(second), ..load }.program(1 << 20, 1)
    };
    let (write, commit) = (program(Pattern::Write), program(Pattern::Commit));
    let group = |loads: [Program; 2]| Program::grouped("db", loads.map(|load| (load, 1, Nanos::ZERO)).into());
    let of_new_files = group([write.clone(), commit.clone()]);
    let of_both = group([commit.clone(), program(Pattern::RandomWrite)]);
    for (program, programs, files) in [
        (write, 1, 0),
        (commit, 1, 0),
        (of_new_files, 2, 0),
        // These work on files that exist before.
        (program(Pattern::RandomWrite), 1, 1),
        (program(Pattern::Read), 1, 1),
        (of_both, 2, 1),
    ] {
        let mut world = Failing::new(Call::Watch, programs);
        let result = perform(&mut world, &program, options).expect("an execution");
        assert!(result.stopped.is_none(), "{}: {result:?}", program.name);
        assert_eq!(world.files_at_watch, [files], "{}", program.name);
    }
}
