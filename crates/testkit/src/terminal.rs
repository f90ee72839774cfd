//! Pseudo-terminals of a given width for a program: one for its standard output and one for its standard error, so that
//! both outputs can be distinguished.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::ProgramOutput;

/// A program that runs on two terminals.
#[derive(Debug)]
pub struct Watched {
    child: Child,
    out: Screen,
    err: Screen,
    /// The terminal of its standard input, if that is a terminal.
    _keyboard: Option<File>,
}

/// The output on a terminal.
#[derive(Debug)]
struct Screen {
    text: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

/// Starts the command on terminals with this many columns.
pub fn watch(command: Command, columns: u16) -> Watched {
    start(command, columns, None)
}

/// Starts the command with a terminal as standard input too, on which `typed` has been entered.
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
    // A terminal ends when neither the child nor this process has it open.
    drop(command);
    Watched { child, out: out.0, err: err.0, _keyboard: keyboard }
}

impl Watched {
    /// Returns the output on standard error so far.
    pub fn error_output(&self) -> String {
        plain(&self.err.text.lock().expect("the reader is well"))
    }

    /// True if the program has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("whether it ended").is_some()
    }

    /// Sends SIGINT, as Ctrl-C does.
    pub fn interrupt(&self) {
        kill_process(Pid::from_child(&self.child), Signal::INT).expect("the signal is sent");
    }

    /// Sends SIGINT and then SIGCONT, as `timeout -s INT` does.
    pub fn time_out(&self) {
        self.interrupt();
        kill_process(Pid::from_child(&self.child), Signal::CONT).expect("the signal is sent");
    }

    /// Waits for the end of the program, and returns its whole output, control sequences included.
    pub fn end(mut self) -> ProgramOutput {
        let status = self.child.wait().expect("its end").code();
        ProgramOutput { status, out: self.out.end(), err: self.err.end() }
    }
}

/// Opens both ends of a terminal.
fn terminal(columns: u16) -> (File, Stdio) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = openpt(flags).expect("a terminal");
    unlockpt(&ours).expect("it can be opened");
    tcsetwinsize(&ours, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).expect("its size");
    let theirs = ioctl_tiocgptpeer(&ours, flags).expect("its other end");
    (File::from(ours), Stdio::from(theirs))
}

impl Screen {
    /// Returns a terminal, and its end for the program.
    fn new(columns: u16) -> (Screen, Stdio) {
        let (mut ours, theirs) = terminal(columns);
        let text = Arc::new(Mutex::new(Vec::new()));
        let filled = Arc::clone(&text);
        let reader = thread::spawn(move || {
            let mut piece = [0; 4096];
            // Reading fails when all writers have closed the terminal.
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

/// Restores the original text: a terminal writes each line end as two characters.
fn plain(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace("\r\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_streams_are_terminals_of_the_given_width() {
        let mut command = Command::new("sh");
        command.args(["-c", "test -t 1 && stty size <&1; test -t 2 && echo two >&2"]);
        let ended = watch(command, 61).end();
        assert_eq!((ended.status, ended.out.as_str(), ended.err.as_str()), (Some(0), "24 61\n", "two\n"));
    }

    #[test]
    fn typed_lines_are_read_from_a_terminal() {
        let mut command = Command::new("sh");
        command.args(["-c", "test -t 0 && read one && read two && echo $two $one"]);
        let ended = watch_typing(command, 80, "a\nb\n").end();
        assert_eq!((ended.status, ended.out.as_str()), (Some(0), "b a\n"));
    }
}
