//! The programs of the source documents and modern workloads. Each is a function from its settings to a
//! [`Program`](crate::Program).

pub mod aging;
pub mod classic1983;
pub mod command;
pub mod device;
pub mod lfs;
pub mod load;
pub mod small_io;
pub mod tlpi;
pub mod vaxmix;

use alloc::vec;
use alloc::vec::Vec;

use crate::op::{Access, Directory, Handle, Mode, Name, Op, PREPARING_CALL};
use crate::stream::Stream;
use crate::stream_body::Body;

/// The handle of the file on which most programs work.
const FILE: Handle = Handle::new(0);

fn create(name: Name, handle: Handle) -> Op {
    Op::Create { name, handle, mode: Mode::default() }
}

fn open(name: Name, handle: Handle, access: Access) -> Op {
    Op::Open { name, handle, access, mode: Mode::default() }
}

/// The same call until `bytes` bytes have moved. Panics if `bytes` is not a multiple of `length`.
fn calls(call: Op, length: u32, bytes: u64) -> Body {
    let length = u64::from(length);
    assert!(bytes.is_multiple_of(length), "{bytes} bytes are no whole number of calls of {length}");
    Body::Calls { call, left: bytes / length }
}

/// Creates a durable file of `bytes` bytes. Ends with a sync of the file system.
fn prepared_file(name: Name, bytes: u64) -> Stream {
    let body = Body::Calls {
        call: Op::Write { handle: FILE, length: PREPARING_CALL },
        left: bytes / u64::from(PREPARING_CALL),
    };
    let rest = (bytes % u64::from(PREPARING_CALL)) as u32;
    let mut closing = Vec::new();
    if rest > 0 {
        closing.push(Op::Write { handle: FILE, length: rest });
    }
    closing.extend([Op::Fsync { handle: FILE }, Op::Close { handle: FILE }, Op::Syncfs]);
    Stream::open(vec![create(name, FILE)], body).then(closing)
}

/// Makes the data of one open file durable.
fn data_durable(handle: Handle) -> Stream {
    Stream::from_ops(vec![Op::Fdatasync { handle }])
}

/// Makes one open file in the program's folder durable, with its directory entry and all metadata.
fn file_durable(handle: Handle) -> Stream {
    Stream::from_ops(vec![Op::Fsync { handle }, Op::FsyncDirectory { directory: Directory::ROOT }, Op::Syncfs])
}

/// An empty preparation: only syncs the file system.
fn quiet() -> Stream {
    Stream::from_ops(vec![Op::Syncfs])
}
