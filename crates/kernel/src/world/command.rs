//! The user's command as the workload. It is found before anything is created, started in the program's folder, and
//! waited for; its leftover processes are ended.
//!
//! Policy:
//!   1. No shell is used: the words are passed as given. `{}` in any of them means the folder, and `{{}}` means `{}`
//!      itself.
//!   2. The command runs as if the user had typed it: with their environment, rights and limits. It reads nothing,
//!      and its standard output is discarded. The end of its standard error is kept, in case it fails.
//!   3. It has its own session: terminal keys reach only diskperf, and a password prompt fails instead of waiting. It
//!      inherits none of our open files.
//!   4. The clock includes its start and its end; a process descriptor wakes us at the end. The rest is outside the
//!      clock: its status is collected, leftover processes are ended, and their CPU time is added to its own.
//!   5. If told to stop, or overdue, it gets SIGTERM, and SIGKILL after a while. If diskperf is killed, so is the
//!      command, but processes that it started in the background go on.
//!   6. Processes of another user cannot be ended: diskperf does not wait for them, and there is no result.
//!
//! Orphan processes of the command become our children (`PR_SET_CHILD_SUBREAPER`), so that we find them and wait for
//! them. If a parent ignores SIGCHLD, the CPU time of its children is lost. Children that this process had before are
//! left alone. So are all processes of their sessions, which may become our children too; no command is in such a
//! session.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{self, Path, PathBuf};
use std::process::{self, ChildStderr, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::Access;
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpid, kill_process, kill_process_group, pidfd_open,
    set_child_subreaper, waitid,
};
use units::Nanos;
use workload::{CpuTime, Reason};

use super::no_command::NoCommand;
use super::process_tree::ProcessTree;
use crate::errno::reason;
use crate::sys::clocks::cpu_of;
use crate::sys::{inherited_pipe::PEERS_VARIABLE, read_limited};

/// Placeholder for the folder.
const FOLDER: &[u8] = b"{}";

/// The escape for a literal placeholder.
const LITERAL: &[u8] = b"{{}}";

/// Time between SIGTERM and SIGKILL. Guess: a program that saves something on SIGTERM takes less.
const GRACE: Duration = Duration::from_secs(2);

/// Poll interval for the stop flag in milliseconds; a delay of 50 ms is imperceptible.
const NAP_MS: i32 = 50;

/// Poll interval for the end of the command in milliseconds, if the kernel has no process descriptors (before Linux
/// 5.3).
const BLIND_NAP_MS: i32 = 1;

/// Bytes of the end of standard error that are kept: a few lines.
const TAIL: usize = 1024;

/// Number of reads of standard error after the command's end. Other processes may go on writing to it forever.
const LAST_READS: u32 = 16;

/// Number of rounds of ending orphans before diskperf gives up on a command that starts them faster. Guess.
const MOST_LEFT: u32 = 10_000;

/// A command, and the path of its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    program: PathBuf,
    /// True if the program's path contains the folder (`{}`).
    is_inside: bool,
    /// All words, the first as typed.
    words: Vec<OsString>,
    /// The time limit, if there is one.
    within: Option<Duration>,
}

impl Command {
    /// Finds the program. A name with a slash is a path from the current directory; otherwise the folders of PATH are
    /// searched. A program whose path contains the folder (`{}`) may not exist yet, and is not looked for.
    pub fn find(words: &[OsString]) -> Result<Command, NoCommand> {
        let name = words.first().filter(|name| !name.is_empty()).ok_or(NoCommand::Nothing)?;
        let is_inside = holds_folder(name);
        let found = |program: PathBuf| Ok(Command { program, is_inside, words: words.to_vec(), within: None });
        if is_inside {
            return found(PathBuf::from(name));
        }
        let name = &with_folder(name, Path::new(""));
        if name.as_bytes().contains(&b'/') {
            // Made absolute, because the command starts in another folder.
            let program = path::absolute(name).map_err(|_| NoCommand::Missing(name.clone()))?;
            return match fs::metadata(&program) {
                Err(_) => Err(NoCommand::Missing(name.clone())),
                Ok(_) if is_executable(&program) => found(program),
                Ok(_) => Err(NoCommand::NotExecutable(program)),
            };
        }
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let there = std::env::split_paths(&folders).map(|folder| folder.join(name)).filter(|path| path.is_file());
        let there: Vec<PathBuf> = there.collect();
        match there.iter().find(|path| is_executable(path)) {
            Some(program) => found(path::absolute(program).unwrap_or_else(|_| program.clone())),
            None => {
                Err(there.into_iter().next().map_or_else(|| NoCommand::Missing(name.clone()), NoCommand::NotExecutable))
            }
        }
    }

    /// Sets a time limit, after which the command is ended.
    pub fn within(self, time: Option<Nanos>) -> Command {
        Command { within: time.map(|time| Duration::from_nanos(time.0)), ..self }
    }

    /// The path of the program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The command, ready to be started in the folder.
    fn in_folder(&self, folder: &Path) -> process::Command {
        let word = |word: &OsString| with_folder(word, folder);
        let program = self.program.as_os_str();
        let program = if self.is_inside { with_folder(program, folder) } else { program.to_owned() };
        let mut command = process::Command::new(program);
        command.arg0(word(&self.words[0])).args(self.words[1..].iter().map(word)).current_dir(folder);
        command.env_remove(PEERS_VARIABLE);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let ours = getpid();
        // SAFETY: between fork and exec, `detach` makes only system calls, and takes no memory and no lock.
        unsafe { command.pre_exec(move || detach(ours)) };
        command
    }
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

fn holds_folder(word: &OsStr) -> bool {
    with_folder(word, Path::new("")) != with_folder(word, Path::new("/"))
}

/// The word, with every placeholder replaced by the path.
fn with_folder(word: &OsStr, folder: &Path) -> OsString {
    let (mut rest, mut filled) = (word.as_bytes(), Vec::new());
    while let Some((first, others)) = rest.split_first() {
        if let Some(behind) = rest.strip_prefix(LITERAL) {
            filled.extend_from_slice(FOLDER);
            rest = behind;
        } else if let Some(behind) = rest.strip_prefix(FOLDER) {
            filled.extend_from_slice(folder.as_os_str().as_bytes());
            rest = behind;
        } else {
            filled.push(*first);
            rest = others;
        }
    }
    OsString::from_vec(filled)
}

/// Runs in the child before exec: makes its own session, asks for SIGKILL when the parent ends, and closes our files
/// at exec.
fn detach(parent: Pid) -> std::io::Result<()> {
    rustix::process::setsid()?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // A parent that was killed before that call sends no signal any more.
    if rustix::process::getppid() != Some(parent) {
        return Err(Errno::SRCH.into());
    }
    // Before Linux 5.11, the call is missing. Then each file is closed on exec if it was opened that way.
    // SAFETY: marks only descriptors of this process, which are closed on exec.
    unsafe { libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    Ok(())
}

/// A program's commands, and the state of the one that ran last.
pub(crate) struct Commands {
    list: Arc<[Command]>,
    stop: Arc<AtomicBool>,
    /// Children that this process had before, and the sessions in which they have been seen.
    others: (Vec<Identity>, Vec<Pid>),
    /// A command that has ended or was only started, and must be waited for.
    ran: Option<Ran>,
    stderr: Tail,
    leftovers: Leftovers,
    /// Processes that we lack permission to kill.
    unending: Vec<Identity>,
    several: bool,
    /// The processes of the command that ran last.
    tree: ProcessTree,
}

/// A command that was started.
#[derive(Clone, Copy)]
struct Ran {
    command: u8,
    pid: Pid,
    /// True if it ended by itself, so that leftover processes count as its own fault.
    by_itself: bool,
}

/// Leftover processes of commands, found since the last query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Number of processes that were ended, by command.
    pub ended: BTreeMap<u8, u32>,
    /// The command with processes that could not be ended, and their number.
    pub unending: Option<(u8, u32)>,
}

impl Commands {
    /// Commands that run until `stop` is set. From here on, this process adopts their orphans.
    pub(crate) fn new(list: Arc<[Command]>, stop: Arc<AtomicBool>) -> Commands {
        // Our parent may have ignored SIGCHLD; then we would not learn about the end of a child.
        // SAFETY: restores the default action and installs no function of ours.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
        let others = children().into_iter().map(|child| (child.identity, child.session)).unzip();
        // If this is not allowed, orphans cannot be found.
        let _ = set_child_subreaper(Some(getpid()));
        let (ran, leftovers, unending, several) = (None, Leftovers::default(), Vec::new(), false);
        let (stderr, tree) = (Tail::default(), ProcessTree::default());
        Commands { list, stop, others, ran, stderr, leftovers, unending, several, tree }
    }

    /// Runs one command to its end in this folder.
    pub(crate) fn run(&mut self, number: u8, folder: &Path) -> Result<u32, Reason> {
        let command = self.list.get(usize::from(number)).ok_or(Reason::NotFound)?;
        self.stderr = Tail::default();
        self.tree = ProcessTree::default();
        let mut child = command
            .in_folder(folder)
            .spawn()
            .map_err(|error| reason(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
        let pid = Pid::from_child(&child);
        let ran = self.ran.insert(Ran { command: number, pid, by_itself: true });
        let handle = pidfd_open(pid, PidfdFlags::empty()).ok();
        let mut started = Started { pid, handle, errors: child.stderr.take() };
        let began = Instant::now();
        while !started.wait_a_little(&mut self.stderr) {
            self.tree.look_if_due(pid);
            let reason = match command.within {
                _ if self.stop.load(Ordering::Relaxed) => Reason::Interrupted,
                Some(within) if began.elapsed() > within => Reason::Overdue,
                _ => continue,
            };
            ran.by_itself = false;
            // If diskperf was told to stop, the command has not failed, even if it cannot be killed.
            let has_ended = started.end(&mut self.stderr);
            return Err(if has_ended || reason == Reason::Interrupted { reason } else { Reason::Unkillable });
        }
        // Leaves the status uncollected, so that its process id is not reused.
        let ended = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).map_err(reason)?;
        let (status, signal) = ended.map_or((None, None), |ended| (ended.exit_status(), ended.terminating_signal()));
        match (status, signal) {
            (Some(0), _) => Ok(0),
            (Some(status), _) => Err(Reason::Exited(status)),
            (None, signal) => Err(Reason::Killed(signal.unwrap_or_default())),
        }
        .inspect_err(|_| started.listen_to_the_end(&mut self.stderr))
    }

    /// Ends the leftover processes of the last command and waits for all of them. Returns their total CPU time, or
    /// `None` if no command ran. Processes that cannot be ended are not waited for.
    pub(crate) fn end(&mut self) -> Option<CpuTime> {
        let ran = self.ran.take()?;
        let mut all = CpuTime::default();
        let mut add = |cpu: CpuTime| {
            all.total += cpu.total;
            all.user += cpu.user;
        };
        // The command has ended, but was not waited for, so its times can still be read.
        self.tree.look(ran.pid);
        self.several = has_waited(ran.pid) || self.tree.has_several();
        if let Waited::Ended(cpu) = wait(ran.pid, libc::WNOHANG) {
            add(cpu);
        }
        for _ in 0..MOST_LEFT {
            let left = if has_children() { self.left_by_it() } else { Vec::new() };
            if left.is_empty() {
                break;
            }
            for child in left {
                let pid = child.identity.pid;
                let mut waited = wait(pid, libc::WNOHANG);
                // A process that ended by itself only has to be waited for.
                if let Waited::NotEnded = waited {
                    if kill_process(pid, Signal::KILL) == Err(Errno::PERM) {
                        self.unending.push(child.identity);
                        self.leftovers.unending =
                            Some((ran.command, self.leftovers.unending.map_or(0, |(_, count)| count) + 1));
                        continue;
                    }
                    if ran.by_itself {
                        *self.leftovers.ended.entry(ran.command).or_default() += 1;
                    }
                    waited = wait(pid, 0);
                }
                if let Waited::Ended(cpu) = waited {
                    self.several = true;
                    add(cpu);
                }
            }
        }
        Some(all)
    }

    /// The orphans that the last command left to us, except those that we lack permission to kill.
    fn left_by_it(&mut self) -> Vec<Child> {
        let mut left = children();
        let (others, sessions) = &mut self.others;
        for child in &left {
            if others.contains(&child.identity) && !sessions.contains(&child.session) {
                sessions.push(child.session);
            }
        }
        left.retain(|child| {
            let is_others = others.contains(&child.identity) || sessions.contains(&child.session);
            !is_others && !self.unending.contains(&child.identity)
        });
        left
    }

    /// The end of the last command's standard error, in one line. `None` if it is empty.
    pub(crate) fn stderr_tail(&self) -> Option<String> {
        self.stderr.in_a_line()
    }

    /// The leftover processes found since the last query.
    pub(crate) fn take_leftovers(&mut self) -> Leftovers {
        std::mem::take(&mut self.leftovers)
    }

    /// True if the last command was seen to consist of several processes or threads.
    pub(crate) fn were_several(&self) -> bool {
        self.several
    }

    /// The CPU time of the busiest thread of the last command. `None` if none was seen.
    pub(crate) fn busiest(&self) -> Option<Nanos> {
        self.tree.busiest()
    }

    /// The time in which the last command waited for a processor. `None` if it had several processes or threads.
    pub(crate) fn waited(&self) -> Option<Nanos> {
        self.tree.waited().filter(|_| !self.several)
    }
}

/// A command that was started.
struct Started {
    pid: Pid,
    /// A process descriptor, readable when the command has ended.
    handle: Option<OwnedFd>,
    errors: Option<ChildStderr>,
}

impl Started {
    /// Waits until the command has ended, or for a short time. Keeps its standard error meanwhile. Returns whether it
    /// has ended.
    fn wait_a_little(&mut self, stderr: &mut Tail) -> bool {
        let nap = if self.handle.is_some() { NAP_MS } else { BLIND_NAP_MS };
        let [ended, speaks] = self.poll(nap);
        if speaks {
            self.listen(stderr);
        }
        ended || self.handle.is_none() && self.has_ended()
    }

    /// Polls its process descriptor and its standard error for `timeout_ms` milliseconds. Returns which of them are
    /// ready.
    fn poll(&self, timeout_ms: i32) -> [bool; 2] {
        // A negative descriptor is ignored (poll(2)).
        let entry = |fd: Option<i32>| libc::pollfd { fd: fd.unwrap_or(-1), events: libc::POLLIN, revents: 0 };
        let (handle, errors) =
            (self.handle.as_ref().map(AsRawFd::as_raw_fd), self.errors.as_ref().map(AsRawFd::as_raw_fd));
        let mut entries = [entry(handle), entry(errors)];
        // SAFETY: the entries are writable and their number is correct; their descriptors are open, or -1.
        let ready = unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, timeout_ms) };
        if ready > 0 { entries.map(|entry| entry.revents != 0) } else { [false; 2] }
    }

    /// True if it has ended. Does not collect its status.
    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        !matches!(waitid(WaitId::Pid(self.pid), options), Ok(None))
    }

    /// Keeps the available bytes of its standard error. Closes it once no process can write to it any more.
    fn listen(&mut self, stderr: &mut Tail) {
        let mut piece = [0; 4096];
        match self.errors.as_ref().map(|errors| rustix::io::read(errors, &mut piece)) {
            Some(Ok(0)) => self.errors = None,
            Some(Ok(bytes)) => stderr.add(&piece[..bytes]),
            Some(Err(_)) | None => {}
        }
    }

    /// Keeps the remaining bytes of its standard error.
    fn listen_to_the_end(&mut self, stderr: &mut Tail) {
        for _ in 0..LAST_READS {
            if !self.poll(0)[1] {
                break;
            }
            self.listen(stderr);
        }
    }

    /// Ends it with its whole process group. Returns false if that is not permitted.
    fn end(&mut self, stderr: &mut Tail) -> bool {
        let _ = kill_process_group(self.pid, Signal::TERM);
        let asked = Instant::now();
        while asked.elapsed() < GRACE {
            if self.wait_a_little(stderr) {
                return true;
            }
        }
        let _ = kill_process_group(self.pid, Signal::KILL);
        // A signal to a group succeeds if one of its processes may be ended. The command may have become another
        // user's, and ours again.
        while !self.wait_a_little(stderr) {
            if kill_process(self.pid, Signal::KILL) == Err(Errno::PERM) {
                return self.has_ended();
            }
        }
        true
    }
}

/// The last bytes of a text.
#[derive(Default)]
struct Tail(Vec<u8>);

impl Tail {
    fn add(&mut self, piece: &[u8]) {
        self.0.extend_from_slice(piece);
        let surplus = self.0.len().saturating_sub(TAIL);
        self.0.drain(..surplus);
    }

    /// Its last lines, at most three.
    fn in_a_line(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.0);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = lines.len().saturating_sub(3);
        (!lines.is_empty()).then(|| lines[last..].join("; "))
    }
}

/// The outcome of waiting for a child.
enum Waited {
    /// The CPU time of the child and of all children that it waited for.
    Ended(CpuTime),
    NotEnded,
    /// The process is not our child, or no longer.
    NoChild,
}

fn wait(pid: Pid, options: i32) -> Waited {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    loop {
        // SAFETY: `usage` is writable and has the expected size; it is read only after a child was waited for.
        let waited =
            unsafe { libc::wait4(pid.as_raw_nonzero().get(), std::ptr::null_mut(), options, usage.as_mut_ptr()) };
        match waited {
            -1 if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
            // SAFETY: the call has initialised it.
            child if child > 0 => return Waited::Ended(cpu_of(unsafe { usage.assume_init_ref() })),
            0 => return Waited::NotEnded,
            _ => return Waited::NoChild,
        }
    }
}

/// True if this process has children. Called inside a clock, because scanning all processes takes longer.
fn has_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    waitid(WaitId::All, options).err() != Some(Errno::CHILD)
}

/// A process identity that no later process can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    pid: Pid,
    /// Its start time, in ticks since boot.
    began: u64,
}

/// A child of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Child {
    identity: Identity,
    session: Pid,
}

/// All children of this process.
fn children() -> Vec<Child> {
    let child = |entry: fs::DirEntry| {
        let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
        let stat = Stat::read(&read_limited::of_the_kernel(entry.path().join("stat")).ok()?)?;
        let child = Child { identity: Identity { pid, began: stat.began }, session: stat.session };
        (stat.parent == getpid()).then_some(child)
    };
    fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(child).collect()
}

/// True if an ended child had waited for its own children: every process causes at least one page fault.
fn has_waited(pid: Pid) -> bool {
    let stat = read_limited::of_the_kernel(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok();
    stat.and_then(|stat| Stat::read(&stat)).is_some_and(|stat| stat.faults_of_children > 0)
}

/// Some fields of a process's `stat` (proc(5)).
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    parent: Pid,
    session: Pid,
    faults_of_children: u64,
    began: u64,
}

impl Stat {
    /// Parses the fields: id, name in parentheses (any text), state, parent (4), group, session (6), minor faults of
    /// waited-for children (11), start time (22).
    fn read(text: &str) -> Option<Stat> {
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3);
        let pid = |number: usize| Pid::from_raw(field(number)?.parse().ok()?);
        let count = |number: usize| field(number)?.parse().ok();
        Some(Stat { parent: pid(4)?, session: pid(6)?, faults_of_children: count(11)?, began: count(22)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &[&str]) -> Vec<OsString> {
        line.iter().map(OsString::from).collect()
    }

    #[test]
    fn a_command_is_searched_like_in_a_shell() {
        let found = |line: &[&str]| Command::find(&words(line));
        assert!(found(&["ls", "-l"]).is_ok_and(|command| command.program.is_absolute()));
        assert_eq!(found(&[]), Err(NoCommand::Nothing));
        assert_eq!(found(&[""]), Err(NoCommand::Nothing));
        assert_eq!(found(&["no-such-command"]), Err(NoCommand::Missing("no-such-command".into())));
        assert_eq!(found(&["./none"]), Err(NoCommand::Missing("./none".into())));
        assert_eq!(found(&["/etc/passwd"]), Err(NoCommand::NotExecutable("/etc/passwd".into())));
        assert_eq!(found(&["/etc"]), Err(NoCommand::NotExecutable("/etc".into())));
        assert!(found(&["{}/made"]).is_ok());
    }

    #[test]
    fn braces_are_replaced_by_the_folder() {
        let folder = Path::new("/a b");
        for (word, filled) in [
            ("{}", "/a b"),
            ("of={}/x", "of=/a b/x"),
            ("{}{}", "/a b/a b"),
            ("{ }", "{ }"),
            ("", ""),
            ("{{}}", "{}"),
            ("{}{{}}", "/a b{}"),
            ("{{{}}}", "{{}}"),
            ("{{}", "{/a b"),
        ] {
            assert_eq!(with_folder(OsStr::new(word), folder), filled);
        }
    }

    #[test]
    fn process_status_is_parsed_after_any_name() {
        let pid = |number| Pid::from_raw(number).expect("a number");
        let text = "12 (a) S 3) R 7 12 11 0 -1 4 100 55 0 0 1 2 3 4 20 0 1 0 9876 1";
        let stat = Stat { parent: pid(7), session: pid(11), faults_of_children: 55, began: 9876 };
        assert_eq!(Stat::read(text), Some(stat));
        assert_eq!(Stat::read("12 (a) S 7 12"), None);
        assert_eq!(Stat::read("12 (a"), None);
    }

    #[test]
    fn only_the_end_of_the_output_is_kept() {
        let mut tail = Tail::default();
        assert_eq!(tail.in_a_line(), None);
        (0..1000).for_each(|line| tail.add(format!("line {line}\n\n").as_bytes()));
        assert_eq!(tail.in_a_line().as_deref(), Some("line 997; line 998; line 999"));
        assert_eq!(tail.0.len(), TAIL);
    }
}
