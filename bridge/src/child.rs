//! The `diskperf` of this host: starts it in a session of its own, and reads its requests from a pipe.
//!
//! It has its own session, because launchers signal the whole process group of a rank: Open MPI sends SIGCONT, SIGTERM
//! and, a second later, SIGKILL. In its own session, `diskperf` gets one SIGTERM from its rank. If the rank is killed,
//! it reads the end of the pipe, removes its files and ends.

use std::env;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{self, Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::thread;

use rustix::io::{FdFlags, fcntl_setfd, retry_on_intr};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, setsid, waitid};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::NOT_STARTED;

/// The first argument with which `diskperf-mpi` starts itself to begin a session. The other arguments are the program
/// and its arguments.
pub const IN_OWN_SESSION: &str = "--in-own-session";

/// The variable that names the program.
const PROGRAM: &str = "DISKPERF_PROGRAM";

/// The variable that tells `diskperf` its rank, the number of ranks, and its two pipes.
const PEERS: &str = "DISKPERF_PEERS";

/// The kind of the request that reports an error. It gets no answer.
pub const ERROR: u8 = b'e';

/// The longest message of `diskperf`, which has the same limit.
const LONGEST_MESSAGE: u64 = 1 << 30;

/// Begins a session, and becomes the program. Returns the problem and the hint if that fails. Any rank but the first
/// reports them to the first one, and returns `None`.
pub fn begin_session(words: &[OsString]) -> Option<(String, String)> {
    let hint = format!("put diskperf next to diskperf-mpi on every host, or set {PROGRAM}");
    let problem = match words {
        [] => format!("{IN_OWN_SESSION} needs a program"),
        [program, words @ ..] => match setsid() {
            Err(errno) => format!("no session for diskperf: {errno}"),
            Ok(_) => format!("{}: {}", program.to_string_lossy(), Command::new(program).args(words).exec()),
        },
    };
    match tell(&problem, &hint) {
        Some(()) => None,
        None => Some((problem, hint)),
    }
}

/// Reports an error to the first rank, as `diskperf` does. `None` if this is the first rank, or if that fails.
fn tell(problem: &str, hint: &str) -> Option<()> {
    let peers = env::var(PEERS).ok()?;
    let [rank, _, _, to] = peers.split(':').collect::<Vec<&str>>()[..] else { return None };
    if rank == "0" {
        return None;
    }
    let error = format!("{NOT_STARTED}\0{problem}\0{hint}");
    let request = format!("error {}\n{error}", error.len());
    // The descriptor is one that this program inherited.
    OpenOptions::new().write(true).open(format!("/proc/self/fd/{to}")).ok()?.write_all(request.as_bytes()).ok()
}

/// The process that receives the forwarded signals. `None` before its number can belong to another process.
type Signalled = Arc<Mutex<Option<Pid>>>;

/// The running program.
pub struct Child {
    process: process::Child,
    signalled: Signalled,
    from: BufReader<PipeReader>,
    to: Option<PipeWriter>,
}

/// A request of the program.
pub struct Request {
    /// The first letter of its kind: `a`, `g`, `s` or `e`.
    pub kind: u8,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Child {
    /// Starts the program with these words.
    pub fn start(words: &[OsString], rank: usize, size: usize) -> Result<Child, String> {
        let problem = |error: std::io::Error| format!("diskperf does not start: {error}");
        let ((from, theirs_out), (theirs_in, to)) =
            (std::io::pipe().map_err(problem)?, std::io::pipe().map_err(problem)?);
        for kept in [fcntl_setfd(&theirs_in, FdFlags::empty()), fcntl_setfd(&theirs_out, FdFlags::empty())] {
            kept.map_err(|errno| problem(errno.into()))?;
        }
        let this = env::current_exe().map_err(problem)?;
        let peers = format!("{rank}:{size}:{}:{}", theirs_in.as_raw_fd(), theirs_out.as_raw_fd());
        let mut command = Command::new(this);
        command.arg(IN_OWN_SESSION).arg(program()).args(words).env(PEERS, peers);
        let process = command.spawn().map_err(problem)?;
        let signalled = Signalled::new(Mutex::new(Some(Pid::from_child(&process))));
        forward_first_signal(signalled.clone())?;
        Ok(Child { process, signalled, from: BufReader::new(from), to: Some(to) })
    }

    /// Waits for a request. `None` if the program has ended.
    pub fn request(&mut self) -> Option<Request> {
        let mut line = String::new();
        self.from.read_line(&mut line).ok()?;
        let (kind, length) = line.trim_end().split_once(' ')?;
        let length = length.parse::<u64>().ok().filter(|length| *length <= LONGEST_MESSAGE)?;
        let mut bytes = Vec::new();
        let read = self.from.by_ref().take(length).read_to_end(&mut bytes).ok()?;
        (read as u64 == length).then(|| Request { kind: kind.as_bytes()[0], bytes })
    }

    /// Answers the last request. If the program has ended, the next request shows it.
    pub fn answer(&mut self, bytes: &[u8]) {
        if let Some(to) = &mut self.to {
            let _ = to.write_all(bytes);
        }
    }

    /// Closes the pipe to the program, which then ends, and waits for its end.
    pub fn end(mut self) -> Result<ExitStatus, std::io::Error> {
        self.to = None;
        // The process keeps its number until the second wait, so the thread cannot send a signal to another one.
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let _ = retry_on_intr(|| waitid(WaitId::Pid(Pid::from_child(&self.process)), ended));
        if let Ok(mut signalled) = self.signalled.lock() {
            *signalled = None;
        }
        self.process.wait()
    }
}

/// The program: the one that is named, or the one in the folder of this program, or the one in `PATH`.
fn program() -> PathBuf {
    let beside = || Some(env::current_exe().ok()?.with_file_name("diskperf")).filter(|path| path.is_file());
    env::var_os(PROGRAM).map(PathBuf::from).or_else(beside).unwrap_or_else(|| "diskperf".into())
}

/// Sends the program SIGTERM at the first SIGTERM or SIGINT of this process. Launchers repeat these signals.
fn forward_first_signal(signalled: Signalled) -> Result<(), String> {
    let mut signals = Signals::new([SIGTERM, SIGINT]).map_err(|error| format!("no handlers of signals: {error}"))?;
    let forward = move || {
        if signals.forever().next().is_some()
            && let Ok(signalled) = signalled.lock()
            && let Some(process) = *signalled
        {
            // An error means that it has ended.
            let _ = kill_process(process, Signal::TERM);
        }
    };
    thread::Builder::new().spawn(forward).map(drop).map_err(|error| format!("no thread for signals: {error}"))
}

/// The end of the program in words: `signal 9`.
pub fn how_it_ended(status: &std::io::Result<ExitStatus>) -> String {
    match status {
        Ok(status) => match (status.signal(), status.code()) {
            (Some(signal), _) => format!("signal {signal}"),
            (None, Some(code)) => format!("exit status {code}"),
            (None, None) => "unknown".to_owned(),
        },
        Err(error) => error.to_string(),
    }
}

/// The exit status of the program; 1 after a signal.
pub fn exit_status(status: &std::io::Result<ExitStatus>) -> u8 {
    status.as_ref().ok().and_then(|status| status.code()).and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
