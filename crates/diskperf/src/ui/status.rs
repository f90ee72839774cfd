//! One line on standard error that says what goes on, and is gone afterwards. Silent where nobody can see it.

use std::cell::RefCell;
use std::env;
use std::io::{self, IsTerminal, Write};

use report::plain;
use report::wrap::COLUMNS;

/// To the beginning of the line, and nothing in it.
const CLEARED: &str = "\r\u{1b}[2K";

/// Columns that stay free: a terminal shows ^C behind the line, and where that does not fit, the line would be left.
const FREE: usize = 3;

/// The line.
#[derive(Debug)]
pub struct StatusLine {
    is_seen: bool,
    /// What stands there.
    text: RefCell<String>,
}

impl StatusLine {
    /// An empty one. It is seen on a terminal, but for one that calls itself dumb, or nothing: that cannot clear a
    /// line.
    pub fn new() -> StatusLine {
        let can_clear = env::var_os("TERM").is_some_and(|term| term != "dumb");
        StatusLine { is_seen: can_clear && io::stderr().is_terminal(), text: RefCell::default() }
    }

    /// Whether anybody can see it.
    pub fn is_seen(&self) -> bool {
        self.is_seen
    }

    /// Says something else, cut where the terminal ends. What stands there already is not written again.
    pub fn say(&self, text: &str) {
        let columns = kernel::sys::terminal::columns(io::stderr()).unwrap_or(COLUMNS);
        let text: String = plain::line(text).chars().take(columns.saturating_sub(FREE)).collect();
        if text != *self.text.borrow() {
            self.write(&format!("{CLEARED}{text}"));
            self.text.replace(text);
        }
    }

    /// Has something printed above the line.
    pub fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        if self.text.borrow().is_empty() {
            return print();
        }
        self.write(CLEARED);
        let printed = print();
        self.write(&self.text.borrow());
        printed
    }

    /// Says nothing any more.
    pub fn clear(&self) {
        if !self.text.take().is_empty() {
            self.write(CLEARED);
        }
    }

    /// Nobody may be left to see it, and that stops nothing.
    fn write(&self, text: &str) {
        if self.is_seen {
            let mut err = io::stderr().lock();
            let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
        }
    }
}
