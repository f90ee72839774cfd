//! Requests that only one host can measure. Everything else that one host can measure, several hosts can.

use workload::Phase;

use super::fault::PeerFault;
use crate::plan::{Alternative, Plan, PlannedSizing};
use crate::request::RunRequest;
use crate::targets::{Site, Target};

/// Refuses what does not work on several hosts, in the words of the command line.
pub fn check(request: &RunRequest, targets: &[Target], plan: &Plan) -> Result<(), PeerFault> {
    let is_directory = |target: &Target| matches!(target.site, Site::Directory { .. });
    let other = targets.iter().find(|target| !is_directory(target));
    let refused = [
        (other.is_some(), other.map_or("", |target| target.typed.as_str())),
        (targets.iter().any(|target| !target.tuning.is_empty()), "tune="),
        (request.workload.is_endless(), "a test without an end (--time forever)"),
        (matches!(plan.sizing, PlannedSizing::Thin), plan.preset),
        (plan.alternatives.iter().any(|one| one.row.program.is_group()), "a group of workloads"),
        (plan.alternatives.iter().any(|one| one.busy().len() > 1), "--together"),
        (plan.alternatives.iter().any(|one| one.row.raw.is_some()), "a test of the device under a directory"),
        (request.rest, "predict --check"),
        (request.record, "--record"),
        (request.sustained.is_some(), "--sustained"),
    ];
    match refused.into_iter().find(|(is_asked, _)| *is_asked) {
        Some((_, what)) => Err(PeerFault::NotOnHosts(what.to_owned())),
        None if request.read_others => only_reads(plan),
        None => Ok(()),
    }
}

/// Refuses a test that changes files: they would be those of another host.
fn only_reads(plan: &Plan) -> Result<(), PeerFault> {
    let is_run = |one: &&Alternative| one.row.omitted.is_none();
    let mut programs = plan.alternatives.iter().filter(is_run).map(|one| &one.row.program);
    match programs.find(|program| program.phases.iter().any(Phase::changes)) {
        Some(program) => Err(PeerFault::Writes(program.name.to_owned())),
        None => Ok(()),
    }
}
