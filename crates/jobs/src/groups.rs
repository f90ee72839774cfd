//! Checks the groups of a job file: loads that run at the same time.
//!
//! Policy:
//!   1. a group has at least two loads. No load has the name of a group: the row of that name has the group's sums;
//!   2. all loads of a group together have at most as many threads as one load may have (`MOST_JOBS`);
//!   3. the page cache has one state for all files of a group: none starts warm if another starts cold.

use units::Nanos;
use workload::Cache;
use workload::programs::load::Load;

use crate::load_spec::{KEYS, LoadSpec, MOST_JOBS};

/// Keys of a workload that are not options of `diskperf io`: its name, its group, and its start in the group.
pub(crate) const NAME: &str = "name";
pub(crate) const GROUP: &str = "group";
pub(crate) const START: &str = "start";

/// A workload of a job file.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedLoad {
    /// Its name. All workloads of a sweep have the same one.
    pub name: &'static str,
    /// Its values of the swept keys, as in `bs4KiB-iodepth8`. Empty if it is not of a sweep.
    pub point: String,
    /// The index of its table in the file.
    pub table: usize,
    /// Its keys.
    pub spec: LoadSpec,
    /// The workload as this machine runs it.
    pub load: Load,
    /// The group with which it runs at the same time, if it does.
    pub group: Option<&'static str>,
    /// The time from the start of the group to its own.
    pub start: Nanos,
}

/// The reason why a group is refused.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The index of the load at which the reason is shown, and the key.
    pub(crate) load: usize,
    pub(crate) key: &'static str,
    pub(crate) why: String,
    pub(crate) hint: &'static str,
}

/// Refuses groups that cannot run.
pub(crate) fn check(loads: &[NamedLoad]) -> Result<(), Refusal> {
    for (load, NamedLoad { name, group, .. }) in loads.iter().enumerate() {
        let refuse = |load, key, why, hint| Err(Refusal { load, key, why, hint });
        // 1
        if loads.iter().any(|other| other.group == Some(name)) {
            let why = format!("{name} is already the name of a group, whose row has the sums");
            return refuse(load, NAME, why, "give the workload another name: name = \"...\"");
        }
        let Some(group) = group else { continue };
        let members: Vec<usize> = (0..loads.len()).filter(|other| loads[*other].group == Some(group)).collect();
        if members.len() < 2 {
            let why = "no other workload runs at the same time".to_owned();
            return refuse(load, GROUP, why, "give another workload the same group, or leave it out");
        }
        // 2 and 3
        let together: Vec<&Load> = members.iter().map(|member| &loads[*member].load).collect();
        if let Some((member, key, why, hint)) = conflict(&together) {
            return refuse(members[member], key, why, hint);
        }
    }
    Ok(())
}

/// The reason why these loads cannot run at the same time: the index of the load, its key, the reason and a hint.
pub(crate) fn conflict(loads: &[&Load]) -> Option<(usize, &'static str, String, &'static str)> {
    // 2
    let jobs: u64 = loads.iter().map(|load| u64::from(load.jobs)).sum();
    if jobs > u64::from(MOST_JOBS) {
        let why = format!("the workloads of the group have {jobs} threads together, and {MOST_JOBS} is the most");
        return Some((0, KEYS.jobs.name, why, "use fewer jobs, and a larger iodepth"));
    }
    // 3
    let starts = |state: Cache| loads.iter().position(|load| load.cache() == state);
    let warm = starts(Cache::Warm)?;
    starts(Cache::Cold)?;
    let why = "another workload of the group starts with a cold page cache, and the group has one state".to_owned();
    Some((warm, KEYS.warm.name, why, "use warm for all workloads of the group that read, or for none"))
}
