//! A command of the user as the program: run once in an empty folder, or in a folder that a second command prepared.

use alloc::vec;

use crate::cache_state::Cache;
use crate::op::{Op, OpKind};
use crate::program::{Parameter, Phase, Program, RateBase, Unit};
use crate::stream::Stream;

use super::{PREPARING_CALL, quiet};

/// The index of the measured command in the world's list.
pub const MEASURED: u8 = 0;

/// The index of the preparing command.
pub const PREPARING: u8 = 1;

/// The text of a command. The world holds the executable form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// The name of its cells.
    pub name: &'static str,
    /// The whole command line.
    pub line: &'static str,
    /// The command that prepares the folder, if there is one.
    pub preparation: Option<&'static str>,
}

impl Command {
    /// The program. `space` is the estimated maximum of bytes that it needs.
    pub fn program(&self, space: u64) -> Program {
        let mut parameters = vec![Parameter::new("command", self.line)];
        parameters.extend(self.preparation.map(|line| Parameter::new("prepare", line)));
        let ready = self.preparation.map(|_| Stream::from_ops(vec![Op::Run { command: PREPARING }, Op::Syncfs]));
        Program {
            name: self.name,
            parameters,
            prepare: ready.unwrap_or_else(quiet),
            phases: vec![Phase {
                name: self.name,
                cache: Cache::AsIs,
                steps: Stream::from_ops(vec![Op::Run { command: MEASURED }]),
                // diskperf does not know which files the command wrote, so it syncs the whole file system instead.
                data: Stream::empty(),
                durable: Stream::from_ops(vec![Op::Syncfs]),
                base: RateBase::Ops,
                amount: 1,
                within: None,
                warmup: None,
                unit: Unit::from_kind(OpKind::Run),
            }],
            space,
            group: vec![],
            largest_call: PREPARING_CALL,
        }
    }
}
