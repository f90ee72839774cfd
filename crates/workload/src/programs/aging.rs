//! What makes a file system older: it is no load to be measured, but what was there before one.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::{PREPARING_CALL, quiet};
use crate::body::Body;
use crate::cache::Cache;
use crate::churning::{Aging, Churning, DIRECTORIES};
use crate::op::{Directory, Op, OpKind};
use crate::program::{Base, Parameter, Phase, Program, Unit};
use crate::stream::Stream;

/// The program that fills a file system and changes it: its directories, and one phase. Everything is durable at the
/// end.
pub fn aging(aging: Aging) -> Program {
    let directories: Vec<Op> = (1..=DIRECTORIES).map(|number| Op::Mkdir { directory: Directory(number) }).collect();
    let steps = Stream::open(Vec::new(), Body::Churn(Box::new(Churning::new(aging))));
    let phase = Phase {
        name: "age",
        cache: Cache::AsIs,
        steps: steps.then(vec![Op::Syncfs]),
        data: Stream::empty(),
        durable: quiet(),
        base: Base::Bytes,
        amount: aging.writes(),
        within: None,
        unit: Unit::of(OpKind::WriteAt),
    };
    Program {
        name: "age",
        parameters: vec![
            Parameter::new("file_bytes", aging.level),
            Parameter::new("churns", aging.churns),
            Parameter::new("seed", aging.seed),
        ],
        prepare: Stream::of(directories),
        phases: vec![phase],
        space: aging.level,
        largest_call: PREPARING_CALL,
    }
}
