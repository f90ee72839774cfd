//! Identifies a process, so that a later process with the same PID is not mistaken for it. Leftovers of a process may
//! be removed only once it has ended.

use std::fmt;
use std::fs;
use std::str::FromStr;

use procfs::ProcError;
use procfs::process::Process;
use rustix::io::Errno;
use rustix::process::Pid;

use crate::sys::name::Shown;
use crate::sys::read_limited;

/// A process, distinct from later processes with the same PID. `Display` writes it as one line of four words, which
/// `FromStr` reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessIdentity {
    /// Its PID.
    pub pid: i32,
    /// Its start time, in ticks since boot: PIDs are reused.
    started: u64,
    /// The boot ID; empty if it could not be read.
    boot: String,
    /// The PID namespace of its PID, as `/proc/PID/ns/pid` names it: `pid:[4026531836]`.
    namespace: String,
}

impl ProcessIdentity {
    /// Returns the identity of this process.
    pub fn this() -> ProcessIdentity {
        let pid = rustix::process::getpid().as_raw_nonzero().get();
        let started = if let State::RunsSince(started) = state(pid) { started } else { UNKNOWN };
        ProcessIdentity { pid, started, boot: boot(), namespace: namespace() }
    }

    /// Returns true if the process still runs or may still run. A process of another PID namespace cannot be seen, so
    /// it counts as running until the next boot.
    pub fn lives(&self) -> bool {
        self.is_of_this_boot() && (!self.can_be_seen() || self.is_it(state(self.pid)))
    }

    /// Returns true if the process that has the PID now may be this one. Only a process that certainly ended counts as
    /// ended.
    fn is_it(&self, now: State) -> bool {
        match now {
            State::Ended => false,
            State::Unknown => true,
            State::RunsSince(started) => [started, UNKNOWN].contains(&self.started),
        }
    }

    /// Returns true if its PID is valid in our PID namespace.
    pub fn can_be_seen(&self) -> bool {
        self.namespace == namespace()
    }

    /// Returns true if the machine has not booted since, or if that is unknown.
    pub fn is_of_this_boot(&self) -> bool {
        self.is_of(&boot())
    }

    fn is_of(&self, boot: &str) -> bool {
        boot.is_empty() || self.boot.is_empty() || self.boot == boot
    }
}

impl fmt::Display for ProcessIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.pid, self.started, self.boot, self.namespace)
    }
}

/// The text does not describe a process.
#[derive(Debug)]
pub struct NoProcess;

impl FromStr for ProcessIdentity {
    type Err = NoProcess;

    fn from_str(text: &str) -> Result<ProcessIdentity, NoProcess> {
        let [pid, started, boot, namespace] = text.split(' ').collect::<Vec<_>>()[..] else { return Err(NoProcess) };
        let (pid, started) = (pid.parse().map_err(|_| NoProcess)?, started.parse().map_err(|_| NoProcess)?);
        Ok(ProcessIdentity { pid, started, boot: boot.to_owned(), namespace: namespace.to_owned() })
    }
}

/// Start time of a process whose start time could not be read. The kernel's own first processes have it too.
const UNKNOWN: u64 = 0;

/// State of the process that has a PID now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// There is no such process, or it is a zombie.
    Ended,
    /// It started then, in ticks since boot.
    RunsSince(u64),
    /// It cannot be read: /proc hides it, or this process has too many open files.
    Unknown,
}

fn state(pid: i32) -> State {
    match Process::new(pid).and_then(|process| process.stat()) {
        Ok(stat) if matches!(stat.state, 'Z' | 'X') => State::Ended,
        Ok(stat) => State::RunsSince(stat.starttime),
        // /proc may hide other users' processes. Sending signal 0 shows whether the process exists.
        Err(ProcError::NotFound(_)) if !exists(pid) => State::Ended,
        Err(_) => State::Unknown,
    }
}

fn exists(pid: i32) -> bool {
    let Some(pid) = Some(pid).filter(|pid| *pid > 0).and_then(Pid::from_raw) else { return false };
    rustix::process::test_kill_process(pid) != Err(Errno::SRCH)
}

/// Returns the boot ID; empty if it cannot be read.
fn boot() -> String {
    read_limited::of_the_kernel("/proc/sys/kernel/random/boot_id")
        .map_or_else(|_| String::new(), |id| id.trim().to_owned())
}

fn namespace() -> String {
    fs::read_link("/proc/self/ns/pid").map_or_else(|_| String::new(), |name| name.shown().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_identified_by_its_start_time() {
        let this: ProcessIdentity = ProcessIdentity::this().to_string().parse().expect("a process");
        assert!(this.lives());
        assert!(!ProcessIdentity { started: this.started + 1, ..this.clone() }.lives(), "the number was used again");
        assert!(!ProcessIdentity { boot: "another".to_owned(), ..this.clone() }.lives());
        let elsewhere = ProcessIdentity { namespace: "pid:[1]".to_owned(), started: this.started + 1, ..this };
        assert!(elsewhere.lives() && !elsewhere.can_be_seen(), "who cannot be seen is not taken for dead");
        assert!("1 2".parse::<ProcessIdentity>().is_err() && "a b c".parse::<ProcessIdentity>().is_err());
    }

    #[test]
    fn unknown_processes_are_not_considered_dead() {
        let this = ProcessIdentity::this();
        assert_eq!(state(this.pid), State::RunsSince(this.started));
        assert!(this.is_it(State::Unknown) && !this.is_it(State::Ended));
        assert!(!this.is_it(State::RunsSince(this.started + 1)));
        let unseen = ProcessIdentity { started: UNKNOWN, ..this.clone() };
        assert!(unseen.is_it(State::RunsSince(this.started)) && !unseen.is_it(State::Ended));
        // The kernel assigns no PID above 4194304.
        assert_eq!([i32::MAX, 0, -1].map(state), [State::Ended; 3]);
        assert!(exists(this.pid) && exists(1) && !exists(i32::MAX) && !exists(-1));
        assert!(this.is_of("") && this.is_of(&this.boot) && !this.is_of("another"));
    }
}
