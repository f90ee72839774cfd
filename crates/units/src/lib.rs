//! Basic types of all other crates: nanoseconds, moments of one clock, dates, bytes, rates, random numbers, checksums,
//! names, and the exit statuses of commands.
//!
//! The crate does no I/O: it reads no clock, file or device. All values are integers; a float appears only when a
//! finished integer becomes a rate.

#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod bytes;
mod date_time;
mod errno;
mod exit_status;
mod fnv;
pub mod name;
mod number_with_unit;
mod prng;
mod rate;
pub mod shell;
pub mod sweep;
mod time;
mod whole;

pub use bytes::{Bytes, ParseBytesError};
pub use date_time::DateTime;
pub use errno::{Errno, errno_name};
pub use exit_status::Exit;
pub use fnv::fnv1a;
pub use prng::Prng;
pub use rate::per_second;
pub use time::{Host, Moment, Nanos, ParseNanosError, Virtual};
pub use whole::whole;
