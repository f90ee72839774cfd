//! The command line as a user meets it: the built program, its exit status, its output on each stream, and its
//! leftovers. There is one file per command. `devices`, `loads`, `presets`, `simulations` and `targets` have the tests
//! of several commands, `all` those of every command. `cargo xtask test` runs each file as a separate process, and most
//! of them once more as a user without rights.

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
mod lfs;
mod machines;
mod paper;
mod proof;
mod remarks;
mod report;
mod resume;
mod run;
mod simulate;
mod stages;
mod store;

mod devices {
    mod predict;
    mod probe;
}

mod loads {
    mod fio_examples;
    mod latency;
    mod live;
    mod pacing;
    mod recipes;
    mod sweep;
    mod together;
}

mod presets {
    mod lfs;
    mod quick;
    mod vaxmix;
}

mod simulations {
    mod csv_sweep;
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
