//! Converts the accounts of a computer into named times: the activities of each resource and the owners of each
//! program's time. It counts nothing itself, and omits nothing.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use units::Nanos;
use workload::{ResourceTime, TimeBreakdown};

use crate::cpu::Cause;
use crate::drive::Activity;
use crate::time_accounts::{Accounts, ProgramTime};

/// Times by name.
type Times = BTreeMap<String, Nanos>;

/// Returns the breakdown of all resources and programs.
pub(crate) fn breakdown(accounts: &Accounts, programs: &[ProgramTime]) -> TimeBreakdown {
    let mut resources = Vec::from([cpu(accounts), bus(accounts), controller(accounts)]);
    resources.extend((0..accounts.drives.len()).map(|index| drive(accounts, index)));
    TimeBreakdown { resources, programs: programs.iter().map(program).collect() }
}

/// While the processor waits for memory it is blocked: it can do nothing else.
fn cpu(accounts: &Accounts) -> ResourceTime {
    let spent = &accounts.cpu;
    let time = |cause: Cause| (word(cause.name()), spent.busy[cause as usize]);
    let own = Cause::ALL.into_iter().filter(|cause| *cause != Cause::Slowed);
    ResourceTime {
        resource: "cpu".to_string(),
        elapsed: accounts.elapsed,
        busy: own.map(time).collect(),
        blocked: Times::from([("memory".to_string(), spent.busy[Cause::Slowed as usize])]),
        idle: spent.idle,
    }
}

fn bus(accounts: &Accounts) -> ResourceTime {
    ResourceTime {
        resource: "bus".to_string(),
        elapsed: accounts.elapsed,
        busy: Times::from([("transfer".to_string(), accounts.bus.busy)]),
        blocked: Times::new(),
        idle: accounts.bus.idle,
    }
}

/// Commands and data transfers count as busy. The controller is blocked while it waits for the drive that it works for,
/// for the bus, or for the processor to answer.
fn controller(accounts: &Accounts) -> ResourceTime {
    let own = [("commands", Activity::Controller), ("transfer", Activity::Transfer)];
    let others = [
        ("seek", Activity::Seek),
        ("rotation", Activity::Rotation),
        ("lost_turn", Activity::LostTurn),
        ("path", Activity::Path),
        ("cpu", Activity::Host),
    ];
    by_activity("controller".to_string(), accounts.elapsed, &accounts.controller, &own, &others)
}

/// Arm and platter count as busy. The drive is blocked while it waits for a command, or for the path that takes its
/// data.
fn drive(accounts: &Accounts, index: usize) -> ResourceTime {
    let own = [
        ("seek", Activity::Seek),
        ("rotation", Activity::Rotation),
        ("transfer", Activity::Transfer),
        ("lost_turn", Activity::LostTurn),
    ];
    let others = [("controller", Activity::Controller), ("path", Activity::Path), ("cpu", Activity::Host)];
    by_activity(format!("drive{}", index + 1), accounts.elapsed, &accounts.drives[index], &own, &others)
}

fn by_activity(
    resource: String,
    elapsed: Nanos,
    spent: &[Nanos; Activity::COUNT],
    own: &[(&str, Activity)],
    others: &[(&str, Activity)],
) -> ResourceTime {
    let times = |named: &[(&str, Activity)]| {
        named.iter().map(|(name, activity)| ((*name).to_string(), spent[*activity as usize])).collect()
    };
    ResourceTime { resource, elapsed, busy: times(own), blocked: times(others), idle: spent[Activity::Idle as usize] }
}

/// On the processor by cause, runnable but not on it, and asleep by the activity of its drive meanwhile.
fn program(time: &ProgramTime) -> workload::ProgramTime {
    let running = Cause::ALL.into_iter().map(|cause| (word(cause.name()), time.running[cause as usize]));
    let waiting = Activity::ALL.into_iter().map(|activity| {
        let name = format!("waiting_{}", word(activity.name()));
        (name, time.waiting[activity as usize])
    });
    let rest = [("interrupted", time.interrupted), ("ready", time.ready), ("pause", time.pauses)];
    let rest = rest.into_iter().map(|(name, nanos)| (name.to_string(), nanos));
    workload::ProgramTime { elapsed: time.elapsed, owners: running.chain(waiting).chain(rest).collect() }
}

/// Replaces spaces by underscores, as other programs expect: `block_read`.
fn word(name: &str) -> String {
    name.replace(' ', "_")
}

#[cfg(test)]
mod tests {
    use workload::programs::classic1983::Classic;
    use workload::{Tally, World};

    use super::*;
    use crate::computer::{Chance, Computer};
    use crate::description::samples::{early_massbus, massbus, uda};

    /// Read, written and made durable, on one drive and on two: the times of every resource and every program add up.
    #[test]
    fn times_of_resources_and_programs_sum_to_the_nanosecond() {
        let sum = |times: &Times| times.values().copied().sum::<Nanos>();
        for description in [massbus(), early_massbus(), uda()] {
            for (classic, drives) in [(Classic::Read8192, 2), (Classic::Write4096, 1), (Classic::Write8192, 2)] {
                let mut computer =
                    Computer::new(&description, &description.file_systems[0], drives, Chance::default()).expect("one");
                let program = classic.program(1 << 20);
                for index in 0..drives {
                    computer.prepare(index, program.prepare.clone()).expect("a file");
                }
                let Ok(()) = computer.watch();
                let mut spans = Vec::from([Nanos::ZERO; 2]);
                for stream in [&program.phases[0].steps, &program.phases[0].durable] {
                    let mut streams = alloc::vec![stream.clone(); drives];
                    let Ok(ran) = computer.run(&mut streams, &mut alloc::vec![Tally::default(); drives]);
                    ran.iter().zip(&mut spans).for_each(|(span, sum)| *sum += span.elapsed());
                }
                let Ok(counters) = computer.counters();
                let breakdown = counters.breakdown.expect("a described machine knows");
                assert_eq!(breakdown.resources.len(), 3 + drives);
                for one in &breakdown.resources {
                    assert_eq!(sum(&one.busy) + sum(&one.blocked) + one.idle, one.elapsed, "{one:?}");
                    assert!(sum(&one.busy) > Nanos::ZERO, "{one:?}");
                }
                assert_eq!(breakdown.programs.len(), drives);
                for (program, span) in breakdown.programs.iter().zip(spans) {
                    assert_eq!((sum(&program.owners), program.elapsed), (span, span));
                }
            }
        }
    }
}
