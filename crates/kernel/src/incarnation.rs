//! A process, told from a later one of the same number: what it leaves behind is judged by whether it still
//! lives.

use std::fmt;
use std::fs;
use std::str::FromStr;

use procfs::process::Process;

use crate::bounded;

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
        Incarnation { pid, started: started(pid).unwrap_or(0), boot: boot(), namespace: namespace() }
    }

    /// Whether it still runs, as far as can be told: one of another container cannot be seen, and what it holds is
    /// not taken from it before the machine is started again.
    pub fn lives(&self) -> bool {
        self.is_of_this_boot() && (!self.can_be_seen() || started(self.pid) == Some(self.started))
    }

    /// Whether its number means the same here.
    pub fn can_be_seen(&self) -> bool {
        self.namespace == namespace()
    }

    /// Whether the machine has not been started again since.
    pub fn is_of_this_boot(&self) -> bool {
        self.boot == boot()
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

/// When a process started; nothing where it has ended, even if nobody has asked how.
fn started(pid: i32) -> Option<u64> {
    let stat = Process::new(pid).ok()?.stat().ok()?;
    (!matches!(stat.state, 'Z' | 'X')).then_some(stat.starttime)
}

fn boot() -> String {
    bounded::of_the_kernel("/proc/sys/kernel/random/boot_id").map_or_else(|_| String::new(), |id| id.trim().to_owned())
}

fn namespace() -> String {
    fs::read_link("/proc/self/ns/pid").map_or_else(|_| String::new(), |name| name.display().to_string())
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
}
