//! Workloads on a raw block device: sequential and random reads and writes with direct I/O, each for a fixed time.

use alloc::vec;
use alloc::vec::Vec;

use units::Nanos;

use super::{FILE, data_durable};
use crate::access::order::{Drawing, Order};
use crate::access::pattern::AccessPattern;
use crate::cache_state::Cache;
use crate::op::{Access, Mode, Name, Op, OpKind};
use crate::program::{Parameter, Phase, Program, RateBase, Unit};
use crate::stream::Stream;

/// A device, and the time for which it is read or written.
#[derive(Clone, Copy, Debug)]
pub struct Device {
    /// The size of the device.
    pub bytes: u64,
    /// The time limit of a program. A sequential one ends earlier if it reaches the end of the device.
    pub time: Nanos,
    /// The seed of random places.
    pub seed: u64,
}

impl Device {
    /// Sequential reads, or writes, from the beginning of the device.
    pub fn in_order(self, write: bool, block: u32) -> Program {
        let blocks = self.bytes / u64::from(block);
        let amount = (RateBase::Bytes, blocks * u64::from(block));
        self.program(if write { "write" } else { "read" }, write, block, Order::Sequential, amount)
    }

    /// Reads, or writes, of random blocks from the whole device.
    pub fn at_random(self, write: bool, block: u32) -> Program {
        let order = Order::Drawn(Drawing::Replacement);
        self.program(if write { "randwrite" } else { "randread" }, write, block, order, (RateBase::Ops, u64::MAX))
    }

    fn program(
        self,
        name: &'static str,
        write: bool,
        block: u32,
        order: Order,
        (base, amount): (RateBase, u64),
    ) -> Program {
        let mode = Mode { direct: true, ..Mode::default() };
        let access = if write { Access::ReadWrite } else { Access::Read };
        let bytes = if order == Order::Sequential { self.bytes } else { self.bytes.max(block.into()) };
        let accesses = AccessPattern::new(order, block, write).accesses(FILE, bytes, u64::MAX, self.seed);
        let opening = vec![Op::Open { name: Name::given(0), handle: FILE, access, mode }];
        // A device has no metadata to sync, only data.
        let durable = |op| if write { Stream::from_ops(vec![op]) } else { Stream::empty() };
        let phase = Phase {
            name,
            cache: Cache::AsIs,
            steps: Stream::open(opening, accesses.into()),
            data: if write { data_durable(FILE) } else { Stream::empty() },
            durable: durable(Op::Fsync { handle: FILE }),
            base,
            amount,
            within: None,
            warmup: None,
            unit: Unit::from_kind(if write { OpKind::WriteAt } else { OpKind::ReadAt }),
        };
        let program = Program {
            name,
            parameters: self.parameters(block),
            prepare: Stream::empty(),
            phases: vec![phase],
            space: 0,
            group: vec![],
            largest_call: block,
        };
        program.within(self.time)
    }

    fn parameters(self, block: u32) -> Vec<Parameter> {
        vec![
            Parameter::new("buffer_bytes", block),
            Parameter::new("device_bytes", self.bytes),
            Parameter::new("direct", true),
            Parameter::new("iodepth", 1u32),
            Parameter::new("seed", self.seed),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Directory;
    use crate::step::Step;

    const DEVICE: Device = Device { bytes: 10 << 20, time: Nanos::from_secs(1), seed: 1 };

    #[test]
    fn only_writing_programs_open_for_writing_and_sync() {
        for write in [false, true] {
            for mut program in [DEVICE.in_order(write, 128 << 10), DEVICE.at_random(write, 4096)] {
                assert!(program.prepare.is_empty() && program.phases[0].changes() == write, "{}", program.name);
                let first = program.phases[0].steps.next();
                let Some(Step::Op(Op::Open { name, access, mode, .. })) = first else { panic!("{first:?}") };
                assert_eq!((name.directory, mode.direct), (Directory::GIVEN, true));
                assert_eq!(access == Access::Read, !write);
                let Some(Step::Op(op)) = program.phases[0].steps.next() else { panic!("no work") };
                assert_eq!(matches!(op, Op::WriteAt { .. }), write, "{op:?}");
            }
        }
    }

    #[test]
    fn sequential_access_ends_at_the_last_whole_block() {
        let steps = Device { bytes: (1 << 20) + 5000, ..DEVICE }.in_order(false, 128 << 10).phases.remove(0).steps;
        let mut last = 0;
        let mut count = 0;
        for step in steps {
            if let Step::Op(Op::ReadAt { offset, length, .. }) = step {
                (last, count) = (offset + u64::from(length), count + 1);
            }
        }
        assert_eq!((last, count), (1 << 20, 8));
    }
}
