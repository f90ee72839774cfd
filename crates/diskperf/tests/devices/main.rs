//! Tests that make loop devices, images and mounts, and can run in parallel with others. Tests that need the machine
//! for themselves, or enter a private mount namespace, are separate files.

#[path = "../common/mod.rs"]
mod common;

mod device;
mod examples;
mod guard;
mod output;
mod probe;
mod record;
mod resume;
mod settings;
