//! Groups: loads that run at the same time, each in programs of its own. A load that ends earlier makes its own file
//! durable at once, while the others continue.

use alloc::vec;
use alloc::vec::Vec;

use units::Nanos;

use crate::op::{Access, Handle, Mode, Name, Op};
use crate::program::{Member, Parameter, Phase, Program};
use crate::stream::Stream;

/// The handle on which a load opens its file again when its last call has returned. No load uses it otherwise.
const AGAIN: Handle = Handle::new(1);

impl Program {
    /// A program with these loads: each a program of one phase, the number of its copies on a target, and the time from
    /// the start of the group to its own.
    pub fn grouped(name: &'static str, loads: Vec<(Program, u32, Nanos)>) -> Program {
        let largest_call = loads.iter().map(|(load, ..)| load.largest_call).max().unwrap_or(0);
        let space = loads.iter().map(|(load, jobs, _)| load.space.saturating_mul(u64::from(*jobs)));
        let space = space.fold(0, u64::saturating_add);
        let (mut phases, mut group) = (Vec::new(), Vec::new());
        for (Program { parameters, prepare, phases: of_load, space, .. }, jobs, start) in loads {
            group.push(Member { parameters, prepare, jobs, start, space });
            phases.extend(of_load);
        }
        assert_eq!(phases.len(), group.len(), "each load has one phase");
        let words: Vec<&str> = phases.iter().map(|phase| phase.name).collect();
        let parameters = vec![Parameter::new("sum_of", words.join("+").as_str())];
        Program { name, parameters, prepare: Stream::empty(), phases, group, space, largest_call }
    }

    /// Returns whether its phases run at the same time.
    pub fn is_group(&self) -> bool {
        !self.group.is_empty()
    }

    /// The names of the program and of the phase in the cell of each phase. Each load of a group is a program there.
    pub fn keys(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let is_group = self.is_group();
        self.phases.iter().map(move |phase| (if is_group { phase.name } else { self.name }, phase.name))
    }

    /// The settings of the cell of a phase.
    pub fn parameters_of(&self, phase: usize) -> &[Parameter] {
        self.group.get(phase).map_or(&self.parameters, |member| &member.parameters)
    }

    /// The load of the world's program `index`, and the number of that program among those of the load.
    pub fn load_of(&self, index: usize) -> (usize, u32) {
        let all: u32 = self.group.iter().map(|member| member.jobs).sum();
        let (target, mut left) = (index as u32 / all, index as u32 % all);
        for (load, member) in self.group.iter().enumerate() {
            if left < member.jobs {
                return (load, target * member.jobs + left);
            }
            left -= member.jobs;
        }
        unreachable!("a number below the sum of all jobs")
    }

    /// The steps of the world's program `index` before the measurement, for this time. What they write is then made
    /// durable, so that the measured syncs do not write it.
    pub fn warmup_of(&self, index: usize, time: Nanos) -> Stream {
        let (load, number) = self.load_of(index);
        let phase = &self.phases[load];
        made_durable(phase, phase.steps.of_program(number).warming(time))
    }

    /// Removes the file of the world's program `index` after its warm-up (see [`Phase::removal`]).
    pub fn removal_of(&self, index: usize) -> Stream {
        let phase = &self.phases[self.load_of(index).0];
        let removal = phase.removal();
        if removal.is_empty() || !phase.changes() {
            return removal;
        }
        // The warm-up has opened the file again.
        let close = core::iter::once(Op::Close { handle: AGAIN });
        Stream::from_ops(close.chain(removal.opening().iter().copied()).collect())
    }

    /// The steps of the world's program `index`. They begin at the start of its load. If the load changes anything, the
    /// file is opened again at the end, and then made durable. The rest of the file system is not: it has the data of
    /// the other loads.
    pub fn steps_of(&self, index: usize) -> Stream {
        let (load, number) = self.load_of(index);
        let phase = &self.phases[load];
        made_durable(phase, phase.steps.of_program(number).starting_at(self.group[load].start))
    }
}

/// The steps of a phase, and then the syncs of its own file, if it changes anything.
fn made_durable(phase: &Phase, steps: Stream) -> Stream {
    let (true, Some(name)) = (phase.changes(), steps.opens()) else { return steps };
    let open = Op::Open { name, handle: AGAIN, access: Access::Read, mode: Mode::default() };
    let syncs = phase.data.opening().iter().chain(phase.durable.opening()).filter(|op| **op != Op::Syncfs);
    let closing = core::iter::once(open).chain(syncs.copied()).collect();
    steps.then(closing)
}

impl Stream {
    /// The file that the stream opens first.
    fn opens(&self) -> Option<Name> {
        self.opening().iter().find_map(|op| match op {
            Op::Create { name, .. } | Op::Open { name, .. } => Some(*name),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::sizes::Sizes;
    use crate::op::OpKind;
    use crate::programs::load::{Load, Pattern};
    use crate::step::{Step, Steps};

    /// A log that starts 5 ns after two readers.
    fn group() -> Program {
        let load = |pattern, jobs| {
            let load = Load { jobs, ..Load::new(pattern, Sizes::all(4096), Nanos::from_secs(1)) };
            load.program(1 << 14, 1)
        };
        let readers = load(Pattern::RandomRead, 2);
        Program::grouped("all", vec![(readers, 2, Nanos::ZERO), (load(Pattern::Write, 1), 1, Nanos(5))])
    }

    #[test]
    fn each_program_of_a_target_has_its_load() {
        let group = group();
        let loads: Vec<(usize, u32)> = (0..6).map(|index| group.load_of(index)).collect();
        assert_eq!(loads, [(0, 0), (0, 1), (1, 0), (0, 2), (0, 3), (1, 1)]);
        assert_eq!(group.keys().collect::<Vec<_>>(), [("randread", "randread"), ("write", "write")]);
        assert_eq!(group.space, 3 << 14);
    }

    #[test]
    fn a_load_that_writes_ends_with_syncs_of_its_own_file() {
        let steps: Vec<Step> = group().steps_of(2).collect();
        assert_eq!(steps[0], Step::At(Nanos(5)));
        let kinds: Vec<OpKind> =
            steps.iter().filter_map(|step| if let Step::Op(op) = step { Some(op.kind()) } else { None }).collect();
        let [create, writes @ .., open, data, file, directory] = &kinds[..] else { panic!("{kinds:?}") };
        assert_eq!((*create, writes), (OpKind::Create, &[OpKind::WriteAt; 4][..]));
        let ending = [OpKind::Open, OpKind::Fdatasync, OpKind::Fsync, OpKind::FsyncDirectory];
        assert_eq!([*open, *data, *file, *directory], ending);
        // The warm-up, too: the measured syncs must not write its data.
        let mut warmup = group().warmup_of(2, Nanos::from_secs(1));
        assert!(matches!(warmup.nth(1), Some(Step::Op(Op::WriteAt { .. }))));
        warmup.curtail();
        let kinds = |steps: Stream| -> Vec<OpKind> {
            steps.filter_map(|step| if let Step::Op(op) = step { Some(op.kind()) } else { None }).collect()
        };
        assert_eq!(kinds(warmup), ending);
        // Both handles are closed, so that the blocks are freed before the measurement.
        let removal = group().removal_of(2);
        assert_eq!(removal.opening()[..2], [AGAIN, Handle::new(0)].map(|handle| Op::Close { handle }));
        let removing = [OpKind::Close, OpKind::Close, OpKind::Unlink, OpKind::Syncfs];
        assert_eq!(kinds(removal), removing);
        assert!(group().removal_of(0).is_empty(), "the readers keep their files");
    }

    #[test]
    fn a_load_that_reads_has_no_syncs_and_no_delay_at_zero() {
        let mut steps = group().steps_of(0);
        assert!(matches!(steps.next(), Some(Step::Op(Op::Open { .. }))));
        let next = steps.nth(100);
        assert!(matches!(next, Some(Step::Op(Op::ReadAt { .. }))), "{next:?}");
    }
}
