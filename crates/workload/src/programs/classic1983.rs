//! The four programs of Kridle & McKusick 1983, section 4 and appendix A: one file, strictly sequential from its
//! beginning, one descriptor, one call at a time. The paper used eight megabytes; here the size is free.

use alloc::vec;
use alloc::vec::Vec;

use super::{FILE, PREPARING_CALL, calls, create, data_durable, file_durable, open, prepared_file, quiet};
use crate::cache_state::Cache;
use crate::op::{Access, Name, Op, OpKind};
use crate::program::{Parameter, Phase, Program, RateBase, Unit};
use crate::stream::Stream;

/// Bytes that each program moves in the paper: 8 x 2^20.
pub const BYTES_1983: u64 = 8 << 20;

/// One of the four programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Classic {
    /// `open(path, O_RDONLY)`, reads of 8192 bytes.
    Read8192,
    /// `creat(path, 0666)`, writes of 4096 bytes.
    Write4096,
    /// `creat(path, 0666)`, writes of 8192 bytes.
    Write8192,
    /// `open(path, O_RDWR)`, writes of 8192 bytes over the existing data.
    Rewrite8192,
}

impl Classic {
    /// The four, in the order of the paper's rows.
    pub const ALL: [Classic; 4] = [Classic::Read8192, Classic::Write4096, Classic::Write8192, Classic::Rewrite8192];

    /// The name of the program.
    pub const fn name(self) -> &'static str {
        match self {
            Classic::Read8192 => "read_8192",
            Classic::Write4096 => "write_4096",
            Classic::Write8192 => "write_8192",
            Classic::Rewrite8192 => "rewrite_8192",
        }
    }

    /// The program with this name. `None` if there is none.
    pub fn named(name: &str) -> Option<Classic> {
        Classic::ALL.into_iter().find(|classic| classic.name() == name)
    }

    /// Bytes per call.
    pub const fn call_bytes(self) -> u32 {
        match self {
            Classic::Write4096 => 4096,
            Classic::Read8192 | Classic::Write8192 | Classic::Rewrite8192 => 8192,
        }
    }

    /// The calls of the program on the file `name`, without sync and close, as in 1983. Panics if `bytes` is not a
    /// whole number of calls.
    pub fn steps(self, name: Name, bytes: u64) -> Stream {
        let length = self.call_bytes();
        let (opening, call) = match self {
            Classic::Read8192 => (open(name, FILE, Access::Read), Op::Read { handle: FILE, length }),
            Classic::Write4096 | Classic::Write8192 => (create(name, FILE), Op::Write { handle: FILE, length }),
            Classic::Rewrite8192 => (open(name, FILE, Access::ReadWrite), Op::Write { handle: FILE, length }),
        };
        Stream::open(vec![opening], calls(call, length, bytes))
    }

    /// `read_8192` of a file that the user gave, which is neither created nor removed. Panics if `bytes` is not a whole
    /// number of calls.
    pub fn read_given(bytes: u64) -> Program {
        let mut program = Classic::Read8192.program(bytes);
        program.prepare = Stream::empty();
        program.phases[0].steps = Classic::Read8192.steps(Name::given(0), bytes);
        program.largest_call = Classic::Read8192.call_bytes();
        Program { space: 0, ..program }
    }

    /// The program as a measured workload: with its preparation, and with syncs after its writes.
    pub fn program(self, bytes: u64) -> Program {
        let file = Name::root(0);
        let (prepare, largest_call) = match self {
            Classic::Read8192 | Classic::Rewrite8192 => (prepared_file(file, bytes), PREPARING_CALL),
            Classic::Write4096 | Classic::Write8192 => (quiet(), self.call_bytes()),
        };
        let (name, cache, data, durable) = match self {
            Classic::Read8192 => ("read", Cache::Cold, Stream::empty(), Stream::empty()),
            Classic::Write4096 | Classic::Write8192 => ("write", Cache::AsIs, data_durable(FILE), file_durable(FILE)),
            Classic::Rewrite8192 => ("rewrite", Cache::AsIs, data_durable(FILE), file_durable(FILE)),
        };
        let steps = self.steps(file, bytes);
        let unit = Unit::from_kind(if self == Classic::Read8192 { OpKind::Read } else { OpKind::Write });
        Program {
            name: self.name(),
            parameters: Vec::from([
                Parameter::new("buffer_bytes", self.call_bytes()),
                Parameter::new("file_bytes", bytes),
            ]),
            prepare,
            phases: vec![Phase {
                name,
                cache,
                steps,
                data,
                durable,
                base: RateBase::Bytes,
                amount: bytes,
                within: None,
                warmup: None,
                unit,
            }],
            space: bytes,
            group: vec![],
            largest_call,
        }
    }
}
