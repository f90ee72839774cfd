//! A file system of the test, for faults of a file system: a sync of the file system of the temporary folder would also
//! write data of other programs.

use std::ops::ControlFlow;
use std::path::Path;

use kernel::{Image, ImageSpec, PrivateMounts};
use units::Bytes;

/// A file system of this kind and size, on an image in the folder. The programs that this thread starts see it.
pub fn ground(kind: &str, folder: &Path, size: Bytes) -> Image {
    let spec = ImageSpec {
        file_system: kind.to_owned(),
        bytes: size,
        directory: folder.to_owned(),
        block: None,
        mount_options: Vec::new(),
        mkfs_options: Vec::new(),
    };
    let mounts = PrivateMounts::enter().expect("mounts of our own");
    Image::make(&spec, &mounts, |_| ControlFlow::Continue(())).expect("an image")
}
