//! The first message of each host, and the refusals that follow from it.

use std::collections::BTreeMap;

use kernel::observe::host::{self, Host};
use serde::{Deserialize, Serialize};
use stats::HostInfo;

use super::fault::PeerFault;

/// A host, as it describes itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The version of its program.
    pub version: String,
    /// Its name.
    pub name: String,
    /// The random number of its last boot; empty if it is not visible.
    pub boot_id: String,
    /// Its kernel.
    pub kernel: String,
    /// The number of its processors.
    pub cpus: u64,
    /// The number of processors that the program may use.
    pub allowed_cpus: u64,
    /// A moment that all hosts agreed on, on the monotonic clock of the host, in nanoseconds.
    pub moment: u64,
    /// The largest error of that moment, in nanoseconds.
    pub uncertainty: u64,
}

impl Hello {
    /// This host.
    pub fn this() -> Hello {
        let this = Host::this();
        Hello {
            version: format!("{} ({})", env!("CARGO_PKG_VERSION"), stats::SCHEMA),
            name: this.name,
            boot_id: host::boot_id().unwrap_or_default(),
            kernel: this.kernel,
            cpus: host::processors().map_or(this.cpus as u64, u64::from),
            allowed_cpus: this.cpus as u64,
            moment: 0,
            uncertainty: 0,
        }
    }
}

/// Refuses hosts that cannot measure together.
///
/// 1. All have the same version: results of others could not be read, or mean something else.
/// 2. Each rank is on its own host. Containers on one computer count as hosts if their names differ.
pub fn check(hosts: &[Hello]) -> Result<(), PeerFault> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    hosts.iter().for_each(|host| versions.entry(&host.version).or_default().push(&host.name));
    // 1
    if versions.len() > 1 {
        let named = versions.iter().map(|(version, names)| format!("{version} on {}", names.join(", ")));
        return Err(PeerFault::Versions(named.collect::<Vec<String>>().join("; ")));
    }
    // 2
    let is_twice = |(index, host): &(usize, &Hello)| {
        hosts[..*index].iter().any(|other| (&other.boot_id, &other.name) == (&host.boot_id, &host.name))
    };
    match hosts.iter().enumerate().find(is_twice) {
        Some((_, host)) => Err(PeerFault::SameHost(host.name.clone())),
        None => Ok(()),
    }
}

/// The hosts as results have them. The moment of each is the same one, so its differences are those of the clocks.
pub fn infos(hosts: &[Hello]) -> Vec<HostInfo> {
    let first = hosts.first().map_or(0, |host| host.moment);
    let info = |host: &Hello| HostInfo {
        name: host.name.clone(),
        boot_id: host.boot_id.clone(),
        kernel: host.kernel.clone(),
        cpus: host.cpus,
        allowed_cpus: host.allowed_cpus,
        version: host.version.split(' ').next().unwrap_or_default().to_owned(),
        offset_ns: host.moment as i64 - first as i64,
        uncertainty_ns: host.uncertainty,
    };
    hosts.iter().map(info).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str, boot_id: &str) -> Hello {
        Hello { name: name.to_owned(), boot_id: boot_id.to_owned(), version: "1".to_owned(), ..Hello::default() }
    }

    #[test]
    fn a_host_is_a_name_and_a_boot() {
        assert_eq!(check(&[host("a", "1"), host("b", "1"), host("a", "2")]), Ok(()));
        assert_eq!(check(&[host("a", "1"), host("b", "1"), host("a", "1")]), Err(PeerFault::SameHost("a".to_owned())));
    }

    #[test]
    fn other_versions_are_named_with_their_hosts() {
        let new = Hello { version: "2".to_owned(), ..host("c", "3") };
        let refused = check(&[host("a", "1"), host("b", "2"), new]).expect_err("a refusal");
        assert_eq!(refused.to_string(), "the hosts have different versions of diskperf: 1 on a, b; 2 on c");
    }

    #[test]
    fn clocks_are_compared_with_the_first_host() {
        let at = |moment, uncertainty| Hello { moment, uncertainty, ..Hello::default() };
        let offsets: Vec<(i64, u64)> = infos(&[at(5_000, 0), at(2_000, 7), at(9_000, 3)])
            .iter()
            .map(|info| (info.offset_ns, info.uncertainty_ns))
            .collect();
        assert_eq!(offsets, [(0, 0), (-3_000, 7), (4_000, 3)]);
    }
}
