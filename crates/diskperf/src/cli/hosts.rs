//! Several hosts: the option `--read-others`, and the refusal of commands that run on one host only.

use campaign::peers;
use campaign::peers::fault::PeerFault;
use clap::Args;

use crate::error::Error;

/// An option of the commands that run on several hosts.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct HostArguments {
    /// Let each of several hosts (diskperf-mpi) read the files that the next one wrote, as IOR does with -C, and not
    /// those that may be in its own caches. The tests may only read, in directories that all hosts share [default: each
    /// host reads its own files].
    #[arg(long)]
    pub read_others: bool,
}

/// Refuses a command that does not measure on several hosts, if `diskperf-mpi` started this program.
pub fn check(measures_on_hosts: bool) -> Result<(), Error> {
    match peers::rank() {
        Some(_) if !measures_on_hosts => Err(PeerFault::NotOnHosts("this command".to_owned()).into()),
        _ => Ok(()),
    }
}
