//! The hosts of a run, before it begins.

use stats::HostInfo;
use units::Nanos;

use crate::ui::output;

/// Names the hosts, and says which of them may not use all of their processors. Says nothing about one host.
pub fn announce(hosts: &[HostInfo]) {
    let Some(first) = hosts.first() else { return };
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    let uncertainty = hosts.iter().map(|host| host.uncertainty_ns).max().unwrap_or(0);
    output::remark(&format!(
        "{} hosts with diskperf {}: {}; clocks compared within {}",
        hosts.len(),
        first.version,
        names.join(", "),
        Nanos(uncertainty)
    ));
    let is_same = |other: &&HostInfo| !first.boot_id.is_empty() && other.boot_id == first.boot_id;
    let same: Vec<&str> = hosts.iter().filter(is_same).map(|host| host.name.as_str()).collect();
    if same.len() > 1 {
        output::remark(&format!(
            "hosts {} are one computer: they share its processors and page cache",
            same.join(", ")
        ));
    }
    for HostInfo { name, cpus, allowed_cpus, .. } in hosts.iter().filter(|host| host.allowed_cpus < host.cpus) {
        output::remark(&format!(
            "host {name}: diskperf may use {allowed_cpus} of {cpus} processors; mpirun --bind-to none and srun \
             --cpu-bind=none allow all"
        ));
    }
}
