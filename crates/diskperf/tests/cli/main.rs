//! The command line as a user meets it: the built program, its exit status, what it writes to which stream, and
//! what it leaves behind. One file per command; `presets` and `targets` for what several commands measure; `all` for
//! what holds for every command. `cargo xtask test` runs each file as a process of its own, and once more as a user
//! without rights.

#[path = "../common/mod.rs"]
mod common;

mod choose;
mod command;
mod compare;
mod delete;
mod doctor;
mod explain;
mod io;
mod job;
mod lab;
mod machines;
mod paper;
mod remarks;
mod report;
mod resume;
mod run;
mod simulate;
mod stages;
mod store;

mod presets {
    mod lfs;
    mod quick;
    mod vaxmix;
}

mod targets {
    mod aging;
    mod cache;
    mod file;
}

mod all {
    mod calls;
    mod help;
    mod limits;
    mod terminal;
    mod words;
}
