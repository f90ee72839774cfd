//! A process, told from a later one of the same number: what it leaves behind is judged by whether it still
//! lives.

use std::fmt;
use std::fs;
use std::str::FromStr;

use procfs::process::Process;

/// A process, told from a later one of the same number. Displayed as one line of three words, which can be
/// read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incarnation {
    /// Its number.
    pub pid: i32,
    /// When it started, in ticks since boot: numbers of processes are used again.
    started: u64,
    /// The boot.
    boot: String,
}

impl Incarnation {
    /// This process.
    pub fn this() -> Incarnation {
        let pid = rustix::process::getpid().as_raw_nonzero().get();
        Incarnation { pid, started: started(pid).unwrap_or(0), boot: boot() }
    }

    /// Whether it still runs. One of another container is not seen, and taken for dead.
    pub fn lives(&self) -> bool {
        self.is_of_this_boot() && started(self.pid) == Some(self.started)
    }

    /// Whether the machine has not been started again since.
    pub fn is_of_this_boot(&self) -> bool {
        self.boot == boot()
    }
}

impl fmt::Display for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.pid, self.started, self.boot)
    }
}

/// What was read is no process.
#[derive(Debug)]
pub struct NoProcess;

impl FromStr for Incarnation {
    type Err = NoProcess;

    fn from_str(text: &str) -> Result<Incarnation, NoProcess> {
        let [pid, started, boot] = text.split(' ').collect::<Vec<_>>()[..] else { return Err(NoProcess) };
        let (pid, started) = (pid.parse().map_err(|_| NoProcess)?, started.parse().map_err(|_| NoProcess)?);
        Ok(Incarnation { pid, started, boot: boot.to_owned() })
    }
}

/// When a process started; nothing where it has ended, even if nobody has asked how.
fn started(pid: i32) -> Option<u64> {
    let stat = Process::new(pid).ok()?.stat().ok()?;
    (!matches!(stat.state, 'Z' | 'X')).then_some(stat.starttime)
}

fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map_or_else(|_| String::new(), |id| id.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_start() {
        let this: Incarnation = Incarnation::this().to_string().parse().expect("a process");
        assert!(this.lives());
        assert!(!Incarnation { started: this.started + 1, ..this.clone() }.lives(), "the number was used again");
        assert!(!Incarnation { boot: "another".to_owned(), ..this }.lives());
        assert!("1 2".parse::<Incarnation>().is_err() && "a b c".parse::<Incarnation>().is_err());
    }
}
