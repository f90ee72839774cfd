//! A file of a machine: its text, and which line something stands on.

use std::ops::Range;
use std::path::{Path, PathBuf};

use kernel::sys::name::Shown;
use kernel::sys::read_limited;
use toml::Spanned;
use toml::de::DeTable;
use units::Bytes;

use crate::builtin::File;
use crate::fault::{MachineFault, Place};

/// The largest file that is read; those of `machines/` have at most a few kilobytes.
const LARGEST: Bytes = Bytes::mib(1);

/// A file that was read.
pub struct Sheet {
    /// As errors name it.
    file: String,
    /// Where the paths in it begin.
    pub folder: PathBuf,
    text: String,
}

impl Sheet {
    /// One that is compiled in.
    pub fn builtin(file: &File) -> Sheet {
        Sheet { file: file.path.to_owned(), folder: PathBuf::new(), text: file.text.to_owned() }
    }

    /// One of that text.
    #[cfg(test)]
    pub fn fuzzed(text: String) -> Sheet {
        Sheet { file: "fuzzed.toml".to_owned(), folder: PathBuf::from("/nowhere"), text }
    }

    /// One of somebody's own.
    pub fn open(path: &Path) -> Result<Sheet, MachineFault> {
        let text = read_limited::text(path, LARGEST)
            .map_err(|source| MachineFault::Unreadable { path: path.to_owned(), source })?;
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        Ok(Sheet { file: path.shown().to_string(), folder, text })
    }

    /// What it holds.
    pub fn table(&self) -> Result<Spanned<DeTable<'_>>, MachineFault> {
        DeTable::parse(&self.text).map_err(|error| {
            let place = self.place(error.span().unwrap_or_default());
            MachineFault::Syntax { place, what: error.message().replace('\n', ", ") }
        })
    }

    /// The line on which this begins.
    pub fn place(&self, span: Range<usize>) -> Place {
        let before = self.text.as_bytes().iter().take(span.start);
        Place::Line { file: self.file.clone(), line: 1 + before.filter(|byte| **byte == b'\n').count() }
    }
}
