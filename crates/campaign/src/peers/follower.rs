//! Any host but the first: makes the same plan, performs what the first host orders, and returns its results. Stores
//! and prints nothing. If the first host ends, it removes its files and ends too.

use super::fault::PeerFault;
use super::order::{Assignment, Order, Task};
use super::{Peers, Piped};
use crate::error::CampaignError;
use crate::events::Event;
use crate::fit::sizes::Sizes;
use crate::plan::{Alternative, Plan};
use crate::request::planning;
use crate::request::resolved::Resolved;
use crate::rounds::driver::Performed;
use crate::signals::Stop;
use crate::targets::memory_limit::limit_memory;
use crate::targets::{Target, names};
use crate::worlds::{self, Worlds};

/// Follows the first host until the run ends. An error was told to the first host, which prints it.
pub fn follow() -> Result<(), CampaignError> {
    let mut peers = Peers::connect()?;
    let Peers::Piped(piped) = &mut peers else { return Ok(()) };
    let assigned: Vec<Option<Assignment>> = piped.say_all(&None)?;
    let Some(Some(Assignment { request, is_dry })) = assigned.into_iter().next() else {
        return Err(PeerFault::Unknown("no request".to_owned()).into());
    };
    let planned = plan(&peers, request);
    let piped = piped_of(&mut peers);
    let (resolved, targets, mut plan) = match planned {
        Ok(planned) => planned,
        Err(error) => {
            let _ = piped.agree(Err(&error));
            return Err(error);
        }
    };
    piped.compare(&targets, &mut plan)?;
    if is_dry {
        return Ok(());
    }
    let stop = Stop::on_signals()?;
    piped.compare_targets(&targets, &mut plan)?;
    let notify = &mut |_: Event| ();
    let _limit = limit_memory(&mut plan, &targets, notify);
    // Other hosts write other bytes: a server may store equal blocks once.
    plan.seed = plan.seed.wrapping_add((piped.rank as u64) << 32);
    let prepared = worlds::check_memory(&plan, &targets)
        .and_then(|()| Worlds::prepare(&plan, &targets, (None, Vec::new()), &stop, notify));
    piped.agree(prepared.as_ref().map(|_| ()))?;
    let mut worlds = prepared?;
    let followed = obey(&mut peers, (&resolved, &targets, &mut plan), &mut worlds, &stop);
    let finished = worlds.finish();
    if followed.is_ok() {
        piped_of(&mut peers).agree(finished.as_ref().map(|_| ()))?;
    }
    followed?;
    finished
}

fn piped_of(peers: &mut Peers) -> &mut Piped {
    match peers {
        Peers::Piped(piped) => piped,
        Peers::Alone => unreachable!("a follower is not alone"),
    }
}

/// Makes the plan of the first host, on this host.
fn plan(peers: &Peers, request: crate::request::RunRequest) -> Result<(Resolved, Vec<Target>, Plan), CampaignError> {
    let targets = Target::resolve_all(&peers.on_this_host(&request))?;
    let resolved = request.resolve()?;
    let plan = planning::plan(&resolved, &targets)?;
    for (index, target) in targets.iter().enumerate() {
        target.check_room(plan.space(index))?;
    }
    Ok((resolved, targets, plan))
}

/// Performs every order until the end of the run.
fn obey(
    peers: &mut Peers,
    (resolved, targets, plan): (&Resolved, &[Target], &mut Plan),
    worlds: &mut Worlds,
    stop: &Stop,
) -> Result<(), CampaignError> {
    let mut sized: Option<Sizes> = None;
    loop {
        let piped = piped_of(peers);
        piped.left = None;
        let orders: Vec<Option<Order>> = piped.say_all(&None)?;
        let Some(Some(Order::Perform(task))) = orders.into_iter().next() else { return Ok(()) };
        if task.sizes.is_some() && task.sizes != sized {
            sized = task.sizes;
            plan.alternatives = planning::alternatives(resolved, targets, task.sizes.unwrap_or(Sizes::LARGEST))?;
        }
        let performed = perform(peers, (plan, targets), task, worlds, stop);
        piped_of(peers).reply(&performed)?;
    }
}

fn perform(
    peers: &mut Peers,
    (plan, targets): (&Plan, &[Target]),
    task: Task,
    worlds: &mut Worlds,
    stop: &Stop,
) -> Performed {
    let Alternative { targets: busy, row } = &plan.alternatives[task.alternative];
    let program = task.round.map_or_else(|| row.program.clone(), |round| row.program.in_round(round));
    let target = names(busy, targets);
    let opened = worlds.open(plan, busy, targets, stop);
    Some(match opened {
        Ok(world) => {
            world.hurry(task.is_hurried);
            world.perform(&program, plan.options, &target, peers, &mut |_| ())
        }
        Err(error) => {
            peers.leave(super::Standing::Failed);
            Err(error.into())
        }
    })
}
