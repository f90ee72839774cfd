//! Creates and removes the things that programs run on: folders, images, volumes, raw devices, queue settings and
//! memory limits.

pub(crate) mod image;
pub(crate) mod image_fault;
pub(crate) mod image_file;
pub(crate) mod loop_device;
pub(crate) mod memory_limit;
pub(crate) mod mkfs;
pub(crate) mod mounted_fs;
pub(crate) mod mounts;
pub(crate) mod power_cut_disk;
pub mod queue_tuning;
pub(crate) mod raw_device;
pub(crate) mod volume;
pub(crate) mod workspace;
