//! The program as a whole: programs of *The Linux Programming Interface*, faults, odd names, hostile input, pages, and
//! the stored tables.

#[path = "../common/mod.rs"]
mod common;

mod book;
mod faults;
mod golden;
mod names;
mod page;
mod security;
mod typed;
