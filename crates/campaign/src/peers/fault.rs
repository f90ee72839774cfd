//! Errors of a run on several hosts.

use units::Exit;

/// The reason why the hosts of a run cannot start or go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages explain the variants and their fields")]
pub enum PeerFault {
    #[error("this version of diskperf-mpi does not set {variable}={value}")]
    BadVariable { variable: &'static str, value: String },
    #[error("diskperf-mpi has ended")]
    Ended,
    #[error("diskperf-mpi sent an unknown message: {0}")]
    Unknown(String),
    #[error("host {host} is gone ({how}){}", during.as_deref().unwrap_or_default())]
    Gone { host: String, how: String, during: Option<String> },
    #[error("host {host}: {message}")]
    OnHost { host: String, message: String, hint: Option<String>, exit: Exit },
    #[error("{0} does not work on several hosts")]
    NotOnHosts(String),
    #[error("--read-others needs tests that only read, and {0} writes")]
    Writes(String),
    #[error("--read-others needs several hosts")]
    NoOthers,
    #[error("--read-others needs directories that all hosts share, and {0} is another one on each host")]
    NotShared(String),
    #[error("cannot enter {folder}, the working folder of the first host: {why}")]
    NoFolder { folder: String, why: String },
    #[error("two ranks run on host {0}; diskperf needs one on each host")]
    SameHost(String),
    #[error("the hosts have different versions of diskperf: {0}")]
    Versions(String),
    #[error("the hosts plan different tests: {0}")]
    Plans(String),
    #[error("the hosts have different storage: {0}")]
    Storage(String),
    #[error("{target} is one directory on {together}, but another on {apart}")]
    PartlyShared { target: String, together: String, apart: String },
}

impl PeerFault {
    /// The exit status.
    pub fn exit(&self) -> Exit {
        match self {
            PeerFault::Ended | PeerFault::Unknown(_) | PeerFault::Gone { .. } => Exit::Failed,
            PeerFault::OnHost { exit, .. } => *exit,
            _ => Exit::Usage,
        }
    }

    /// The hint of the error, if there is one.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            PeerFault::BadVariable { .. } => "start diskperf-mpi with mpirun or srun, and leave the variable unset",
            PeerFault::NotOnHosts(_) => "run it on one host, without diskperf-mpi",
            PeerFault::Writes(_) => "choose tests with --only, or a workload such as io randread",
            PeerFault::NoOthers => "start diskperf-mpi on each host with mpirun or srun",
            PeerFault::NotShared(_) => "use a directory on a file system that all hosts mount, without %h",
            PeerFault::NoFolder { .. } => "start all hosts in a folder that each has, or name an absolute path",
            PeerFault::SameHost(_) => "mpirun --map-by ppr:1:node, mpiexec -ppn 1, or srun --ntasks-per-node=1",
            PeerFault::Versions(_) => "install the same program on every host",
            PeerFault::Plans(_) => {
                "give every host the same kind of directory, with the same rights and kernel settings"
            }
            PeerFault::Storage(_) => "use directories on the same kind of file system and cache",
            PeerFault::PartlyShared { .. } => {
                "use a directory that all hosts share, or %h in the path for one per host"
            }
            PeerFault::OnHost { hint, .. } => return hint.clone(),
            PeerFault::Ended | PeerFault::Unknown(_) | PeerFault::Gone { .. } => return None,
        };
        Some(hint.to_owned())
    }
}
