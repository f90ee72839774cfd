//! Helpers for several tests of the real kernel.

use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread;

use kernel::{Posix, Station, Workspace};
use workload::{Stream, Tally, World};

/// Size of the file of most tests in bytes: much more than other programs transfer, and little enough for any disk.
pub const BYTES: u64 = 4 << 20;

/// A world with one program in a private folder in `parent`.
pub fn world_in(parent: &Path) -> Posix {
    let station = Station { workspace: Some(Workspace::inside(parent).expect("a folder")), given: Vec::new() };
    Posix::new(vec![station], 64 * 1024, 1, Arc::default()).expect("a world")
}

/// Runs a stream, and fails if an op fails.
pub fn run(world: &mut Posix, stream: Stream) -> Tally {
    let mut tally = Tally::default();
    world.run(&mut [stream], std::slice::from_mut(&mut tally)).expect("a run");
    assert_eq!(tally.failure, None);
    tally
}

/// Runs a tool. Returns true if it succeeded.
pub fn tool(name: &str, arguments: &[&str]) -> bool {
    let path = testkit::tool(name).unwrap_or_else(|| name.into());
    Command::new(path).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// Runs the body in a thread with a private mount namespace, which ends with the thread.
pub fn in_mounts_of_its_own(body: impl FnOnce() + Send) -> io::Result<()> {
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // SAFETY: the call affects only this thread, and no memory.
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
