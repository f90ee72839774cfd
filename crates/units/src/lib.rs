//! The words every other crate counts in: nanoseconds, moments of one clock, days, bytes, rates, random numbers,
//! checksums, names, and the exit statuses of commands.
//!
//! Knows nothing: no clock is read here, no file, no device. Integers throughout; a float appears only
//! when a finished integer becomes a rate.

#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod bytes;
mod civil;
mod errno;
mod exit;
mod fnv;
pub mod name;
mod prng;
mod rate;
pub mod shell;
mod suffixed;
mod time;
mod whole;

pub use bytes::{Bytes, ParseBytesError};
pub use civil::Civil;
pub use errno::{Errno, errno_name};
pub use exit::Exit;
pub use fnv::fnv1a;
pub use prng::Prng;
pub use rate::per_second;
pub use time::{Host, Moment, Nanos, ParseNanosError, Virtual};
pub use whole::whole;
