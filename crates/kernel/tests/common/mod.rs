//! What several tests of the real kernel need.

use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread;

use kernel::{Posix, Station, Workspace};
use workload::{Stream, Tally, World};

/// Bytes of the file of most tests: enough to stand out from what others do, little enough for any disk.
pub const BYTES: u64 = 4 << 20;

/// A world with one program in a folder of its own below `parent`.
pub fn world_in(parent: &Path) -> Posix {
    let station = Station { workspace: Some(Workspace::inside(parent).expect("a folder")), given: Vec::new() };
    Posix::new(vec![station], 64 * 1024, 1, Arc::default()).expect("a world")
}

/// Runs a stream, none of whose ops may fail.
pub fn run(world: &mut Posix, stream: Stream) -> Tally {
    let mut tally = Tally::default();
    world.run(&mut [stream], std::slice::from_mut(&mut tally)).expect("a run");
    assert_eq!(tally.failure, None);
    tally
}

/// Runs a tool; says whether it did its work.
pub fn tool(name: &str, arguments: &[&str]) -> bool {
    let path = testkit::tool(name).unwrap_or_else(|| name.into());
    Command::new(path).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// Runs the body where nobody else sees what it mounts, and what it mounts is gone with it.
pub fn in_mounts_of_its_own(body: impl FnOnce() + Send) -> io::Result<()> {
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // SAFETY: concerns this thread only, and takes no memory.
            if unsafe { libc::unshare(libc::CLONE_NEWNS) } != 0 {
                return Err(io::Error::last_os_error());
            }
            let (none, root) = (c"none".as_ptr(), c"/".as_ptr());
            let flags = libc::MS_REC | libc::MS_PRIVATE;
            // SAFETY: both strings end with a zero byte; the other two pointers may be null here.
            if unsafe { libc::mount(none, root, std::ptr::null(), flags, std::ptr::null()) } != 0 {
                return Err(io::Error::last_os_error());
            }
            body();
            Ok(())
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
