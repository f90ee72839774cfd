//! A command of a person's own as the program: run once in an empty folder, or in one that another command made ready.

use alloc::vec;

use crate::cache::Cache;
use crate::op::{Op, OpKind};
use crate::program::{Base, Parameter, Phase, Program, Unit};
use crate::stream::Stream;

use super::{PREPARING_CALL, quiet};

/// Of the commands that a world was given: what is measured.
pub const MEASURED: u8 = 0;

/// And what makes ready.
pub const PREPARING: u8 = 1;

/// A command, in words; the world holds it as it is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// What its cells are called.
    pub name: &'static str,
    /// All of it.
    pub line: &'static str,
    /// What makes its folder ready, where something does.
    pub preparation: Option<&'static str>,
}

impl Command {
    /// The program, which needs so much room at most, as far as anybody knows.
    pub fn program(&self, space: u64) -> Program {
        let mut parameters = vec![Parameter::new("command", self.line)];
        parameters.extend(self.preparation.map(|line| Parameter::new("prepare", line)));
        let ready = self.preparation.map(|_| Stream::of(vec![Op::Run { command: PREPARING }, Op::Syncfs]));
        Program {
            name: self.name,
            parameters,
            prepare: ready.unwrap_or_else(quiet),
            phases: vec![Phase {
                name: self.name,
                cache: Cache::AsIs,
                steps: Stream::of(vec![Op::Run { command: MEASURED }]),
                // Which files it wrote, nobody knows.
                data: Stream::empty(),
                durable: Stream::of(vec![Op::Syncfs]),
                base: Base::Ops,
                amount: 1,
                within: None,
                unit: Unit::of(OpKind::Run),
            }],
            space,
            largest_call: PREPARING_CALL,
        }
    }
}
