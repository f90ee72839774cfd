//! The commands that repeat older programs: four of 1983, three of a lab, one of a book.

pub mod bw;
pub mod classic;
pub mod copy;
pub mod largefb;
pub mod smallfb;
