//! Files that are mapped into memory: copies count like calls, and access to a page past the end of the file is a
//! failed op.

use std::fs::{self, File};
use std::path::PathBuf;
use std::slice;
use std::sync::Arc;

use kernel::Posix;
use kernel::guard::{Found, Given};
use workload::{Access, Handle, Issue, Mode, Name, Op, Reason, Step, Steps, Tally, World};

const FILE: Handle = Handle::new(0);
const PAGE: u64 = 4096;

/// Opens the file and executes the ops. Before the last op, truncates the file.
struct Cut {
    path: PathBuf,
    ops: Vec<Op>,
    next: usize,
    to: u64,
}

impl Cut {
    fn new(path: PathBuf, op: impl Fn(u64) -> Op, to: u64) -> Cut {
        let mode = Mode::default();
        let open = Op::Open { name: Name::given(0), handle: FILE, access: Access::ReadWrite, mode };
        Cut { path, ops: vec![open, op(0), op(PAGE), op(PAGE)], next: 0, to }
    }
}

impl Iterator for Cut {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let op = *self.ops.get(self.next)?;
        self.next += 1;
        if self.next == self.ops.len() {
            File::options().write(true).open(&self.path).and_then(|file| file.set_len(self.to)).expect("cut off");
        }
        Some(Step::Op(op))
    }
}

impl Steps for Cut {
    fn issue(&self) -> Issue {
        Issue::Mapped
    }

    fn curtail(&mut self) {
        self.ops.clear();
    }
}

fn read(offset: u64) -> Op {
    Op::ReadAt { handle: FILE, length: PAGE as u32, offset }
}

fn write(offset: u64) -> Op {
    Op::WriteAt { handle: FILE, length: PAGE as u32, offset }
}

/// Runs the ops. Returns the tally and the file's content.
fn run(op: impl Fn(u64) -> Op, to: u64) -> (Tally, Vec<u8>) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("file");
    fs::write(&path, vec![7; 2 * PAGE as usize]).expect("a file");
    let found = Found::follow(&path).expect("it can be looked at").expect("it is there");
    let mut world = Posix::on_given(vec![Given::Write(found)], PAGE as u32, Arc::default()).expect("a world");
    let mut tally = Tally::default();
    let stream = Cut::new(path.clone(), op, to);
    world.run(&mut [stream], slice::from_mut(&mut tally)).expect("it runs");
    (tally, fs::read(&path).expect("the file"))
}

#[test]
fn copied_bytes_are_counted_and_in_the_file() {
    let (tally, bytes) = run(write, 2 * PAGE);
    assert_eq!((tally.failure, tally.bytes_written), (None, 3 * PAGE));
    assert_ne!(bytes, vec![7; 2 * PAGE as usize]);
    let (tally, bytes) = run(read, 2 * PAGE);
    assert_eq!((tally.failure, tally.bytes_read), (None, 3 * PAGE));
    assert_eq!(bytes, vec![7; 2 * PAGE as usize]);
}

#[test]
fn a_truncated_page_fails_the_op_without_a_crash() {
    for op in [read, write] {
        let (tally, bytes) = run(op, PAGE);
        let failure = tally.failure.expect("a failure");
        assert_eq!((failure.op, failure.reason), (op(PAGE), Reason::Io));
        assert_eq!(bytes.len() as u64, PAGE);
    }
    // The next run, with another file, succeeds.
    assert_eq!(run(read, 2 * PAGE).0.failure, None);
}
