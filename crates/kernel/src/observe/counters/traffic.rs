//! Bytes that all disks and networks of the machine moved, for all processes.
//!
//! /proc/net/dev lists the networks of this network namespace only, and a file system's server may be in another one.
//! So the bytes are known only in the first network namespace, which has the network cards of the machine. They are
//! unknown, too, if bytes may come in by a path that is not counted (`uncounted`).

use workload::Traffic;

use super::Source;
use super::machine::VirtualMemory;
use super::uncounted;

/// A setting that only the first network namespace has (net/core/sysctl_net_core.c registers it for `init_net`).
const ONLY_IN_FIRST_NAMESPACE: &str = "proc/sys/net/core/netdev_budget";

/// The position of the sent bytes in a line of /proc/net/dev. The received bytes are at position 0.
const SENT: usize = 8;

/// Reads the bytes so far. `None` if a counter is missing, or if a hidden network or an uncounted path may exist.
pub(super) fn read(source: &Source, memory: &VirtualMemory) -> Option<Traffic> {
    source.text(ONLY_IN_FIRST_NAMESPACE)?;
    if uncounted::exist(source) {
        return None;
    }
    let (read, written) = memory.disks()?;
    let networks = parse_networks(&source.text("proc/net/dev")?)?;
    Some(Traffic { arrived: read.saturating_add(networks.arrived), left: written.saturating_add(networks.left) })
}

/// Parses /proc/net/dev: two lines of headings, then a line for each network. The loopback network counts too, because
/// a server on this machine may use it.
pub(super) fn parse_networks(text: &str) -> Option<Traffic> {
    let mut all = Traffic::default();
    for line in text.lines().skip(2) {
        let (_, numbers) = line.rsplit_once(':')?;
        let numbers: Vec<&str> = numbers.split_whitespace().collect();
        let number = |at: usize| numbers.get(at)?.parse::<u64>().ok();
        all.arrived = all.arrived.saturating_add(number(0)?);
        all.left = all.left.saturating_add(number(SENT)?);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::super::tests::recorded;
    use super::*;

    const NETWORKS: &str = "Inter-|   Receive                        |  Transmit\n \
         face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop\n    \
         lo:     700       1    0    0    0     0          0         0      700       1    0    0 0 0 0 0\n  \
         eth0:1000000       9    0    0    0     0          0         0     2000       8    0    0 0 0 0 0\n";

    #[test]
    fn all_networks_and_disks_are_summed() {
        assert_eq!(parse_networks(NETWORKS), Some(Traffic { arrived: 1_000_700, left: 2700 }));
        assert_eq!(parse_networks("one\ntwo\nthree\n"), None);
        let files = [
            ("proc/net/dev", NETWORKS),
            ("proc/vmstat", "pgpgin 2\npgpgout 3\n"),
            ("proc/net/protocols", "TCP 2432\n"),
            ("proc/self/mountinfo", ""),
        ];
        let hidden = recorded(&files);
        let traffic = |source: &Source| read(source, &VirtualMemory::read(source)?);
        assert_eq!(traffic(&hidden.source), None, "in another network namespace");
        hidden.write(ONLY_IN_FIRST_NAMESPACE, "300\n");
        assert_eq!(traffic(&hidden.source), Some(Traffic { arrived: 1_002_748, left: 5772 }));
        hidden.write("proc/self/mountinfo", "36 35 0:98 / /mnt rw - virtiofs share rw\n");
        assert_eq!(traffic(&hidden.source), None, "a folder of the host");
        hidden.write("proc/self/mountinfo", "");
        hidden.write("proc/vmstat", "pgpgin 2\n");
        assert_eq!(traffic(&hidden.source), None);
    }
}
