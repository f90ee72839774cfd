//! Tests that make loop devices, images and mounts, and may run beside others. Those that need the machine to
//! themselves, or enter a private mount namespace, are files of their own.

#[path = "../common/mod.rs"]
mod common;

mod device;
mod examples;
mod guard;
mod output;
mod resume;
