//! Standard output and files. A closed pipe is success: whoever read has seen enough.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use crate::error::Error;

/// Prints on standard output.
pub fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|source| Error::Output { to: "standard output".to_owned(), source }),
    }
}

/// Says a line on standard error. Nobody may be left to hear it, and that stops nothing.
pub fn remark(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes a file, or prints where none is named. A disk is no file to print to.
pub fn deliver(text: &str, to: Option<&Path>) -> Result<(), Error> {
    let Some(path) = to else { return print(text) };
    if fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_block_device()) {
        return Err(Error::WouldOverwrite(path.to_owned()));
    }
    fs::write(path, text).map_err(|source| Error::Output { to: path.display().to_string(), source })
}
