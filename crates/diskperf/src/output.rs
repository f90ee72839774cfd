//! Standard output and files. A closed pipe is success: whoever read has seen enough.

use std::borrow::Cow;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use kernel::place::may_write;
use report::{Page, plain};

use units::Bytes;

use crate::commands::given;
use crate::error::Error;

/// So much of a message is said; what is quoted in it may be a file of any size.
const LONGEST: usize = 4096;

/// Prints on standard output.
pub fn print(text: &str) -> Result<(), Error> {
    let text = plain::lines(text);
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|source| Error::Output { to: "standard output".to_owned(), source }),
    }
}

/// Prints a line, whatever names there are in it.
pub fn print_line(text: &str) -> Result<(), Error> {
    print(&format!("{}\n", plain::line(text)))
}

/// What standard output is: as wide as the terminal, where it is one.
pub fn page() -> Page {
    Page { columns: kernel::terminal::columns(io::stdout()) }
}

/// Says a line on standard error. Nobody may be left to hear it, and that stops nothing.
pub fn remark(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", shortened(&plain::line(text)));
}

fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => Cow::Owned(format!("{}... ({} in all)", &text[..at], Bytes(text.len() as u64))),
        None => Cow::Borrowed(text),
    }
}

/// The same, of what `format!` takes. Not `eprintln!`, which ends the program where nobody listens.
macro_rules! remark {
    ($($words:tt)+) => {
        $crate::output::remark(&format!($($words)+))
    };
}

/// Refuses a file that could not be written later, when hours of measuring would be lost with it. A disk is
/// no file to print to.
pub fn check(to: Option<&Path>) -> Result<(), Error> {
    let Some(path) = to else { return Ok(()) };
    let known = given::creatable(path)?;
    match &known {
        Some(metadata) if metadata.is_dir() => return Err(Error::IsADirectory(path.to_owned())),
        Some(metadata) if metadata.file_type().is_block_device() => return Err(Error::WouldOverwrite(path.to_owned())),
        Some(_) => given::shown_by_no_device(path)?,
        None => {}
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let touched = if known.is_some() { path } else { parent };
    may_write(touched).map_err(|source| Error::Output { to: path.display().to_string(), source })
}

/// Writes a file, or prints where none is named.
pub fn deliver(text: &str, to: Option<&Path>) -> Result<(), Error> {
    let Some(path) = to else { return print(text) };
    fs::write(path, &*plain::lines(text)).map_err(|source| Error::Output { to: path.display().to_string(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_message_the_beginning_is_said() {
        assert_eq!(shortened("short"), "short");
        let long = "é".repeat(LONGEST + 1);
        assert_eq!(shortened(&long), format!("{}... (8194 B in all)", "é".repeat(LONGEST)));
    }
}
