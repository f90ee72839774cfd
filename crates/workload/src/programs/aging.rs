//! The aging of a file system. It is not measured, but prepares the file system for a later measurement.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::{PREPARING_CALL, quiet};
use crate::cache_state::Cache;
use crate::file_churn::{Aging, DIRECTORIES, FileChurn};
use crate::op::{Directory, Op, OpKind};
use crate::program::{Parameter, Phase, Program, RateBase, Unit};
use crate::stream::Stream;
use crate::stream_body::Body;

/// A program that fills a file system and changes it: creates its directories, then runs one phase. Ends with a sync.
pub fn aging(aging: Aging) -> Program {
    let directories: Vec<Op> = (1..=DIRECTORIES).map(|number| Op::Mkdir { directory: Directory(number) }).collect();
    let steps = Stream::open(Vec::new(), Body::Churn(Box::new(FileChurn::new(aging))));
    let phase = Phase {
        name: "age",
        cache: Cache::AsIs,
        steps: steps.then(vec![Op::Syncfs]),
        data: Stream::empty(),
        durable: quiet(),
        base: RateBase::Bytes,
        amount: aging.writes(),
        within: None,
        warmup: None,
        unit: Unit::from_kind(OpKind::WriteAt),
    };
    Program {
        name: "age",
        parameters: vec![
            Parameter::new("file_bytes", aging.level),
            Parameter::new("churns", aging.churns),
            Parameter::new("seed", aging.seed),
        ],
        prepare: Stream::from_ops(directories),
        phases: vec![phase],
        space: aging.level,
        group: vec![],
        largest_call: PREPARING_CALL,
    }
}
