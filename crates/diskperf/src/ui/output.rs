//! Standard output and files. A closed pipe is success: its reader has seen enough.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use kernel::sys::name::Shown;
use kernel::{Links, OutputFile, OutputFileFault, OutputSteps, PathFault};
use report::{Page, sanitize};

use campaign::signals;
use units::Bytes;

use crate::documents::{inputs, user_files};
use crate::error::{Error, OutputError};

/// The most characters of a message; it may quote a file of any size.
const LONGEST: usize = 4096;

/// Prints on standard output.
pub fn print(text: &str) -> Result<(), Error> {
    let text = sanitize::lines(text);
    signals::begin_delivery();
    // Locked, so that the lines of two threads do not mix. Nothing else writes through it.
    let out = io::stdout().lock();
    kernel::stream(out.as_fd(), text.as_bytes(), &signals::told_to_stop).map_err(|fault| match fault {
        OutputFileFault::Failed(source) => OutputError::Failed { to: "standard output".to_owned(), source }.into(),
        fault => unwritable(Path::new("-"), fault),
    })
}

/// Prints a line. Names in it are escaped.
pub fn print_line(text: &str) -> Result<(), Error> {
    print(&format!("{}\n", sanitize::line(text)))
}

/// Writes a line of a log to standard output at once. A closed pipe is an error: the rest would have no reader.
pub fn log_line(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes())?;
    out.flush()
}

/// Waits until the printed lines are on the disk, if standard output is a file.
pub fn sync_log() -> io::Result<()> {
    let out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    if out.metadata()?.is_file() { out.sync_data() } else { Ok(()) }
}

/// The page of standard output: as wide as the terminal, if it is one.
pub fn page() -> Page {
    Page { columns: kernel::sys::terminal::columns(io::stdout()) }
}

/// The page of results that go to this file, or to standard output.
pub fn page_of(to: Option<&Path>) -> Page {
    if is_printed(to) { page() } else { Page::ENDLESS }
}

/// True if results go to standard output, and not to a file.
pub fn is_printed(to: Option<&Path>) -> bool {
    to.is_none_or(|path| path == Path::new("-"))
}

/// Prints a line on standard error. A failure is ignored: the reader may be gone.
pub fn remark(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", shortened(&sanitize::line(text)));
}

fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => Cow::Owned(format!("{}... ({} in all)", &text[..at], Bytes(text.len() as u64))),
        None => Cow::Borrowed(text),
    }
}

/// Prints a line on standard error, from the arguments of `format!`. Not `eprintln!`, which panics if the reader is
/// gone.
macro_rules! remark {
    ($($words:tt)+) => {
        $crate::ui::output::remark(&format!($($words)+))
    };
}

/// Refuses a file that could not be written later, when hours of measuring would be lost with it: a directory, a disk,
/// a file with a loop device on it, a name in a missing folder. Also refuses inputs and results databases.
pub fn check(to: Option<&Path>) -> Result<(), Error> {
    to.map_or(Ok(()), |path| check_file(path, Links::Followed))
}

/// Like `check`, for a name that must not be a link: the file would be written somewhere else.
pub fn check_name(path: &Path) -> Result<(), Error> {
    check_file(path, Links::Refused)
}

fn check_file(path: &Path, links: Links) -> Result<(), Error> {
    OutputFile::resolve(path, links).and_then(|output| output.check()).map_err(|fault| unwritable(path, fault))?;
    Ok(inputs::will_write(path)?)
}

/// True once results were delivered.
static DELIVERED: AtomicBool = AtomicBool::new(false);

/// True if results were delivered, so that an error needs no document of its own.
pub fn has_delivered() -> bool {
    DELIVERED.load(Ordering::Relaxed)
}

/// Writes the text to a file, or prints it if there is no file.
pub fn deliver(text: &str, to: Option<&Path>) -> Result<(), Error> {
    DELIVERED.store(true, Ordering::Relaxed);
    match to {
        Some(path) => write(path, text, Links::Followed),
        None => print(text),
    }
}

/// Writes a file of this name, which must not be a link.
pub fn deliver_as(name: &Path, text: &str) -> Result<(), Error> {
    write(name, text, Links::Refused)
}

/// The only code that writes files named by the user: see [`OutputFile`] for replaced files, streams and refusals.
fn write(path: &Path, text: &str, links: Links) -> Result<(), Error> {
    let text = sanitize::lines(text);
    signals::begin_delivery();
    let output = OutputFile::resolve(path, links).map_err(|fault| unwritable(path, fault))?;
    inputs::will_write(path)?;
    output.write(text.as_bytes(), &signals::told_to_stop).map_err(|fault| unwritable(path, fault))
}

/// Results that are delivered in steps, because they may not fit into memory.
pub struct Steps {
    open: OutputSteps,
    to: PathBuf,
}

impl Steps {
    /// Begins a file, or standard output if there is no file.
    pub fn begin(to: Option<&Path>) -> Result<Steps, Error> {
        signals::begin_delivery();
        let open = match to {
            Some(path) => {
                OutputFile::resolve(path, Links::Followed).and_then(|output| output.begin(&signals::told_to_stop))
            }
            None => OutputSteps::to(io::stdout().as_fd()),
        };
        let to = to.unwrap_or(Path::new("-")).to_owned();
        DELIVERED.store(true, Ordering::Relaxed);
        match open {
            Ok(open) => Ok(Steps { open, to }),
            Err(fault) => Err(unwritable(&to, fault)),
        }
    }

    /// Delivers these lines, also after a request to stop: a reader gets whole lines. Returns false if the reader of a
    /// pipe has seen enough.
    pub fn add(&mut self, lines: &str) -> Result<bool, Error> {
        let added = self.open.add(sanitize::lines(lines).as_bytes(), &|_| false);
        added.map_err(|fault| unwritable(&self.to, fault))
    }

    /// Gives a file its name.
    pub fn end(self) -> Result<(), Error> {
        inputs::will_write(&self.to)?;
        self.open.end(&signals::told_to_stop).map_err(|fault| unwritable(&self.to, fault))
    }
}

fn unwritable(path: &Path, fault: OutputFileFault) -> Error {
    let to = path.shown().to_string();
    match fault {
        OutputFileFault::Refused(refusal) => user_files::refused(path, refusal).into(),
        OutputFileFault::NoFolder(folder) => PathFault::Missing(folder).into(),
        OutputFileFault::NoDevice(device) => PathFault::MissingDevice(device).into(),
        OutputFileFault::NotOpen => OutputError::NotOpen(path.to_owned()).into(),
        OutputFileFault::NoReader => OutputError::NoReader(path.to_owned()).into(),
        OutputFileFault::Failed(source) => OutputError::Failed { to, source }.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_cut_after_their_beginning() {
        assert_eq!(shortened("short"), "short");
        let long = "é".repeat(LONGEST + 1);
        assert_eq!(shortened(&long), format!("{}... (8194 B in all)", "é".repeat(LONGEST)));
    }
}
