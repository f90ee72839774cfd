//! The load of each target before the first round (`--sustained`). It uses up burst credits and fills caches, so that
//! the rounds measure the rate that lasts.

use runner::execution::{ExecutionResult, ProgramResult};
use stats::{Loaded, TargetInfo};
use units::Nanos;
use workload::{OpKind, Phase};

use super::Turn;
use super::deadline::Clock;
use super::held_load::lasting_rate;
use super::world_site::{WorldSite, rate};
use crate::error::CampaignError;
use crate::events::Event;
use crate::peers::Peers;
use crate::plan::Plan;
use crate::signals::Stop;
use crate::targets::Target;
use crate::worlds::Worlds;

/// The load of all targets.
#[derive(Clone, Debug, Default)]
pub struct FirstLoad {
    /// The time that it took.
    pub spent: Nanos,
    /// Bytes written to each target, at most.
    pub written: Vec<u64>,
    /// The rate at the end of the load of each target, with the alternative that loaded it.
    pub rates: Vec<(usize, f64)>,
}

/// Loads every real target for this time, one after the other, and records it in their descriptions. A target that has
/// no test to run gets no load. A failure ends the load: the rounds report it. So does the user's limit of the bytes
/// written.
pub fn load_first(
    time: Nanos,
    (plan, targets): (&Plan, &[Target]),
    (worlds, peers): (&mut Worlds, &mut Peers),
    (stop, clock): (&Stop, Clock),
    infos: &mut [TargetInfo],
    notify: &mut dyn FnMut(Event),
) -> Result<FirstLoad, CampaignError> {
    let began = clock();
    let mut lasting: Vec<(usize, f64)> = Vec::new();
    let mut site = WorldSite::new((plan, targets, vec![0; targets.len()]), (worlds, peers), (stop, clock), None)?;
    for (index, target) in targets.iter().enumerate().filter(|(_, target)| !target.is_simulated()) {
        let Some(alternative) = heaviest(plan, index) else { continue };
        let program = &plan.alternatives[alternative].row.program;
        notify(Event::LoadBegins { target: &target.name, program: program.name, time });
        let mut loaded = Loaded { program: program.name.to_owned(), bytes: 0, seconds: 0.0 };
        let mut rates: Vec<f64> = Vec::new();
        let begins = clock();
        for round in 1.. {
            if stop.requested() || clock().saturating_sub(begins) >= time {
                break;
            }
            let turn = Turn { alternative, round, position: 1 };
            match site.load(&turn, (&target.name, true), notify) {
                Some(Ok(result)) if result.stopped.is_none() => {
                    add(&mut loaded, &result);
                    rates.extend(rate(program, &result));
                }
                _ => break,
            }
        }
        lasting.extend(lasting_rate(&rates).map(|rate| (alternative, rate)));
        infos[index].loaded = Some(loaded);
    }
    Ok(FirstLoad { spent: clock().saturating_sub(began), written: site.into_loaded(), rates: lasting })
}

/// Returns the test that loads a target: of those on this target alone, the one that writes most. If all only read, the
/// first one.
fn heaviest(plan: &Plan, target: usize) -> Option<usize> {
    let here = plan.alternatives.iter().enumerate();
    let here = here.filter(|(_, one)| one.busy() == [target] && one.row.omitted.is_none());
    // The first of equal tests: `max_by_key` takes the last.
    here.rev().max_by_key(|(_, one)| one.writes()).map(|(index, _)| index)
}

/// Returns whether the load of a target writes, apart from the files that it prepares. `None` without a load.
pub fn load_writes(plan: &Plan, target: usize) -> Option<bool> {
    let load = heaviest(plan, target)?;
    // A commit is durable when it returns, so nothing remains to be made durable.
    let writes = |phase: &Phase| phase.changes() || phase.unit.first == OpKind::Write;
    Some(plan.alternatives[load].row.program.phases.iter().any(writes))
}

/// Adds an execution. Bytes count in their larger direction, as in the results.
fn add(loaded: &mut Loaded, result: &ExecutionResult) {
    for phase in &result.phases {
        let bytes = |part: &ProgramResult| part.tally.bytes_read.max(part.tally.bytes_written);
        loaded.bytes += phase.parts.iter().map(bytes).sum::<u64>();
    }
    loaded.seconds += result.measured().as_secs_f64();
}
