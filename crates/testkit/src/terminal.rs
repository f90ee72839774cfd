//! Terminals of a width of one's choice, on which a program is run: one for its standard output and one for its
//! standard error, so that what it says on which can be told.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::Ended;

/// A program that runs on two terminals.
#[derive(Debug)]
pub struct Watched {
    child: Child,
    out: Screen,
    err: Screen,
    /// The terminal of its standard input, while that is one.
    _keyboard: Option<File>,
}

/// What was written to a terminal.
#[derive(Debug)]
struct Screen {
    text: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

/// Starts the command on terminals of so many columns.
pub fn watch(command: Command, columns: u16) -> Watched {
    start(command, columns, None)
}

/// The same with a terminal for its standard input too, on which this has been typed.
pub fn watch_typing(command: Command, columns: u16, typed: &str) -> Watched {
    start(command, columns, Some(typed))
}

fn start(mut command: Command, columns: u16, typed: Option<&str>) -> Watched {
    let typing = typed.map(|typed| {
        let (mut ours, theirs) = terminal(columns);
        ours.write_all(typed.as_bytes()).expect("it is typed");
        (ours, theirs)
    });
    let (keyboard, stdin) = typing.map_or((None, Stdio::null()), |(ours, theirs)| (Some(ours), theirs));
    let (out, err) = (Screen::new(columns), Screen::new(columns));
    let child = command
        .env("TERM", "xterm")
        .stdin(stdin)
        .stdout(out.1)
        .stderr(err.1)
        .spawn()
        .expect("the program can be started");
    // The terminals end once nobody has them open: neither the child nor this process.
    drop(command);
    Watched { child, out: out.0, err: err.0, _keyboard: keyboard }
}

impl Watched {
    /// What it has said on standard error so far.
    pub fn said(&self) -> String {
        plain(&self.err.text.lock().expect("the reader is well"))
    }

    /// Whether it has ended already.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("whether it ended").is_some()
    }

    /// Does what Ctrl-C does.
    pub fn interrupt(&self) {
        kill_process(Pid::from_child(&self.child), Signal::INT).expect("the signal is sent");
    }

    /// How it ended, and all it said, with what moves the cursor and clears lines.
    pub fn end(mut self) -> Ended {
        let status = self.child.wait().expect("its end").code();
        Ended { status, out: self.out.end(), err: self.err.end() }
    }
}

/// Both ends of a terminal.
fn terminal(columns: u16) -> (File, Stdio) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = openpt(flags).expect("a terminal");
    unlockpt(&ours).expect("it can be opened");
    tcsetwinsize(&ours, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).expect("its size");
    let theirs = ioctl_tiocgptpeer(&ours, flags).expect("its other end");
    (File::from(ours), Stdio::from(theirs))
}

impl Screen {
    /// A terminal, and its end for the program.
    fn new(columns: u16) -> (Screen, Stdio) {
        let (mut ours, theirs) = terminal(columns);
        let text = Arc::new(Mutex::new(Vec::new()));
        let filled = Arc::clone(&text);
        let reader = thread::spawn(move || {
            let mut piece = [0; 4096];
            // Once nobody writes any more, reading fails.
            while let Ok(length @ 1..) = ours.read(&mut piece) {
                filled.lock().expect("the test is well").extend_from_slice(&piece[..length]);
            }
        });
        (Screen { text, reader }, theirs)
    }

    fn end(self) -> String {
        self.reader.join().expect("the reader is well");
        plain(&self.text.lock().expect("the reader is well"))
    }
}

/// As it was written: a terminal makes two characters of the end of a line.
fn plain(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace("\r\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_streams_are_terminals_of_that_width() {
        let mut command = Command::new("sh");
        command.args(["-c", "test -t 1 && stty size <&1; test -t 2 && echo two >&2"]);
        let ended = watch(command, 61).end();
        assert_eq!((ended.status, ended.out.as_str(), ended.err.as_str()), (Some(0), "24 61\n", "two\n"));
    }

    #[test]
    fn what_is_typed_is_read_from_a_terminal() {
        let mut command = Command::new("sh");
        command.args(["-c", "test -t 0 && read one && read two && echo $two $one"]);
        let ended = watch_typing(command, 80, "a\nb\n").end();
        assert_eq!((ended.status, ended.out.as_str()), (Some(0), "b a\n"));
    }
}
