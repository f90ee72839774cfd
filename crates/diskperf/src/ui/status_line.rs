//! A status line on standard error, which is erased afterwards. Silent if there is no terminal.

use std::cell::RefCell;
use std::env;
use std::io::{self, IsTerminal, Write};

use report::sanitize;
use report::wrap::COLUMNS;

/// Moves to the beginning of the line and erases it.
const CLEARED: &str = "\r\u{1b}[2K";

/// Columns that stay free: a terminal shows ^C behind the line. If ^C does not fit, the line is not erased.
const FREE: usize = 3;

/// A line that shows the current step.
#[derive(Debug)]
pub struct StatusLine {
    is_seen: bool,
    /// The text that is shown now.
    text: RefCell<String>,
}

impl StatusLine {
    /// An empty line. It is shown on a terminal, unless TERM is `dumb` or not set: such a terminal cannot clear a line.
    pub fn new() -> StatusLine {
        let can_clear = env::var_os("TERM").is_some_and(|term| term != "dumb");
        StatusLine { is_seen: can_clear && io::stderr().is_terminal(), text: RefCell::default() }
    }

    /// True if the line is shown.
    pub fn is_seen(&self) -> bool {
        self.is_seen
    }

    /// Shows another text, cut at the width of the terminal. The same text is not written again.
    pub fn say(&self, text: &str) {
        let columns = kernel::sys::terminal::columns(io::stderr()).unwrap_or(COLUMNS);
        let text: String = sanitize::line(text).chars().take(columns.saturating_sub(FREE)).collect();
        if text != *self.text.borrow() {
            self.write(&format!("{CLEARED}{text}"));
            self.text.replace(text);
        }
    }

    /// Prints something above the line.
    pub fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        if self.text.borrow().is_empty() {
            return print();
        }
        self.write(CLEARED);
        let printed = print();
        self.write(&self.text.borrow());
        printed
    }

    pub fn clear(&self) {
        if !self.text.take().is_empty() {
            self.write(CLEARED);
        }
    }

    /// Failures are ignored: the reader may be gone.
    fn write(&self, text: &str) {
        if self.is_seen {
            let mut err = io::stderr().lock();
            let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
        }
    }
}
