//! The program as a whole: programs of *The Linux Programming Interface*, faults, odd names, hostile input, pages, and
//! the tables that are kept.

#[path = "../common/mod.rs"]
mod common;

mod book;
mod faults;
mod golden;
mod names;
mod page;
mod security;
mod typed;
