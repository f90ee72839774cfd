//! `--read-others`: each of several hosts reads the files of another one.

use clap::Args;

/// An option of the commands that run on several hosts.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct HostArguments {
    /// Let each of several hosts (diskperf-mpi) read the files that the next one wrote, as IOR does with -C, and not
    /// those that may be in its own caches. The tests may only read, in directories that all hosts share [default: each
    /// host reads its own files].
    #[arg(long)]
    pub read_others: bool,
}
