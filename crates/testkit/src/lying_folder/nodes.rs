//! The inodes that the kernel knows of a served folder, each with an open file of the folder below. An open file stays
//! valid when it is renamed or deleted, and its inode number is not given to another file meanwhile.

use std::collections::HashMap;
use std::ffi::CStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::fuse::protocol::ROOT;

/// The inodes.
#[derive(Debug)]
pub(crate) struct Nodes(Mutex<HashMap<u64, Node>>);

/// An inode.
#[derive(Debug)]
struct Node {
    below: Arc<File>,
    /// The lookups that the kernel has not forgotten.
    lookups: u64,
}

impl Nodes {
    /// The inodes of this folder, of which the kernel knows the folder itself.
    pub(crate) fn new(folder: File) -> Nodes {
        let root = Node { below: Arc::new(folder), lookups: 1 };
        Nodes(Mutex::new(HashMap::from([(ROOT, root)])))
    }

    /// Returns the file below an inode.
    pub(crate) fn below(&self, number: u64) -> Result<Arc<File>, Errno> {
        self.nodes().get(&number).map(|node| Arc::clone(&node.below)).ok_or(Errno::STALE)
    }

    /// Counts a lookup of this file. Returns its inode number and its attributes.
    pub(crate) fn enter(&self, file: File) -> io::Result<(u64, Metadata)> {
        let metadata = file.metadata()?;
        let number = metadata.ino();
        let mut nodes = self.nodes();
        nodes.entry(number).or_insert_with(|| Node { below: Arc::new(file), lookups: 0 }).lookups += 1;
        Ok((number, metadata))
    }

    /// Forgets lookups of an inode. Returns the file if none is left.
    pub(crate) fn forget(&self, number: u64, lookups: u64) -> Option<Arc<File>> {
        let mut nodes = self.nodes();
        let node = nodes.get_mut(&number).filter(|_| number != ROOT)?;
        node.lookups = node.lookups.saturating_sub(lookups);
        if node.lookups > 0 {
            return None;
        }
        nodes.remove(&number).map(|node| node.below)
    }

    fn nodes(&self) -> MutexGuard<'_, HashMap<u64, Node>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens a file or a folder for all that the kernel may ask for.
pub(crate) fn open(folder: &File, name: &CStr) -> Result<File, Errno> {
    let open = |how: OFlags| rustix::fs::openat(folder, name, how | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
    let opened = match open(OFlags::RDWR) {
        Err(Errno::ISDIR) => open(OFlags::RDONLY | OFlags::DIRECTORY),
        opened => opened,
    };
    opened.map(File::from)
}
