//! The text of a machine's or part's file, with line numbers for errors.

use std::ops::Range;
use std::path::{Path, PathBuf};

use kernel::sys::name::Shown;
use kernel::sys::read_limited;
use toml::Spanned;
use toml::de::DeTable;
use units::Bytes;

use crate::builtin::File;
use crate::fault::{MachineFault, Place};

/// Maximum size of a file. Those of `machines/` have at most a few kilobytes.
const LARGEST: Bytes = Bytes::mib(1);

/// A file that was read.
pub struct MachineFile {
    /// Its path as errors show it.
    file: String,
    /// The folder to which paths in the file are relative.
    pub folder: PathBuf,
    text: String,
}

impl MachineFile {
    /// Returns a compiled-in file.
    pub fn builtin(file: &File) -> MachineFile {
        MachineFile { file: file.path.to_owned(), folder: PathBuf::new(), text: file.text.to_owned() }
    }

    /// Returns a file with that text, whose path errors show as given.
    pub fn of_text(file: &str, text: &str) -> MachineFile {
        MachineFile { file: file.to_owned(), folder: PathBuf::new(), text: text.to_owned() }
    }

    /// Returns a file with that text.
    #[cfg(test)]
    pub fn fuzzed(text: String) -> MachineFile {
        MachineFile { file: "fuzzed.toml".to_owned(), folder: PathBuf::from("/nowhere"), text }
    }

    /// Reads a file of the user.
    pub fn open(path: &Path) -> Result<MachineFile, MachineFault> {
        let text = read_limited::text(path, LARGEST)
            .map_err(|source| MachineFault::Unreadable { path: path.to_owned(), source })?;
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        Ok(MachineFile { file: path.shown().to_string(), folder, text })
    }

    /// Parses the file as TOML.
    pub fn table(&self) -> Result<Spanned<DeTable<'_>>, MachineFault> {
        DeTable::parse(&self.text).map_err(|error| {
            let place = self.place(error.span().unwrap_or_default());
            MachineFault::Syntax { place, what: error.message().replace('\n', ", ") }
        })
    }

    /// Returns the line on which the span begins.
    pub fn place(&self, span: Range<usize>) -> Place {
        let before = self.text.as_bytes().iter().take(span.start);
        Place::Line { file: self.file.clone(), line: 1 + before.filter(|byte| **byte == b'\n').count() }
    }
}
