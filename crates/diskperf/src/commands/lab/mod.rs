//! The lab's three benchmarks, a file each.

pub mod bw;
pub mod largefb;
pub mod smallfb;
