//! Observes the machine: mounts, block devices, counters, temperatures. Nothing in this module changes the machine,
//! except that `block_recorder` makes and removes an instance of the tracer.

pub mod block_device;
pub mod block_recorder;
pub mod block_source;
pub(crate) mod block_stack;
pub(crate) mod counters;
pub mod host;
pub(crate) mod kernel_threads;
pub(crate) mod mapped_table;
pub(crate) mod memory;
pub mod mount;
pub(crate) mod overlay;
pub mod queue_settings;
pub(crate) mod sysfs_attribute;
pub mod temperature;
pub(crate) mod tracefs;
