//! A command of the user's as the load: found before anything is made, started in the program's folder, waited for, and
//! what it leaves running ended.
//!
//! Policy:
//!   1. no shell: the words are those that were given, and `{}` in any of them is the folder, `{{}}` is `{}` itself;
//!   2. it runs as whoever types it would run it: their environment, rights and limits. It reads nothing, what it says
//!      on standard output goes nowhere, and of standard error the end is kept, for where it fails;
//!   3. it has a session of its own: keys of a terminal reach us alone, and who asks for a password there is refused
//!      and does not wait. None of our open files reaches it;
//!   4. the clock holds its start and its end, seen by a descriptor that the kernel wakes us by. What follows is
//!      outside: its status is taken, whoever it left running is ended, and their CPU time is added to its own;
//!   5. told to stop, or overdue, it is asked to end (SIGTERM), and made to after a while (SIGKILL). Where we are
//!      killed, it is too; what it has started in the background is not, and goes on;
//!   6. who runs as another user may not be ended: nobody waits for it, and there is no figure.
//!
//! What it started and did not wait for becomes our child when its parent ends (`PR_SET_CHILD_SUBREAPER`), and so is
//! found and waited for. A child that its parent ignores (SIGCHLD) tells nobody of its CPU time. Where this process was
//! started with children, these are left alone, and so are all of their sessions, who may come to be ours too: no
//! command is in one.

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
use crate::errno::reason;
use crate::sys::clocks::cpu_of;
use crate::sys::read_limited;

/// What stands for the folder.
const FOLDER: &[u8] = b"{}";

/// And for that itself.
const LITERAL: &[u8] = b"{{}}";

/// How long it may take to end when it is asked to. Guess: who writes something down then takes less.
const GRACE: Duration = Duration::from_secs(2);

/// So long nobody looks whether it is to stop: nobody notices so much.
const NAP_MS: i32 = 50;

/// Where the kernel has no descriptors of processes (before Linux 5.3), its end is looked for so often.
const BLIND_NAP_MS: i32 = 1;

/// Of standard error, so much of the end is kept: a few lines.
const TAIL: usize = 1024;

/// Reads of that after its end: what others still write there would never end.
const LAST_READS: u32 = 16;

/// Who starts others faster than they can be ended is let go after so many. Guess.
const MOST_LEFT: u32 = 10_000;

/// A command and where its program lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    program: PathBuf,
    /// Whether its path holds the folder's.
    is_inside: bool,
    /// All words, the first as it was typed.
    words: Vec<OsString>,
    /// How long it may take, where that was said.
    within: Option<Duration>,
}

impl Command {
    /// Finds the program: where its name has a slash it is a path from here, else it is in one of the folders of PATH.
    /// One whose path begins in the folder (`{}`) may come to be there, and is not looked for.
    pub fn find(words: &[OsString]) -> Result<Command, NoCommand> {
        let name = words.first().filter(|name| !name.is_empty()).ok_or(NoCommand::Nothing)?;
        let is_inside = holds_folder(name);
        let found = |program: PathBuf| Ok(Command { program, is_inside, words: words.to_vec(), within: None });
        if is_inside {
            return found(PathBuf::from(name));
        }
        let name = &with_folder(name, Path::new(""));
        if name.as_bytes().contains(&b'/') {
            // It will stand elsewhere.
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

    /// The same, ended where it takes longer than this.
    pub fn within(self, time: Option<Nanos>) -> Command {
        Command { within: time.map(|time| Duration::from_nanos(time.0)), ..self }
    }

    /// The program that was found.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// It, ready to be started in the folder.
    fn in_folder(&self, folder: &Path) -> process::Command {
        let word = |word: &OsString| with_folder(word, folder);
        let program = self.program.as_os_str();
        let program = if self.is_inside { with_folder(program, folder) } else { program.to_owned() };
        let mut command = process::Command::new(program);
        command.arg0(word(&self.words[0])).args(self.words[1..].iter().map(word)).current_dir(folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let ours = getpid();
        // SAFETY: between fork and exec it makes system calls only, and takes no memory and no lock.
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

/// The word, with the path in every place of the folder's.
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

/// In the child, before it becomes the command: a session of its own, gone with its parent, and no file of ours.
fn detach(parent: Pid) -> std::io::Result<()> {
    rustix::process::setsid()?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // Whoever was killed before that sends nothing any more.
    if rustix::process::getppid() != Some(parent) {
        return Err(Errno::SRCH.into());
    }
    // Where the kernel does not know the call (before Linux 5.11), files are closed one by one, as they were opened.
    // SAFETY: it marks descriptors of this process alone, which are closed when it becomes the command.
    unsafe { libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    Ok(())
}

/// What a program's commands are, and what became of the one that it ran.
pub(crate) struct Commands {
    list: Arc<[Command]>,
    stop: Arc<AtomicBool>,
    /// Children of this process that were there before, and the sessions that they have been seen in.
    others: (Vec<Identity>, Vec<Pid>),
    /// Has ended, or was never more than started, and is to be waited for.
    ran: Option<Ran>,
    said: Tail,
    left: Left,
    /// Who may not be ended.
    unending: Vec<Identity>,
    several: bool,
}

/// One that was started.
#[derive(Clone, Copy)]
struct Ran {
    command: u8,
    pid: Pid,
    /// Whether it ended by itself, so that what it left was left by it.
    by_itself: bool,
}

/// What commands left running, which was found since it was asked for last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// How many processes were ended, by the command.
    pub ended: BTreeMap<u8, u32>,
    /// The command that left some which may not be ended, and how many.
    pub unending: Option<(u8, u32)>,
}

impl Commands {
    /// These, until told to stop. From here on what they leave behind is left to us.
    pub(crate) fn new(list: Arc<[Command]>, stop: Arc<AtomicBool>) -> Commands {
        // Whoever started us may have ignored the end of children, and nobody would hear of one.
        // SAFETY: it puts no function of ours in place.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
        let others = children().into_iter().map(|child| (child.identity, child.session)).unzip();
        // Where that is not allowed, what has left its parent is nobody's to find.
        let _ = set_child_subreaper(Some(getpid()));
        let (ran, left, unending, several) = (None, Left::default(), Vec::new(), false);
        Commands { list, stop, others, ran, said: Tail::default(), left, unending, several }
    }

    /// Runs one of them to its end, in this folder.
    pub(crate) fn run(&mut self, number: u8, folder: &Path) -> Result<u32, Reason> {
        let command = self.list.get(usize::from(number)).ok_or(Reason::NotFound)?;
        self.said = Tail::default();
        let mut child = command
            .in_folder(folder)
            .spawn()
            .map_err(|error| reason(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
        let pid = Pid::from_child(&child);
        let ran = self.ran.insert(Ran { command: number, pid, by_itself: true });
        let handle = pidfd_open(pid, PidfdFlags::empty()).ok();
        let mut started = Started { pid, handle, errors: child.stderr.take() };
        let began = Instant::now();
        while !started.wait_a_little(&mut self.said) {
            let reason = match command.within {
                _ if self.stop.load(Ordering::Relaxed) => Reason::Interrupted,
                Some(within) if began.elapsed() > within => Reason::Overdue,
                _ => continue,
            };
            ran.by_itself = false;
            // Told to stop it is no failure of the command's, whatever becomes of it.
            let has_ended = started.end(&mut self.said);
            return Err(if has_ended || reason == Reason::Interrupted { reason } else { Reason::Unkillable });
        }
        // It stays what it is until its status is taken, so that its number is nobody else's.
        let ended = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).map_err(reason)?;
        let (status, signal) = ended.map_or((None, None), |ended| (ended.exit_status(), ended.terminating_signal()));
        match (status, signal) {
            (Some(0), _) => Ok(0),
            (Some(status), _) => Err(Reason::Exited(status)),
            (None, signal) => Err(Reason::Killed(signal.unwrap_or_default())),
        }
        .inspect_err(|_| started.listen_to_the_end(&mut self.said))
    }

    /// Ends what was left running of the one that ran, waits for all of it, and says how much CPU time they took
    /// together; nothing where none ran. Who may not be ended is not waited for.
    pub(crate) fn end(&mut self) -> Option<CpuTime> {
        let ran = self.ran.take()?;
        let mut all = CpuTime::default();
        let mut add = |cpu: CpuTime| {
            all.total += cpu.total;
            all.user += cpu.user;
        };
        self.several = has_waited(ran.pid);
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
                // What had ended by itself is no more than not waited for.
                if let Waited::NotEnded = waited {
                    if kill_process(pid, Signal::KILL) == Err(Errno::PERM) {
                        self.unending.push(child.identity);
                        self.left.unending = Some((ran.command, self.left.unending.map_or(0, |(_, count)| count) + 1));
                        continue;
                    }
                    if ran.by_itself {
                        *self.left.ended.entry(ran.command).or_default() += 1;
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

    /// The children that the one that ran has left to us, but for who may not be ended.
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

    /// The end of what the one that ran last said on standard error, in a line; nothing where it said nothing.
    pub(crate) fn said(&self) -> Option<String> {
        self.said.in_a_line()
    }

    /// What was left running, since this was asked last.
    pub(crate) fn left(&mut self) -> Left {
        std::mem::take(&mut self.left)
    }

    /// Whether the one that ran last was seen to be more than one process.
    pub(crate) fn were_several(&self) -> bool {
        self.several
    }
}

/// A command that was started.
struct Started {
    pid: Pid,
    /// Readable when it has ended.
    handle: Option<OwnedFd>,
    errors: Option<ChildStderr>,
}

impl Started {
    /// Waits until it has ended, which it says, or for a nap; keeps what it says meanwhile.
    fn wait_a_little(&mut self, said: &mut Tail) -> bool {
        let nap = if self.handle.is_some() { NAP_MS } else { BLIND_NAP_MS };
        let [ended, speaks] = self.look(nap);
        if speaks {
            self.listen(said);
        }
        ended || self.handle.is_none() && self.has_ended()
    }

    /// Whether its handle and its standard error have something, within so many milliseconds.
    fn look(&self, timeout_ms: i32) -> [bool; 2] {
        // What is not there is not looked at (poll(2)).
        let entry = |fd: Option<i32>| libc::pollfd { fd: fd.unwrap_or(-1), events: libc::POLLIN, revents: 0 };
        let (handle, errors) =
            (self.handle.as_ref().map(AsRawFd::as_raw_fd), self.errors.as_ref().map(AsRawFd::as_raw_fd));
        let mut entries = [entry(handle), entry(errors)];
        // SAFETY: the entries are writable and as many as is said; their descriptors are open, or -1.
        let ready = unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, timeout_ms) };
        if ready > 0 { entries.map(|entry| entry.revents != 0) } else { [false; 2] }
    }

    /// Whether it has ended, and is not waited for.
    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        !matches!(waitid(WaitId::Pid(self.pid), options), Ok(None))
    }

    /// Keeps what there is on its standard error; closes that where nobody has it any more.
    fn listen(&mut self, said: &mut Tail) {
        let mut piece = [0; 4096];
        match self.errors.as_ref().map(|errors| rustix::io::read(errors, &mut piece)) {
            Some(Ok(0)) => self.errors = None,
            Some(Ok(bytes)) => said.add(&piece[..bytes]),
            Some(Err(_)) | None => {}
        }
    }

    /// Keeps what is left there.
    fn listen_to_the_end(&mut self, said: &mut Tail) {
        for _ in 0..LAST_READS {
            if !self.look(0)[1] {
                break;
            }
            self.listen(said);
        }
    }

    /// Has it end, with all of its group. No where that is not allowed.
    fn end(&mut self, said: &mut Tail) -> bool {
        let _ = kill_process_group(self.pid, Signal::TERM);
        let asked = Instant::now();
        while asked.elapsed() < GRACE {
            if self.wait_a_little(said) {
                return true;
            }
        }
        let _ = kill_process_group(self.pid, Signal::KILL);
        // Of a group it is enough that one may be ended. It may have become another user's, and ours again.
        while !self.wait_a_little(said) {
            if kill_process(self.pid, Signal::KILL) == Err(Errno::PERM) {
                return self.has_ended();
            }
        }
        true
    }
}

/// The end of a text.
#[derive(Default)]
struct Tail(Vec<u8>);

impl Tail {
    fn add(&mut self, piece: &[u8]) {
        self.0.extend_from_slice(piece);
        let surplus = self.0.len().saturating_sub(TAIL);
        self.0.drain(..surplus);
    }

    /// Its last lines, three at most.
    fn in_a_line(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.0);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = lines.len().saturating_sub(3);
        (!lines.is_empty()).then(|| lines[last..].join("; "))
    }
}

/// What came of waiting for a child.
enum Waited {
    /// The CPU time of it and of all that it waited for.
    Ended(CpuTime),
    NotEnded,
    /// It is none, or none any more.
    NoChild,
}

fn wait(pid: Pid, options: i32) -> Waited {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    loop {
        // SAFETY: `usage` is writable and of the size the call expects; it is read only where a child was waited for.
        let waited =
            unsafe { libc::wait4(pid.as_raw_nonzero().get(), std::ptr::null_mut(), options, usage.as_mut_ptr()) };
        match waited {
            -1 if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
            // SAFETY: the call has filled it.
            child if child > 0 => return Waited::Ended(cpu_of(unsafe { usage.assume_init_ref() })),
            0 => return Waited::NotEnded,
            _ => return Waited::NoChild,
        }
    }
}

/// Whether this process has any child. It is asked within a clock: to look at all processes takes longer.
fn has_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    waitid(WaitId::All, options).err() != Some(Errno::CHILD)
}

/// A process, which no later one is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    pid: Pid,
    /// When it began, in ticks since the machine did.
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

/// Whether a child that has ended had waited for children of its own: no process ends without a page that it had to be
/// given.
fn has_waited(pid: Pid) -> bool {
    let stat = read_limited::of_the_kernel(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok();
    stat.and_then(|stat| Stat::read(&stat)).is_some_and(|stat| stat.faults_of_children > 0)
}

/// Some of what proc(5) says of a process in stat.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    parent: Pid,
    session: Pid,
    faults_of_children: u64,
    began: u64,
}

impl Stat {
    /// The fields: number, name in brackets, which may hold anything, state, parent (4), group, session (6); minor
    /// faults of those that it waited for (11); its beginning (22).
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
    fn a_command_is_found_where_a_shell_finds_it() {
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
    fn the_folder_stands_wherever_it_is_named() {
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
    fn a_process_is_told_behind_any_name() {
        let pid = |number| Pid::from_raw(number).expect("a number");
        let text = "12 (a) S 3) R 7 12 11 0 -1 4 100 55 0 0 1 2 3 4 20 0 1 0 9876 1";
        let stat = Stat { parent: pid(7), session: pid(11), faults_of_children: 55, began: 9876 };
        assert_eq!(Stat::read(text), Some(stat));
        assert_eq!(Stat::read("12 (a) S 7 12"), None);
        assert_eq!(Stat::read("12 (a"), None);
    }

    #[test]
    fn only_the_end_of_what_it_says_is_kept() {
        let mut tail = Tail::default();
        assert_eq!(tail.in_a_line(), None);
        (0..1000).for_each(|line| tail.add(format!("line {line}\n\n").as_bytes()));
        assert_eq!(tail.in_a_line().as_deref(), Some("line 997; line 998; line 999"));
        assert_eq!(tail.0.len(), TAIL);
    }
}
