//! A process, told from a later one of the same number: what it leaves behind is judged by whether it still
//! lives.

use std::fmt;
use std::fs;
use std::str::FromStr;

use procfs::ProcError;
use procfs::process::Process;
use rustix::io::Errno;
use rustix::process::Pid;

use crate::sys::name::Shown;
use crate::sys::read_limited;

/// A process, told from a later one of the same number. Displayed as one line of four words, which can be
/// read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incarnation {
    /// Its number.
    pub pid: i32,
    /// When it started, in ticks since boot: numbers of processes are used again.
    started: u64,
    /// The boot.
    boot: String,
    /// In which namespace it has its number, as `/proc/PID/ns/pid` names it: `pid:[4026531836]`.
    namespace: String,
}

impl Incarnation {
    /// This process.
    pub fn this() -> Incarnation {
        let pid = rustix::process::getpid().as_raw_nonzero().get();
        let started = if let State::RunsSince(started) = state(pid) { started } else { UNKNOWN };
        Incarnation { pid, started, boot: boot(), namespace: namespace() }
    }

    /// Whether it still runs, as far as can be told: one of another container cannot be seen, and what it holds is
    /// not taken from it before the machine is started again.
    pub fn lives(&self) -> bool {
        self.is_of_this_boot() && (!self.can_be_seen() || self.is_it(state(self.pid)))
    }

    /// Whether it is the process of its number. Only what is known to have ended is taken for dead.
    fn is_it(&self, now: State) -> bool {
        match now {
            State::Ended => false,
            State::Unknown => true,
            State::RunsSince(started) => [started, UNKNOWN].contains(&self.started),
        }
    }

    /// Whether its number means the same here.
    pub fn can_be_seen(&self) -> bool {
        self.namespace == namespace()
    }

    /// Whether the machine has not been started again since, as far as can be told.
    pub fn is_of_this_boot(&self) -> bool {
        self.is_of(&boot())
    }

    fn is_of(&self, boot: &str) -> bool {
        boot.is_empty() || self.boot.is_empty() || self.boot == boot
    }
}

impl fmt::Display for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.pid, self.started, self.boot, self.namespace)
    }
}

/// What was read is no process.
#[derive(Debug)]
pub struct NoProcess;

impl FromStr for Incarnation {
    type Err = NoProcess;

    fn from_str(text: &str) -> Result<Incarnation, NoProcess> {
        let [pid, started, boot, namespace] = text.split(' ').collect::<Vec<_>>()[..] else { return Err(NoProcess) };
        let (pid, started) = (pid.parse().map_err(|_| NoProcess)?, started.parse().map_err(|_| NoProcess)?);
        Ok(Incarnation { pid, started, boot: boot.to_owned(), namespace: namespace.to_owned() })
    }
}

/// When a process started whose start could not be seen; the kernel's own first ones start then.
const UNKNOWN: u64 = 0;

/// What can be told of the process that has a number now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// There is none, or one that has ended and nobody has asked how.
    Ended,
    /// It started then.
    RunsSince(u64),
    /// It cannot be looked at: it is hidden, or this process may open no more files.
    Unknown,
}

fn state(pid: i32) -> State {
    match Process::new(pid).and_then(|process| process.stat()) {
        Ok(stat) if matches!(stat.state, 'Z' | 'X') => State::Ended,
        Ok(stat) => State::RunsSince(stat.starttime),
        // /proc may hide those of other users: then there still is somebody to send a signal to.
        Err(ProcError::NotFound(_)) if !exists(pid) => State::Ended,
        Err(_) => State::Unknown,
    }
}

fn exists(pid: i32) -> bool {
    let Some(pid) = Some(pid).filter(|pid| *pid > 0).and_then(Pid::from_raw) else { return false };
    rustix::process::test_kill_process(pid) != Err(Errno::SRCH)
}

/// Which boot this is; nothing in it where that cannot be read.
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
    fn a_process_is_known_by_its_start() {
        let this: Incarnation = Incarnation::this().to_string().parse().expect("a process");
        assert!(this.lives());
        assert!(!Incarnation { started: this.started + 1, ..this.clone() }.lives(), "the number was used again");
        assert!(!Incarnation { boot: "another".to_owned(), ..this.clone() }.lives());
        let elsewhere = Incarnation { namespace: "pid:[1]".to_owned(), started: this.started + 1, ..this };
        assert!(elsewhere.lives() && !elsewhere.can_be_seen(), "who cannot be seen is not taken for dead");
        assert!("1 2".parse::<Incarnation>().is_err() && "a b c".parse::<Incarnation>().is_err());
    }

    #[test]
    fn only_what_is_known_to_have_ended_is_taken_for_dead() {
        let this = Incarnation::this();
        assert_eq!(state(this.pid), State::RunsSince(this.started));
        assert!(this.is_it(State::Unknown) && !this.is_it(State::Ended));
        assert!(!this.is_it(State::RunsSince(this.started + 1)));
        let unseen = Incarnation { started: UNKNOWN, ..this.clone() };
        assert!(unseen.is_it(State::RunsSince(this.started)) && !unseen.is_it(State::Ended));
        // The kernel gives no number above 4194304.
        assert_eq!([i32::MAX, 0, -1].map(state), [State::Ended; 3]);
        assert!(exists(this.pid) && exists(1) && !exists(i32::MAX) && !exists(-1));
        assert!(this.is_of("") && this.is_of(&this.boot) && !this.is_of("another"));
    }
}
