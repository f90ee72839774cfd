//! One program on a simulated machine that was just switched on.

use runner::execution::{self, ExecutionResult, MeasureOptions};
use simulator::{Chance, Computer, Mark};
use workload::Program;

use campaign::signals::Stop;
use campaign::targets::{Simulated, Target};

/// Runs the program once, on this number of drives; `stop` ends it early. Its files were made long ago, so that the
/// platters are at a random position when the first phase begins. Panics if the machine was not checked before.
pub fn perform(
    target: &Target,
    drives: usize,
    program: &Program,
    options: MeasureOptions,
    chance: Chance,
    stop: &Stop,
) -> ExecutionResult {
    let Ok(result) = match ready(target, drives, program, chance, stop) {
        Ok(mut computer) => execution::perform_prepared(&mut *computer, program, options),
        // Run it again with time passing, which shows what failed.
        Err(mut fresh) => execution::perform(&mut *fresh, program, options),
    };
    result
}

/// The marks of all parts while the program runs once.
pub fn timeline(
    target: &Target,
    drives: usize,
    program: &Program,
    options: MeasureOptions,
    chance: Chance,
    stop: &Stop,
) -> Vec<Mark> {
    let mut computer = ready(target, drives, program, chance, stop).unwrap_or_else(|fresh| fresh);
    computer.keep_timeline();
    let Ok(_) = execution::perform_prepared(&mut *computer, program, options);
    computer.take_timeline()
}

/// A computer that was just switched on and has the program's files. If they cannot be made, the error is an empty
/// computer.
fn ready(
    target: &Target,
    drives: usize,
    program: &Program,
    chance: Chance,
    stop: &Stop,
) -> Result<Box<Computer>, Box<Computer>> {
    let Some(Simulated::Described(described)) = target.simulated() else { unreachable!("one that is described") };
    let switch_on = || {
        let mut computer = described.open(drives, program.space, chance).expect("a machine that was checked");
        computer.heed(stop.flag());
        Box::new(computer)
    };
    let mut computer = switch_on();
    match (0..drives).try_for_each(|index| computer.prepare(index, program.prepare.clone())) {
        Ok(()) => Ok(computer),
        Err(_) => Err(switch_on()),
    }
}

#[cfg(test)]
mod tests {
    use machines::Machine;
    use runner::execution::ClaimedClock;
    use simulator::Experiment;
    use workload::programs::classic1983::Classic;
    use workload::{Name, Stream};

    use super::*;
    use campaign::targets::TargetArgument;

    /// Through the runner, a machine does the same as by itself, to the nanosecond.
    #[test]
    fn the_runner_does_not_change_simulated_times() {
        let bytes = 1 << 20;
        for machine in Machine::all() {
            let Ok(argument) = format!("sim:{}", machine.name).parse::<TargetArgument>();
            let target = Target::resolve(&argument).expect("a machine");
            let description = machine.describe(2, bytes).expect("a machine that is tested");
            let file_system = &description.file_systems[0];
            for (classic, drives) in [(Classic::Read8192, 2), (Classic::Write4096, 1), (Classic::Rewrite8192, 2)] {
                let chance = Chance { phase: 1, phases: 3, ..Chance::default() };
                let options =
                    MeasureOptions { claim: ClaimedClock::Returned, timed: false, ceiling: false, live: None };
                let result = perform(&target, drives, &classic.program(bytes), options, chance, &Stop::default());
                let (prepare, steps) = (classic.program(bytes).prepare, classic.steps(Name::root(0), bytes));
                let experiment = Experiment {
                    description: &description,
                    file_system,
                    drives,
                    streams: 1,
                    files: &prepare,
                    before: &Stream::empty(),
                    steps: &steps,
                    bytes,
                };
                let outcome =
                    experiment.prepare().and_then(|prepared| prepared.run(chance)).expect("a machine that is tested");
                let returned: Vec<_> = result.phases[0].parts.iter().map(|part| part.returned).collect();
                let expected: Vec<_> = outcome.programs.iter().map(|time| time.elapsed).collect();
                assert_eq!(returned, expected, "{} on {} of {}", classic.name(), drives, machine.name);
            }
        }
    }
}
