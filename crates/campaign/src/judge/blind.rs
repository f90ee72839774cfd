//! Results on storage without a visible block device: the label `unverified`, and the counters of the whole machine,
//! which may disprove the claim.
//!
//! Policy:
//!   1. A result claims that data were on a device if it is cold, O_DIRECT or durable.
//!   2. Without a visible device, or if the kernel does not count its I/O, no counter shows that. The result is
//!      unverified. A loop device whose file is on such storage is unverified, too, if it uses the page cache, because
//!      the data may be only there. With direct I/O, it passes each request on; a cache of the server is then like that
//!      of a drive. Storage known to be in memory is not unverified: the warning `memory` says that the claim is false.
//!   3. On FUSE, and on an overlay whose upper layer is known to be FUSE, data come from disks and networks of this
//!      machine. If these moved far fewer bytes than the test, the claim is false. Host file systems (9p, virtiofs) and
//!      network cards that bypass the kernel (RDMA, as NFS may use) move bytes that it does not count. The kernel
//!      counts none of the bytes if there are other ways (`kernel::observe::counters`).

use kernel::observe::mount::{Place, is_served};
use runner::execution::PhaseResult;
use stats::judge::marks::{Mark, traffic};
use workload::{Counters, Layer};

use super::CellFacts;
use super::devices::{highest, lowest, reads_device, wanted, writes_over_again};

/// The reason why the claim of the cell cannot be checked; `None` if it can, or if there is no claim.
pub fn unverified(facts: &CellFacts) -> Option<String> {
    // 1
    if facts.simulated || !facts.measured || !facts.claims_device() {
        return None;
    }
    // 2
    let hidden = facts.runs.iter().find_map(|run| file_on_hidden_storage(&run.counters));
    let is_visible = facts.runs.iter().all(|run| run.counters.device.is_some()) && hidden.is_none();
    if is_visible || facts.infos.iter().any(|info| info.in_memory.is_some()) {
        return None;
    }
    if let Some(device) = hidden {
        return Some(format!("{device} uses the page cache, and no block device is visible below its file"));
    }
    if !facts.infos.is_empty() && facts.infos.iter().all(|info| info.device.is_some()) {
        return Some("the kernel does not count the I/O of the device (queue/iostats is 0)".to_owned());
    }
    let blind = facts.infos.iter().filter(|info| info.device.is_none());
    let mut systems: Vec<&str> = blind.filter_map(|info| info.file_system.as_deref()).collect();
    systems.dedup();
    let below = if systems.is_empty() { "the target".to_owned() } else { systems.join(" and ") };
    Some(format!("no block device is visible below {below}"))
}

/// A loop device that uses the page cache, and below whose file no device is visible. Without all counters, the device
/// below the file may only be uncounted.
fn file_on_hidden_storage(counters: &Counters) -> Option<&str> {
    counters.device.as_ref()?;
    let is_last = |layer: &&Layer| layer.is_file && layer.is_buffered && layer.below.is_empty();
    counters.layers.iter().find(is_last).map(|layer| layer.name.as_str())
}

/// The marks of claims that the counters of the machine disprove.
pub fn marks(facts: &CellFacts) -> impl Iterator<Item = Mark> {
    let is_counted = is_counted(facts);
    let of_reads = is_counted.then(|| undelivered(facts)).flatten();
    of_reads.into_iter().chain(is_counted.then(|| untaken(facts)).flatten())
}

/// The mark if disks and networks cannot have delivered what was read.
fn undelivered(facts: &CellFacts) -> Option<Mark> {
    let judge = |run: &PhaseResult| {
        let arrived = run.counters.traffic?.arrived;
        traffic::undelivered(arrived, wanted(facts.direct, run).bytes(), is_compressible(facts, run))
    };
    if reads_device(facts) { lowest(facts, judge) } else { None }
}

/// The mark if disks and networks cannot have taken what was said to be durable.
fn untaken(facts: &CellFacts) -> Option<Mark> {
    let judge = |run: &PhaseResult| {
        let left = run.counters.traffic?.left;
        traffic::untaken(left, run.tally().bytes_written, is_compressible(facts, run))
    };
    if facts.is_durable() && !writes_over_again(facts) { highest(facts, judge) } else { None }
}

/// True if the kernel counts all bytes of the storage, though not as those of a device.
fn is_counted(facts: &CellFacts) -> bool {
    // 3
    let is_of_this_machine = |place: &&Place| {
        let lowest = place.upper.as_ref().or(place.file_system.as_ref());
        lowest.is_some_and(|system| is_served(system))
    };
    unverified(facts).is_some() && !facts.places.is_empty() && facts.places.iter().all(is_of_this_machine)
}

/// True if the file system may have compressed the data: zeros, or files of the user. A program with a folder of its
/// own leaves files there.
fn is_compressible(facts: &CellFacts, run: &PhaseResult) -> bool {
    facts.plan.zeros || run.tree_counts().files == 0
}

#[cfg(test)]
mod tests {
    use workload::{DeviceBytes, DeviceUse};

    use super::*;

    /// Counters of devices, each with the name of the device below it. Those called `loop` are on a file.
    fn counters(stack: &[(&str, &[&str])]) -> Counters {
        let layer = |(depth, (name, below)): (u32, &(&str, &[&str]))| Layer {
            name: (*name).to_owned(),
            depth,
            below: below.iter().map(|name| (*name).to_owned()).collect(),
            used: DeviceUse::default(),
            write_cache: None,
            is_file: name.starts_with("loop"),
            is_buffered: name.starts_with("loop"),
        };
        let layers = (0..).zip(stack).map(layer).collect();
        Counters { device: Some(DeviceBytes::default()), layers, ..Counters::default() }
    }

    #[test]
    fn a_file_without_a_device_below_it_is_on_hidden_storage() {
        let found = |stack: &[(&str, &[&str])]| file_on_hidden_storage(&counters(stack)).map(str::to_owned);
        assert_eq!(found(&[("dm-0", &["loop0"]), ("loop0", &[])]).as_deref(), Some("loop0"));
        assert_eq!(found(&[("loop0", &["loop1"]), ("loop1", &[])]).as_deref(), Some("loop1"));
        // Beside another stack, which has more levels.
        assert_eq!(found(&[("loop0", &[]), ("vda1", &["vda"]), ("vda", &[])]).as_deref(), Some("loop0"));
        assert_eq!(found(&[("loop0", &["vda1"]), ("vda1", &["vda"]), ("vda", &[])]), None);
        assert_eq!((found(&[("vda", &[])]), found(&[])), (None, None));
        let mut direct = counters(&[("loop0", &[])]);
        direct.layers[0].is_buffered = false;
        assert_eq!(file_on_hidden_storage(&direct), None);
        // The device below may not be counted.
        let uncounted = Counters { device: None, ..counters(&[("loop0", &[])]) };
        assert_eq!(file_on_hidden_storage(&uncounted), None);
    }
}
