//! The indirect approach that Kridle & McKusick 1983 describe in section 3 and did not take: accesses drawn from a few
//! parameters instead of user files, counted as transactions per second. DEC called its parameters a "vax mix". The
//! paper prints none of them, so the parameters of [`Mix`] are ours.

use alloc::string::ToString;
use alloc::vec;

use units::Bytes;

use super::{FILE, PREPARING_CALL, data_durable, file_durable, prepared_file};
use crate::access::mix::Mix;
use crate::access::schedule::{Arrivals, Pace};
use crate::cache_state::Cache;
use crate::op::{Access, Mode, Name, Op, OpKind};
use crate::program::{Parameter, Phase, Program, RateBase, Unit};
use crate::stream::Stream;

/// The size of the file on a simulated machine: a sixth of its drive, so that accesses seek, and 160 times the buffers
/// of the 11/780. The four programs of 1983 use their eight megabytes there.
pub const SIMULATED_FILE: Bytes = Bytes::mib(64);

/// A mix on one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VaxMix {
    /// The name of the program.
    pub name: &'static str,
    /// The distribution of the accesses. If it has a rate, accesses start by a Poisson process. Otherwise each starts
    /// when the one before has returned, which gives the highest rate.
    pub mix: Mix,
    /// Bytes of the file.
    pub bytes: u64,
    /// The maximum number of accesses.
    pub accesses: u64,
    /// The seed for all random choices.
    pub seed: u64,
}

impl VaxMix {
    /// The program on a file that it creates.
    pub fn program(&self) -> Program {
        let name = Name::root(0);
        let access = if self.mix.writes() { Access::ReadWrite } else { Access::Read };
        let open = Op::Open { name, handle: FILE, access, mode: Mode::default() };
        let accesses = self.mix.pattern().accesses(FILE, self.bytes, self.accesses, self.seed);
        let mut steps = Stream::open(vec![open], accesses.into()).independent();
        if let Some(rate) = self.mix.rate() {
            // Not the seed of the accesses.
            steps = steps.paced(Pace::new(rate, Arrivals::Poisson, 1, !self.seed));
        }
        let (data, durable) = match self.mix.writes() {
            true => (data_durable(FILE), file_durable(FILE)),
            false => (Stream::empty(), Stream::empty()),
        };
        let mut parameters = vec![
            Parameter::new("mix", self.mix.to_string().as_str()),
            Parameter::new("file_bytes", self.bytes),
            Parameter::new("seed", self.seed),
        ];
        if let Some(rate) = self.mix.rate() {
            parameters.push(Parameter::new("rate", rate));
        }
        Program {
            name: self.name,
            parameters,
            prepare: prepared_file(name, self.bytes),
            phases: vec![Phase {
                name: self.name,
                cache: if self.mix.reads() > 0 { Cache::Cold } else { Cache::AsIs },
                steps,
                data,
                durable,
                base: RateBase::Ops,
                amount: self.accesses,
                within: None,
                warmup: None,
                unit: Unit::either(OpKind::ReadAt, OpKind::WriteAt),
            }],
            space: self.bytes,
            group: vec![],
            largest_call: self.mix.largest().max(PREPARING_CALL),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::{Step, Steps};

    fn program(mix: &str) -> Program {
        let mix = mix.parse().expect("a mix");
        VaxMix { name: "mix", mix, bytes: 1 << 20, accesses: 30, seed: 1 }.program()
    }

    #[test]
    fn writing_mixes_are_synced_and_reading_mixes_begin_cold() {
        for (mix, changes, cache) in
            [("reads=50", true, Cache::Cold), ("reads=100", false, Cache::Cold), ("reads=0", true, Cache::AsIs)]
        {
            let phase = &program(mix).phases[0];
            assert_eq!((phase.changes(), phase.cache, phase.steps.cuts().is_some()), (changes, cache, changes));
        }
        // The representative length shows whether writes cut through pages.
        assert_eq!(program("sizes=4KiB:1+512B:1").phases[0].steps.cuts(), Some(512));
        assert_eq!(program("sizes=4KiB:1+6000B:1").phases[0].steps.cuts(), Some(6000));
    }

    #[test]
    fn accesses_have_the_requested_number_and_rate() {
        let accesses = |mix| {
            let steps = program(mix).phases.remove(0).steps;
            let is_paced = steps.is_paced();
            let ops = steps.filter(|step| matches!(step, Step::Op(Op::ReadAt { .. } | Op::WriteAt { .. })));
            (is_paced, ops.count())
        };
        assert_eq!(accesses("reads=50"), (false, 30));
        assert_eq!(accesses("reads=50,rate=20"), (true, 30));
    }
}
