//! Raw devices: overwritten only with permission, only up to the given size, and at the right offsets.

use std::fs;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use kernel::guard::{Permission, inspect};
use kernel::{CONDITIONING_CALL, NotDiscarded, Posix, RawDevice, Station};
use testkit::loop_disk::Disk;
use testkit::{need_disk, skip};
use units::Nanos;
use workload::programs::device::Device;
use workload::{Reason, Tally, World};

const MIB: u64 = 1 << 20;
const CALL: u64 = CONDITIONING_CALL as u64;

fn raw(disk: &Disk) -> RawDevice {
    RawDevice::claim(&inspect(disk.node()).expect("a device"), &Permission::None).expect("leave")
}

fn bytes(disk: &Disk) -> Vec<u8> {
    rustix::fs::sync();
    fs::read(&disk.file).expect("its bytes")
}

/// Runs a program that writes the device sequentially. Returns its tally.
fn tally(disk: &Disk, raw: Option<RawDevice>) -> Tally {
    let station = Station { workspace: None, given: vec![disk.node().to_owned()] };
    let mut world = Posix::new(vec![station], 4096, 1, Arc::new(AtomicBool::new(false))).expect("a world");
    if let Some(raw) = raw {
        world.overwrite(0, Arc::new(raw));
    }
    let program = Device { bytes: MIB, time: Nanos::from_secs(60), seed: 1 }.in_order(true, 4096);
    let mut recorders = [Tally::default()];
    world.run(&mut [program.phases[0].steps.clone()], &mut recorders).expect("it ran");
    let [tally] = recorders;
    tally
}

#[test]
fn a_device_is_read_only_without_permission() {
    need_disk!();
    let disk = Disk::new(4 * MIB);
    let refused = tally(&disk, None);
    assert_eq!(refused.failure.map(|failure| failure.reason), Some(Reason::Denied));
    assert!(bytes(&disk).iter().all(|byte| *byte == 0));
    let written = tally(&disk, Some(raw(&disk)));
    assert_eq!((written.failure, written.bytes_written), (None, MIB));
    let after = bytes(&disk);
    let (ours, rest) = after.split_at(MIB as usize);
    assert!(ours.chunks(4096).all(|block| block.iter().any(|byte| *byte != 0)));
    assert!(rest.iter().all(|byte| *byte == 0));
}

#[test]
fn preconditioning_wraps_and_can_be_stopped() {
    need_disk!();
    let disk = Disk::new(4 * MIB + 4096);
    let raw = raw(&disk);
    let mut heard = Vec::new();
    let written = raw.precondition(6 * MIB, (1, false), |bytes| {
        heard.push(bytes);
        ControlFlow::Continue(())
    });
    assert_eq!(written.expect("written"), 6 * MIB);
    assert_eq!(heard, (1..=6 * MIB / CALL).map(|call| call * CALL).collect::<Vec<_>>());
    let once = bytes(&disk);
    for (index, block) in once.chunks(4096).take((4 * MIB / 4096) as usize).enumerate() {
        assert_eq!(block[8..16], (index as u64 * 4096).to_le_bytes(), "block {index}");
    }
    assert!(once[4 * MIB as usize..].iter().all(|byte| *byte == 0), "what is no whole call is left");
    // The first two megabytes were written twice, so their stamps are of the second pass.
    let stamp = |at: u64| once[at as usize..][..8].to_vec();
    assert_ne!(stamp(0), stamp(3 * MIB));
    let stopped = raw.precondition(4 * MIB, (2, true), |_| ControlFlow::Break(()));
    assert_eq!(stopped.expect("written"), CALL);
    let zeros = bytes(&disk);
    assert!(zeros[16..4096].iter().all(|byte| *byte == 0), "zeros but for the stamp");
    assert!(zeros[CALL as usize..] == once[CALL as usize..]);
    assert_eq!(raw.precondition(0, (1, false), |_| ControlFlow::Continue(())).expect("nothing"), 0);
}

#[test]
fn discarding_a_device_removes_its_data() {
    need_disk!();
    let disk = Disk::holding(4 * MIB, &[(MIB, &[7; 4096])]);
    // The device holds data, so it needs permission.
    let inspected = inspect(disk.node()).expect("a device");
    let leave = Permission::Destroy(inspected.identity());
    let raw = RawDevice::claim(&inspected, &leave).expect("leave");
    match raw.discard(|| ControlFlow::Continue(())) {
        Ok(()) => assert!(bytes(&disk).iter().all(|byte| *byte == 0)),
        Err(NotDiscarded::Unable(_)) => return skip!("the file system here makes no holes"),
        Err(other) => panic!("{other}"),
    }
    let stopped = raw.discard(|| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(NotDiscarded::Stopped)), "{stopped:?}");
}
