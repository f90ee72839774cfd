//! Any host but the first: makes the same plan, performs what the first host orders, and returns its results. Stores
//! and prints nothing. If the first host ends, it removes its files and ends too.

use super::fault::PeerFault;
use super::order::{Assignment, Order, Task};
use super::wire::ToldError;
use super::{Peers, Piped};
use crate::error::CampaignError;
use crate::events::Event;
use crate::fit::sizes::Sizes;
use crate::plan::{Alternative, Plan};
use crate::request::command_fault::CommandFault;
use crate::request::planning;
use crate::request::resolved::Resolved;
use crate::rounds::driver::Performed;
use crate::signals::{self, Stop};
use crate::targets::memory_limit::limit_memory;
use crate::targets::{Site, Target, names};
use crate::worlds::{self, Worlds};

/// Performs the run of the first host to its end, and sends each error to that host, which prints it. Returns an error
/// only if there is no way to send one.
pub fn follow() -> Result<(), PeerFault> {
    let mut peers = match Peers::connect() {
        Err(fault @ PeerFault::BadVariable { .. }) => return Err(fault),
        // The first host has the same error, or the conversation is over.
        Err(_) | Ok(Peers::Alone) => return Ok(()),
        Ok(peers) => peers,
    };
    let ended = signals::outlive_file_limit().map_err(CampaignError::from).and_then(|()| obey_first(&mut peers));
    match ended {
        Ok(()) => {}
        // All hosts know these.
        Err(CampaignError::Peers(fault)) if !matches!(fault, PeerFault::Unknown(_)) => {}
        // If the first host knows this error too, it does not wait for it.
        Err(error) => {
            let told = ToldError { exit: error.exit(), message: error.to_string(), hint: error.hint() };
            // If the pipe is closed, the first host has ended.
            let _ = piped_of(&mut peers).wire.tell(&told);
        }
    }
    Ok(())
}

/// Performs the run of the first host.
fn obey_first(peers: &mut Peers) -> Result<(), CampaignError> {
    let piped = piped_of(peers);
    let assigned: Vec<Option<Assignment>> = piped.say_all(&None)?;
    let Some(Some(Assignment { request, is_dry, resumed, folder })) = assigned.into_iter().next() else {
        return Err(PeerFault::Unknown("no request".to_owned()).into());
    };
    piped.reads_others = request.read_others;
    let entered = folder.enter(&request.targets).map_err(CampaignError::from);
    let planned = entered.and_then(|()| plan(peers, request));
    let piped = piped_of(peers);
    let (resolved, targets, mut plan) = match planned {
        Ok(planned) => planned,
        Err(error) => {
            let _ = piped.agree(Err(&error));
            return Err(error);
        }
    };
    piped.compare((resolved.tests.warnings(), &targets), &mut plan)?;
    if is_dry {
        return Ok(());
    }
    let stop = Stop::on_signals()?;
    if let Some(label) = &resumed {
        remove_left(&targets, label)?;
    }
    piped.compare_targets(&targets, &mut plan)?;
    let notify = &mut |_: Event| ();
    let _limit = limit_memory(&mut plan, &targets, notify);
    // Other hosts write other bytes: a server may store equal blocks once.
    plan.seed = plan.seed.wrapping_add((piped.rank as u64) << 32);
    let labels: Vec<Option<String>> = piped.say_all(&None)?;
    let label = labels.first().and_then(Option::as_deref);
    let prepared = worlds::check_memory(&plan, &targets)
        .and_then(|()| Worlds::prepare(&plan, &targets, (label, Vec::new()), &stop, notify));
    piped.agree(prepared.as_ref().map(|_| ()))?;
    let mut worlds = prepared?;
    let followed = obey(peers, (&resolved, &targets, &mut plan), &mut worlds, &stop);
    let finished = worlds.finish();
    if followed.is_ok() {
        piped_of(peers).agree(finished.as_ref().map(|_| ()))?;
    }
    followed?;
    finished
}

/// Removes the private folders that a killed process of this host left for the same run.
fn remove_left(targets: &[Target], label: &str) -> Result<(), CampaignError> {
    let directories = targets.iter().filter_map(|target| match &target.site {
        Site::Directory { path, .. } => Some(path),
        _ => None,
    });
    directories.map(|path| Ok(kernel::remove_left(path, label).map(drop)?)).fold(Ok(()), Result::and)
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
    if let Some((then, now)) = resolved.other_program() {
        return Err(CommandFault::Other { then: then.to_owned(), now }.into());
    }
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
